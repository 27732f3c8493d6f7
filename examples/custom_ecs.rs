//! An ECS of one's own, kept in step with the physics through the public API alone.
//!
//! `cargo run --example custom_ecs`

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::rapier3d::math::Pose;
use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};

/// The ECS: an entity is an index into columns of components.
#[derive(Default)]
struct Ecs {
    alive: Vec<bool>,
    names: Vec<String>,
    /// The body of an entity.
    bodies: Vec<Option<BodyKey>>,
    /// Where to draw it.
    poses: Vec<Pose>,
}

type Entity = usize;

impl Ecs {
    fn spawn(&mut self, name: String, body: BodyKey, pose: Pose) -> Entity {
        self.alive.push(true);
        self.names.push(name);
        self.bodies.push(Some(body));
        self.poses.push(pose);
        self.alive.len() - 1
    }

    fn despawn(&mut self, entity: Entity) -> Option<BodyKey> {
        self.alive[entity] = false;
        self.bodies[entity].take()
    }

    fn living(&self) -> impl Iterator<Item = Entity> {
        (0..self.alive.len()).filter(|entity| self.alive[*entity])
    }
}

/// What joins the two: which entity a body belongs to.
#[derive(Default)]
struct EntityOfBody(BTreeMap<BodyKey, Entity>);

impl EntityOfBody {
    /// Once a frame, after `advance`.
    fn sync(&mut self, ecs: &mut Ecs, simulation: &Simulation) {
        for key in simulation.removed() {
            if let Some(entity) = self.0.remove(key) {
                ecs.bodies[entity] = None;
            }
        }
        for (key, pose) in simulation.moved() {
            if let Some(entity) = self.0.get(key) {
                ecs.poses[*entity] = *pose;
            }
        }
    }
}

fn main() -> Result<(), evenstep::RateError> {
    let mut simulation = Simulation::new(Rate::hz(60)?);
    let mut ecs = Ecs::default();
    let mut entity_of = EntityOfBody::default();
    simulation.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::cuboid(20.0, 0.1, 20.0),
    );
    let mut newest = None;
    for frame in 0..600 {
        simulation.advance(Duration::from_secs(1) / 144, |simulation, step| {
            if !step.tick.is_multiple_of(60) {
                return;
            }
            // A crate a second, and in the hook, so at the same steps at every frame rate.
            let at = Pose::translation(0.0, 5.0, 0.0);
            let body = RigidBodyBuilder::dynamic().pose(at);
            let key = simulation.insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
            let entity = ecs.spawn(format!("crate {}", step.tick / 60), key, at);
            entity_of.0.insert(key, entity);
            // The one before it goes away.
            if let Some(key) = newest
                .replace(entity)
                .and_then(|before| ecs.despawn(before))
            {
                simulation.remove(key);
            }
        });
        entity_of.sync(&mut ecs, &simulation);
        if frame % 24 == 0 {
            for entity in ecs.living() {
                let height = ecs.poses[entity].translation.y;
                println!("frame {frame:3}: {} at {height:.3} m", ecs.names[entity]);
            }
        }
    }
    assert_eq!((ecs.living().count(), entity_of.0.len()), (1, 1));
    Ok(())
}
