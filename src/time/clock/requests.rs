//! Requests for the next frame only.

use std::time::Duration;

/// What the game asks of the next frame, in addition to the settings. A frame that begins takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Requests {
    /// The tick that the frame starts with.
    pub tick: Option<u64>,
    /// The overstep that the frame starts with.
    pub overstep: Option<Duration>,
    /// The number of single steps in a pause.
    pub single_steps: u32,
}
