//! Recordings: what is replayed is the run, to the bit; what differs is named; what is damaged is not played.

mod scenes;

use crate::scenes::testing::{translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::recording::{
    Divergence, FlightRecorder, RecordError, Recorder, RecorderSettings, Recording, RecordingEnd,
    Replay, ReplayError,
};
use evenstep::{
    BodyKey, Budget, ForceGenerator, Hooks, Physics, Rate, SaveError, Simulation, Step, Stepping,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scenes::{MS, ball, space};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A game's part in the steps, the same when it is recorded and when it is replayed.
trait Play: Serialize + DeserializeOwned {
    type Input: Serialize + DeserializeOwned;

    /// What the player does at that tick.
    fn input(tick: u64) -> Self::Input;

    /// Fails where the game would: the frame ends there.
    fn step(&mut self, physics: &mut Physics, step: Step, input: Self::Input) -> Option<()>;

    fn after_step(&mut self, _simulation: &mut Physics, _step: Step) {}

    fn force(_name: &str) -> Option<ForceGenerator> {
        None
    }
}

/// Balls in free space that come and go, and one that is pushed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Balls {
    player: BodyKey,
    guests: VecDeque<BodyKey>,
    /// Fails once before the step of each of these ticks is made, the last one first.
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
        // The first step is made, so that there is a state to be written.
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
        // Once: the step is due again in a later frame.
        let failed = self.failing.pop_if(|tick| *tick == step.tick);
        failed.is_none().then_some(())
    }
}

/// Records a frame as a game plays it.
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
        simulation.make_step();
        game.after_step(&mut simulation.physics, step);
        recorder.end_step(&simulation.physics)?;
    }
    simulation.end_frame();
    Ok(())
}

/// Plays a frame of a recording; `None` at the end of the run. `meddle` may do what was not recorded.
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
        simulation.make_step();
        game.after_step(&mut simulation.physics, step);
        replay.end_step(&simulation.physics).unwrap();
    }
    simulation.end_frame();
    Some(())
}

/// Plays all from that tick on. Gives the differences.
fn replay_all<P: Play>(
    recording: &Recording<impl AsRef<[u8]>>,
    from: u64,
    mut meddle: impl FnMut(&mut Simulation, Step),
    mut after_frame: impl FnMut(&Simulation, &P),
) -> Vec<Divergence> {
    let mut replay = recording.replay(from);
    while let Some((mut simulation, mut game)) = replay.next_run::<P>(P::force).unwrap() {
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

/// Frames without a step, with one, and with ten.
fn frame_time(number: u64) -> Duration {
    match number % 9 {
        0 | 4 => Duration::ZERO,
        7 => MS(103),
        n => Duration::from_micros(2_000 + 1_713 * n),
    }
}

/// What can be compared after a frame.
fn seen(simulation: &Simulation) -> (u64, evenstep::Clock, evenstep::Frame, Vec<(BodyKey, Pose)>) {
    (
        simulation.physics.checksum(),
        simulation.clock().clone(),
        simulation.frame(),
        simulation.moved().to_vec(),
    )
}

/// The length of a state once the first guests have gone.
fn state_len() -> usize {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(std::io::sink(), settings(0)).unwrap();
    for _ in 0..60 {
        record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    }
    simulation.save().unwrap().len()
}

/// A recording of that many frames of the balls.
fn record_balls(frames: u64, settings: RecorderSettings) -> Vec<u8> {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings).unwrap();
    for number in 0..frames {
        let frame_time = frame_time(number);
        record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
    }
    recorder.finish().unwrap()
}

// The same run.

#[test]
fn what_is_replayed_is_the_run_frame_by_frame() {
    let (mut simulation, mut game) = Balls::new();
    // Flips that only a record of every frame sees: set in a step, and set back between two frames.
    game.clock_changes = vec![(20, 0.25), (45, 3.0), (46, 1.0)];
    game.failing = vec![90, 61, 30];
    let mut recorder = Recorder::new(Vec::new(), settings(25)).unwrap();
    let mut run = Vec::new();
    for number in 0..400 {
        match number {
            40 => simulation.set_speed(1.0).unwrap(),
            70 => simulation.pause(),
            75 | 76 => simulation.clock_settings_mut().step_once(),
            77 => (0..5).for_each(|_| simulation.clock_settings_mut().step_once()),
            90 => simulation.resume(),
            100 => simulation
                .clock_settings_mut()
                .set_rate(Rate::fraction(60_000, 1_001).unwrap()),
            110 => simulation.clock_settings_mut().set_max_frame_time(MS(30)),
            120 => simulation.clock_settings_mut().set_max_frame_time(MS(250)),
            121 => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(Some(2)),
            130 => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(None),
            131 => simulation.clock_settings_mut().set_overstep(MS(3)),
            140 => simulation.clock_settings_mut().set_budget(Some(Budget {
                frame: MS(4),
                step: MS(1),
            })),
            150 => simulation.clock_settings_mut().set_budget(None),
            160 => simulation
                .clock_settings_mut()
                .set_stepping(Stepping::SemiFixed),
            170 => simulation
                .clock_settings_mut()
                .set_stepping(Stepping::DisplayCounted),
            180 => simulation
                .clock_settings_mut()
                .set_stepping(Stepping::Fixed),
            200 => simulation.clock_settings_mut().set_tick(1_000),
            201 => simulation.clock_settings_mut().set_tick(2_000),
            _ => (),
        }
        let frame_time = frame_time(number);
        record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
        run.push((seen(&simulation), game.clone()));
    }
    let steps: Vec<u64> = run.iter().map(|(seen, _)| seen.2.steps).collect();
    assert!(steps.contains(&0) && steps.contains(&1) && steps.contains(&10));
    assert!(run.iter().any(|(seen, _)| seen.2.dropped.aborted > 0));

    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.ending(), RecordingEnd::Complete);
    assert_eq!(recording.fingerprint(), Some(evenstep::fingerprint()));
    assert_eq!(recording.ticks(), 1..simulation.physics.tick());
    let mut frames = run.iter();
    let differences = replay_all::<Balls>(
        &recording,
        0,
        |_, _| (),
        |simulation, game| {
            let expected = frames.next().unwrap();
            if expected.0.2.dropped.aborted > 0 {
                // What the game did in a step that was not made is known from the next frame on.
                assert_eq!(simulation.clock(), &expected.0.1);
            } else {
                assert_eq!(&(seen(simulation), game.clone()), expected);
            }
        },
    );
    assert_eq!((frames.len(), differences), (0, vec![]));
}

