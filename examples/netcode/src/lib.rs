//! One small game over a network: rollback with GGRS, and a lockstep.
//!
//! Both drive evenstep's loop with [`begin_frame`](evenstep::Simulation::begin_frame) and its steps. Neither knows the
//! rules of the game.

// A random number generator with a seed.
mod random;
// A player's input.
mod buttons;
// The walls of an arena.
mod walls;
// The rules, without network code.
pub mod game;
// A bad connection: delay, jitter, loss, an outage.
pub mod line;
// GGRS's messages over any transport.
pub mod packets;
// UDP over a bad connection.
pub mod udp;
// GGRS and the simulation.
pub mod rollback;
// Statistics of what a player sees.
pub mod jumps;
pub mod table;
// Lockstep: no peer steps before all input has arrived.
pub mod lockstep;

pub use random::Random;
