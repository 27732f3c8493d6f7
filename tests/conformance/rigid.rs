//! Bodies that come, go and change, and what touches them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use evenstep::rapier3d::parry::utils::Array2;
use evenstep::rapier3d::prelude::*;
use serde::{Deserialize, Serialize};

use crate::parts::{at, fixed_at, floor, shape, wave};
use crate::ways::{Filters, Scene};
use crate::world::{Events, World};

/// Everything through `physics_mut`: spawn, removal, edits of bodies, colliders, gravity and parameters.
#[derive(Clone, Serialize, Deserialize)]
pub struct Edits {
    bodies: VecDeque<RigidBodyHandle>,
    wall: ColliderHandle,
}

impl Scene for Edits {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let wall = ColliderBuilder::cuboid(0.2, 1.0, 4.0).translation(Vector::X * 3.0);
        Self {
            bodies: VecDeque::new(),
            wall: world.all().insert_collider(wall, None),
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let newest = self.bodies.back().expect("some are there");
        assert!(newest.into_raw_parts().1 > 1, "no slot is used twice");
        assert!(physics.contact_pairs().count() > 10);
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let physics = world.all();
        physics.gravity.x = 2.0 * input;
        physics.colliders[self.wall].set_position(Pose::translation(
            3.0 + wave(tick, 80),
            1.0,
            0.0,
        ));
        if tick.is_multiple_of(4) {
            let at = at(wave(tick, 28), 2.5, 0.5 * wave(tick, 44));
            self.bodies.push_back(physics.insert(at, shape(tick / 4)).0);
        }
        if self.bodies.len() > 16
            && let Some(oldest) = self.bodies.pop_front()
        {
            physics.remove_body(oldest);
        }
        let chosen = self.bodies[tick as usize * 7 % self.bodies.len()];
        let body = &mut physics.bodies[chosen];
        let collider = body.colliders()[0];
        match tick % 16 {
            1 => body.set_linvel(Vector::new(input, 3.0, 0.0), true),
            2 => body.apply_torque_impulse(Vector::splat(0.1 * input), true),
            3 => body.set_additional_mass(2.0, true),
            5 => body.set_body_type(RigidBodyType::Fixed, true),
            6 => body.set_enabled(!body.is_enabled()),
            7 => body.set_translation(Vector::Y * 3.0, true),
            9 => body.sleep(),
            10 => body.set_body_type(RigidBodyType::Dynamic, true),
            11 => body.set_locked_axes(LockedAxes::ROTATION_LOCKED, true),
            13 => physics.colliders[collider].set_friction(0.1),
            14 => physics.colliders[collider].set_shape(SharedShape::ball(0.4)),
            15 => physics.integration_parameters.num_solver_iterations = 3 + tick as usize % 4,
            _ => (),
        }
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
        let lift = RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * 0.2);
        let lift = world.insert(lift, ColliderBuilder::cuboid(1.5, 0.1, 1.5));
        let zone = ColliderBuilder::cuboid(1.0, 0.3, 1.0)
            .translation(Vector::Y * 1.5)
            .sensor(true)
            .active_events(ActiveEvents::COLLISION_EVENTS)
            .active_collision_types(ActiveCollisionTypes::all());
        world
            .only(&[lift])
            .insert_collider(zone.clone(), Some(lift));
        world.insert(fixed_at(4.0, -1.0, 0.0), zone);
        let paddle = RigidBodyBuilder::kinematic_velocity_based().translation(Vector::Y * 0.4);
        let paddle = world.insert(paddle, ColliderBuilder::cuboid(5.0, 0.2, 0.1));
        for i in 0..15u8 {
            let [x, y, z] = [i % 3, i / 3, i % 2].map(f32::from);
            world.insert(at(x - 1.0, 1.0 + y, 0.3 * z), shape(i.into()));
        }
        Self {
            lift,
            paddle,
            inside: BTreeMap::new(),
        }
    }

    fn check(&self, _: &PhysicsWorld) {
        let left = self.inside.values().filter(|zones| **zones == 0).count();
        let inside = self.inside.len() - left;
        assert!(
            left > 3 && inside > 0,
            "{left} have left, {inside} are inside"
        );
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let height = 1.2 + wave(tick, 70);
        let lift = world.body(self.lift);
        lift.set_next_kinematic_translation(Vector::new(0.0, height, 0.5 * input));
        let paddle = world.body(self.paddle);
        paddle.set_angvel(Vector::Y * 4.0 * input, true);
    }

    fn after_step(&mut self, world: &mut dyn World, events: &Events) {
        for touch in events.touches.iter().filter(|touch| touch.sensor) {
            let colliders = &world.physics().colliders;
            let guest = touch
                .pair
                .into_iter()
                .find(|it| !colliders[*it].is_sensor());
            let Some(guest) = guest else {
                continue; // a zone in another one
            };
            let zones = self.inside.entry(guest.into_raw_parts()).or_default();
            *zones = if touch.started {
                *zones + 1
            } else {
                *zones - 1
            };
            let gravity = if *zones > 0 { -0.3 } else { 1.0 };
            if let Some(body) = colliders[guest].parent() {
                world.body(body).set_gravity_scale(gravity, true);
            }
        }
    }
}

