//! A map is synced for the first time after a view has displayed the removal of its body.

use evenstep::ecs::EntityMap;
use evenstep::ecs::hecs::{Body, Entities};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, Worker};
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step};
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

fn remove(runner: &Runner<Idle>, body: BodyKey) {
    runner
        .call(move |simulation, _| drop(simulation.physics.remove(body)))
        .unwrap();
}

fn roll_back(runner: &Runner<Idle>, tick: u64) {
    runner
        .call(move |simulation, _| simulation.roll_back(tick).unwrap())
        .unwrap();
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
    let mut removed = Vec::new();
    for number in 1..10 {
        frame(&mut runner, &mut worker, number);
        removed.extend(map.take_removed(&runner));
        map.moved(&runner).count();
    }
    assert_eq!(removed, [7]);

    let (mut simulation, mut map) = dead();
    simulation.pause();
    let mut overlap = Overlap::new(simulation).unwrap();
    let Ok(_) = overlap.frame(MS(7), &mut Idle);
    assert_eq!(map.take_removed(&overlap), [7]);
}

struct Clears(Vec<BodyKey>);

impl Hooks for Clears {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        for key in self.0.drain(..self.0.len().min(10)) {
            physics.remove(key);
        }
        Ok(())
    }
}

/// The runner asks for no frame while more bodies are removed than it lists, so its first picture finds them.
#[test]
fn bodies_that_hooks_remove_before_the_first_frame_are_reported() {
    let mut simulation = space(100);
    let mut map = EntityMap::default();
    for i in 0..1_500u16 {
        let at = RigidBodyBuilder::fixed().translation(Vector::X * f32::from(i));
        map.insert(simulation.physics.insert(at, ball()), i);
    }
    let mut keys: Vec<_> = simulation.physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(simulation, Clears(keys), settings);
    assert_eq!(map.take_removed(&runner), []);
    assert_eq!(map.moved(&runner).count(), 1_500);
    for ms in (0..2_500).step_by(10) {
        worker.run_until(MS(ms));
    }
    runner.frame_at(MS(2_500));
    assert_eq!(runner.view().removed().len(), 1_500);
    assert!(map.take_removed(&runner).into_iter().eq(0..1_500));
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
    remove(&runner, body);
    for number in 20..60 {
        frame(&mut runner, &mut worker, number);
    }
    assert_eq!(map.take_removed(&runner), [7]);
    let mut removed = Vec::new();
    for number in 60..70 {
        frame(&mut runner, &mut worker, number);
        removed.extend(copy.take_removed(&runner));
        copy.moved(&runner).count();
        entities.sync(&mut world, &mut runner);
    }
    assert_eq!(removed, [7]);
    assert!(world.get::<&Body>(entity).is_err());
}

/// A state is assigned that had no body yet, so that a new body gets the key of one whose removal was displayed.
#[test]
fn a_new_body_keeps_its_entity_although_its_key_was_removed() {
    for skips_frames in [false, true] {
        let simulation = space(100);
        let level = simulation.physics.clone();
        let (mut runner, mut worker) =
            Runner::without_thread(simulation, Idle, RunnerSettings::default());
        let old = runner.spawn(RigidBodyBuilder::fixed(), ball()).unwrap();
        for number in 0..5 {
            frame(&mut runner, &mut worker, number);
        }
        let old = old.key().unwrap();
        let mut map = EntityMap::default();
        if skips_frames {
            assert_eq!(map.take_removed(&runner), []);
            map.moved(&runner).count();
        }
        remove(&runner, old);
        for number in 5..15 {
            frame(&mut runner, &mut worker, number);
        }
        assert_eq!(runner.view().pose(old), None);
        runner
            .call(move |simulation, _| simulation.physics = level)
            .unwrap();
        let (mut world, mut entities) = (World::new(), Entities::default());
        let fixed = RigidBodyBuilder::fixed();
        let spawned = entities.try_spawn(&mut world, &runner, fixed, ball(), ());
        let (entity, _) = spawned.unwrap();
        worker.run_until(MS(7 * 14 + 1));
        map.insert(old, 7);
        for number in 15..40 {
            assert_eq!(map.take_removed(&runner), []);
            map.moved(&runner).count();
            entities.sync(&mut world, &mut runner);
            frame(&mut runner, &mut worker, number);
        }
        let body = world.get::<&Body>(entity).unwrap();
        assert_eq!(body.key(), old);
        assert!(runner.view().pose(old).is_some());
    }
}

/// Returns the scene of a simulation that keeps its states.
fn kept_scene() -> (Simulation, BodyKey) {
    let (mut simulation, body) = scene();
    simulation.keep(Kept {
        ticks: 60,
        ..simulation.kept()
    });
    (simulation, body)
}

/// A rollback brings a body back while the view still displays its removal. The game matches its entities in the hook.
#[test]
fn a_body_that_a_rollback_brings_back_keeps_its_entity_if_it_is_matched() {
    let (simulation, body) = kept_scene();
    let restored = simulation.physics.clone();
    let tick = restored.tick();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    let mut map = EntityMap::default();
    map.insert(body, 7);
    let mut number = 0;
    while runner.view().tick() <= tick {
        frame(&mut runner, &mut worker, number);
        number += 1;
    }
    remove(&runner, body);
    while runner.view().removed() != [body] {
        frame(&mut runner, &mut worker, number);
        number += 1;
    }
    roll_back(&runner, tick);
    worker.run_until(MS(7 * number));
    assert!(map.unmatched(&restored).is_empty());
    assert_eq!(map.take_removed(&runner), []);
    for number in number..number + 10 {
        frame(&mut runner, &mut worker, number);
        assert_eq!(map.take_removed(&runner), []);
        map.moved(&runner).count();
    }
    assert!(runner.view().pose(body).is_some());

    // A later removal still counts.
    remove(&runner, body);
    let mut removed = Vec::new();
    for number in number + 10..number + 30 {
        frame(&mut runner, &mut worker, number);
        removed.extend(map.take_removed(&runner));
        map.moved(&runner).count();
    }
    assert_eq!(removed, [7]);
}

/// A game on the thread puts a copy of its map back with the restored state, and so matches nothing.
#[test]
fn a_body_that_a_rollback_brings_back_keeps_its_entity_in_a_restored_map() {
    let (simulation, body) = kept_scene();
    let tick = simulation.physics.tick();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    let mut map = EntityMap::default();
    map.insert(body, 7);
    let mut number = 0;
    let mut copy = map.clone();
    while runner.view().tick() <= tick {
        frame(&mut runner, &mut worker, number);
        number += 1;
        assert_eq!(map.take_removed(&runner), []);
        map.moved(&runner).count();
        copy = map.clone();
    }
    remove(&runner, body);
    while map.take_removed(&runner).is_empty() {
        map.moved(&runner).count();
        frame(&mut runner, &mut worker, number);
        number += 1;
    }
    roll_back(&runner, tick);
    worker.run_until(MS(7 * number));
    let mut map = copy;
    for number in number..number + 10 {
        assert_eq!(map.take_removed(&runner), []);
        map.moved(&runner).count();
        frame(&mut runner, &mut worker, number);
    }
    assert!(runner.view().pose(body).is_some());
}
