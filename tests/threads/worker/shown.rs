//! What frames display, and when.

use super::*;
use scenes::testing::translation;

#[test]
fn frames_starve_while_a_step_is_late_and_then_catch_up() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        poses: 50,
        ..simulation.kept()
    });
    // The last state before the late step is at zero, where every alpha gives another position.
    let start = translation(-10.0, 0.0, 0.0);
    simulation.physics.teleport(key, start).unwrap();
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    let mut shown = -10.0;
    let mut starved = 0;
    // The step of 110 ms runs at 123 ms, together with that of 120 ms.
    for ms in 100..140 {
        if ms == 123 || ms > 123 && ms % 10 == 0 {
            driver.run(MS(ms));
        }
        driver.frame(MS(ms));
        let (view, past) = (driver.view(), driver.simulation());
        let pose = view.pose(key).unwrap();
        let (tick, alpha) = (view.tick(), view.alpha());
        assert_eq!(past.pose_at(key, tick, alpha), Some(pose));
        let world = past.world_at(tick, alpha).unwrap();
        assert_eq!(*world.colliders()[collider].position(), pose);
        let x = pose.translation.x;
        assert!(x >= shown, "{x} after {shown}");
        shown = x;
        starved += u32::from(view.is_starved());
    }
    // The step is displayed from 115 ms on, half a step after it was due.
    assert_eq!(starved, 7);
    assert!((shown - 2.4).abs() < 1e-3, "{shown}");
}

#[test]
fn extrapolated_motion_never_goes_backward_when_steps_are_late() {
    let (mut simulation, key) = flyer_in_space();
    simulation.smoothing = Smoothing::Extrapolate;
    let mut driver = Driver::new(simulation, Idle);
    let mut last = 0.0;
    for ms in 0..2_000u16 {
        // Some steps are late.
        if ms % 10 == 0 && ms % 70 != 0 {
            driver.run(MS(ms.into()));
        }
        let x = x(&mut driver, key, MS(ms.into()));
        assert!(x >= last, "{x} after {last} at {ms} ms");
        last = x;
    }
    assert!(last > 195.0);
}

#[test]
fn edits_in_a_pause_are_displayed_during_the_pause() {
    let (mut simulation, flyer) = flyer_in_space();
    let wall = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let gone = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    driver.frame(MS(102));
    driver.pause();
    driver.run(MS(103));
    // The picture runs on to the newest state, and stays there.
    let pictures = [(103, 8.8), (104, 8.9), (114, 9.9), (115, 10.0), (124, 10.0)];
    for (height, (ms, expected)) in (1_u8..).zip(pictures) {
        let shown = x(&mut driver, flyer, MS(ms));
        assert!((shown - expected).abs() < 1e-3, "{shown} at {ms} ms");
        let there = translation(0.0, height.into(), 0.0);
        driver.teleport(wall, there);
        driver.run(MS(ms));
        let view = driver.frame(MS(ms));
        if view.tick() == 10 {
            assert_eq!(view.pose(wall), Some(there));
        }
        // Nothing else moves.
        let x = view.pose(flyer).unwrap().translation.x;
        assert!((x - shown).abs() < 1e-3, "{x} after {shown} at {ms} ms");
    }
    driver.remove(gone);
    driver.run(MS(125));
    let view = driver.frame(MS(126));
    assert_eq!((view.pose(gone), view.removed()), (None, &[gone][..]));
    // Slow motion continues from there with the next step, which is due after 70 ms.
    driver.set_speed(0.1);
    driver.resume();
    driver.in_time(MS(155));
    let mut last = x(&mut driver, flyer, MS(160));
    assert!((last - 10.0).abs() < 1e-3, "{last}");
    for ms in 160..500 {
        driver.in_time(MS(ms));
        let x = x(&mut driver, flyer, MS(ms));
        assert!((-1e-4..0.011).contains(&(x - last)), "{x} at {ms} ms");
        last = x;
    }
    assert!(last > 11.0, "{last}");
}

