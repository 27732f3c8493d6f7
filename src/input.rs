//! Time-stamped input, each sample delivered to exactly one step.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::Step;

/// How far past the end of a frame a time stamp may lie and still be believed.
///
/// Stamps a little ahead are good: the device's thread was read after the frame's end. Seconds
/// ahead are a broken clock, and waiting for them would hold back all that comes after.
const CREDIBLE_LEAD: Duration = Duration::from_secs(2);

/// Samples of a game's own input, waiting for the step that they belong to.
///
/// Push each sample with the time at which it happened, on [`Clock::now`](crate::Clock::now)'s
/// time: seconds of real time since the first frame. In the hook before each step,
/// [`take`](Self::take) what that step gets. Every sample is delivered once: an edge is neither
/// lost in a frame without a step nor seen twice in a frame with several.
///
/// ```
/// use evenstep::{Button, Delivery, InputQueue, Rate, Simulation};
/// use std::time::Duration;
///
/// enum Input { Jump(bool), Look(f32), Throttle(f32) }
///
/// let mut queue = InputQueue::new(Delivery::Covering);
/// queue.push(Duration::from_millis(3), Input::Jump(true));
/// queue.push(Duration::from_millis(5), Input::Jump(false));
/// queue.push(Duration::from_millis(7), Input::Look(0.5));
/// queue.push(Duration::from_millis(11), Input::Jump(true));
/// queue.push(Duration::from_millis(14), Input::Throttle(0.8));
/// queue.push(Duration::from_millis(15), Input::Look(0.25));
///
/// let (mut jump, mut throttle) = (Button::default(), 0.0);
/// let mut simulation = Simulation::new(Rate::hz(60)?);
/// simulation.advance(Duration::from_millis(20), |_: &mut Simulation, step| {
///     let mut look = 0.0;
///     jump.start_step();
///     for sample in queue.take(&step) {
///         match sample.input {
///             Input::Jump(down) => jump.set(down),  // presses are counted
///             Input::Look(by) => look += by,        // motion is summed
///             Input::Throttle(to) => throttle = to, // an axis has its newest value
///         }
///     }
///     assert_eq!((jump.presses(), jump.releases(), jump.is_down()), (2, 1, true));
///     assert_eq!((look, throttle), (0.75, 0.8));
/// });
/// # Ok::<(), evenstep::RateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct InputQueue<T> {
    delivery: Delivery,
    waiting: VecDeque<(Duration, T)>,
    /// The first so many of `waiting` have had their stamps checked.
    checked: usize,
    /// The newest stamp that was checked.
    newest: Duration,
    corrected: Corrected,
}

/// Which step a sample is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Delivery {
    /// The step whose interval holds the sample's time stamp.
    ///
    /// The same input gives the same steps whatever the frame rate, and a press late in a step
    /// can be told from an early one. A sample waits until its step is made: up to a step, and
    /// the frame.
    #[default]
    Covering,
    /// The first step that is made after the sample was pushed.
    ///
    /// The least latency: up to a step less. Which step that is depends on the frame rate.
    Earliest,
}

/// A sample as a step gets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<T> {
    /// What was pushed.
    pub input: T,
    /// When it happened: its time stamp, made monotone and credible.
    pub time: Duration,
    /// How far into the step it happened, as a fraction of the step, in [0, 1). 0 for a late
    /// sample.
    pub fraction: f32,
}

/// How many time stamps were not taken as they came. Their samples were delivered all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corrected {
    /// Samples that came after the step that covers them was made; they went to the next one.
    pub late: u64,
    /// Stamps before the one pushed before them; taken as that one.
    pub reordered: u64,
    /// Stamps more than two seconds past the end of the frame; taken as that end.
    pub absurd: u64,
}

