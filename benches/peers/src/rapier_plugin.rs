//! bevy_rapier in its interpolated mode.
//!
//! Its bodies have only the components that they need, because `Velocity` and `Sleeping` would also be written in every
//! frame.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier::prelude::{
    IntegrationParameters, NoUserData, RapierConfiguration, RapierContextInitialization,
    RapierContextSimulation, RapierPhysicsPlugin, RapierRigidBodyHandle, RapierRigidBodySet,
    RigidBody, TimestepMode, TransformInterpolation,
};
use evenstep::rapier::math::{Pose, Vector};
use evenstep::rapier::prelude::{RigidBody as RapierBody, RigidBodyActivation};

use crate::peer::{Peer, STEPS_PER_SECOND};
use crate::scene::{Body, Scene};
use crate::{dim, headless};

struct RapierPlugin {
    app: App,
    of_body: Vec<Entity>,
    /// The entity with the physics world.
    context: Entity,
}

pub fn build(scene: Scene) -> Box<dyn Peer> {
    let mut app = app();
    let bodies = scene.bodies();
    let of_body: Vec<Entity> = bodies.map(|body| spawn(app.world_mut(), &body)).collect();
    headless::start(&mut app);
    let mut contexts = app
        .world_mut()
        .query_filtered::<Entity, With<RapierContextSimulation>>();
    let context = contexts.single(app.world()).expect("one physics world");
    let mut peer = RapierPlugin {
        app,
        of_body,
        context,
    };
    for (i, body) in scene.bodies().enumerate().filter(|(_, body)| body.moves) {
        peer.set_in_motion(i, &body);
    }
    Box::new(peer)
}

fn app() -> App {
    let dt = 1.0 / STEPS_PER_SECOND as f32;
    let world = RapierContextInitialization::InitializeDefaultRapierContext {
        integration_parameters: IntegrationParameters::default(),
        rapier_configuration: RapierConfiguration {
            gravity: Vector::ZERO,
            ..RapierConfiguration::new(1.0)
        },
        broad_phase_optimization_strategy: default(),
    };
    let mut app = headless::app();
    app.insert_resource(TimestepMode::Interpolated {
        dt,
        time_scale: 1.0,
        substeps: 1,
    })
    .add_plugins(RapierPhysicsPlugin::<NoUserData>::default().with_custom_initialization(world));
    app
}

fn spawn(world: &mut World, body: &Body) -> Entity {
    let components = (
        RigidBody::Dynamic,
        dim::plugin_collider(),
        dim::placed(body.at),
        TransformInterpolation::default(),
    );
    world.spawn(components).id()
}

impl RapierPlugin {
    /// Uses Rapier's API, so that no component is needed.
    fn set_in_motion(&mut self, body: usize, like: &Body) {
        let handle = self.handle(body);
        let mut set = self
            .app
            .world_mut()
            .get_mut::<RapierRigidBodySet>(self.context);
        let body = set.as_mut().and_then(|set| set.bodies.get_mut(handle.0));
        let body = body.expect("the first frame creates it");
        body.set_linvel(like.linvel, true);
        body.set_angvel(like.angvel, true);
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }

    fn handle(&self, body: usize) -> RapierRigidBodyHandle {
        let handle = self.app.world().get(self.of_body[body]);
        *handle.expect("the first frame creates it")
    }

    fn body(&self, body: usize) -> &RapierBody {
        let set = self.app.world().get::<RapierRigidBodySet>(self.context);
        let body = set.and_then(|set| set.bodies.get(self.handle(body).0));
        body.expect("no body is removed")
    }

    fn context(&self) -> &RapierContextSimulation {
        let context = self.app.world().get(self.context);
        context.expect("the physics world is never removed")
    }
}

impl Peer for RapierPlugin {
    fn frame(&mut self, time: Duration) {
        headless::frame(&mut self.app, time);
    }

    fn steps(&self) -> u64 {
        self.context().step_stats().num_steps as u64
    }

    fn engine_time(&self) -> Option<Duration> {
        let milliseconds = self.context().step_stats().step_time_ms;
        Some(Duration::from_secs_f64(milliseconds / 1e3))
    }

    fn shown(&self, body: usize) -> Pose {
        headless::shown(&self.app, self.of_body[body])
    }

    fn state(&self, body: usize) -> Pose {
        *self.body(body).position()
    }

    fn is_asleep(&self, body: usize) -> bool {
        self.body(body).is_sleeping()
    }
}
