//! A replay is the recorded run, frame by frame and from every tick.

use super::*;

#[test]
fn a_replay_equals_the_recorded_run_in_every_frame() {
    let (mut simulation, mut game) = Balls::new();
    // Steps set these speeds, and the game resets them between frames, so only a recording of every frame has them.
    game.clock_changes = vec![(20, 0.25), (45, 3.0), (46, 1.0)];
    game.failing = vec![90, 61, 30];
    let mut recorder = Recorder::new(Vec::new(), settings(25)).unwrap();
    let mut run = Vec::new();
    for number in 0..400 {
        match number {
            40 => simulation.clock_settings_mut().set_speed(1.0).unwrap(),
            70 => simulation.pause(),
            75 | 76 => simulation.step_once(),
            77 => (0..5).for_each(|_| simulation.step_once()),
            90 => simulation.resume(),
            100 => simulation
                .clock_settings_mut()
                .set_rate(Rate::fraction(60_000, 1_001)),
            110 => simulation.clock_settings_mut().set_max_frame_time(MS(30)),
            120 => simulation.clock_settings_mut().set_max_frame_time(MS(250)),
            121 => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(Some(2)),
            130 => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(None),
            131 => simulation.set_overstep(MS(3)),
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
            // A run ends before a step in the frame that renumbers it, so these frames have none.
            198 => simulation.set_tick(1_000),
            202 => simulation.set_tick(2_000),
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
    assert_eq!(
        recording.fingerprint(),
        Some(evenstep::saving::fingerprint())
    );
    let runs = recording.runs();
    assert_eq!(runs[0].ticks.start, 1);
    assert_eq!(runs.last().unwrap().ticks.end, simulation.physics.tick());
    let mut frames = run.iter();
    let differences = replay_all::<Balls>(
        &recording,
        0,
        |_, _| (),
        |simulation, game| {
            let expected = frames.next().unwrap();
            if expected.0.2.dropped.aborted > 0 {
                // Changes by the game in a step that did not run are known from the next frame on.
                assert_eq!(simulation.clock(), &expected.0.1);
            } else {
                assert_replayed(simulation, &expected.0);
                assert_eq!(*game, expected.1);
            }
        },
    );
    assert_eq!((frames.len(), differences), (0, vec![]));
}

#[test]
fn a_replay_from_any_tick_equals_the_recorded_run() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(20)).unwrap();
    let mut run = Vec::new();
    for number in 0..300 {
        let frame_time = frame_time(number);
        record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
        run.push(seen(&simulation));
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let RecordedRun {
        ticks, keyframes, ..
    } = recording.runs()[0].clone();
    assert!(keyframes.len() > 10, "{keyframes:?}");
    // The simulation's first frame has number 1 and was not recorded.
    let expected = |simulation: &Simulation| &run[simulation.frame().number as usize - 2];
    for tick in ticks {
        let mut replay = recording.replay_from(0, tick);
        let (mut simulation, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
        let start = simulation.physics.tick();
        let nearest = keyframes.iter().rfind(|keyframe| **keyframe <= tick);
        assert_eq!(Some(&start), nearest);
        while simulation.physics.tick() < tick {
            replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).unwrap();
            assert_replayed(&simulation, expected(&simulation));
        }
        for _ in 0..9 {
            if replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {
                assert_replayed(&simulation, expected(&simulation));
            }
        }
        assert_eq!(replay.differences(), []);
    }
}

#[test]
fn hooks_and_the_pull_form_record_the_same_bytes() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(50)).unwrap();
    let mut hooks = RecordingHooks {
        game: &mut game,
        recorder: &mut recorder,
    };
    for number in 0..100 {
        simulation
            .advance_with(frame_time(number), &mut hooks)
            .unwrap();
    }
    let bytes = recorder.finish().unwrap();
    assert_eq!(bytes, record_balls(100, settings(50)));

    let recording = Recording::read(bytes).unwrap();
    let mut replay = recording.replay();
    let (mut again, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    while let Some(frame_time) = replay.begin_frame(&mut again).unwrap() {
        let mut hooks = ReplayHooks {
            game: &mut game,
            replay: &mut replay,
        };
        again.advance_with(frame_time, &mut hooks).unwrap();
    }
    assert_eq!(replay.differences(), []);
    assert_eq!(again.physics.checksum(), simulation.physics.checksum());
}
