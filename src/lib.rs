//! `evenstep` steps a [Rapier](rapier3d) world at an even rate whatever the frame rate does, and gives every frame a
//! smooth pose for every body. It knows no engine and no ECS.
//!
//! A [`Simulation`] owns the physics world. Advance it by the time that each frame took: it makes the
//! steps that are due, none or several, and has the poses to show:
//!
//! ```
//! use evenstep::rapier3d::prelude::*;
//! use evenstep::{Rate, Simulation};
//! use std::time::Duration;
//!
//! let mut simulation = Simulation::new(Rate::hz(60)?);
//! let ball = simulation.insert(
//!     RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0),
//!     ColliderBuilder::ball(0.5),
//! );
//!
//! // In the game's loop, once a frame:
//! let frame_time = Duration::from_millis(7);
//! let frame = simulation.advance(frame_time, |simulation, step| {
//!     // Called before each step: forces, input, spawn and despawn.
//!     simulation.add_force(ball, Vector::X * step.dt).expect("the ball is there");
//! });
//! assert_eq!(frame.steps, 0); // 7 ms hold no step of 16.7 ms
//! for (key, pose) in simulation.moved() {
//!     // Write each pose that changed to wherever the renderer looks for it.
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
//!                  │      ──> forces ──> Rapier's step ──> events ──> poses before and after
//!                  v
//!                poses at alpha ──> moved() ──> hecs, any ECS, any renderer
//! ```
//! - [`Clock`] counts time in exact integers at a [`Rate`]: clamps, pause, speed, single steps.
//!   [`Stepping`] is how time becomes steps, if not fixed ones; [`FrameFilter`] is for noisy timers.
//! - [`InputQueue`] gives each time-stamped sample to exactly one step; [`TickQueue`] to the step of its tick.
//! - Forces are for one step ([`Simulation::add_force`]) or lasting ([`ForceGenerator`]).
//! - [`Events`] of all steps of the frame, each with its tick.
//! - [`Simulation::set_kinematic_target`] moves lifts and doors evenly.
//! - Poses are Rapier's [`Pose`](rapier3d::math::Pose), between the last two states, or by another
//!   [`Smoothing`]; for nalgebra's `Isometry3` see [`Simulation::isometry`].
//! - A clone of a [`Simulation`] is a saved state: put back, it goes on bit for bit.
//! - [`Owners`] joins any ECS: which entity has which body. The module `entities` keeps hecs components up to
//!   date, with the feature `hecs`.
//!
//! # The loop
//! [`Simulation::advance`] calls the game before each step. Where the simulation lives inside the game's own
//! world, as a resource of an ECS does, the game pulls the steps instead: see
//! [the pull form](Simulation#frames-and-steps) and [the order of a step](Simulation#the-order-of-a-step).
//!
//! # What is shown, case by case
//! | case | what a frame shows |
//! | --- | --- |
//! | no step in the frame | the same two states, a little further on |
//! | several steps in the frame | the last two states |
//! | a new body | where it was put, until its first step; moving at once with [`set_previous_from_velocity`](Simulation::set_previous_from_velocity) |
//! | a removed body | nothing; [`Simulation::removed`] lists it once |
//! | a body that falls asleep | its final pose, listed once more by [`Simulation::moved`] |
//! | a sleeper, a fixed body | its pose, at no cost |
//! | a body that is teleported, or whose position is set | the new place, never the way there |
//! | only the rotation is set, or only the translation | that at once; the other goes on as smoothly as before |
//! | a [portal](Simulation::teleport_by), a [shifted origin](Simulation::shift_origin) | the same motion, elsewhere |
//! | the root of a multibody is teleported | its links with it |
//! | the velocity is changed | nothing else changes with it |
//! | a centre of mass off the origin | the centre goes straight, the body turns about it |
//! | a body that is kinematic by position | its origin goes straight |
//! | a [kinematic target](Simulation::set_kinematic_target) | even motion, whatever the frames |
//! | fast spins, sharp curves | with [`Smoothing::Hermite`] as they were |
//! | a body without latency | with [`Smoothing::Extrapolate`]: beyond its last state, by less than a step |
//! | another [smoothing](Simulation::set_body_smoothing) | from the next step on; the motion on the screen ends as it began |
//! | a [collider](Simulation::collider_pose), a point of a body (`pose * point`) | as the body itself, to the bit |
//! | an [earlier frame](Simulation::pose_at) | what it showed, to the bit |
//! | a body that became NaN | its last finite pose that was captured: in a frame of several steps that of the frame before, as only the last one is captured |
//! | pause | the same picture |
//! | a frame ended before its last step: a failed hook | the latest state |
//! | a saved state put back | what it showed |
//!
//! # What it costs
//! By `cargo bench`, on an Intel Xeon; the README has the times, and what they are of.
//!
//! | frame | against | ratio |
//! | --- | --- | --- |
//! | with a step, a pile of 10,000 | Rapier's bare step | 1.02 |
//! | with a step, 10,000 free and spinning | Rapier's bare step | 1.10 |
//! | with ten steps, 1,000 free and spinning | ten bare steps | 1.02 |
//! | with a step, all asleep | Rapier's bare step, 1.1 µs | 1.2 |
//! | without a step, 10,000 moving | a loop over `Pose3::lerp` | 0.49 |
//! | [`interpolate_all`] | a loop over `Pose3::lerp` | 0.20 |
//! | 1,000 moving among 100,000 asleep | the 1,000 alone | 1.01 |
//!
//! # What holds
//! - The same steps, whatever the frame rate: two runs whose hooks do the same by tick end with
//!   the same bits, at 15 as at 1,000 frames a second. (On one machine, with one build: across
//!   machines Rapier wants its feature `enhanced-determinism`.)
//! - The rendered pose never gets back into physics.
//! - Bodies at rest cost nothing: no loop here goes over all bodies, except after
//!   [`Simulation::physics_mut`], once. So a body must not wake, move and fall asleep again within one step: its
//!   `time_until_sleep`, 2 s by default, is to be longer than a step.
//! - Interpolation shows the past: a frame is up to one step behind the true state.
//!
//! # Versions
//! Types of Rapier, nalgebra and, with the feature, hecs are part of this API, so their versions are too: a new
//! major version of one of them is one of this crate. They are re-exported as [`rapier3d`], [`nalgebra`] and
//! `hecs`; use these, and no two versions can meet.

