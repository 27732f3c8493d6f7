//! Which entity has which body.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::key::{BodyKey, slot_of};
use crate::physics::Physics;
use rapier::math::Pose;

use super::host::{Bodies, Host, Picture};

/// Records which entity of an ECS has which body. You need one for each pair of an ECS and a
/// [`Simulation`](crate::Simulation) or [`Runner`](crate::threads::Runner).
///
/// `E` is the entity type of the ECS. The package `examples/ecs` has examples with `bevy_ecs`, shipyard, specs and a
/// hand-made ECS.
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # use evenstep::ecs::EntityMap;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// let mut poses = vec![Pose::IDENTITY]; // a minimal ECS: an entity is an index
/// let mut map = EntityMap::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
/// map.insert(simulation.physics.insert(body, ColliderBuilder::ball(0.5)), 0);
///
/// simulation.advance(Duration::from_millis(40), |_, _| ());
/// let _removed = map.take_removed(&simulation);
/// for (entity, pose) in map.moved(&simulation) {
///     poses[entity] = pose;
/// }
/// assert!(poses[0].translation.x > 0.0);
/// ```
///
/// When an entity dies, call [`remove_body`](Self::remove_body) in a step. Once per frame, call
/// [`take_removed`](Self::take_removed), then [`moved`](Self::moved). If you skip some frames, the next call covers
/// them too, at a cost proportional to the missed changes. After an assignment of
/// [`Simulation::physics`](crate::Simulation::physics) it compares all bodies. If the new value is another level,
/// replace the `EntityMap` too, because its keys may be equal to old ones.
#[derive(Clone, Debug)]
pub struct EntityMap<E> {
    /// Entities, indexed by the slot of their key. A later body can reuse the slot of an earlier one.
    by_index: Vec<Option<(BodyKey, E)>>,
    replaced: Vec<E>,
    /// Bodies inserted since the last sync, which an earlier picture may have listed.
    new: Vec<BodyKey>,
    /// The last frame for which `moved` was called, with its simulation, or `None` if every body is to be checked.
    synced: Option<(Option<u64>, u64)>,
}

/// Lists entities without a body and bodies without an entity, from [`EntityMap::unmatched`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Unmatched<E> {
    /// Entities whose body does not exist, because they were spawned since the state was saved. They are sorted by key,
    /// except that entities whose slot another body has taken come last.
    pub entities: Vec<E>,
    /// Bodies without an entity, sorted by key.
    pub bodies: Vec<BodyKey>,
}

impl<E> Unmatched<E> {
    /// Returns whether each entity has its body and each body its entity.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.bodies.is_empty()
    }
}

impl<E> Default for EntityMap<E> {
    fn default() -> Self {
        Self {
            by_index: Vec::new(),
            replaced: Vec::new(),
            new: Vec::new(),
            synced: None,
        }
    }
}

impl<E: Copy + PartialEq> EntityMap<E> {
    /// Records that the entity has this body from now on. If another entity had it, perhaps before a rollback, the next
    /// [`take_removed`](Self::take_removed) returns that entity.
    pub fn insert(&mut self, key: BodyKey, entity: E) {
        let index = slot_of(key);
        if index >= self.by_index.len() {
            self.by_index.resize(index + 1, None);
        }
        let place = &mut self.by_index[index];
        // If two bodies share a slot, the earlier one was removed, or will be once the removal is displayed.
        let is_late = place.is_some_and(|(owned, _)| owned > key);
        let replaced = if is_late {
            Some((key, entity))
        } else {
            place
                .replace((key, entity))
                .filter(|before| *before != (key, entity))
        };
        self.replaced.extend(replaced.map(|(_, entity)| entity));
        if self.synced.is_some() {
            self.new.push(key);
            if self.new.len() > self.by_index.len() {
                // Without a sync the list would grow without bound.
                self.look_at_all_next();
            }
        }
    }

    /// Returns the entity of a body. For a ray cast, [`key_of_collider`](Physics::key_of_collider) has the key.
    #[must_use]
    #[inline]
    pub fn entity(&self, key: BodyKey) -> Option<E> {
        let (owned, entity) = self.by_index.get(slot_of(key))?.as_ref()?;
        (*owned == key).then_some(*entity)
    }

