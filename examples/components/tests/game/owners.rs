//! Who may write a transform, and what happens if another one does.

use super::{displayed, state, transform};
use evenstep::Simulation;
use evenstep::ecs::hecs::{Entities, RenderPose};
use evenstep::hecs::World;
use evenstep::rapier::prelude::*;
use evenstep_components::components::{Shape, Transform};
use evenstep_components::frames::{RATES, frames};
use evenstep_components::game::{self, Game};
use evenstep_components::layer::Layer;
use std::time::Duration;

/// The right speed of the paddle, in pixels per second. A pixel is a metre here.
const SPEED: f32 = 80.0;

/// Returns the mean speed of a paddle that the game moves by its speed times the frame time, once per frame. After each
/// frame, `write_back` may change its transform.
fn paddle_speed(fps: u32, write_back: fn(&mut Transform, Pose)) -> f32 {
    let (mut world, mut layer) = (World::new(), Layer::default());
    let shape = Shape::Ball(5.0);
    let kind = RigidBodyType::KinematicPositionBased;
    let paddle = world.spawn(game::body(0, kind, Vector::ZERO, shape));
    let mut halfway = 0.0;
    for frame in 0..10 * fps {
        if frame == 5 * fps {
            halfway = displayed(&world, paddle).translation.x;
        }
        let frame_time = Duration::from_secs(1) / fps;
        let transform = world.query_one_mut::<&mut Transform>(paddle).unwrap();
        transform.0.translation.x += SPEED * frame_time.as_secs_f32();
        layer.frame(&mut world, frame_time, |_, _, _| ()).unwrap();
        let (transform, RenderPose(pose)) = world
            .query_one_mut::<(&mut Transform, &RenderPose)>(paddle)
            .unwrap();
        write_back(transform, *pose);
    }
    (displayed(&world, paddle).translation.x - halfway) / 5.0
}

#[test]
fn a_paddle_is_slow_if_its_displayed_pose_is_written_back() {
    let right = RATES.map(|fps| paddle_speed(fps, |_, _| ()));
    let wrong = RATES.map(|fps| paddle_speed(fps, |transform, displayed| transform.0 = displayed));
    println!("right {right:?}, wrong {wrong:?}");
    for (i, fps) in RATES.into_iter().enumerate() {
        assert!(
            (right[i] - SPEED).abs() < 0.05,
            "{} px/s at {fps} fps",
            right[i]
        );
        // The frame time, divided by the sum of the frame time and the step.
        let [frame, step] = [fps, 60].map(|hz| 1.0 / hz as f32);
        let expected = SPEED * frame / (frame + step);
        assert!(
            (wrong[i] - expected).abs() < 0.05,
            "{} px/s at {fps} fps",
            wrong[i]
        );
    }
    let slowest = wrong[5];
    assert!((23.0..24.0).contains(&slowest), "{slowest} px/s");
}

#[test]
fn an_entity_has_a_body_even_after_a_frame_without_a_step() {
    let mut game = Game::default();
    game.frame(Duration::from_millis(7)).unwrap();
    assert_eq!(game.layer.simulation.physics.tick(), 0);
    let [cart, lamp] = [game.cast.cart, game.cast.lamp];
    assert_eq!(displayed(&game.world, cart), transform(&game.world, cart));
    assert_eq!(displayed(&game.world, lamp), transform(&game.world, lamp));
}

/// Bodies that are inserted in the hook alone.
#[test]
fn without_the_call_before_the_frame_there_is_no_body_yet() {
    let (mut world, mut simulation) = (World::new(), Simulation::default());
    let (mut entities, mut steps) = (Entities::default(), Vec::new());
    let entity = world.spawn((Transform(Pose::IDENTITY),));
    for _ in 0..3 {
        let frame = simulation.advance(Duration::from_secs(1) / 144, |physics, _| {
            entities.insert_missing::<&Transform, _>(&mut world, physics, |_, transform| {
                Some(((), RigidBodyBuilder::fixed().pose(transform.0), vec![]))
            });
        });
        entities.sync(&mut world, &mut simulation);
        steps.push((frame.steps, world.satisfies::<&RenderPose>(entity)));
    }
    assert_eq!(steps, [(0, false), (0, false), (1, true)]);
}

/// Returns the velocity of a kinematic body in each step of a second, whose pose is set in each step for the end of the
/// step, or for the end of the frame.
fn velocities(fps: u32, is_end_of_step: bool) -> Vec<f32> {
    let (mut simulation, mut velocities) = (Simulation::default(), Vec::new());
    let body = RigidBodyBuilder::kinematic_position_based();
    let hand = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
    for time in frames(fps, Duration::from_secs(1)) {
        let end_of_frame = simulation.clock().time_after(time);
        simulation.begin_frame(time);
        while let Some(step) = simulation.next_step() {
            let pose = Pose::from_translation(Vector::X * 6.0 * step.end_time.as_secs_f32());
            let arrival = if is_end_of_step {
                step.end_time
            } else {
                end_of_frame
            };
            simulation
                .physics
                .set_kinematic_target(hand, pose, arrival)
                .unwrap();
            simulation.run_step();
            velocities.push(simulation.physics.body(hand).unwrap().linvel().x);
        }
        simulation.end_frame();
    }
    velocities
}

#[test]
fn a_pose_that_is_set_in_each_step_is_for_the_end_of_the_step() {
    for fps in RATES {
        let (right, wrong) = (velocities(fps, true), velocities(fps, false));
        let range = |velocities: &[f32]| {
            let fold = |f: fn(f32, f32) -> f32| velocities.iter().copied().reduce(f).unwrap();
            (fold(f32::min), fold(f32::max))
        };
        println!(
            "{fps} fps: right {:?}, wrong {:?} m/s",
            range(&right),
            range(&wrong)
        );
        assert!(right.iter().all(|velocity| (velocity - 6.0).abs() < 1e-3));
        assert!(wrong.iter().any(|velocity| (velocity - 6.0).abs() > 1.0));
    }
}

/// The ball leaves the hand at the hand's velocity, in the same step at every frame rate.
#[test]
fn a_thrown_ball_keeps_the_velocity_of_the_hand() {
    let landings = RATES.map(|fps| {
        let mut game = Game::default();
        for time in frames(fps, Duration::from_millis(1_405)) {
            game.frame(time).unwrap();
        }
        state(&game)[5].1.0.translation
    });
    assert!(
        landings.iter().all(|landing| landing == &landings[0]),
        "{landings:?}"
    );
    // 84 steps at 6 m/s, from 4 m on.
    let x = landings[0].x;
    assert!((x - 12.4).abs() < 1e-3, "{x} m");
}
