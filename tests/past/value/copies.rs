//! Clones of the `Physics`, their keys and their checksums.

use super::*;

#[test]
fn a_simulation_cloned_before_any_frame_continues_bit_for_bit() {
    const FRAMES: u64 = 620;
    const CHECKED: u64 = 4;
    let mut game = Everything::new();
    let mut run = Vec::new();
    let mut saved = Vec::new();
    let mut scratch = game.clone();
    for number in 0..FRAMES {
        saved.push(game.clone());
        game.frame(number);
        run.push(game.seen());
        // Restores the state into a simulation that has continued from another state.
        if number >= CHECKED {
            let from = number - CHECKED;
            let state = saved[from as usize].clone();
            scratch.simulation.clone_from(&state.simulation);
            scratch.script = state.script;
            for again in from..number {
                scratch.frame(again);
                assert_eq!(
                    scratch.seen(),
                    run[again as usize],
                    "{again}, saved before {from}"
                );
            }
        }
    }
    assert!(
        game.simulation.physics.tick() > 600,
        "{}",
        game.simulation.physics.tick()
    );
    let events: usize = run.iter().map(|seen| seen.collisions.len()).sum();
    assert!(events > 100, "{events}");
    let deaths: usize = run.iter().map(|seen| seen.removed.len()).sum();
    assert!(deaths > 20, "{deaths}");
    // Some saved states run to the end.
    for from in [0, 100, 301, 555] {
        let mut game = saved[from].clone();
        for number in from as u64..FRAMES {
            game.frame(number);
        }
        assert_eq!(&game.seen(), run.last().unwrap(), "saved before {from}");
    }
}

#[test]
fn a_simulation_cloned_within_a_frame_continues_bit_for_bit() {
    let mut yard = Yard::new(Rate::hz(60));
    yard.advance(MS(500));
    let saved = yard.simulation.clone();
    let drive = |simulation: &mut Simulation, game: &mut dyn FnMut(&mut Simulation, Step)| {
        while let Some(step) = simulation.next_step() {
            game(simulation, step);
            simulation.run_step();
        }
        simulation.end_frame();
        (
            hash(simulation.physics.rapier()),
            simulation.moved().to_vec(),
            simulation.frame(),
        )
    };
    let mut push = |simulation: &mut Simulation, step: Step| {
        let key = simulation
            .physics
            .bodies()
            .map(|(key, _)| key)
            .min()
            .unwrap();
        simulation
            .physics
            .add_force(key, Vector::X * step.dt)
            .unwrap();
    };
    let mut whole = saved.clone();
    whole.begin_frame(MS(100));
    let expected = drive(&mut whole, &mut push);
    for (steps, is_taken) in [(0, false), (2, false), (3, true)] {
        let mut first = saved.clone();
        first.begin_frame(MS(100));
        for _ in 0..steps {
            let step = first.next_step().unwrap();
            push(&mut first, step);
            first.run_step();
        }
        if is_taken {
            first.next_step().unwrap();
        }
        let mut second = first.clone();
        drop(first);
        assert_eq!(
            drive(&mut second, &mut push),
            expected,
            "after {steps} steps"
        );
    }
}

#[test]
fn keys_issued_after_a_save_are_dead_after_a_restore_and_reused() {
    let mut simulation = scenes::space(100);
    let before = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    let saved = simulation.clone();
    let after = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    simulation.physics.remove(before);
    simulation.clone_from(&saved);
    assert!(simulation.physics.body(before).is_some());
    assert!(simulation.physics.body(after).is_none());
    assert_eq!(simulation.pose(after), None);
    let again = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    assert_eq!(again, after);
}

#[test]
fn a_clone_shares_nothing_with_the_original() {
    let mut yard = Yard::new(Rate::hz(60));
    yard.advance(MS(300));
    let before = hash(yard.simulation.physics.rapier());
    let mut copy = yard.simulation.clone();
    copy.clock_settings_mut().set_stepping(Stepping::Variable);
    for (key, _) in yard.simulation.physics.bodies() {
        copy.physics.remove(key);
    }
    copy.advance(MS(100), |_, _| ());
    assert_eq!(hash(yard.simulation.physics.rapier()), before);
    assert_eq!(
        yard.simulation.clock().settings().stepping(),
        Stepping::Fixed
    );
    assert_eq!(copy.physics.rapier().bodies.len(), 0);
}

