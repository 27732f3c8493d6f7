//! The bodies of a hecs world.

use std::fmt;
use std::sync::Arc;

use hecs::{DynamicBundle, Entity, EntityBuilder, Or, Query, Without, World};
use rapier::dynamics::{RigidBody, RigidBodyBuilder};
use rapier::geometry::{Collider, ColliderBuilder};
use rapier::math::Pose;

use crate::ecs::{Bodies, EntityMap, Spawned, Unmatched};
use crate::key::BodyKey;
use crate::physics::Physics;

use super::components::{Body, Coming, Link, Noted, Owner, RenderPose};

/// Records which entity of a hecs world has which body, for each pair of a world and a
/// [`Simulation`](crate::Simulation).
#[derive(Default)]
pub struct Entities {
    /// The same as in the [`Noted`] components.
    pub(super) map: EntityMap<Entity>,
    pub(super) shared: Arc<Owner>,
    /// Kept to reuse its memory.
    pub(super) builder: EntityBuilder,
}

/// Reports why an operation on an entity failed. Nothing was changed.
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
    /// Spawns an entity with a body and your `components`. Until the next [`sync`](Self::sync), its [`RenderPose`] is
    /// the pose at which the body was inserted.
    #[expect(clippy::missing_panics_doc, reason = "the body was just inserted")]
    pub fn spawn(
        &mut self,
        world: &mut World,
        physics: &mut Physics,
        body: impl Into<RigidBody>,
        collider: impl Into<Collider>,
        components: impl DynamicBundle,
    ) -> (Entity, BodyKey) {
        let key = physics.insert(body, collider);
        let pose = *physics.body(key).expect("just inserted").position();
        self.builder.add_bundle(components);
        self.builder.add_bundle(self.components(key, pose));
        let entity = world.spawn(self.builder.build());
        self.map.insert(key, entity);
        (entity, key)
    }

    pub(crate) fn spawn_coming(
        &mut self,
        world: &mut World,
        pose: Pose,
        spawned: &Spawned,
        components: impl DynamicBundle,
    ) -> Entity {
        self.builder.add_bundle(components);
        let coming = Coming(Link::new(spawned.clone(), &self.shared));
        self.builder.add_bundle((RenderPose(pose), coming));
        world.spawn(self.builder.build())
    }

    /// Despawns an entity and removes its body, if it has one: at once or, with a `Runner`, between two steps.
    ///
    /// # Errors
    /// [`EntityError::NoSuchEntity`] if the entity does not exist. If it was despawned through hecs, the next
    /// [`remove_dropped`](Self::remove_dropped) or [`sync`](Self::sync) removes its body.
    pub fn despawn(
        &mut self,
        world: &mut World,
        bodies: &mut impl Bodies,
        entity: Entity,
    ) -> Result<(), EntityError> {
        let key = self.release(world, entity);
        (world.despawn(entity)).map_err(|_| EntityError::NoSuchEntity(entity))?;
        if let Some(key) = key {
            self.remove(world, bodies, key);
        }
        Ok(())
    }

    /// Attaches an existing body to an existing entity. A body that the entity had before is removed, and an entity
    /// that had this body before is [detached](Self::detach) from it.
    ///
    /// With a [`Physics`], the [`RenderPose`] is the body's position until the next [`sync`](Self::sync). Otherwise, it
    /// is the displayed pose at once.
    ///
    /// # Errors
    /// [`EntityError::NoSuchEntity`] or [`EntityError::BodyGone`].
    #[expect(clippy::missing_panics_doc, reason = "the entity is known to be there")]
    pub fn attach(
        &mut self,
        world: &mut World,
        bodies: &mut impl Bodies,
        entity: Entity,
        key: BodyKey,
    ) -> Result<(), EntityError> {
        let pose = bodies.pose(key).ok_or(EntityError::BodyGone(key))?;
        if !world.contains(entity) {
            return Err(EntityError::NoSuchEntity(entity));
        }
        if let Some(owner) = self.owner(world, key).filter(|owner| *owner != entity) {
            self.detach(world, owner);
        }
        if let Some(before) = self.release(world, entity).filter(|before| *before != key) {
            self.remove(world, bodies, before);
        }
        let components = self.components(key, pose);
        world.insert(entity, components).expect("it is there");
        self.map.insert(key, entity);
        Ok(())
    }

    /// Detaches the body from an entity and leaves it in the simulation, to attach it in another world or to stop
    /// displaying it. Returns its key, or `None` if the entity has no body of this [`Entities`] or was despawned.
    pub fn detach(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        let key = self.release(world, entity)?;
        // Components are removed one by one, because the game may have removed some of them.
        let _ = world.remove_one::<Body>(entity);
        let _ = world.remove_one::<RenderPose>(entity);
        let _ = world.remove_one::<Noted>(entity);
        Some(key)
    }

    /// Returns the entity of a body. Changes made through hecs take effect in the next
    /// [`remove_dropped`](Self::remove_dropped) or [`sync`](Self::sync).
    #[must_use]
    pub fn entity(&self, key: BodyKey) -> Option<Entity> {
        self.map.entity(key)
    }

    /// Returns entities without a body and bodies without an entity after a saved state was restored, to despawn and
    /// spawn them.
    ///
    /// Call it right after the restore, like [`EntityMap::unmatched`]. The returned entities lose their [`Body`] and
    /// [`RenderPose`] at once. A [`Body`] that is held outside of the world is not found, so drop it first. The next
    /// [`sync`](Self::sync) writes every pose.
    pub fn unmatched(&mut self, world: &mut World, physics: &Physics) -> Unmatched<Entity> {
        let is_gone = |key| physics.handle(key).is_none();
        self.shared.forget_dropped(is_gone);
        let bodies = world.query_mut::<(Entity, &Body)>().into_iter();
        let ours = bodies.filter_map(|(entity, body)| Some((body.0.of(&self.shared)?, entity)));
        let mut gone: Vec<_> = ours.filter(|(key, _)| is_gone(*key)).collect();
        gone.sort_unstable();
        for (_, entity) in &gone {
            self.detach(world, *entity);
        }
        self.look_at_all(world, physics);
        let entities = gone.into_iter().map(|(_, entity)| entity).collect();
        Unmatched {
            entities,
            ..self.map.unmatched(physics)
        }
    }

    /// Removes a body that an entity has lost, unless another entity has the same key, as in resimulated steps.
    fn remove(&mut self, world: &World, bodies: &mut impl Bodies, key: BodyKey) {
        if self.owner(world, key).is_none() {
            bodies.remove(key);
        }
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            map: self.map.clone(),
            shared: Arc::new(self.shared.copy()),
            builder: EntityBuilder::default(),
        }
    }

    fn components(&self, key: BodyKey, pose: Pose) -> (Body, RenderPose, Noted) {
        let link = Link::new(key, &self.shared);
        (Body(link.clone()), RenderPose(pose), Noted(link))
    }

    fn release(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        self.release_noted(world, entity);
        let mut body = world.get::<&mut Body>(entity).ok()?;
        let key = body.0.of(&self.shared)?;
        body.0.release();
        self.map.forget(key, entity);
        Some(key)
    }

    pub(super) fn release_noted(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        let mut noted = world.get::<&mut Noted>(entity).ok()?;
        let key = noted.0.of(&self.shared)?;
        noted.0.release();
        self.map.forget(key, entity);
        Some(key)
    }

    pub(super) fn key_on(&self, world: &World, entity: Entity) -> Option<BodyKey> {
        world.get::<&Body>(entity).ok()?.0.of(&self.shared)
    }

    /// Returns the entity that is recorded for a body, if it still has the body.
    pub(super) fn owner(&self, world: &World, key: BodyKey) -> Option<Entity> {
        let entity = self.entity(key)?;
        (self.key_on(world, entity) == Some(key)).then_some(entity)
    }
}

