//! The game of `examples/starts/bevy`, written with `bevy_rapier`, for the book's chapter on moving from it.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier::prelude::*;

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
    .add_systems(Update, jump);
}

fn start(mut commands: Commands) {
    commands.spawn((RigidBody::Fixed, Collider::cuboid(4.0, 0.5, 4.0)));
    commands.spawn((
        Player,
        RigidBody::Dynamic,
        Transform::from_xyz(0.0, 2.0, 0.0),
        LockedAxes::TRANSLATION_LOCKED_X | LockedAxes::TRANSLATION_LOCKED_Z,
        Collider::cuboid(0.5, 0.5, 0.5),
        ExternalImpulse::default(),
        TransformInterpolation::default(),
    ));
}

fn jump(keys: Res<ButtonInput<KeyCode>>, mut player: Single<&mut ExternalImpulse, With<Player>>) {
    if keys.just_pressed(KeyCode::Space) {
        player.impulse = Vec3::Y * 6.0;
        player.torque_impulse = Vec3::ONE * 0.3;
    }
}

/// Runs frames at 144 Hz. Returns the greatest height at which the box is displayed.
fn run_frames(app: &mut App, count: u32) -> f32 {
    let mut player = app
        .world_mut()
        .query_filtered::<&GlobalTransform, With<Player>>();
    let heights = (0..count).map(|_| {
        app.update();
        let player = player.single(app.world()).expect("there is one player");
        player.translation().y
    });
    heights.fold(f32::MIN, f32::max)
}

#[test]
fn the_box_jumps_once() {
    let mut app = App::new();
    let frame_time = Duration::from_secs(1) / 144;
    app.add_plugins((MinimalPlugins, TransformPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(frame_time))
        .init_resource::<ButtonInput<KeyCode>>();
    add_game(&mut app);
    app.finish();
    app.cleanup();
    run_frames(&mut app, 200);
    let rest = run_frames(&mut app, 1);
    assert!((rest - 1.0).abs() < 0.01, "{rest}");

    let keys = |app: &mut App, act: fn(&mut ButtonInput<KeyCode>)| {
        act(&mut app.world_mut().resource_mut::<ButtonInput<KeyCode>>());
    };
    keys(&mut app, |keys| keys.press(KeyCode::Space));
    run_frames(&mut app, 1);
    keys(&mut app, |keys| keys.clear());
    // A jump at 6 m/s rises 1.8 m, and is back on the floor after 1.2 s.
    let height = run_frames(&mut app, 200) - rest;
    assert!((1.6..2.0).contains(&height), "{height}");
    let height = run_frames(&mut app, 200) - rest;
    assert!(height < 0.5, "{height}");
}
