//! What a frame shows, and what earlier ones did.

use std::borrow::Cow;

use crate::key::BodyKey;
use crate::pose::{Moment, Pair, Screen};
use rapier::geometry::ColliderHandle;
use rapier::math::Pose;

use super::Simulation;

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
    /// [`alpha`](crate::Frame::alpha), or as [`set_smoothing`](Self::set_smoothing) says.
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

    /// The pose of a body at an earlier time: what a frame with this [`tick`](crate::Frame::tick) and
    /// [`alpha`](crate::Frame::alpha) showed of it, to the bit.
    ///
    /// For a click or a shot, made against what the player saw: keep the [`Frame`](crate::Frame) of what is on
    /// the screen and ask for the poses in it. Any other time can be given as well: the pose is at `alpha` between the
    /// state after `tick - 1` steps and the state after `tick`. `alpha` is clamped to [0, 1]; NaN is 0. After a frame
    /// whose steps were aborted, its last tick has the latest pose at each alpha.
    ///
    /// The pose is in the coordinates of that tick, as in [`world_at`](Self::world_at): those in which the next step
    /// begins. A teleport or a [portal](crate::Physics::teleport_by) after that step does not change it, even right after
    /// it, nor does a later [shift of the origin](crate::Physics::shift_origin). To see an earlier pose from beyond a portal,
    /// apply the same isometry to it.
    ///
    /// `None` if the body was removed or did not exist yet, or if that time is not kept: only the last tick is, unless
    /// [`set_history`](Self::set_history) keeps more. Without it, between two steps of a frame no tick may be kept, because
    /// only the last step of a frame has to be displayed. Of a body that was removed since, [`world_at`](Self::world_at) has
    /// the colliders.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.set_history(60);
    /// let frame = simulation.advance(Duration::from_millis(25), |_, _| ());
    /// let seen = simulation.pose(ball); // and clicked
    /// simulation.advance(Duration::from_millis(100), |_, _| ()); // until the click has arrived
    /// assert_eq!(simulation.pose_at(ball, frame.tick, frame.alpha), seen);
    /// assert_ne!(simulation.pose(ball), seen);
    /// ```
    #[must_use]
    pub fn pose_at(&self, key: BodyKey, tick: u64, alpha: f32) -> Option<Pose> {
        self.physics.handle(key)?;
        let alpha = clamp_alpha(alpha);
        let pair = match self.known_past() {
            Some(past) => past.pair(&self.physics, key, tick)?,
            None if tick == self.physics.tick() => self.physics.pairs_of_step()?.of_step(key)?,
            None => return None,
        };
        Some(pair)
            .filter(Pair::is_finite)
            .map(|pair| pair.at(alpha))
    }

    /// Keeps the last `states` of each body for [`pose_at`](Self::pose_at): two by default, and at
    /// least. States from before this call are not available; within a step, it counts from the next step on.
    ///
    /// More than two cost 180 bytes for each state of a body that moves, and reading each such body in every step,
    /// not just in the last one of a frame. The [limits](Self::set_rewind_limits) of kept states do not shorten it.
    ///
    /// All earlier poses are discarded when ticks are [renumbered](crate::ClockSettings::set_tick), when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when
    /// [another state](crate::Physics#the-state-as-a-value) is assigned. A [clone](Self#a-copy) of the simulation keeps as
    /// many from then on and has no earlier ones. Saved bytes hold neither: call this again after loading them.
    pub fn set_history(&mut self, states: usize) {
        let ticks = (states as u64).saturating_sub(1);
        self.notice_physics();
        self.past.limit_poses(ticks, self.physics.tick());
    }

    /// How many states are kept of each body.
    #[must_use]
    pub fn history(&self) -> usize {
        usize::try_from(self.past.poses().saturating_add(1)).unwrap_or(usize::MAX)
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

/// Into [0, 1]; NaN is 0.
pub(super) fn clamp_alpha(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 0.0 }
}
