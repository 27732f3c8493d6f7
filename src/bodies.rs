//! What a game does to bodies, and to the world that they are in.

use std::time::Duration;

use rapier3d::dynamics::{RigidBody, RigidBodyHandle, RigidBodyType};
use rapier3d::geometry::{Collider, ColliderHandle};
use rapier3d::math::{Pose, Vector};
use rapier3d::pipeline::PhysicsWorld;

use crate::forces::{BodyError, Generator, Push};
use crate::key::{BodyKey, GeneratorKey};
use crate::simulation::Simulation;

/// # Bodies
impl Simulation {
    /// Inserts a body and its collider.
    ///
    /// Its pose can be asked for at once. Its first motion starts from there, in the next step.
    pub fn insert(&mut self, body: impl Into<RigidBody>, collider: impl Into<Collider>) -> BodyKey {
        let (handle, _) = self.world.physics.insert(body, collider);
        self.key_for(handle)
    }

    /// Inserts a body without a collider: an anchor for joints, or one that gets several colliders.
    pub fn insert_body(&mut self, body: impl Into<RigidBody>) -> BodyKey {
        let handle = self.world.physics.insert_body(body);
        self.key_for(handle)
    }

    /// Attaches another collider to a body; `None` if the body is gone.
    ///
    /// A collider without a body is for Rapier alone: [`world_mut`](Self::world_mut).
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Option<ColliderHandle> {
        let parent = self.handle(key)?;
        // Its mass may be elsewhere from now on.
        self.poses.touch(key, parent);
        Some(self.world.physics.insert_collider(collider, Some(parent)))
    }

    /// Gives a key to a body that was made through Rapier's own API; its own key if it has one,
    /// `None` if there is no such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.world.physics.bodies.contains(handle) {
            return None;
        }
        Some(
            self.world
                .key(handle)
                .unwrap_or_else(|| self.key_for(handle)),
        )
    }

    fn key_for(&mut self, handle: RigidBodyHandle) -> BodyKey {
        let (key, dead) = self.world.keys.insert(handle);
        if let Some(dead) = dead {
            self.died(dead);
        }
        let position = *self.world.physics.bodies[handle].position();
        self.poses.insert(key, handle, position);
        key
    }

    /// Removes a body with its colliders, joints and generators, and gives it back; `None` if it
    /// is gone already. Its key is dead from now on.
    ///
    /// The bodies that it touches get their `Stopped` events in the next step.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.world.keys.remove(key)?;
        self.died(key);
        self.world.physics.remove_body(handle)
    }

    /// The body of this key; `None` if it is gone.
    #[must_use]
    pub fn get(&self, key: BodyKey) -> Option<&RigidBody> {
        self.world.get(key)
    }

    /// The body of this key, to change anything about it; `None` if it is gone.
    ///
    /// A position that is set here shows in the next frame, without a way from the old one.
    pub fn get_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let handle = self.world.keys.handle(key)?;
        let body = self.world.physics.bodies.get_mut(handle)?;
        self.poses.touch(key, handle);
        Some(body)
    }

    /// Rapier's handle of a body, for joints, ray casts and its own API; `None` if it is gone.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.world.handle(key)
    }

    /// The key of a body that Rapier names; `None` if the body is gone or has no key: see
    /// [`track`](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.world.key(handle)
    }

    /// The key of the body that a collider is attached to: for ray casts and other queries.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.key(self.world.physics.colliders.get(handle)?.parent()?)
    }

    /// Rapier's world: all its sets, queries and parameters.
    #[must_use]
    pub fn world(&self) -> &PhysicsWorld {
        &self.world.physics
    }

    /// Rapier's world, to change anything.
    ///
    /// Rapier does not tell which bodies were changed, so the next frame looks at every body with
    /// a key once, a few nanoseconds each: for a single body use [`get_mut`](Self::get_mut). A body
    /// that is removed here is noticed: its key is dead at once. Stepping the world here makes a
    /// step that the clock knows nothing of; the length of a step that is set here is not used.
    pub fn world_mut(&mut self) -> &mut PhysicsWorld {
        self.edited = true;
        &mut self.world.physics
    }

    /// The keys that died between the last frame and the one before it, in whatever way their
    /// bodies were removed: for a host that keeps a table by key.
    ///
    /// A slotmap's `SecondaryMap` drops the entry of a dead key in silence when a later key takes
    /// its place: a table that has more to do for such an entry is better a `BTreeMap`.
    ///
    /// A body that was removed through Rapier's own API is listed in the frame after
    /// [`world_mut`](Self::world_mut) was used for it.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }
}

