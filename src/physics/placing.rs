//! Putting bodies elsewhere, and moving them by targets.

use std::time::Duration;

use crate::dim::normalized;
use crate::key::BodyKey;
use crate::pose::ErrorChange;
use crate::step::BodyError;
use rapier::dynamics::{RigidBodyHandle, RigidBodyType};
use rapier::math::{Pose, Vector};
use rapier::pipeline::PhysicsWorld;

use super::{Physics, Stage};
use crate::pose::OriginError;

/// # Placing
///
/// Moving bodies other than by forces.
impl Physics {
    /// Moves a body to another pose without motion in between, and wakes it. `pose` is in world space; its rotation is
    /// normalised.
    ///
    /// The next frame displays the body there, never in between; if it is
    /// [extrapolated](crate::Smoothing::Extrapolate), it is displayed beyond that pose only after the next step. Its
    /// velocity stays, a [target](Self::set_kinematic_target) is removed. The links of a multibody move with its root.
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
    /// [`BodyError::Gone`] if there is no such body; [`BodyError::NotFinite`] and
    /// [`BodyError::NotARotation`] for an invalid `pose`; [`BodyError::Dependent`] for a body whose
    /// pose follows from that of others; [`BodyError::LinkNotDynamic`] for the root of a multibody with a link that is not
    /// dynamic.
    pub fn teleport(&mut self, key: BodyKey, pose: Pose) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let pose = self.placeable(key, handle, pose)?;
        self.world.physics.bodies[handle].set_position(pose, true);
        self.targets.remove(key);
        self.show_teleported(key, handle, pose);
        self.place_links(handle);
        Ok(())
    }

    /// The pose that a body can be put to: one that is a pose, of a body that Rapier lets be put there.
    fn placeable(
        &self,
        key: BodyKey,
        handle: RigidBodyHandle,
        pose: Pose,
    ) -> Result<Pose, BodyError> {
        if self.world.is_dependent(handle) {
            return Err(BodyError::Dependent(key));
        }
        let bodies = &self.world.physics.bodies;
        if self
            .world
            .links(handle)
            .any(|link| !bodies[link].is_dynamic())
        {
            return Err(BodyError::LinkNotDynamic(key));
        }
        checked(key, pose)
    }

    /// The links of a multibody are where its root has been put at once, and not only in the next step.
    fn place_links(&mut self, root: RigidBodyHandle) {
        for link in self.world.place_links(root) {
            if let Some(key) = self.world.keys.key(link)
                && let Some(position) = self.world.position(link)
            {
                self.show_teleported(key, link, position);
            }
        }
    }

    /// The body was put there, and is shown there.
    fn show_teleported(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        let tick = self.tick;
        if position.is_finite() {
            self.pairs.teleport(key, handle, position, tick);
            self.note_teleport(key);
        }
    }

    /// The visual error of a body that was moved together with its motion is turned with it.
    fn turn_error(&mut self, key: BodyKey, by: &Pose) {
        let turn = ErrorChange::Turn(key, by.rotation);
        self.log.errors.push(turn);
    }

    /// Moves a body and its motion by an isometry of the world, and wakes it: for a portal, or the
    /// edge of a world that wraps around.
    ///
    /// Its pose, its velocities, both displayed states and its [target](Self::set_kinematic_target) are moved
    /// alike, so seen from the other side of the portal it moves on without a jump. What
    /// [`pose_at`](crate::Simulation::pose_at) and [`world_at`](crate::Simulation::world_at) know of this tick and earlier
    /// ones stays on this side.
    ///
    /// `by` maps the entry to the exit: the pose becomes `by * pose`. Its
    /// rotation is normalised. The links of a multibody move with its root.
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
    /// As [`teleport`](Self::teleport), with `by` for `pose`; and [`BodyError::NotFinite`] if the
    /// result is not finite.
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
            self.log.counts.teleported += 1;
        }
        Ok(())
    }

    /// Makes `origin`, a point in world space, the new origin of the world: for worlds so large that f32 is too coarse
    /// far from their origin.
    ///
    /// Bodies, colliders without a body, soft bodies, what the queries know, the poses of the next frame,
    /// [targets](Self::set_kinematic_target), pending forces
    /// and the anchors of [`ForceGenerator::Spring`](crate::ForceGenerator::Spring) are all moved by −`origin`;
    /// joints move with their bodies, the colliders of soft bodies follow in the next step. No velocity changes, and
    /// sleeping bodies sleep on after the next step. Your game has to move what it holds in world space itself, such as its
    /// camera, and what a [`ForceGenerator::custom`](crate::ForceGenerator::custom) has captured:
    /// [`Frame::origin_shift`](crate::Frame::origin_shift) says by how much, in the frame that displays the new origin.
    ///
    /// For a rollback, shift it in a hook, which [does so again](crate::Simulation#what-is-resimulated):
    /// [`pose_at`](crate::Simulation::pose_at) and [`world_at`](crate::Simulation::world_at) then give earlier ticks in their
    /// own coordinates. Elsewhere the [states](crate::Simulation::set_rewind_limits) and
    /// [poses](crate::Simulation::set_history) of earlier ticks are discarded. They are too if the step in which you shift it
    /// is dropped, because no step would shift it again.
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
    /// # Ok::<(), evenstep::OriginError>(())
    /// ```
    ///
    /// # Cost and precision
    /// [`moved`](crate::Simulation::moved) lists every body once. In the next step all contacts are found again, and bodies
    /// that sleep are computed too, so that [`Frame::awake`](crate::Frame::awake) counts them once: shift rarely, by large
    /// distances.
    /// Positions that are shifted from far out to near the origin are not rounded, and the contacts of the next step are
    /// the same to the bit, in two dimensions but for rounding. Other shifts round to the spacing of f32 at the larger distance, 0.03 mm at 500 m. The sleep
    /// timer of each body that is awake starts again: Rapier takes the shift for motion.
    ///
    /// # Errors
    /// An [`OriginError`] if `origin` is not finite.
    pub fn shift_origin(&mut self, origin: Vector) -> Result<(), OriginError> {
        if !origin.is_finite() {
            return Err(OriginError(origin));
        }
        self.notice_edits();
        if matches!(self.stage, Stage::Before(_) | Stage::After) {
            let replaced = &mut self.past_edits.replaced;
            replaced.get_or_insert_with(|| Box::new(self.pairs.clone()));
        } else {
            // No step that is resimulated would do it again.
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
            if self.pairs.transform(key, handle, &by, tick) {
                self.turn_error(key, &by);
            }
        }
        Ok(())
    }

    /// Moves a body that is kinematic by position to `pose`, to arrive at `time`.
    ///
    /// `pose` is in world space. Its rotation is normalised; the body turns along the shorter arc. `time` is simulated
    /// time, as [`Clock::time`](crate::Clock::time) and [`Step::time`](crate::Step::time): it stands still in a pause and is
    /// slower in slow motion. For the end of the frame that is about to be advanced, use
    /// [`Clock::time_after`](crate::Clock::time_after). A time in the past means the next step.
    ///
    /// Set a target once a frame, or once for a motion of hours. The motion is spread evenly over the steps until then, so
    /// that what rides on the body or is pushed by it feels the velocity that is seen. (A target that was given to Rapier
    /// once a frame would be reached in the frame's first step, and the body would stand still in the others.) Each step's
    /// pose is computed from where the motion began, so rounding does not add up.
    ///
    /// A later target replaces an earlier one and starts where the body is; the same target again changes nothing. If
    /// the body's position is set through Rapier on its way, the rest of the motion starts there. A target lasts until a
    /// step was made for it; then the body stands still.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(60)?);
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
    ///         let speed = physics.body(lift).unwrap().linvel().y; // in the step before
    ///         assert!(physics.tick() == 0 || (speed - 2.0).abs() < 0.01);
    ///     });
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`], [`BodyError::NotARotation`] as
    /// [`teleport`](Self::teleport); [`BodyError::NotKinematic`] if the body is of another type.
    pub fn set_kinematic_target(
        &mut self,
        key: BodyKey,
        pose: Pose,
        time: Duration,
    ) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let pose = checked(key, pose)?;
        let Self { world, targets, .. } = self;
        let bodies = &mut world.physics.bodies;
        if bodies[handle].body_type() != RigidBodyType::KinematicPositionBased {
            return Err(BodyError::NotKinematic(key));
        }
        match self.stage {
            Stage::Before(step) => {
                targets.set_in_step(key, &mut bodies[handle], pose, time, step);
            }
            _ => targets.set(key, pose, time),
        }
        Ok(())
    }

    /// Gives a body that was just inserted or teleported the previous pose that it would have had one step earlier, by
    /// its velocity and the length of the last step, so that it is shown in motion from its first frame on.
    ///
    /// Without it, a body that is inserted between two steps stands still until the next one. With it, a bullet leaves
    /// the muzzle in its first frame; until the next step it is shown up to a step's motion behind where it was put, as
    /// everything else in the frame is. In the hook before a step it is not needed: the body moves in that step.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// let mut simulation = Simulation::default();
    /// simulation.advance(Duration::from_millis(25), |_, _| ()); // half a step is left over
    /// let [rifle, musket] = [0; 2].map(|_| {
    ///     let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m a step
    ///     simulation.physics.insert(body, ColliderBuilder::ball(0.01))
    /// });
    /// simulation.physics.set_previous_from_velocity(rifle)?;
    /// simulation.advance(Duration::from_millis(5), |_, _| ()); // no step
    /// let x = |key| simulation.pose(key).unwrap().translation.x;
    /// assert!((x(rifle) + 0.2).abs() < 1e-3); // moving, 0.2 steps in the past
    /// assert_eq!(x(musket), 0.0);
    /// # Ok::<(), evenstep::BodyError>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_previous_from_velocity(&mut self, key: BodyKey) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        // Where it was put before this is known from here on.
        self.notice_edits();
        let PhysicsWorld {
            bodies, colliders, ..
        } = &mut self.world.physics;
        // Rapier would do so in the next step only.
        bodies[handle].recompute_mass_properties_from_colliders(colliders);
        if let Some(pair) = self.pairs.of_step(key) {
            self.past_edits.previous.push((key, pair.previous));
        }
        let Self {
            pairs, world, log, ..
        } = self;
        let smoothing = self.smoothing.of(key);
        if pairs.set_previous_from_velocity(key, handle, world, smoothing, self.dt) {
            log.counts.set_from_velocity += 1;
        }
        Ok(())
    }

    /// The handle of a body that a game wants to change.
    pub(super) fn try_handle(&self, key: BodyKey) -> Result<RigidBodyHandle, BodyError> {
        self.handle(key).ok_or(BodyError::Gone(key))
    }
}

/// A finite pose with a rotation of unit length.
fn checked(key: BodyKey, pose: Pose) -> Result<Pose, BodyError> {
    if !pose.is_finite() {
        return Err(BodyError::NotFinite(key));
    }
    normalized(pose).ok_or(BodyError::NotARotation(key))
}
