//! evenstep in Bevy: the whole glue, with the map from bodies to entities.

use std::time::Duration;

use bevy::prelude::*;
use evenstep::rapier::math::Pose;
use evenstep::rapier::prelude::RigidBody;
use evenstep::{BodyKey, Simulation};
use slotmap::SecondaryMap;

use crate::evenstep_hecs::simulation;
use crate::peer::Peer;
use crate::scene::Scene;
use crate::{dim, headless, scene};

#[derive(Resource)]
struct Physics {
    simulation: Simulation,
    by_body: SecondaryMap<BodyKey, Entity>,
}

#[derive(Component)]
struct Body(BodyKey);

/// Writes the poses that changed since the last frame, before Bevy propagates transforms.
fn advance(time: Res<Time>, mut physics: ResMut<Physics>, mut transforms: Query<&mut Transform>) {
    let Physics {
        simulation,
        by_body,
    } = &mut *physics;
    simulation.advance(time.delta(), |_, _| ());
    for key in simulation.removed() {
        by_body.remove(*key);
    }
    for (key, pose) in simulation.moved() {
        if let Some(entity) = by_body.get(*key)
            && let Ok(mut transform) = transforms.get_mut(*entity)
        {
            dim::write(pose, &mut transform);
        }
    }
}

fn spawn(world: &mut World, body: &scene::Body) -> Entity {
    let mut physics = world.resource_mut::<Physics>();
    let (body_of_rapier, collider) = body.for_rapier();
    let key = physics.simulation.physics.insert(body_of_rapier, collider);
    let entity = world.spawn((Body(key), dim::placed(body.at))).id();
    world.resource_mut::<Physics>().by_body.insert(key, entity);
    entity
}

struct InBevy {
    app: App,
    of_body: Vec<Entity>,
}

pub fn build(scene: Scene) -> Box<dyn Peer> {
    let mut app = headless::app();
    app.insert_resource(Physics {
        simulation: simulation(),
        by_body: SecondaryMap::new(),
    })
    .add_systems(Update, advance);
    let bodies = scene.bodies();
    let of_body = bodies.map(|body| spawn(app.world_mut(), &body)).collect();
    headless::start(&mut app);
    Box::new(InBevy { app, of_body })
}

impl InBevy {
    fn simulation(&self) -> &Simulation {
        &self.app.world().resource::<Physics>().simulation
    }

    fn body(&self, body: usize) -> &RigidBody {
        let component = self.app.world().get::<Body>(self.of_body[body]);
        let key = component.expect("every entity has a body").0;
        self.simulation()
            .physics
            .body(key)
            .expect("no body is removed")
    }
}

impl Peer for InBevy {
    fn frame(&mut self, time: Duration) {
        headless::frame(&mut self.app, time);
    }

    fn steps(&self) -> u64 {
        self.simulation().frame().steps
    }

    fn engine_time(&self) -> Option<Duration> {
        None
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
