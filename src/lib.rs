#![cfg_attr(
    not(dim2),
    doc = "`evenstep` steps a [Rapier](rapier) 3D world at a fixed rate,"
)]
#![cfg_attr(
    dim2,
    doc = "`evenstep2d` steps a [Rapier](rapier) 2D world at a fixed rate,"
)]
//! whatever the frame rate, and gives you a smooth pose of every body for each frame. It works with any engine and any
//! ECS.
//!
//! The packages `evenstep` and `evenstep2d` are the same crate, built from the same sources for Rapier 3D and Rapier
//! 2D. Programs import either one as `evenstep`.
//!
//! A [`Simulation`] holds the state in its field `physics`, of type [`Physics`]: Rapier's world and everything else
//! that the next step depends on. Call [`advance`](Simulation::advance) once per frame with the time that the frame
//! took. It runs the steps that are due, if any, and computes the poses to draw.
//!
//! ```
//! use evenstep::rapier::prelude::*;
//! use evenstep::{Rate, Simulation};
//! use std::time::Duration;
//!
//! let mut simulation = Simulation::new(Rate::hz(60)?);
//! let ball = simulation.physics.insert(
//!     RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0),
//!     ColliderBuilder::ball(0.5),
//! );
//!
//! // In the game's loop, once per frame:
//! let frame_time = Duration::from_millis(7);
//! let frame = simulation.advance(frame_time, |physics, step| {
//!     // Called before each step: forces, input, spawn and despawn.
//!     physics.add_force(ball, Vector::X).unwrap();
//! });
//! assert_eq!(frame.steps, 0); // 7 ms is shorter than a step of 16.7 ms
//! for (key, pose) in simulation.moved() {
//!     // Write each pose that changed to wherever the renderer reads it.
//!     assert_eq!((*key, pose.translation.y), (ball, 10.0));
//! }
//! # Ok::<(), evenstep::RateError>(())
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
//! `simulation.physics` holds the state. A copy of it is a snapshot, and assigning the copy restores it. Hooks receive
//! it for each step. `simulation` holds the loop around the state: the clock, frames, poses, and the
//! [past](Simulation#back-in-time).
//!
//! # Where to look
//! | topic | see |
//! | --- | --- |
//! | the loop: one call per frame, or your game asks for each step | [Choosing a loop](Simulation#choosing-a-loop) |
//! | time: rate, pause, speed, long frames | [`Clock`], [`ClockSettings`], [`Rate`], [`Stepping`], [`FrameFilter`], [`FrameTimer`] |
//! | inserting, changing and removing bodies | [`Physics`] |
//! | a pose to draw | [`simulation.pose(key)`](Simulation::pose), [`Simulation::moved`], [`Smoothing`]; for your own values, [`Interpolated`] |
//! | a body's exact state, for game logic | [`physics.body(key)`](Physics::body) |
//! | input | [`InputQueue`] by time, [`TickQueue`] by tick, [`TickSender`] for an input delay, [`Button`] |
//! | forces | [`Physics::add_force`] for one step, [`ForceGenerator`] for lasting ones |
//! | lifts, doors, teleports, portals, large worlds | [Placing](Physics#placing) |
//! | collisions and other events | [`Events`] |
//! | joints, queries, controllers: full access to Rapier | [Choosing access](Physics#choosing-access) |
//! | your own ECS | [`Owners`]; for hecs, [`entities`] |
//! | saved states and rollback, including your game's state | [`Resources`], [The state as a value](Physics#the-state-as-a-value), [Back in time](Simulation#back-in-time) |
//! | replays, crash reports | [`recording`] |
//! | threads | [`threads`] |
//! | where the time goes | [`Frame`], and spans for a profiler with the feature `tracing` |
//!
//! # Guarantees
//! - **The same steps at every frame rate.** Two runs whose hooks do the same at each tick end with the same bits,
//!   whether they run at 15 or at 1,000 frames per second. This holds for one build on one machine. Across machines, it
//!   also requires the feature `enhanced-determinism` and [`portable_math`]. [`fingerprint`](fingerprint()) tells
//!   whether two machines agree.
//! - **A frame displays the past.** An interpolated pose is up to one step behind the latest state. Interpolated poses
//!   never affect the physics.
//! - **Bodies at rest cost nothing in a frame or a step.** No loop visits all bodies, except once after
//!   [`Physics::rapier_mut`], [`Physics::shift_origin`], an assignment or going [back in
//!   time](Simulation#back-in-time). Cloning copies all bodies, and so does [keeping a
//!   state](Simulation::set_rewind_limits). The guarantee requires that a body's [`time_until_sleep`], 0.5 s by
//!   default, is longer than a step.
//!
//! # Features
//! No feature is on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `hecs` | [`entities`]: components for the hecs ECS |
//! | `serde` | states as bytes, [`recording`], serde's traits on plain types; enables `checksum` |
//! | `checksum` | [a hash of all bodies](Physics#checksums), [a hash of the machine's float functions](fingerprint()) |
//! | `enhanced-determinism` | Rapier's feature: the same bits after a state is loaded [from bytes](Simulation#states-as-bytes) and, with [`portable_math`], on every platform |
//! | `parallel` | Rapier's feature: steps that use all cores, for large scenes |
//! | `mint` | conversions of Rapier's vectors and rotations to and from mint |
//! | `tracing` | spans of frames, steps and their parts |
//!
//! # The book
//! The guide is in the folder `docs/book` of this package: [contents]. Every program in it is compiled and run as a
//! test.
//!
//! [contents]: https://docs.rs/crate/evenstep/latest/source/docs/book/src/SUMMARY.md
//!
//! # Versions
//! Types of Rapier, nalgebra and, with its feature, hecs are part of this API. A new major version of one of them
//! therefore means a new major version of this crate. They are re-exported as [`rapier`], [`nalgebra`] and `hecs`. If
//! you use the re-exports, you cannot end up with two versions of the same type.
//!
//! [`time_until_sleep`]: rapier::dynamics::RigidBodyActivation::time_until_sleep

