//! A server with client prediction: an authoritative server, and clients that do not wait for it.

// The rules, without network code.
pub mod game;
// The packets as bytes, and their precision.
pub mod packets;
// The server.
pub mod server;
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

pub use evenstep_arena::{Random, line, table};
