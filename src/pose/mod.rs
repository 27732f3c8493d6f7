//! What a frame shows: the last two states of every body that moves, and what is between them. It does not
//! step, and does not know why a pose changed.

// The paths of four bodies between two states, and beyond.
mod paths;
// The trajectory of a body from one state to the next.
mod motion;
// What is shown after a rollback.
mod correction;
// The smoothing of each body.
mod smoothing_settings;
// Where the origin of the world is.
mod origin;
// Work shared by many threads.
mod shared;
// The lists of bodies that move.
mod movers;
// What happens to others.
mod counts;
mod log;
// All bodies by key: a part of the state.
mod pairs;
// What frames show of these.
mod screen;
// Values of the game's own.
mod interpolated;

pub use correction::{Correction, ErrorDecay};
pub use counts::PoseCounts;
pub use interpolated::Interpolated;
pub(crate) use log::{ErrorChange, PoseLog};
pub(crate) use motion::Pair;
pub use motion::Smoothing;
pub(crate) use movers::Movers;
pub(crate) use origin::Origin;
pub use origin::OriginError;
pub(crate) use pairs::Pairs;
pub(crate) use screen::{Moment, Screen};
pub(crate) use smoothing_settings::{GeneralSmoothing, SmoothingSettings};
