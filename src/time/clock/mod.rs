//! The accumulator: elapsed time in, steps due out, one at a time.

// The units of time, and speed.
mod units;
// Settings, and requests for the next frame only.
mod settings;
// A step, and dropped time.
mod step;
// Steps due in a frame.
mod due;
// The displayed moment, and other readings.
mod displayed;

use std::num::NonZeroU128;
use std::time::Duration;

use super::rate::Rate;
pub(crate) use settings::Requests;
pub use settings::{Budget, ClockSettings};
pub use step::{Dropped, Step};
pub(crate) use units::ExactTime;
pub use units::SpeedError;

/// A converter of frame times to whole steps: the accumulator of [Fix Your
/// Timestep!](https://gafferongames.com/post/fix_your_timestep/), in integers.
///
/// A [`Simulation`](crate::Simulation) has a clock. Use one alone to step something else. The clock counts exactly:
/// after durations that sum to T, exactly floor(T · rate) steps have been due, with
/// [`Stepping::Fixed`](crate::Stepping::Fixed), at one rate, at speed 1, without pauses and requests, and if nothing
/// was dropped.
///
/// ```
/// # use evenstep::{Rate, time::Clock};
/// # use std::time::Duration;
/// let mut clock = Clock::new(Rate::hz(60));
/// clock.begin_frame(Duration::from_millis(40));
/// while let Some(step) = clock.next_step() {
///     println!("step {}: {} s", step.tick, step.dt); // two steps
/// }
/// clock.begin_frame(Duration::from_millis(10));
/// assert_eq!((clock.due(), clock.alpha()), (1, 0.0)); // 50 ms are three steps, exactly
/// ```
///
/// # Real and simulated time
/// [`real_time`](Self::real_time) is the sum of all frame times, even dropped and paused ones, and of a runner's
/// dropped lag. Simulated [`time`](Self::time) stops in a pause, runs slower in slow motion, and excludes dropped time.
///
/// # Long frames
/// If steps take longer than the time they simulate, each frame would be longer than the previous one. Three
/// [settings](ClockSettings) limit the time of a frame, its steps and their cost. Only time is dropped, never a tick,
/// and [counted](Dropped).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(remote = "Self")
)]
pub struct Clock {
    settings: ClockSettings,
    requests: Requests,
    used: Used,
    /// The exact time of the last state.
    now: ExactTime,
    /// Time that is in no step of this frame, in units of the frame's rate: 1 ns / (rate · speed units).
    overstep: u128,
    /// The time of steps that [`pause_and_postpone`](Self::pause_and_postpone) left to the next frame in which time
    /// passes.
    postponed: u128,
    tick: u64,
    /// Whether the last state is displayed until the next step, because the overstep does not tell how far the picture
    /// is behind it.
    displays_last_state: bool,
    real_time: Duration,
    /// The real time at which the next step begins.
    next_real_start: Duration,
    planned: Option<Due>,
    dropped: Dropped,
}

/// The settings and requests that the last frame used. Readings use these, because the settings belong to the next
/// frame. Rate and stepping wait until time passes, so that the picture of a pause stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Used {
    pub rate: Rate,
    pub stands_still: bool,
    pub has_single_steps: bool,
    /// Whether the frame could end with part of a step left over.
    pub leaves_a_fraction: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Due {
    /// The tick after the last of these steps.
    end: u64,
    /// The length of these steps. All except the last have the rate's length.
    units: u128,
    /// Whether none of them has run.
    is_untouched: bool,
    /// Whether the game has received the first of these steps.
    is_handed_out: bool,
    /// What each nanosecond of the frame adds, or `None` if the frame has no time: for single and postponed steps.
    units_per_nano: Option<NonZeroU128>,
    /// How much later than the end of their frame the steps run.
    late: Duration,
}

