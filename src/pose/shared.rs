//! Work on a long list of poses, by many threads with the feature `parallel` and by one without.
//!
//! Each entry is made of nothing but what was there before, so the bits are the same.

use rapier::math::Pose;

/// How many poses are worth another thread: to read so many costs some 400 µs, to wake a thread up to 100. Of
/// 10,000 bodies the poses are read faster by one.
#[cfg(feature = "parallel")]
const PIECE: usize = 16_384;

/// Calls `work` for all of `poses`, in pieces, each with the place of its first.
#[cfg(feature = "parallel")]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose]) + Sync) {
    use rayon::prelude::*;

    // A thread of a pool would wait for its pieces by doing other jobs, as in `step::pool`.
    if poses.len() < 2 * PIECE || rayon::current_thread_index().is_some() {
        return work(0, poses);
    }
    let pieces = poses.par_chunks_mut(PIECE).enumerate();
    pieces.for_each(|(n, piece)| work(n * PIECE, piece));
}

#[cfg(not(feature = "parallel"))]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose])) {
    work(0, poses);
}
