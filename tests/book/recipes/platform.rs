//! A character on a moving platform.

use super::{SECOND, position, positions, slide, sliding_capsule};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};
use recipes::hero::Hero;

/// Returns how far a rider on a platform drifts from an even walk at `velocity`. The rider starts 1 m from the middle.
/// The result is the largest drift in any frame of the last three of four seconds. The platform waits for one second.
fn drift(
    path: impl Fn(f32) -> Pose,
    build: impl Fn(&mut Simulation) -> BodyKey,
    velocity: Vector,
    mut walk: impl FnMut(&mut Physics, Step, BodyKey, Vector),
) -> f32 {
    let mut simulation = Simulation::default();
    let platform = simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        ColliderBuilder::cuboid(3.0, 0.1, 3.0),
    );
    let rider = build(&mut simulation);
    let mut place = None;
    let mut worst = 0.0f32;
    for frame in 0..4 * 144u16 {
        let frame_time = SECOND / 144;
        let time = simulation.clock().time_after(frame_time);
        let pose = path(time.saturating_sub(SECOND).as_secs_f32());
        simulation
            .physics
            .set_kinematic_target(platform, pose, time)
            .unwrap();
        simulation.advance(frame_time, |physics, step| {
            walk(physics, step, rider, velocity);
        });
        let shown = |key| simulation.pose(key).unwrap();
        let walked = velocity * (f32::from(frame) / 144.0);
        let now = shown(platform).inverse() * shown(rider).translation - walked;
        if frame >= 140 {
            worst = worst.max((now - *place.get_or_insert(now)).length());
        }
    }
    worst
}

fn hero_drift(path: impl Fn(f32) -> Pose, velocity: Vector) -> f32 {
    let mut hero = None;
    drift(
        path,
        |simulation| Hero::build(simulation, Vector::new(1.0, 0.1, 0.0)).key,
        velocity,
        |simulation, step, key, velocity| {
            let hero = hero.get_or_insert(Hero {
                key,
                rise: 0.0,
                on_ground: false,
            });
            hero.walk(simulation, step, velocity);
        },
    )
}

#[test]
fn a_character_moves_with_its_platform_in_every_frame() {
    let paths: [fn(f32) -> Pose; 4] = [
        |t| Pose::from_translation(Vector::X * 2.0 * t),
        |t| Pose::from_translation(Vector::Y * t),
        |t| Pose::from_translation(Vector::new(1.0, -2.0, 0.5) * t),
        |t| Pose::from_parts(Vector::X * t, Rotation::from_rotation_y(t)),
    ];
    for (i, path) in paths.into_iter().enumerate() {
        let drift = hero_drift(path, Vector::ZERO);
        assert!(drift < 1e-4, "{drift} m on path {i}");
    }
    for (i, path) in paths.into_iter().take(3).enumerate() {
        let drift = hero_drift(path, Vector::new(-0.6, 0.0, 0.4));
        assert!(drift < 1e-4, "{drift} m on path {i}, walking");
    }
}

#[test]
fn a_character_inserted_on_a_moving_platform_lags_one_step_behind() {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::kinematic_position_based();
    let platform = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(3.0, 0.1, 3.0));
    let target = Pose::from_translation(Vector::X * 2.0);
    simulation
        .physics
        .set_kinematic_target(platform, target, SECOND)
        .unwrap();
    let mut hero = Hero::build(&mut simulation, Vector::Y * 0.1);
    for _ in 0..30 {
        let place = positions(&mut simulation, &mut hero, 1, Vector::ZERO)[0];
        let behind = position(&simulation.physics, platform).translation.x - place.x;
        assert!((behind - 2.0 / 60.0).abs() < 1e-4, "{behind} m");
    }
}

#[test]
fn rapiers_controller_alone_loses_a_platform_that_moves_sideways() {
    let sideways = |t| Pose::from_translation(Vector::X * 2.0 * t);
    let drift = drift(
        sideways,
        |simulation| sliding_capsule(simulation, 0.1),
        Vector::ZERO,
        |simulation, step, key, _| slide(simulation, step, key, -Vector::Y),
    );
    assert!(drift > 0.5, "{drift} m"); // once this fails, the recipe can be shorter
}
