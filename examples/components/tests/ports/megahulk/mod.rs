//! A shooter with six degrees of freedom. A timer ticks at 60 Hz, the layer resets all forces after each tick, and each
//! frame extrapolates the positions and interpolates the rotations.

pub mod even;
pub mod plain;

use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;
use evenstep_components::frames::{LENGTH, frames};
use std::f32::consts::FRAC_PI_6;

/// The physics of the engine, as a game calls it.
pub trait Engine {
    fn spawn(
        &mut self,
        world: &mut World,
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
    ) -> Entity;
    fn despawn(&mut self, world: &mut World, entity: Entity);
    /// Adds a force and a torque for the next step.
    fn push(&mut self, world: &World, entity: Entity, force: Vector, torque: Vector);
    fn teleport(&mut self, world: &World, entity: Entity, pose: Pose);
    fn pose(&self, world: &World, entity: Entity) -> Pose;
    /// Returns the pairs of entities that began to touch in the last step.
    fn hits(&mut self) -> Vec<[Entity; 2]>;
}

pub struct Shot {
    end: u32,
}

pub struct Health(u32);

/// A ship turns and shoots at a ring of rocks. A drone flies past and turns evenly.
pub struct Game {
    ship: Entity,
    drone: Entity,
    tick: u32,
    kills: f32,
    /// The entities to despawn at the end of `rules` or `react`.
    to_die: Vec<Entity>,
    drawn: Vec<[Pose; 2]>,
}

pub struct Played {
    /// The rocks that were shot, and the poses of all bodies at the end.
    pub end: Vec<f32>,
    /// The displayed poses of the ship and of the drone, for each frame.
    drawn: Vec<[Pose; 2]>,
}

/// The velocity of the drone in m/s, and how fast it turns in rad/s.
const DRONE: (f32, f32) = (20.0, 0.5);
/// The tick in which the ship is teleported, and its new position.
const TELEPORT: (u32, Vector) = (150, Vector::new(0.0, 0.0, 40.0));

impl Game {
    pub fn new(world: &mut World, engine: &mut impl Engine) -> Self {
        let body = RigidBodyBuilder::dynamic()
            .linear_damping(0.5)
            .angular_damping(1.0);
        let ship = engine.spawn(world, body, ColliderBuilder::ball(0.5).mass(1.0));
        let drone = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 50.0)
            .linvel(Vector::X * DRONE.0)
            .angvel(Vector::Y * DRONE.1);
        let drone = engine.spawn(world, drone, ColliderBuilder::ball(0.5));
        for i in 0..12 {
            let rotation = Rotation::from_rotation_y(i as f32 * FRAC_PI_6);
            let body = RigidBodyBuilder::dynamic().translation(rotation * Vector::X * 20.0);
            let rock = engine.spawn(world, body, ColliderBuilder::ball(4.0));
            world.insert_one(rock, Health(2)).unwrap();
        }
        Self {
            ship,
            drone,
            tick: 0,
            kills: 0.0,
            to_die: vec![],
            drawn: vec![],
        }
    }

    /// Runs before each step.
    pub fn rules(&mut self, world: &mut World, engine: &mut impl Engine) {
        self.tick += 1;
        if self.tick == TELEPORT.0 {
            let rotation = engine.pose(world, self.ship).rotation;
            engine.teleport(world, self.ship, Pose::from_parts(TELEPORT.1, rotation));
        }
        let ship = engine.pose(world, self.ship);
        let forward = ship.rotation * Vector::X;
        let torque = ship.rotation * Vector::new(0.05, 0.2, 0.0);
        engine.push(world, self.ship, forward * 2.0, torque);
        if self.tick.is_multiple_of(10) {
            let body = RigidBodyBuilder::dynamic()
                .translation(ship.translation + forward * 1.5)
                .linvel(forward * 60.0);
            let collider = ColliderBuilder::ball(0.1).active_events(ActiveEvents::COLLISION_EVENTS);
            let shot = engine.spawn(world, body, collider);
            let end = self.tick + 60;
            world.insert_one(shot, Shot { end }).unwrap();
        }
        let shots = world.query_mut::<(Entity, &Shot)>().into_iter();
        let old = shots.filter(|(_, shot)| shot.end == self.tick);
        self.to_die.extend(old.map(|(entity, _)| entity));
        self.remove(world, engine);
    }

    /// Runs after each step.
    pub fn react(&mut self, world: &mut World, engine: &mut impl Engine) {
        for [one, two] in engine.hits() {
            for (shot, rock) in [(one, two), (two, one)] {
                if !world.satisfies::<&Shot>(shot) {
                    continue;
                }
                self.to_die.push(shot);
                if let Ok(health) = world.query_one_mut::<&mut Health>(rock) {
                    health.0 = health.0.saturating_sub(1);
                    self.to_die.extend((health.0 == 0).then_some(rock));
                }
            }
        }
        self.remove(world, engine);
    }

    fn remove(&mut self, world: &mut World, engine: &mut impl Engine) {
        for entity in self.to_die.drain(..) {
            if world.contains(entity) {
                self.kills += f32::from(u8::from(world.satisfies::<&Health>(entity)));
                engine.despawn(world, entity);
            }
        }
    }

    pub fn draw(&mut self, pose: impl Fn(Entity) -> Pose) {
        self.drawn.push([self.ship, self.drone].map(pose));
    }

    pub fn end(self, world: &World, engine: &impl Engine) -> Played {
        let mut end = vec![self.kills];
        let mut all: Vec<_> = world.iter().map(|it| it.entity()).collect();
        all.sort_unstable();
        for entity in all {
            let pose = engine.pose(world, entity);
            end.extend(pose.translation.to_array());
            end.extend(pose.rotation.to_array());
        }
        Played {
            end,
            drawn: self.drawn,
        }
    }
}

