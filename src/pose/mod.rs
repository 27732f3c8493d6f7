//! Displayed poses: the last two states of every moving body, and the interpolation between them. This module does not
//! step, and does not know why a pose changed.

// The paths of four bodies between two states, and beyond.
mod paths;
// The trajectory of a body from one state to the next, and how it is smoothed.
mod motion;
// Visual errors, which decay.
mod correction;
// The position of the origin of the world.
mod origin;
// The lists of bodies that move.
mod movers;
// The paths of a step.
mod moved;
// Changes of other bodies and of visual errors.
mod changes;
// Pairs of poses of all bodies, by key: a part of the state.
mod pairs;
// Interpolated values of the game.
mod interpolated;

pub(crate) use changes::{Change, Changes, Scope, show_from_changes, show_from_through_portal};
pub use correction::{Correction, DecayCurve, ErrorDecay};
pub(crate) use correction::{VisualError, difference, turned, with_error};
pub use interpolated::Interpolated;
pub(crate) use motion::BodySmoothing;
pub use motion::Smoothing;
pub(crate) use motion::{
    GeneralSmoothing, Pair, SmoothingSettings, finite_center, finite_velocity, is_in_motion,
    is_position_based,
};
pub(crate) use moved::StepPaths;
pub(crate) use movers::Movers;
pub(crate) use origin::Origin;
pub(crate) use pairs::Pairs;
pub(crate) use paths::Weights;
