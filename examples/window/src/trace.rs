//! What the plot and the overlay draw: the last seconds of the frames that were shown.

use std::collections::VecDeque;
use std::time::Duration;

/// How far back the plot goes, in seconds of real time.
pub const SPAN: f64 = 2.5;
/// How many frames the overlay shows.
pub const FRAMES: usize = 60;

/// What one frame did in one half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Real time, in seconds.
    pub time: f64,
    /// Where the body was shown along its axis, in metres.
    pub place: f32,
    /// How many steps were made.
    pub steps: u64,
    /// Whether time or steps were dropped.
    pub has_dropped: bool,
}

/// The last frames of both halves.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Real time of all frames so far, in seconds.
    pub now: f64,
    /// How long the last frame took.
    pub frame_time: Duration,
    halves: [VecDeque<Sample>; 2],
}

impl Trace {
    /// Begins a frame.
    pub fn advance(&mut self, frame_time: Duration) {
        self.frame_time = frame_time;
        self.now += frame_time.as_secs_f64();
    }

    /// Adds what the frame did in a half.
    pub fn add(&mut self, side: usize, place: f32, steps: u64, has_dropped: bool) {
        let samples = &mut self.halves[side];
        samples.push_back(Sample {
            time: self.now,
            place,
            steps,
            has_dropped,
        });
        while samples
            .front()
            .is_some_and(|first| first.time < self.now - SPAN)
        {
            samples.pop_front();
        }
    }

    /// The samples of a half, the oldest first.
    #[must_use]
    pub fn of(&self, side: usize) -> &VecDeque<Sample> {
        &self.halves[side]
    }

    /// Forgets what was: for another scene, or another body.
    pub fn clear(&mut self) {
        self.halves = Default::default();
    }

    /// The lowest and the highest place of both halves, at least 0.2 m apart.
    #[must_use]
    pub fn range(&self) -> (f32, f32) {
        let places = self.halves.iter().flatten().map(|sample| sample.place);
        let (low, high) = places.fold((f32::MAX, f32::MIN), |(low, high), place| {
            (low.min(place), high.max(place))
        });
        if low > high {
            return (-0.1, 0.1);
        }
        let more = (0.2 - (high - low)).max(0.0) / 2.0;
        (low - more, high + more)
    }
}
