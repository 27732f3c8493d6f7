//! Soft bodies.

use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use super::dim::{ASIDE, blade, cloth};
use super::game::Scene;
use super::parts::{at, floor, heap, wave};
use super::world::{Events, World};
use scenes::testing::{soft_cube, vector};

/// Jelly, cloth and a rope that are pushed, pulled, cut and torn.
///
/// If not `WRITTEN`, the scene also has state that Rapier does not write, as `Simulation::save` says: two meshes that
/// overlap, plastic flow, a moving target of shape matching, and in two dimensions rigid bodies that press into a mesh.
/// A loaded state may continue differently. A copy has all of it.
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
        heap(world, vector(-1.0, 3.5, -0.5), 3, 6);
        let weight = at(RigidBodyType::Dynamic, 4.0, 2.5, 0.0);
        let weight = world.insert(weight, ColliderBuilder::ball(0.2));
        let jelly = |y| soft_cube(vector(-3.0, y, 0.0), 0.4, 3);
        let cloth = cloth(WRITTEN).tear_strain(0.02);
        let [top, end] = [4.0, 2.7].map(|y| vector(4.0, y, 0.0));
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
        let push = vector(0.1 * input, 0.0, 0.05);
        let jelly = &mut physics.soft_bodies[self.jelly];
        jelly.apply_impulse(push, true);
        if !WRITTEN && let Some(cluster) = jelly.cluster_mut(0) {
            let target = vector(-3.0, 1.0, 0.0) + ASIDE * wave(tick, 50);
            cluster.set_shape_matching_target(Some(Pose::from_translation(target)));
        }
        let rope = &mut physics.soft_bodies[self.rope];
        let end = vector(4.0, 4.0, 0.0) + ASIDE * 0.5 * wave(tick, 60);
        rope.set_particle_kinematic_target(0, end);
        if tick == 110 {
            rope.detach_particle(7);
        }
        if tick == 90 {
            let cut = physics.cut_soft_body(self.cloth, &blade());
            assert!(cut.is_some(), "the blade cut nothing");
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
