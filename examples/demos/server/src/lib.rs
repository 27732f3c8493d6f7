//! Matches, each with its own clock and budget, and their metrics. This package's program plays them on a pool of
//! threads, and the example `fleet` plays them on many machines.

// The game of a match.
pub mod game;
// Records of matches.
pub mod record;
// A match, with its clock and its budget.
pub mod match_;
// Metrics for Prometheus.
pub mod metrics;
