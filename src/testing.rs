//! A scene, and the settings of random tests, which the tests in `src` share.

use proptest::test_runner::{Config, FileFailurePersistence};
use rapier::prelude::*;

use crate::{BodyKey, Rate, Simulation};

/// Returns the settings of a random test, with a number of [cases](scenes::cases::scaled). Failed cases are stored
/// beside the failed cases of the test programs.
pub fn random(usual: u32) -> Config {
    let file = FileFailurePersistence::SourceParallel("tests/proptest-regressions");
    Config {
        cases: scenes::cases::scaled(usual),
        failure_persistence: Some(Box::new(file)),
        ..Config::default()
    }
}

/// Returns a body that moves a metre in each step at 100 Hz.
pub fn flyer() -> (Simulation, BodyKey) {
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
    (simulation, key)
}
