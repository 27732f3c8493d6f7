//! Forces of one step and lasting ones.

mod scenes;

use crate::scenes::testing::{spin, vector};
use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::{
    BodyError, BodyKey, ForceGenerator, Hooks, Physics, Rate, Simulation, Step, Wrench,
};
use scenes::MS;
use std::time::Duration;

/// A ball of 1 kg in free space at 100 steps a second.
fn ball(physics: &mut Physics) -> BodyKey {
    physics.insert(
        RigidBodyBuilder::dynamic(),
        ColliderBuilder::ball(0.5).mass(1.0),
    )
}

fn space() -> Simulation {
    scenes::space(100)
}

fn speed(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.physics.body(key).unwrap().linvel().x
}

fn nothing(_: &mut Physics, _: Step) {}

#[track_caller]
fn assert_near(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-5, "{a} is not {b}");
}

#[test]
fn a_force_acts_in_one_step_alone() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation.advance(MS(50), |physics, step| {
        if step.tick == 1 {
            physics.add_force(key, Vector::X * 100.0).unwrap();
        }
    });
    assert_near(speed(&simulation, key), 1.0);
    assert_eq!(
        simulation.physics.body(key).unwrap().user_force(),
        Vector::ZERO
    );
}

#[test]
fn a_force_added_between_frames_waits_for_the_next_step() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    simulation.advance(MS(4), nothing);
    assert_near(speed(&simulation, key), 0.0);
    simulation.advance(MS(46), nothing);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn every_kind_of_push_does_what_rapiers_own_does() {
    let point = vector(0.1, 0.2, 0.3);
    let value = (vector(1.0, -2.0, 3.0), spin(1.0, -2.0, 3.0));
    type Value = (Vector, AngVector);
    type Ours = fn(&mut Simulation, BodyKey, Value, Vector) -> Result<(), BodyError>;
    type Rapiers = fn(&mut RigidBody, Value, Vector);
    let pairs: [(Ours, Rapiers); 6] = [
        (
            |s, k, (v, _), _| s.physics.add_force(k, v),
            |b, (v, _), _| b.add_force(v, true),
        ),
        (
            |s, k, (_, v), _| s.physics.add_torque(k, v),
            |b, (_, v), _| b.add_torque(v, true),
        ),
        (
            |s, k, (v, _), p| s.physics.add_force_at_point(k, v, p),
            |b, (v, _), p| b.add_force_at_point(v, p, true),
        ),
        (
            |s, k, (v, _), _| s.physics.apply_impulse(k, v),
            |b, (v, _), _| b.apply_impulse(v, true),
        ),
        (
            |s, k, (_, v), _| s.physics.apply_torque_impulse(k, v),
            |b, (_, v), _| b.apply_torque_impulse(v, true),
        ),
        (
            |s, k, (v, _), p| s.physics.apply_impulse_at_point(k, v, p),
            |b, (v, _), p| b.apply_impulse_at_point(v, p, true),
        ),
    ];
    for (ours, rapiers) in pairs {
        let mut simulation = space();
        let key = ball(&mut simulation.physics);
        let mut bare = space();
        let bare_key = ball(&mut bare.physics);
        ours(&mut simulation, key, value, point).unwrap();
        simulation.advance(MS(30), nothing);

        rapiers(bare.physics.body_mut(bare_key).unwrap(), value, point);
        bare.physics.rapier_mut().integration_parameters.dt = 0.01;
        bare.physics.rapier_mut().step();
        bare.physics.body_mut(bare_key).unwrap().reset_forces(true);
        bare.physics.body_mut(bare_key).unwrap().reset_torques(true);
        bare.physics.rapier_mut().step();
        bare.physics.rapier_mut().step();
        assert_ne!(
            simulation.physics.body(key).unwrap().vels(),
            &RigidBodyVelocity::zero()
        );
        assert_eq!(
            scenes::hash(simulation.physics.rapier()),
            scenes::hash(bare.physics.rapier())
        );
    }
}

#[test]
fn a_force_wakes_a_sleeper_and_does_nothing_to_a_fixed_body() {
    let mut simulation = space();
    let asleep = simulation.physics.insert(
        RigidBodyBuilder::dynamic().sleeping(true),
        ColliderBuilder::ball(0.5).mass(1.0),
    );
    let fixed = simulation.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * 9.0),
        ColliderBuilder::ball(0.5),
    );
    for key in [asleep, fixed] {
        simulation
            .physics
            .add_force(key, Vector::X * 100.0)
            .unwrap();
    }
    simulation.advance(MS(20), nothing);
    assert_near(speed(&simulation, asleep), 1.0);
    assert_near(speed(&simulation, fixed), 0.0);
}

