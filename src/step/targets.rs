//! Targets of kinematic bodies at given times, and the motion towards them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::dim::{interpolate, lerp_in_f64};
use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;
use crate::pose::is_position_based;
use crate::time::Step;
use rapier::dynamics::RigidBody;
use rapier::math::{Pose, Rotation};

use super::world::World;

/// The targets, one per body. A later one replaces an earlier one.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub(crate) struct Targets {
    /// Sorted by key, so that Rapier's list of changed bodies does not depend on the order of the calls.
    #[cfg_attr(feature = "serde", serde(with = "crate::slots::map_as_list"))]
    map: BTreeMap<BodyKey, Target>,
    /// The targets that were set and are reached in the current step, which no bytes hold. A game that moves bodies in
    /// each step then needs no entry in the map. The last entry of a body counts, and is `None` after a teleport.
    #[cfg_attr(feature = "serde", serde(skip))]
    arriving: Vec<(BodyKey, Option<(Pose, Duration)>)>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Target {
    pose: Pose,
    time: Duration,
    start: Option<TargetStart>,
}

/// The start of a motion, from which the pose of every step is computed. From the previous step's pose, rounding errors
/// would add up, and a motion by less than half the spacing of `f32` per step would stop entirely.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct TargetStart {
    pose: Pose,
    time: Duration,
}

impl Targets {
    /// Returns whether each target that was read belongs to a living body.
    #[cfg(feature = "serde")]
    pub fn are_of(&self, keys: &Keys) -> bool {
        self.map.keys().all(|key| keys.handle(*key).is_some())
    }

    pub fn set(&mut self, key: BodyKey, pose: Pose, time: Duration) {
        self.entry(key, pose, time);
    }

    /// Sets a target in the middle of a step, and applies it at once, because `apply` has run for this step. A target
    /// that this step reaches is not needed in the map of targets for later steps.
    pub fn set_in_step(
        &mut self,
        key: BodyKey,
        body: &mut RigidBody,
        pose: Pose,
        time: Duration,
        step: Step,
    ) {
        if time <= end_with_rounding(step) {
            self.map.remove(&key);
            self.arriving.push((key, Some((pose, time))));
            body.set_next_kinematic_position(pose);
        } else {
            // This target replaces one that the body would have reached in the step.
            self.forget_arriving(key);
            self.entry(key, pose, time).apply_to(body, step);
        }
    }

    /// Sets a target in the map and returns it. If the game sets the same target again, its motion keeps its start.
    fn entry(&mut self, key: BodyKey, pose: Pose, time: Duration) -> &mut Target {
        let new = Target {
            pose,
            time,
            start: None,
        };
        let target = self.map.entry(key).or_insert_with(|| new.clone());
        if (target.pose, target.time) != (pose, time) {
            *target = new;
        }
        target
    }

    /// Sets the pose that a body should have after the current step again, because the game may have set its position,
    /// after which Rapier would not move it. If the game has then set the next translation or the next rotation itself,
    /// that part stays.
    pub fn resume_target(&mut self, key: BodyKey, world: &mut World, step: Step) {
        let Some(body) = world.get(key) else {
            return;
        };
        let (position, next) = (*body.position(), *body.next_position());
        let target = if let Some(target) = self.map.get_mut(&key) {
            Some(target.next_pose(position, step))
        } else {
            // Without a target for later steps, this step may reach one. The last entry of a body counts.
            let last = (self.arriving.iter().rev()).find(|(it, _)| *it == key);
            last.and_then(|(_, target)| target.map(|(pose, _time)| pose))
        };
        let Some(target) = target else {
            return;
        };
        // Setting the position makes both poses equal. A part in which they differ was set after that.
        let [is_translation_set, is_rotation_set] = [
            next.translation != position.translation,
            next.rotation != position.rotation,
        ];
        let target = Pose::from_parts(
            if is_translation_set { next } else { target }.translation,
            if is_rotation_set { next } else { target }.rotation,
        );
        // Mutable access makes Rapier prepare the joints of the body again, which may change their order. So it is only
        // used if the target differs.
        if target != next
            && let Some(body) = world.get_mut(key)
        {
            body.set_next_kinematic_position(target);
        }
    }

    /// Keeps the targets that would be reached in the current step for a later one, because it does not run.
    pub fn abort_step(&mut self) {
        // The last of several entries of a body remains. It is `None` if the target was removed or replaced.
        let arriving: BTreeMap<_, _> = self.arriving.drain(..).collect();
        for (key, target) in arriving {
            if let Some((pose, time)) = target {
                self.set(key, pose, time);
            }
        }
    }

    /// Removes a body's target, even if it would be reached in the current step.
    pub fn remove(&mut self, key: BodyKey) {
        self.map.remove(&key);
        self.forget_arriving(key);
    }