/// # Placing
///
/// What is not moved by forces.
impl Simulation {
    /// Puts a body elsewhere at once and wakes it: it is shown there from now on, never on the
    /// way, and if it is [extrapolated](crate::Smoothing::Extrapolate) beyond it only after the next
    /// step. Its velocity stays, a [target](Self::set_target) is forgotten. `pose` is in world space,
    /// its rotation of unit length.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body, [`BodyError::NotFinite`] if `pose` is not
    /// finite.
    pub fn teleport(&mut self, key: BodyKey, pose: Pose) -> Result<(), BodyError> {
        let handle = self.living(key, pose.is_finite())?;
        self.world.physics.bodies[handle].set_position(pose, true);
        self.targets.remove(key);
        self.poses.touch(key, handle);
        self.poses.teleport(key, handle, pose);
        Ok(())
    }

    /// Moves a body and its motion by an isometry of the world, and wakes it: for a portal, or the
    /// edge of a world that wraps around.
    ///
    /// Its pose, its velocities, both states that are shown, its [target](Self::set_target) and its
    /// [history](Self::set_history) are moved alike, so seen from the other side of the portal it
    /// goes on without a jump. `by` maps the way in to the way out: the pose becomes `by * pose`. Its
    /// rotation is of unit length.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body, [`BodyError::NotFinite`] if `by` is not finite, or
    /// leads where no f32 does.
    pub fn teleport_by(&mut self, key: BodyKey, by: Pose) -> Result<(), BodyError> {
        let handle = self.living(key, by.is_finite())?;
        let body = &mut self.world.physics.bodies[handle];
        let (position, next) = (by * body.position(), by * body.next_position());
        if !(position.is_finite() && next.is_finite()) {
            return Err(BodyError::NotFinite);
        }
        body.set_position(position, true);
        body.set_next_kinematic_position(next);
        body.set_linvel(by.rotation * body.linvel(), true);
        body.set_angvel(by.rotation * body.angvel(), true);
        self.targets.transform(key, &by);
        self.poses.touch(key, handle);
        self.poses.teleport_by(key, handle, &by);
        Ok(())
    }

    /// Makes `origin`, a point in world space, the new origin of the world: for worlds so large
    /// that f32 runs out of digits far from their origin.
    ///
    /// Bodies, colliders without a body, soft bodies, what the queries know, the poses of this frame,
    /// [targets](Self::set_target), [history](Self::set_history), forces that wait for the next step
    /// and the anchors of [`Generator::Spring`] are all moved by −`origin`; joints go with their bodies,
    /// the colliders of soft bodies follow in the next step. No velocity changes, and what sleeps goes
    /// on sleeping. What the game holds in world space it has to move itself, such as its camera, and
    /// what a [`Generator::custom`] has captured.
    ///
    /// # Cost and precision
    /// [`moved`](Self::moved) lists every body once, and the next step is one in which all are awake
    /// and all contacts are found anew: shift rarely, by large steps. From far out to near the
    /// origin positions are moved without rounding, and the contacts of the next step are the same to
    /// the bit; other ways round by the spacing of f32 at the larger distance, 0.03 mm at 500 m. A
    /// body that was about to fall asleep waits anew: Rapier takes the shift for motion.
    ///
    /// # Errors
    /// [`BodyError::NotFinite`] if `origin` is not finite; nothing is moved then.
    pub fn shift_origin(&mut self, origin: Vector) -> Result<(), BodyError> {
        if !origin.is_finite() {
            return Err(BodyError::NotFinite);
        }
        self.notice_edits();
        self.poses.notice_touched(&self.world);
        let by = Pose::from_translation(-origin);
        self.world.translate(by.translation);
        self.targets.transform_all(&by);
        self.forces.translate(by.translation);
        self.poses.transform_all(&self.world, &by);
        Ok(())
    }

