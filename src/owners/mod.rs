//! Entities of bodies: what joins an ECS with a simulation.

// What has the bodies, and what displays them.
mod host;
// A body on its way to a thread.
mod spawned;

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::key::{BodyKey, slot_of};
use crate::physics::Physics;
use rapier::math::Pose;

pub use host::{Bodies, Host};
pub(crate) use host::{BodyStore, Picture, Poses};
pub(crate) use spawned::Inserter;
pub use spawned::Spawned;

/// Which entity of an ECS has which body: one for each pair of an ECS and a [`Simulation`](crate::Simulation), or a
/// [`Runner`](crate::threads::Runner).
///
/// For hosts with an ECS of their own; for hecs there is the module `entities`. `E` is the ECS's entity. The
/// package `examples/ecs` shows it with `bevy_ecs`, shipyard, specs and a hand-made ECS.
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::{Owners, Simulation};
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// let mut poses = vec![Pose::IDENTITY]; // an ECS: an entity is an index, its components are in lists
/// let mut owners = Owners::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
/// owners.insert(simulation.physics.insert(body, ColliderBuilder::ball(0.5)), 0);
///
/// simulation.advance(Duration::from_millis(40), |_, _| ());
/// for entity in owners.removed(&mut simulation) {
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
/// covers them too, at a cost in proportion to what was missed; with a `Runner` it then goes through all bodies. After
/// an assignment of [`Simulation::physics`](crate::Simulation::physics) it compares all bodies: entities whose body is
/// not in the new value are in [`removed`](Self::removed). If the new value is of another level, replace this too: its
/// keys may be equal to old ones.
#[derive(Clone, Debug)]
pub struct Owners<E> {
    /// By the index in a key. A later body can have the index of an earlier one.
    by_index: Vec<Option<(BodyKey, E)>>,
    /// Entities whose body was removed and whose place another has taken.
    replaced: Vec<E>,
    /// Released, and to be removed together.
    dying: Vec<BodyKey>,
    /// Inserted since the last sync, whose picture may have listed these bodies earlier. Empty if every body is to be
    /// looked at.
    new: Vec<BodyKey>,
    /// The last frame of which `moved` was asked, and of which simulation; `None` if every body is to be looked at.
    synced: Option<(Option<u64>, u64)>,
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
}

impl<E> Default for Owners<E> {
    fn default() -> Self {
        Self {
            by_index: Vec::new(),
            replaced: Vec::new(),
            dying: Vec::new(),
            new: Vec::new(),
            synced: None,
        }
    }
}

impl<E: Copy + PartialEq> Owners<E> {
    /// Records that the entity has this body from now on.
    pub fn insert(&mut self, key: BodyKey, entity: E) {
        let index = slot_of(key);
        if index >= self.by_index.len() {
            self.by_index.resize(index + 1, None);
        }
        let place = &mut self.by_index[index];
        // Of two bodies with one index, the earlier is gone, or will be as soon as that is shown.
        let is_late = place.is_some_and(|(owned, _)| owned > key);
        let replaced = if is_late {
            Some((key, entity))
        } else {
            place
                .replace((key, entity))
                .filter(|(owned, _)| *owned != key)
        };
        self.replaced.extend(replaced.map(|(_, entity)| entity));
        if self.synced.is_some() {
            self.new.push(key);
            if self.new.len() > self.by_index.len() {
                // Without a sync the list would grow for ever.
                self.look_at_all_next();
            }
        }
    }

    /// The entity of a body: for a collision event or, by
    /// [`key_of_collider`](Physics::key_of_collider), for a ray cast.
    #[must_use]
    #[inline]
    pub fn entity(&self, key: BodyKey) -> Option<E> {
        let (owned, entity) = self.by_index.get(slot_of(key))?.as_ref()?;
        (*owned == key).then_some(*entity)
    }

