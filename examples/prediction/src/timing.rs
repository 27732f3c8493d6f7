//! How far a client runs ahead of the server, and how far in the past it displays bodies that it does not predict. All
//! times are in ticks.

use crate::packets::Report;
use crate::server::SNAPSHOT_EVERY;

/// How much earlier than the jitter requires input should arrive.
const LEAD: f64 = 1.0;
/// If the lead is too small by more than this, the missing ticks are skipped. At the largest speed they would take five
/// seconds.
const FAR: f64 = 6.0;
/// The change of speed per tick of a wrong lead, and its limit. Neither is visible.
const PACE: [f64; 2] = [0.01, 0.02];
/// The change in speed of the displayed past until its delay is right.
const DELAY_PACE: f64 = 0.05;

/// The mean of a jittering number, and its mean deviation. TCP measures round trips in this way (RFC 6298).
#[derive(Clone, Copy, Debug)]
struct Spread {
    mean: f64,
    deviation: f64,
}

/// The weight of the latest number in the mean. At twenty per second, the last second counts.
const WEIGHT: f64 = 1.0 / 16.0;

impl Spread {
    /// Starts with a first number, and a deviation of one tick until more is known.
    fn new(first: f64) -> Self {
        Self {
            mean: first,
            deviation: 1.0,
        }
    }

    fn add(&mut self, number: f64) {
        let off = number - self.mean;
        self.mean += WEIGHT * off;
        self.deviation += WEIGHT * (off.abs() - self.deviation);
    }
}

/// How early input reaches the server.
#[derive(Clone, Debug, Default)]
pub struct Lead {
    spread: Option<Spread>,
    skipped_to: u64,
}

/// How a client corrects its lead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Runs a little faster or slower.
    Speed(f64),
    /// Skips ticks, after joining or after the machine was asleep.
    Skip(u64),
}

impl Lead {
    /// Returns the reaction to a report of the server, or `None` if the report is older than the last skip.
    pub fn pace(&mut self, report: Report) -> Option<Pace> {
        if report.newest < self.skipped_to {
            return None;
        }
        let lead = report.lead as f64;
        let spread = self.spread.get_or_insert(Spread::new(lead));
        spread.add(lead);
        let missing = LEAD + 2.0 * spread.deviation - spread.mean;
        if missing > FAR {
            return Some(Pace::Skip(missing as u64));
        }
        let faster = (PACE[0] * missing).clamp(-PACE[1], PACE[1]);
        Some(Pace::Speed(1.0 + faster))
    }

    /// Records that the client continues at another tick.
    pub fn skip_to(&mut self, tick: u64) {
        (self.spread, self.skipped_to) = (None, tick);
    }
}

/// How far in the past other bodies are displayed.
#[derive(Clone, Debug, Default)]
pub struct Delay {
    /// The age of snapshots when they arrive.
    age: Option<Spread>,
    ticks: f64,
}

impl Delay {
    /// Returns the delay, counted from the client's own tick.
    #[must_use]
    pub fn ticks(&self) -> f64 {
        self.ticks
    }

    /// Records the age of a snapshot that has arrived.
    pub fn note_age(&mut self, age: f64) {
        match &mut self.age {
            Some(spread) => spread.add(age),
            None => self.ticks = right_delay(*self.age.insert(Spread::new(age))),
        }
    }

    /// Moves the delay a little towards the right value. Called in each step.
    pub fn adapt(&mut self) {
        if let Some(age) = self.age {
            let wrong = right_delay(age) - self.ticks;
            self.ticks += wrong.clamp(-DELAY_PACE, DELAY_PACE);
        }
    }

    /// Records that the client's tick has increased by `ticks`.
    pub fn skip(&mut self, ticks: u64) {
        self.age = None;
        self.ticks += ticks as f64;
    }
}

/// Returns the right delay: 100 ms, so one snapshot may be lost before the next arrives, and the jitter.
fn right_delay(age: Spread) -> f64 {
    age.mean + 2.0 * SNAPSHOT_EVERY as f64 + 2.0 * age.deviation
}
