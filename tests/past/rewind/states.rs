//! Rewinds, and corrections with states from other simulations.

use super::*;
use evenstep::rewind::Kept;

/// Earlier shifts of the other state's origin do not affect the past of this simulation.
#[test]
fn no_rollback_goes_back_to_before_a_correction() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    let mut theirs = simulation.clone();
    theirs.physics.shift_origin(Vector::X * 100.0).unwrap();
    simulation.correct(theirs.physics).unwrap();
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 5..7);
    let kept = 5..7;
    let error = simulation.resimulate(4, |_, _| ()).unwrap_err();
    assert_eq!(error, RewindError::NotKept { tick: 4, kept });
    simulation.resimulate(5, |_, _| ()).unwrap();
    let x = current_pose(&simulation, key).unwrap().translation.x;
    assert!((x + 93.0).abs() < 1e-3, "{x}");
}

#[test]
fn rollbacks_and_rewinds_leave_settings_unchanged() {
    let (mut simulation, _) = flyer_with_states(50);
    let correction = Correction::OFF;
    advance(&mut simulation, 50);
    simulation.smoothing = Smoothing::Extrapolate;
    simulation.correction = correction;
    simulation.clock_settings_mut().set_speed(0.25).unwrap();
    advance(&mut simulation, 50);
    let check = |simulation: &Simulation| {
        assert_eq!(simulation.smoothing, Smoothing::Extrapolate);
        assert_eq!(simulation.correction, correction);
        assert_eq!(simulation.clock().settings().speed(), 0.25);
    };
    simulation.resimulate(2, |_, _| ()).unwrap();
    check(&simulation);
    simulation.rewind(3).unwrap();
    check(&simulation);
}

/// A body's smoothing and correction belong to the body and are part of the state.
#[test]
fn rollbacks_and_rewinds_restore_the_settings_of_a_body() {
    let (mut simulation, key) = flyer_with_states(50);
    let set = |physics: &mut Physics, smoothing| {
        let off = Some(Correction::OFF);
        physics.set_body_smoothing(key, Some(smoothing)).unwrap();
        physics.set_body_correction(key, off).unwrap();
    };
    let seen = |simulation: &Simulation| {
        let physics = &simulation.physics;
        let is_off = physics.body_correction(key) == Some(Correction::OFF);
        (physics.body_smoothing(key), is_off)
    };
    advance(&mut simulation, 50);
    set(&mut simulation.physics, Smoothing::Latest);
    advance(&mut simulation, 50);
    // The state of that tick has the settings, and earlier states do not.
    simulation.resimulate(5, |_, _| ()).unwrap();
    assert_eq!(seen(&simulation), (Some(Smoothing::Latest), true));
    simulation.resimulate(4, |_, _| ()).unwrap();
    assert_eq!(seen(&simulation), (None, false));
    simulation
        .resimulate(2, |physics, step| {
            if step.tick == 3 {
                set(physics, Smoothing::Hermite);
            }
        })
        .unwrap();
    assert_eq!(seen(&simulation), (Some(Smoothing::Hermite), true));
    simulation.rewind(3).unwrap();
    assert_eq!(seen(&simulation), (None, false));
    simulation.rewind(4).unwrap();
    assert_eq!(seen(&simulation), (Some(Smoothing::Hermite), true));
}

/// A rewind restores a body whose slot a later body has reused.
#[test]
fn a_restored_body_accepts_settings_although_its_slot_was_reused() {
    let (mut simulation, old) = flyer_with_states(50);
    advance(&mut simulation, 50);
    simulation.physics.remove(old);
    let new = simulation.physics.insert(flyer(), ball());
    let off = Some(Correction::OFF);
    simulation.physics.set_body_correction(new, off).unwrap();
    advance(&mut simulation, 50);
    simulation.rewind(3).unwrap();
    assert_eq!(simulation.physics.body_correction(old), None);
    simulation.physics.set_body_correction(old, off).unwrap();
    simulation
        .physics
        .set_body_smoothing(old, Some(Smoothing::Latest))
        .unwrap();
    assert_eq!(simulation.physics.body_correction(old), off);
    assert_eq!(
        simulation.physics.body_smoothing(old),
        Some(Smoothing::Latest)
    );
}

