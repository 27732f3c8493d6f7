//! Several worlds and simulations, frames without a sync, and bodies that move between worlds.

use super::*;

#[test]
fn removing_a_body_clears_an_entity_that_lacks_its_render_pose() {
    let mut world = hecs::World::new();
    let mut simulation = Simulation::new(Rate::default());
    let mut entities = Entities::default();
    let body = RigidBodyBuilder::dynamic();
    let ball = ColliderBuilder::ball(0.5);
    let (entity, _) = entities.spawn(&mut world, &mut simulation.physics, body, ball, ());
    world.remove_one::<RenderPose>(entity).unwrap();
    let key = world.get::<&Body>(entity).unwrap().key();
    simulation.physics.remove(key);
    simulation.advance(Duration::ZERO, |_, _| ());
    entities.sync(&mut world, &mut simulation);
    assert!(world.get::<&Body>(entity).is_err());
}

#[test]
fn two_simulations_in_one_world_do_not_affect_each_other() {
    let mut world = World::new();
    let mut sides = [(); 2].map(|()| (Simulation::new(Rate::hz(100)), Entities::default()));
    let spawned = [0.0, 9.0].map(|x| {
        sides.each_mut().map(|(simulation, entities)| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            spawn(entities, &mut world, simulation, body)
        })
    });
    assert_eq!(
        key(&world, spawned[0][0]),
        key(&world, spawned[0][1]),
        "equal keys"
    );
    world.despawn(spawned[0][1]).unwrap();
    for (simulation, entities) in &mut sides {
        simulation.advance(MS(20), |_, _| ());
        entities.sync(&mut world, simulation);
    }
    let counts = sides
        .each_ref()
        .map(|(simulation, _)| simulation.physics.rapier().bodies.len());
    assert_eq!(counts, [2, 1]);
    for (side, entity) in [(0, spawned[0][0]), (0, spawned[1][0]), (1, spawned[1][1])] {
        let (simulation, entities) = &sides[side];
        let key = key(&world, entity);
        assert_eq!(entities.entity(key), Some(entity));
        assert_eq!(simulation.pose(key), Some(pose(&world, entity)));
    }
}

#[test]
fn a_body_in_two_worlds_is_removed_with_its_entity_in_either() {
    let mut simulation = Simulation::new(Rate::hz(100));
    let mut sides = [(); 2].map(|()| (World::new(), Entities::default()));
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let shown = sides.each_mut().map(|(world, entities)| {
        let entity = world.spawn((Name(1),));
        entities
            .attach(world, &mut simulation, entity, key)
            .unwrap();
        entity
    });
    let frame = |simulation: &mut Simulation, sides: &mut [(World, Entities)]| {
        simulation.advance(MS(20), |_, _| ());
        for (world, entities) in sides {
            entities.sync(world, simulation);
        }
    };
    frame(&mut simulation, &mut sides);
    for ((world, _), entity) in sides.iter().zip(shown) {
        assert_eq!(Some(pose(world, entity)), simulation.pose(key));
    }
    sides[1].0.despawn(shown[1]).unwrap();
    frame(&mut simulation, &mut sides);
    frame(&mut simulation, &mut sides);
    assert!(simulation.physics.body(key).is_none());
    let (world, _) = &sides[0];
    assert!(world.satisfies::<&Name>(shown[0]));
    assert!(!world.satisfies::<hecs::Or<&Body, &RenderPose>>(shown[0]));
}

