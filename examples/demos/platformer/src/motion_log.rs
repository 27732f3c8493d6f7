//! A table of the displayed motion, one line per frame, and a measure of how uneven it is.

use std::io::{self, Write};

use evenstep::rapier::math::Vector;

use crate::game::Game;

/// The first line of the table. Times are in seconds and positions in metres. `time` is the game's. `real_time` is that
/// of the frames, which continues in a pause and in a rewind.
const HEAD: &str = "frame,time,tick,alpha,hero_x,hero_y,hero_z,camera_x,camera_y,camera_z,platform_x,platform_y,platform_z,real_time,score,shots";

/// Writes a table with a line per frame.
#[derive(Debug)]
pub struct MotionLog<W> {
    out: W,
}

impl<W: Write> MotionLog<W> {
    /// Creates a log and writes its first line.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut out: W) -> io::Result<Self> {
        writeln!(out, "{HEAD}")?;
        Ok(Self { out })
    }

    /// Writes the displayed frame. Without a platform, its position is the origin.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&mut self, game: &Game) -> io::Result<()> {
        let simulation = game.simulation();
        let frame = simulation.frame();
        let time = simulation.clock().time().as_secs_f64();
        let (number, tick, alpha) = (frame.number, frame.tick, frame.alpha);
        write!(self.out, "{number},{time:.9},{tick},{alpha:.6}")?;
        let platform = game.platform().unwrap_or_default();
        for place in [game.hero(), game.view().eye, platform] {
            write!(self.out, ",{:.6},{:.6},{:.6}", place.x, place.y, place.z)?;
        }
        let real_time = game.real_time().as_secs_f64();
        let state = game.state();
        let (score, shots) = (state.pickups.score(), state.shots.count());
        writeln!(self.out, ",{real_time:.9},{score},{shots}")
    }

    /// Returns the writer.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Returns how far a motion deviates from even motion. It is the largest distance to the line from the first to the
/// last position at constant speed. Times are in seconds, distances in metres.
#[must_use]
pub fn unevenness(places: &[(f64, Vector)]) -> f32 {
    let (Some((start, first)), Some((end, last))) = (places.first(), places.last()) else {
        return 0.0;
    };
    let off = places.iter().map(|(time, place)| {
        let gone = (time - start) / (end - start).max(f64::MIN_POSITIVE);
        place.distance(first.lerp(*last, gone as f32))
    });
    off.fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unevenness_is_the_largest_deviation_from_even_motion() {
        let line = |frame: u8| (f64::from(frame), Vector::X * f32::from(frame));
        let mut places: Vec<_> = (0..9).map(line).collect();
        assert!(unevenness(&places) < 1e-6);
        places[3].1.y += 0.01;
        assert!((unevenness(&places) - 0.01).abs() < 1e-6);
    }
}
