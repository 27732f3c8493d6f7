//! Bevy without a window, a renderer or a clock.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use evenstep::rapier::math::Pose;

use crate::dim;
use crate::peer::STEPS_PER_SECOND;

/// Creates an app with time, schedules and transform propagation, as in every Bevy game.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin))
        .insert_resource(Time::<Fixed>::from_hz(f64::from(STEPS_PER_SECOND)));
    app
}

/// Prepares the app as a runner does, then runs a frame of zero length in which the plugins create the bodies.
pub fn start(app: &mut App) {
    app.finish();
    app.cleanup();
    frame(app, Duration::ZERO);
}

/// Runs a frame of this length.
pub fn frame(app: &mut App, time: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
    app.update();
}

/// Returns the pose at which a renderer draws an entity.
pub fn shown(app: &App, entity: Entity) -> Pose {
    let transform = app.world().get::<GlobalTransform>(entity);
    dim::read(transform.expect("every body has a transform"))
}
