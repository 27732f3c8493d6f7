//! On evenstep.

use super::{Describes, Game, OffGround, Parent, Transform, Wish, map};
use even2d::ecs::hecs::{Body, Entities};
use even2d::hecs::{Entity, World};
use even2d::rapier::prelude::*;
use even2d::{BodyKey, Simulation, Step};
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut world, mut layer) = (World::new(), Layer::new());
    let mut game = Game::new(&mut world);
    for time in frames {
        layer.simulation.begin_frame(*time);
        while let Some(step) = layer.simulation.next_step() {
            game.rules(&mut world, step.dt);
            layer.insert_missing(&mut world);
            layer.write(&mut world);
            layer.simulation.run_step_with(&Filter(&world));
            layer.read(&mut world, step);
        }
        layer.simulation.end_frame();
        layer.entities.sync(&mut world, &mut layer.simulation);
    }
    game.end(&world)
}

/// A bullet does not touch who fired it.
struct Filter<'a>(&'a World);

impl PhysicsHooks for Filter<'_> {
    fn filter_contact_pair(&self, context: &PairFilterContext) -> Option<SolverFlags> {
        let pair =
            [context.collider1, context.collider2].map(|it| entity_of(&context.colliders[it]));
        let parents = pair.map(|it| self.0.get::<&Parent>(it?).ok().map(|parent| parent.0));
        let is_own = parents
            .iter()
            .flatten()
            .any(|parent| pair.contains(&Some(*parent)));
        (!is_own).then_some(SolverFlags::COMPUTE_RIGID_IMPULSES)
    }
}

fn entity_of(collider: &Collider) -> Option<Entity> {
    Entity::from_bits(collider.user_data as u64)
}

struct Layer {
    simulation: Simulation,
    entities: Entities,
    /// One fixed body, with a collider for each triangle.
    map: BodyKey,
}

impl Layer {
    fn new() -> Self {
        let mut simulation = Simulation::default();
        let body = simulation.physics.insert_body(RigidBodyBuilder::fixed());
        for [a, b, c] in map() {
            let triangle = ColliderBuilder::triangle(a, b, c);
            simulation.physics.insert_collider(body, triangle).unwrap();
        }
        Self {
            simulation,
            entities: Entities::default(),
            map: body,
        }
    }

    fn insert_missing(&mut self, world: &mut World) {
        let describe = |entity: Entity, it: &Describes| {
            let collider = it.1.clone().user_data(u128::from(entity.to_bits().get()));
            Some((entity, it.0.clone(), vec![collider]))
        };
        let physics = &mut self.simulation.physics;
        self.entities
            .insert_missing::<&Describes, _>(world, physics, describe);
    }

    fn write(&mut self, world: &mut World) {
        for (body, wish) in world.query_mut::<(&Body, &Wish)>() {
            let body = self.simulation.physics.body_mut(body.key()).unwrap();
            let y = wish.1.unwrap_or(body.linvel().y);
            body.set_linvel(Vector::new(wish.0, y), true);
        }
    }

    fn read(&self, world: &mut World, step: Step) {
        let physics = &self.simulation.physics;
        for (body, transform) in world.query_mut::<(&Body, &mut Transform)>() {
            transform.0 = *physics.body(body.key()).unwrap().position();
        }
        for (body, off) in world.query_mut::<(&Body, &mut OffGround)>() {
            let mut touches = physics.touching(body.key()).into_iter();
            let is_on_ground = touches.any(|touch| touch.body == Some(self.map));
            off.0 = if is_on_ground { 0.0 } else { off.0 + step.dt };
        }
    }
}
