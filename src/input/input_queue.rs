//! Time-stamped input, each sample delivered to exactly one step.

use std::collections::VecDeque;
use std::time::Duration;

use crate::time::Step;

/// The largest `f32` below one. It keeps a fraction from being rounded up to a whole step.
const LARGEST_FRACTION: f32 = 1.0_f32.next_down();

/// A queue of time-stamped input samples.
///
/// Times are [real time](crate::time::Clock::real_time), to which [`FrameTimer::stamp`](crate::time::FrameTimer::stamp)
/// converts a host's time stamps. In the hook before each step, [`drain`](Self::drain) returns the samples of that
/// step. Every sample is delivered once: a key press is neither lost in a frame without a step nor delivered twice in a
/// frame with several.
///
/// ```
/// use evenstep::{Rate, Simulation};
/// use evenstep::input::{Button, Delivery, InputQueue};
/// use std::time::Duration;
///
/// enum Input { Jump(bool), Look(f32), Throttle(f32) }
///
/// let mut queue = InputQueue::new(Delivery::ByTime);
/// queue.push(Duration::from_millis(3), Input::Jump(true));
/// queue.push(Duration::from_millis(5), Input::Jump(false));
/// queue.push(Duration::from_millis(7), Input::Look(0.5));
/// queue.push(Duration::from_millis(11), Input::Jump(true));
/// queue.push(Duration::from_millis(14), Input::Throttle(0.8));
/// queue.push(Duration::from_millis(15), Input::Look(0.25));
///
/// let (mut jump, mut throttle) = (Button::default(), 0.0);
/// let mut simulation = Simulation::new(Rate::hz(60));
/// simulation.advance(Duration::from_millis(20), |_, step| {
///     let mut look = 0.0;
///     jump.start_step();
///     for sample in queue.drain(step) {
///         match sample.input {
///             Input::Jump(down) => jump.set(down),  // presses are counted
///             Input::Look(by) => look += by,        // motion is summed
///             Input::Throttle(to) => throttle = to, // the newest value of an axis counts
///         }
///     }
///     assert_eq!((jump.presses(), jump.releases(), jump.is_down()), (2, 1, true));
///     assert_eq!((look, throttle), (0.75, 0.8));
/// });
/// ```
///
/// # Choosing
/// | input | use |
/// | --- | --- |
/// | events with the time at which they happened | `InputQueue` with [`Delivery::ByTime`] |
/// | events without a time: devices polled once per frame | `InputQueue` with [`Delivery::NextStep`] |
/// | commands for a tick: a server, lockstep, a replay, a rollback | [`TickQueue`](crate::input::TickQueue) |
///
/// # Rollback
/// A step that is [resimulated](Step::is_resimulated) gets only late samples. With `ByTime`, these are the queued
/// samples from before the end of the step. With `NextStep`, it gets none. Later samples stay queued for their step. A
/// sample that was delivered in the first run of a step is not delivered again. If your game rolls back, keep the input
/// of each tick and push it to a [`TickQueue`](crate::input::TickQueue) again.
///
/// A time belongs to the same step in every run only if nothing is dropped and nothing is paused. A tick always does.
///
/// # Pause
/// While no step is run, samples stay queued, and the first step after a pause gets all of them at once. If key presses
/// in a menu are not meant for the game, remove them in each frame with [`drain_all`](Self::drain_all) and pass them to
/// the [`Button`](crate::input::Button)s. A key that is released in the menu is then up when the game resumes.
/// [`clear`](Self::clear) would lose that release.
///
/// ```
/// use evenstep::Simulation;
/// use evenstep::input::{Button, Delivery, InputQueue};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let mut simulation = Simulation::default();
/// let (mut queue, mut jump) = (InputQueue::new(Delivery::ByTime), Button::default());
///
/// queue.push(ms(5), true);
/// simulation.advance(ms(20), |_, step| {
///     jump.start_step();
///     queue.drain(step).for_each(|sample| jump.set(sample.input));
/// });
/// assert!(jump.is_down());
///
/// // In the menu: jump is released, pressed and released again.
/// for (time, down) in [(120, false), (150, true), (180, false)] {
///     queue.push(ms(time), down);
///     queue.drain_all().for_each(|down| jump.set(down));
/// }
///
/// // In the next step the button is up, and the game sees no press.
/// simulation.advance(ms(20), |_, step| {
///     jump.start_step();
///     queue.drain(step).for_each(|sample| jump.set(sample.input));
///     assert_eq!((jump.is_down(), jump.presses(), jump.releases()), (false, 0, 0));
/// });
/// ```
///
/// # Level restarts
/// If a state is [assigned](crate::Physics#the-state-as-a-value), real time and the queue continue. The clock of a new
/// [`Simulation`](crate::Simulation) begins at zero: [`clear`](Self::clear) the queue, and create a new
/// [`FrameTimer`](crate::time::FrameTimer), or its stamps continue the old clock.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InputQueue<T> {
    delivery: Delivery,
    waiting: VecDeque<(Duration, T)>,
    counts: InputCounts,
}

