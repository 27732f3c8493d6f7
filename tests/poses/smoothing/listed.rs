//! The bodies that a frame lists under each smoothing.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn the_last_listed_pose_of_a_stopped_body_is_displayed() {
    let stops: [fn(&mut RigidBody); 3] = [
        |body| body.set_enabled(false),
        |body| body.sleep(),
        |body| body.set_body_type(RigidBodyType::Fixed, true),
    ];
    for stop in stops {
        for smoothing in [Smoothing::Extrapolate, Smoothing::Hermite] {
            let mut simulation = space(100);
            simulation.smoothing = smoothing;
            let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
            let key = simulation.physics.insert(fly, ball());
            let mut listed = None;
            for i in 0..20 {
                if i == 9 {
                    stop(simulation.physics.body_mut(key).unwrap());
                }
                advance(&mut simulation, 15);
                for (_, pose) in simulation.moved() {
                    listed = Some(*pose);
                }
                assert_eq!(listed, simulation.pose(key), "frame {i}");
            }
            assert_eq!(
                listed,
                Some(*simulation.physics.body(key).unwrap().position())
            );
        }
    }
}

#[test]
fn a_body_with_a_nan_mass_is_displayed_at_a_finite_pose() {
    let mut simulation = space(100);
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(fly, ball());
    advance(&mut simulation, 25);
    simulation
        .physics
        .insert_collider(key, ball().density(f32::NAN))
        .unwrap();
    for ms in [3, 13, 13, 4] {
        advance(&mut simulation, ms);
        assert!(simulation.pose(key).unwrap().is_finite());
        assert!(simulation.moved().iter().all(|(_, pose)| pose.is_finite()));
    }
    assert!(!simulation.physics.body(key).unwrap().is_enabled());
}

#[test]
fn a_teleported_body_is_not_extrapolated_before_the_next_step() {
    let mut simulation = space(100);
    simulation.smoothing = Smoothing::Extrapolate;
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(fly, ball());
    advance(&mut simulation, 105);
    let there = translation(50.0, 0.0, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::ZERO, true);
    for _ in 0..5 {
        advance(&mut simulation, 4);
        assert_eq!(simulation.pose(key), Some(there));
    }
}

#[test]
fn hermite_starts_with_the_velocity_of_inserted_and_woken_bodies() {
    // With and without a frame between the insertion and the first step. A sleeping body is pushed, too.
    for wait in [0, 4] {
        let mut simulation = space(100);
        simulation.smoothing = Smoothing::Hermite;
        let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
        let key = simulation.physics.insert(fly, ball());
        let sleeper = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 5.0)
            .sleeping(true);
        let sleeper = simulation.physics.insert(sleeper, ball().mass(1.0));
        for _ in 0..3 {
            advance(&mut simulation, 10);
        }
        simulation.physics.body_mut(key).unwrap().sleep();
        for _ in 0..3 {
            advance(&mut simulation, 10);
        }
        assert_eq!(simulation.frame().movers, 0);
        let start = shown_x(&simulation, key);
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_linvel(Vector::X * 100.0, true);
        simulation
            .physics
            .apply_impulse(sleeper, Vector::X * 100.0)
            .unwrap();
        let new = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * -5.0)
            .linvel(Vector::X * 100.0);
        let new = simulation.physics.insert(new, ball());
        advance(&mut simulation, wait);
        advance(&mut simulation, 15 - wait);
        for (key, start) in [(key, start), (sleeper, 0.0), (new, 0.0)] {
            let x = shown_x(&simulation, key) - start;
            assert!((x - 0.5).abs() < 1e-4, "{x} m of 0.5 m after {wait} ms");
        }
    }
}