#[test]
fn from_every_tick_a_replay_is_the_run() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(20)).unwrap();
    let mut run = Vec::new();
    for number in 0..300 {
        let frame_time = frame_time(number);
        record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
        run.push(seen(&simulation));
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let keyframes: Vec<u64> = recording.keyframes().collect();
    assert!(keyframes.len() > 10, "{keyframes:?}");
    // That of the simulation's first frame is 1, which was not recorded.
    let expected = |simulation: &Simulation| &run[simulation.frame().number as usize - 2];
    for tick in recording.ticks() {
        let mut replay = recording.replay(tick);
        let (mut simulation, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
        let start = simulation.physics.tick();
        let nearest = keyframes.iter().rfind(|keyframe| **keyframe <= tick);
        assert_eq!(Some(&start), nearest);
        while simulation.physics.tick() < tick {
            replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).unwrap();
            assert_eq!(&seen(&simulation), expected(&simulation), "to {tick}");
        }
        for _ in 0..9 {
            if replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {
                assert_eq!(&seen(&simulation), expected(&simulation), "from {tick}");
            }
        }
        assert_eq!(replay.differences(), []);
    }
}

/// The recorder within the hooks of [`Simulation::advance_with`].
struct Live<'a> {
    game: &'a mut Balls,
    recorder: &'a mut Recorder<Vec<u8>>,
}

