//! The loop in the pull form: the same bits as `advance`, and the order of a step.

use super::*;

fn next_x(simulation: &Simulation, key: BodyKey) -> f32 {
    let body = simulation.physics.body(key).unwrap();
    body.next_position().translation.x
}

#[test]
fn the_pull_form_matches_advance_bit_for_bit_at_every_frame_rate() {
    let end = |fps: u32, pulled: bool| {
        let mut yard = Yard::new(Rate::hz(60));
        let frame_time = Duration::from_secs(1) / fps;
        let mut frames = Vec::new();
        for _ in 0..3 * fps {
            let frame = if pulled {
                pull(&mut yard, frame_time)
            } else {
                yard.advance(frame_time)
            };
            frames.push((frame, yard.simulation.moved().to_vec()));
        }
        (hash(yard.simulation.physics.rapier()), frames)
    };
    for fps in [15, 60, 144] {
        let (pulled, advanced) = (end(fps, true), end(fps, false));
        assert_eq!(pulled.0, advanced.0, "{fps}");
        assert!(pulled.1 == advanced.1, "the frames differ at {fps}");
    }
}

fn pull(yard: &mut Yard, frame_time: Duration) -> Frame {
    yard.simulation.begin_frame(frame_time);
    while let Some(step) = yard.simulation.next_step() {
        let Ok(()) = yard.game.before_step(&mut yard.simulation.physics, step);
        assert!(yard.simulation.run_step());
    }
    yard.simulation.end_frame()
}

#[test]
fn a_simulation_can_move_to_another_thread_within_a_frame() {
    let (simulation, key) = flyer_in_space();
    let mut expected = flyer_in_space().0;
    for ms in [25, 4, 33] {
        advance(&mut expected, ms);
    }
    let mut world = vec![None, Some(Box::new(simulation))];
    for ms in [25, 4, 33] {
        let mut stored = world.swap_remove(1).unwrap();
        stored.begin_frame(MS(ms));
        while stored.next_step().is_some() {
            let mut elsewhere = *stored;
            let sent = std::thread::spawn(move || {
                assert!(elsewhere.run_step());
                elsewhere
            });
            stored = Box::new(sent.join().unwrap());
        }
        stored.end_frame();
        world.push(Some(stored));
    }
    let simulation = world.pop().flatten().unwrap();
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(expected.physics.rapier())
    );
    assert_eq!(simulation.frame(), expected.frame());
    assert_eq!(simulation.pose(key), expected.pose(key));
}

#[test]
fn a_simulation_can_be_dropped_within_a_frame() {
    for calls in 0..4 {
        let mut simulation = flyer_in_space().0;
        simulation.begin_frame(MS(30));
        for call in 0..calls {
            if call % 2 == 0 {
                simulation.next_step();
            } else {
                simulation.run_step();
            }
        }
        drop(simulation);
    }
}

#[test]
fn a_step_reports_its_order_and_a_frame_reports_its_ticks() {
    let mut simulation = space(100);
    for (ms, ticks) in [(30, 0..3), (5, 3..3), (5, 3..4), (20, 4..6)] {
        simulation.begin_frame(MS(ms));
        let steps = run_steps(&mut simulation);
        let frame = simulation.end_frame();
        assert_eq!(frame.ticks(), ticks);
        assert_eq!(frame.steps, steps.len() as u64);
        for (i, step) in steps.iter().enumerate() {
            assert_eq!(step.tick, ticks.start + i as u64);
            assert_eq!(step.is_first, i == 0);
            assert_eq!(step.is_last, i + 1 == steps.len());
        }
    }
}

#[test]
fn a_platforms_next_position_belongs_to_the_current_step() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let there = translation(4.0, 0.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(key, there, MS(40))
        .unwrap();
    simulation.begin_frame(MS(50));
    for after in [1.0, 2.0, 3.0, 4.0, 4.0] {
        simulation.next_step().unwrap();
        let next = next_x(&simulation, key);
        assert_near(next, after);
        simulation.run_step();
        assert_eq!(x(&simulation, key), next);
    }
    simulation.end_frame();
}

