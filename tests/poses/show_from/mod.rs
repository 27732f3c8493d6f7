//! `show_from`: a picture that begins at another pose, and decays to the body's own.

mod loops;
mod states;
mod throw;

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyError, BodyKey, Correction, Physics, Simulation, Smoothing};
use scenes::testing::{angle_between, ball_joint, pose, spin, translation, vector};
use scenes::{MS, advance, ball, space};

/// A pose far from all bodies, turned by less than a quarter.
fn hand() -> Pose {
    pose(vector(1.0, 7.0, 0.0), spin(0.0, 0.0, 0.6))
}

/// Creates free space at 100 Hz, where errors end after 100 ms, with a body that flies at 10 m/s.
fn flight() -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    simulation.correction = Correction::linear(MS(100));
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(fly, ball());
    advance(&mut simulation, 55);
    (simulation, key)
}

/// Returns the distance and the angle between two poses.
fn between(one: Pose, other: Pose) -> (f32, f32) {
    let off = (one.translation - other.translation).length();
    (off, angle_between(one.rotation, other.rotation))
}

#[track_caller]
fn assert_at(simulation: &Simulation, key: BodyKey, expected: Pose) {
    let shown = simulation.pose(key).unwrap();
    let (off, angle) = between(shown, expected);
    assert!(
        off < 2e-5 && angle < 1e-5,
        "at {shown:?}, not at {expected:?}"
    );
}

/// Returns the pose at which the body would be displayed without an error.
fn own(simulation: &Simulation, key: BodyKey) -> Pose {
    let frame = simulation.frame();
    simulation.pose_at(key, frame.tick, frame.alpha).unwrap()
}

#[test]
fn the_picture_begins_at_the_pose_and_ends_at_the_body() {
    for smoothing in [Smoothing::Interpolate, Smoothing::Hermite] {
        let (mut simulation, key) = flight();
        simulation.smoothing = smoothing;
        simulation.physics.show_from(key, hand()).unwrap();
        for ms in [0_u16, 4, 4, 4, 4, 4, 30, 30, 20, 1, 1] {
            advance(&mut simulation, ms.into());
            let passed = simulation.clock().real_time() - MS(55);
            let left = 1.0 - passed.as_secs_f32().min(0.1) / 0.1;
            let (own, shown) = (own(&simulation, key), simulation.pose(key).unwrap());
            let (off, angle) = between(shown, own);
            if ms == 0 {
                assert_at(&simulation, key, hand());
            }
            assert!((angle - 0.6 * left).abs() < 1e-4, "{angle} at {passed:?}");
            assert!(left > 0.0 || off == 0.0, "{off} m at {passed:?}");
        }
        assert_eq!(simulation.visual_error(key), None);
    }
}

#[test]
fn bodies_at_rest_are_listed_until_the_error_has_decayed() {
    let kinds = [
        RigidBodyBuilder::fixed(),
        RigidBodyBuilder::dynamic().sleeping(true),
        RigidBodyBuilder::kinematic_position_based(),
    ];
    for body in kinds {
        let mut simulation = space(100);
        simulation.correction = Correction::linear(MS(100));
        let key = simulation.physics.insert(body, ball());
        let other = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        for _ in 0..100 {
            advance(&mut simulation, 10);
        }
        assert!(simulation.moved().is_empty());
        let bits = simulation.physics.clone();
        simulation
            .physics
            .show_from(key, translation(0.0, 1.0, 0.0))
            .unwrap();
        for left in [1.0, 0.8, 0.6, 0.4, 0.2, 0.0] {
            advance(&mut simulation, 20);
            let shown = simulation.pose(key).unwrap();
            assert!((shown.translation.y - left).abs() < 1e-5, "{shown:?}");
            assert_eq!(simulation.moved(), [(key, shown)]);
        }
        assert_eq!(simulation.pose(key), Some(Pose::IDENTITY));
        advance(&mut simulation, 20);
        assert!(simulation.moved().is_empty());
        assert_eq!(simulation.pose(other), Some(Pose::IDENTITY));
        let place = |physics: &Physics| *physics.body(key).unwrap().position();
        assert_eq!(place(&simulation.physics), place(&bits));
    }
}

#[test]
fn a_new_body_begins_at_the_pose_in_its_first_frame() {
    let (mut simulation, _) = flight();
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    for (body, ms) in [(fly, 20), (RigidBodyBuilder::fixed(), 1)] {
        let key = simulation.physics.insert(body, ball());
        simulation.physics.show_from(key, hand()).unwrap();
        advance(&mut simulation, ms);
        assert_at(&simulation, key, hand());
        assert!(simulation.moved().iter().any(|(moved, _)| *moved == key));
    }
}

