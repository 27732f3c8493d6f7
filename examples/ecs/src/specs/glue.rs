//! evenstep in specs. The simulation is a resource, and a flagged storage reports deletions.

use std::time::Duration;

use ::specs::prelude::*;
use evenstep::{BodyKey, Simulation, ecs::EntityMap, rapier::math::Pose};

/// The simulation and its map of entities, which are always replaced together.
#[derive(Default)]
pub struct Scene {
    pub simulation: Simulation,
    pub map: EntityMap<Entity>,
}

pub struct Body(pub BodyKey);

impl Component for Body {
    type Storage = FlaggedStorage<Self, VecStorage<Self>>;
}

/// The displayed pose, written at the end of each frame.
pub struct RenderPose(pub Pose);

impl Component for RenderPose {
    type Storage = VecStorage<Self>;
}

struct Changes(ReaderId<ComponentEvent>);

pub fn install(world: &mut World) {
    world.setup::<(WriteStorage<Body>, WriteStorage<RenderPose>)>();
    let changes = world.write_storage::<Body>().register_reader();
    world.insert(Changes(changes));
}

pub fn frame(world: &mut World, time: Duration, [before, after]: [&mut Dispatcher; 2]) {
    simulation(world).begin_frame(time);
    while let Some(step) = simulation(world).next_step() {
        world.insert(step);
        before.dispatch(world);
        release(world);
        if simulation(world).run_step() {
            after.dispatch(world);
            release(world);
        }
    }
    simulation(world).end_frame();
    sync(world);
}

fn simulation(world: &mut World) -> &mut Simulation {
    &mut world.get_mut::<Scene>().unwrap().simulation
}

/// Runs in each step, so that bodies of deleted entities are removed at the same tick at every frame rate. An event
/// holds only the index of an entity, which another entity may have by now.
fn release(world: &mut World) {
    world.maintain();
    let bodies = world.read_storage::<Body>();
    let mut changes = bodies.channel().read(&mut world.fetch_mut::<Changes>().0);
    if changes.any(|change| matches!(change, ComponentEvent::Removed(_))) {
        let Scene { simulation, map } = &mut *world.fetch_mut();
        let body_of = |entity| Some(bodies.get(entity)?.0);
        map.retain(&mut simulation.physics, body_of);
    }
}

fn sync(world: &World) {
    let Scene { simulation, map } = &mut *world.fetch_mut();
    let mut poses = world.write_storage::<RenderPose>();
    for entity in map.take_removed(simulation) {
        world.write_storage::<Body>().remove(entity);
        poses.remove(entity);
    }
    for (entity, pose) in map.moved(simulation) {
        // This fails for an entity that is already dead, which needs no pose.
        let _ = poses.insert(entity, RenderPose(pose));
    }
}
