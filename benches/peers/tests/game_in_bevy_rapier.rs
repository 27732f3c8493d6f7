//! A box on a lift, written with `bevy_rapier`, for the book's chapter on moving from it. `game_in_evenstep.rs` is its port.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier::prelude::*;

#[derive(Component)]
struct Lift;

#[derive(Component)]
struct Player;

fn add_game(app: &mut App) {
    app.insert_resource(TimestepMode::Interpolated {
        dt: 1.0 / 60.0,
        time_scale: 1.0,
        substeps: 1,
    })
    .add_plugins(RapierPhysicsPlugin::<NoUserData>::default())
    .add_systems(Startup, start)
    .add_systems(Update, (carry, jump));
}

fn start(mut commands: Commands) {
    commands.spawn((
        Lift,
        RigidBody::KinematicPositionBased,
        Collider::cuboid(2.0, 0.2, 2.0),
        Transform::default(),
    ));
    commands.spawn((
        Player,
        RigidBody::Dynamic,
        Collider::cuboid(0.5, 0.5, 0.5),
        Transform::from_xyz(0.0, 0.7, 0.0),
        ExternalImpulse::default(),
        TransformInterpolation::default(),
    ));
}

fn carry(time: Res<Time>, mut lift: Single<&mut Transform, With<Lift>>) {
    lift.translation.y = height(time.elapsed_secs());
}

fn jump(keys: Res<ButtonInput<KeyCode>>, mut player: Single<&mut ExternalImpulse>) {
    if keys.just_pressed(KeyCode::Space) {
        player.impulse = Vec3::Y * 6.0;
    }
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
fn the_box_sways_on_the_lift_and_jumps() {
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
    assert!(least > 0.68 && most < 0.72, "{least} to {most} m");
    assert!((most - least - 0.017).abs() < 5e-4, "{least} to {most} m");

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
