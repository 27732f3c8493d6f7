//! The one random game. Every law plays it, in every host.
//!
//! A [`Script`] is a list of frames, each with the [`Action`]s of the game between frames and in hooks. A [`Host`]
//! plays it: a loop in one thread, an overlap, or a runner. It writes a list of [`Entry`]s, and the laws judge that
//! list. They don't know which actions there are: an action reports its effect on paths, events and time as an
//! [`Effect`], and everything else is read from the state.
//!
//! To add an action, add a variant to one of the enums of [`Action`], an arm to the function that carries these out, and
//! a weight to the strategy that selects from the enum. All are in [`action`]. If the action does one of the things that
//! [`Effect`] lists, its arm reports it. If a law fails then, look first for an effect that is missing.

// The list of actions.
pub mod action;
// Frames, and when the game acts in them.
pub mod script;
// What happened in a run.
pub mod log;
// The hooks, which carry out a script.
pub mod player;
// The loops.
pub mod hosts;
// Entities of bodies.
pub mod owners;
// The state's own record of paths.
pub mod paths;

pub use action::{Action, Effect};
pub use hosts::{Kind, Run, play};
pub use log::{Entry, Picture};
pub use script::Script;

// Known faults. Each constant switches off the games that show it.

/// A body that is no link any more is displayed where the other links held it, until the next step.
pub const A_FORMER_LINK_STAYS_WHERE_THE_OTHERS_HELD_IT: bool = true;

/// In the step after a shift of the origin, the visual error of a link ends.
pub const A_SHIFTED_LINK_LOSES_ITS_ERROR: bool = true;

/// If a runner or an overlap is stopped right after a change of the rate, one thread displays an earlier time.
pub const A_STOP_AFTER_A_CHANGE_OF_RATE_GOES_BACK_IN_TIME: bool = true;

/// If a view gets a clone of a simulation in the middle of a rollback, and then another rollback, it displays an event
/// twice.
pub const A_VIEW_REPEATS_EVENTS_OF_A_CLONED_ROLLBACK: bool = true;

/// All names in a printed game, to paste it into a test.
#[cfg(test)]
pub mod names {
    pub use super::action::{Access::*, Action::*, Body::*, Cut::*, Fade::*, Push::*};
    pub use super::action::{Joint::*, Part::*};
    pub use super::action::{OnBody::*, OnWorld::*, Past::*, Setting::*, Value::*, Whole::*};
    pub use super::hosts::Kind::*;
    pub use super::owners::Despawn::*;
    pub use super::script::{Scene::*, Script, Setup, When::*, frame};
    pub use evenstep::Smoothing::*;
}
