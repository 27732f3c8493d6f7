//! Which entity has which body: what joins an ECS with a simulation.

use slotmap::Key;

use crate::key::BodyKey;
use crate::simulation::Simulation;
use rapier::math::Pose;

/// Which entity of an ECS has which body: one for each pair of an ECS and a [`Simulation`].
///
/// For hosts with an ECS of their own; for hecs there is the module `entities`. `E` is the ECS's entity. The
/// package `examples/ecs` shows it with `bevy_ecs`, shipyard, specs and a hand-made ECS.
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::{Owners, Simulation};
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// let mut poses = vec![Pose::IDENTITY]; // an ECS: an entity is an index, its components are in lists
/// let mut owners = Owners::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
/// owners.insert(simulation.insert(body, ColliderBuilder::ball(0.5)), 0);
///
/// simulation.advance(Duration::from_millis(40), |_, _| ());
/// for entity in owners.removed(&simulation) {
///     println!("{entity} has no body any more");
/// }
/// for (entity, pose) in owners.moved(&simulation) {
///     poses[entity] = pose;
/// }
/// assert!(poses[0].translation.x > 0.0);
/// ```
///
/// # Once a frame
/// Call [`removed`](Self::removed), then [`moved`](Self::moved). If that was not done in some frames, the next call
/// covers them too, at a cost in proportion to what was missed. When the simulation is replaced, replace this too: the
/// keys of the old one may refer to bodies of the new one.
#[derive(Clone, Debug)]
pub struct Owners<E> {
    /// By the index in a key. A later body can have the index of an earlier one.
    by_index: Vec<Option<(BodyKey, E)>>,
    /// Entities whose body was removed and whose place another has taken.
    displaced: Vec<E>,
    /// The number of the last frame of which `moved` was asked.
    synced: u64,
}

/// Entities without a body and bodies without an entity: from [`Owners::unmatched`], after a saved state was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Unmatched<E> {
    /// Entities whose body does not exist, in the order of its keys: spawned since the state was saved.
    pub entities: Vec<E>,
    /// Bodies that have no entity, in the order of their keys: despawned since, or never owned by an entity.
    pub bodies: Vec<BodyKey>,
}

impl<E> Unmatched<E> {
    /// Whether each entity has its body and each body its entity.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.bodies.is_empty()
    }

    /// `owned` are the bodies of entities, `entity_of` the entity of a body.
    pub(crate) fn new(
        simulation: &Simulation,
        owned: impl Iterator<Item = (BodyKey, E)>,
        entity_of: impl Fn(BodyKey) -> Option<E>,
    ) -> Self {
        let mut gone: Vec<(BodyKey, E)> = owned
            .filter(|(key, _)| simulation.handle(*key).is_none())
            .collect();
        gone.sort_unstable_by_key(|(key, _)| *key);
        let bodies = simulation.bodies().map(|(key, _)| key);
        let mut bodies: Vec<BodyKey> = bodies.filter(|key| entity_of(*key).is_none()).collect();
        bodies.sort_unstable();
        Self {
            entities: gone.into_iter().map(|(_, entity)| entity).collect(),
            bodies,
        }
    }
}

impl<E> Default for Owners<E> {
    fn default() -> Self {
        Self {
            by_index: Vec::new(),
            displaced: Vec::new(),
            synced: 0,
        }
    }
}

impl<E: Copy + PartialEq> Owners<E> {
    /// Records that the entity has this body from now on.
    pub fn insert(&mut self, key: BodyKey, entity: E) {
        let index = index_of(key);
        if index >= self.by_index.len() {
            self.by_index.resize(index + 1, None);
        }
        let before = self.by_index[index].replace((key, entity));
        let displaced = before.filter(|(before, _)| *before != key);
        self.displaced.extend(displaced.map(|(_, entity)| entity));
    }

