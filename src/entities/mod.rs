//! Bodies as entities of a [`hecs::World`].
//!
//! [`Entities`] keeps a hecs world and a [`Simulation`], or a `Runner`, in sync: an entity with a [`Body`] has its
//! body, a body that was spawned here has its entity, and after each frame the entities' [`RenderPose`]s
//! are the poses to draw.
//!
//! ```
//! use evenstep::entities::{Entities, RenderPose};
//! use evenstep::rapier::prelude::*;
//! use evenstep::{Rate, Simulation};
//! use std::time::Duration;
//!
//! struct Crate;
//!
//! let mut world = hecs::World::new();
//! let mut simulation = Simulation::new(Rate::hz(60)?);
//! let mut entities = Entities::default();
//! let (entity, _) = entities.spawn(
//!     &mut world,
//!     &mut simulation.physics,
//!     RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0),
//!     ColliderBuilder::ball(0.5),
//!     (Crate,),
//! );
//! for _ in 0..60 {
//!     simulation.advance(Duration::from_millis(16), |_, _| ());
//!     entities.sync(&mut world, &mut simulation);
//! }
//! assert!(world.get::<&RenderPose>(entity)?.0.translation.y < 6.0);
//! entities.despawn(&mut world, &mut simulation, entity)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Case by case
//! A [`Body`] owns its body, like a `Box` its contents. Changes that the game makes without [`Entities`] are noticed
//! in the next [`sync`](Entities::sync), once a frame, and the first line also in
//! [`remove_dropped`](Entities::remove_dropped), in each step:
//!
//! | what happens | what the sync does |
//! | --- | --- |
//! | The entity is despawned through hecs, the world cleared, the [`Body`] dropped, on any thread | The body is removed; several bodies in the order of their keys. |
//! | The [`Body`] is removed from the entity and kept | The [`RenderPose`] is removed. The body is simulated and not shown. |
//! | It is inserted again, into the same entity or another one | That entity has the body, and gets a [`RenderPose`]. A body that it had before is removed. |
//! | It is inserted into another world | It is not shown there: [`detach`](Entities::detach) it here and [`attach`](Entities::attach) it there. |
//! | It is passed to `mem::forget` | The same as if it were kept: the body is never removed. |
//! | Only the [`RenderPose`] is removed | It is inserted again. |
//! | The body is removed, by its key or through Rapier | The entity loses both components and stays. |
//! | Frames without a sync | The next sync covers what moved and was removed in them. |
//! | `World::take`, and the entity is spawned again in the same world | It is found when its body moves, or when it gets another one. |
//! | Two [`Body`]s change places between two syncs, on two entities or one of them outside of the world | **This is not noticed**: to find it, a sync would have to read the components of all that move, and take a quarter longer. Use [`attach`](Entities::attach). |
//!
//! The step before which `sync` removes a body depends on the frame rate. For runs that are the same at every frame rate,
//! call [`despawn`](Entities::despawn) in the hook of a step, or [`remove_dropped`](Entities::remove_dropped) at the end
//! of the hook:
//!
//! ```
//! # use evenstep::entities::Entities;
//! # use evenstep::rapier::prelude::*;
//! # use evenstep::Simulation;
//! # use std::time::Duration;
//! # let (mut world, mut entities) = (hecs::World::new(), Entities::default());
//! # let mut simulation = Simulation::default();
//! struct DiesAt(u64);
//! let (body, collider) = (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
//! entities.spawn(&mut world, &mut simulation.physics, body, collider, (DiesAt(2),));
//! let frame = simulation.advance(Duration::from_millis(70), |physics, step| {
//!     let all = world.query_mut::<(hecs::Entity, &DiesAt)>().into_iter();
//!     let dead: Vec<_> = all.filter(|(_, it)| it.0 == step.tick).map(|(entity, _)| entity).collect();
//!     for entity in dead {
//!         world.despawn(entity).unwrap(); // through hecs
//!     }
//!     entities.remove_dropped(&mut world, physics);
//!     assert_eq!(physics.bodies().count(), usize::from(step.tick < 2));
//! });
//! assert_eq!(frame.steps, 4);
//! entities.sync(&mut world, &mut simulation);
//! ```
//!
//! # Physics on a thread
//! A [`Runner`] takes the place of the [`Simulation`]: call `runner.frame()` where
//! [`Simulation::advance`] was, then the same [`sync`](Entities::sync), once a frame. [`despawn`](Entities::despawn) and
//! [`attach`](Entities::attach) take it too; for [`spawn`](Entities::spawn) there is `try_spawn`, as the queue of calls
//! may be full. Entities whose bodies existed before the thread was started are kept: spawn a level of thousands into
//! the [`Simulation`] that `Runner::stop` returns, and start a new `Runner` with it.
//!
//! The [`RenderPose`] is what the runner's view shows; before that, where the body was inserted. All bodies
//! that have lost their entity are removed by one call, however many they are, which the sync sends. If the queue
//! is full, the next sync sends it; until then they are simulated, but not shown. After frames
//! without a sync, every entity with a body is checked.
//!
//! # After a restore
//! A [`Physics`] that was restored from a saved state may have bodies whose entity was despawned since, and lack
//! those of entities that were spawned since: [`Entities::unmatched`] returns both. Without that call the next `sync`
//! takes both components off the entities whose body is not in the restored value. For a `Runner`, ask it for a clone of
//! its physics.
//!
//! For a rollback, make the world a [`RollbackWorld`], which goes back with the bodies. In the steps that are
//! resimulated [`spawn`](Entities::spawn), [`despawn`](Entities::despawn) and
//! [`remove_dropped`](Entities::remove_dropped) work as in all others.
//!
//! # Several worlds and simulations
//! There is one [`Entities`] for each pair of a world and a simulation. It changes only its own [`Body`]s, so
//! several simulations may share a world, though their keys may be equal. Several worlds may share a simulation, and
//! show the same body: once its entity is despawned in one of them, the others lose it in the next frame. Worlds
//! that are synced alternately on one thread cost a few small allocations in each sync.
//!
//! If a new [`Simulation`] or [`Physics`] replaces an old one, its keys may be equal to those of other bodies. Clear the
//! world and make a new [`Entities`] with it: components that are left then belong to none, and removing them removes
//! nothing. To keep such an entity, [`attach`](Entities::attach) it.
//!
//! # Without this module
//! Nothing here needs more than the public API: store a [`BodyKey`] in a component, write
//! [`Simulation::moved`] to entities by a table of your own, and clear the entries of
//! [`Simulation::removed`]. The example `custom_ecs` does so for an ECS of fifty lines; in hecs:
//!
//! ```
//! use evenstep::rapier::{math::Pose, prelude::*};
//! use evenstep::{Rate, Simulation};
//! use std::{collections::BTreeMap, time::Duration};
//!
//! # let mut world = hecs::World::new();
//! # let mut simulation = Simulation::new(Rate::hz(60)?);
//! let body = RigidBodyBuilder::dynamic();
//! let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
//! let entity = world.spawn((key, Pose::IDENTITY));
//! let mut entity_of = BTreeMap::new();
//! entity_of.insert(key, entity);
//!
//! simulation.advance(Duration::from_millis(40), |_, _| ());
//! for key in simulation.removed() {
//!     entity_of.remove(key);
//! }
//! for (key, pose) in simulation.moved() {
//!     if let Some(entity) = entity_of.get(key) {
//!         *world.get::<&mut Pose>(*entity)? = *pose;
//!     }
//! }
//! # assert_eq!(*world.get::<&Pose>(entity)?, simulation.pose(key).unwrap());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Simulation`]: crate::Simulation
//! [`Simulation::advance`]: crate::Simulation::advance
//! [`Simulation::moved`]: crate::Simulation::moved
//! [`Simulation::removed`]: crate::Simulation::removed

