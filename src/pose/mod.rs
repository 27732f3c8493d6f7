//! Displayed poses: the last two states of every moving body, and the interpolation between them. This module does not
//! step, and does not know why a pose changed.

// The paths of four bodies between two states, and beyond.
mod paths;
// The trajectory of a body from one state to the next.
mod motion;
// Visual errors after a rollback.
mod correction;
// The smoothing of each body.
mod smoothing_settings;
// The position of the origin of the world.
mod origin;
// Work shared by many threads.
mod shared;
// The lists of bodies that move.
mod movers;
// Counts, and the log of bodies that do not move.
mod counts;
mod log;
// Pairs of poses of all bodies, by key: a part of the state.
mod pairs;
// The poses that frames display.
mod screen;
// Interpolated values of the game.
mod interpolated;

pub use correction::{Correction, ErrorDecay};
pub use counts::PoseCounts;
pub use interpolated::Interpolated;
pub(crate) use log::{ErrorChange, PoseLog};
pub(crate) use motion::Pair;
pub use motion::Smoothing;
pub(crate) use movers::Movers;
pub(crate) use origin::Origin;
pub(crate) use pairs::Pairs;
pub use screen::RenderData;
pub(crate) use screen::{Moment, Screen};
pub(crate) use smoothing_settings::{GeneralSmoothing, SmoothingSettings};
