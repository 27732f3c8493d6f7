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
struct Game<'a, S> {
    scene: S,
    expected: Bits,
    /// How many steps were compared, from the first on, without a gap.
    compared: u64,
    /// The scene before each step, for the way back.
    saved: BTreeMap<u64, S>,
    mode: Mode<'a>,
}

enum Mode<'a> {
    Play,
    /// A step is made by the input of [`LATE`] ticks before, and compared once it is resimulated by its own.
    Guess,
    Record(Recorder<Vec<u8>>),
    Replay(Replay<'a>),
}

impl<'a, S: Scene> Game<'a, S> {
    fn start(expected: &Bits, mode: Mode<'a>) -> (Simulation, Self) {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        let game = Self {
            scene: S::build(&mut simulation),
            expected: Arc::clone(expected),
            compared: 0,
            saved: BTreeMap::new(),
            mode,
        };
        (simulation, game)
    }

    /// Frames without a step, with one and with several, each followed by what the way does.
    fn frames(
        &mut self,
        simulation: &mut Simulation,
        mut after_frame: impl FnMut(&mut Self, &mut Simulation) -> Result<(), Difference>,
    ) -> Result<(), Difference> {
        for frame_time in frame_times() {
            simulation.advance_with(frame_time, self)?;
            after_frame(self, simulation)?;
        }
        Ok(())
    }
}

impl<S: Scene> Hooks for Game<'_, S> {
    type Error = Difference;

    fn before_frame(&mut self, simulation: &Simulation, time: Duration) -> Result<(), Difference> {
        if let Mode::Record(recorder) = &mut self.mode {
            let recorded = recorder.begin_frame(simulation, &self.scene, time);
            recorded.expect("it can be saved");
        }
        Ok(())
    }

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        self.saved.insert(step.tick, self.scene.clone());
        let mut given = input(step.tick);
        match &mut self.mode {
            Mode::Guess if !step.is_resimulated => {
                given = input(step.tick.saturating_sub(LATE));
            }
            Mode::Record(recorder) => recorder.input(step, &given).unwrap(),
            Mode::Replay(replay) => given = replay.input(step).unwrap().expect("it was recorded"),
            _ => (),
        }
        self.scene.before_step(simulation, step.tick, given);
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Difference> {
        match &mut self.mode {
            Mode::Record(recorder) => recorder.end_step(simulation).unwrap(),
            Mode::Replay(replay) => replay.end_step(simulation).unwrap(),
            _ => (),
        }
        let events = Events::of_tick(simulation, step.tick);
        self.scene.after_step(simulation, &events);
        let is_guess = matches!(self.mode, Mode::Guess) && !step.is_resimulated;
        match self.expected.get(step.tick as usize) {
            Some(expected) if !is_guess => {
                if step.tick == self.compared {
                    self.compared += 1;
                }
                let bits = bits(simulation.physics(), &self.scene, &events);
                (bits == *expected)
                    .then_some(())
                    .ok_or(Difference(step.tick))
            }
            _ => Ok(()),
        }
    }

    fn physics_hooks(&self) -> Option<Filters> {
        Some(S::filters())
    }
}

fn frame_times() -> impl Iterator<Item = Duration> {
    let times = [17, 0, 3, 41, 16, 90, 7, 25].map(MS);
    let mut sum = Duration::ZERO;
    times.into_iter().cycle().take_while(move |time| {
        let is_due = sum * 60 <= Duration::from_secs(STEPS);
        sum += *time;
        is_due
    })
}

/// Runs a scene; gives how many steps were compared.
pub type Way = fn(&Bits) -> Result<u64, Difference>;

pub fn ways<S: Scene>() -> Vec<(&'static str, Way)> {
    let mut ways: Vec<(_, Way)> = vec![
        ("in frames", in_frames::<S>),
        ("rolled back", rolled_back::<S>),
        ("overlapped", overlapped::<S>),
        ("on a thread", on_a_thread::<S>),
    ];
    if S::IS_WRITTEN {
        ways.push(("saved and loaded", saved_and_loaded::<S>));
        ways.push(("recorded and replayed", recorded_and_replayed::<S>));
    }
    ways
}

fn in_frames<S: Scene>(expected: &Bits) -> Result<u64, Difference> {
    let (mut simulation, mut game) = Game::<S>::start(expected, Mode::Play);
    game.frames(&mut simulation, |_, _| Ok(()))?;
    Ok(game.compared)
}

fn rolled_back<S: Scene>(expected: &Bits) -> Result<u64, Difference> {
    let (mut simulation, mut game) = Game::<S>::start(expected, Mode::Guess);
    simulation.set_rewind_limits(LATE, usize::MAX);
    game.frames(&mut simulation, |game, simulation| {
        let tick = simulation.tick().saturating_sub(LATE);
        game.scene = game.saved[&tick].clone();
        match simulation.resimulate_with(tick, game) {
            Err(ResimulateError::Hook(difference)) => Err(difference),
            result => {
                result.expect("the state is kept");
                Ok(())
            }
        }
    })?;
    Ok(game.compared)
}

fn overlapped<S: Scene>(expected: &Bits) -> Result<u64, Difference> {
    let (simulation, mut game) = Game::<S>::start(expected, Mode::Play);
    let mut overlap = Overlap::new(simulation);
    // A step more, for the last one to be waited for.
    for frame_time in frame_times().chain([MS(20)]) {
        overlap.frame(frame_time, &mut game)?;
    }
    Ok(game.compared)
}

fn on_a_thread<S: Scene>(expected: &Bits) -> Result<u64, Difference> {
    let (mut simulation, game) = Game::<S>::start(expected, Mode::Play);
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

fn saved_and_loaded<S: Scene>(expected: &Bits) -> Result<u64, Difference> {
    let (mut simulation, mut game) = Game::<S>::start(expected, Mode::Play);
    let mut loads = 0;
    game.frames(&mut simulation, |game, simulation| {
        // Some go on for several frames.
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
    })?;
    assert!(loads > 20, "{loads} loads");
    Ok(game.compared)
}

fn recorded_and_replayed<S: Scene>(expected: &Bits) -> Result<u64, Difference> {
    let mut settings = RecorderSettings::default();
    settings.keyframe_every = 40;
    let recorder = Recorder::new(Vec::new(), settings).unwrap();
    let (mut simulation, mut game) = Game::<S>::start(expected, Mode::Record(recorder));
    game.frames(&mut simulation, |_, _| Ok(()))?;
    let Mode::Record(recorder) = game.mode else {
        unreachable!("it was recorded");
    };
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let [all, rest] = [0, STEPS / 2].map(|tick| replayed::<S>(expected, recording.replay(tick)));
    Ok(game.compared.min(all?).min(rest?))
}

fn replayed<S: Scene>(expected: &Bits, mut replay: Replay) -> Result<u64, Difference> {
    let (mut simulation, scene) = replay
        .next_run(|_| None)
        .unwrap()
        .expect("one was recorded");
    let (_, mut game) = Game::<S>::start(expected, Mode::Replay(replay));
    (game.scene, game.compared) = (scene, simulation.tick());
    while let Mode::Replay(replay) = &mut game.mode
        && let Some(frame_time) = replay.begin_frame(&mut simulation).unwrap()
    {
        simulation.advance_with(frame_time, &mut game)?;
    }
    if let Mode::Replay(replay) = &game.mode {
        assert_eq!(replay.differences(), []);
    }
    Ok(game.compared)
}
