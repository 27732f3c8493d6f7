//! A game whose hooks depend only on the tick, the input of that tick and the state.

use crate::scenes::testing::{pose, spin, translation, vector};
use crate::scenes::{MS, ball, hash, mixed};
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step};
use std::collections::BTreeMap;

/// The part of the game that is stored in the state.
#[derive(Clone, Debug, Default, PartialEq)]
struct Score {
    steps: u64,
    hits: u64,
    /// The bodies that are removed after the step of their insertion.
    guests: Vec<BodyKey>,
}

/// Everything that a step depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    hash: u64,
    keys: Vec<BodyKey>,
    score: Score,
}

impl Bits {
    pub fn of(physics: &Physics) -> Self {
        Self {
            hash: hash(physics.rapier()),
            keys: keys(physics),
            score: physics.resources().get::<Score>().unwrap().clone(),
        }
    }
}

pub struct Failure;

pub struct Game {
    seed: u64,
    /// The inputs by tick.
    pub inputs: BTreeMap<u64, u64>,
    queue: InputQueue<u64>,
    /// The inputs that were delivered, and the tick of their step.
    delivered: Vec<(u64, u64)>,
    sent: u64,
    /// The bits at the start of each step, in its last run.
    pub steps: BTreeMap<u64, Bits>,
    /// The events of each step, in its last run.
    pub events: BTreeMap<u64, Vec<String>>,
    /// The hook before or after the step of this index in the frame fails.
    fails: Option<(u64, bool)>,
    /// How many new steps of this frame have begun.
    pub begun: u64,
}

/// Inserts bodies, and a platform that the game moves.
pub fn furnish(simulation: &mut Simulation) {
    simulation.physics.set_gravity(Vector::Y * -9.81).unwrap();
    simulation.physics.resources_mut().insert(Score::default());
    simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), loud());
    let floor = RigidBodyBuilder::fixed().translation(Vector::Y * -2.0);
    simulation
        .physics
        .insert(floor, crate::scenes::testing::cuboid(20.0, 0.5, 20.0));
    for i in 0..4u8 {
        let at = vector(0.15 * f32::from(i), f32::from(i), 0.0);
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic().translation(at), loud());
    }
}

fn loud() -> ColliderBuilder {
    ball().active_events(ActiveEvents::COLLISION_EVENTS)
}

fn keys(physics: &Physics) -> Vec<BodyKey> {
    let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys
}

fn score(physics: &mut Physics) -> &mut Score {
    physics.resources_mut().get_mut::<Score>().unwrap()
}

/// Changes the physics before a step, between two frames, or in a state of another machine. `pushes` is false where a
/// force would be discarded.
pub fn act(physics: &mut Physics, chance: u64, pushes: bool) {
    let keys = keys(physics);
    let any = keys[(chance / 16) as usize % keys.len()];
    let at = vector((chance / 64 % 9) as f32 - 4.0, 3.0, 0.0);
    match chance % 16 {
        0..=2 => {
            let body = RigidBodyBuilder::dynamic()
                .translation(at)
                .linvel(Vector::X);
            physics.insert(body.sleeping(chance.is_multiple_of(5)), loud());
        }
        3 | 4 if keys.len() > 6 => drop(physics.remove(any)),
        5 => drop(physics.teleport(any, Pose::from_translation(at))),
        6 => {
            let body = physics.body_mut(any).unwrap();
            body.set_linvel(vector(9.0, 1.0, 2.0), true);
        }
        7 if chance.is_multiple_of(3) => {
            let body = physics.body_mut(any).unwrap();
            body.set_linvel(Vector::splat(f32::NAN), true);
        }
        8 => {
            // The body exists for less than a step.
            let key = physics.insert(RigidBodyBuilder::dynamic().translation(at), loud());
            physics.remove(key).unwrap();
        }
        _ if pushes => drop(physics.apply_impulse(any, vector(0.01, 0.02, 0.0))),
        _ => (),
    }
}

