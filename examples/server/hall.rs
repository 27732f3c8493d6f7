//! The matches of a server: the state that its threads share, under one lock.

use crate::match_::{Id, Match};
use crate::record::{Ending, Played, Record};
use crate::report::Totals;
use crate::schedule::Schedule;

/// Matches that wait, matches that are being played, and matches that have ended.
#[derive(Default)]
pub struct Hall {
    pub waiting: Schedule,
    pub playing: Vec<Id>,
    /// Matches to set aside when a thread puts them back, and matches that were set aside.
    pub asked_for: Vec<Id>,
    pub aside: Vec<Match>,
    pub ended: Vec<Ended>,
    pub totals: Totals,
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

/// The outcome of a frame of a match. An ended match is dropped before the lock is taken, because it may be large.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one per thread; a box would be allocated in each frame"
)]
pub enum Back {
    GoesOn(Match),
    Ends(Ended, Played),
}

impl Back {
    pub fn new(mut played: Match, ending: Option<Ending>) -> Self {
        let Some(ending) = ending else {
            return Self::GoesOn(played);
        };
        let ended = Ended {
            id: played.id,
            ending,
            result: (ending != Ending::Panicked).then(|| (played.tick(), played.checksum())),
            record: std::mem::take(&mut played.record),
        };
        Self::Ends(ended, std::mem::take(&mut played.last))
    }
}

impl Hall {
    /// Puts a match back after its frame. Returns true if a thread may be waiting for the match.
    pub fn put_back(&mut self, back: Back) -> bool {
        match back {
            Back::GoesOn(played) => {
                self.playing.retain(|id| *id != played.id);
                self.totals.add(&played.last);
                if self.asked_for.contains(&played.id) {
                    self.aside.push(played);
                    return true;
                }
                let was_first = self.waiting.first_due();
                self.waiting.put(played);
                // A sleeping thread sleeps until the match that was first was due, so a new first match must wake it.
                self.waiting.first_due() != was_first
            }
            Back::Ends(ended, last) => {
                self.playing.retain(|id| *id != ended.id);
                self.totals.add(&last);
                self.totals.count(ended.ending);
                self.ended.push(ended);
                true
            }
        }
    }

    pub fn matches(&self) -> usize {
        self.waiting.len() + self.playing.len() + self.aside.len()
    }
}
