//! Kinematic bodies that the game leads to targets.

mod scenes;

use crate::scenes::testing::{
    about_z, cuboid, pose, scaled, spin, spin_numbers, translation, turned, vector,
};
use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Rate, Simulation, Smoothing};
use scenes::{MS, STEPPINGS, advance, ball, space};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn platform(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        cuboid(2.0, 0.1, 2.0).friction(1.0),
    )
}

fn at(x: f32) -> Pose {
    translation(x, 0.0, 0.0)
}

/// A frame in which the game leads the platform along `path`, a function of seconds.
fn lead(
    simulation: &mut Simulation,
    key: BodyKey,
    frame_time: Duration,
    path: impl Fn(f64) -> Pose,
) {
    let time = simulation.clock().time_after(frame_time);
    let pose = path(time.as_secs_f64());
    simulation
        .physics
        .set_kinematic_target(key, pose, time)
        .unwrap();
    simulation.advance(frame_time, |_, _| ());
}

fn position(physics: &Physics, key: BodyKey) -> Vector {
    physics.body(key).unwrap().translation()
}

#[test]
fn a_platform_that_carries_a_box_moves_the_same_at_every_frame_rate() {
    // 1.5 m/s along x and up by 0.5 m/s: after each of 120 steps, where are both, and how fast?
    let path = |t: f64| translation(1.5 * t as f32, 0.5 * t as f32, 0.0);
    let run = |frames: u32| {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        let key = platform(&mut simulation);
        let cargo = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.35);
        let cargo = simulation.physics.insert(cargo, cuboid(0.25, 0.25, 0.25));
        let mut states = Vec::new();
        for frame in 0..2 * frames {
            // Frames of whole nanoseconds that add up to seconds.
            let end = SECOND * (frame + 1) / frames;
            let frame_time = end - simulation.clock().real_time();
            let time = simulation.clock().time_after(frame_time);
            simulation
                .physics
                .set_kinematic_target(key, path(time.as_secs_f64()), time)
                .unwrap();
            simulation.advance(frame_time, |physics, _| {
                let of = |key| physics.body(key).unwrap();
                states.push((
                    position(physics, key),
                    of(key).linvel(),
                    position(physics, cargo),
                ));
            });
        }
        assert_eq!(states.len(), 120, "at {frames} frames a second");
        states
    };
    let reference = run(60);
    for frames in [15, 30, 144, 240, 1_000] {
        for (step, (ours, theirs)) in run(frames).iter().zip(&reference).enumerate() {
            let off = (ours.0 - theirs.0).length();
            assert!(
                off < 2e-6,
                "{off} m in step {step} at {frames} frames a second"
            );
            // Each step sees the true velocity, not one burst a frame.
            let velocity = vector(1.5, 0.5, 0.0);
            let off = (ours.1 - velocity).length();
            assert!(
                step == 0 || off < 1e-3,
                "{} in step {step} at {frames}",
                ours.1
            );
            let off = (ours.2 - theirs.2).length();
            assert!(
                off < 2e-4,
                "the box is off by {off} m in step {step} at {frames}"
            );
        }
    }
    let (end, start) = (reference[119].2, reference[20].2);
    assert!(
        (end.x - start.x - 1.5 * 99.0 / 60.0).abs() < 0.05,
        "the box rides along"
    );
}

#[test]
fn given_by_step_a_path_is_followed_to_the_bit() {
    let run = |frame_time: Duration| {
        let mut simulation = space(60);
        let key = platform(&mut simulation);
        for _ in 0..SECOND.as_nanos() / frame_time.as_nanos() {
            simulation.advance(frame_time, |physics, step| {
                let dt = Duration::from_secs_f32(step.dt);
                let pose = at((step.tick * step.tick) as f32 * 0.01);
                physics
                    .set_kinematic_target(key, pose, step.time + dt)
                    .unwrap();
            });
        }
        assert_eq!(current_pose(&simulation, key), Some(at(59.0 * 59.0 * 0.01)));
        scenes::hash(simulation.physics.rapier())
    };
    assert_eq!(run(MS(1)), run(MS(50)));
}