#[cfg(feature = "serde")]
impl serde::Serialize for Clock {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// Fails if the parts of the clock contradict each other.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Clock {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // This calls the derived function, with `serde(remote = "Self")`, not itself.
        let mut clock = Self::deserialize(deserializer)?;
        if clock.planned.is_some_and(|due| due.end <= clock.tick) {
            return Err(serde::de::Error::custom(
                "the due steps of the clock have run",
            ));
        }
        // With a forged overstep, the game would hang in too many due steps. An honest one may be longer than a step,
        // because a faster rate shortens the steps. Postponed time is not limited: it may be any number of steps.
        let most = u128::from(u16::MAX) * units::units_per_step(clock.used.rate);
        clock.overstep = clock.overstep.min(most);
        Ok(clock)
    }
}

impl Clock {
    /// Creates a clock at time zero, at speed 1.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self {
            settings: ClockSettings::new(rate),
            requests: Requests::default(),
            used: Used {
                rate,
                stands_still: false,
                has_single_steps: false,
                leaves_a_fraction: true,
            },
            now: ExactTime::start(rate),
            overstep: 0,
            postponed: 0,
            tick: 0,
            displays_last_state: false,
            real_time: Duration::ZERO,
            next_real_start: Duration::ZERO,
            planned: None,
            dropped: Dropped::default(),
        }
    }

    /// Returns the settings for the next frame.
    #[must_use]
    pub fn settings(&self) -> &ClockSettings {
        &self.settings
    }

    /// Returns a mutable reference to the settings, for the next frame.
    pub fn settings_mut(&mut self) -> &mut ClockSettings {
        &mut self.settings
    }

    pub(crate) fn used(&self) -> Used {
        self.used
    }

    pub(crate) fn requests(&self) -> Requests {
        self.requests
    }

    #[cfg(feature = "serde")]
    pub(crate) fn set_requests(&mut self, requests: Requests) {
        self.requests = requests;
    }

    /// Moves the clock to another state's tick and time. The same number of steps stays due in this frame, and the
    /// overstep tells the displayed moment, as a fraction of the step that led to the state.
    pub(crate) fn go_to(&mut self, tick: u64, time: ExactTime) {
        if (tick, time) == (self.tick, self.now) {
            // The displayed moment stays as it is.
            return;
        }
        if let Some(due) = &mut self.planned {
            // The ticks of these steps would exceed a `u64` only if a state claims such a tick.
            match tick.checked_add(due.end.saturating_sub(self.tick)) {
                Some(end) => due.end = end,
                None => self.planned = None,
            }
        }
        (self.tick, self.now) = (tick, time);
        self.displays_last_state = false;
    }

    /// Adds real time that is part of no frame, and counts it as dropped.
    pub(crate) fn skip_real_time(&mut self, skipped: Duration) {
        self.real_time = self.real_time.saturating_add(skipped);
        self.dropped += Dropped {
            frame_time: skipped,
            ..Dropped::default()
        };
    }

    pub(crate) fn set_real_time(&mut self, real_time: Duration) {
        (self.real_time, self.next_real_start) = (real_time, real_time);
    }
}

/// # Pauses and requests
impl Clock {
    /// Stops simulated time from the next frame on, until [`resume`](Self::resume). [`alpha`](Self::alpha) keeps its
    /// value, so the picture freezes. [`real_time`](Self::real_time) continues.
    pub fn pause(&mut self) {
        self.settings.set_paused(true);
    }

    /// Resumes time in the next frame. Requested single steps that have not run are discarded.
    pub fn resume(&mut self) {
        self.settings.set_paused(false);
        self.requests.single_steps = 0;
    }

    /// Requests one step in the next frame of a pause. Several calls add up. Without a pause it has no effect.
    #[doc(alias = "frame_advance")]
    pub fn step_once(&mut self) {
        if self.settings.is_paused() {
            self.requests.single_steps = self.requests.single_steps.saturating_add(1);
        }
    }

    /// Renumbers the steps: the next frame begins with step `tick`. Use it to join or continue a match. Steps that are
    /// still to be resimulated are dropped.
    pub fn set_tick(&mut self, tick: u64) {
        self.requests.tick = Some(tick);
    }

