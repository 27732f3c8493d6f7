//! The poses that a frame displays, and the changes since earlier frames.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::screen::{PictureContext, RenderData};
use crate::step::{World, refresh_leaf};
use rapier::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier::geometry::{BroadPhaseBvh, ColliderHandle, ColliderSet};
use rapier::math::{Pose, Vector};
use rapier::pipeline::{QueryFilter, QueryPipeline};

use super::report::Frame;
use super::simulation::Simulation;

/// The changes since an earlier frame, from [`Simulation::changes_since`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FrameChanges<'a> {
    /// The bodies that moved, and perhaps some that did not, with their displayed poses.
    pub moved: Cow<'a, [(BodyKey, Pose)]>,
    /// The bodies that were removed.
    pub removed: Cow<'a, [BodyKey]>,
}

/// # Poses
///
/// A displayed pose is that of the body's origin, in world space. On a thread, a [`View`](crate::threads::View) has the
/// displayed poses, and the lists here are empty. For physics, use the true state in [`body`](crate::Physics::body).
/// Displayed poses are finite as long as all coordinates and shifts of the origin are below 1e38 m.
///
/// The poses of a frame are fixed when it ends, and later changes appear in the next frame. To display edits during a
/// pause, call [`advance(Duration::ZERO, …)`](Self::advance).
impl Simulation {
    /// Returns the pose at which to draw a body in this frame: between the last two states, at the frame's
    /// [`alpha`](crate::Frame::alpha), or as [`smoothing`](Self::smoothing) says. Returns `None` if there is no such
    /// body.
    ///
    /// A body that was removed since the last frame still has its pose. A body that no frame has displayed yet has its
    /// current one, unless the game has gone back in time and its key is that of a displayed body.
    #[doc(alias("transform", "isometry", "interpolated_pose", "lerp"))]
    #[must_use]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        // If no frame has displayed the body, the game may have moved it since the last step, so Rapier's pose counts.
        let screen_pose = self.screen.pose(key);
        screen_pose.or_else(|| self.physics.finite_position(key))
    }

    /// Returns the bodies whose pose differs from that in the previous frame, with their poses, in no particular order.
    ///
    /// A new body is listed in its first frame. A body that falls asleep is listed until its final pose is displayed.
    #[must_use]
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        self.screen.moved()
    }

    /// Returns the keys of the bodies that were removed after the previous frame and before the end of this one.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        self.screen.removed()
    }

    /// Returns the offset of a body's displayed pose from its own pose, or `None` if there is none. The displayed pose
    /// has the rotation `error.rotation * rotation`, and `error.translation` added, in metres and world axes.
    #[must_use]
    pub fn visual_error(&self, key: BodyKey) -> Option<Pose> {
        self.screen.error(key).copied()
    }

    /// Returns the world as this frame displays it, for mouse rays and debug lines that match the models. On a thread,
    /// use [`world_at`](Self::world_at) with the tick and alpha of the view.
    ///
    /// Unlike `world_at`, it includes [visual errors](Self::visual_error) and displayed edits, lacks bodies that were
    /// removed since, and needs no kept states. It also reads every body. Soft bodies are those of the state.
    #[doc(alias("query_pipeline", "cast_ray"))]
    #[must_use]
    pub fn displayed_world(&self) -> DisplayedWorld<'_> {
        let world = &self.physics.world;
        let bodies = world.keys.iter();
        // Rapier's queries find the colliders of new bodies only from their first step on, so these are added.
        let new: BTreeSet<BodyKey> = self.physics.new_since_step().collect();
        let poses = bodies.filter_map(|(key, handle)| {
            let pose = self.screen.pose(key)?;
            Some((handle, pose, new.contains(&key)))
        });
        // The origin may have been shifted since the picture, and with it everything that the screen does not display.
        let origin = self.screen.origin();
        let shift = origin.map(|origin| self.physics.origin.offset_from(&origin));
        match shift.filter(|shift| *shift != Vector::ZERO) {
            None => DisplayedWorld::new(world, poses),
            Some(shift) => {
                let is_displayed = |body| {
                    let key = world.keys.key(body);
                    key.is_some_and(|key| self.screen.pose(key).is_some())
                };
                let bodies = world.rapier.bodies.iter();
                let others = bodies.filter(|(handle, _)| !is_displayed(*handle));
                let others = others
                    .map(|(handle, it)| (handle, it.position().append_translation(shift), false));
                let mut displayed = DisplayedWorld::new(world, poses.chain(others));
                displayed.move_free_colliders(shift);
                displayed
            }
        }
    }

    /// Returns the changes since an earlier frame, for renderers that skip frames.
    ///
    /// Returns `None` if that frame is too long ago or of another simulation, or if a thread displays this one. Then
    /// read the [`pose`](Self::pose) of every known body. Bodies without one were removed.
    #[must_use]
    pub fn changes_since(&self, frame: &Frame) -> Option<FrameChanges<'_>> {
        // If a thread displays the simulation, this screen does not count its frames.
        let is_of_this = frame.displayed_by.0 == self.screen.own_number();
        if !is_of_this || self.screen.number() != self.frame.number {
            return None;
        }
        Some(FrameChanges {
            moved: self.screen.moved_since(frame.number)?,
            removed: self.screen.removed_since(frame.number)?,
        })
    }

    /// Returns the poses of this frame in the form that shaders need. Ask right after the frame: it may return `None`
    /// after a later step, or an edit, insertion or removal of a body.
    ///
    /// Returns `None` before the first frame, on a thread, and in the middle of a [rollback](Self::roll_back), except
    /// while the state is the displayed one.
    #[must_use]
    pub fn render_data(&self) -> Option<RenderData<'_>> {
        self.screen.render_data(self.physics.pairs.movers())
    }
}