#[test]
fn a_turn_is_shared_evenly_too() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    let quarter = Pose::from_rotation(turned(spin(0.0, 0.0, std::f32::consts::FRAC_PI_2)));
    simulation
        .physics
        .set_kinematic_target(key, quarter, MS(500))
        .unwrap();
    for tick in 1..=50u8 {
        advance(&mut simulation, 10);
        let body = simulation.physics.body(key).unwrap();
        let expected = std::f32::consts::FRAC_PI_2 * f32::from(tick) / 50.0;
        let turned = about_z(*body.rotation());
        assert!((turned - expected).abs() < 1e-5, "{turned} in step {tick}");
        let speed = spin_numbers(body.angvel()).into_iter().sum::<f32>();
        assert!((speed - std::f32::consts::PI).abs() < 1e-3, "{speed} rad/s");
    }
    assert_eq!(current_pose(&simulation, key), Some(quarter), "to the bit");
    advance(&mut simulation, 10);
    assert_eq!(current_pose(&simulation, key), Some(quarter));
    assert_eq!(
        simulation.physics.body(key).unwrap().angvel(),
        AngVector::default()
    );
}

#[test]
fn a_target_set_on_a_frame_without_a_step_is_kept() {
    let mut simulation = space(10);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), MS(100))
        .unwrap();
    for _ in 0..3 {
        assert_eq!(advance(&mut simulation, 30).steps, 0);
    }
    advance(&mut simulation, 10);
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
    // A later target takes the place of an earlier one, and one that is past is for the next step.
    simulation
        .physics
        .set_kinematic_target(key, at(9.0), SECOND)
        .unwrap();
    simulation
        .physics
        .set_kinematic_target(key, at(2.0), Duration::ZERO)
        .unwrap();
    advance(&mut simulation, 100);
    assert_eq!(current_pose(&simulation, key), Some(at(2.0)));
    advance(&mut simulation, 100);
    assert_eq!(current_pose(&simulation, key), Some(at(2.0)));
}

#[test]
fn a_pause_holds_a_target_and_slow_motion_stretches_the_way() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    let x = |simulation: &Simulation| position(&simulation.physics, key).x;
    advance(&mut simulation, 250);
    assert!((x(&simulation) - 0.25).abs() < 1e-6);
    simulation.pause();
    for _ in 0..40 {
        advance(&mut simulation, 250);
    }
    assert!((x(&simulation) - 0.25).abs() < 1e-6);
    // A single step goes a single step's way.
    simulation.clock_settings_mut().step_once();
    advance(&mut simulation, 1);
    assert!((x(&simulation) - 0.26).abs() < 1e-6);
    simulation.resume();
    simulation.set_speed(0.1).unwrap();
    advance(&mut simulation, 200);
    assert!((x(&simulation) - 0.28).abs() < 1e-6);
    let speed = simulation.physics.body(key).unwrap().linvel().x;
    assert!((speed - 1.0).abs() < 1e-4, "{speed} m/s of simulated time");
    // Led by frames in a pause: the clock's time stands, and so does the path.
    simulation.pause();
    let before = position(&simulation.physics, key);
    for _ in 0..10 {
        lead(&mut simulation, key, MS(100), |t| at(t as f32));
    }
    assert_eq!(position(&simulation.physics, key), before);
    simulation.set_speed(1.0).unwrap();
    simulation.resume();
    lead(&mut simulation, key, MS(100), |t| at(t as f32));
    assert!((x(&simulation) - 0.38).abs() < 1e-5, "{}", x(&simulation));
}

