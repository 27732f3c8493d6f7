//! Displayed poses of earlier frames.

use super::*;
use evenstep::rewind::Kept;

/// A pile with bodies that are spawned and removed, spinners off their centre, and a simulation-wide smoothing.
fn scene(smoothing: Smoothing, states: u64) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::with_floor(Rate::hz(60));
    simulation.smoothing = smoothing;
    simulation.keep(Kept {
        poses: states,
        ..simulation.kept()
    });
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

/// The frame and its displayed poses.
type Shown = (Frame, Vec<(BodyKey, Pose)>);

#[test]
fn pose_at_returns_the_poses_of_every_kept_frame_bit_for_bit() {
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
                // Each frame has zero to four steps.
                let frame = advance(&mut simulation, 1 + 13 * i % 67);
                if i % 50 == 49 {
                    simulation.physics.remove(keys.remove(3)).unwrap();
                }
                let poses = keys
                    .iter()
                    .map(|key| (*key, simulation.pose(*key).unwrap()));
                frames.push_back((frame, poses.collect()));
                let oldest = frame.tick.saturating_sub(states - 2);
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
            assert_eq!(checked > 1_000, states > 2, "{checked} poses checked");
        }
    }
}

#[test]
fn pose_at_returns_none_for_ticks_that_are_not_kept() {
    let mut simulation = space(100);
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.physics.insert(fly(), ball());
    advance(&mut simulation, 100);
    simulation.keep(Kept {
        poses: 5,
        ..simulation.kept()
    });
    advance(&mut simulation, 20);
    let young = simulation.physics.insert(fly(), ball());
    advance(&mut simulation, 20);
    assert_eq!(simulation.physics.tick(), 14);
    let known = |key, tick| simulation.pose_at(key, tick, 0.5).is_some();
    // Poses are kept since tick 10.
    let ticks: Vec<u64> = (0..20).filter(|tick| known(key, *tick)).collect();
    assert_eq!(ticks, [11, 12, 13, 14]);
    let ticks: Vec<u64> = (0..20).filter(|tick| known(young, *tick)).collect();
    assert_eq!(ticks, [12, 13, 14]);
    for _ in 0..3 {
        advance(&mut simulation, 20);
    }
    let known = |key, tick| simulation.pose_at(key, tick, 0.5).is_some();
    let ticks: Vec<u64> = (0..30).filter(|tick| known(young, *tick)).collect();
    assert_eq!(ticks, [17, 18, 19, 20], "five states bound four ticks");
    // A shorter history, then none except the last tick.
    simulation.keep(Kept {
        poses: 3,
        ..simulation.kept()
    });
    assert!(simulation.pose_at(key, 19, 0.5).is_some());
    assert_eq!(simulation.pose_at(key, 18, 0.5), None);
    simulation.keep(Kept {
        poses: 0,
        ..simulation.kept()
    });
    assert!(simulation.pose_at(key, 20, 0.5).is_some());
    assert_eq!(simulation.pose_at(key, 19, 0.5), None);
    simulation.physics.remove(key);
    assert_eq!(simulation.pose_at(key, 20, 0.5), None);
}

#[test]
fn pose_at_returns_past_poses_of_sleeping_and_teleported_bodies() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 100,
        ..simulation.kept()
    });
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
    // The body is teleported after ten steps, rests for ten more, and then moves.
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
fn a_late_click_hits_the_target_at_its_displayed_pose() {
    // A target crosses the screen at 20 m/s. The click arrives five frames late.
    let mut simulation = space(60);
    simulation.keep(Kept {
        poses: 8,
        ..simulation.kept()
    });
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
                "the target has moved away by now"
            );
            let seen = simulation.pose_at(key, frame.tick, frame.alpha);
            assert!(hits(seen.unwrap()));
        }
    }
}

#[test]
fn a_teleport_in_a_frame_without_steps_applies_from_the_next_tick() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 20,
        ..simulation.kept()
    });
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
fn lengthening_the_history_does_not_restore_discarded_ticks() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 3,
        ..simulation.kept()
    });
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X), ball());
    for _ in 0..10 {
        advance(&mut simulation, 100);
    }
    simulation.keep(Kept {
        poses: 20,
        ..simulation.kept()
    });
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
