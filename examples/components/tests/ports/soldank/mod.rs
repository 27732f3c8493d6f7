//! Builders of bodies and colliders are components. A filter reads `Parent`s, the map consists of triangles without a
//! body, and contacts with it count for some time.

pub mod even;
pub mod plain;

use even2d::hecs::{Entity, World};
use even2d::rapier::prelude::*;

pub struct Transform(pub Pose);

pub struct Describes(pub RigidBodyBuilder, pub ColliderBuilder);

/// The velocity that the rules want along x, and the one along y if they want to jump.
pub struct Wish(pub f32, pub Option<f32>);

/// The time since the entity last touched the map, in seconds.
pub struct OffGround(pub f32);

/// The entity never touches this one: a bullet and who fired it.
pub struct Parent(pub Entity);

/// A soldier runs over hills, jumps up to 0.15 s after the last contact with the ground, and fires.
pub struct Game {
    soldier: Entity,
    time: f32,
    fired: u32,
    jumps: f32,
}

/// Returns the corners of the map's triangles.
pub fn map() -> Vec<[Vector; 3]> {
    let height = |i: i16| [0.0, 0.4, 0.1, 0.5, 0.2][i.rem_euclid(5) as usize];
    let corner = |i: i16| Vector::new(f32::from(i) * 2.0, height(i));
    (-10..60)
        .map(|i| {
            [
                corner(i),
                corner(i + 1),
                Vector::new(f32::from(i) * 2.0, -2.0),
            ]
        })
        .collect()
}

impl Game {
    pub fn new(world: &mut World) -> Self {
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 1.5)
            .lock_rotations();
        let collider = ColliderBuilder::capsule_y(0.4, 0.3)
            .friction(0.0)
            .active_events(ActiveEvents::COLLISION_EVENTS);
        let soldier = (
            Transform(body.build().position().to_owned()),
            Describes(body, collider),
            Wish(0.0, None),
            OffGround(1.0),
        );
        Self {
            soldier: world.spawn(soldier),
            time: 0.0,
            fired: 0,
            jumps: 0.0,
        }
    }

    pub fn rules(&mut self, world: &mut World, dt: f32) {
        self.time += dt;
        let (wish, off, transform) = world
            .query_one_mut::<(&mut Wish, &mut OffGround, &Transform)>(self.soldier)
            .unwrap();
        *wish = Wish(5.0, None);
        if off.0 < 0.15 && self.time % 1.0 > 0.7 {
            *wish = Wish(5.0, Some(4.0));
            off.0 = 1.0;
            self.jumps += 1.0;
        }
        let muzzle = transform.0.translation;
        if self.time > 0.4 * (self.fired + 1) as f32 {
            self.fired += 1;
            let body = RigidBodyBuilder::dynamic()
                .translation(muzzle)
                .linvel(Vector::new(9.0, 3.0));
            let collider =
                ColliderBuilder::ball(0.1).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
            let bullet = (
                Transform(Pose::from_translation(muzzle)),
                Describes(body, collider),
                Parent(self.soldier),
            );
            world.spawn(bullet);
        }
    }

    /// Returns the jumps, the position of the soldier, and those of the bullets.
    pub fn end(&self, world: &World) -> Vec<f32> {
        let soldier = world.get::<&Transform>(self.soldier).unwrap().0.translation;
        let mut end = vec![self.jumps, soldier.x, soldier.y];
        let mut bullets = world.query::<(&Transform, &Parent)>();
        end.extend(
            bullets
                .iter()
                .map(|(transform, _)| transform.0.translation.x),
        );
        end
    }
}