    /// Removes the body of an entity that was despawned or has lost its body component.
    ///
    /// Call it at that moment, in a hook with the hook's [`Physics`]. If another entity has the body by now, it is
    /// kept. A runner removes the body between two steps.
    pub fn remove_body(&mut self, bodies: &mut impl Bodies, key: BodyKey, entity: E) {
        if self.forget(key, entity) {
            bodies.remove(key);
        }
        self.replaced.retain(|replaced| *replaced != entity);
    }

    /// Removes the bodies of all entities for which `body_of` returns another body, or none. Use it with an ECS that
    /// does not report despawned entities. It goes through all bodies, in an order that depends only on keys.
    pub fn retain(
        &mut self,
        bodies: &mut impl Bodies,
        mut body_of: impl FnMut(E) -> Option<BodyKey>,
    ) {
        for (key, _) in self.take_if(|key, entity| body_of(entity) != Some(key)) {
            bodies.remove(key);
        }
        self.replaced.retain(|entity| body_of(*entity).is_some());
    }

    /// Forgets the entities whose body was removed, and returns them, so that you can remove their components. Call it
    /// once per frame.
    pub fn take_removed(&mut self, host: &impl Host) -> Vec<E> {
        let mut removed = self.take_replaced();
        let gone = self.take_removed_since(host, self.since(host)).into_iter();
        removed.extend(gone.map(|(_, entity)| entity));
        removed
    }

    /// Returns the entities whose displayed pose has changed, with their poses. Call it once per frame, after
    /// [`take_removed`](Self::take_removed).
    ///
    /// Each entity that was [inserted](Self::insert) since the last call is included, even if its body is at rest.
    pub fn moved(&mut self, host: &impl Host) -> impl Iterator<Item = (E, Pose)> {
        let since = self.begin_sync(host);
        let new = self.take_new(host);
        let moved = self.moved_since(host, since);
        let moved = (0..moved.len()).map(move |i| moved[i]);
        let keys: BTreeSet<_> = new.iter().map(|(key, _)| *key).collect();
        let moved = moved.filter(move |(key, _)| !keys.contains(key));
        let all = new.into_iter().chain(moved);
        all.filter_map(|(key, pose)| Some((self.entity(key)?, pose)))
    }

    /// Returns entities without a body and bodies without an entity after a saved state was restored, to despawn and
    /// spawn them.
    ///
    /// Call it right after an assignment, or after a [rollback](crate::Simulation::roll_back) before the first
    /// resimulated step, because new keys may be equal to those of old entities. The returned entities have no body
    /// from then on. The next [`moved`](Self::moved) returns every body's pose. With a runner, ask it for a clone of
    /// its physics.
    pub fn unmatched(&mut self, physics: &Physics) -> Unmatched<E> {
        self.look_at_all_next();
        let mut gone = self.take_if(|key, _| physics.handle(key).is_none());
        gone.sort_unstable_by_key(|(key, _)| *key);
        let mut entities: Vec<E> = gone.into_iter().map(|(_, entity)| entity).collect();
        entities.append(&mut self.replaced);
        let bodies = physics.bodies().map(|(key, _)| key);
        let mut bodies: Vec<BodyKey> = bodies.filter(|key| self.entity(*key).is_none()).collect();
        bodies.sort_unstable();
        Unmatched { entities, bodies }
    }
}

/// # For a host that detects removals itself
impl<E: Copy + PartialEq> EntityMap<E> {
    pub(crate) fn forget(&mut self, key: BodyKey, entity: E) -> bool {
        let is_its = self.entity(key) == Some(entity);
        if is_its {
            self.by_index[slot_of(key)] = None;
        }
        is_its
    }

    pub(crate) fn take(&mut self, key: BodyKey) -> Option<E> {
        let entity = self.entity(key)?;
        self.forget(key, entity).then_some(entity)
    }

