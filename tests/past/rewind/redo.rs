//! Steps that a rollback has made due again: further rollbacks, failing hooks, limits.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn a_rollback_within_a_frame_repeats_the_pending_step() {
    let (mut simulation, key) = flyer_with_states(20);
    let mut reference = simulation.clone();
    advance(&mut simulation, 50);
    simulation.begin_frame(MS(20));
    let step = simulation.next_step().unwrap();
    assert_eq!((step.tick, step.is_resimulated), (5, false));
    simulation.roll_back(2).unwrap();
    let mut made = Vec::new();
    while let Some(step) = simulation.next_step() {
        made.push((step.tick, step.is_resimulated));
        simulation.physics.apply_impulse(key, Vector::Y).unwrap();
        simulation.run_step();
    }
    let frame = simulation.end_frame();
    let expected = [(2, true), (3, true), (4, true), (5, false), (6, false)];
    assert_eq!(made, expected);
    assert_eq!((frame.steps, frame.resimulated, frame.tick), (2, 3, 7));
    let push = |physics: &mut Physics, step: Step| {
        if step.tick >= 2 {
            physics.apply_impulse(key, Vector::Y).unwrap();
        }
    };
    reference.advance(MS(70), push);
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(reference.physics.rapier())
    );
}

#[test]
fn a_rollback_during_a_rollback_can_go_back_further_or_restart() {
    let (mut simulation, key) = ball_and_sensor();
    // Another sensor, which the ball hits in the step of tick 3.
    insert_sensor(&mut simulation, 3.5);
    advance(&mut simulation, 100);
    let mut made = Vec::new();
    simulation.roll_back(6).unwrap();
    let mut step = |simulation: &mut Simulation| {
        let step = simulation.next_step().unwrap();
        made.push(step.tick);
        simulation.run_step();
    };
    step(&mut simulation);
    step(&mut simulation);
    simulation.roll_back(3).unwrap();
    assert_eq!(simulation.steps_to_resimulate(), 7);
    step(&mut simulation);
    step(&mut simulation);
    simulation.roll_back(4).unwrap();
    // The steps from that tick on are due already.
    simulation.roll_back(8).unwrap();
    assert_eq!(simulation.physics.tick(), 4);
    assert_eq!(simulation.steps_to_resimulate(), 6);
    while simulation.steps_to_resimulate() > 0 {
        assert!(simulation.event_changes().confirmed.is_empty());
        step(&mut simulation);
    }
    let changes = simulation.event_changes();
    assert_eq!(
        changes.confirmed.len(),
        4,
        "events are confirmed when the rollback ends"
    );
    assert!(changes.new.is_empty() && changes.retracted.is_empty());
    assert_eq!(made, [6, 7, 3, 4, 4, 5, 6, 7, 8, 9]);
    assert_eq!(simulation.next_step(), None);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (10, 0..10)
    );
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 10.0);
}

#[test]
fn a_failed_hook_leaves_the_remaining_steps_due() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 105);
    let before = (
        hash(simulation.physics.rapier()),
        simulation.pose(key),
        simulation.physics.tick(),
    );
    let mut watch = Watch {
        fails_at: Some(7),
        ..Watch::default()
    };
    let error = simulation.resimulate_with(5, &mut watch).unwrap_err();
    assert_eq!(error, ResimulateError::Hook("on purpose"));
    assert_eq!(watch.steps.len(), 3);
    let there = (simulation.physics.tick(), simulation.steps_to_resimulate());
    assert_eq!(there, (7, 3));
    assert_eq!(
        simulation.pose(key),
        before.1,
        "displayed poses do not change"
    );
    // The failed step is repeated in the next frame.
    let mut watch = Watch::default();
    let frame = simulation.advance_with(MS(0), &mut watch).unwrap();
    assert_eq!((frame.resimulated, frame.steps, frame.tick), (5, 0, 10));
    let again: Vec<u64> = watch.steps.iter().map(|(step, ..)| step.tick).collect();
    assert_eq!(again, [7, 8, 9]);
    let after = (
        hash(simulation.physics.rapier()),
        simulation.pose(key),
        simulation.physics.tick(),
    );
    assert_eq!(after, before);
    assert_eq!(simulation.rewindable(), 0..10);
    // If a hook fails in a frame, the frame ends and displays the previous poses.
    advance(&mut simulation, 40);
    let shown = simulation.pose(key);
    simulation.roll_back(12).unwrap();
    let mut watch = Watch {
        fails_at: Some(13),
        ..Watch::default()
    };
    simulation.advance_with(MS(20), &mut watch).unwrap_err();
    let frame = simulation.frame();
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.aborted),
        (1, 0, 2)
    );
    assert_eq!((frame.tick, frame.alpha), (14, 0.5));
    assert_eq!((simulation.pose(key), simulation.moved()), (shown, &[][..]));
    assert_eq!(simulation.physics.tick(), 13);
    let frame = advance(&mut simulation, 10);
    assert_eq!((frame.resimulated, frame.steps, frame.tick), (1, 1, 15));
    assert_near(shown_x(&simulation, key), 14.5);
    assert_eq!(simulation.rewindable(), 0..15);
}

