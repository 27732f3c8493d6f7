//! Time-stamped input, each sample delivered to exactly one step.

use std::collections::VecDeque;
use std::time::Duration;

use crate::time::Step;

/// The largest `f32` below one, so that no fraction is rounded up to a whole step.
const LARGEST_FRACTION: f32 = 1.0_f32.next_down();

/// A queue of time-stamped input samples. In each step, [`drain`](Self::drain) returns its samples.
///
/// Times are [real time](crate::time::Clock::real_time), to which [`FrameTimer::stamp`](crate::time::FrameTimer::stamp)
/// converts a host's time stamps.
///
/// ```
/// # use evenstep::Simulation;
/// # use evenstep::input::{Delivery, InputQueue};
/// # let ms = std::time::Duration::from_millis;
/// let mut simulation = Simulation::default();
/// let mut queue = InputQueue::new(Delivery::ByTime);
/// queue.push(ms(3), "jump");
/// queue.push(ms(20), "fire"); // in the second step, which begins at 16.7 ms
/// let mut delivered = Vec::new();
/// for _ in 0..5 {
///     simulation.advance(ms(8), |_, step| delivered.extend(queue.drain(step).map(|it| (step.tick, it.input))));
/// }
/// assert_eq!(delivered, [(0, "jump"), (1, "fire")]);
/// ```
///
/// In a step, count presses with a [`Button`](crate::input::Button), sum motion, and use the newest value of an axis.
///
/// - If a hook fails or panics after it has drained the queue, it is called again for that step, and the samples are
///   gone.
/// - For rollback, use a [`TickQueue`](crate::input::TickQueue): a [resimulated](Step::is_resimulated) step gets late
///   samples with `ByTime`, and none with `NextStep`.
/// - The first step in or after a pause gets all samples at once, unless you [take](Self::drain_all) them before. If
///   several steps are due when the pause ends, the later ones get the samples of its end.
/// - With `ByTime`, a sample that is stamped at the end of a frame waits for a step that ends later. A frame without
///   time, such as `advance(Duration::ZERO, ...)` for a single step, ends when the last one did.
/// - For a new [`Simulation`](crate::Simulation), clear the queue.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputQueue<T> {
    delivery: Delivery,
    /// The samples with their time stamps, in the order of pushes.
    waiting: VecDeque<(Duration, T)>,
    counts: InputCounts,
}

/// How a sample is assigned to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Delivery {
    /// Delivers a sample to the step whose interval contains its time stamp.
    ///
    /// The same input goes to the same steps at every frame rate, unless it is late, its stamp is corrected, or time
    /// was dropped. For an event that is stamped when it is polled, use `NextStep`.
    #[default]
    ByTime,
    /// Delivers a sample to the first new step after it was pushed.
    ///
    /// This has the least latency, but the step depends on the frame rate.
    NextStep,
}

/// A sample that is delivered to a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Sample<T> {
    /// The pushed input.
    pub input: T,
    /// The time stamp, after [correction](InputCounts).
    pub time: Duration,
    /// When in the step the input happened, as a fraction in [0, 1). It is 0 for a sample from before the step.
    pub fraction: f32,
}

/// Counts of late samples and corrected time stamps. The samples were delivered anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct InputCounts {
    /// Samples that came after their step was run. The next step got them.
    pub late: u64,
    /// Stamps that were [moved back](InputQueue::push).
    pub corrected: u64,
}

impl<T> InputQueue<T> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(delivery: Delivery) -> Self {
        Self {
            delivery,
            waiting: VecDeque::new(),
            counts: InputCounts::default(),
        }
    }

    /// Adds a sample that happened at `time`, in [real time](crate::time::Clock::real_time).
    ///
    /// A stamp later than the end of its frame, or than the stamp of a sample that is pushed after it, is moved back to
    /// that time from the next step on, and [counted](Self::counts).
    pub fn push(&mut self, time: Duration, input: T) {
        self.waiting.push_back((time, input));
    }

    /// Removes and returns the samples for `step`, in the order of pushes, even those that you do not take. Call it
    /// once before each step. Otherwise, the samples go to the next step, and count as late.
    pub fn drain(&mut self, step: Step) -> impl Iterator<Item = Sample<T>> {
        // A resimulated step is of an earlier frame, so later stamps in the queue may be right.
        if !step.is_resimulated {
            self.correct_stamps(step);
        }
        let due = match (self.delivery, step.is_resimulated) {
            (Delivery::ByTime, false) => {
                // The corrected stamps are sorted.
                let is_due = |(time, _): &(Duration, T)| *time < step.real_end;
                self.waiting.partition_point(is_due)
            }
            (Delivery::ByTime, true) => self.move_due_to_front(step.real_end),
            (Delivery::NextStep, false) => self.waiting.len(),
            // The samples wait for the next new step.
            (Delivery::NextStep, true) => 0,
        };
        let late = self
            .waiting
            .range(..due)
            .filter(|(time, _)| *time < step.real_start);
        self.counts.late = self.counts.late.saturating_add(late.count() as u64);

        self.waiting.drain(..due).map(move |(time, input)| Sample {
            input,
            time,
            fraction: fraction(time, step),
        })
    }

    /// Removes and returns all queued inputs, in the order of pushes.
    pub fn drain_all(&mut self) -> impl Iterator<Item = T> {
        self.waiting.drain(..).map(|(_, input)| input)
    }

    /// Discards all queued samples.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Returns the number of queued samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns how many samples were late, and how many stamps were corrected.
    #[must_use]
    pub fn counts(&self) -> InputCounts {
        self.counts
    }

    /// Moves back each stamp that is later than the end of the step's frame or than the stamp of a later sample, so
    /// that the stamps are sorted.
    fn correct_stamps(&mut self, step: Step) {
        // Input that is in the queue cannot have happened after the end of the frame.
        let mut latest = step.real_frame_end;
        for (time, _) in self.waiting.iter_mut().rev() {
            if *time > latest {
                self.counts.corrected = self.counts.corrected.saturating_add(1);
                *time = latest;
            }
            latest = *time;
        }
    }

    /// Moves the samples with stamps before `end`, the end of a resimulated step, to the front, because those
    /// that were pushed since the last new step are not sorted. Returns the number of samples before `end`.
    fn move_due_to_front(&mut self, end: Duration) -> usize {
        let is_due = |(time, _): &(Duration, T)| *time < end;
        let (due, rest): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(is_due);
        let count = due.len();
        self.waiting.extend(due.into_iter().chain(rest));
        count
    }
}

/// Returns the position of a time within the step, from 0 to less than 1.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is intended"
)]
fn fraction(time: Duration, step: Step) -> f32 {
    let since_start = time.saturating_sub(step.real_start).as_secs_f64();
    let length = step.real_end.saturating_sub(step.real_start).as_secs_f64();
    if length == 0.0 {
        // Single steps in a pause cover no real time.
        return 0.0;
    }
    // Rounding to f32 could give 1, and `NextStep` also delivers input from after the step's end.
    ((since_start / length) as f32).min(LARGEST_FRACTION)
}

#[cfg(test)]
mod tests;
