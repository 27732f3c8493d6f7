//! The test of both games: a box rides on a lift at 144 fps, and jumps when the space bar is pressed.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

#[derive(Component)]
pub struct Lift;

#[derive(Component)]
pub struct Player;

pub fn height(time: f32) -> f32 {
    1.0 - libm::cosf(time)
}

/// Plays a game. Returns the least and the largest distance between the centres of box and lift in the ride.
///
/// # Panics
/// If the box does not jump.
pub fn play(add_game: fn(&mut App)) -> (f32, f32) {
    let mut app = App::new();
    let frame_time = Duration::from_secs(1) / 144;
    app.add_plugins((MinimalPlugins, TransformPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(frame_time))
        .init_resource::<ButtonInput<KeyCode>>();
    add_game(&mut app);
    app.finish();
    app.cleanup();
    run_frames(&mut app, 30);
    let ride = bounds(&run_frames(&mut app, 300));

    let keys = |app: &mut App, act: fn(&mut ButtonInput<KeyCode>)| {
        act(&mut app.world_mut().resource_mut::<ButtonInput<KeyCode>>());
    };
    keys(&mut app, |keys| keys.press(KeyCode::Space));
    run_frames(&mut app, 1);
    keys(&mut app, |keys| keys.clear());
    let (_, most) = bounds(&run_frames(&mut app, 200));
    assert!(most > 1.5, "{most} m");
    ride
}

/// Runs frames. Returns how far the centres of the box and of the lift are apart in each, as displayed.
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

fn bounds(values: &[f32]) -> (f32, f32) {
    let least = values.iter().copied().fold(f32::MAX, f32::min);
    (least, values.iter().copied().fold(f32::MIN, f32::max))
}
