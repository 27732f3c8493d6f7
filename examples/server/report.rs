//! What a server did, all matches together.

use std::fs;
use std::time::Duration;

use evenstep::{Dropped, Rate};

use crate::histogram::Histogram;
use crate::record::{Ending, Played};

/// A step is on time if it is done before the next of the same match is due: so later than this is late.
pub fn period() -> Duration {
    Rate::default().period()
}

/// Sums over all matches, those that have gone included.
#[derive(Clone, Default)]
pub struct Totals {
    pub steps: u64,
    pub late_steps: u64,
    pub over_budget_frames: u64,
    pub dropped: Dropped,
    pub lateness: Histogram,
    pub finished: u64,
    pub over_budget: u64,
    pub panicked: u64,
    pub moved_away: u64,
}

impl Totals {
    pub fn add(&mut self, played: &Played) {
        self.steps += played.lateness.len() as u64;
        self.late_steps += played.late_steps(period());
        self.over_budget_frames += u64::from(played.is_over_budget);
        self.dropped += played.dropped;
        for lateness in &played.lateness {
            self.lateness.add(*lateness);
        }
    }

    pub fn count(&mut self, ending: Ending) {
        match ending {
            Ending::Finished => self.finished += 1,
            Ending::OverBudget => self.over_budget += 1,
            Ending::Panicked => self.panicked += 1,
        }
    }

    /// Those that a match was to make and did not. The last frame of a match may abort steps beyond its end.
    pub fn dropped_steps(&self) -> u64 {
        self.dropped.steps + self.dropped.over_budget
    }
}

/// What the process has in memory: on Linux.
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}
