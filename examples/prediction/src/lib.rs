//! A server with client prediction: an authoritative server, and clients that do not wait for it.

// A player's input, random numbers, and a bad connection, shared with the other networked example.
#[path = "../../netcode/src/buttons.rs"]
mod buttons;
#[path = "../../netcode/src/line.rs"]
pub mod line;
#[path = "../../netcode/src/random.rs"]
mod random;
// The rules, without network code.
pub mod game;
// The packets as bytes, and their precision.
pub mod packets;
mod wire;
// The server.
pub mod server;
// Received states of a body, to be displayed later.
pub mod path;
// How far ahead of the server a client runs.
pub mod timing;
// The client.
pub mod client;
// Statistics.
pub mod log;
// A match without a network and without a clock.
pub mod lab;
// A match with both.
pub mod udp;

pub use random::Random;
