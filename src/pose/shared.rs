//! Works on a long list of poses, on many threads with the feature `parallel`, on one thread without it.
//!
//! Each entry depends only on the earlier state, so the bits are the same.

use rapier::math::Pose;

/// The number of poses that is worth another thread: reading them takes about 400 µs, and waking a thread up to 100 µs.
/// With 10,000 bodies, one thread reads the poses faster.
#[cfg(feature = "parallel")]
const PIECE: usize = 16_384;

/// Calls `work` for all of `poses`, in pieces, each with the index of its first pose.
#[cfg(feature = "parallel")]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose]) + Sync) {
    use rayon::prelude::*;

    // A thread of a pool would run other jobs while it waits for its pieces, as in `step::pool`.
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
