//! How far a client runs ahead of the server, and how long ago it shows what it does not predict. All times are in ticks.

use crate::packets::Report;
use crate::server::SNAPSHOT_EVERY;

/// By how much input is to come early, beyond what it jitters.
const LEAD: f64 = 1.0;
/// Of a lead that is too small by more than this the missing ticks are skipped: at most speed they take five seconds.
const FAR: f64 = 6.0;
/// By how much the speed changes for each tick of a wrong lead, and at most: neither is seen.
const PACE: [f64; 2] = [0.01, 0.02];
/// By how much the past that is shown runs faster or slower until its delay is right.
const DELAY_PACE: f64 = 0.05;

/// The mean of a number that jitters, and its mean deviation from that. TCP measures its round trips so (RFC 6298).
#[derive(Clone, Copy, Debug)]
struct Spread {
    mean: f64,
    deviation: f64,
}

/// How much of the latest number there is in the mean: of twenty a second, those of the last second count.
const WEIGHT: f64 = 1.0 / 16.0;

impl Spread {
    /// Of a first number, with a deviation of one tick until more is known.
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

/// How early input comes to the server.
#[derive(Clone, Debug, Default)]
pub struct Lead {
    spread: Option<Spread>,
    skipped_to: u64,
}

/// What a client does about its lead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// It runs a little faster or slower.
    Speed(f64),
    /// It skips so many ticks: it has just joined, or its machine has slept.
    Skip(u64),
}

impl Lead {
    /// What to do about a report of the server; `None` about one of before the last skip.
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

    /// The client goes on at another tick.
    pub fn skip_to(&mut self, tick: u64) {
        (self.spread, self.skipped_to) = (None, tick);
    }
}

/// How long ago the server had what is shown of others.
#[derive(Clone, Debug, Default)]
pub struct Delay {
    /// How old snapshots are when they come.
    age: Option<Spread>,
    ticks: f64,
}

impl Delay {
    /// The delay, counted from the client's own tick.
    #[must_use]
    pub fn ticks(&self) -> f64 {
        self.ticks
    }

    /// A snapshot has come.
    pub fn note_age(&mut self, age: f64) {
        match &mut self.age {
            Some(spread) => spread.add(age),
            None => self.ticks = right_delay(*self.age.insert(Spread::new(age))),
        }
    }

    /// In each step: goes a little towards the right delay.
    pub fn adapt(&mut self) {
        if let Some(age) = self.age {
            let wrong = right_delay(age) - self.ticks;
            self.ticks += wrong.clamp(-DELAY_PACE, DELAY_PACE);
        }
    }

    /// The client's own tick is so much greater from now on.
    pub fn skip(&mut self, ticks: u64) {
        self.age = None;
        self.ticks += ticks as f64;
    }
}

/// After a snapshot came: 100 ms, so that the next one may be lost and the one after it is there, and what it jitters.
fn right_delay(age: Spread) -> f64 {
    age.mean + 2.0 * SNAPSHOT_EVERY as f64 + 2.0 * age.deviation
}
