//! The order within a step, and within a frame.

use std::sync::Arc;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::time::RateError;
use evenstep::{BodyError, BodyKey, Frame, Hooks, Physics, Rate, Simulation, Smoothing, Step};

use crate::controls::{Controls, Key};
use crate::hero::Hero;
use crate::level::{self, LIFT, Level};
use crate::one_way::OneWay;

/// The game without its picture.
#[derive(Debug)]
pub struct Game {
    simulation: Simulation,
    rules: Rules,
}

/// The rules that run in each step.
#[derive(Debug)]
struct Rules {
    controls: Controls,
    hero: Hero,
    level: Level,
    score: usize,
    one_way: Arc<OneWay>,
}

impl Game {
    /// Creates a game at the beginning of its level, with `rate` steps per second.
    ///
    /// # Errors
    /// If the rate is not valid.
    pub fn new(rate: u32) -> Result<Self, RateError> {
        let mut simulation = Simulation::new(Rate::hz(rate));
        simulation.physics.set_gravity(Vector::Y * -20.0).unwrap();
        let level = level::build(&mut simulation.physics);
        let rules = Rules {
            controls: Controls::default(),
            hero: Hero::new(level.hero),
            level,
            score: 0,
            one_way: Arc::new(OneWay),
        };
        Ok(Self { simulation, rules })
    }

    /// Adds a key event, before the next frame.
    pub fn push(&mut self, key: Key) {
        let now = self.simulation.clock().real_time();
        self.rules.controls.push(now, key);
    }

    /// Runs a frame.
    ///
    /// # Errors
    /// If a body that the rules need has been removed.
    pub fn advance(&mut self, frame_time: Duration) -> Result<Frame, BodyError> {
        self.simulation.advance_with(frame_time, &mut self.rules)
    }

    /// Returns the displayed position of the hero.
    #[must_use]
    pub fn hero(&self) -> Vector {
        let pose = self.simulation.pose(self.rules.level.hero);
        pose.map_or(Vector::ZERO, |pose| pose.translation)
    }

    /// Returns whether the hero stood on something in the last step.
    #[must_use]
    pub fn is_on_ground(&self) -> bool {
        let ticks = self.simulation.physics.tick();
        self.rules.hero.is_on_ground(ticks)
    }

    /// Returns whether bodies are displayed between two steps, as evenstep does by default, or at the latest step.
    #[must_use]
    pub fn is_interpolated(&self) -> bool {
        self.simulation.smoothing == Smoothing::Interpolate
    }

    /// Switches interpolation on or off, to see what it does.
    pub fn switch_interpolation(&mut self) {
        self.simulation.smoothing = match self.is_interpolated() {
            true => Smoothing::Latest,
            false => Smoothing::Interpolate,
        };
    }

    /// Returns whether the game is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.simulation.clock().settings().is_paused()
    }

    /// Returns the number of collected coins.
    #[must_use]
    pub fn score(&self) -> usize {
        self.rules.score
    }

    /// Returns the level.
    #[must_use]
    pub fn level(&self) -> &Level {
        &self.rules.level
    }

    /// Returns the simulation.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Returns the simulation, for pausing it or reading the removed bodies.
    pub fn simulation_mut(&mut self) -> &mut Simulation {
        &mut self.simulation
    }
}

impl Hooks for Rules {
    type Error = BodyError;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), BodyError> {
        // The lift goes up and down, each for the same time. Setting the same target again changes nothing.
        let (height, time) = LIFT;
        let leg = (step.start_time.as_nanos() / time.as_nanos()) as u32;
        let up = if leg.is_multiple_of(2) { height } else { 0.0 };
        let place = Pose::from_translation(self.level.lift_at + Vector::Y * up);
        physics.set_kinematic_target(self.level.lift, place, time * (leg + 1))?;

        let wish = self.controls.wish(step);
        self.hero.before_step(physics, wish, step)
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), BodyError> {
        let touches = |coin: &BodyKey| {
            let mut collisions = physics.events().collisions();
            collisions.any(|it| it.started && it.bodies.contains(&Some(*coin)))
        };
        let (collected, left) = self
            .level
            .coins
            .iter()
            .partition::<Vec<BodyKey>, _>(|coin| touches(coin));
        self.level.coins = left;
        self.score += collected.len();
        for coin in collected {
            physics.remove(coin);
        }
        Ok(())
    }

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        Some(self.one_way.clone())
    }
}
