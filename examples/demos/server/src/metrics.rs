//! Metrics for Prometheus.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evenstep::Rate;
use evenstep::time::StepCost;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::record::{Ending, Played};

/// The prefix of all names.
pub const PREFIX: &str = "evenstep";

/// The bounds of the histogram in seconds. A step is late from 16.7 ms on.
const LATENESS: [f64; 11] = [
    0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.012, 0.016_65, 0.033_3, 0.1, 0.5,
];

/// The label of each reason.
const ENDINGS: [(Ending, &str); 6] = [
    (Ending::Finished, "finished"),
    (Ending::OverBudget, "over_budget"),
    (Ending::Panicked, "panicked"),
    (Ending::Moved, "moved"),
    (Ending::Lost, "lost"),
    (Ending::Refused, "refused"),
];

/// Counters by reason: the label `why`.
type ByReason = Family<[(&'static str, &'static str); 1], Counter>;

/// The metrics of a server. Clones share the values.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Running matches.
    pub matches: Gauge,
    /// 1 if the server accepts no more matches.
    pub draining: Gauge,
    /// Steps that were run.
    pub steps: Counter,
    /// Steps that finished after the next one was due.
    pub late_steps: Counter,
    over_budget_frames: Counter,
    gone: ByReason,
    dropped: ByReason,
    lateness: Histogram,
    /// How much time the steps of all matches take, and the server's time up to which it is known.
    step_cost: Arc<Mutex<(StepCost, Duration)>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let new = Self {
            matches: Gauge::default(),
            draining: Gauge::default(),
            steps: Counter::default(),
            late_steps: Counter::default(),
            over_budget_frames: Counter::default(),
            gone: ByReason::default(),
            dropped: ByReason::default(),
            lateness: Histogram::new(LATENESS),
            step_cost: Arc::default(),
        };
        // An alert needs the value from before the first match panicked.
        for (_, why) in ENDINGS {
            add(&new.gone, why, 0);
        }
        new
    }
}

fn add(to: &ByReason, why: &'static str, count: u64) {
    to.get_or_create(&[("why", why)]).inc_by(count);
}

impl Metrics {
    /// Adds a frame of a match that ended now, in the server's time.
    pub fn frame(&self, played: &Played, now: Duration) {
        self.steps.inc_by(played.steps());
        self.late_steps.inc_by(played.late_steps);
        (self.over_budget_frames).inc_by(u64::from(played.is_over_budget));
        add(&self.dropped, "catch_up", played.dropped.steps);
        add(&self.dropped, "budget", played.dropped.over_budget);
        for lateness in &played.lateness {
            self.lateness.observe(lateness.as_secs_f64());
        }
        self.step_cost(now, played.cost, played.steps());
    }

    /// Counts a match that has left.
    pub fn gone(&self, ending: Ending) {
        for (of, why) in ENDINGS {
            add(&self.gone, why, u64::from(of == ending));
        }
    }

    /// Returns the number of steps that were due and never run. It leaves out steps beyond a match's end, which its
    /// last frame may abort.
    #[must_use]
    pub fn dropped_steps(&self) -> u64 {
        let count = |why| self.dropped.get_or_create(&[("why", why)]).get();
        count("catch_up") + count("budget")
    }

    /// Records steps of the time until now.
    fn step_cost(&self, now: Duration, busy: Duration, steps: u64) -> StepCost {
        let mut step_cost = self
            .step_cost
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (step_cost, last) = &mut *step_cost;
        step_cost.record(now.saturating_sub(*last), busy, steps);
        *last = now.max(*last);
        *step_cost
    }

