#![cfg_attr(
    not(dim2),
    doc = "`evenstep` steps a [Rapier](rapier) 3D world at a fixed rate,"
)]
#![cfg_attr(
    dim2,
    doc = "`evenstep2d` steps a [Rapier](rapier) 2D world at a fixed rate,"
)]
//! whatever the frame rate, and gives you a smooth pose of every body for each frame, with any engine and any ECS.
//!
//! The packages `evenstep` and `evenstep2d`, for Rapier 3D and 2D, are both imported as `evenstep`.
//!
#![doc = include_str!("poses.txt")]
//! A [`Simulation`] holds the state in its field `physics`: Rapier's world and everything else that one step passes to
//! the next. Call [`advance`](Simulation::advance) once per frame with the frame's duration. It runs the steps that are
//! due, and computes the poses to draw.
//!
//! ```
//! use evenstep::rapier::prelude::*;
//! use evenstep::{Rate, Simulation};
//! use std::time::Duration;
//!
//! let mut simulation = Simulation::new(Rate::hz(60));
//! let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0);
//! let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
//!
//! // In the game's loop, once per frame:
//! let frame = simulation.advance(Duration::from_millis(7), |physics, step| {
//!     // Called before each step: forces, input, spawn and despawn.
//!     physics.add_force(ball, Vector::X).unwrap();
//! });
//! assert_eq!(frame.steps, 0); // 7 ms is shorter than a step of 16.7 ms
//! for (key, pose) in simulation.moved() {
//!     // Write each pose that changed to wherever the renderer reads it.
//!     assert_eq!((*key, pose.translation.y), (ball, 10.0));
//! }
//! ```
//!
//! # Data flow
//! ```text
//! frame time ──> Clock ──> steps due, alpha
//!                  │  for each step:
//!                  │    kinematic targets ──> the game: input, forces, spawn, despawn
//!                  │      ──> forces ──> Rapier's step ──> events ──> states before and after
//!                  v
//!                poses at alpha ──> moved() ──> hecs, any ECS, any renderer
//! ```
//!
//! # Where to look
//! | topic | see |
//! | --- | --- |
//! | the loop | [Choosing a loop](Simulation#choosing-a-loop) |
//! | rate, pause, speed, long frames | [`Rate`], [`Stepping`], [`time`] |
//! | bodies | [`Physics`], [`Physics::body`] |
//! | a pose to draw | [`Simulation::pose`], [`Simulation::moved`], [`Smoothing`], [`render`] |
//! | input | [`mod@input`] |
//! | forces | [`Physics::add_force`] for one step, [`forces`] for lasting ones |
//! | lifts, teleports, portals, large worlds | [Placing](Physics#placing) |
//! | collisions and other events | [`events`] |
//! | full access to Rapier | [Choosing access](Physics#choosing-access) |
//! | your own ECS, or hecs | [`ecs`] |
//! | rollback, rewinding, earlier poses | [Back in time](Simulation#back-in-time), [`rewind`] |
//! | snapshots, with your game's data | [The state as a value](Physics#the-state-as-a-value), [`Resources`] |
#![cfg_attr(
    feature = "serde",
    doc = "| saved games, replays, crash reports | [`saving`], [`recording`] |"
)]
#![cfg_attr(
    not(feature = "serde"),
    doc = "| saved games, replays, crash reports | `saving`, `recording`, with the feature `serde` |"
)]
//! | physics on another thread | [`threads`] |
//! | where the time goes | spans with the feature `tracing`, and the counts in [`Frame`] |
//!
//! # Guarantees
//! - **The same steps at every frame rate.** Two runs of one build on one machine, at one rate and with
//!   [`Stepping::Fixed`], whose hooks do the same at each tick, end with the same bits. Across machines, this requires
//!   the feature `enhanced-determinism` and [`portable_math`].
//! - **By default, a frame displays the past:** the moment one step before the simulated time, between the last two
//!   states, or a little more on a thread. Displayed poses never affect the physics.
//! - **Sleeping and fixed bodies cost nothing in a frame or a step.** A loop visits all bodies only in the first frame,
//!   for a copy of the state, and once after an assignment, going back in time, a dropped step, or a method that
//!   changes all bodies, such as [`Physics::rapier_mut`]. A body's [`time_until_sleep`], 0.5 s by default, has to be
//!   longer than a step.
//!
//! # Features
//! No feature is on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `hecs` | `ecs::hecs`: components for the hecs ECS |
//! | `serde` | states as bytes, `recording`, serde's traits; enables `checksum` |
//! | `checksum` | [a hash of all bodies](Physics#checksums), a hash of the machine's float functions |
//! | `enhanced-determinism` | the same bits after loading [bytes](Simulation#states-as-bytes) and, with [`portable_math`], on every platform |
//! | `parallel` | steps on all cores, for large scenes |
//! | `mint` | conversions of Rapier's vectors and rotations |
//! | `tracing` | spans of frames, steps and their parts |
//!
//! # The book
//! The guide is in this package. Its table of contents is `docs/book/src/SUMMARY.md`.
//!
//! # Versions
//! Types of Rapier, nalgebra and hecs are part of this API, so a breaking version of one of them, such as Rapier
//! 0.37, means a breaking version of this crate.
//!
//! [`time_until_sleep`]: rapier::dynamics::RigidBodyActivation::time_until_sleep

#![warn(missing_debug_implementations)]
// On docs.rs each item names the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), warn(clippy::pedantic))]

// The modules are in the order in which data flows. Each uses only those above it.

