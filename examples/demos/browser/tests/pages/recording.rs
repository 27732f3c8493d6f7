//! The moving picture of the match, for the first page.

use std::collections::BTreeMap;
use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gif::{Encoder, Frame, Repeat};
use image::{Rgb, RgbImage};

use crate::browser::{self, Kind};

/// The duration of a frame, in hundredths of a second.
const DELAY: u16 = 4;
/// The colour index of unchanged pixels, which take hardly any bytes.
const UNCHANGED: u8 = 255;
/// The most bytes that a visitor of the first page should have to load.
const MOST_BYTES: usize = 1_000_000;

/// Records `pages/match.gif`: `cargo test --manifest-path examples/demos/browser/Cargo.toml -- --ignored records`.
#[test]
#[ignore = "writes a file of the repository"]
fn chromium_records_the_match() {
    browser::run(Kind::Chromium, "page.css", async |browser| {
        browser.module(include_str!("recording.js")).await;
        browser
            .wait_for("return globalThis.recording !== undefined")
            .await;
        let frames = browser.script("return recording").await;
        let frames = frames.as_array().unwrap().iter();
        let frames: Vec<RgbImage> = frames.map(|url| decode(url.as_str().unwrap())).collect();
        let bytes = encode(&frames);
        println!("{} bytes", bytes.len());
        assert!(bytes.len() <= MOST_BYTES);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pages/match.gif");
        fs::write(path, bytes).unwrap();
    });
}

fn decode(url: &str) -> RgbImage {
    let data = url.strip_prefix("data:image/png;base64,").unwrap();
    let bytes = BASE64_STANDARD.decode(data).unwrap();
    image::load_from_memory(&bytes).unwrap().into_rgb8()
}

fn encode(frames: &[RgbImage]) -> Vec<u8> {
    let [width, height] = [frames[0].width(), frames[0].height()].map(|size| size as u16);
    let palette = palette(frames);
    let colours: Vec<u8> = palette.iter().flat_map(|colour| colour.0).collect();
    let mut nearest = BTreeMap::new();
    let mut index = |pixel: &Rgb<u8>| {
        let found = || {
            (0..UNCHANGED)
                .zip(&palette)
                .min_by_key(|(_, other)| distance(pixel, other))
        };
        *nearest.entry(pixel.0).or_insert_with(|| found().unwrap().0)
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &colours).unwrap();
    encoder.set_repeat(Repeat::Infinite).unwrap();
    let mut before: Vec<u8> = Vec::new();
    for frame in frames {
        let pixels: Vec<u8> = frame.pixels().map(&mut index).collect();
        let same = |(i, pixel): (usize, &u8)| before.get(i) == Some(pixel);
        let buffer = pixels.iter().enumerate();
        let buffer = buffer
            .map(|at| if same(at) { UNCHANGED } else { *at.1 })
            .collect();
        let frame = Frame {
            delay: DELAY,
            transparent: Some(UNCHANGED),
            width,
            height,
            buffer,
            ..Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
        before = pixels;
    }
    drop(encoder);
    bytes
}

/// Returns the most frequent colours.
fn palette(frames: &[RgbImage]) -> Vec<Rgb<u8>> {
    let mut counts = BTreeMap::new();
    for pixel in frames.iter().flat_map(|frame| frame.pixels()) {
        *counts.entry(pixel.0).or_insert(0) += 1;
    }
    let mut palette: Vec<_> = counts.keys().copied().map(Rgb).collect();
    palette.sort_by_key(|colour| std::cmp::Reverse(counts[&colour.0]));
    palette.truncate(usize::from(UNCHANGED));
    palette
}

fn distance(a: &Rgb<u8>, b: &Rgb<u8>) -> u32 {
    let parts = a.0.iter().zip(b.0);
    parts.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
