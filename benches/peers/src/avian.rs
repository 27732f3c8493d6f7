//! avian, with its interpolation of all bodies.

use std::time::{Duration, Instant};

use avian::prelude::{
    AngularVelocity, Gravity, LinearVelocity, PhysicsInterpolationPlugin, PhysicsPlugins,
    PhysicsSystems, Position, RigidBody, Rotation, Sleeping, SleepingDisabled,
};
use bevy::prelude::*;
use evenstep::rapier::math::Pose;

use crate::peer::Peer;
use crate::scene::{Body, Scene};
use crate::{dim, headless};

/// The number of avian's steps, and the duration of the last one.
#[derive(Resource)]
struct StepTimer {
    steps: u64,
    start: Instant,
    last: Duration,
}

fn before_step(mut timer: ResMut<StepTimer>) {
    timer.start = Instant::now();
}

fn after_step(mut timer: ResMut<StepTimer>) {
    timer.last = timer.start.elapsed();
    timer.steps += 1;
}

struct Avian {
    app: App,
    of_body: Vec<Entity>,
    /// The number of steps before the last frame.
    steps_before: u64,
}

pub fn build(scene: Scene) -> Box<dyn Peer> {
    let mut app = app();
    let bodies = scene.bodies();
    let of_body = bodies.map(|body| spawn(app.world_mut(), &body)).collect();
    headless::start(&mut app);
    Box::new(Avian {
        app,
        of_body,
        steps_before: 0,
    })
}

fn app() -> App {
    let mut app = headless::app();
    app.add_plugins(PhysicsPlugins::default().set(PhysicsInterpolationPlugin::interpolate_all()))
        .insert_resource(Gravity::ZERO)
        .insert_resource(StepTimer {
            steps: 0,
            start: Instant::now(),
            last: Duration::ZERO,
        })
        .add_systems(
            FixedPostUpdate,
            (
                before_step
                    .after(PhysicsSystems::Prepare)
                    .before(PhysicsSystems::StepSimulation),
                after_step
                    .after(PhysicsSystems::StepSimulation)
                    .before(PhysicsSystems::Writeback),
            ),
        );
    app
}

fn spawn(world: &mut World, body: &Body) -> Entity {
    let mut entity = world.spawn((
        RigidBody::Dynamic,
        dim::avian_collider(),
        dim::placed(body.at),
        LinearVelocity(body.linvel),
        AngularVelocity(body.angvel),
    ));
    if body.moves {
        entity.insert(SleepingDisabled);
    }
    entity.id()
}

impl Avian {
    fn timer(&self) -> &StepTimer {
        self.app.world().resource()
    }

    fn component<C: Component>(&self, body: usize) -> Option<&C> {
        self.app.world().get(self.of_body[body])
    }
}

impl Peer for Avian {
    fn frame(&mut self, time: Duration) {
        self.steps_before = self.timer().steps;
        headless::frame(&mut self.app, time);
    }

    fn steps(&self) -> u64 {
        self.timer().steps - self.steps_before
    }

    fn engine_time(&self) -> Option<Duration> {
        Some(self.timer().last)
    }

    fn shown(&self, body: usize) -> Pose {
        headless::shown(&self.app, self.of_body[body])
    }

    fn state(&self, body: usize) -> Pose {
        let position = self.component::<Position>(body);
        let rotation = self.component::<Rotation>(body);
        let (position, rotation) = position.zip(rotation).unwrap();
        dim::avian_pose(position, rotation)
    }

    fn is_asleep(&self, body: usize) -> bool {
        self.component::<Sleeping>(body).is_some()
    }
}
