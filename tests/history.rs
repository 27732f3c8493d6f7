//! A look back at what earlier frames showed.

mod scenes;

use crate::scenes::testing::{spin, translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::{
    BodyKey, Frame, Hooks, Physics, Rate, ResimulateError, Simulation, Smoothing, Step,
};
use proptest::prelude::*;
use scenes::{MS, advance, ball, space};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A pile with bodies that come and go, spinners off their centre, and a simulation-wide smoothing.
fn scene(smoothing: Smoothing, states: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::with_floor(Rate::hz(60).unwrap());
    simulation.smoothing = smoothing;
    simulation.set_history(states);
    let mut keys = scenes::pile(&mut simulation, 20);
    for i in 0..5u8 {
        let body = RigidBodyBuilder::dynamic()
            .translation(vector(-6.0, 2.0 + 2.0 * f32::from(i), 0.0))
            .angvel(spin(0.0, 0.0, 4.0));
        keys.push(
            simulation
                .physics
                .insert(body, ball().translation(Vector::X)),
        );
    }
    (simulation, keys)
}

/// All that a frame showed.
type Shown = (Frame, Vec<(BodyKey, Pose)>);

#[test]
fn every_kept_frame_can_be_asked_for_again_to_the_bit() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
    ] {
        for states in [2, 3, 10] {
            let (mut simulation, mut keys) = scene(smoothing, states);
            let mut frames: VecDeque<Shown> = VecDeque::new();
            let mut checked = 0;
            for i in 0..400u64 {
                // Frames of none to four steps.
                let frame = advance(&mut simulation, 1 + 13 * i % 67);
                if i % 50 == 49 {
                    simulation.physics.remove(keys.remove(3)).unwrap();
                }
                let poses = keys
                    .iter()
                    .map(|key| (*key, simulation.pose(*key).unwrap()));
                frames.push_back((frame, poses.collect()));
                let oldest = frame.tick.saturating_sub(states as u64 - 2);
                for (old, poses) in &frames {
                    for (key, pose) in poses.iter().filter(|(key, _)| keys.contains(key)) {
                        let again = simulation.pose_at(*key, old.tick, old.alpha);
                        let expected = (old.tick >= oldest).then_some(*pose);
                        assert_eq!(again, expected, "{smoothing:?} {i}");
                        checked += u32::from(old.tick < frame.tick && again.is_some());
                    }
                }
                frames.retain(|(old, _)| old.tick + 2 >= oldest);
            }
            assert!(simulation.physics.body(keys[0]).unwrap().is_sleeping());
            assert_eq!(checked > 1_000, states > 2, "{checked} looks back");
        }
    }
}

#[test]
fn times_that_are_not_kept_are_none() {
    let mut simulation = space(100);
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.physics.insert(fly(), ball());
    advance(&mut simulation, 100);
    simulation.set_history(5);
    advance(&mut simulation, 20);
    let young = simulation.physics.insert(fly(), ball());
    advance(&mut simulation, 20);
    assert_eq!(simulation.physics.tick(), 14);
    let known = |key, tick| simulation.pose_at(key, tick, 0.5).is_some();
    // Kept since tick 10.
    let ticks: Vec<u64> = (0..20).filter(|tick| known(key, *tick)).collect();
    assert_eq!(ticks, [11, 12, 13, 14]);
    let ticks: Vec<u64> = (0..20).filter(|tick| known(young, *tick)).collect();
    assert_eq!(ticks, [12, 13, 14]);
    for _ in 0..3 {
        advance(&mut simulation, 20);
    }
    let known = |key, tick| simulation.pose_at(key, tick, 0.5).is_some();
    let ticks: Vec<u64> = (0..30).filter(|tick| known(young, *tick)).collect();
    assert_eq!(ticks, [17, 18, 19, 20], "five states are four ways");
    // Fewer again, and none but the last.
    simulation.set_history(3);
    assert!(simulation.pose_at(key, 19, 0.5).is_some());
    assert_eq!(simulation.pose_at(key, 18, 0.5), None);
    simulation.set_history(0);
    assert!(simulation.pose_at(key, 20, 0.5).is_some());
    assert_eq!(simulation.pose_at(key, 19, 0.5), None);
    simulation.physics.remove(key);
    assert_eq!(simulation.pose_at(key, 20, 0.5), None);
}

#[test]
fn a_body_that_rests_or_is_teleported_was_where_it_was() {
    let mut simulation = space(100);
    simulation.set_history(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().sleeping(true), ball());
    let x = |simulation: &Simulation, tick: u64, alpha: f32| {
        simulation.pose_at(key, tick, alpha).unwrap().translation.x
    };
    for _ in 0..10 {
        advance(&mut simulation, 10);
    }
    assert_eq!(x(&simulation, 3, 0.5), 0.0);
    // Teleported after ten steps, it is at rest for ten more, and then moves.
    let there = translation(5.0, 0.0, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    simulation.physics.body_mut(key).unwrap().sleep();
    for _ in 0..10 {
        advance(&mut simulation, 10);
    }
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::X * 100.0, true);
    for _ in 0..10 {
        advance(&mut simulation, 10);
    }
    for (tick, alpha, expected) in [
        (3, 0.5, 0.0),
        (10, 0.9, 0.0),
        (11, 0.1, 5.0),
        (15, 0.5, 5.0),
        (20, 1.0, 5.0),
        (21, 0.5, 5.5),
        (30, 0.0, 14.0),
        (30, 1.0, 15.0),
    ] {
        let x = x(&simulation, tick, alpha);
        assert!(
            (x - expected).abs() < 1e-4,
            "{x} at {tick} + {alpha}, not {expected}"
        );
    }
}

