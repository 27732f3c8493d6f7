//! Levels that restart within a recording. The ticks of its runs overlap.

use super::*;

/// When the game assigns the level, in the second of the three steps of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Restart {
    BeforeStep,
    AfterStep,
    /// After the recorder has recorded the step.
    AfterRecord,
    AfterFrame,
}

/// Whether the recording continues after the frame of the restart, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Continues,
    Ends,
    /// As after a crash.
    IsCut,
}

/// Records a game that restarts at tick 29. Returns the recording and the last state.
fn record(restart: Restart, then: Then) -> (Vec<u8>, Simulation) {
    let (mut simulation, mut game) = Balls::new();
    let level = (simulation.physics.clone(), game.clone());
    let mut recorder = Recorder::new(Vec::new(), settings(8)).unwrap();
    let mut is_done = false;
    for _ in 0..25 {
        let mut restart = |now: Restart, simulation: &mut Simulation, game: &mut Balls| {
            let is_due = now == restart && simulation.physics.tick() >= 29;
            if is_due && !std::mem::replace(&mut is_done, true) {
                (simulation.physics, *game) = level.clone();
            }
        };
        recorder
            .begin_frame(&mut simulation, &game, MS(30))
            .unwrap();
        simulation.begin_frame(MS(30));
        while let Some(step) = simulation.next_step() {
            let input = Balls::input(step.tick);
            recorder.input(step, &input).unwrap();
            game.step(&mut simulation.physics, step, input).unwrap();
            restart(Restart::BeforeStep, &mut simulation, &mut game);
            if simulation.run_step() {
                restart(Restart::AfterStep, &mut simulation, &mut game);
                recorder.end_step(&simulation.physics).unwrap();
                restart(Restart::AfterRecord, &mut simulation, &mut game);
            }
        }
        simulation.end_frame();
        restart(Restart::AfterFrame, &mut simulation, &mut game);
        if is_done && then != Then::Continues {
            break;
        }
    }
    assert!(is_done);
    let bytes = if then == Then::IsCut {
        recorder.writer().clone()
    } else {
        recorder.finish().unwrap()
    };
    (bytes, simulation)
}

/// Plays a replay to its end. Returns the first tick, and the state at the end of each run.
fn play_runs(replay: &mut Replay<'_>, what: &str) -> (u64, Vec<u64>) {
    let (mut first, mut ends) = (None, Vec::new());
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>().unwrap() {
        first.get_or_insert(simulation.physics.tick());
        while replay_frame(replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
        ends.push(simulation.physics.checksum());
    }
    assert_eq!(replay.differences(), [], "{what}");
    (first.unwrap(), ends)
}

const RESTARTS: [Restart; 4] = [
    Restart::BeforeStep,
    Restart::AfterStep,
    Restart::AfterRecord,
    Restart::AfterFrame,
];

#[test]
fn a_level_that_restarts_in_any_part_of_a_step_is_replayed_from_any_tick_of_each_run() {
    for restart in RESTARTS {
        let (bytes, end) = record(restart, Then::Continues);
        let recording = Recording::read(bytes).unwrap();
        let runs = recording.runs();
        assert_eq!(runs.len(), 2, "{restart:?}");
        assert!(runs[0].ticks.end > 27 && runs[1].ticks.end > 27, "{runs:?}");
        assert!(runs[1].ticks.start < 4, "{runs:?}");
        for (run, ticks) in runs.iter().map(|run| run.ticks.clone()).enumerate() {
            for from in [0, 10, 20, 1_000] {
                let what = format!("{restart:?}, run {run} from {from}");
                let mut replay = recording.replay_from(run, from);
                let (first, ends) = play_runs(&mut replay, &what);
                assert_eq!(ends.len(), 2 - run, "{what}");
                assert_eq!(ends.last(), Some(&end.physics.checksum()), "{what}");
                // The last keyframe of this run, at most twelve steps earlier.
                let from = from.clamp(ticks.start, ticks.end);
                assert!(first <= from && first + 12 > from, "{what}: {first}");
            }
        }
    }
}

#[test]
fn a_recording_that_ends_in_the_frame_of_a_restart_has_no_difference() {
    for restart in RESTARTS {
        for then in [Then::Ends, Then::IsCut] {
            let what = format!("{restart:?} {then:?}");
            let (bytes, _) = record(restart, then);
            let recording = Recording::read(bytes).unwrap();
            let ticks = recording.runs()[0].ticks.clone();
            assert!(
                recording.runs().len() == 1 && ticks.end > 27,
                "{what} {ticks:?}"
            );
            let (_, ends) = play_runs(&mut recording.replay(), &what);
            assert_eq!(ends.len(), 1, "{what}");
        }
    }
}
