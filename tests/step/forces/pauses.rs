//! Forces added in a pause, and forces of steps that are not run.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn user_forces_survive_a_temporary_change_of_the_body_type() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let (force, torque) = (Vector::X * 3.0, spin(0.0, 5.0, 0.0));
    let body = simulation.physics.body_mut(key).unwrap();
    body.add_force(force, true);
    body.add_torque(torque, true);
    let thrust = ForceGenerator::Thrust {
        force: vector(0.0, 0.0, 1.0),
        point: Vector::X,
    };
    simulation
        .physics
        .insert_force_generator(key, thrust)
        .unwrap();
    for body_type in [
        RigidBodyType::KinematicPositionBased,
        RigidBodyType::Dynamic,
        RigidBodyType::Fixed,
        RigidBodyType::Dynamic,
    ] {
        let body = simulation.physics.body_mut(key).unwrap();
        body.set_body_type(body_type, true);
        simulation.advance(MS(30), |physics, _| {
            physics.add_force(key, Vector::Y).unwrap();
        });
        let body = simulation.physics.body(key).unwrap();
        if body_type == RigidBodyType::Dynamic {
            assert_eq!((body.user_force(), body.user_torque()), (force, torque));
        }
    }
}

#[test]
fn quarantine_resets_the_user_forces_of_the_quarantined_body_only() {
    let mut simulation = space();
    let keys: Vec<BodyKey> = (0..3u8)
        .map(|i| {
            let at = RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0 * f32::from(i));
            simulation
                .physics
                .insert(at, ColliderBuilder::ball(0.5).mass(1.0))
        })
        .collect();
    for key in &keys {
        let body = simulation.physics.body_mut(*key).unwrap();
        body.add_force(Vector::X, true);
        body.add_torque(spin(0.0, 1.0, 0.0), true);
    }
    simulation.advance(MS(10), |physics, _| {
        for key in &keys {
            physics.add_force(*key, vector(0.0, 0.0, 1.0)).unwrap();
        }
        let body = physics.body_mut(keys[1]).unwrap();
        body.set_linvel(Vector::NAN, true);
    });
    for (i, key) in keys.iter().enumerate() {
        let body = simulation.physics.body(*key).unwrap();
        let kept = if i == 1 { 0.0 } else { 1.0 };
        assert_eq!(body.is_enabled(), i != 1);
        assert_eq!(body.user_force(), Vector::X * kept);
        assert_eq!(body.user_torque(), spin(0.0, kept, 0.0));
    }
}

type Act = fn(&mut Simulation);

/// Each way to stop time, and the way to let it run again.
const STOPS: [(Act, Act); 2] = [
    (Simulation::pause, Simulation::resume),
    (
        |simulation| simulation.clock_settings_mut().set_speed(0.0).unwrap(),
        |simulation| simulation.clock_settings_mut().set_speed(1.0).unwrap(),
    ),
];

#[test]
fn forces_added_while_the_clock_is_stopped_are_discarded_and_counted() {
    for (stop, resume) in STOPS {
        let mut simulation = space();
        let key = ball(&mut simulation.physics);
        stop(&mut simulation);
        for _ in 0..100 {
            simulation
                .physics
                .add_force(key, Vector::X * 100.0)
                .unwrap();
            simulation.physics.apply_impulse(key, Vector::X).unwrap();
            let frame = simulation.advance(MS(10), nothing);
            assert_eq!((frame.steps, frame.forgotten_forces), (0, 2));
        }
        // Forces added in the frame in which time continues take effect, whether they are added before or after the
        // call.
        simulation
            .physics
            .add_force(key, Vector::X * 100.0)
            .unwrap();
        resume(&mut simulation);
        simulation
            .physics
            .add_force(key, Vector::X * 100.0)
            .unwrap();
        let frame = simulation.advance(MS(4), nothing);
        assert_eq!((frame.steps, frame.forgotten_forces), (0, 0));
        let frame = simulation.advance(MS(6), nothing);
        assert_eq!((frame.steps, frame.forgotten_forces), (1, 0));
        assert_near(speed(&simulation, key), 2.0);
    }
}