    fn forget_arriving(&mut self, key: BodyKey) {
        if !self.arriving.is_empty() {
            self.arriving.push((key, None));
        }
    }

    /// Transforms a body's target. The body is moved as well, so its motion restarts from there.
    pub fn transform(&mut self, key: BodyKey, by: &Pose) {
        self.transform_chosen(by, |it| it == key);
    }

    pub fn transform_all(&mut self, by: &Pose) {
        self.transform_chosen(by, |_| true);
    }

    /// Transforms the targets of the chosen bodies, even those that are reached in the current step.
    fn transform_chosen(&mut self, by: &Pose, is_chosen: impl Fn(BodyKey) -> bool) {
        let targets = self.map.iter_mut().map(|(key, it)| (*key, &mut it.pose));
        let arriving = self.arriving.iter_mut();
        let arriving = arriving.filter_map(|(key, it)| Some((*key, &mut it.as_mut()?.0)));
        for (_, pose) in targets.chain(arriving).filter(|(key, _)| is_chosen(*key)) {
            *pose = by * *pose;
        }
    }

    /// Tells Rapier the poses that bodies should have after this step. Drops the targets of bodies that are no longer
    /// kinematic by position.
    pub fn apply(&mut self, world: &mut World, step: Step) {
        self.map.retain(|key, target| {
            let body = world.get_mut(*key);
            body.is_some_and(|body| target.apply_to(body, step))
        });
    }

    /// Drops the targets that the step has reached, and stops bodies that were disabled in it.
    pub fn end_step(&mut self, world: &mut World, step: Step) {
        for (key, _) in self.arriving.drain(..) {
            stop_if_disabled(world, key);
        }
        let end = end_with_rounding(step);
        self.map.retain(|key, target| {
            stop_if_disabled(world, *key);
            target.time > end
        });
    }
}

impl Target {
    /// Tells Rapier the body's pose after the step. Returns `false` and does nothing if the body is not kinematic by
    /// position.
    fn apply_to(&mut self, body: &mut RigidBody, step: Step) -> bool {
        if !is_position_based(body) {
            return false;
        }
        let next = self.next_pose(*body.position(), step);
        body.set_next_kinematic_position(next);
        true
    }

    /// Returns the pose after the step for a body that is at `pose` before it.
    fn next_pose(&mut self, pose: Pose, step: Step) -> Pose {
        let start = match self.start {
            // The body is where its motion should be by now, so the motion continues.
            Some(start) if self.pose_at(step.start_time, start) == pose => start,
            // The motion begins in this step: it is the first one, the body was disabled, or the game has teleported it
            // or shifted the origin.
            _ => TargetStart {
                pose,
                time: step.start_time,
            },
        };
        self.start = Some(start);
        if self.time <= end_with_rounding(step) {
            return self.pose;
        }
        self.pose_at(step.end_time, start)
    }

    /// Returns the pose at a time of the motion from `start` to the target.
    fn pose_at(&self, time: Duration, start: TargetStart) -> Pose {
        let whole = self.time.saturating_sub(start.time).as_secs_f64();
        let elapsed = time.saturating_sub(start.time).as_secs_f64();
        // If the target's time is not after the start, this is not finite. The result then equals no pose of a body, so
        // `next_pose` begins the motion again.
        let fraction = elapsed / whole;
        let translation = lerp_in_f64(start.pose.translation, self.pose.translation, fraction);
        Pose::from_parts(translation, self.rotation_at(fraction, start))
    }

    /// Returns the rotation at a fraction of the motion.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "finer than any rotation in f32"
    )]
    fn rotation_at(&self, fraction: f64, start: TargetStart) -> Rotation {
        // A rotation that stays is not rounded.
        if start.pose.rotation == self.pose.rotation {
            return self.pose.rotation;
        }
        // The rotation is normalised, because the rounding of targets that are replaced again and again would add up.
        interpolate(&start.pose, &self.pose, fraction as f32)
            .rotation
            .normalize()
    }
}

/// Stops a body that was disabled in the step. Rapier has not moved it, and would do so in the first step after it is
/// enabled.
fn stop_if_disabled(world: &mut World, key: BodyKey) {
    // Mutable access marks a body as changed, so other bodies are only read.
    if world.get(key).is_some_and(|body| !body.is_enabled())
        && let Some(body) = world.get_mut(key)
    {
        let pose = *body.position();
        body.set_next_kinematic_position(pose);
    }
}

/// Returns the last time that the step reaches, for both ways to compute its end: in whole nanoseconds, or as the sum
/// of its start and its length, which is rounded to `f32`.
fn end_with_rounding(step: Step) -> Duration {
    let rounding = Duration::from_secs_f32(step.dt * f32::EPSILON) + Duration::from_nanos(1);
    step.end_time.saturating_add(rounding)
}