    /// Removes the body of an entity that was despawned or has lost its body component. Call it right then, in a hook
    /// with its [`Physics`]. A body that another entity has by now stays. Those of a runner are removed by the next
    /// [`removed`](Self::removed).
    pub fn release(&mut self, bodies: &mut impl Bodies, key: BodyKey, entity: E) {
        if self.forget(key, entity) {
            self.remove(bodies, key);
        }
        self.replaced.retain(|replaced| *replaced != entity);
    }

    /// For an ECS that does not report which entities were despawned: removes the bodies of all entities for
    /// which `body_of` returns another body, or none. Goes through all bodies, in an order that depends on keys only,
    /// so that a run can be repeated.
    pub fn retain(
        &mut self,
        bodies: &mut impl Bodies,
        mut body_of: impl FnMut(E) -> Option<BodyKey>,
    ) {
        for (key, _) in self.take_if(|key, entity| body_of(entity) != Some(key)) {
            self.remove(bodies, key);
        }
        self.replaced.retain(|entity| body_of(*entity).is_some());
    }

    /// Once a frame: the entities whose body was removed, so that the game can remove their components.
    pub fn removed(&mut self, host: &mut impl Host) -> Vec<E> {
        self.remove_all(host, Vec::new());
        let mut removed = self.take_replaced();
        let gone = self.take_removed(host, self.since(host)).into_iter();
        removed.extend(gone.map(|(_, entity)| entity));
        removed
    }

    /// Once a frame, after [`removed`](Self::removed): the entities whose displayed pose has changed, with their poses.
    /// Each entity that was [inserted](Self::insert) since the last call is among them, even if its body rests.
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

    /// After a saved state was restored: entities without a body and bodies without an entity, for the game to despawn
    /// and spawn, or to check that there are none.
    ///
    /// Call it right after the restore, because the next new keys may be equal to those of old entities: after an
    /// assignment, and after a [rollback](crate::Simulation::roll_back) before the first step that is resimulated. An
    /// entity that it returns has no body from then on: to [release](Self::release) it removes nothing. The next
    /// [`moved`](Self::moved) then returns every body's pose. For a runner, ask it for a clone of its physics.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Owners, Physics};
    /// let (mut physics, mut owners) = (Physics::new(), Owners::default());
    /// let door = physics.insert_body(RigidBodyBuilder::fixed());
    /// owners.insert(door, "door");
    /// let saved = physics.clone();
    /// owners.insert(physics.insert_body(RigidBodyBuilder::dynamic()), "crate");
    /// owners.release(&mut physics, door, "door");
    ///
    /// physics = saved;
    /// let unmatched = owners.unmatched(&physics);
    /// assert_eq!((unmatched.entities, unmatched.bodies), (vec!["crate"], vec![door]));
    /// ```
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

/// # For a host that finds out by itself
impl<E: Copy + PartialEq> Owners<E> {
    /// Gives whether the body was recorded as this entity's.
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

    /// Forgets all bodies of which that holds, and gives them.
    pub(crate) fn take_if(
        &mut self,
        mut holds: impl FnMut(BodyKey, E) -> bool,
    ) -> Vec<(BodyKey, E)> {
        let owned = self.by_index.iter_mut();
        let taken = owned.filter_map(|place| place.take_if(|(key, entity)| holds(*key, *entity)));
        taken.collect()
    }

    /// Gives the frame of the last sync.
    pub(crate) fn begin_sync(&mut self, host: &impl Picture) -> Option<u64> {
        let since = self.since(host);
        self.synced = host.screen().map(|it| (host.run(), it.number()));
        since
    }

    /// The frame of the last sync, if it was one of these bodies.
    fn since(&self, host: &impl Picture) -> Option<u64> {
        let (run, frame) = self.synced?;
        (run == host.run()).then_some(frame)
    }

    fn look_at_all_next(&mut self) {
        self.synced = None;
        self.new.clear();
    }