impl Hooks for Live<'_> {
    type Error = RecordError;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: Duration,
    ) -> Result<(), RecordError> {
        let here = simulation.physics.tick();
        let mut changes = self.game.clock_changes.iter();
        if let Some((_, speed)) = changes.find(|(tick, _)| *tick == here) {
            simulation.set_speed(*speed).unwrap();
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

/// The replay within the hooks.
struct Again<'a, 'r> {
    game: &'a mut Balls,
    replay: &'a mut Replay<'r>,
}

impl Hooks for Again<'_, '_> {
    type Error = ReplayError;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ReplayError> {
        let input = self.replay.input(step)?.expect("the recording is whole");
        self.game.step(physics, step, input).unwrap();
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), ReplayError> {
        self.replay.end_step(physics)
    }
}

#[test]
fn both_loops_make_the_same_recording_and_play_it() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(50)).unwrap();
    let mut live = Live {
        game: &mut game,
        recorder: &mut recorder,
    };
    for number in 0..100 {
        simulation
            .advance_with(frame_time(number), &mut live)
            .unwrap();
    }
    let bytes = recorder.finish().unwrap();
    assert_eq!(bytes, record_balls(100, settings(50)));

    let recording = Recording::read(bytes).unwrap();
    let mut replay = recording.replay(0);
    let (mut again, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
    while let Some(frame_time) = replay.begin_frame(&mut again).unwrap() {
        let mut hooks = Again {
            game: &mut game,
            replay: &mut replay,
        };
        again.advance_with(frame_time, &mut hooks).unwrap();
    }
    assert_eq!(replay.differences(), []);
    assert_eq!(again.physics.checksum(), simulation.physics.checksum());
}

/// A game on another thread, recorded there.
mod on_threads {
    use super::*;
    use evenstep::Physics;
    use evenstep::threads::{Failure, Overlap, Runner, RunnerSettings};

    /// All of it, to be sent to a thread. It reports its steps.
    struct Recorded {
        game: Balls,
        recorder: Recorder<Vec<u8>>,
        steps: std::sync::mpsc::Sender<u64>,
    }

    impl Recorded {
        fn live(&mut self) -> Live<'_> {
            Live {
                game: &mut self.game,
                recorder: &mut self.recorder,
            }
        }
    }

    impl Hooks for Recorded {
        type Error = RecordError;

        fn before_frame(
            &mut self,
            simulation: &mut Simulation,
            frame_time: Duration,
        ) -> Result<(), RecordError> {
            self.live().before_frame(simulation, frame_time)
        }

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), RecordError> {
            self.live().before_step(physics, step)
        }

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), RecordError> {
            self.live().after_step(physics, step)?;
            // Nobody may listen any more.
            let _ = self.steps.send(step.tick);
            Ok(())
        }
    }

    /// A game whose settings would cut the steps of a thread, were they in force there.
    fn recorded() -> (Simulation, Recorded, std::sync::mpsc::Receiver<u64>) {
        let (mut simulation, mut game) = Balls::new();
        simulation
            .clock_settings_mut()
            .set_stepping(Stepping::Variable);
        simulation.clock_settings_mut().set_max_frame_time(MS(1));
        // Faster and slower in some of the steps.
        game.clock_changes = vec![(20, 3.0), (30, 0.7), (40, 1.0)];
        let recorder = Recorder::new(Vec::new(), settings(50)).unwrap();
        let (steps, made) = std::sync::mpsc::channel();
        let recorded = Recorded {
            game,
            recorder,
            steps,
        };
        (simulation, recorded, made)
    }

    fn assert_replays(simulation: &Simulation, recorder: Recorder<Vec<u8>>) {
        let recording = Recording::read(recorder.finish().unwrap()).unwrap();
        let mut replay = recording.replay(0);
        let (mut again, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
        let mut steps = 0;
        while let Some(frame_time) = replay.begin_frame(&mut again).unwrap() {
            let mut hooks = Again {
                game: &mut game,
                replay: &mut replay,
            };
            steps += again.advance_with(frame_time, &mut hooks).unwrap().steps;
        }
        assert_eq!(replay.differences(), []);
        assert!(steps >= 60, "{steps}");
        assert_eq!(again.physics.checksum(), simulation.physics.checksum());
        // What the game has set is still set, also in what is saved there.
        let clock = simulation.clock();
        assert_eq!(clock.settings().stepping(), Stepping::Variable);
        assert_eq!(clock.settings().max_frame_time(), MS(1));
    }

    /// What a recording says of each frame: its time, its steps, and what came of them.
    fn frames_of(bytes: &[u8]) -> Vec<(Duration, u64, u64)> {
        let recording = Recording::read(bytes.to_vec()).unwrap();
        let mut replay = recording.replay(0);
        let (mut again, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
        let mut frames = Vec::new();
        while let Some(frame_time) = replay.begin_frame(&mut again).unwrap() {
            let mut hooks = Again {
                game: &mut game,
                replay: &mut replay,
            };
            let frame = again.advance_with(frame_time, &mut hooks).unwrap();
            frames.push((frame_time, frame.steps, again.physics.checksum()));
        }
        assert_eq!(replay.differences(), []);
        frames
    }

    #[test]
    fn a_runner_is_recorded_by_its_hooks() {
        let (simulation, recorded, made) = recorded();
        let runner = Runner::new(simulation, recorded, RunnerSettings::default()).unwrap();
        while made.recv().expect("it makes steps") < 60 {}
        let (simulation, recorded) = runner.stop();
        assert_replays(&simulation, recorded.recorder);
        // All steps have the rate's length, whatever is set.
        let clock = simulation.clock();
        assert_eq!(clock.time() - clock.overstep(), MS(10 * clock.tick()));
    }

    #[test]
    fn what_a_runner_did_not_make_is_not_replayed() {
        for fault in [
            Fault::BeforeFrame,
            Fault::BeforeAct,
            Fault::AfterAct,
            Fault::Panic,
        ] {
            let mut simulation = Balls::new().0;
            simulation.set_rewind_limits(20, usize::MAX);
            let mut runner =
                Runner::new(simulation, Faulty::new(fault), RunnerSettings::default()).unwrap();
            while runner.frame().tick() < 100 {
                for failure in runner.failures() {
                    if matches!(failure, Failure::Panic { .. }) {
                        runner.recover().unwrap();
                    }
                }
                std::thread::yield_now();
            }
            let (simulation, faulty) = runner.stop();
            let what = format!("runner, {fault:?}");
            assert_eq!(faulty.ticks, [], "{what}");
            let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
            let sums = [&end, &simulation].map(|it| it.physics.checksum());
            assert_eq!(sums[0], sums[1], "{what}");
        }
    }

    #[test]
    fn what_an_overlap_did_not_make_is_not_replayed() {
        for fault in [
            Fault::BeforeFrame,
            Fault::BeforeAct,
            Fault::AfterAct,
            Fault::Panic,
            Fault::AfterStep,
        ] {
            let mut overlap = Overlap::new(Balls::new().0).unwrap();
            let mut faulty = Faulty::new(fault);
            for _ in 0..200 {
                let frame = || overlap.frame(MS(7), &mut faulty).map(drop);
                let _ = catch_unwind(AssertUnwindSafe(frame));
            }
            let what = format!("overlap, {fault:?}");
            assert_eq!(faulty.ticks, [], "{what}");
            let simulation = overlap.stop();
            let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
            let sums = [&end, &simulation].map(|it| it.physics.checksum());
            assert_eq!(sums[0], sums[1], "{what}");
        }
    }

    #[test]
    fn an_overlap_is_recorded_by_its_hooks() {
        let (simulation, mut recorded, _made) = recorded();
        let mut overlap = Overlap::new(simulation).unwrap();
        // The limit of frame time is the only one that counts here.
        for _ in 0..800 {
            overlap.frame(MS(7), &mut recorded).unwrap();
        }
        // What is set in a pause needs no input either.
        overlap.simulation().pause();
        // Once the step that is under way is over.
        for _ in 0..30 {
            overlap.frame(MS(1), &mut recorded).unwrap();
        }
        overlap
            .simulation()
            .clock_settings_mut()
            .set_overstep(MS(4));
        overlap.frame(MS(1), &mut recorded).unwrap();
        overlap.simulation().resume();
        for _ in 0..100 {
            overlap.frame(MS(7), &mut recorded).unwrap();
        }
        // The hook after the last step is not called: it is in the recording by its input alone.
        assert_replays(&overlap.stop(), recorded.recorder);
    }

    #[test]
    fn the_recording_of_an_overlap_is_that_of_one_thread() {
        let run = |is_beside: bool| {
            let (mut simulation, mut recorded, _made) = recorded();
            let clock = simulation.clock_settings_mut();
            clock.set_stepping(Stepping::Fixed);
            clock.set_max_frame_time(MS(100));
            clock.set_max_steps_per_frame(Some(3));
            if !is_beside {
                for number in 0..300 {
                    if number % 50 == 40 {
                        simulation.pause();
                    } else if number % 50 == 45 {
                        simulation.resume();
                    }
                    (simulation.advance_with(frame_time(number), &mut recorded)).unwrap();
                }
                simulation.pause();
                (simulation.advance_with(Duration::ZERO, &mut recorded)).unwrap();
                return recorded.recorder.finish().unwrap();
            }
            let mut overlap = Overlap::new(simulation).unwrap();
            for number in 0..300 {
                if number % 50 == 40 {
                    overlap.simulation().pause();
                } else if number % 50 == 45 {
                    overlap.simulation().resume();
                }
                overlap.frame(frame_time(number), &mut recorded).unwrap();
            }
            // The last step is waited for.
            overlap.simulation().pause();
            overlap.frame(Duration::ZERO, &mut recorded).unwrap();
            recorded.recorder.finish().unwrap()
        };
        let (beside, alone) = (frames_of(&run(true)), frames_of(&run(false)));
        assert_eq!(alone.len(), 301);
        assert_eq!(beside, alone);
    }
}

/// Exact with `enhanced-determinism` only: the scene has many joints.
#[cfg(feature = "enhanced-determinism")]
mod everything {
    use super::*;
    use scenes::everything::{Everything, Script, gusts};

    impl Play for Script {
        type Input = Option<(u64, bool)>;

        fn input(tick: u64) -> Self::Input {
            (tick % 3 == 1).then_some((tick, tick.is_multiple_of(2)))
        }

        fn step(&mut self, physics: &mut Physics, step: Step, input: Self::Input) -> Option<()> {
            if let Some((n, is_x)) = input {
                let push = if is_x {
                    Vector::X
                } else {
                    vector(0.0, 0.0, 1.0)
                };
                physics.add_force(self.player, push * 20.0).unwrap();
                if n % 40 == 1 {
                    let pose = translation(-9.0, 0.5 + (n % 3) as f32, 0.0);
                    let there = physics.time() + MS(400);
                    let lift = self.lift;
                    physics.set_kinematic_target(lift, pose, there).unwrap();
                }
                if n % 50 == 25 {
                    physics.shift_origin(Vector::X * 8.0).unwrap();
                } else if n % 50 == 49 {
                    physics.shift_origin(Vector::X * -8.0).unwrap();
                }
            }
            self.before_step(physics, step).ok()
        }

        fn after_step(&mut self, physics: &mut Physics, step: Step) {
            let Ok(()) = Hooks::after_step(self, physics, step);
        }

        fn force(name: &str) -> Option<ForceGenerator> {
            (name == "gusts").then(gusts)
        }
    }

    #[test]
    fn a_run_with_everything_in_it_is_replayed_from_anywhere() {
        let mut game = Everything::new();
        let mut recorder = Recorder::new(Vec::new(), settings(100)).unwrap();
        let mut run = Vec::new();
        for number in 0..500 {
            let frame_time = Duration::from_micros(9_000 + number * 7_919 % 15_000);
            let Everything { simulation, script } = &mut game;
            record_frame(&mut recorder, simulation, script, frame_time).unwrap();
            run.push(seen(simulation));
        }
        let recording = Recording::read(recorder.finish().unwrap()).unwrap();
        assert!(recording.ticks().end > 400, "{recording:?}");
        for from in [0, 150, 333] {
            let mut frames = 0;
            let differences = replay_all::<Script>(
                &recording,
                from,
                |_, _| (),
                |simulation, _| {
                    frames += 1;
                    assert_eq!(
                        seen(simulation),
                        run[simulation.frame().number as usize - 1]
                    );
                },
            );
            assert_eq!(differences, []);
            assert!(frames > 150, "{frames}");
        }
    }

    #[test]
    fn a_body_that_differs_in_a_pile_is_among_those_named() {
        let mut game = Everything::new();
        let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
        for _ in 0..100 {
            let Everything { simulation, script } = &mut game;
            record_frame(&mut recorder, simulation, script, MS(17)).unwrap();
        }
        let recording = Recording::read(recorder.finish().unwrap()).unwrap();
        let mut keys: Vec<BodyKey> = game
            .simulation
            .physics
            .bodies()
            .map(|(key, _)| key)
            .collect();
        keys.sort();
        // The crate at the bottom of a stack.
        let key = keys[1];
        let differences = replay_all::<Script>(
            &recording,
            0,
            |simulation, step| {
                if step.tick == 40 {
                    nudge(simulation, key);
                }
            },
            |_, _| (),
        );
        assert_eq!(differences[0].tick, 40);
        assert!(differences[0].bodies.contains(&key), "{differences:?}");
    }
}

/// With Rapier's feature `parallel` on as many threads; without it on one.
#[test]
fn another_number_of_threads_replays_the_same() {
    #[derive(Serialize, Deserialize)]
    struct Heap;

    impl Play for Heap {
        type Input = ();

        fn input(_: u64) {}

        fn step(&mut self, _: &mut Physics, _: Step, (): ()) -> Option<()> {
            Some(())
        }
    }

    let on_threads = |count| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
        pool.build().unwrap()
    };
    let bytes = on_threads(1).install(|| {
        let mut simulation = scenes::with_floor(Rate::hz(60).unwrap());
        scenes::heap(&mut simulation, 200);
        let mut recorder = Recorder::new(Vec::new(), settings(60)).unwrap();
        for _ in 0..120 {
            record_frame(&mut recorder, &mut simulation, &mut Heap, MS(17)).unwrap();
        }
        recorder.finish().unwrap()
    });
    let recording = Recording::read(bytes).unwrap();
    for count in [1, 2, 4] {
        let mut steps = 0;
        let differences = on_threads(count).install(|| {
            let count = |_: &mut Simulation, _| steps += 1;
            replay_all::<Heap>(&recording, 0, count, |_, _| ())
        });
        assert_eq!((differences, steps), (vec![], 122), "{count} threads");
    }
}