impl Game {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            inputs: BTreeMap::new(),
            queue: InputQueue::new(Delivery::ByTime),
            delivered: Vec::new(),
            sent: 0,
            steps: BTreeMap::new(),
            events: BTreeMap::new(),
            fails: None,
            begun: 0,
        }
    }

    /// Pushes an input for the middle of the next frame, in real time.
    pub fn expect_input(&mut self, number: u64, real_time: u64, millis: u64) {
        if millis > 0 {
            self.queue.push(MS(real_time) + MS(millis) / 2, number);
            self.sent += 1;
        }
    }

    /// Checks that each input that was sent was delivered once or is still waiting. Returns the delivered ones.
    pub fn delivered_inputs(&self) -> Vec<(u64, u64)> {
        let mut numbers: Vec<_> = self.delivered.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(
            numbers.len(),
            self.delivered.len(),
            "an input was delivered twice"
        );
        assert_eq!((numbers.len() + self.queue.len()) as u64, self.sent);
        self.delivered.clone()
    }

    /// Takes the inputs of a tick, in any order.
    pub fn take(&mut self, tick: u64, input: u64) {
        *self.inputs.entry(tick).or_default() ^= input;
    }

    fn take_input(&mut self, step: Step) {
        let mut taken = Vec::new();
        for sample in self.queue.drain(step) {
            assert!((step.real_start..step.real_end).contains(&sample.time));
            self.delivered.push((sample.input, step.tick));
            taken.push(mixed(sample.input));
        }
        for input in taken {
            self.take(step.tick, input);
        }
    }

    pub fn begin_frame(&mut self, fails: Option<(u64, bool)>) {
        self.fails = fails;
        self.begun = 0;
    }

    fn fails_before(&mut self, step: Step) -> bool {
        if step.is_resimulated {
            return false;
        }
        self.begun += 1;
        self.fails == Some((self.begun - 1, false))
    }

    /// Returns whether the hook after a step fails. It does not fail after the last step of a frame, where nothing can
    /// be dropped.
    fn fails_after(&self, step: Step) -> bool {
        let is_new = !step.is_resimulated && !step.is_last;
        is_new
            && self
                .fails
                .is_some_and(|(index, is_after)| is_after && index + 1 == self.begun)
    }
}

impl Hooks for Game {
    type Error = Failure;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        assert_eq!(physics.tick(), step.tick);
        self.take_input(step);
        if self.fails_before(step) {
            // The failure discards this force.
            let key = *keys(physics).last().unwrap();
            physics.add_force(key, Vector::Y * 100.0).unwrap();
            return Err(Failure);
        }
        score(physics).steps += 1;
        let input = self.inputs.get(&step.tick).copied().unwrap_or_default();
        let hits = score(physics).hits;
        let chance = mixed(self.seed ^ mixed(step.tick ^ input) ^ hits);
        act(physics, chance, true);
        if (chance / 16).is_multiple_of(4) {
            let guest = physics.insert(RigidBodyBuilder::dynamic(), loud());
            score(physics).guests.push(guest);
        }
        let platform = keys(physics)[0];
        let to = translation(0.0, 0.1 * (chance % 7) as f32, 0.0);
        // This fails for a body of another type.
        let _ = physics.set_kinematic_target(platform, to, step.end_time + MS(25));
        self.steps.insert(step.tick, Bits::of(physics));
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        assert_eq!(physics.tick(), step.tick + 1);
        let events = physics.events().in_step(step.tick).iter();
        let events: Vec<_> = events.map(|event| format!("{event:?}")).collect();
        if step.tick.is_multiple_of(2) {
            react(physics, step, events.len() as u64);
        }
        self.events.insert(step.tick, events);
        if self.fails_after(step) {
            Err(Failure)
        } else {
            Ok(())
        }
    }
}

/// Reacts after a step of an even tick, with portals, removals and a new origin.
fn react(physics: &mut Physics, step: Step, events: u64) {
    score(physics).hits += events;
    for guest in std::mem::take(&mut score(physics).guests) {
        physics.remove(guest);
    }
    for key in keys(physics) {
        let x = physics.body(key).unwrap().position().translation.x;
        if x.abs() > 3.0 {
            let by = pose(Vector::X * (-1.5 * x), spin(0.0, 0.0, 0.5));
            // This fails if the pose is not finite.
            let _ = physics.teleport_by(key, by);
        }
    }
    if step.tick % 12 == 8 {
        physics.shift_origin(vector(0.5, 0.25, 0.0)).unwrap();
    }
}
