//! A small game: a lift carries a crate, a cart collects coins with a sensor, and a hand throws a ball.
//!
//! All rules run in steps, so the game is the same at every frame rate.

use std::time::Duration;

use evenstep::ecs::hecs::Body;
use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::RigidBodyType::{
    Dynamic, Fixed, KinematicPositionBased, KinematicVelocityBased,
};
use evenstep::rapier::prelude::{Pose, RigidBodyType, Vector};
use evenstep::{BodyError, Step};

use crate::components::{Hull, Kind, Order, Parent, Shape, Transform, Velocity};
use crate::layer::Layer;

/// The speed of the cart and the lift, in metres per second.
pub const SPEED: f32 = 2.0;

/// The hand lets go of the ball in this step. Until then it moves the ball at 6 m/s.
const THROW_AT: u64 = 40;
const HAND: Vector = Vector::new(4.0, 4.5, 0.0);

/// A pebble falls every `PEBBLE_EVERY` steps, and is despawned after `LIFETIME` steps.
const PEBBLE_EVERY: u64 = 15;
const LIFETIME: u64 = 100;

struct Coin;

struct DiesAt(u64);

pub struct Game {
    pub world: World,
    pub layer: Layer,
    pub cast: Cast,
    /// The number of coins that the cart has collected.
    pub coins: u32,
    /// The order of the next body.
    next: u64,
}

/// The entities that the rules name.
#[derive(Clone, Copy)]
pub struct Cast {
    pub lift: Entity,
    pub load: Entity,
    pub cart: Entity,
    pub lamp: Entity,
    pub scoop: Entity,
    pub ball: Entity,
}

/// The components of a body.
type Bundle = (Order, Kind, Transform, Velocity, Hull);

/// Returns the components of a body of one shape.
pub fn body(order: u64, kind: RigidBodyType, at: Vector, shape: Shape) -> Bundle {
    let hull = Hull {
        parts: vec![(Pose::IDENTITY, shape)],
        is_sensor: false,
    };
    let transform = Transform(Pose::from_translation(at));
    (
        Order(order),
        Kind(kind),
        transform,
        Velocity::default(),
        hull,
    )
}

impl Default for Game {
    fn default() -> Self {
        let mut world = World::new();
        let cube = |half| Shape::Cuboid(Vector::splat(half));
        let slab = |x, y, z| Shape::Cuboid(Vector::new(x, y, z));
        world.spawn(body(0, Fixed, Vector::Y * -0.5, slab(40.0, 0.5, 40.0)));
        let lift = Vector::new(-5.0, 0.1, 0.0);
        let load = lift + Vector::Y * 0.6;
        let lift = world.spawn(body(1, KinematicPositionBased, lift, slab(1.0, 0.1, 1.0)));
        let load = world.spawn(body(2, Dynamic, load, cube(0.5)));

        let cart = world.spawn(body(
            3,
            KinematicVelocityBased,
            Vector::new(0.0, 0.5, 5.0),
            cube(0.3),
        ));
        let _ = world.insert_one(cart, Velocity(Vector::X * SPEED));
        // The lamp is drawn only. The scoop has a body, which detects coins.
        let lamp = Pose::from_translation(Vector::Y * 0.5);
        let lamp = world.spawn((Parent {
            entity: cart,
            local: lamp,
        },));
        let local = Pose::from_translation(Vector::X * 0.6);
        let (order, kind, transform, velocity, mut hull) = body(4, Fixed, Vector::ZERO, cube(0.3));
        hull.is_sensor = true;
        let scoop = (
            order,
            kind,
            transform,
            velocity,
            hull,
            Parent {
                entity: cart,
                local,
            },
        );
        let scoop = world.spawn(scoop);
        for i in 0..5 {
            let at = Vector::new(2.0 + 1.5 * i as f32, 0.2, 5.0);
            let coin = world.spawn(body(10 + i, Dynamic, at, Shape::Ball(0.2)));
            let _ = world.insert_one(coin, Coin);
        }
        let ball = world.spawn(body(5, KinematicPositionBased, HAND, Shape::Ball(0.2)));
        let cast = Cast {
            lift,
            load,
            cart,
            lamp,
            scoop,
            ball,
        };
        Self {
            world,
            layer: Layer::default(),
            cast,
            coins: 0,
            next: 100,
        }
    }
}

impl Game {
    pub fn frame(&mut self, frame_time: Duration) -> Result<(), BodyError> {
        let Self {
            world,
            layer,
            cast,
            coins,
            next,
        } = self;
        layer.frame(world, frame_time, |world, layer, step| {
            move_lift(world, cast.lift, step);
            move_ball(world, cast.ball, step);
            *coins += collect(world, layer, cast.scoop);
            *next += spawn_pebble(world, *next, step.tick);
            despawn_old(world, step.tick);
        })
    }
}

/// The game writes the pose of a kinematic body: where it should be at the end of the step.
fn move_lift(world: &mut World, lift: Entity, step: Step) {
    let seconds = step.end_time.as_secs_f32() % 4.0;
    let height = SPEED * seconds.min(4.0 - seconds);
    if let Ok(transform) = world.query_one_mut::<&mut Transform>(lift) {
        transform.0.translation.y = 0.1 + height;
    }
}

/// A held ball is kinematic. A thrown one is dynamic, with the velocity that the hand gave it.
fn move_ball(world: &mut World, ball: Entity, step: Step) {
    let Ok((kind, transform)) = world.query_one_mut::<(&mut Kind, &mut Transform)>(ball) else {
        return;
    };
    if step.tick < THROW_AT {
        transform.0.translation = HAND + Vector::X * 6.0 * step.end_time.as_secs_f32();
    } else {
        kind.0 = Dynamic;
    }
}

/// Despawns the coins in the scoop, and returns their number.
fn collect(world: &mut World, layer: &Layer, scoop: Entity) -> u32 {
    let Ok(scoop) = world.get::<&Body>(scoop).map(|body| body.key()) else {
        return 0;
    };
    let touches = layer.simulation.physics.touching(scoop).into_iter();
    let touching = touches.filter_map(|touch| layer.entities.entity(touch.body?));
    let mut coins = 0;
    for coin in touching
        .filter(|entity| world.satisfies::<&Coin>(*entity))
        .collect::<Vec<_>>()
    {
        coins += u32::from(world.despawn(coin).is_ok());
    }
    coins
}

fn spawn_pebble(world: &mut World, order: u64, tick: u64) -> u64 {
    if !tick.is_multiple_of(PEBBLE_EVERY) {
        return 0;
    }
    let at = Vector::new(0.1 * (tick % 7) as f32, 3.0, -5.0);
    let pebble = world.spawn(body(order, Dynamic, at, Shape::Ball(0.25)));
    let _ = world.insert_one(pebble, DiesAt(tick + LIFETIME));
    1
}

fn despawn_old(world: &mut World, tick: u64) {
    let all = world.query_mut::<(Entity, &DiesAt)>().into_iter();
    for entity in all
        .filter(|(_, it)| it.0 <= tick)
        .map(|(entity, _)| entity)
        .collect::<Vec<_>>()
    {
        let _ = world.despawn(entity);
    }
}