#[test]
fn a_cut_frame_does_not_make_a_jump() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    lead(&mut simulation, key, MS(50), |t| at(t as f32));
    lead(&mut simulation, key, MS(9_000), |t| at(t as f32));
    assert_eq!(simulation.frame().steps, 25);
    let body = simulation.physics.body(key).unwrap();
    assert!((body.translation().x - 0.3).abs() < 1e-6);
    assert!((body.linvel().x - 1.0).abs() < 1e-4);
}

#[test]
fn every_stepping_leads_to_the_target() {
    for stepping in STEPPINGS {
        let mut simulation = space(60);
        simulation.clock_settings_mut().set_stepping(stepping);
        let key = platform(&mut simulation);
        for frame in 0..60 {
            lead(&mut simulation, key, MS(10 + frame % 13), |t| at(t as f32));
        }
        let time = simulation.clock().time();
        let waits = simulation.clock().overstep();
        let expected = (time - waits).as_secs_f32();
        let x = position(&simulation.physics, key).x;
        assert!(
            (x - expected).abs() < 1e-5,
            "{stepping:?}: {x}, not {expected}"
        );
    }
}

#[test]
fn a_body_that_is_removed_takes_its_target_with_it() {
    let mut simulation = space(100);
    let (key, other) = (platform(&mut simulation), platform(&mut simulation));
    for key in [key, other] {
        simulation
            .physics
            .set_kinematic_target(key, at(1.0), MS(100))
            .unwrap();
    }
    advance(&mut simulation, 50);
    // By its key in a hook, and through Rapier between two frames.
    simulation.advance(MS(10), |physics, _| {
        physics.remove(key).unwrap();
    });
    let handle = simulation.physics.handle(other).unwrap();
    simulation.physics.rapier_mut().remove_body(handle);
    // Their slots are used again by platforms that no one leads.
    let new = [platform(&mut simulation), platform(&mut simulation)];
    advance(&mut simulation, 100);
    for key in new {
        assert_eq!(current_pose(&simulation, key), Some(Pose::IDENTITY));
    }
    for key in [key, other] {
        let refused = simulation
            .physics
            .set_kinematic_target(key, at(1.0), SECOND);
        assert_eq!(refused, Err(BodyError::Gone(key)));
    }
}

#[test]
fn only_bodies_that_are_kinematic_by_position_have_targets() {
    let mut simulation = space(100);
    for body in [
        RigidBodyBuilder::dynamic(),
        RigidBodyBuilder::fixed(),
        RigidBodyBuilder::kinematic_velocity_based(),
    ] {
        let key = simulation.physics.insert(body, ball());
        let refused = simulation
            .physics
            .set_kinematic_target(key, at(1.0), SECOND);
        assert_eq!(refused, Err(BodyError::NotKinematic(key)));
    }
    let key = platform(&mut simulation);
    let nan = Pose::from_translation(Vector::NAN);
    let refused = simulation.physics.set_kinematic_target(key, nan, SECOND);
    assert_eq!(refused, Err(BodyError::NotFinite(key)));
    // One that becomes dynamic on its way falls, and stays led by nothing when it is kinematic again.
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    advance(&mut simulation, 100);
    let set_type = |simulation: &mut Simulation, body_type| {
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_body_type(body_type, true);
    };
    set_type(&mut simulation, RigidBodyType::Dynamic);
    advance(&mut simulation, 100);
    set_type(&mut simulation, RigidBodyType::KinematicPositionBased);
    advance(&mut simulation, 10);
    let before = position(&simulation.physics, key);
    advance(&mut simulation, 200);
    assert_eq!(position(&simulation.physics, key), before);
}