#[test]
fn a_click_hits_what_the_player_saw() {
    // A target that crosses the screen at 20 m/s; the click comes five frames late.
    let mut simulation = space(60);
    simulation.set_history(8);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X * 20.0), ball());
    let mut screen = VecDeque::new();
    for i in 0..200 {
        let frame = advance(&mut simulation, 7);
        screen.push_back((frame, (simulation.pose(key).unwrap() * Vector::ZERO)));
        if screen.len() > 5 {
            let (frame, aimed_at) = screen.pop_front().unwrap();
            let ray = Ray::new(aimed_at + vector(0.0, 0.0, 10.0), -vector(0.0, 0.0, 1.0));
            let hits = |pose: Pose| SharedShape::ball(0.1).intersects_ray(&pose, &ray, 20.0);
            assert!(
                i < 8 || !hits(simulation.pose(key).unwrap()),
                "it is gone by now"
            );
            let seen = simulation.pose_at(key, frame.tick, frame.alpha);
            assert!(hits(seen.unwrap()));
        }
    }
}

#[test]
fn what_was_put_elsewhere_in_a_frame_without_a_step_was_there_since() {
    let mut simulation = space(100);
    simulation.set_history(20);
    let key = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 100);
    let there = translation(5.0, 0.0, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    advance(&mut simulation, 4);
    advance(&mut simulation, 36);
    for tick in 11..=14 {
        assert_eq!(simulation.pose_at(key, tick, 0.5), Some(there), "{tick}");
    }
    assert_eq!(simulation.pose_at(key, 9, 0.5), Some(Pose::IDENTITY));
}

#[test]
fn a_longer_history_does_not_know_what_a_shorter_one_let_go() {
    let mut simulation = space(100);
    simulation.set_history(3);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X), ball());
    for _ in 0..10 {
        advance(&mut simulation, 100);
    }
    simulation.set_history(20);
    let known: Vec<u64> = (0..=100)
        .filter(|tick| simulation.pose_at(key, *tick, 1.0).is_some())
        .collect();
    assert_eq!(known, [99, 100]);
    advance(&mut simulation, 10);
    for tick in [99, 100, 101u64] {
        let x = simulation.pose_at(key, tick, 1.0).unwrap().translation.x;
        assert!((x - 0.01 * tick as f32).abs() < 1e-5, "{x} after {tick}");
    }
}

/// A frame in the pull form, in which the game has the whole simulation before each step.
fn steps_of_frame(
    simulation: &mut Simulation,
    ms: u64,
    mut before_step: impl FnMut(&mut Simulation, Step),
) {
    simulation.begin_frame(MS(ms));
    while let Some(step) = simulation.next_step() {
        before_step(simulation, step);
        simulation.make_step();
    }
    simulation.end_frame();
}

