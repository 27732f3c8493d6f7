//! A small game to copy from. A character runs, jumps, rides platforms, pushes crates, collects coins and shoots. The
//! player looks about with the mouse, pauses, slows time down, and rewinds up to five seconds.
//!
//! This library has the rules of the game, without a window. Input and frame times drive a [`game::Game`]. The program
//! in `src/bin` draws it, and reads the clock and the devices.

// The level at its beginning.
pub mod level;
// Where the player looks.
pub mod look;
// The player's input in each step.
pub mod controls;
// Touch controls.
pub mod touch;
// The character.
pub mod hero;
// Platforms, which carry the character.
pub mod platforms;
// Crates, which it pushes.
pub mod crates;
// Coins, which it collects.
pub mod pickups;
// Shots.
pub mod shots;
// Pause, slow motion and rewind.
pub mod time;
// The camera.
pub mod camera;
// The whole game.
pub mod game;
// A scripted player.
pub mod script;
// A log of displayed motion, to measure how even it is.
pub mod motion_log;