#![warn(missing_debug_implementations)]
#![cfg_attr(not(test), warn(clippy::pedantic))]

// The modules in the order that the data takes; each uses only those above it.

// Ids.
mod key;
// The tables behind them as plain data.
#[cfg(feature = "serde")]
mod slots;
// What happened to them, by frame.
mod key_log;
// Interpolation of two poses: pure functions.
mod slerp;
// Frame times in, steps due out.
mod time;
// What goes into a step, what is stepped, what comes out.
mod step;
// What a frame shows.
mod pose;
// All of it in order.
mod simulation;
// What is done with its state as a value.
mod state;
// All of it on a thread of its own.
#[cfg(feature = "threads")]
mod runner;
// For a host with an ECS of its own.
mod owners;
// For a host with this ECS.
#[cfg(feature = "hecs")]
pub mod entities;

#[cfg(feature = "hecs")]
pub use hecs;
pub use key::{BodyKey, ForceGeneratorKey};
pub use nalgebra;
pub use owners::{Owners, Unmatched};
pub use pose::{Correction, PoseCounts, Smoothing, write_columns, write_rows};
pub use rapier3d;
use rapier3d as rapier;
#[cfg(feature = "threads")]
pub use runner::{
    Answer, Call, Command, Failure, Overlap, Runner, RunnerSettings, SendError, View,
};
pub use simulation::{Frame, Hooks, RewindError, RunAgainError, Simulation};
pub use slerp::{interpolate, interpolate_all};
#[cfg(feature = "serde")]
pub use state::{
    Difference, Ending, FlightRecorder, LoadError, RecordError, Recorder, RecorderSettings,
    Recording, Replay, ReplayError, SaveError,
};
pub use step::{
    BodyError, Button, Collision, ContactForce, Corrected, CustomForce, Delivery, EventChanges,
    Events, ForceGenerator, InputQueue, Quarantined, Sample, SoftBodyTear, TickCounts, TickError,
    TickQueue, Wrench,
};
pub use time::{
    Budget, Clock, Dropped, FilterError, FrameFilter, FrameTimer, Rate, RateError, SpeedError,
    Step, Stepping,
};

/// The programs of the README are compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So are the recipes.
#[cfg(doctest)]
#[doc = include_str!("../docs/recipes.md")]
struct Recipes;

/// So is the preview.
#[cfg(doctest)]
#[doc = include_str!("../docs/preview.md")]
struct Preview;