#[cfg(feature = "checksum")]
#[test]
fn a_checksum_differs_exactly_if_the_state_differs() {
    use scenes::testing::{spin, turned};
    let mut game = Everything::new();
    for number in 0..100 {
        game.frame(number);
    }
    let simulation = &game.simulation;
    let checksum = simulation.physics.checksum();
    assert_eq!(simulation.clone().physics.checksum(), checksum);
    let key = game.script.player;
    let changes: [fn(&mut RigidBody); 6] = [
        |body| body.set_linvel(body.linvel() + Vector::Y * 1e-5, true),
        |body| body.set_angvel(-body.angvel() + spin(0.0, 0.0, 1.0), true),
        |body| body.set_translation(body.translation() * 1.000_001, true),
        |body| body.set_rotation(turned(spin(0.0, 0.0, 1e-3)) * *body.rotation(), true),
        |body| body.add_force(Vector::X, true),
        |body| body.set_enabled(false),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut copy = simulation.clone();
        change(copy.physics.body_mut(key).unwrap());
        assert_ne!(copy.physics.checksum(), checksum, "change {i}");
        let parted: Vec<_> = (simulation.physics.bodies())
            .map(|(key, _)| key)
            .filter(|key| {
                simulation.physics.body_checksum(*key) != copy.physics.body_checksum(*key)
            })
            .collect();
        assert_eq!(parted, [key], "change {i}");
    }
    let mut later = simulation.clone();
    later.set_tick(simulation.physics.tick() + 1);
    later.advance(MS(0), |_, _| ());
    assert_ne!(
        later.physics.checksum(),
        checksum,
        "the checksum contains the tick"
    );
    let mut fewer = simulation.clone();
    fewer.physics.remove(key);
    assert_ne!(fewer.physics.checksum(), checksum);
    assert_eq!(fewer.physics.body_checksum(key), None);
}

/// Two machines run the same steps in different frames.
#[cfg(feature = "checksum")]
#[test]
fn a_checksum_does_not_depend_on_frame_times_or_speed() {
    let run = |frame: std::time::Duration, speed: f64| {
        let mut simulation = scenes::space(100);
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), scenes::ball());
        simulation.clock_settings_mut().set_speed(speed).unwrap();
        while simulation.physics.tick() < 30 {
            simulation.advance(frame, |_, _| ());
        }
        assert_eq!(simulation.physics.tick(), 30);
        (simulation.physics.checksum(), simulation.clock().overstep())
    };
    let (here, there) = (run(MS(3), 1.0), run(MS(7), 1.01));
    assert_eq!(here.0, there.0);
    assert_ne!(here.1, there.1);
}

/// A host learns of entities spawned and despawned since the save, and displayed poses are correct.
#[test]
fn owners_report_unmatched_bodies_and_entities_after_a_restore() {
    let mut simulation = scenes::space(100);
    let mut map = evenstep::ecs::EntityMap::default();
    let spawn =
        |simulation: &mut Simulation, map: &mut evenstep::ecs::EntityMap<u32>, entity: u32| {
            let key = simulation.physics.insert(
                RigidBodyBuilder::dynamic().linvel(Vector::X),
                scenes::ball(),
            );
            map.insert(key, entity);
            key
        };
    let [kept, despawned] = [1, 2].map(|entity| spawn(&mut simulation, &mut map, entity));
    let alone = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    scenes::advance(&mut simulation, 15);
    map.moved(&simulation).count();
    let saved = simulation.clone();

    map.remove_body(&mut simulation, despawned, 2);
    // One in the slot of the removed body, and one in a new slot.
    for entity in [3, 4] {
        spawn(&mut simulation, &mut map, entity);
    }
    scenes::advance(&mut simulation, 100);
    map.moved(&simulation).count();

    simulation.clone_from(&saved);
    let unmatched = map.unmatched(&simulation.physics);
    assert_eq!(unmatched.entities, [3, 4]);
    assert_eq!(unmatched.bodies, [despawned, alone]);
    map.insert(despawned, 5);
    for entity in map.take_removed(&simulation) {
        assert!([3, 4].contains(&entity));
    }
    let shown: Vec<(u32, Pose)> = map.moved(&simulation).collect();
    let expected =
        [(1, kept), (5, despawned)].map(|(entity, key)| (entity, simulation.pose(key).unwrap()));
    assert_eq!(shown, expected);
    assert!(map.unmatched(&simulation.physics).entities.is_empty());
}

/// A restored state has the number of the frame in which it was saved.
#[test]
fn owners_report_moved_entities_after_a_restore() {
    let mut simulation = scenes::space(60);
    let mut map = evenstep::ecs::EntityMap::default();
    let key = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    map.insert(key, 7);
    scenes::advance(&mut simulation, 20);
    assert_eq!(map.moved(&simulation).count(), 1);
    let saved = simulation.clone();
    let there = Pose::from_translation(Vector::X);
    simulation.physics.teleport(key, there).unwrap();
    scenes::advance(&mut simulation, 20);
    assert_eq!(map.moved(&simulation).last(), Some((7, there)));
    simulation = saved;
    scenes::advance(&mut simulation, 20);
    assert!(map.take_removed(&simulation).is_empty());
    assert_eq!(map.moved(&simulation).last(), Some((7, Pose::IDENTITY)));
}
