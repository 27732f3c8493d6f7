//! Sounds of hits that a rollback moves or retracts.

use super::*;
use evenstep::events::{EventChanges, Events};
use evenstep::rewind::Kept;
use std::collections::{BTreeMap, BTreeSet};

/// Hits of the same bodies within this many ticks are the same hit.
const SAME_HIT: u64 = 10;

/// The tick of a hit, and its bodies.
type Hit = (u64, BTreeSet<BodyKey>);

/// The playing sounds, with your mixer's numbers.
type Sounds = BTreeMap<Hit, u32>;

fn hits(events: &Events) -> Vec<Hit> {
    let started = events.collisions().filter(|hit| hit.started);
    let hits = started.map(|hit| (hit.step, hit.bodies.into_iter().flatten().collect()));
    hits.collect()
}

/// Starts the sounds of a frame's events, and returns how many it starts.
fn start(sounds: &mut Sounds, events: &Events) -> u32 {
    let mut started = 0;
    for hit in hits(events) {
        sounds.entry(hit).or_insert_with(|| {
            started += 1;
            started
        });
    }
    started
}

/// Call it after each rollback.
fn correct(sounds: &mut Sounds, changes: &EventChanges) {
    let mut new = hits(&changes.new);
    for old in hits(&changes.retracted) {
        let is_same = |hit: &Hit| hit.1 == old.1 && hit.0.abs_diff(old.0) <= SAME_HIT;
        let moved = new.iter().position(is_same).map(|i| new.remove(i));
        let sound = sounds.remove(&old);
        sounds.extend(moved.zip(sound)); // if the hit did not move, stop the sound
    }
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
    assert_eq!(start(&mut sounds, &simulation.events()), 1);
    // Late input sets the speed at tick 2: to the previous value, to a lower one, and to zero.
    for (speed, playing) in [(8.0, 1), (7.0, 1), (0.0, 0)] {
        let result = simulation.resimulate(2, |physics, step| {
            if step.tick == 2 {
                let body = physics.body_mut(ball).unwrap();
                body.set_linvel(Vector::X * speed, true);
            }
        });
        result.unwrap();
        correct(&mut sounds, &simulation.event_changes());
        simulation.advance(Duration::ZERO, |_, _| ());
        assert_eq!(start(&mut sounds, &simulation.events()), 0);
        assert_eq!(sounds.len(), playing);
    }
}