#[test]
fn a_history_that_begins_in_a_step_knows_the_steps_from_there_on() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0), ball());
    advance(&mut simulation, 10);
    steps_of_frame(&mut simulation, 50, |simulation, step| {
        if step.tick == 3 {
            simulation.set_history(10);
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
fn a_body_that_is_born_in_the_step_in_which_a_history_begins_was_not_there_before() {
    let mut simulation = space(100);
    let mut born = None;
    steps_of_frame(&mut simulation, 50, |simulation, step| {
        if step.tick == 2 {
            simulation.set_history(10);
            born = Some((simulation.physics).insert(RigidBodyBuilder::fixed(), ball()));
        }
    });
    let known: Vec<u64> = (0..=5)
        .filter(|tick| simulation.pose_at(born.unwrap(), *tick, 0.5).is_some())
        .collect();
    assert_eq!(known, [3, 4, 5]);
}

/// The step is given up, and with it the tick that the body was to be born at: frames show it before.
#[test]
fn a_body_that_is_born_in_a_step_that_is_not_made_was_there_from_the_tick_before_on() {
    let mut simulation = space(100);
    simulation.set_history(10);
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

/// It is in the coordinates of the present, earlier ticks are in theirs.
#[test]
fn a_previous_pose_that_is_set_changes_no_tick_before_a_shifted_origin() {
    let mut simulation = space(100);
    simulation.set_history(10);
    let key = (simulation.physics).insert(RigidBodyBuilder::fixed(), ball());
    // It is at rest.
    advance(&mut simulation, 30);
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.make_step();
    // After the last step, and part of it.
    let by = translation(7.0, 0.0, 0.0);
    simulation.physics.teleport_by(key, by).unwrap();
    (simulation.physics)
        .shift_origin(Vector::X * 100.0)
        .unwrap();
    simulation.end_frame();
    let seen = |simulation: &Simulation| [1, 2, 3].map(|tick| x_at(simulation, key, tick));
    let expected = [0.0; 3].map(Some);
    assert_eq!(seen(&simulation), expected);
    simulation.physics.set_previous_from_velocity(key).unwrap();
    assert_eq!(seen(&simulation), expected);
    advance(&mut simulation, 0);
    assert_eq!(seen(&simulation), expected);
}

/// Without kept poses only the last step of a frame is looked at, and what the game does after an earlier one belongs to no
/// tick before it.
#[test]
fn between_the_steps_of_a_frame_no_tick_has_later_edits() {
    type Edit = fn(&mut Physics, BodyKey);
    let edits: [Edit; 5] = [
        |_, _| (),
        |physics, key| physics.set_previous_from_velocity(key).unwrap(),
        |physics, key| physics.teleport(key, translation(0.0, 9.0, 0.0)).unwrap(),
        |physics, key| {
            physics
                .teleport_by(key, translation(0.0, 9.0, 0.0))
                .unwrap()
        },
        |physics, _| physics.shift_origin(Vector::X * 100.0).unwrap(),
    ];
    for edit in edits {
        // Snapshots of every fourth tick are no poses of the others.
        for is_rewindable in [false, true] {
            let (mut simulation, key) = scenes::flyer_in_space();
            if is_rewindable {
                simulation.set_rewind_limits(20, usize::MAX);
                simulation.set_rewind_interval(4);
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
                // The step at hand is not made, and the present is that of the last one.
                let seen = known(&simulation, key, step.tick);
                if step.tick == 5 {
                    assert_eq!(seen, at_five);
                }
                simulation.make_step();
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

/// Also where it differs from the first step that is resimulated on, and if that is the only one.
#[test]
fn steps_made_again_take_the_place_of_what_they_were() {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.set_history(20);
    let put = |physics: &mut Physics, key, y| {
        physics.teleport(key, translation(0.0, y, 0.0)).unwrap();
    };
    advance(&mut simulation, 50);
    let again = |physics: &mut Physics, _| put(physics, key, 1.0);
    simulation.resimulate(4, again).unwrap();
    advance(&mut simulation, 10);
    let shown = simulation.pose_at(key, 5, 1.0).unwrap();
    assert_eq!(shown.translation.y, 1.0);

    let (mut simulation, _) = scenes::flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.set_history(20);
    let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    simulation.advance(MS(60), |physics, step| {
        if step.tick == 4 {
            put(physics, wall, 4.0);
        }
    });
    let again = |physics: &mut Physics, step: Step| {
        if step.tick == 2 {
            put(physics, wall, 2.0);
        }
    };
    simulation.resimulate(2, again).unwrap();
    for (tick, y) in [(1, 0.0), (2, 0.0), (3, 2.0), (5, 2.0)] {
        let shown = simulation.pose_at(wall, tick, 1.0).unwrap();
        assert_eq!(shown.translation.y, y, "{tick}");
    }
}

#[test]
fn a_body_that_comes_back_has_its_history_though_another_had_its_slot() {
    let mut simulation = space(100);
    simulation.set_history(20);
    simulation.set_rewind_limits(20, usize::MAX);
    let moving = |at: f32| {
        let body = RigidBodyBuilder::dynamic().translation(vector(at, 0.0, 0.0));
        body.linvel(Vector::X * 100.0)
    };
    let old = simulation.physics.insert(moving(0.0), ball());
    advance(&mut simulation, 60);
    simulation.physics.remove(old);
    let new = simulation.physics.insert(moving(50.0), ball());
    advance(&mut simulation, 40);
    let x_of = |simulation: &Simulation, key, tick| {
        let pose: Option<Pose> = simulation.pose_at(key, tick, 1.0);
        pose.map(|pose| pose.translation.x.round())
    };
    let present = (x_of(&simulation, old, 3), x_of(&simulation, new, 8));
    assert_eq!(present, (None, Some(52.0)));
    for _ in 0..2 {
        simulation.rewind(5).unwrap();
        let there = (x_of(&simulation, old, 3), x_of(&simulation, new, 8));
        assert_eq!(there, (Some(3.0), None));
        simulation.rewind(10).unwrap();
        assert_eq!(
            present,
            (x_of(&simulation, old, 3), x_of(&simulation, new, 8))
        );
    }
    // Another run from there on, in which nothing is removed.
    simulation.rewind(5).unwrap();
    advance(&mut simulation, 50);
    let ticks = [3, 5, 6, 10].map(|tick| x_of(&simulation, old, tick));
    assert_eq!(ticks, [3.0, 5.0, 6.0, 10.0].map(Some));
}

/// A flyer at 100 steps a second, 1 m in each, with so many states kept, of the last 100 ticks.
fn flyer(states: usize) -> (Simulation, BodyKey) {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.set_rewind_limits(100, usize::MAX);
    simulation.set_history(states);
    (simulation, key)
}

fn x_at(simulation: &Simulation, key: BodyKey, tick: u64) -> Option<f32> {
    let pose = simulation.pose_at(key, tick, 1.0)?;
    Some(pose.translation.x.round())
}

#[test]
fn what_was_let_go_before_going_back_is_not_made_up() {
    let (mut simulation, key) = flyer(5);
    advance(&mut simulation, 200);
    let mut seen = Vec::new();
    simulation.roll_back(10).unwrap();
    while let Some(step) = simulation.next_step() {
        let ticks = (step.tick.saturating_sub(6)..=step.tick).filter(|tick| *tick > 0);
        seen.extend(ticks.map(|tick| (step.tick, tick, x_at(&simulation, key, tick))));
        simulation.make_step();
    }
    assert_eq!(simulation.physics.tick(), 20);
    for (now, tick, x) in seen {
        // Since the state that was gone back to, and as many as are kept.
        let is_known = tick >= 10 && tick + 4 > now;
        assert_eq!(x, is_known.then_some(tick as f32), "{tick} at {now}");
    }
    simulation.rewind(12).unwrap();
    assert_eq!([8, 9].map(|tick| x_at(&simulation, key, tick)), [None; 2]);
    assert_eq!(x_at(&simulation, key, 12), Some(12.0));
    advance(&mut simulation, 20);
    let ticks = [11, 12, 13, 14].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(12.0), Some(13.0), Some(14.0)]);
}

#[test]
fn a_state_of_a_later_tick_has_no_history_before_it() {
    let (mut simulation, key) = flyer(20);
    let mut theirs = simulation.clone();
    advance(&mut simulation, 100);
    advance(&mut theirs, 200);
    simulation.physics = theirs.physics;
    assert_eq!([5, 15].map(|tick| x_at(&simulation, key, tick)), [None; 2]);
    advance(&mut simulation, 20);
    let ticks = [20, 21, 22].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [20.0, 21.0, 22.0].map(Some));
}

#[test]
fn a_body_that_a_state_brings_has_a_history_from_there_on() {
    // One that only the other machine has had.
    let (mut simulation, _) = flyer(20);
    let mut theirs = simulation.clone();
    let key = theirs.physics.insert(scenes::flyer(), ball());
    advance(&mut simulation, 50);
    advance(&mut theirs, 50);
    simulation.correct(theirs.physics).unwrap();
    advance(&mut simulation, 50);
    let ticks = [4, 6, 8].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(6.0), Some(8.0)]);
    // One that was removed for longer than the history goes back.
    let (mut simulation, key) = flyer(3);
    advance(&mut simulation, 50);
    simulation.physics.remove(key).unwrap();
    advance(&mut simulation, 100);
    simulation.rewind(4).unwrap();
    advance(&mut simulation, 50);
    let ticks = [7, 8, 9].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(8.0), Some(9.0)]);
}

#[test]
fn poses_of_before_a_portal_stay_before_it() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    simulation
        .physics
        .teleport_by(key, translation(100.0, 0.0, 0.0))
        .unwrap();
    assert_eq!(x_at(&simulation, key, 5), Some(5.0), "in this tick too");
    advance(&mut simulation, 50);
    let ticks = [3, 5, 6, 10];
    let seen = |simulation: &Simulation| ticks.map(|tick| x_at(simulation, key, tick));
    let expected = [3.0, 5.0, 106.0, 110.0].map(Some);
    assert_eq!(seen(&simulation), expected);
    simulation.rewind(4).unwrap();
    assert_eq!(x_at(&simulation, key, 3), Some(3.0));
    // Another portal there, in a run that is abandoned without a step.
    simulation
        .physics
        .teleport_by(key, translation(0.0, 7.0, 0.0))
        .unwrap();
    simulation.rewind(10).unwrap();
    assert_eq!(seen(&simulation), expected);
    // Another run, with another portal.
    simulation.rewind(4).unwrap();
    simulation
        .physics
        .teleport_by(key, translation(0.0, 7.0, 0.0))
        .unwrap();
    advance(&mut simulation, 20);
    let y = [3, 4, 5, 6].map(|tick| simulation.pose_at(key, tick, 1.0).unwrap().translation.y);
    assert_eq!(y, [0.0, 0.0, 7.0, 7.0]);
}

