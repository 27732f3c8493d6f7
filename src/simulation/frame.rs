//! What a frame did.

use std::ops::Range;

use crate::pose::PoseCounts;
use crate::time::Dropped;
use rapier::math::Vector;

/// What a frame did and dropped: from [`Simulation::end_frame`](crate::Simulation::end_frame) and [`Simulation::advance`](crate::Simulation::advance).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Frame {
    /// The number of frames that have been ended, this one included; 0 before the first.
    pub number: u64,
    /// The number of steps made.
    pub steps: u64,
    /// The number of steps that were resimulated after a [rollback](crate::Simulation::roll_back), since the frame
    /// before.
    pub resimulated: u64,
    /// The tick of the next step: see [`Physics::tick`](crate::Physics::tick).
    pub tick: u64,
    /// The length of the last step, in seconds of simulated time; 0 before the first.
    pub dt: f32,
    /// How far the time is into the next step, as a fraction of it, in [0, 1): where between the
    /// previous and the current state the frame is shown. 1 with every
    /// [`Stepping`](crate::Stepping) but `Fixed`, and in a frame that ended before its last step: the current
    /// state is then shown.
    pub alpha: f32,
    /// What was dropped, and why.
    pub dropped: Dropped,
    /// The number of dynamic and kinematic bodies that were awake after the last step.
    pub awake: usize,
    /// The number of values of [`ForceGenerator`](crate::ForceGenerator)s that were ignored because they were not
    /// finite.
    pub rejected_forces: u64,
    /// The number of forces and impulses that were added since the frame before, and discarded because time stopped: see
    /// [Forces](crate::Physics#forces).
    pub forgotten_forces: u64,
    /// What happened to the poses.
    pub poses: PoseCounts,
    /// How far the origin of this picture is from that of the picture before, in metres: see
    /// [`shift_origin`](crate::Physics::shift_origin). Subtract it from the position of a camera, and from all else that
    /// you keep in world space. After a rollback or a restored state it takes the camera back.
    pub origin_shift: Vector,
}

impl Frame {
    /// The ticks of the steps made in this frame. Fewer if a lower tick was set while the frame was open.
    #[must_use]
    pub fn ticks(&self) -> Range<u64> {
        self.tick.saturating_sub(self.steps)..self.tick
    }
}
