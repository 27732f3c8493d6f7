//! The time of the steps that a pause leaves for later.

use super::*;
use evenstep::rewind::Kept;
use scenes::mirror::Mirror;
use scenes::renderer::Renderer;

/// Runs a frame whose game pauses after the steps of these ticks. Returns the number of its steps.
fn frame(simulation: &mut Simulation, ms: u64, stops: &[u64]) -> Frame {
    simulation.advance(MS(ms), |physics, step| {
        if stops.contains(&step.tick) {
            physics.pause_after_step();
        }
    })
}

fn resume(simulation: &mut Simulation, ms: u64) -> Frame {
    simulation.resume();
    advance(simulation, ms)
}

/// Returns a flyer whose game has paused after the step of tick 2, in a frame of this time.
fn stopped(ms: u64) -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_in_space();
    let frame = frame(&mut simulation, ms, &[2]);
    assert_eq!((frame.steps, frame.dropped), (3, Dropped::default()));
    (simulation, key)
}

#[test]
fn held_steps_run_in_the_next_running_frame_even_if_it_takes_no_time() {
    for (ms, steps) in [(0, 7), (3, 7), (5, 8), (100, 17)] {
        let (mut simulation, _) = stopped(105);
        assert_eq!(advance(&mut simulation, 500).steps, 0);
        assert_eq!(simulation.clock().until_next_step(), None);
        simulation.resume();
        assert_eq!(simulation.clock().until_next_step(), Some(Duration::ZERO));
        let frame = advance(&mut simulation, ms);
        assert_eq!((frame.steps, frame.dropped), (steps, Dropped::default()));
        assert_eq!(simulation.clock().time(), MS(105 + ms));
        assert_eq!(simulation.clock().dropped(), Dropped::default());
    }
}

/// A frame of no time that runs held steps is a frame like any other.
#[test]
fn a_pause_among_held_steps_holds_the_rest_of_them() {
    for times in [[0, 0, 0], [0, 20, 0], [4, 0, 6]] {
        let (mut simulation, _) = stopped(100);
        let mut time = 100;
        for (ms, stop) in times.into_iter().zip([3, 5, 6]) {
            simulation.resume();
            let frame = frame(&mut simulation, ms, &[stop]);
            assert_eq!((frame.tick, frame.dropped), (stop + 1, Dropped::default()));
            time += ms;
            assert_eq!(simulation.clock().time(), MS(time));
        }
        let frame = resume(&mut simulation, 0);
        assert_eq!((frame.tick, frame.dropped), (time / 10, Dropped::default()));
    }
}

#[test]
fn limits_do_not_apply_to_held_steps_again() {
    type Limit = fn(&mut Simulation);
    let limits: [Limit; 3] = [
        |simulation| {
            simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(Some(5))
        },
        |simulation| simulation.clock_settings_mut().set_max_frame_time(MS(50)),
        |simulation| {
            let (frame, step) = (MS(10), MS(2));
            let budget = Budget { frame, step };
            simulation.clock_settings_mut().set_budget(Some(budget));
        },
    ];
    for (number, limit) in limits.into_iter().enumerate() {
        let (mut simulation, _) = flyer_in_space();
        limit(&mut simulation);
        // The limit leaves five of ten steps.
        let cut = frame(&mut simulation, 100, &[1]);
        assert_eq!(
            (cut.steps, simulation.clock().time()),
            (2, MS(50)),
            "{number}"
        );
        let dropped = cut.dropped;
        assert_eq!(dropped.aborted, 0);
        assert_ne!(dropped, Dropped::default());
        let mut waits = simulation.clone();
        assert_eq!(resume(&mut waits, 0).steps, 3, "{number}");
        // Five more of the ten steps of this frame.
        let frame = resume(&mut simulation, 100);
        assert_eq!((frame.steps, frame.dropped), (8, dropped), "{number}");
    }
}

#[test]
fn a_rate_set_in_the_pause_applies_to_the_held_time() {
    // 70 ms are held, and 5 ms wait.
    for (hz, steps, left) in [
        (50, 3, 15_000_000),
        (200, 15, 0),
        (25, 1, 35_000_000),
        (10, 0, 75_000_000),
    ] {
        let (mut simulation, _) = stopped(105);
        let rate = Rate::hz(hz);
        simulation.clock_settings_mut().set_rate(rate);
        advance(&mut simulation, 40);
        assert_eq!(simulation.clock().time(), MS(105), "{hz} Hz");
        let frame = resume(&mut simulation, 0);
        assert_eq!(frame.steps, steps, "{hz} Hz");
        let clock = simulation.clock();
        assert_eq!(clock.overstep(), Duration::from_nanos(left), "{hz} Hz");
        assert_eq!(
            (clock.time(), clock.dropped()),
            (MS(105), Dropped::default())
        );
    }
}

