//! Sounds of hits that a rollback moves or retracts.

use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use recipes::corrected_sounds::{Sounds, correct, start};
use scenes::space;
use std::time::Duration;

/// Starts the sounds of a frame's events, and returns how many it starts.
fn count_new(sounds: &mut Sounds, simulation: &Simulation) -> u32 {
    let mut started = 0;
    start(sounds, simulation, |_| {
        started += 1;
        started
    });
    started
}

#[test]
fn a_sound_continues_if_its_hit_moves_and_stops_if_it_is_retracted() {
    let mut simulation = space(60);
    simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::X * -2.0)
        .linvel(Vector::X * 8.0);
    let ball = ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS);
    let ball = simulation.physics.insert(body, ball);

    let mut sounds = Sounds::new();
    simulation.advance(Duration::from_millis(200), |_, _| ());
    assert_eq!(count_new(&mut sounds, &simulation), 1);
    // Late input sets the speed at tick 2: to the previous value, to a lower one, and to zero.
    for (speed, playing) in [(8.0, 1), (7.0, 1), (0.0, 0)] {
        let result = simulation.resimulate(2, |physics, step| {
            if step.tick == 2 {
                let body = physics.body_mut(ball).unwrap();
                body.set_linvel(Vector::X * speed, true);
            }
        });
        result.unwrap();
        let mut stopped = 0;
        correct(&mut sounds, &simulation.event_changes(), |_| stopped += 1);
        simulation.advance(Duration::ZERO, |_, _| ());
        assert_eq!(count_new(&mut sounds, &simulation), 0);
        assert_eq!((sounds.len(), stopped), (playing, 1 - playing));
    }
}

#[test]
fn hits_that_no_rollback_reaches_are_forgotten() {
    let mut simulation = space(60);
    simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 8.0);
    let ball = ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS);
    simulation.physics.insert(body, ball);
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * 2.0);
    simulation.physics.insert(wall, ColliderBuilder::ball(0.5));
    let mut sounds = Sounds::new();
    let mut playing = Vec::new();
    for _ in 0..4 {
        simulation.advance(Duration::from_millis(200), |_, _| ());
        count_new(&mut sounds, &simulation);
        playing.push(sounds.len());
    }
    assert_eq!(playing, [1, 1, 0, 0]);
}
