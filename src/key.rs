//! The two ids that a game holds, and the table between a body's id and Rapier's handle.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use slotmap::{Key, SlotMap};

#[cfg(feature = "serde")]
use crate::slots::Slots;
use rapier::dynamics::RigidBodyHandle;

slotmap::new_key_type! {
    /// The id of one body for the body's lifetime.
    ///
    /// Once its body has been removed, in whatever way, the key is dead, and refers to a body again only after going
    /// back in time. A key belongs to the [`Physics`](crate::Physics) that created it, and to its copies. In another
    /// one it may refer to an unrelated body.
    pub struct BodyKey;

    /// The id of a lasting force, from [`insert_force_generator`](crate::Physics::insert_force_generator) until the
    /// force or its body is removed.
    pub struct ForceGeneratorKey;
}

/// Why an operation on a body failed, with the key of the body. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// No body has this key: it was removed or is not inserted yet, or the key belongs to another
    /// [`Physics`](crate::Physics).
    #[error(
        "no body has the key {0:?}: it was removed, as `Simulation::removed` reports, \
         or the key belongs to another `Physics`"
    )]
    Gone(BodyKey),
    /// A value is NaN or infinite.
    #[error(
        "a value for the body {0:?} is NaN or infinite: check what it was computed from; \
         nothing was changed"
    )]
    NotFinite(BodyKey),
    /// A rotation has length zero, so it cannot be normalised.
    #[error("a rotation for the body {0:?} has length zero: give a rotation of unit length")]
    NotARotation(BodyKey),
    /// The body is not kinematic by position.
    #[error(
        "the body {0:?} is not kinematic by position, and only such a body moves to a target: \
         build it with `kinematic_position_based`, or use `teleport`"
    )]
    NotKinematic(BodyKey),
    /// The body is a link of a multibody other than its root, or the frame of a soft body.
    #[error(
        "the body {0:?} is a link of a multibody or the frame of a soft body, whose pose follows from other \
         bodies: move the multibody's root, or the soft body's particles"
    )]
    Dependent(BodyKey),
    /// The body is the root of a multibody with another link that is not dynamic.
    #[error(
        "the body {0:?} is the root of a multibody with a link that is not dynamic, which Rapier does not allow: \
         make the link dynamic, or remove its joint"
    )]
    LinkNotDynamic(BodyKey),
}

