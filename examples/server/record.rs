//! Records of matches.

use std::time::Duration;

use evenstep::Dropped;

/// The record of a match since it came to this server.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub steps: u64,
    /// Steps that finished when the next one was due, or later.
    pub late_steps: u64,
    pub longest_lateness: Duration,
    pub over_budget_frames: u64,
    pub dropped: Dropped,
}

/// The results of the last frame of a match.
#[derive(Default)]
pub struct Played {
    /// For each step, the time from when it was due to when it was done.
    pub lateness: Vec<Duration>,
    pub dropped: Dropped,
    pub is_over_budget: bool,
}

/// Why a match left the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    OverBudget,
    Panicked,
}

impl Record {
    pub fn add(&mut self, played: &Played, period: Duration) {
        self.steps += played.lateness.len() as u64;
        self.late_steps += played.late_steps(period);
        let longest = played.lateness.iter().max().copied();
        self.longest_lateness = self.longest_lateness.max(longest.unwrap_or_default());
        self.over_budget_frames += u64::from(played.is_over_budget);
        self.dropped += played.dropped;
    }
}

impl Played {
    pub fn clear(&mut self) {
        self.lateness.clear();
        self.dropped = Dropped::default();
        self.is_over_budget = false;
    }

    /// Counts late steps. A step is on time if it is done before the match's next step is due.
    pub fn late_steps(&self, period: Duration) -> u64 {
        self.lateness.iter().filter(|late| **late >= period).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_step_that_is_done_when_the_next_is_due_is_late() {
        let played = Played {
            lateness: vec![MS(9), MS(10), MS(11)],
            ..Played::default()
        };
        assert_eq!(played.late_steps(MS(10)), 2);
    }
}
