//! The rules of the game, without an ECS: the level, spawning and despawning, and motion.
//!
//! Every rule depends on the tick, so a run is the same at every frame rate. A rule for several bodies visits them
//! [`in_order`], because each ECS iterates entities in a different order.

use evenstep::rewind::Kept;
use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::input::{Button, Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Correction, Physics, Simulation, Step};

/// Balls are spawned every `DROP_EVERY` steps, and are despawned after a fixed number of steps.
const DROP_EVERY: u64 = 12;
const LIFETIME: u64 = 90;

/// The tick of the step before which a crate loses its body.
const BLAST_AT: u64 = 200;

/// The platform gets a target every `LEAD_EVERY` steps, and reaches it when it gets the next one.
const LEAD_EVERY: u64 = 60;
const PLATFORM: [Vector; 2] = [Vector::new(6.0, 0.3, 0.0), Vector::new(6.0, 1.8, 2.0)];

/// The input of the player: a real time in milliseconds, and the event.
const SCRIPT: [(u64, Input); 11] = [
    (250, Input::Walk(1.0)),
    (1_500, Input::Jump(true)),
    (1_580, Input::Jump(false)),
    (2_600, Input::Walk(-1.0)),
    // Two presses happen between two steps.
    (3_001, Input::Jump(true)),
    (3_003, Input::Jump(false)),
    (3_006, Input::Jump(true)),
    (3_009, Input::Jump(false)),
    (4_200, Input::Walk(0.7)),
    (6_000, Input::Walk(-0.4)),
    (7_000, Input::Walk(0.0)),
];

/// The end of the script.
pub const SCRIPT_LENGTH: Duration = Duration::from_secs(7);

#[derive(Clone, Copy, Debug)]
enum Input {
    /// The stick, from -1 to 1.
    Walk(f32),
    Jump(bool),
}

/// The data from which an ECS creates an entity.
pub struct Thing {
    /// The number of things that were created before this one.
    pub number: u32,
    pub part: Part,
    pub body: RigidBody,
    pub collider: Collider,
}

/// The role of a thing. Each ECS turns it into components.
#[derive(Clone, Copy, Debug, ::bevy_ecs::component::Component, ::shipyard::Component)]
pub enum Part {
    Scenery,
    Player,
    Platform,
    Pickup,
    Ball { dies_at: u64 },
    Doomed,
}

/// A mishap in a run. It happens in the systems before the step of this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The first system panics, once.
    Panic(u64),
    /// The last system restarts the level.
    Restart(u64),
}

/// An entity, with the number and the part of its thing, and its body.
pub type Made<E> = (E, u32, Part, Option<BodyKey>);

/// A body that a rollback has restored, and the thing that it belongs to.
pub struct Lost<E> {
    pub key: BodyKey,
    pub number: u32,
    pub part: Part,
    /// The entity of the thing, if it is alive.
    pub entity: Option<E>,
}

/// The whole game except the bodies.
#[derive(Debug)]
pub struct Game {
    mishap: Option<Mishap>,
    input: InputQueue<Input>,
    /// The number of script entries that have been applied.
    played: usize,
    walk: f32,
    jump: Button,
    things: u32,
    /// Whether steps get wrong input until they are resimulated.
    is_late: bool,
    /// The input that was read before each step.
    read: BTreeMap<u64, Vec<Input>>,
    /// The state after that input, and the number of things, before each step.
    kept: BTreeMap<u64, (f32, Button, u32)>,
    /// The number and the part of the thing that each body last belonged to.
    known: BTreeMap<BodyKey, (u32, Part)>,
}

