//! What happened to the poses.

/// What happened to poses since the last frame: a part of [`Frame`](crate::Frame).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PoseCounts {
    /// Bodies that this frame processed: those that moved, or might have. All others cost nothing.
    pub movers: usize,
    /// Bodies that came to rest, with their final pose shown in this frame, and those that the game
    /// may have changed and that did not move: the next frame does not process them.
    pub settled: usize,
    /// The number of teleports since the frame before: by [`Physics::teleport`](crate::Physics::teleport),
    /// [`Physics::teleport_by`](crate::Physics::teleport_by), or a position set through Rapier.
    /// Among the steps of one frame only the first two are noticed.
    pub teleported: usize,
    /// Calls of [`Physics::set_previous_from_velocity`](crate::Physics::set_previous_from_velocity) since the frame before
    /// that had an effect so far.
    pub set_from_velocity: usize,
    /// Bodies that are shown beyond their last state: [`Smoothing::Extrapolate`](crate::Smoothing::Extrapolate).
    pub extrapolated: usize,
    /// Bodies that are shown with a visual error, after a rollback: see
    /// [`Simulation::correction`](crate::Simulation::correction).
    pub corrected: usize,
}