// Differences.

/// Changes a velocity by its last bit. (Of a zero that would be so little that the step rounds it away.)
fn nudge(simulation: &mut Simulation, key: BodyKey) {
    let body = simulation.physics.body_mut(key).unwrap();
    let mut velocity = body.linvel();
    let axis = velocity.abs().max_position();
    velocity[axis] = f32::from_bits(velocity[axis].to_bits() ^ 1);
    body.set_linvel(velocity, true);
}

/// The guest that was spawned at that tick.
fn guest_of(recording: &Recording<Vec<u8>>, tick: u64) -> BodyKey {
    let mut guest = None;
    replay_all::<Balls>(
        recording,
        0,
        |simulation, step| {
            if step.tick == tick {
                let at = |body: &RigidBody| body.translation().x == tick as f32;
                guest = simulation
                    .physics
                    .bodies()
                    .find(|(_, body)| at(body))
                    .map(|(key, _)| key);
            }
        },
        |_, _| (),
    );
    guest.unwrap()
}

#[test]
fn the_first_tick_and_the_body_that_differ_are_named() {
    for (check_bodies_every, keyframe_every) in [(1, 30), (1, 0), (10, 30)] {
        let mut settings = settings(keyframe_every);
        settings.check_bodies_every = check_bodies_every;
        let recording = Recording::read(record_balls(200, settings)).unwrap();
        let last = recording.ticks().end - 1;
        let player = Balls::new().1.player;
        for tick in [20, 50, 133, last] {
            let differences = replay_all::<Balls>(
                &recording,
                0,
                |simulation, step| {
                    if step.tick == tick {
                        nudge(simulation, player);
                    }
                },
                |_, _| (),
            );
            // Later on the bit may be rounded away, and the run is again what was recorded.
            let difference = &differences[0];
            assert_eq!(difference.tick, tick);
            let is_named = difference.last_tick >= tick.next_multiple_of(check_bodies_every);
            assert_eq!(difference.bodies == [player], is_named, "{difference:?}");
        }
    }
}

