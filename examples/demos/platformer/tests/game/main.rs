//! Scripts play the game at even and at uneven frame times, without a window.

// Frame times and runs.
mod runs;
// Touch controls.
mod touch;
// Each rule.
mod rules;
// Platforms beside and above the hero.
mod walls;
// How even the displayed motion is.
mod motion;
// Rewind.
mod rewind;