#[test]
fn an_origin_that_is_shifted_outside_of_a_step_ends_what_is_known() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    let seen = [4, 5].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(seen, [None, Some(-95.0)]);
    advance(&mut simulation, 20);
    let seen = [4, 5, 6, 7].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(seen, [None, Some(-95.0), Some(-94.0), Some(-93.0)]);
}

/// A body that rests and one that moves. The origin is shifted before and after the step.
#[test]
fn an_origin_that_is_shifted_in_a_step_leaves_earlier_poses_where_they_were() {
    struct Shifter(bool);
    impl Hooks for Shifter {
        type Error = evenstep::OriginError;

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if step.tick == 4 && !self.0 {
                physics.shift_origin(Vector::X * 100.0)?;
            }
            Ok(())
        }

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if step.tick == 4 && self.0 {
                physics.shift_origin(Vector::X * 100.0)?;
            }
            Ok(())
        }
    }
    for after in [false, true] {
        let (mut simulation, key) = flyer(20);
        let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        simulation
            .advance_with(MS(80), &mut Shifter(after))
            .unwrap();
        let seen = |simulation: &Simulation, key| {
            [3, 4, 5, 8].map(|tick| x_at(simulation, key, tick).unwrap())
        };
        let expected = ([3.0, 4.0, -95.0, -92.0], [0.0, 0.0, -100.0, -100.0]);
        assert_eq!(
            (seen(&simulation, key), seen(&simulation, wall)),
            expected,
            "{after}"
        );
        simulation.resimulate_with(2, &mut Shifter(after)).unwrap();
        assert_eq!(
            (seen(&simulation, key), seen(&simulation, wall)),
            expected,
            "{after}"
        );
    }
}