#[test]
fn rewinds_go_back_and_forward_until_the_next_step() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 105);
    simulation.pause();
    let mut hashes = Vec::new();
    for tick in (3..10).rev() {
        simulation.rewind(tick).unwrap();
        let frame = advance(&mut simulation, 16);
        assert_eq!((frame.tick, frame.steps), (tick, 0));
        assert_near(shown_x(&simulation, key), tick as f32 - 0.5);
        assert_eq!(simulation.moved().len(), 1);
        assert_eq!(
            simulation.visual_error(key),
            None,
            "a rewind displays the earlier poses"
        );
        hashes.push(hash(simulation.physics.rapier()));
        assert_eq!(simulation.rewindable(), 0..11);
    }
    for (tick, hash_then) in (3..10).zip(hashes.into_iter().rev()) {
        simulation.rewind(tick).unwrap();
        assert_eq!(hash(simulation.physics.rapier()), hash_then);
    }
    // Back to the present, from which the rewinds started.
    simulation.rewind(10).unwrap();
    advance(&mut simulation, 0);
    assert_near(shown_x(&simulation, key), 9.5);
    assert_eq!(simulation.clock().time(), MS(105));
    // One step from an earlier tick: later states belong to an abandoned run.
    simulation.rewind(4).unwrap();
    simulation.step_once();
    advance(&mut simulation, 0);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (5, 0..5)
    );
    assert_eq!(
        simulation.rewind(6).unwrap_err().to_string(),
        "the state of tick 6 is not kept: choose a tick in 0..5 (with an interval, only every n-th is kept), or `keep` more ticks before the next run"
    );
    simulation.resume();
    let frame = advance(&mut simulation, 30);
    assert_eq!((frame.steps, frame.tick), (3, 8));
    assert_near(shown_x(&simulation, key), 7.5);
    assert_eq!(simulation.clock().time(), MS(85));
}

#[test]
fn a_rewind_is_refused_within_a_frame_and_ends_a_rollback() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    simulation.begin_frame(MS(10));
    let within = Err(RewindError::WithinFrame);
    assert_eq!(simulation.rewind(2), within);
    simulation.end_frame();
    advance(&mut simulation, 10);
    // A rewind ends a rollback that is under way.
    for tick in [1, 2, 3] {
        advance(&mut simulation, 50);
        simulation.roll_back(2).unwrap();
        simulation.next_step().unwrap();
        assert!(simulation.run_step());
        simulation.rewind(tick).unwrap();
        assert_eq!(simulation.steps_to_resimulate(), 0);
        let clock = simulation.clock();
        assert_eq!((simulation.physics.tick(), clock.tick()), (tick, tick));
        let frame = advance(&mut simulation, 5);
        assert_eq!((frame.steps, frame.resimulated), (0, 1));
        assert_near(shown_x(&simulation, key), tick as f32 - 0.5);
        assert_eq!(simulation.visual_error(key), None);
        // This frame completes the step before the next iteration.
        advance(&mut simulation, 5);
    }
}

#[test]
fn correct_refuses_and_returns_a_state_of_an_earlier_tick() {
    let (mut simulation, key) = flyer_with_states(20);
    let mut theirs = simulation.clone();
    advance(&mut theirs, 20);
    let theirs = theirs.physics;
    let refuse = |simulation: &mut Simulation, tick: u64| {
        let before = (
            hash(simulation.physics.rapier()),
            simulation.rewindable(),
            simulation.steps_to_resimulate(),
            simulation.physics.current_step(),
        );
        let error = simulation.correct(theirs.clone()).unwrap_err();
        assert_eq!((error.tick, error.state.tick()), (tick, 2));
        assert_eq!(
            error.to_string(),
            format!(
                "the state has tick 2, but the simulation is at tick {tick}: roll back to the state's tick, or assign \
                 the state"
            )
        );
        let after = (
            hash(simulation.physics.rapier()),
            simulation.rewindable(),
            simulation.steps_to_resimulate(),
            simulation.physics.current_step(),
        );
        assert_eq!(after, before);
        error.state
    };
    advance(&mut simulation, 50);
    refuse(&mut simulation, 5);
    simulation.begin_frame(MS(40));
    simulation.next_step().unwrap();
    refuse(&mut simulation, 5);
    simulation.run_step();
    refuse(&mut simulation, 6);
    simulation.end_frame();
    simulation.roll_back(3).unwrap();
    refuse(&mut simulation, 3);
    let state = refuse(&mut simulation, 3);
    // The state can be assigned.
    simulation.physics = *state;
    advance(&mut simulation, 0);
    assert_eq!(simulation.physics.tick(), 2);
    assert_eq!(simulation.steps_to_resimulate(), 0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 2.0);
}