#![warn(missing_debug_implementations)]
// On docs.rs each item names the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The published docs are built with all features. Without a feature, links to the items that it adds are broken.
#![cfg_attr(
    not(all(feature = "hecs", feature = "serde")),
    allow(rustdoc::broken_intra_doc_links)
)]
#![cfg_attr(not(test), warn(clippy::pedantic))]

// The modules are in the order in which data flows. Each uses only those above it.

// Settings of random tests.
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
// Maps with keys of any type, serialised as lists.
#[cfg(feature = "serde")]
mod map_as_list;
// A slotmap as plain data.
#[cfg(feature = "serde")]
mod slots;
// Numbers that distinguish equal values.
mod id;
// Keys of bodies and force generators.
mod key;
// Keys with the frame in which something happened to them.
mod key_log;
// Frame times in, due steps out.
mod time;
// Input and forces in, a step of Rapier, events out.
mod step;
// A hash of the machine's float results.
#[cfg(feature = "checksum")]
mod fingerprint;
// States and recordings as bytes.
#[cfg(feature = "serde")]
mod bytes;
// Two states in, poses to draw out.
mod pose;
// The game's values.
mod resources;
// Everything that the next step depends on.
mod physics;
// The order of time, steps and poses in a frame.
mod simulation;
// Which entity has which body, for any ECS.
mod owners;
// Recorded runs.
#[cfg(feature = "serde")]
pub mod recording;
// Physics on a separate thread.
pub mod threads;
// Components and synchronisation for hecs.
#[cfg(feature = "hecs")]
pub mod entities;

#[cfg(feature = "serde")]
pub use bytes::{LoadError, SaveError};
pub use dim::{BLEND_WGSL, PoseFloats, interpolate, interpolate_all, matrices::*, pose_floats};
#[cfg(feature = "checksum")]
pub use fingerprint::fingerprint;
#[cfg(feature = "hecs")]
pub use hecs;
pub use key::{BodyKey, ForceGeneratorKey};
pub use nalgebra;
pub use owners::{Bodies, Host, Owners, Unmatched};
#[cfg(feature = "serde")]
pub use physics::fingerprint_of;
pub use physics::{Physics, VectorError};
#[doc(hidden)]
pub use portable_math::__libm;
pub use pose::{Correction, ErrorDecay, Interpolated, PoseCounts, RenderData, Smoothing};
pub use rapier;
pub use resources::Resources;
pub use simulation::{
    CorrectError, DisplayedWorld, Frame, FrameChanges, Hooks, ResimulateError, RewindError,
    Simulation,
};
pub use step::{
    BodyError, Button, Collision, ContactForce, CustomForce, Delivery, Event, EventChanges, Events,
    ForceGenerator, InputCounts, InputQueue, Quarantined, Sample, SoftBodyTear, TickCounts,
    TickError, TickQueue, TickSender, Wrench,
};
pub use time::{
    Budget, Clock, ClockSettings, Dropped, FilterError, FrameFilter, FrameTime, FrameTimer,
    Headroom, Rate, RateError, SpeedError, Step, Stepping,
};

// The programs of the README and the book, run as tests.
#[cfg(doctest)]
#[cfg_attr(dim2, path = "dim/dim2/book.rs")]
mod book;
