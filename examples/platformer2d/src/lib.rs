//! The rules of a small game in two dimensions, without a window.
//!
//! | module | idea |
//! | --- | --- |
//! | [`game`] | the order of a step, and of a frame |
//! | [`level`] | what is where |
//! | [`controls`] | keys: each press goes to one step |
//! | [`hero`] | walk, and jump with coyote time and a buffered press |
//! | [`one_way`] | platforms to jump onto from below |
//! | [`sprites`] | what is drawn for a body: in hecs, or in a store of the game's own |
//! | [`pixels`] | whole pixels, one rule for camera and sprites; layers |

pub mod controls;
pub mod game;
pub mod hero;
pub mod level;
pub mod one_way;
pub mod pixels;
pub mod sprites;
