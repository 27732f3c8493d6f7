//! The ways to run a scene: by bare Rapier, and by all that evenstep does with steps.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use evenstep::rapier3d::prelude::*;
use evenstep::recording::{Recorder, RecorderSettings, Recording, Replay};
use evenstep::threads::{Failure, Overlap, Runner, RunnerSettings};
use evenstep::{Hooks, Rate, ResimulateError, SaveError, Simulation, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::scenes::MS;
use crate::world::{Events, World, bits};

/// How many steps of each scene are compared.
pub const STEPS: u64 = 150;

/// How many ticks late the input is in a game that rolls back: more than the steps of a frame.
const LATE: u64 = 8;

/// Rapier's own hooks.
pub type Filters = Arc<dyn PhysicsHooks + Send + Sync>;

/// A script over Rapier's sets. It depends on nothing but these, its own state, the tick, the input and the events.
pub trait Scene: Clone + Serialize + DeserializeOwned + Send + 'static {
    /// Whether Rapier writes all of its state: see `Simulation::save`.
    const IS_WRITTEN: bool = true;

    fn build(world: &mut dyn World) -> Self;

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32);

    fn after_step(&mut self, _: &mut dyn World, _: &Events) {}

    fn filters() -> Filters {
        Arc::new(())
    }

    /// Fails if what the scene is about has not happened by the end.
    fn check(&self, physics: &PhysicsWorld);
}

/// The player's input of a tick, from -1 to 1.
pub fn input(tick: u64) -> f32 {
    [0.0, 1.0, 0.6, -1.0, -0.3][(tick / 13 % 5) as usize]
}

/// The bits after each step.
type Bits = Arc<[u64]>;

/// By a plain loop over Rapier's own step.
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

/// The tick of the first step that has led elsewhere than with bare Rapier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference(pub u64);

/// A scene as a game, with hooks that compare each step.
pub struct Game<S> {
    scene: S,
    expected: Bits,
    /// How many steps were compared, from the first on, without a gap.
    compared: u64,
    /// Whether a step is made by the input of [`LATE`] ticks before, and compared once it is resimulated by its own.
    guesses: bool,
    /// The scene before each step, for the way back.
    saved: BTreeMap<u64, S>,
    recorder: Option<Recorder<Vec<u8>>>,
}

impl<S: Scene> Game<S> {
    fn is_guess(&self, step: Step) -> bool {
        self.guesses && !step.is_resimulated
    }
}

impl<S: Scene> Hooks for Game<S> {
    type Error = Difference;

    fn before_frame(&mut self, simulation: &Simulation, time: Duration) -> Result<(), Difference> {
        if let Some(recorder) = &mut self.recorder {
            let recorded = recorder.begin_frame(simulation, &self.scene, time);
            recorded.expect("it can be saved");
        }
        Ok(())
    }

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        self.saved.insert(step.tick, self.scene.clone());
        let late = if self.is_guess(step) { LATE } else { 0 };
        let input = input(step.tick.saturating_sub(late));
        if let Some(recorder) = &mut self.recorder {
            recorder.input(step, &input).unwrap();
        }
        self.scene.before_step(simulation, step.tick, input);
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        if let Some(recorder) = &mut self.recorder {
            recorder.end_step(simulation).unwrap();
        }
        let events = Events::of_tick(simulation, step.tick);
        self.scene.after_step(simulation, &events);
        let expected = self.expected.get(step.tick as usize);
        let Some(expected) = expected.filter(|_| !self.is_guess(step)) else {
            return Ok(());
        };
        if step.tick == self.compared {
            self.compared += 1;
        }
        let is_same = bits(simulation.physics(), &self.scene, &events) == *expected;
        is_same.then_some(()).ok_or(Difference(step.tick))
    }

    fn physics_hooks(&self) -> Option<Filters> {
        Some(S::filters())
    }
}

/// Makes all steps of a game.
pub type Way<S> = fn(Simulation, Game<S>) -> Outcome<S>;

/// The game once all is compared, or the first step that differs.
type Outcome<S> = Result<Game<S>, Difference>;

pub fn ways<S: Scene>() -> Vec<(&'static str, Way<S>)> {
    let mut ways: Vec<(_, Way<S>)> = vec![
        ("in frames", in_frames),
        ("rolled back", rolled_back),
        ("overlapped", overlapped),
        ("on a thread", on_a_thread),
    ];
    if S::IS_WRITTEN {
        ways.push(("saved and loaded", saved_and_loaded));
        ways.push(("recorded and replayed", recorded_and_replayed));
    }
    ways
}

/// Runs a scene; gives how many steps were compared.
pub fn run<S: Scene>(way: Way<S>, expected: &Bits) -> Result<u64, Difference> {
    let mut simulation = Simulation::new(Rate::hz(60).unwrap());
    let game = Game {
        scene: S::build(&mut simulation),
        expected: Arc::clone(expected),
        compared: 0,
        guesses: false,
        saved: BTreeMap::new(),
        recorder: None,
    };
    Ok(way(simulation, game)?.compared)
}

