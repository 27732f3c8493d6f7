//! What happened in a run, in order.

use super::action::{Action, Effect, Score, keys, score};
use super::paths::Paths;
use evenstep::events::Events;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Correction, Frame, Physics, Step};
use scenes::hash;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum Entry {
    /// A frame of the loop begins.
    Frame {
        time: Duration,
        speed: f64,
    },
    /// A step is next. The actions that follow happen in the hook before it.
    Begin {
        step: Step,
        bits: Bits,
    },
    /// The step is about to run.
    Run,
    /// The step has run. The actions that follow happen in the hook after it, or after that.
    Ran {
        step: Step,
        /// `None` in a closure that is called again before that, when the targets of the next step were applied.
        bits: Option<Bits>,
        events: Vec<Id>,
        paths: Paths,
    },
    /// The hook after the step ends.
    Left,
    /// The hook fails, by an error or a panic.
    Failed,
    /// The game has acted, and the state then has this tick.
    Acted {
        action: Action,
        effects: Vec<Effect>,
        tick: u64,
        /// The tick of the clock and the number of steps to resimulate before the action, where the game can reach them.
        rollback: Option<(u64, u64)>,
    },
    /// The simulation goes to another host.
    HandedOver(super::hosts::Kind),
    /// A step took a press.
    Pressed {
        number: u64,
        tick: u64,
    },
    Picture(Box<Picture>),
}

/// Everything that a step depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    pub hash: u64,
    pub keys: Vec<BodyKey>,
    pub score: Score,
}

impl Bits {
    pub fn of(physics: &mut Physics) -> Self {
        Self {
            hash: hash(physics.rapier()),
            keys: keys(physics),
            score: score(physics).clone(),
        }
    }
}

/// The step of an event, its colliders, and whether it is a start. For a body that falls asleep or wakes, a hash
/// of its key.
pub type Id = (u64, [(u32, u32); 2], bool);

pub fn ids(events: &Events) -> Vec<Id> {
    let sleep = events.sleep_changes().map(|it| {
        let mut hasher = DefaultHasher::new();
        it.body.hash(&mut hasher);
        let key = hasher.finish();
        let key = ((key >> 32) as u32, key as u32);
        (it.step, [key, (u32::MAX, u32::MAX)], it.is_asleep)
    });
    let events = events.collisions();
    let id = |it: &evenstep::events::Collision| {
        // Rapier may have found them in another order in another run of the step.
        let mut colliders = it.colliders.map(ColliderHandle::into_raw_parts);
        colliders.sort_unstable();
        (it.step, colliders, it.started)
    };
    let mut ids: Vec<Id> = events.map(|it| id(&it)).chain(sleep).collect();
    ids.sort_by_key(|(step, ..)| *step);
    ids
}

/// The displayed picture of a frame, and the state at that time.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The report of the frame, in one thread.
    pub frame: Option<Frame>,
    pub tick: u64,
    pub alpha: f32,
    pub time: Duration,
    pub origin_shift: Vector,
    pub moved: Vec<(BodyKey, Pose)>,
    pub removed: Vec<BodyKey>,
    /// The displayed poses of all bodies that were ever seen.
    pub poses: BTreeMap<BodyKey, Pose>,
    /// The bodies that jumped, if the frame has data for renderers.
    pub jumped: Option<Vec<BodyKey>>,
    pub events: Vec<Id>,
    /// The entities, and where they were written to.
    pub entities: BTreeMap<BodyKey, Pose>,
    /// The same in a hecs world, and the body whose entity was despawned there before the body is removed.
    pub rendered: Option<super::owners::Rendered>,
    pub left: Option<BodyKey>,
    /// The state, where the loop's thread is the game's.
    pub state: Option<State>,
}

/// A state in one thread when it is displayed.
#[derive(Clone, Debug)]
pub struct State {
    pub tick: u64,
    pub time: Duration,
    /// The clock's time.
    pub now: Duration,
    pub stands_still: bool,
    pub steps_to_resimulate: u64,
    pub keys: Vec<BodyKey>,
    pub errors: BTreeMap<BodyKey, Pose>,
    pub corrections: BTreeMap<BodyKey, Correction>,
    pub paths: Paths,
    /// How far back states or poses are kept.
    pub kept: u64,
    /// The poses of some bodies at earlier moments.
    pub earlier: Vec<(BodyKey, u64, f32, Option<Pose>)>,
    /// The changed poses and the removed bodies since earlier frames, if they are known.
    pub since: Vec<(u64, Option<Changes>)>,
}

pub type Changes = (Vec<(BodyKey, Pose)>, Vec<BodyKey>);
