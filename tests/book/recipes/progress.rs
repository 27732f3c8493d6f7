//! A saved game that survives an update: facts of the game, from which it builds the world again.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};
use recipes::progress::{Progress, SavedBody};
use scenes::with_floor;
use std::time::Duration;

/// Returns the level with these crates.
fn build(progress: &Progress) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = with_floor(Rate::hz(60));
    let keys = progress.insert_crates(&mut simulation.physics);
    (simulation, keys)
}

#[test]
fn a_world_rebuilt_from_saved_facts_has_the_same_poses_and_velocities() {
    let start = [2.0, 4.0, 6.0].map(|y| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * y);
        SavedBody::of(&body.angvel(Vector::new(1.0, 2.0, y)).build())
    });
    let mut progress = Progress {
        level: 3,
        coins: 7,
        crates: start.into(),
    };
    let (mut simulation, keys) = build(&progress);
    simulation.advance(Duration::from_millis(240), |_, _| ());
    let bodies = keys
        .iter()
        .map(|key| simulation.physics.body(*key).unwrap());
    progress.crates = bodies.map(SavedBody::of).collect();

    let file = serde_json::to_string(&progress).unwrap();
    let loaded: Progress = serde_json::from_str(&file).unwrap();
    assert_eq!((loaded.level, loaded.coins), (3, 7));
    let (mut rebuilt, new_keys) = build(&loaded);
    rebuilt.advance(Duration::ZERO, |_, _| ());
    for (old, new) in keys.into_iter().zip(new_keys) {
        let [old, new] = [(&simulation, old), (&rebuilt, new)].map(|(simulation, key)| {
            let body = simulation.physics.body(key).unwrap();
            (*body.position(), body.linvel(), body.angvel())
        });
        assert_eq!(old, new);
    }
}

#[test]
fn a_saved_game_from_before_a_field_existed_still_loads() {
    let loaded: Progress = serde_json::from_str(r#"{"level": 2, "crates": []}"#).unwrap();
    assert_eq!((loaded.level, loaded.coins), (2, 0));
}