/// The server had the body at another pose for long.
#[test]
fn a_body_at_rest_that_a_state_has_elsewhere_was_where_it_was() {
    let (mut client, _) = flyer(20);
    let wall = client.physics.insert(RigidBodyBuilder::fixed(), ball());
    let mut server = client.clone();
    server
        .physics
        .teleport(wall, translation(0.0, 7.0, 0.0))
        .unwrap();
    for _ in 0..5 {
        advance(&mut client, 10);
        advance(&mut server, 10);
    }
    let y = |client: &Simulation| {
        [2, 4, 5, 7].map(|tick| {
            let pose = client.pose_at(wall, tick, 0.5);
            pose.map(|pose| pose.translation.y)
        })
    };
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(y(&client), [Some(0.0), Some(0.0), Some(7.0), None]);
    advance(&mut client, 20);
    assert_eq!(y(&client), [0.0, 0.0, 7.0, 7.0].map(Some));
    // The same for an earlier state, whose wall was teleported after the step.
    client.roll_back(4).unwrap();
    let mut theirs = client.clone();
    theirs
        .physics
        .teleport(wall, translation(0.0, 9.0, 0.0))
        .unwrap();
    client.correct(theirs.physics).unwrap();
    while client.next_step().is_some() {
        client.make_step();
    }
    assert_eq!(y(&client), [0.0, 0.0, 9.0, 9.0].map(Some));
}

