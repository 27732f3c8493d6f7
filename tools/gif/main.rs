//! Draws the animation at the top of the README. Both halves have the same bodies at 10 Hz. One draws the latest step,
//! as a game without interpolation does, the other is interpolated by evenstep. Each body leaves marks where it was, so that a
//! single frame shows the difference too. At 60 Hz the eye sees the same judder, but a GIF at 50 Hz cannot show it.
//!
//! `cargo run --release -p evenstep-gif`
//!
//! The program runs two simulations, writes the pose of each body in each frame to `tools/gif/evenstep.csv`, and draws
//! `docs/book/src/evenstep.gif` from that log. With `--check` it writes nothing, and fails if a byte of the log or
//! the picture in `docs` is out of date.
//!
//! The bytes are the same on every machine. The simulation uses Rapier's feature `enhanced-determinism`. The picture
//! depends only on the log's whole numbers, and is drawn with sums, products, quotients and square roots of floats,
//! which IEEE 754 defines bit for bit. (A processor with other floats, such as x87, differs.)
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels and colours are small numbers"
)]

mod canvas;
mod draw;
mod encode;
mod letters;
mod scene;

use std::error::Error;
use std::fs;

use clap::Parser;

use scene::{LOOP_FRAMES, Row};

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/evenstep.csv");
const PICTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/book/src/evenstep.gif"
);

/// Draws the moving picture of the README.
#[derive(Parser)]
struct Options {
    /// Writes nothing, and compares with the existing files
    #[arg(long)]
    check: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let log = scene::log();
    let picture = picture(&log)?;
    for (path, bytes) in [(LOG, csv(&log)?), (PICTURE, picture)] {
        if !options.check {
            fs::write(path, &bytes)?;
        } else if fs::read(path)? != bytes {
            return Err(format!("{path} is out of date: run this program without --check").into());
        }
        println!("{path}: {} bytes", bytes.len());
    }
    Ok(())
}

fn csv(log: &[Row]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in log {
        writer.serialize(row)?;
    }
    Ok(writer.into_inner()?)
}

fn picture(log: &[Row]) -> Result<Vec<u8>, Box<dyn Error>> {
    let frames: Vec<_> = (0..LOOP_FRAMES)
        .map(|frame| draw::frame(log, frame))
        .collect();
    let (width, height) = (
        u16::try_from(canvas::WIDTH)?,
        u16::try_from(canvas::HEIGHT)?,
    );
    Ok(encode::encode(&frames, width, height)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gif::{DecodeOptions, Repeat};

    #[test]
    fn the_stored_log_matches_the_simulation() {
        assert_eq!(fs::read(LOG).unwrap(), csv(&scene::log()).unwrap());
    }

    #[test]
    fn the_picture_is_at_most_2_mb_and_has_every_frame() {
        let bytes = fs::read(PICTURE).unwrap();
        assert!(bytes.len() <= 2_000_000, "{} bytes", bytes.len());
        let mut picture = DecodeOptions::new().read_info(&bytes[..]).unwrap();
        let size = [picture.width(), picture.height()].map(usize::from);
        assert_eq!(size, [canvas::WIDTH, canvas::HEIGHT]);
        assert_eq!(picture.repeat(), Repeat::Infinite);
        let mut frames = 0;
        while let Some(frame) = picture.next_frame_info().unwrap() {
            assert_eq!(frame.delay, 2);
            frames += 1;
        }
        assert_eq!(frames, LOOP_FRAMES);
    }
}
