//! Keeps the bodies of a simulation as the components of a hecs world describe them.

use std::time::Duration;

use crate::components::{Hull, Kind, Order, Parent, Shape, Transform, Velocity};
use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::hecs::{Component, Entity, With, Without, World};
use evenstep::rapier::prelude::RigidBodyType::*;
use evenstep::rapier::prelude::{ColliderBuilder, Pose, RigidBodyBuilder};
use evenstep::{BodyError, BodyKey, Physics, Simulation, Step};

/// The bodies, and the entities that have them.
#[derive(Default)]
pub struct Layer {
    pub simulation: Simulation,
    pub entities: Entities,
}

/// The components that describe a body.
type Parts<'a> = (&'a Kind, &'a Transform, &'a Velocity, &'a Hull);

/// The components as the layer last wrote them to the body, or read them from it. If one differs, the game has changed
/// it.
struct Agreed(Kind, Transform, Velocity, Hull);

impl Layer {
    /// Runs a frame: in each step `rules`, then the step. Afterwards each entity with a body or a parent has the
    /// `RenderPose` of this frame.
    pub fn frame(
        &mut self,
        world: &mut World,
        frame_time: Duration,
        mut rules: impl FnMut(&mut World, &mut Self, Step),
    ) -> Result<(), BodyError> {
        // Poses that the game has set since the last frame are reached at the end of this one.
        self.write(world, self.simulation.clock().time_after(frame_time))?;
        self.simulation.begin_frame(frame_time);
        while let Some(step) = self.simulation.next_step() {
            rules(world, self, step);
            self.write(world, step.end_time)?;
            self.simulation.run_step();
            self.read(world);
        }
        self.simulation.end_frame();
        self.entities.sync(world, &mut self.simulation);
        place_children(world, |displayed: &RenderPose| displayed.0, RenderPose);
        Ok(())
    }

    /// Changes the bodies as their components have changed. A kinematic body arrives at its pose at `arrival`.
    fn write(&mut self, world: &mut World, arrival: Duration) -> Result<(), BodyError> {
        place_children(world, |transform: &Transform| transform.0, Transform);
        self.remove_undescribed(world);
        self.insert_missing(world);
        let physics = &mut self.simulation.physics;
        let all = world.query_mut::<(&Body, Parts<'_>, &mut Agreed)>();
        let changed = all
            .into_iter()
            .filter(|(_, parts, agreed)| agreed.as_parts() != *parts);
        let mut changed: Vec<_> = changed.collect();
        // Rapier's results depend on the order of changes, and the order of a query on archetypes.
        changed.sort_unstable_by_key(|(body, ..)| body.key());
        for (body, parts, agreed) in changed {
            write_body(physics, body.key(), parts, agreed, arrival)?;
            *agreed = Agreed::new(parts);
        }
        Ok(())
    }

    /// Removes the bodies of entities that were despawned or lost their `Kind`.
    fn remove_undescribed(&mut self, world: &mut World) {
        let undescribed = world.query_mut::<Without<With<Entity, &Agreed>, &Kind>>();
        for entity in undescribed.into_iter().collect::<Vec<_>>() {
            let _ = world.remove::<(Body, Agreed)>(entity);
        }
        let physics = &mut self.simulation.physics;
        self.entities.remove_dropped(world, physics);
    }

    /// Inserts the bodies of new entities.
    fn insert_missing(&mut self, world: &mut World) {
        let physics = &mut self.simulation.physics;
        let describe = |_, (order, (kind, transform, velocity, hull)): (&Order, Parts<'_>)| {
            let body = RigidBodyBuilder::new(kind.0).pose(transform.0);
            Some((*order, body.linvel(velocity.0), colliders(hull)))
        };
        let entities = &mut self.entities;
        let new = entities.insert_missing::<(&Order, Parts<'_>), _>(world, physics, describe);
        for (entity, _) in new {
            let parts = world.query_one_mut::<Parts<'_>>(entity).unwrap(); // it was just described
            let agreed = Agreed::new(parts);
            let _ = world.insert_one(entity, agreed);
        }
    }

    /// Copies the result of a step into the components that the physics owns.
    fn read(&self, world: &mut World) {
        let all = world.query_mut::<(&Body, &mut Transform, &mut Velocity, &mut Agreed)>();
        for (body, transform, velocity, agreed) in all {
            let Some(body) = self.simulation.physics.body(body.key()) else {
                continue;
            };
            if matches!(agreed.0.0, Dynamic | KinematicVelocityBased) {
                *transform = Transform(*body.position());
            }
            *velocity = Velocity(body.linvel());
            (agreed.1, agreed.2) = (*transform, *velocity);
        }
        place_children(world, |transform: &Transform| transform.0, Transform);
    }
}

impl Agreed {
    fn new((kind, transform, velocity, hull): Parts<'_>) -> Self {
        Self(*kind, *transform, *velocity, hull.clone())
    }

    fn as_parts(&self) -> Parts<'_> {
        (&self.0, &self.1, &self.2, &self.3)
    }
}

/// Writes the parts that have changed.
fn write_body(
    physics: &mut Physics,
    key: BodyKey,
    (kind, transform, velocity, hull): Parts<'_>,
    agreed: &Agreed,
    arrival: Duration,
) -> Result<(), BodyError> {
    let body = physics.body_mut(key).ok_or(BodyError::Gone(key))?;
    body.set_body_type(kind.0, true);
    if agreed.2 != *velocity {
        body.set_linvel(velocity.0, true);
    }
    if agreed.1 != *transform {
        match kind.0 {
            KinematicPositionBased => physics.set_kinematic_target(key, transform.0, arrival)?,
            _ => physics.teleport(key, transform.0)?,
        }
    }
    if agreed.3 != *hull {
        let old = physics.body(key).map(|body| body.colliders().to_vec());
        for handle in old.into_iter().flatten() {
            physics.remove_collider(handle);
        }
        for collider in colliders(hull) {
            physics.insert_collider(key, collider)?;
        }
    }
    Ok(())
}

fn colliders(hull: &Hull) -> Vec<ColliderBuilder> {
    let collider = |(pose, shape): &(Pose, Shape)| {
        let collider = match *shape {
            Shape::Ball(radius) => ColliderBuilder::ball(radius),
            Shape::Cuboid(half) => ColliderBuilder::cuboid(half.x, half.y, half.z),
        };
        collider.position(*pose).sensor(hull.is_sensor)
    };
    hull.parts.iter().map(collider).collect()
}

/// Gives each child the pose that results from the pose of its root and its local one.
fn place_children<C: Component>(world: &mut World, pose: fn(&C) -> Pose, child: fn(Pose) -> C) {
    let mut placed = Vec::new();
    for (entity, parent) in &mut world.query::<(Entity, &Parent)>() {
        let (mut root, mut local) = (parent.entity, parent.local);
        while let Ok(parent) = world.get::<&Parent>(root) {
            (root, local) = (parent.entity, parent.local * local);
        }
        if let Ok(root) = world.get::<&C>(root) {
            placed.push((entity, child(pose(&root) * local)));
        }
    }
    for (entity, pose) in placed {
        let _ = world.insert_one(entity, pose);
    }
}