/// Skips few or many syncs, while bodies come to rest, move on or are removed.
#[test]
fn a_sync_catches_up_on_frames_without_a_sync() {
    for skipped in [1, 2, 5, 400] {
        let mut game = Game::new();
        let ground = game.spawn(RigidBodyBuilder::fixed().translation(Vector::Y * -50.0));
        let bodies: Vec<Entity> = (0..40u8)
            .map(|i| {
                let at = vector(f32::from(i) * 3.0, 0.0, 0.0);
                game.spawn(
                    RigidBodyBuilder::dynamic()
                        .translation(at)
                        .gravity_scale(0.0),
                )
            })
            .collect();
        game.frame(20);
        for entity in &bodies[..30] {
            let key = key(&game.world, *entity);
            let body = game.simulation().physics.body_mut(key).unwrap();
            body.set_linvel(vector(0.0, 0.0, 1.0), true);
        }
        for frame in 0..skipped {
            game.simulation().advance(MS(20), |_, _| ());
            // One body after the other comes to rest, is teleported or is removed.
            let entity = bodies[frame % 40];
            let key = key(&game.world, entity);
            match (frame % 3, game.simulation().physics.body_mut(key)) {
                (_, None) => (),
                (0, Some(body)) => body.sleep(),
                (1, Some(_)) => {
                    let place = translation(0.0, 30.0, 3.0 * frame as f32);
                    game.simulation().physics.teleport(key, place).unwrap();
                }
                _ => drop(game.simulation().physics.remove(key)),
            }
        }
        game.frame(20);
        game.check();
        assert!(game.world.satisfies::<&Body>(ground));
        let simulated = game.simulation().physics.rapier().bodies.len();
        assert_eq!(simulated < 41, skipped > 2, "{skipped} skipped");
    }
}

#[test]
fn a_body_component_moved_to_another_entity_continues_there() {
    for (asleep, with_pose, onto_a_body) in [
        (false, false, false),
        (false, true, false),
        (false, false, true),
        (true, false, false),
        (true, true, true),
    ] {
        let mut game = Game::new();
        let body = RigidBodyBuilder::dynamic().sleeping(asleep);
        let entity = game.spawn(body.translation(Vector::Y * 9.0));
        let key = key(&game.world, entity);
        game.frame(20);
        let other = if onto_a_body {
            game.spawn(RigidBodyBuilder::dynamic().sleeping(asleep))
        } else {
            game.world.spawn(())
        };
        if with_pose {
            let both = game.world.remove::<(Body, RenderPose)>(entity).unwrap();
            game.world.insert(other, both).unwrap();
        } else {
            let body = game.world.remove_one::<Body>(entity).unwrap();
            game.world.insert_one(other, body).unwrap();
        }
        for _ in 0..3 {
            game.frame(20);
            game.check();
            assert_eq!(game.entities.entity(key), Some(other));
            assert_eq!(game.simulation().physics.rapier().bodies.len(), 1);
        }
    }
}

/// Nothing distinguishes the world, until the body moves.
#[test]
fn both_components_of_a_body_at_rest_moved_to_another_entity_are_found_when_it_moves() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic().sleeping(true));
    let key = key(&game.world, entity);
    game.frame(20);
    let both = game.world.remove::<(Body, RenderPose)>(entity).unwrap();
    let other = game.world.spawn(both);
    game.frame(20);
    assert_eq!(Some(game.pose(other)), game.simulation().pose(key));
    let there = translation(0.0, 7.0, 0.0);
    game.simulation().physics.teleport(key, there).unwrap();
    for _ in 0..3 {
        game.frame(20);
        game.check();
    }
    assert_eq!(game.entities.entity(key), Some(other));
    assert!(game.pose(other).translation.y > 6.0);
}

#[test]
fn a_body_component_held_outside_the_world_keeps_its_body_alive() {
    for (asleep, with_pose, elsewhere) in [false, true]
        .into_iter()
        .flat_map(|a| [(a, false, false), (a, true, false), (a, true, true)])
    {
        let mut game = Game::new();
        let body = RigidBodyBuilder::dynamic().sleeping(asleep);
        let entity = game.spawn(body.translation(Vector::Y * 9.0));
        let key = key(&game.world, entity);
        game.frame(20);
        let body = game.world.remove_one::<Body>(entity).unwrap();
        let shown = with_pose.then(|| game.world.remove_one::<RenderPose>(entity).unwrap());
        for _ in 0..3 {
            game.frame(20);
            assert!(game.simulation().physics.body(key).is_some());
            assert_eq!(game.entities.entity(key), None);
            assert!(
                !game.world.satisfies::<&RenderPose>(entity),
                "the render pose remains"
            );
        }
        let to = if elsewhere {
            game.world.spawn(())
        } else {
            entity
        };
        game.world.insert_one(to, body).unwrap();
        if let Some(shown) = shown {
            game.world.insert_one(to, shown).unwrap();
        }
        game.frame(20);
        game.check();
        assert_eq!(game.entities.entity(key), Some(to));
        drop(game.world.remove_one::<Body>(to).unwrap());
        game.frame(20);
        game.check();
        assert_eq!(game.simulation().physics.rapier().bodies.len(), 0);
    }
}

