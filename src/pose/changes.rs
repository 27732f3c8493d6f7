//! Changes that a picture reads besides the paths of moving bodies: other bodies, visual errors and events.

use std::collections::{BTreeMap, BTreeSet};

use rapier::math::Pose;

use crate::events::StepEvents;
use crate::key::{BodyKey, slot_of};
use crate::step::Insertion;

use super::motion::Smoothing;
use super::movers::Movers;
use super::origin::Origin;

/// How many requests of [`Physics::show_from`](crate::Physics::show_from) outlast an assigned state, so that they do
/// not pile up if nobody displays them.
const MOST_SHOW_FROM: usize = 1_000;

/// Changes that a screen reads together with the [`Movers`](super::Movers). All code that changes a body writes here.
/// One reader takes them: the frame that displays the changes, or the publisher that sends them to another thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub scope: Scope,
    pub list: Vec<Change>,
    /// The bodies that have come to rest, or every body at rest if all bodies are compared.
    pub resting: Vec<(BodyKey, Pose)>,
    pub removed: Vec<BodyKey>,
    pub events: StepEvents,
}

/// Which bodies may have changed since the last picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Only moving and listed bodies.
    #[default]
    Listed,
    /// All bodies, because the state has changed in other ways than by steps and edits, such as by a rollback.
    All,
    /// All bodies, and earlier visual errors end, because the state does not continue the displayed one.
    Unrelated,
}

/// A change of a body's visual error. The picture measures errors that begin at a displayed pose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// A correction moved the body: its previous pose relative to the new one, at two moments of the step before this
    /// tick. The picture blends the two.
    Offset(BodyKey, [Pose; 2], u64),
    /// The next picture displays the body at this pose, in the coordinates of this origin, and its error begins there.
    ShowFrom(BodyKey, Pose, Origin),
    /// The body was moved by an isometry of the world with its motion, in the coordinates of this origin. The tick is
    /// that of the first state in which it was.
    Transformed(BodyKey, Pose, Origin, u64),
    /// The body was displayed with this smoothing, which displays another time. The first of several counts.
    Retimed(BodyKey, Smoothing),
    /// The body was teleported, so it has no error any more. The tick is that of the first state in which it was.
    Teleported(BodyKey, u64),
    /// A rollback has taken back a teleport or a removal. If no picture has displayed it, the error of the body begins
    /// where it is displayed.
    TakenBack(BodyKey),
    /// The key belongs to another body now, which has no error, or may do so: a rollback has taken back the body, whose
    /// insertion this is.
    KeyReused(BodyKey, Option<Insertion>),
}

