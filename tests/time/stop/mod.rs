//! `Physics::pause_after_step`: the frame ends at that step, and no time is lost or counted twice.

mod held_time;
mod loops;

use When::{After, Before, Between};
use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::time::{Budget, Dropped, FrameTime};
use evenstep::{BodyKey, Frame, Hooks, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use scenes::{
    MS, STEPPINGS, advance, assert_near, flyer_in_space, hash, moved_keys, shown_x, stepped_x,
};
use std::convert::Infallible;
use std::time::Duration;

/// When the game asks for the pause: in a hook, or in the pull form after both hooks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Before,
    After,
    Between,
}

/// Asks for pauses, and records each step that has run.
#[derive(Clone, Default)]
struct Game {
    stops: Vec<(u64, When)>,
    /// The time and the state after each step, with its length.
    steps: Vec<(Step, u64)>,
}

impl Game {
    fn new(stops: &[(u64, When)]) -> Self {
        Self {
            stops: stops.to_vec(),
            ..Self::default()
        }
    }

    /// Pauses if the game is to do it at this time. Loops without a place between the hooks do it in the second one.
    fn pause(&self, physics: &mut Physics, tick: u64, when: &[When]) {
        if self
            .stops
            .iter()
            .any(|(at, it)| *at == tick && when.contains(it))
        {
            physics.pause_after_step();
        }
    }

    /// Returns the ticks of the steps, their times and the states after them.
    fn run(&self) -> Vec<(u64, Duration, Duration, u64)> {
        let run = self.steps.iter();
        run.map(|(step, hash)| (step.tick, step.start_time, step.end_time, *hash))
            .collect()
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let (key, _) = physics.bodies().next().unwrap();
        physics
            .apply_impulse(key, Vector::Y * (step.tick % 5) as f32)
            .unwrap();
        self.pause(physics, step.tick, &[Before]);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.pause(physics, step.tick, &[After, Between]);
        self.steps.push((step, hash(physics.rapier())));
        Ok(())
    }
}

/// Runs frames in one form of the loop.
enum Loop {
    Closure(Box<Simulation>),
    Hooks(Box<Simulation>),
    Pull(Box<Simulation>),
    Overlap(Box<Overlap>),
}

impl Loop {
    /// Returns the simulation in each form of the loop.
    fn all(simulation: &Simulation) -> [Self; 4] {
        let overlap = Box::new(Overlap::new(simulation.clone()).unwrap());
        let copies = [(); 3].map(|()| Box::new(simulation.clone()));
        let [closure, hooks, pull] = copies;
        [
            Self::Closure(closure),
            Self::Hooks(hooks),
            Self::Pull(pull),
            Self::Overlap(overlap),
        ]
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Closure(_) => "closure",
            Self::Hooks(_) => "hooks",
            Self::Pull(_) => "pull form",
            Self::Overlap(_) => "overlap",
        }
    }

    fn simulation(&mut self, game: &mut Game) -> &mut Simulation {
        match self {
            Self::Closure(simulation) | Self::Hooks(simulation) | Self::Pull(simulation) => {
                simulation
            }
            Self::Overlap(overlap) => {
                let Ok(simulation) = overlap.simulation(game);
                simulation
            }
        }
    }

    /// Runs a frame. Returns the displayed time of a view.
    fn frame(&mut self, frame_time: Duration, game: &mut Game) -> f64 {
        match self {
            Self::Closure(simulation) => {
                // A closure has no hook after the step, so it asks before.
                let mut last = None;
                let frame = simulation.advance(frame_time, |physics, step| {
                    game.record(last.replace(step), physics);
                    let Ok(()) = game.before_step(physics, step);
                    game.pause(physics, step.tick, &[After, Between]);
                });
                game.record(last, &simulation.physics);
                frame.time.as_secs_f64()
            }
            Self::Hooks(simulation) => {
                let Ok(frame) = simulation.advance_with(frame_time, game);
                frame.time.as_secs_f64()
            }
            Self::Pull(simulation) => {
                simulation.begin_frame(frame_time);
                while let Some(step) = simulation.next_step() {
                    let Ok(()) = game.before_step(&mut simulation.physics, step);
                    assert!(simulation.run_step());
                    game.pause(&mut simulation.physics, step.tick, &[After]);
                    game.record(Some(step), &simulation.physics);
                    game.pause(&mut simulation.physics, step.tick, &[Between]);
                }
                simulation.end_frame().time.as_secs_f64()
            }
            Self::Overlap(overlap) => {
                let Ok(view) = overlap.frame(frame_time, game);
                view.time().as_secs_f64()
            }
        }
    }
}

impl Game {
    fn record(&mut self, step: Option<Step>, physics: &Physics) {
        let state = hash(physics.rapier());
        self.steps.extend(step.map(|step| (step, state)));
    }
}
