//! Where kinematic bodies shall be at a moment in time, and their way there.

use std::time::Duration;

use rapier3d::dynamics::RigidBodyType;
use rapier3d::math::Pose;

use crate::clock::Step;
use crate::key::BodyKey;
use crate::slerp::interpolate;
use crate::world::World;

/// A step that ends so little before the moment ends at it: both are rounded to nanoseconds.
const ROUNDING: Duration = Duration::from_nanos(1);

/// One target a body, by key: a later one takes the place of an earlier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

#[derive(Clone, Copy, Debug)]
struct Target {
    key: BodyKey,
    pose: Pose,
    /// Simulated time.
    time: Duration,
}

impl Targets {
    pub fn set(&mut self, key: BodyKey, pose: Pose, time: Duration) {
        let target = Target { key, pose, time };
        match self.find(key) {
            Ok(place) => self.0[place] = target,
            Err(place) => self.0.insert(place, target),
        }
    }

    pub fn remove(&mut self, key: BodyKey) {
        if let Ok(place) = self.find(key) {
            self.0.remove(place);
        }
    }

    pub fn transform(&mut self, key: BodyKey, by: &Pose) {
        if let Ok(place) = self.find(key) {
            self.0[place].pose = by * self.0[place].pose;
        }
    }

    pub fn transform_all(&mut self, by: &Pose) {
        for target in &mut self.0 {
            target.pose = by * target.pose;
        }
    }

    fn find(&self, key: BodyKey) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |target| target.key)
    }

    /// Tells Rapier where the bodies are to be after this step. A target that is reached is done
    /// with, and so is that of a body that is no longer kinematic by position.
    pub fn apply(&mut self, world: &mut World, step: &Step) {
        self.0.retain(|target| {
            let Some(body) = world.get_mut(target.key) else {
                return false;
            };
            if body.body_type() != RigidBodyType::KinematicPositionBased {
                return false;
            }
            let share = target.share(step);
            body.set_next_kinematic_position(interpolate(body.position(), &target.pose, share));
            share < 1.0
        });
    }
}

impl Target {
    /// The part of the way that is left that belongs to this step. What is left is shared evenly
    /// by the time that is left, so all steps go at the same speed; the last one ends at the target.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is the point"
    )]
    fn share(&self, step: &Step) -> f32 {
        let left = self.time.saturating_sub(step.time);
        let dt = Duration::from_secs_f32(step.dt);
        if left <= dt + ROUNDING {
            return 1.0;
        }
        (f64::from(step.dt) / left.as_secs_f64()) as f32
    }
}