#[test]
fn speed_scales_the_time_in_which_steps_become_due_and_no_held_time() {
    let (mut simulation, _) = flyer_in_space();
    simulation.clock_settings_mut().set_speed(2.0).unwrap();
    assert_eq!(frame(&mut simulation, 50, &[2]).steps, 3);
    simulation.resume();
    simulation.clock_settings_mut().set_speed(0.0).unwrap();
    assert_eq!(advance(&mut simulation, 50).steps, 0);
    simulation.clock_settings_mut().set_speed(0.5).unwrap();
    let frame = advance(&mut simulation, 40);
    assert_eq!((frame.steps, simulation.clock().time()), (7 + 2, MS(120)));
}

#[test]
fn no_stepping_loses_or_doubles_time_at_a_pause() {
    for stepping in STEPPINGS {
        let (mut simulation, _) = flyer_in_space();
        simulation.clock_settings_mut().set_stepping(stepping);
        let mut alone = simulation.clone();
        let (mut sum, mut number) = (0.0, 0);
        for ms in [33, 0, 7, 40, 25, 1, 60, 12].repeat(5) {
            alone.advance(MS(ms), |_, _| ());
            simulation.advance(MS(ms), |physics, step| {
                sum += f64::from(step.dt);
                number += 1;
                if number % 3 == 1 {
                    physics.pause_after_step();
                }
            });
            let clock = simulation.clock();
            assert_eq!(clock.time(), alone.clock().time(), "{stepping:?}");
            assert_eq!(clock.dropped(), alone.clock().dropped(), "{stepping:?}");
            if clock.settings().is_paused() {
                advance(&mut simulation, 30);
                simulation.resume();
            }
        }
        alone.advance(Duration::ZERO, |_, _| ());
        simulation.advance(Duration::ZERO, |_, step| sum += f64::from(step.dt));
        let [physics, alone_physics] = [&simulation, &alone].map(|it| it.clock().time());
        // Held time may have been divided into other steps, but not with steps of one length.
        if !matches!(stepping, Stepping::Variable | Stepping::SemiFixed) {
            assert_eq!(
                simulation.physics.tick(),
                alone.physics.tick(),
                "{stepping:?}"
            );
        }
        assert_eq!(physics, alone_physics, "{stepping:?}");
        let physics = simulation.physics.time().as_secs_f64();
        assert!((sum - physics).abs() < 1e-5, "{sum} {physics}");
    }
}

#[test]
fn single_steps_in_the_pause_leave_the_held_time_alone() {
    let (mut simulation, key) = stopped(100);
    for tick in 4..7 {
        simulation.step_once();
        let frame = advance(&mut simulation, 30);
        assert_eq!((frame.steps, frame.tick, frame.alpha), (1, tick, 0.0));
        assert_near(shown_x(&simulation, key), (tick - 1) as f32);
    }
    // A pause within single steps drops the others, as the end of the frame does.
    for _ in 0..4 {
        simulation.step_once();
    }
    let frame = frame(&mut simulation, 30, &[7]);
    assert_eq!((frame.steps, frame.tick, frame.alpha), (2, 8, 1.0));
    assert_eq!(frame.dropped.aborted, 2);
    let frame = resume(&mut simulation, 20);
    assert_eq!((frame.steps, frame.tick), (7 + 2, 17));
    // Five single steps came in addition to the time.
    assert_eq!(simulation.clock().time(), MS(120 + 50));
}

#[test]
fn a_resimulated_step_does_not_pause_again() {
    for is_paused in [true, false] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        let stop = |physics: &mut Physics, step: Step| {
            if step.tick == 6 {
                physics.pause_after_step();
            }
        };
        let mut frames = vec![simulation.advance(MS(100), stop)];
        if !is_paused {
            simulation.resume();
            frames.push(simulation.advance(MS(20), stop));
        }
        let tick = simulation.physics.tick();
        // Late input comes for tick 4. Its resimulation runs in its own call, or in a frame.
        simulation.resimulate(4, stop).unwrap();
        simulation.roll_back(5).unwrap();
        frames.push(simulation.advance(MS(30), stop));
        let steps: Vec<u64> = frames.iter().map(|frame| frame.steps).collect();
        let resimulated = frames.last().unwrap().resimulated;
        assert_eq!(resimulated, (tick - 4) + (tick - 5));
        assert_eq!(steps, if is_paused { vec![7, 0] } else { vec![7, 5, 3] });
        assert_eq!(simulation.clock().settings().is_paused(), is_paused);
        let frame = resume(&mut simulation, 0);
        assert_eq!(frame.tick, if is_paused { 10 } else { 15 });
        assert_eq!(simulation.clock().dropped(), Dropped::default());
    }
}