    pub(crate) fn take_if(
        &mut self,
        mut holds: impl FnMut(BodyKey, E) -> bool,
    ) -> Vec<(BodyKey, E)> {
        let owned = self.by_index.iter_mut();
        let taken = owned.filter_map(|place| place.take_if(|(key, entity)| holds(*key, *entity)));
        taken.collect()
    }

    pub(crate) fn begin_sync(&mut self, host: &impl Picture) -> Option<u64> {
        let since = self.since(host);
        self.synced = host.screen().map(|it| (host.run(), it.number()));
        since
    }

    /// Returns the frame of the last sync, if the host has not changed.
    fn since(&self, host: &impl Picture) -> Option<u64> {
        let (run, frame) = self.synced?;
        (run == host.run()).then_some(frame)
    }

    fn look_at_all_next(&mut self) {
        self.synced = None;
        self.new.clear();
    }

    /// Returns the poses of bodies that were [inserted](Self::insert), each once, as soon as they are displayed.
    pub(crate) fn take_new(&mut self, picture: &impl Picture) -> Vec<(BodyKey, Pose)> {
        let mut new = std::mem::take(&mut self.new);
        new.sort_unstable();
        new.dedup();
        let mut poses = Vec::new();
        new.retain(|key| {
            let pose = picture.pose(*key);
            poses.extend(pose.map(|pose| (*key, pose)));
            pose.is_none() && self.entity(*key).is_some()
        });
        self.new = new;
        poses
    }

    pub(crate) fn take_removed_since(
        &mut self,
        host: &impl Picture,
        since: Option<u64>,
    ) -> Vec<(BodyKey, E)> {
        match since.and_then(|frame| host.screen()?.removed_since(frame)) {
            Some(keys) => {
                // Some bodies that the last frame has removed are alive again if steps were resimulated since.
                let gone = keys.iter().filter(|key| host.pose(**key).is_none());
                let taken = gone.map(|key| Some((*key, self.take(*key)?)));
                taken.flatten().collect()
            }
            None => self.take_if(|key, _| host.pose(key).is_none()),
        }
    }

    pub(crate) fn take_replaced(&mut self) -> Vec<E> {
        std::mem::take(&mut self.replaced)
    }