#[test]
fn bodies_that_are_on_one_side_only_are_named() {
    let recording = Recording::read(record_balls(60, settings(0))).unwrap();
    let guest = guest_of(&recording, 14);
    let mut meddle = |simulation: &mut Simulation, step: Step| {
        if step.tick == 16 {
            simulation.physics.remove(guest).unwrap();
        }
    };
    // Not to the end: the game will miss it.
    let mut replay = recording.replay(0);
    let (mut simulation, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
    while simulation.physics.tick() <= 16 {
        replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).unwrap();
    }
    assert_eq!(replay.differences()[0].tick, 16);
    assert_eq!(replay.differences()[0].bodies, [guest]);

    // In the last step, after which nothing else can name it.
    let last = recording.ticks().end - 1;
    let mut more = None;
    let differences = replay_all::<Balls>(
        &recording,
        0,
        |simulation, step| {
            if step.tick == last {
                let at = RigidBodyBuilder::dynamic().translation(Vector::Y * 50.0);
                more = Some(simulation.physics.insert(at, ball()));
            }
        },
        |_, _| (),
    );
    assert_eq!(
        (differences[0].tick, &differences[0].bodies[..]),
        (last, &[more.unwrap()][..])
    );
}

#[test]
fn it_goes_on_after_a_difference_and_finds_the_next_one() {
    let recording = Recording::read(record_balls(150, settings(40))).unwrap();
    let player = Balls::new().1.player;
    // The guest of tick 14 is removed before the step of tick 41, and what differed goes with it.
    let second = guest_of(&recording, 14);
    let differences = replay_all::<Balls>(
        &recording,
        0,
        |simulation, step| match step.tick {
            18 => nudge(simulation, second),
            60 => nudge(simulation, player),
            _ => (),
        },
        |_, _| (),
    );
    assert_eq!(differences.len(), 2, "{differences:?}");
    assert_eq!((differences[0].tick, differences[0].last_tick), (18, 40));
    assert_eq!(differences[0].bodies, [second]);
    assert_eq!(differences[1].tick, 60);
    assert_eq!(differences[1].bodies, [player]);
}

#[test]
fn the_next_keyframe_leads_back_to_what_was_recorded() {
    let recording = Recording::read(record_balls(150, settings(40))).unwrap();
    let mut replay = recording.replay(0);
    let (mut simulation, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
    let player = game.player;
    let mut meddle = |simulation: &mut Simulation, step: Step| {
        if step.tick == 30 {
            nudge(simulation, player);
        }
    };
    while replay.differences().is_empty() {
        replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).unwrap();
    }
    (simulation, game) = replay.next_run(|_| None).unwrap().unwrap();
    assert!(
        recording
            .keyframes()
            .any(|tick| tick == simulation.physics.tick())
    );
    while replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).is_some() {}
    assert_eq!(simulation.physics.tick(), recording.ticks().end);
    assert_eq!(replay.differences().len(), 1);
}

#[test]
fn a_step_that_is_made_on_one_side_only_differs() {
    let (mut simulation, mut game) = Balls::new();
    game.failing = vec![33];
    let mut recorder = Recorder::new(Vec::new(), settings(0)).unwrap();
    for number in 0..60 {
        record_frame(
            &mut recorder,
            &mut simulation,
            &mut game,
            frame_time(number),
        )
        .unwrap();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let mut replay = recording.replay(0);
    let (mut simulation, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
    game.failing = vec![20];
    while replay.differences().is_empty() {
        replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).unwrap();
    }
    assert_eq!(replay.differences()[0].tick, 20);
    // One that was not made when the run was recorded is not made here.
    let mut replay = recording.replay(0);
    let (mut simulation, mut game) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
    game.failing = vec![];
    while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
    assert_eq!(simulation.physics.tick(), 33);
    assert_eq!(replay.differences(), []);
}

/// What goes wrong in a hook, for a cause that no replay has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    BeforeFrame,
    /// With its input recorded, and nothing done.
    BeforeAct,
    AfterAct,
    Panic,
    AfterStep,
}

/// A recorded game whose hooks fail once from each of these ticks on, the last one first.
struct Faulty {
    game: Balls,
    recorder: Recorder<Vec<u8>>,
    fault: Fault,
    ticks: Vec<u64>,
}

impl Faulty {
    /// The game adds a guest in the step of tick 42, and two steps in a row are not made at 64.
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
        assert!(!(fails && here == Fault::Panic), "a bug of the game");
        if fails { Err("told") } else { Ok(()) }
    }
}

impl Hooks for Faulty {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: Duration,
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

/// A frame of the loop with a closure, which has no hook after a step: frames have one at most.
fn closure_frame(simulation: &mut Simulation, faulty: &mut Faulty, frame_time: Duration) {
    let frame_time = frame_time.min(MS(10));
    if faulty.before_frame(simulation, frame_time).is_err() {
        simulation.advance(frame_time, |_, _| ());
        return;
    }
    // A closure that fails aborts its step by a panic.
    let frame = simulation.advance(frame_time, |physics, step| {
        faulty.before_step(physics, step).unwrap();
    });
    if frame.steps == 1 {
        let _ = faulty.end_step(&simulation.physics, frame.tick - 1);
    }
}

fn pulled_frame(
    simulation: &mut Simulation,
    faulty: &mut Faulty,
    frame_time: Duration,
) -> Result<(), &'static str> {
    let mut result = faulty.before_frame(simulation, frame_time);
    simulation.begin_frame(frame_time);
    while result.is_ok()
        && let Some(step) = simulation.next_step()
    {
        result = faulty.before_step(&mut simulation.physics, step);
        if result.is_ok() {
            simulation.make_step();
            result = faulty.after_step(&mut simulation.physics, step);
        }
    }
    simulation.end_frame();
    result
}