#[test]
fn a_client_that_stalled_goes_ahead_to_the_state_of_a_later_tick() {
    for within in [None, Some(0), Some(1)] {
        let (mut client, key) = flyer_with_states(50);
        client.correction.position.max = 9.0;
        let mut server = client.clone();
        let at = translation(0.0, 0.3, 0.0);
        server.physics.teleport(key, at).unwrap();
        advance(&mut server, 120);
        advance(&mut client, 105);
        let shown = client.pose(key).unwrap();
        // In a frame, the steps that are still due are numbered on from the state.
        if let Some(run) = within {
            client.begin_frame(MS(20));
            for _ in 0..run {
                client.next_step().unwrap();
                client.run_step();
            }
            client.next_step().unwrap();
        }
        let real_time = client.clock().real_time();
        client.roll_back(server.physics.tick()).unwrap();
        client.correct(server.physics.clone()).unwrap();
        assert_eq!((client.physics.tick(), client.clock().tick()), (12, 12));
        assert_eq!(client.clock().real_time(), real_time);
        assert_eq!(client.steps_to_resimulate(), 0);
        let frame = if let Some(run) = within {
            let mut ticks = Vec::new();
            while let Some(step) = client.next_step() {
                ticks.push(step.tick);
                client.run_step();
            }
            assert_eq!(ticks, if run == 0 { &[12, 13][..] } else { &[12] });
            client.end_frame()
        } else {
            assert_eq!(client.rewindable(), 0..0, "the past has ended");
            let frame = advance(&mut client, 0);
            assert_same(client.pose(key).unwrap(), shown);
            frame
        };
        assert_eq!(frame.ticks(), 12..client.physics.tick());
        // The displayed pose moves smoothly to that of the new state.
        let error = client.visual_error(key).unwrap();
        assert!(error.translation.y < 0.0, "{error:?}");
        while client.physics.tick() < 20 {
            advance(&mut client, 10);
        }
        while server.physics.tick() < 20 {
            advance(&mut server, 10);
        }
        assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
    }
}

#[test]
fn a_rollback_has_to_reach_the_tick_of_a_state_that_corrects_it() {
    let (mut client, key) = flyer_with_states(50);
    let mut server = client.clone();
    let at = translation(0.0, 0.3, 0.0);
    server.physics.teleport(key, at).unwrap();
    advance(&mut server, 60);
    advance(&mut client, 105);
    let shown = client.pose(key).unwrap();
    client.roll_back(2).unwrap();
    let error = client.correct(server.physics.clone()).unwrap_err();
    assert_eq!((error.tick, error.state.tick()), (2, 6));
    let text = error.to_string();
    assert!(
        text.ends_with("resimulate the steps up to the state's tick first"),
        "{text}"
    );
    run_up_to(&mut client, 6);
    client.correct(*error.state).unwrap();
    assert_eq!(client.steps_to_resimulate(), 4);
    let frame = advance(&mut client, 0);
    assert_eq!((frame.resimulated, frame.tick), (8, 10));
    assert_same(client.pose(key).unwrap(), shown);
    // The state of the present tick, after the last of these steps.
    advance(&mut server, 40);
    client.resimulate(7, |_, _| ()).unwrap();
    client.correct(server.physics.clone()).unwrap();
    let frame = advance(&mut client, 0);
    assert_eq!((frame.resimulated, frame.tick), (3, 10));
    assert_same(client.pose(key).unwrap(), shown);
    assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
}

/// The server's state has no smoothing of this machine's own player, for example.
#[test]
fn a_correction_keeps_how_bodies_are_displayed_here() {
    let (mut client, key) = flyer_with_states(20);
    let mut server = client.clone();
    let correction = Some(Correction::half_life(MS(50)));
    let smoothing = Some(Smoothing::Extrapolate);
    client.physics.set_body_smoothing(key, smoothing).unwrap();
    client.physics.set_body_correction(key, correction).unwrap();
    let settings =
        |physics: &Physics, key| (physics.body_smoothing(key), physics.body_correction(key));
    advance(&mut server, 50);
    advance(&mut client, 55);
    let theirs = server.physics.insert(scenes::flyer(), scenes::ball());
    server
        .physics
        .set_body_smoothing(theirs, Some(Smoothing::Latest))
        .unwrap();
    server
        .physics
        .set_body_smoothing(key, Some(Smoothing::Hermite))
        .unwrap();
    let shown = client.pose(key).unwrap();
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(settings(&client.physics, key), (smoothing, correction));
    assert_eq!(
        client.physics.body_smoothing(theirs),
        Some(Smoothing::Latest)
    );
    advance(&mut client, 0);
    assert_same(client.pose(key).unwrap(), shown);
}

