//! A box on a lift, written with evenstep's plugin for Bevy. It is the port of `game_in_bevy_rapier.rs`.

#[path = "../../../examples/starts/bevy/src/plugin.rs"]
mod plugin;

mod lift;

use bevy::prelude::*;
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};
use lift::{Lift, Player, height, play};
use plugin::{BeforeStep, Body, PhysicsPlugin, Simulation};

/// Presses of the space bar that no step has read yet.
#[derive(Resource)]
struct Presses(InputQueue<()>);

fn add_game(app: &mut App) {
    app.add_plugins(PhysicsPlugin)
        .insert_resource(Presses(InputQueue::new(Delivery::NextStep)))
        .add_systems(Startup, start)
        .add_systems(PreUpdate, read_keys)
        .add_systems(BeforeStep, (carry, jump).chain());
}

fn start(mut commands: Commands, mut simulation: ResMut<Simulation>) {
    let lift = simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        ColliderBuilder::cuboid(2.0, 0.2, 2.0),
    );
    commands.spawn((Lift, Body(lift)));
    let player = simulation.physics.insert(
        RigidBodyBuilder::dynamic().translation(Vec3::Y * 0.7),
        ColliderBuilder::cuboid(0.5, 0.5, 0.5),
    );
    commands.spawn((Player, Body(player)));
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

fn carry(mut simulation: ResMut<Simulation>, lift: Single<&Body, With<Lift>>) {
    let step = simulation.physics.current_step().unwrap();
    let lift = simulation.physics.body_mut(lift.0).unwrap();
    let next = Vec3::Y * height(step.end_time.as_secs_f32());
    lift.set_next_kinematic_translation(next);
}

fn jump(
    mut simulation: ResMut<Simulation>,
    mut presses: ResMut<Presses>,
    player: Single<&Body, With<Player>>,
) -> Result {
    let step = simulation.physics.current_step().unwrap();
    if presses.0.drain(step).count() > 0 {
        simulation.physics.apply_impulse(player.0, Vec3::Y * 6.0)?;
    }
    Ok(())
}

#[test]
fn the_box_rides_evenly_and_jumps() {
    let (least, most) = play(add_game);
    assert!(least > 0.69 && most < 0.71, "{least} to {most} m");
    assert!(most - least < 1e-4, "{least} to {most} m");
}
