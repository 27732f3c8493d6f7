//! Components for a hecs world whose entities own bodies.
//!
//! [`Entities`] spawns entities that own a [`Body`], and writes the poses to draw into their [`RenderPose`]s.
//!
//! ```
//! use evenstep::Simulation;
//! use evenstep::ecs::hecs::{Entities, RenderPose};
//! use evenstep::rapier::prelude::*;
//! use std::time::Duration;
//!
//! let (mut world, mut simulation) = (hecs::World::new(), Simulation::default());
//! let mut entities = Entities::default();
//! let (body, ball) = (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
//! let (entity, _key) = entities.spawn(&mut world, &mut simulation.physics, body, ball, ("crate",));
//! for _ in 0..60 {
//!     simulation.advance(Duration::from_millis(16), |_, _| ());
//!     entities.sync(&mut world, &mut simulation);
//! }
//! assert!(world.get::<&RenderPose>(entity)?.0.translation.y < -4.0);
//! entities.despawn(&mut world, &mut simulation, entity)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Case by case
//! Once per frame, [`sync`](Entities::sync) detects changes that you make without [`Entities`]:
//!
//! | change | effect of the first sync after the next frame |
//! | --- | --- |
//! | The entity is despawned, or the [`Body`] dropped, on any thread | The body and a remaining [`RenderPose`] are removed. |
//! | The [`Body`] is removed from the entity and kept | The [`RenderPose`] is removed. The body is simulated and not displayed. |
//! | It is inserted again, into any entity | That entity has the body, and gets a [`RenderPose`]. Its previous body is removed. |
//! | It is moved to another entity with the [`RenderPose`] | The same, once the body moves. |
//! | It is inserted into another world | It is not displayed there: [`detach`](Entities::detach) it here and [`attach`](Entities::attach) it there. |
//! | Only the [`RenderPose`] is removed | It is inserted again. |
//! | The body is removed, by its key or through Rapier | The entity loses both components and stays. |
//! | The entity is taken with `World::take` and spawned again | It is found when its body moves or is replaced. |
//! | Two [`Body`]s are swapped between two syncs, or an entity whose [`Body`] you have removed and kept gets another one | **This is not detected**. Call [`detach`](Entities::detach) or [`attach`](Entities::attach) instead of moving a [`Body`]. |
//!
//! The step before which `sync` removes a body depends on the frame rate. For the same run at every frame rate, and
//! with an overlap, call [`despawn`](Entities::despawn) in a hook, or [`remove_dropped`](Entities::remove_dropped) at
//! its end.
//!
//! # Physics on a thread
//! With a [`Runner`], call `runner.frame()` instead of [`Simulation::advance`], and `try_spawn` instead of
//! [`spawn`](Entities::spawn). Load [levels](crate::threads::Runner#levels) while the runner is stopped.
//!
//! # After a restore
//! After you restore a saved state, call [`Entities::unmatched`]. Otherwise, the next `sync` removes both components
//! from entities whose body is missing. For a rollback, use a [`RollbackWorld`].
//!
//! # Several worlds and simulations
//! Create one [`Entities`] for each pair of a world and a simulation. Several simulations may share a world, and
//! several worlds a simulation and a body. In a world with several [`Entities`], a [`Body`] that you move or a
//! [`RenderPose`] that you remove may be found only when the body moves, and not if it replaces one of the others.
//!
//! If a new [`Simulation`] or [`Physics`] replaces an old one, clear the world and create a new [`Entities`], because
//! keys may be equal.
//!
//! [`Simulation`]: crate::Simulation
//! [`Simulation::advance`]: crate::Simulation::advance
//! [`Physics`]: crate::Physics
//! [`Runner`]: crate::threads::Runner

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
