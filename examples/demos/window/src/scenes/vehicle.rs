//! A car with Rapier's vehicle controller. Without a driver it goes round in a circle.

use evenstep::Physics;
use evenstep::rapier::control::{DynamicRayCastVehicleController, WheelTuning};
use evenstep::rapier::prelude::*;

use super::{Cast, Moment, block};
use crate::paint::Paint;

/// The force on each driven wheel, in newtons.
const ENGINE: f32 = 900.0;
/// The steering angle, in radians.
const STEERING: f32 = 0.45;
/// The radius of the circle, in metres.
const CIRCLE: f32 = 6.0;
/// The angle on the circle at which a car without a driver aims, ahead of itself, in radians.
const AHEAD: f32 = 0.5;

pub(super) fn build(physics: &mut Physics) -> Cast {
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::new(-4.5, 0.9, 4.5))
        .can_sleep(false)
        // Without damping, the car rolls over at 10 Hz.
        .angular_damping(4.0)
        .user_data(Paint::Followed.into());
    let hull = ColliderBuilder::cuboid(1.0, 0.22, 0.55).mass(380.0);
    let chassis = physics.insert(body, hull);
    let cabin = ColliderBuilder::cuboid(0.45, 0.18, 0.45).mass(20.0);
    let cabin = physics.insert_collider(chassis, cabin.translation(Vector::new(-0.15, 0.4, 0.0)));
    cabin.unwrap();
    let handle = physics.handle(chassis).unwrap();
    let mut car = DynamicRayCastVehicleController::new(handle);
    let tuning = WheelTuning {
        suspension_stiffness: 20.0,
        suspension_compression: 2.0,
        suspension_damping: 2.0,
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
        .rotation(Vector::Z * 0.13)
        .user_data(Paint::Stone.into());
    physics.insert(ramp, ColliderBuilder::cuboid(1.6, 0.1, 1.2));
    Cast {
        followed: chassis,
        car: Some(car),
        ..Cast::default()
    }
}

pub(super) fn is_on_its_roof(physics: &Physics, cast: &Cast) -> bool {
    let car = cast.car.as_ref().and_then(|_| physics.body(cast.followed));
    car.is_some_and(|car| (car.rotation() * Vector::Y).y < -0.8)
}

pub(super) fn step(physics: &mut Physics, cast: &mut Cast, moment: Moment) {
    let Some(car) = &mut cast.car else {
        return;
    };
    let is_driven = moment.drive != [0.0; 2];
    let [forward, left] = match physics.body(cast.followed) {
        Some(body) if !is_driven => [0.35, to_the_circle(body.position(), moment.origin)],
        _ => moment.drive,
    };
    let fastest = if is_driven { 9.0 } else { 5.0 };
    let too_fast = car.current_vehicle_speed.abs() > fastest;
    for (number, wheel) in car.wheels_mut().iter_mut().enumerate() {
        wheel.engine_force = if too_fast { 0.0 } else { ENGINE * forward };
        wheel.steering = if number < 2 { STEERING * left } else { 0.0 };
    }
    let queries = physics.query_pipeline_mut(QueryFilter::new().exclude_rigid_body(car.chassis));
    if queries.bodies.contains(car.chassis) {
        car.update_vehicle(moment.step.dt, queries);
    }
}

/// Returns the steering towards a point of the circle ahead, from -1 to 1, positive to the left.
fn to_the_circle(car: &Pose, origin: Vector) -> f32 {
    let place = (car.translation + origin).with_y(0.0);
    let aim = Pose::rotation(Vector::Y * AHEAD) * (place.normalize_or_zero() * CIRCLE);
    let aim = car.inverse() * (aim.with_y(car.translation.y) - origin);
    (-2.0 * aim.z / aim.length().max(1.0)).clamp(-1.0, 1.0)
}
