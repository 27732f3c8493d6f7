//! Matches on many machines: servers that Agones runs, matches that Redis keeps, figures that Prometheus asks for.

// The rules, a player's input, numbers from a seed and packets as bytes: those of the other networked examples.
#[path = "../../netcode/src/buttons.rs"]
mod buttons;
#[path = "../../prediction/src/game.rs"]
pub mod game;
#[path = "../../netcode/src/random.rs"]
mod random;
#[path = "../../prediction/src/wire.rs"]
mod wire;
// What is sent.
pub mod packets;
// Input by tick.
pub mod inputs;
// A match, and as bytes.
pub mod match_;
// Where matches are kept.
pub mod store;
// What Prometheus is told.
pub mod metrics;
// What Agones is told.
pub mod agones;
// A match on a server.
pub mod host;
// A server.
pub mod server;
// Players.
pub mod client;
// Agones where there is none.
pub mod sidecar;
// All of it on one machine.
pub mod stage;

use random::Random;