// `Body`, `RenderPose`, and how a drop is noticed.
mod components;
// What is done once a frame, and in each step.
mod sync;
// A world that goes back in time with the physics.
mod rollback;

use std::fmt;
use std::sync::Arc;

use hecs::{DynamicBundle, Entity, EntityBuilder, World};

use crate::key::BodyKey;
use crate::owners::{Bodies, Owners, Unmatched};
use crate::physics::Physics;
use crate::simulation::Hooks;
use crate::threads::{Call, Runner, SendError, Spawned};
use rapier::dynamics::RigidBody;
use rapier::geometry::Collider;
use rapier::math::Pose;

pub use components::{Body, RenderPose};
use components::{Coming, Link, Noted, Owner};
pub use rollback::RollbackWorld;

/// Which entity has which body: one for each pair of a hecs world and a [`Simulation`](crate::Simulation).
#[derive(Default)]
pub struct Entities {
    /// What [`Noted`] says.
    owners: Owners<Entity>,
    /// Also says whose components are whose.
    shared: Arc<Owner>,
    /// Kept for its memory.
    builder: EntityBuilder,
}

/// Why an operation on an entity failed. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntityError {
    /// There is no such entity in this world: it was despawned.
    #[error(
        "no entity of this world has the id {0:?}: it was despawned, or belongs to another world"
    )]
    NoSuchEntity(Entity),
    /// There is no body with this key: it was removed, or belongs to another [`Physics`].
    #[error("no body has the key {0:?}: it was removed, or the key belongs to another `Physics`")]
    BodyGone(BodyKey),
}

