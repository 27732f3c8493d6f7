//! Visual errors: displayed motion continues without a jump and reaches the true poses.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn a_corrected_body_moves_without_a_jump_to_its_true_pose() {
    let (mut simulation, key) = corrected(20.0);
    let shown = simulation.pose(key).unwrap();
    assert_near(shown.translation.y, 0.0);
    assert_near(shown.translation.x, 9.4);
    let error = simulation.visual_error(key).unwrap();
    // The error is 40 % of the difference between 0.2 m and 0.4 m, and between 0.04 and 0.08 rad.
    assert_near(error.translation.y, -0.28);
    assert_near(about_z(error.rotation), -0.056);
    // A frame in which no time passes displays the same pose.
    let _frame = advance(&mut simulation, 0);
    assert_same(simulation.pose(key).unwrap(), shown);
    // The error halves in 200 ms, however long the frames are.
    for millis in [0, 50, 1, 140, 9] {
        advance(&mut simulation, millis);
        let error = simulation.visual_error(key).unwrap();
        let truth = true_pose(&simulation, key);
        let off = simulation.pose(key).unwrap().translation - truth.translation;
        assert_near(off.y, error.translation.y);
    }
    let error = simulation.visual_error(key).unwrap();
    assert_near(error.translation.y, -0.14);
    assert_near(about_z(error.rotation), -0.028);
    let mut last = error.translation.length();
    for _ in 0..100 {
        advance(&mut simulation, 33);
        let error = simulation.visual_error(key);
        let off = error.map_or(0.0, |error| error.translation.length());
        assert!(off < last || off == 0.0);
        last = off;
        assert_eq!(moved_keys(&simulation), [key]);
    }
    assert_eq!(simulation.visual_error(key), None);
    assert_eq!(simulation.pose(key), Some(true_pose(&simulation, key)));
}

#[test]
fn visual_errors_do_not_affect_the_physics() {
    let (mut smooth, key) = corrected(20.0);
    let (mut hard, _) = flyer_with_states(50);
    hard.correction = Correction::OFF;
    advance(&mut hard, 104);
    correct(&mut hard, key, 20.0);
    assert_eq!(hard.visual_error(key), None);
    for _ in 0..10 {
        advance(&mut smooth, 7);
        advance(&mut hard, 7);
        assert_eq!(hash(smooth.physics.rapier()), hash(hard.physics.rapier()));
        assert_eq!(hard.pose(key), Some(true_pose(&hard, key)));
        let states = [&smooth, &hard].map(|it| (previous_pose(it, key), current_pose(it, key)));
        assert_eq!(states[0], states[1]);
    }
}

#[test]
fn a_second_correction_continues_from_the_displayed_pose() {
    let (mut simulation, key) = corrected(20.0);
    advance(&mut simulation, 33);
    let shown = simulation.pose(key).unwrap();
    correct(&mut simulation, key, -50.0);
    assert_same(simulation.pose(key).unwrap(), shown);
    advance(&mut simulation, 0);
    assert_same(simulation.pose(key).unwrap(), shown);
}

#[test]
fn errors_beyond_the_limits_or_with_correction_off_are_not_smoothed() {
    let (mut simulation, key) = corrected(200.0);
    assert_eq!(
        simulation.visual_error(key),
        None,
        "2.8 m exceeds the limit of 2 m"
    );
    advance(&mut simulation, 0);
    assert_eq!(simulation.pose(key), Some(true_pose(&simulation, key)));
    let mut own = Correction::default();
    own.rotation.max = 0.01;
    // The angle alone exceeds its limit.
    correct_as(&mut simulation, key, 190.0, Some(own));
    assert_eq!(simulation.physics.body_correction(key), Some(own));
    assert_eq!(simulation.correction, Correction::default());
    let error = simulation.visual_error(key).unwrap();
    assert!(error.translation.length() > 0.1);
    assert_eq!(error.rotation, Rotation::IDENTITY);
    // The distance exceeds its limit: the body is moved and turned at once.
    own.position.max = 0.01;
    own.rotation.max = 2.0;
    correct_as(&mut simulation, key, 180.0, Some(own));
    assert_eq!(simulation.visual_error(key), None);
    correct(&mut simulation, key, 170.0);
    assert!(simulation.visual_error(key).is_some());
    let off = Some(Correction::OFF);
    simulation.physics.set_body_correction(key, off).unwrap();
    advance(&mut simulation, 0);
    assert_eq!(
        simulation.visual_error(key),
        None,
        "the error ends in the next frame"
    );
    assert_eq!(simulation.pose(key), Some(true_pose(&simulation, key)));
    correct_as(&mut simulation, key, 160.0, off);
    assert_eq!(simulation.visual_error(key), None);
    simulation.physics.remove(key).unwrap();
    assert_eq!(simulation.visual_error(key), None);
    assert_eq!(simulation.physics.body_correction(key), None);
    simulation
        .physics
        .set_body_correction(key, off)
        .unwrap_err();
}