#[test]
fn a_kinematic_target_set_in_a_step_acts_in_that_step() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let elsewhere = translation(-9.0, 0.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(key, elsewhere, MS(10))
        .unwrap();
    simulation.begin_frame(MS(20));
    let step = simulation.next_step().unwrap();
    let there = translation(2.0, 0.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(key, there, step.start_time + MS(20))
        .unwrap();
    for after in [1.0, 2.0] {
        simulation.next_step().unwrap();
        let next = next_x(&simulation, key);
        assert_near(next, after);
        simulation.run_step();
        assert_near(x(&simulation, key), after);
    }
    simulation.end_frame();
}

#[test]
fn settings_changed_within_a_frame_apply_from_the_next_frame() {
    type Set = fn(&mut Simulation);
    // Each setting, and the tick, the number of steps and the first step's length in a frame of 40 ms after it.
    let settings: [(Set, u64, u64, f32); 8] = [
        (
            |s| s.clock_settings_mut().set_rate(Rate::hz(50)),
            4,
            2,
            0.02,
        ),
        (
            |s| s.clock_settings_mut().set_stepping(Stepping::Variable),
            4,
            1,
            0.045,
        ),
        (
            |s| s.clock_settings_mut().set_speed(0.5).unwrap(),
            4,
            2,
            0.01,
        ),
        (|s| s.pause(), 4, 0, 0.0),
        (
            |s| s.clock_settings_mut().set_max_steps_per_frame(Some(1)),
            4,
            1,
            0.01,
        ),
        (
            |s| s.clock_settings_mut().set_max_frame_time(MS(16)),
            4,
            2,
            0.01,
        ),
        (|s| s.set_tick(100), 100, 4, 0.01),
        (|s| s.set_overstep(Duration::ZERO), 4, 4, 0.01),
    ];
    for (i, (set, tick, steps, dt)) in settings.into_iter().enumerate() {
        let mut simulation = space(100);
        simulation.begin_frame(MS(45));
        let mut made = Vec::new();
        while let Some(step) = simulation.next_step() {
            made.push((step.tick, step.dt));
            if step.is_first {
                set(&mut simulation);
            }
            simulation.run_step();
        }
        assert_eq!(made, [(0, 0.01), (1, 0.01), (2, 0.01), (3, 0.01)], "{i}");
        let frame = simulation.end_frame();
        assert_eq!((frame.alpha, frame.tick), (0.5, 4), "{i}");

        simulation.begin_frame(MS(40));
        let first = simulation.next_step();
        let made = run_steps(&mut simulation);
        assert_eq!(made.len() as u64, steps, "{i}");
        if let Some(first) = first {
            assert_eq!(first.tick, tick, "{i}");
            assert_near(first.dt, dt);
        }
        let frame = simulation.end_frame();
        assert_eq!(frame.tick, tick + steps, "{i}");
        let overstep = simulation.clock().overstep();
        let none_is_left = overstep == Duration::ZERO;
        assert_eq!(none_is_left, matches!(i, 1 | 7), "{i}: {overstep:?}");
    }
}

#[test]
fn resume_within_a_frame_applies_from_the_next_frame() {
    let mut simulation = space(100);
    simulation.pause();
    simulation.step_once();
    simulation.begin_frame(MS(30));
    simulation.resume();
    assert_eq!(run_steps(&mut simulation).len(), 1);
    assert_eq!(simulation.end_frame().steps, 1);
    assert_eq!(advance(&mut simulation, 30).steps, 3);
}

#[test]
fn an_aborted_step_discards_its_own_forces_and_keeps_earlier_ones() {
    let (mut simulation, key) = flyer_in_space();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation
        .physics
        .apply_impulse(key, Vector::Y * 100.0)
        .unwrap();
    simulation.end_frame();
    assert_near(rise(&simulation, key), 0.0);
    // In a frame without a step the force keeps waiting.
    advance(&mut simulation, 5);
    assert_near(rise(&simulation, key), 0.0);
    advance(&mut simulation, 5);
    assert_near(rise(&simulation, key), 1.0);
    advance(&mut simulation, 10);
    assert_near(rise(&simulation, key), 1.0);
}
