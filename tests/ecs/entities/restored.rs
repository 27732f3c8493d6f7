//! Entities after rollbacks, restored states and assignments.

use super::*;
use evenstep::ecs::EntityMap;
use evenstep::rewind::Kept;

#[test]
fn unmatched_lists_unpaired_entities_and_bodies_after_a_restore() {
    let mut game = Game::new();
    let [kept, despawned] = [0.0, 5.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body.linvel(Vector::Y))
    });
    game.frame(25);
    let lost = key(&game.world, despawned);
    let saved = game.simulation().clone();
    game.despawn(despawned);
    let late = [10.0, 15.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body)
    });
    game.frame(95);

    game.simulation().clone_from(&saved);
    let simulation = game.simulation.as_ref().unwrap();
    let unmatched = game
        .entities
        .unmatched(&mut game.world, &simulation.physics);
    let gone: BTreeSet<Entity> = unmatched.entities.into_iter().collect();
    assert_eq!(gone, BTreeSet::from(late));
    assert_eq!(unmatched.bodies, [lost]);

    // The game corrects this.
    for entity in late {
        game.despawn(entity);
    }
    let again = game.world.spawn(());
    let simulation = game.simulation.as_mut().unwrap();
    let attached = game
        .entities
        .attach(&mut game.world, simulation, again, lost);
    assert_eq!(attached, Ok(()));
    game.frame(0);
    game.check();
    assert!(game.world.contains(kept));
    let simulation = game.simulation.as_ref().unwrap();
    assert!(
        game.entities
            .unmatched(&mut game.world, &simulation.physics)
            .is_empty()
    );
}

#[test]
fn reusing_a_slot_before_the_sync_leaves_other_entities_unchanged() {
    let mut world = World::new();
    let mut sides = [(); 2].map(|()| {
        let mut simulation = Simulation::new(Rate::hz(100));
        simulation.physics.set_gravity(Vector::ZERO).unwrap();
        (Entities::default(), simulation)
    });
    let flying = || RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let spawned = sides.each_mut().map(|(entities, simulation)| {
        [(); 3].map(|()| spawn(entities, &mut world, simulation, flying()))
    });
    for (entities, simulation) in &mut sides {
        simulation.advance(MS(25), |_, _| ());
        entities.sync(&mut world, simulation);
    }
    let keys = spawned.map(|side| side.map(|entity| key(&world, entity)));

    let (entities, simulation) = &mut sides[0];
    simulation.physics.remove(keys[0][0]).unwrap();
    let late = spawn(entities, &mut world, simulation, flying());
    let late_key = key(&world, late);
    for (entities, simulation) in &mut sides {
        simulation.advance(MS(25), |_, _| ());
        entities.sync(&mut world, simulation);
    }
    assert!(world.get::<&Body>(spawned[0][0]).is_err());
    assert!(world.get::<&RenderPose>(spawned[0][0]).is_err());
    assert_eq!(sides[0].0.entity(keys[0][0]), None);
    let mut living = vec![(0, late, late_key)];
    for side in 0..2 {
        let pairs = spawned[side].into_iter().zip(keys[side]);
        living.extend(pairs.map(|(entity, key)| (side, entity, key)));
    }
    living.retain(|(_, entity, _)| *entity != spawned[0][0]);
    assert_eq!(living.len(), 6);
    for (side, entity, key) in living {
        let (entities, simulation) = &sides[side];
        assert_eq!(entities.entity(key), Some(entity), "on side {side}");
        assert_eq!(
            simulation.pose(key),
            Some(pose(&world, entity)),
            "on side {side}"
        );
        assert!(pose(&world, entity).translation.x > 0.1);
    }
}

/// After a rollback, components have the displayed poses. Bodies without an entity and entities without a body are
/// found.
#[test]
fn entities_have_the_displayed_poses_after_a_rollback() {
    let mut game = Game::new();
    game.simulation().keep(Kept {
        ticks: 50,
        ..Kept::default()
    });
    let stays = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
    game.frame(55);
    let guest = game.spawn(RigidBodyBuilder::dynamic());
    game.frame(30);
    let key = key(&game.world, stays);
    let shown = game.pose(stays);
    let push = |physics: &mut Physics, step: evenstep::Step| {
        if step.tick == 4 {
            physics.apply_impulse(key, Vector::X).unwrap();
        }
    };
    // Go back to a tick before the guest existed. Changes between frames are not repeated.
    game.simulation().resimulate(3, push).unwrap();
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let unmatched = entities.unmatched(world, &simulation.as_ref().unwrap().physics);
    assert_eq!(unmatched.entities, [guest]);
    assert_eq!(unmatched.bodies, []);
    entities
        .despawn(world, simulation.as_mut().unwrap(), guest)
        .unwrap();
    game.frame(0);
    game.check();
    let off = game.pose(stays).translation - shown.translation;
    assert!(off.length() < 1e-5, "{off} off: the pose jumped");
    for _ in 0..50 {
        game.frame(60);
        game.check();
    }
    assert_eq!(game.simulation().visual_error(key), None);
    assert!(game.pose(stays).translation.x > 0.1);
    // The body is back but its entity is not, because it was despawned between two frames.
    game.despawn(stays);
    game.frame(0);
    let tick = game.simulation().physics.tick();
    game.simulation().resimulate(tick - 2, |_, _| ()).unwrap();
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let unmatched = entities.unmatched(world, &simulation.as_ref().unwrap().physics);
    assert_eq!(unmatched.bodies, [key]);
    assert_eq!(unmatched.entities, []);
}