#[test]
fn hermite_starts_with_a_velocity_set_on_a_sleeping_body() {
    type Access = fn(&mut Physics, BodyKey) -> &mut RigidBody;
    let body_mut: Access = |physics, key| physics.body_mut(key).unwrap();
    let rapier_mut: Access = |physics, key| {
        let handle = physics.handle(key).unwrap();
        &mut physics.rapier_mut().bodies[handle]
    };
    let rapier_mut_for: Access = |physics, key| {
        let handle = physics.handle(key).unwrap();
        &mut physics.rapier_mut_for(&[key]).bodies[handle]
    };
    let check = |access: Access, in_hook: bool, resimulates: bool| {
        let mut simulation = space(100);
        simulation.smoothing = Smoothing::Hermite;
        simulation.keep(Kept {
            ticks: 10,
            ..simulation.kept()
        });
        let sleeper = RigidBodyBuilder::dynamic()
            .linear_damping(60.0)
            .sleeping(true);
        let key = simulation.physics.insert(sleeper, ball());
        let push = |physics: &mut Physics| access(physics, key).set_linvel(Vector::X, true);
        simulation.advance(MS(50), |_, _| ());
        if !in_hook {
            push(&mut simulation.physics);
        }
        let hook = |physics: &mut Physics, step: evenstep::Step| {
            if in_hook && step.tick == 5 {
                push(physics);
            }
        };
        simulation.advance(MS(13), hook);
        if resimulates {
            simulation.resimulate(5, hook).unwrap();
            simulation.advance(Duration::ZERO, hook);
        }
        assert_eq!(simulation.physics.tick(), 6);
        // The cubic curve from 0 at 1 m/s to the end of the step of 10 ms.
        let body = simulation.physics.body(key).unwrap();
        let (a, end, speed) = (
            simulation.frame().alpha,
            body.translation().x,
            body.linvel().x,
        );
        let expected = end * (3.0 * a * a - 2.0 * a * a * a)
            + 0.01 * (a - 2.0 * a * a + a * a * a)
            + 0.01 * speed * (a * a * a - a * a);
        let x = shown_x(&simulation, key);
        assert!(
            speed < 0.9 && (x - expected).abs() < 1e-6,
            "{x} for {expected}"
        );
    };
    for access in [body_mut, rapier_mut, rapier_mut_for] {
        check(access, false, false);
        check(access, true, false);
        check(access, true, true);
    }
}

#[test]
fn bodies_at_rest_are_not_listed_under_any_smoothing() {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    for smoothing in [Interpolate, Hermite, Extrapolate, Latest] {
        let mut simulation = space(100);
        simulation.smoothing = smoothing;
        // Some bodies are turned so that arithmetic with their rotation rounds.
        let keys: Vec<BodyKey> = (0..20u8)
            .map(|i| {
                let at = Vector::X * (1.9 * f32::from(i) - 20.0);
                let turned = pose(at, spin(0.3 * f32::from(i), 0.2, 0.7));
                let off_center = ball().translation(Vector::Y);
                let body = RigidBodyBuilder::dynamic().sleeping(true);
                simulation.physics.insert(body.pose(turned), off_center)
            })
            .collect();
        advance(&mut simulation, 13);
        for _ in 0..5 {
            let frame = advance(&mut simulation, 1);
            assert_eq!((simulation.moved(), frame.movers), (&[][..], 0));
        }
        for key in keys {
            let rest = *simulation.physics.body(key).unwrap().position();
            assert_eq!(simulation.pose(key), Some(rest), "{smoothing:?}");
        }
    }
}

/// Returns how far a platform has moved in the middle of a step of 2 m under `Hermite`, after it moved 1 m in each step
/// before. `disturb` is called between two frames, `steps` steps before that one.
fn middle_of_a_faster_step(steps: u64, disturb: impl FnOnce(&mut Simulation, BodyKey)) -> f32 {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let go = |simulation: &mut Simulation, distance: f32, ms: u64| {
        simulation.advance(MS(ms), |physics, step| {
            let next = *physics.body(key).unwrap().position();
            let next = next.append_translation(Vector::X * distance);
            physics
                .set_kinematic_target(key, next, step.end_time)
                .unwrap();
        });
    };
    go(&mut simulation, 1.0, 20);
    disturb(&mut simulation, key);
    go(&mut simulation, 1.0, 10 * steps);
    simulation.smoothing = Smoothing::Hermite;
    go(&mut simulation, 2.0, 15);
    shown_x(&simulation, key) - previous_pose(&simulation, key).unwrap().translation.x
}

