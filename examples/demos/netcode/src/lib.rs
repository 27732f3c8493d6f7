//! One small game over a network: rollback with GGRS, and a lockstep.
//!
//! Both drive evenstep's loop with [`begin_frame`](evenstep::Simulation::begin_frame) and its steps. Neither knows the
//! rules of the game.

// The rules, without network code.
pub mod game;
// GGRS's messages over any transport.
pub mod packets;
// UDP over a bad connection.
pub mod udp;
// GGRS and the simulation.
pub mod rollback;
// Lockstep: no peer steps before all input has arrived.
pub mod lockstep;

pub use evenstep_arena::{Random, jumps, line, table};
