//! A server with client prediction: an authoritative server, and clients that do not wait for it.

// Shared with the example `netcode`: a player's input, a bad connection, random numbers, walls, and statistics.
#[path = "../../netcode/src/buttons.rs"]
mod buttons;
#[path = "../../netcode/src/jumps.rs"]
mod jumps;
#[path = "../../netcode/src/line.rs"]
pub mod line;
#[path = "../../netcode/src/random.rs"]
mod random;
#[path = "../../netcode/src/table.rs"]
pub mod table;
#[path = "../../netcode/src/walls.rs"]
mod walls;
// The rules, without network code.
pub mod game;
// The packets as bytes, and their precision.
pub mod packets;
// The server.
pub mod server;
// Received poses of bodies, which are displayed later.
#[path = "../../recipes/remote_bodies.rs"]
pub mod remote_bodies;
// How far ahead of the server a client runs.
pub mod timing;
// The client.
pub mod client;
// Statistics.
pub mod log;
// A client with its display and its connection.
pub mod end;
// A match without a network and without a clock.
pub mod lab;
// A match with both.
pub mod udp;

pub use random::Random;
