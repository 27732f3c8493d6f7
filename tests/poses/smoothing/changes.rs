//! Changes of the smoothing, bodies that are spawned in motion, attachments.

use super::*;

#[test]
fn another_displayed_time_acts_at_once_and_another_curve_with_the_next_step() {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    for (from, to) in [
        (Interpolate, Hermite),
        (Hermite, Interpolate),
        (Interpolate, Extrapolate),
        (Extrapolate, Latest),
        (Latest, Hermite),
    ] {
        for one in [false, true] {
            let mut simulation = space(10);
            simulation.smoothing = from;
            simulation.correction = Correction::OFF;
            let key = thrown_hammer(&mut simulation);
            advance(&mut simulation, 240);
            let current = current_pose(&simulation, key);
            let shown = simulation.pose(key);
            if one {
                simulation
                    .physics
                    .set_body_smoothing(key, Some(to))
                    .unwrap();
            } else {
                simulation.smoothing = to;
                assert_eq!(simulation.smoothing, to);
            }
            advance(&mut simulation, 0);
            assert_eq!(current_pose(&simulation, key), current);
            let frame = simulation.frame();
            let pose_at = simulation.pose_at(key, frame.tick, frame.alpha);
            assert_eq!(pose_at, simulation.pose(key), "{from:?} to {to:?}");
            // Poses are then the same as if the smoothing had always been set.
            let mut other = space(10);
            other.smoothing = to;
            let twin = thrown_hammer(&mut other);
            advance(&mut other, 240);
            let is_between = |it| matches!(it, Interpolate | Hermite);
            let expected = if is_between(from) && is_between(to) {
                shown
            } else {
                other.pose(twin)
            };
            assert_eq!(simulation.pose(key), expected, "{from:?} to {to:?}");
            advance(&mut simulation, 90);
            advance(&mut other, 90);
            assert_eq!(simulation.pose(key), other.pose(twin), "{from:?} to {to:?}");
        }
    }
}

#[test]
fn without_correction_a_change_of_smoothing_skips_only_the_difference_in_latency() {
    use Smoothing::{Extrapolate, Hermite, Interpolate};
    // At 10 m/s a step is 0.1 m and a frame 0.04 m. `skipped` is the distance skipped in addition, in any frame.
    for (from, to, skipped) in [
        (Interpolate, Hermite, 0.0),
        (Hermite, Interpolate, 0.0),
        (Interpolate, Extrapolate, 0.1),
        (Extrapolate, Interpolate, -0.1),
    ] {
        let mut simulation = space(100);
        simulation.smoothing = from;
        simulation.correction = Correction::OFF;
        let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
        let key = simulation.physics.insert(fly, ball());
        advance(&mut simulation, 101);
        simulation.smoothing = to;
        let mut last = shown_x(&simulation, key);
        let mut sum = 0.0;
        for _ in 0..20 {
            advance(&mut simulation, 4);
            let off = shown_x(&simulation, key) - last - 0.04;
            assert!(off.abs() < 1e-4 || (off - skipped).abs() < 1e-4, "{off} m");
            sum += off;
            last = shown_x(&simulation, key);
        }
        assert!((sum - skipped).abs() < 1e-3, "{from:?} to {to:?}: {sum} m");
    }
}

#[test]
fn the_smoothing_of_one_body_does_not_affect_others() {
    let mut simulation = space(10);
    simulation.smoothing = Smoothing::Latest;
    simulation.correction = Correction::OFF;
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let [one, other] = [(); 2].map(|()| simulation.physics.insert(fly(), ball()));
    let smoothing = Some(Smoothing::Extrapolate);
    simulation
        .physics
        .set_body_smoothing(one, smoothing)
        .unwrap();
    advance(&mut simulation, 250);
    assert!((shown_x(&simulation, one) - 2.5).abs() < 1e-5);
    assert!((shown_x(&simulation, other) - 2.0).abs() < 1e-5);
    // The setting is kept while the body sleeps.
    for key in [one, other] {
        simulation.physics.body_mut(key).unwrap().sleep();
    }
    for _ in 0..5 {
        advance(&mut simulation, 100);
    }
    assert_eq!(simulation.frame().movers, 0);
    for key in [one, other] {
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_linvel(Vector::X, true);
    }
    advance(&mut simulation, 130);
    simulation.physics.set_body_smoothing(one, None).unwrap();
    advance(&mut simulation, 100);
    assert_eq!(simulation.pose(one), current_pose(&simulation, one));
    simulation.physics.remove(one);
    assert_eq!(
        simulation.physics.set_body_smoothing(one, None),
        Err(BodyError::Gone(one))
    );
}

#[test]
fn a_camera_attached_to_a_body_moves_evenly() {
    // 60 Hz and 144 frames per second at 12 m/s: 83.3 mm in each frame.
    let mut simulation = space(60);
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 12.0);
    let key = simulation.physics.insert(fly, ball());
    let seat = vector(-0.3, 1.2, 0.0);
    let mut last = f64::from((simulation.pose(key).unwrap() * seat).x);
    let frame_time = Duration::from_secs(1) / 144;
    for frame in 0..720 {
        simulation.advance(frame_time, |_, _| ());
        let now = f64::from((simulation.pose(key).unwrap() * seat).x);
        if frame > 4 {
            let off = (now - last) - 12.0 * frame_time.as_secs_f64();
            // Rapier adds up the steps in f32. The tolerance is one spacing of f32 at this distance for each state.
            let spacing = now.abs().max(1.0) * f64::from(f32::EPSILON);
            assert!(off.abs() <= 2.0 * spacing, "{off} m in frame {frame}");
        }
        last = now;
    }
    assert!(last > 50.0);
}
