//! Poses at ticks: bodies that are inserted, edits between steps, the start of the history.

use super::*;
use evenstep::rewind::Kept;

/// Runs a frame in the pull form, in which the game has the whole simulation before each step.
fn steps_of_frame(
    simulation: &mut Simulation,
    ms: u64,
    mut before_step: impl FnMut(&mut Simulation, Step),
) {
    simulation.begin_frame(MS(ms));
    while let Some(step) = simulation.next_step() {
        before_step(simulation, step);
        simulation.run_step();
    }
    simulation.end_frame();
}

#[test]
fn a_history_enabled_in_a_step_begins_with_that_step() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0), ball());
    advance(&mut simulation, 10);
    steps_of_frame(&mut simulation, 50, |simulation, step| {
        if step.tick == 3 {
            simulation.keep(Kept {
                poses: 10,
                ..simulation.kept()
            });
        }
    });
    assert_eq!(simulation.physics.tick(), 6);
    for tick in 4..=6u64 {
        let x = simulation.pose_at(key, tick, 1.0).unwrap().translation.x;
        assert!((x - 0.1 * tick as f32).abs() < 1e-5, "{x} after {tick}");
    }
    assert_eq!(simulation.pose_at(key, 2, 1.0), None);
}

#[test]
fn a_body_inserted_when_the_history_begins_has_no_earlier_poses() {
    let mut simulation = space(100);
    let mut born = None;
    steps_of_frame(&mut simulation, 50, |simulation, step| {
        if step.tick == 2 {
            simulation.keep(Kept {
                poses: 10,
                ..simulation.kept()
            });
            born = Some((simulation.physics).insert(RigidBodyBuilder::fixed(), ball()));
        }
    });
    let known: Vec<u64> = (0..=5)
        .filter(|tick| simulation.pose_at(born.unwrap(), *tick, 0.5).is_some())
        .collect();
    assert_eq!(known, [3, 4, 5]);
}

/// The step is aborted, and the body's first tick with it. Frames display the body at the tick before.
#[test]
fn a_body_inserted_in_an_aborted_step_has_poses_from_the_current_tick() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 10,
        ..simulation.kept()
    });
    advance(&mut simulation, 30);
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    let born = (simulation.physics).insert(RigidBodyBuilder::fixed(), ball());
    let frame = simulation.end_frame();
    assert_eq!((frame.tick, frame.dropped.aborted), (3, 1));
    let known = |simulation: &Simulation| {
        let ticks = 0..=5;
        let ticks = ticks.filter(|tick| simulation.pose_at(born, *tick, 0.5).is_some());
        ticks.collect::<Vec<u64>>()
    };
    assert_eq!(known(&simulation), [3]);
    advance(&mut simulation, 20);
    assert_eq!(known(&simulation), [3, 4, 5]);
}

/// The previous pose is in the coordinates of the present. Earlier ticks keep theirs.
#[test]
fn set_previous_from_velocity_leaves_ticks_before_an_origin_shift_unchanged() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 10,
        ..simulation.kept()
    });
    let key = (simulation.physics).insert(RigidBodyBuilder::fixed(), ball());
    // The body is at rest.
    advance(&mut simulation, 30);
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.run_step();
    // After the last step, and within a step.
    let by = translation(7.0, 0.0, 0.0);
    simulation.physics.teleport_by(key, by).unwrap();
    (simulation.physics)
        .shift_origin(Vector::X * 100.0)
        .unwrap();
    simulation.end_frame();
    let seen = |simulation: &Simulation| [1, 2, 3].map(|tick| x_at(simulation, key, tick));
    let expected = [0.0; 3].map(Some);
    assert_eq!(seen(&simulation), expected);
    advance(&mut simulation, 0);
    assert_eq!(seen(&simulation), expected);
}

