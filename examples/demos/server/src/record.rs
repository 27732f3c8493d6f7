//! Records of matches.

use std::time::Duration;

use evenstep::time::Dropped;

/// The record of a match since it came to this server.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Steps that were run.
    pub steps: u64,
    /// Steps that finished when the next one was due, or later.
    pub late_steps: u64,
    /// The longest time from when a step was due to when it was done.
    pub longest_lateness: Duration,
    /// Frames in which a step exceeded the budget.
    pub over_budget_frames: u64,
    /// Steps that were due and never run.
    pub dropped: Dropped,
}

/// The results of the last frame of a match.
#[derive(Debug, Default)]
pub struct Played {
    /// For each step, the time from when it was due to when it was done.
    pub lateness: Vec<Duration>,
    /// The number of late steps. A step is on time if it is done before the match's next step is due.
    pub late_steps: u64,
    /// The duration of the frame.
    pub cost: Duration,
    /// Whether a step exceeded the budget.
    pub is_over_budget: bool,
    /// Steps that were due and never run.
    pub dropped: Dropped,
}

impl Played {
    /// Returns the number of steps.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.lateness.len() as u64
    }
}

/// Why a match left the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its length.
    Finished,
    /// Its steps exceeded its budget for too long.
    OverBudget,
    /// A step panicked.
    Panicked,
    /// It was saved for another server.
    Moved,
    /// Another server has it, because this one could not save it in time.
    Lost,
    /// Its bytes come from another build.
    Refused,
}

impl Record {
    /// Adds a frame.
    pub fn add(&mut self, played: &Played) {
        self.steps += played.steps();
        self.late_steps += played.late_steps;
        let longest = played.lateness.iter().max().copied();
        self.longest_lateness = self.longest_lateness.max(longest.unwrap_or_default());
        self.over_budget_frames += u64::from(played.is_over_budget);
        self.dropped += played.dropped;
    }
}
