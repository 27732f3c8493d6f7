//! Controllers, whose state is the game's own.

use evenstep::rapier3d::control::{
    CharacterAutostep, CharacterLength, DynamicRayCastVehicleController,
    KinematicCharacterController, WheelTuning,
};
use evenstep::rapier3d::prelude::*;
use serde::{Deserialize, Serialize};

use crate::parts::{at, fixed_at, floor, shape, wave};
use crate::ways::Scene;
use crate::world::World;

/// A car over bumps, up a ramp and through crates.
#[derive(Clone, Serialize, Deserialize)]
pub struct Drive {
    car: DynamicRayCastVehicleController,
}

impl Scene for Drive {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let ramp = fixed_at(4.0, 0.0, 0.0).rotation(Vector::Z * 0.2);
        world.insert(ramp, ColliderBuilder::cuboid(2.0, 0.1, 2.0));
        for i in 0..8u8 {
            let bump = fixed_at(-6.0 + f32::from(i), 0.0, f32::from(i % 2));
            world.insert(bump, ColliderBuilder::capsule_z(0.5, 0.08));
            let [x, y] = [i % 3, i / 3].map(f32::from);
            world.insert(at(2.0, 0.6 + y, x - 1.0), shape(i.into()));
        }
        let chassis = ColliderBuilder::cuboid(1.0, 0.2, 0.5).mass(300.0);
        let chassis = world.insert(at(-7.0, 0.8, 0.0), chassis);
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

    fn check(&self, physics: &PhysicsWorld) {
        let chassis = physics.bodies[self.car.chassis].translation();
        assert!(
            chassis.x > 2.0 && chassis.y > 0.8,
            "{chassis} is not up the ramp"
        );
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        for (number, wheel) in self.car.wheels_mut().iter_mut().enumerate() {
            wheel.engine_force = 600.0 + 300.0 * input;
            wheel.brake = if tick % 50 > 45 { 20.0 } else { 0.0 };
            wheel.steering = if number < 2 { 0.3 * input } else { 0.0 };
        }
        let dt = world.physics().integration_parameters.dt;
        let filter = QueryFilter::new().exclude_rigid_body(self.car.chassis);
        let queries = world.queries(filter);
        queries.bodies[self.car.chassis].wake_up(true);
        self.car.update_vehicle(dt, queries);
    }
}

/// A character over stairs, up a slope, against boxes and onto a platform.
#[derive(Clone, Serialize, Deserialize)]
pub struct Walk {
    character: RigidBodyHandle,
    platform: RigidBodyHandle,
    controller: KinematicCharacterController,
    /// Upwards, metres a second.
    rise: f32,
    is_grounded: bool,
}

impl Scene for Walk {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        for i in 0..5u8 {
            let height = 0.1 * f32::from(i + 1);
            let stair = ColliderBuilder::cuboid(0.25, height, 2.0);
            world.insert(fixed_at(0.5 + 0.5 * f32::from(i), height, 0.0), stair);
            let box_at = at(-1.0, 0.15, 0.4 * f32::from(i) - 0.8);
            world.insert(box_at, ColliderBuilder::cuboid(0.15, 0.15, 0.15));
        }
        let slope = fixed_at(-3.0, 0.0, 0.0).rotation(Vector::Z * -0.6);
        world.insert(slope, ColliderBuilder::cuboid(2.0, 0.1, 3.0));
        let platform = RigidBodyBuilder::kinematic_position_based();
        let platform = platform.translation(Vector::new(3.6, 1.0, 0.0));
        let body = RigidBodyBuilder::kinematic_position_based();
        let body = body.translation(Vector::new(-4.2, 1.6, 0.0));
        let height = CharacterLength::Absolute(0.4);
        let autostep = CharacterAutostep {
            max_height: height,
            min_width: CharacterLength::Absolute(0.1),
            include_dynamic_bodies: true,
        };
        Self {
            character: world.insert(body, ColliderBuilder::capsule_y(0.3, 0.2)),
            platform: world.insert(platform, ColliderBuilder::cuboid(0.6, 0.1, 1.5)),
            controller: KinematicCharacterController {
                autostep: Some(autostep),
                snap_to_ground: Some(height),
                ..KinematicCharacterController::default()
            },
            rise: 0.0,
            is_grounded: false,
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let place = physics.bodies[self.character].translation();
        assert!(
            place.x > 2.0 && place.y > 1.0,
            "{place} is not up the stairs"
        );
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let lift = Vector::new(3.6, 1.0 + 0.5 * wave(tick, 90), 0.0);
        (world.body(self.platform)).set_next_kinematic_translation(lift);
        let dt = world.physics().integration_parameters.dt;
        if self.is_grounded && tick % 37 == 30 {
            self.rise = 2.0;
        }
        self.rise -= 9.81 * dt;
        let velocity = Vector::new(3.0 + 3.0 * input, self.rise, wave(tick, 60));
        let pose = *world.physics().bodies[self.character].position();
        let capsule = Capsule::new_y(0.3, 0.2);
        let filter = QueryFilter::new().exclude_rigid_body(self.character);
        let mut queries = world.queries(filter);
        let mut hits = Vec::new();
        let seen = &queries.as_ref();
        let way = (self.controller).move_shape(dt, seen, &capsule, &pose, velocity * dt, |hit| {
            hits.push(hit);
        });
        (self.controller).solve_character_collision_impulses(
            dt,
            &mut queries,
            &capsule,
            60.0,
            &hits,
        );
        self.is_grounded = way.grounded;
        if way.grounded {
            self.rise = 0.0;
        }
        let next = pose.translation + way.translation;
        (world.body(self.character)).set_next_kinematic_translation(next);
    }
}
