//! The game's changes of bodies between two steps.

use std::sync::Arc;

use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::{Pose, Real};

use crate::dim::is_same;
use crate::key::BodyKey;
use crate::pose::Smoothing;
use crate::pose::motion::is_position_based;
use crate::pose::movers::is_about_to_move;
use crate::step::World;

use super::{Edited, Pairs, Place};

impl Pairs {
    /// Adds a body that the game may have changed to the movers, and lets the next step decide again whether a blend of
    /// its two poses is enough.
    pub fn recheck_path(&mut self, key: BodyKey, handle: RigidBodyHandle) {
        let index = self.add_mover(key, handle);
        Arc::make_mut(&mut self.movers).recheck_path(index);
    }

    /// Displays a body with another smoothing at once, on the path of the last step, of length `dt`, if that displays
    /// another time. Returns the previous smoothing in this case, from which a visual error begins.
    pub fn retime(&mut self, key: BodyKey, smoothing: Smoothing, dt: Real) -> Option<Smoothing> {
        let index = self.moving_index(key)?;
        let pair = self.movers.pair(index);
        if !pair.is_displaced_by(smoothing) {
            return None;
        }
        Arc::make_mut(&mut self.movers).retime(index, smoothing, dt);
        // `pose_at` returns poses as frames have displayed them last.
        if let Some(edited) = self.edited.get_mut(&key) {
            edited.path.retime(smoothing, dt);
        }
        Some(pair.smoothing())
    }

    pub fn recheck_all_paths(&mut self) {
        Arc::make_mut(&mut self.movers).recheck_all_paths();
    }

    /// Displays a body at its position at once, without blending, if it is not where the last step or edit left it.
    /// Returns whether it was moved. A position that is not finite is ignored.
    #[inline]
    pub fn record_if_teleported(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        position: Pose,
    ) -> bool {
        let last = match self.places[key] {
            Place::Moving(index) => self.movers.current(index),
            Place::Resting { pose, .. } => pose,
        };
        // Almost all bodies pass the fastest test: equal bits. Zero and −0 are equal, too.
        let was_moved = !is_same(&position, &last) && position.is_finite() && position != last;
        if was_moved {
            let index = self.keep_path_before_edit(key, handle);
            Arc::make_mut(&mut self.movers).teleport_changed_parts(index, position, self.tick);
        }
        was_moved
    }

    /// Lists a resting body that the game has woken, so that the next step reads the initial velocity of its curve. A
    /// body that is kinematic by position has none. Its curve would depend on whether its target is set before or after
    /// this call.
    pub fn add_mover_if_awake(&mut self, key: BodyKey, handle: RigidBodyHandle, body: &RigidBody) {
        if self.resting_since(key).is_some() && is_about_to_move(body) && !is_position_based(body) {
            self.add_mover(key, handle);
        }
    }

    /// Adds a body that is about to be edited to the movers, and keeps its path in the last step as it was before.
    /// Returns its index in the movers.
    fn keep_path_before_edit(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let index = self.add_mover(key, handle);
        // Only before the first edit is this the path that the step has computed.
        let path = self.movers.pair(index);
        let position = path.current;
        self.edited.entry(key).or_insert(Edited { path, position });
        index
    }

    /// Displays a body at `position` at once, because the game has teleported it there after `tick` steps.
    pub fn teleport(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose, tick: u64) {
        let index = self.keep_path_before_edit(key, handle);
        Arc::make_mut(&mut self.movers).teleport(index, position, tick);
    }

    /// Moves a body like [`transform`](Self::transform), through a portal, and keeps its path in the last step on the
    /// other side.
    pub fn transport(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        world: &World,
        by: &Pose,
        tick: u64,
    ) -> bool {
        self.keep_path_before_edit(key, handle);
        self.transform(key, handle, world, by, tick)
    }

    /// Moves the kept paths of the last step, because the origin of the world is shifted. Each body has to be
    /// [transformed](Self::transform), too.
    pub fn shift_paths_before_edits(&mut self, by: &Pose) {
        for edited in self.edited.values_mut() {
            edited.path.transform(by);
            edited.position = by * edited.position;
        }
    }

    /// Moves a body with its motion by an isometry of the world, after `tick` steps: both poses, and the velocities of
    /// its trajectory. `world` has the body at its new position. Returns `false` and moves nothing if the result is not
    /// finite.
    pub fn transform(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        world: &World,
        by: &Pose,
        tick: u64,
    ) -> bool {
        let index = self.add_mover(key, handle);
        let pair = self.movers.pair(index);
        // The pose of a multibody's link follows from its root, and is rounded in another way than by the isometry. A
        // difference would look like an edit.
        let position = world.position(handle).filter(Pose::is_finite);
        let current = position.unwrap_or_else(|| by * pair.current);
        if !current.is_finite() {
            return false;
        }
        // A body at rest stays at rest, with two equal poses. If the previous pose is not finite, the body has no
        // earlier pose to move from.
        let has_moved = pair.previous != pair.current;
        let previous = has_moved.then(|| by * pair.previous);
        let previous = previous.filter(Pose::is_finite);
        let movers = Arc::make_mut(&mut self.movers);
        movers.set_poses(index, previous.unwrap_or(current), current);
        movers.turn(index, by.rotation, tick);
        true
    }
}
