//! Recordings: a replay is the run, bit for bit. It names differences, and ends before damaged parts.

mod damage;
mod differences;
// The scene has many joints, so it is exact with this feature only.
#[cfg(feature = "enhanced-determinism")]
mod everything;
mod faults;
mod new_runs;
mod on_threads;
mod pauses;
mod restarts;
mod runs;

use evenstep::rapier::prelude::*;
use evenstep::recording::{
    Divergence, RecordError, RecordedRun, Recorder, RecorderSettings, Recording, RecordingEnd,
    Replay, ReplayError,
};
use evenstep::saving::SaveError;
use evenstep::time::{Budget, FrameTime};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step, Stepping};
use scenes::testing::{translation, vector};
use scenes::{MS, ball, space};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A game's part in the steps, which is the same while recording and replaying.
trait Play: Serialize + DeserializeOwned {
    type Input: Serialize + DeserializeOwned;

    /// Returns the player's input at this tick.
    fn input(tick: u64) -> Self::Input;

    /// Runs the game's part of a step. A failure ends the frame.
    fn step(&mut self, physics: &mut Physics, step: Step, input: Self::Input) -> Option<()>;

    fn after_step(&mut self, _simulation: &mut Physics, _step: Step) {}
}

/// Balls in free space that are inserted and removed. One of them is pushed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Balls {
    player: BodyKey,
    guests: VecDeque<BodyKey>,
    /// Fails once before the step of each of these ticks. The last tick comes first.
    failing: Vec<u64>,
    /// Sets the clock in the steps of these ticks.
    clock_changes: Vec<(u64, f64)>,
}

impl Balls {
    fn new() -> (Simulation, Self) {
        let mut simulation = space(100);
        let player = simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), ball().mass(1.0));
        // The first step has run, so that the state can be saved.
        simulation.advance(MS(10), |_, _| ());
        let game = Self {
            player,
            guests: VecDeque::new(),
            failing: Vec::new(),
            clock_changes: Vec::new(),
        };
        (simulation, game)
    }
}

impl Play for Balls {
    type Input = [f32; 3];

    fn input(tick: u64) -> [f32; 3] {
        [tick % 5, tick % 3, tick % 7].map(|n| n as f32 - 1.0)
    }

    fn step(&mut self, physics: &mut Physics, step: Step, input: [f32; 3]) -> Option<()> {
        physics
            .add_force(self.player, vector(input[0], input[1], input[2]))
            .unwrap();
        if step.tick.is_multiple_of(7) {
            let at = vector(step.tick as f32, 5.0, 0.0);
            let body = RigidBodyBuilder::dynamic()
                .translation(at)
                .linvel(vector(0.0, 0.0, 1.0));
            self.guests.push_back(physics.insert(body, ball()));
        }
        if step.tick % 7 == 6 && self.guests.len() > 3 {
            let oldest = self.guests.pop_front().unwrap();
            physics.remove(oldest).unwrap();
        }
        // Fail only once: the step is due again in a later frame.
        let failed = self.failing.pop_if(|tick| *tick == step.tick);
        failed.is_none().then_some(())
    }
}

/// Records a frame while a game plays it.
fn record_frame<P: Play, W: Write>(
    recorder: &mut Recorder<W>,
    simulation: &mut Simulation,
    game: &mut P,
    frame_time: Duration,
) -> Result<(), RecordError> {
    recorder.begin_frame(simulation, game, frame_time)?;
    simulation.begin_frame(frame_time);
    while let Some(step) = simulation.next_step() {
        let input = P::input(step.tick);
        recorder.input(step, &input)?;
        if game.step(&mut simulation.physics, step, input).is_none() {
            break;
        }
        simulation.run_step();
        game.after_step(&mut simulation.physics, step);
        recorder.end_step(&simulation.physics)?;
    }
    simulation.end_frame();
    Ok(())
}

