//! Assignment of a `Physics`: outside of frames, in hooks and between steps.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn an_assigned_physics_continues_bit_for_bit() {
    let (mut simulation, keys) = three();
    let frame = |simulation: &mut Simulation, ms: u64| {
        simulation.advance(MS(ms), |physics, step| play(physics, keys[0], step));
        bits(&simulation.physics)
    };
    frame(&mut simulation, 70);
    // Forces for the next step are part of the state.
    simulation
        .physics
        .apply_impulse(keys[1], Vector::X)
        .unwrap();
    let saved = simulation.physics.clone();
    let before = bits(&saved);
    assert_eq!(before, bits(&simulation.physics));
    assert_eq!((saved.tick(), saved.time()), (7, MS(70)));
    let run = [10, 30, 0, 50].map(|ms| frame(&mut simulation, ms));
    let last = checksum(&simulation.physics);
    let motions = |physics: &Physics| {
        keys.map(|key| {
            let body = physics.body(key).unwrap();
            (*body.position(), body.linvel(), body.angvel())
        })
    };
    let ends = motions(&simulation.physics);

    simulation.physics = saved.clone();
    assert_eq!(bits(&simulation.physics), before);
    assert_eq!(motions(&simulation.physics), motions(&saved));
    assert_eq!([10, 30, 0, 50].map(|ms| frame(&mut simulation, ms)), run);
    assert_eq!(checksum(&simulation.physics), last);
    assert_eq!(motions(&simulation.physics), ends);
    let clock = simulation.clock();
    assert_eq!((clock.tick(), clock.time()), (16, MS(160)));
    // The same in another simulation, with other frame times.
    let mut other = Simulation::new(Rate::hz(100));
    other.physics = saved;
    for _ in 0..9 {
        frame(&mut other, 10);
    }
    assert_eq!(bits(&other.physics), run[3]);
    assert_eq!(checksum(&other.physics), last);
}

#[test]
fn an_assignment_leaves_clock_settings_and_displayed_poses_unchanged() {
    let (mut simulation, keys) = three();
    let saved = simulation.physics.clone();
    simulation.keep(Kept {
        poses: 20,
        ..simulation.kept()
    });
    simulation.clock_settings_mut().set_speed(0.5).unwrap();
    advance(&mut simulation, 94); // 4.7 steps
    let (shown, frame) = (simulation.pose(keys[0]), simulation.frame());
    let moved = simulation.moved().to_vec();
    simulation.physics = saved;
    assert_eq!(
        (simulation.pose(keys[0]), simulation.frame()),
        (shown, frame)
    );
    assert_eq!(simulation.moved(), moved);
    let frame = advance(&mut simulation, 0);
    assert_eq!((frame.number, frame.steps, frame.tick), (2, 0, 0));
    assert_eq!(simulation.clock().real_time(), MS(94));
    assert_eq!(simulation.clock().settings().speed(), 0.5);
    // The overstep is kept too, so the next step runs when it would have run.
    assert_eq!(simulation.clock().overstep(), MS(7));
    assert_eq!(advance(&mut simulation, 5).steps, 0);
    assert_eq!(advance(&mut simulation, 1).steps, 1);
    assert_near(
        simulation.physics.body(keys[0]).unwrap().translation().x,
        1.0,
    );
}

#[test]
fn the_frame_after_an_assignment_lists_the_bodies_that_differ() {
    let (mut simulation, [flyer, spinner, wall]) = three();
    advance(&mut simulation, 30);
    let saved = simulation.physics.clone();
    simulation.physics.remove(spinner).unwrap();
    let guest = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 20);
    assert_eq!(simulation.removed(), [spinner]);
    simulation.physics = saved;
    advance(&mut simulation, 0);
    let mut moved = moved_keys(&simulation);
    moved.sort_unstable();
    assert_eq!(moved, [flyer, spinner], "the wall has not moved");
    assert_eq!(simulation.removed(), [guest]);
    assert_eq!(simulation.pose(wall).unwrap().translation.y, 9.0);
    advance(&mut simulation, 0);
    assert_eq!(
        (simulation.moved(), simulation.removed()),
        (&[][..], &[][..])
    );
}

