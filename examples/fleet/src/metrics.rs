//! Metrics for Prometheus.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use evenstep::{Dropped, Rate};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

/// The label for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    why: &'static str,
}

type ByReason = Family<Why, Counter>;

/// The metrics of a server. Clones share the values.
///
/// Metrics that the example `server` has, too, have the same names.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    /// Running matches.
    pub matches: Gauge,
    /// 1 if no more matches are taken up.
    pub draining: Gauge,
    /// Matches taken up, including new ones.
    pub taken_up: Counter,
    gone: ByReason,
    steps: Counter,
    late_steps: Counter,
    dropped: ByReason,
    lateness: Histogram,
    /// Steps resimulated after a match was taken up.
    pub steps_again: Counter,
    /// Inputs that were missing when their step was due.
    pub missing_inputs: Counter,
    /// Bytes sent to players.
    pub told_bytes: Counter,
    saves: Counter,
    saved_bytes: Counter,
}

/// The bounds in seconds. A step is late from 16.7 ms on.
const LATENESS: [f64; 8] = [0.001, 0.002, 0.004, 0.008, 0.01665, 0.0333, 0.1, 0.5];

impl Metrics {
    /// Creates the metrics, all at 0.
    #[must_use]
    pub fn new() -> Self {
        let mut new = Self {
            registry: Arc::default(),
            matches: Gauge::default(),
            draining: Gauge::default(),
            taken_up: Counter::default(),
            gone: ByReason::default(),
            steps: Counter::default(),
            late_steps: Counter::default(),
            dropped: ByReason::default(),
            lateness: Histogram::new(LATENESS),
            steps_again: Counter::default(),
            missing_inputs: Counter::default(),
            told_bytes: Counter::default(),
            saves: Counter::default(),
            saved_bytes: Counter::default(),
        };
        new.registry = Arc::new(new.register());
        new
    }

    fn register(&self) -> Registry {
        let mut all = Registry::with_prefix("evenstep");
        all.register("matches", "Running matches", self.matches.clone());
        all.register(
            "draining",
            "1 if no more matches are taken up",
            self.draining.clone(),
        );
        all.register(
            "matches_taken_up",
            "Matches taken up",
            self.taken_up.clone(),
        );
        all.register(
            "matches_gone",
            "Matches that ended or moved away",
            self.gone.clone(),
        );
        all.register("steps", "Due steps that were run", self.steps.clone());
        let late = "Steps that finished after the next one was due";
        all.register("late_steps", late, self.late_steps.clone());
        all.register(
            "dropped_steps",
            "Steps that were due and never run",
            self.dropped.clone(),
        );
        let lateness = "Time from when a step was due to when it finished";
        all.register("step_lateness_seconds", lateness, self.lateness.clone());
        let again = "Steps resimulated after a match was taken up";
        all.register("steps_again", again, self.steps_again.clone());
        let missing = "Inputs that were missing when their step was due";
        all.register("missing_inputs", missing, self.missing_inputs.clone());
        let told = "Bytes sent to players";
        all.register("told_bytes", told, self.told_bytes.clone());
        all.register("saves", "Matches saved", self.saves.clone());
        all.register(
            "saved_bytes",
            "Bytes of matches saved",
            self.saved_bytes.clone(),
        );
        all
    }

    /// Counts a step and its lateness.
    pub fn step(&self, late: Duration) {
        self.steps.inc();
        self.lateness.observe(late.as_secs_f64());
        if late >= Rate::default().period() {
            self.late_steps.inc();
        }
    }

    /// Counts the steps that a frame dropped. Time beyond the longest frame is counted in steps, too.
    pub fn drop_steps(&self, dropped: Dropped) {
        let frame_time = dropped.frame_time.as_nanos() / Rate::default().period().as_nanos();
        for (why, steps) in [
            ("catch_up", dropped.steps),
            ("frame_time", frame_time as u64),
        ] {
            self.dropped.get_or_create(&Why { why }).inc_by(steps);
        }
    }

    /// Counts a match that has left.
    pub fn gone(&self, why: &'static str) {
        self.gone.get_or_create(&Why { why }).inc();
    }

    /// Counts a save.
    pub fn save(&self, bytes: usize) {
        self.saves.inc();
        self.saved_bytes.inc_by(bytes as u64);
    }

    /// Answers `/metrics` until the runtime ends.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(self, listener: TcpListener) -> io::Result<()> {
        let page = get(async move || {
            let mut page = String::new();
            encode(&mut page, &self.registry).unwrap();
            let openmetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(CONTENT_TYPE, openmetrics)], page)
        });
        axum::serve(listener, Router::new().route("/metrics", page)).await
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
