//! The game: what is in the world, and what it does before and after each step.

use std::convert::Infallible;
use std::time::Duration;

use evenstep::entities::Entities;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Button, Delivery, ForceGenerator, Hooks, InputQueue, Physics, Step};
use hecs::{Entity, World};

/// Half the length of a side of the yard, in metres.
const YARD: f32 = 25.0;

/// A ball comes every so many steps, and goes when it is so many steps old.
const SPAWN_EVERY: u64 = 12;
const LIFETIME: u64 = 240;

/// The radius of the drone's orbit, in metres, and its height.
const ORBIT: f32 = 8.0;
const HEIGHT: f32 = 16.0;

/// What the player's devices report.
pub enum Input {
    /// The stick, in [-1, 1].
    Walk(Vector),
    /// The mouse, in radians since the last report.
    Turn(f32),
    Jump(bool),
}

/// Component: despawn in this step.
struct DiesAt(u64);

/// Everything of the game but the physics.
pub struct Game {
    pub world: World,
    pub entities: Entities,
    pub input: InputQueue<Input>,
    /// Flies in a circle: a thruster pushes it along, a spring holds it.
    pub drone: BodyKey,
    player: BodyKey,
    jump: Button,
    walk: Vector,
    heading: f32,
    pub collisions: usize,
    pub jumps: u32,
}

impl Game {
    pub fn new(physics: &mut Physics, crates: usize) -> Self {
        let (mut world, mut entities) = (World::new(), Entities::default());
        let mut spawn = |body: RigidBodyBuilder, collider: ColliderBuilder| {
            let (_, key) = entities.spawn(&mut world, physics, body, collider, ());
            let body = physics.body(key).expect("just spawned");
            (body.translation(), key)
        };
        let wall = |at: Vector, half: Vector| {
            let body = RigidBodyBuilder::fixed().translation(at);
            (body, ColliderBuilder::cuboid(half.x, half.y, half.z))
        };
        let floor = wall(Vector::Y * -0.5, Vector::new(YARD, 0.5, YARD));
        let sides = [Vector::X, -Vector::X, Vector::Z, -Vector::Z].map(|side| {
            let half = Vector::new(YARD, 3.0, YARD) * (Vector::ONE - side.abs()) + side.abs() * 0.5;
            wall(side * YARD + Vector::Y * 3.0, half.max(Vector::Y * 3.0))
        });
        for (body, collider) in std::iter::once(floor).chain(sides) {
            spawn(body, collider);
        }

        let pile: Vec<(Vector, BodyKey)> = (0..crates)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic().translation(place_in_pile(i));
                spawn(body, ColliderBuilder::cuboid(0.4, 0.4, 0.4))
            })
            .collect();
        let listening = ActiveEvents::COLLISION_EVENTS;
        let (_, player) = spawn(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(-12.0, 1.0, 0.0))
                .lock_rotations(),
            ColliderBuilder::capsule_y(0.5, 0.4).active_events(listening),
        );
        let (_, drone) = spawn(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(ORBIT, HEIGHT, 0.0))
                .gravity_scale(0.0)
                .linear_damping(0.5),
            ColliderBuilder::cuboid(0.5, 0.2, 0.3).mass(2.0),
        );
        for (body, generator) in lasting_forces(&pile, player, drone) {
            physics
                .insert_force_generator(body, generator)
                .expect("just spawned");
        }
        Self {
            world,
            entities,
            // Its samples have the time at which they happened. Those of a host that only polls once a frame
            // have not: they go to the `NextStep` step.
            input: InputQueue::new(Delivery::ByTime),
            drone,
            player,
            jump: Button::default(),
            walk: Vector::ZERO,
            heading: 0.0,
            collisions: 0,
            jumps: 0,
        }
    }

    fn read_input(&mut self, step: Step) {
        self.jump.start_step();
        for sample in self.input.drain(step) {
            match sample.input {
                Input::Walk(walk) => self.walk = walk,
                Input::Turn(by) => self.heading += by,
                Input::Jump(down) => self.jump.set(down),
            }
        }
    }

    fn drive(&mut self, physics: &mut Physics) {
        let turn = Rotation::from_rotation_y(self.heading);
        physics
            .add_force(self.player, turn * self.walk * 14.0)
            .expect("the player lives");
        for _ in 0..self.jump.presses() {
            self.jumps += 1;
            physics
                .apply_impulse(self.player, Vector::Y * 4.0)
                .expect("the player lives");
        }
    }

    /// Bodies come and go by tick, so a run is the same at every frame rate.
    fn churn(&mut self, physics: &mut Physics, step: &Step) {
        let old: Vec<Entity> = (self.world.query::<(Entity, &DiesAt)>().iter())
            .filter_map(|(entity, dies)| (dies.0 <= step.tick).then_some(entity))
            .collect();
        for entity in old {
            let despawned = self.entities.despawn(&mut self.world, physics, entity);
            despawned.expect("the query has just found it");
        }
        if step.tick.is_multiple_of(SPAWN_EVERY) {
            let at = place_in_rain(step.tick);
            let body = RigidBodyBuilder::dynamic().translation(at);
            let ball = ColliderBuilder::ball(0.35)
                .restitution(0.5)
                .active_events(ActiveEvents::COLLISION_EVENTS);
            let dies = DiesAt(step.tick + LIFETIME);
            self.entities
                .spawn(&mut self.world, physics, body, ball, (dies,));
        }
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.read_input(step);
        self.drive(physics);
        self.churn(physics, &step);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        let collisions = physics.events().collisions();
        self.collisions += collisions.filter(|collision| collision.started).count();
        Ok(())
    }
}