/// This holds even if the assigned value is a clone of the current one.
#[test]
fn an_assignment_clears_snapshots_and_pose_history() {
    for is_same in [false, true] {
        let (mut simulation, keys) = three();
        simulation.keep(Kept {
            ticks: 20,
            poses: 20,
            ..simulation.kept()
        });
        advance(&mut simulation, 50);
        let saved = simulation.physics.clone();
        advance(&mut simulation, if is_same { 0 } else { 40 });
        let known = |simulation: &Simulation| {
            let ticks = 0..=12;
            let ticks = ticks.filter(|tick| simulation.pose_at(keys[2], *tick, 1.0).is_some());
            ticks.collect::<Vec<u64>>()
        };
        assert_eq!(known(&simulation).len(), if is_same { 6 } else { 10 });
        simulation.physics = saved;
        // The past is cleared at once, not only in the next frame.
        assert_eq!(
            (simulation.rewindable(), known(&simulation)),
            (0..0, vec![5])
        );
        assert!(simulation.world_at(3, 1.0).is_err());
        assert!(simulation.clone().rewind(3).is_err());
        assert!(simulation.roll_back(3).is_err());
        assert_eq!(
            (simulation.rewindable(), known(&simulation)),
            (0..0, vec![5])
        );
        // From now on, states and poses are kept again.
        advance(&mut simulation, 20);
        assert_eq!(simulation.rewindable(), 5..7);
        assert_eq!(known(&simulation), [5, 6, 7]);
    }
}

#[test]
fn taking_out_and_returning_the_physics_changes_nothing() {
    let (mut simulation, keys) = three();
    simulation.keep(Kept {
        ticks: 20,
        poses: 20,
        ..simulation.kept()
    });
    let mut untouched = simulation.clone();
    let frame = |simulation: &mut Simulation| {
        simulation.advance(MS(33), |physics, step| play(physics, keys[0], step));
    };
    for _ in 0..5 {
        frame(&mut simulation);
        frame(&mut untouched);
        let physics = std::mem::take(&mut simulation.physics);
        assert_eq!(simulation.physics.bodies().count(), 0);
        simulation.physics = physics;
        assert_eq!(simulation.rewindable(), untouched.rewindable());
        let at = |simulation: &Simulation| simulation.pose_at(keys[0], 1, 0.5);
        assert_eq!(at(&simulation), at(&untouched));
        assert_eq!(simulation.moved(), untouched.moved());
    }
    // Within a frame, with a pending step.
    for simulation in [&mut simulation, &mut untouched] {
        simulation.begin_frame(MS(20));
        let step = simulation.next_step().unwrap();
        play(&mut simulation.physics, keys[0], step);
    }
    let physics = std::mem::take(&mut simulation.physics);
    assert!(physics.current_step().is_some());
    simulation.physics = physics;
    for simulation in [&mut simulation, &mut untouched] {
        assert!(simulation.run_step());
        while simulation.next_step().is_some() {
            simulation.run_step();
        }
        simulation.end_frame();
        simulation.roll_back(2).unwrap();
        advance(simulation, 0);
    }
    assert_eq!(simulation.frame(), untouched.frame());
    assert_eq!(simulation.moved(), untouched.moved());
    assert_eq!(bits(&simulation.physics), bits(&untouched.physics));
    assert_eq!(simulation.rewindable(), untouched.rewindable());
}

#[test]
fn two_simulations_that_swap_their_physics_continue_bit_for_bit() {
    let (mut one, keys) = three();
    let (mut other, _) = flyer_in_space();
    (other.physics).insert(RigidBodyBuilder::fixed().translation(Vector::X), ball());
    for simulation in [&mut one, &mut other] {
        simulation.keep(Kept {
            ticks: 20,
            ..simulation.kept()
        });
    }
    let frame = |simulation: &mut Simulation| {
        simulation.advance(MS(30), |physics, step| play(physics, keys[0], step));
    };
    let run = |one: &mut Simulation, other: &mut Simulation| {
        frame(one);
        frame(other);
        frame(other);
    };
    run(&mut one, &mut other);
    let [mut one_alone, mut other_alone] = [one.clone(), other.clone()];
    // The values are swapped twice before they are used.
    for _ in 0..2 {
        std::mem::swap(&mut one.physics, &mut other.physics);
    }
    assert_eq!((one.rewindable(), other.rewindable()), (0..3, 0..6));
    run(&mut one, &mut other);
    run(&mut one_alone, &mut other_alone);
    assert_eq!((one.rewindable(), other.rewindable()), (0..6, 0..12));
    // Each simulation now has the other's value and its past.
    std::mem::swap(&mut one.physics, &mut other.physics);
    run(&mut other, &mut one);
    run(&mut one_alone, &mut other_alone);
    assert_eq!((one.rewindable(), other.rewindable()), (12..18, 6..9));
    std::mem::swap(&mut one.physics, &mut other.physics);
    run(&mut one, &mut other);
    run(&mut one_alone, &mut other_alone);
    for (simulation, alone) in [(&one, &one_alone), (&other, &other_alone)] {
        assert_eq!(bits(&simulation.physics), bits(&alone.physics));
        assert_eq!(checksum(&simulation.physics), checksum(&alone.physics));
        for (key, _) in alone.physics.bodies() {
            assert_eq!(simulation.pose(key), alone.pose(key));
        }
    }
}

