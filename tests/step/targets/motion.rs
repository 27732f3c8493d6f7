//! Kinematic targets: even motion at every frame rate.

use super::*;

#[test]
fn a_platform_that_carries_a_box_moves_the_same_at_every_frame_rate() {
    // 1.5 m/s along x and up at 0.5 m/s. The states are the positions and velocities of both bodies after each of 120
    // steps.
    let path = |t: f64| translation(1.5 * t as f32, 0.5 * t as f32, 0.0);
    let run = |frames: u32| {
        let mut simulation = Simulation::new(Rate::hz(60));
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
        assert_eq!(states.len(), 120, "at {frames} frames per second");
        states
    };
    let reference = run(60);
    for frames in [15, 30, 144, 240, 1_000] {
        for (step, (ours, theirs)) in run(frames).iter().zip(&reference).enumerate() {
            let off = (ours.0 - theirs.0).length();
            assert!(
                off < 2e-6,
                "{off} m in step {step} at {frames} frames per second"
            );
            // Each step sees the true velocity, not one burst per frame.
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
        "the box rides on the platform"
    );
}

#[test]
fn targets_set_in_each_step_give_the_same_bits_at_every_frame_rate() {
    let run = |frame_time: Duration| {
        let mut simulation = space(60);
        let key = platform(&mut simulation);
        for _ in 0..SECOND.as_nanos() / frame_time.as_nanos() {
            simulation.advance(frame_time, |physics, step| {
                let dt = Duration::from_secs_f32(step.dt);
                let pose = at((step.tick * step.tick) as f32 * 0.01);
                physics
                    .set_kinematic_target(key, pose, step.start_time + dt)
                    .unwrap();
            });
        }
        assert_eq!(current_pose(&simulation, key), Some(at(59.0 * 59.0 * 0.01)));
        scenes::hash(simulation.physics.rapier())
    };
    assert_eq!(run(MS(1)), run(MS(50)));
}

#[test]
fn rotation_to_a_target_is_spread_evenly_over_the_steps() {
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
    assert_eq!(current_pose(&simulation, key), Some(quarter), "bit for bit");
    advance(&mut simulation, 10);
    assert_eq!(current_pose(&simulation, key), Some(quarter));
    assert_eq!(
        simulation.physics.body(key).unwrap().angvel(),
        AngVector::default()
    );
}

#[test]
fn a_target_set_in_a_frame_without_steps_is_kept() {
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
    // A later target replaces an earlier one, and a target whose time is past belongs to the next step.
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
fn a_pause_stops_motion_to_a_target_and_slow_motion_slows_it() {
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
    // A single step moves the body by a single step's distance.
    simulation.step_once();
    advance(&mut simulation, 1);
    assert!((x(&simulation) - 0.26).abs() < 1e-6);
    simulation.resume();
    simulation.clock_settings_mut().set_speed(0.1).unwrap();
    advance(&mut simulation, 200);
    assert!((x(&simulation) - 0.28).abs() < 1e-6);
    let speed = simulation.physics.body(key).unwrap().linvel().x;
    assert!((speed - 1.0).abs() < 1e-4, "{speed} m/s of simulated time");
    // In a pause, frames keep setting targets. The clock's time does not change, and so the path stops.
    simulation.pause();
    let before = position(&simulation.physics, key);
    for _ in 0..10 {
        advance_along(&mut simulation, key, MS(100), |t| at(t as f32));
    }
    assert_eq!(position(&simulation.physics, key), before);
    simulation.clock_settings_mut().set_speed(1.0).unwrap();
    simulation.resume();
    advance_along(&mut simulation, key, MS(100), |t| at(t as f32));
    assert!((x(&simulation) - 0.38).abs() < 1e-5, "{}", x(&simulation));
}

#[test]
fn a_hitch_does_not_make_a_platform_jump() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    advance_along(&mut simulation, key, MS(50), |t| at(t as f32));
    advance_along(&mut simulation, key, MS(9_000), |t| at(t as f32));
    assert_eq!(simulation.frame().steps, 25);
    let body = simulation.physics.body(key).unwrap();
    assert!((body.translation().x - 0.3).abs() < 1e-6);
    assert!((body.linvel().x - 1.0).abs() < 1e-4);
}

#[test]
fn every_stepping_strategy_follows_the_target() {
    for stepping in STEPPINGS {
        let mut simulation = space(60);
        simulation.clock_settings_mut().set_stepping(stepping);
        let key = platform(&mut simulation);
        for frame in 0..60 {
            advance_along(&mut simulation, key, MS(10 + frame % 13), |t| at(t as f32));
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
fn removing_a_body_discards_its_target() {
    let mut simulation = space(100);
    let (key, other) = (platform(&mut simulation), platform(&mut simulation));
    for key in [key, other] {
        simulation
            .physics
            .set_kinematic_target(key, at(1.0), MS(100))
            .unwrap();
    }
    advance(&mut simulation, 50);
    // One body is removed by its key in a hook, the other through Rapier between two frames.
    simulation.advance(MS(10), |physics, _| {
        physics.remove(key).unwrap();
    });
    let handle = simulation.physics.handle(other).unwrap();
    simulation.physics.rapier_mut().remove_body(handle);
    // The slots are reused by platforms without targets.
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
fn only_position_based_kinematic_bodies_have_targets() {
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
    // A body that becomes dynamic before it reaches its target falls, and has no target when it is kinematic again.
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
fn a_teleport_discards_the_target_and_a_portal_transforms_it() {
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
fn every_smoothing_displays_a_kinematic_target_evenly() {
    for (smoothing, behind) in [
        (Smoothing::Interpolate, 1.0),
        (Smoothing::Hermite, 1.0),
        (Smoothing::Extrapolate, 0.0),
    ] {
        let mut simulation = space(60);
        simulation.smoothing = smoothing;
        let key = platform(&mut simulation);
        for frame in 0..200 {
            advance_along(&mut simulation, key, MS(7), |t| at(3.0 * t as f32));
            let time = simulation.clock().time().as_secs_f32() - behind / 60.0;
            let off = simulation.pose(key).unwrap().translation.x - 3.0 * time;
            // Rapier's velocity of a body with a target is that of the previous step.
            assert!(
                frame < 8 || off.abs() < 1e-4,
                "{smoothing:?}: {off} m in frame {frame}"
            );
        }
    }
}
