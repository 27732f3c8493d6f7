//! Components that describe bodies, the layer that connects them with evenstep, and a small game.
#![expect(missing_docs, reason = "the names explain the parts of the game")]

pub mod components;
pub mod frames;
pub mod game;
pub mod layer;