/// Plays a frame of a recording, and returns `None` at the end of the run. `meddle` may make changes that were not
/// recorded.
fn replay_frame<P: Play>(
    replay: &mut Replay<'_>,
    simulation: &mut Simulation,
    game: &mut P,
    meddle: &mut dyn FnMut(&mut Simulation, Step),
) -> Option<()> {
    let frame_time = replay.begin_frame(simulation).unwrap()?;
    simulation.begin_frame(frame_time);
    while let Some(step) = simulation.next_step() {
        let Some(input) = replay.input(step).unwrap() else {
            break;
        };
        if game.step(&mut simulation.physics, step, input).is_none() {
            break;
        }
        meddle(simulation, step);
        simulation.run_step();
        game.after_step(&mut simulation.physics, step);
        replay.end_step(&mut simulation.physics).unwrap();
    }
    simulation.end_frame();
    Some(())
}

/// Plays all frames from this tick on. Returns the differences.
fn replay_all<P: Play>(
    recording: &Recording<impl AsRef<[u8]>>,
    from: u64,
    mut meddle: impl FnMut(&mut Simulation, Step),
    mut after_frame: impl FnMut(&Simulation, &P),
) -> Vec<Divergence> {
    let mut replay = recording.replay_from(0, from);
    while let Some((mut simulation, mut game)) = replay.next_run::<P>().unwrap() {
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).is_some() {
            after_frame(&simulation, &game);
        }
    }
    replay.differences().to_vec()
}

fn settings(keyframe_every: u64) -> RecorderSettings {
    let mut settings = RecorderSettings::default();
    settings.keyframe_every = keyframe_every;
    settings
}

/// Returns the time of a frame with no step, one step or ten steps.
fn frame_time(number: u64) -> Duration {
    match number % 9 {
        0 | 4 => Duration::ZERO,
        7 => MS(103),
        n => Duration::from_micros(2_000 + 1_713 * n),
    }
}

/// Returns everything to compare after a frame.
type Seen = (
    u64,
    evenstep::time::Clock,
    evenstep::Frame,
    Vec<(BodyKey, Pose)>,
);

fn seen(simulation: &Simulation) -> Seen {
    (
        simulation.physics.checksum(),
        simulation.clock().clone(),
        simulation.frame(),
        simulation.moved().to_vec(),
    )
}

/// Compares a replayed frame with the recorded one. The first frame of a loaded simulation lists all bodies.
fn assert_replayed(simulation: &Simulation, expected: &Seen) {
    let mut seen = seen(simulation);
    let mut last = simulation.frame();
    last.number -= 1;
    if simulation.changes_since(&last).is_none() {
        assert_eq!(seen.3.len(), simulation.physics.bodies().count());
        assert!(expected.3.iter().all(|moved| seen.3.contains(moved)));
        seen.3.clone_from(&expected.3);
    }
    assert_eq!(&seen, expected);
}

/// Returns the length of a state after the first guests were removed.
fn state_len() -> usize {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(std::io::sink(), settings(0)).unwrap();
    for _ in 0..60 {
        record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    }
    simulation.save().unwrap().len()
}

/// Returns a recording of this many frames of the balls.
fn record_balls(frames: u64, settings: RecorderSettings) -> Vec<u8> {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings).unwrap();
    for number in 0..frames {
        let frame_time = frame_time(number);
        record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
    }
    recorder.finish().unwrap()
}

/// A recorder in the hooks of [`Simulation::advance_with`].
struct RecordingHooks<'a> {
    game: &'a mut Balls,
    recorder: &'a mut Recorder<Vec<u8>>,
}

impl Hooks for RecordingHooks<'_> {
    type Error = RecordError;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), RecordError> {
        let here = simulation.physics.tick();
        let mut changes = self.game.clock_changes.iter();
        if let Some((_, speed)) = changes.find(|(tick, _)| *tick == here) {
            simulation.clock_settings_mut().set_speed(*speed).unwrap();
        }
        self.recorder.begin_frame(simulation, self.game, frame_time)
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), RecordError> {
        let input = Balls::input(step.tick);
        self.recorder.input(step, &input)?;
        self.game.step(physics, step, input).unwrap();
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), RecordError> {
        self.recorder.end_step(physics)
    }
}

/// A replay in the hooks.
struct ReplayHooks<'a, 'r> {
    game: &'a mut Balls,
    replay: &'a mut Replay<'r>,
}

