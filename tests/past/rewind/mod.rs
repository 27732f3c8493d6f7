//! Going back in time: resimulated steps, displayed poses during and after a rollback, and permanent rewinds.

mod between_steps;
mod correction;
mod events;
mod interval;
mod origin;
mod redo;
mod runs;
mod states;
mod taken_back;

use evenstep::events::Events;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::rewind::{ResimulateError, RewindError};
use evenstep::time::Budget;
use evenstep::{
    BodyKey, Correction, Frame, Hooks, Physics, Rate, Simulation, Smoothing, Step, Stepping,
};
use proptest::prelude::*;
use scenes::everything::Everything;
use scenes::mirror::Mirror;
use scenes::testing::{about_z, angle_between, cuboid, pose, spin, translation, vector};
use scenes::{
    MS, advance, assert_near, ball, break_rapier, flyer, hash, moved_keys, shown_x, space,
    with_floor,
};
use std::collections::BTreeMap;
use std::time::Duration;

const ALL: usize = usize::MAX;

/// Creates a flyer at 100 Hz that moves 1 m per step, with states kept.
fn flyer_with_states(ticks: u64) -> (Simulation, BodyKey) {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks,
        bytes: ALL,
        ..simulation.kept()
    });
    (simulation, key)
}

/// A world in which two players push balls, and bodies are spawned and removed at given ticks.
#[derive(Clone)]
struct Match {
    simulation: Simulation,
    balls: Vec<BodyKey>,
}

type States = (BodyKey, Option<Pose>, Option<Pose>);

/// The effects of each tick's input. Most ticks have none.
type Inputs = BTreeMap<u64, Vec<Effect>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    Push(usize, f32),
    Teleport(usize, f32),
    Spawn(f32),
    Remove(usize),
    Gravity(f32),
}

impl Match {
    fn new(ticks: u64) -> Self {
        let mut simulation = with_floor(Rate::hz(60));
        simulation.keep(Kept {
            ticks,
            bytes: ALL,
            ..simulation.kept()
        });
        let balls = (0..6u8).map(|i| {
            let at = vector(0.7 * f32::from(i), 0.5 + 0.9 * f32::from(i % 3), 0.0);
            let ball = ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS);
            simulation
                .physics
                .insert(RigidBodyBuilder::dynamic().translation(at), ball)
        });
        let balls = balls.collect();
        Self { simulation, balls }
    }

    fn advance(&mut self, inputs: &Inputs, time: Duration) -> Frame {
        let balls = &self.balls;
        (self.simulation).advance(time, |physics, step| act(physics, balls, inputs, step))
    }

    /// Runs the next step, resimulated or not.
    fn step(&mut self, inputs: &Inputs) {
        let step = self.simulation.next_step().unwrap();
        act(&mut self.simulation.physics, &self.balls, inputs, step);
        self.simulation.run_step();
    }

    fn resimulate(&mut self, inputs: &Inputs, tick: u64) -> Result<(), RewindError> {
        let balls = &self.balls;
        let act = |physics: &mut Physics, step| act(physics, balls, inputs, step);
        self.simulation.resimulate(tick, act)
    }

    /// Returns everything that the next steps and their displayed poses depend on.
    fn state(&self) -> (u64, Vec<States>, u64) {
        let simulation = &self.simulation;
        let mut poses: Vec<_> = (simulation.physics.bodies())
            .map(|(key, _)| {
                (
                    key,
                    previous_pose(simulation, key),
                    current_pose(simulation, key),
                )
            })
            .collect();
        poses.sort_unstable_by_key(|(key, ..)| *key);
        (
            hash(simulation.physics.rapier()),
            poses,
            simulation.physics.tick(),
        )
    }
}

fn act(physics: &mut Physics, balls: &[BodyKey], inputs: &Inputs, step: Step) {
    for effect in inputs.get(&step.tick).into_iter().flatten() {
        let key = |i: usize| balls[i % balls.len()];
        // The ball may have been removed.
        match *effect {
            Effect::Push(i, x) => {
                let _ = physics.apply_impulse(key(i), vector(x, 0.1, 0.0));
            }
            Effect::Teleport(i, x) => {
                let _ = physics.teleport(key(i), translation(x, 2.0, 0.0));
            }
            Effect::Spawn(x) => {
                let body = RigidBodyBuilder::dynamic().translation(vector(x, 3.0, 0.0));
                physics.insert(body, cuboid(0.3, 0.3, 0.3));
            }
            Effect::Remove(i) => drop(physics.remove(key(i))),
            Effect::Gravity(y) => physics.set_gravity(Vector::Y * y).unwrap(),
        }
    }
}

