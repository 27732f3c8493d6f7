//! `evenstep` steps a [Rapier](rapier3d) world at an even rate whatever the frame rate does, and gives every frame a
//! smooth pose for every body. It knows no engine and no ECS.
//!
//! A [`Simulation`] owns the physics world. Each frame tells it how long it took; it makes the
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
//! # The way of the data
//! ```text
//! frame time ──> Clock ──> steps due, alpha
//!                  │  for each step:
//!                  │    input ──> forces ──> Rapier's step ──> events
//!                  v
//!                poses at alpha ──> moved() ──> hecs, any ECS, any renderer
//! ```
//! - [`Clock`] counts time in exact integers at a [`Rate`]: clamps, pause, speed, single steps.
//!   [`Stepping`] is how time becomes steps, if not fixed ones; [`FrameFilter`] is for noisy timers.
//! - [`InputQueue`] gives each time-stamped sample to exactly one step.
//! - Forces are for one step ([`Simulation::add_force`]) or lasting ([`Generator`]).
//! - [`Events`] of all steps of the frame, each with its tick.
//! - [`Simulation::set_target`] leads kinematic bodies.
//! - Poses are Rapier's [`Pose`](rapier3d::math::Pose), between the last two states, or by another
//!   [`Smoothing`]; for nalgebra's `Isometry3` see [`Simulation::isometry`] and [`to_isometry`].
//! - The module `hecs` keeps components in step, with the feature of that name.
//!
//! # What is shown, case by case
//! | case | what a frame shows |
//! | --- | --- |
//! | no step in the frame | the last two states still, a little further on |
//! | several steps in the frame | the last two states |
//! | a new body | where it was put, until its first step; [primed](Simulation::prime): moving at once |
//! | a removed body | nothing; [`Simulation::removed`] names it once |
//! | a body that falls asleep | its final pose, told once more by [`Simulation::moved`] |
//! | a sleeper, a fixed body | its pose, at no cost |
//! | a body that is teleported, or whose position is set | the new place, never the way |
//! | a [portal](Simulation::teleport_by), a [shifted origin](Simulation::shift_origin) | the same motion, elsewhere |
//! | velocity, or a part of the pose, is changed | nothing else changes with it |
//! | a centre of mass off the origin | the centre goes straight, the body turns about it |
//! | a body that is kinematic by position | its origin goes straight |
//! | a kinematic [target](Simulation::set_target) | an even way, whatever the frames |
//! | fast spins, sharp curves | with [`Smoothing::Hermite`] as they were |
//! | a body without latency | with [`Smoothing::Extrapolate`]: beyond its last state, by less than a step |
//! | another [smoothing](Simulation::set_smoothing_of) | from the next step on; the way on the screen ends as it began |
//! | a [collider](Simulation::collider_pose), a [point](Simulation::point) of a body | as the body itself, to the bit |
//! | an [earlier frame](Simulation::pose_at) | what it showed, to the bit |
//! | a body that became NaN | its last finite pose |
//! | pause | the same picture |
//! | a hook that failed | the latest state |
//!
//! # What it costs
//! By `cargo bench`, on an AMD EPYC; the README has the times, and what they are of.
//!
//! | frame | against | ratio |
//! | --- | --- | --- |
//! | with a step, a pile of 10,000 | Rapier's bare step | 1.02 |
//! | with a step, 10,000 free and spinning | Rapier's bare step | 1.04 |
//! | with ten steps, 1,000 free and spinning | ten bare steps | 1.02 |
//! | with a step, all asleep | Rapier's bare step, 1.1 µs | 1.16 |
//! | without a step, 10,000 moving | a loop over `Pose3::lerp` | 0.33 |
//! | [`interpolate_all`] | a loop over `Pose3::lerp` | 0.16 |
//! | 1,000 moving among 100,000 asleep | the 1,000 alone | 1.02 |
//! | 10,000 poses written into hecs | the bare loop that writes as many | 1.9 |
//!
//! # What holds
//! - The same steps, whatever the frame rate: two runs whose hooks do the same by tick end with
//!   the same bits, at 15 as at 1,000 frames a second. (On one machine, with one build: across
//!   machines Rapier wants its feature `enhanced-determinism`.)
//! - The rendered pose never gets back into physics.
//! - Bodies at rest cost nothing: no loop here goes over all bodies, unless the whole world was
//!   taken by [`Simulation::world_mut`].
//! - Interpolation shows the past: a frame is up to one step behind the true state.

#![cfg_attr(not(test), warn(clippy::pedantic))]

// The modules in the order that the data takes; each uses only those above it.

// Ids.
mod key;
// Pure functions.
mod slerp;
// Time.
mod rate;
// How time becomes steps.
mod stepping;
// Frame time in, steps out.
mod clock;
// Noisy frame times in, even ones out.
mod filter;
// What goes into a step.
mod input;
// What acts in a step.
mod forces;
// What comes out of a step.
mod events;
// What is stepped.
mod world;
// Where the game leads kinematic bodies.
mod targets;
// What is between two states.
mod motion;
// What was between earlier ones.
mod history;
// What is shown.
mod poses;
// All of it in order.
mod simulation;
// What a game does with it.
mod bodies;
// What a renderer asks it.
mod shown;
// For a host with this ECS.
#[cfg(feature = "hecs")]
pub mod hecs;

pub use clock::{Budget, Clock, Dropped, FrameTimer, SpeedError, Step, Steps};
pub use events::{Collision, ContactForce, Events};
pub use filter::{FilterError, FrameFilter};
pub use forces::{BodyError, Generator, Wrench};
pub use input::{Button, Corrected, Delivery, InputQueue, Sample};
pub use key::{BodyKey, GeneratorKey};
pub use motion::Smoothing;
pub use nalgebra;
pub use rapier3d;
pub use rate::{Rate, RateError};
pub use simulation::{Frame, Hooks, Simulation};
pub use slerp::{from_isometry, interpolate, interpolate_all, to_isometry};
pub use stepping::Stepping;

/// The programs of the README are compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
