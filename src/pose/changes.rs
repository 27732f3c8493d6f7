//! Changes that a picture reads besides the paths of moving bodies: other bodies, visual errors and events.

use std::collections::{BTreeMap, BTreeSet};

use rapier::math::Pose;

use crate::events::StepEvents;
use crate::key::{BodyKey, slot_of};

use super::motion::Smoothing;
use super::movers::Movers;
use super::origin::Origin;

/// How many poses to begin from outlast another state, so that they do not pile up if nobody displays them.
const MOST_FROMS: usize = 1_000;

/// Changes that a screen reads together with the [`Movers`](super::Movers). All code that changes a body writes here.
/// One reader takes them: the frame that displays the changes, or the publisher that sends them to another thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub scope: Scope,
    pub list: Vec<Change>,
    /// The bodies that have come to rest, or every body at rest if all bodies are compared.
    pub rest: Vec<(BodyKey, Pose)>,
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

/// A change of a body's visual error, measured by the code that causes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// A correction moved the body: this is its previous pose relative to the new one.
    Offset(BodyKey, Pose),
    /// The next picture begins at this pose, in the coordinates of this origin.
    From(BodyKey, Pose, Origin),
    /// The body was moved by an isometry of the world with its motion, in the coordinates of this origin.
    Turned(BodyKey, Pose, Origin),
    /// The body was displayed with this smoothing, which displays another time. The first of several counts.
    Retimed(BodyKey, Smoothing),
    /// The body was teleported, so it has no error any more.
    Cut(BodyKey),
    /// The key belongs to another body now, which has no error.
    KeyReused(BodyKey),
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.scope == Scope::Listed
            && self.list.is_empty()
            && self.rest.is_empty()
            && self.removed.is_empty()
            && self.events.is_empty()
    }

    /// Collects the next changes in these lists, which were displayed.
    pub fn reuse(&mut self, displayed: Self) {
        *self = displayed;
        self.scope = Scope::Listed;
        self.list.clear();
        self.rest.clear();
        self.removed.clear();
    }

    /// Drops the removals of bodies that these changes, of a rollback, have brought back, before they are displayed.
    /// `earlier` are the changes and the bodies in motion of the states that wait for their display. If one of these has
    /// another body in the slot of a key, that removal stays.
    pub fn keep_revived<'a>(
        &self,
        movers: &Movers,
        earlier: impl Iterator<Item = (&'a mut Self, &'a Movers)>,
    ) {
        let earlier: Vec<_> = earlier.collect();
        if self.scope == Scope::Listed || earlier.iter().all(|(it, _)| it.removed.is_empty()) {
            return;
        }
        let mut alive: BTreeMap<_, _> = self.keys(movers).map(|key| (slot_of(key), key)).collect();
        for change in &self.list {
            if let Change::KeyReused(key) = change {
                alive.remove(&slot_of(*key));
            }
        }
        for (changes, movers) in &earlier {
            for other in changes.keys(movers) {
                let slot = slot_of(other);
                if alive.get(&slot).is_some_and(|key| *key != other) {
                    alive.remove(&slot);
                }
            }
        }
        for (changes, _) in earlier {
            let is_alive = |key: &BodyKey| alive.get(&slot_of(*key)) == Some(key);
            changes.removed.retain(|key| !is_alive(key));
        }
    }

    /// Returns the bodies that are listed as in motion or at rest.
    fn keys(&self, movers: &Movers) -> impl Iterator<Item = BodyKey> {
        let rest = self.rest.iter().map(|(key, _)| *key);
        movers.keys().iter().copied().chain(rest)
    }

    pub fn append(&mut self, mut later: Self) {
        match later.scope {
            Scope::Listed => self.drop_rest_of(&later.removed),
            Scope::All | Scope::Unrelated => self.rest.clear(),
        }
        if later.scope == Scope::Unrelated {
            let earlier = std::mem::take(&mut self.list);
            self.list.extend(froms(earlier).take(MOST_FROMS));
        }
        self.scope = self.scope.max(later.scope);
        self.list.append(&mut later.list);
        self.rest.append(&mut later.rest);
        self.removed.append(&mut later.removed);
        self.events.append(later.events);
    }

    pub fn widen(&mut self, scope: Scope) {
        self.append(Self {
            scope,
            ..Self::default()
        });
    }

    /// Keeps only the newest removals, if a comparison of all bodies finds the displayed ones. Returns the number of
    /// dropped ones.
    pub fn drop_removals(&mut self, most: usize) -> usize {
        let old = self.removed.len().saturating_sub(most);
        let old = if self.scope == Scope::Unrelated {
            old
        } else {
            0
        };
        self.removed.drain(..old).count()
    }

    pub fn drop_rest_of(&mut self, removed: &[BodyKey]) {
        if !self.rest.is_empty() && !removed.is_empty() {
            let removed: BTreeSet<BodyKey> = removed.iter().copied().collect();
            self.rest.retain(|(key, _)| !removed.contains(key));
        }
    }
}

/// Returns the poses from which the game wants the next picture to begin, after the portals and teleports that follow.
pub(crate) fn froms(list: Vec<Change>) -> impl Iterator<Item = Change> {
    let mut froms = BTreeMap::new();
    for change in list {
        match change {
            Change::From(key, pose, origin) => drop(froms.insert(key, (pose, origin))),
            Change::Turned(key, by, origin) => {
                if let Some(from) = froms.get_mut(&key) {
                    *from = turned_from(*from, &by, origin);
                }
            }
            Change::Cut(key) | Change::KeyReused(key) => drop(froms.remove(&key)),
            Change::Offset(..) | Change::Retimed(..) => {}
        }
    }
    let froms = froms.into_iter();
    froms.map(|(key, (pose, origin))| Change::From(key, pose, origin))
}

/// Moves a pose to begin from through a portal, whose isometry is in the coordinates of `origin`.
pub(crate) fn turned_from(
    (pose, before): (Pose, Origin),
    by: &Pose,
    origin: Origin,
) -> (Pose, Origin) {
    let pose = pose.append_translation(-origin.offset_from(&before));
    (*by * pose, origin)
}
