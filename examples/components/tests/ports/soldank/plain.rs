//! On plain Rapier.

use super::{Describes, Game, OffGround, Parent, Transform, Wish, map};
use even2d::hecs::{Entity, Without, World};
use even2d::rapier::prelude::*;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut world, mut layer) = (World::new(), Layer::new());
    let mut game = Game::new(&mut world);
    for time in frames {
        layer.accumulated += snapped(time.as_secs_f32());
        while layer.accumulated >= STEP {
            layer.accumulated -= STEP;
            game.rules(&mut world, STEP);
            layer.insert_missing(&mut world);
            layer.write(&mut world);
            layer
                .rapier
                .step_with_events(&Filter(&world), &layer.collector);
            layer.read(&mut world);
        }
    }
    game.end(&world)
}

const STEP: f32 = 1.0 / 60.0;

/// Rounds the frame time to a multiple of a step if it is close to one. The tolerance was meant to be in ticks.
fn snapped(time: f32) -> f32 {
    let multiples = [1.0, 2.0, 3.0, 4.0].map(|n| n * STEP);
    let near = multiples.into_iter().find(|it| (it - time).abs() < 0.02);
    near.unwrap_or(time)
}

struct Handle(RigidBodyHandle);

/// The colliders of the map that the entity touches.
#[derive(Default)]
struct Contacts(Vec<ColliderHandle>);

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
    rapier: PhysicsWorld,
    map: Vec<ColliderHandle>,
    accumulated: f32,
    collector: ChannelEventCollector,
    collisions: Receiver<CollisionEvent>,
}

impl Layer {
    fn new() -> Self {
        let mut rapier = PhysicsWorld::default();
        let triangles = map()
            .into_iter()
            .map(|[a, b, c]| ColliderBuilder::triangle(a, b, c));
        let map = triangles
            .map(|it| rapier.insert_collider(it, None))
            .collect();
        let (sender, collisions) = channel();
        let collector = ChannelEventCollector::new(sender, channel().0, channel().0);
        Self {
            rapier,
            map,
            accumulated: 0.0,
            collector,
            collisions,
        }
    }

    fn insert_missing(&mut self, world: &mut World) {
        let missing = world.query_mut::<Without<(Entity, &Describes), &Handle>>();
        let missing = missing
            .into_iter()
            .map(|(entity, it)| (entity, it.0.clone(), it.1.clone()));
        for (entity, body, collider) in missing.collect::<Vec<_>>() {
            let collider = collider.user_data(u128::from(entity.to_bits().get()));
            let (body, _) = self.rapier.insert(body, collider);
            world
                .insert(entity, (Handle(body), Contacts::default()))
                .unwrap();
        }
    }

    fn write(&mut self, world: &mut World) {
        for (handle, wish) in world.query_mut::<(&Handle, &Wish)>() {
            let body = &mut self.rapier.bodies[handle.0];
            let y = wish.1.unwrap_or(body.linvel().y);
            body.set_linvel(Vector::new(wish.0, y), true);
        }
    }

    fn read(&self, world: &mut World) {
        for (handle, transform) in world.query_mut::<(&Handle, &mut Transform)>() {
            transform.0 = *self.rapier.bodies[handle.0].position();
        }
        while let Ok(event) = self.collisions.try_recv() {
            let pair = [event.collider1(), event.collider2()];
            for [own, other] in [pair, [pair[1], pair[0]]] {
                let own = self.rapier.colliders.get(own).and_then(entity_of);
                let contacts = own.and_then(|it| world.query_one_mut::<&mut Contacts>(it).ok());
                match contacts {
                    Some(_) if !self.map.contains(&other) => (),
                    Some(contacts) if event.started() => contacts.0.push(other),
                    Some(contacts) => contacts.0.retain(|it| *it != other),
                    None => (),
                }
            }
        }
        for (contacts, off) in world.query_mut::<(&Contacts, &mut OffGround)>() {
            off.0 = if contacts.0.is_empty() {
                off.0 + STEP
            } else {
                0.0
            };
        }
    }
}
