//! How far a client runs ahead of the server. All times are in ticks.

use evenstep::time::ClockFollower;

use crate::packets::Report;
use recipes::remote_bodies::Spread;

/// How much earlier than the jitter requires input should arrive.
const LEAD: f64 = 1.0;
/// If the lead is too small by more than this, the missing ticks are skipped. At the largest speed they would take five
/// seconds.
const FAR: f64 = 6.0;
/// The speed per missing tick, and its limit. Neither is visible. A lead that is too large shrinks slowly, however large.
const FOLLOWER: ClockFollower = ClockFollower {
    gain: 0.01,
    max_change: 0.02,
    max_distance: f64::INFINITY,
};

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
        FOLLOWER.speed(missing).map(Pace::Speed)
    }

    /// Records that the client continues at another tick.
    pub fn skip_to(&mut self, tick: u64) {
        (self.spread, self.skipped_to) = (None, tick);
    }
}
