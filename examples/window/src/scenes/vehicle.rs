//! A car with Rapier's vehicle controller. Without a driver it goes in circles.

use evenstep::Physics;
use evenstep::rapier::control::{DynamicRayCastVehicleController, WheelTuning};
use evenstep::rapier::prelude::*;

use super::{Cast, Moment, block};
use crate::paint::Paint;

/// The force on each driven wheel, in newtons.
const ENGINE: f32 = 900.0;
/// The steering angle, in radians.
const STEERING: f32 = 0.45;

pub(super) fn build(physics: &mut Physics) -> Cast {
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::new(-4.5, 0.9, 4.5))
        .can_sleep(false)
        .user_data(Paint::Followed.into());
    let hull = ColliderBuilder::cuboid(1.0, 0.22, 0.55).mass(380.0);
    let chassis = physics.insert(body, hull);
    let cabin = ColliderBuilder::cuboid(0.45, 0.18, 0.45).mass(20.0);
    let cabin = physics.insert_collider(chassis, cabin.translation(Vector::new(-0.15, 0.4, 0.0)));
    cabin.unwrap();
    let handle = physics.handle(chassis).unwrap();
    let mut car = DynamicRayCastVehicleController::new(handle);
    let tuning = WheelTuning {
        suspension_stiffness: 30.0,
        suspension_compression: 4.0,
        suspension_damping: 5.0,
        ..WheelTuning::default()
    };
    for (x, z) in [(0.7, 0.6), (0.7, -0.6), (-0.7, 0.6), (-0.7, -0.6)] {
        let place = Vector::new(x, -0.1, z);
        car.add_wheel(place, -Vector::Y, Vector::Z, 0.3, 0.3, &tuning);
    }
    for number in 0..6u8 {
        let at = Vector::new(
            0.7 * f32::from(number % 3) - 0.7,
            0.35 + 0.7 * f32::from(number / 3),
            0.0,
        );
        let (body, collider) = block(at, Vector::splat(0.34), Paint::Piece(number));
        physics.insert(body, collider.density(0.3));
    }
    let ramp = RigidBodyBuilder::fixed()
        .translation(Vector::new(1.0, 0.05, 4.6))
        .rotation(Vector::Z * 0.16)
        .user_data(Paint::Stone.into());
    physics.insert(ramp, ColliderBuilder::cuboid(1.6, 0.1, 1.2));
    Cast {
        followed: chassis,
        car: Some(car),
        ..Cast::default()
    }
}

pub(super) fn step(physics: &mut Physics, cast: &mut Cast, moment: Moment) {
    let Some(car) = &mut cast.car else {
        return;
    };
    let is_driven = moment.drive != [0.0; 2];
    let [forward, left] = if is_driven {
        moment.drive
    } else {
        [0.35, 0.45]
    };
    let too_fast = car.current_vehicle_speed.abs() > 9.0;
    for (number, wheel) in car.wheels_mut().iter_mut().enumerate() {
        wheel.engine_force = if too_fast { 0.0 } else { ENGINE * forward };
        wheel.steering = if number < 2 { STEERING * left } else { 0.0 };
    }
    let queries = physics.query_pipeline_mut(QueryFilter::new().exclude_rigid_body(car.chassis));
    if queries.bodies.contains(car.chassis) {
        car.update_vehicle(moment.step.dt, queries);
    }
}