#[test]
fn user_forces_set_through_rapier_are_left_alone_to_the_bit() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let (force, torque) = (vector(0.1, 0.2, 0.3), spin(0.7, 0.8, 0.9));
    let body = simulation.physics.body_mut(key).unwrap();
    body.add_force(force, true);
    body.add_torque(torque, true);
    simulation
        .physics
        .insert_force_generator(
            key,
            ForceGenerator::Drag {
                linear: 0.1,
                angular: 0.1,
            },
        )
        .unwrap();
    for _ in 0..20 {
        simulation.advance(MS(35), |physics, _| {
            physics.add_force(key, Vector::X * 1e6).unwrap();
            physics.add_force(key, Vector::X * -1e6).unwrap();
            physics
                .add_force_at_point(key, Vector::Y, Vector::X)
                .unwrap();
        });
        let body = simulation.physics.body(key).unwrap();
        assert_eq!((body.user_force(), body.user_torque()), (force, torque));
    }
}

#[test]
fn values_that_are_not_finite_are_refused() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    for [x, y, z] in [
        [f32::NAN; 3],
        [f32::INFINITY; 3],
        [0.0, f32::NEG_INFINITY, 0.0],
    ] {
        let (bad, bad_spin) = (vector(x, y, z), spin(x, y, z));
        let refused = Err(BodyError::NotFinite(key));
        assert_eq!(simulation.physics.add_force(key, bad), refused);
        assert_eq!(simulation.physics.add_torque(key, bad_spin), refused);
        assert_eq!(simulation.physics.apply_impulse(key, bad), refused);
        assert_eq!(
            simulation.physics.apply_torque_impulse(key, bad_spin),
            refused
        );
        assert_eq!(
            simulation
                .physics
                .add_force_at_point(key, bad, Vector::ZERO),
            refused
        );
        assert_eq!(
            simulation
                .physics
                .add_force_at_point(key, Vector::ZERO, bad),
            refused
        );
        assert_eq!(
            simulation
                .physics
                .apply_impulse_at_point(key, Vector::X, bad),
            refused
        );
    }
    simulation.advance(MS(30), nothing);
    assert!(simulation.physics.body(key).unwrap().is_enabled());
    assert_near(speed(&simulation, key), 0.0);
}

#[test]
fn a_generator_acts_on_every_step_until_it_is_removed() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let thrust = ForceGenerator::Thrust {
        force: Vector::X * 100.0,
        point: Vector::ZERO,
    };
    let generator = simulation
        .physics
        .insert_force_generator(key, thrust)
        .unwrap();
    simulation.advance(MS(50), nothing);
    assert_near(speed(&simulation, key), 5.0);
    assert_eq!(
        simulation.physics.force_generator(generator).unwrap().0,
        key
    );
    assert!(matches!(
        simulation.physics.remove_force_generator(generator),
        Some(ForceGenerator::Thrust { .. })
    ));
    assert!(
        simulation
            .physics
            .remove_force_generator(generator)
            .is_none()
    );
    simulation.advance(MS(50), nothing);
    assert_near(speed(&simulation, key), 5.0);
}

#[test]
fn a_generator_is_gone_with_its_body() {
    let mut simulation = space();
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let count = || calls.load(std::sync::atomic::Ordering::Relaxed);
    let counting = {
        let calls = calls.clone();
        ForceGenerator::custom(move |_, _| {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Wrench::default()
        })
    };
    let mut generators = Vec::new();
    for through_rapier in [false, true] {
        let key = ball(&mut simulation.physics);
        generators.push(
            simulation
                .physics
                .insert_force_generator(key, counting.clone())
                .unwrap(),
        );
        simulation.advance(MS(10), nothing);
        if through_rapier {
            let handle = simulation.physics.handle(key).unwrap();
            simulation.physics.rapier_mut().remove_body(handle);
        } else {
            simulation.physics.remove(key);
        }
        let generator = *generators.last().unwrap();
        assert!(
            simulation.physics.force_generator(generator).is_none(),
            "at once"
        );
        assert_eq!(
            simulation
                .physics
                .insert_force_generator(key, counting.clone()),
            Err(BodyError::Gone(key))
        );
    }
    assert_eq!(count(), 2);
    // The slots are used again by other bodies.
    ball(&mut simulation.physics);
    simulation.advance(MS(50), nothing);
    assert_eq!(count(), 2);
    assert!(
        generators
            .into_iter()
            .all(|key| simulation.physics.remove_force_generator(key).is_none())
    );
}

