//! A car.

use super::*;

fn car(simulation: &mut Simulation) -> (BodyKey, DynamicRayCastVehicleController) {
    let chassis = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.75);
    let key = simulation
        .physics
        .insert(chassis, ColliderBuilder::cuboid(1.0, 0.2, 0.5).mass(400.0));
    let mut car = DynamicRayCastVehicleController::new(simulation.physics.handle(key).unwrap());
    let tuning = WheelTuning {
        suspension_stiffness: 30.0,
        suspension_compression: 4.0,
        suspension_damping: 5.0,
        ..WheelTuning::default()
    };
    for (x, z) in [(0.8, 0.5), (0.8, -0.5), (-0.8, 0.5), (-0.8, -0.5)] {
        let place = Vector::new(x, -0.2, z);
        car.add_wheel(place, -Vector::Y, Vector::Z, 0.3, 0.25, &tuning);
    }
    (key, car)
}

fn drive(physics: &mut Physics, step: Step, car: &mut DynamicRayCastVehicleController, force: f32) {
    for wheel in car.wheels_mut() {
        wheel.engine_force = force;
    }
    let filter = QueryFilter::new().exclude_rigid_body(car.chassis);
    let queries = physics.query_pipeline_mut(filter);
    car.update_vehicle(step.dt, queries);
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
            |simulation, step| drive(simulation, step, &mut car, 200.0),
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
fn a_sleeping_car_is_woken_only_by_driving_forward() {
    let driven = |force: f32| {
        let mut simulation = with_floor(Rate::default());
        let (key, mut car) = car(&mut simulation);
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        simulation.advance(SECOND * 5, |physics, step| {
            drive(physics, step, &mut car, 0.0);
        });
        simulation.physics.body_mut(key).unwrap().sleep();
        simulation.advance(SECOND, |physics, step| {
            drive(physics, step, &mut car, force);
        });
        position(&simulation.physics, key).translation.x
    };
    assert!(driven(200.0) > 0.5);
    assert!(
        driven(-200.0).abs() < 0.01,
        "the recipe no longer needs to wake the car"
    );
}
