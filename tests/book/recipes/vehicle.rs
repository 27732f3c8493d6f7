//! A car.

use super::{SECOND, at_tick, position};
use evenstep::rapier::control::DynamicRayCastVehicleController;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};
use recipes::vehicle::{self, accelerate, centre, drive};
use scenes::with_floor;
use std::time::Duration;

fn car(simulation: &mut Simulation) -> (BodyKey, DynamicRayCastVehicleController) {
    vehicle::insert(&mut simulation.physics, Vector::Y * 0.75)
}

#[test]
fn a_car_reaches_the_same_pose_at_every_frame_rate() {
    let run = |frames_per_second| {
        let mut simulation = with_floor(Rate::default());
        let (key, mut car) = car(&mut simulation);
        at_tick(
            240,
            frames_per_second,
            simulation,
            |physics, step| {
                accelerate(&mut car, 200.0);
                drive(&mut car, physics, step);
            },
            |simulation| position(simulation, key),
        )
    };
    let reference = run(60);
    assert!(reference.translation.x > 10.0);
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}

#[test]
fn a_car_and_its_wheels_move_evenly_in_every_frame() {
    let mut simulation = with_floor(Rate::default());
    let (key, mut car) = car(&mut simulation);
    let (mut x, mut moved) = (0.0, 0.0);
    for frame in 0..144 * 4 {
        // It settles for two seconds, then accelerates: 4 · 200 N / 400 kg is 2 m/s².
        let force = if frame < 288 { 0.0 } else { 200.0 };
        simulation.advance(SECOND / 144, |physics, step| {
            accelerate(&mut car, force);
            drive(&mut car, physics, step);
        });
        let pose = simulation.pose(key).unwrap();
        let now = pose.translation.x;
        if frame >= 288 {
            for wheel in car.wheels() {
                let height = centre(wheel, pose).y;
                assert!((height - wheel.radius).abs() < 0.005, "{height} m");
            }
            // From frame to frame the car gains the speed of one step, or none.
            let faster: f32 = now - x - moved;
            assert!(
                (-1e-5..3e-4).contains(&faster),
                "{faster} m in frame {frame}"
            );
        }
        (x, moved) = (now, now - x);
    }
    let speed = simulation.physics.body(key).unwrap().linvel().x;
    assert!((speed - 4.0).abs() < 0.01, "{speed} m/s");
}

/// Once this test fails, the recipe no longer needs to wake the car.
#[test]
fn a_sleeping_car_that_nobody_wakes_drives_forward_only() {
    let driven = |force: f32| {
        let mut simulation = with_floor(Rate::default());
        let (key, mut car) = car(&mut simulation);
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        simulation.advance(SECOND * 5, |physics, step| {
            drive(&mut car, physics, step);
        });
        simulation.physics.body_mut(key).unwrap().sleep();
        accelerate(&mut car, force);
        simulation.advance(SECOND, |physics, step| {
            let filter = QueryFilter::new().exclude_rigid_body(car.chassis);
            car.update_vehicle(step.dt, physics.query_pipeline_mut(filter));
        });
        position(&simulation.physics, key).translation.x
    };
    assert!(driven(200.0) > 0.5);
    assert!(driven(-200.0).abs() < 0.01);
}

#[test]
fn a_sleeping_car_reverses() {
    let mut simulation = with_floor(Rate::default());
    let (key, mut car) = car(&mut simulation);
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    for force in [0.0, -200.0] {
        simulation.physics.body_mut(key).unwrap().sleep();
        accelerate(&mut car, force);
        simulation.advance(SECOND * 2, |physics, step| {
            drive(&mut car, physics, step);
        });
    }
    let x = position(&simulation.physics, key).translation.x;
    assert!(x < -2.0, "{x} m");
}