/// A system asks for the pause after a step, and another one then applies late input.
#[test]
fn a_rollback_or_correction_after_the_step_keeps_its_pause() {
    for is_correction in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        simulation.begin_frame(MS(100));
        while let Some(step) = simulation.next_step() {
            simulation.run_step();
            if step.tick == 6 && !step.is_resimulated {
                simulation.physics.pause_after_step();
                if is_correction {
                    simulation.correct(simulation.physics.clone()).unwrap();
                } else {
                    simulation.roll_back(4).unwrap();
                }
            }
        }
        let frame = simulation.end_frame();
        assert_eq!((frame.steps, frame.tick, frame.alpha), (7, 7, 1.0));
        assert_eq!(frame.dropped, Dropped::default());
        assert!(simulation.clock().settings().is_paused());
        assert_eq!(resume(&mut simulation, 0).tick, 10);
    }
}

/// The pause comes at 240 Hz, and the rate falls before the game resumes.
#[test]
fn held_time_survives_a_rollback_over_the_step_and_a_change_of_rate() {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    simulation.clock_settings_mut().set_rate(Rate::hz(240));
    for _ in 0..3 {
        advance(&mut simulation, 50); // twelve steps
    }
    let frame = frame(&mut simulation, 50, &[40]);
    assert_eq!((frame.steps, frame.tick), (5, 41));
    advance(&mut simulation, 10);
    simulation
        .resimulate(38, |physics, step| {
            if step.tick == 40 {
                physics.pause_after_step();
            }
        })
        .unwrap();
    assert_eq!(advance(&mut simulation, 10).resimulated, 3);
    simulation.clock_settings_mut().set_rate(Rate::hz(60));
    // Seven steps of 240 Hz are held: 29.2 ms, one step of 60 Hz and 12.5 ms.
    let frame = resume(&mut simulation, 0);
    assert_eq!((frame.steps, frame.tick), (1, 42));
    assert_eq!(simulation.clock().overstep(), Duration::from_micros(12_500));
    assert_eq!(simulation.clock().time(), MS(200));
}

#[test]
fn copies_and_saved_bytes_hold_the_time_and_no_copy_of_a_state_holds_the_pause() {
    let (mut simulation, key) = flyer_in_space();
    let mut states = Vec::new();
    simulation.advance(MS(105), |physics, step| {
        if step.tick == 2 {
            physics.pause_after_step();
            states.push(physics.clone());
            states.push(physics.preview(1, |_, _| ()));
        }
    });
    let copies = [
        simulation.clone(),
        simulation.clone().clone(),
        #[cfg(feature = "serde")]
        Simulation::load(&simulation.save().unwrap()).unwrap(),
    ];
    for mut copy in copies {
        assert_eq!(copy.clock(), simulation.clock());
        assert_eq!(advance(&mut copy, 20).alpha, 1.0);
        let frame = resume(&mut copy, 4);
        assert_eq!((frame.steps, copy.clock().overstep()), (7, MS(9)));
        assert_near(shown_x(&copy, key), 9.9);
    }
    for state in states {
        let mut other = Simulation::new(Rate::hz(100));
        other.physics = state;
        assert_eq!(advance(&mut other, 50).steps, 5);
    }
}

#[test]
fn the_picture_stops_at_the_state_and_never_goes_back_with_any_smoothing() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Latest,
    ] {
        let (mut simulation, key) = flyer_in_space();
        simulation.smoothing = smoothing;
        let (mut mirror, mut renderer) = (Mirror::default(), Renderer::default());
        let (mut shown, mut time) = (0.0, Duration::ZERO);
        for ms in [17, 4, 33, 2, 2, 2, 50, 9].repeat(6) {
            let frame = simulation.advance(MS(ms), |physics, step| {
                // The fourth of six steps, for example.
                if step.tick % 9 == 3 {
                    physics.pause_after_step();
                }
            });
            let x = shown_x(&simulation, key);
            assert!(x >= shown - 1e-4, "{smoothing:?}: {x} after {shown}");
            assert!(frame.time >= time, "{smoothing:?}");
            if simulation.clock().settings().is_paused() {
                assert_eq!(x, stepped_x(&simulation.physics, key), "{smoothing:?}");
                simulation.resume();
            }
            (shown, time) = (x, frame.time);
            mirror.follow_simulation(&simulation);
            let lists = (simulation.moved(), simulation.removed());
            let data = simulation.render_data();
            renderer.draw(data, lists, |key| simulation.pose(key));
        }
        assert!(simulation.physics.tick() > 60, "{smoothing:?}");
    }
}

