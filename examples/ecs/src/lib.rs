//! One small game in five ECSs, each with evenstep's loop inside of it.
//!
//! For each ECS a folder: `glue.rs` joins it to evenstep and knows nothing of the game, `mod.rs` is the game's
//! systems, which call the [rules](game) that all five share.
#![expect(missing_docs, reason = "the parts of a game are what they are called")]

pub mod components;
pub mod game;
pub mod host;

pub mod bevy;
pub mod custom;
pub mod hecs;
pub mod shipyard;
pub mod specs;