/// Maps keys to handles and handles to keys.
///
/// Ask Rapier's sets whether a handle's body is still alive. New keys depend only on the insertions and removals, never
/// on when the death of a body was noticed, so a run has the same keys at every frame rate.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Slots<BodySlot>", try_from = "Slots<BodySlot>")
)]
pub(crate) struct Keys {
    bodies: SlotMap<BodyKey, BodySlot>,
    /// The key of the last body at each handle index, dead or alive. Rapier reuses an index for a later body, so
    /// compare the handle of the key found here, including its generation.
    by_index: Vec<Option<BodyKey>>,
    /// Keys at larger indices that a file claims. No table is sized by an index before Rapier has used that index.
    by_large_index: BTreeMap<usize, BodyKey>,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct BodySlot {
    handle: RigidBodyHandle,
    /// The first tick at which the body existed.
    inserted_at: u64,
    /// Whether the body was found dead. Its slot stays occupied until the game's next insertion or removal frees it,
    /// because the moment of discovery depends on the frame rate.
    is_dead: bool,
}

#[cfg(feature = "serde")]
impl From<Keys> for Slots<BodySlot> {
    fn from(keys: Keys) -> Self {
        Self::of(&keys.bodies, &placeholder())
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Slots<BodySlot>> for Keys {
    type Error = &'static str;

    fn try_from(slots: Slots<BodySlot>) -> Result<Self, Self::Error> {
        let bodies: SlotMap<BodyKey, BodySlot> = slots
            .into_map(&placeholder())
            .ok_or("bodies in impossible slots")?;
        let mut by_large_index = BTreeMap::new();
        for (key, body) in &bodies {
            if by_large_index.insert(index_of(body.handle), key).is_some() {
                return Err("two keys of one body");
            }
        }
        // The largest index may be forged, so the number of keys sizes the table. Indices hardly outnumber the keys,
        // unless many bodies have no key. Keys at larger indices stay in the map.
        let mut keys = Self {
            by_index: vec![None; bodies.capacity()],
            bodies,
            by_large_index,
        };
        keys.move_into_table();
        Ok(keys)
    }
}

/// Returns a body with arbitrary values. `Slots` fills the vacant slots of a slotmap with it, to read or restore the
/// order in which they are reused.
#[cfg(feature = "serde")]
fn placeholder() -> BodySlot {
    BodySlot {
        handle: RigidBodyHandle::from_raw_parts(0, 0),
        inserted_at: 0,
        is_dead: true,
    }
}

impl Keys {
    /// Creates a key for a handle that has none. Removes the key of an earlier body with the same index, so there are
    /// never more keys than indices. Returns it too if the death of that body was not detected before.
    pub fn insert(
        &mut self,
        handle: RigidBodyHandle,
        inserted_at: u64,
    ) -> (BodyKey, Option<BodyKey>) {
        let key = self.bodies.insert(BodySlot {
            handle,
            inserted_at,
            is_dead: false,
        });
        (key, self.assign_index_to(key))
    }

    /// Assigns the index of a key's handle to that key. Removes the key that had the index before, because its body is
    /// dead if Rapier has reused the index. Returns that key if this death was not detected before.
    fn assign_index_to(&mut self, key: BodyKey) -> Option<BodyKey> {
        let index = index_of(self.bodies[key].handle);
        if index >= self.by_index.len() {
            self.by_index.resize(index + 1, None);
            self.move_into_table();
        }
        let dead = self.by_index[index].replace(key);
        dead.filter(|dead| self.bodies.remove(*dead).is_some_and(|body| !body.is_dead))
    }

    /// Moves keys from `by_large_index`, which only a loaded state fills, to the table `by_index`, where it is now long
    /// enough for their indices.
    fn move_into_table(&mut self) {
        let too_large = self.by_large_index.split_off(&self.by_index.len());
        for (index, key) in std::mem::replace(&mut self.by_large_index, too_large) {
            self.by_index[index] = Some(key);
        }
    }

    /// Removes a body by its key. Returns its handle, unless the body was found dead before.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBodyHandle> {
        let body = self.bodies.remove(key)?;
        (!body.is_dead).then_some(body.handle)
    }

    /// Records that the body was removed through Rapier. Returns whether this is new.
    pub fn mark_dead(&mut self, key: BodyKey) -> bool {
        !std::mem::replace(&mut self.bodies[key].is_dead, true)
    }

    /// Returns the key of a body, or `None` if it has none or its removal was detected.
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        let index = index_of(handle);
        let key = match self.by_index.get(index) {
            Some(key) => (*key)?,
            // Only a loaded state has keys at indices beyond the table.
            None => *self.by_large_index.get(&index)?,
        };
        // The key may be that of another body, because Rapier reuses indices.
        (self.handle(key) == Some(handle)).then_some(key)
    }

    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        let body = self.bodies.get(key)?;
        (!body.is_dead).then_some(body.handle)
    }

    /// Returns whether the body was inserted at this tick or before, even if it is dead by now.
    pub fn was_inserted_by(&self, key: BodyKey, tick: u64) -> bool {
        self.bodies
            .get(key)
            .is_some_and(|body| body.inserted_at <= tick)
    }

    /// Returns whether the body was inserted at this tick or later.
    pub fn was_inserted_since(&self, key: BodyKey, tick: u64) -> bool {
        self.insertion(key) >= Some(tick)
    }

    pub fn insertion(&self, key: BodyKey) -> Option<u64> {
        self.bodies.get(key).map(|body| body.inserted_at)
    }

    /// Lets all bodies exist from this tick on, even those that were inserted within the step of this tick. Call it if
    /// that step will not run.
    pub fn date_back_insertions(&mut self, tick: u64) {
        let bodies = self.bodies.values_mut();
        bodies.for_each(|body| body.inserted_at = body.inserted_at.min(tick));
    }

    /// Lets all bodies exist from this tick on, because ticks are numbered again from here.
    pub fn set_tick(&mut self, tick: u64) {
        self.bodies
            .values_mut()
            .for_each(|body| body.inserted_at = tick);
    }

