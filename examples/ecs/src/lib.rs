//! One small game in five ECSs. Each contains evenstep's simulation and runs its loop.
//!
//! Each ECS has a folder. Its `glue.rs` connects the ECS to evenstep and contains no game code. Its `mod.rs`
//! contains the game's systems, which call the shared [rules](game).
#![expect(missing_docs, reason = "the names explain the parts of the game")]

pub mod components;
pub mod game;
pub mod host;

pub mod bevy;
pub mod custom;
pub mod hecs;
pub mod shipyard;
pub mod specs;
