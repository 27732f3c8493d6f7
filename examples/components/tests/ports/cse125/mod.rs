//! A match in space, on a server whose world is a `SlotMap` with `SecondaryMap`s, and a client that draws the poses that
//! it receives. In each frame of a run the host wakes the server, and the client draws.

pub mod even;
pub mod plain;

use evenstep::rapier::prelude::*;
use evenstep_components::frames::{LENGTH, RATES, frames};
use slotmap::{Key, SecondaryMap};
use std::time::Duration;

/// The physics of the server, as the game calls it. `E` is the entity.
pub trait Engine<E> {
    fn spawn(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder) -> E;
    fn despawn(&mut self, entity: E);
    fn push(&mut self, entity: E, impulse: Vector);
    fn position(&self, entity: E) -> Option<Vector>;
    /// Returns what a ray from an entity in this direction hits first.
    fn shoot(&self, entity: E, direction: Vector) -> Option<E>;
}

/// A report of a player's device.
#[derive(Clone, Copy)]
pub struct Input {
    player: usize,
    stick: Vector,
    fire: bool,
}

/// Returns the input from `start` to `end`, with its times. Each device reports every 8 ms.
pub fn inputs(start: Duration, end: Duration) -> impl Iterator<Item = (Duration, Input)> {
    let number = |time: Duration| time.as_nanos().div_ceil(8_000_000) as u32;
    (number(start)..number(end)).flat_map(|i| {
        [0, 1].map(|player| {
            let tilt = (i + 40 * player as u32) % 100;
            let input = Input {
                player,
                stick: Vector::new(0.0, tilt as f32 / 50.0 - 1.0, 0.0),
                fire: tilt == 0,
            };
            (Duration::from_millis(8) * i, input)
        })
    })
}

/// Two players dodge, and shoot at rocks that drift past. A drone flies evenly.
pub struct Game<E: Key> {
    players: [E; 2],
    sticks: [Vector; 2],
    fires: [bool; 2],
    health: SecondaryMap<E, u8>,
    rocks: Vec<E>,
    /// It touches nothing, so its velocity never changes.
    drone: E,
    ticks: u64,
    hits: f32,
    drawn: Vec<Option<Pose>>,
}

pub struct Played {
    /// The ticks, the hits, and the positions of the players and of the rocks at the end.
    pub end: Vec<f32>,
    /// The x coordinates of the drone at the end: on the server, and as received by the client.
    drone: [f32; 2],
    /// The displayed pose of the drone for each frame, once the client has received one.
    drawn: Vec<Option<Pose>>,
}

/// The velocity of the drone, in m/s.
const DRONE: f32 = 6.0;

impl<E: Key> Game<E> {
    pub fn new(engine: &mut impl Engine<E>) -> Self {
        let mut player = |x| {
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::X * x)
                .linear_damping(0.5);
            engine.spawn(body, ColliderBuilder::ball(0.5).mass(1.0))
        };
        let players = [-20.0, 20.0].map(&mut player);
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::Z * 50.0)
            .linvel(Vector::X * DRONE);
        Self {
            players,
            sticks: [Vector::ZERO; 2],
            fires: [false; 2],
            health: SecondaryMap::new(),
            rocks: vec![],
            drone: engine.spawn(body, ColliderBuilder::ball(0.5)),
            ticks: 0,
            hits: 0.0,
            drawn: vec![],
        }
    }

    /// Adds the input of a player to that of the next tick.
    pub fn input(&mut self, input: Input) {
        self.sticks[input.player] = input.stick;
        self.fires[input.player] |= input.fire;
    }

    /// Runs in each tick, before the step.
    pub fn rules(&mut self, engine: &mut impl Engine<E>) {
        if self.ticks.is_multiple_of(20) {
            let height = (self.ticks % 7) as f32 * 2.0 - 6.0;
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::new(0.0, height, -6.0))
                .linvel(Vector::Z * 3.0);
            let rock = engine.spawn(body, ColliderBuilder::ball(1.0));
            self.health.insert(rock, 2);
            self.rocks.push(rock);
        }
        self.ticks += 1;
        for (i, player) in self.players.into_iter().enumerate() {
            engine.push(player, self.sticks[i] * 0.3);
            let fires = std::mem::take(&mut self.fires[i]);
            let target = self.rocks.iter().rev().nth(i).copied();
            if let Some(target) = target.filter(|_| fires) {
                self.fire(engine, player, target);
            }
        }
    }

    fn fire(&mut self, engine: &mut impl Engine<E>, player: E, target: E) {
        let [from, to] = [player, target].map(|it| engine.position(it).unwrap());
        let Some(hit) = engine.shoot(player, (to - from).normalize()) else {
            return;
        };
        let Some(health) = self.health.get_mut(hit) else {
            return; // the other player
        };
        self.hits += 1.0;
        *health -= 1;
        if *health == 0 {
            self.health.remove(hit);
            self.rocks.retain(|rock| *rock != hit);
            engine.despawn(hit);
        }
    }

    /// Draws the client's picture.
    pub fn draw(&mut self, pose: impl Fn(E) -> Option<Pose>) {
        self.drawn.push(pose(self.drone));
    }

    /// Ends the run. `received` returns the newest pose that the client has received.
    pub fn end(self, engine: &impl Engine<E>, received: impl Fn(E) -> Pose) -> Played {
        let mut end = vec![self.ticks as f32, self.hits];
        for entity in self.players.iter().chain(&self.rocks) {
            end.extend(engine.position(*entity).unwrap().to_array());
        }
        let drone = engine.position(self.drone).unwrap();
        Played {
            end,
            drone: [drone.x, received(self.drone).translation.x],
            drawn: self.drawn,
        }
    }
}

#[test]
fn a_plain_server_never_makes_up_for_late_ticks() {
    let ticks =
        [plain::run, even::run].map(|run| RATES.map(|fps| run(&frames(fps, LENGTH)).end[0]));
    println!("{ticks:?}");
    // 16 ms are over at each frame, every second, or every third one.
    assert_eq!(ticks[0], [150.0, 300.0, 180.0, 225.0, 300.0, 240.0]);
    assert_eq!(ticks[1], [300.0; 6]);
}

#[test]
fn a_plain_server_sends_the_poses_before_its_last_step() {
    let frames = frames(60, LENGTH);
    let [plain, even] = [plain::run, even::run].map(|run| run(&frames).drone);
    let behind = (plain[0] - plain[1]) * 60.0 / DRONE;
    assert!((behind - 1.0).abs() < 0.01, "{behind} steps");
    assert_eq!(even[0], even[1]);
}

#[test]
fn a_plain_client_draws_uneven_motion() {
    let frames = frames(144, LENGTH);
    let [plain, even] = [plain::run, even::run].map(|run| {
        let drawn = run(&frames).drawn;
        let pairs = drawn.windows(2).zip(&frames[1..]).skip(288);
        let speeds = pairs.map(|(pair, time)| {
            let [from, to] = [pair[0], pair[1]].map(|it| it.unwrap().translation.x);
            (to - from) / time.as_secs_f32()
        });
        let (least, most) = (f32::MAX, 0.0_f32);
        speeds.fold([least, most], |[least, most], it| {
            [least.min(it), most.max(it)]
        })
    });
    println!("{plain:?} and {even:?} m/s");
    assert!(plain[0] == 0.0 && plain[1] > 2.0 * DRONE, "{plain:?} m/s");
    assert!(
        even[0] > 0.98 * DRONE && even[1] < 1.02 * DRONE,
        "{even:?} m/s"
    );
}
