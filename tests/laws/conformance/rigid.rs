//! Bodies that are inserted, removed and changed, in zones and on terrain.

use std::collections::{BTreeMap, VecDeque};

use RigidBodyType::{Dynamic, Fixed, KinematicPositionBased, KinematicVelocityBased};
use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use super::dim::{block, blocks, hills, shape};
use super::game::Scene;
use super::parts::{at, floor, heap, wave};
use super::world::{Events, World};
use scenes::testing::{cuboid, spaced, spin, translation, vector};

/// Everything through `rapier_mut`: spawn, removal, edits of bodies, colliders, gravity and parameters.
#[derive(Clone, Serialize, Deserialize)]
pub struct Edits {
    bodies: VecDeque<RigidBodyHandle>,
    wall: ColliderHandle,
}

impl Scene for Edits {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let wall = cuboid(0.2, 1.0, 4.0);
        Self {
            bodies: VecDeque::new(),
            wall: world.all().insert_collider(wall, None),
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let physics = world.all();
        physics.gravity.x = 2.0 * input;
        let place = translation(3.0 + wave(tick, 80), 1.0, 0.0);
        physics.colliders[self.wall].set_position(place);
        if tick.is_multiple_of(4) {
            let body = at(Dynamic, wave(tick, 28), 2.5, 0.5 * wave(tick, 44));
            let (body, _) = physics.insert(body, shape((tick / 4) as u8));
            self.bodies.push_back(body);
        }
        if self.bodies.len() > 16
            && let Some(oldest) = self.bodies.pop_front()
        {
            physics.remove_body(oldest);
        }
        let chosen = self.bodies[tick as usize * 7 % self.bodies.len()];
        let body = &mut physics.bodies[chosen];
        let collider = body.colliders()[0];
        let push = 0.1 * input;
        match tick % 16 {
            1 => body.set_linvel(vector(input, 3.0, 0.0), true),
            2 => body.apply_torque_impulse(spin(push, push, push), true),
            3 => body.set_additional_mass(2.0, true),
            5 => body.set_body_type(Fixed, true),
            6 => body.set_enabled(!body.is_enabled()),
            7 => body.set_translation(Vector::Y * 3.0, true),
            9 => body.sleep(),
            10 => body.set_body_type(Dynamic, true),
            11 => body.set_locked_axes(LockedAxes::ROTATION_LOCKED, true),
            13 => physics.colliders[collider].set_friction(0.1),
            14 => physics.colliders[collider].set_shape(SharedShape::ball(0.4)),
            15 => physics.integration_parameters.num_solver_iterations = 3 + tick as usize % 4,
            _ => (),
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let (_, generation) = self.bodies[self.bodies.len() - 1].into_raw_parts();
        assert!(generation > 1, "no slot was reused");
        assert!(physics.contact_pairs().count() > 10);
    }
}

/// A lift, a paddle, and zones in which bodies float.
#[derive(Clone, Serialize, Deserialize)]
pub struct Zones {
    lift: RigidBodyHandle,
    paddle: RigidBodyHandle,
    /// How many zones each collider is in.
    inside: BTreeMap<(u32, u32), u32>,
}

impl Scene for Zones {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let lift = at(KinematicPositionBased, 0.0, 0.2, 0.0);
        let lift = world.insert(lift, cuboid(1.5, 0.1, 1.5));
        let zone = cuboid(1.0, 0.3, 1.0)
            .translation(Vector::Y * 1.5)
            .sensor(true)
            .active_events(ActiveEvents::COLLISION_EVENTS)
            .active_collision_types(ActiveCollisionTypes::all());
        world.all().insert_collider(zone.clone(), Some(lift));
        world.insert(at(Fixed, 2.5, -1.0, 0.0), zone);
        let paddle = at(KinematicVelocityBased, 0.0, 0.4, 0.0);
        let paddle = world.insert(paddle, cuboid(5.0, 0.2, 0.1));
        heap(world, vector(-1.0, 1.0, -0.5), 3, 15);
        Self {
            lift,
            paddle,
            inside: BTreeMap::new(),
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let place = vector(0.0, 1.2 + wave(tick, 70), 0.5 * input);
        world.body(self.lift).set_next_kinematic_translation(place);
        let turn = spin(0.0, 4.0 * input, 0.0);
        world.body(self.paddle).set_angvel(turn, true);
    }

    fn after_step(&mut self, world: &mut dyn World, events: &Events) {
        for (pair, started, _) in events.touches.iter().filter(|(.., sensor)| *sensor) {
            let colliders = &world.physics().colliders;
            let guest = pair.iter().find(|it| !colliders[**it].is_sensor());
            let Some(guest) = guest else {
                continue; // a zone that overlaps another zone
            };
            let zones = self.inside.entry(guest.into_raw_parts()).or_default();
            *zones = if *started { *zones + 1 } else { *zones - 1 };
            let gravity = if *zones > 0 { -0.3 } else { 1.0 };
            if let Some(body) = colliders[*guest].parent() {
                world.body(body).set_gravity_scale(gravity, true);
            }
        }
    }

    fn check(&self, _: &PhysicsWorld) {
        let left = self.inside.values().filter(|zones| **zones == 0);
        assert!(left.count() > 5);
    }
}

/// Shapes that fall onto a height field and onto changing voxels, and bullets that hit a thin wall.
///
/// The wall keeps the bullets off the voxels: small balls that bounce off voxels make Rapier fail a debug assertion.
#[derive(Clone, Serialize, Deserialize)]
pub struct Terrain {
    voxels: ColliderHandle,
    bullets: Vec<RigidBodyHandle>,
}

impl Scene for Terrain {
    fn build(world: &mut dyn World) -> Self {
        world.insert(at(Fixed, 0.0, 0.0, 0.0), hills());
        let blocks = ColliderBuilder::voxels(Vector::splat(0.5), &blocks());
        let blocks = blocks.translation(vector(-1.5, 0.6, -1.5));
        heap(world, vector(-2.0, 2.5, -0.5), 5, 30);
        let wall = cuboid(0.02, 2.0, 3.0);
        world.insert(at(Fixed, -4.0, 0.5, 0.0), wall);
        let bullets = (0..3u8).map(|i| {
            let z = 0.4 * f32::from(i);
            let bullet = RigidBodyBuilder::dynamic().translation(spaced(-9.0, 1.2, z));
            let bullet = bullet.ccd_enabled(true);
            let ball = ColliderBuilder::ball(0.05).density(20.0);
            world.insert(bullet.soft_ccd_prediction(z), ball)
        });
        let bullets = bullets.collect();
        Self {
            voxels: world.all().insert_collider(blocks, None),
            bullets,
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        world.except_bodies().gravity.x = input;
        for bullet in self.bullets.iter().filter(|_| tick.is_multiple_of(30)) {
            let bullet = world.body(*bullet);
            let z = bullet.soft_ccd_prediction();
            bullet.set_translation(spaced(-9.0, 1.2, z), true);
            bullet.set_linvel(vector(120.0, -1.0, 3.0 * input), true);
        }
        if tick % 10 == 9 {
            let block = block((tick / 10 % 6) as i32, 1, (tick / 20 % 6) as i32);
            let shape = world.except_bodies().colliders[self.voxels].shape_mut();
            let voxels = shape.as_voxels_mut().expect("they are voxels");
            voxels.set_voxel(block, tick % 20 == 9);
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let bodies = &physics.bodies;
        let is_stopped = |bullet: &RigidBodyHandle| bodies[*bullet].translation().x < -4.0;
        assert!(self.bullets.iter().all(is_stopped));
        assert!(physics.contact_pairs().count() > 30);
    }
}