/// How a sample is assigned to a step.
///
/// # Choosing
/// `ByTime` needs time stamps from within the frame. An event that is stamped when it is polled has the time of the
/// frame's end. The step that covers that time runs in the next frame, so the event is delayed by one frame more than
/// necessary: 33 ms at 30 frames per second. `NextStep` avoids that delay.
///
/// ```
/// use evenstep::Simulation;
/// use evenstep::input::{Delivery, InputQueue};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let ticks = [Delivery::ByTime, Delivery::NextStep].map(|delivery| {
///     let (mut simulation, mut queue) = (Simulation::default(), InputQueue::new(delivery));
///     queue.push(ms(40), "jump"); // polled at the end of the frame from 0 to 40 ms
///     let mut ticks = Vec::new();
///     for _ in 0..2 {
///         simulation.advance(ms(40), |_, step| {
///             ticks.extend(queue.drain(step).map(|_| step.tick));
///         });
///     }
///     ticks
/// });
/// assert_eq!(ticks, [[2], [0]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Delivery {
    /// Delivers a sample to the step whose interval contains its time stamp.
    ///
    /// The same input goes to the same steps at every frame rate, and a press late in a step can be distinguished from
    /// an early one. A sample waits until its step is run: up to a step, or up to a frame if that is longer.
    #[default]
    ByTime,
    /// Delivers a sample to the first new step after it was pushed.
    ///
    /// This has the least latency: none in a frame with a step. The step that gets the sample depends on the frame
    /// rate.
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
    /// The moment within the step at which the input happened, as a fraction in [0, 1). It is 0 for a sample from
    /// before the step.
    pub fraction: f32,
}

/// Counts of late samples and corrected time stamps. The samples were delivered anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct InputCounts {
    /// Samples that came after their step was run. The next step got them.
    pub late: u64,
    /// Stamps later than the end of their frame, or than the stamp of a sample that was pushed after them. They count
    /// as that time.
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
    /// A stamp later than the end of its frame, or than the stamp of a sample that is pushed after it, counts as that
    /// time, from the next step on. It is unknown which of two stamps is wrong, and a sample that comes early does less
    /// harm than one that holds others back. [`counts`](Self::counts) says how many stamps were corrected.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use evenstep::input::{Delivery, InputQueue};
    /// # use std::time::Duration;
    /// let (mut simulation, mut queue) = (Simulation::default(), InputQueue::new(Delivery::ByTime));
    /// queue.push(Duration::from_secs(3_600), "jump"); // stamped by another clock
    /// let mut samples = 0;
    /// simulation.advance(Duration::from_millis(20), |_, step| samples += queue.drain(step).count());
    /// assert_eq!((samples, queue.counts().corrected), (0, 1)); // it counts as the frame's end
    /// simulation.advance(Duration::from_millis(20), |_, step| samples += queue.drain(step).count());
    /// assert_eq!(samples, 1);
    /// ```
    pub fn push(&mut self, time: Duration, input: T) {
        self.waiting.push_back((time, input));
    }

    /// Returns the samples for `step`, in the order in which they were pushed. Samples that you do not take from the
    /// iterator are removed, too.
    ///
    /// Call it once in the hook before each step. If you skip this call in a step, its samples go to the next step and
    /// count as late.
    pub fn drain(&mut self, step: Step) -> impl Iterator<Item = Sample<T>> {
        if !step.is_resimulated {
            self.correct(step);
        }
        let due = match (self.delivery, step.is_resimulated) {
            (Delivery::ByTime, false) => {
                let is_due = |(time, _): &(Duration, T)| *time < step.real_end;
                self.waiting.partition_point(is_due)
            }
            (Delivery::ByTime, true) => self.move_late_to_front(step.real_end),
            (Delivery::NextStep, false) => self.waiting.len(),
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

    /// Removes and returns all queued inputs, independently of steps, in the order in which they were pushed. Use it
    /// while a menu is open, to keep track of the buttons.
    pub fn drain_all(&mut self) -> impl Iterator<Item = T> {
        self.waiting.drain(..).map(|(_, input)| input)
    }

    /// Discards all queued samples. Use it for a level restart, together with new buttons.
    /// In a pause use [`drain_all`](Self::drain_all). Otherwise, keys that are released meanwhile stay down.
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

    /// Corrects the stamps, so that none is later than the end of the frame or than the next one.
    fn correct(&mut self, step: Step) {
        let mut latest = step.real_frame_end;
        for (time, _) in self.waiting.iter_mut().rev() {
            if *time > latest {
                self.counts.corrected = self.counts.corrected.saturating_add(1);
                *time = latest;
            }
            latest = *time;
        }
    }

    /// Moves the samples with a time before `end` to the front, in the order in which they were pushed, and returns
    /// their number.
    fn move_late_to_front(&mut self, end: Duration) -> usize {
        let is_late = |(time, _): &(Duration, T)| *time < end;
        let (late, rest): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(is_late);
        let count = late.len();
        self.waiting.extend(late.into_iter().chain(rest));
        count
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is intended"
)]
fn fraction(time: Duration, step: Step) -> f32 {
    let into = time.saturating_sub(step.real_start).as_secs_f64();
    let length = step.real_end.saturating_sub(step.real_start).as_secs_f64();
    if length == 0.0 {
        // Single steps in a pause cover no real time.
        return 0.0;
    }
    // Only `NextStep` delivers input from after the step's end to it.
    ((into / length) as f32).min(LARGEST_FRACTION)
}

#[cfg(test)]
mod tests;
