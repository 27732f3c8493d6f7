//! Matches on many machines: servers run by Agones, matches kept in Redis, metrics for Prometheus.

// The rules, a player's input, random numbers and packets as bytes, shared with the other networked examples.
#[path = "../../netcode/src/buttons.rs"]
mod buttons;
#[path = "../../prediction/src/game.rs"]
pub mod game;
#[path = "../../netcode/src/random.rs"]
mod random;
#[path = "../../prediction/src/wire.rs"]
mod wire;
// The packets.
pub mod packets;
// Input by tick.
pub mod inputs;
// A match, and its bytes.
pub mod match_;
// The store of the matches.
pub mod store;
// Metrics for Prometheus.
pub mod metrics;
// Messages to Agones.
pub mod agones;
// A match on a server.
pub mod host;
// A server.
pub mod server;
// Players.
pub mod client;
// A stand-in for Agones.
pub mod sidecar;
// The whole fleet on one machine.
pub mod stage;

use random::Random;
