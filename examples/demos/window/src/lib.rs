//! A playground in a window: one world under two strategies of evenstep, side by side.
//!
//! The library runs without a window: keys, the mouse and time are passed to [`app::App`]. Only [`desk`] and [`view`]
//! draw, and only the program reads a clock.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small counts become positions in metres and pixels"
)]

// The colours of bodies.
pub mod paint;
// The worlds.
pub mod scenes;
// The steps of the game, and their input.
pub mod game;
// The strategies.
pub mod strategy;
// Recordings.
pub mod tape;
// The game around each step.
pub mod player;
// The displayed state.
pub mod shown;
// Debug lines.
pub mod bones;
// A world under a strategy.
pub mod half;
// Frame times.
pub mod pacing;
// The camera.
pub mod lens;
// Picking with the mouse.
pub mod pick;
// The layout of the window.
pub mod layout;
// The last frames.
pub mod trace;
// Replays.
pub mod screening;
// Settings and commands.
pub mod controls;
// Both halves.
pub mod app;
// Scripted input.
pub mod script;
// The pictures of the halves.
pub mod view;
// The interface over them.
pub mod ui;
// A window with everything.
pub mod desk;
// The loop by the wall clock.
pub mod live;
// Pictures without a display.
#[cfg(not(target_arch = "wasm32"))]
pub mod offscreen;
