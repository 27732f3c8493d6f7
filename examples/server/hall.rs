//! Where the matches of a server are: what the threads share, under one lock.

use crate::match_::{Id, Match};
use crate::record::{Ending, Played, Record};
use crate::report::Totals;
use crate::schedule::Schedule;

/// Those that wait, those that are being played, those that are gone.
#[derive(Default)]
pub struct Hall {
    pub waiting: Schedule,
    pub playing: Vec<Id>,
    /// Those that are to be put aside when they come back, and those that were.
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
    /// Its last tick, and the checksum of its bodies: none of a world in which a step panicked.
    pub result: Option<(u64, u64)>,
}

/// What becomes of a match that was played. One that ended is dropped before the lock is taken: it may be large.
#[expect(
    clippy::large_enum_variant,
    reason = "one for each thread; a box would be allocated in each frame"
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
    /// Gives whether somebody may be waiting for it.
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
                // Whoever sleeps does so until what was due first.
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
