//! Frame times of a run.

use std::time::Duration;

/// Frames per second.
pub const RATES: [u32; 6] = [30, 60, 72, 90, 120, 144];

/// The length of a run: 300 and a half steps.
pub const LENGTH: Duration = Duration::from_millis(5_008);

/// Returns frame times that add up to `length`. Each deviates from the exact one by up to 0.5 ms.
pub fn frames(fps: u32, length: Duration) -> Vec<Duration> {
    let (mut frames, mut rest) = (Vec::new(), length);
    while !rest.is_zero() {
        let jitter = Duration::from_micros(frames.len() as u64 * 337 % 1_000);
        let time = Duration::from_secs(1) / fps + jitter - Duration::from_micros(500);
        frames.push(time.min(rest));
        rest -= time.min(rest);
    }
    frames
}