/// Bodies, colliders and joints that are removed where they touch, and contacts that are filtered and changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct Removals {
    tiles: VecDeque<RigidBodyHandle>,
    chain: Vec<ImpulseJointHandle>,
    arm: Vec<MultibodyJointHandle>,
    /// By how much everything in the next step is pushed.
    push: f32,
}

/// Pairs of one team do not collide; what lies on a belt is carried along, and a plate is closed from one side alone.
struct Contacts;

const BELT: u128 = 1;
const PLATE: u128 = 2;

impl PhysicsHooks for Contacts {
    fn filter_contact_pair(&self, pair: &PairFilterContext) -> Option<SolverFlags> {
        let teams = [pair.collider1, pair.collider2].map(|it| pair.colliders[it].user_data / 10);
        (teams[0] == 0 || teams[0] != teams[1]).then(SolverFlags::default)
    }

    fn filter_intersection_pair(&self, _: &PairFilterContext) -> bool {
        true
    }

    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let first = context.colliders[context.collider1].user_data;
        let second = context.colliders[context.collider2].user_data;
        if first.max(second) % 10 == PLATE {
            let up = if first % 10 == PLATE {
                Vector::Y
            } else {
                -Vector::Y
            };
            context.update_as_oneway_platform(up, 0.3);
        } else if let Some(manifold) = context.rigid_mut() {
            for contact in manifold.solver_contacts.iter_mut() {
                contact.tangent_velocity = Vector::X * if first % 10 == BELT { 2.0 } else { -2.0 };
            }
        }
    }
}

