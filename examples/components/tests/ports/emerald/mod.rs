//! Each `Transform` is written to its body before a step, and each body to its `Transform` after it. The step is the
//! frame time.

pub mod even;
pub mod plain;

use even2d::hecs::{Entity, World};
use even2d::rapier::prelude::*;

#[derive(Clone, Copy, PartialEq)]
pub struct Transform {
    pub x: f32,
    pub y: f32,
}

/// The physics of the engine, as a game calls it.
pub trait Engine {
    fn spawn(
        &mut self,
        world: &mut World,
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
        transform: Transform,
    ) -> Entity;
    fn despawn(&mut self, world: &mut World, entity: Entity);
    /// Returns the number of entities that touch this one.
    fn touching(&self, entity: Entity, world: &World) -> usize;
}

/// Balls fall into a box in which a paddle moves to and fro.
pub struct Game {
    paddle: Entity,
    balls: Vec<Entity>,
    time: f32,
    next: f32,
    /// The sum of the entities that touched the paddle.
    touched: f32,
}

impl Game {
    pub fn new(world: &mut World, engine: &mut impl Engine) -> Self {
        for (x, y, w, h) in [
            (0.0, -105.0, 110.0, 5.0),
            (-105.0, 0.0, 5.0, 100.0),
            (105.0, 0.0, 5.0, 100.0),
        ] {
            engine.spawn(
                world,
                RigidBodyBuilder::fixed(),
                ColliderBuilder::cuboid(w, h),
                Transform { x, y },
            );
        }
        let paddle = RigidBodyBuilder::kinematic_position_based();
        let paddle = engine.spawn(
            world,
            paddle,
            ColliderBuilder::cuboid(20.0, 4.0),
            Transform { x: 0.0, y: -80.0 },
        );
        Self {
            paddle,
            balls: vec![],
            time: 0.0,
            next: 0.0,
            touched: 0.0,
        }
    }

    pub fn rules(&mut self, world: &mut World, engine: &mut impl Engine, dt: f32) {
        self.time += dt;
        if self.time >= self.next {
            self.next += 0.25;
            let collider = ColliderBuilder::ball(6.0)
                .restitution(0.5)
                .active_events(ActiveEvents::COLLISION_EVENTS);
            let x = self.next * 148.0 % 80.0 - 40.0;
            let body = RigidBodyBuilder::dynamic().gravity_scale(20.0);
            self.balls
                .push(engine.spawn(world, body, collider, Transform { x, y: 90.0 }));
        }
        if self.balls.len() == 13 {
            engine.despawn(world, self.balls.remove(0));
        }
        let transform = world.query_one_mut::<&mut Transform>(self.paddle).unwrap();
        transform.x += if self.time % 2.0 < 1.0 { 80.0 } else { -80.0 } * dt;
        self.touched += engine.touching(self.paddle, world) as f32;
        // A ball that has left the box is put back.
        for ball in &self.balls {
            let transform = world.query_one_mut::<&mut Transform>(*ball).unwrap();
            transform.x -= if transform.x > 100.0 { 200.0 } else { 0.0 };
        }
    }

    pub fn end(&self, world: &World) -> Vec<f32> {
        let all = self.balls.iter().chain([&self.paddle]);
        let mut end: Vec<_> = all
            .map(|entity| *world.get::<&Transform>(*entity).unwrap())
            .flat_map(|it| [it.x, it.y])
            .collect();
        end.push(self.touched);
        end
    }
}