impl Game {
    pub fn new(mishap: Option<Mishap>) -> Self {
        Self {
            mishap,
            input: InputQueue::new(Delivery::ByTime),
            played: 0,
            walk: 0.0,
            jump: Button::default(),
            things: 0,
            is_late: false,
            read: BTreeMap::new(),
            kept: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// Creates a game whose input is right only in resimulated steps.
    pub fn late() -> Self {
        Self {
            is_late: true,
            ..Self::new(None)
        }
    }

    /// Goes back by `ticks` steps, as far as snapshots reach. It restores the bodies and the game's state. `made`
    /// lists the present entities. The ECS must match its entities to the restored bodies.
    ///
    /// # Panics
    /// If a frame is open and the rewind limits cannot be changed.
    pub fn roll_back<E>(&mut self, simulation: &mut Simulation, made: &[Made<E>], ticks: u64) {
        for (_, number, part, key) in made {
            self.known.extend(key.map(|key| (key, (*number, *part))));
        }
        simulation.correction = Correction::OFF;
        simulation.keep(Kept {
            ticks,
            ..Kept::default()
        });
        let tick = simulation.physics.tick().saturating_sub(ticks);
        simulation.roll_back(tick).expect("no frame is open");
        if let Some(then) = self.kept.get(&tick) {
            (self.walk, self.jump, self.things) = *then;
        }
    }

    /// Returns the things to which the bodies without an entity belong.
    pub fn lost<E: Copy>(&self, bodies: &[BodyKey], made: &[Made<E>]) -> Vec<Lost<E>> {
        let lost = |key: &BodyKey| {
            let (number, part) = self.known[key];
            let mut without = made.iter().filter(|(.., body)| body.is_none());
            Lost {
                key: *key,
                number,
                part,
                entity: without.find(|made| made.1 == number).map(|made| made.0),
            }
        };
        bodies.iter().map(lost).collect()
    }

    /// Reads the input that the devices reported before the end of a frame. Call it once per frame.
    pub fn feed(&mut self, end: Duration) {
        while let Some((ms, input)) = SCRIPT.get(self.played) {
            let time = Duration::from_millis(*ms);
            if time >= end {
                return;
            }
            self.input.push(time, *input);
            self.played += 1;
        }
    }

    /// Returns the things in the level at its start.
    pub fn level(&mut self) -> Vec<Thing> {
        let mut things = vec![
            self.thing(
                Part::Scenery,
                RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
                ColliderBuilder::cuboid(20.0, 0.5, 20.0),
            ),
            self.thing(
                Part::Player,
                RigidBodyBuilder::dynamic()
                    .translation(Vector::new(-9.0, 0.9, 0.0))
                    .lock_rotations(),
                ColliderBuilder::capsule_y(0.5, 0.4).active_events(ActiveEvents::COLLISION_EVENTS),
            ),
            self.thing(
                Part::Platform,
                RigidBodyBuilder::kinematic_position_based().translation(PLATFORM[0]),
                ColliderBuilder::cuboid(1.5, 0.3, 1.5),
            ),
        ];
        things.extend((0..24).map(|i| self.a_crate(i)));
        things.extend([-6.0, -6.0, -4.5, -3.0].map(|x| self.pickup(x)));
        things
    }

    /// Returns a crate. Four stacks have five crates each, and the platform has one stack of four.
    fn a_crate(&mut self, i: u8) -> Thing {
        let (stack, level) = (f32::from(i / 5), f32::from(i % 5));
        let at = if i < 20 {
            Vector::new(1.1 * stack, 0.5 + level, 0.2 * level)
        } else {
            PLATFORM[0] + Vector::Y * (0.8 + level)
        };
        // The lowest crate of a stack.
        let part = if i == 5 { Part::Doomed } else { Part::Scenery };
        self.thing(
            part,
            RigidBodyBuilder::dynamic().translation(at),
            ColliderBuilder::cuboid(0.5, 0.5, 0.5),
        )
    }

    fn pickup(&mut self, x: f32) -> Thing {
        self.thing(
            Part::Pickup,
            RigidBodyBuilder::fixed().translation(Vector::new(x, 0.6, 0.0)),
            ColliderBuilder::ball(0.3)
                .sensor(true)
                .active_events(ActiveEvents::COLLISION_EVENTS),
        )
    }

    fn thing(&mut self, part: Part, body: RigidBodyBuilder, collider: ColliderBuilder) -> Thing {
        let number = self.things;
        self.things += 1;
        Thing {
            number,
            part,
            body: body.build(),
            collider: collider.build(),
        }
    }

    /// # Panics
    /// In the step of [`Mishap::Panic`].
    pub fn read_input(&mut self, step: Step) {
        if self.is_time_for(Mishap::Panic(step.tick)) {
            panic!("a system panics before step {}", step.tick);
        }
        let now = (self.walk, self.jump, self.things);
        self.kept.insert(step.tick, now);
        if !step.is_resimulated {
            let samples = self.input.drain(step).map(|sample| sample.input);
            self.read.insert(step.tick, samples.collect());
        }
        self.jump.start_step();
        for input in &self.read[&step.tick] {
            match *input {
                Input::Walk(walk) => self.walk = walk,
                Input::Jump(down) => self.jump.set(down),
            }
        }
    }

    pub fn drive(&self, physics: &mut Physics, player: BodyKey) {
        physics
            .add_force(player, Vector::X * 9.0 * self.walk)
            .unwrap();
        for _ in 0..self.jump.presses() {
            physics.apply_impulse(player, Vector::Y * 2.5).unwrap();
        }
    }

    /// Returns the balls that are spawned in this step.
    pub fn drop_balls(&mut self, step: Step) -> Vec<Thing> {
        // With late input, the balls seem to be spawned three steps earlier.
        let is_wrong = self.is_late && !step.is_resimulated;
        let tick = step.tick + if is_wrong { 3 } else { 0 };
        if !tick.is_multiple_of(DROP_EVERY) {
            return Vec::new();
        }
        let part = Part::Ball {
            dies_at: step.tick + LIFETIME,
        };
        let place = (step.tick / DROP_EVERY % 7) as f32;
        let at = [
            Vector::new(place - 1.0, 8.0, 0.4),
            Vector::new(4.0 - place, 9.0, -0.3),
        ];
        at.map(|at| {
            self.thing(
                part,
                RigidBodyBuilder::dynamic().translation(at),
                ColliderBuilder::ball(0.35).restitution(0.5),
            )
        })
        .into()
    }

    /// Returns whether the level restarts in this step.
    pub fn restarts(&mut self, step: Step) -> bool {
        self.is_time_for(Mishap::Restart(step.tick))
    }

    fn is_time_for(&mut self, mishap: Mishap) -> bool {
        self.mishap.take_if(|next| *next == mishap).is_some()
    }
}

/// Returns bodies, and a value for each, in the order of their keys.
///
/// Keys are the same in every run. The order in which an ECS iterates its entities differs between ECSs, and in most of
/// them it also depends on earlier despawns.
pub fn in_order<T>(found: impl Iterator<Item = (BodyKey, T)>) -> Vec<(BodyKey, T)> {
    let mut found: Vec<_> = found.collect();
    found.sort_unstable_by_key(|(key, _)| *key);
    found
}

/// Moves the platform to and fro. Once a second it sets the target that the platform reaches a second later.
pub fn lead(physics: &mut Physics, platform: BodyKey, step: Step) {
    if step.tick.is_multiple_of(LEAD_EVERY) {
        let to = PLATFORM[if step.tick.is_multiple_of(2 * LEAD_EVERY) {
            1
        } else {
            0
        }];
        let time = step.start_time + Duration::from_secs(1);
        physics
            .set_kinematic_target(platform, Pose::from_translation(to), time)
            .unwrap();
    }
}

/// Applies wind to the balls.
pub fn blow(physics: &mut Physics, balls: impl Iterator<Item = BodyKey>) {
    for (ball, ()) in in_order(balls.map(|ball| (ball, ()))) {
        if let Some(body) = physics.body_mut(ball) {
            body.apply_impulse(Vector::new(-0.004, 0.0, 0.006), true);
        }
    }
}

/// Removes the body of the doomed crate through Rapier's API.
pub fn blast(physics: &mut Physics, doomed: BodyKey, step: Step) {
    if step.tick == BLAST_AT
        && let Some(handle) = physics.handle(doomed)
    {
        physics.rapier_mut().remove_body(handle);
    }
}

/// Returns the balls that are due to be despawned in this step, in the order in which to despawn them.
pub fn dead<E>(balls: impl Iterator<Item = (BodyKey, (E, u64))>, step: Step) -> Vec<E> {
    in_order(balls.filter(|(_, (_, dies_at))| *dies_at <= step.tick))
        .into_iter()
        .map(|(_, (ball, _))| ball)
        .collect()
}

/// Returns the sensors that the player began to touch in the last step, in the order of their keys.
pub fn touched(physics: &Physics, player: BodyKey) -> Vec<BodyKey> {
    let touched = physics
        .events()
        .collisions()
        .filter(|collision| collision.started && collision.sensor)
        .filter_map(|collision| match collision.bodies {
            [Some(sensor), Some(other)] | [Some(other), Some(sensor)] if other == player => {
                Some((sensor, ()))
            }
            _ => None,
        });
    in_order(touched)
        .into_iter()
        .map(|(sensor, ())| sensor)
        .collect()
}