/// # The picture
impl Simulation {
    /// Displays the frame on the screen. In the middle of a rollback, the last picture stays.
    pub(super) fn show(&mut self) {
        let screen = &mut self.screen;
        // If the picture stays, this time is dropped, because visual errors do not decay meanwhile.
        let elapsed = std::mem::take(&mut self.since_picture);
        if self.steps.rollback.is_some() {
            return screen.clear_changes(self.frame.number, screen.time());
        }
        // The first picture of a screen compares all bodies, because the screen has not displayed earlier changes.
        self.physics.complete_changes(!screen.has_picture());
        let Physics {
            pairs,
            running,
            smoothing,
            origin,
            ..
        } = &mut self.physics;
        let context = PictureContext {
            frame: self.frame.number,
            tick: self.frame.tick,
            time: self.frame.time.as_secs_f64(),
            alpha: self.frame.alpha,
            seconds_ahead: None,
            elapsed,
            smoothing: &*smoothing,
            origin: *origin,
        };
        screen.show(pairs.movers(), &mut running.changes, &context);
        self.frame.origin_shift = screen.origin_shift();
    }
}

/// The world as a frame displayed it, from [`Simulation::displayed_world`](crate::Simulation::displayed_world) or
/// [`Simulation::world_at`](crate::Simulation::world_at).
pub struct DisplayedWorld<'s> {
    world: &'s World,
    poses: Vec<(RigidBodyHandle, Pose)>,
    colliders: Cow<'s, ColliderSet>,
    broad_phase: Cow<'s, BroadPhaseBvh>,
}

impl<'s> DisplayedWorld<'s> {
    /// Returns the world with these bodies at these poses. The `bool` tells whether the body may be so new that queries
    /// do not find its colliders yet. The colliders are copied only if one of them is moved.
    pub(super) fn new(
        world: &'s World,
        poses: impl Iterator<Item = (RigidBodyHandle, Pose, bool)>,
    ) -> Self {
        let mut displayed = Self {
            world,
            poses: Vec::new(),
            colliders: Cow::Borrowed(&world.rapier.colliders),
            broad_phase: Cow::Borrowed(&world.rapier.broad_phase),
        };
        for (handle, pose, may_be_new) in poses {
            if let Some(body) = world.rapier.bodies.get(handle) {
                // The particles of a soft body are where the state has them, and so its frame stays there.
                let pose = if body.is_soft_frame() {
                    *body.position()
                } else {
                    pose
                };
                displayed.move_colliders(body, pose, may_be_new);
                if *body.position() != pose {
                    displayed.poses.push((handle, pose));
                }
            }
        }
        displayed
    }
}

impl DisplayedWorld<'_> {
    /// Returns Rapier's queries. Filters can read their [bodies](QueryPipeline::bodies), which are in the state after
    /// the step.
    #[must_use]
    pub fn query_pipeline<'a>(&'a self, filter: QueryFilter<'a>) -> QueryPipeline<'a> {
        let physics = &self.world.rapier;
        let dispatcher = physics.narrow_phase.query_dispatcher();
        (self.broad_phase).as_query_pipeline(dispatcher, &physics.bodies, &self.colliders, filter)
    }

    /// Returns the key of the body that a collider is attached to.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.world.key_of_collider(handle)
    }

    /// Returns the colliders at their displayed poses.
    #[must_use]
    pub fn colliders(&self) -> &ColliderSet {
        &self.colliders
    }

    /// Returns a copy of Rapier's bodies at their displayed poses.
    ///
    /// For debug lines, pass it to the renderer's `render_rigid_bodies`, [`colliders`](Self::colliders) to
    /// `render_colliders`, and the joints of [`Physics::rapier`](crate::Physics::rapier) to `render_joints`.
    #[must_use]
    pub fn bodies(&self) -> RigidBodySet {
        let mut bodies = self.world.rapier.bodies.clone();
        for (handle, pose) in &self.poses {
            if let Some(body) = bodies.get_mut(*handle) {
                body.set_position(*pose, false);
            }
        }
        bodies
    }

    /// Moves the colliders of a body to where they are if the body is at `pose`, and lets queries find them there. With
    /// `may_be_new`, queries may not find colliders that are there already, so these are added, too.
    fn move_colliders(&mut self, body: &RigidBody, pose: Pose, may_be_new: bool) {
        for handle in body.colliders() {
            let Some(collider) = self.colliders.get(*handle) else {
                continue;
            };
            let position = collider
                .position_wrt_parent()
                .map(|in_body| pose * *in_body);
            let is_there = position.as_ref() == Some(collider.position());
            let Some(position) = position.filter(|_| may_be_new || !is_there) else {
                continue;
            };
            self.move_collider(*handle, position);
        }
    }

    /// Moves the colliders without a body.
    fn move_free_colliders(&mut self, by: Vector) {
        for (handle, collider) in self.world.rapier.colliders.iter() {
            if collider.parent().is_none() {
                self.move_collider(handle, collider.position().append_translation(by));
            }
        }
    }

    fn move_collider(&mut self, handle: ColliderHandle, position: Pose) {
        let colliders = self.colliders.to_mut();
        colliders[handle].set_position(position);
        let rapier = &self.world.rapier;
        let (tree, parameters) = (self.broad_phase.to_mut(), &rapier.integration_parameters);
        refresh_leaf(tree, parameters, &rapier.bodies, colliders, handle);
    }
}

impl fmt::Debug for DisplayedWorld<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisplayedWorld")
            .field("colliders", &self.colliders.len())
            .finish_non_exhaustive()
    }
}
