//! A map is synced for the first time after a view has displayed the removal of its body.

use evenstep::ecs::EntityMap;
use evenstep::ecs::hecs::{Body, Entities};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Overlap, Runner, RunnerSettings, Worker};
use evenstep::{BodyKey, Hooks, Simulation};
use hecs::World;
use scenes::{MS, ball, space};
use std::convert::Infallible;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

fn scene() -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    let body = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    simulation.advance(MS(20), |_, _| ());
    (simulation, body)
}

/// Runs the frame of this number.
fn frame(runner: &mut Runner<Idle>, worker: &mut Worker<Idle>, number: u64) {
    let now = MS(7 * number);
    while worker.run_until(now).is_some_and(|next| next <= now) {}
    runner.frame_at(now);
}

#[test]
fn a_body_that_was_removed_before_the_host_starts_is_reported() {
    let dead = || {
        let (mut simulation, body) = scene();
        simulation.physics.remove(body);
        simulation.advance(MS(20), |_, _| ());
        let mut map = EntityMap::default();
        map.insert(body, 7);
        (simulation, map)
    };
    let (simulation, mut map) = dead();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    frame(&mut runner, &mut worker, 1);
    assert_eq!(map.take_removed(&runner), [7]);

    let (mut simulation, mut map) = dead();
    simulation.pause();
    let mut overlap = Overlap::new(simulation).unwrap();
    let Ok(_) = overlap.frame(MS(7), &mut Idle);
    assert_eq!(map.take_removed(&overlap), [7]);
}

#[test]
fn maps_without_a_sync_learn_of_a_removal_that_was_displayed() {
    let (mut simulation, body) = scene();
    let (mut world, mut entities) = (World::new(), Entities::default());
    let entity = world.spawn(());
    entities
        .attach(&mut world, &mut simulation, entity, body)
        .unwrap();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    let mut map = EntityMap::default();
    map.insert(body, 7);
    for number in 0..20 {
        frame(&mut runner, &mut worker, number);
        assert_eq!(map.take_removed(&runner), []);
        map.moved(&runner).count();
        entities.sync(&mut world, &mut runner);
    }
    // A copy of the map, and entities that were matched with a state, have not seen this view.
    let mut copy = map.clone();
    let present = worker.simulation().physics.clone();
    let unmatched = entities.unmatched(&mut world, &present);
    assert!(unmatched.is_empty());
    runner
        .call(move |simulation, _| drop(simulation.physics.remove(body)))
        .unwrap();
    for number in 20..60 {
        frame(&mut runner, &mut worker, number);
    }
    assert_eq!(map.take_removed(&runner), [7]);
    assert_eq!(copy.take_removed(&runner), [7]);
    entities.sync(&mut world, &mut runner);
    assert!(world.get::<&Body>(entity).is_err());
}