/// A frame that runs keeps a force for later steps. A pause discards only forces added since that frame.
#[test]
fn a_pause_discards_only_forces_added_since_the_last_running_frame() {
    type Act = fn(&mut Simulation);
    let stops: [(Act, Act); 2] = [
        (Simulation::pause, Simulation::resume),
        (
            |simulation| simulation.clock_settings_mut().set_speed(0.0).unwrap(),
            |simulation| simulation.clock_settings_mut().set_speed(1.0).unwrap(),
        ),
    ];
    let single_step: Act = |simulation| {
        simulation.pause();
        simulation.step_once();
        assert_eq!(simulation.advance(MS(0), nothing).steps, 1);
    };
    for (stop, resume) in stops {
        for is_seen in [false, true] {
            for is_single_step in [false, true] {
                let mut simulation = space();
                let key = ball(&mut simulation.physics);
                // This makes sure that the first frame of the pause is not the first frame of all.
                simulation.advance(MS(10), nothing);
                let push = |simulation: &mut Simulation| {
                    let force = Vector::X * 100.0;
                    simulation.physics.add_force(key, force).unwrap();
                };
                push(&mut simulation);
                if is_seen {
                    let frame = simulation.advance(MS(4), nothing);
                    assert_eq!((frame.steps, frame.forgotten_forces), (0, 0));
                    push(&mut simulation); // no running frame has seen this one
                }
                stop(&mut simulation);
                for forgotten in [1, 0, 0] {
                    let frame = simulation.advance(MS(10), nothing);
                    assert_eq!((frame.steps, frame.forgotten_forces), (0, forgotten));
                }
                if is_single_step {
                    single_step(&mut simulation);
                } else {
                    resume(&mut simulation);
                    let frame = simulation.advance(MS(10), nothing);
                    assert_eq!((frame.steps, frame.forgotten_forces), (1, 0));
                }
                let once = if is_seen { 1.0 } else { 0.0 };
                assert_near(speed(&simulation, key), once);
                // The force acts in that step alone.
                single_step(&mut simulation);
                assert_near(speed(&simulation, key), once);
            }
        }
    }
}

/// Pushes before and after each step.
struct Pusher(BodyKey);

impl Hooks for Pusher {
    type Error = std::convert::Infallible;

    fn before_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
        physics.apply_impulse(self.0, Vector::Y).unwrap();
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let force = Vector::X * (step.tick + 1) as f32;
        physics.add_force(self.0, force).unwrap();
        Ok(())
    }
}

