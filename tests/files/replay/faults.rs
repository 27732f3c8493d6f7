//! Steps that did not run, or ran twice.

use super::*;

/// Runs a frame of the loop with a closure. The closure form has no hook after a step, so frames have one step at most.
fn closure_frame(simulation: &mut Simulation, faulty: &mut Faulty, frame_time: Duration) {
    let frame_time = frame_time.min(MS(10));
    if faulty.before_frame(simulation, frame_time.into()).is_err() {
        simulation.advance(frame_time, |_, _| ());
        return;
    }
    // A closure that fails aborts its step with a panic.
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
    let mut result = faulty.before_frame(simulation, frame_time.into());
    simulation.begin_frame(frame_time);
    while result.is_ok()
        && let Some(step) = simulation.next_step()
    {
        result = faulty.before_step(&mut simulation.physics, step);
        if result.is_ok() {
            simulation.run_step();
            result = faulty.after_step(&mut simulation.physics, step);
        }
    }
    simulation.end_frame();
    result
}

#[test]
fn aborted_steps_are_not_replayed() {
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
            // Frames that were left open have ended.
            frame(&mut simulation, &mut faulty, MS(10));
            let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
            let sums = [&end, &simulation].map(|it| it.physics.checksum());
            assert_eq!(sums[0], sums[1], "{what}");
        }
    }
}

/// The step runs again in the same frame, because a system failed or because the hook has assigned another state.
#[test]
fn a_step_taken_twice_before_it_runs_is_replayed_once() {
    for is_assigned in [false, true] {
        let (mut simulation, mut game) = Balls::new();
        let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
        let mut again = vec![66, 41, 18];
        for number in 0..120 {
            let frame_time = frame_time(number);
            recorder
                .begin_frame(&mut simulation, &game, frame_time)
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
                simulation.run_step();
                recorder.end_step(&simulation.physics).unwrap();
            }
            simulation.end_frame();
        }
        assert!(again.is_empty(), "{again:?}");
        let what = format!("assigned: {is_assigned}");
        let end = assert_replays_without_differences(recorder.finish().unwrap(), &what);
        assert_eq!(end.physics.checksum(), simulation.physics.checksum());
    }
}

/// A writer that fails in one call, in which it writes nothing.
struct FailsOnce {
    bytes: Vec<u8>,
    calls_before: u32,
}

impl Write for FailsOnce {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.calls_before = self.calls_before.wrapping_sub(1);
        if self.calls_before == u32::MAX {
            return Err(std::io::Error::other("the requested failure"));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// An input that postcard cannot write, because its length is unknown.
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq([0; 3].iter().filter(|_| true))
    }
}

/// Plays a hundred frames with one or two steps, although the recorder may fail. Checks that the replay has no
/// differences, and ends in the same state. Returns the calls that failed, and the number of recorded runs.
fn replay_despite_errors(calls_before: u32, unwritable: Option<u64>) -> (Vec<&'static str>, usize) {
    let (mut simulation, mut game) = Balls::new();
    let bytes = Vec::new();
    let writer = FailsOnce {
        bytes,
        calls_before,
    };
    let mut recorder = Recorder::new(writer, settings(30)).unwrap();
    let mut failed = Vec::new();
    for number in 0..100 {
        let frame_time = MS(if number % 30 == 29 { 20 } else { 10 });
        if recorder
            .begin_frame(&mut simulation, &game, frame_time)
            .is_err()
        {
            failed.push("begin_frame");
        }
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            let input = Balls::input(step.tick);
            let recorded = if unwritable == Some(step.tick) {
                recorder.input(step, &Unwritable)
            } else {
                recorder.input(step, &input)
            };
            if recorded.is_err() {
                failed.push("input");
            }
            game.step(&mut simulation.physics, step, input).unwrap();
            simulation.run_step();
            if recorder.end_step(&simulation.physics).is_err() {
                failed.push("end_step");
            }
        }
        simulation.end_frame();
    }
    let bytes = recorder.finish().unwrap().bytes;
    let runs = Recording::read(&bytes[..]).unwrap().runs().len();
    let end = assert_replays_without_differences(bytes, &format!("{failed:?}"));
    assert_eq!(end.physics.checksum(), simulation.physics.checksum());
    (failed, runs)
}

#[test]
fn after_an_error_of_the_recorder_the_next_frame_begins_a_new_run() {
    // The chunks before the failing one are the start, the first state, 29 frames of one step and one of two.
    let before_keyframe = 1 + 1 + 29 * 3;
    let cases = [
        (1, "begin_frame", 1),                   // the first state
        (before_keyframe, "begin_frame", 2),     // a frame of two steps
        (before_keyframe + 1, "input", 2),       // the input of its first step
        (before_keyframe + 2, "end_step", 2),    // the end of its first step
        (before_keyframe + 3, "input", 2),       // the input of its second step
        (before_keyframe + 5, "begin_frame", 1), // a keyframe, so its frame is still recorded
        (before_keyframe + 6, "begin_frame", 2), // the frame after it
    ];
    for (calls_before, call, runs) in cases {
        let seen = replay_despite_errors(calls_before, None);
        assert_eq!(seen, (vec![call], runs), "{calls_before}");
    }
    assert_eq!(
        replay_despite_errors(u32::MAX, Some(20)),
        (vec!["input"], 2)
    );
}

/// With `roll_back` instead of `resimulate`, no state and so no frame could be recorded.
#[test]
fn a_game_that_resimulates_before_each_frame_is_recorded() {
    let (mut simulation, mut game) = Balls::new();
    let kept = simulation.kept();
    simulation.keep(evenstep::rewind::Kept { ticks: 9, ..kept });
    let mut recorder = Recorder::new(Vec::new(), settings(0)).unwrap();
    let mut games = vec![game.clone()];
    for _ in 0..80 {
        let tick = simulation.physics.tick();
        if let Some(earlier) = games.len().checked_sub(3) {
            games.truncate(earlier + 1);
            game = games[earlier].clone();
            let again = |physics: &mut Physics, step: Step| {
                game.step(physics, step, Balls::input(step.tick)).unwrap();
                games.push(game.clone());
            };
            simulation.resimulate(tick - 2, again).unwrap();
        }
        record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
        games.push(game.clone());
    }
    let end = assert_replays_without_differences(recorder.finish().unwrap(), "resimulated");
    assert_eq!(end.physics.checksum(), simulation.physics.checksum());
}

#[test]
fn after_a_panic_of_rapier_the_recorder_reports_the_panic() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(0)).unwrap();
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    recorder
        .begin_frame(&mut simulation, &game, MS(10))
        .unwrap();
    simulation.begin_frame(MS(10));
    let step = simulation.next_step().unwrap();
    recorder.input(step, &Balls::input(step.tick)).unwrap();
    scenes::break_rapier(&mut simulation.physics);
    catch_unwind(AssertUnwindSafe(|| simulation.run_step())).unwrap_err();
    for _ in 0..2 {
        let recorded = recorder.begin_frame(&mut simulation, &game, MS(10));
        let error = recorded.unwrap_err();
        assert!(
            matches!(error, RecordError::Save(SaveError::Panicked)),
            "{error:?}"
        );
    }
}