#[test]
fn the_call_comes_after_the_edits_of_its_body() {
    let (mut simulation, key) = flight();
    let there = translation(3.0, 3.0, 0.0);
    for edit in 0..3 {
        let physics = &mut simulation.physics;
        let handle = physics.handle(key).unwrap();
        match edit {
            0 => physics.body_mut(key).unwrap().set_position(there, true),
            1 => physics.teleport(key, there).unwrap(),
            _ => physics.rapier_mut().bodies[handle].set_position(there, true),
        }
        physics.show_from(key, hand()).unwrap();
        advance(&mut simulation, 0);
        assert_at(&simulation, key, hand());
        advance(&mut simulation, 50);
        assert!(simulation.visual_error(key).unwrap().translation.y > 1.9);
        advance(&mut simulation, 200);
    }
}

#[test]
fn a_later_teleport_cancels_the_call() {
    let (mut simulation, key) = flight();
    let there = translation(3.0, 3.0, 0.0);
    for edit in 0..2 {
        let physics = &mut simulation.physics;
        physics.show_from(key, hand()).unwrap();
        match edit {
            0 => physics.body_mut(key).unwrap().set_position(there, true),
            _ => physics.teleport(key, there).unwrap(),
        }
        advance(&mut simulation, 0);
        assert_eq!(simulation.pose(key), Some(there));
        advance(&mut simulation, 30);
    }
}

/// The picture depends neither on the frames in which the steps run nor on what is kept.
#[test]
fn a_position_set_through_rapier_cancels_the_call_in_any_step_of_a_frame() {
    let there = Vector::Y * 9.0;
    for is_asleep in [false, true] {
        for (frames, kept) in [(&[10, 10, 10][..], 0), (&[30], 0), (&[30], 9)] {
            let mut simulation = space(100);
            simulation.correction = Correction::linear(MS(1_000));
            simulation.keep(Kept {
                ticks: kept,
                ..Kept::default()
            });
            let body = RigidBodyBuilder::dynamic().sleeping(is_asleep);
            let key = simulation.physics.insert(body, ball());
            let mut hook = |physics: &mut Physics, step: evenstep::Step| match step.tick {
                0 => physics.show_from(key, hand()).unwrap(),
                1 => physics.body_mut(key).unwrap().set_translation(there, false),
                _ => (),
            };
            for ms in frames {
                simulation.advance(MS(*ms), &mut hook);
            }
            assert_eq!(simulation.visual_error(key), None);
            assert_eq!(simulation.pose(key), Some(Pose::from_translation(there)));
        }
    }
}

#[test]
fn a_later_portal_or_shift_moves_the_pose() {
    let (mut simulation, key) = flight();
    let by = pose(vector(4.0, -2.0, 0.0), spin(0.0, 0.0, 1.0));
    let physics = &mut simulation.physics;
    physics.show_from(key, hand()).unwrap();
    physics.shift_origin(vector(100.0, 50.0, 0.0)).unwrap();
    physics.teleport_by(key, by).unwrap();
    physics.shift_origin(vector(0.0, 1.0, 0.0)).unwrap();
    let expected = hand().append_translation(vector(-100.0, -50.0, 0.0));
    let expected = (by * expected).append_translation(vector(0.0, -1.0, 0.0));
    advance(&mut simulation, 0);
    assert_at(&simulation, key, expected);
    // The error turns with the body.
    let error = simulation.visual_error(key).unwrap();
    simulation.physics.teleport_by(key, by).unwrap();
    advance(&mut simulation, 0);
    let turned = simulation.visual_error(key).unwrap().translation;
    assert!((turned - by.rotation * error.translation).length() < 1e-4);
}

#[test]
fn the_call_replaces_the_error_and_has_no_maximum() {
    let (mut simulation, key) = flight();
    let far = translation(0.0, 500.0, 0.0);
    for pose in [hand(), far, hand()] {
        simulation.physics.show_from(key, pose).unwrap();
        advance(&mut simulation, 5);
        assert_at(&simulation, key, pose);
    }
    // The last call before a frame counts.
    simulation.physics.show_from(key, far).unwrap();
    simulation.physics.show_from(key, hand()).unwrap();
    advance(&mut simulation, 5);
    assert_at(&simulation, key, hand());
    simulation.physics.show_from(key, far).unwrap();
    for y in [500.0, 400.0, 300.0] {
        advance(&mut simulation, 20);
        assert!((simulation.pose(key).unwrap().translation.y - y).abs() < 0.01);
    }
}

