//! One scene has one hash at all frame times.

use evenstep::Rate;
use evenstep::rapier::prelude::*;
use proptest::prelude::*;
use scenes::{Key, MS, Yard, hash};
use std::time::Duration;

const TICKS: u64 = 240;

/// Returns presses and releases, by time stamp.
fn script() -> Vec<(Duration, Key)> {
    vec![
        (MS(301), Key::Left(true)),
        (MS(420), Key::Jump),
        (MS(423), Key::Jump),
        (MS(1_250), Key::Left(false)),
        (MS(2_003), Key::Left(true)),
        (MS(2_004), Key::Left(false)),
        (MS(2_800), Key::Jump),
    ]
}

/// Runs the scene for `TICKS` steps and hashes it right after the last one.
fn run(mut frame_times: impl Iterator<Item = Duration>) -> (u64, Vec<(u64, Key)>) {
    let mut yard = Yard::new(Rate::hz(60));
    // No frame may drop time here, because that makes a different run.
    yard.simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    let mut script = script().into_iter().peekable();
    let end = Duration::from_secs(TICKS).checked_div(60).unwrap();
    let mut now = Duration::ZERO;
    while now < end {
        let frame_time = frame_times.next().unwrap().min(end - now);
        assert!(frame_time > Duration::ZERO);
        while let Some((time, key)) = script.next_if(|(time, _)| *time < now + frame_time) {
            yard.game.queue.push(time, key);
        }
        yard.advance(frame_time);
        now += frame_time;
    }
    assert_eq!(yard.simulation.physics.tick(), TICKS);
    (hash(yard.simulation.physics.rapier()), yard.game.delivered)
}

fn at_fps(fps: u32) -> (u64, Vec<(u64, Key)>) {
    run(std::iter::repeat(
        Duration::from_secs(1) / fps + Duration::from_nanos(1),
    ))
}

#[test]
fn bits_and_input_ticks_are_the_same_at_every_frame_rate() {
    let expected = at_fps(60);
    let ticks: Vec<u64> = expected.1.iter().map(|(tick, _)| *tick).collect();
    let covering = [18, 25, 25, 75, 120, 120, 168];
    assert_eq!(
        ticks, covering,
        "each key is delivered in the step that covers it"
    );
    for fps in [5, 15, 30, 144, 240, 1_000] {
        assert_eq!(at_fps(fps), expected, "at {fps} frames per second");
    }
}

#[test]
fn the_hash_differs_without_input() {
    let expected = at_fps(60).0;
    let mut yard = Yard::new(Rate::hz(60));
    for _ in 0..TICKS {
        yard.advance(Duration::from_secs(1) / 60 + Duration::from_nanos(1));
    }
    assert_ne!(
        hash(yard.simulation.physics.rapier()),
        expected,
        "without input the run differs"
    );
}

#[test]
fn bits_are_the_same_with_recorded_frame_times() {
    let expected = at_fps(60);
    let trace = include_str!("../../examples/hecs_game/frame-times.csv");
    let times = scenes::frame_times::read(trace.as_bytes()).unwrap();
    assert_eq!(run(times.into_iter().cycle()), expected);
}

#[test]
fn steps_match_bare_rapier_bit_for_bit() {
    let rate = Rate::hz(60);
    let mut ours = scenes::with_floor(rate);
    let mut bare = scenes::with_floor(rate);
    for simulation in [&mut ours, &mut bare] {
        scenes::pile(simulation, 60);
    }
    for _ in 0..120 {
        bare.physics.rapier_mut().step();
    }
    for _ in 0..40 {
        ours.advance(MS(50), |_, _| ());
    }
    assert_eq!(ours.physics.tick(), 120);
    assert_eq!(hash(ours.physics.rapier()), hash(bare.physics.rapier()));
}

#[test]
fn keys_are_the_same_at_every_frame_rate_after_removals_through_rapier() {
    // A body is removed through Rapier at one tick and by its key at a later one, and others are inserted after that.
    let run = |frame_time: Duration| {
        let mut simulation = scenes::space(60);
        let mut keys: Vec<_> = (0..40)
            .map(|_| simulation.physics.insert_body(RigidBodyBuilder::dynamic()))
            .collect();
        let mut given = Vec::new();
        scenes::until_tick(180, || {
            simulation.advance(frame_time, |physics, step| {
                let dying = keys[usize::try_from(step.tick / 6).unwrap()];
                match step.tick % 6 {
                    0 => {
                        let handle = physics.handle(dying).unwrap();
                        physics.rapier_mut().remove_body(handle);
                    }
                    4 => drop(physics.remove(dying)),
                    5 => {
                        let body = RigidBodyBuilder::dynamic();
                        given.push(physics.insert_body(body.clone()));
                        keys.push(physics.insert_body(body));
                    }
                    _ => {}
                }
            });
            simulation.physics.tick()
        });
        given.truncate(30);
        given
    };
    let expected = run(Duration::from_nanos(16_666_667));
    for ms in [1, 7, 50, 100, 200] {
        let given = run(Duration::from_millis(ms));
        assert_eq!(given, expected, "in frames of {ms} ms");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(12)))]

    #[test]
    fn bits_are_the_same_at_random_frame_times(
        nanos in prop::collection::vec(
            prop_oneof![4 => 1_000_000..40_000_000u64, 1 => 40_000_000..400_000_000u64],
            1..100,
        ),
    ) {
        let times = nanos.into_iter().map(Duration::from_nanos).cycle();
        prop_assert_eq!(run(times), at_fps(60));
    }
}