impl Entities {
    /// Spawns an entity with a body and with the game's own `components`. Until the next [`sync`](Self::sync) its
    /// [`RenderPose`] is where the body was inserted.
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
        self.owners.insert(key, entity);
        (entity, key)
    }

    /// [`spawn`](Self::spawn) for a [`Runner`], whose queue of calls may be full. The body is inserted between two steps.
    /// Until a frame displays it, the [`RenderPose`] is where it is inserted; from the next [`sync`](Self::sync) on the entity
    /// has its [`Body`]. If a panic prevents that, the sync takes the `RenderPose` off ([`Spawned::is_lost`]).
    ///
    /// ```
    /// # use evenstep::entities::{Entities, RenderPose};
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::threads::{Runner, RunnerSettings};
    /// # use evenstep::{Hooks, Simulation};
    /// # struct Game;
    /// # impl Hooks for Game {
    /// #     type Error = std::convert::Infallible;
    /// # }
    /// # let (mut world, mut entities) = (hecs::World::new(), Entities::default());
    /// let mut runner = Runner::new(Simulation::default(), Game, RunnerSettings::default())?;
    /// let (body, collider) = (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let at = body.translation(Vector::Y);
    /// let (entity, spawned) = entities.try_spawn(&mut world, &runner, at, collider, ())?;
    /// assert_eq!(world.get::<&RenderPose>(entity)?.0.translation, Vector::Y);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Runner::spawn`]: the entity is not spawned, and its components are dropped.
    pub fn try_spawn<H>(
        &mut self,
        world: &mut World,
        runner: &Runner<H>,
        body: impl Into<RigidBody>,
        collider: impl Into<Collider>,
        components: impl DynamicBundle,
    ) -> Result<(Entity, Spawned), SendError<Call<H>>>
    where
        H: Hooks + Send + 'static,
        H::Error: Send + 'static,
    {
        let body = body.into();
        let pose = *body.position();
        let spawned = runner.spawn(body, [collider])?;
        self.builder.add_bundle(components);
        let coming = Coming(Link::new(spawned.clone(), &self.shared));
        self.builder.add_bundle((RenderPose(pose), coming));
        Ok((world.spawn(self.builder.build()), spawned))
    }

    /// Despawns an entity and removes its body, if it has one: at once, or the body of a `Runner` in the next
    /// [`sync`](Self::sync).
    ///
    /// # Errors
    /// [`EntityError::NoSuchEntity`]; if it was despawned through hecs, the next [`remove_dropped`](Self::remove_dropped) or
    /// [`sync`](Self::sync) removes its body.
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

    /// Attaches an existing body to an existing entity. A body that the entity had before is removed, and
    /// an entity that had this body before is [detached](Self::detach) from it.
    ///
    /// Until the next [`sync`](Self::sync) the [`RenderPose`] is the pose that is displayed, or with a [`Physics`] the body's
    /// position. From then on it is the displayed one, even if the body rests.
    ///
    /// ```
    /// # use evenstep::entities::Entities;
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Physics;
    /// # let (mut world, mut entities) = (hecs::World::new(), Entities::default());
    /// # let mut physics = Physics::new();
    /// let ball = || (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let (body, collider) = ball();
    /// let (player, old) = entities.spawn(&mut world, &mut physics, body, collider, ());
    /// let (body, collider) = ball();
    /// let new = physics.insert(body, collider);
    /// entities.attach(&mut world, &mut physics, player, new)?;
    /// assert_eq!((entities.entity(new), entities.entity(old)), (Some(player), None));
    /// assert!(physics.body(old).is_none());
    ///
    /// // A detached body is simulated further, without an entity.
    /// assert_eq!(entities.detach(&mut world, player), Some(new));
    /// assert!(physics.body(new).is_some());
    /// # Ok::<(), evenstep::entities::EntityError>(())
    /// ```
    ///
    /// # Errors
    /// [`EntityError::NoSuchEntity`], [`EntityError::BodyGone`].
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
        self.owners.insert(key, entity);
        Ok(())
    }

    /// Detaches the body from an entity, and leaves it in the simulation: to attach it in another world, or to stop
    /// showing it. Returns its key; `None` if the entity has no body of this [`Entities`], or was despawned.
    pub fn detach(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        let key = self.release(world, entity)?;
        // One by one, as the game may have taken off the others.
        let _ = world.remove_one::<Body>(entity);
        let _ = world.remove_one::<RenderPose>(entity);
        let _ = world.remove_one::<Noted>(entity);
        Some(key)
    }

    /// The entity of a body: for a collision event or, by
    /// [`key_of_collider`](Physics::key_of_collider), for a ray cast.
    ///
    /// Changes made through hecs count from the next [`remove_dropped`](Self::remove_dropped) or [`sync`](Self::sync) on.
    #[must_use]
    pub fn entity(&self, key: BodyKey) -> Option<Entity> {
        self.owners.entity(key)
    }

    /// After a saved state was restored: entities without a body and bodies without an entity, for the game to despawn
    /// and spawn, or to check that there are none.
    ///
    /// Call it right after the restore, because the next new keys may be equal to those of old entities. An entity that
    /// it returns loses its components [`Body`] and [`RenderPose`] at once, so nothing that is done with it later removes a
    /// body. A [`Body`] that is held outside of the world is not found: drop it before. The next [`sync`](Self::sync)
    /// writes every pose. [`Owners::unmatched`] has an example.
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
            ..self.owners.unmatched(physics)
        }
    }

    /// Removes a body that an entity has lost, unless another entity has it: one with the same key, in steps that were
    /// made again.
    fn remove(&mut self, world: &World, bodies: &mut impl Bodies, key: BodyKey) {
        if self.owner(world, key).is_none() {
            self.owners.remove(bodies, key);
        }
    }

    /// For a copy of the world.
    fn copy(&self) -> Self {
        Self {
            owners: self.owners.clone(),
            shared: Arc::new(self.shared.copy()),
            builder: EntityBuilder::default(),
        }
    }

    fn components(&self, key: BodyKey, pose: Pose) -> (Body, RenderPose, Noted) {
        let link = Link::new(key, &self.shared);
        (Body(link.clone()), RenderPose(pose), Noted(link))
    }

    /// Makes an entity's body outlive its component.
    fn release(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        self.release_noted(world, entity);
        let mut body = world.get::<&mut Body>(entity).ok()?;
        let key = body.0.of(&self.shared)?;
        body.0.release();
        self.owners.forget(key, entity);
        Some(key)
    }

    /// Forgets what was noted of an entity.
    fn release_noted(&mut self, world: &mut World, entity: Entity) -> Option<BodyKey> {
        let mut noted = world.get::<&mut Noted>(entity).ok()?;
        let key = noted.0.of(&self.shared)?;
        noted.0.release();
        self.owners.forget(key, entity);
        Some(key)
    }

    /// The body that an entity has, if it is one of ours.
    fn key_on(&self, world: &World, entity: Entity) -> Option<BodyKey> {
        world.get::<&Body>(entity).ok()?.0.of(&self.shared)
    }

    /// The entity that was noted to have a body, if it does.
    fn owner(&self, world: &World, key: BodyKey) -> Option<Entity> {
        let entity = self.entity(key)?;
        (self.key_on(world, entity) == Some(key)).then_some(entity)
    }
}

impl fmt::Debug for Entities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entities")
            .field("owners", &self.owners)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Entities` goes to a thread with its world.
    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Entities>();
    };
}