/// Frames for 155 steps: the last ones of an [`Overlap`] are waited for.
fn frame_times() -> impl Iterator<Item = Duration> {
    let times = [17, 0, 3, 41, 16, 90, 7, 25].map(MS);
    (0..13).flat_map(move |_| times)
}

/// In frames, each followed by what a way does then.
fn followed<S: Scene>(
    mut simulation: Simulation,
    mut game: Game<S>,
    mut after_frame: impl FnMut(&mut Simulation, &mut Game<S>) -> Result<(), Difference>,
) -> Outcome<S> {
    for frame_time in frame_times() {
        simulation.advance_with(frame_time, &mut game)?;
        after_frame(&mut simulation, &mut game)?;
    }
    Ok(game)
}

fn in_frames<S: Scene>(simulation: Simulation, game: Game<S>) -> Outcome<S> {
    followed(simulation, game, |_, _| Ok(()))
}

fn rolled_back<S: Scene>(mut simulation: Simulation, mut game: Game<S>) -> Outcome<S> {
    simulation.set_rewind_limits(LATE, usize::MAX);
    game.guesses = true;
    followed(simulation, game, |simulation, game| {
        let tick = simulation.tick().saturating_sub(LATE);
        game.scene = game.saved[&tick].clone();
        match simulation.resimulate_with(tick, game) {
            Ok(()) => Ok(()),
            Err(ResimulateError::Hook(difference)) => Err(difference),
            Err(error) => panic!("{error:?}"),
        }
    })
}

fn overlapped<S: Scene>(simulation: Simulation, mut game: Game<S>) -> Outcome<S> {
    let mut overlap = Overlap::new(simulation);
    for frame_time in frame_times() {
        overlap.frame(frame_time, &mut game)?;
    }
    Ok(game)
}

fn on_a_thread<S: Scene>(mut simulation: Simulation, game: Game<S>) -> Outcome<S> {
    // As fast as it can: the time of steps that it cannot make is dropped.
    simulation.set_speed(100.0).unwrap();
    let mut runner = Runner::new(simulation, game, RunnerSettings::default());
    let long = Duration::from_secs(60);
    while let Some((tick, ())) = runner.ask(|_| ()).unwrap().wait(long)
        && tick < STEPS
    {}
    match runner.failures().into_iter().next() {
        None => Ok(runner.stop().1),
        Some(Failure::Hook { error, .. }) => Err(error),
        Some(failure) => panic!("{failure:?}"),
    }
}

fn saved_and_loaded<S: Scene>(simulation: Simulation, game: Game<S>) -> Outcome<S> {
    let mut loads = 0;
    let game = followed(simulation, game, |simulation, game| {
        // Three frames in a row, and then one goes on for some time.
        if simulation.frame().number % 8 > 2 {
            return Ok(());
        }
        match simulation.save() {
            Ok(bytes) => *simulation = Simulation::load(&bytes).unwrap(),
            // By the script, after the step.
            Err(SaveError::ChangedSinceStep) => return Ok(()),
            Err(error) => panic!("{error}"),
        }
        let scene = postcard::to_stdvec(&game.scene).unwrap();
        game.scene = postcard::from_bytes(&scene).unwrap();
        loads += 1;
        Ok(())
    });
    assert!(loads > 20 || game.is_err(), "{loads} loads");
    game
}

fn recorded_and_replayed<S: Scene>(simulation: Simulation, mut game: Game<S>) -> Outcome<S> {
    let mut settings = RecorderSettings::default();
    settings.keyframe_every = 40;
    game.recorder = Some(Recorder::new(Vec::new(), settings).unwrap());
    let mut game = followed(simulation, game, |_, _| Ok(()))?;
    let recorder = game.recorder.take().expect("it was recorded");
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    for tick in [0, STEPS / 2] {
        assert_eq!(game.compared, STEPS);
        replay(recording.replay(tick), &mut game)?;
    }
    Ok(game)
}

fn replay<S: Scene>(mut replay: Replay, game: &mut Game<S>) -> Result<(), Difference> {
    let run = replay.next_run(|_| None).unwrap();
    let (mut simulation, scene) = run.expect("one was recorded");
    (game.scene, game.compared) = (scene, simulation.tick());
    while let Some(frame_time) = replay.begin_frame(&mut simulation).unwrap() {
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            let input = replay.input(step).unwrap().expect("it was recorded");
            game.scene.before_step(&mut simulation, step.tick, input);
            simulation.make_step_with(&*S::filters());
            replay.end_step(&simulation).unwrap();
            game.after_step(&mut simulation, step)?;
        }
        simulation.end_frame();
    }
    assert_eq!(replay.differences(), []);
    Ok(())
}
