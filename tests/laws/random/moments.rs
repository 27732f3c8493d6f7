//! The displayed time: it never goes back, and it is one step before the simulated time.

use crate::random::game::{Effect, Entry, Picture};
use evenstep::time::Dropped;
use std::time::Duration;

/// Displayed times are rounded to nanoseconds.
const ROUNDED: Duration = Duration::from_nanos(2);

/// In how many pictures a view may display a time that has gone back.
const LATE: u32 = 12;

#[derive(Default)]
struct Moments<'a> {
    last: Option<&'a Picture>,
    /// In how many of the next pictures the displayed time may go back.
    free: u32,
    /// How many steps have run since something other than a step has changed time.
    calm_steps: u32,
    /// The simulated time that has passed since the last picture.
    passed: Duration,
    /// For how many of the next pictures that is unknown.
    unknown: u32,
    /// The new and the resimulated steps since the last picture, unless another state was taken over.
    steps: Option<[u64; 2]>,
    dt: f32,
    /// Whether a setting waits for the next frame.
    is_set: bool,
    /// Whether time stands still in the current frame.
    stands_still: bool,
}

pub fn check(log: &[Entry]) {
    let mut moments = Moments::default();
    for entry in log {
        match entry {
            Entry::Frame { time, speed } => {
                moments.passed += time.mul_f64(*speed);
                moments.stands_still = *speed == 0.0;
                // Single steps leave the time that a pause has held.
                if std::mem::take(&mut moments.is_set) || *speed == 0.0 {
                    moments.calm_steps = 0;
                }
            }
            Entry::Acted {
                action, effects, ..
            } => {
                if !action.is_edit() {
                    moments.disturb();
                }
                for effect in effects {
                    moments.jump(*effect);
                }
            }
            Entry::Failed => moments.disturb(),
            Entry::HandedOver(_) => {
                let is_retimed = super::game::A_STOP_AFTER_A_CHANGE_OF_RATE_GOES_BACK_IN_TIME
                    && moments.calm_steps < 2;
                if moments.stands_still || is_retimed {
                    // A view may be later than the state of a pause.
                    moments.free = moments.free.max(1);
                }
                moments.disturb();
                moments.steps = None;
            }
            Entry::Ran { step, .. } => {
                if !step.is_resimulated && !moments.stands_still {
                    moments.calm_steps += 1;
                }
                if let Some(steps) = &mut moments.steps {
                    steps[usize::from(step.is_resimulated)] += 1;
                }
                moments.dt = step.dt;
            }
            Entry::Picture(picture) => moments.show(picture),
            _ => (),
        }
    }
}

impl<'a> Moments<'a> {
    fn disturb(&mut self) {
        // A setting takes effect in the next frame.
        (self.calm_steps, self.unknown, self.is_set) = (0, 2, true);
    }

    fn jump(&mut self, effect: Effect) {
        let jumps = matches!(
            effect,
            Effect::Other
                | Effect::Replaced
                | Effect::Loaded
                | Effect::Retimed
                | Effect::Renumbered
                | Effect::Corrected(_)
        );
        if jumps {
            self.steps = None;
            self.free = LATE;
            self.disturb();
        }
    }

    fn show(&mut self, picture: &'a Picture) {
        assert!((0.0..=1.0).contains(&picture.alpha));
        let last = self.last.replace(picture);
        let passed = std::mem::take(&mut self.passed);
        let is_known = self.unknown == 0;
        self.unknown = self.unknown.saturating_sub(1);
        let Some(state) = &picture.state else {
            self.check_order(last, picture);
            return;
        };
        let frame = picture.frame.expect("in one thread");
        if let Some(steps) = self.steps.replace([0; 2]) {
            assert_eq!(
                [frame.steps, frame.resimulated],
                steps,
                "the report counts other steps"
            );
            assert!(steps[0] == 0 || frame.dt == self.dt);
        }
        if state.steps_to_resimulate > 0 {
            // The frame repeats the last picture.
            self.disturb();
            if let Some(last) = last.filter(|it| it.state.is_some()) {
                let moment = |it: &Picture| (it.tick, it.alpha.to_bits(), it.time);
                assert_eq!(moment(picture), moment(last), "a rollback is unfinished");
            }
            return;
        }
        self.check_order(last, picture);
        self.free = self.free.min(1);
        assert_eq!(picture.tick, state.tick);
        assert!(picture.time <= state.time, "later than the state");
        assert!(state.now >= state.time);
        let dt = Duration::from_secs_f64(frame.dt.into());
        let behind = state.time - picture.time;
        let most = dt + dt / 1_000_000 + ROUNDED;
        assert!(behind <= most, "{behind:?} before the state, of {dt:?}");
        if frame.dropped != Dropped::default() {
            self.disturb();
        }
        if self.calm_steps >= 2 {
            let off = (state.now - picture.time).abs_diff(dt);
            let is_fixed = picture.alpha < 1.0;
            assert!(!is_fixed || off <= ROUNDED + dt / 1_000_000, "{off:?} off");
        }
        if is_known
            && self.unknown == 0
            && let Some(before) = last.and_then(|last| last.state.as_ref())
        {
            let off = (state.now - before.now).abs_diff(passed);
            assert!(
                off <= Duration::from_nanos(4),
                "{off:?} of {passed:?} are lost"
            );
        }
    }

    fn check_order(&mut self, last: Option<&Picture>, picture: &Picture) {
        // Where another host begins, rounding may move the time back.
        let last = last.map_or(Duration::ZERO, |last| last.time.saturating_sub(ROUNDED));
        let is_free = self.free > 0;
        self.free = self.free.saturating_sub(1);
        assert!(
            is_free || picture.time >= last,
            "{:?} after {last:?}",
            picture.time
        );
    }
}