#[test]
fn pose_at_returns_the_corrected_path_that_frames_display() {
    let (mut client, key) = flyer_with_states(20);
    advance(&mut client, 55);
    let mut state = client.physics.clone();
    state.teleport_by(key, translation(0.0, 0.5, 0.0)).unwrap();
    client.correct(state).unwrap();
    for ms in [0, 1, 1, 10] {
        let frame = advance(&mut client, ms);
        let error = client.visual_error(key).unwrap().translation;
        let corrected = client.pose(key).unwrap().translation - error;
        let pose = client.pose_at(key, frame.tick, frame.alpha).unwrap();
        assert!((pose.translation - corrected).length() < 1e-5, "{ms}");
    }
}

#[test]
fn a_rewind_recovers_a_simulation_after_rapier_has_panicked() {
    // The step that panics, of which the state before it is kept.
    for (broken, is_redo) in [(5, false), (3, true), (4, true)] {
        for tick in [broken, broken - 1] {
            let (mut simulation, key) = flyer_with_states(20);
            let mut mirror = Mirror::default();
            advance(&mut simulation, 50);
            mirror.follow_simulation(&simulation);
            if is_redo {
                simulation.roll_back(3).unwrap();
            }
            let frame = std::panic::AssertUnwindSafe(|| {
                simulation.advance(MS(20), |physics, step| {
                    if step.tick == broken {
                        break_rapier(physics);
                    }
                })
            });
            std::panic::catch_unwind(frame).unwrap_err();
            simulation.rewind(tick).unwrap();
            assert_eq!(simulation.steps_to_resimulate(), 0);
            let frame = advance(&mut simulation, 20);
            assert_eq!((frame.steps, frame.tick), (2, tick + 2));
            let x = current_pose(&simulation, key).unwrap().translation.x;
            assert_near(x, (tick + 2) as f32);
            mirror.follow_simulation(&simulation);
        }
    }
}

#[test]
fn a_client_matches_the_server_after_correcting_with_its_state() {
    // A server's flyer is 0.3 m higher.
    let (mut client, key) = flyer_with_states(50);
    let mut server = client.clone();
    let at = translation(0.0, 0.3, 0.0);
    server.physics.teleport(key, at).unwrap();
    advance(&mut server, 60);
    advance(&mut client, 105);
    let shown = client.pose(key).unwrap();
    // For an earlier tick, the steps since then are resimulated from it.
    client.roll_back(server.physics.tick()).unwrap();
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(client.steps_to_resimulate(), 4);
    let frame = advance(&mut client, 0);
    assert_eq!((frame.resimulated, frame.tick), (4, 10));
    assert_same(client.pose(key).unwrap(), shown);
    assert_near(current_pose(&client, key).unwrap().translation.y, 0.3);
    advance(&mut server, 40);
    assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
}

#[test]
fn a_clone_made_during_a_rollback_resimulates_the_remaining_steps() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 104);
    simulation.roll_back(5).unwrap();
    simulation.next_step().unwrap();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.run_step();
    let mut clone = simulation.clone();
    for it in [&mut simulation, &mut clone] {
        assert_eq!(it.steps_to_resimulate(), 4);
        assert_near(shown_x(it, key), 9.4);
        let frame = advance(it, 20);
        assert_eq!((frame.resimulated, frame.steps, frame.tick), (5, 2, 12));
    }
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(clone.physics.rapier())
    );
    assert_eq!(simulation.pose(key), clone.pose(key));
    assert_eq!(simulation.moved(), clone.moved());
}

/// The scene has joints of both kinds, a soft body, a kinematic target, sleepers, CCD, sensors and generators.
#[test]
fn a_scene_with_everything_in_it_is_resimulated_bit_for_bit() {
    let mut game = Everything::new();
    game.simulation.keep(Kept {
        ticks: 12,
        bytes: ALL,
        ..game.simulation.kept()
    });
    for number in 1..300u64 {
        let frame_time = game.prepare(number);
        let tick = game.simulation.physics.tick();
        let mut script = game.script.clone();
        let Ok(frame) = (game.simulation).advance_with(frame_time, &mut game.script);
        let before = game.seen();
        if frame.steps == 0 {
            continue;
        }
        // Resimulates the steps of this frame, with the game's data as it was before them.
        game.simulation.resimulate_with(tick, &mut script).unwrap();
        game.script = script;
        assert_eq!(game.seen(), before, "in frame {number}");
        let changes = game.simulation.event_changes();
        let collisions = changes.confirmed.collisions().count();
        assert_eq!(collisions, before.collisions.len());
    }
}

