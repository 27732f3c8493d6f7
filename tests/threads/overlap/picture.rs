//! Displayed motion when time, speed or history changes.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn pauses_neither_lose_nor_gain_time() {
    let (simulation, _) = flyer_in_space();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    for _ in 0..200 {
        overlap.frame(MS(1), &mut game).unwrap();
        overlap.simulation(&mut game).unwrap().pause();
        overlap.frame(MS(1), &mut game).unwrap();
        overlap.simulation(&mut game).unwrap().resume();
    }
    overlap.simulation(&mut game).unwrap().pause();
    overlap.frame(MS(1), &mut game).unwrap();
    assert_eq!(
        overlap.simulation(&mut game).unwrap().clock().time(),
        MS(200)
    );
    assert_eq!(overlap.stop(&mut game).0.physics.tick(), 20);
}

#[test]
fn steps_of_uneven_length_do_not_change_the_speed_of_the_picture() {
    for stepping in [Stepping::Fixed, Stepping::SemiFixed, Stepping::Variable] {
        let (mut simulation, key) = flyer_in_space();
        simulation.clock_settings_mut().set_stepping(stepping);
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        let mut last = 0.0;
        for (number, ms) in [14, 19, 16, 12, 21, 17]
            .into_iter()
            .cycle()
            .take(200)
            .enumerate()
        {
            let view = overlap.frame(MS(ms), &mut game).unwrap();
            let x = view.pose(key).unwrap().translation.x;
            // The body flies a metre in 10 ms.
            let speed = (x - last) * 10.0 / ms as f32;
            assert!(
                number < 50 || (speed - 1.0).abs() < 0.01,
                "{stepping:?}: the picture runs at {speed} times its speed"
            );
            last = x;
        }
    }
}

#[test]
fn displayed_motion_neither_stops_nor_jumps_when_the_speed_changes() {
    let (simulation, key) = flyer_in_space();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    let (mut shown, mut elapsed) = (0.0, 0);
    for number in 0..3_000 {
        if number % 303 == 152 {
            let speed = if number % 606 == 152 { 0.1 } else { 1.0 };
            overlap
                .simulation(&mut game)
                .unwrap()
                .clock_settings_mut()
                .set_speed(speed)
                .unwrap();
        }
        overlap.frame(MS(1), &mut game).unwrap();
        let x = x(&overlap, key);
        // A frame moves the body by 10 cm at full speed, and by 1 cm in slow motion. It does not move before the first
        // step is displayed.
        elapsed += 1;
        if elapsed > 21 {
            let moved = x - shown;
            assert!((0.008..0.102).contains(&moved), "{moved} m at {number}");
        }
        shown = x;
    }
    assert!(!overlap.view().is_starved());
}

#[test]
fn a_limit_of_one_step_per_frame_holds_in_slow_frames() {
    // Each frame takes 25 ms, as if a step took that long. No frame runs extra steps to catch up.
    let (mut simulation, key) = flyer_in_space();
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(1));
    let mut alone = simulation.clone();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    for number in 0..100 {
        let view = overlap.frame(MS(25), &mut game).unwrap();
        alone.advance(MS(25), |_, _| ());
        assert!(!view.is_starved() || number < 2);
        let late = scenes::shown_x(&alone, key) - x(&overlap, key);
        assert!(number < 2 || (late - 1.0).abs() < 2e-3, "{late}");
        assert!(
            game.count(Before) <= number + 1,
            "more than one step in a frame"
        );
    }
    let simulation = overlap.stop(&mut game).0;
    assert_eq!(simulation.physics.tick(), alone.physics.tick());
    assert_eq!(simulation.clock().dropped(), alone.clock().dropped());
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(alone.physics.rapier())
    );
}

#[test]
fn frames_of_several_steps_are_displayed_later_by_the_slack() {
    for slack in [1.0f32, 0.5, 0.0] {
        let (simulation, key) = flyer_in_space();
        let mut alone = simulation.clone();
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        overlap.set_slack(slack);
        for number in 0..100 {
            let view = overlap.frame(MS(33), &mut game).unwrap();
            assert!(!view.is_starved());
            alone.advance(MS(33), |_, _| ());
            let late = scenes::shown_x(&alone, key) - x(&overlap, key);
            assert!((late - slack).abs() < 2e-3, "{late} at {number}");
        }
    }
}