fn effect() -> impl Strategy<Value = Effect> {
    let x = || -2.0..2.0f32;
    prop_oneof![
        6 => (0..6usize, x()).prop_map(|(i, x)| Effect::Push(i, x)),
        1 => (0..6usize, x()).prop_map(|(i, x)| Effect::Teleport(i, x)),
        2 => x().prop_map(Effect::Spawn),
        1 => (0..6usize).prop_map(Effect::Remove),
        1 => (-12.0..0.0f32).prop_map(Effect::Gravity),
    ]
}

/// Generates inputs, each with its tick and the number of frames by which it is late.
fn inputs() -> impl Strategy<Value = Vec<(u64, Effect, usize)>> {
    prop::collection::vec((0..60u64, effect(), 0..8usize), 0..20)
}

#[derive(Default)]
struct Watch {
    /// The steps, each with the tick and the time of the state, and the number of its events.
    steps: Vec<(Step, u64, Duration, usize)>,
    /// In the pull form, also the tick and the real time of the clock.
    clocks: Vec<(u64, Duration)>,
    fails_at: Option<u64>,
}

impl Watch {
    /// Runs the steps that are due or are to be resimulated, in the pull form.
    fn pull(&mut self, simulation: &mut Simulation) {
        while let Some(step) = simulation.next_step() {
            let clock = simulation.clock();
            self.clocks.push((clock.tick(), clock.real_time()));
            self.before_step(&mut simulation.physics, step).unwrap();
            assert!(simulation.run_step());
            self.after_step(&mut simulation.physics, step).unwrap();
        }
    }
}

impl Hooks for Watch {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert_eq!(physics.current_step(), Some(step));
        assert_eq!(physics.tick(), step.tick);
        (self.steps).push((step, physics.tick(), physics.time(), 0));
        if self.fails_at == Some(step.tick) {
            return Err("on purpose");
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let events = physics.events().collisions();
        assert!(events.clone().all(|event| event.step == step.tick));
        let events = events.count();
        self.steps.last_mut().unwrap().3 = events;
        Ok(())
    }
}

/// Runs the steps before this tick.
fn run_up_to(simulation: &mut Simulation, tick: u64) {
    while simulation.physics.tick() < tick {
        simulation.next_step().unwrap();
        simulation.run_step();
    }
}

/// Creates a ball that flies at a sensor and hits it in the step of tick 6.
fn ball_and_sensor() -> (Simulation, BodyKey) {
    let (mut simulation, ball) = flyer_with_states(50);
    insert_sensor(&mut simulation, 6.5);
    (simulation, ball)
}

fn insert_sensor(simulation: &mut Simulation, x: f32) {
    let sensor = cuboid(0.5, 5.0, 5.0)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    let body = RigidBodyBuilder::fixed().translation(Vector::X * x);
    simulation.physics.insert(body, sensor);
}

fn starts(events: Events) -> Vec<u64> {
    let starts = events.collisions().filter(|event| event.started);
    starts.map(|event| event.step).collect()
}

/// Creates a body that flies along x. In the resimulated run it also moves along y, at `speed`, from tick 8 on.
fn corrected(speed: f32) -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_with_states(50);
    advance(&mut simulation, 104);
    correct(&mut simulation, key, speed);
    (simulation, key)
}

fn correct(simulation: &mut Simulation, key: BodyKey, speed: f32) {
    correct_as(simulation, key, speed, None);
}

/// Like `correct`, but the body's own correction is set in the same step, so the states before it do not have it.
fn correct_as(simulation: &mut Simulation, key: BodyKey, speed: f32, own: Option<Correction>) {
    let start = simulation.physics.tick() - 2;
    simulation
        .resimulate(start, |physics, step| {
            if step.tick == start {
                physics.set_body_correction(key, own).unwrap();
                let body = physics.body_mut(key).unwrap();
                body.set_linvel(vector(100.0, speed, 0.0), true);
                body.set_angvel(spin(0.0, 0.0, 0.2 * speed), true);
            }
        })
        .unwrap();
    // The next frame displays the visual error.
    advance(simulation, 0);
}

fn assert_same(one: Pose, other: Pose) {
    assert!(
        (one.translation - other.translation).length() < 1e-5,
        "{one:?} {other:?}"
    );
    let turned = angle_between(one.rotation, other.rotation);
    assert!(turned < 2e-5, "{one:?} {other:?}");
}

/// Returns the interpolated pose between the last two states, without a visual error.
fn true_pose(simulation: &Simulation, key: BodyKey) -> Pose {
    simulation
        .pose_at(key, simulation.physics.tick(), simulation.frame().alpha)
        .unwrap()
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
