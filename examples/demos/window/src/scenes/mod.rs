//! The scenes: the initial worlds, and the scenes' part in each step.

// Crates in a wall, and a ball that is thrown at it.
mod pile;
// Chains of joints with a weight at their end.
mod chain;
// Bodies that turn about a point other than their origin.
mod spinners;
// A platform and a lift, with riders.
mod platform;
// A car.
mod vehicle;
// A gun, and a thin wall.
mod bullets;

use std::time::Duration;

use evenstep::rapier::control::DynamicRayCastVehicleController;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};
use serde::{Deserialize, Serialize};

use crate::paint::Paint;

/// The choice of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scene {
    /// Crates in a wall, and a ball that is thrown at it.
    Pile,
    /// Chains of joints with a weight at their end.
    Chain,
    /// Bodies that turn about a point other than their origin.
    Spinners,
    /// A platform and a lift, with riders.
    Platform,
    /// A car.
    Vehicle,
    /// A gun, and a thin wall.
    Bullets,
}

/// The bodies of a scene with a role, which its steps need beside the simulation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cast {
    /// The body whose path is plotted.
    pub followed: BodyKey,
    /// The axis along which it mostly moves: 0 for x, 1 for y, 2 for z.
    pub axis: usize,
    /// Bodies that the scene itself moves.
    pub movers: Vec<BodyKey>,
    /// The car, if there is one.
    pub car: Option<DynamicRayCastVehicleController>,
    /// The bodies that move, as they were at the beginning.
    pub start: Vec<Start>,
    /// The simulated time of the last restart.
    pub since: Duration,
    /// The number of bodies that were thrown or fired since then.
    pub thrown: u32,
    /// Bodies that are removed after some time, each with the simulated time at which it was inserted.
    pub passing: Vec<(Duration, BodyKey)>,
}

/// A body at the beginning of a scene.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Start {
    key: BodyKey,
    /// The pose in the scene.
    pose: Pose,
    linvel: Vector,
    angvel: Vector,
}

/// The input of a step of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The step.
    pub step: Step,
    /// The position of the simulation's origin in the scene.
    pub origin: Vector,
    /// The driver's input: forward, and to the left, from -1 to 1.
    pub drive: [f32; 2],
}

impl Scene {
    /// All scenes, in the order of the panel.
    pub const ALL: [Self; 6] = [
        Self::Pile,
        Self::Chain,
        Self::Spinners,
        Self::Platform,
        Self::Vehicle,
        Self::Bullets,
    ];

    /// Returns the name in the panel.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pile => "pile",
            Self::Chain => "chain",
            Self::Spinners => "spinners",
            Self::Platform => "platform",
            Self::Vehicle => "vehicle",
            Self::Bullets => "bullets",
        }
    }

    /// Returns the simulated time after which the scene restarts, in seconds, because its bodies come to rest. `None` if
    /// they never do.
    fn period(self) -> Option<f64> {
        match self {
            Self::Pile | Self::Chain => Some(10.0),
            Self::Bullets => Some(6.0),
            Self::Spinners | Self::Platform | Self::Vehicle => None,
        }
    }

    /// Inserts the bodies into an empty simulation.
    pub fn build(self, physics: &mut Physics) -> Cast {
        let floor = RigidBodyBuilder::fixed()
            .translation(Vector::Y * -0.5)
            .user_data(Paint::Floor.into());
        physics.insert(floor, ColliderBuilder::cuboid(FLOOR, 0.5, FLOOR));
        let cast = match self {
            Self::Pile => pile::build(physics),
            Self::Chain => chain::build(physics),
            Self::Spinners => spinners::build(physics),
            Self::Platform => platform::build(physics),
            Self::Vehicle => vehicle::build(physics),
            Self::Bullets => bullets::build(physics),
        };
        let moving = physics.bodies().filter(|(_, body)| !body.is_fixed());
        let start = moving.map(|(key, body)| Start {
            key,
            pose: *body.position(),
            linvel: body.linvel(),
            angvel: body.angvel(),
        });
        Cast {
            start: start.collect(),
            ..cast
        }
    }

    /// Runs the scene's part in a step.
    pub fn step(self, physics: &mut Physics, cast: &mut Cast, moment: Moment) {
        let is_over = |seconds| begins_period(moment.step, seconds);
        let is_over = self.period().is_some_and(is_over) || vehicle::is_on_its_roof(physics, cast);
        if remove_lost(physics, cast, moment.origin) || is_over {
            restart(physics, cast, moment);
        }
        match self {
            Self::Pile => pile::step(physics, cast, moment),
            Self::Platform => platform::step(physics, cast, moment),
            Self::Vehicle => vehicle::step(physics, cast, moment),
            Self::Bullets => bullets::step(physics, cast, moment),
            Self::Chain | Self::Spinners => (),
        }
    }

    /// Returns the best position of the camera, and the point to look at, in the scene. Bodies are below the overlay.
    #[must_use]
    pub fn view(self) -> (Vector, Vector) {
        match self {
            Self::Pile => (Vector::new(6.0, 6.3, 10.5), Vector::new(0.0, 3.2, 0.0)),
            Self::Chain => (Vector::new(8.0, 6.2, 12.0), Vector::new(0.0, 3.3, -0.8)),
            Self::Spinners => (Vector::new(0.0, 5.2, 15.0), Vector::new(0.0, 2.2, 0.0)),
            Self::Platform => (Vector::new(3.0, 5.0, 11.5), Vector::new(0.0, 1.6, 0.0)),
            Self::Vehicle => (Vector::new(0.0, 9.0, 18.0), Vector::new(0.0, 0.3, 0.5)),
            Self::Bullets => (Vector::new(-3.6, 5.0, 15.0), Vector::new(-0.7, 1.4, 0.0)),
        }
    }
}

