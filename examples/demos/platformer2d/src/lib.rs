//! The rules of a small game in two dimensions, without a window.
//!
//! | module | idea |
//! | --- | --- |
//! | [`game`] | the order within a step, and within a frame |
//! | [`level`] | the level |
//! | [`controls`] | keys: each press goes to one step |
//! | [`hero`] | walking, and jumping with coyote time and a buffered press |
//! | [`one_way`] | one-way platforms |
//! | [`sprites`] | a sprite for each body: in hecs, or in a map |
//! | [`figure`] | the hero's figure: eyes, legs, a squash when it lands |
//! | [`pixels`] | whole pixels, with one rule for camera and sprites; background layers |

pub mod controls;
pub mod figure;
pub mod game;
pub mod hero;
pub mod level;
pub mod one_way;
pub mod pixels;
pub mod sprites;
