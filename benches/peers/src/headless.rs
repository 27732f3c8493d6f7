//! Bevy without a window, a renderer and a clock.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use evenstep::rapier::math::Pose;

use crate::dim;
use crate::peer::STEPS_PER_SECOND;

/// Time, schedules and the propagation of transforms: what every game with Bevy has.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin))
        .insert_resource(Time::<Fixed>::from_hz(f64::from(STEPS_PER_SECOND)));
    app
}

/// Does what a runner does before the first frame, and runs a frame of no time, in which plugins take the bodies over.
pub fn start(app: &mut App) {
    app.finish();
    app.cleanup();
    frame(app, Duration::ZERO);
}

/// A frame of a given time.
pub fn frame(app: &mut App, time: Duration) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(time));
    app.update();
}

/// Where a renderer finds an entity.
pub fn shown(app: &App, entity: Entity) -> Pose {
    let transform = app.world().get::<GlobalTransform>(entity);
    dim::read(transform.expect("every body has a transform"))
}