impl Scene for Removals {
    fn build(world: &mut dyn World) -> Self {
        let changed = |collider: ColliderBuilder, data| {
            let hooks = ActiveHooks::MODIFY_SOLVER_CONTACTS;
            collider.user_data(data).active_hooks(hooks)
        };
        floor(world);
        let belt = changed(ColliderBuilder::cuboid(3.0, 0.2, 3.0), BELT);
        world.insert(fixed_at(0.0, 0.2, 6.0), belt);
        let plate = changed(ColliderBuilder::cuboid(3.0, 0.05, 3.0), PLATE);
        world.insert(fixed_at(0.0, 1.5, 6.0), plate);
        let tile = ColliderBuilder::cuboid(0.5, 0.1, 0.5);
        let tiles = (0..12u8).map(|i| {
            let [x, z] = [i % 4, i / 4].map(f32::from);
            world.insert(fixed_at(x, 1.0, z), tile.clone())
        });
        let tiles = tiles.collect();
        let loud = ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS;
        let fallers: Vec<_> = (0..24u8)
            .map(|i| {
                let [x, y, z] = [i % 4, i / 8, i / 4 % 2].map(f32::from);
                let body = at(x, 2.0 + 0.7 * y, z + 5.0 * f32::from(i % 2));
                let body = body.linvel(Vector::Y * 4.0 * f32::from(i % 2));
                let shape = shape(i.into()).user_data(10 * u128::from(i % 3));
                let shape = shape.active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
                world.insert(body, shape.active_events(loud))
            })
            .collect();
        let joint = || SphericalJointBuilder::new().local_anchor1(Vector::X * 0.9);
        let physics = world.all();
        let ends = |from: usize| [fallers[from], fallers[from + 2]];
        let chain = [0, 2, 4, 6].map(ends);
        let arm = [8, 10, 12].map(ends);
        Self {
            tiles,
            chain: chain
                .map(|[a, b]| physics.insert_impulse_joint(a, b, joint()))
                .into(),
            arm: arm
                .map(|[a, b]| {
                    physics
                        .insert_multibody_joint(a, b, joint())
                        .expect("no loop")
                })
                .into(),
            push: 0.0,
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let joints = self.tiles.len() + self.chain.len() + self.arm.len();
        let bodies = physics.bodies.len();
        assert!(joints == 0 && bodies < 25 && physics.colliders.len() < bodies);
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        if tick % 12 == 5
            && let Some(tile) = self.tiles.pop_front()
        {
            world.remove(tile);
        }
        if tick % 40 == 20
            && let Some(joint) = self.chain.pop()
        {
            world.except_bodies().remove_impulse_joint(joint);
        }
        if tick % 45 == 35
            && let Some(joint) = self.arm.pop()
        {
            world.except_bodies().remove_multibody_joint(joint);
        }
        world.except_bodies().gravity.z = input + self.push;
    }

    fn after_step(&mut self, world: &mut dyn World, events: &Events) {
        self.push = events.forces.iter().map(|(_, force)| 1e-3 * force).sum();
        let started = events.touches.iter().find(|touch| touch.started);
        let Some([_, last]) = started.map(|touch| touch.pair) else {
            return;
        };
        let Some(body) = world.physics().colliders[last].parent() else {
            return;
        };
        // Every third one that touches is removed; of others the collider, or they are shot away.
        match last.into_raw_parts().0 % 6 {
            0 | 3 if world.physics().bodies[body].is_dynamic() => world.remove(body),
            1 => world.remove_collider(last),
            _ => world.body(body).set_linvel(Vector::Y * 3.0, true),
        }
    }

    fn filters() -> Filters {
        Arc::new(Contacts)
    }
}

/// Shapes and bullets that fall on voxels and a height field, both of which change.
#[derive(Clone, Serialize, Deserialize)]
pub struct Terrain {
    voxels: ColliderHandle,
    bullets: Vec<RigidBodyHandle>,
}

impl Scene for Terrain {
    fn build(world: &mut dyn World) -> Self {
        let heights = Array2::from_fn(9, 9, |i, j| {
            0.3 * wave(i as u64, 4) + 0.2 * wave(j as u64, 3)
        });
        let hills = ColliderBuilder::heightfield(heights, Vector::new(12.0, 1.0, 12.0));
        world.insert(fixed_at(0.0, 0.0, 0.0), hills);
        let blocks: Vec<_> = (0..6 * 6 * 2)
            .map(|i| IVector::new(i % 6, i / 36, i / 6 % 6))
            .filter(|block| block.y == 0 || (block.x + block.z) % 3 > 0)
            .collect();
        let blocks = ColliderBuilder::voxels(Vector::splat(0.5), &blocks);
        let blocks = blocks.translation(Vector::new(-1.5, 0.6, -1.5));
        let voxels = world.all().insert_collider(blocks, None);
        for i in 0..30u8 {
            let [x, y, z] = [i % 5, i / 5, i % 3].map(f32::from);
            let turned = Vector::new(x, 0.3, z);
            world.insert(
                at(x - 2.0, 2.5 + 0.8 * y, z - 1.0).rotation(turned),
                shape(i.into()),
            );
        }
        let bullet = || ColliderBuilder::ball(0.05).density(20.0);
        let bullets = [0.0, 0.4, 0.8].map(|z| {
            let body = at(-9.0, 1.2, z).ccd_enabled(true).soft_ccd_prediction(z);
            world.insert(body.gravity_scale(0.1), bullet())
        });
        Self {
            voxels,
            bullets: bullets.into(),
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let bodies = &physics.bodies;
        let is_stopped = |bullet: &RigidBodyHandle| bodies[*bullet].linvel().length() < 10.0;
        assert!(self.bullets.iter().all(is_stopped));
        assert!(bodies.iter().any(|(_, body)| body.is_sleeping()));
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        world.except_bodies().gravity.x = input;
        for (bullet, z) in self.bullets.iter().zip([0.0, 0.4, 0.8]) {
            if tick.is_multiple_of(30) {
                let bullet = world.body(*bullet);
                bullet.set_translation(Vector::new(-9.0, 1.2, z), true);
                bullet.set_linvel(Vector::new(50.0, -1.0, 3.0 * input), true);
            }
        }
        if tick % 10 == 9 {
            let block = IVector::new((tick / 10 % 6) as i32, 1, (tick / 20 % 6) as i32);
            let shape = world.except_bodies().colliders[self.voxels].shape_mut();
            let voxels = shape.as_voxels_mut().expect("they are voxels");
            voxels.set_voxel(block, tick % 20 == 9);
        }
    }
}
