//! evenstep in a page: the clock of its frames, and a ball.
//!
//! The games in a window use the [`clock`] too. The program that builds the pages is in `src/bin/site`.

// Frame times of a page.
#[cfg(target_arch = "wasm32")]
pub mod clock;
// What went wrong.
#[cfg(target_arch = "wasm32")]
pub mod panics;
// The mouse without a cursor.
#[cfg(target_arch = "wasm32")]
pub mod pointer;
// Lines for scripts of the page.
#[cfg(target_arch = "wasm32")]
pub mod log;
// A ball, drawn on a canvas: the loop of a page in one file.
#[cfg(all(target_arch = "wasm32", feature = "ball"))]
pub mod ball;
// A match against a program on the desktop.
#[cfg(all(target_arch = "wasm32", feature = "pair"))]
pub mod pair;
// A game that is recorded in a page, and replayed on the desktop.
#[cfg(all(target_arch = "wasm32", feature = "record"))]
pub mod record;