#[test]
fn the_error_decays_in_real_time_and_stops_in_a_pause() {
    let (mut simulation, key) = flight();
    simulation.clock_settings_mut().set_speed(0.1).unwrap();
    simulation.physics.show_from(key, hand()).unwrap();
    advance(&mut simulation, 0);
    let y = |simulation: &Simulation| simulation.pose(key).unwrap().translation.y;
    advance(&mut simulation, 50);
    assert!((y(&simulation) - 3.5).abs() < 1e-4);
    simulation.pause();
    let before = simulation.pose(key);
    for _ in 0..3 {
        advance(&mut simulation, 50);
        assert_eq!(simulation.pose(key), before);
    }
    // A call during a pause is displayed at once.
    simulation.physics.show_from(key, hand()).unwrap();
    for _ in 0..3 {
        advance(&mut simulation, 50);
        assert_at(&simulation, key, hand());
    }
    simulation.resume();
    advance(&mut simulation, 100);
    assert_eq!(y(&simulation), 0.0);
}

#[test]
fn without_correction_the_call_has_no_effect() {
    let (mut simulation, key) = flight();
    simulation.correction = Correction::OFF;
    simulation.physics.show_from(key, hand()).unwrap();
    advance(&mut simulation, 4);
    assert_eq!(simulation.pose(key).unwrap().translation.y, 0.0);
    // A body has its own correction.
    let own = Some(Correction::default());
    simulation.physics.set_body_correction(key, own).unwrap();
    simulation.physics.show_from(key, hand()).unwrap();
    advance(&mut simulation, 4);
    assert_at(&simulation, key, hand());
}

#[test]
fn an_invalid_call_is_an_error_and_a_removed_body_is_ignored() {
    let (mut simulation, key) = flight();
    let physics = &mut simulation.physics;
    let nan = translation(f32::NAN, 0.0, 0.0);
    assert_eq!(physics.show_from(key, nan), Err(BodyError::NotFinite(key)));
    physics.show_from(key, hand()).unwrap();
    physics.remove(key).unwrap();
    assert_eq!(physics.show_from(key, hand()), Err(BodyError::Gone(key)));
    advance(&mut simulation, 20);
    assert_eq!(simulation.removed(), [key]);
    assert_eq!(simulation.visual_error(key), None);
    // A body that was removed in the same reaction to a step.
    let new = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    simulation.advance(MS(20), |physics, step| {
        if step.is_last {
            physics.show_from(new, hand()).unwrap();
            physics.remove(new);
        }
    });
    assert_eq!(
        (simulation.pose(new), simulation.visual_error(new)),
        (None, None)
    );
}

#[test]
fn joints_and_multibodies_do_not_move_with_a_displayed_body() {
    for is_multibody in [false, true] {
        let mut simulation = space(100);
        simulation.correction = Correction::linear(MS(100));
        let fly = |y| {
            let at = translation(0.0, y, 0.0);
            RigidBodyBuilder::dynamic().pose(at).linvel(Vector::X)
        };
        let keys = [0.0, -2.0].map(|y| simulation.physics.insert(fly(y), ball()));
        let [root, link] = keys.map(|key| simulation.physics.handle(key).unwrap());
        let joint = ball_joint(Vector::NEG_Y, Vector::Y);
        let rapier = simulation.physics.rapier_mut_for(&keys);
        if is_multibody {
            rapier.insert_multibody_joint(root, link, joint);
        } else {
            rapier.insert_impulse_joint(root, link, joint);
        }
        advance(&mut simulation, 55);
        let twin = simulation.clone();
        simulation.physics.show_from(keys[1], hand()).unwrap();
        advance(&mut simulation, 0);
        assert_at(&simulation, keys[1], hand());
        let mut twin = twin;
        for frame in 0..20 {
            for simulation in [&mut simulation, &mut twin] {
                advance(simulation, 7);
            }
            assert_eq!(simulation.pose(keys[0]), twin.pose(keys[0]));
            assert!(frame < 15 || simulation.pose(keys[1]) == twin.pose(keys[1]));
        }
        #[cfg(feature = "checksum")]
        assert_eq!(simulation.physics.checksum(), twin.physics.checksum());
    }
}