/// Returns a simulation that keeps poses, and a body that has slept since tick 0. The tick is 3.
fn after_a_rest() -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 10,
        ..simulation.kept()
    });
    let sleeper = RigidBodyBuilder::dynamic().sleeping(true);
    let key = simulation.physics.insert(sleeper, ball());
    advance(&mut simulation, 10);
    advance(&mut simulation, 20);
    (simulation, key)
}

/// Sets a body in motion.
fn start(simulation: &mut Simulation, key: BodyKey) {
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_linvel(Vector::X * 100.0, true);
}

/// The body rested until the step in which it was woken.
#[test]
fn a_motion_begun_before_an_origin_shift_leaves_earlier_ticks_unchanged() {
    let (mut simulation, key) = after_a_rest();
    simulation.physics.wake_up_all();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.run_step();
    start(&mut simulation, key);
    (simulation.physics)
        .shift_origin(Vector::X * 100.0)
        .unwrap();
    simulation.end_frame();
    let seen = [1, 2, 3].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(seen, [0.0; 3].map(Some));
}

/// The body rested until the aborted step.
#[test]
fn a_motion_begun_in_an_aborted_step_leaves_earlier_ticks_unchanged() {
    let (mut simulation, key) = after_a_rest();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    start(&mut simulation, key);
    assert_eq!(simulation.end_frame().dropped.aborted, 1);
    for _ in 0..2 {
        let seen = [1, 2, 3].map(|tick| x_at(&simulation, key, tick));
        assert_eq!(seen, [0.0; 3].map(Some));
        advance(&mut simulation, 10);
    }
}

/// Without kept poses only the last tick is known, between two steps of a frame, too.
#[test]
fn edits_between_steps_of_a_frame_never_appear_in_earlier_ticks() {
    type Edit = fn(&mut Physics, BodyKey);
    let edits: [Edit; 4] = [
        |_, _| (),
        |physics, key| physics.teleport(key, translation(0.0, 9.0, 0.0)).unwrap(),
        |physics, key| {
            physics
                .teleport_by(key, translation(0.0, 9.0, 0.0))
                .unwrap()
        },
        |physics, _| physics.shift_origin(Vector::X * 100.0).unwrap(),
    ];
    for edit in edits {
        // Snapshots of every fourth tick contain no poses of the ticks between them.
        for is_rewindable in [false, true] {
            let (mut simulation, key) = scenes::flyer_in_space();
            if is_rewindable {
                simulation.keep(Kept {
                    ticks: 20,
                    interval: 4,
                    ..simulation.kept()
                });
            }
            advance(&mut simulation, 50);
            let known = |simulation: &Simulation, key, tick| {
                let pose = simulation.pose_at(key, tick, 1.0);
                pose.map(|pose| pose.translation.x)
            };
            let at_five = known(&simulation, key, 5);
            assert!(at_five.is_some());
            simulation.begin_frame(MS(40));
            while let Some(step) = simulation.next_step() {
                // The pending step is not run, so the present is that of the last step.
                let seen = known(&simulation, key, step.tick);
                assert!(seen.is_some());
                if step.tick == 5 {
                    assert_eq!(seen, at_five);
                }
                simulation.run_step();
                let there = simulation.physics.body(key).unwrap().translation().x;
                assert_eq!(known(&simulation, key, step.tick + 1), Some(there));
                edit(&mut simulation.physics, key);
                let born = simulation
                    .physics
                    .insert(RigidBodyBuilder::dynamic(), ball());
                let here = simulation.physics.tick();
                for tick in 0..here {
                    assert_eq!(known(&simulation, key, tick), None, "{tick} at {here}");
                    assert_eq!(known(&simulation, born, tick), None, "{tick} at {here}");
                    let kept = simulation.rewindable();
                    let is_known = simulation.world_at(tick, 1.0).is_ok();
                    assert!(!is_known || kept.contains(&tick), "{tick} at {here}");
                }
            }
            simulation.end_frame();
            assert!(known(&simulation, key, 9).is_some());
        }
    }
}
