//! The actions of a game, and its hooks.

use super::model::{Id, Model};
use super::testing::cuboid;
use evenstep::events::Events;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub enum Action {
    Pause,
    Resume,
    StepOnce,
    Speed(f64),
    Rate(u32),
    /// Goes back this many steps, and changes the input of that tick.
    RollBack(u64, f32),
    /// The same, and runs the steps at once.
    Resimulate(u64, f32),
    Rewind(u64),
    Correct(f32),
    Assign,
    Clone,
    /// Stops the overlap, displays a frame in a single thread or not, and starts another one.
    Restart(bool),
    SetTick(u64),
}

#[derive(Clone, Debug)]
pub struct FrameScript {
    pub millis: u64,
    pub actions: Vec<Action>,
    /// The number of steps after which a hook fails, or the game ends the frame.
    pub most: Option<u64>,
    /// Where in this step it fails.
    pub fails_after: bool,
}

fn action() -> impl Strategy<Value = Action> {
    let speed = || -30.0..30.0f32;
    prop_oneof![
        1 => Just(Action::Pause),
        2 => Just(Action::Resume),
        1 => Just(Action::StepOnce),
        1 => prop::sample::select(vec![0.0, 0.3, 1.0, 1.0, 3.0]).prop_map(Action::Speed),
        1 => prop::sample::select(vec![30, 60, 120]).prop_map(Action::Rate),
        5 => (0..14u64, speed()).prop_map(|(back, speed)| Action::RollBack(back, speed)),
        3 => (0..14u64, speed()).prop_map(|(back, speed)| Action::Resimulate(back, speed)),
        1 => (0..14u64).prop_map(Action::Rewind),
        1 => speed().prop_map(Action::Correct),
        1 => Just(Action::Assign),
        1 => Just(Action::Clone),
        1 => any::<bool>().prop_map(Action::Restart),
        1 => (0..90u64).prop_map(Action::SetTick),
    ]
}

pub fn script() -> impl Strategy<Value = Vec<FrameScript>> {
    let frame = (
        prop_oneof![3 => 2..40u64, 1 => 0..200u64],
        prop::collection::vec(action(), 0..2),
        prop::option::weighted(0.3, 0..6u64),
        any::<bool>(),
    )
        .prop_map(|(millis, actions, most, fails_after)| FrameScript {
            millis,
            actions,
            most,
            fails_after,
        });
    prop::collection::vec(frame, 1..60)
}

/// The input of each tick, and the hooks that apply it.
pub struct Game {
    balls: Vec<BodyKey>,
    inputs: BTreeMap<u64, f32>,
    pub model: Model,
    /// The tick at which the last rollback began.
    present: u64,
    /// How many steps may still run, and whether the last one fails after it has run.
    pub left: u64,
    pub fails_after: bool,
}

#[derive(Debug)]
pub struct Failure;

impl Hooks for Game {
    type Error = Failure;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        if self.left == 0 {
            return Err(Failure);
        }
        if let Some(speed) = self.inputs.get(&step.tick) {
            let ball = physics.body_mut(self.balls[0]).expect("it lives");
            ball.set_linvel(Vector::X * *speed, true);
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        self.left = self.left.saturating_sub(1);
        self.model.end_step(step, ids(&physics.events()));
        if step.tick + 1 == self.present {
            self.model.settle(self.present);
        }
        if self.left == 0 && self.fails_after {
            return Err(Failure);
        }
        Ok(())
    }
}

pub fn ids(events: &Events) -> Vec<Id> {
    let events = events.collisions();
    events
        .map(|it| {
            let colliders = it.colliders.map(|collider| collider.into_raw_parts().0);
            (it.step, colliders, it.started)
        })
        .collect()
}

