//! A saved game that survives an update: facts of the game, from which it builds the world again.

use super::*;
use serde::{Deserialize, Serialize};

/// A saved game, in numbers that no update of Rapier changes.
#[derive(Deserialize, Serialize)]
struct Progress {
    level: u32,
    #[serde(default)] // a later version added it
    coins: u32,
    crates: Vec<SavedBody>,
}

#[derive(Deserialize, Serialize)]
struct SavedBody {
    position: [f32; 3],
    rotation: [f32; 4],
    linvel: [f32; 3],
    angvel: [f32; 3],
}

impl SavedBody {
    fn of(body: &RigidBody) -> Self {
        Self {
            position: body.translation().to_array(),
            rotation: body.position().rotation.to_array(),
            linvel: body.linvel().to_array(),
            angvel: body.angvel().to_array(),
        }
    }

    fn build(&self) -> RigidBodyBuilder {
        let rotation = Rotation::from_array(self.rotation);
        RigidBodyBuilder::dynamic()
            .pose(Pose::from_parts(self.position.into(), rotation))
            .linvel(self.linvel.into())
            .angvel(self.angvel.into())
    }
}

/// Returns the level with these crates.
fn build(progress: &Progress) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = with_floor(Rate::hz(60));
    let physics = &mut simulation.physics;
    let crates = progress.crates.iter();
    let keys = crates.map(|saved| physics.insert(saved.build(), ColliderBuilder::ball(0.5)));
    let keys = keys.collect();
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