#[test]
fn an_origin_shift_in_a_pause_is_displayed_without_moving_bodies() {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    driver.frame(MS(102));
    driver.pause();
    driver.run(MS(103));
    let before = x(&mut driver, key, MS(134));
    // The origin is shifted twice, so that positions are rounded twice.
    for shift in [0.3, 7.1] {
        driver.call(move |simulation, _| {
            let origin = Vector::X * shift;
            simulation.physics.shift_origin(origin).unwrap();
        });
    }
    driver.run(MS(135));
    let after = x(&mut driver, key, MS(136));
    assert!((after + 7.4 - before).abs() < 1e-3, "{after}, {before}");
}

#[test]
fn the_time_of_the_view_matches_its_poses_after_a_rewind() {
    for pauses in [false, true] {
        let (mut simulation, key) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        let mut driver = Driver::new(simulation, Idle);
        driver.in_time(MS(300));
        driver.frame(MS(300));
        driver.in_time(MS(400));
        if pauses {
            driver.pause();
        }
        driver.call(|simulation, _| simulation.rewind(20).unwrap());
        for ms in 400..450 {
            driver.in_time(MS(ms));
            let x = x(&mut driver, key, MS(ms));
            let time = driver.view().time().as_secs_f64();
            assert!(
                (f64::from(x) - 100.0 * time).abs() < 1e-2,
                "{x} at {time} s"
            );
        }
    }
}

#[test]
fn a_smoothing_set_by_a_call_applies_to_the_next_steps() {
    let (mut simulation, key) = flyer_in_space();
    simulation.correction = Correction::OFF;
    let mut driver = Driver::new(simulation, Idle);
    let shown = |driver: &mut Driver<Idle>, ms| {
        driver.in_time(MS(ms));
        x(driver, key, MS(ms))
    };
    let check = |driver: &mut Driver<Idle>, ms, expected: f32| {
        let x = shown(driver, ms);
        assert!(
            (x - expected).abs() < 1e-3,
            "{x}, not {expected}, at {ms} ms"
        );
    };
    check(&mut driver, 102, 8.7);
    driver.call(|simulation, _| simulation.smoothing = Smoothing::Latest);
    driver.run(MS(102));
    for (ms, expected) in [(127, 12.0), (132, 12.0), (138, 13.0)] {
        check(&mut driver, ms, expected);
    }
    driver.call(|simulation, _| simulation.smoothing = Smoothing::Extrapolate);
    driver.run(MS(138));
    for (ms, expected) in [(167, 16.2), (172, 16.7)] {
        check(&mut driver, ms, expected);
    }
    driver.call(|simulation, _| simulation.smoothing = Smoothing::Interpolate);
    driver.run(MS(172));
    for (ms, expected) in [(207, 19.2), (212, 19.7)] {
        check(&mut driver, ms, expected);
    }
}

#[test]
fn a_simulation_paused_from_the_start_is_displayed() {
    let (mut simulation, key) = flyer_in_space();
    simulation.pause();
    let mut driver = Driver::new(simulation, Idle);
    for ms in [0, 10, 1_000_000] {
        driver.run(MS(ms));
        assert_eq!(x(&mut driver, key, MS(ms)), 0.0);
        assert!(!driver.view().is_starved());
    }
}

#[test]
fn time_beyond_the_maximum_lag_is_dropped_and_counted() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    // Five steps are run at once, and the rest right after.
    assert_eq!(driver.worker.run_until(MS(300)), Some(MS(160)));
    assert_eq!(driver.tick(), 15);
    driver.run(MS(300));
    assert_eq!(driver.tick(), 30);
    // The thread is more than 250 ms behind, so the clock continues from now.
    assert_eq!(driver.run(MS(800)), Some(MS(810)));
    assert_eq!(driver.tick(), 31);
    driver.frame(MS(800));
    assert_eq!(driver.runner.dropped(), MS(490));
    let clock = driver.simulation().clock();
    assert_eq!(clock.dropped().frame_time, MS(490));
    assert_eq!(clock.real_time(), MS(800));
}
