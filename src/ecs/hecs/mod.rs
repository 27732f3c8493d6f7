//! Bodies as entities of a [`hecs::World`].
//!
//! [`Entities`] keeps a hecs world and a [`Simulation`] or a `Runner` in sync. An entity with a [`Body`] has its body,
//! a body that was spawned here has its entity, and after each frame the entities' [`RenderPose`]s are the poses to
//! draw.
//!
//! ```
//! use evenstep::ecs::hecs::{Entities, RenderPose};
//! use evenstep::rapier::prelude::*;
//! use evenstep::{Rate, Simulation};
//! use std::time::Duration;
//!
//! struct Crate;
//!
//! let mut world = hecs::World::new();
//! let mut simulation = Simulation::new(Rate::hz(60));
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
//! A [`Body`] owns its body, as a `Box` owns its contents. The next [`sync`](Entities::sync) detects changes that you
//! make without [`Entities`], once per frame. [`remove_dropped`](Entities::remove_dropped) detects changes in the first
//! line, in each step:
//!
//! | change | effect of the next sync |
//! | --- | --- |
//! | The entity is despawned through hecs, the world cleared, the [`Body`] dropped, on any thread | The body is removed. Several bodies are removed in the order of their keys. |
//! | The [`Body`] is removed from the entity and kept | The [`RenderPose`] is removed. The body is simulated and not displayed. |
//! | It is inserted again, into the same entity or another one | That entity has the body, and gets a [`RenderPose`]. A body that it had before is removed. |
//! | It is inserted into another world | It is not displayed there: [`detach`](Entities::detach) it here and [`attach`](Entities::attach) it there. |
//! | It is passed to `mem::forget` | As if it were kept: the body is never removed. |
//! | Only the [`RenderPose`] is removed | It is inserted again. |
//! | The body is removed, by its key or through Rapier | The entity loses both components and stays. |
//! | Some frames have no sync | The next sync covers their movements and removals. |
//! | The entity is taken with `World::take` and spawned again in the same world | It is found when its body moves, or when it gets another one. |
//! | Two [`Body`]s are swapped between two syncs, on two entities or with one outside of the world | **This is not detected**: a sync would have to read the components of all entities that move, and would take a quarter longer. Use [`attach`](Entities::attach). |
//!
//! The step before which `sync` removes a body depends on the frame rate. For runs that are the same at every frame
//! rate, call [`despawn`](Entities::despawn) in the hook of a step, or [`remove_dropped`](Entities::remove_dropped) at
//! the end of the hook:
//!
//! ```
//! # use evenstep::ecs::hecs::Entities;
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
//! With a [`Runner`] in place of the [`Simulation`], call `runner.frame()` in place of [`Simulation::advance`], then
//! the same [`sync`](Entities::sync), once per frame. [`despawn`](Entities::despawn) and [`attach`](Entities::attach)
//! accept a runner too. For [`spawn`](Entities::spawn), use `try_spawn`, because the queue of calls may be full.
//! Entities whose bodies existed before the thread was started are kept. So spawn a level with thousands of entities
//! into the [`Simulation`] that `Runner::stop` returns, and start a new `Runner` with it.
//!
//! The [`RenderPose`] is the pose that the runner's view displays or, before that, the pose at which the body was
//! inserted. The sync removes all bodies that have lost their entity in a single call. If the queue is full, the next
//! sync sends the call. Until then they are simulated, but not displayed.
//!
//! # After a restore
//! A [`Physics`] that was restored from a saved state may have bodies whose entity was despawned since, and lack the
//! bodies of entities that were spawned since. [`Entities::unmatched`] returns both. Without that call, the next `sync`
//! removes both components from the entities whose body is not in the restored value. With a `Runner`, ask it for a
//! clone of its physics.
//!
//! For a rollback, make the world a [`RollbackWorld`], which goes back in time with the bodies. In resimulated steps,
//! [`spawn`](Entities::spawn), [`despawn`](Entities::despawn) and [`remove_dropped`](Entities::remove_dropped) work as
//! in all other steps.
//!
//! # Several worlds and simulations
//! Create one [`Entities`] for each pair of a world and a simulation. It changes only its own [`Body`]s, so several
//! simulations may share a world, although their keys may be equal. Several worlds may share a simulation and display
//! the same body. Once its entity is despawned in one of them, the others lose it in the next frame. If worlds are
//! synced alternately on one thread, each sync costs a few small allocations.
//!
//! If a new [`Simulation`] or [`Physics`] replaces an old one, its keys may be equal to those of other bodies. Clear
//! the world and create a new [`Entities`]. Components that remain from the old one then belong to no body, and
//! removing them has no effect. To keep such an entity, [`attach`](Entities::attach) it.
//!
//! # Without this module
//! You can do all of this with the public API. Store a [`BodyKey`] in a component, write [`Simulation::moved`] to the
//! entities, which you look up in a table, and clear the entries of [`Simulation::removed`]. The example `custom_ecs`
//! does so for an ECS with a generational arena. With hecs:
//!
//! ```
//! use evenstep::rapier::{math::Pose, prelude::*};
//! use evenstep::{Rate, Simulation};
//! use std::{collections::BTreeMap, time::Duration};
//!
//! # let mut world = hecs::World::new();
//! # let mut simulation = Simulation::new(Rate::hz(60));
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
//! [`BodyKey`]: crate::BodyKey
//! [`Physics`]: crate::Physics
//! [`Runner`]: crate::threads::Runner
//! [`Simulation::moved`]: crate::Simulation::moved
//! [`Simulation::removed`]: crate::Simulation::removed

// `Body`, `RenderPose`, and how a drop is detected.
mod components;
// The work of each frame, and of each step.
mod sync;
// A world that goes back in time with the physics.
mod rollback;
// The bodies of a hecs world.
mod entities;

pub use components::{Body, RenderPose};
pub use entities::{Entities, EntityError};
pub use rollback::RollbackWorld;