#[test]
fn a_teleported_kinematic_body_is_smooth_again_after_one_step() {
    // The curve leads from one step's velocity to the other's, behind the middle by an eighth of the difference.
    let expected = middle_of_a_faster_step(1, |_, _| ());
    assert!((expected - 0.875).abs() < 1e-4, "{expected}");
    let there = translation(3.0, 4.0, 0.0);
    for steps in [1, 3] {
        let x = middle_of_a_faster_step(steps, |simulation, key| {
            simulation.physics.teleport(key, there).unwrap();
        });
        assert!((x - expected).abs() < 1e-4, "{x} after {steps} steps");
        let x = middle_of_a_faster_step(steps, |simulation, key| {
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_position(there, true);
        });
        assert!((x - expected).abs() < 1e-4, "{x} after {steps} steps");
    }
    // Before a step has run since the teleport, the curve does not use the body's velocity.
    let x = middle_of_a_faster_step(0, |simulation, key| {
        simulation.physics.teleport(key, there).unwrap();
    });
    assert!((x - 1.0).abs() < 1e-4, "{x}");
    // The tick number does not matter.
    for (tick, steps, expected) in [(1_000, 0, 1.0), (1, 1, expected)] {
        let x = middle_of_a_faster_step(steps, |simulation, key| {
            simulation.physics.teleport(key, there).unwrap();
            simulation.set_tick(tick);
        });
        assert!((x - expected).abs() < 1e-4, "{x} from tick {tick} on");
    }
    // A frame that ended before its step did not move the body.
    let x = middle_of_a_faster_step(0, |simulation, _| {
        simulation.begin_frame(MS(10));
        simulation.end_frame();
    });
    assert!((x - expected).abs() < 1e-4, "{x}");
}

#[test]
fn hermite_does_not_overshoot_for_a_body_disabled_in_a_step() {
    let mut simulation = space(100);
    simulation.smoothing = Smoothing::Hermite;
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X), ball());
    advance(&mut simulation, 15);
    // Rapier disables the body before it has moved.
    let body = simulation.physics.body_mut(key).unwrap();
    body.add_force(Vector::NAN, true);
    let rest = *body.position();
    advance(&mut simulation, 10);
    assert!(!simulation.physics.body(key).unwrap().is_enabled());
    for alpha in [0.0, 0.3, 0.9] {
        assert_eq!(simulation.pose_at(key, 2, alpha), Some(rest));
    }
}

#[test]
fn bodies_at_minus_zero_are_displayed_bit_for_bit() {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    let bits = |pose: &Pose| {
        let rotation = rotation_numbers(pose.rotation);
        let numbers = pose.translation.to_array().into_iter().chain(rotation);
        numbers.map(f32::to_bits).collect::<Vec<u32>>()
    };
    for smoothing in [Interpolate, Hermite, Extrapolate, Latest] {
        let mut simulation = space(100);
        simulation.smoothing = smoothing;
        // Enough bodies for the lanes of a batch, and a remainder.
        let keys: Vec<BodyKey> = (0..90u8)
            .map(|i| {
                let at = Vector::X * -f32::from(i); // −0 along y and z
                let turned = with_minus_zeros();
                let body = [
                    RigidBodyBuilder::dynamic(),
                    RigidBodyBuilder::kinematic_position_based(),
                    RigidBodyBuilder::fixed(),
                ];
                let body = body[usize::from(i % 3)].clone();
                let offset = Vector::Y * f32::from(i % 2); // of the centre of mass
                let body = body.pose(Pose::from_parts(at, turned));
                simulation.physics.insert(body, ball().translation(offset))
            })
            .collect();
        // Rapier's first step changes some of them to +0.
        for ms in [3, 27] {
            advance(&mut simulation, ms);
        }
        let mut start = simulation.frame();
        start.number -= 1;
        for ms in [0, 3, 7, 0, 15, 5, 600, 3] {
            advance(&mut simulation, ms);
            let since = simulation.changes_since(&start).unwrap();
            for (key, pose) in simulation.moved().iter().chain(&*since.moved) {
                let own = simulation.physics.body(*key).unwrap().position();
                assert_eq!(bits(pose), bits(own), "{smoothing:?}");
            }
            for key in &keys {
                let own = simulation.physics.body(*key).unwrap().position();
                let shown = simulation.pose(*key).unwrap();
                assert_eq!(bits(&shown), bits(own), "{smoothing:?}");
            }
        }
    }
}

