//! What carries the character: bodies that go to and fro, each step by its own place in time.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

use crate::level::Paint;

/// Half of a platform's size.
pub const HALF: Vector = Vector::new(1.6, 0.2, 1.6);

/// A way to and fro.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// One end.
    pub from: Vector,
    /// The other.
    pub to: Vector,
    /// How long it takes from end to end.
    pub travel: Duration,
    /// How long it waits at each.
    pub wait: Duration,
}

/// All platforms. Nothing here changes: where they go follows from the time, so a rewind needs nothing.
#[derive(Clone, Debug)]
pub struct Platforms {
    routes: Vec<(BodyKey, Route)>,
}

impl Platforms {
    /// Puts them into a world.
    pub fn build(physics: &mut Physics, routes: &[Route]) -> Self {
        let routes = routes.iter().map(|route| {
            let body = RigidBodyBuilder::kinematic_position_based()
                .translation(route.from)
                .user_data(Paint::Platform.into());
            let collider = ColliderBuilder::cuboid(HALF.x, HALF.y, HALF.z);
            (physics.insert(body, collider), *route)
        });
        Self {
            routes: routes.collect(),
        }
    }

    /// In the hook, before each step and before the character walks.
    pub fn set_off(&self, physics: &mut Physics, step: Step) {
        for (key, route) in &self.routes {
            let (end, time) = route.next_end(step.time);
            // Set again in each step: the same target changes nothing.
            physics
                .set_kinematic_target(*key, Pose::from_translation(end), time)
                .expect("a platform is kinematic, and stays");
        }
    }

    /// Their keys.
    pub fn keys(&self) -> impl Iterator<Item = BodyKey> {
        self.routes.iter().map(|(key, _)| *key)
    }
}

impl Route {
    /// Where it goes at that time, and when it is there.
    fn next_end(&self, time: Duration) -> (Vector, Duration) {
        let leg = self.travel + self.wait;
        let done = (time.as_nanos() / leg.as_nanos()) as u32;
        let end = if done.is_multiple_of(2) {
            self.to
        } else {
            self.from
        };
        (end, leg * done + self.travel)
    }
}