fn lasting_forces(
    pile: &[(Vector, BodyKey)],
    player: BodyKey,
    drone: BodyKey,
) -> Vec<(BodyKey, ForceGenerator)> {
    let wind = ForceGenerator::Wind {
        velocity: Vector::new(9.0, 0.0, 3.0),
        drag: 0.25,
    };
    // The wind blows above the walls.
    let exposed = pile.iter().filter(|(at, _)| at.y > 5.0);
    let mut forces: Vec<_> = exposed.map(|(_, key)| (*key, wind.clone())).collect();
    let walking = ForceGenerator::custom(|body, _| evenstep::Wrench {
        force: body.linvel() * Vector::new(-3.0, 0.0, -3.0),
        ..evenstep::Wrench::default()
    });
    let tether = ForceGenerator::Spring {
        anchor: Vector::Y * HEIGHT,
        point: Vector::ZERO,
        rest_length: ORBIT,
        stiffness: 60.0,
        damping: 6.0,
    };
    let thruster = ForceGenerator::custom(|body, _| {
        let out = body.translation() * Vector::new(1.0, 0.0, 1.0);
        evenstep::Wrench {
            force: Vector::Y.cross(out).normalize_or_zero() * 9.0,
            ..evenstep::Wrench::default()
        }
    });
    forces.extend([(player, walking), (drone, tether), (drone, thruster)]);
    forces
}

/// A heap in layers of five by five, each crate a little off the one below.
fn place_in_pile(i: usize) -> Vector {
    let (layer, row, column) = (i / 25, i / 5 % 5, i % 5);
    let shift = 0.15 * (layer % 3) as f32;
    Vector::new(
        row as f32 * 0.95 - 2.0 + shift,
        0.45 + layer as f32 * 0.85,
        column as f32 * 0.95 - 2.0 - shift,
    )
}

/// Somewhere above the yard.
fn place_in_rain(tick: u64) -> Vector {
    let x = (tick * 7 % 31) as f32 - 15.0;
    let z = (tick * 5 % 23) as f32 - 11.0;
    Vector::new(x, 9.0, z)
}

/// The player at the devices: a mouse that reports 125 times a second, a stick, a button. It
/// gives what happened before `end`, each with its time.
pub struct Player {
    report: u64,
}

impl Player {
    const PERIOD: Duration = Duration::from_millis(8);

    pub fn new() -> Self {
        Self { report: 0 }
    }

    pub fn play_until(&mut self, end: Duration, mut push: impl FnMut(Duration, Input)) {
        loop {
            let time = Self::PERIOD * u32::try_from(self.report).unwrap_or(u32::MAX);
            if time >= end {
                return;
            }
            push(time, Input::Turn(0.01));
            match self.report % 160 {
                0 => push(time, Input::Walk(Vector::X)),
                70 => push(time, Input::Jump(true)),
                75 => push(time, Input::Jump(false)),
                90 => push(time, Input::Walk(Vector::new(-0.5, 0.0, 1.0))),
                _ => (),
            }
            self.report += 1;
        }
    }
}