    /// The entity of a body: for a collision event or, by
    /// [`key_of_collider`](Simulation::key_of_collider), for a ray cast.
    #[must_use]
    pub fn entity(&self, key: BodyKey) -> Option<E> {
        let (owned, entity) = (*self.by_index.get(index_of(key))?)?;
        (owned == key).then_some(entity)
    }

    /// Removes the body of an entity that was despawned or has lost its body component. Call it right then. A body
    /// that another entity has by now stays.
    pub fn release(&mut self, simulation: &mut Simulation, key: BodyKey, entity: E) {
        if self.entity(key) == Some(entity) {
            self.by_index[index_of(key)] = None;
            simulation.remove(key);
        }
        self.displaced.retain(|displaced| *displaced != entity);
    }

    /// For an ECS that does not report which entities were despawned: removes the bodies of all entities for
    /// which `body_of` returns another body, or none. Goes through all bodies, in an order that depends on keys only,
    /// so that a run can be repeated.
    pub fn retain(
        &mut self,
        simulation: &mut Simulation,
        mut body_of: impl FnMut(E) -> Option<BodyKey>,
    ) {
        for place in &mut self.by_index {
            if let Some((key, entity)) = *place
                && body_of(entity) != Some(key)
            {
                *place = None;
                simulation.remove(key);
            }
        }
        self.displaced.retain(|entity| body_of(*entity).is_some());
    }

    /// Once a frame: the entities whose body was removed, so that the game can remove their components.
    pub fn removed(&mut self, simulation: &Simulation) -> Vec<E> {
        let mut removed = std::mem::take(&mut self.displaced);
        if simulation.screen_lists_all_since(self.synced) {
            let keys = simulation.removed().iter();
            removed.extend(keys.filter_map(|key| self.take(*key)));
        } else if let Some((_, keys)) = simulation.changes_since(self.synced) {
            removed.extend(keys.filter_map(|key| self.take(key)));
        } else {
            let is_gone = |key: BodyKey| simulation.handle(key).is_none();
            let owned = self.by_index.iter_mut();
            let gone = owned.filter_map(|place| place.take_if(|(key, _)| is_gone(*key)));
            removed.extend(gone.map(|(_, entity)| entity));
        }
        removed
    }

    fn take(&mut self, key: BodyKey) -> Option<E> {
        let place = self.by_index.get_mut(index_of(key))?;
        let (_, entity) = place.take_if(|(owned, _)| *owned == key)?;
        Some(entity)
    }

    /// Once a frame, after [`removed`](Self::removed): the entities whose shown pose has changed, with their poses. New
    /// entities are among them.
    pub fn moved(&mut self, simulation: &Simulation) -> impl Iterator<Item = (E, Pose)> {
        let is_next_frame = simulation.screen_lists_all_since(self.synced);
        let since = std::mem::replace(&mut self.synced, simulation.frame().number);
        let last_frame = is_next_frame.then(|| simulation.moved().iter().copied());
        let missed =
            (!is_next_frame).then(|| simulation.changes_since(since).map(|(moved, _)| moved));
        let is_forgotten = matches!(missed, Some(None));
        let owned = self.by_index.iter().flatten().filter(move |_| is_forgotten);
        let all = owned.filter_map(|(key, _)| Some((*key, simulation.pose(*key)?)));
        let moved =
            (last_frame.into_iter().flatten()).chain(missed.flatten().into_iter().flatten());
        let moved = moved.chain(all);
        moved.filter_map(|(key, pose)| Some((self.entity(key)?, pose)))
    }

