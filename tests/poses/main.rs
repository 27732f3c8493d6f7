//! Displayed poses: smooth, exact at both ends of a step, and listed in `moved` and `removed` when they change.
//!
//! Runs the closure form and the pull form in 3D and in 2D, `Overlap` in `picture`, and `Overlap` and `Runner` in
//! `interpolated`. The random games of `laws/random/display` compare every pose. `tests/threads` compares those of
//! `Overlap` and `Runner`.
//! One case: `cargo test --all-features --test poses smoothing::hermite::`.

// The poses before and after a step.
mod pairs;
// Pictures that begin at another pose.
mod show_from;
// Hermite, extrapolation, and changes of the smoothing.
mod smoothing;
// Displayed poses are fixed when a frame ends.
mod picture;
// Pairs for the GPU, and motion vectors.
mod render_data;
// Interpolated values of your game.
mod interpolated;
// Cameras and attachments: the functions of the book.
mod camera;
// Previews of the next step.
mod preview;