impl<T> InputQueue<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(delivery: Delivery) -> Self {
        Self {
            delivery,
            waiting: VecDeque::new(),
            checked: 0,
            newest: Duration::ZERO,
            corrected: Corrected::default(),
        }
    }

    /// Adds a sample that happened at `time`, on [`Clock::now`](crate::Clock::now)'s time
    /// ([`FrameTimer::stamp`](crate::FrameTimer::stamp) converts a host's own stamps).
    ///
    /// Stamps are checked when the next step takes its samples: one that runs backwards is taken
    /// as the one before it, one that lies seconds in the future as the end of the frame. Both
    /// are counted in [`corrected`](Self::corrected).
    pub fn push(&mut self, time: Duration, input: T) {
        self.waiting.push_back((time, input));
    }

    /// The samples for `step`, oldest first. Those that are not consumed are gone too.
    ///
    /// Call it once in the hook before each step. A step that is not asked for leaves its samples
    /// to the next one, as late ones.
    pub fn take(&mut self, step: &Step) -> impl Iterator<Item = Sample<T>> {
        self.check(step.now);
        let due = match self.delivery {
            Delivery::Covering => self.waiting.partition_point(|(time, _)| *time < step.ends),
            Delivery::Earliest => self.waiting.len(),
        };
        self.checked -= due;
        let late = self
            .waiting
            .range(..due)
            .filter(|(time, _)| *time < step.starts);
        self.corrected.late += late.count() as u64;

        let step = *step;
        self.waiting.drain(..due).map(move |(time, input)| Sample {
            input,
            time,
            fraction: fraction(time, &step),
        })
    }

    /// Makes the stamps of new samples credible and monotone.
    fn check(&mut self, now: Duration) {
        for (time, _) in self.waiting.range_mut(self.checked..) {
            if *time > now.saturating_add(CREDIBLE_LEAD) {
                self.corrected.absurd += 1;
                *time = now.max(self.newest);
            }
            if *time < self.newest {
                self.corrected.reordered += 1;
                *time = self.newest;
            }
            self.newest = *time;
        }
        self.checked = self.waiting.len();
    }

    /// The number of samples that wait for a step.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no sample waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Forgets all samples that wait: for a focus lost, or a menu opened.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.checked = 0;
    }

    /// What was late, out of order or absurd so far.
    #[must_use]
    pub fn corrected(&self) -> Corrected {
        self.corrected
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is the point"
)]
fn fraction(time: Duration, step: &Step) -> f32 {
    let into = time.saturating_sub(step.starts).as_secs_f64();
    let length = step.ends.saturating_sub(step.starts).as_secs_f64();
    if into < length {
        ((into / length) as f32).min(1.0 - f32::EPSILON / 2.0)
    } else {
        // After the step's end, which only `Earliest` delivers, or a step without an interval.
        if length > 0.0 {
            1.0 - f32::EPSILON / 2.0
        } else {
            0.0
        }
    }
}

/// A button over one step: whether it is down, and how often it went down and up.
///
/// Two presses between two steps are two presses, and a press and its release within one step
/// are both seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Button {
    down: bool,
    presses: u32,
    releases: u32,
}

impl Button {
    /// Forgets the counts of the step before; whether it is down stays.
    pub fn start_step(&mut self) {
        self.presses = 0;
        self.releases = 0;
    }

    /// The button's state as a device reports it. Only changes count, so key repeat does not.
    pub fn set(&mut self, down: bool) {
        if down && !self.down {
            self.presses += 1;
        } else if !down && self.down {
            self.releases += 1;
        }
        self.down = down;
    }

    /// Whether it is down at the end of the step.
    #[must_use]
    pub fn is_down(self) -> bool {
        self.down
    }

    /// How often it went down in this step.
    #[must_use]
    pub fn presses(self) -> u32 {
        self.presses
    }

    /// How often it went up in this step.
    #[must_use]
    pub fn releases(self) -> u32 {
        self.releases
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::rate::Rate;
    use proptest::prelude::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn clock() -> Clock {
        Clock::new(Rate::hz(100).unwrap())
    }

    /// The inputs that each step of a frame gets, by tick.
    fn frame(clock: &mut Clock, ms: u64, queue: &mut InputQueue<u32>) -> Vec<(u64, Vec<u32>)> {
        let mut steps = Vec::new();
        for step in clock.advance(MS(ms)) {
            let inputs = queue.take(&step).map(|sample| sample.input).collect();
            steps.push((step.tick, inputs));
        }
        steps
    }

    proptest! {
        #[test]
        fn every_sample_goes_to_the_step_that_covers_it_once(
            frames in prop::collection::vec(0..60_000_000u64, 1..60),
            gaps in prop::collection::vec(0..20_000_000u64, 0..200),
        ) {
            let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::Covering));
            let mut stamps = Vec::new();
            let mut at = 0;
            for gap in gaps {
                at += gap;
                stamps.push(at);
            }
            let mut pushed = 0;
            let mut taken = Vec::new();
            for nanos in frames {
                // A frame's input is there before the frame is run, as in a real loop.
                let end = clock.now() + Duration::from_nanos(nanos);
                while pushed < stamps.len() && Duration::from_nanos(stamps[pushed]) < end {
                    queue.push(Duration::from_nanos(stamps[pushed]), stamps[pushed]);
                    pushed += 1;
                }
                for step in clock.advance(Duration::from_nanos(nanos)) {
                    for sample in queue.take(&step) {
                        prop_assert_eq!(sample.input / 10_000_000, step.tick);
                        #[expect(clippy::cast_precision_loss)]
                        let expected = (sample.input % 10_000_000) as f32 / 1e7;
                        prop_assert!((sample.fraction - expected).abs() < 1e-6);
                        prop_assert!(sample.fraction < 1.0);
                        taken.push(sample.input);
                    }
                }
            }
            let made = clock.tick() * 10_000_000;
            let due: Vec<u64> = stamps.into_iter().filter(|stamp| *stamp < made).collect();
            prop_assert_eq!(taken, due);
            prop_assert_eq!(queue.corrected(), Corrected::default());
        }