    /// The displayed poses of bodies that were [inserted](Self::insert) since the last call, each once. Those that are not
    /// displayed yet come with a later call.
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

    /// Forgets the bodies that were removed since a frame, and gives them.
    pub(crate) fn take_removed(
        &mut self,
        host: &impl Picture,
        since: Option<u64>,
    ) -> Vec<(BodyKey, E)> {
        match since.and_then(|frame| host.screen()?.removed_since(frame)) {
            Some(keys) => {
                // Some that the last frame has removed live again, if steps were resimulated since.
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

    /// Removes a body that no entity has any more.
    pub(crate) fn remove(&mut self, bodies: &mut impl Bodies, key: BodyKey) {
        if !bodies.remove(key) {
            self.dying.push(key);
        }
    }

    /// Removes bodies, and those that were released before, unless another entity was given them.
    pub(crate) fn remove_all(&mut self, bodies: &mut impl Bodies, keys: Vec<BodyKey>) {
        let mut dying = std::mem::take(&mut self.dying);
        dying.extend(keys);
        dying.retain(|key| self.entity(*key).is_none());
        if !dying.is_empty() {
            self.dying = bodies.remove_all(dying);
        }
    }

    /// The bodies whose pose may differ from that in a frame; with `None`, all bodies.
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

        /// An ECS as two plain maps: after a sync each entity has its body's pose, whatever was missed.
        #[test]
        fn entities_and_bodies_stay_together(actions in prop::collection::vec(action(), 1..200)) {
            let mut simulation = Simulation::default();
            let mut owners = Owners::default();
            let mut entities = BTreeMap::<u32, (BodyKey, Option<Pose>)>::new();
            let mut next = 0;
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
                        owners.insert(key, next);
                        entities.insert(next, (key, None));
                        next += 1;
                    }
                    Action::Release(i) => if let Some((entity, key)) = pick(i) {
                        entities.remove(&entity);
                        owners.release(&mut simulation.physics, key, entity);
                        prop_assert!(simulation.physics.body(key).is_none());
                    }
                    Action::Despawn(i) => if let Some((entity, key)) = pick(i) {
                        entities.remove(&entity);
                        let body_of = |entity| entities.get(&entity).map(|(key, _)| *key);
                        owners.retain(&mut simulation, body_of);
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
                    Action::Teleport(i) => if let Some((entity, key)) = pick(i) {
                        let there = translation(entity as f32, i as f32, 0.0);
                        let _ = simulation.physics.teleport(key, there);
                    }
                    Action::InsertAlone => {
                        alone.push(simulation.physics.insert_body(RigidBodyBuilder::fixed()));
                    }
                    Action::Adopt => if let Some(key) = alone.pop() {
                        owners.insert(key, next);
                        entities.insert(next, (key, None));
                        next += 1;
                    }
                    Action::Save => saved = simulation.physics.clone(),
                    Action::Restore => {
                        simulation.physics = saved.clone();
                        let unmatched = owners.unmatched(&simulation.physics);
                        for entity in unmatched.entities {
                            entities.remove(&entity);
                        }
                        alone = unmatched.bodies;
                    }
                    Action::Frame(ms) => {
                        simulation.advance(Duration::from_millis(ms), |_, _| ());
                        has_missed_frames = true;
                    }
                    Action::Sync => {
                        simulation.advance(Duration::ZERO, |_, _| ());
                        for entity in owners.removed(&mut simulation) {
                            let removed = entities.remove(&entity);
                            prop_assert!(removed.is_some_and(|(key, _)| simulation.physics.body(key).is_none()));
                        }
                        let has_missed_frames = std::mem::take(&mut has_missed_frames);
                        let mut listed = BTreeSet::new();
                        for (entity, pose) in owners.moved(&simulation) {
                            entities.get_mut(&entity).unwrap().1 = Some(pose);
                            let is_first = listed.insert(entity);
                            prop_assert!(is_first || has_missed_frames, "listed twice");
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
