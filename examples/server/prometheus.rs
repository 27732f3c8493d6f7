//! The server as an orchestrator sees it, as a page in the Prometheus exposition format.

use std::fmt::Write;
use std::time::Duration;

use crate::histogram::Histogram;
use crate::match_::Match;
use crate::pool::View;
use crate::report::{period, resident_bytes};

/// The exported bounds, in microseconds. A step is late from 16,667 µs on.
const BOUNDS: [u32; 10] = [
    250, 500, 1_000, 2_000, 4_000, 8_000, 12_000, 16_650, 33_300, 100_000,
];

/// Returns the page, for [`Server::look`](crate::pool::Server::look).
pub fn page(view: View<'_>) -> String {
    let totals = view.totals;
    let dropped = totals.dropped;
    let idle = view.waiting.matches().filter(|waiting| waiting.is_idle());
    let dropped_time =
        dropped.frame_time.as_secs_f64() + period().as_secs_f64() * totals.dropped_steps() as f64;
    let mut page = Page(String::new());
    page.gauge("evenstep_matches", "Running matches", view.matches as f64);
    page.gauge(
        "evenstep_matches_idle",
        "Matches whose bodies are all asleep",
        idle.count() as f64,
    );
    page.gauge(
        "evenstep_draining",
        "1 if new matches are refused",
        f64::from(u8::from(view.is_draining)),
    );
    page.gauge(
        "process_resident_memory_bytes",
        "Resident set size",
        resident_bytes().unwrap_or(0) as f64,
    );
    page.counter(
        "evenstep_matches_gone_total",
        "Matches that ended or moved away",
        &[
            ("{why=\"finished\"}", totals.finished as f64),
            ("{why=\"over_budget\"}", totals.over_budget as f64),
            ("{why=\"panicked\"}", totals.panicked as f64),
            ("{why=\"moved\"}", totals.moved_away as f64),
        ],
    );
    page.counter(
        "evenstep_steps_total",
        "Steps that were run",
        &[("", totals.steps as f64)],
    );
    page.counter(
        "evenstep_late_steps_total",
        "Steps that finished after the next one was due",
        &[("", totals.late_steps as f64)],
    );
    page.counter(
        "evenstep_over_budget_frames_total",
        "Frames in which a step exceeded the budget of its match",
        &[("", totals.over_budget_frames as f64)],
    );
    page.counter(
        "evenstep_dropped_steps_total",
        "Steps that were due and never run",
        &[
            ("{why=\"catch_up\"}", dropped.steps as f64),
            ("{why=\"budget\"}", dropped.over_budget as f64),
        ],
    );
    page.counter(
        "evenstep_dropped_seconds_total",
        "Time that was dropped without a step",
        &[("", dropped_time)],
    );
    page.lateness(&totals.lateness);
    page.late_matches(view.waiting.matches());
    page.0
}

struct Page(String);

impl Page {
    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.header(name, "gauge", help);
        self.line(name, value);
    }

    /// Writes a counter, with a line per set of labels.
    fn counter(&mut self, name: &str, help: &str, samples: &[(&str, f64)]) {
        self.header(name, "counter", help);
        for (labels, value) in samples {
            self.line(&format!("{name}{labels}"), *value);
        }
    }

    fn lateness(&mut self, lateness: &Histogram) {
        let name = "evenstep_step_lateness_seconds";
        self.header(
            name,
            "histogram",
            "Time from when a step was due to when it finished",
        );
        for bound in BOUNDS {
            let up_to = lateness.up_to(Duration::from_micros(bound.into()));
            let seconds = f64::from(bound) / 1e6;
            self.line(&format!("{name}_bucket{{le=\"{seconds}\"}}"), up_to as f64);
        }
        let count = lateness.count() as f64;
        self.line(&format!("{name}_bucket{{le=\"+Inf\"}}"), count);
        self.line(&format!("{name}_sum"), lateness.sum.as_secs_f64());
        self.line(&format!("{name}_count"), count);
    }

    /// Writes late steps by match. If many matches have some, the server has too many matches.
    fn late_matches<'m>(&mut self, matches: impl Iterator<Item = &'m Match>) {
        let name = "evenstep_match_late_steps_total";
        self.header(name, "counter", "Late steps, by match");
        for late in matches.filter(|waiting| waiting.record.late_steps > 0) {
            let series = format!("{name}{{match=\"{}\"}}", late.id);
            self.line(&series, late.record.late_steps as f64);
        }
    }

    fn header(&mut self, name: &str, kind: &str, help: &str) {
        writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} {kind}").unwrap();
    }

    fn line(&mut self, series: &str, value: f64) {
        writeln!(self.0, "{series} {value}").unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Game;
    use crate::match_::{Match, Settings};
    use crate::pool::Server;
    use crate::virtual_time::VirtualTime;

    /// Returns the value of a series.
    fn value(page: &str, series: &str) -> f64 {
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.expect(series).parse().unwrap()
    }

    fn page_of_a_small_server() -> String {
        let server = Server::new(VirtualTime::default());
        for (id, length) in [(0, 10), (1, 20), (2, u64::MAX)] {
            let settings = Settings {
                budget: Duration::MAX,
                length,
            };
            let (simulation, mut game) = Game::new(1, id, false);
            game.panics_at = (id == 2).then_some(5);
            server
                .add(Match::new(id, (simulation, game), settings, Duration::ZERO))
                .unwrap();
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        server.serve(&pool, Server::wait_for_all);
        server.drain();
        server.look(page)
    }

    #[test]
    fn it_says_what_was() {
        let page = page_of_a_small_server();
        for (series, expected) in [
            ("evenstep_matches", 0.0),
            ("evenstep_draining", 1.0),
            ("evenstep_matches_gone_total{why=\"finished\"}", 2.0),
            ("evenstep_matches_gone_total{why=\"panicked\"}", 1.0),
            ("evenstep_matches_gone_total{why=\"over_budget\"}", 0.0),
            ("evenstep_steps_total", 35.0),
            ("evenstep_late_steps_total", 0.0),
            ("evenstep_dropped_seconds_total", 0.0),
            ("evenstep_step_lateness_seconds_count", 35.0),
            (
                "evenstep_step_lateness_seconds_bucket{le=\"0.00025\"}",
                35.0,
            ),
        ] {
            assert_eq!(value(&page, series), expected, "{series}");
        }
    }

    #[test]
    fn each_line_is_a_comment_or_a_sample_of_the_family_above_it() {
        let page = page_of_a_small_server();
        let mut family = "";
        for line in page.lines() {
            if let Some(comment) = line.strip_prefix("# TYPE ") {
                family = comment.split(' ').next().unwrap();
            } else if !line.starts_with("# HELP ") {
                let (series, value) = line.rsplit_once(' ').unwrap();
                assert!(
                    series.starts_with(family) && value.parse::<f64>().is_ok(),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn buckets_add_up() {
        let mut lateness = Histogram::default();
        for ms in [0, 1, 3, 16, 17, 500] {
            lateness.add(Duration::from_millis(ms));
        }
        let mut page = Page(String::new());
        page.lateness(&lateness);
        let bucket = |le| {
            value(
                &page.0,
                &format!("evenstep_step_lateness_seconds_bucket{{le=\"{le}\"}}"),
            )
        };
        let counts = [
            "0.00025", "0.001", "0.004", "0.01665", "0.0333", "0.1", "+Inf",
        ]
        .map(bucket);
        assert_eq!(counts, [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 6.0]);
    }
}