    /// Leads a body that is kinematic by position to `pose`, to be there at `time`.
    ///
    /// The steps until then share the way evenly, so that in each of them what rides on the body
    /// or is pushed by it feels the velocity that is seen: a target that was handed to Rapier once
    /// a frame would be reached in the first of its steps, and the others would see a body that
    /// stands. Set it once a frame, or once for a way of seconds; a later target takes the place of
    /// an earlier one, and one that no step was made for is kept. When it is reached the body stands.
    ///
    /// `time` is simulated time, which stands still in a pause and goes slower in slow motion: that
    /// of [`Clock::time`](crate::Clock::time) and [`Step::time`](crate::Step::time). For the end of
    /// the frame that is about to be advanced take
    /// [`Clock::time_after`](crate::Clock::time_after). A time that is past means the next step.
    /// `pose` is in world space, its rotation of unit length; the body turns by the shorter way.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(60)?);
    /// let lift = simulation.insert(
    ///     RigidBodyBuilder::kinematic_position_based(),
    ///     ColliderBuilder::cuboid(2.0, 0.1, 2.0),
    /// );
    /// for _ in 0..15 {
    ///     let frame_time = Duration::from_millis(66); // four steps
    ///     let time = simulation.clock().time_after(frame_time);
    ///     let height = 2.0 * time.as_secs_f32();
    ///     simulation.set_target(lift, Pose::translation(0.0, height, 0.0), time)?;
    ///     simulation.advance(frame_time, |simulation, _| {
    ///         let speed = simulation.get(lift).unwrap().linvel().y; // in the step before
    ///         assert!(simulation.tick() == 0 || (speed - 2.0).abs() < 0.01);
    ///     });
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`] as [`teleport`](Self::teleport);
    /// [`BodyError::NotKinematic`] if the body is of another type.
    pub fn set_target(
        &mut self,
        key: BodyKey,
        pose: Pose,
        time: Duration,
    ) -> Result<(), BodyError> {
        let handle = self.living(key, pose.is_finite())?;
        if self.world.physics.bodies[handle].body_type() != RigidBodyType::KinematicPositionBased {
            return Err(BodyError::NotKinematic);
        }
        self.targets.set(key, pose, time);
        Ok(())
    }

    /// Lets a body that was just inserted or teleported move from its first frame on: its previous
    /// pose becomes the one that it would have had a step before, at its velocity.
    ///
    /// Without it a body that is inserted between two steps stands still until the next one. With
    /// it a bullet comes out of the muzzle in its first frame; until the next step it is shown up
    /// to a step's way behind where it was put, as everything else in the frame is. In the hook before
    /// a step it is not needed: the body moves in that step.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn prime(&mut self, key: BodyKey) -> Result<(), BodyError> {
        let handle = self.living(key, true)?;
        let PhysicsWorld {
            bodies, colliders, ..
        } = &mut self.world.physics;
        let body = &mut bodies[handle];
        // Rapier would do so in the next step only.
        body.recompute_mass_properties_from_colliders(colliders);
        self.poses.touch(key, handle);
        let dt = self.clock.rate().dt();
        self.poses.prime(key, handle, body, dt);
        Ok(())
    }

    /// The handle of a body that a game wants to change.
    pub(crate) fn living(
        &self,
        key: BodyKey,
        is_finite: bool,
    ) -> Result<RigidBodyHandle, BodyError> {
        if !is_finite {
            return Err(BodyError::NotFinite);
        }
        self.handle(key).ok_or(BodyError::Gone)
    }
}

/// # Forces
///
/// All of these act in the next step, in that step alone, and wake the body. In the hook before a
/// step they act in that one; between frames they wait for the first step of a later frame. They
/// do nothing to bodies that are not dynamic. Forces set through Rapier's own API are left as
/// they are.
///
/// A force changes the velocity over the step, an impulse before it: for the same momentum an
/// impulse moves a body further in that step.
///
/// Each gives [`BodyError::Gone`] if there is no such body, and [`BodyError::NotFinite`] if a value is
/// NaN or infinite.
#[expect(clippy::missing_errors_doc, reason = "above, once for all")]
impl Simulation {
    /// A force at the centre of mass: newtons, in world axes.
    pub fn add_force(&mut self, key: BodyKey, force: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Force(force))
    }

    /// A force at a point: newtons and metres, in world space.
    pub fn add_force_at_point(
        &mut self,
        key: BodyKey,
        force: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::ForceAtPoint { force, point })
    }

    /// A torque about the centre of mass: newton metres, in world axes.
    pub fn add_torque(&mut self, key: BodyKey, torque: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Torque(torque))
    }

    /// An impulse at the centre of mass: newton seconds, in world axes.
    pub fn apply_impulse(&mut self, key: BodyKey, impulse: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Impulse(impulse))
    }

    /// An impulse at a point: newton seconds and metres, in world space.
    pub fn apply_impulse_at_point(
        &mut self,
        key: BodyKey,
        impulse: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::ImpulseAtPoint { impulse, point })
    }

    /// An angular impulse: newton metre seconds, in world axes.
    pub fn apply_torque_impulse(&mut self, key: BodyKey, impulse: Vector) -> Result<(), BodyError> {
        self.push(key, Push::TorqueImpulse(impulse))
    }

    fn push(&mut self, key: BodyKey, push: Push) -> Result<(), BodyError> {
        self.living(key, push.is_finite())?;
        self.forces.push(key, push);
        Ok(())
    }

    /// Lets a lasting force act on a body, from the next step on, until it is
    /// [removed](Self::remove_generator) or the body is.
    pub fn add_generator(
        &mut self,
        key: BodyKey,
        generator: Generator,
    ) -> Result<GeneratorKey, BodyError> {
        self.world.handle(key).ok_or(BodyError::Gone)?;
        Ok(self.forces.add_generator(key, generator))
    }

    /// Ends a lasting force and gives it back; `None` if it or its body is gone.
    pub fn remove_generator(&mut self, key: GeneratorKey) -> Option<Generator> {
        let (body, generator) = self.forces.remove_generator(key)?;
        self.world.handle(body).map(|_| generator)
    }

    /// A lasting force and the body that it acts on; `None` if one of them is gone.
    #[must_use]
    pub fn generator(&self, key: GeneratorKey) -> Option<(BodyKey, &Generator)> {
        let (body, generator) = self.forces.generator(key)?;
        self.world.handle(*body).map(|_| (*body, generator))
    }
}