#[test]
fn rewind_limits_bound_the_rewindable_ticks() {
    let (mut simulation, _) = flyer_with_states(0);
    advance(&mut simulation, 50);
    let error = simulation.roll_back(4).unwrap_err();
    assert_eq!(
        error,
        RewindError::NotKept {
            tick: 4,
            kept: 0..0
        }
    );
    assert_eq!(
        error.to_string(),
        "the state of tick 4 is not kept: no states are kept; call `keep` before the run"
    );
    simulation.keep(Kept {
        ticks: 8,
        bytes: ALL,
        ..simulation.kept()
    });
    advance(&mut simulation, 50);
    assert_eq!(simulation.rewindable(), 5..10);
    advance(&mut simulation, 50);
    assert_eq!(simulation.rewindable(), 7..15);
    assert_eq!(
        simulation.roll_back(4).unwrap_err().to_string(),
        "the state of tick 4 is not kept: choose a tick in 7..15 (with an interval, only every n-th is kept), or `keep` more ticks before the next run"
    );
    let bytes = simulation.rewind_bytes();
    assert!(bytes > 0);
    // A clone has no states, but keeps as many from now on.
    let mut clone = simulation.clone();
    assert_eq!((clone.rewindable(), clone.rewind_bytes()), (0..0, 0));
    advance(&mut clone, 100);
    assert_eq!(clone.rewindable(), 17..25);
    simulation.keep(Kept {
        ticks: 8,
        bytes: bytes / 2,
        ..simulation.kept()
    });
    assert_eq!(simulation.rewindable(), 11..15);
    assert!(simulation.rewind_bytes() <= bytes / 2);
    advance(&mut simulation, 100);
    assert_eq!(simulation.rewindable(), 21..25);
    // A state that exceeds the limit alone is not kept.
    simulation.keep(Kept {
        ticks: 8,
        bytes: 1,
        ..simulation.kept()
    });
    advance(&mut simulation, 100);
    assert!(simulation.rewindable().is_empty());
    assert_eq!(simulation.rewind_bytes(), 0);
    simulation.keep(Kept {
        ticks: 8,
        bytes: ALL,
        ..simulation.kept()
    });
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 35..37);
    let (tick, kept) = (34, 35..37);
    assert_eq!(
        simulation.roll_back(tick),
        Err(RewindError::NotKept { tick, kept })
    );
    // Steps from the present or a future tick on are due already.
    for ahead in [37, 38, u64::MAX] {
        assert_eq!(simulation.roll_back(ahead), Ok(()));
        assert_eq!(simulation.steps_to_resimulate(), 0);
        assert_eq!(simulation.physics.tick(), 37);
    }
    // A new tick number, or a shift of the origin between two frames, makes earlier states useless.
    simulation.set_tick(1_000);
    advance(&mut simulation, 0);
    assert!(simulation.rewindable().is_empty());
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 1_000..1_002);
    simulation.physics.shift_origin(Vector::X).unwrap();
    assert!(simulation.rewindable().is_empty());
}

#[test]
fn the_present_kept_by_a_rewind_displaces_no_earlier_state() {
    let (mut simulation, key) = flyer_with_states(8);
    advance(&mut simulation, 200);
    assert_eq!(simulation.rewindable(), 12..20);
    let present = true_pose(&simulation, key);
    simulation.rewind(12).unwrap();
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (12, 12..21)
    );
    simulation.rewind(20).unwrap();
    assert_same(true_pose(&simulation, key), present);
    // An edit at that tick is kept when another rewind leaves it.
    let there = Pose::from_translation(Vector::Y * 9.0);
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_position(there, true);
    simulation.rewind(12).unwrap();
    simulation.rewind(20).unwrap();
    assert_eq!(*simulation.physics.body(key).unwrap().position(), there);
    // The next step begins another run, so later states are discarded.
    simulation.rewind(15).unwrap();
    advance(&mut simulation, 10);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (16, 12..16)
    );
}

