//! Matches on many machines: servers run by Agones, matches kept in Redis, metrics for Prometheus.

// The packets.
pub mod packets;
// Input by tick.
pub mod inputs;
// The game of a match.
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