#[test]
fn a_visual_error_below_the_minimum_becomes_zero() {
    let (mut simulation, key) = flyer_with_states(50);
    let mut correction = Correction::default();
    correction.position.min = 0.2;
    simulation.correction = correction;
    advance(&mut simulation, 104);
    correct(&mut simulation, key, 14.0); // off by 0.196 m
    let error = simulation.visual_error(key).unwrap();
    assert_eq!(error.translation, Vector::ZERO);
    assert!(about_z(error.rotation) < -0.03);
    let (mut simulation, key) = corrected(20.0); // off by 0.28 m
    simulation.correction = correction;
    for (millis, is_off) in [(90, true), (20, false)] {
        advance(&mut simulation, millis);
        let error = simulation.visual_error(key).unwrap();
        assert_eq!(error.translation != Vector::ZERO, is_off);
    }
}

#[test]
fn a_visual_error_without_a_minimum_ends() {
    let (mut simulation, key) = corrected(20.0);
    simulation.correction.position.min = 0.0;
    simulation.correction.rotation.min = 0.0;
    assert!(simulation.visual_error(key).is_some());
    // After 20 half-lives, the error is small. After 220, a normal `f32` is larger.
    for (seconds, is_off) in [(4, true), (40, false)] {
        for _ in 0..60 * seconds {
            advance(&mut simulation, 16);
        }
        assert_eq!(simulation.visual_error(key).is_some(), is_off, "{seconds}");
    }
}

#[test]
fn a_visual_error_decays_in_real_time_except_during_pauses() {
    let (mut simulation, key) = corrected(20.0);
    let before = simulation.visual_error(key);
    advance(&mut simulation, 0);
    let shown = simulation.pose(key).unwrap();
    let stop: fn(&mut Simulation) = |simulation| simulation.pause();
    for stop in [stop, |simulation| {
        simulation.clock_settings_mut().set_speed(0.0).unwrap()
    }] {
        stop(&mut simulation);
        for _ in 0..3 {
            advance(&mut simulation, 100);
            assert_eq!(simulation.visual_error(key), before);
            assert_eq!(simulation.pose(key), Some(shown));
        }
        simulation.resume();
    }
    simulation.clock_settings_mut().set_speed(0.001).unwrap();
    advance(&mut simulation, 200);
    assert_near(simulation.visual_error(key).unwrap().translation.y, -0.14);
}

#[test]
fn a_teleport_ends_a_visual_error_and_a_portal_transforms_it() {
    for is_part in [false, true] {
        let (mut simulation, key) = corrected(20.0);
        let there = translation(50.0, 0.0, 0.0);
        if is_part {
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_translation(there.translation, true);
            advance(&mut simulation, 0);
            assert_near(simulation.pose(key).unwrap().translation.x, 50.0);
        } else {
            simulation.physics.teleport(key, there).unwrap();
            assert!(
                simulation.visual_error(key).is_some(),
                "the error lasts until the next frame"
            );
            advance(&mut simulation, 0);
            assert_eq!(simulation.pose(key), Some(there));
        }
        assert_eq!(simulation.visual_error(key), None);
    }
    let (mut simulation, key) = corrected(20.0);
    let shown = simulation.pose(key).unwrap();
    let by = pose(vector(5.0, 6.0, 7.0), spin(0.4, -0.3, 1.0));
    simulation.physics.teleport_by(key, by).unwrap();
    assert_eq!(simulation.pose(key), Some(shown));
    advance(&mut simulation, 0);
    assert_same(simulation.pose(key).unwrap(), by * shown);
    simulation.physics.shift_origin(Vector::X * 3.0).unwrap();
    let frame = advance(&mut simulation, 0);
    assert_eq!(frame.origin_shift, Vector::X * 3.0);
    let shifted = translation(-3.0, 0.0, 0.0) * by * shown;
    assert_same(simulation.pose(key).unwrap(), shifted);
}

