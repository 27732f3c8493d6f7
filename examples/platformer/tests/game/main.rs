//! The game, played by scripts at even and at uneven frame times, without a window.

// Frame times, and runs.
mod runs;
// By fingers.
mod touch;
// What each rule does.
mod rules;
// How even it looks.
mod motion;
// Back in time.
mod rewind;
