//! The ways to run a scene: bare Rapier, and all that evenstep does with steps.

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
use crate::world::{Events, Log, World, bits};

/// How many steps of each scene are compared.
pub const STEPS: u64 = 150;

/// How many ticks late the input is in a game that rolls back: more than the steps of a frame.
const LATE: u64 = 8;

/// Rapier's own hooks.
pub type Filters = Arc<dyn PhysicsHooks + Send + Sync>;

/// A script over Rapier's sets. It depends on nothing but these, its own state, the tick, the input and the events.
pub trait Scene: Clone + Serialize + DeserializeOwned + Send + 'static {
    fn build(world: &mut dyn World) -> Self;

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32);

    fn after_step(&mut self, world: &mut dyn World, events: &Events) {
        let _ = (world, events);
    }

    fn filters() -> Filters {
        Arc::new(())
    }

    /// Fails if by the end that has not happened which the scene is about.
    fn check(&self, physics: &PhysicsWorld);
}

/// The player's input of a tick, from -1 to 1.
pub fn input(tick: u64) -> f32 {
    [0.0, 1.0, 0.6, -1.0, -0.3][(tick / 13 % 5) as usize]
}

/// All bits after each step, by Rapier alone.
pub fn bare<S: Scene>(input: impl Fn(u64) -> f32) -> Arc<[u64]> {
    let mut world = PhysicsWorld::new();
    let mut scene = S::build(&mut world);
    let filters = S::filters();
    let step = |tick| {
        scene.before_step(&mut world, tick, input(tick));
        let log = Log::default();
        world.step_with_events(&*filters, &log);
        let events = log.events();
        scene.after_step(&mut world, &events);
        bits(&world, &scene, &events)
    };
    let bits = (0..STEPS).map(step).collect();
    scene.check(&world);
    bits
}

/// The tick of the first step whose outcome is not that of bare Rapier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference(pub u64);

/// A scene as a game: hooks that compare each step.
struct Game<S> {
    scene: S,
    expected: Arc<[u64]>,
    /// How many steps were compared, from the first on, without a gap.
    compared: u64,
    /// Whether a step is made by the input of [`LATE`] ticks before, and compared once it is resimulated by its own.
    guesses: bool,
    /// The scene before each step, for the way back.
    saved: BTreeMap<u64, S>,
}

impl<S: Scene> Game<S> {
    fn start(expected: &Arc<[u64]>) -> (Simulation, Self) {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        let game = Self {
            scene: S::build(&mut simulation),
            expected: Arc::clone(expected),
            compared: 0,
            guesses: false,
            saved: BTreeMap::new(),
        };
        (simulation, game)
    }

    fn is_guess(&self, step: Step) -> bool {
        self.guesses && !step.is_resimulated
    }

    fn compare(&mut self, tick: u64, bits: u64) -> Result<(), Difference> {
        if tick == self.compared {
            self.compared += 1;
        }
        match self.expected.get(tick as usize) {
            Some(expected) if *expected != bits => Err(Difference(tick)),
            _ => Ok(()),
        }
    }
}

impl<S: Scene> Hooks for Game<S> {
    type Error = Difference;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        self.saved.insert(step.tick, self.scene.clone());
        let late = if self.is_guess(step) { LATE } else { 0 };
        let input = input(step.tick.saturating_sub(late));
        self.scene.before_step(simulation, step.tick, input);
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        let events = Events::of(simulation, step.tick);
        self.scene.after_step(simulation, &events);
        if self.is_guess(step) {
            return Ok(());
        }
        let bits = bits(simulation.physics(), &self.scene, &events);
        self.compare(step.tick, bits)
    }

    fn physics_hooks(&self) -> Option<Filters> {
        Some(S::filters())
    }
}

/// Frames without a step, with one and with several: more than a scene takes.
fn frame_times() -> impl Iterator<Item = Duration> {
    let times = [17, 0, 3, 41, 16, 90, 7, 25].map(MS);
    times.into_iter().cycle().take(STEPS as usize)
}

/// Makes all steps, with something to be done after each frame.
fn make_frames<H: Hooks<Error = Difference>>(
    simulation: &mut Simulation,
    hooks: &mut H,
    mut after_frame: impl FnMut(&mut Simulation, &mut H) -> Result<(), Difference>,
) -> Result<(), Difference> {
    for frame_time in frame_times() {
        simulation.advance_with(frame_time, hooks)?;
        after_frame(simulation, hooks)?;
        if simulation.tick() >= STEPS {
            break;
        }
    }
    Ok(())
}

/// Runs a scene; gives how many steps were compared.
pub type Way = fn(&Arc<[u64]>) -> Result<u64, Difference>;

