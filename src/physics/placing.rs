//! Teleporting bodies, and moving them to targets.

use std::time::Duration;

use crate::dim::normalized;
use crate::key::{BodyError, BodyKey};
use crate::pose::ErrorChange;
use rapier::dynamics::{RigidBodyHandle, RigidBodyType};
use rapier::math::{Pose, Vector};
use rapier::pipeline::PhysicsWorld;

use super::{Physics, Stage, StepAtHand, VectorError};

/// # Placing
///
/// These methods move bodies without forces.
impl Physics {
    /// Teleports a body to a pose without motion in between, and wakes it. `pose` is in world space, and its rotation
    /// is normalised.
    ///
    /// The next frame displays the body at that pose, not between the old and the new one. If it is
    /// [extrapolated](crate::Smoothing::Extrapolate), it is displayed beyond that pose only after the next step. Its
    /// velocity does not change. A [target](Self::set_kinematic_target) is removed. The links of a multibody move with
    /// its root.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    /// # let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// simulation.advance(Duration::from_millis(20), |_, _| ());
    /// let there = Pose::from_translation(Vector::X * 100.0);
    /// simulation.physics.teleport(ball, there)?;
    /// simulation.advance(Duration::from_millis(5), |_, _| ()); // no step
    /// assert_eq!(simulation.pose(ball), Some(there));
    /// assert_eq!(simulation.physics.body(ball).unwrap().linvel().x, 1.0);
    /// # Ok::<(), evenstep::BodyError>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body; [`BodyError::NotFinite`] and [`BodyError::NotARotation`] for an
    /// invalid `pose`; [`BodyError::Dependent`] for a body whose pose follows from that of others;
    /// [`BodyError::LinkNotDynamic`] for the root of a multibody with a link that is not dynamic.
    pub fn teleport(&mut self, key: BodyKey, pose: Pose) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let pose = self.placeable(key, handle, pose)?;
        self.world.rapier.bodies[handle].set_position(pose, true);
        self.targets.remove(key);
        self.show_teleported(key, handle, pose);
        self.place_links(handle);
        Ok(())
    }

    /// Returns the pose for a body, if it is a valid pose and Rapier allows the body to be moved there.
    fn placeable(
        &self,
        key: BodyKey,
        handle: RigidBodyHandle,
        pose: Pose,
    ) -> Result<Pose, BodyError> {
        if self.world.is_dependent(handle) {
            return Err(BodyError::Dependent(key));
        }
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

    /// Moves the links of a multibody to where its new root position puts them, at once and not only in the next step.
    fn place_links(&mut self, root: RigidBodyHandle) {
        for link in self.world.place_links(root) {
            if let Some(key) = self.world.keys.key(link)
                && let Some(position) = self.world.position(link)
            {
                self.show_teleported(key, link, position);
            }
        }
    }

    /// Displays a teleported body at its new position.
    fn show_teleported(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        let tick = self.tick;
        if position.is_finite() {
            self.pairs.teleport(key, handle, position, tick);
            self.note_teleport(key);
        }
    }

    /// Turns the visual error of a body that was turned together with its motion.
    fn turn_error(&mut self, key: BodyKey, by: &Pose) {
        self.log
            .errors
            .push(ErrorChange::Turn(key, *by, self.origin));
        let change = self.log.smoothings.get_mut(&key);
        if let Some(path) = change.and_then(|change| change.path.as_mut()) {
            path.turn(by.rotation);
        }
    }

    /// Moves a body and its motion by an isometry of the world, and wakes it: for a portal, or the edge of a world that
    /// wraps around.
    ///
    /// Its pose, its velocities, both displayed states and its [target](Self::set_kinematic_target) are all moved, so
    /// seen from the other side of the portal its motion continues without a jump. For this tick and earlier ones,
    /// [`pose_at`](crate::Simulation::pose_at) and [`world_at`](crate::Simulation::world_at) still have it on the entry
    /// side.
    ///
    /// `by` maps the entry to the exit: the pose becomes `by * pose`. The rotation of `by` is normalised. The links of
    /// a multibody move with its root.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # let mut simulation = Simulation::default();
    /// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    /// let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// let quarter_turn = Rotation::from_rotation_arc(Vector::X, Vector::Y);
    /// simulation.physics.teleport_by(ball, Pose::from_parts(Vector::Y * 5.0, quarter_turn))?;
    /// assert_eq!(simulation.physics.body(ball).unwrap().translation(), Vector::Y * 5.0);
    /// assert!(simulation.physics.body(ball).unwrap().linvel().abs_diff_eq(Vector::Y, 1e-6));
    /// # Ok::<(), evenstep::BodyError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`teleport`](Self::teleport), with `by` in place of `pose`, and [`BodyError::NotFinite`] if the result is
    /// not finite.
    pub fn teleport_by(&mut self, key: BodyKey, by: Pose) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let by = self.placeable(key, handle, by)?;
        let moved = self
            .world
            .transform(handle, &by)
            .ok_or(BodyError::NotFinite(key))?;
        self.targets.transform(key, &by);
        let links = moved.into_iter();
        let links = links.filter_map(|link| Some((self.world.keys.key(link)?, link)));
        let all: Vec<_> = [(key, handle)].into_iter().chain(links).collect();
        let tick = self.tick;
        for (key, handle) in all {
            if self.pairs.transport(key, handle, &by, tick) {
                self.turn_error(key, &by);
            }
        }
        Ok(())
    }

    /// Makes `origin`, a point in world space, the new origin of the world. Use it in worlds so large that f32 is too
    /// coarse far from the origin.
    ///
    /// All positions move by −`origin`: bodies, colliders without a body, soft bodies, the data of queries, the poses
    /// of the next frame, [targets](Self::set_kinematic_target), pending forces and the anchors of
    /// [`ForceGenerator::Spring`](crate::forces::ForceGenerator::Spring). Joints move with their bodies, and the
    /// colliders of soft bodies follow in the next step. No velocity changes, and sleeping bodies are still asleep
    /// after the next step. Your game has to move what it keeps in world space itself, such as its camera, and what a
    /// [`ForceGenerator::custom`](crate::forces::ForceGenerator::custom) has captured.
    /// [`Frame::origin_shift`](crate::Frame::origin_shift) has the distance, in the frame that displays the new origin.
    ///
    /// If you use rollback, shift the origin in a hook, so that [resimulation repeats the
    /// shift](crate::Simulation#what-is-resimulated). [`pose_at`](crate::Simulation::pose_at) and
    /// [`world_at`](crate::Simulation::world_at) then return earlier ticks in the coordinates of those ticks. A shift
    /// outside of a hook discards the [states and poses](crate::Simulation::keep) of
    /// earlier ticks. They are also discarded if the step in which you shift
    /// the origin is dropped, because no step would shift it again.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let body = RigidBodyBuilder::dynamic().translation(Vector::X * 4_000.0);
    /// # let ship = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// let mut camera = simulation.pose(ship).unwrap().translation;
    /// simulation.physics.shift_origin(camera)?;
    /// let frame = simulation.advance(Duration::ZERO, |_, _| ());
    /// camera -= frame.origin_shift;
    /// assert_eq!(simulation.pose(ship).unwrap().translation, camera);
    /// # Ok::<(), evenstep::VectorError>(())
    /// ```
    ///
    /// # Cost and precision
    /// [`moved`](crate::Simulation::moved) lists every body once. In the next step Rapier finds all contacts again and
    /// computes sleeping bodies too, so [`Frame::awake`](crate::Frame::awake) counts them once. Shift rarely, by large
    /// distances.
    ///
    /// Positions that are shifted from far out to near the origin are not rounded, and the contacts of the next step
    /// are the same bit for bit (in two dimensions, except for rounding). Other shifts round to the spacing of f32 at
    /// the larger distance, 0.03 mm at 500 m. The sleep timer of each awake body starts again, because Rapier takes the
    /// shift for motion.
    ///
    /// # Errors
    /// [`VectorError`] if `origin` is not finite.
    pub fn shift_origin(&mut self, origin: Vector) -> Result<(), VectorError> {
        if !origin.is_finite() {
            return Err(VectorError(origin));
        }
        self.detect_edits();
        if matches!(self.stage, Stage::Before(_) | Stage::After(_)) {
            let replaced = &mut self.past_edits.replaced;
            replaced.get_or_insert_with(|| Box::new(self.pairs.clone()));
        } else {
            // No resimulated step would repeat the shift.
            self.past_edits.is_cut = true;
        }
        let by = Pose::from_translation(-origin);
        self.origin.shift(origin);
        self.world.translate(by.translation);
        self.targets.transform_all(&by);
        self.forces.translate(by.translation);
        let tick = self.tick;
        let all: Vec<_> = self.world.keys.iter().collect();
        self.pairs.shift(&by);
        for (key, handle) in all {
            self.pairs.transform(key, handle, &by, tick);
        }
        Ok(())
    }

    /// Moves a body that is kinematic by position to `pose`, to arrive at `time`.
    ///
    /// `pose` is in world space. Its rotation is normalised. The body turns along the shorter arc. `time` is simulated
    /// time, like [`Clock::time`](crate::time::Clock::time) and [`Step::start_time`](crate::Step::start_time): it stops
    /// during a pause and is slower in slow motion. For the end of the frame that is about to be advanced, use
    /// [`Clock::time_after`](crate::time::Clock::time_after). A time in the past means the next step.
    ///
    /// Set a target once for a motion of any length, or once per frame. The motion is spread evenly over the steps
    /// until `time`, so passengers and pushed bodies feel the velocity that the player sees. (If you gave Rapier a
    /// target once per frame, the body would reach it in the frame's first step and not move in the others.) The pose
    /// of each step is computed from where the motion began, so rounding errors do not add up.
    ///
    /// For the same run at every frame rate, set targets in the hook before a step, at times that do not depend on
    /// frames. A target for the end of each frame, as below, moves the body evenly, but the frame times decide where
    /// the body is in each step.
    ///
    /// A later target replaces an earlier one and starts at the body's current pose. Setting the same target again
    /// changes nothing. If the body's position is set through Rapier during the motion, the rest of the motion starts
    /// there. A target lasts until its last step has run. Then the body is at rest.
    ///
    /// A disabled body stays where it is. If it is enabled before `time`, it continues from there and still arrives at
    /// `time`, so it moves faster than before. If that is too fast, set another target when you enable it. If it is
    /// enabled later, the target is over, and it stays.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(60));
    /// let lift = simulation.physics.insert(
    ///     RigidBodyBuilder::kinematic_position_based(),
    ///     ColliderBuilder::capsule_x(2.0, 0.1),
    /// );
    /// for _ in 0..15 {
    ///     let frame_time = Duration::from_millis(66); // four steps
    ///     let time = simulation.clock().time_after(frame_time);
    ///     let height = 2.0 * time.as_secs_f32();
    ///     simulation.physics.set_kinematic_target(lift, Pose::from_translation(Vector::Y * height), time)?;
    ///     simulation.advance(frame_time, |physics, _| {
    ///         let speed = physics.body(lift).unwrap().linvel().y; // in the previous step
    ///         assert!(physics.tick() == 0 || (speed - 2.0).abs() < 0.01);
    ///     });
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`], [`BodyError::NotARotation`] like [`teleport`](Self::teleport);
    /// [`BodyError::NotKinematic`] if the body is of another type.
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
        match self.stage {
            Stage::Before(StepAtHand { step, .. }) => {
                targets.set_in_step(key, &mut bodies[handle], pose, time, step);
            }
            _ => targets.set(key, pose, time),
        }
        Ok(())
    }

    /// Sets the previous pose of a body that was just inserted or teleported to where it would have been one step
    /// earlier, from its velocity and the length of the last step. The body is then displayed in motion from its first
    /// frame on.
    ///
    /// Without this call, a body that is inserted between two steps is displayed at rest until the next step. With it,
    /// a bullet leaves the muzzle in its first frame. Until the next step it is displayed up to one step's motion
    /// behind its position, like everything else in the frame. You do not need this call in the hook before a step: the
    /// body moves in that step.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// let mut simulation = Simulation::default();
    /// simulation.advance(Duration::from_millis(25), |_, _| ()); // half a step is left over
    /// let [rifle, musket] = [0; 2].map(|_| {
    ///     let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m per step
    ///     simulation.physics.insert(body, ColliderBuilder::ball(0.01))
    /// });
    /// simulation.physics.start_in_motion(rifle)?;
    /// simulation.advance(Duration::from_millis(5), |_, _| ()); // no step
    /// let x = |key| simulation.pose(key).unwrap().translation.x;
    /// assert!((x(rifle) + 0.2).abs() < 1e-3); // moving, 0.2 steps in the past
    /// assert_eq!(x(musket), 0.0);
    /// # Ok::<(), evenstep::BodyError>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn start_in_motion(&mut self, key: BodyKey) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        // Earlier edits of its position must not be detected after this call.
        self.detect_edits();
        let PhysicsWorld {
            bodies, colliders, ..
        } = &mut self.world.rapier;
        // Rapier would compute the mass properties only in the next step.
        bodies[handle].recompute_mass_properties_from_colliders(colliders);
        if let Some(pair) = self.pairs.of_step(key) {
            self.past_edits.previous.push((key, pair.previous));
        }
        let (smoothing, dt) = (self.smoothing.of(key), self.dt());
        // The path that is displayed from now on has the new smoothing already.
        self.log.smoothings.remove(&key);
        let Self { pairs, world, .. } = self;
        pairs.start_in_motion(key, handle, world, smoothing, dt);
        Ok(())
    }

    /// Returns the handle of a body that the game wants to change.
    pub(super) fn try_handle(&self, key: BodyKey) -> Result<RigidBodyHandle, BodyError> {
        self.handle(key).ok_or(BodyError::Gone(key))
    }
}

/// Returns a finite pose with a rotation of unit length.
pub(super) fn checked(key: BodyKey, pose: Pose) -> Result<Pose, BodyError> {
    if !pose.is_finite() {
        return Err(BodyError::NotFinite(key));
    }
    normalized(pose).ok_or(BodyError::NotARotation(key))
}