/// Returns the time of the drone's displayed position minus that of its displayed rotation, in seconds: the least and the
/// most over all frames.
fn ahead(drawn: &[[Pose; 2]]) -> [f32; 2] {
    let ahead = drawn.iter().map(|[_, drone]| {
        let (axis, angle) = drone.rotation.to_axis_angle();
        drone.translation.x / DRONE.0 - angle * axis.y.signum() / DRONE.1
    });
    ahead.fold([f32::MAX, f32::MIN], |[least, most], it| {
        [least.min(it), most.max(it)]
    })
}

#[test]
fn a_plain_layer_draws_the_position_a_step_ahead_of_the_rotation() {
    let frames = frames(144, LENGTH);
    // An angle close to zero is not precise.
    let [plain, even] = [plain::run, even::run].map(|run| ahead(&run(&frames).drawn[10..]));
    println!("{plain:?} and {even:?} s");
    assert!(plain[0] > 0.016 && plain[1] < 0.017, "{plain:?} s");
    assert!(even[0] > -0.0005 && even[1] < 0.0005, "{even:?} s");
}

#[test]
fn a_plain_layer_draws_a_teleported_ship_far_beyond_its_new_position() {
    let frames = frames(144, LENGTH);
    let [plain, even] = [plain::run, even::run].map(|run| {
        let played = run(&frames);
        let z = played.drawn.iter().map(|[ship, _]| ship.translation.z);
        z.fold(f32::MIN, f32::max) - TELEPORT.1.z
    });
    println!("{plain} and {even} m too far");
    assert!(plain > 20.0, "{plain} m");
    assert!(even < 0.1, "{even} m");
}

#[test]
fn a_plain_layer_loses_ticks_in_a_long_frame() {
    let short = frames(60, LENGTH);
    // One frame in place of the first twelve.
    let mut long = short[11..].to_vec();
    long[0] = short[..12].iter().sum();
    let [plain, even] =
        [plain::run, even::run].map(|run| [&short, &long].map(|frames| run(frames).end));
    assert_ne!(plain[0], plain[1]);
    assert_eq!(even[0], even[1]);
}
