//! Bodies as entities of a [`hecs::World`].
//!
//! [`Entities`] keeps a hecs world and a [`Simulation`] in step: an entity with a [`Body`] has its
//! body, a body that was spawned here has its entity, and after each frame the entities' [`RenderPose`]s
//! are those to show.
//!
//! ```
//! use evenstep::hecs::{Entities, RenderPose};
//! use evenstep::rapier3d::prelude::*;
//! use evenstep::{Rate, Simulation};
//! use std::time::Duration;
//!
//! struct Crate;
//!
//! let mut world = hecs::World::new();
//! let mut simulation = Simulation::new(Rate::hz(60)?);
//! let mut entities = Entities::default();
//! let entity = entities.spawn(
//!     &mut world,
//!     &mut simulation,
//!     RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0),
//!     ColliderBuilder::cuboid(0.5, 0.5, 0.5),
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
//! # By hand
//! Nothing here needs more than the public API: store a [`BodyKey`] in a component, write
//! [`Simulation::moved`] to entities by a table of your own, and clear the entries of
//! [`Simulation::removed`]. The example `custom_ecs` does so for an ECS of fifty lines; in hecs:
//!
//! ```
//! use evenstep::rapier3d::{math::Pose, prelude::*};
//! use evenstep::{Rate, Simulation};
//! use std::{collections::BTreeMap, time::Duration};
//!
//! # let mut world = hecs::World::new();
//! # let mut simulation = Simulation::new(Rate::hz(60)?);
//! let body = RigidBodyBuilder::dynamic();
//! let key = simulation.insert(body, ColliderBuilder::ball(0.5));
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

use std::cell::RefCell;

use hecs::{DynamicBundle, Entity, EntityBuilder, NoSuchEntity, PreparedQuery, PreparedView};
use rapier3d::dynamics::RigidBody;
use rapier3d::geometry::Collider;
use rapier3d::math::Pose;
use slotmap::SecondaryMap;

use crate::key::BodyKey;
use crate::simulation::Simulation;

/// Component: the entity has a body.
///
/// Only [`Entities`] makes it. Taking it off an entity removes the body in the next
/// [`Entities::sync`], as despawning the entity does.
#[derive(Debug, PartialEq, Eq)]
pub struct Body(BodyKey);

impl Body {
    /// The key of the body.
    #[must_use]
    pub fn key(&self) -> BodyKey {
        self.0
    }
}

/// Component: where to draw the entity in this frame, in world space.
///
/// Written by [`Entities::sync`] when it changes; what a game writes here is for its renderer
/// only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderPose(pub Pose);

/// Which entity belongs to which body: one for each pair of a hecs world and a [`Simulation`].
#[derive(Default)]
pub struct Entities {
    by_body: SecondaryMap<BodyKey, Entity>,
    /// Whether a new key took the place of a dead one whose entity still has its components.
    replaced: bool,
    /// Kept for its memory.
    builder: EntityBuilder,
}

thread_local! {
    /// Kept for its memory too. It holds pointers while it is in use, so inside of [`Entities`] it
    /// would bind that to one thread.
    static RENDER_POSES: RefCell<PreparedQuery<&'static mut RenderPose>> = RefCell::default();
}

impl Entities {
    /// Spawns an entity with a body, and with `components` of the game's own.
    pub fn spawn(
        &mut self,
        world: &mut hecs::World,
        simulation: &mut Simulation,
        body: impl Into<RigidBody>,
        collider: impl Into<Collider>,
        components: impl DynamicBundle,
    ) -> Entity {
        let key = simulation.insert(body, collider);
        self.builder.add_bundle(components);
        self.builder.add_bundle(components_of(simulation, key));
        let entity = world.spawn(self.builder.build());
        self.link(key, entity);
        entity
    }

    /// Gives a body that is there to an entity that is there. A body that the entity had before is
    /// removed, and so is the [`Body`] of an entity that had this body before.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if there is none; the body is then left as it was.
    ///
    /// # Panics
    /// If the body is gone.
    pub fn attach(
        &mut self,
        world: &mut hecs::World,
        simulation: &mut Simulation,
        entity: Entity,
        key: BodyKey,
    ) -> Result<(), NoSuchEntity> {
        let components = components_of(simulation, key);
        let before = world.get::<&Body>(entity).ok().map(|body| body.key());
        world.insert(entity, components)?;
        if let Some(before) = before.filter(|before| *before != key) {
            self.by_body.remove(before);
            simulation.remove(before);
        }
        let owner = self.link(key, entity);
        if let Some(owner) = owner.filter(|owner| *owner != entity) {
            detach(world, owner);
        }
        Ok(())
    }

