//! Changes of components, and of entities, while the game runs.

use super::{displayed, transform};
use evenstep::ecs::hecs::{Body, RenderPose};
use evenstep::hecs::Entity;
use evenstep::rapier::prelude::*;
use evenstep_components::components::{Hull, Kind, Parent, Shape, Transform, Velocity};
use evenstep_components::game::{self, Game};
use std::time::Duration;

const FRAME: Duration = Duration::from_millis(17);

fn rapier_body(game: &Game, entity: Entity) -> Option<&RigidBody> {
    let key = game.world.get::<&Body>(entity).ok()?.key();
    game.layer.simulation.physics.body(key)
}

fn bodies(game: &Game) -> usize {
    game.layer.simulation.physics.bodies().count()
}

#[test]
fn a_despawned_entity_and_one_without_a_kind_lose_their_bodies() {
    let mut game = Game::default();
    game.frame(FRAME).unwrap();
    let before = bodies(&game);
    let [lift, load] = [game.cast.lift, game.cast.load];
    game.world.despawn(load).unwrap();
    game.world.remove_one::<Kind>(lift).unwrap();
    game.frame(Duration::ZERO).unwrap();
    assert_eq!(bodies(&game), before - 2);
    assert!(!game.world.satisfies::<&RenderPose>(lift));

    // It gets a body again with a kind.
    game.world
        .insert_one(lift, Kind(RigidBodyType::Fixed))
        .unwrap();
    game.frame(Duration::ZERO).unwrap();
    assert_eq!(bodies(&game), before - 1);
    assert_eq!(displayed(&game.world, lift), transform(&game.world, lift));
}

#[test]
fn changed_components_change_the_body_and_nothing_else_does() {
    let mut game = Game::default();
    game.frame(FRAME).unwrap();
    let load = game.cast.load;
    let mass = |game: &Game| rapier_body(game, load).unwrap().mass();
    assert_eq!(mass(&game), 1.0);
    let collider = |game: &Game| rapier_body(game, load).unwrap().colliders()[0];
    let before = collider(&game);
    game.frame(FRAME).unwrap();
    assert_eq!(collider(&game), before);

    let hull = game.world.query_one_mut::<&mut Hull>(load).unwrap();
    hull.parts[0].1 = Shape::Cuboid(Vector::new(0.5, 0.5, 1.0));
    game.frame(FRAME).unwrap();
    assert_eq!(mass(&game), 2.0);
    let after = collider(&game);
    assert_ne!(before, after);

    let (hull, velocity, transform) = game
        .world
        .query_one_mut::<(&mut Hull, &mut Velocity, &mut Transform)>(load)
        .unwrap();
    hull.is_sensor = true;
    velocity.0 = Vector::Z * 3.0;
    transform.0.translation.x = 20.0; // a teleport
    game.frame(FRAME).unwrap();
    let body = rapier_body(&game, load).unwrap();
    assert_eq!(body.linvel().z, 3.0);
    assert_eq!(body.translation().x, 20.0);
    assert!(game.layer.simulation.physics.rapier().colliders[body.colliders()[0]].is_sensor());
}

#[test]
fn a_type_can_change_at_run_time() {
    let mut game = Game::default();
    game.frame(FRAME).unwrap();
    let load = game.cast.load;
    let transform_of_load = game.world.query_one_mut::<&mut Transform>(load).unwrap();
    transform_of_load.0.translation.y = 20.0; // away from the lift
    game.frame(FRAME).unwrap();
    game.world.query_one_mut::<&mut Kind>(load).unwrap().0 = RigidBodyType::KinematicPositionBased;
    let x = transform(&game.world, load).translation.x;
    for _ in 0..6 {
        let transform = game.world.query_one_mut::<&mut Transform>(load).unwrap();
        transform.0.translation.x += 2.0 * FRAME.as_secs_f32();
        game.frame(FRAME).unwrap();
    }
    let moved = transform(&game.world, load).translation.x - x;
    assert!(
        (moved - 12.0 * FRAME.as_secs_f32()).abs() < 1e-4,
        "{moved} m"
    );
    game.world.query_one_mut::<&mut Kind>(load).unwrap().0 = RigidBodyType::Dynamic;
    game.frame(FRAME).unwrap();
    let speed = game.world.get::<&Velocity>(load).unwrap().0.x;
    assert!((1.9..2.1).contains(&speed), "{speed} m/s");
}

#[test]
fn grandchildren_follow_and_a_new_child_is_placed_at_once() {
    let mut game = Game::default();
    let local = Pose::from_translation(Vector::Y);
    let child = game.world.spawn((Parent {
        entity: game.cast.lamp,
        local,
    },));
    game.frame(Duration::from_millis(100)).unwrap();
    let lamp = displayed(&game.world, game.cast.lamp);
    assert_eq!(displayed(&game.world, child), lamp * local);

    let sensor = game::body(50, RigidBodyType::Fixed, Vector::ZERO, Shape::Ball(0.1));
    let sensor = game.world.spawn(sensor);
    let parent = Parent {
        entity: child,
        local,
    };
    game.world.insert_one(sensor, parent).unwrap();
    game.frame(Duration::ZERO).unwrap();
    let body = rapier_body(&game, sensor).unwrap();
    assert_eq!(*body.position(), transform(&game.world, child) * local);
}
