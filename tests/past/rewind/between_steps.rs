//! Corrections and rollbacks between two steps of a frame.

use super::*;
use evenstep::rewind::Kept;

/// The game corrects with an equal state, or resimulates the same steps.
#[test]
fn an_equal_state_between_two_steps_causes_no_visual_error() {
    for interval in [1, 8] {
        for again in [false, true] {
            let (mut simulation, key) = flyer_with_states(60);
            simulation.keep(Kept {
                interval,
                ..simulation.kept()
            });
            advance(&mut simulation, 103);
            simulation.begin_frame(MS(30));
            let mut made = 0;
            while simulation.next_step().is_some() {
                simulation.run_step();
                made += 1;
                if made == 1 && again {
                    simulation.resimulate(8, |_, _| ()).unwrap();
                } else if made == 1 {
                    let same = simulation.physics.clone();
                    simulation.correct(same).unwrap();
                }
                assert_eq!(simulation.visual_error(key), None, "{interval} {again}");
            }
            simulation.end_frame();
            assert_near(shown_x(&simulation, key), 12.3);
        }
    }
}

/// The state differs by half a metre.
#[test]
fn a_correction_between_two_steps_of_a_frame_is_displayed_smoothly() {
    let (mut simulation, key) = scenes::flyer_in_space();
    advance(&mut simulation, 103);
    simulation.begin_frame(MS(30));
    simulation.next_step().unwrap();
    simulation.run_step();
    let mut theirs = simulation.clone();
    theirs
        .physics
        .teleport(key, translation(11.5, 0.0, 0.0))
        .unwrap();
    simulation.correct(theirs.physics).unwrap();
    simulation.end_frame();
    // The error was half a metre, and 30 ms have reduced it.
    let error = simulation.visual_error(key).unwrap().translation.x;
    assert!(-0.5 < error && error < -0.44, "{error}");
}

#[test]
fn a_correction_excludes_forces_of_the_pending_step() {
    let (mut simulation, key) = flyer_with_states(60);
    let push = |physics: &mut Physics| physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    push(&mut simulation.physics);
    let theirs = simulation.clone();
    simulation.end_frame();
    simulation.correct(theirs.physics).unwrap();
    simulation.advance(MS(10), |physics, _| push(physics));
    assert_near(simulation.physics.body(key).unwrap().linvel().y, 1.0);
}

/// The loop is in the pull form.
#[test]
fn a_rollback_ends_once_all_steps_are_resimulated() {
    let resimulated = || {
        let (mut simulation, key) = flyer_with_states(60);
        advance(&mut simulation, 100);
        simulation.roll_back(6).unwrap();
        while simulation.steps_to_resimulate() > 0 {
            simulation.next_step().unwrap();
            simulation.run_step();
        }
        (simulation, key)
    };
    let (mut simulation, key) = resimulated();
    simulation.rewind(3).unwrap();
    assert_eq!(true_pose(&simulation, key).translation.x.round(), 2.0);
    let (mut simulation, key) = resimulated();
    let mut theirs = simulation.clone();
    let there = translation(19.0, 0.0, 0.0);
    theirs.physics.teleport(key, there).unwrap();
    simulation.correct(theirs.physics).unwrap();
    assert_eq!(current_pose(&simulation, key), Some(there));
    let (mut simulation, _) = resimulated();
    assert_eq!(simulation.next_step(), None);
    simulation.rewind(3).unwrap();
}

/// The state that the rollback had reached gets the new tick.
#[test]
fn setting_the_tick_abandons_a_rollback() {
    let (mut simulation, key) = flyer_with_states(60);
    advance(&mut simulation, 65);
    simulation.set_tick(1_000);
    simulation.roll_back(4).unwrap();
    simulation.begin_frame(MS(2));
    assert_eq!(simulation.steps_to_resimulate(), 0);
    while simulation.next_step().is_some() {
        simulation.run_step();
    }
    simulation.end_frame();
    assert_eq!(simulation.physics.tick(), 1_000);
    assert_eq!(simulation.visual_error(key), None);
    assert_near(shown_x(&simulation, key), 3.7);
    advance(&mut simulation, 5);
    assert_eq!(simulation.physics.tick(), 1_001);
    assert_near(shown_x(&simulation, key), 4.2);
}

#[test]
fn a_reused_key_displays_the_new_body() {
    let (mut simulation, _) = flyer_with_states(60);
    advance(&mut simulation, 50);
    let late = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 50);
    simulation.rewind(4).unwrap();
    let wall = RigidBodyBuilder::fixed().translation(vector(50.0, 0.0, 0.0));
    let again = simulation.physics.insert(wall, ball());
    assert_eq!(again, late);
    advance(&mut simulation, 3);
    assert_eq!(shown_x(&simulation, again), 50.0);
    assert!(moved_keys(&simulation).contains(&again));
}

#[test]
fn lower_step_limits_after_a_rollback_still_allow_a_step() {
    for stepping in [Stepping::Fixed, Stepping::SemiFixed] {
        let (mut simulation, _) = flyer_with_states(60);
        advance(&mut simulation, 100);
        simulation.resimulate(4, |_, _| ()).unwrap();
        simulation.clock_settings_mut().set_stepping(stepping);
        let limits = [Some(4), Some(1)];
        for most in limits {
            simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(most);
            assert_eq!(
                advance(&mut simulation, 10).steps,
                1,
                "{stepping:?} {most:?}"
            );
            simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(None);
            simulation
                .resimulate(simulation.physics.tick() - 5, |_, _| ())
                .unwrap();
        }
    }
}

/// Packets arrive after the steps of a frame. The body then flies back.
#[test]
fn a_rollback_after_the_steps_of_a_frame_is_displayed_smoothly() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
    ] {
        for corrects in [false, true] {
            let (mut simulation, key) = flyer_with_states(60);
            simulation.smoothing = smoothing;
            simulation.correction = Correction::half_life(Duration::from_secs(1_000_000));
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_linvel(Vector::X * 10.0, true);
            let (mut shown, mut is_done): (Vec<f32>, _) = (Vec::new(), false);
            for frame in 0..60 {
                simulation.begin_frame(MS(4));
                let mut has_run = false;
                while simulation.next_step().is_some() {
                    simulation.run_step();
                    has_run = true;
                }
                let now = simulation.physics.tick();
                if frame >= 30 && has_run && !std::mem::replace(&mut is_done, true) {
                    let fly_back = |physics: &mut Physics| {
                        let body = physics.body_mut(key).unwrap();
                        body.set_linvel(Vector::X * -10.0, true);
                    };
                    simulation.roll_back(now - 2).unwrap();
                    if corrects {
                        let mut theirs = simulation.physics.clone();
                        fly_back(&mut theirs);
                        simulation.correct(theirs).unwrap();
                    }
                    let hook = |physics: &mut Physics, _: Step| fly_back(physics);
                    simulation.resimulate(now - 2, hook).unwrap();
                }
                simulation.end_frame();
                shown.push(shown_x(&simulation, key));
            }
            // The first frames change to the slower flight.
            let moves = shown[10..].windows(2).map(|pair| (pair[1] - pair[0]).abs());
            let most = moves.fold(0.0, f32::max);
            assert!(most < 0.045, "{smoothing:?}, {corrects}: {most}");
        }
    }
}
