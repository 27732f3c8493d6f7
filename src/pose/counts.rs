//! Counts of changes to poses.

/// Counts of changes to poses since the last frame: a part of [`Frame`](crate::Frame).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PoseCounts {
    /// Bodies that this frame processed, because they moved or might have moved. All others cost nothing.
    pub movers: usize,
    /// Bodies that the next frame does not process: bodies that came to rest, whose final pose this frame displays, and
    /// bodies that the game may have changed but that did not move.
    pub settled: usize,
    /// The number of teleports since the previous frame, with [`Physics::teleport`](crate::Physics::teleport),
    /// [`Physics::teleport_by`](crate::Physics::teleport_by), or a position set through Rapier. Between the steps of
    /// one frame, only the first two are detected.
    pub teleported: usize,
    /// Calls of [`Physics::set_previous_from_velocity`](crate::Physics::set_previous_from_velocity) since the previous
    /// frame that had an effect.
    pub set_from_velocity: usize,
    /// Bodies that are displayed beyond their last state: [`Smoothing::Extrapolate`](crate::Smoothing::Extrapolate).
    pub extrapolated: usize,
    /// Bodies that are displayed with a visual error after a rollback: see
    /// [`Simulation::correction`](crate::Simulation::correction).
    pub corrected: usize,
}
