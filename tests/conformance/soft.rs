//! Soft bodies.

use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use crate::game::Scene;
use crate::parts::{at, floor, heap, wave};
use crate::world::{Events, World};

/// Jelly, cloth and a rope that are pushed, pulled, cut and torn.
///
/// Not `WRITTEN`, it also has what Rapier does not write, as `Simulation::save` says: two meshes that overlap, plastic
/// flow, and a target of shape matching that moves. Loaded, that may go on otherwise; a copy has all of it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Soft<const WRITTEN: bool> {
    jelly: SoftBodyHandle,
    cloth: SoftBodyHandle,
    rope: SoftBodyHandle,
    tears: usize,
}

impl<const WRITTEN: bool> Scene for Soft<WRITTEN> {
    const IS_WRITTEN: bool = WRITTEN;

    fn build(world: &mut dyn World) -> Self {
        floor(world);
        heap(world, Vector::new(-1.0, 3.5, -0.5), 3, 6);
        let weight = at(RigidBodyType::Dynamic, 4.0, 2.5, 0.0);
        let weight = world.insert(weight, ColliderBuilder::ball(0.2));
        let jelly =
            |y| SoftBodyBuilder::cuboid(Vector::new(-3.0, y, 0.0), Vector::splat(0.4), 3, 3, 3);
        let corner = Vector::new(-1.0, 2.5, -1.0);
        let cloth = SoftBodyBuilder::cloth(corner, Vector::X * 0.4, Vector::Z * 0.4, 6, 6);
        let cloth = cloth.pinned_particles([0, 5, 30, 35]).tear_strain(0.02);
        let [top, end] = [4.0, 2.7].map(|y| Vector::new(4.0, y, 0.0));
        let rope = SoftBodyBuilder::rope(top, end, 8).pinned_particles([0]);
        let physics = world.all();
        let [jelly_at, cloth, rope] =
            [jelly(1.0), cloth, rope].map(|it| physics.insert_soft_body(it));
        physics.soft_bodies[rope].attach_particle(7, weight, &physics.bodies);
        if !WRITTEN {
            physics.insert_soft_body(jelly(1.3));
            let soft = &mut physics.soft_bodies[jelly_at];
            soft.material_mut().edge_plastic_yield = 0.01;
            soft.enable_cluster_shape_matching(0, true);
        }
        Self {
            jelly: jelly_at,
            cloth,
            rope,
            tears: 0,
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let physics = world.all();
        let push = Vector::new(0.1 * input, 0.0, 0.05);
        let jelly = &mut physics.soft_bodies[self.jelly];
        jelly.apply_impulse(push, true);
        if !WRITTEN && let Some(cluster) = jelly.cluster_mut(0) {
            let target = Pose::translation(-3.0, 1.0, wave(tick, 50));
            cluster.set_shape_matching_target(Some(target));
        }
        let rope = &mut physics.soft_bodies[self.rope];
        let end = Vector::new(4.0, 4.0, 0.5 * wave(tick, 60));
        rope.set_particle_kinematic_target(0, end);
        if tick == 110 {
            rope.detach_particle(7);
        }
        if tick == 90 {
            let blade = [(-2.0, -2.0), (2.0, -2.0), (0.0, 4.0)];
            let blade = blade.map(|(y, z)| Vector::new(0.05, 2.2 + y, z));
            physics.cut_soft_body(self.cloth, &blade);
        }
    }

    fn after_step(&mut self, _: &mut dyn World, events: &Events) {
        self.tears += events.tears.len();
    }

    fn check(&self, physics: &PhysicsWorld) {
        let (pieces, tears) = (physics.soft_bodies.iter().len(), self.tears);
        assert!(pieces > 3 && tears > 0, "{pieces} pieces, {tears} tears");
    }
}
