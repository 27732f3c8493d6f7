//! The bodies of a hecs world.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use hecs::{DynamicBundle, Entity, EntityBuilder, Query, Without, World};
use rapier::dynamics::{RigidBody, RigidBodyBuilder};
use rapier::geometry::ColliderBuilder;
use rapier::math::Pose;

use crate::ecs::{Bodies, EntityMap, Picture, Spawned, StateNumber, Unmatched};
use crate::key::BodyKey;
use crate::lock::lock;
use crate::physics::{Colliders, Physics};

use super::components::{Body, Dropped, RenderPose, Waiting};

/// A record of which entity of a hecs world has which body of a [`Simulation`](crate::Simulation).
#[derive(Default)]
pub struct Entities {
    pub(super) map: EntityMap<Entity>,
    /// The bodies whose [`Body`] was dropped.
    pub(super) dropped: Arc<Dropped>,
    /// The bodies that a hook has to remove, because only hooks have them. If a view is later than this state and has no
    /// such body, the body was removed.
    pub(super) to_remove: BTreeMap<BodyKey, StateNumber>,
    /// Bodies that were sent to a thread. The entities that wait for them have a [`Waiting`].
    pub(super) sent: Vec<Spawned>,
    /// The keys of each [`Body`] that was removed from its entity and kept, and whether the body was removed since.
    /// Syncs look for it on other entities.
    pub(super) components_to_find: BTreeMap<BodyKey, bool>,
    /// How many components were not on recorded entities when all were checked.
    pub(super) unrecorded_components: usize,
    /// Kept to reuse its memory.
    builder: EntityBuilder,
}

/// Why an operation on an entity failed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntityError {
    /// The entity does not exist in this world: it was despawned, or belongs to another world.
    #[error(
        "no entity of this world has the id {0:?}: it was despawned, or belongs to another world"
    )]
    NoSuchEntity(Entity),
    /// No body has this key: it was removed, or the key belongs to another [`Physics`].
    #[error("no body has the key {0:?}: it was removed, or the key belongs to another `Physics`")]
    BodyGone(BodyKey),
}

impl Entities {
    /// Spawns an entity with a body and your `components`. Until a [`sync`](Self::sync) finds another pose, its
    /// [`RenderPose`] is the pose at which the body was inserted, or the identity if that is not finite.
    #[expect(clippy::missing_panics_doc, reason = "the body was just inserted")]
    pub fn spawn(
        &mut self,
        world: &mut World,
        physics: &mut Physics,
        body: impl Into<RigidBody>,
        colliders: impl Colliders,
        components: impl DynamicBundle,
    ) -> (Entity, BodyKey) {
        let key = physics.insert(body, colliders);
        let pose = physics.finite_position(key).expect("just inserted");
        self.builder.add_bundle(components);
        (self.builder).add_bundle((Body::new(key, &self.dropped), RenderPose(pose)));
        let entity = world.spawn(self.builder.build());
        // A `Physics` does not know the number of the state before the insertion.
        self.record(world, key, entity, None);
        (entity, key)
    }

    /// Spawns an entity for a body that was sent to a thread, at the pose at which it will be displayed. A later sync
    /// gives the entity its [`Body`].
    pub(crate) fn spawn_sent(
        &mut self,
        world: &mut World,
        pose: Pose,
        spawned: &Spawned,
        components: impl DynamicBundle,
    ) -> Entity {
        self.builder.add_bundle(components);
        (self.builder).add_bundle((RenderPose(pose), Waiting(spawned.clone())));
        self.sent.push(spawned.clone());
        world.spawn(self.builder.build())
    }

    /// Despawns an entity and removes its body, if it has one: at once or, with a `Runner`, between two steps.
    ///
    /// # Errors
    /// [`EntityError::NoSuchEntity`]
    pub fn despawn(
        &mut self,
        world: &mut World,
        bodies: &mut impl Bodies,
        entity: Entity,
    ) -> Result<(), EntityError> {
        // A released component does not list its body for the next sync when it is dropped. The body is removed below.
        let key = self.release(world, entity);
        (world.despawn(entity)).map_err(|_| EntityError::NoSuchEntity(entity))?;
        if let Some(key) = key {
            self.remove(world, bodies, key);
        }
        Ok(())
    }

