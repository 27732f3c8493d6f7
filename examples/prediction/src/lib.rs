//! A server with client prediction: a server whose word counts, and clients that do not wait for it.

// A player's input, numbers from a seed, and a bad line: those of the other networked example.
#[path = "../../netcode/src/buttons.rs"]
mod buttons;
#[path = "../../netcode/src/line.rs"]
pub mod line;
#[path = "../../netcode/src/random.rs"]
mod random;
// The rules: no network.
pub mod game;
// What is sent, as bytes, and how exact it is.
pub mod packets;
mod wire;
// The server.
pub mod server;
// What came of a body, to be shown later.
pub mod path;
// How far ahead of the server a client runs.
pub mod timing;
// The client.
pub mod client;
// Figures.
pub mod log;
// A match without a network and without a clock.
pub mod lab;
// One with both.
pub mod udp;

pub use random::Random;
