//! Components describe the bodies. One system per frame steps 1/72 s, whatever the headset's rate.

pub mod even;
pub mod plain;

use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;

pub struct Transform(pub Pose);

pub struct Rigid {
    pub kind: RigidBodyType,
    pub velocity: Vector,
}

pub struct Hull {
    pub shape: SharedShape,
    pub is_sensor: bool,
    /// The entities that touch it, for the rules.
    pub touching: Vec<Entity>,
}

/// Is removed when it was applied.
pub struct Impulse(pub Vector);

pub struct Cube;

/// Cubes fly to the player on each beat. A sabre cuts them. The hand throws a ball after a second.
pub struct Game {
    time: f32,
    cut: f32,
    beat: f32,
    sabre: Entity,
    ball: Entity,
}

fn body(kind: RigidBodyType, at: Vector, shape: SharedShape) -> (Transform, Rigid, Hull) {
    let hull = Hull {
        shape,
        is_sensor: false,
        touching: vec![],
    };
    (
        Transform(Pose::from_translation(at)),
        Rigid {
            kind,
            velocity: Vector::ZERO,
        },
        hull,
    )
}

impl Game {
    pub fn new(world: &mut World) -> Self {
        let floor = SharedShape::cuboid(50.0, 0.5, 50.0);
        world.spawn(body(RigidBodyType::Fixed, Vector::Y * -0.5, floor));
        let sabre = SharedShape::cuboid(0.05, 0.8, 0.05);
        let mut sabre = body(RigidBodyType::KinematicPositionBased, Vector::Y, sabre);
        sabre.2.is_sensor = true;
        let sabre = world.spawn(sabre);
        let hand = Vector::new(0.0, 1.5, 3.0);
        let ball = world.spawn(body(
            RigidBodyType::KinematicPositionBased,
            hand,
            SharedShape::ball(0.1),
        ));
        Self {
            time: 0.0,
            cut: 0.0,
            beat: 0.0,
            sabre,
            ball,
        }
    }

    pub fn rules(&mut self, world: &mut World, dt: f32) {
        self.time += dt;
        if self.time >= self.beat {
            self.beat += 0.5;
            let mut cube = body(
                RigidBodyType::KinematicVelocityBased,
                Vector::new(-9.4, 1.0, 0.0),
                SharedShape::ball(0.2),
            );
            cube.1.velocity = Vector::X * 5.0;
            let cube = world.spawn(cube);
            world.insert_one(cube, Cube).unwrap();
        }
        // The sabre swings to and fro, once per second.
        let swing = (self.time % 1.0 - 0.5).abs();
        let transform = world.query_one_mut::<&mut Transform>(self.sabre).unwrap();
        transform.0.translation = Vector::new(swing, 1.0, 0.0);
        let cut = world.query_mut::<(Entity, &Hull, &Cube)>().into_iter();
        let cut = cut.filter(|(_, hull, _)| !hull.touching.is_empty());
        for cube in cut.map(|(entity, ..)| entity).collect::<Vec<_>>() {
            world.despawn(cube).unwrap();
            self.cut += 1.0;
        }
        if self.time >= 1.0 {
            let ball = world.query_one_mut::<&mut Rigid>(self.ball).unwrap();
            if ball.kind != RigidBodyType::Dynamic {
                ball.kind = RigidBodyType::Dynamic;
                world
                    .insert_one(self.ball, Impulse(Vector::new(0.012, 0.0, 0.012)))
                    .unwrap();
            }
        }
    }

    /// Returns the cubes that were cut, the position of the ball, and those of the cubes.
    pub fn end(&self, world: &World) -> Vec<f32> {
        let ball = world.get::<&Transform>(self.ball).unwrap().0.translation;
        let mut end = vec![self.cut, ball.x, ball.y, ball.z];
        let mut cubes = world.query::<(&Transform, &Cube)>();
        end.extend(cubes.iter().map(|(transform, _)| transform.0.translation.x));
        end
    }
}
