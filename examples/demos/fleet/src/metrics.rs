//! Metrics for Prometheus.

use std::io;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use evenstep_server::metrics::{Metrics as Common, PREFIX};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// The metrics of a server. Clones share the values.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// The metrics that any server of matches has.
    pub common: Common,
    /// Matches taken up, including new ones.
    pub taken_up: Counter,
    /// Steps resimulated after a match was taken up.
    pub steps_again: Counter,
    /// Inputs that were missing when their step was due.
    pub missing_inputs: Counter,
    /// Bytes sent to players.
    pub told_bytes: Counter,
    saves: Counter,
    saved_bytes: Counter,
}

impl Metrics {
    /// Counts a save.
    pub fn save(&self, bytes: usize) {
        self.saves.inc();
        self.saved_bytes.inc_by(bytes as u64);
    }

    /// Returns the page of a server that has run since `start`.
    fn page(&self, start: Instant) -> String {
        let mut root = self.common.registry(start.elapsed());
        let all = root.sub_registry_with_prefix(PREFIX);
        for (name, help, counter) in [
            ("matches_taken_up", "Matches taken up", &self.taken_up),
            (
                "steps_again",
                "Steps resimulated after a match was taken up",
                &self.steps_again,
            ),
            (
                "missing_inputs",
                "Inputs that were missing when their step was due",
                &self.missing_inputs,
            ),
            ("told_bytes", "Bytes sent to players", &self.told_bytes),
            ("saves", "Matches saved", &self.saves),
            ("saved_bytes", "Bytes of matches saved", &self.saved_bytes),
        ] {
            all.register(name, help, counter.clone());
        }
        let mut page = String::new();
        encode(&mut page, &root).unwrap();
        page
    }

    /// Answers `/metrics` until the runtime ends.
    ///
    /// # Errors
    /// If the listener fails.
    pub async fn serve(self, listener: TcpListener, start: Instant) -> io::Result<()> {
        let openmetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let page = get(async move || ([(CONTENT_TYPE, openmetrics)], self.page(start)));
        axum::serve(listener, Router::new().route("/metrics", page)).await
    }
}
