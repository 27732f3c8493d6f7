//! Controllers, whose state is the game's own.

use RigidBodyType::{Dynamic, Fixed, KinematicPositionBased};
use evenstep::rapier::control::{
    CharacterAutostep, CharacterLength, DynamicRayCastVehicleController,
    KinematicCharacterController, WheelTuning,
};
use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use crate::game::Scene;
use crate::parts::{at, floor, heap, wave};
use crate::world::World;

/// A car over bumps, through a heap and up a ramp.
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
        assert!(place.x > 2.0 && place.y > 0.8, "{place}: not up");
    }
}

/// A character down a slope, against boxes and up stairs to a lift.
#[derive(Clone, Serialize, Deserialize)]
pub struct Walk {
    character: RigidBodyHandle,
    lift: RigidBodyHandle,
    /// Upwards, metres a second.
    rise: f32,
}

impl Scene for Walk {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        for i in 1..6u8 {
            let i = f32::from(i);
            let stair = ColliderBuilder::cuboid(0.25, 0.1 * i, 2.0);
            world.insert(at(Fixed, 0.5 * i, 0.1 * i, 0.0), stair);
            let box_at = at(Dynamic, -1.0, 0.15, 0.4 * i - 1.2);
            world.insert(box_at, ColliderBuilder::cuboid(0.15, 0.15, 0.15));
        }
        let slope = at(Fixed, -3.0, 0.0, 0.0).rotation(Vector::Z * -0.6);
        world.insert(slope, ColliderBuilder::cuboid(2.0, 0.1, 3.0));
        let lift = at(KinematicPositionBased, 3.6, 1.0, 0.0);
        let character = at(KinematicPositionBased, -4.2, 1.6, 0.0);
        Self {
            character: world.insert(character, ColliderBuilder::capsule_y(0.3, 0.2)),
            lift: world.insert(lift, ColliderBuilder::cuboid(0.6, 0.1, 1.5)),
            rise: 0.0,
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let place = Vector::new(3.6, 1.0 + 0.5 * wave(tick, 90), 0.0);
        world.body(self.lift).set_next_kinematic_translation(place);
        let height = CharacterLength::Absolute(0.4);
        let controller = KinematicCharacterController {
            autostep: Some(CharacterAutostep {
                max_height: height,
                min_width: CharacterLength::Absolute(0.1),
                include_dynamic_bodies: true,
            }),
            snap_to_ground: Some(height),
            ..KinematicCharacterController::default()
        };
        let dt = world.physics().integration_parameters.dt;
        self.rise = if tick % 37 == 30 {
            2.0
        } else {
            self.rise - 9.81 * dt
        };
        let velocity = Vector::new(3.0 + 3.0 * input, self.rise, wave(tick, 60));
        let pose = *world.physics().bodies[self.character].position();
        let capsule = Capsule::new_y(0.3, 0.2);
        let others = QueryFilter::new().exclude_rigid_body(self.character);
        let mut queries = world.queries(others);
        let mut hits = Vec::new();
        let hit = |hit| hits.push(hit);
        let (seen, way) = (queries.as_ref(), velocity * dt);
        let made = controller.move_shape(dt, &seen, &capsule, &pose, way, hit);
        controller.solve_character_collision_impulses(dt, &mut queries, &capsule, 60.0, &hits);
        if made.grounded {
            self.rise = 0.0;
        }
        let next = pose.translation + made.translation;
        world
            .body(self.character)
            .set_next_kinematic_translation(next);
    }

    fn check(&self, physics: &PhysicsWorld) {
        let place = physics.bodies[self.character].translation();
        assert!(place.x > 2.0 && place.y > 1.0, "{place}: not up");
    }
}
