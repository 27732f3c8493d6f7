//! An `EntityMap` in random games, without hecs.

use evenstep::ecs::EntityMap;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use proptest::prelude::*;
use scenes::testing::translation;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

#[derive(Clone, Debug)]
enum Action {
    Spawn,
    Release(usize),
    Despawn(usize),
    Remove(usize),
    RemoveThroughRapier(usize),
    HandOver(usize),
    Teleport(usize),
    InsertAlone,
    Adopt,
    Save,
    Restore,
    Frame(u64),
    Sync,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => Just(Action::Spawn),
        1 => (0..20usize).prop_map(Action::Release),
        1 => (0..20usize).prop_map(Action::Despawn),
        1 => (0..20usize).prop_map(Action::Remove),
        1 => (0..20usize).prop_map(Action::RemoveThroughRapier),
        1 => (0..20usize).prop_map(Action::HandOver),
        2 => (0..20usize).prop_map(Action::Teleport),
        1 => Just(Action::InsertAlone),
        1 => Just(Action::Adopt),
        1 => Just(Action::Save),
        1 => Just(Action::Restore),
        4 => (0..40u64).prop_map(Action::Frame),
        2 => Just(Action::Sync),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(256)))]

    #[test]
    fn every_entity_has_the_pose_of_its_body_after_a_sync(actions in prop::collection::vec(action(), 1..200)) {
        let mut simulation = Simulation::default();
        let mut map = EntityMap::default();
        let mut entities = BTreeMap::<u32, (BodyKey, Option<Pose>)>::new();
        let mut next = 0;
        // Entities whose body another one has got.
        let mut displaced = BTreeSet::new();
        // Bodies without an entity.
        let mut alone = Vec::new();
        let mut has_missed_frames = false;
        let mut saved = simulation.physics.clone();
        for action in actions {
            let pick = |i: usize| {
                let (entity, (key, _)) = entities.iter().nth(i % entities.len().max(1))?;
                Some((*entity, *key))
            };
            match action {
                Action::Spawn => {
                    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
                    let key = simulation.physics.insert_body(body);
                    map.insert(key, next);
                    entities.insert(next, (key, None));
                    next += 1;
                }
                Action::Release(i) => if let Some((entity, key)) = pick(i) {
                    entities.remove(&entity);
                    map.remove_body(&mut simulation.physics, key, entity);
                    prop_assert!(simulation.physics.body(key).is_none());
                }
                Action::Despawn(i) => if let Some((entity, key)) = pick(i) {
                    entities.remove(&entity);
                    let body_of = |entity| entities.get(&entity).map(|(key, _)| *key);
                    map.retain(&mut simulation, body_of);
                    // The game knows already that they have no body.
                    displaced.clear();
                    prop_assert!(simulation.physics.body(key).is_none());
                }
                Action::Remove(i) => if let Some((_, key)) = pick(i) {
                    simulation.physics.remove(key);
                }
                Action::RemoveThroughRapier(i) => {
                    if let Some(handle) = pick(i).and_then(|(_, key)| simulation.physics.handle(key)) {
                        simulation.physics.rapier_mut().remove_body(handle);
                    }
                }
                Action::HandOver(i) => if let Some((entity, key)) = pick(i)
                    && simulation.physics.handle(key).is_some()
                {
                    map.insert(key, entity); // again, which changes nothing
                    map.insert(key, next);
                    entities.remove(&entity);
                    displaced.insert(entity);
                    entities.insert(next, (key, None));
                    next += 1;
                }
                Action::Teleport(i) => if let Some((entity, key)) = pick(i) {
                    let there = translation(entity as f32, i as f32, 0.0);
                    let _ = simulation.physics.teleport(key, there);
                }
                Action::InsertAlone => {
                    alone.push(simulation.physics.insert_body(RigidBodyBuilder::fixed()));
                }
                Action::Adopt => if let Some(key) = alone.pop() {
                    map.insert(key, next);
                    entities.insert(next, (key, None));
                    next += 1;
                }
                Action::Save => saved = simulation.physics.clone(),
                Action::Restore => {
                    simulation.physics = saved.clone();
                    let unmatched = map.unmatched(&simulation.physics);
                    for entity in unmatched.entities {
                        prop_assert!(entities.remove(&entity).is_some() || displaced.remove(&entity));
                    }
                    alone = unmatched.bodies;
                }
                Action::Frame(ms) => {
                    simulation.advance(Duration::from_millis(ms), |_, _| ());
                    has_missed_frames = true;
                }
                Action::Sync => {
                    simulation.advance(Duration::ZERO, |_, _| ());
                    for entity in map.take_removed(&simulation) {
                        if displaced.remove(&entity) {
                            continue;
                        }
                        let removed = entities.remove(&entity);
                        prop_assert!(removed.is_some_and(|(key, _)| simulation.physics.body(key).is_none()));
                    }
                    prop_assert!(displaced.is_empty(), "{:?} are not reported", displaced);
                    let has_missed_frames = std::mem::take(&mut has_missed_frames);
                    let mut listed = BTreeSet::new();
                    for (entity, pose) in map.moved(&simulation) {
                        entities.get_mut(&entity).unwrap().1 = Some(pose);
                        let is_first = listed.insert(entity);
                        prop_assert!(is_first || has_missed_frames, "listed twice");
                    }
                    for (entity, (key, pose)) in &entities {
                        prop_assert_eq!(simulation.pose(*key), *pose);
                        prop_assert_eq!(map.entity(*key), Some(*entity));
                    }
                }
            }
        }
    }
}