#[test]
fn a_generator_that_gives_zero_lets_its_body_sleep_and_one_that_pushes_wakes_it() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let late = ForceGenerator::custom(|_, step| Wrench {
        force: if step.tick >= 500 {
            Vector::X
        } else {
            Vector::ZERO
        },
        torque: AngVector::default(),
    });
    simulation
        .physics
        .insert_force_generator(key, late)
        .unwrap();
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    assert_eq!(simulation.advance(MS(5_000), nothing).awake, 0);
    assert_eq!(simulation.advance(MS(1_000), nothing).awake, 1);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn a_generators_bad_value_is_left_out_and_counted() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let bad = ForceGenerator::custom(|_, step| Wrench {
        force: if step.tick == 3 {
            Vector::NAN
        } else {
            Vector::X * 100.0
        },
        torque: AngVector::default(),
    });
    simulation.physics.insert_force_generator(key, bad).unwrap();
    assert_eq!(simulation.advance(MS(50), nothing).rejected_forces, 1);
    assert_near(speed(&simulation, key), 4.0);
    assert_eq!(simulation.advance(MS(10), nothing).rejected_forces, 0);
}

#[test]
fn a_spring_controller_behaves_the_same_at_every_frame_rate() {
    let run = |fps: u32| {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        let key = ball(&mut simulation.physics);
        let frame = Duration::from_secs(1) / fps + Duration::from_nanos(1);
        for _ in 0..5 * fps {
            simulation.advance(frame, |physics, _| {
                let body = physics.body(key).unwrap();
                let pull = (Vector::Y * 3.0 - body.translation()) * 400.0 - body.linvel() * 20.0;
                physics.add_force(key, pull).unwrap();
            });
        }
        (
            simulation.physics.tick(),
            scenes::hash(simulation.physics.rapier()),
        )
    };
    let expected = run(60);
    assert_eq!(expected.0, 300);
    for fps in [15, 20, 240] {
        assert_eq!(run(fps), expected, "{fps}");
    }
}

