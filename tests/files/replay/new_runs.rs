//! Edits between frames, assignments and rollbacks in a recording.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn edits_between_frames_replay_only_if_new_run_was_called() {
    let level = |simulation: &mut Simulation, game: &Balls| {
        let there = translation(0.0, 100.0, 0.0);
        simulation.physics.teleport(game.player, there).unwrap();
        let anchor = simulation.physics.insert_body(RigidBodyBuilder::fixed());
        let ends = [anchor, game.player].map(|key| simulation.physics.handle(key).unwrap());
        // No step has used the joint, so the state can be saved only after the next step.
        let rope = RopeJointBuilder::new(200.0);
        simulation
            .physics
            .rapier_mut_except_bodies()
            .insert_impulse_joint(ends[0], ends[1], rope);
    };
    for is_declared in [false, true] {
        let (mut simulation, mut game) = Balls::new();
        let mut recorder = Recorder::new(Vec::new(), settings(30)).unwrap();
        for number in 0..100 {
            if number == 50 {
                level(&mut simulation, &game);
                if is_declared {
                    recorder.new_run();
                }
            }
            record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
        }
        let recording = Recording::read(recorder.finish().unwrap()).unwrap();
        let mut frames = 0;
        let count = |_: &Simulation, _: &Balls| frames += 1;
        let differences = replay_all::<Balls>(&recording, 0, |_, _| (), count);
        if is_declared {
            assert_eq!((frames, differences), (99, vec![]));
        } else {
            let first = &differences[0];
            assert_eq!((first.tick, &first.bodies[..]), (51, &[game.player][..]));
        }
    }
}

#[test]
fn an_assignment_or_correction_between_frames_begins_a_new_run() {
    let (mut simulation, mut game) = Balls::new();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
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
    let (mut replay, mut runs, mut end) = (recording.replay(), 0, None);
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>().unwrap() {
        runs += 1;
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
        end = Some(simulation.physics.checksum());
    }
    assert_eq!((runs, replay.differences()), (4, &[][..]));
    assert_eq!(end, Some(simulation.physics.checksum()));
}

/// The hook rolls back after the input of the current step.
#[test]
fn a_rollback_between_input_and_step_causes_no_difference() {
    let (mut simulation, mut game) = Balls::new();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    let mut before_tick = BTreeMap::new();
    for number in 0..40 {
        let frame_time = frame_time(number);
        let mut is_late = number == 17;
        recorder
            .begin_frame(&mut simulation, &game, frame_time)
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
            simulation.run_step();
            recorder.end_step(&simulation.physics).unwrap();
        }
        assert!(!is_late, "the frame has a step");
        simulation.end_frame();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let (mut replay, mut runs) = (recording.replay(), 0);
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>().unwrap() {
        runs += 1;
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
    }
    assert_eq!((runs, replay.differences()), (2, &[][..]));
}

/// Resimulated steps differ from the recorded ones, so the recording continues with a new state.
#[test]
fn a_rollback_begins_a_new_run() {
    let (mut simulation, mut game) = Balls::new();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    let mut before_tick = Vec::new();
    let mut rollbacks = 0;
    for number in 0..60 {
        let frame_time = frame_time(number);
        recorder
            .begin_frame(&mut simulation, &game, frame_time)
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
            // `Balls::new` has run the first step.
            before_tick.truncate(step.tick as usize - 1);
            before_tick.push(game.clone());
            let mut input = Balls::input(step.tick);
            recorder.input(step, &input).unwrap();
            if step.is_resimulated {
                input[0] += 5.0;
            }
            game.step(&mut simulation.physics, step, input).unwrap();
            simulation.run_step();
            recorder.end_step(&simulation.physics).unwrap();
        }
        simulation.end_frame();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let (mut replay, mut runs, mut end) = (recording.replay(), 0, None);
    while let Some((mut simulation, mut game)) = replay.next_run::<Balls>().unwrap() {
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
fn recording_a_state_that_cannot_be_saved_is_an_error() {
    let (mut simulation, mut game) = Balls::new();
    let mut broken = simulation.clone();
    scenes::break_rapier(&mut broken.physics);
    let advance = AssertUnwindSafe(|| broken.advance(MS(10), |_, _| ()));
    catch_unwind(advance).unwrap_err();
    let sound = std::mem::replace(&mut simulation.physics, broken.physics);
    let mut recorder = Recorder::new(Vec::new(), settings(0)).unwrap();
    let mut frame =
        |simulation: &mut Simulation| record_frame(&mut recorder, simulation, &mut game, MS(10));
    assert!(matches!(
        frame(&mut simulation),
        Err(RecordError::Save(SaveError::Panicked))
    ));
    simulation.physics = sound;
    frame(&mut simulation).unwrap();
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.runs()[0].ticks, 1..2);
}

#[test]
fn keyframes_space_out_to_stay_within_their_byte_limit() {
    let mut settings = settings(10);
    let all = record_balls(600, settings);
    settings.max_keyframe_bytes = 8 * state_len() as u64;
    let bounded = record_balls(600, settings);
    let recording = Recording::read(&bounded[..]).unwrap();
    let ticks = &recording.runs()[0].keyframes;
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
        Recording::read(&without[..]).unwrap().runs()[0]
            .keyframes
            .len(),
        1
    );
    // Apart from the states, it also has the data that is repeated after each of them.
    let states = bounded.len() - without.len();
    assert!(states as u64 <= settings.max_keyframe_bytes + 100 * distances.len() as u64);
    assert!(all.len() > bounded.len());
}

#[test]
fn a_replay_refuses_an_input_or_a_game_of_another_type() {
    let recording = Recording::read(record_balls(20, settings(0))).unwrap();
    let mut replay = recording.replay();
    assert!(matches!(
        replay.next_run::<String>(),
        Err(ReplayError::Game)
    ));
    let mut replay = recording.replay();
    let (mut simulation, _) = replay.next_run::<Balls>().unwrap().unwrap();
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

#[test]
fn a_frame_that_was_not_recorded_begins_a_new_run_even_if_it_continues_an_open_one() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    recorder.begin_frame(&mut simulation, &game, MS(0)).unwrap();
    simulation.begin_frame(MS(0)); // and not ended
    simulation.advance(MS(15), |_, _| ()); // not recorded
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.runs().len(), 2);
    let differences = replay_all::<Balls>(&recording, 0, |_, _| (), |_, _| ());
    assert_eq!(differences, []);
}

#[test]
fn the_input_of_a_step_of_another_simulation_causes_no_difference() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    let (mut other, _) = Balls::new();
    other.begin_frame(MS(10));
    let step = other.next_step().unwrap();
    recorder.input(step, &Balls::input(step.tick)).unwrap();
    // The step does not run.
    other.end_frame();
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let differences = replay_all::<Balls>(&recording, 0, |_, _| (), |_, _| ());
    assert_eq!(differences, []);
}

#[test]
fn a_recorded_frame_that_does_not_begin_causes_no_difference() {
    let (mut simulation, mut game) = Balls::new();
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    recorder
        .begin_frame(&mut simulation, &game, MS(15))
        .unwrap();
    // An error of the recorder, for example, ends this frame of the game.
    record_frame(&mut recorder, &mut simulation, &mut game, MS(10)).unwrap();
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.runs().len(), 2);
    let differences = replay_all::<Balls>(&recording, 0, |_, _| (), |_, _| ());
    assert_eq!(differences, []);
}
