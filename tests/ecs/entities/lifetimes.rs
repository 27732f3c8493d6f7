//! Entities and bodies that appear and disappear together.

use super::*;

#[test]
fn an_entity_has_its_spawn_pose_until_the_first_frame() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
    assert_eq!(game.pose(entity), translation(0.0, 9.0, 0.0));
    assert!(game.world.get::<&Name>(entity).is_ok());
    for ms in [5, 12, 40, 0] {
        game.frame(ms);
        game.check();
    }
    assert!(game.pose(entity).translation.y < 9.0);
}

#[test]
fn despawn_removes_the_entity_and_its_body() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = game.world.get::<&Body>(entity).unwrap().key();
    game.despawn(entity);
    assert!(!game.world.contains(entity));
    assert!(game.simulation().physics.body(key).is_none());
    assert_eq!(game.entities.entity(key), None);
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let simulation = simulation.as_mut().unwrap();
    assert!(entities.despawn(world, simulation, entity).is_err());
    // An entity without a body is still an entity.
    let plain = world.spawn((Name(2),));
    assert!(entities.despawn(world, simulation, plain).is_ok());
    game.frame(10);
    game.check();
}

#[test]
fn despawning_through_hecs_removes_the_body_even_if_it_is_asleep() {
    for body in [
        RigidBodyBuilder::dynamic(),
        RigidBodyBuilder::dynamic().sleeping(true),
        RigidBodyBuilder::fixed(),
    ] {
        let mut game = Game::new();
        let entity = game.spawn(body);
        game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * 9.0));
        game.frame(20);
        game.world.despawn(entity).unwrap();
        game.frame(1);
        assert_eq!(game.simulation().physics.rapier().bodies.len(), 1);
        game.check();
    }
}

#[test]
fn removing_the_body_component_removes_the_body() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    game.world.remove::<(Body, RenderPose)>(entity).unwrap();
    game.frame(20);
    assert!(game.world.contains(entity));
    game.check();
}

#[test]
fn an_entity_survives_the_removal_of_its_body() {
    for through_rapier in [false, true] {
        let mut game = Game::new();
        let entity = game.spawn(RigidBodyBuilder::dynamic());
        let key = game.world.get::<&Body>(entity).unwrap().key();
        if through_rapier {
            let handle = game.simulation().physics.handle(key).unwrap();
            game.simulation().physics.rapier_mut().remove_body(handle);
        } else {
            game.simulation().physics.remove(key);
        }
        game.frame(20);
        assert!(game.world.get::<&Name>(entity).is_ok());
        assert!(game.world.get::<&Body>(entity).is_err());
        game.check();
    }
}

#[test]
fn attach_moves_a_body_from_one_entity_to_another() {
    let mut game = Game::new();
    let [one, other] = [0.0, 9.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body)
    });
    let key = game.world.get::<&Body>(one).unwrap().key();
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let simulation = simulation.as_mut().unwrap();
    entities.attach(world, simulation, other, key).unwrap();
    entities.attach(world, simulation, other, key).unwrap();
    assert_eq!(entities.entity(key), Some(other));
    world.despawn(one).unwrap();
    let key = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    assert!(entities.attach(world, simulation, one, key).is_err());
    let plain = world.spawn(());
    entities.attach(world, simulation, plain, key).unwrap();
    game.frame(20);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 2);
    game.check();
}

#[test]
fn collisions_and_ray_casts_lead_to_the_entity() {
    let mut game = Game::new();
    let low = game.spawn(RigidBodyBuilder::fixed());
    let high = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 0.99));
    let key = game.world.get::<&Body>(high).unwrap().key();
    let collider = game.simulation().physics.body(key).unwrap().colliders()[0];
    let colliders = &mut game.simulation().physics.rapier_mut().colliders;
    colliders[collider].set_active_events(ActiveEvents::COLLISION_EVENTS);
    game.frame(10);
    let collision = game.simulation().events().collisions().next().unwrap();
    let mut found = collision
        .bodies
        .map(|key| game.entities.entity(key.unwrap()).unwrap());
    found.sort();
    assert_eq!(found, [low, high]);

    let ray = Ray::new(Vector::Y * 5.0, -Vector::Y);
    let world = game.simulation().physics.rapier();
    let (hit, _) = world
        .cast_ray(&ray, 10.0, true, QueryFilter::default())
        .unwrap();
    let key = game.simulation().physics.key_of_collider(hit).unwrap();
    assert_eq!(game.entities.entity(key), Some(high));
}

/// A game that runs steps and never draws.
#[test]
fn entities_spawned_and_despawned_without_a_sync_leave_no_state() {
    let mut game = Game::new();
    game.frame(20);
    for _ in 0..100 {
        let entity = game.spawn(RigidBodyBuilder::dynamic());
        game.world.despawn(entity).unwrap();
        let physics = &mut game.simulation.as_mut().unwrap().physics;
        game.entities.remove_dropped(&mut game.world, physics);
        assert_eq!(physics.bodies().count(), 0);
    }
    assert!(format!("{:?}", game.entities).len() < 1_000);
    let entity = game.spawn(RigidBodyBuilder::dynamic().linvel(Vector::X));
    game.frame(25);
    game.check();
    assert!(game.pose(entity).translation.x > 0.0);
}

#[test]
fn remove_dropped_acts_in_the_same_step_at_every_frame_rate() {
    let runs = [5, 20, 90].map(|ms| {
        let mut game = Game::new();
        let (mut spawned, mut handles) = (Vec::new(), Vec::new());
        while game.simulation().physics.tick() < 36 {
            let Game {
                world,
                simulation,
                entities,
            } = &mut game;
            let simulation = simulation.as_mut().unwrap();
            simulation.advance(MS(ms), |physics, step| {
                if step.tick % 3 == 0 {
                    for entity in spawned.drain(..).rev() {
                        world.despawn(entity).unwrap();
                    }
                }
                entities.remove_dropped(world, physics);
                for _ in 0..3 {
                    let body = RigidBodyBuilder::dynamic();
                    let (entity, key) =
                        entities.spawn(world, physics, body, ColliderBuilder::ball(0.5), ());
                    spawned.push(entity);
                    handles.push((key, physics.handle(key)));
                }
                let living = 3 * (step.tick % 3 + 1) as usize;
                assert_eq!(physics.bodies().count(), living);
            });
            entities.sync(world, simulation);
            game.check();
        }
        handles
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}