/// Plays all of a recording, and checks that it makes each step once and never differs. Returns the state at its end.
fn assert_replays_without_differences(bytes: Vec<u8>, what: &str) -> Simulation {
    let recording = Recording::read(bytes).unwrap();
    let (mut replay, mut end, mut ticks) = (recording.replay(0), None, Vec::new());
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>(|_| None).unwrap() {
        let mut note = |_: &mut Simulation, step: Step| ticks.push(step.tick);
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut note).is_some() {}
        end = Some(simulation);
    }
    assert_eq!(replay.differences(), [], "{what}");
    assert!(ticks.is_sorted_by(|a, b| a < b), "{what}: {ticks:?}");
    assert!(ticks.len() > 70, "{what}: {}", ticks.len());
    end.unwrap()
}

#[test]
fn a_step_that_was_not_made_is_not_replayed() {
    type PlayFrame = fn(&mut Simulation, &mut Faulty, Duration);
    let loops: [(&str, PlayFrame); 3] = [
        ("closure", closure_frame),
        ("hooks", |simulation, faulty, frame_time| {
            let _ = simulation.advance_with(frame_time, faulty);
        }),
        ("pull", |simulation, faulty, frame_time| {
            let _ = pulled_frame(simulation, faulty, frame_time);
        }),
    ];
    for (name, frame) in loops {
        for fault in [
            Fault::BeforeFrame,
            Fault::BeforeAct,
            Fault::AfterAct,
            Fault::Panic,
            Fault::AfterStep,
        ] {
            let (mut simulation, mut faulty) = (Balls::new().0, Faulty::new(fault));
            for number in 0..400 {
                let frame_time = frame_time(number);
                let play = || frame(&mut simulation, &mut faulty, frame_time);
                let _ = catch_unwind(AssertUnwindSafe(play));
                if simulation.physics.tick() > 90 {
                    break;
                }
            }
            let what = format!("{name}, {fault:?}");
            assert!(faulty.ticks.len() < 3, "{what}: {:?}", faulty.ticks);
            // Frames that were left open are over.
            frame(&mut simulation, &mut faulty, MS(10));
            let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
            let sums = [&end, &simulation].map(|it| it.physics.checksum());
            assert_eq!(sums[0], sums[1], "{what}");
        }
    }
}

/// In the same frame, because a system failed or because the hook has assigned another state.
#[test]
fn a_step_that_is_taken_again_is_replayed_once() {
    for is_assigned in [false, true] {
        let (mut simulation, mut game) = Balls::new();
        let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
        let mut again = vec![66, 41, 18];
        for number in 0..120 {
            let frame_time = frame_time(number);
            recorder
                .begin_frame(&simulation, &game, frame_time)
                .unwrap();
            simulation.begin_frame(frame_time);
            while let Some(step) = simulation.next_step() {
                let input = Balls::input(step.tick);
                recorder.input(step, &input).unwrap();
                if again.pop_if(|tick| *tick == step.tick).is_some() {
                    if is_assigned {
                        simulation.physics = simulation.physics.clone();
                    }
                    continue;
                }
                game.step(&mut simulation.physics, step, input).unwrap();
                simulation.make_step();
                recorder.end_step(&simulation.physics).unwrap();
            }
            simulation.end_frame();
        }
        assert_eq!(again, []);
        let what = format!("assigned: {is_assigned}");
        let end = assert_replays_without_differences(recorder.finish().unwrap(), &what);
        assert_eq!(end.physics.checksum(), simulation.physics.checksum());
    }
}

// Runs.

#[test]
fn what_is_done_between_frames_needs_a_new_run() {
    let level = |simulation: &mut Simulation, game: &Balls| {
        let there = translation(0.0, 100.0, 0.0);
        simulation.physics.teleport(game.player, there).unwrap();
        let anchor = simulation.physics.insert_body(RigidBodyBuilder::fixed());
        let ends = [anchor, game.player].map(|key| simulation.physics.handle(key).unwrap());
        // No step has seen the joint: the state can be written after the next one.
        let rope = RopeJointBuilder::new(200.0);
        simulation
            .physics
            .rapier_mut_except_bodies()
            .insert_impulse_joint(ends[0], ends[1], rope);
    };
    for is_told in [false, true] {
        let (mut simulation, mut game) = Balls::new();
        let mut recorder = Recorder::new(Vec::new(), settings(30)).unwrap();
        for number in 0..100 {
            if number == 50 {
                level(&mut simulation, &game);
                if is_told {
                    recorder.new_run();
                }
            }
            record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
        }
        let recording = Recording::read(recorder.finish().unwrap()).unwrap();
        let mut frames = 0;
        let count = |_: &Simulation, _: &Balls| frames += 1;
        let differences = replay_all::<Balls>(&recording, 0, |_, _| (), count);
        if is_told {
            assert_eq!((frames, differences), (99, vec![]));
        } else {
            let first = &differences[0];
            assert_eq!((first.tick, &first.bodies[..]), (51, &[game.player][..]));
        }
    }
}