impl Change {
    /// Returns the body that the game has teleported or moved through a portal, and the tick of the first state after
    /// that, or `None` for another change.
    pub fn teleport(&self) -> Option<(BodyKey, u64)> {
        match *self {
            Self::Teleported(key, tick) | Self::Transformed(key, _, _, tick) => Some((key, tick)),
            _ => None,
        }
    }
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.leaves_bodies_unchanged() && self.events.is_empty()
    }

    /// Returns whether nothing has happened to any body.
    pub fn leaves_bodies_unchanged(&self) -> bool {
        // With a wider scope, bodies that are in none of these lists may have changed too.
        self.scope == Scope::Listed
            && self.list.is_empty()
            && self.resting.is_empty()
            && self.removed.is_empty()
    }

    /// Drops removals of bodies that a rollback has brought back from the changes of `waiting` states, which a view has
    /// yet to display before the state after the rollback. These changes belong to that state, and `movers` are its
    /// moving bodies. Each waiting state comes with its moving bodies, too. If one of them has another body in the same
    /// slot of the keys, the removal stays.
    pub fn cancel_revived_removals<'a>(
        &self,
        movers: &Movers,
        waiting: impl Iterator<Item = (&'a mut Self, &'a Movers)>,
    ) {
        let waiting: Vec<_> = waiting.collect();
        // A rollback widens the scope, so changes with the scope `Listed` bring no body back.
        if self.scope == Scope::Listed || waiting.iter().all(|(it, _)| it.removed.is_empty()) {
            return;
        }
        // At first all bodies of the new state, by slot: with a wider scope, the changes list all that are at rest.
        let mut revived: BTreeMap<_, _> =
            self.keys(movers).map(|key| (slot_of(key), key)).collect();
        // A reused key now belongs to another body, so the removed one has not come back.
        for change in &self.list {
            if let Change::KeyReused(key, _) = change {
                revived.remove(&slot_of(*key));
            }
        }
        // Where a waiting state displays another body in the slot, the old one has to be removed first.
        for (changes, movers) in &waiting {
            for displayed in changes.keys(movers) {
                let slot = slot_of(displayed);
                if revived.get(&slot).is_some_and(|key| *key != displayed) {
                    revived.remove(&slot);
                }
            }
        }
        for (changes, _) in waiting {
            let is_revived = |key: &BodyKey| revived.get(&slot_of(*key)) == Some(key);
            changes.removed.retain(|key| !is_revived(key));
        }
    }

    /// Returns the bodies that are listed as in motion or at rest.
    fn keys(&self, movers: &Movers) -> impl Iterator<Item = BodyKey> {
        let resting = self.resting.iter().map(|(key, _)| *key);
        movers.keys().iter().copied().chain(resting)
    }

    /// Appends later changes, so that one picture can display both.
    pub fn append(&mut self, mut later: Self) {
        match later.scope {
            // Only listed bodies have changed. One that has come to rest may have been removed since.
            Scope::Listed => self.drop_resting(&later.removed),
            // Any body may have changed, so the later changes list every body at rest.
            Scope::All | Scope::Unrelated => self.resting.clear(),
        }
        if later.scope == Scope::Unrelated {
            // The later state does not continue the displayed one, so all visual errors end, and earlier changes of
            // them are void. Only the game's requests of `show_from` remain, up to a limit in case no picture follows.
            let earlier = std::mem::take(&mut self.list);
            self.list
                .extend(show_from_changes(earlier).take(MOST_SHOW_FROM));
        }
        self.scope = self.scope.max(later.scope);
        self.list.append(&mut later.list);
        self.resting.append(&mut later.resting);
        self.removed.append(&mut later.removed);
        self.events.append(later.events);
    }

    /// Lets the next picture compare at least the bodies of this scope, as if changes with this scope were appended.
    pub fn widen(&mut self, scope: Scope) {
        self.append(Self {
            scope,
            ..Self::default()
        });
    }

    /// Forgets when bodies were teleported, because ticks are renumbered and no rollback goes back to before.
    pub fn forget_ticks(&mut self) {
        for change in &mut self.list {
            if let Change::Teleported(_, tick) | Change::Transformed(_, _, _, tick) = change {
                // A rollback takes back only teleports with a later tick than the one it returns to: never this one.
                *tick = 0;
            }
        }
    }

    /// Drops the oldest removals until `most` are left, if the state does not continue the displayed one: the picture
    /// then compares all bodies, and finds the removed ones by itself. Returns the number of dropped removals.
    pub fn drop_removals(&mut self, most: usize) -> usize {
        if self.scope != Scope::Unrelated {
            return 0;
        }
        let excess = self.removed.len().saturating_sub(most);
        self.removed.drain(..excess).count()
    }

    /// Drops removed bodies from the bodies that have come to rest.
    pub fn drop_resting(&mut self, removed: &[BodyKey]) {
        if !self.resting.is_empty() && !removed.is_empty() {
            let removed: BTreeSet<BodyKey> = removed.iter().copied().collect();
            self.resting.retain(|(key, _)| !removed.contains(key));
        }
    }
}

/// Returns the last `ShowFrom` request of each body in a list. Its pose goes through later portals with the body, and a
/// later teleport cancels it.
pub(crate) fn show_from_changes(list: Vec<Change>) -> impl Iterator<Item = Change> {
    let mut requests = BTreeMap::new();
    for change in list {
        match change {
            Change::ShowFrom(key, pose, origin) => drop(requests.insert(key, (pose, origin))),
            Change::Transformed(key, by, origin, _) => {
                if let Some(request) = requests.get_mut(&key) {
                    *request = show_from_through_portal(*request, &by, origin);
                }
            }
            Change::Teleported(key, _) | Change::KeyReused(key, _) => drop(requests.remove(&key)),
            Change::Offset(..) | Change::Retimed(..) | Change::TakenBack(_) => {}
        }
    }
    let requests = requests.into_iter();
    requests.map(|(key, (pose, origin))| Change::ShowFrom(key, pose, origin))
}

/// Moves the pose of a `ShowFrom` change, in the coordinates of `pose_origin`, through a portal. The portal's isometry
/// `by` and the result are in the coordinates of `origin`.
pub(crate) fn show_from_through_portal(
    (pose, pose_origin): (Pose, Origin),
    by: &Pose,
    origin: Origin,
) -> (Pose, Origin) {
    let pose = pose.append_translation(-origin.offset_from(&pose_origin));
    (*by * pose, origin)
}
