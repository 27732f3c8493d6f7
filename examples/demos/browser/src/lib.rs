//! evenstep in a page: a clock for its frames, and a ball.
//!
//! The windowed games use the [`clock`], too. The program that builds the pages is in `src/bin/site`.

#![cfg(target_arch = "wasm32")]

// The same bits as on the desktop, for matches and recordings.
#[cfg(feature = "canvas")]
evenstep::portable_math!();

// Frame times in a page.
pub mod clock;
// Messages of panics.
pub mod panics;
// The mouse, with a locked pointer.
pub mod pointer;
// Lines for the scripts of a page.
pub mod log;
// A ball, drawn on a canvas: the loop of a page in one file.
#[cfg(feature = "canvas")]
pub mod ball;
// The arena of a match, drawn on a canvas.
#[cfg(feature = "canvas")]
mod arena;
// A match between two machines in one page.
#[cfg(feature = "canvas")]
pub mod duel;
// A match against a program on the desktop.
#[cfg(feature = "canvas")]
pub mod pair;
// A game recorded in a page, and replayed on the desktop.
#[cfg(feature = "canvas")]
pub mod record;