/// The entity then has another body, and its previous body is removed.
#[test]
fn a_respawned_entity_with_another_body_displays_that_body() {
    for is_held in [false, true] {
        let mut game = Game::new();
        let flying = |x: f32| {
            let body = RigidBodyBuilder::dynamic().linvel(Vector::Y);
            body.translation(Vector::X * x)
        };
        let [entity, other] = [0.0, 9.0].map(|x| game.spawn(flying(x)));
        game.frame(20);
        // The body was taken off before the last frame, or is taken off after it.
        let mut held = is_held.then(|| game.world.remove_one::<Body>(other).unwrap());
        game.frame(20);
        let mut elsewhere = World::new();
        let there = elsewhere.spawn(game.world.take(entity).unwrap());
        let again = game.world.spawn(elsewhere.take(there).unwrap());
        let body = held.take();
        let body = body.unwrap_or_else(|| game.world.remove_one::<Body>(other).unwrap());
        let key = body.key();
        game.world.insert_one(again, body).unwrap();
        for _ in 0..3 {
            game.frame(20);
            assert_eq!(game.entities.entity(key), Some(again));
            game.check();
        }
        assert_eq!(game.simulation().physics.rapier().bodies.len(), 1);
    }
}

#[test]
fn a_body_component_that_replaces_a_held_one_is_displayed() {
    let mut game = Game::new();
    let [one, other] = [0.0, 9.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body.linvel(Vector::Y))
    });
    game.frame(20);
    let kept = game.world.remove_one::<Body>(one).unwrap();
    let body = game.world.remove_one::<Body>(other).unwrap();
    let key = body.key();
    game.world.insert_one(one, body).unwrap();
    for _ in 0..3 {
        game.frame(20);
        assert_eq!(game.entities.entity(key), Some(one));
        let shown = game.simulation().pose(key);
        assert_eq!(Some(pose(&game.world, one)), shown);
    }
    assert!(game.simulation().physics.body(kept.key()).is_some());
}

/// Its old key may belong to another body by then.
#[test]
fn an_entity_unmatched_after_a_restore_removes_no_body_later() {
    for is_despawned_before in [false, true] {
        let mut game = Game::new();
        game.frame(20);
        let saved = game.simulation().clone();
        let late = game.spawn(RigidBodyBuilder::dynamic());
        let old = key(&game.world, late);
        game.frame(20);
        if is_despawned_before {
            game.world.despawn(late).unwrap();
        }
        game.simulation().clone_from(&saved);
        let simulation = game.simulation.as_ref().unwrap();
        let unmatched = game
            .entities
            .unmatched(&mut game.world, &simulation.physics);
        let expected = (!is_despawned_before).then_some(late);
        assert_eq!(unmatched.entities, Vec::from_iter(expected));
        // The step is resimulated, and its new body gets the same key.
        let unrelated = RigidBodyBuilder::dynamic().translation(Vector::X * 9.0);
        assert_eq!(game.simulation().physics.insert_body(unrelated), old);
        game.frame(20);
        if !is_despawned_before {
            game.world.despawn(late).unwrap();
        }
        game.frame(20);
        assert!(game.simulation().physics.body(old).is_some());
    }
}

/// Without a call of `unmatched`, two entities have a `Body` with the same key until the next sync.
#[test]
fn an_entity_spawned_in_a_resimulated_step_keeps_its_reissued_key() {
    type End = fn(&mut Game, Entity);
    let ends: [End; 4] = [
        |game, late| game.despawn(late),
        |game, late| game.world.despawn(late).unwrap(),
        |game, late| drop(game.world.remove_one::<Body>(late)),
        |game, late| {
            let simulation = game.simulation.as_mut().unwrap();
            let other = simulation.physics.insert_body(RigidBodyBuilder::fixed());
            let Game {
                world, entities, ..
            } = game;
            entities.attach(world, simulation, late, other).unwrap();
        },
    ];
    for end in ends {
        for is_synced_before in [false, true] {
            let mut game = Game::new();
            game.simulation().keep(Kept {
                ticks: 50,
                ..Kept::default()
            });
            game.frame(20);
            let late = game.spawn(RigidBodyBuilder::dynamic());
            let old = key(&game.world, late);
            game.frame(20);
            let (world, entities) = (&mut game.world, &mut game.entities);
            let simulation = game.simulation.as_mut().unwrap();
            simulation.roll_back(1).unwrap();
            assert!(simulation.next_step().is_some());
            let new = spawn(entities, world, simulation, RigidBodyBuilder::dynamic());
            assert_eq!(key(world, new), old);
            while simulation.run_step() {
                simulation.next_step();
            }
            if is_synced_before {
                game.frame(0);
                assert!(!game.world.satisfies::<&Body>(late), "it lost its body");
            }
            end(&mut game, late);
            game.frame(20);
            game.frame(20);
            assert!(game.simulation().physics.body(old).is_some());
            assert_eq!(game.entities.entity(old), Some(new));
            let shown = game.simulation().pose(old);
            assert_eq!(Some(game.pose(new)), shown);
        }
    }
}