/// Tests a player who drags a slider, with more frames than steps.
#[test]
fn rewinds_in_every_frame_are_displayed() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 20);
    let before = overlap.now();
    for tick in (1..=18).rev() {
        overlap.simulation(&mut game).unwrap().rewind(tick).unwrap();
        overlap.frame(MS(3), &mut game).unwrap();
        let x = x(&overlap, key);
        let expected = tick as f32 - 1.0;
        assert!((x - expected).abs() < 1.5, "{x} for {expected}");
    }
    assert_eq!(overlap.now(), before + MS(3 * 18));
}

/// Tests netcode that receives late input in every frame.
#[test]
fn displayed_motion_continues_with_a_rollback_in_every_frame() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 20);
    let start = x(&overlap, key);
    for i in 1..=30u8 {
        let tick = overlap.simulation(&mut game).unwrap().physics.tick();
        overlap
            .simulation(&mut game)
            .unwrap()
            .roll_back(tick - 3)
            .unwrap();
        frames(&mut overlap, &mut game, 1);
        let moved = x(&overlap, key) - start;
        assert!((moved - f32::from(i)).abs() < 1.1, "{moved} after {i}");
    }
}

/// The hook after a step runs once, and so do its changes to the state, as on one thread.
#[test]
fn after_step_runs_once_for_a_running_step_that_is_resimulated() {
    for in_access in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        simulation.physics.resources_mut().insert(Hooked::default());
        let mut overlap = Overlap::new(simulation).unwrap();
        frames(&mut overlap, &mut Pushing::default(), 15);
        if in_access {
            let simulation = overlap.simulation(&mut Pushing::default()).unwrap();
            simulation
                .resimulate_with(5, &mut Pushing::default())
                .unwrap();
        } else {
            let simulation = overlap.simulation(&mut Pushing::default()).unwrap();
            simulation.roll_back(5).unwrap();
        }
        frames(&mut overlap, &mut Pushing::default(), 5);
        let (simulation, _) = overlap.stop(&mut Pushing::default());
        let score = simulation.physics.resources().get::<Hooked>().unwrap().0;
        assert_eq!(score, simulation.physics.tick(), "{in_access}");
    }
}

/// The steps that are due again continue in the next frame, with their hooks.
#[test]
fn the_next_frame_continues_a_rollback_that_failed() {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 15);
    let mut fails = Game::new(|_, step, _| if step.tick == 8 { Err("no") } else { Ok(()) });
    let simulation = overlap.simulation(&mut game).unwrap();
    let last = simulation.physics.tick() - 1;
    assert!(simulation.resimulate_with(5, &mut fails).is_err());
    assert_eq!(simulation.steps_to_resimulate(), last - 7);
    frames(&mut overlap, &mut game, 3);
    for tick in [8, last] {
        let calls = game.calls.iter().rev();
        assert!(calls.take(20).any(|call| *call == (tick, After)), "{tick}");
    }
    assert_eq!(
        overlap.simulation(&mut game).unwrap().steps_to_resimulate(),
        0
    );
}

#[test]
fn bodies_changed_during_a_separate_advance_are_displayed() {
    let (mut simulation, _) = flyer_in_space();
    let old = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 5);
    let simulation = overlap.simulation(&mut game).unwrap();
    let new = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    simulation.physics.remove(old).unwrap();
    simulation.advance(MS(100), |_, _| ());
    frames(&mut overlap, &mut game, 5);
    assert!(overlap.view().pose(new).is_some() && overlap.view().pose(old).is_none());
}

