//! Elapsed time in, steps due out. This module reads no wall clock and knows nothing of Rapier.

// Steps per second.
mod rate;
// How time becomes steps.
mod stepping;
// The duration of a frame, and what drives it.
mod frame_time;
// The accumulator.
mod clock;
// Time stamps in, frame times out.
mod frame_timer;
// Frame times snapped to whole periods of a display.
mod snapping;
// Frame times averaged.
mod averaging;
// The filter that fits the frames.
mod automatic;
// Noisy frame times in, even ones out.
mod frame_filter;
// The time that steps take.
mod headroom;

#[cfg(feature = "serde")]
pub(crate) use clock::Requests;
pub use clock::{Budget, Clock, ClockSettings, Dropped, SpeedError, Step};
pub(crate) use clock::{DisplayedMoment, ExactTime};
pub use frame_filter::{FilterError, FrameFilter};
pub use frame_time::FrameTime;
pub use frame_timer::FrameTimer;
pub use headroom::Headroom;
pub use rate::{Rate, RateError};
pub use stepping::Stepping;
