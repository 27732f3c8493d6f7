//! Measures how much of the available time the steps take.

use std::time::Duration;

use super::rate::Rate;

/// The time in seconds after which a measurement has half its weight.
const HALF_LIFE: f64 = 0.5;

/// An average of the time that steps take, over about a second, for [`Budget::step`](crate::time::Budget::step).
///
/// This crate reads no clock, so [`record`](Self::record) your measurements, except on a thread:
/// [`Runner::step_cost`](crate::threads::Runner::step_cost).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCost {
    /// Weighted sums. Times are in seconds.
    elapsed: f64,
    busy: f64,
    steps: f64,
}

impl StepCost {
    /// Records the real time since the last record, the wall time that physics took in it, and the number of steps,
    /// including resimulated ones.
    pub fn record(&mut self, elapsed: Duration, busy: Duration, steps: u64) {
        let elapsed = elapsed.as_secs_f64();
        // The factor by which the weight of all earlier records falls.
        let fading = libm::exp2(-elapsed / HALF_LIFE);
        self.elapsed = self.elapsed * fading + elapsed;
        self.busy = self.busy * fading + busy.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "an average")]
        let steps = steps as f64;
        self.steps = self.steps * fading + steps;
    }

    /// Returns the mean wall time of a step, or `None` if no step has run for a few seconds.
    #[must_use]
    pub fn step(&self) -> Option<Duration> {
        let seconds = self.busy / self.steps;
        (self.steps > 1e-3).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    /// Returns the fraction of a step's length that running it takes, or `None` if no step has run for a few seconds.
    /// From 1 on, physics cannot keep up with real time at speed 1.
    #[must_use]
    pub fn load(&self, rate: Rate) -> Option<f64> {
        Some(self.step()?.as_secs_f64() / rate.dt_f64())
    }

    /// Returns the number of steps per second of real time, or `None` before any time was recorded.
    #[must_use]
    pub fn achieved(&self) -> Option<f64> {
        (self.elapsed > 0.0).then(|| self.steps / self.elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn dropped_steps_lower_the_achieved_rate() {
        let rate = Rate::hz(100);
        let mut step_cost = StepCost::default();
        assert_eq!(
            (step_cost.step(), step_cost.load(rate), step_cost.achieved()),
            (None, None, None)
        );
        // Each frame of 40 ms runs two steps of 15 ms and drops two.
        for _ in 0..100 {
            step_cost.record(MS(40), MS(30), 2);
        }
        assert!((step_cost.achieved().unwrap() - 50.0).abs() < 1e-6);
        assert!((step_cost.load(rate).unwrap() - 1.5).abs() < 1e-6);
        assert_eq!(step_cost.step().map(|step| step.as_millis()), Some(15));
    }

    #[test]
    fn the_load_adapts_within_two_seconds_and_is_forgotten_in_a_pause() {
        let rate = Rate::hz(100);
        let mut step_cost = StepCost::default();
        let mut run = |frames, busy, steps| {
            for _ in 0..frames {
                step_cost.record(MS(10), MS(busy), steps);
            }
            step_cost
        };
        assert!((run(500, 1, 1).load(rate).unwrap() - 0.1).abs() < 1e-6);
        let later = run(200, 4, 1).load(rate).unwrap();
        assert!((0.36..0.4).contains(&later), "{later}");
        let paused = run(2_000, 0, 0);
        assert_eq!((paused.step(), paused.load(rate)), (None, None));
        assert!(paused.achieved().unwrap() < 1e-3);
    }

    #[test]
    fn zero_and_maximum_times_do_not_panic() {
        let mut step_cost = StepCost::default();
        step_cost.record(Duration::ZERO, Duration::MAX, u64::MAX);
        step_cost.record(Duration::MAX, Duration::MAX, 0);
        step_cost.record(Duration::ZERO, Duration::MAX, 1);
        assert!(step_cost.step().is_some());
        assert!(step_cost.achieved().unwrap().is_finite());
    }
}
