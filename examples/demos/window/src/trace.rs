//! The data of the plot and the overlay: the last seconds of displayed frames.

use std::collections::VecDeque;
use std::time::Duration;

/// The length of the plot, in seconds of real time.
pub const SPAN: f64 = 2.5;
/// The number of frames in the overlay.
pub const FRAMES: usize = 60;

/// One frame of one half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Real time, in seconds.
    pub time: f64,
    /// The displayed position of the body along its axis, in metres.
    pub place: f32,
    /// The number of steps.
    pub steps: u64,
    /// Whether time or steps were dropped.
    pub has_dropped: bool,
}

/// The last frames of both halves.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Real time of all frames so far, in seconds.
    pub now: f64,
    /// The length of the last frame.
    pub frame_time: Duration,
    halves: [VecDeque<Sample>; 2],
}

impl Trace {
    /// Begins a frame.
    pub fn advance(&mut self, frame_time: Duration) {
        self.frame_time = frame_time;
        self.now += frame_time.as_secs_f64();
    }

    /// Adds a frame of a half.
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

    /// Returns the samples of a half, oldest first.
    #[must_use]
    pub fn of(&self, side: usize) -> &VecDeque<Sample> {
        &self.halves[side]
    }

    /// Clears the data, for another scene or another body.
    pub fn clear(&mut self) {
        self.halves = Default::default();
    }

    /// Returns the lowest and the highest position in both halves, at least 0.2 m apart.
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
