//! Targets of kinematic bodies at given times, and the motion towards them.

use std::time::Duration;

use slotmap::SecondaryMap;

use crate::dim::{interpolate, lerp_in_f64};
use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;
use crate::time::Step;
use rapier::dynamics::{RigidBody, RigidBodyType};
use rapier::math::{Pose, Rotation};

use super::world::World;

/// The targets, one per body. A later one replaces an earlier one.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Targets {
    /// Sorted by key when a step begins, so that Rapier's list of changed bodies does not depend on the order of the
    /// calls.
    list: Vec<Target>,
    /// The index of each body's target in the list. It is not saved, because [`index`](Self::index) rebuilds it.
    #[cfg_attr(feature = "serde", serde(skip))]
    places: SecondaryMap<BodyKey, usize>,
    #[cfg_attr(feature = "serde", serde(skip))]
    is_unsorted: bool,
    /// The bodies whose targets were set and are reached in the current step. No bytes hold a current step.
    #[cfg_attr(feature = "serde", serde(skip))]
    arriving: Vec<BodyKey>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Target {
    key: BodyKey,
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
    /// Rebuilds the index of a list that was read. Returns whether each target belongs to a different living body. No
    /// key that the file lacks determines the size of a table.
    #[cfg(feature = "serde")]
    pub fn index(&mut self, keys: &Keys) -> bool {
        self.is_unsorted = true;
        let mut list = self.list.iter().enumerate();
        list.all(|(place, target)| {
            keys.handle(target.key).is_some() && self.places.insert(target.key, place).is_none()
        })
    }

    pub fn set(&mut self, key: BodyKey, pose: Pose, time: Duration) {
        let target = Target {
            key,
            pose,
            time,
            start: None,
        };
        if let Some(place) = self.places.get(key) {
            let old = &mut self.list[*place];
            if (old.pose, old.time) != (pose, time) {
                *old = target;
            }
            return;
        }
        self.is_unsorted |= self.list.last().is_some_and(|last| last.key > key);
        self.places.insert(key, self.list.len());
        self.list.push(target);
    }

    pub fn remove(&mut self, key: BodyKey) {
        if let Some(place) = self.places.remove(key) {
            self.list.swap_remove(place);
            if let Some(moved) = self.list.get(place) {
                self.places.insert(moved.key, place);
                self.is_unsorted = true;
            }
        }
    }

    /// Transforms a body's target. The body is moved as well, so its motion restarts from there.
    pub fn transform(&mut self, key: BodyKey, by: &Pose) {
        if let Some(place) = self.places.get(key) {
            let target = &mut self.list[*place];
            target.pose = by * target.pose;
        }
    }

    pub fn transform_all(&mut self, by: &Pose) {
        for target in &mut self.list {
            target.pose = by * target.pose;
        }
    }

    /// Tells Rapier the poses that bodies should have after this step. Drops the targets of bodies that are no longer
    /// kinematic by position.
    pub fn apply(&mut self, world: &mut World, step: Step) {
        if std::mem::take(&mut self.is_unsorted) {
            self.list.sort_unstable_by_key(|target| target.key);
        }
        // Steps that were aborted may have listed the same bodies.
        self.arriving.sort_unstable();
        self.arriving.dedup();
        self.retain(|target| {
            let body = world.get_mut(target.key);
            body.is_some_and(|body| target.apply(body, step))
        });
    }

    /// Calls [`set`](Self::set) and [`apply`](Self::apply) for a body after the targets of the step have been applied.
    /// A target that is reached in the step is not kept.
    pub fn set_in_step(
        &mut self,
        key: BodyKey,
        body: &mut RigidBody,
        pose: Pose,
        time: Duration,
        step: Step,
    ) {
        if time <= end_of(step) {
            self.remove(key);
            self.arriving.push(key);
            body.set_next_kinematic_position(pose);
        } else {
            self.set(key, pose, time);
            self.list[self.places[key]].apply(body, step);
        }
    }

    pub fn end_step(&mut self, world: &mut World, step: Step) {
        for key in self.arriving.drain(..) {
            stop_if_disabled(world, key);
        }
        let end = end_of(step);
        self.retain(|target| {
            stop_if_disabled(world, target.key);
            target.time > end
        });
    }

    fn retain(&mut self, mut keep: impl FnMut(&mut Target) -> bool) {
        let (places, mut place) = (&mut self.places, 0);
        self.list.retain_mut(|target| {
            let is_kept = keep(target);
            if is_kept {
                places.insert(target.key, place);
                place += 1;
            } else {
                places.remove(target.key);
            }
            is_kept
        });
    }
}

impl Target {
    fn apply(&mut self, body: &mut RigidBody, step: Step) -> bool {
        if body.body_type() != RigidBodyType::KinematicPositionBased {
            return false;
        }
        let next = self.next_pose(*body.position(), step);
        body.set_next_kinematic_position(next);
        true
    }