#[test]
fn a_clone_made_in_a_hook_excludes_forces_of_the_pending_step() {
    let (mut simulation, key) = flyer_in_space();
    advance(&mut simulation, 20);
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    let mut copies = Vec::new();
    simulation.advance(MS(20), |physics, step| {
        if step.tick == 2 {
            physics.apply_impulse(key, Vector::Y * 10.0).unwrap();
            physics.add_force(key, Vector::Y * 500.0).unwrap();
            copies.push(physics.clone());
            assert_eq!(
                physics.current_step(),
                Some(step),
                "the original has a pending step"
            );
        }
    });
    let mut copy = copies.pop().unwrap();
    assert_eq!(copy.current_step(), None);
    assert_eq!((copy.tick(), copy.time()), (2, MS(20)));
    let rise = |physics: &Physics| physics.body(key).unwrap().linvel().y;
    assert_near(rise(&simulation.physics), 1.0 + 10.0 + 5.0);
    assert_near(rise(&copy), 0.0);
    // Forces from before the step still wait. Forces added to the copy are for its next step.
    copy.apply_impulse(key, Vector::Y * 3.0).unwrap();
    simulation.physics = copy;
    advance(&mut simulation, 10);
    assert_near(rise(&simulation.physics), 1.0 + 3.0);
    assert_eq!(simulation.physics.tick(), 3);
}

/// Assigns a state after the step of a tick.
struct Restart(u64, Physics);

impl Hooks for Restart {
    type Error = Infallible;

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick == self.0 {
            *physics = self.1.clone();
        }
        Ok(())
    }
}

#[test]
fn a_state_assigned_after_the_last_resimulated_step_has_replaced_the_others() {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let level = simulation.physics.clone();
    advance(&mut simulation, 30);
    let mut restart = Restart(2, level);
    simulation.resimulate_with(1, &mut restart).unwrap();
    assert_eq!(
        (simulation.physics.tick(), simulation.clock().tick()),
        (0, 0)
    );
    assert!(simulation.rewindable().is_empty());
}

#[test]
fn an_assigned_state_that_was_displayed_with_another_smoothing_has_no_visual_error() {
    let mut simulation = scenes::space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0);
    let key = simulation.physics.insert(body, scenes::ball());
    simulation.advance(MS(100), |_, _| ());
    let copy = simulation.physics.clone();
    simulation.smoothing = Smoothing::Latest;
    for _ in 0..10 {
        simulation.advance(MS(17), |_, _| ());
    }
    simulation.physics = copy;
    simulation.advance(Duration::ZERO, |_, _| ());
    assert_eq!(simulation.visual_error(key), None);
}

#[test]
fn a_frame_reports_the_steps_that_were_resimulated_before_an_assignment() {
    let (mut simulation, _) = three();
    simulation.keep(Kept {
        ticks: 10,
        ..Kept::default()
    });
    advance(&mut simulation, 50);
    let snapshot = simulation.physics.clone();
    simulation.resimulate(2, |_, _| ()).unwrap();
    simulation.physics = snapshot;
    assert_eq!(advance(&mut simulation, 10).resimulated, 3);
}

/// The hook before a frame assigns a state after a panic has left the last frame open.
#[test]
fn a_frame_that_a_panic_left_open_reports_what_it_dropped_after_an_assignment() {
    struct Assigns(Option<Physics>);
    impl Hooks for Assigns {
        type Error = Infallible;
        fn before_frame(
            &mut self,
            simulation: &mut Simulation,
            _: evenstep::time::FrameTime,
        ) -> Result<(), Infallible> {
            if let Some(physics) = self.0.take() {
                simulation.physics = physics;
            }
            Ok(())
        }
    }
    let (mut simulation, _) = three();
    advance(&mut simulation, 10);
    let snapshot = simulation.physics.clone();
    let frame = AssertUnwindSafe(|| {
        simulation.advance(MS(300), |_, step| assert!(step.tick < 3));
    });
    assert!(catch_unwind(frame).is_err());
    let dropped = |mut simulation: Simulation, assigned| {
        let frame = simulation.advance_with(MS(10), &mut Assigns(assigned));
        frame.unwrap().dropped
    };
    let expected = dropped(simulation.clone(), None);
    assert!(expected.aborted > 0 && !expected.frame_time.is_zero());
    assert_eq!(dropped(simulation, Some(snapshot)), expected);
}
