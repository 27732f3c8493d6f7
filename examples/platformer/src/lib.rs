//! A small game to copy from. A character runs, jumps, rides platforms, pushes crates, collects coins and shoots; the
//! player looks about with the mouse, pauses, slows time down, and takes the last five seconds back.
//!
//! What is played is here, without a window: a [`game::Game`] is driven by what the player does and by frame times. The
//! program in `src/bin` draws it, and reads the clock and the devices.

// What is where at the beginning.
pub mod level;
// Where the player looks.
pub mod look;
// What the player does, for each step.
pub mod controls;
// The same by fingers on a screen.
pub mod touch;
// The character.
pub mod hero;
// What carries it.
pub mod platforms;
// What it pushes.
pub mod crates;
// What it collects.
pub mod pickups;
// What it shoots.
pub mod shots;
// Pause, slow motion, and back.
pub mod time;
// From where it is seen.
pub mod camera;
// All of it.
pub mod game;
// A player that is written down.
pub mod script;
// What was shown, for a look at how even it was.
pub mod motion_log;
