//! What a frame shows, and what earlier ones did.

use std::borrow::Cow;

use crate::key::BodyKey;
use crate::pose::{Moment, Screen};
use rapier::geometry::ColliderHandle;
use rapier::math::Pose;

use super::root::Simulation;

/// What changed since an earlier frame: from [`Simulation::changes_since`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrameChanges<'a> {
    /// The bodies whose pose may differ, with their poses now. All that moved are listed, and some that did not.
    pub moved: Cow<'a, [(BodyKey, Pose)]>,
    /// The bodies that were removed.
    pub removed: Cow<'a, [BodyKey]>,
}

/// # Poses
///
/// A displayed pose is that of the body's origin, in world space. It is for drawing, never for physics: the
/// true state is that of [`body`](crate::Physics::body).
///
/// The picture is complete when its frame ends, and stays as it is until the next frame ends. Later changes are in the next
/// picture: a teleport, a shifted origin, a removed body. To display edits in a pause, call
/// [`advance(Duration::ZERO, …)`](Self::advance).
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::Simulation;
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m a step
/// let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
/// let frame = simulation.advance(Duration::from_millis(25), |_, _| ());
/// let (shown, simulated) = (simulation.pose(ball).unwrap(), simulation.physics.body(ball).unwrap());
/// assert_eq!((frame.steps, frame.alpha), (1, 0.5));
/// assert!((shown.translation.x - 0.5).abs() < 1e-3);
/// assert!((simulated.translation().x - 1.0).abs() < 1e-3);
/// ```
impl Simulation {
    /// Returns the pose at which to draw a body in this frame: between its last two states, by the frame's
    /// [`alpha`](crate::Frame::alpha), or as [`smoothing`](Self::smoothing) says.
    ///
    /// A body that was removed since the last frame still has its pose in that picture; to ask whether a body is alive, use
    /// [`body`](crate::Physics::body). A body that no frame has displayed yet has its current pose. `None` means that there
    /// is no such body.
    ///
    /// A point of the body, in its own frame, is in world space at `pose * point`: a muzzle, a seat, what a
    /// camera follows.
    #[must_use]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        let displayed = self.screen.as_ref().and_then(|screen| screen.pose(key));
        displayed.or_else(|| Some(self.physics.pairs.get(key)?.current))
    }

    /// The pose at which to draw a collider in this frame: the pose of its body, times its place on the body. For a
    /// collider without a body, where it is.
    ///
    /// `None` if the collider was removed, or if its body has no key.
    #[must_use]
    pub fn collider_pose(&self, handle: ColliderHandle) -> Option<Pose> {
        let collider = self.physics.world.physics.colliders.get(handle)?;
        let Some(parent) = collider.parent() else {
            return Some(*collider.position());
        };
        let pose = self.pose(self.physics.key(parent)?)?;
        Some(pose * collider.position_wrt_parent()?)
    }

    /// Returns how far the picture displays a body from its corrected pose, in metres and in world axes. `None` if there is
    /// no error. The displayed pose has the rotation `error.rotation * rotation`, and `error.translation` added.
    #[must_use]
    pub fn visual_error(&self, key: BodyKey) -> Option<Pose> {
        self.screen.as_ref()?.error(key).copied()
    }

    /// The bodies whose pose in this frame differs from that in the frame before, with their poses, in no particular
    /// order.
    ///
    /// A new body is listed in its first frame, a body that falls asleep once more with its final pose. In a scene at
    /// rest the list is empty:
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.physics.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    /// for listed in [1, 0, 0] {
    ///     simulation.advance(Duration::from_millis(20), |_, _| ());
    ///     assert_eq!(simulation.moved().len(), listed);
    /// }
    /// ```
    #[must_use]
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        self.screen.as_ref().map_or(&[], Screen::moved)
    }

    /// The keys of the bodies that were removed between the last frame and the one before it, in whatever way: for a
    /// host to remove its entities.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        self.screen.as_ref().map_or(&[], Screen::removed)
    }

    /// What has changed since the frame of this [`number`](crate::Frame::number), for a host that missed the frames
    /// since.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let seen = simulation.advance(Duration::from_millis(20), |_, _| ());
    /// simulation.advance(Duration::from_millis(20), |_, _| ()); // the host did not read this frame
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert!(simulation.moved().is_empty()); // in the last frame
    /// let changes = simulation.changes_since(seen.number).unwrap();
    /// assert_eq!((changes.moved.len(), changes.moved[0].0), (1, ball));
    /// assert!(changes.removed.is_empty());
    /// ```
    ///
    /// If only one frame came since, the lists are those of [`moved`](Self::moved) and [`removed`](Self::removed); for the
    /// last frame itself they are empty.
    /// `None` if that frame is too long ago, or not one of this simulation: then read the
    /// [`pose`](Self::pose) of every body that the host knows; those without one were removed.
    #[must_use]
    pub fn changes_since(&self, frame: u64) -> Option<FrameChanges<'_>> {
        let screen = self.screen.as_ref()?;
        Some(FrameChanges {
            moved: screen.moved_since(frame)?,
            removed: screen.removed_since(frame)?,
        })
    }
}

/// # The picture
impl Simulation {
    pub(super) fn show(&mut self) {
        let Some(screen) = &mut self.screen else {
            return;
        };
        self.frame.number = self.frame.number.max(screen.number().saturating_add(1));
        if self.redo.is_some() {
            return screen.show_same(self.frame.number, screen.time());
        }
        let log = self.physics.take_log(screen.epoch());
        let elapsed = std::mem::take(&mut self.shown_for);
        let moment = Moment {
            frame: self.frame.number,
            time: self.clock.simulated().as_secs_f64()
                - f64::from(self.frame.dt * (1.0 - self.frame.alpha)),
            alpha: self.frame.alpha,
            elapsed,
            smoothing: self.physics.smoothing_settings(),
            origin: self.physics.origin,
        };
        let movers = self.physics.pairs.movers();
        self.frame.poses.extrapolated = screen.show(movers, log, &moment);
        self.frame.poses.corrected = screen.errors_len();
        self.frame.origin_shift = screen.origin_shift();
    }
}
