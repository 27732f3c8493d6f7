//! A box on a lift, written with `bevy_rapier`, for the book's chapter on moving from it. `game_in_evenstep.rs` is its port.

mod lift;

use bevy::prelude::*;
use bevy_rapier::prelude::*;
use lift::{Lift, Player, height, play};

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

#[test]
fn the_box_sways_on_the_lift_and_jumps() {
    let (least, most) = play(add_game);
    assert!(least > 0.68 && most < 0.72, "{least} to {most} m");
    assert!((most - least - 0.017).abs() < 5e-4, "{least} to {most} m");
}
