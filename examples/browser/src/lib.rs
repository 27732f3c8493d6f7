//! evenstep in a page: the clock of its frames, and a ball.
//!
//! The games in a window use the [`clock`] too. The program that builds the pages is in `src/bin/site`.

#![cfg(target_arch = "wasm32")]

// Frame times of a page.
pub mod clock;
// What went wrong.
pub mod panics;
// The mouse without a cursor.
pub mod pointer;
// Lines for scripts of the page.
pub mod log;
// A ball, drawn on a canvas: the loop of a page in one file.
#[cfg(feature = "ball")]
pub mod ball;
// A match against a program on the desktop.
#[cfg(feature = "pair")]
pub mod pair;
// A game that is recorded in a page, and replayed on the desktop.
#[cfg(feature = "record")]
pub mod record;