#[test]
fn a_teleport_forgets_the_target_and_a_portal_takes_it_along() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    advance(&mut simulation, 100);
    simulation.physics.teleport(key, at(50.0)).unwrap();
    advance(&mut simulation, 100);
    assert_eq!(simulation.pose(key), Some(at(50.0)));

    simulation
        .physics
        .set_kinematic_target(key, at(51.0), SECOND + MS(200))
        .unwrap();
    advance(&mut simulation, 250);
    let up = pose(Vector::Y * 7.0, spin(0.0, 0.0, std::f32::consts::FRAC_PI_2));
    simulation.physics.teleport_by(key, up).unwrap();
    for _ in 0..3 {
        advance(&mut simulation, 250);
    }
    let off = position(&simulation.physics, key) - up * vector(51.0, 0.0, 0.0);
    assert!(off.length() < 1e-4, "{off}");
}

#[test]
fn a_led_body_is_shown_evenly_by_every_smoothing() {
    for (smoothing, behind) in [
        (Smoothing::Interpolate, 1.0),
        (Smoothing::Hermite, 1.0),
        (Smoothing::Extrapolate, 0.0),
    ] {
        let mut simulation = space(60);
        simulation.smoothing = smoothing;
        let key = platform(&mut simulation);
        for frame in 0..200 {
            lead(&mut simulation, key, MS(7), |t| at(3.0 * t as f32));
            let time = simulation.clock().time().as_secs_f32() - behind / 60.0;
            let off = simulation.pose(key).unwrap().translation.x - 3.0 * time;
            // Rapier's velocity of a led body is that of the step before.
            assert!(
                frame < 8 || off.abs() < 1e-4,
                "{smoothing:?}: {off} m in frame {frame}"
            );
        }
    }
}

/// The exact pose on the straight way, rounded once.
fn on_line(from: f32, to: f32, fraction: f64) -> f32 {
    (f64::from(from) + (f64::from(to) - f64::from(from)) * fraction) as f32
}

#[test]
fn a_slow_body_far_out_follows_its_line_and_accumulates_nothing() {
    // 2 cm/s at 1 km from the origin, where f32 is spaced by 0.06 mm: a third of it in each step.
    let run = |again_each_frame: bool| {
        let mut simulation = space(1_000);
        let key = platform(&mut simulation);
        simulation.physics.teleport(key, at(1_000.0)).unwrap();
        for ms in 1..=10_000u32 {
            if ms == 1 || again_each_frame {
                let end = Duration::from_secs(10);
                simulation
                    .physics
                    .set_kinematic_target(key, at(1_000.2), end)
                    .unwrap();
            }
            advance(&mut simulation, 1);
            let expected = on_line(1_000.0, 1_000.2, f64::from(ms) / 10_000.0);
            assert_eq!(
                position(&simulation.physics, key).x,
                expected,
                "after {ms} ms"
            );
        }
    };
    run(false);
    run(true);
}

#[test]
fn an_hour_long_motion_is_even_and_its_rotation_stays_of_unit_length() {
    let mut simulation = space(60);
    let key = platform(&mut simulation);
    let turn = std::f32::consts::FRAC_PI_2;
    let end = pose(Vector::X, spin(0.0, 0.0, turn));
    let hour = Duration::from_secs(3_600);
    simulation
        .physics
        .set_kinematic_target(key, end, hour)
        .unwrap();
    for quarter in 1..=4 * 3_600u32 {
        advance(&mut simulation, 250);
        let fraction = f64::from(quarter) / f64::from(4 * 3_600);
        let pose = *simulation.physics.body(key).unwrap().position();
        assert_eq!(pose.translation.x, on_line(0.0, 1.0, fraction));
        let off = pose.rotation.length() - 1.0;
        assert!(off.abs() <= 2.0 * f32::EPSILON, "{off} in {quarter}");
        let turned = about_z(pose.rotation);
        assert!((turned - turn * fraction as f32).abs() < 1e-6, "{turned}");
    }
    assert_eq!(current_pose(&simulation, key), Some(end));
}