/// Half the width of the floor, in metres.
pub const FLOOR: f32 = 12.0;

/// Returns a crate, or a block of another size.
fn block(at: Vector, half: Vector, paint: Paint) -> (RigidBodyBuilder, ColliderBuilder) {
    let body = RigidBodyBuilder::dynamic()
        .translation(at)
        .user_data(paint.into());
    (body, ColliderBuilder::cuboid(half.x, half.y, half.z))
}

/// Returns a ball.
fn ball(at: Vector, radius: f32, paint: Paint) -> (RigidBodyBuilder, ColliderBuilder) {
    let body = RigidBodyBuilder::dynamic()
        .translation(at)
        .user_data(paint.into());
    (body, ColliderBuilder::ball(radius))
}

/// Returns whether a position in the scene is within its bounds: from below the floor up, and to all sides. It is not if
/// a body has fallen off the floor, or if its position is no number any more.
fn is_inside(place: Vector) -> bool {
    (-3.0..40.0).contains(&place.y) && place.x.abs().max(place.z.abs()) < 2.0 * FLOOR
}

/// Removes bodies that have left the scene. Returns whether the scene misses one of them.
fn remove_lost(physics: &mut Physics, cast: &Cast, origin: Vector) -> bool {
    let lost = physics
        .bodies()
        .filter(|(_, body)| !is_inside(body.translation() + origin));
    let (missed, others): (Vec<_>, Vec<_>) = (lost.map(|(key, _)| key))
        .partition(|key| cast.start.iter().any(|start| start.key == *key));
    for key in others {
        physics.remove(key);
    }
    !missed.is_empty()
}

/// Moves all bodies to where they were at the beginning, and removes those that came later.
fn restart(physics: &mut Physics, cast: &mut Cast, moment: Moment) {
    let moving = physics.bodies().filter(|(_, body)| !body.is_fixed());
    let moving: Vec<_> = moving.map(|(key, _)| key).collect();
    for key in moving {
        if !cast.start.iter().any(|start| start.key == key) {
            physics.remove(key);
        }
    }
    for start in &cast.start {
        let pose = Pose::from_translation(-moment.origin) * start.pose;
        place(physics, start.key, pose, start.linvel, start.angvel);
    }
    cast.since = moment.step.start_time;
    cast.thrown = 0;
    cast.passing.clear();
}

/// Teleports a body, and sets its velocity.
fn place(physics: &mut Physics, key: BodyKey, pose: Pose, linvel: Vector, angvel: Vector) {
    let placed = physics.teleport(key, pose);
    debug_assert!(placed.is_ok(), "the body is in no multibody");
    if let Some(body) = physics.body_mut(key) {
        body.set_linvel(linvel, true);
        body.set_angvel(angvel, true);
    }
}

/// Removes bodies that are older than this number of seconds of simulated time.
fn remove_old(physics: &mut Physics, cast: &mut Cast, step: Step, seconds: u64) {
    let most = Duration::from_secs(seconds);
    cast.passing.retain(|(since, key)| {
        let stays = step.start_time < *since + most;
        if !stays {
            physics.remove(*key);
        }
        stays
    });
}

/// Returns whether a step is the first in a period of this many seconds of simulated time.
fn begins_period(step: Step, seconds: f64) -> bool {
    let period = |time: Duration| (time.as_secs_f64() / seconds) as u64;
    period(step.end_time) > period(step.start_time)
}