#[test]
fn a_resting_body_is_listed_until_its_visual_error_ends() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        ticks: 50,
        bytes: ALL,
        ..simulation.kept()
    });
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    for _ in 0..15 {
        advance(&mut simulation, 200);
    }
    assert_eq!(
        (simulation.frame().awake, simulation.frame().movers),
        (0, 0)
    );
    let tick = simulation.physics.tick();
    simulation
        .resimulate(tick - 3, |physics, step| {
            if step.tick == tick - 3 {
                let there = translation(0.5, 0.0, 0.0);
                physics.teleport(key, there).unwrap();
                physics.body_mut(key).unwrap().sleep();
            }
        })
        .unwrap();
    advance(&mut simulation, 0);
    assert_near(shown_x(&simulation, key), 0.0);
    let mut frames = 0;
    while simulation.visual_error(key).is_some() {
        advance(&mut simulation, 100);
        frames += 1;
        assert!(frames < 100);
        assert_eq!(moved_keys(&simulation), [key]);
    }
    assert!(frames > 20);
    assert_eq!(shown_x(&simulation, key), 0.5);
    advance(&mut simulation, 100);
    advance(&mut simulation, 100);
    assert_eq!(simulation.frame().movers, 0);
    let mut frame = simulation.frame();
    frame.number -= 3;
    assert_eq!(simulation.changes_since(&frame).unwrap().moved.len(), 1);
}

#[test]
fn bodies_added_or_removed_by_a_correction_are_listed_in_the_next_frame() {
    let (mut simulation, key) = flyer_with_states(50);
    let guest = std::cell::Cell::new(None);
    let insert = |physics: &mut Physics, step: Step| {
        if step.tick == 4 {
            guest.set(Some(physics.insert(flyer(), ball())));
        }
    };
    simulation.advance(MS(104), insert);
    let first = guest.get().unwrap();
    assert!(moved_keys(&simulation).contains(&first));
    // In the corrected run the guest was never inserted, and the body that was there from the start is removed.
    simulation
        .resimulate(2, |physics, step| {
            if step.tick == 6 {
                physics.remove(key).unwrap();
            }
        })
        .unwrap();
    let listed = [first, key].map(|key| simulation.pose(key).is_some());
    assert_eq!(
        listed,
        [true, true],
        "displayed poses are those of the last frame"
    );
    advance(&mut simulation, 0);
    assert_eq!((simulation.pose(first), simulation.pose(key)), (None, None));
    let mut removed = simulation.removed().to_vec();
    removed.sort_unstable();
    assert_eq!(removed, [key, first]);
    assert_eq!(simulation.moved(), []);
    // Another rollback brings both back.
    simulation.resimulate(1, insert).unwrap();
    assert_eq!(guest.get(), Some(first), "the same steps give the same key");
    advance(&mut simulation, 0);
    let mut moved = moved_keys(&simulation);
    moved.sort_unstable();
    assert_eq!(moved, [key, first]);
    assert_eq!(simulation.removed(), []);
    assert_eq!(simulation.visual_error(first), None);
    assert_near(shown_x(&simulation, first), 5.4);
    let mut first_frame = simulation.frame();
    first_frame.number = 1;
    let removed = simulation.changes_since(&first_frame).unwrap().removed;
    assert_eq!(removed.len(), 0, "both are alive");
}

#[test]
fn resimulation_gives_a_removed_body_no_pose_or_visual_error() {
    let (mut simulation, key) = corrected(20.0);
    assert!(simulation.visual_error(key).is_some());
    let tick = simulation.physics.tick();
    let remove = |physics: &mut Physics, step: Step| {
        if step.tick == tick {
            physics.apply_impulse(key, Vector::Y).unwrap();
            physics.remove(key).unwrap();
        }
    };
    simulation.advance(MS(20), remove);
    assert_eq!(simulation.removed(), [key]);
    simulation.resimulate(tick - 3, remove).unwrap();
    advance(&mut simulation, 20);
    assert_eq!(
        (simulation.pose(key), simulation.visual_error(key)),
        (None, None)
    );
    assert_eq!(
        (simulation.moved(), simulation.removed()),
        (&[][..], &[][..])
    );
}

#[test]
fn a_teleport_that_a_rollback_takes_back_before_a_frame_is_not_displayed() {
    let (mut simulation, key) = flyer_with_states(50);
    advance(&mut simulation, 103);
    let before = simulation.pose(key).unwrap();
    let there = translation(9.3, 1.5, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    simulation.resimulate(7, |_, _| ()).unwrap();
    advance(&mut simulation, 0);
    assert_same(simulation.pose(key).unwrap(), before);
    assert_eq!(simulation.visual_error(key), None);
    // The same teleport, which is repeated, is displayed at once.
    let teleport = |physics: &mut Physics| physics.teleport(key, there).unwrap();
    teleport(&mut simulation.physics);
    let last = simulation.physics.tick() - 1;
    simulation
        .resimulate(last, |physics, _| teleport(physics))
        .unwrap();
    advance(&mut simulation, 0);
    assert_eq!(simulation.visual_error(key), None);
}

/// Creates a flyer in a simulation that keeps all states of these tests.
fn keeping_flyer() -> (Simulation, BodyKey) {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks: 60,
        ..Kept::default()
    });
    (simulation, key)
}

