//! Time: elapsed time in, steps due out. This module reads no wall clock.
//!
//! [`Simulation::clock`](crate::Simulation::clock) returns the [`Clock`], and
//! [`Simulation::clock_settings_mut`](crate::Simulation::clock_settings_mut) its [settings](ClockSettings): rate,
//! speed, stepping, limits. [`FrameTimer`] computes frame times from your clock, and [`FrameFilter`] evens them out.
//! [`StepCost`] averages the cost of steps. [`ClockFollower`] follows the clock of music or of a server.

// Steps per second.
pub(crate) mod rate;
// How time becomes steps.
pub(crate) mod stepping;
// The accumulator.
pub(crate) mod clock;
// Time stamps in, frame times out.
mod frame_timer;
// The speed at which a clock follows another one.
mod clock_follower;
// Noisy frame times in, even ones out.
mod filter;
// The time that steps take.
mod step_cost;

#[cfg(feature = "serde")]
pub(crate) use clock::Requests;
pub use clock::{Budget, Clock, ClockSettings, Dropped, SpeedError};
pub(crate) use clock::{ExactTime, Step};
pub use clock_follower::ClockFollower;
pub use filter::{FilterError, FrameFilter};
pub use frame_timer::{FrameTime, FrameTimer};
pub(crate) use rate::Rate;
pub use rate::RateError;
pub use step_cost::StepCost;
