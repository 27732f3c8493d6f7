//! evenstep in shipyard. The simulation is in a unique storage, and deletions are tracked.

use std::time::Duration;

use ::shipyard::all_storages::AllStorages;
use ::shipyard::{Component, EntityId, Get, Remove, Unique, UniqueViewMut, ViewMut, World};
use evenstep::rapier::prelude::{Collider, Pose, RigidBody};
use evenstep::{BodyKey, Simulation, Step, ecs::EntityMap};

/// The simulation and its map of entities, which are always replaced together.
#[derive(Unique, Default)]
pub struct Scene {
    pub simulation: Simulation,
    pub map: EntityMap<EntityId>,
}

#[derive(Unique)]
pub struct CurrentStep(pub Step);

#[derive(Component)]
#[track(Deletion)]
pub struct Body(pub BodyKey);

/// The displayed pose, written at the end of each frame.
#[derive(Component)]
pub struct RenderPose(pub Pose);

/// The labels of your game's workloads before and after each step.
pub const BEFORE_STEP: &str = "before step";
pub const AFTER_STEP: &str = "after step";

type SceneMut<'a> = UniqueViewMut<'a, Scene>;

/// Spawns an entity with a body.
pub fn spawn(all: &mut AllStorages, body: RigidBody, collider: Collider) -> EntityId {
    let pose = *body.position();
    let key = all.run(|mut scene: SceneMut| scene.simulation.physics.insert(body, collider));
    let entity = all.add_entity((Body(key), RenderPose(pose)));
    all.run(|mut scene: SceneMut| scene.map.insert(key, entity));
    entity
}

pub fn frame(world: &World, time: Duration) {
    world.run(|mut scene: SceneMut| scene.simulation.begin_frame(time));
    while let Some(step) = world.run(|mut scene: SceneMut| scene.simulation.next_step()) {
        world.add_unique(CurrentStep(step));
        world.run_workload(BEFORE_STEP).expect("the workload runs");
        world.run(release);
        if world.run(|mut scene: SceneMut| scene.simulation.run_step()) {
            world.run_workload(AFTER_STEP).expect("the workload runs");
            world.run(release);
        }
    }
    world.run(|mut scene: SceneMut| scene.simulation.end_frame());
    world.run(sync);
}

/// Runs in each step, so that bodies of deleted entities are removed at the same tick at every frame rate.
fn release(mut scene: SceneMut, mut bodies: ViewMut<Body>) {
    let Scene { simulation, map } = &mut *scene;
    for (entity, body) in bodies.deleted() {
        map.remove_body(&mut simulation.physics, body.0, entity);
    }
    bodies.clear_all_deleted();
}

fn sync(mut scene: SceneMut, mut bodies: ViewMut<Body>, mut poses: ViewMut<RenderPose>) {
    let Scene { simulation, map } = &mut *scene;
    for entity in map.take_removed(simulation) {
        (&mut bodies, &mut poses).remove(entity);
    }
    for (entity, pose) in map.moved(simulation) {
        if let Ok(mut render_pose) = (&mut poses).get(entity) {
            render_pose.0 = pose;
        }
    }
}