impl fmt::Debug for Entities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities")
            .field("map", &self.map)
            .finish_non_exhaustive()
    }
}

/// The entities that match `Q` and have no body. One that was sent to a thread counts as a body.
type Missing<Q> = Without<(Entity, Q), Or<&'static Body, &'static Coming>>;

/// # Components that describe bodies
impl Entities {
    /// Inserts a body for each entity that matches `Q` and has no [`Body`]. Returns the new bodies in the order of
    /// their insertion.
    ///
    /// `describe` returns a value that orders the bodies, the body and its colliders, or `None` if the entity should
    /// not have a body.
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
    /// Bodies are inserted in ascending order. Rapier's results depend on it, so it must not depend on the frame rate,
    /// as the order of a query does, and the ids of entities if frames spawn entities too. So number the entities in
    /// the step that spawns them. Entities with the same value come in the order of their ids.
    ///
    /// # When to call it
    /// Call it in each step, after your rules have spawned entities. If entities are spawned between frames, call it
    /// before each frame, too, because a frame may run no step. If you keep states for rollbacks, or record the run,
    /// call it in steps only, because changes between frames are not repeated.
    ///
    /// An entity whose body was removed by its key has a [`Body`] until the next [`sync`](Self::sync), then it gets
    /// another one. If that should not depend on frames, [`detach`](Self::detach) the body before you remove it.
    ///
    /// The cost is proportional to the number of matching entities without a body. If `describe` panics, nothing was
    /// inserted.
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
        let missing = world.query_mut::<Missing<Q>>().into_iter();
        let described = missing.filter_map(|(entity, item)| {
            let (order, body, colliders) = describe(entity, item)?;
            Some(((order, entity), body, colliders))
        });
        let mut described: Vec<_> = described.collect();
        described.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
        let insert = |((_, entity), body, colliders)| {
            let key = insert(physics, body, colliders);
            self.attach(world, physics, entity, key)
                .expect("both exist");
            (entity, key)
        };
        described.into_iter().map(insert).collect()
    }
}

fn insert(
    physics: &mut Physics,
    body: RigidBodyBuilder,
    colliders: Vec<ColliderBuilder>,
) -> BodyKey {
    let key = physics.insert_body(body);
    for collider in colliders {
        (physics.insert_collider(key, collider)).expect("the body was just inserted");
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Entities>();
    };
}
