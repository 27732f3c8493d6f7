//! The loop: time goes in, steps run one at a time, and poses are displayed.

// The methods of `Simulation` have the same order in its documentation as these modules: what most games need is first.

// The parts of a simulation.
#[expect(clippy::module_inception, reason = "the file has the type's name")]
mod simulation;
// The frame in one call.
mod advance;
// Poses for a renderer, and the world as a frame displayed it.
mod picture;
// The settings of the clock.
mod settings;
// The report of a frame, and its events.
mod report;
// The frame, step by step.
mod frame;
// The game's code in each step.
mod hooks;
// The simulation together with a resource.
mod resources;
// Where the next step comes from: a rollback, or time.
mod steps;
// Whose state it is.
mod take_over;
// The last steps: snapshots, records and poses.
mod past;
// Going back in time to stay there.
mod rewind;
// The state that a rollback or a correction has replaced, and the picture after it.
mod old_present;
// Going back in time to resimulate the steps since then.
mod roll_back;
// Poses and worlds of earlier ticks.
mod earlier;
// Serialisation with serde.
#[cfg(feature = "serde")]
mod saving;

pub(crate) use hooks::or_no_hooks;
pub use hooks::{BeforeStep, Hooks};
pub use past::{Kept, RewindError};
pub use picture::{DisplayedWorld, FrameChanges};
pub use report::Frame;
pub use roll_back::{CorrectError, ResimulateError};
pub use simulation::Simulation;