/// Balls that fly to and fro in a box.
pub fn start() -> (Simulation, Game) {
    let mut simulation = Simulation::default();
    let none = simulation.physics.set_gravity(Vector::ZERO);
    none.expect("it is finite");
    simulation.keep(Kept {
        ticks: 10,
        ..Kept::default()
    });
    for (at, wall) in [
        (Vector::X * 3.0, cuboid(1.0, 3.0, 3.0)),
        (Vector::X * -3.0, cuboid(1.0, 3.0, 3.0)),
        (Vector::Y * 3.0, cuboid(3.0, 1.0, 3.0)),
        (Vector::Y * -3.0, cuboid(3.0, 1.0, 3.0)),
    ] {
        let body = RigidBodyBuilder::fixed().translation(at);
        simulation.physics.insert(body, wall.restitution(1.0));
    }
    let balls = (0..3u8).map(|i| {
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::X * (f32::from(i) - 1.0))
            .linvel(Vector::X * 21.0 + Vector::Y * 13.0 * f32::from(i));
        let collider = ColliderBuilder::ball(0.1)
            .restitution(1.0)
            .active_events(ActiveEvents::COLLISION_EVENTS);
        simulation.physics.insert(body, collider)
    });
    let game = Game {
        balls: balls.collect(),
        inputs: BTreeMap::new(),
        model: Model::default(),
        present: 0,
        left: u64::MAX,
        fails_after: false,
    };
    (simulation, game)
}

impl Game {
    pub fn begin(&mut self, frame: &FrameScript) {
        self.left = frame.most.unwrap_or(u64::MAX);
        self.fails_after = frame.fails_after;
    }

    /// Carries out an action between frames.
    pub fn act(&mut self, simulation: &mut Simulation, action: &Action, is_overlap: bool) {
        self.left = u64::MAX;
        let here = simulation.physics.tick();
        let present = simulation.clock().tick();
        if simulation.steps_to_resimulate() == 0 {
            self.model.settle(present);
        }
        match *action {
            Action::Pause => simulation.pause(),
            Action::Resume => simulation.resume(),
            Action::StepOnce => simulation.step_once(),
            Action::Speed(speed) => {
                let settings = simulation.clock_settings_mut();
                settings.set_speed(speed).expect("the speed is valid");
            }
            Action::Rate(rate) => simulation.clock_settings_mut().set_rate(Rate::hz(rate)),
            Action::RollBack(back, speed) | Action::Resimulate(back, speed) => {
                let tick = here.saturating_sub(back);
                if simulation.roll_back(tick).is_ok() {
                    self.inputs.insert(tick, speed);
                    self.model.roll_back(simulation.physics.tick());
                    self.present = present;
                }
                if matches!(action, Action::Resimulate(..)) {
                    let result = simulation.resimulate_with(simulation.physics.tick(), self);
                    result.expect("no hook fails");
                    self.model.settle(present);
                }
            }
            Action::Rewind(back) => {
                let tick = here.saturating_sub(back);
                if simulation.rewind(tick).is_ok() {
                    self.model.settle(present);
                    self.model.go_back(tick);
                }
            }
            Action::Correct(speed) => {
                let mut state = simulation.physics.clone();
                let ball = state.body_mut(self.balls[1]).expect("it lives");
                ball.set_linvel(Vector::Y * speed, true);
                simulation.correct(state).expect("it is of this tick");
            }
            Action::Assign => {
                simulation.physics = simulation.physics.clone();
                self.model.roll_back(0);
                self.model.go_back(0);
            }
            // A view displays the states before a rollback until it ends.
            Action::Clone if is_overlap && simulation.steps_to_resimulate() > 0 => (),
            Action::Clone => {
                *simulation = simulation.clone();
                if is_overlap {
                    self.model.forget();
                }
            }
            Action::Restart(_) => (),
            Action::SetTick(tick) => {
                if !is_overlap && tick != here {
                    if simulation.steps_to_resimulate() > 0 {
                        self.model.settle(present);
                        self.model.go_back(here);
                    }
                    simulation.set_tick(tick);
                    self.model.renumber();
                    self.inputs.clear();
                }
            }
        }
    }

    /// Checks the events of a picture with this tick in a single thread.
    pub fn check(&mut self, simulation: &Simulation) {
        let displayed = ids(&simulation.events());
        if simulation.steps_to_resimulate() > 0 {
            assert_eq!(displayed, []);
            return;
        }
        self.model.settle(simulation.clock().tick());
        self.model.display(u64::MAX, &displayed);
    }
}