    /// Attaches a body to an entity. The entity's previous body is removed, and the body's previous entity is
    /// [detached](Self::detach).
    ///
    /// # Errors
    /// [`EntityError::NoSuchEntity`] or [`EntityError::BodyGone`], also for a body that a `Runner` has not displayed
    /// yet and that no entity has.
    #[expect(clippy::missing_panics_doc, reason = "the entity is known to be there")]
    pub fn attach(
        &mut self,
        world: &mut World,
        bodies: &mut impl Bodies,
        entity: Entity,
        key: BodyKey,
    ) -> Result<(), EntityError> {
        // An entity may wait for this body, which was sent to a thread. It gets the body now, to lose it below.
        self.attach_sent(world);
        let picture = bodies.bodies_for_entities();
        let pose = self.pose(world, picture, key);
        let pose = pose.ok_or(EntityError::BodyGone(key))?;
        if !world.contains(entity) {
            return Err(EntityError::NoSuchEntity(entity));
        }
        // The map forgets this when the body is detached below. Later syncs need it to tell a view that is too old for
        // the body from one in which it was removed.
        let inserted_after = self.map.inserted_after(key, picture);
        if let Some(owner) = self.owner(world, key).filter(|owner| *owner != entity) {
            self.detach(world, owner);
        }
        if let Some(before) = self.release(world, entity).filter(|before| *before != key) {
            self.remove(world, bodies, before);
        }
        // An entity waits no longer. The body that it has waited for will be removed.
        let _ = world.remove_one::<Waiting>(entity);
        let components = (Body::new(key, &self.dropped), RenderPose(pose));
        world.insert(entity, components).expect("it is there");
        // The body has a new component, so no sync has to look for the earlier one.
        self.components_to_find.remove(&key);
        self.record(world, key, entity, inserted_after);
        Ok(())
    }

    /// Detaches the body from an entity and leaves it in the simulation. Returns its key, or `None` if the entity has
    /// no body of this [`Entities`] or was despawned.
    pub fn detach(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        let key = self.release(world, entity)?;
        // Components are removed one by one, because the game may have removed some of them.
        let _ = world.remove_one::<Body>(entity);
        let _ = world.remove_one::<RenderPose>(entity);
        Some(key)
    }

    /// Returns the entity of a body. A [`Body`] that is dropped through hecs takes effect in the next
    /// [`remove_dropped`](Self::remove_dropped) or [`sync`](Self::sync), and one that is moved or kept in the next
    /// `sync`.
    #[must_use]
    pub fn entity(&self, key: BodyKey) -> Option<Entity> {
        self.map.entity(key)
    }

    /// Returns entities without a body and bodies without an entity, like [`EntityMap::unmatched`]. The returned
    /// entities lose their [`Body`] and [`RenderPose`] at once. Drop any [`Body`] that is held outside of the world
    /// before the call.
    pub fn unmatched(&mut self, world: &mut World, physics: &Physics) -> Unmatched<Entity> {
        let never_inserted = self.attach_sent(world);
        let is_gone = |key| physics.handle(key).is_none();
        // Bodies that do not exist need no removal. A view may still display a removal of one that exists, which a
        // rollback has undone, so its state is not known any more.
        let to_remove = std::mem::take(&mut self.to_remove).into_keys();
        lock(&self.dropped).extend(to_remove);
        lock(&self.dropped).retain(|key| !is_gone(*key));
        let bodies = world.query_mut::<(Entity, &Body)>().into_iter();
        let ours = bodies.filter_map(|(entity, body)| Some((body.key_of(&self.dropped)?, entity)));
        let mut gone: Vec<_> = ours.filter(|(key, _)| is_gone(*key)).collect();
        gone.sort_unstable();
        for (_, entity) in &gone {
            self.detach(world, *entity);
        }
        // The bodies of components that were moved by hand have an entity, too.
        self.reconcile_all(world, physics.bodies_for_entities());
        let entities = gone.into_iter().map(|(_, entity)| entity);
        // The map lists only bodies, because all remaining records are of entities with a body.
        Unmatched {
            entities: entities.chain(never_inserted).collect(),
            ..self.map.unmatched(physics)
        }
    }

    /// Removes a body whose component was released, unless another entity has a component with the same key, as in
    /// resimulated steps.
    fn remove(&mut self, world: &World, bodies: &mut impl Bodies, key: BodyKey) {
        if self.owner(world, key).is_none() {
            bodies.remove_for_entities(key);
        }
    }

    /// Returns a copy with a separate list of dropped bodies, for a copy of the world.
    pub(super) fn copy(&self) -> Self {
        Self {
            map: self.map.clone(),
            dropped: Arc::new(Mutex::new(lock(&self.dropped).clone())),
            to_remove: self.to_remove.clone(),
            sent: self.sent.clone(),
            components_to_find: self.components_to_find.clone(),
            unrecorded_components: self.unrecorded_components,
            builder: EntityBuilder::default(),
        }
    }

    /// Records the new [`Body`] of an entity. Every state later than `inserted_after`, if that is known, has the body.
    /// If the record replaces one whose entity has lost its [`Body`], syncs look for that component on other entities.
    pub(super) fn record(
        &mut self,
        world: &World,
        key: BodyKey,
        entity: Entity,
        inserted_after: Option<StateNumber>,
    ) {
        if let Some((replaced, owner)) = self.map.insert_after(key, entity, inserted_after)
            && self.key_on(world, owner) != Some(replaced)
        {
            // If another body has the slot of the replaced one, the replaced one was removed.
            let is_removed = replaced != key;
            self.components_to_find.insert(replaced, is_removed);
        }
    }

