//! Entities that are taken out and spawned again, and components that the game moves.

use super::*;

#[test]
fn an_entity_taken_and_respawned_is_found_when_its_body_moves() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    game.frame(20);
    let mut other = World::new();
    let elsewhere = other.spawn(game.world.take(entity).unwrap());
    let again = game.world.spawn(other.take(elsewhere).unwrap());
    game.frame(20);
    game.check();
    assert_eq!(game.entities.entity(key), Some(again));
}

/// The recorded entity no longer exists, so the sync cannot look up the entity of the body.
#[test]
fn an_entity_taken_and_respawned_loses_a_removed_body() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    let mut other = World::new();
    let elsewhere = other.spawn(game.world.take(entity).unwrap());
    game.world.spawn(other.take(elsewhere).unwrap());
    game.simulation().physics.remove(key);
    game.frame(20);
    game.check();
}

#[test]
fn reusing_the_slot_of_a_removed_body_clears_the_old_entity() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    game.simulation().physics.remove(key);
    game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * 9.0));
    game.frame(20);
    game.check();
    assert!(!game.world.satisfies::<&Body>(entity));
}

/// Rapier reuses the slots of removed bodies in the order of their removal.
#[test]
fn bodies_are_removed_in_the_same_order_for_any_drop_order() {
    let handles = [false, true].map(|backwards| {
        let mut game = Game::new();
        let mut spawned: Vec<Entity> = (0..8u8)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic();
                game.spawn(body.translation(Vector::X * 9.0 * f32::from(i)))
            })
            .collect();
        if backwards {
            spawned.reverse();
        }
        for entity in spawned {
            let body = game.world.remove_one::<Body>(entity).unwrap();
            std::thread::spawn(|| drop(body)).join().unwrap();
        }
        game.frame(20);
        game.check();
        [(); 8].map(|()| {
            let entity = game.spawn(RigidBodyBuilder::dynamic());
            let key = key(&game.world, entity);
            game.simulation().physics.handle(key)
        })
    });
    assert_eq!(handles[0], handles[1]);
}

#[test]
fn a_new_entities_instance_ignores_existing_bodies_until_they_are_attached() {
    let mut game = Game::new();
    let entities =
        [0.0, 9.0].map(|x| game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * x)));
    game.frame(20);
    game.entities = Entities::default();
    game.world.despawn(entities[0]).unwrap();
    let key = key(&game.world, entities[1]);
    game.frame(20);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 2);
    assert_eq!(game.entities.entity(key), None);
    let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
    game.entities
        .attach(world, simulation, entities[1], key)
        .unwrap();
    game.frame(20);
    assert_eq!(game.entities.entity(key), Some(entities[1]));
    assert_eq!(
        Some(pose(&game.world, entities[1])),
        game.simulation().pose(key)
    );
}

#[test]
fn body_and_entities_have_debug_output() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let body = game.world.get::<&Body>(entity).unwrap();
    assert_eq!(format!("{body:?}"), format!("Body({:?})", body.key()));
    let text = format!("{:?}", game.entities);
    assert!(text.starts_with("Entities { map: EntityMap {"), "{text}");
}

#[test]
fn a_sync_catches_up_when_changes_since_the_last_one_are_unavailable() {
    let mut game = Game::new();
    let [moved, removed, busy] = [0.0, 9.0, 18.0].map(|x| {
        let body = RigidBodyBuilder::fixed();
        game.spawn(body.translation(Vector::X * x))
    });
    game.frame(20);
    game.frame(20);
    let synced = game.simulation().frame();
    let [moved_key, removed_key, busy] = [moved, removed, busy].map(|one| key(&game.world, one));
    let body = game.simulation().physics.body_mut(moved_key).unwrap();
    body.set_translation(Vector::Y, true);
    game.simulation().physics.remove(removed_key);
    for _ in 0..1_100 {
        // In every frame, one body is accessed, and another is inserted and removed.
        game.simulation().physics.body_mut(busy).unwrap();
        let body = game
            .simulation()
            .physics
            .insert_body(RigidBodyBuilder::fixed());
        game.simulation().physics.remove(body);
        game.simulation().advance(MS(20), |_, _| ());
    }
    assert!(game.simulation().changes_since(&synced).is_none());
    game.frame(20);
    game.check();
    assert_eq!(pose(&game.world, moved).translation, Vector::Y);
    assert!(!game.world.satisfies::<&Body>(removed));
}

#[test]
fn a_reattached_body_outlives_its_old_component() {
    for is_synced in [false, true] {
        let mut game = Game::new();
        let entity = game.spawn(RigidBodyBuilder::dynamic());
        let key = key(&game.world, entity);
        let body = game.world.remove_one::<Body>(entity).unwrap();
        if is_synced {
            game.frame(20);
        }
        let other = game.world.spawn(());
        let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
        game.entities.attach(world, simulation, other, key).unwrap();
        drop(body);
        game.frame(20);
        game.check();
        assert_eq!(game.entities.entity(key), Some(other));
    }
}

/// The position in the physics is ahead of the displayed pose by up to one step.
#[test]
fn a_body_attached_in_a_pause_gets_its_displayed_pose_in_the_sync() {
    for (attach_to_physics, has_new_frame) in [(false, true), (true, true), (true, false)] {
        let mut game = Game::new();
        let flying = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
        let key = game.simulation().physics.insert_body(flying);
        game.frame(25);
        game.simulation().pause();
        game.frame(10);
        let shown = game.simulation().pose(key);
        let position = *game.simulation().physics.body(key).unwrap().position();
        assert!(shown.is_some_and(|shown| shown != position));
        let entity = game.world.spawn(());
        let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
        if attach_to_physics {
            let physics = &mut simulation.physics;
            game.entities.attach(world, physics, entity, key).unwrap();
            assert_eq!(pose(world, entity), position);
        } else {
            game.entities
                .attach(world, simulation, entity, key)
                .unwrap();
            assert_eq!(Some(pose(world, entity)), shown);
        }
        if has_new_frame {
            game.frame(10);
            assert!(game.simulation().moved().is_empty());
        } else {
            game.entities.sync(world, simulation);
        }
        assert_eq!(Some(game.pose(entity)), shown);
        game.check();
    }
}
