//! The two ids that a game holds, and the table from a body's id to Rapier's handle and back.

use rapier3d::dynamics::RigidBodyHandle;
use slotmap::SlotMap;

slotmap::new_key_type! {
    /// The id of one body, for as long as the body lives.
    ///
    /// Eight bytes, `Copy`, and an `Option<BodyKey>` is eight bytes too: store it in a component
    /// of your own. A key whose body was removed, in whatever way, names nothing for ever, also
    /// when Rapier gives the body's slot to another one: every function that takes a key then
    /// answers `None` or [`BodyError::Gone`](crate::BodyError::Gone).
    ///
    /// A key belongs to the [`Simulation`](crate::Simulation) that made it. Used with another one
    /// it is safe, but it may name an unrelated body there. The same holds for keys made up
    /// with slotmap's `KeyData::from_ffi`.
    pub struct BodyKey;

    /// The id of a lasting force, from
    /// [`Simulation::add_generator`](crate::Simulation::add_generator) until it is removed or its
    /// body is.
    pub struct GeneratorKey;
}

/// Which handle each key stands for, and the other way round.
///
/// It knows nothing of Rapier's sets: whether a handle's body still lives is for the caller to
/// ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    handles: SlotMap<BodyKey, RigidBodyHandle>,
    /// By the index in a handle. Rapier uses an index again for a later body, so the handle of
    /// the key found here has to be compared, generation and all.
    by_index: Vec<Option<BodyKey>>,
}

impl Keys {
    /// Makes a key for a handle that has none.
    ///
    /// Also gives the key that is dead for certain now: that of an earlier body in the same slot.
    /// So there are never more dead keys here than Rapier has had bodies at one time.
    pub fn insert(&mut self, handle: RigidBodyHandle) -> (BodyKey, Option<BodyKey>) {
        let key = self.handles.insert(handle);
        let index = index_of(handle);
        if index >= self.by_index.len() {
            self.by_index.resize(index + 1, None);
        }
        let dead = self.by_index[index].replace(key);
        if let Some(dead) = dead {
            self.handles.remove(dead);
        }
        (key, dead)
    }

    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBodyHandle> {
        let handle = self.handles.remove(key)?;
        self.by_index[index_of(handle)] = None;
        Some(handle)
    }

    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        let key = (*self.by_index.get(index_of(handle))?)?;
        (self.handles[key] == handle).then_some(key)
    }

    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.handles.get(key).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (BodyKey, RigidBodyHandle)> {
        self.handles.iter().map(|(key, handle)| (key, *handle))
    }
}

fn index_of(handle: RigidBodyHandle) -> usize {
    handle.into_raw_parts().0 as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_an_optional_key_take_eight_bytes() {
        assert_eq!(size_of::<BodyKey>(), 8);
        assert_eq!(size_of::<Option<BodyKey>>(), 8);
    }

    #[test]
    fn a_slot_used_again_kills_the_key_of_the_body_before() {
        let handle = RigidBodyHandle::from_raw_parts;
        let mut keys = Keys::default();
        let (old, _) = keys.insert(handle(3, 0));
        let (new, dead) = keys.insert(handle(3, 1));
        assert_eq!(dead, Some(old));
        assert_eq!(
            (keys.handle(old), keys.handle(new)),
            (None, Some(handle(3, 1)))
        );
        assert_eq!(
            (keys.key(handle(3, 0)), keys.key(handle(3, 1))),
            (None, Some(new))
        );
        assert_eq!(keys.remove(new), Some(handle(3, 1)));
        assert_eq!((keys.remove(new), keys.key(handle(3, 1))), (None, None));
    }
}
