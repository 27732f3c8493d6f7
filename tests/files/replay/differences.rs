//! Differences: a replay names the first tick and body that differ, and continues.

use super::*;

/// Returns the guest that was spawned at this tick.
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
fn a_difference_names_its_first_tick_and_body() {
    for (check_bodies_every, keyframe_every) in [(1, 30), (1, 0), (10, 30)] {
        let mut settings = settings(keyframe_every);
        settings.check_bodies_every = check_bodies_every;
        let recording = Recording::read(record_balls(200, settings)).unwrap();
        let last = recording.runs()[0].ticks.end - 1;
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
            // Later on, the bit may be rounded away, and the run equals the recorded one again.
            let difference = &differences[0];
            assert_eq!(difference.tick, tick);
            let is_named = difference.last_tick >= tick.next_multiple_of(check_bodies_every);
            assert_eq!(difference.bodies == [player], is_named, "{difference:?}");
        }
    }
}

#[test]
fn a_difference_names_bodies_that_exist_on_one_side_only() {
    let recording = Recording::read(record_balls(60, settings(0))).unwrap();
    let guest = guest_of(&recording, 14);
    let mut meddle = |simulation: &mut Simulation, step: Step| {
        if step.tick == 16 {
            simulation.physics.remove(guest).unwrap();
        }
    };
    // The replay stops before the end, because the game would panic without the guest.
    let mut replay = recording.replay();
    let (mut simulation, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    while simulation.physics.tick() <= 16 {
        replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).unwrap();
    }
    assert_eq!(replay.differences()[0].tick, 16);
    assert_eq!(replay.differences()[0].bodies, [guest]);

    // The difference is in the last step, so nothing later can name it.
    let last = recording.runs()[0].ticks.end - 1;
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
fn a_replay_continues_after_a_difference_and_finds_the_next_one() {
    let recording = Recording::read(record_balls(150, settings(40))).unwrap();
    let player = Balls::new().1.player;
    // The guest of tick 14 is removed before the step of tick 41, and the difference with it.
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
fn a_replay_from_the_next_keyframe_matches_the_recording_again() {
    let recording = Recording::read(record_balls(150, settings(40))).unwrap();
    let mut replay = recording.replay();
    let (mut simulation, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    let player = game.player;
    let mut meddle = |simulation: &mut Simulation, step: Step| {
        if step.tick == 30 {
            nudge(simulation, player);
        }
    };
    while replay.differences().is_empty() {
        replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).unwrap();
    }
    (simulation, game) = replay.next_run().unwrap().unwrap();
    assert!(
        recording.runs()[0]
            .keyframes
            .contains(&simulation.physics.tick())
    );
    while replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).is_some() {}
    assert_eq!(simulation.physics.tick(), recording.runs()[0].ticks.end);
    assert_eq!(replay.differences().len(), 1);
}

#[test]
fn a_step_that_runs_only_in_the_recording_is_a_difference() {
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
    let mut replay = recording.replay();
    let (mut simulation, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    game.failing = vec![20];
    while replay.differences().is_empty() {
        replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).unwrap();
    }
    assert_eq!(replay.differences()[0].tick, 20);
    // A step that did not run in the recording does not run here.
    let mut replay = recording.replay();
    let (mut simulation, mut game) = replay.next_run::<Balls>().unwrap().unwrap();
    game.failing = vec![];
    while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
    assert_eq!(simulation.physics.tick(), 33);
    assert_eq!(replay.differences(), []);
}

/// Two balls that fly, of which the first is put to sleep in the step of tick 12.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Sleepy([BodyKey; 2]);

impl Play for Sleepy {
    type Input = ();

    fn input(_: u64) {}

    fn step(&mut self, physics: &mut Physics, step: Step, (): ()) -> Option<()> {
        if step.tick == 12 {
            physics.body_mut(self.0[0])?.sleep();
        }
        Some(())
    }
}

#[test]
fn a_replay_that_skips_a_step_names_the_bodies_that_differ_after_it() {
    let mut simulation = space(100);
    let mut insert = |y: f32| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * y);
        (simulation.physics).insert(body.linvel(Vector::X), ball().mass(1.0))
    };
    let mut game = Sleepy([insert(0.0), insert(5.0)]);
    simulation.advance(MS(10), |_, _| ());
    let mut recorder = Recorder::new(Vec::new(), settings(0)).unwrap();
    for _ in 0..10 {
        record_frame(&mut recorder, &mut simulation, &mut game, MS(20)).unwrap();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let mut replay = recording.replay();
    let (mut simulation, mut game) = replay.next_run::<Sleepy>().unwrap().unwrap();
    // The changed program pauses, so its frame lacks the second step of the recorded one.
    let mut meddle = |simulation: &mut Simulation, step: Step| {
        if step.tick == 11 {
            simulation.physics.pause_after_step();
        }
    };
    while replay_frame(&mut replay, &mut simulation, &mut game, &mut meddle).is_some() {}
    let [difference] = replay.differences() else {
        panic!("expected one difference")
    };
    assert_eq!(difference.tick, 12);
    // The sleeping ball is equal.
    assert_eq!(difference.bodies, [game.0[1]]);
}
