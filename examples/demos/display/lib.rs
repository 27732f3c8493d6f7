//! Code that the demos with a window share.

// A virtual display with a program on it, and real keys.
mod display;
// A size of pictures on the command line.
mod size;

pub use display::*;
pub use size::size;