#[test]
fn a_target_set_anew_each_frame_keeps_the_rotation_of_unit_length() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    for frame in 1..=20_000u64 {
        // Always a bit further ahead than the body comes.
        let ahead = turned(spin(0.0, 0.0, frame as f32 * 1e-3 + 0.5));
        let time = simulation.clock().time() + MS(500);
        let pose = Pose::from_rotation(ahead);
        simulation
            .physics
            .set_kinematic_target(key, pose, time)
            .unwrap();
        advance(&mut simulation, 10);
        let off = simulation.physics.body(key).unwrap().rotation().length() - 1.0;
        assert!(off.abs() <= 2.0 * f32::EPSILON, "{off} in frame {frame}");
    }
}

#[test]
fn a_body_that_only_moves_does_not_turn() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    // A little off unit length, as what a game multiplies.
    let rotation = scaled(turned(spin(0.0, 0.0, 1.287)), 1.000_000_3);
    assert_ne!(rotation, rotation.normalize());
    let pose = |x| Pose::from_parts(Vector::X * x, rotation);
    simulation.physics.teleport(key, pose(0.0)).unwrap();
    simulation
        .physics
        .set_kinematic_target(key, pose(1.0), SECOND)
        .unwrap();
    for _ in 0..100 {
        advance(&mut simulation, 10);
        let body = simulation.physics.body(key).unwrap();
        assert_eq!(
            (*body.rotation(), body.angvel()),
            (rotation, AngVector::default())
        );
    }
}

#[test]
fn a_body_put_elsewhere_by_hand_goes_evenly_from_there() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    advance(&mut simulation, 250);
    let up = vector(0.25, 3.0, 0.0);
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_translation(up, true);
    for tick in 26..=100u8 {
        advance(&mut simulation, 10);
        let fraction = f32::from(tick - 25) / 75.0;
        let expected = up.lerp(Vector::X, fraction);
        let off = (position(&simulation.physics, key) - expected).length();
        assert!(off < 1e-6, "{off} in step {tick}");
    }
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
}

#[test]
fn a_portal_and_a_shifted_origin_bend_no_motion() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    let mut frame_of_reference = Pose::IDENTITY;
    for tick in 1..=100u8 {
        advance(&mut simulation, 10);
        let expected = frame_of_reference * vector(f32::from(tick) / 100.0, 0.0, 0.0);
        let off = (position(&simulation.physics, key) - expected).length();
        assert!(off < 1e-5, "{off} in step {tick}");
        let velocity = simulation.physics.body(key).unwrap().linvel();
        let off = (velocity - frame_of_reference.rotation * Vector::X).length();
        assert!(off < 2e-3, "{velocity} in step {tick}");
        if tick % 20 == 10 {
            let by = pose(Vector::Y * 7.0, spin(0.0, 0.0, 0.3));
            simulation.physics.teleport_by(key, by).unwrap();
            frame_of_reference = by * frame_of_reference;
        }
        if tick % 20 == 0 {
            let origin = vector(3.0, -4.0, 5.0);
            simulation.physics.shift_origin(origin).unwrap();
            frame_of_reference = frame_of_reference.append_translation(-origin);
        }
    }
}

#[test]
fn a_target_that_is_reached_holds_no_body() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), MS(100))
        .unwrap();
    advance(&mut simulation, 100);
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_translation(Vector::Y, true);
    advance(&mut simulation, 100);
    assert_eq!(position(&simulation.physics, key), Vector::Y);
}

#[test]
fn the_end_of_a_step_may_be_computed_from_its_length_at_every_rate() {
    for hz in [1, 3, 7, 50, 59, 60, 90, 120, 144, 240, 1_000, 4_096, 44_100] {
        let mut simulation = space(hz);
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        let key = platform(&mut simulation);
        let mut reached = Vec::new();
        simulation.advance(SECOND * 100 / hz + MS(1), |physics, step| {
            reached.push(position(physics, key).x);
            // So far away that a motion that falls short by a nanosecond is seen.
            let pose = at(if step.tick % 2 == 0 { 3_000.0 } else { 0.0 });
            let time = step.time + Duration::from_secs_f32(step.dt);
            physics.set_kinematic_target(key, pose, time).unwrap();
        });
        assert!(reached.len() >= 100);
        for (tick, x) in reached.into_iter().enumerate() {
            let expected = if tick % 2 == 0 { 0.0 } else { 3_000.0 };
            assert_eq!(x, expected, "step {tick} at {hz} Hz");
        }
    }
}