    /// After a saved state was restored: entities without a body and bodies without an entity, for the game to despawn
    /// and spawn, or to check that there are none.
    ///
    /// Call it before the next frame, whose new keys may be equal to those of old entities. It removes nothing; the next
    /// [`moved`](Self::moved) then returns every body's pose.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::{Owners, Simulation};
    /// let (mut simulation, mut owners) = (Simulation::default(), Owners::default());
    /// let door = simulation.insert_body(RigidBodyBuilder::fixed());
    /// owners.insert(door, "door");
    /// let saved = simulation.clone();
    /// owners.insert(simulation.insert_body(RigidBodyBuilder::dynamic()), "crate");
    /// owners.release(&mut simulation, door, "door");
    ///
    /// simulation = saved;
    /// let unmatched = owners.unmatched(&simulation);
    /// assert_eq!((unmatched.entities, unmatched.bodies), (vec!["crate"], vec![door]));
    /// ```
    pub fn unmatched(&mut self, simulation: &Simulation) -> Unmatched<E> {
        // Later than any frame, and so not one of this simulation's.
        self.synced = u64::MAX;
        let owned = self.by_index.iter().flatten().copied();
        let displaced = self.displaced.iter();
        let mut unmatched = Unmatched::new(simulation, owned, |key| self.entity(key));
        unmatched.entities.extend(displaced.copied());
        unmatched
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half of it")]
fn index_of(key: BodyKey) -> usize {
    key.data().as_ffi() as u32 as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rapier::prelude::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    #[derive(Clone, Debug)]
    enum Action {
        Spawn,
        Release(usize),
        Despawn(usize),
        Remove(usize),
        RemoveThroughRapier(usize),
        Teleport(usize),
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
            2 => (0..20usize).prop_map(Action::Teleport),
            4 => (0..40u64).prop_map(Action::Frame),
            2 => Just(Action::Sync),
        ]
    }

    proptest! {
        /// An ECS as two plain maps: after a sync each entity has its body's pose, whatever was missed.
        #[test]
        fn entities_and_bodies_stay_together(actions in prop::collection::vec(action(), 1..200)) {
            let mut simulation = Simulation::default();
            let mut owners = Owners::default();
            let mut entities = BTreeMap::<u32, (BodyKey, Option<Pose>)>::new();
            let mut next = 0;
            for action in actions {
                let pick = |i: usize| {
                    let (entity, (key, _)) = entities.iter().nth(i % entities.len().max(1))?;
                    Some((*entity, *key))
                };
                match action {
                    Action::Spawn => {
                        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
                        let key = simulation.insert_body(body);
                        owners.insert(key, next);
                        entities.insert(next, (key, None));
                        next += 1;
                    }
                    Action::Release(i) => if let Some((entity, key)) = pick(i) {
                        entities.remove(&entity);
                        owners.release(&mut simulation, key, entity);
                        prop_assert!(simulation.body(key).is_none());
                    }
                    Action::Despawn(i) => if let Some((entity, key)) = pick(i) {
                        entities.remove(&entity);
                        let body_of = |entity| entities.get(&entity).map(|(key, _)| *key);
                        owners.retain(&mut simulation, body_of);
                        prop_assert!(simulation.body(key).is_none());
                    }
                    Action::Remove(i) => if let Some((_, key)) = pick(i) {
                        simulation.remove(key);
                    }
                    Action::RemoveThroughRapier(i) => {
                        if let Some(handle) = pick(i).and_then(|(_, key)| simulation.handle(key)) {
                            simulation.physics_mut().remove_body(handle);
                        }
                    }
                    Action::Teleport(i) => if let Some((entity, key)) = pick(i) {
                        let there = Pose::translation(entity as f32, i as f32, 0.0);
                        let _ = simulation.teleport(key, there);
                    }
                    Action::Frame(ms) => {
                        simulation.advance(Duration::from_millis(ms), |_, _| ());
                    }
                    Action::Sync => {
                        simulation.advance(Duration::ZERO, |_, _| ());
                        for entity in owners.removed(&simulation) {
                            let removed = entities.remove(&entity);
                            prop_assert!(removed.is_some_and(|(key, _)| simulation.body(key).is_none()));
                        }
                        for (entity, pose) in owners.moved(&simulation) {
                            entities.get_mut(&entity).unwrap().1 = Some(pose);
                        }
                        for (entity, (key, pose)) in &entities {
                            prop_assert_eq!(simulation.pose(*key), *pose);
                            prop_assert_eq!(owners.entity(*key), Some(*entity));
                        }
                    }
                }
            }
        }
    }
}