#[test]
fn a_state_that_is_assigned_between_frames_begins_a_new_run() {
    let (mut simulation, mut game) = Balls::new();
    simulation.set_rewind_limits(20, usize::MAX);
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    let mut kept = None;
    for number in 0..60 {
        match number {
            10 => kept = Some((simulation.physics.clone(), game.clone())),
            20 => (simulation.physics, game) = kept.take().unwrap(),
            30 => simulation.physics = simulation.physics.clone(),
            40 => simulation.correct(simulation.physics.clone()).unwrap(),
            _ => (),
        }
        record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let (mut replay, mut runs, mut end) = (recording.replay(0), 0, None);
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>(|_| None).unwrap() {
        runs += 1;
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
        end = Some(simulation.physics.checksum());
    }
    assert_eq!((runs, replay.differences()), (4, &[][..]));
    assert_eq!(end, Some(simulation.physics.checksum()));
}

/// In the hook, after the input of the step at hand.
#[test]
fn a_rollback_after_the_input_of_a_step_is_no_difference() {
    let (mut simulation, mut game) = Balls::new();
    simulation.set_rewind_limits(20, usize::MAX);
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    let mut before_tick = BTreeMap::new();
    for number in 0..40 {
        let frame_time = frame_time(number);
        let mut is_late = number == 17;
        recorder
            .begin_frame(&simulation, &game, frame_time)
            .unwrap();
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            let input = Balls::input(step.tick);
            recorder.input(step, &input).unwrap();
            if std::mem::take(&mut is_late) {
                simulation.roll_back(step.tick - 4).unwrap();
                game = before_tick.remove(&(step.tick - 4)).unwrap();
                continue;
            }
            before_tick.insert(step.tick, game.clone());
            game.step(&mut simulation.physics, step, input).unwrap();
            simulation.make_step();
            recorder.end_step(&simulation.physics).unwrap();
        }
        assert!(!is_late, "the frame has a step");
        simulation.end_frame();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let (mut replay, mut runs) = (recording.replay(0), 0);
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>(|_| None).unwrap() {
        runs += 1;
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
    }
    assert_eq!((runs, replay.differences()), (2, &[][..]));
}

/// The steps that are resimulated are not what was recorded: what follows begins with a state of its own.
#[test]
fn a_rollback_begins_a_new_run() {
    let (mut simulation, mut game) = Balls::new();
    simulation.set_rewind_limits(20, usize::MAX);
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    let mut before_tick = Vec::new();
    let mut rollbacks = 0;
    for number in 0..60 {
        let frame_time = frame_time(number);
        recorder
            .begin_frame(&simulation, &game, frame_time)
            .unwrap();
        simulation.begin_frame(frame_time);
        let tick = simulation.physics.tick();
        if number % 20 == 17 {
            simulation.roll_back(tick - 4).unwrap();
            game = before_tick.swap_remove(tick as usize - 5);
            before_tick.truncate(tick as usize - 5);
            rollbacks += 1;
        }
        while let Some(step) = simulation.next_step() {
            // `Balls::new` has made the first step.
            before_tick.truncate(step.tick as usize - 1);
            before_tick.push(game.clone());
            let mut input = Balls::input(step.tick);
            recorder.input(step, &input).unwrap();
            if step.is_resimulated {
                input[0] += 5.0;
            }
            game.step(&mut simulation.physics, step, input).unwrap();
            simulation.make_step();
            recorder.end_step(&simulation.physics).unwrap();
        }
        simulation.end_frame();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let (mut replay, mut runs, mut end) = (recording.replay(0), 0, None);
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>(|_| None).unwrap() {
        runs += 1;
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
        end = Some(simulation);
    }
    assert_eq!((runs, rollbacks), (4, 3));
    assert_eq!(replay.differences(), []);
    assert_eq!(
        end.unwrap().physics.checksum(),
        simulation.physics.checksum()
    );
}

#[test]
fn a_state_that_can_never_be_written_is_an_error() {
    let (mut simulation, mut game) = Balls::new();
    let nameless = ForceGenerator::custom(|_, _| evenstep::Wrench::default());
    let player = game.player;
    let key = simulation
        .physics
        .insert_force_generator(player, nameless)
        .unwrap();
    let mut recorder = Recorder::new(Vec::new(), settings(0)).unwrap();
    let mut frame =
        |simulation: &mut Simulation| record_frame(&mut recorder, simulation, &mut game, MS(10));
    assert!(matches!(
        frame(&mut simulation),
        Err(RecordError::Save(SaveError::UnnamedForce(_)))
    ));
    simulation.physics.remove_force_generator(key);
    frame(&mut simulation).unwrap();
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.ticks(), 1..2);
}

#[test]
fn keyframes_keep_under_their_bound_and_grow_apart() {
    let mut settings = settings(10);
    let all = record_balls(600, settings);
    settings.max_keyframe_bytes = 8 * state_len() as u64;
    let bounded = record_balls(600, settings);
    let ticks: Vec<u64> = Recording::read(&bounded[..]).unwrap().keyframes().collect();
    let distances: Vec<u64> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(
        distances.len() > 2 && distances.is_sorted(),
        "{distances:?}"
    );
    assert!(
        distances.last().unwrap() > &(2 * distances[0]),
        "{distances:?}"
    );

    settings.keyframe_every = 0;
    let without = record_balls(600, settings);
    assert_eq!(
        Recording::read(&without[..]).unwrap().keyframes().count(),
        1
    );
    // Beside the states it differs in what is said again after each.
    let states = bounded.len() - without.len();
    assert!(states as u64 <= settings.max_keyframe_bytes + 100 * distances.len() as u64);
    assert!(all.len() > bounded.len());
}

#[test]
fn input_and_game_of_another_type_are_refused() {
    let recording = Recording::read(record_balls(20, settings(0))).unwrap();
    let mut replay = recording.replay(0);
    assert!(matches!(
        replay.next_run::<String>(|_| None),
        Err(ReplayError::Game)
    ));
    let mut replay = recording.replay(0);
    let (mut simulation, _) = replay.next_run::<Balls>(|_| None).unwrap().unwrap();
    let step = loop {
        let frame_time = replay.begin_frame(&mut simulation).unwrap().unwrap();
        simulation.begin_frame(frame_time);
        if let Some(step) = simulation.next_step() {
            break step;
        }
        simulation.end_frame();
    };
    let error = replay.input::<Vec<String>>(step).unwrap_err();
    assert_eq!(error, ReplayError::Input { tick: 1 });
}

// Cut, damaged, not a recording.

/// The checksum after each frame that is played.
fn play(recording: &Recording<impl AsRef<[u8]>>) -> Vec<(u64, u64)> {
    let mut frames = Vec::new();
    let seen = |simulation: &Simulation, _: &Balls| {
        frames.push((simulation.physics.tick(), simulation.physics.checksum()));
    };
    assert_eq!(replay_all(recording, 0, |_, _| (), seen), []);
    frames
}

#[test]
fn a_recording_that_is_cut_anywhere_is_played_up_to_the_cut() {
    let bytes = record_balls(12, settings(10));
    let whole = Recording::read(&bytes[..]).unwrap();
    assert!(whole.keyframes().count() > 1);
    let run = play(&whole);
    let (mut played_to, mut played) = (0, 0);
    for cut in 0..bytes.len() {
        let recording = match Recording::read(&bytes[..cut]) {
            Err(error) => {
                assert!(cut < 12, "{cut}: {error}");
                assert_eq!(error, ReplayError::NotARecording);
                continue;
            }
            Ok(recording) => recording,
        };
        let RecordingEnd::Cut { at } = recording.ending() else {
            panic!("{cut}: {recording:?}");
        };
        assert!(at <= cut as u64 && at >= played_to);
        if at == played_to {
            continue;
        }
        // A piece more.
        played_to = at;
        let frames = play(&recording);
        let (last, others) = frames.split_last().unwrap_or((&(0, 0), &[]));
        assert_eq!(others, &run[..others.len()]);
        let steps_made = last.0;
        assert!(frames.is_empty() || steps_made <= run[others.len()].0);
        assert!(frames.len() >= played);
        played = frames.len();
    }
    assert_eq!((played, played_to), (run.len(), bytes.len() as u64 - 9));
    // Without its end it is all there, and cut.
    let cut = Recording::read(&bytes[..bytes.len() - 9]).unwrap();
    assert_eq!(play(&cut), run);
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let bytes = record_balls(60, settings(20));
    let run = play(&Recording::read(&bytes[..]).unwrap());
    let mut runner = TestRunner::new(Config::with_cases(1_500));
    runner
        .run(&(0..bytes.len(), 0..8u8), |(at, bit)| {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let Ok(recording) = Recording::read(changed) else {
                return Ok(());
            };
            let end = match recording.ending() {
                RecordingEnd::Cut { at } | RecordingEnd::Damaged { at } => at as usize,
                ending => return Err(TestCaseError::fail(format!("{ending:?}"))),
            };
            prop_assert!(end <= at, "{end} of {at}");
            let frames = play(&recording);
            let whole = frames.len().saturating_sub(1);
            prop_assert_eq!(&frames[..whole], &run[..whole]);
            Ok(())
        })
        .unwrap();
}

// The flight recorder.

fn flight_settings() -> RecorderSettings {
    settings(50)
}

#[test]
fn a_panic_in_a_step_leaves_a_recording_that_panics_in_that_step() {
    const FATAL: u64 = 777;

    #[derive(Serialize, Deserialize)]
    struct Fatal(Balls);

    impl Play for Fatal {
        type Input = (u64, [f32; 3]);

        fn input(tick: u64) -> Self::Input {
            (tick, Balls::input(tick))
        }

        fn step(
            &mut self,
            physics: &mut Physics,
            step: Step,
            (tick, push): Self::Input,
        ) -> Option<()> {
            self.0.step(physics, step, push);
            assert!(tick != FATAL, "a bug of the game");
            Some(())
        }
    }

    let name = format!("evenstep-flight-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let result = catch_unwind(|| {
        let (mut simulation, game) = Balls::new();
        let mut game = Fatal(game);
        let flight = FlightRecorder::new(MS(2_000), 16 << 20).on_panic(&path);
        let mut recorder = Recorder::new(flight, flight_settings()).unwrap();
        for number in 0.. {
            let frame_time = frame_time(number);
            record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
        }
    });
    assert!(result.is_err());
    let recording = Recording::read(std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(recording.ending(), RecordingEnd::Complete);
    let ticks = recording.ticks();
    assert_eq!(ticks.end, FATAL + 1);
    assert!(
        (200..=300).contains(&(ticks.end - ticks.start)),
        "{ticks:?}"
    );

    let mut replay = recording.replay(0);
    let (mut simulation, mut game) = replay.next_run::<Fatal>(|_| None).unwrap().unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
    }));
    assert!(panic.is_err());
    assert_eq!(simulation.physics.current_step().unwrap().tick, FATAL);
    assert_eq!(replay.differences(), []);
}