#[test]
fn rewinds_keep_all_rewindable_states_under_a_byte_limit() {
    let (mut simulation, key) = flyer_with_states(100);
    let grow = |simulation: &mut Simulation, bodies: usize| {
        simulation.advance(MS(10), |physics, _| {
            for _ in 0..bodies {
                physics.insert_body(RigidBodyBuilder::dynamic());
            }
        });
    };
    for _ in 0..8 {
        grow(&mut simulation, 3);
    }
    let bytes = simulation.rewind_bytes();
    simulation.keep(Kept {
        ticks: 100,
        bytes,
        ..simulation.kept()
    });
    // The present is larger than all earlier states together.
    grow(&mut simulation, 1_000);
    let kept = simulation.rewindable();
    assert!(kept.start > 0 && kept.end == 9, "{kept:?}");
    let present = true_pose(&simulation, key);
    for tick in [kept.start, 9, 8, kept.start, 9] {
        simulation.rewind(tick).unwrap();
        assert_eq!(simulation.rewindable(), kept.start..10);
    }
    assert_same(true_pose(&simulation, key), present);
    simulation.rewind(8).unwrap();
    grow(&mut simulation, 3);
    assert!(simulation.rewind_bytes() <= bytes);
    assert_eq!(simulation.rewindable().end, 9);
}

/// The state contains a mark for forces that were pending at the end of an earlier frame.
#[test]
fn forces_added_in_a_pause_after_a_rollback_are_discarded() {
    let (mut simulation, key) = flyer_with_states(20);
    let push = |simulation: &mut Simulation| {
        simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    };
    push(&mut simulation);
    // In a frame without a step, the force waits for the next one.
    advance(&mut simulation, 5);
    advance(&mut simulation, 15);
    simulation.resimulate(0, |_, _| ()).unwrap();
    simulation.pause();
    push(&mut simulation);
    assert_eq!(advance(&mut simulation, 10).forgotten_forces, 1);
    simulation.resume();
    advance(&mut simulation, 10);
    assert_near(simulation.physics.body(key).unwrap().linvel().y, 1.0);
}

/// Between two frames, a force was added for a step. It belongs to the state before that step.
#[test]
fn a_pause_after_a_rewind_keeps_the_forces_of_the_restored_state() {
    let (mut simulation, key) = flyer_with_states(20);
    let push = |simulation: &mut Simulation| {
        simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    };
    push(&mut simulation);
    advance(&mut simulation, 10);
    simulation.pause();
    // A rewind away from this tick and back does not make the pause keep this force.
    push(&mut simulation);
    simulation.rewind(0).unwrap();
    simulation.rewind(1).unwrap();
    assert_eq!(advance(&mut simulation, 10).forgotten_forces, 1);
    simulation.rewind(0).unwrap();
    assert_eq!(advance(&mut simulation, 10).forgotten_forces, 0);
    simulation.resume();
    advance(&mut simulation, 10);
    assert_near(simulation.physics.body(key).unwrap().linvel().y, 1.0);
}

/// If they counted, a rollback would drop steps, or would be impossible.
#[test]
fn resimulated_steps_do_not_count_against_the_frame_limits() {
    let (mut simulation, key) = flyer_with_states(100);
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    advance(&mut simulation, 200);
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(6));
    simulation.resimulate(4, |_, _| ()).unwrap();
    simulation.resimulate(16, |_, _| ()).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.steps),
        (20, 6, 4)
    );
    // Resimulated steps within a frame do not count either.
    simulation.roll_back(11).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.steps),
        (15, 6, 4)
    );
    let frame = advance(&mut simulation, 100);
    assert_eq!((frame.resimulated, frame.steps), (0, 6));

    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(None);
    simulation.clock_settings_mut().set_budget(Some(Budget {
        frame: MS(8),
        step: MS(2),
    }));
    let tick = simulation.physics.tick();
    simulation.roll_back(tick - 9).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.over_budget),
        (9, 4, 6)
    );
    assert_near(
        current_pose(&simulation, key).unwrap().translation.x,
        frame.tick as f32,
    );
}

/// The game catches a panic of its hook and continues, so the hook of that step runs again.
#[test]
fn forces_of_a_resimulated_step_whose_hook_has_panicked_act_once() {
    let run = |panics: bool, how: &str| {
        let (mut simulation, key) = flyer_with_states(20);
        advance(&mut simulation, 100);
        let mut panics = panics;
        let mut hook = |physics: &mut Physics, step: Step| {
            if step.tick == 7 {
                physics.add_force(key, Vector::Y * 60.0).unwrap();
                if std::mem::take(&mut panics) {
                    std::panic::resume_unwind(Box::new("a bug of the game"));
                }
            }
        };
        let resimulate = || simulation.resimulate(5, &mut hook).unwrap();
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(resimulate));
        match how {
            "advance" => drop(simulation.advance(MS(0), &mut hook)),
            "resimulate" => simulation.resimulate(9, &mut hook).unwrap(),
            _ => {
                while let Some(step) = simulation.next_step() {
                    hook(&mut simulation.physics, step);
                    simulation.run_step();
                }
            }
        }
        assert_eq!(simulation.physics.tick(), 10);
        simulation.physics.body(key).unwrap().linvel()
    };
    for how in ["advance", "resimulate", "next_step"] {
        assert_eq!(run(true, how), run(false, how), "{how}");
    }
}