    /// Returns all metrics as they are now, in the server's time.
    #[must_use]
    pub fn registry(&self, now: Duration) -> Registry {
        let mut root = Registry::default();
        let bytes = ConstGauge::new(resident_bytes().unwrap_or(0));
        root.register("process_resident_memory_bytes", "Resident set size", bytes);
        let all = root.sub_registry_with_prefix(PREFIX);
        all.register("matches", "Running matches", self.matches.clone());
        let draining = "1 if new matches are refused";
        all.register("draining", draining, self.draining.clone());
        for (name, help, counter) in [
            ("steps", "Due steps that were run", &self.steps),
            (
                "late_steps",
                "Steps that finished after the next one was due",
                &self.late_steps,
            ),
            (
                "over_budget_frames",
                "Frames in which a step exceeded the budget of its match",
                &self.over_budget_frames,
            ),
        ] {
            all.register(name, help, counter.clone());
        }
        let gone = "Matches that ended or moved away";
        all.register("matches_gone", gone, self.gone.clone());
        let dropped = "Steps that were due and never run";
        all.register("dropped_steps", dropped, self.dropped.clone());
        let lateness = "Time from when a step was due to when it finished";
        all.register("step_lateness_seconds", lateness, self.lateness.clone());
        let step_cost = self.step_cost(now, Duration::ZERO, 0);
        let load = step_cost.load(Rate::default()).unwrap_or(0.0);
        let help = "Mean fraction of a step's length that running it takes";
        all.register("step_load", help, ConstGauge::new(load));
        let achieved = step_cost.achieved().unwrap_or(0.0);
        let help = "Steps per second, of all matches, in the last second or two";
        all.register("steps_per_second", help, ConstGauge::new(achieved));
        root
    }
}

/// Returns the size of the process's resident set, on Linux.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Returns the value of a series.
    fn value(metrics: &Metrics, now: Duration, series: &str) -> f64 {
        let mut page = String::new();
        encode(&mut page, &metrics.registry(now)).unwrap();
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.expect(series).parse().unwrap()
    }

    #[test]
    fn the_load_is_the_mean_step_cost_and_fades_without_steps() {
        let metrics = Metrics::default();
        let rate = Rate::default();
        let mut now = Duration::ZERO;
        // The steps of one match take a quarter of their length, and those of another match three quarters.
        for _ in 0..600 {
            now += rate.period() / 2;
            for quarters in [1, 3] {
                let played = Played {
                    lateness: vec![MS(1)],
                    cost: rate.period() * quarters / 4,
                    ..Played::default()
                };
                metrics.frame(&played, now);
            }
        }
        let [load, achieved] = ["evenstep_step_load", "evenstep_steps_per_second"];
        assert!((value(&metrics, now, load) - 0.5).abs() < 1e-6);
        // The matches are played at twice the rate.
        assert!((value(&metrics, now, achieved) - 240.0).abs() < 1e-3);
        let later = now + MS(20_000);
        assert_eq!(value(&metrics, later, load), 0.0);
        assert!(value(&metrics, later, achieved) < 1e-3);
    }

    #[test]
    fn metrics_count_steps_drops_lateness_and_departed_matches() {
        let metrics = Metrics::default();
        let mut played = Played {
            lateness: [0, 1, 3, 16, 17, 700].map(MS).into(),
            late_steps: 2,
            is_over_budget: true,
            ..Played::default()
        };
        (played.dropped.steps, played.dropped.over_budget) = (7, 5);
        metrics.frame(&played, MS(1));
        metrics.gone(Ending::Moved);
        for (series, expected) in [
            ("steps_total", 6.0),
            ("late_steps_total", 2.0),
            ("over_budget_frames_total", 1.0),
            ("dropped_steps_total{why=\"catch_up\"}", 7.0),
            ("dropped_steps_total{why=\"budget\"}", 5.0),
            ("matches_gone_total{why=\"moved\"}", 1.0),
            ("matches_gone_total{why=\"panicked\"}", 0.0),
            ("step_lateness_seconds_bucket{le=\"0.00025\"}", 1.0),
            ("step_lateness_seconds_bucket{le=\"0.001\"}", 2.0),
            ("step_lateness_seconds_bucket{le=\"0.01665\"}", 4.0),
            ("step_lateness_seconds_bucket{le=\"0.5\"}", 5.0),
            ("step_lateness_seconds_count", 6.0),
        ] {
            let series = format!("evenstep_{series}");
            assert_eq!(value(&metrics, MS(1), &series), expected, "{series}");
        }
        assert_eq!(metrics.dropped_steps(), 12);
    }
}
