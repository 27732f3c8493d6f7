//! Targets that are far from the origin, reached, refused, or interrupted by teleports and shifts.

use super::*;

/// Returns the exact pose on the straight path, rounded once.
fn on_line(from: f32, to: f32, fraction: f64) -> f32 {
    (f64::from(from) + (f64::from(to) - f64::from(from)) * fraction) as f32
}

#[test]
fn a_slow_target_far_from_the_origin_accumulates_no_rounding_error() {
    // 2 cm/s at 1 km from the origin, where f32 is spaced by 0.06 mm. Each step moves the body by a third of that.
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
fn an_hour_long_motion_stays_even_with_a_rotation_of_unit_length() {
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
fn setting_a_target_in_each_frame_keeps_the_rotation_of_unit_length() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    for frame in 1..=20_000u64 {
        // The body never reaches the target, which is always a little further ahead.
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
fn a_target_with_an_unchanged_rotation_does_not_turn_the_body() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    // The rotation is a little off unit length, as products in a game are.
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
fn a_body_moved_through_rapier_continues_evenly_to_its_target() {
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
fn motion_to_a_target_stays_even_across_portals_and_origin_shifts() {
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
fn a_reached_target_no_longer_holds_its_body() {
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
fn a_target_at_step_time_plus_dt_is_reached_at_every_tick_rate() {
    for hz in [1, 3, 7, 50, 59, 60, 90, 120, 144, 240, 1_000, 4_096, 44_100] {
        let mut simulation = space(hz);
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        let key = platform(&mut simulation);
        let mut reached = Vec::new();
        simulation.advance(SECOND * 100 / hz + MS(1), |physics, step| {
            reached.push(position(physics, key).x);
            // The distance is so large that a motion which is a nanosecond short is detected.
            let pose = at(if step.tick % 2 == 0 { 3_000.0 } else { 0.0 });
            let time = step.start_time + Duration::from_secs_f32(step.dt);
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
fn a_target_survives_aborted_steps_and_a_change_of_tick_rate() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    simulation
        .physics
        .set_kinematic_target(key, at(1.0), SECOND)
        .unwrap();
    for _ in 0..10 {
        advance(&mut simulation, 10);
        // The step is pending, and is dropped with the frame.
        simulation.begin_frame(MS(10));
        let step = simulation.next_step().unwrap();
        assert!(step.tick < 20 && simulation.end_frame().steps == 0);
    }
    assert_eq!(simulation.physics.tick(), 10);
    assert_eq!(position(&simulation.physics, key).x, on_line(0.0, 1.0, 0.1));
    simulation.clock_settings_mut().set_rate(Rate::hz(30));
    for step in 1..=27u8 {
        // The time is rounded up to a nanosecond, so that there is one step in each frame.
        simulation.advance(Duration::from_nanos(33_333_334), |_, _| ());
        let expected = 0.1 + f32::from(step) / 30.0;
        let off = (position(&simulation.physics, key).x - expected).abs();
        assert!(off < 1e-6, "{off} in step {step}");
    }
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
}

#[test]
fn setting_the_same_target_pose_with_a_later_time_slows_the_motion() {
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

/// Creates a platform at `from` that moves to `to` in one step, so that a portal can move one of the two poses beyond
/// f32.
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
fn a_portal_that_moves_one_end_of_a_step_beyond_f32_is_refused() {
    let beyond = at(f32::MAX);
    for (from, to) in [(0.0, 1e36), (1e36, 0.0)] {
        // In the hook the body is at `from` and will be at `to`.
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
fn poses_stay_finite_when_one_end_of_a_motion_exceeds_f32() {
    // The body comes from a position that the portal would move beyond f32.
    let (mut simulation, key) = far_step(1e36, 0.0);
    simulation.advance(MS(14), |_, _| ());
    simulation.physics.teleport_by(key, at(f32::MAX)).unwrap();
    assert!(simulation.pose(key).unwrap().is_finite());
    assert!(previous_pose(&simulation, key).unwrap().is_finite());
    // The body goes to a position that the shift would move beyond f32.
    let (mut simulation, key) = far_step(0.0, 1e36);
    simulation.advance(MS(14), |_, _| ());
    simulation
        .physics
        .shift_origin(Vector::X * -f32::MAX)
        .unwrap();
    assert!(simulation.pose(key).unwrap().is_finite());
    // The next frame displays the new coordinates.
    simulation.advance(MS(0), |_, _| ());
    let current = simulation.pose_at(key, simulation.physics.tick(), 1.0);
    assert!(current.unwrap().is_finite());
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

/// Rapier stops a kinematic body whose position is set. It still moves by as much as its target asks for.
#[test]
fn a_position_that_is_set_in_a_hook_neither_stops_a_body_nor_loses_its_target() {
    for is_last in [true, false] {
        let mut simulation = space(60);
        let key = platform(&mut simulation);
        let end = Duration::from_millis(1_500);
        (simulation.physics)
            .set_kinematic_target(key, at(10.0), end)
            .unwrap();
        for _ in 0..60 {
            let step = Duration::from_nanos(16_666_667);
            simulation.advance(step, |physics, step| {
                if step.tick != 30 {
                    return;
                }
                let aside = |physics: &mut Physics| {
                    let x = position(physics, key).x;
                    let body = physics.body_mut(key).unwrap();
                    body.set_translation(vector(x, 1.0, 0.0), true);
                };
                if is_last {
                    aside(physics);
                } else {
                    let x = position(physics, key).x + 6.67 / 60.0;
                    let next = translation(x, 1.0, 0.0);
                    let end = physics.current_step().unwrap().end_time;
                    physics.set_kinematic_target(key, next, end).unwrap();
                    aside(physics);
                }
            });
            let tick = simulation.physics.tick();
            if (29..33).contains(&tick) && (is_last || tick <= 31) {
                let speed = simulation.physics.body(key).unwrap().linvel().x;
                assert!(
                    (speed - 6.67).abs() < 0.2,
                    "{is_last}, tick {tick}: {speed}"
                );
            }
        }
    }
}

#[test]
fn a_next_position_that_is_set_after_the_position_counts() {
    let mut simulation = space(60);
    let key = platform(&mut simulation);
    (simulation.physics)
        .set_kinematic_target(key, at(10.0), SECOND)
        .unwrap();
    simulation.advance(MS(17), |physics, _| {
        let body = physics.body_mut(key).unwrap();
        body.set_position(at(3.0), true);
        body.set_next_kinematic_translation(vector(3.5, 0.0, 0.0));
    });
    assert_eq!(position(&simulation.physics, key), vector(3.5, 0.0, 0.0));
    // A teleport drops the target, also one that is reached in this step.
    simulation.advance(MS(17), |physics, step| {
        physics
            .set_kinematic_target(key, at(4.0), step.end_time)
            .unwrap();
        physics.teleport(key, at(7.0)).unwrap();
        physics.body_mut(key).unwrap().set_position(at(8.0), true);
    });
    assert_eq!(position(&simulation.physics, key), vector(8.0, 0.0, 0.0));
}

/// A clamp that changes nothing also stops a body in Rapier.
#[test]
fn a_position_that_is_set_to_the_same_value_in_each_step_loses_no_target() {
    for turns in [false, true] {
        let mut simulation = space(100);
        let key = platform(&mut simulation);
        let end = if turns {
            pose(Vector::ZERO, spin(0.0, 0.0, 1.0))
        } else {
            at(1.0)
        };
        (simulation.physics)
            .set_kinematic_target(key, end, Duration::from_millis(100))
            .unwrap();
        for _ in 0..20 {
            simulation.advance(MS(10), |physics, _| {
                let body = physics.body_mut(key).unwrap();
                let position = *body.position();
                body.set_position(position, true);
            });
        }
        assert_eq!(current_pose(&simulation, key), Some(end));
    }
}

/// Creates a platform with a target that is reached in the present step, which has not run yet.
fn with_target_of_the_present_step() -> (Simulation, BodyKey) {
    let mut simulation = space(60);
    let key = platform(&mut simulation);
    simulation.begin_frame(MS(17));
    let step = simulation.next_step().unwrap();
    (simulation.physics)
        .set_kinematic_target(key, at(1.0), step.end_time)
        .unwrap();
    (simulation, key)
}

/// A target stays if the step in which it would be reached does not run, as all changes do, even in a saved game.
#[test]
fn a_target_of_a_step_that_did_not_run_is_reached_in_the_next() {
    for between in [false, true] {
        let (mut simulation, key) = with_target_of_the_present_step();
        simulation.end_frame();
        let aside = translation(0.0, 7.0, 0.0);
        let body = simulation.physics.body_mut(key).unwrap();
        body.set_position(aside, true);
        if between {
            simulation.advance(Duration::ZERO, |_, _| ());
        }
        simulation.advance(MS(17), |_, _| ());
        assert_eq!(current_pose(&simulation, key), Some(at(1.0)), "{between}");
    }
}

/// A clone that a hook takes, and a state that is saved after a hook has failed, have the target of their step.
#[test]
fn a_target_of_the_present_step_is_in_a_clone_and_in_a_saved_state() {
    let (mut simulation, key) = with_target_of_the_present_step();
    let clone = simulation.physics.clone();
    simulation.end_frame();
    let mut copies = vec![simulation.clone()];
    #[cfg(feature = "serde")]
    copies.push(Simulation::load(&simulation.save().unwrap()).unwrap());
    simulation.physics = clone;
    copies.push(simulation);
    // If the body is disabled, it waits, and is stopped once the time of the target has passed.
    for is_disabled in [false, true] {
        let poses = copies.iter().map(|copy| {
            let mut copy = copy.clone();
            copy.physics
                .body_mut(key)
                .unwrap()
                .set_enabled(!is_disabled);
            advance(&mut copy, 34);
            copy.physics.body_mut(key).unwrap().set_enabled(true);
            advance(&mut copy, 34);
            current_pose(&copy, key).unwrap()
        });
        let expected = at(if is_disabled { 0.0 } else { 1.0 });
        for (index, pose) in poses.enumerate() {
            assert_eq!(pose, expected, "copy {index}, disabled: {is_disabled}");
        }
    }
}

/// The first target is reached in the step, and the one that replaces it later.
#[test]
fn a_later_target_of_the_same_hook_replaces_one_that_the_step_reaches() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    advance(&mut simulation, 20);
    let mut others = Vec::new();
    simulation.advance(MS(10), |physics, step| {
        let long = step.start_time + MS(100);
        physics
            .set_kinematic_target(key, at(5.0), step.end_time)
            .unwrap();
        physics.set_kinematic_target(key, at(1.0), long).unwrap();
        let mut copy = space(100);
        copy.physics = physics.clone();
        advance(&mut copy, 10);
        others = vec![physics.preview(1, |_, _| ()), copy.physics];
    });
    let reached = position(&simulation.physics, key);
    assert!((reached.x - 0.1).abs() < 1e-6, "{reached}");
    for other in &others {
        assert_eq!(position(other, key), reached);
    }
    // The step does not run.
    simulation.begin_frame(MS(10));
    let step = simulation.next_step().unwrap();
    let long = step.start_time + MS(100);
    let physics = &mut simulation.physics;
    physics
        .set_kinematic_target(key, at(5.0), step.end_time)
        .unwrap();
    physics.set_kinematic_target(key, at(2.0), long).unwrap();
    simulation.end_frame();
    for _ in 0..12 {
        advance(&mut simulation, 10);
    }
    assert_eq!(position(&simulation.physics, key).x, 2.0);
}
