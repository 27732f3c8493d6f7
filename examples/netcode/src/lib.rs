//! One small game over a network: rollback by GGRS, and lockstep beside it.
//!
//! Both drive evenstep's loop by [`begin_frame`](evenstep::Simulation::begin_frame) and its steps; neither knows
//! the rules of the game.

// Numbers from a seed.
mod random;
// A player's input.
mod buttons;
// The rules: no network.
pub mod game;
// A bad line: delay, jitter, loss, an outage.
pub mod line;
// GGRS's messages, over whatever carries them.
pub mod packets;
// UDP by a bad line.
pub mod udp;
// GGRS and the simulation.
pub mod rollback;
// The other way: nobody steps before all input is there.
pub mod lockstep;

pub use random::Random;