#[test]
fn forces_added_while_the_clock_runs_survive_a_pause() {
    type Pause = fn(Simulation, &mut Pusher) -> Simulation;
    let still: Pause = |mut simulation, game| {
        let key = game.0;
        simulation
            .physics
            .apply_impulse(key, vector(0.0, 0.0, 1.0))
            .unwrap(); // in the pause
        let Ok(frame) = simulation.advance_with(MS(10), game);
        assert_eq!((frame.steps, frame.forgotten_forces), (0, 1));
        simulation
    };
    let pauses: [Pause; 7] = [
        |mut simulation, game| {
            let Ok(_) = simulation.advance_with(MS(10), game);
            simulation
        },
        |mut simulation, game| {
            simulation.pause();
            let Ok(frame) = simulation.advance_with(MS(10), game);
            assert_eq!((frame.steps, frame.forgotten_forces), (0, 0));
            simulation.resume();
            let Ok(_) = simulation.advance_with(MS(10), game);
            simulation
        },
        // A single step in the pause.
        |mut simulation, game| {
            simulation.pause();
            simulation.step_once();
            for steps in [1, 0] {
                let Ok(frame) = simulation.advance_with(MS(10), game);
                assert_eq!((frame.steps, frame.forgotten_forces), (steps, 0));
            }
            simulation.resume();
            simulation
        },
        // Resimulated steps in the pause.
        |mut simulation, game| {
            simulation.pause();
            let Ok(_) = simulation.advance_with(MS(10), game);
            simulation
                .resimulate_with(simulation.physics.tick() - 1, game)
                .unwrap();
            let Ok(_) = simulation.advance_with(MS(10), game);
            simulation.resume();
            let Ok(_) = simulation.advance_with(MS(10), game);
            simulation
        },
        // A copy.
        |mut simulation, game| {
            simulation.clock_settings_mut().set_speed(0.0).unwrap();
            let Ok(_) = simulation.advance_with(MS(10), game);
            let mut copy = simulation.clone();
            let Ok(_) = copy.advance_with(MS(10), game);
            copy.clock_settings_mut().set_speed(1.0).unwrap();
            copy.keep(Kept {
                ticks: 2,
                ..copy.kept()
            });
            let Ok(_) = copy.advance_with(MS(10), game);
            copy
        },
        // The pull form.
        |mut simulation, game| {
            simulation.pause();
            simulation.begin_frame(MS(10));
            assert_eq!(simulation.next_step(), None);
            assert_eq!(simulation.end_frame().forgotten_forces, 0);
            simulation.resume();
            let Ok(_) = simulation.advance_with(MS(10), game);
            simulation
        },
        |simulation, game| {
            let mut overlap = Overlap::new(simulation).unwrap();
            let Ok(_) = overlap.frame(MS(10), game);
            let Ok(simulation) = overlap.simulation(game);
            simulation.pause();
            for _ in 0..3 {
                let Ok(_) = overlap.frame(MS(10), game);
            }
            let (mut simulation, _) = overlap.stop(game);
            simulation.resume();
            simulation
        },
    ];
    let speeds = pauses.map(|pause| {
        let mut simulation = space();
        simulation.keep(Kept {
            ticks: 2,
            ..simulation.kept()
        });
        let mut game = Pusher(ball(&mut simulation.physics));
        let Ok(_) = simulation.advance_with(MS(10), &mut game);
        for _ in 0..3 {
            simulation = pause(simulation, &mut game);
            assert!(!simulation.clock().settings().is_paused());
        }
        assert_eq!(simulation.physics.tick(), 4);
        simulation.pause();
        simulation = still(simulation, &mut game);
        simulation.resume();
        let Ok(_) = simulation.advance_with(MS(10), &mut game);
        simulation.physics.body(game.0).unwrap().linvel()
    });
    assert_eq!(speeds, [speeds[0]; 7]);
    assert_near(speeds[0].x, 0.1);
    assert_near(speeds[0].y, 5.0);
    assert_eq!(speeds[0], vector(speeds[0].x, speeds[0].y, 0.0));
}

#[test]
fn an_aborted_step_discards_its_forces_and_keeps_earlier_pending_ones() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    simulation.begin_frame(MS(10));
    assert!(simulation.next_step().is_some());
    simulation
        .physics
        .add_force(key, Vector::X * 1_000.0)
        .unwrap();
    assert_eq!(simulation.end_frame().dropped.aborted, 1);
    simulation.advance(MS(10), nothing);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn a_single_step_in_a_pause_applies_the_forces_added_before_it() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation.pause();
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    simulation.step_once();
    let frame = simulation.advance(MS(10), nothing);
    assert_eq!((frame.steps, frame.forgotten_forces), (1, 0));
    assert_near(speed(&simulation, key), 1.0);
    // A step requested within a frame belongs to the next frame, and no time passes in this one.
    simulation.begin_frame(MS(10));
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    simulation.step_once();
    let frame = simulation.end_frame();
    assert_eq!((frame.steps, frame.forgotten_forces), (0, 1));
    simulation.advance(MS(10), nothing);
    assert_near(speed(&simulation, key), 1.0);
    // A force that is added after a step waits for the next step, however late that is.
    simulation.step_once();
    simulation.begin_frame(MS(10));
    assert!(simulation.next_step().is_some() && simulation.run_step());
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    assert_eq!(simulation.end_frame().forgotten_forces, 0);
    assert_eq!(simulation.advance(MS(10), nothing).forgotten_forces, 0);
    simulation.resume();
    simulation.advance(MS(30), nothing);
    assert_near(speed(&simulation, key), 2.0);
}