#[test]
fn what_rapier_stores_of_a_body_that_is_not_dynamic_for_a_while_is_left_alone() {
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
fn a_quarantined_body_keeps_no_force_and_the_others_keep_theirs() {
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

#[test]
fn forces_added_while_time_stands_are_forgotten_with_the_frame_and_counted() {
    type Stop = fn(&mut Simulation);
    let ways: [(Stop, Stop); 2] = [
        (Simulation::pause, Simulation::resume),
        (
            |simulation| simulation.set_speed(0.0).unwrap(),
            |simulation| simulation.set_speed(1.0).unwrap(),
        ),
    ];
    for (stop, go_on) in ways {
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
        // What is added in the frame in which time goes on acts, whichever comes first.
        simulation
            .physics
            .add_force(key, Vector::X * 100.0)
            .unwrap();
        go_on(&mut simulation);
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

/// A frame that runs is what lets a force wait: only what came since then is discarded in a pause.
#[test]
fn a_pause_discards_what_no_frame_that_ran_has_seen_and_keeps_the_rest() {
    type Way = fn(&mut Simulation);
    let stops: [(Way, Way); 2] = [
        (Simulation::pause, Simulation::resume),
        (
            |simulation| simulation.set_speed(0.0).unwrap(),
            |simulation| simulation.set_speed(1.0).unwrap(),
        ),
    ];
    let single_step: Way = |simulation| {
        simulation.pause();
        simulation.clock_settings_mut().step_once();
        assert_eq!(simulation.advance(MS(0), nothing).steps, 1);
    };
    for (stop, go_on) in stops {
        for is_seen in [false, true] {
            for is_single_step in [false, true] {
                let mut simulation = space();
                let key = ball(&mut simulation.physics);
                // So that the first frame of the pause is not the first of all.
                simulation.advance(MS(10), nothing);
                let push = |simulation: &mut Simulation| {
                    let force = Vector::X * 100.0;
                    simulation.physics.add_force(key, force).unwrap();
                };
                push(&mut simulation);
                if is_seen {
                    let frame = simulation.advance(MS(4), nothing);
                    assert_eq!((frame.steps, frame.forgotten_forces), (0, 0));
                    push(&mut simulation); // by no frame, though
                }
                stop(&mut simulation);
                for forgotten in [1, 0, 0] {
                    let frame = simulation.advance(MS(10), nothing);
                    assert_eq!((frame.steps, frame.forgotten_forces), (0, forgotten));
                }
                if is_single_step {
                    single_step(&mut simulation);
                } else {
                    go_on(&mut simulation);
                    let frame = simulation.advance(MS(10), nothing);
                    assert_eq!((frame.steps, frame.forgotten_forces), (1, 0));
                }
                let once = if is_seen { 1.0 } else { 0.0 };
                assert_near(speed(&simulation, key), once);
                // It acts in that step alone.
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
fn what_is_added_while_time_runs_outlasts_a_pause() {
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
        // A single step in it.
        |mut simulation, game| {
            simulation.pause();
            simulation.clock_settings_mut().step_once();
            for steps in [1, 0] {
                let Ok(frame) = simulation.advance_with(MS(10), game);
                assert_eq!((frame.steps, frame.forgotten_forces), (steps, 0));
            }
            simulation.resume();
            simulation
        },
        // Steps that are resimulated in it.
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
            simulation.set_speed(0.0).unwrap();
            let Ok(_) = simulation.advance_with(MS(10), game);
            let mut copy = simulation.clone();
            let Ok(_) = copy.advance_with(MS(10), game);
            copy.set_speed(1.0).unwrap();
            copy.set_rewind_limits(2, usize::MAX);
            let Ok(_) = copy.advance_with(MS(10), game);
            copy
        },
        // In the game's own loop.
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
            overlap.simulation().pause();
            for _ in 0..3 {
                let Ok(_) = overlap.frame(MS(10), game);
            }
            let mut simulation = overlap.stop();
            simulation.resume();
            simulation
        },
    ];
    let speeds = pauses.map(|pause| {
        let mut simulation = space();
        simulation.set_rewind_limits(2, usize::MAX);
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
fn a_step_that_is_not_made_takes_its_own_forces_along_and_leaves_those_that_waited() {
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
fn a_single_step_in_a_pause_has_the_forces_that_were_added_before_it() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation.pause();
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    simulation.clock_settings_mut().step_once();
    let frame = simulation.advance(MS(10), nothing);
    assert_eq!((frame.steps, frame.forgotten_forces), (1, 0));
    assert_near(speed(&simulation, key), 1.0);
    // Asked for within a frame, the step is one of the next.
    simulation.begin_frame(MS(10));
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    simulation.clock_settings_mut().step_once();
    let frame = simulation.end_frame();
    assert_eq!((frame.steps, frame.forgotten_forces), (0, 0));
    simulation.advance(MS(10), nothing);
    assert_near(speed(&simulation, key), 2.0);
    // What is added after a step waits for the next one, however long that is in coming.
    simulation.clock_settings_mut().step_once();
    simulation.begin_frame(MS(10));
    assert!(simulation.next_step().is_some() && simulation.make_step());
    simulation
        .physics
        .add_force(key, Vector::X * 100.0)
        .unwrap();
    assert_eq!(simulation.end_frame().forgotten_forces, 0);
    assert_eq!(simulation.advance(MS(10), nothing).forgotten_forces, 0);
    simulation.resume();
    simulation.advance(MS(30), nothing);
    assert_near(speed(&simulation, key), 3.0);
}

#[test]
fn generators_that_come_and_go_push_the_same_at_every_frame_rate() {
    // So far apart in size that another order of the sum is another sum.
    let push = |i: u64| ForceGenerator::Thrust {
        force: vector(1e7, -3e3, 0.7) * ((i * 7 % 11) as f32 - 5.0),
        point: Vector::ZERO,
    };
    let run = |frame_time: Duration| {
        let mut simulation = space();
        let key = ball(&mut simulation.physics);
        let mut generators = Vec::new();
        let mut velocities = Vec::new();
        scenes::until_tick(300, || {
            simulation.advance(frame_time, |physics, step| {
                velocities.push(physics.body(key).unwrap().linvel());
                let new = physics.insert_force_generator(key, push(step.tick));
                generators.push(new.unwrap());
                if step.tick % 3 == 2 {
                    let i = (step.tick * 5) as usize % generators.len();
                    let old = generators.swap_remove(i);
                    assert!(physics.remove_force_generator(old).is_some());
                }
                // One that goes with its body.
                if step.tick % 10 < 2 {
                    let other = ball(physics);
                    physics.insert_force_generator(other, push(1)).unwrap();
                    physics.remove(other).unwrap();
                }
            });
            simulation.physics.tick()
        });
        velocities.truncate(300);
        velocities
    };
    let expected = run(MS(10));
    for ms in [1, 4, 33, 100, 250] {
        assert_eq!(run(MS(ms)), expected, "in frames of {ms} ms");
    }
}