    /// Sets the [overstep](Self::overstep) that the next frame starts with, in simulated time, reduced to just under a
    /// step. The time of postponed steps is dropped. In a pause the overstep chooses the displayed moment
    /// between the last two states, as in [`Simulation::rewind`](crate::Simulation::rewind).
    pub fn set_overstep(&mut self, overstep: Duration) {
        self.requests.overstep = Some(overstep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::rate::NANOS_PER_SECOND;
    use crate::time::stepping::Stepping;
    use proptest::prelude::*;

    pub(super) const MS: fn(u64) -> Duration = Duration::from_millis;

    pub(super) fn clock(hz: u32) -> Clock {
        Clock::new(Rate::hz(hz))
    }

    pub(super) fn due(clock: &mut Clock, elapsed: Duration) -> u64 {
        clock.begin_frame(elapsed);
        clock.due()
    }

    pub(super) fn steps(clock: &mut Clock, elapsed: Duration) -> Vec<Step> {
        clock.begin_frame(elapsed);
        std::iter::from_fn(|| clock.next_step()).collect()
    }

    pub(super) fn rate() -> impl Strategy<Value = Rate> {
        prop_oneof![
            Just(Rate::fraction(60_000, 1_001)),
            (1..2_000u32).prop_map(Rate::hz),
            (1..u32::MAX, 1..u32::MAX).prop_map(|(n, d)| Rate::fraction(n, d)),
            (1..4_000_000_000u64).prop_map(|ns| Rate::from_step(Duration::from_nanos(ns))),
        ]
    }

    /// Returns floor(time · rate) and the rest, directly from the definition.
    pub(super) fn steps_in(time: Duration, rate: Rate) -> (u128, u128) {
        let scaled = time.as_nanos() * u128::from(rate.steps());
        let step = NANOS_PER_SECOND * u128::from(rate.seconds());
        (scaled / step, scaled % step)
    }

    const ALL: [Stepping; 5] = [
        Stepping::Fixed,
        Stepping::FrameLocked,
        Stepping::Variable,
        Stepping::SemiFixed,
        Stepping::DisplayCounted,
    ];

    /// Returns all readings of a clock, and its steps in this frame and the next ones.
    fn all_readings(mut clock: Clock) -> (Vec<Option<Step>>, String) {
        let values = format!(
            "{:?}",
            (
                (clock.tick(), clock.time(), clock.real_time()),
                (clock.overstep(), clock.alpha(), clock.until_next_step()),
                (clock.due(), clock.dropped(), clock.settings().clone()),
                (clock.time_after(MS(100)), clock.displayed_time()),
                clock.exact_time().dt(),
            )
        );
        let mut steps = Vec::new();
        for _ in 0..3 {
            steps.extend((0..50).map(|_| clock.next_step()));
            clock.begin_frame(MS(37));
        }
        (steps, values)
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn clocks_are_equal_if_and_only_if_all_their_readings_are(
            stepping in prop::sample::select(&ALL[..]),
            splits in prop::collection::vec(1..100u64, 2),
            pause in any::<bool>(),
        ) {
            let mut clocks = [clock(100), clock(100)];
            // One clock gets the time in one frame, the other in two.
            let [a, b] = &mut clocks;
            a.settings_mut().set_stepping(stepping);
            b.settings_mut().set_stepping(stepping);
            steps(a, MS(splits.iter().sum()));
            splits.iter().for_each(|ms| drop(steps(b, MS(*ms))));
            if pause {
                for clock in &mut clocks {
                    clock.pause();
                    clock.step_once();
                    clock.begin_frame(MS(3));
                    clock.next_step();
                }
            }
            let [a, b] = clocks;
            prop_assert_eq!(all_readings(a.clone()) == all_readings(b.clone()), a == b);
        }
    }

    #[test]
    fn clocks_that_reach_the_same_time_in_different_frames_are_equal() {
        let mut whole = clock(100);
        steps(&mut whole, MS(25));
        let mut split = clock(100);
        steps(&mut split, MS(15));
        assert_ne!(split, whole);
        steps(&mut split, MS(10));
        assert_eq!(split, whole);
        // The speed is different meanwhile.
        split.settings_mut().set_speed(2.0).unwrap();
        steps(&mut split, MS(5));
        steps(&mut whole, MS(10));
        split.settings_mut().set_speed(0.0).unwrap();
        steps(&mut split, MS(5));
        split.settings_mut().set_speed(1.0).unwrap();
        assert_eq!(split.time(), whole.time());
        for clock in [&mut split, &mut whole] {
            clock.settings_mut().set_max_steps_per_frame(Some(2));
            steps(clock, MS(10));
            clock.begin_frame(MS(30));
            clock.abort_frame();
        }
        assert_eq!(split, whole);
    }

    #[test]
    fn maximum_frame_times_neither_panic_nor_overflow_with_any_stepping() {
        let rates = [
            Rate::hz(u32::MAX),
            Rate::fraction(1, u32::MAX),
            Rate::hz(60),
        ];
        for (stepping, rate) in ALL.into_iter().flat_map(|s| rates.map(|rate| (s, rate))) {
            for (speed, is_paused) in [(1_000.0, false), (1e-6, false), (0.0, false), (1.0, true)] {
                let mut clock = Clock::new(rate);
                let settings = clock.settings_mut();
                settings.set_stepping(stepping);
                settings.set_max_frame_time(Duration::MAX);
                settings.set_speed(speed).unwrap();
                clock.set_overstep(Duration::MAX);
                for tick in [0, u64::MAX - 2, u64::MAX] {
                    clock.set_tick(tick);
                    if is_paused {
                        clock.pause();
                        (0..5).for_each(|_| clock.step_once());
                    }
                    let _ = clock.time_after(Duration::MAX);
                    clock.begin_frame(Duration::MAX);
                    assert!(clock.due() <= u64::MAX - tick);
                    while clock
                        .next_step()
                        .is_some_and(|step| step.tick < 10 || tick > 0)
                    {
                        assert!((0.0..=1.0).contains(&clock.alpha()));
                        assert!(clock.time() >= clock.overstep());
                        let _ = clock.until_next_step();
                    }
                    assert_eq!(clock.real_time(), Duration::MAX);
                    clock.settings_mut().set_rate(Rate::hz(u32::MAX));
                }
                assert_eq!((clock.tick(), clock.due()), (u64::MAX, 0));
            }
        }
    }

    #[test]
    fn the_clock_stops_at_the_maximum_tick_without_overflow() {
        for rate in [Rate::hz(u32::MAX), Rate::fraction(1, u32::MAX)] {
            let mut clock = Clock::new(rate);
            clock.settings_mut().set_max_frame_time(Duration::MAX);
            clock.settings_mut().set_speed(1_000.0).unwrap();
            for _ in 0..3 {
                let dropped = clock.begin_frame(Duration::MAX);
                assert_eq!(
                    dropped.frame_time,
                    Duration::MAX - Duration::from_nanos(u64::MAX)
                );
                assert!(clock.alpha() <= 1.0);
                assert!(clock.next_step().is_some());
                clock.settings_mut().set_rate(Rate::hz(u32::MAX));
                clock.set_tick(u64::MAX - 1);
            }
            // The tick cannot count any further, so no more steps are due.
            assert_eq!((clock.tick(), clock.next_step()), (u64::MAX, None));
            assert!(clock.time() >= clock.overstep());
            assert_eq!(clock.real_time(), Duration::MAX);
        }
    }

    #[test]
    fn a_change_of_rate_preserves_time_and_overstep() {
        // 11 does not divide a step's units, so there is something to round.
        let mut clock = clock(11);
        steps(&mut clock, MS(250));
        let (state, time, overstep) = (clock.exact_time(), clock.time(), clock.overstep());
        for rate in [Rate::fraction(60_000, 1_001), Rate::hz(144), Rate::hz(7)] {
            let [old, new] = [clock.settings().rate(), rate].map(|rate| u128::from(rate.steps()));
            let exact = clock.overstep * new / old;
            clock.settings_mut().set_rate(rate);
            clock.begin_frame(Duration::ZERO);
            // Without a step, the state keeps its units.
            assert_eq!((clock.overstep, clock.exact_time()), (exact, state));
            let off = time.abs_diff(clock.time());
            assert!(off <= Duration::from_nanos(1), "{off:?}");
            let off = overstep.abs_diff(clock.overstep());
            assert!(off <= Duration::from_nanos(1), "{off:?}");
        }
    }
}