    /// Lets a body stay in the simulation when the entity's [`Body`] is dropped, and forgets the record. Returns the
    /// key of the body, or `None` if the entity has no body.
    fn release(&mut self, world: &World, entity: Entity) -> Option<BodyKey> {
        let key = self.key_on(world, entity)?;
        // If the component was moved here through hecs, the record still has the earlier entity. `insert` lists that
        // entity as replaced, so that the next sync removes its `RenderPose`.
        if self.is_record_stale(world, key) {
            self.map.insert(key, entity);
        }
        world.get::<&mut Body>(entity).ok()?.release();
        self.map.forget(key, entity);
        // The component was found, so no sync has to look for it.
        self.components_to_find.remove(&key);
        Some(key)
    }

    /// Returns the key of the body that an entity has, if it is one of these `Entities`.
    pub(super) fn key_on(&self, world: &World, entity: Entity) -> Option<BodyKey> {
        world.get::<&Body>(entity).ok()?.key_of(&self.dropped)
    }

    /// Returns where to draw a body. A body that is not displayed yet has the pose at which it was inserted: the
    /// [`RenderPose`] of its entity.
    pub(super) fn pose(&self, world: &World, picture: Picture<'_>, key: BodyKey) -> Option<Pose> {
        picture.pose(key).or_else(|| {
            let is_removed = self.map.is_removed(key, picture);
            let entity = self.entity(key).filter(|_| !is_removed)?;
            Some(world.get::<&RenderPose>(entity).ok()?.0)
        })
    }

    /// Returns the entity that is recorded for a body, if it still has the body.
    pub(super) fn owner(&self, world: &World, key: BodyKey) -> Option<Entity> {
        let entity = self.entity(key)?;
        (self.key_on(world, entity) == Some(key)).then_some(entity)
    }

    /// Returns whether the entity that is recorded for a body has lost it.
    pub(super) fn is_record_stale(&self, world: &World, key: BodyKey) -> bool {
        self.entity(key).is_some() && self.owner(world, key).is_none()
    }
}

impl fmt::Debug for Entities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities")
            .field("map", &self.map)
            .finish_non_exhaustive()
    }
}

/// # Components that describe bodies
impl Entities {
    /// Inserts and returns a body for each entity that matches `Q` and has no [`Body`], unless one was sent to a
    /// thread.
    ///
    /// `describe` returns a value that orders the bodies, the body and its colliders, or `None` if the entity should
    /// not have a body. If it panics, nothing was inserted.
    ///
    /// ```
    /// # use evenstep::Physics;
    /// # use evenstep::ecs::hecs::Entities;
    /// # use evenstep::rapier::prelude::*;
    /// struct Order(u64);
    /// struct Crate { size: f32 }
    ///
    /// # let (mut world, mut entities) = (hecs::World::new(), Entities::default());
    /// # let mut physics = Physics::new();
    /// let [second, first] = [2, 1].map(|order| world.spawn((Order(order), Crate { size: 1.0 })));
    /// let describe = |_, (order, it): (&Order, &Crate)| {
    ///     let collider = ColliderBuilder::ball(it.size / 2.0);
    ///     Some((order.0, RigidBodyBuilder::dynamic(), vec![collider]))
    /// };
    /// let new = entities.insert_missing::<(&Order, &Crate), _>(&mut world, &mut physics, describe);
    /// assert!(new.iter().map(|(entity, _)| *entity).eq([first, second]));
    /// ```
    ///
    /// # Order
    /// Rapier's results depend on the order of insertions, and the order of a query may depend on the frame rate. So
    /// number the entities in the step that spawns them.
    ///
    /// # When to call it
    /// Call it in each step after your rules have spawned entities, and before each frame if entities are spawned
    /// between frames. An entity whose body was removed by its key gets another one after the next
    /// [`sync`](Self::sync), or at once if you [`detach`](Self::detach) the body first.
    #[expect(clippy::missing_panics_doc, reason = "entities and bodies exist")]
    pub fn insert_missing<Q: Query, K: Ord>(
        &mut self,
        world: &mut World,
        physics: &mut Physics,
        mut describe: impl FnMut(
            Entity,
            Q::Item<'_>,
        ) -> Option<(K, RigidBodyBuilder, Vec<ColliderBuilder>)>,
    ) -> Vec<(Entity, BodyKey)> {
        self.attach_sent(world);
        let missing = world.query_mut::<Without<Without<(Entity, Q), &Body>, &Waiting>>();
        let missing = missing.into_iter();
        let described = missing.filter_map(|(entity, item)| {
            let (order, body, colliders) = describe(entity, item)?;
            Some(((order, entity), body, colliders))
        });
        let mut described: Vec<_> = described.collect();
        described.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
        let insert = |((_, entity), body, colliders)| {
            let key = physics.insert(body, colliders);
            self.attach(world, physics, entity, key)
                .expect("both exist");
            (entity, key)
        };
        described.into_iter().map(insert).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Entities>();
    };
}
