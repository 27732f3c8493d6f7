//! A box on a lift, written with evenstep's plugin for Bevy. It is the port of `game_in_bevy_rapier.rs`.

#[path = "../../../examples/starts/bevy/src/plugin.rs"]
mod plugin;

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};
use plugin::{BeforeStep, Body, PhysicsPlugin, Simulation};

#[derive(Component)]
struct Lift;

#[derive(Component)]
struct Player;

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

fn height(time: f32) -> f32 {
    1.0 - time.cos()
}

/// Runs frames at 144 Hz. Returns how far the centres of the box and of the lift are apart in each, as displayed.
fn run_frames(app: &mut App, count: u32) -> Vec<f32> {
    let mut lift = app
        .world_mut()
        .query_filtered::<&GlobalTransform, With<Lift>>();
    let mut player = app
        .world_mut()
        .query_filtered::<&GlobalTransform, With<Player>>();
    let distances = (0..count).map(|_| {
        app.update();
        let lift = lift.single(app.world()).expect("there is one lift");
        let player = player.single(app.world()).expect("there is one player");
        player.translation().y - lift.translation().y
    });
    distances.collect()
}

#[test]
fn the_box_rides_evenly_and_jumps() {
    let mut app = App::new();
    let frame_time = Duration::from_secs(1) / 144;
    app.add_plugins((MinimalPlugins, TransformPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(frame_time))
        .init_resource::<ButtonInput<KeyCode>>();
    add_game(&mut app);
    app.finish();
    app.cleanup();
    run_frames(&mut app, 30);
    let ride = run_frames(&mut app, 300);
    let (least, most) = bounds(&ride);
    assert!(least > 0.69 && most < 0.71, "{least} to {most} m");
    assert!(most - least < 1e-4, "{least} to {most} m");

    let keys = |app: &mut App, act: fn(&mut ButtonInput<KeyCode>)| {
        act(&mut app.world_mut().resource_mut::<ButtonInput<KeyCode>>());
    };
    keys(&mut app, |keys| keys.press(KeyCode::Space));
    run_frames(&mut app, 1);
    keys(&mut app, |keys| keys.clear());
    let (_, most) = bounds(&run_frames(&mut app, 200));
    assert!(most > 1.5, "{most} m");
}

fn bounds(values: &[f32]) -> (f32, f32) {
    let least = values.iter().copied().fold(f32::MAX, f32::min);
    (least, values.iter().copied().fold(f32::MIN, f32::max))
}