    fn next_pose(&mut self, pose: Pose, step: Step) -> Pose {
        let start = match self.start {
            Some(start) if self.pose_at(step.start_time, start) == pose => start,
            // This is the first step, the body was disabled, or the game has teleported it or moved the world.
            _ => TargetStart {
                pose,
                time: step.start_time,
            },
        };
        self.start = Some(start);
        if self.time <= end_of(step) {
            return self.pose;
        }
        self.pose_at(step.end_time, start)
    }

    fn pose_at(&self, time: Duration, start: TargetStart) -> Pose {
        let whole = self.time.saturating_sub(start.time).as_secs_f64();
        let gone = time.saturating_sub(start.time).as_secs_f64();
        let fraction = gone / whole;
        let translation = lerp_in_f64(start.pose.translation, self.pose.translation, fraction);
        Pose::from_parts(translation, self.rotation_at(fraction, start))
    }

    /// Returns a rotation of unit length, even if targets far ahead are replaced again and again.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "finer than any rotation in f32"
    )]
    fn rotation_at(&self, fraction: f64, start: TargetStart) -> Rotation {
        if start.pose.rotation == self.pose.rotation {
            return self.pose.rotation;
        }
        interpolate(&start.pose, &self.pose, fraction as f32)
            .rotation
            .normalize()
    }
}

/// Stops a body that was disabled in the step. Rapier has not moved it, and would do so in the first step after it is
/// enabled.
fn stop_if_disabled(world: &mut World, key: BodyKey) {
    if world.get(key).is_some_and(|body| !body.is_enabled())
        && let Some(body) = world.get_mut(key)
    {
        let pose = *body.position();
        body.set_next_kinematic_position(pose);
    }
}

/// Returns the last time that the step reaches, for both ways to compute its end: in whole nanoseconds, or as the sum
/// of its start and its length, which is rounded to `f32`.
fn end_of(step: Step) -> Duration {
    let rounding = Duration::from_secs_f32(step.dt * f32::EPSILON) + Duration::from_nanos(1);
    step.end_time.saturating_add(rounding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::testing::translation;
    use crate::time::{Clock, Rate};
    use rapier::dynamics::RigidBodyBuilder;
    use rapier::math::Vector;
    use rapier::pipeline::PhysicsWorld;
    use std::collections::BTreeMap;

    fn world(bodies: usize) -> (World, Vec<BodyKey>) {
        let mut world = World::new(PhysicsWorld::new());
        let keys = (0..bodies)
            .map(|_| {
                let body = RigidBodyBuilder::kinematic_position_based();
                let handle = world.rapier.insert_body(body);
                world.keys.insert(handle, 0).0
            })
            .collect();
        (world, keys)
    }

    fn step() -> Step {
        let mut clock = Clock::new(Rate::hz(100));
        clock.begin_frame(Duration::from_millis(10));
        clock.next_step().unwrap()
    }

    fn contents(targets: &Targets) -> BTreeMap<BodyKey, f32> {
        assert_eq!(targets.places.len(), targets.list.len());
        let by_place = targets.places.iter().map(|(key, place)| {
            let target = &targets.list[*place];
            assert_eq!(target.key, key);
            (key, target.pose.translation.x)
        });
        by_place.collect()
    }

    #[test]
    fn the_target_list_is_a_map_sorted_by_key_at_each_step() {
        let (mut world, keys) = world(20);
        let (mut targets, mut model) = (Targets::default(), BTreeMap::new());
        let mut random = 1_u64;
        for round in 0..2_000u16 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let key = keys[(random >> 33) as usize % keys.len()];
            match (random >> 60) % 8 {
                0 => {
                    targets.apply(&mut world, step());
                    assert!(targets.list.is_sorted_by_key(|target| target.key));
                }
                1 => {
                    targets.transform(key, &Pose::from_translation(Vector::X));
                    model.entry(key).and_modify(|x| *x += 1.0);
                }
                2 | 3 => {
                    targets.remove(key);
                    model.remove(&key);
                }
                _ => {
                    let x = f32::from(round);
                    let time = Duration::from_secs(9);
                    targets.set(key, translation(x, 0.0, 0.0), time);
                    model.insert(key, x);
                }
            }
            assert_eq!(contents(&targets), model);
        }
    }

    #[test]
    fn reached_or_invalid_targets_are_dropped_and_the_others_remain() {
        let (mut world, keys) = world(9);
        let mut targets = Targets::default();
        for (i, key) in keys.iter().enumerate() {
            let time = if i % 3 == 0 { 10 } else { 11 };
            targets.set(*key, Pose::IDENTITY, Duration::from_millis(time));
        }
        // These include targets of bodies that are removed or have another type.
        let (gone, other) = (keys[4], keys[8]);
        let handle = world.handle(gone).unwrap();
        world.rapier.remove_body(handle);
        let body = world.get_mut(other).unwrap();
        body.set_body_type(RigidBodyType::Dynamic, true);
        targets.apply(&mut world, step());
        targets.end_step(&mut world, step());
        let left: Vec<BodyKey> = contents(&targets).into_keys().collect();
        assert_eq!(left, [keys[1], keys[2], keys[5], keys[7]]);
    }
}