#[test]
fn a_corrected_rollback_keeps_the_smoothing_that_was_set_between_frames() {
    let (mut simulation, key) = keeping_flyer();
    simulation.advance(MS(100), |_, _| ());
    let mut server = simulation.clone();
    server.advance(MS(30), |_, _| ());
    simulation.advance(MS(100), |_, _| ());
    let latest = Some(Smoothing::Latest);
    simulation.physics.set_body_smoothing(key, latest).unwrap();
    let tick = server.physics.tick();
    simulation.roll_back(tick).unwrap();
    simulation.correct(server.physics).unwrap();
    simulation.resimulate(tick, |_, _| ()).unwrap();
    assert_eq!(simulation.physics.body_smoothing(key), latest);
}

#[test]
fn a_correction_in_a_rollback_keeps_smoothing_of_a_body_that_a_later_step_had_removed() {
    let (mut client, body) = keeping_flyer();
    let mut server = client.clone();
    let latest = Some(Smoothing::Latest);
    client.physics.set_body_smoothing(body, latest).unwrap();
    server.advance(MS(30), |_, _| ());
    client.advance(MS(60), |physics, step| {
        if step.tick == 4 {
            physics.remove(body);
        }
    });
    client.roll_back(3).unwrap();
    client.correct(server.physics).unwrap();
    client.resimulate(3, |_, _| ()).unwrap();
    assert_eq!(client.physics.body_smoothing(body), latest);
}

/// The settings are stored by slot, and the later body's are kept.
#[test]
fn a_correction_in_a_rollback_in_which_another_body_has_the_slot_keeps_its_smoothing() {
    let (mut client, old) = keeping_flyer();
    client.advance(MS(60), |_, _| ());
    let latest = Some(Smoothing::Latest);
    client.physics.set_body_smoothing(old, latest).unwrap();
    client.roll_back(3).unwrap();
    client.next_step().unwrap();
    client.physics.remove(old).unwrap();
    let new = client.physics.insert_body(RigidBodyBuilder::dynamic());
    let extrapolated = Some(Smoothing::Extrapolate);
    client
        .physics
        .set_body_smoothing(new, extrapolated)
        .unwrap();
    client.run_step();
    let state = client.physics.clone();
    client.correct(state).unwrap();
    client.resimulate(client.physics.tick(), |_, _| ()).unwrap();
    assert_eq!(client.physics.body_smoothing(new), extrapolated);
}

#[test]
fn a_correction_in_a_rollback_keeps_smoothing_that_a_resimulated_step_has_set() {
    let (mut client, body) = keeping_flyer();
    let mut server = client.clone();
    client.advance(MS(60), |_, _| ());
    client.roll_back(0).unwrap();
    let step = client.next_step().unwrap();
    let extrapolated = Some(Smoothing::Extrapolate);
    client
        .physics
        .set_body_smoothing(body, extrapolated)
        .unwrap();
    assert!(client.run_step());
    server.advance(MS(10), |_, _| ());
    assert_eq!(server.physics.tick(), step.tick + 1);
    client.correct(server.physics).unwrap();
    assert_eq!(client.physics.body_smoothing(body), extrapolated);
}

/// Five frames end before the present is reached.
#[test]
fn a_rollback_over_several_frames_is_corrected_as_smoothly_as_in_one() {
    let shown = |held: u32| {
        let mut simulation = space(100);
        simulation.correction = Correction::linear(MS(100));
        simulation.keep(Kept {
            ticks: 50,
            ..Kept::default()
        });
        let key = (simulation.physics).insert(RigidBodyBuilder::dynamic(), ball());
        for _ in 0..10 {
            advance(&mut simulation, 10);
        }
        simulation.roll_back(5).unwrap();
        for _ in 0..held {
            simulation.begin_frame(MS(20));
            simulation.end_frame();
        }
        while simulation.steps_to_resimulate() > 0 {
            let step = simulation.next_step().unwrap();
            // The body moves by a metre.
            let velocity = if step.tick == 6 { 100.0 } else { 0.0 };
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_linvel(Vector::X * velocity, true);
            simulation.run_step();
        }
        simulation.advance(MS(10), |_, _| ());
        shown_x(&simulation, key)
    };
    assert!((shown(0) - 0.1).abs() < 0.01, "{}", shown(0));
    assert_near(shown(5), shown(0));
}