impl Hooks for ReplayHooks<'_, '_> {
    type Error = ReplayError;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ReplayError> {
        let input = self.replay.input(step)?.expect("the recording is complete");
        self.game.step(physics, step, input).unwrap();
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), ReplayError> {
        self.replay.end_step(physics)
    }
}

/// Changes the last bit of a velocity. (For a zero, the change would be so small that the step rounds it away.)
fn nudge(simulation: &mut Simulation, key: BodyKey) {
    let body = simulation.physics.body_mut(key).unwrap();
    let mut velocity = body.linvel();
    let axis = velocity.abs().max_position();
    velocity[axis] = f32::from_bits(velocity[axis].to_bits() ^ 1);
    body.set_linvel(velocity, true);
}

/// A fault in a hook. Its cause does not exist in a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    BeforeFrame,
    /// The input is recorded, and the hook does nothing.
    BeforeAct,
    AfterAct,
    Panic,
    AfterStep,
}

/// A recorded game whose hooks fail once at each of these ticks or later. The last tick comes first.
struct Faulty {
    game: Balls,
    recorder: Recorder<Vec<u8>>,
    fault: Fault,
    ticks: Vec<u64>,
}

impl Faulty {
    /// Creates the game. It adds a guest in the step of tick 42, and two successive steps do not run at 64.
    fn new(fault: Fault) -> Self {
        Self {
            game: Balls::new().1,
            recorder: Recorder::new(Vec::new(), settings(1_000)).unwrap(),
            fault,
            ticks: vec![65, 64, 42, 18],
        }
    }

    fn end_step(&mut self, physics: &Physics, tick: u64) -> Result<(), &'static str> {
        let recorded = self.recorder.end_step(physics);
        recorded.map_err(|_| "not recorded")?;
        self.fail(Fault::AfterStep, tick)
    }

    fn fail(&mut self, here: Fault, tick: u64) -> Result<(), &'static str> {
        let fails = self.fault == here && self.ticks.pop_if(|it| *it <= tick).is_some();
        assert!(!(fails && here == Fault::Panic), "a bug in the game");
        if fails {
            Err("the requested failure")
        } else {
            Ok(())
        }
    }
}

impl Hooks for Faulty {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), &'static str> {
        self.fail(Fault::BeforeFrame, simulation.physics.tick())?;
        let recorded = self
            .recorder
            .begin_frame(simulation, &self.game, frame_time);
        recorded.map_err(|_| "not recorded")
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), &'static str> {
        let input = Balls::input(step.tick);
        let recorded = self.recorder.input(step, &input);
        recorded.map_err(|_| "not recorded")?;
        self.fail(Fault::BeforeAct, step.tick)?;
        self.fail(Fault::Panic, step.tick)?;
        self.game.step(physics, step, input).unwrap();
        self.fail(Fault::AfterAct, step.tick)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), &'static str> {
        self.end_step(physics, step.tick)
    }
}

/// Plays a whole recording, and checks that it runs each step once and never differs. Returns the state at its end.
fn assert_replays_without_differences(bytes: Vec<u8>, what: &str) -> Simulation {
    let recording = Recording::read(bytes).unwrap();
    let (mut replay, mut end, mut ticks) = (recording.replay(), None, Vec::new());
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>().unwrap() {
        let mut note = |_: &mut Simulation, step: Step| ticks.push(step.tick);
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut note).is_some() {}
        end = Some(simulation);
    }
    assert_eq!(replay.differences(), [], "{what}");
    assert!(ticks.is_sorted_by(|a, b| a < b), "{what}: {ticks:?}");
    assert!(ticks.len() > 70, "{what}: {}", ticks.len());
    end.unwrap()
}

/// Returns the checksum after each frame of the replay.
fn play(recording: &Recording<impl AsRef<[u8]>>) -> Vec<(u64, u64)> {
    let mut frames = Vec::new();
    let seen = |simulation: &Simulation, _: &Balls| {
        frames.push((simulation.physics.tick(), simulation.physics.checksum()));
    };
    assert_eq!(replay_all(recording, 0, |_, _| (), seen), []);
    frames
}
