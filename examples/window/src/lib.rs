//! A playground in a window: one world under two strategies of evenstep, side by side.
//!
//! What is played is here without a window: [`app::App`] is driven by keys, the mouse and time that are handed to it.
//! Only [`desk`] and [`view`] draw, and only [`live`] reads a clock.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small counts become places in metres and in pixels"
)]

// The colours of bodies.
pub mod paint;
// What is in a world.
pub mod scenes;
// What its steps do, and what they are given.
pub mod game;
// The ways to step it.
pub mod strategy;
// A run that is recorded.
pub mod tape;
// The game around each step.
pub mod player;
// What a picture is made of.
pub mod shown;
// Debug lines.
pub mod bones;
// A world under a strategy.
pub mod half;
// Frame times.
pub mod pacing;
// The camera.
pub mod lens;
// What is under the mouse.
pub mod pick;
// Where in the window everything is.
pub mod layout;
// The last frames.
pub mod trace;
// A run that is replayed.
pub mod screening;
// What can be set and done.
pub mod controls;
// Two halves.
pub mod app;
// What a player does, written down.
pub mod script;
// The pictures of the halves.
pub mod view;
// What is drawn over them.
pub mod ui;
// A window with both.
pub mod desk;
// By the wall clock.
pub mod live;
// Without a display.
pub mod offscreen;