/// Creates a platform, far out, that a target moves and turns at `speed` m/s until it arrives at `end`.
fn arriving(smoothing: Smoothing, i: u16, speed: f32) -> (Simulation, BodyKey, Pose) {
    let mut simulation = space(60);
    simulation.smoothing = smoothing;
    let start = pose(
        vector(0.37 * f32::from(i), 3.0, -0.11 * f32::from(i)),
        spin(0.01, 0.02, 0.03) * f32::from(i),
    );
    let body = RigidBodyBuilder::kinematic_position_based().pose(start);
    let key = simulation
        .physics
        .insert(body, ball().translation(Vector::X));
    let end = start * pose(Vector::Y * speed, spin(0.0, 0.0, 0.5));
    let time = Duration::from_secs(1);
    simulation
        .physics
        .set_kinematic_target(key, end, time)
        .unwrap();
    for _ in 0..60 {
        simulation.advance(time / 60, |_, _| ());
    }
    (simulation, key, end)
}

#[test]
fn a_kinematic_body_at_its_target_is_no_longer_listed() {
    for smoothing in [
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Interpolate,
    ] {
        for i in 0..300 {
            let (mut simulation, key, end) = arriving(smoothing, i, 1.0);
            advance(&mut simulation, 17); // the first step in which it is at rest
            for _ in 0..20 {
                advance(&mut simulation, 7);
                assert_eq!(simulation.pose(key), Some(end), "{smoothing:?} {i}");
                assert!(simulation.moved().is_empty(), "{smoothing:?} {i}");
            }
        }
    }
}

#[test]
fn hermite_does_not_overshoot_a_reached_kinematic_target() {
    let (mut simulation, key, end) = arriving(Smoothing::Hermite, 1, 25.0);
    advance(&mut simulation, 17);
    for alpha in [0.1, 0.3, 0.5, 0.9] {
        assert_eq!(
            simulation.pose_at(key, simulation.physics.tick(), alpha),
            Some(end)
        );
    }
}

#[test]
fn a_portal_rotates_the_path_of_a_kinematic_body() {
    for (frame_time, hz) in [(10, 100), (3, 100), (7, 100), (25, 100), (40, 100), (1, 10)] {
        let mut simulation = space(hz);
        simulation.smoothing = Smoothing::Hermite;
        let key = simulation
            .physics
            .insert(RigidBodyBuilder::kinematic_position_based(), ball());
        let to = translation(1_000.0, 0.0, 0.0);
        let time = Duration::from_secs(100); // 10 m/s
        simulation
            .physics
            .set_kinematic_target(key, to, time)
            .unwrap();
        for _ in 0..500 / frame_time {
            advance(&mut simulation, frame_time);
        }
        let half_turn = Pose::rotation(spin(0.0, std::f32::consts::PI, 0.0));
        simulation.physics.teleport_by(key, half_turn).unwrap();
        advance(&mut simulation, 0);
        let mut x = shown_x(&simulation, key);
        let distance = -0.01 * frame_time as f32;
        for _ in 0..100 {
            advance(&mut simulation, frame_time);
            let next = shown_x(&simulation, key);
            assert!(
                (next - x - distance).abs() < 1e-4,
                "{} at {frame_time}",
                next - x
            );
            x = next;
        }
    }
}

/// Rapier takes rotations of any length. They are displayed at finite rotations between two of them.
#[test]
fn a_kinematic_body_with_a_scaled_rotation_is_displayed_at_a_finite_pose() {
    for scale in [1.0, 1.001, 1.05, 2.0, 10.0, 100.0, 1e4] {
        let mut simulation = space(60);
        let body = RigidBodyBuilder::kinematic_position_based();
        let key = simulation.physics.insert(body, ball());
        for _ in 0..100 {
            simulation.advance(MS(7), |physics, step| {
                let turn = scenes::testing::turned(spin(0.0, 0.0, step.tick as f32 * 0.05));
                let turn = scenes::testing::scaled(turn, scale);
                let next = Pose::from_parts(Vector::ZERO, turn);
                physics
                    .body_mut(key)
                    .unwrap()
                    .set_next_kinematic_position(next);
            });
            let pose = simulation.pose(key).unwrap();
            assert!(pose.is_finite(), "{scale}: {pose:?}");
        }
    }
}
