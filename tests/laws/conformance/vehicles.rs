//! Vehicles, which Rapier has in three dimensions only.

use RigidBodyType::{Dynamic, Fixed};
use evenstep::rapier::control::{DynamicRayCastVehicleController, WheelTuning};
use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use super::conforms;
use super::game::Scene;
use super::parts::{at, floor, heap};
use super::world::World;

/// A car that drives over bumps, through a heap and up a ramp.
#[derive(Clone, Serialize, Deserialize)]
pub struct Drive {
    car: DynamicRayCastVehicleController,
}

impl Scene for Drive {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let ramp = at(Fixed, 4.0, 0.0, 0.0).rotation(Vector::Z * 0.2);
        world.insert(ramp, ColliderBuilder::cuboid(2.0, 0.1, 2.0));
        for i in 0..8u8 {
            let bump = at(Fixed, f32::from(i) - 6.0, 0.0, f32::from(i % 2));
            world.insert(bump, ColliderBuilder::capsule_z(0.5, 0.08));
        }
        heap(world, Vector::new(1.0, 0.5, -0.5), 2, 8);
        let chassis = ColliderBuilder::cuboid(1.0, 0.2, 0.5).mass(300.0);
        let chassis = world.insert(at(Dynamic, -7.0, 0.8, 0.0), chassis);
        let mut car = DynamicRayCastVehicleController::new(chassis);
        let tuning = WheelTuning {
            suspension_stiffness: 40.0,
            suspension_damping: 5.0,
            ..WheelTuning::default()
        };
        for (x, z) in [(0.8, 0.5), (0.8, -0.5), (-0.8, 0.5), (-0.8, -0.5)] {
            let place = Vector::new(x, -0.2, z);
            car.add_wheel(place, -Vector::Y, Vector::Z, 0.3, 0.25, &tuning);
        }
        Self { car }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        for (number, wheel) in self.car.wheels_mut().iter_mut().enumerate() {
            wheel.engine_force = 600.0 + 300.0 * input;
            wheel.brake = if tick % 50 > 45 { 20.0 } else { 0.0 };
            wheel.steering = if number < 2 { 0.3 * input } else { 0.0 };
        }
        let dt = world.physics().integration_parameters.dt;
        let others = QueryFilter::new().exclude_rigid_body(self.car.chassis);
        let queries = world.queries(others);
        queries.bodies[self.car.chassis].wake_up(true);
        self.car.update_vehicle(dt, queries);
    }

    fn check(&self, physics: &PhysicsWorld) {
        let place = physics.bodies[self.car.chassis].translation();
        assert!(
            place.x > 2.0 && place.y > 0.8,
            "{place}: it has not climbed up"
        );
    }
}

#[test]
fn a_car_matches_bare_rapier() {
    conforms::<Drive>();
}
