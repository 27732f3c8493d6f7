//! Encodes pictures as a GIF.

use std::collections::BTreeMap;

use gif::{Encoder, EncodingError, Frame, Repeat};

use crate::canvas::Rgb;

/// The colour index of unchanged pixels, which need not be written.
const UNCHANGED: u8 = 255;
/// The duration of a frame, in hundredths of a second.
const DELAY: u16 = 2;

/// Encodes frames of this size as a GIF that loops.
///
/// # Errors
/// If the size is not valid for a GIF.
pub fn encode(frames: &[Vec<Rgb>], width: u16, height: u16) -> Result<Vec<u8>, EncodingError> {
    let (palette, indices) = palette(frames);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &palette.concat())?;
    encoder.set_repeat(Repeat::Infinite)?;
    let mut before: &[Rgb] = &[];
    for pixels in frames {
        let same = |(i, pixel): (usize, &Rgb)| before.get(i) == Some(pixel);
        let index = |at| if same(at) { UNCHANGED } else { indices[at.1] };
        encoder.write_frame(&Frame {
            delay: DELAY,
            transparent: Some(UNCHANGED),
            width,
            height,
            buffer: pixels.iter().enumerate().map(index).collect(),
            ..Frame::default()
        })?;
        before = pixels;
    }
    drop(encoder);
    Ok(bytes)
}

/// Returns the 255 most frequent colours, and maps every colour to the nearest of these.
fn palette(frames: &[Vec<Rgb>]) -> (Vec<Rgb>, BTreeMap<Rgb, u8>) {
    let mut counts = BTreeMap::new();
    for pixel in frames.iter().flatten() {
        *counts.entry(*pixel).or_insert(0) += 1;
    }
    let mut palette: Vec<Rgb> = counts.keys().copied().collect();
    palette.sort_by_key(|color| std::cmp::Reverse(counts[color]));
    palette.truncate(usize::from(UNCHANGED));
    let nearest = |color: &Rgb| {
        let indices = (0..UNCHANGED).zip(&palette);
        let nearest = indices.min_by_key(|(_, other)| distance(*color, **other));
        nearest.map_or(0, |(index, _)| index)
    };
    let indices = counts
        .keys()
        .map(|color| (*color, nearest(color)))
        .collect();
    (palette, indices)
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let parts = a.iter().zip(b);
    parts.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}
