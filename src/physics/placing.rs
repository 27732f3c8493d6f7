//! Teleporting bodies, and moving them to targets.

use std::time::Duration;

use crate::dim::normalized;
use crate::key::{BodyError, BodyKey};
use crate::pose::Change;
use rapier::dynamics::{RigidBodyHandle, RigidBodyType};
use rapier::math::{Pose, Vector};

use super::{Physics, Stage, StepAtHand, VectorError};

/// # Placing
///
/// Poses are in world space, and their rotations are normalised.
impl Physics {
    /// Teleports a body to a pose without motion in between, and wakes it if it moves.
    ///
    /// Its velocity does not change. A [target](Self::set_kinematic_target) is removed. The links of a multibody move
    /// with its root.
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`], [`BodyError::NotARotation`], [`BodyError::Dependent`] and
    /// [`BodyError::LinkNotDynamic`].
    #[doc(alias("set_position", "set_translation"))]
    pub fn teleport(&mut self, key: BodyKey, pose: Pose) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let pose = self.placeable(key, handle, pose)?;
        self.world.rapier.bodies[handle].set_position(pose, true);
        self.targets.remove(key);
        self.show_teleported(key, handle, pose);
        self.place_links(handle);
        Ok(())
    }

    /// Returns the pose with its rotation normalised, or the reason why the body cannot be moved to it or by it.
    fn placeable(
        &self,
        key: BodyKey,
        handle: RigidBodyHandle,
        pose: Pose,
    ) -> Result<Pose, BodyError> {
        // The next step would undo the move, because this pose follows from other bodies.
        if self.world.is_dependent(handle) {
            return Err(BodyError::Dependent(key));
        }
        // The links move with the root, and Rapier does not allow one that is not dynamic.
        let bodies = &self.world.rapier.bodies;
        if self
            .world
            .links(handle)
            .any(|link| !bodies[link].is_dynamic())
        {
            return Err(BodyError::LinkNotDynamic(key));
        }
        checked(key, pose)
    }

    /// Moves the links of a multibody with its new root position at once, not only in the next step.
    fn place_links(&mut self, root: RigidBodyHandle) {
        for link in self.world.place_links(root) {
            if let Some(key) = self.world.keys.key(link)
                && let Some(position) = self.world.position(link)
            {
                self.show_teleported(key, link, position);
            }
        }
    }

    /// Lets the next frame display a body at this position, without blending it with the pose before.
    fn show_teleported(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        let tick = self.tick;
        // The last finite pose stays displayed.
        if position.is_finite() {
            self.pairs.teleport(key, handle, position, tick);
            self.note_teleport(key);
        }
    }

    /// Moves a body through a portal: its pose and its motion by the same isometry. Wakes it.
    ///
    /// `by` maps the entry to the exit: the pose becomes `by * pose`. Velocities, pending forces, both displayed
    /// states, the [target](Self::set_kinematic_target) and the links of a multibody are moved too. [Earlier
    /// poses](crate::Simulation::pose_at), up to this tick, stay on the entry side.
    ///
    /// # Errors
    /// Like [`teleport`](Self::teleport), and [`BodyError::NotFinite`] if the result is not finite.
    #[doc(alias = "portal")]
    pub fn teleport_by(&mut self, key: BodyKey, by: Pose) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let by = self.placeable(key, handle, by)?;
        // Earlier edits are detected as teleports before the portal changes the poses with which they are compared.
        self.detect_edits();
        let links = self
            .world
            .transform(handle, &by)
            .ok_or(BodyError::NotFinite(key))?;
        self.targets.transform(key, &by);
        let links = links.into_iter();
        let links = links.filter_map(|link| Some((self.world.keys.key(link)?, link)));
        let all: Vec<_> = [(key, handle)].into_iter().chain(links).collect();
        let (tick, first_tick_after) = (self.tick, self.first_tick_after_edit());
        for (key, handle) in all {
            let pushes = (self.forces.pending_mut()).chain(&mut self.running.step_pushes);
            for pushed in pushes.filter(|it| it.key == key) {
                pushed.turn(by.rotation);
            }
            // The visual error goes through the portal with the displayed poses, unless these would not be finite.
            if (self.pairs).transport(key, handle, &self.world, &by, tick) {
                let change = Change::Transformed(key, by, self.origin, first_tick_after);
                self.running.changes.list.push(change);
            }
        }
        Ok(())
    }

    /// Makes `origin`, a point in world space, the new origin, for worlds so large that f32 is too coarse.
    ///
    /// All positions move by −`origin`, even displayed poses, [targets](Self::set_kinematic_target), and the anchors of
    /// [springs](crate::forces::ForceGenerator::Spring). The colliders of soft bodies follow in the next step. No
    /// velocity changes. Sleeping bodies stay asleep, except soft ones and those that touch a body, or have a joint to
    /// one, to which the game has had mutable access since the last step; after access to the whole world, all wake.
    /// Subtract [`Frame::origin_shift`](crate::Frame::origin_shift) from positions that your game keeps. Rapier
    /// remembers targets of shape matching, so set `None` for the next step, and the new target after it.
    ///
    /// Call it in the hook before or after a step. A shift between steps, or in a step that is dropped, discards
    /// earlier [poses](crate::Simulation::pose_at) and [worlds](crate::Simulation::world_at), and those of the present
    /// tick until the next frame.
    ///
    /// # Cost and precision
    /// Shift rarely, by large distances: [`moved`](crate::Simulation::moved) lists every body, and in the next step
    /// Rapier finds all contacts again, even of sleeping bodies. Sleep timers of awake bodies start again.
    ///
    /// Positions that are shifted from far out to near the origin are not rounded. Other shifts round to the spacing of
    /// f32 at the larger distance, 0.03 mm at 500 m.
    ///
    /// # Errors
    /// [`VectorError`] if `origin` is not finite.
    #[doc(alias = "floating_origin")]
    pub fn shift_origin(&mut self, origin: Vector) -> Result<(), VectorError> {
        if !origin.is_finite() {
            return Err(VectorError(origin));
        }
        // Positions that the game has set are compared with those after the last step before both are shifted.
        self.detect_edits();
        let is_in_step = self.running.step_at_hand().is_some();
        let origin_shifts = &mut self.running.origin_shifts;
        if is_in_step {
            // The displayed paths of earlier ticks end at the poses before this step's first shift, so these are kept.
            let before = || Box::new(self.pairs.clone());
            origin_shifts.poses_before_shift.get_or_insert_with(before);
        } else {
            // No resimulated step would repeat the shift, so a rollback to an earlier tick could not lead here again.
            origin_shifts.any_between_steps = true;
        }
        let by = Pose::from_translation(-origin);
        self.origin.shift(origin);
        self.world.translate(by.translation);
        self.targets.transform_all(&by);
        self.forces.translate(by.translation);
        let tick = self.tick;
        let all: Vec<_> = self.world.keys.iter().collect();
        self.pairs.shift_paths_before_edits(&by);
        for (key, handle) in all {
            (self.pairs).transform(key, handle, &self.world, &by, tick);
        }
        Ok(())
    }

    /// Moves a body that is kinematic by position to `pose`, to arrive at `time`, in simulated time, or in the next
    /// step if that has passed. The body turns along the shorter arc.
    ///
    /// The motion is spread evenly over the steps until `time`, so set a target once, in the hook before a step. If you
    /// know the path only once per frame, set a target before each frame, for
    /// [`Clock::time_after`](crate::time::Clock::time_after).
    ///
    /// A later target replaces an earlier one. Setting the same target again changes nothing. If the body's position is
    /// set through Rapier, the rest of the motion starts there. A disabled body waits, and arrives in time if it is
    /// enabled before.
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`], [`BodyError::NotARotation`], and [`BodyError::NotKinematic`].
    #[doc(alias("move_kinematic", "move_position"))]
    pub fn set_kinematic_target(
        &mut self,
        key: BodyKey,
        pose: Pose,
        time: Duration,
    ) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let pose = checked(key, pose)?;
        let Self { world, targets, .. } = self;
        let bodies = &mut world.rapier.bodies;
        if bodies[handle].body_type() != RigidBodyType::KinematicPositionBased {
            return Err(BodyError::NotKinematic(key));
        }
        match self.running.stage {
            // The targets of this step were applied when it began.
            Stage::Before(StepAtHand { step, .. }) => {
                targets.set_in_step(key, &mut bodies[handle], pose, time, step);
            }
            _ => targets.set(key, pose, time),
        }
        Ok(())
    }

    pub(super) fn try_handle(&self, key: BodyKey) -> Result<RigidBodyHandle, BodyError> {
        self.handle(key).ok_or(BodyError::Gone(key))
    }
}

/// Returns the pose with its rotation normalised, or the error for the body `key`.
pub(super) fn checked(key: BodyKey, pose: Pose) -> Result<Pose, BodyError> {
    if !pose.is_finite() {
        return Err(BodyError::NotFinite(key));
    }
    normalized(pose).ok_or(BodyError::NotARotation(key))
}