    /// Returns the bodies whose pose may have changed since a frame, or all bodies for `None`.
    pub(crate) fn moved_since<'a>(
        &self,
        host: &'a impl Picture,
        since: Option<u64>,
    ) -> Cow<'a, [(BodyKey, Pose)]> {
        let moved = since.and_then(|frame| host.screen()?.moved_since(frame));
        moved.unwrap_or_else(|| {
            let owned = self.by_index.iter().flatten();
            let all = owned.filter_map(|(key, _)| Some((*key, host.pose(*key)?)));
            all.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::testing::translation;
    use crate::simulation::Simulation;
    use proptest::prelude::*;
    use rapier::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Duration;

    #[derive(Clone, Debug)]
    enum Action {
        Spawn,
        Release(usize),
        Despawn(usize),
        Remove(usize),
        RemoveThroughRapier(usize),
        HandOver(usize),
        Teleport(usize),
        InsertAlone,
        Adopt,
        Save,
        Restore,
        Frame(u64),
        Sync,
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            3 => Just(Action::Spawn),
            1 => (0..20usize).prop_map(Action::Release),
            1 => (0..20usize).prop_map(Action::Despawn),
            1 => (0..20usize).prop_map(Action::Remove),
            1 => (0..20usize).prop_map(Action::RemoveThroughRapier),
            1 => (0..20usize).prop_map(Action::HandOver),
            2 => (0..20usize).prop_map(Action::Teleport),
            1 => Just(Action::InsertAlone),
            1 => Just(Action::Adopt),
            1 => Just(Action::Save),
            1 => Just(Action::Restore),
            4 => (0..40u64).prop_map(Action::Frame),
            2 => Just(Action::Sync),
        ]
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn every_entity_has_the_pose_of_its_body_after_a_sync(actions in prop::collection::vec(action(), 1..200)) {
            let mut simulation = Simulation::default();
            let mut map = EntityMap::default();
            let mut entities = BTreeMap::<u32, (BodyKey, Option<Pose>)>::new();
            let mut next = 0;
            // Entities whose body another one has got.
            let mut displaced = BTreeSet::new();
            // Bodies without an entity.
            let mut alone = Vec::new();
            let mut has_missed_frames = false;
            let mut saved = simulation.physics.clone();
            for action in actions {
                let pick = |i: usize| {
                    let (entity, (key, _)) = entities.iter().nth(i % entities.len().max(1))?;
                    Some((*entity, *key))
                };
                match action {
                    Action::Spawn => {
                        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
                        let key = simulation.physics.insert_body(body);
                        map.insert(key, next);
                        entities.insert(next, (key, None));
                        next += 1;
                    }
                    Action::Release(i) => if let Some((entity, key)) = pick(i) {
                        entities.remove(&entity);
                        map.remove_body(&mut simulation.physics, key, entity);
                        prop_assert!(simulation.physics.body(key).is_none());
                    }
                    Action::Despawn(i) => if let Some((entity, key)) = pick(i) {
                        entities.remove(&entity);
                        let body_of = |entity| entities.get(&entity).map(|(key, _)| *key);
                        map.retain(&mut simulation, body_of);
                        // The game knows already that they have no body.
                        displaced.clear();
                        prop_assert!(simulation.physics.body(key).is_none());
                    }
                    Action::Remove(i) => if let Some((_, key)) = pick(i) {
                        simulation.physics.remove(key);
                    }
                    Action::RemoveThroughRapier(i) => {
                        if let Some(handle) = pick(i).and_then(|(_, key)| simulation.physics.handle(key)) {
                            simulation.physics.rapier_mut().remove_body(handle);
                        }
                    }
                    Action::HandOver(i) => if let Some((entity, key)) = pick(i)
                        && simulation.physics.handle(key).is_some()
                    {
                        map.insert(key, entity); // again, which changes nothing
                        map.insert(key, next);
                        entities.remove(&entity);
                        displaced.insert(entity);
                        entities.insert(next, (key, None));
                        next += 1;
                    }
                    Action::Teleport(i) => if let Some((entity, key)) = pick(i) {
                        let there = translation(entity as f32, i as f32, 0.0);
                        let _ = simulation.physics.teleport(key, there);
                    }
                    Action::InsertAlone => {
                        alone.push(simulation.physics.insert_body(RigidBodyBuilder::fixed()));
                    }
                    Action::Adopt => if let Some(key) = alone.pop() {
                        map.insert(key, next);
                        entities.insert(next, (key, None));
                        next += 1;
                    }
                    Action::Save => saved = simulation.physics.clone(),
                    Action::Restore => {
                        simulation.physics = saved.clone();
                        let unmatched = map.unmatched(&simulation.physics);
                        for entity in unmatched.entities {
                            prop_assert!(entities.remove(&entity).is_some() || displaced.remove(&entity));
                        }
                        alone = unmatched.bodies;
                    }
                    Action::Frame(ms) => {
                        simulation.advance(Duration::from_millis(ms), |_, _| ());
                        has_missed_frames = true;
                    }
                    Action::Sync => {
                        simulation.advance(Duration::ZERO, |_, _| ());
                        for entity in map.take_removed(&simulation) {
                            if displaced.remove(&entity) {
                                continue;
                            }
                            let removed = entities.remove(&entity);
                            prop_assert!(removed.is_some_and(|(key, _)| simulation.physics.body(key).is_none()));
                        }
                        prop_assert!(displaced.is_empty(), "{:?} are not reported", displaced);
                        let has_missed_frames = std::mem::take(&mut has_missed_frames);
                        let mut listed = BTreeSet::new();
                        for (entity, pose) in map.moved(&simulation) {
                            entities.get_mut(&entity).unwrap().1 = Some(pose);
                            let is_first = listed.insert(entity);
                            prop_assert!(is_first || has_missed_frames, "listed twice");
                        }
                        for (entity, (key, pose)) in &entities {
                            prop_assert_eq!(simulation.pose(*key), *pose);
                            prop_assert_eq!(map.entity(*key), Some(*entity));
                        }
                    }
                }
            }
        }
    }
}
