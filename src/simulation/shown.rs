//! What a frame shows, and what earlier ones did.

use nalgebra::Isometry3;

use crate::key::BodyKey;
use crate::pose::Smoothing;
use crate::step::BodyError;
use rapier::geometry::ColliderHandle;
use rapier::math::{Pose, Real};

use super::Simulation;

/// # Poses
///
/// A shown pose is that of the body's origin, in world space. It is for drawing, never for physics: the
/// true state is that of [`body`](Self::body). In a hook it is still that of the frame before. `None` means
/// that the body was removed.
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::Simulation;
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m a step
/// let ball = simulation.insert(body, ColliderBuilder::ball(0.5));
/// let frame = simulation.advance(Duration::from_millis(25), |simulation, _| {
///     assert_eq!(simulation.pose(ball).unwrap().translation.x, 0.0);
/// });
/// let (shown, simulated) = (simulation.pose(ball).unwrap(), simulation.body(ball).unwrap());
/// assert_eq!((frame.steps, frame.alpha), (1, 0.5));
/// assert!((shown.translation.x - 0.5).abs() < 1e-3);
/// assert!((simulated.translation().x - 1.0).abs() < 1e-3);
/// ```
impl Simulation {
    /// The pose at which to draw a body in this frame: between its last two states, by the frame's
    /// [`alpha`](crate::Frame::alpha), or as [`set_smoothing`](Self::set_smoothing) says.
    ///
    /// A point of the body, in its own frame, is in world space at `pose * point`: a muzzle, a seat, what a
    /// camera follows.
    #[must_use]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.state.world.handle(key)?;
        self.present().poses.shown(key)
    }

    /// [`pose`](Self::pose) as nalgebra's type, to the bit.
    ///
    /// Everywhere else `Pose::from(isometry)` and `Isometry3::from(pose)` convert.
    #[must_use]
    pub fn isometry(&self, key: BodyKey) -> Option<Isometry3<Real>> {
        self.pose(key).map(Isometry3::from)
    }

    /// The pose at which to draw a collider in this frame: the pose of its body, times its place on the body. For a
    /// collider without a body, where it is.
    ///
    /// `None` if the collider was removed, or if its body has no key.
    #[must_use]
    pub fn collider_pose(&self, handle: ColliderHandle) -> Option<Pose> {
        let collider = self.state.world.physics.colliders.get(handle)?;
        let Some(parent) = collider.parent() else {
            return Some(*collider.position());
        };
        let pose = self.pose(self.key(parent)?)?;
        Some(pose * collider.position_wrt_parent()?)
    }

    /// The pose of a body right before the last step of the last frame that had one.
    #[must_use]
    pub fn previous_pose(&self, key: BodyKey) -> Option<Pose> {
        self.state.world.handle(key)?;
        Some(self.state.poses.pair(key)?.previous)
    }

    /// The pose of a body right after the last step of the last frame that had one.
    #[must_use]
    pub fn current_pose(&self, key: BodyKey) -> Option<Pose> {
        self.state.world.handle(key)?;
        Some(self.state.poses.pair(key)?.current)
    }

    /// The pose of a body at an earlier time: what a frame with this [`tick`](crate::Frame::tick) and
    /// [`alpha`](crate::Frame::alpha) showed of it, to the bit.
    ///
    /// For a click or a shot, made against what the player saw: keep the [`Frame`](crate::Frame) of what is on
    /// the screen and ask for the poses in it. Any other time can be given as well: the pose is at `alpha` between the
    /// state after `tick - 1` steps and the state after `tick`. `alpha` is clamped to [0, 1]; NaN is 0. A teleport
    /// after that step does not change the result.
    ///
    /// `None` if the body was removed or did not exist yet, or if that time is not kept: only the last tick is, unless
    /// [`set_history`](Self::set_history) keeps more.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.set_history(60);
    /// let frame = simulation.advance(Duration::from_millis(25), |_, _| ());
    /// let seen = simulation.pose(ball); // and clicked
    /// simulation.advance(Duration::from_millis(100), |_, _| ()); // until the click has arrived
    /// assert_eq!(simulation.pose_at(ball, frame.tick, frame.alpha), seen);
    /// assert_ne!(simulation.pose(ball), seen);
    /// ```
    #[must_use]
    pub fn pose_at(&self, key: BodyKey, tick: u64, alpha: f32) -> Option<Pose> {
        self.state.world.handle(key)?;
        let alpha = if alpha > 0.0 { alpha.min(1.0) } else { 0.0 };
        Some(self.state.poses.pair_at(key, tick)?.at(alpha))
    }

    /// Keeps the last `states` of each body for [`pose_at`](Self::pose_at): two by default, and at
    /// least. States from before this call are not available.
    ///
    /// More than two cost 180 bytes for each state of a body that moves, and reading each such body in every step,
    /// not just in the last one of a frame.
    pub fn set_history(&mut self, states: usize) {
        self.state.poses.set_history(states, self.tick());
    }

    /// How many states are kept of each body.
    #[must_use]
    pub fn history(&self) -> usize {
        self.state.poses.history_len()
    }

    /// How a frame between two steps is shown: [`Smoothing::Interpolate`] by default.
    #[must_use]
    pub fn smoothing(&self) -> Smoothing {
        self.present().poses.smoothing()
    }

    /// The smoothing that was set for this body; `None` if none was, or if the body was removed.
    #[must_use]
    pub fn body_smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        self.state.world.handle(key)?;
        self.state.poses.body_smoothing(key)
    }

    /// Sets how a frame between two steps is shown, for all bodies without a
    /// [smoothing of their own](Self::set_body_smoothing).
    ///
    /// It takes effect with the next step; until then bodies are shown as before. If the new smoothing
    /// has the same latency, nothing jumps. To and from [`Smoothing::Extrapolate`] and [`Smoothing::Latest`], which
    /// show another time, a body skips or repeats up to a step's motion. With every [`Stepping`](crate::Stepping) but
    /// `Fixed` the last state is shown, whatever the smoothing.
    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.state.poses.set_smoothing(smoothing);
    }

    /// [`set_smoothing`](Self::set_smoothing) for one body; `None` to follow the general setting again.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_body_smoothing(
        &mut self,
        key: BodyKey,
        smoothing: Option<Smoothing>,
    ) -> Result<(), BodyError> {
        self.living(key, true)?;
        self.state.poses.set_body_smoothing(key, smoothing);
        Ok(())
    }

    /// The bodies whose pose in this frame differs from that in the frame before, with their poses, in no particular
    /// order.
    ///
    /// A new body is listed in its first frame, a body that falls asleep once more with its final pose. In a scene at
    /// rest the list is empty:
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    /// for listed in [1, 0, 0] {
    ///     simulation.advance(Duration::from_millis(20), |_, _| ());
    ///     assert_eq!(simulation.moved().len(), listed);
    /// }
    /// ```
    #[must_use]
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        self.present().poses.moved()
    }

    /// The bodies whose pose may differ from that in the frame of this [`number`](crate::Frame::number), with their
    /// poses now: for a host that missed the frames since. All that moved are listed, and some that did not.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let seen = simulation.advance(Duration::from_millis(20), |_, _| ());
    /// simulation.advance(Duration::from_millis(20), |_, _| ()); // the host did not read this frame
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert!(simulation.moved().is_empty()); // in the last frame
    /// let since = simulation.moved_since(seen.number).unwrap();
    /// assert!(since.map(|(key, _)| key).eq([ball]));
    /// ```
    ///
    /// `None` if that frame is too long ago, or not one of this simulation: then read the
    /// [`pose`](Self::pose) of every body that the host knows; those without one were removed.
    #[must_use]
    pub fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        if frame > self.frame.number {
            return None;
        }
        self.present().poses.moved_since(frame)
    }
}
