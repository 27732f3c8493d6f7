//! The matches of a server: the state that its threads share, under one lock.

use std::time::Duration;

use evenstep_server::match_::Id;
use evenstep_server::metrics::Metrics;
use evenstep_server::record::{Ending, Played, Record};
use hdrhistogram::Histogram;

use crate::Match;
use crate::schedule::Schedule;

/// Matches that wait, matches that are being played, and matches that have ended.
pub struct Hall {
    pub waiting: Schedule,
    pub playing: Vec<Id>,
    /// Matches to set aside when a thread puts them back, and matches that were set aside.
    pub asked_for: Vec<Id>,
    pub aside: Vec<Match>,
    pub ended: Vec<Ended>,
    pub metrics: Metrics,
    /// The lateness of all steps, in microseconds.
    pub lateness: Histogram<u64>,
    pub is_draining: bool,
    pub is_stopped: bool,
}

/// A match that is over.
#[derive(Clone, Debug)]
pub struct Ended {
    pub id: Id,
    pub ending: Ending,
    pub record: Record,
    /// The last tick and the checksum of the bodies. `None` if a step panicked.
    pub result: Option<(u64, u64)>,
}

impl Ended {
    /// Drops the match, which may be large: before the lock is taken.
    pub fn new(played: Match, ending: Ending) -> Self {
        Self {
            id: played.id,
            ending,
            result: (ending != Ending::Panicked).then(|| (played.tick(), played.checksum())),
            record: played.record,
        }
    }
}

impl Default for Hall {
    fn default() -> Self {
        Self {
            waiting: Schedule::default(),
            playing: Vec::new(),
            asked_for: Vec::new(),
            aside: Vec::new(),
            ended: Vec::new(),
            metrics: Metrics::default(),
            lateness: Histogram::new(3).expect("three digits are allowed"),
            is_draining: false,
            is_stopped: false,
        }
    }
}

impl Hall {
    /// Puts a match back after a frame, or lets it go. Returns true if a thread may be waiting for the match.
    pub fn put_back(
        &mut self,
        id: Id,
        back: Result<Match, Ended>,
        last: &Played,
        now: Duration,
    ) -> bool {
        self.playing.retain(|playing| *playing != id);
        self.metrics.frame(last, now);
        for lateness in &last.lateness {
            self.lateness += lateness.as_micros() as u64;
        }
        match back {
            Ok(played) if self.asked_for.contains(&id) => {
                self.aside.push(played);
                true
            }
            Ok(played) => {
                let was_first = self.waiting.first_due();
                self.waiting.put(played);
                // A sleeping thread sleeps until the match that was first was due, so a new first match must wake it.
                self.waiting.first_due() != was_first
            }
            Err(ended) => {
                self.metrics.gone(ended.ending);
                self.ended.push(ended);
                true
            }
        }
    }

    pub fn matches(&self) -> usize {
        self.waiting.len() + self.playing.len() + self.aside.len()
    }
}