    /// Notes whose the body is, and gives the entity that it was of.
    fn link(&mut self, key: BodyKey, entity: Entity) -> Option<Entity> {
        let is_new = !self.by_body.contains_key(key);
        let len = self.by_body.len();
        let owner = self.by_body.insert(key, entity);
        // slotmap drops the entry of an earlier key in the same place without a word.
        self.replaced |= is_new && self.by_body.len() == len;
        owner
    }

    /// Despawns an entity and removes its body, if it has one.
    ///
    /// # Errors
    /// [`NoSuchEntity`] if there is none; if it was despawned without its body, the next
    /// [`sync`](Self::sync) removes that.
    pub fn despawn(
        &mut self,
        world: &mut hecs::World,
        simulation: &mut Simulation,
        entity: Entity,
    ) -> Result<(), NoSuchEntity> {
        let key = world.get::<&Body>(entity).ok().map(|body| body.key());
        world.despawn(entity)?;
        if let Some(key) = key {
            self.by_body.remove(key);
            simulation.remove(key);
        }
        Ok(())
    }

    /// The entity of a body: for a collision event or, by
    /// [`key_of_collider`](Simulation::key_of_collider), for a ray cast.
    #[must_use]
    pub fn entity(&self, key: BodyKey) -> Option<Entity> {
        self.by_body.get(key).copied()
    }

    /// Once a frame, after [`Simulation::advance`]: writes the [`RenderPose`]s that changed, and mends
    /// what came apart behind our back.
    ///
    /// An entity whose body was removed loses its [`Body`] and [`RenderPose`] and lives on. A body whose
    /// entity was despawned, or lost its [`Body`], is removed.
    ///
    /// The cost follows the bodies that moved. Only when an entity was despawned, or a body removed,
    /// otherwise than by [`despawn`](Self::despawn), it may have to go through all entities with a
    /// body.
    pub fn sync(&mut self, world: &mut hecs::World, simulation: &mut Simulation) {
        for key in simulation.removed() {
            if let Some(entity) = self.by_body.remove(*key) {
                detach(world, entity);
            }
        }
        // Before any pose is written: an orphan's entity may have another body by now.
        if std::mem::take(&mut self.replaced) || bodies_in(world) != self.by_body.len() {
            self.remove_orphans(world, simulation);
        }
        if !simulation.moved().is_empty() {
            RENDER_POSES
                .with_borrow_mut(|query| self.write_poses(query.view_mut(world), simulation));
        }
    }

    /// A view finds an entity's component nearly as fast as a loop over the archetypes does, and it is
    /// asked for no entity but those that moved.
    fn write_poses(
        &self,
        mut render_poses: PreparedView<&mut RenderPose>,
        simulation: &Simulation,
    ) {
        for (key, pose) in simulation.moved() {
            if let Some(entity) = self.by_body.get(*key)
                && let Some(render_pose) = render_poses.get_mut(*entity)
            {
                *render_pose = RenderPose(*pose);
            }
        }
    }

    /// Removes the bodies whose entity no longer has them, and the components of entities whose
    /// body is no longer theirs.
    fn remove_orphans(&mut self, world: &mut hecs::World, simulation: &mut Simulation) {
        self.by_body.retain(|key, entity| {
            let has_body = world
                .get::<&Body>(*entity)
                .is_ok_and(|body| body.key() == key);
            if !has_body {
                simulation.remove(key);
            }
            has_body
        });
        let bodies = world.query_mut::<(Entity, &Body)>().into_iter();
        let bereft: Vec<Entity> = bodies
            .filter(|(entity, body)| self.by_body.get(body.key()) != Some(entity))
            .map(|(entity, _)| entity)
            .collect();
        for entity in bereft {
            detach(world, entity);
        }
    }
}

fn components_of(simulation: &Simulation, key: BodyKey) -> (Body, RenderPose) {
    let pose = simulation.pose(key).expect("the body is there");
    (Body(key), RenderPose(pose))
}

fn detach(world: &mut hecs::World, entity: Entity) {
    // An entity that is gone, or has lost its components, is as it should be.
    let _ = world.remove_one::<Body>(entity);
    let _ = world.remove_one::<RenderPose>(entity);
}

/// The number of entities with a body, from the sizes of the archetypes.
fn bodies_in(world: &hecs::World) -> usize {
    let with_body = world
        .archetypes()
        .filter(|archetype| archetype.has::<Body>());
    with_body.map(|archetype| archetype.len() as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It goes to a thread with its world.
    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Entities>();
    };
}