// A scene and settings for tests.
#[cfg(test)]
mod testing;
// Test files refer to this crate by name.
#[cfg(test)]
extern crate self as evenstep;
// The standard library's float functions, with equal results on every platform.
mod portable_math;
// Mathematics that differs between two and three dimensions.
mod dim;
// Spans for profilers, used in all modules.
#[macro_use]
mod span;
// A lock that no panic poisons.
mod lock;
// Slotmaps and maps as plain data.
#[cfg(feature = "serde")]
mod slots;
// Keys of bodies and force generators, and numbers that distinguish equal values.
mod key;
// Frame times in, due steps out.
pub mod time;
// Input of the steps.
pub mod input;
// What happened in the steps.
pub mod events;
// Forces on bodies.
pub mod forces;
// A step of Rapier's world.
mod step;
// States and recordings as bytes.
#[cfg(feature = "checksum")]
mod bytes;
// Two states in, poses to draw out.
mod pose;
// The poses that frames display.
mod screen;
// The game's values, and everything else that one step passes to the next.
mod physics;
// The order of time, steps and poses in a frame.
mod simulation;
// Which entity has which body.
pub mod ecs;
// Recorded runs.
#[cfg(feature = "serde")]
pub mod recording;
// Physics on a separate thread.
pub mod threads;
// Methods of features that are off.
#[cfg(not(feature = "serde"))]
mod features;

#[cfg(feature = "hecs")]
pub use ::hecs;
pub use key::{BodyError, BodyKey};
pub use nalgebra;
pub use physics::{Colliders, Physics, Resources, VectorError};
#[doc(hidden)]
pub use portable_math::__libm;
pub use pose::{Correction, DecayCurve, ErrorDecay, Smoothing};
pub use rapier;
pub use simulation::{BeforeStep, Frame, Hooks, Simulation};
pub use time::{clock::Step, rate::Rate, stepping::Stepping};

/// Going back in time: limits for what to keep, and errors.
///
/// A simulation keeps no states unless you call [`keep`](Simulation::keep). [Back in time](Simulation#back-in-time)
/// helps you choose a method.
///
/// # Resimulated steps
/// evenstep resimulates steps, not frames: the hooks, or everything from one call of
/// [`next_step`](Simulation::next_step) to the next. Changes between two frames, even forces for the next step, are not
/// repeated, so make them in the hooks before and after steps. Settings of the simulation do not go back, but the
/// smoothing and correction of single bodies do.
///
/// Your game's state goes back if it is among the [`Resources`]. Restore other state yourself, entities with
/// [`EntityMap::unmatched`](ecs::EntityMap::unmatched).
///
/// The displayed poses stay the same until the present is reached, and then move [smoothly](Simulation::correction) to
/// the corrected motion. Inserted bodies get their earlier keys if the order of insertions and removals is the same.
///
/// A body with the same key that was inserted in the same step counts as the same body if its
/// [`user_data`](rapier::dynamics::RigidBody::user_data) is equal, too. So give bodies an id there when you build them,
/// and do not change it. Another body jumps to its own pose.
///
/// # Cost
/// With 200 moving bodies, a frame with a step takes 1.6 to 2.0 times as long while each state is kept, or 1.1 times
/// with an [`interval`](rewind::Kept::interval) of 8. Going back costs as much as saving a state.
pub mod rewind {
    pub use crate::simulation::{CorrectError, Kept, ResimulateError, RewindError};
}

/// Saving and loading states: what bytes hold, errors, and whether two machines compute the same.
///
/// See `Simulation::save` and `Physics::save`.
///
/// # Contents of a saved state
/// A saved simulation has everything that a [clone](Simulation#a-copy) has, except
/// - the [`Resources`];
/// - the displayed poses, which the next frame computes, and the events of the last step, frame and rollback;
/// - visual errors and pending calls of [`show_from`](Physics::show_from);
/// - the report of a frame that a panic has left open;
/// - the [limits of the past](Simulation::keep), which you have to set again.
///
/// # Guarantees
/// The run continues bit for bit with the feature `enhanced-determinism`. Without it, poses, velocities and keys are
/// the same, but the run may diverge later.
///
/// With soft bodies, a loaded run may diverge whatever the features, because Rapier does not write their complete
/// state.
///
/// # Untrusted files
/// Load other people's states only if someone you trust has signed them. The checksum detects accidents, not malice.
/// evenstep does not check Rapier's internal data. A forged state can panic in any call into Rapier, end the process,
/// or take any amount of time and memory.
#[cfg(feature = "checksum")]
pub mod saving {
    pub use crate::bytes::fingerprint;
    #[cfg(feature = "serde")]
    pub use crate::bytes::{LoadError, SaveError};
    #[cfg(feature = "serde")]
    pub use crate::physics::fingerprint_of;
}

/// Poses for renderers: lists of changes, pairs to blend on the GPU, matrices, and interpolation of your own values.
pub mod render {
    #[cfg(dim2)]
    pub use crate::dim::parts::write_matrices_3x3;
    #[cfg(not(dim2))]
    pub use crate::dim::parts::write_matrices_3x4;
    pub use crate::dim::parts::write_matrices_4x4;
    pub use crate::dim::parts::{BLEND_WGSL, PoseFloats, pose_floats};
    pub use crate::dim::{interpolate, interpolate_all};
    pub use crate::pose::Interpolated;
    pub use crate::screen::RenderData;
    pub use crate::simulation::{DisplayedWorld, FrameChanges};
}

// The programs of the README and the book, run as tests.
#[cfg(doctest)]
#[cfg_attr(dim2, path = "dim/dim2/book.rs")]
mod book;
