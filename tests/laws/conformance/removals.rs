//! Removals in hooks, and changes by Rapier's own hooks.

use std::sync::Arc;

use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use super::dim::DEPTH;
use super::game::{Filters, Scene};
use super::parts::{at, floor, heap};
use super::world::{Events, World};
use scenes::testing::{ball_joint, cuboid, on_ground, spaced, vector};

/// Tiles, joints and touching bodies are removed. Contacts are disabled and changed.
#[derive(Clone, Serialize, Deserialize)]
pub struct Removals {
    tiles: Vec<RigidBodyHandle>,
    chain: Vec<ImpulseJointHandle>,
    arm: Vec<MultibodyJointHandle>,
}

// The user data of colliders. A belt carries the bodies on it, a plate can be crossed upwards, and members of a team do
// not collide with each other.
const BELT: u128 = 1;
const PLATE: u128 = 2;
const TEAM: u128 = 3;

struct Contacts;

impl PhysicsHooks for Contacts {
    fn filter_contact_pair(&self, pair: &PairFilterContext) -> Option<SolverFlags> {
        let [one, other] = [pair.collider1, pair.collider2].map(|it| pair.colliders[it].user_data);
        ((one, other) != (TEAM, TEAM)).then(SolverFlags::default)
    }

    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let pair = [context.collider1, context.collider2];
        let [one, other] = pair.map(|it| context.colliders[it].user_data);
        let sign = [-1.0, 1.0][usize::from(one == BELT || one == PLATE)];
        if one == PLATE || other == PLATE {
            context.update_as_oneway_platform(Vector::Y * sign, 0.3);
        } else if let Some(manifold) = context.rigid_mut() {
            for contact in manifold.solver_contacts.iter_mut() {
                contact.tangent_velocity = Vector::X * 2.0 * sign;
            }
        }
    }
}

impl Scene for Removals {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let aside = spaced(0.0, 0.0, 6.0);
        for (user_data, y) in [(BELT, 0.2), (PLATE, 1.7)] {
            let slab = cuboid(3.0, 0.05, 3.0).user_data(user_data);
            let slab = slab.active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS);
            let place = RigidBodyBuilder::fixed().translation(aside + Vector::Y * y);
            world.insert(place, slab);
        }
        let tiles = (0..12).map(|i| {
            let [x, z] = on_ground(i, 4);
            let tile = cuboid(0.5, 0.1, 0.5);
            world.insert(at(RigidBodyType::Fixed, x, 1.0, z), tile)
        });
        let tiles = tiles.collect();
        let mut fallers = heap(world, vector(0.0, 2.0, 0.5), 4, 16);
        fallers.extend(heap(world, aside + vector(-2.0, 0.8, -1.0), 4, 8));
        let physics = world.all();
        for (number, handle) in fallers.iter().enumerate() {
            let body = &mut physics.bodies[*handle];
            body.set_linvel(Vector::Y * if number < 16 { 0.0 } else { 5.0 }, true);
            let collider = &mut physics.colliders[body.colliders()[0]];
            collider.user_data = if number % 3 == 0 { TEAM } else { 0 };
            collider.set_active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
            collider.set_active_events(ActiveEvents::all());
        }
        let joint = ball_joint(Vector::X * 0.9, Vector::ZERO);
        let chain = fallers[..4].windows(2);
        let chain = chain.map(|ends| physics.insert_impulse_joint(ends[0], ends[1], joint));
        let chain = chain.collect();
        let arm = fallers[8..12].windows(2);
        let arm = arm.filter_map(|ends| physics.insert_multibody_joint(ends[0], ends[1], joint));
        let arm = arm.collect();
        Self { tiles, chain, arm }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        world.except_bodies().gravity[DEPTH] = input;
        if tick % 12 == 5
            && let Some(tile) = self.tiles.pop()
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
    }

    fn after_step(&mut self, world: &mut dyn World, events: &Events) {
        let hit = events.touches.iter().filter(|(_, started, _)| *started);
        let pressed = events.forces.iter().filter(|(_, force)| force.y > 20.0);
        let mut pairs = hit.map(|touch| touch.0).chain(pressed.map(|press| press.0));
        let Some([_, collider]) = pairs.next() else {
            return;
        };
        let physics = world.physics();
        let Some(body) = physics.colliders[collider].parent() else {
            return;
        };
        match collider.into_raw_parts().0 % 4 {
            0 if physics.bodies[body].is_dynamic() => world.remove(body),
            1 => drop(world.all().remove_collider(collider)),
            _ => world.body(body).set_linvel(Vector::Y * 3.0, true),
        }
    }

    fn filters() -> Filters {
        Arc::new(Contacts)
    }

    fn check(&self, physics: &PhysicsWorld) {
        assert!(self.tiles.is_empty() && self.chain.is_empty() && self.arm.is_empty());
        let (bodies, colliders) = (physics.bodies.len(), physics.colliders.len());
        assert!(bodies < 24 && colliders < bodies, "{bodies}, {colliders}");
    }
}