#[test]
fn a_body_restored_and_removed_again_in_a_resimulation_stays_removed() {
    let mut game = Game::new();
    game.simulation().keep(Kept {
        ticks: 50,
        ..Kept::default()
    });
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let old = key(&game.world, entity);
    let steps = |game: &mut Game| {
        let Game {
            world,
            simulation,
            entities,
        } = game;
        let simulation = simulation.as_mut().unwrap();
        while let Some(step) = simulation.next_step() {
            if step.tick == 3
                && let Some(handle) = simulation.physics.handle(old)
            {
                simulation.physics.rapier_mut().remove_body(handle);
            }
            entities.remove_dropped(world, &mut simulation.physics);
            simulation.run_step();
            entities.remove_dropped(world, &mut simulation.physics);
        }
    };
    for _ in 0..3 {
        game.simulation().begin_frame(MS(20));
        steps(&mut game);
        game.simulation().end_frame();
        let simulation = game.simulation.as_mut().unwrap();
        game.entities.sync(&mut game.world, simulation);
    }
    assert!(!game.world.satisfies::<&Body>(entity));
    for is_new in [false, true] {
        game.simulation().roll_back(2).unwrap();
        let Game {
            world,
            simulation,
            entities,
        } = &mut game;
        let simulation = simulation.as_mut().unwrap();
        assert_eq!(entities.unmatched(world, &simulation.physics).bodies, [old]);
        entities.attach(world, simulation, entity, old).unwrap();
        simulation.begin_frame(MS(if is_new { 20 } else { 0 }));
        steps(&mut game);
        game.simulation().end_frame();
        let simulation = game.simulation.as_mut().unwrap();
        game.entities.sync(&mut game.world, simulation);
        assert!(!game.world.satisfies::<&Body>(entity));
        assert!(!game.world.satisfies::<&RenderPose>(entity));
    }
}

#[test]
fn entities_follow_the_bodies_of_an_assigned_state() {
    for (is_in_hook, has_new_frame) in [(false, true), (false, false), (true, true)] {
        let mut game = Game::new();
        let flying = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let [stays, falls_asleep] = [0.0, 9.0].map(|x| {
            let body = flying.clone().translation(Vector::X * x);
            game.spawn(body)
        });
        game.frame(25);
        let saved = game.simulation().physics.clone();
        let late = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
        let asleep = key(&game.world, falls_asleep);
        game.frame(200);
        game.simulation().physics.body_mut(asleep).unwrap().sleep();
        game.frame(100);
        game.frame(100);
        assert!(game.pose(stays).translation.x > 0.3);

        if is_in_hook {
            let mut saved = Some(saved);
            game.simulation().advance(MS(10), |physics, _| {
                *physics = saved.take().expect("there is one step");
            });
        } else {
            game.simulation().physics = saved;
        }
        if has_new_frame {
            game.frame(0);
        } else {
            let simulation = game.simulation.as_mut().unwrap();
            game.entities.sync(&mut game.world, simulation);
        }
        assert!(game.world.contains(late));
        let has_any = game.world.satisfies::<hecs::Or<&Body, &RenderPose>>(late);
        assert!(!has_any);
        game.check();
        game.frame(0);
        game.check();
        assert!(game.pose(stays).translation.x < 0.1);
        let simulation = game.simulation.as_ref().unwrap();
        let unmatched = game
            .entities
            .unmatched(&mut game.world, &simulation.physics);
        assert!(unmatched.is_empty());
        for _ in 0..5 {
            game.frame(25);
            game.check();
        }
    }
}

#[test]
fn entities_that_have_swapped_their_bodies_are_not_unmatched() {
    let mut physics = Physics::new();
    let [a, b, c] =
        [(); 3].map(|()| physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5)));
    let mut map = EntityMap::default();
    for (key, entity) in [(a, 1), (b, 2), (a, 2), (b, 1)] {
        map.insert(key, entity);
    }
    let unmatched = map.unmatched(&physics);
    assert!(unmatched.entities.is_empty());
    assert_eq!(unmatched.bodies, [c]);
    // The first entity loses two bodies, and the second one.
    for (key, entity) in [(a, 3), (b, 4), (c, 1), (c, 5)] {
        map.insert(key, entity);
    }
    let unmatched = map.unmatched(&physics);
    assert_eq!(unmatched.entities, [2, 1]);
    assert!(unmatched.bodies.is_empty());
}