/// The game receives a resimulated step in its own loop between frames, and does not run it.
#[test]
fn forces_of_a_resimulated_step_that_was_received_outside_of_a_frame_act_once() {
    let run = |is_received: bool, how: &str| {
        let (mut simulation, key) = flyer_with_states(20);
        advance(&mut simulation, 100);
        let push = |physics: &mut Physics, _: Step| {
            physics.apply_impulse(key, Vector::Y).unwrap();
        };
        simulation.roll_back(5).unwrap();
        if is_received {
            let step = simulation.next_step().unwrap();
            push(&mut simulation.physics, step);
        }
        match how {
            "advance" => drop(simulation.advance(MS(10), push)),
            "resimulate the same" => simulation.resimulate(5, push).unwrap(),
            "resimulate" => simulation.resimulate(7, push).unwrap(),
            _ => {
                simulation.begin_frame(MS(10));
                while let Some(step) = simulation.next_step() {
                    push(&mut simulation.physics, step);
                    simulation.run_step();
                }
                simulation.end_frame();
            }
        }
        assert_eq!(simulation.steps_to_resimulate(), 0);
        simulation.physics.body(key).unwrap().linvel()
    };
    for how in [
        "advance",
        "begin_frame",
        "resimulate the same",
        "resimulate",
    ] {
        assert_eq!(run(true, how), run(false, how), "{how}");
    }
}

/// The current step of a frame is no step of a rollback, so `resimulate` leaves it to the game.
#[test]
fn a_resimulation_without_steps_keeps_the_received_step_and_its_forces() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 100);
    let before = simulation.physics.body(key).unwrap().linvel().y;
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.resimulate(11, |_, _| ()).unwrap();
    assert!(simulation.run_step());
    assert!(simulation.physics.body(key).unwrap().linvel().y > before);
}

/// A hook fails, and the game stays where it is.
#[test]
fn a_force_after_the_last_step_of_a_dropped_rollback_waits_for_the_next_step() {
    struct Fails(BodyKey);

    impl Hooks for Fails {
        type Error = ();

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
            if step.is_resimulated && step.tick == 4 {
                physics.apply_impulse(self.0, Vector::Y).unwrap();
                return Err(());
            }
            Ok(())
        }
    }

    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 100);
    simulation.resimulate_with(2, &mut Fails(key)).unwrap_err();
    simulation.rewind(simulation.physics.tick()).unwrap();
    simulation.pause();
    assert_eq!(advance(&mut simulation, 10).forgotten_forces, 0);
    simulation.resume();
    advance(&mut simulation, 10);
    assert!(simulation.physics.body(key).unwrap().linvel().y > 0.0);
}

/// Rewinds before each frame.
struct RewindsTo(u64);

impl Hooks for RewindsTo {
    type Error = std::convert::Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: evenstep::time::FrameTime,
    ) -> Result<(), Self::Error> {
        simulation.rewind(self.0).unwrap();
        Ok(())
    }
}

#[test]
fn the_frame_after_a_panic_and_a_rewind_reports_what_the_interrupted_frame_dropped() {
    let panics: [fn(&mut Physics); 2] = [|_| panic!("the hook panics"), break_rapier];
    for (panics, tick) in panics.into_iter().flat_map(|it| [(it, 3), (it, 6)]) {
        let (mut simulation, _) = flyer_with_states(20);
        advance(&mut simulation, 50);
        simulation.roll_back(3).unwrap();
        let frame = std::panic::AssertUnwindSafe(|| {
            simulation.advance(MS(400), |physics, step| {
                if step.tick == 6 {
                    panics(physics);
                }
            })
        });
        std::panic::catch_unwind(frame).unwrap_err();
        let frame = simulation
            .advance_with(MS(10), &mut RewindsTo(tick))
            .unwrap();
        assert!(frame.dropped.aborted > 0 && !frame.dropped.frame_time.is_zero());
        assert_eq!(frame.dropped, simulation.clock().dropped());
        assert_eq!((frame.resimulated, frame.steps), (2, 1));
        assert_eq!((frame.ticks(), frame.tick), (tick..tick + 1, tick + 1));
        // It is reported once.
        assert_eq!(advance(&mut simulation, 10).dropped, Default::default());
    }
}
