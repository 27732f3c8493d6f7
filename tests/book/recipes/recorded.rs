//! A run that is recorded and played again.

use super::SECOND;
use evenstep::rapier::prelude::*;
use evenstep::recording::{Recorder, RecorderSettings, Recording};
use evenstep::{BodyKey, Physics, Simulation, Step};
use recipes::recorded::{Game, play, record};
use serde::{Deserialize, Serialize};

/// A ball that the player pushes. `ERROR` is added to the push at tick 40.
#[derive(Serialize, Deserialize)]
struct Pushed<const ERROR: u8>(BodyKey);

impl<const ERROR: u8> Game for Pushed<ERROR> {
    type Input = f32;

    fn step(&mut self, physics: &mut Physics, step: Step, input: f32) {
        let error = if step.tick == 40 {
            f32::from(ERROR)
        } else {
            0.0
        };
        physics
            .add_force(self.0, Vector::X * (input + error))
            .unwrap();
    }
}

#[test]
fn a_replay_finds_the_tick_and_the_body_that_differ() {
    let mut simulation = Simulation::default();
    let ball = ColliderBuilder::ball(0.5);
    let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ball);
    let mut game = Pushed::<0>(ball);
    let mut recorder = Recorder::new(Vec::new(), RecorderSettings::default()).unwrap();
    for _ in 0..144 {
        let read = |step: Step| step.tick as f32;
        record(
            &mut recorder,
            &mut simulation,
            &mut game,
            SECOND / 144,
            read,
        )
        .unwrap();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(play::<Pushed<0>>(&recording).unwrap(), []);
    let differences = play::<Pushed<1>>(&recording).unwrap();
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].tick, 40);
    assert_eq!(differences[0].bodies, [ball]);
}