#[test]
fn a_step_that_is_not_made_and_another_rate_lose_no_target() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    for _ in 0..10 {
        advance(&mut simulation, 10);
        // Taken, and dropped with the frame.
        simulation.begin_frame(MS(10));
        let step = simulation.next_step().unwrap();
        assert!(step.tick < 20 && simulation.end_frame().steps == 0);
    }
    assert_eq!(simulation.physics.tick(), 10);
    assert_eq!(position(&simulation.physics, key).x, on_line(0.0, 1.0, 0.1));
    simulation
        .clock_settings_mut()
        .set_rate(Rate::hz(30).unwrap());
    for step in 1..=27u8 {
        // Rounded up to a nanosecond, so that there is one step in each.
        simulation.advance(Duration::from_nanos(33_333_334), |_, _| ());
        let expected = 0.1 + f32::from(step) / 30.0;
        let off = (position(&simulation.physics, key).x - expected).abs();
        assert!(off < 1e-6, "{off} in step {step}");
    }
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
}

#[test]
fn the_same_pose_at_another_time_is_another_target() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    advance(&mut simulation, 200);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), MS(4_200))
        .unwrap();
    for tick in 21..=420u16 {
        advance(&mut simulation, 10);
        let expected = 0.2 + 0.8 * f32::from(tick - 20) / 400.0;
        let off = (position(&simulation.physics, key).x - expected).abs();
        assert!(off < 1e-6, "{off} in step {tick}");
    }
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
}

/// A platform at `from` that goes to `to` in one step; and a way that leads one of both poses beyond f32.
fn far_step(from: f32, to: f32) -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation.physics.teleport(key, at(from)).unwrap();
    simulation
        .physics
        .set_kinematic_target(key, at(to), Duration::ZERO)
        .unwrap();
    (simulation, key)
}

#[test]
fn a_portal_that_leads_half_of_a_step_beyond_f32_is_refused() {
    let beyond = at(f32::MAX);
    for (from, to) in [(0.0, 1e36), (1e36, 0.0)] {
        // In the hook the body is at the one and will be at the other.
        let (mut simulation, key) = far_step(from, to);
        simulation.advance(MS(10), |physics, _| {
            let refused = physics.teleport_by(key, beyond);
            assert_eq!(refused, Err(BodyError::NotFinite(key)));
            let body = physics.body(key).unwrap();
            assert_eq!(
                (body.position(), body.next_position()),
                (&at(from), &at(to))
            );
        });
    }
}

#[test]
fn a_motion_of_which_an_end_is_beyond_f32_is_not_shown() {
    // It has come from where the portal cannot lead.
    let (mut simulation, key) = far_step(1e36, 0.0);
    simulation.advance(MS(14), |_, _| ());
    simulation.physics.teleport_by(key, at(f32::MAX)).unwrap();
    assert!(simulation.pose(key).unwrap().is_finite());
    assert!(previous_pose(&simulation, key).unwrap().is_finite());
    // And it goes where a shift cannot lead.
    let (mut simulation, key) = far_step(0.0, 1e36);
    simulation.advance(MS(14), |_, _| ());
    simulation
        .physics
        .shift_origin(Vector::X * -f32::MAX)
        .unwrap();
    assert!(simulation.pose(key).unwrap().is_finite());
    let current = simulation.pose_at(key, simulation.physics.tick(), 1.0);
    assert!(current.unwrap().is_finite());
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// The pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