/// Rapier recycles contacts with a floor that has moved so little, if they are not renewed.
#[test]
fn a_corrected_state_continues_bit_for_bit_after_a_small_teleport_of_the_floor() {
    let heights = |is_assigned| {
        let mut simulation = Simulation::new(Rate::hz(60));
        let floor = cuboid(5.0, 0.5, 5.0);
        let floor = (simulation.physics).insert(RigidBodyBuilder::fixed(), floor);
        let on_floor = RigidBodyBuilder::dynamic().translation(Vector::Y);
        let key = (simulation.physics).insert(on_floor.can_sleep(false), cuboid(0.5, 0.5, 0.5));
        simulation.advance(Duration::from_secs(1), |_, _| ());
        let mut state = simulation.physics.clone();
        let lower = pose(Vector::Y * -0.001, spin(0.0, 0.0, 0.001));
        state.teleport(floor, lower).unwrap();
        if is_assigned {
            simulation.physics = state;
        } else {
            simulation.correct(state).unwrap();
        }
        let mut heights = Vec::new();
        for _ in 0..30 {
            simulation.advance(MS(17), |_, _| ());
            let body = simulation.physics.body(key).unwrap();
            heights.push(body.translation().y.to_bits());
        }
        heights
    };
    assert_eq!(heights(false), heights(true));
}

#[test]
fn a_correction_at_the_present_tick_is_displayed_smoothly() {
    let (mut client, key) = flyer_with_states(50);
    let mut server = client.clone();
    let at = translation(0.0, 0.3, 0.0);
    server.physics.teleport(key, at).unwrap();
    let guest = server.physics.insert(flyer(), ball());
    advance(&mut server, 104);
    advance(&mut client, 104);
    let shown = client.pose(key).unwrap();
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(client.steps_to_resimulate(), 0);
    advance(&mut client, 0);
    assert_same(client.pose(key).unwrap(), shown);
    assert_near(client.visual_error(key).unwrap().translation.y, -0.3);
    assert!(moved_keys(&client).contains(&guest));
    assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
}

#[test]
fn after_a_correction_steps_continue_from_the_time_of_the_new_state() {
    let (mut client, _) = flyer_with_states(20);
    let mut server = client.clone();
    advance(&mut server, 50);
    // The server has numbered its steps again.
    server.set_tick(1);
    advance(&mut server, 0);
    advance(&mut client, 30);
    client.roll_back(1).unwrap();
    client.correct(server.physics.clone()).unwrap();
    let mut steps = Vec::new();
    client.advance(MS(10), |physics, step| {
        assert_eq!(physics.time(), step.start_time);
        steps.push((step.tick, step.start_time, step.end_time));
    });
    let expected = [1, 2, 3].map(|tick| (tick, MS(40 + 10 * tick), MS(50 + 10 * tick)));
    assert_eq!(steps, expected);
    assert_eq!(
        (client.physics.time(), client.clock().time()),
        (MS(80), MS(80))
    );
}

#[test]
fn a_frame_that_ends_within_a_rollback_or_after_another_tick_names_its_new_steps() {
    let (mut simulation, _) = flyer_with_states(10);
    advance(&mut simulation, 50);
    simulation.begin_frame(MS(20));
    run_up_to(&mut simulation, 7);
    simulation.roll_back(3).unwrap();
    let frame = simulation.end_frame();
    assert_eq!((frame.tick, frame.steps, frame.ticks()), (5, 2, 5..7));
    advance(&mut simulation, 0);
    // A frame that is not ended continues in the next one, in which another tick was set.
    simulation.begin_frame(MS(20));
    run_up_to(&mut simulation, 9);
    simulation.set_tick(1_000);
    simulation.begin_frame(MS(0));
    let frame = simulation.end_frame();
    assert_eq!((frame.tick, frame.steps, frame.ticks()), (1_000, 2, 7..9));
    simulation.set_tick(2_000);
    let frame = advance(&mut simulation, 10);
    assert_eq!((frame.steps, frame.ticks()), (1, 2_000..2_001));
}

/// The states that a rewind has left do not count towards the limit.
#[test]
fn keep_after_a_rewind_keeps_the_states_before_the_present() {
    for (ticks, again) in [(5, 5), (20, 3)] {
        let mut simulation = space(100);
        let kept = |ticks| Kept {
            ticks,
            ..Kept::default()
        };
        simulation.keep(kept(ticks));
        advance(&mut simulation, 100);
        simulation.rewind(7).unwrap();
        let before = simulation.rewindable();
        simulation.keep(kept(again));
        let oldest = before.start.max(7 - again);
        assert_eq!(simulation.rewindable(), oldest..before.end);
        simulation.roll_back(oldest).unwrap();
    }
}