#[test]
fn a_flight_recorder_keeps_its_time_and_its_bound() {
    // A second, and where that does not fit as much of it as does.
    for (max_bytes, least_ticks, most_ticks) in [(usize::MAX, 100, 170), (4 * state_len(), 1, 99)] {
        let (mut simulation, mut game) = Balls::new();
        let mut settings = flight_settings();
        settings.keyframe_every = 20;
        settings.check_bodies_every = 0;
        let flight = FlightRecorder::new(MS(1_000), max_bytes);
        let mut recorder = Recorder::new(flight, settings).unwrap();
        for number in 0..500 {
            let frame_time = frame_time(number);
            record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
            let mut bytes = Vec::new();
            recorder.writer().write_to(&mut bytes).unwrap();
            let header_and_end = 12 + 9;
            assert!(bytes.len() - header_and_end <= max_bytes);
            if number % 50 == 49 {
                let recording = Recording::read(bytes).unwrap();
                assert_eq!(recording.ending(), RecordingEnd::Complete);
                let ticks = recording.ticks();
                assert_eq!(ticks.end, simulation.physics.tick());
                let count = ticks.end - ticks.start;
                assert!(count <= most_ticks, "{number}: {ticks:?}");
                assert!(count >= least_ticks || ticks.start == 1, "{ticks:?}");
                play(&recording);
            }
        }
    }
}

#[test]
fn what_never_fits_is_an_error_and_takes_no_memory() {
    let (mut simulation, mut game) = Balls::new();
    let flight = FlightRecorder::new(MS(1_000), 100);
    let mut recorder = Recorder::new(flight, flight_settings()).unwrap();
    let error = record_frame(&mut recorder, &mut simulation, &mut game, MS(10));
    assert!(matches!(error, Err(RecordError::Io(_))));
    let mut bytes = Vec::new();
    recorder.writer().write_to(&mut bytes).unwrap();
    assert_eq!(Recording::read(bytes).unwrap().keyframes().count(), 0);
}

#[test]
fn a_flight_recorder_takes_pieces_of_any_size() {
    let bytes = record_balls(40, settings(10));
    let whole = Recording::read(&bytes[..]).unwrap();
    for piece in [1, 7, 1_000, bytes.len()] {
        let mut flight = FlightRecorder::new(Duration::MAX, usize::MAX);
        for piece in bytes.chunks(piece) {
            flight.write_all(piece).unwrap();
        }
        let mut again = Vec::new();
        flight.write_to(&mut again).unwrap();
        assert_eq!(again, bytes);
        assert_eq!(play(&Recording::read(again).unwrap()), play(&whole));
    }
}