#[test]
fn an_origin_shift_before_the_pause_is_displayed_once() {
    let (mut simulation, key) = flyer_in_space();
    let shift = Vector::X * 64.0;
    let mut game = |physics: &mut Physics, step: Step| {
        if step.tick % 4 == 1 {
            physics.shift_origin(shift).unwrap();
        }
        if step.tick == 2 {
            physics.pause_after_step();
        }
    };
    advance(&mut simulation, 0);
    let frame = simulation.advance(MS(100), &mut game);
    assert_eq!((frame.steps, frame.origin_shift), (3, shift));
    assert_eq!(shown_x(&simulation, key), 3.0 - 64.0);
    simulation.resume();
    let frame = simulation.advance(MS(5), &mut game);
    assert_eq!((frame.steps, frame.origin_shift), (7, shift * 2.0));
    assert_near(shown_x(&simulation, key), 9.5 - 3.0 * 64.0);
}

/// Neither is its time dropped, nor does it become steps later.
#[test]
fn a_long_frame_in_which_time_stands_still_drops_nothing() {
    let stops: [fn(&mut Simulation); 2] = [Simulation::pause, |simulation| {
        simulation.clock_settings_mut().set_speed(0.0).unwrap();
    }];
    for (stop, stepping) in stops.into_iter().flat_map(|it| STEPPINGS.map(|s| (it, s))) {
        let (mut simulation, _) = flyer_in_space();
        let settings = simulation.clock_settings_mut();
        settings.set_stepping(stepping);
        settings.set_max_steps_per_frame(Some(2));
        stop(&mut simulation);
        let frame = advance(&mut simulation, 5_000);
        assert_eq!((frame.steps, frame.dropped), (0, Dropped::default()));
        simulation.clock_settings_mut().set_speed(1.0).unwrap();
        let frame = resume(&mut simulation, 10);
        assert_eq!((frame.steps, frame.dropped), (1, Dropped::default()));
        assert_eq!(simulation.clock().time(), MS(10), "{stepping:?}");
    }
}

#[test]
fn an_overstep_that_is_set_replaces_the_held_time() {
    let (mut simulation, _) = stopped(105);
    // A new match, in sync with another machine's clock.
    simulation.physics = Physics::new();
    simulation.set_tick(0);
    simulation.set_overstep(Duration::ZERO);
    let frame = resume(&mut simulation, 0);
    assert_eq!((frame.steps, frame.tick), (0, 0));
    assert_eq!(resume(&mut simulation, 10).steps, 1);
}

/// The rule 'game over: restart the level, and wait'.
#[test]
fn a_pause_after_an_assignment_in_the_same_hook_stops_the_clock() {
    struct Restart(Physics);

    impl Hooks for Restart {
        type Error = Infallible;

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
            if step.tick == 2 {
                *physics = self.0.clone();
                physics.pause_after_step();
            }
            Ok(())
        }
    }

    for ms in [30, 50] {
        let (mut simulation, _) = flyer_in_space();
        let mut hooks = Restart(simulation.physics.clone());
        let Ok(frame) = simulation.advance_with(MS(ms), &mut hooks);
        assert!(simulation.clock().settings().is_paused());
        assert_eq!((frame.tick, simulation.physics.tick()), (0, 0));
        let frame = resume(&mut simulation, 0);
        assert_eq!(frame.steps, ms / 10 - 3);
    }
    // A copy has no such request.
    let mut level = Physics::new();
    level.pause_after_step();
    let mut simulation = Simulation::default();
    simulation.begin_frame(MS(100));
    simulation.physics = level.clone();
    simulation.next_step();
    simulation.end_frame();
    assert!(!simulation.clock().settings().is_paused());
}

/// The time that a stop has held counts at the new rate, and not at all after `set_overstep`.
#[test]
fn until_next_step_counts_held_time_as_the_next_frame_does() {
    type Change = fn(&mut Simulation);
    let changes: [Change; 4] = [
        |_| (),
        |simulation| simulation.clock_settings_mut().set_rate(Rate::hz(20)),
        |simulation| simulation.clock_settings_mut().set_rate(Rate::hz(300)),
        |simulation| simulation.set_overstep(Duration::ZERO),
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let mut simulation = Simulation::new(Rate::hz(100));
        simulation.advance(MS(25), |physics, step| {
            if step.tick == 0 {
                physics.pause_after_step();
            }
        });
        simulation.resume();
        change(&mut simulation);
        let until = simulation.clock().until_next_step().unwrap();
        if let Some(earlier) = until.checked_sub(Duration::from_nanos(1)) {
            assert_eq!(
                simulation.clone().advance(earlier, |_, _| ()).steps,
                0,
                "{n}"
            );
        }
        assert!(
            simulation.advance(until, |_, _| ()).steps > 0,
            "{n}: {until:?}"
        );
    }
}
