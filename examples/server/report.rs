//! The totals of all matches of a server.

use std::fs;
use std::time::Duration;

use evenstep::{Dropped, Rate};

use crate::histogram::Histogram;
use crate::record::{Ending, Played};

/// Returns the period of a step. A step that takes longer is late, because the next step of its match is due by then.
pub fn period() -> Duration {
    Rate::default().period()
}

/// Sums over all matches, including those that have ended or moved away.
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

    /// Returns the number of steps that were due and never run. It leaves out steps beyond a match's end, which its
    /// last frame may abort.
    pub fn dropped_steps(&self) -> u64 {
        self.dropped.steps + self.dropped.over_budget
    }
}

/// Returns the size of the process's resident set, on Linux.
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1_024)
}
