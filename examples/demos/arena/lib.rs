//! An arena, input, a bad connection and statistics, which the demos `netcode` and `prediction` share.

// A random number generator with a seed.
mod random;
// A player's input.
mod buttons;
// The walls of an arena.
mod walls;
// A bad connection: delay, jitter, loss, an outage.
pub mod line;
// Statistics of what a player sees.
pub mod jumps;
pub mod table;

pub use buttons::Buttons;
pub use random::Random;
pub use walls::build_walls;