        #[test]
        fn nothing_is_lost_or_doubled_whatever_the_clock_and_the_stamps_do(
            frames in prop::collection::vec((0..400_000_000u64, 0..5u32, any::<bool>()), 1..60),
            stamps in prop::collection::vec((0..60usize, 0..9_000_000_000u64), 0..200),
            earliest: bool,
        ) {
            let delivery = if earliest { Delivery::Earliest } else { Delivery::Covering };
            let (mut clock, mut queue) = (clock(), InputQueue::new(delivery));
            clock.set_max_steps_per_frame(Some(10));
            let mut pushed = Vec::new();
            let mut taken = Vec::new();
            for (i, (nanos, speed, pause)) in frames.into_iter().enumerate() {
                for (id, (_, stamp)) in stamps.iter().enumerate().filter(|(_, (f, _))| *f == i) {
                    queue.push(Duration::from_nanos(*stamp), id);
                    pushed.push(id);
                }
                clock.set_speed(f64::from(speed) / 2.0).unwrap();
                if pause { clock.pause(); clock.step_once() } else { clock.resume() }
                for step in clock.advance(Duration::from_nanos(nanos)) {
                    for sample in queue.take(&step) {
                        prop_assert!((0.0..1.0).contains(&sample.fraction));
                        taken.push(sample.input);
                    }
                }
            }
            taken.extend(queue.waiting.iter().map(|(_, id)| *id));
            prop_assert_eq!(taken, pushed);
        }
    }

    #[test]
    fn a_frame_without_a_step_loses_nothing_and_one_with_several_doubles_nothing() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::Covering));
        queue.push(MS(2), 1);
        assert!(frame(&mut clock, 4, &mut queue).is_empty());
        queue.push(MS(5), 2);
        queue.push(MS(25), 3);
        let steps = frame(&mut clock, 30, &mut queue);
        assert_eq!(steps, [(0, vec![1, 2]), (1, vec![]), (2, vec![3])]);
    }

    #[test]
    fn earliest_delivers_to_the_first_step_whatever_the_stamp() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::Earliest));
        queue.push(MS(5), 1);
        queue.push(MS(25), 2);
        assert_eq!(
            frame(&mut clock, 30, &mut queue),
            [(0, vec![1, 2]), (1, vec![]), (2, vec![])]
        );
        assert_eq!(queue.corrected(), Corrected::default());
    }

    #[test]
    fn late_samples_go_to_the_next_step_and_are_counted() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::Covering));
        frame(&mut clock, 20, &mut queue);
        queue.push(MS(15), 1);
        queue.push(MS(24), 2);
        let step = clock.advance(MS(10)).next().unwrap();
        let taken: Vec<_> = queue.take(&step).map(|s| (s.input, s.fraction)).collect();
        assert_eq!(taken, [(1, 0.0), (2, 0.4)]);
        assert_eq!(queue.corrected().late, 1);
    }

    #[test]
    fn stamps_are_made_monotone_and_absurd_ones_are_clamped() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::Covering));
        queue.push(MS(8), 1);
        queue.push(MS(3), 2); // backwards: taken as 8 ms
        queue.push(Duration::MAX, 3); // absurd: taken as the end of the frame, 10 ms
        queue.push(MS(9), 4); // held back no further than that
        assert_eq!(frame(&mut clock, 10, &mut queue), [(0, vec![1, 2])]);
        assert_eq!(frame(&mut clock, 10, &mut queue), [(1, vec![3, 4])]);
        let expected = Corrected {
            late: 0,
            reordered: 2,
            absurd: 1,
        };
        assert_eq!(queue.corrected(), expected);
    }

    #[test]
    fn input_of_a_pause_goes_to_the_single_step_or_the_first_step_after_it() {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::Covering));
        clock.pause();
        queue.push(MS(100), 1);
        assert!(frame(&mut clock, 200, &mut queue).is_empty());
        clock.step_once();
        assert_eq!(frame(&mut clock, 200, &mut queue), [(0, vec![1])]);
        queue.push(MS(500), 2);
        frame(&mut clock, 3_000, &mut queue);
        clock.resume();
        assert_eq!(frame(&mut clock, 10, &mut queue), [(1, vec![2])]);
        assert_eq!(queue.corrected(), Corrected::default());
    }

    #[test]
    fn a_button_counts_edges_and_ignores_repeats() {
        let mut button = Button::default();
        for down in [true, true, false, true] {
            button.set(down);
        }
        assert_eq!((button.presses(), button.releases()), (2, 1));
        button.start_step();
        button.set(true);
        assert_eq!(
            (button.presses(), button.releases(), button.is_down()),
            (0, 0, true)
        );
    }
}
