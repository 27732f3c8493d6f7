//! The scenes: the initial worlds, and the scenes' part in each step.

// Crates in a wall, and balls that are thrown at it.
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
    /// Crates in a wall, and balls that are thrown at it.
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
    /// The number of bodies that were thrown or fired.
    pub thrown: u32,
    /// Bodies that are removed after some time, each with the simulated time at which it was inserted.
    pub passing: Vec<(Duration, BodyKey)>,
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

    /// Inserts the bodies into an empty simulation.
    pub fn build(self, physics: &mut Physics) -> Cast {
        let floor = RigidBodyBuilder::fixed()
            .translation(Vector::Y * -0.5)
            .user_data(Paint::Floor.into());
        physics.insert(floor, ColliderBuilder::cuboid(FLOOR, 0.5, FLOOR));
        match self {
            Self::Pile => pile::build(physics),
            Self::Chain => chain::build(physics),
            Self::Spinners => spinners::build(physics),
            Self::Platform => platform::build(physics),
            Self::Vehicle => vehicle::build(physics),
            Self::Bullets => bullets::build(physics),
        }
    }

    /// Runs the scene's part in a step.
    pub fn step(self, physics: &mut Physics, cast: &mut Cast, moment: Moment) {
        match self {
            Self::Pile => pile::step(physics, cast, moment),
            Self::Platform => platform::step(physics, cast, moment),
            Self::Vehicle => vehicle::step(physics, cast, moment),
            Self::Bullets => bullets::step(physics, cast, moment),
            Self::Chain | Self::Spinners => (),
        }
    }

    /// Returns the best position of the camera, and the point to look at, in the scene.
    #[must_use]
    pub fn view(self) -> (Vector, Vector) {
        match self {
            Self::Pile => (Vector::new(6.0, 5.6, 10.5), Vector::new(0.0, 2.5, 0.0)),
            Self::Chain => (Vector::new(8.0, 5.5, 12.0), Vector::new(0.0, 2.6, -0.8)),
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

/// Removes bodies that are older than this number of seconds of simulated time.
fn remove_old(physics: &mut Physics, cast: &mut Cast, step: Step, seconds: u64) {
    let most = Duration::from_secs(seconds);
    cast.passing.retain(|(since, key)| {
        let stays = step.time < *since + most;
        if !stays {
            physics.remove(*key);
        }
        stays
    });
}

/// Returns whether a step is the first in a period of this many seconds of simulated time.
fn begins_period(step: Step, seconds: f64) -> bool {
    let period = |time: Duration| (time.as_secs_f64() / seconds) as u64;
    period(step.end_time) > period(step.time)
}
