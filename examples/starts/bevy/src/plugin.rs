//! evenstep in Bevy. Copy this file into your game, and add systems to [`BeforeStep`] and [`AfterStep`].
//!
//! - **Time.** The frame time is that of `Time<Real>`. Pause and speed are settings of the [`Simulation`].
//!   `Time<Virtual>` and `Time<Fixed>` do not affect it, and it does not affect them. In [`BeforeStep`],
//!   `physics.current_step()` has the tick and `dt`, while `Res<Time>` still has the time of the frame. In
//!   [`AfterStep`] it is `None`, because the step has run.
//! - **Poses.** Each frame writes the displayed pose of the bodies that moved into the `Transform`s of their entities.
//!   The pose is in world space, so these entities must not have a parent. The plugin does not change the scale.
//! - **Despawned entities.** The body of an entity that is despawned, or loses its [`Body`], is removed at once.
//! - **Removed bodies.** If a body is removed, its entity loses its [`Body`] at the end of the frame. The entity stays
//!   with its last pose, because a game may still need its other components. To despawn both, despawn the entity.

use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use evenstep::BodyKey;
use evenstep::rapier::math::Pose;

/// The systems in this schedule run before each step: input, forces, spawn and despawn.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct BeforeStep;

/// The systems in this schedule run after each step: reactions to `physics.events()`.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct AfterStep;

/// The simulation. For another rate than 60 Hz, or for another level, insert a new simulation and new [`EntityMap`].
#[derive(Resource, Default, Deref, DerefMut)]
pub struct Simulation(pub evenstep::Simulation);

/// The entities of the bodies. For events and ray casts, use `map.entity(key)`.
#[derive(Resource, Default, Deref, DerefMut)]
pub struct EntityMap(pub evenstep::ecs::EntityMap<Entity>);

/// The body of an entity. Spawn the entity with the key that `simulation.physics.insert` returns.
#[derive(Component)]
#[component(immutable)]
#[require(Transform)]
pub struct Body(pub BodyKey);

pub struct PhysicsPlugin;

impl Plugin for PhysicsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Simulation>()
            .init_resource::<EntityMap>()
            .init_schedule(BeforeStep)
            .init_schedule(AfterStep)
            .add_observer(link)
            .add_observer(unlink)
            // This is between `PreUpdate`, which reads the devices, and `Update`, which sees the new poses.
            .add_systems(
                RunFixedMainLoop,
                frame.in_set(RunFixedMainLoopSystems::FixedMainLoop),
            );
    }
}

fn frame(world: &mut World) -> Result {
    let frame_time = world.resource::<Time<Real>>().delta();
    world.resource_mut::<Simulation>().begin_frame(frame_time);
    while world.resource_mut::<Simulation>().next_step().is_some() {
        world.run_schedule(BeforeStep);
        if world.resource_mut::<Simulation>().run_step() {
            world.run_schedule(AfterStep);
        }
    }
    world.resource_mut::<Simulation>().end_frame();
    Ok(world.run_system_cached(sync)?)
}

/// Records the entity's body. An entity that is spawned after the frame's steps is also displayed in that frame.
fn link(
    at: On<Insert<Body>>,
    mut bodies: Query<(&Body, &mut Transform)>,
    simulation: Res<Simulation>,
    mut map: ResMut<EntityMap>,
) -> Result {
    let (body, mut transform) = bodies.get_mut(at.entity)?;
    map.insert(body.0, at.entity);
    if let Some(pose) = simulation.pose(body.0) {
        write(pose, &mut transform);
    }
    Ok(())
}

/// Removes the body of an entity that is despawned, or whose [`Body`] is removed or replaced.
fn unlink(
    at: On<Discard<Body>>,
    bodies: Query<&Body>,
    mut simulation: ResMut<Simulation>,
    mut map: ResMut<EntityMap>,
) -> Result {
    map.remove_body(&mut simulation.physics, bodies.get(at.entity)?.0, at.entity);
    Ok(())
}

fn sync(
    simulation: ResMut<Simulation>,
    mut map: ResMut<EntityMap>,
    mut transforms: Query<&mut Transform>,
    mut commands: Commands,
) {
    for entity in map.take_removed(&simulation.0) {
        commands.entity(entity).remove::<Body>();
    }
    for (entity, pose) in map.moved(&simulation.0) {
        if let Ok(mut transform) = transforms.get_mut(entity) {
            write(pose, &mut transform);
        }
    }
}

/// Writes the displayed pose. With evenstep2d, write `pose.translation.extend(transform.translation.z)` and
/// `Quat::from_rotation_z(pose.rotation.angle())`.
fn write(pose: Pose, transform: &mut Transform) {
    transform.translation = pose.translation;
    transform.rotation = pose.rotation;
}