    /// Iterates over the bodies whose removal was not detected. Rapier may lack some of them.
    pub fn iter(&self) -> impl Iterator<Item = (BodyKey, RigidBodyHandle)> {
        self.bodies
            .iter()
            .filter(|(_, body)| !body.is_dead)
            .map(|(key, body)| (key, body.handle))
    }
}

/// Returns the index in a handle, which a later body can reuse.
fn index_of(handle: RigidBodyHandle) -> usize {
    handle.into_raw_parts().0 as usize
}

/// Returns the index in a key, which a later body can reuse.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the lower half of the number"
)]
pub(crate) fn slot_of(key: BodyKey) -> usize {
    key.data().as_ffi() as u32 as usize
}

/// A number that is unique in the process. A copy gets a new one.
#[derive(Debug, PartialEq, Eq)]
pub struct Id(u64);

impl Id {
    /// Returns the number, which is never 0.
    pub fn number(&self) -> u64 {
        self.0
    }
}

impl Default for Id {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Id {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_an_optional_key_take_eight_bytes() {
        assert_eq!(size_of::<BodyKey>(), 8);
        assert_eq!(size_of::<Option<BodyKey>>(), 8);
    }

    const HANDLE: fn(u32, u32) -> RigidBodyHandle = RigidBodyHandle::from_raw_parts;

    #[test]
    fn reusing_a_slot_of_rapier_invalidates_the_key_of_the_old_body() {
        let mut keys = Keys::default();
        let (old, _) = keys.insert(HANDLE(3, 0), 0);
        let (new, dead) = keys.insert(HANDLE(3, 1), 0);
        assert_eq!(dead, Some(old));
        assert_eq!(
            (keys.handle(old), keys.handle(new)),
            (None, Some(HANDLE(3, 1)))
        );
        assert_eq!(
            (keys.key(HANDLE(3, 0)), keys.key(HANDLE(3, 1))),
            (None, Some(new))
        );
        assert_eq!(keys.remove(new), Some(HANDLE(3, 1)));
        assert_eq!((keys.remove(new), keys.key(HANDLE(3, 1))), (None, None));
    }

    #[test]
    fn new_keys_are_the_same_whether_or_not_a_dead_body_was_detected() {
        let given = |is_detected: bool| {
            let mut keys = Keys::default();
            let first = keys.insert(HANDLE(0, 0), 0).0;
            keys.insert(HANDLE(1, 0), 0);
            if is_detected {
                keys.mark_dead(first);
                assert_eq!((keys.handle(first), keys.key(HANDLE(0, 0))), (None, None));
            }
            let (second, dead) = keys.insert(HANDLE(0, 1), 0);
            assert_eq!(dead.is_some(), !is_detected, "a dead body is reported once");
            [
                second,
                keys.insert(HANDLE(2, 1), 0).0,
                keys.insert(HANDLE(3, 1), 0).0,
            ]
        };
        assert_eq!(given(true), given(false));
    }

    #[test]
    fn removing_a_dead_body_by_key_does_not_change_new_keys() {
        let given = |is_detected: bool| {
            let mut keys = Keys::default();
            let first = keys.insert(HANDLE(0, 0), 0).0;
            let second = keys.insert(HANDLE(1, 0), 0).0;
            if is_detected {
                keys.mark_dead(first);
            }
            assert_eq!(
                keys.remove(first).is_some(),
                !is_detected,
                "a dead body is reported once"
            );
            assert_eq!(keys.remove(first), None);
            // The later bodies use another slot of Rapier's, the same slot, and a slot after an alive body is removed.
            let mut given = vec![
                keys.insert(HANDLE(2, 1), 0).0,
                keys.insert(HANDLE(0, 1), 0).0,
            ];
            assert_eq!(keys.remove(second), Some(HANDLE(1, 0)));
            given.push(keys.insert(HANDLE(3, 2), 0).0);
            let alive: Vec<_> = keys.iter().map(|(_, handle)| handle).collect();
            (given, alive)
        };
        assert_eq!(given(true), given(false));
    }
}
