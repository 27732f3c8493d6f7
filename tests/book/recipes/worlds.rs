//! A body that goes from one simulation into another, through a portal.

use super::{SECOND, position};
use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::hecs::World;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};
use recipes::worlds::move_to;
use scenes::space;

const SPEED: f32 = 6.0; // m/s

/// The portal: from x = 2 in one world, facing x, to the origin of the other, facing y.
fn portal() -> Pose {
    let turn = Rotation::from_rotation_z(std::f32::consts::FRAC_PI_2);
    Pose::from_parts(Vector::ZERO, turn) * Pose::translation(-2.0, 0.0, 0.0)
}

/// Inserts a spinning body with two colliders.
fn insert(physics: &mut Physics) -> BodyKey {
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED);
    let cuboid = ColliderBuilder::cuboid(0.3, 0.2, 0.1);
    let key = physics.insert(body.angvel(Vector::X).user_data(7), cuboid);
    let ball = ColliderBuilder::ball(0.1).translation(Vector::X * 0.2);
    physics.insert_collider(key, ball).unwrap();
    key
}

/// Returns the drawn positions along the path through both worlds, and the pose before step 60. The body is moved before
/// a step, or after it.
fn run(frames_per_second: u32, is_before_step: bool) -> (Vec<f32>, Pose) {
    let [mut cellar, mut garden] = [space(60), space(60)];
    let mut key = insert(&mut cellar.physics);
    let mut world = World::new();
    let [mut cellar_entities, mut garden_entities] = [Entities::default(), Entities::default()];
    let entity = world.spawn(("ball",));
    let attached = cellar_entities.attach(&mut world, &mut cellar, entity, key);
    attached.unwrap();
    let (mut is_in_garden, mut drawn, mut end) = (false, Vec::new(), None);
    while end.is_none() {
        cellar.begin_frame(SECOND / frames_per_second);
        garden.begin_frame(SECOND / frames_per_second);
        while let (Some(step), Some(_)) = (cellar.next_step(), garden.next_step()) {
            if step.tick == 60 {
                end = Some(position(&garden.physics, key));
            }
            if !is_before_step {
                cellar.run_step();
                garden.run_step();
            }
            if !is_in_garden && position(&cellar.physics, key).translation.x > 2.0 {
                cellar_entities.detach(&mut world, entity);
                key = move_to(key, portal(), &mut cellar.physics, &mut garden.physics).unwrap();
                let attached = garden_entities.attach(&mut world, &mut garden, entity, key);
                attached.unwrap();
                is_in_garden = true;
            }
            if is_before_step {
                cellar.run_step();
                garden.run_step();
            }
        }
        cellar.end_frame();
        garden.end_frame();
        cellar_entities.sync(&mut world, &mut cellar);
        garden_entities.sync(&mut world, &mut garden);
        assert_eq!(world.get::<&Body>(entity).unwrap().key(), key);
        let RenderPose(pose) = *world.get::<&RenderPose>(entity).unwrap();
        let along = match is_in_garden {
            true => portal().inverse() * pose,
            false => pose,
        };
        drawn.push(along.translation.x);
    }
    assert_eq!(cellar.physics.bodies().count(), 0);
    let body = garden.physics.body(key).unwrap();
    assert_eq!((body.colliders().len(), body.user_data), (2, 7));
    (drawn, end.unwrap())
}

#[test]
fn a_body_leaves_in_the_same_step_at_every_frame_rate_with_its_entity() {
    let (_, reference) = run(60, true);
    for frames_per_second in [30, 72, 144] {
        assert_eq!(run(frames_per_second, true).1, reference);
    }
}

#[test]
fn a_body_is_displayed_evenly_only_if_it_leaves_before_a_step() {
    let uneven = |is_before_step| {
        let (drawn, _) = run(144, is_before_step);
        let moves = drawn.windows(2).skip(3).map(|pair| pair[1] - pair[0]);
        moves
            .map(|by| (by - SPEED / 144.0).abs())
            .fold(0.0, f32::max)
    };
    assert!(uneven(true) < 1e-5, "{} m", uneven(true));
    assert!((uneven(false) - 0.075).abs() < 1e-3, "{} m", uneven(false));
}
