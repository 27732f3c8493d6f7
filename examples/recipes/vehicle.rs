//! A car: a chassis with four wheels, driven by Rapier's controller.

use evenstep::rapier::control::{DynamicRayCastVehicleController, Wheel, WheelTuning};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

/// Inserts the chassis at this position. Returns it with the controller, which drives it along x.
pub fn insert(
    physics: &mut Physics,
    position: Vector,
) -> (BodyKey, DynamicRayCastVehicleController) {
    let chassis = RigidBodyBuilder::dynamic().translation(position);
    let collider = ColliderBuilder::cuboid(1.0, 0.2, 0.5).mass(400.0);
    let key = physics.insert(chassis, collider);
    let mut car = DynamicRayCastVehicleController::new(physics.handle(key).unwrap());
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

/// Sets the force of each wheel, in newtons. It is negative to reverse.
pub fn accelerate(car: &mut DynamicRayCastVehicleController, force: f32) {
    for wheel in car.wheels_mut() {
        wheel.engine_force = force;
    }
}

/// Moves the car. Call it in the hook, before each step.
pub fn drive(car: &mut DynamicRayCastVehicleController, physics: &mut Physics, step: Step) {
    let filter = QueryFilter::new().exclude_rigid_body(car.chassis);
    let queries = physics.query_pipeline_mut(filter);
    // A sleeping car would wake to drive forward, but not to reverse.
    queries.bodies[car.chassis].wake_up(true);
    car.update_vehicle(step.dt, queries);
}

/// Returns the centre of a wheel to draw. `chassis` is the displayed pose.
pub fn centre(wheel: &Wheel, chassis: Pose) -> Vector {
    let down = wheel.direction_cs * wheel.raycast_info().suspension_length;
    chassis * (wheel.chassis_connection_point_cs + down)
}
