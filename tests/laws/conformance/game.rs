//! A script in bare Rapier, and as a game whose hooks compare each step with bare Rapier.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenstep::rapier::prelude::*;
use evenstep::recording::Recorder;
use evenstep::time::FrameTime;
use evenstep::{Hooks, Physics, Rate, Simulation, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::world::{Events, World, bits};

/// The number of steps to compare in each scene.
pub const STEPS: u64 = 150;

/// How many ticks late the input arrives in a game that rolls back. This is more than the steps of a frame.
pub const LATE: u64 = 8;

/// Rapier's own hooks.
pub type Filters = Arc<dyn PhysicsHooks + Send + Sync>;

/// A script that uses Rapier's sets. It depends only on these, its own state, the tick, the input and the events.
pub trait Scene: Clone + Serialize + DeserializeOwned + Send + 'static {
    /// Whether Rapier writes all of its state. See `Simulation::save`.
    const IS_WRITTEN: bool = true;

    fn build(world: &mut dyn World) -> Self;

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32);

    fn after_step(&mut self, _: &mut dyn World, _: &Events) {}

    fn filters() -> Filters {
        Arc::new(())
    }

    /// Fails if the events that the scene tests have not happened by the end.
    fn check(&self, physics: &PhysicsWorld);
}

/// Returns the player's input of a tick, from -1 to 1.
pub fn input(tick: u64) -> f32 {
    [0.0, 1.0, 0.6, -1.0, -0.3][(tick / 13 % 5) as usize]
}

/// The bits after each step.
pub type Bits = Arc<[u64]>;

/// Runs a scene in a plain loop over Rapier's own step.
pub fn bare<S: Scene>(input: impl Fn(u64) -> f32) -> Bits {
    let mut world = PhysicsWorld::new();
    let mut scene = S::build(&mut world);
    let filters = S::filters();
    let step = |tick| {
        scene.before_step(&mut world, tick, input(tick));
        let events = Events::of_step(&mut world, &*filters);
        scene.after_step(&mut world, &events);
        bits(&world, &scene, &events)
    };
    let bits = (0..STEPS).map(step).collect();
    scene.check(&world);
    bits
}

/// The tick of the first step whose result differs from bare Rapier's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference(pub u64);

/// A scene as a game, with hooks that compare each step.
pub struct Game<S> {
    pub scene: S,
    expected: Bits,
    /// How many steps were compared, from the first one on and without a gap.
    pub compared: u64,
    pub first_difference: Option<Difference>,
    /// Whether a step first runs with the input of [`LATE`] ticks earlier, and is compared when it is resimulated with
    /// its own input.
    pub guesses: bool,
    /// The scene before each step, for rollbacks.
    pub saved: BTreeMap<u64, S>,
    pub recorder: Option<Recorder<Vec<u8>>>,
}

impl<S: Scene> Game<S> {
    pub fn start(expected: &Bits) -> (Simulation, Self) {
        let mut simulation = Simulation::new(Rate::hz(60));
        let game = Self {
            scene: S::build(&mut simulation.physics),
            expected: Arc::clone(expected),
            compared: 0,
            first_difference: None,
            guesses: false,
            saved: BTreeMap::new(),
            recorder: None,
        };
        (simulation, game)
    }

    fn is_guess(&self, step: Step) -> bool {
        self.guesses && !step.is_resimulated
    }
}

impl<S: Scene> Hooks for Game<S> {
    type Error = Difference;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        time: FrameTime,
    ) -> Result<(), Difference> {
        if let Some(recorder) = &mut self.recorder {
            let recorded = recorder.begin_frame(simulation, &self.scene, time);
            recorded.expect("it can be saved");
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Difference> {
        self.saved.insert(step.tick, self.scene.clone());
        let late = if self.is_guess(step) { LATE } else { 0 };
        let input = input(step.tick.saturating_sub(late));
        if let Some(recorder) = &mut self.recorder {
            recorder.input(step, &input).unwrap();
        }
        self.scene.before_step(physics, step.tick, input);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Difference> {
        if let Some(recorder) = &mut self.recorder {
            recorder.end_step(physics).unwrap();
        }
        let events = Events::of_tick(physics, step.tick);
        self.scene.after_step(physics, &events);
        let expected = self.expected.get(step.tick as usize);
        let Some(expected) = expected.filter(|_| !self.is_guess(step)) else {
            return Ok(());
        };
        if step.tick == self.compared {
            self.compared += 1;
        }
        if bits(physics.rapier(), &self.scene, &events) == *expected {
            return Ok(());
        }
        let difference = Difference(step.tick);
        self.first_difference.get_or_insert(difference);
        Err(difference)
    }

    fn physics_hooks(&self) -> Option<Filters> {
        Some(S::filters())
    }
}