pub fn ways<S: Scene>() -> [(&'static str, Way); 6] {
    [
        ("in frames", in_frames::<S>),
        ("saved and loaded", saved_and_loaded::<S>),
        ("rolled back", rolled_back::<S>),
        ("overlapped", overlapped::<S>),
        ("on a thread", on_a_thread::<S>),
        ("recorded and replayed", recorded_and_replayed::<S>),
    ]
}

fn in_frames<S: Scene>(expected: &Arc<[u64]>) -> Result<u64, Difference> {
    let (mut simulation, mut game) = Game::<S>::start(expected);
    make_frames(&mut simulation, &mut game, |_, _| Ok(()))?;
    Ok(game.compared)
}

fn saved_and_loaded<S: Scene>(expected: &Arc<[u64]>) -> Result<u64, Difference> {
    let (mut simulation, mut game) = Game::<S>::start(expected);
    let mut loads = 0;
    make_frames(&mut simulation, &mut game, |simulation, game| {
        if simulation.frame().number.is_multiple_of(3) {
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
    })?;
    assert!(loads > STEPS / 5, "{loads} loads");
    Ok(game.compared)
}

fn rolled_back<S: Scene>(expected: &Arc<[u64]>) -> Result<u64, Difference> {
    let (mut simulation, mut game) = Game::<S>::start(expected);
    simulation.set_rewind_limits(LATE, usize::MAX);
    game.guesses = true;
    make_frames(&mut simulation, &mut game, |simulation, game| {
        let tick = simulation.tick().saturating_sub(LATE);
        game.scene = game.saved[&tick].clone();
        match simulation.resimulate_with(tick, game) {
            Err(ResimulateError::Hook(difference)) => Err(difference),
            result => {
                result.expect("it is kept");
                Ok(())
            }
        }
    })?;
    Ok(game.compared)
}

fn overlapped<S: Scene>(expected: &Arc<[u64]>) -> Result<u64, Difference> {
    let (simulation, mut game) = Game::<S>::start(expected);
    let mut overlap = Overlap::new(simulation);
    for frame_time in frame_times() {
        overlap.frame(frame_time, &mut game)?;
    }
    Ok(game.compared)
}

fn on_a_thread<S: Scene>(expected: &Arc<[u64]>) -> Result<u64, Difference> {
    let (mut simulation, game) = Game::<S>::start(expected);
    // As fast as it can: the time of steps that it cannot make is dropped.
    simulation.set_speed(100.0).unwrap();
    let mut runner = Runner::new(simulation, game, RunnerSettings::default());
    let long = Duration::from_secs(60);
    while let Some((tick, ())) = runner.ask(|_| ()).unwrap().wait(long)
        && tick < STEPS
    {}
    match runner.failures().into_iter().next() {
        None => Ok(runner.stop().1.compared),
        Some(Failure::Hook { error, .. }) => Err(error),
        Some(failure) => panic!("{failure:?}"),
    }
}

/// A game that is recorded.
struct Recorded<S> {
    game: Game<S>,
    recorder: Recorder<Vec<u8>>,
}

impl<S: Scene> Hooks for Recorded<S> {
    type Error = Difference;

    fn before_frame(&mut self, simulation: &Simulation, time: Duration) -> Result<(), Difference> {
        let scene = &self.game.scene;
        (self.recorder.begin_frame(simulation, scene, time)).unwrap();
        Ok(())
    }

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        self.recorder.input(step, &input(step.tick)).unwrap();
        self.game.before_step(simulation, step)
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        self.recorder.end_step(simulation).unwrap();
        self.game.after_step(simulation, step)
    }

    fn physics_hooks(&self) -> Option<Filters> {
        self.game.physics_hooks()
    }
}

/// A game that is replayed, and checked by its recording too.
struct Replayed<'a, S> {
    game: Game<S>,
    replay: Replay<'a>,
}

impl<S: Scene> Hooks for Replayed<'_, S> {
    type Error = Difference;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        let input = self.replay.input(step).unwrap();
        let input = input.ok_or(Difference(step.tick))?;
        self.game.scene.before_step(simulation, step.tick, input);
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        self.replay.end_step(simulation).unwrap();
        self.game.after_step(simulation, step)
    }

    fn physics_hooks(&self) -> Option<Filters> {
        self.game.physics_hooks()
    }
}

fn recorded_and_replayed<S: Scene>(expected: &Arc<[u64]>) -> Result<u64, Difference> {
    let (mut simulation, game) = Game::<S>::start(expected);
    let mut settings = RecorderSettings::default();
    settings.keyframe_every = 40;
    let recorder = Recorder::new(Vec::new(), settings).unwrap();
    let mut recorded = Recorded { game, recorder };
    make_frames(&mut simulation, &mut recorded, |_, _| Ok(()))?;
    let mut compared = recorded.game.compared;
    let recording = Recording::read(recorded.recorder.finish().unwrap()).unwrap();
    for tick in [0, STEPS / 2] {
        let replay = recording.replay(tick);
        compared = compared.min(replayed::<S>(expected, replay)?);
    }
    Ok(compared)
}

fn replayed<S: Scene>(expected: &Arc<[u64]>, replay: Replay) -> Result<u64, Difference> {
    let (_, game) = Game::<S>::start(expected);
    let mut replayed = Replayed { game, replay };
    while let Some((mut simulation, scene)) = replayed.replay.next_run(|_| None).unwrap() {
        replayed.game.scene = scene;
        replayed.game.compared = simulation.tick();
        while let Some(frame_time) = replayed.replay.begin_frame(&mut simulation).unwrap() {
            simulation.advance_with(frame_time, &mut replayed)?;
        }
    }
    assert_eq!(replayed.replay.differences(), []);
    Ok(replayed.game.compared)
}
