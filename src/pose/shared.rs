//! Work on long lists of poses, by many threads with the feature `parallel` and by one without.
//!
//! Each entry is made of nothing but what was there before, so the bits and the order are the same.

use crate::rapier::math::Pose;

/// How many poses are worth another thread. To hand over such a piece takes some microseconds, and to work on it
/// some ten.
#[cfg(feature = "parallel")]
const PIECE: usize = 2048;

/// Whether so many poses are worth more than one thread.
#[cfg(feature = "parallel")]
pub(super) fn is_enough(len: usize) -> bool {
    len >= 2 * PIECE && rayon::current_num_threads() > 1
}

#[cfg(not(feature = "parallel"))]
pub(super) fn is_enough(_: usize) -> bool {
    false
}

/// Calls `work` for all of `poses` in pieces, each with the place of its first, and gives the sum of what it gave.
#[cfg(feature = "parallel")]
pub(super) fn sum(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose]) -> usize + Sync) -> usize {
    use rayon::prelude::*;

    if !is_enough(poses.len()) {
        return work(0, poses);
    }
    let pieces = poses.par_chunks_mut(PIECE).enumerate();
    pieces.map(|(n, piece)| work(n * PIECE, piece)).sum()
}

#[cfg(not(feature = "parallel"))]
pub(super) fn sum(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose]) -> usize) -> usize {
    work(0, poses)
}
