//! Recordings with `Overlap` and `Runner`.

use super::*;
use evenstep::Physics;
use evenstep::rewind::Kept;
use evenstep::threads::{Failure, Overlap, Runner, RunnerSettings};
use evenstep::time::FrameTime;

/// The game and its recorder, which can be sent to a thread. The steps are reported.
struct Recorded {
    game: Balls,
    recorder: Recorder<Vec<u8>>,
    steps: std::sync::mpsc::Sender<u64>,
}

impl Recorded {
    fn hooks(&mut self) -> RecordingHooks<'_> {
        RecordingHooks {
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
        frame_time: FrameTime,
    ) -> Result<(), RecordError> {
        self.hooks().before_frame(simulation, frame_time)
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), RecordError> {
        self.hooks().before_step(physics, step)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), RecordError> {
        self.hooks().after_step(physics, step)?;
        // The receiver may be gone.
        let _ = self.steps.send(step.tick);
        Ok(())
    }
}

/// Returns a game whose settings would shorten the steps of a thread, if they applied there.
fn recorded() -> (Simulation, Recorded, std::sync::mpsc::Receiver<u64>) {
    let (mut simulation, mut game) = Balls::new();
    simulation
        .clock_settings_mut()
        .set_stepping(Stepping::Variable);
    simulation.clock_settings_mut().set_max_frame_time(MS(1));
    // Some of the steps speed the clock up or slow it down.
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
    let mut replay = recording.replay();
    let (mut again, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    let mut steps = 0;
    while let Some(frame_time) = replay.begin_frame(&mut again).unwrap() {
        let mut hooks = ReplayHooks {
            game: &mut game,
            replay: &mut replay,
        };
        steps += again.advance_with(frame_time, &mut hooks).unwrap().steps;
    }
    assert_eq!(replay.differences(), []);
    assert!(steps >= 60, "{steps}");
    assert_eq!(again.physics.checksum(), simulation.physics.checksum());
    // The simulation still has the game's settings.
    let clock = simulation.clock();
    assert_eq!(clock.settings().stepping(), Stepping::Variable);
    assert_eq!(clock.settings().max_frame_time(), MS(1));
}

/// Returns the time, the number of steps and the checksum of each recorded frame.
fn frames_of(bytes: &[u8]) -> Vec<(Duration, u64, u64)> {
    let recording = Recording::read(bytes.to_vec()).unwrap();
    let mut replay = recording.replay();
    let (mut again, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    let mut frames = Vec::new();
    while let Some(frame_time) = replay.begin_frame(&mut again).unwrap() {
        let mut hooks = ReplayHooks {
            game: &mut game,
            replay: &mut replay,
        };
        let frame = again.advance_with(frame_time, &mut hooks).unwrap();
        frames.push((frame_time.duration(), frame.steps, again.physics.checksum()));
    }
    assert_eq!(replay.differences(), []);
    frames
}

#[test]
fn hooks_of_a_runner_record_a_run_that_replays() {
    let (simulation, recorded, made) = recorded();
    let runner = Runner::new(simulation, recorded, RunnerSettings::default()).unwrap();
    while made.recv().expect("the thread runs steps") < 60 {}
    let (simulation, recorded) = runner.stop();
    assert_replays(&simulation, recorded.recorder);
    // All steps have the rate's length, because the other settings do not apply on a thread.
    let clock = simulation.clock();
    assert_eq!(clock.time() - clock.overstep(), MS(10 * clock.tick()));
}

#[test]
fn steps_that_a_runner_aborted_are_not_replayed() {
    for fault in [
        Fault::BeforeFrame,
        Fault::BeforeAct,
        Fault::AfterAct,
        Fault::Panic,
    ] {
        let mut simulation = Balls::new().0;
        simulation.keep(Kept {
            ticks: 20,
            ..simulation.kept()
        });
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
        assert!(faulty.ticks.is_empty(), "{what}: {:?}", faulty.ticks);
        let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
        let sums = [&end, &simulation].map(|it| it.physics.checksum());
        assert_eq!(sums[0], sums[1], "{what}");
    }
}

#[test]
fn steps_that_an_overlap_aborted_are_not_replayed() {
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
        assert!(faulty.ticks.is_empty(), "{what}: {:?}", faulty.ticks);
        let simulation = overlap.stop(&mut faulty).0;
        let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
        let sums = [&end, &simulation].map(|it| it.physics.checksum());
        assert_eq!(sums[0], sums[1], "{what}");
    }
}

#[test]
fn hooks_of_an_overlap_record_a_run_that_replays() {
    let (simulation, mut recorded, _made) = recorded();
    let mut overlap = Overlap::new(simulation).unwrap();
    // Only the limit of frame time applies here.
    for _ in 0..800 {
        overlap.frame(MS(7), &mut recorded).unwrap();
    }
    // A setting in a pause needs no input either.
    overlap.simulation(&mut recorded).unwrap().pause();
    // Wait for the end of the step that is running.
    for _ in 0..30 {
        overlap.frame(MS(1), &mut recorded).unwrap();
    }
    overlap
        .simulation(&mut recorded)
        .unwrap()
        .set_overstep(MS(4));
    overlap.frame(MS(1), &mut recorded).unwrap();
    overlap.simulation(&mut recorded).unwrap().resume();
    for _ in 0..100 {
        overlap.frame(MS(7), &mut recorded).unwrap();
    }
    // The hook after the last step is not called. The recording only has the input of that step.
    assert_replays(&overlap.stop(&mut recorded).0, recorded.recorder);
}

#[test]
fn an_overlap_records_the_same_frames_as_one_thread() {
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
                overlap.simulation(&mut recorded).unwrap().pause();
            } else if number % 50 == 45 {
                overlap.simulation(&mut recorded).unwrap().resume();
            }
            overlap.frame(frame_time(number), &mut recorded).unwrap();
        }
        // Wait for the last step.
        overlap.simulation(&mut recorded).unwrap().pause();
        overlap.frame(Duration::ZERO, &mut recorded).unwrap();
        recorded.recorder.finish().unwrap()
    };
    let (beside, alone) = (frames_of(&run(true)), frames_of(&run(false)));
    assert_eq!(alone.len(), 301);
    assert_eq!(beside, alone);
}