/// Its key belongs to a body of the abandoned run, too.
#[test]
fn a_body_that_is_inserted_on_a_visit_to_an_earlier_tick_leaves_no_trace() {
    let (mut simulation, _) = flyer(20);
    advance(&mut simulation, 40);
    let key = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 40);
    let known = |simulation: &Simulation| {
        let ticks = 0..10;
        let ticks = ticks.filter(|tick| simulation.pose_at(key, *tick, 0.5).is_some());
        ticks.collect::<Vec<u64>>()
    };
    assert_eq!(known(&simulation), [4, 5, 6, 7, 8]);
    simulation.rewind(2).unwrap();
    let wall = RigidBodyBuilder::fixed().translation(Vector::Y);
    assert_eq!(simulation.physics.insert(wall, ball()), key);
    assert_eq!(known(&simulation), [2]);
    simulation.rewind(8).unwrap();
    assert_eq!(known(&simulation), [4, 5, 6, 7, 8]);
    assert_eq!(simulation.pose_at(key, 4, 0.5), Some(Pose::IDENTITY));
    advance(&mut simulation, 10);
    assert_eq!(known(&simulation), [4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_limit_in_bytes_does_not_shorten_what_is_known() {
    let (mut simulation, key) = flyer(20);
    simulation.set_rewind_limits(100, 1);
    advance(&mut simulation, 100);
    assert!(simulation.rewindable().is_empty());
    assert_eq!(x_at(&simulation, key, 1), Some(1.0));
    simulation.set_rewind_limits(5, usize::MAX);
    advance(&mut simulation, 100);
    assert_eq!(simulation.rewindable(), 15..20);
    assert_eq!(
        [1, 2].map(|tick| x_at(&simulation, key, tick)),
        [None, Some(2.0)]
    );
    simulation.set_rewind_limits(0, 0);
    assert_eq!(x_at(&simulation, key, 2), Some(2.0));
}

#[test]
fn a_copy_keeps_as_much_from_then_on_and_knows_nothing_yet() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    let mut copy = simulation.clone();
    assert_eq!([4, 5].map(|tick| x_at(&copy, key, tick)), [None, Some(5.0)]);
    advance(&mut copy, 20);
    assert_eq!(
        [4, 5, 6].map(|tick| x_at(&copy, key, tick)),
        [None, Some(5.0), Some(6.0)]
    );
}

#[test]
fn a_length_that_is_set_in_a_rollback_holds() {
    for gives_up in [false, true] {
        let (mut simulation, key) = flyer(20);
        advance(&mut simulation, 100);
        simulation.roll_back(4).unwrap();
        simulation.set_history(6);
        if gives_up {
            simulation.rewind(4).unwrap();
            advance(&mut simulation, 60);
        } else {
            assert_eq!(advance(&mut simulation, 0).resimulated, 6);
        }
        assert_eq!(simulation.physics.tick(), 10);
        let ticks = [5, 6, 9].map(|tick| x_at(&simulation, key, tick));
        assert_eq!(ticks, [None, Some(6.0), Some(9.0)]);
    }
}

/// The poses of each tick, at three times between its two states.
type Poses = BTreeMap<BodyKey, [Pose; 3]>;

const ALPHAS: [f32; 3] = [0.0, 0.5, 1.0];

/// A plain model: the poses right after each step.
#[derive(Clone, Default)]
struct Run {
    poses: BTreeMap<u64, Poses>,
    /// The poses of ticks whose state is kept, as that has them.
    kept: BTreeMap<u64, Poses>,
    /// The earlier ticks that are known for sure.
    known: BTreeSet<u64>,
    keys: Vec<BodyKey>,
    /// The number of ticks whose poses are kept.
    len: u64,
    seed: u64,
    /// The tick in which a hook fails.
    fails_at: Option<u64>,
    /// The tick of an aborted frame or a replaced state, from which no step was made since.
    unstepped_at: Option<u64>,
    /// The ticks whose state is kept, and that were within a frame without a history: their steps were not looked at.
    unseen: BTreeSet<u64>,
}

/// When something is done.
#[derive(Clone, Copy, PartialEq)]
enum When {
    Before,
    After,
    Between,
}

impl Run {
    /// A simulation of this state without a past, which has changed nothing in it: no call of the loop has followed.
    fn assigned(physics: &Physics) -> Simulation {
        let mut simulation = Simulation::default();
        simulation.physics = physics.clone();
        simulation
    }

    /// What such a simulation shows.
    fn seen(physics: &Physics, keys: impl Iterator<Item = BodyKey>) -> Poses {
        let simulation = Self::assigned(physics);
        let keys = keys.filter(|key| physics.body(*key).is_some());
        let poses = keys.map(|key| {
            // Without a history, steps within a frame are not looked at.
            let there = *physics.body(key).unwrap().position();
            let at = |alpha| simulation.pose_at(key, physics.tick(), alpha);
            (key, ALPHAS.map(|alpha| at(alpha).unwrap_or(there)))
        });
        poses.collect()
    }

    /// Whether the last step was looked at.
    fn is_seen(physics: &Physics) -> bool {
        let simulation = Self::assigned(physics);
        let mut keys = physics.bodies().map(|(key, _)| key);
        keys.all(|key| simulation.pose_at(key, physics.tick(), 1.0).is_some())
    }

    fn see_all(&mut self, physics: &Physics) {
        let poses = Self::seen(physics, self.keys.iter().copied());
        self.poses.insert(physics.tick(), poses);
    }

    /// Something that depends on the step, and on the run.
    fn deed(&mut self, physics: &mut Physics, number: u64, when: When) {
        let number = (number + self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let at = vector((number % 50) as f32, (number % 7) as f32, 0.0);
        let key = self.keys[number as usize / 50 % self.keys.len()];
        let pose = Pose::from_translation(at);
        let is_there = physics.body(key).is_some();
        let tick = physics.tick();
        match number / 7 % 14 {
            kind @ (0 | 1) => {
                let body = [scenes::flyer(), RigidBodyBuilder::fixed()][kind as usize].clone();
                let key = physics.insert(body.translation(at), ball());
                self.keys.retain(|other| *other != key);
                self.keys.push(key);
                if when != When::Before {
                    self.poses.entry(tick).or_default().insert(key, [pose; 3]);
                }
            }
            2 => drop(physics.remove(key)),
            3 if is_there => {
                let handle = physics.handle(key).unwrap();
                physics.rapier_mut().remove_body(handle);
            }
            4 if is_there => physics.teleport(key, pose).unwrap(),
            5 if is_there => physics.teleport_by(key, pose).unwrap(),
            6 if is_there => physics.body_mut(key).unwrap().set_linvel(at, true),
            7 if is_there => physics.body_mut(key).unwrap().sleep(),
            8 | 9 if is_there => {
                let body = physics.body_mut(key).unwrap();
                body.set_position(pose, number.is_multiple_of(2));
            }
            10 if is_there => {
                physics.set_previous_from_velocity(key).unwrap();
                if when != When::Before {
                    let seen = Self::seen(physics, [key].into_iter());
                    self.poses.entry(tick).or_default().extend(seen);
                }
            }
            11 => {
                physics.shift_origin(at).unwrap();
                let by = Pose::from_translation(-at);
                let poses = self.poses.entry(tick).or_default();
                if when != When::Before {
                    poses
                        .values_mut()
                        .flatten()
                        .for_each(|pose| *pose = by * *pose);
                }
                // In a step that is dropped it counts as between two steps.
                if when == When::Between || when == When::Before && self.fails_at == Some(tick) {
                    self.poses.retain(|of, _| *of == tick);
                    self.kept.clear();
                    self.known.clear();
                }
            }
            _ => (),
        }
    }

    /// After limits were set: what they do not allow at this tick is gone.
    fn cut(&mut self, simulation: &Simulation) {
        let first = (simulation.physics.tick() + 1).saturating_sub(self.len);
        self.known = self
            .known
            .split_off(&if self.len > 1 { first } else { u64::MAX });
    }

    fn rewind(&mut self, simulation: &mut Simulation, tick: u64) {
        let now = simulation.physics.tick();
        let kept = simulation.rewindable();
        let there = self.kept.get(&tick).cloned();
        let is_present = simulation.steps_to_resimulate() == 0;
        if tick != now && simulation.rewind(tick).is_ok() {
            if !is_present {
                // The rollback is given up, and with it the state that it was at.
            } else if kept.end <= now + 1 {
                // The present that is left is kept too.
                self.kept.insert(now, self.poses[&now].clone());
            } else if let Some(kept) = self.kept.get(&now) {
                // The edits at this tick are undone.
                self.poses.insert(now, kept.clone());
            }
            if self.unseen.contains(&tick) {
                self.see_all(&simulation.physics);
            } else {
                self.poses.insert(tick, there.unwrap());
            }
        }
    }

    /// Replaces the state by another one of this tick.
    fn replace(&mut self, simulation: &mut Simulation, number: u64) {
        let tick = simulation.physics.tick();
        let mut theirs = simulation.clone();
        let mut unseen = self.clone();
        for number in number..number + 3 {
            unseen.deed(&mut theirs.physics, number, When::Between);
            if number.is_multiple_of(2) && theirs.steps_to_resimulate() == 0 {
                advance(&mut theirs, 0);
            }
        }
        self.keys = unseen.keys;
        simulation.correct(theirs.physics).unwrap();
        self.unstepped_at = Some(tick);
        self.see_all(&simulation.physics);
        self.known.split_off(&tick);
        self.kept.split_off(&tick);
    }

    fn check(&self, simulation: &Simulation) {
        if simulation.steps_to_resimulate() > 0 && !Self::is_seen(&simulation.physics) {
            // On the way to the present.
            return;
        }
        let now = simulation.physics.tick();
        for (tick, poses) in self.poses.range(..=now) {
            let is_near = tick + self.len > now;
            let is_known = *tick == now || is_near && self.known.contains(tick);
            for key in self
                .keys
                .iter()
                .filter(|key| simulation.physics.body(**key).is_some())
            {
                let Some(seen) = poses.get(key) else {
                    let again = simulation.pose_at(*key, *tick, 0.5);
                    assert_eq!(again, None, "{key:?} at {tick} of {now} was not there yet");
                    continue;
                };
                for (alpha, seen) in ALPHAS.into_iter().zip(seen) {
                    let again = simulation.pose_at(*key, *tick, alpha);
                    assert_eq!(again.is_some(), is_known, "{key:?} at {tick} of {now}");
                    if let Some(again) = again {
                        let off = (again.translation - seen.translation).length();
                        assert!(off < 1e-3, "{key:?} at {tick} of {now}: {again:?} {seen:?}");
                    }
                }
            }
        }
        self.check_worlds(simulation);
    }

    /// The kept states know the same.
    fn check_worlds(&self, simulation: &Simulation) {
        let now = simulation.physics.tick();
        let times = (0..=now).flat_map(|tick| ALPHAS.map(|alpha| (tick, alpha)));
        // In the present the game may have moved bodies, whose colliders follow in the next step.
        let is_unstepped = self.unstepped_at == Some(now);
        let times = times.filter(|(tick, alpha)| *tick < now || *alpha == 1.0 && !is_unstepped);
        for (tick, alpha) in times {
            let Ok(past) = simulation.world_at(tick, alpha) else {
                continue;
            };
            let pipeline = past.query_pipeline(QueryFilter::default());
            for (key, body) in simulation.physics.bodies() {
                let handle = body.colliders()[0];
                let there = pipeline.colliders.get(handle);
                let there = there.filter(|_| past.key_of_collider(handle) == Some(key));
                let pose = simulation.pose_at(key, tick, alpha);
                if let (Some(there), Some(pose)) = (there, pose) {
                    let off = (there.translation() - pose.translation).length();
                    assert!(
                        off < 1e-3,
                        "{key:?} at {tick}, {alpha} of {now}: {pose:?} {:?}",
                        there.position()
                    );
                }
            }
        }
    }
}

impl Hooks for Run {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        let tick = step.tick;
        // Later ones are of another run.
        self.poses.split_off(&(tick + 1));
        self.kept.split_off(&tick);
        self.known.split_off(&tick);
        self.kept.insert(tick, self.poses[&tick].clone());
        self.unseen.split_off(&tick);
        if !Self::is_seen(physics) {
            self.unseen.insert(tick);
        } else if self.len > 1 {
            self.known.insert(tick);
        }
        self.deed(physics, tick, When::Before);
        self.deed(physics, tick + 500, When::Before);
        let fails = self.fails_at == Some(tick);
        self.unstepped_at = fails.then_some(tick);
        if fails { Err(()) } else { Ok(()) }
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        self.see_all(physics);
        let first = (physics.tick() + 1).saturating_sub(self.len);
        self.known = self.known.split_off(&first);
        self.deed(physics, step.tick + 1_000, When::After);
        self.deed(physics, step.tick + 1_500, When::After);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Frame(u64),
    Fail(u64),
    Pause,
    Deed(u64),
    Rewind(u64),
    Resimulate(u64, u64, bool),
    Replace(u64),
    Correct(u64, u64, bool),
    SetHistory(usize),
    SetInterval(u64),
    SetBytes(usize),
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        8 => (0..60u64).prop_map(Way::Frame),
        1 => (20..40u64).prop_map(Way::Fail),
        1 => Just(Way::Pause),
        6 => any::<u64>().prop_map(Way::Deed),
        3 => (0..30u64).prop_map(Way::Rewind),
        2 => (0..30u64, any::<u64>(), any::<bool>()).prop_map(|(back, seed, fails)| Way::Resimulate(back, seed, fails)),
        1 => any::<u64>().prop_map(Way::Replace),
        2 => (0..30u64, any::<u64>(), any::<bool>()).prop_map(|(back, seed, ends)| Way::Correct(back, seed, ends)),
        1 => (2..25usize).prop_map(Way::SetHistory),
        1 => (0..5u64).prop_map(Way::SetInterval),
        1 => prop_oneof![Just(usize::MAX), 1_000..50_000usize].prop_map(Way::SetBytes),
    ]
}

/// Plays the steps that are to be resimulated.
fn resimulate_rest(run: &mut Run, simulation: &mut Simulation) {
    while simulation.steps_to_resimulate() > 0 {
        let step = simulation.next_step().unwrap();
        let Ok(()) = run.before_step(&mut simulation.physics, step) else {
            unreachable!("none is told to fail");
        };
        simulation.make_step();
        let Ok(()) = run.after_step(&mut simulation.physics, step) else {
            unreachable!("none is told to fail");
        };
    }
    // The present is reached.
    simulation.next_step();
}

fn go(run: &mut Run, simulation: &mut Simulation, way: Way) {
    let now = simulation.physics.tick();
    match way {
        Way::Frame(ms) => simulation.advance_with(MS(ms), run).map(drop).unwrap(),
        Way::Fail(ms) => {
            run.fails_at = Some(now + 1);
            if simulation.advance_with(MS(ms), run).is_err() {
                run.see_all(&simulation.physics);
            }
            run.fails_at = None;
        }
        Way::Pause if simulation.clock().settings().is_paused() => simulation.resume(),
        Way::Pause => simulation.pause(),
        Way::Deed(number) => run.deed(&mut simulation.physics, number >> 8, When::Between),
        Way::Rewind(tick) => {
            let kept = simulation.rewindable();
            run.rewind(
                simulation,
                kept.start + tick % (kept.end - kept.start).max(1),
            );
        }
        Way::Resimulate(back, seed, fails) => {
            run.seed = seed >> 8;
            run.fails_at = (fails && now > 0).then(|| now - 1);
            let result = simulation.resimulate_with(now.saturating_sub(back), run);
            if let Err(ResimulateError::Hook(())) = result {
                // The rest is due from the step on that failed.
                simulation.begin_frame(MS(0));
                simulation.end_frame();
                run.see_all(&simulation.physics);
            }
            run.fails_at = None;
        }
        Way::Replace(number) => run.replace(simulation, number >> 8),
        Way::Correct(back, seed, ends) => {
            let tick = now.saturating_sub(back);
            if simulation.roll_back(tick).is_err() || simulation.steps_to_resimulate() == 0 {
                return;
            }
            let tick = simulation.physics.tick();
            if tick < now {
                run.poses.insert(tick, run.kept[&tick].clone());
            }
            run.replace(simulation, seed >> 8);
            run.seed = seed >> 8;
            if ends {
                resimulate_rest(run, simulation);
            } else {
                simulation.begin_frame(MS(0));
                simulation.end_frame();
            }
        }
        Way::SetHistory(states) => {
            simulation.set_history(states);
            run.len = states as u64 - 1;
            run.cut(simulation);
        }
        Way::SetInterval(ticks) => simulation.set_rewind_interval(ticks),
        Way::SetBytes(bytes) => {
            simulation.set_rewind_limits(100, bytes);
            run.cut(simulation);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// For each tick that is kept, `pose_at` gives what was seen right after its step, and `world_at` agrees.
    #[test]
    fn whatever_way_is_gone_what_is_known_was_seen(
        ways in prop::collection::vec(way(), 1..60),
        states in 2..25usize,
        seed in any::<u64>(),
    ) {
        let (mut simulation, key) = flyer(states);
        let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        let mut run = Run {
            keys: vec![key, wall],
            len: states as u64 - 1,
            seed: seed >> 8,
            ..Run::default()
        };
        run.see_all(&simulation.physics);
        for way in ways {
            go(&mut run, &mut simulation, way);
            run.check(&simulation);
        }
    }
}
