//! A box that jumps and turns, in Bevy. The space bar also makes it jump.

mod plugin;
#[cfg(test)]
mod tests;

use bevy::prelude::*;
use bevy::render::view::Tonemapping;
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};
use plugin::{BeforeStep, Body, PhysicsPlugin, Simulation};

#[derive(Component)]
struct Player;

/// Presses of the space bar. A frame may have no step or several, so the queue gives each press to exactly one step.
#[derive(Resource)]
struct Presses(InputQueue<()>);

fn main() {
    App::new()
        .add_plugins((DefaultPlugins, PhysicsPlugin))
        .insert_resource(Presses(InputQueue::new(Delivery::NextStep)))
        .add_systems(Startup, start)
        .add_systems(PreUpdate, read_keys.after(bevy::input::InputSystems))
        .add_systems(BeforeStep, jump)
        .run();
}

fn start(
    mut commands: Commands,
    mut simulation: ResMut<Simulation>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let floor = simulation.physics.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::cuboid(4.0, 0.5, 4.0),
    );
    commands.spawn((
        Body(floor),
        Mesh3d(meshes.add(Cuboid::new(8.0, 1.0, 8.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.0, 0.4, 0.2))),
    ));
    // The box moves only up and down, so it stays in the picture.
    let body = simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vec3::Y * 2.0)
            .enabled_translations(false, true, false),
        ColliderBuilder::cuboid(0.5, 0.5, 0.5),
    );
    commands.spawn((
        Player,
        Body(body),
        Mesh3d(meshes.add(Cuboid::new(1.0, 1.0, 1.0))),
        MeshMaterial3d(materials.add(Color::srgb(1.0, 0.6, 0.0))),
    ));
    commands.spawn((
        Camera3d::default(),
        Tonemapping::Linear, // the other kinds need further features of Bevy
        Transform::from_xyz(5.0, 6.0, 11.0).looking_at(Vec3::Y, Vec3::Y),
    ));
    commands.spawn((
        DirectionalLight::default(),
        Transform::from_xyz(1.0, 3.0, 2.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

fn read_keys(
    keys: Res<ButtonInput<KeyCode>>,
    simulation: Res<Simulation>,
    mut presses: ResMut<Presses>,
) {
    if keys.just_pressed(KeyCode::Space) {
        presses.0.push(simulation.clock().real_time(), ());
    }
}

fn jump(
    mut simulation: ResMut<Simulation>,
    mut presses: ResMut<Presses>,
    player: Single<&Body, With<Player>>,
) -> Result {
    let step = simulation.physics.current_step().unwrap();
    let is_pressed = presses.0.drain(step).count() > 0;
    if is_pressed || step.tick.is_multiple_of(90) {
        let physics = &mut simulation.physics;
        physics.apply_impulse(player.0, Vec3::Y * 6.0)?;
        physics.apply_torque_impulse(player.0, Vec3::ONE * 0.3)?;
    }
    Ok(())
}