/// A frame discards its forces only if no time passes in it, even if the game pauses or resumes within it.
#[test]
fn a_pause_takes_its_forces_from_the_frames_in_which_no_time_passes() {
    for (stop, resume) in STOPS {
        for is_before in [true, false] {
            let mut simulation = space();
            let key = ball(&mut simulation.physics);
            let frame_with_force = |simulation: &mut Simulation, act: Act| {
                let push = |simulation: &mut Simulation| {
                    let force = Vector::X * 100.0;
                    simulation.physics.add_force(key, force).unwrap();
                };
                if is_before {
                    push(simulation);
                }
                simulation.begin_frame(MS(4));
                act(simulation);
                if !is_before {
                    push(simulation);
                }
                simulation.end_frame().forgotten_forces
            };
            assert_eq!(frame_with_force(&mut simulation, stop), 0);
            assert_eq!(frame_with_force(&mut simulation, |_| ()), 1);
            assert_eq!(frame_with_force(&mut simulation, resume), 1);
            assert_eq!(frame_with_force(&mut simulation, |_| ()), 0);
            assert_eq!(simulation.advance(MS(2), nothing).steps, 1);
            assert_near(speed(&simulation, key), 2.0);
        }
    }
}

/// Pushes after the first step, and panics before the second. Then copies the simulation between the frames.
struct Panicking(BodyKey, Option<Simulation>);

impl Hooks for Panicking {
    type Error = std::convert::Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Self::Error> {
        self.1 = Some(simulation.clone());
        Ok(())
    }

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert_eq!(step.tick, 0);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
        physics.apply_impulse(self.0, Vector::X).unwrap();
        Ok(())
    }
}

#[test]
fn forces_from_before_a_panic_wait_through_a_pause() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let mut game = Panicking(key, None);
    let panicking = std::panic::AssertUnwindSafe(|| simulation.advance_with(MS(20), &mut game));
    assert!(std::panic::catch_unwind(panicking).is_err());
    simulation.pause();
    simulation.advance_with(MS(0), &mut game).unwrap();
    let mut copy = game.1.take().unwrap();
    for simulation in [&mut simulation, &mut copy] {
        assert_eq!(simulation.advance(MS(10), nothing).forgotten_forces, 0);
        simulation.step_once();
        simulation.advance(MS(10), nothing);
        assert_eq!(speed(simulation, key), 1.0);
    }
}

#[test]
fn forces_before_a_frame_whose_hook_panics_wait_during_a_pause() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation.physics.apply_impulse(key, Vector::X).unwrap();
    let frame = || simulation.advance(MS(10), |_, _| panic!("a planted panic"));
    assert!(catch_unwind(AssertUnwindSafe(frame)).is_err());
    simulation.pause();
    let frame = simulation.advance(MS(10), nothing);
    assert_eq!(frame.forgotten_forces, 0);
    simulation.resume();
    simulation.advance(MS(10), nothing);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn forces_of_a_step_whose_hooks_for_rapier_panic_are_discarded() {
    struct Push(BodyKey, bool);
    impl Hooks for Push {
        type Error = std::convert::Infallible;

        fn before_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
            physics.apply_impulse(self.0, Vector::X).unwrap();
            Ok(())
        }

        fn physics_hooks(&self) -> Option<std::sync::Arc<dyn PhysicsHooks + Send + Sync>> {
            assert!(!self.1, "a planted panic");
            None
        }
    }
    let mut simulation = space();
    simulation.keep(Kept {
        ticks: 10,
        ..Kept::default()
    });
    let key = ball(&mut simulation.physics);
    simulation
        .advance_with(MS(10), &mut Push(key, false))
        .unwrap();
    let rollback = || simulation.resimulate_with(0, &mut Push(key, true));
    assert!(catch_unwind(AssertUnwindSafe(rollback)).is_err());
    let step = simulation.next_step().unwrap();
    let Ok(()) = Push(key, false).before_step(&mut simulation.physics, step);
    simulation.run_step();
    assert_near(speed(&simulation, key), 1.0);
}

