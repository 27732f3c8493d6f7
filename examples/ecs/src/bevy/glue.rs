//! evenstep in bevy_ecs. The simulation is in a resource, and an observer detects despawns.

use std::time::Duration;

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use evenstep::rapier::math::Pose;
use evenstep::{BodyKey, Simulation, Step, ecs::EntityMap};

/// The simulation and its map of entities, which are always replaced together. Only a type of your crate can be a
/// resource.
#[derive(Resource, Default)]
pub struct Scene {
    pub simulation: Simulation,
    pub map: EntityMap<Entity>,
}

#[derive(Resource)]
pub struct CurrentStep(pub Step);

#[derive(Component)]
#[component(immutable)]
pub struct Body(pub BodyKey);

/// The displayed pose, written at the end of each frame.
#[derive(Component)]
pub struct RenderPose(pub Pose);

/// The game's systems before and after each step.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Systems {
    BeforeStep,
    AfterStep,
}

pub fn install(world: &mut World) {
    world.add_observer(link);
    world.add_observer(unlink);
}

pub fn frame(world: &mut World, time: Duration) {
    world.resource_mut::<Scene>().simulation.begin_frame(time);
    while let Some(step) = world.resource_mut::<Scene>().simulation.next_step() {
        world.insert_resource(CurrentStep(step));
        world.run_schedule(Systems::BeforeStep);
        if world.resource_mut::<Scene>().simulation.run_step() {
            world.run_schedule(Systems::AfterStep);
        }
    }
    world.resource_mut::<Scene>().simulation.end_frame();
    world.run_system_cached(sync).expect("`sync` is a system");
}

fn link(at: On<Insert<Body>>, bodies: Query<&Body>, mut scene: ResMut<Scene>) -> Result {
    scene.map.insert(bodies.get(at.entity)?.0, at.entity);
    Ok(())
}

/// Runs on a despawn, and when the component is removed or replaced.
fn unlink(at: On<Discard<Body>>, bodies: Query<&Body>, mut scene: ResMut<Scene>) -> Result {
    let Scene { simulation, map } = &mut *scene;
    map.remove_body(&mut simulation.physics, bodies.get(at.entity)?.0, at.entity);
    Ok(())
}

fn sync(mut scene: ResMut<Scene>, mut poses: Query<&mut RenderPose>, mut commands: Commands) {
    let Scene { simulation, map } = &mut *scene;
    for entity in map.take_removed(simulation) {
        commands.entity(entity).remove::<(Body, RenderPose)>();
    }
    for (entity, pose) in map.moved(simulation) {
        if let Ok(mut render_pose) = poses.get_mut(entity) {
            render_pose.0 = pose;
        }
    }
}