#[test]
fn dropping_a_body_component_removes_its_render_pose_and_no_other() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let own = game.world.spawn((RenderPose(Pose::IDENTITY),));
    drop(game.world.remove_one::<Body>(entity).unwrap());
    game.frame(20);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 0);
    assert!(!game.world.satisfies::<&RenderPose>(entity));
    assert!(game.world.satisfies::<&RenderPose>(own));
}

#[test]
fn spawn_returns_the_key_and_attach_reports_a_missing_body_or_entity() {
    let mut world = World::new();
    let mut simulation = Simulation::default();
    let mut entities = Entities::default();
    let ball = ColliderBuilder::ball(0.5);
    let body = RigidBodyBuilder::dynamic();
    let (entity, spawned) =
        entities.spawn(&mut world, &mut simulation.physics, body, ball, (Name(1),));
    assert_eq!(key(&world, entity), spawned);
    let gone = world.spawn(());
    world.despawn(gone).unwrap();
    let dead = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    simulation.physics.remove(dead);
    let other = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    for (entity, key, error) in [
        (entity, dead, EntityError::BodyGone(dead)),
        (gone, other, EntityError::NoSuchEntity(gone)),
    ] {
        let attached = entities.attach(&mut world, &mut simulation, entity, key);
        assert_eq!(attached, Err(error));
    }
    let despawned = entities.despawn(&mut world, &mut simulation, gone);
    assert_eq!(despawned, Err(EntityError::NoSuchEntity(gone)));
    entities.sync(&mut world, &mut simulation);
    assert_eq!(
        key(&world, entity),
        spawned,
        "a failed call changed the world"
    );
    assert_eq!(simulation.physics.rapier().bodies.len(), 2);
}

#[test]
fn detach_and_attach_move_a_body_between_worlds() {
    let mut simulation = Simulation::default();
    let [mut here, mut there] = [(); 2].map(|()| (World::new(), Entities::default()));
    let body = RigidBodyBuilder::dynamic();
    let entity = spawn(&mut here.1, &mut here.0, &mut simulation, body);
    let key = here.1.detach(&mut here.0, entity).unwrap();
    assert_eq!(here.1.detach(&mut here.0, entity), None);
    assert!(!here.0.satisfies::<hecs::Or<&Body, &RenderPose>>(entity));
    let other = there.0.spawn(());
    there
        .1
        .attach(&mut there.0, &mut simulation, other, key)
        .unwrap();
    here.0.clear();
    simulation.advance(MS(40), |_, _| ());
    for (world, entities) in [&mut here, &mut there] {
        entities.sync(world, &mut simulation);
    }
    assert_eq!(Some(pose(&there.0, other)), simulation.pose(key));
}

#[test]
fn attaching_a_body_moved_since_the_last_sync_leaves_one_component() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    let [by_hand, attached] = [(); 2].map(|()| game.world.spawn(()));
    let body = game.world.remove_one::<Body>(entity).unwrap();
    game.world.insert_one(by_hand, body).unwrap();
    let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
    game.entities
        .attach(world, simulation, attached, key)
        .unwrap();
    game.frame(20);
    game.check();
    assert_eq!(game.entities.entity(key), Some(attached));
}

/// The handles of the entities equal those of earlier ones.
#[test]
fn a_cleared_world_reuses_entity_ids_while_an_old_body_is_held() {
    let mut game = Game::new();
    let kept = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * 9.0));
    game.spawn(RigidBodyBuilder::dynamic());
    game.frame(20);
    let body = game.world.remove_one::<Body>(kept).unwrap();
    game.world.clear();
    assert_eq!(game.spawn(RigidBodyBuilder::dynamic()), kept);
    for _ in 0..3 {
        game.frame(20);
        assert_eq!(game.entities.entity(body.key()), None);
        let key = key(&game.world, kept);
        let shown = game.simulation().pose(key);
        assert_eq!(Some(pose(&game.world, kept)), shown);
    }
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 2);
    drop(body);
    game.frame(20);
    game.check();
}
