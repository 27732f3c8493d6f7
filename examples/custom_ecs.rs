//! A hand-written ECS that contains the simulation and stays in sync with it. This needs only the public API.
//!
//! Entities are keys into a generational arena from the crate `slotmap`.
//!
//! `cargo run --example custom_ecs`

// The folder `examples/ecs` of the repository has a whole game in five ECSs.

use std::time::Duration;

use evenstep::ecs::EntityMap;
use evenstep::rapier::math::Pose;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation, Step};
use slotmap::{SecondaryMap, SlotMap, new_key_type};

new_key_type! {
    /// An index and a generation, so the key of a despawned entity never refers to another one.
    struct Entity;
}

/// The ECS, with a column for each type of component.
#[derive(Default)]
struct Ecs {
    /// Every entity has a name.
    names: SlotMap<Entity, String>,
    /// The body of an entity.
    bodies: SecondaryMap<Entity, BodyKey>,
    /// The pose at which to draw an entity.
    poses: SecondaryMap<Entity, Pose>,
    /// The resources: the simulation and the map from bodies to entities.
    simulation: Simulation,
    map: EntityMap<Entity>,
}

impl Ecs {
    fn spawn(&mut self, name: String, body: RigidBodyBuilder, collider: ColliderBuilder) -> Entity {
        let entity = self.names.insert(name);
        self.poses.insert(entity, body.position);
        let key = self.simulation.physics.insert(body, collider);
        self.bodies.insert(entity, key);
        self.map.insert(key, entity);
        entity
    }

    fn despawn(&mut self, entity: Entity) {
        self.names.remove(entity);
        self.poses.remove(entity);
        if let Some(key) = self.bodies.remove(entity) {
            let physics = &mut self.simulation.physics;
            self.map.remove_body(physics, key, entity);
        }
    }

    fn frame(&mut self, time: Duration) {
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            drop_crates(self, step);
            self.simulation.run_step();
        }
        self.simulation.end_frame();
        self.sync();
    }

    /// Runs once per frame, after the frame has ended.
    fn sync(&mut self) {
        for entity in self.map.take_removed(&self.simulation) {
            self.bodies.remove(entity);
        }
        for (entity, pose) in self.map.moved(&self.simulation) {
            self.poses.insert(entity, pose);
        }
    }
}

/// A system that drops a crate every second and despawns the previous one. It counts steps, so the frame rate does not
/// matter.
fn drop_crates(ecs: &mut Ecs, step: Step) {
    if !step.tick.is_multiple_of(60) {
        return;
    }
    let before: Vec<Entity> = ecs.names.keys().collect();
    ecs.spawn(
        format!("crate {}", step.tick / 60),
        RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0),
        ColliderBuilder::cuboid(0.5, 0.5, 0.5),
    );
    for entity in before {
        ecs.despawn(entity);
    }
}

fn main() {
    let mut ecs = Ecs {
        simulation: Simulation::new(Rate::hz(60)),
        ..Ecs::default()
    };
    // The floor has no entity, because nothing is drawn for it.
    ecs.simulation.physics.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::cuboid(20.0, 0.1, 20.0),
    );
    for frame in 0..600 {
        ecs.frame(Duration::from_secs(1) / 144);
        if frame % 24 == 0 {
            for (entity, name) in &ecs.names {
                let height = ecs.poses[entity].translation.y;
                println!("frame {frame:3}: {name} at {height:.3} m");
            }
        }
    }
    let entity = ecs.names.keys().next().unwrap();
    let key = ecs.bodies[entity];
    assert_eq!(ecs.names.len(), 1);
    assert_eq!(Some(ecs.poses[entity]), ecs.simulation.pose(key));
}