#[test]
fn an_edit_between_frames_precedes_the_same_step_as_on_one_thread() {
    for stepping in scenes::STEPPINGS {
        let (mut alone, key) = flyer_in_space();
        alone.clock_settings_mut().set_stepping(stepping);
        let mut overlap = Overlap::new(alone.clone()).unwrap();
        let mut game = Game::idle();
        for number in 0..200 {
            let chance = mixed(number);
            if chance.is_multiple_of(3) {
                let push = Vector::Y * (chance / 3 % 5) as f32;
                for simulation in [&mut alone, overlap.simulation(&mut game).unwrap()] {
                    simulation.physics.apply_impulse(key, push).unwrap();
                }
            }
            let frame_time = MS([3, 7, 16, 1, 33][chance as usize / 16 % 5]);
            alone.advance(frame_time, |_, _| ());
            overlap.frame(frame_time, &mut game).unwrap();
            let simulation = overlap.simulation(&mut game).unwrap();
            assert_eq!(simulation.physics.tick(), alone.physics.tick());
            let bits = [&*simulation, &alone].map(|it| hash(it.physics.rapier()));
            assert_eq!(bits[0], bits[1], "{stepping:?} {number}");
        }
    }
}

#[test]
fn a_hook_lets_a_body_begin_at_a_pose_with_its_step() {
    for when in [Before, After] {
        let (mut simulation, key) = flyer_in_space();
        simulation.correction = Correction::linear(MS(40));
        let hand = translation(0.0, 4.0, 0.0);
        let mut game = Game::once(when, 9, move |physics| {
            physics.show_from(key, hand).unwrap()
        });
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut heights = Vec::new();
        for _ in 0..200 {
            overlap.frame(MS(1), &mut game).unwrap();
            let pose = overlap.view().pose(key);
            heights.push(pose.map_or(0.0, |pose| pose.translation.y));
        }
        let first = heights.iter().position(|y| *y > 0.0).unwrap();
        for (i, y) in heights[first..].iter().enumerate() {
            let left = (4.0 - 0.1 * i as f32).max(0.0);
            assert!((y - left).abs() < 1e-4, "{y}, not {left}, {when:?}");
        }
        assert_eq!(overlap.stop(&mut game).0.visual_error(key), None);
    }
}

#[test]
fn a_body_with_the_key_of_one_that_a_rewind_removes_does_not_begin_at_its_pose() {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 10);
    let simulation = overlap.simulation(&mut game).unwrap();
    let insert = |simulation: &mut Simulation, y| {
        let body = RigidBodyBuilder::fixed().translation(Vector::Y * y);
        simulation.physics.insert(body, scenes::ball())
    };
    let first = insert(simulation, 5.0);
    let far = translation(50.0, 0.0, 0.0);
    simulation.physics.show_from(first, far).unwrap();
    simulation.rewind(2).unwrap();
    let key = insert(simulation, 3.0);
    frames(&mut overlap, &mut game, 3);
    let pose = overlap.view().pose(key).unwrap();
    assert_eq!(pose, translation(0.0, 3.0, 0.0));
}

#[test]
fn all_events_of_a_long_frame_are_displayed() {
    let mut simulation = scenes::space(60);
    let settings = simulation.clock_settings_mut();
    settings.set_max_frame_time(Duration::MAX);
    let sensor = scenes::ball().sensor(true);
    let sensor = sensor.active_events(ActiveEvents::COLLISION_EVENTS);
    let physics = &mut simulation.physics;
    physics.insert(RigidBodyBuilder::fixed(), sensor);
    let ball = physics.insert(RigidBodyBuilder::dynamic(), scenes::ball());
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut game = Game::new(move |physics, step, when| {
        if when == Before {
            let y = if step.tick.is_multiple_of(2) {
                0.0
            } else {
                5.0
            };
            physics.teleport(ball, translation(0.0, y, 0.0)).unwrap();
        }
        Ok(())
    });
    let mut displayed = 0;
    for ms in [16, 16, 30_000, 16, 16, 16, 16, 16] {
        displayed += overlap.frame(MS(ms), &mut game).unwrap().events().len();
    }
    // One event per step, except for the steps that wait for the next frames.
    let steps = overlap.view().tick();
    assert!(steps > 1_800, "{steps}");
    assert_eq!(displayed as u64, steps);
}