/// Forces that are added in each frame of a pause do not pile up, even if its steps fail or are those of a rollback.
#[test]
fn forces_of_a_pause_are_discarded_if_no_step_runs() {
    struct Fails;

    impl Hooks for Fails {
        type Error = ();

        fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
            Err(())
        }
    }

    for rolls_back in [false, true] {
        let mut simulation = space();
        let key = ball(&mut simulation.physics);
        simulation.keep(Kept {
            ticks: 30,
            ..simulation.kept()
        });
        simulation.advance(MS(105), |_, _| ());
        simulation.pause();
        simulation.advance(MS(10), |_, _| ());
        if rolls_back {
            simulation.roll_back(5).unwrap();
        }
        let mut forgotten = 0;
        for _ in 0..5 {
            simulation.physics.apply_impulse(key, Vector::Y).unwrap();
            simulation.step_once();
            simulation.advance_with(MS(10), &mut Fails).unwrap_err();
            assert_eq!(simulation.frame().steps, 0);
            forgotten += simulation.frame().forgotten_forces;
        }
        simulation.resume();
        simulation.advance(MS(10), |_, _| ());
        let speed = simulation.physics.body(key).unwrap().linvel().y;
        assert_eq!((forgotten, speed), (5, 0.0), "{rolls_back}");
    }
}

/// The state before tick 4 of 6 in a pause, with the steps 4 and 5 to be resimulated.
fn in_a_rollback() -> (Simulation, BodyKey) {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    simulation.advance(MS(60), nothing);
    simulation.pause();
    simulation.advance(MS(1), nothing);
    simulation.roll_back(4).unwrap();
    (simulation, key)
}

#[test]
fn a_force_after_a_resimulated_step_acts_even_in_a_pause() {
    type Interrupt = fn(&mut Simulation) -> u64;
    let interrupts: [Interrupt; 4] = [
        |simulation| simulation.end_frame().forgotten_forces,
        // A frame without a step.
        |simulation| {
            simulation.end_frame();
            simulation.begin_frame(MS(1));
            simulation.end_frame().forgotten_forces
        },
        // The game receives the next step and does not run it.
        |simulation| {
            simulation.next_step().unwrap();
            simulation.end_frame().forgotten_forces
        },
        // A frame that has not ended.
        |simulation| {
            simulation.begin_frame(MS(1));
            simulation.end_frame().forgotten_forces
        },
    ];
    for interrupt in interrupts {
        let (mut simulation, key) = in_a_rollback();
        simulation.begin_frame(MS(1));
        simulation.next_step().unwrap();
        simulation.run_step();
        simulation.physics.apply_impulse(key, Vector::X).unwrap();
        assert_eq!(interrupt(&mut simulation), 0);
        let frame = simulation.advance(MS(1), nothing);
        assert_eq!((frame.resimulated, frame.forgotten_forces), (1, 0));
        assert_eq!(speed(&simulation, key), 1.0);
    }
}

#[test]
fn a_force_between_frames_in_an_unfinished_rollback_is_discarded_in_a_pause() {
    type Leave = fn(&mut Simulation);
    let ways: [Leave; 3] = [
        |_| (),
        // These drop the remaining steps.
        |simulation| simulation.rewind(simulation.physics.tick()).unwrap(),
        |simulation| simulation.set_tick(100),
    ];
    for leave in ways {
        let (mut simulation, key) = in_a_rollback();
        simulation.begin_frame(MS(1));
        simulation.next_step().unwrap();
        simulation.run_step();
        simulation.end_frame();
        simulation.physics.apply_impulse(key, Vector::X).unwrap();
        leave(&mut simulation);
        simulation.begin_frame(MS(1));
        assert_eq!(simulation.end_frame().forgotten_forces, 1);
        simulation.resume();
        simulation.advance(MS(30), nothing);
        assert_eq!(speed(&simulation, key), 0.0);
    }
}
