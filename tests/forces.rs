//! Forces of one step and lasting ones.

mod scenes;

use evenstep::rapier3d::prelude::*;
use evenstep::{BodyError, BodyKey, Generator, Rate, Simulation, Step, Wrench};
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A ball of 1 kg in free space at 100 steps a second.
fn ball(simulation: &mut Simulation) -> BodyKey {
    simulation.insert(
        RigidBodyBuilder::dynamic(),
        ColliderBuilder::ball(0.5).mass(1.0),
    )
}

fn space() -> Simulation {
    scenes::space(100)
}

fn speed(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.get(key).unwrap().linvel().x
}

fn nothing(_: &mut Simulation, _: Step) {}

#[track_caller]
fn assert_near(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-5, "{a} is not {b}");
}

#[test]
fn a_force_acts_in_one_step_alone() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    simulation.advance(MS(50), |simulation, step| {
        if step.tick == 1 {
            simulation.add_force(key, Vector::X * 100.0).unwrap();
        }
    });
    assert_near(speed(&simulation, key), 1.0);
    assert_eq!(simulation.get(key).unwrap().user_force(), Vector::ZERO);
}

#[test]
fn a_force_added_between_frames_waits_for_the_next_step() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    simulation.add_force(key, Vector::X * 100.0).unwrap();
    simulation.advance(MS(4), nothing);
    assert_near(speed(&simulation, key), 0.0);
    simulation.advance(MS(46), nothing);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn every_kind_of_push_does_what_rapiers_own_does() {
    let point = Vector::new(0.1, 0.2, 0.3);
    let value = Vector::new(1.0, -2.0, 3.0);
    type Ours = fn(&mut Simulation, BodyKey, Vector, Vector) -> Result<(), BodyError>;
    type Rapiers = fn(&mut RigidBody, Vector, Vector);
    let pairs: [(Ours, Rapiers); 6] = [
        (
            |s, k, v, _| s.add_force(k, v),
            |b, v, _| b.add_force(v, true),
        ),
        (
            |s, k, v, _| s.add_torque(k, v),
            |b, v, _| b.add_torque(v, true),
        ),
        (
            |s, k, v, p| s.add_force_at_point(k, v, p),
            |b, v, p| b.add_force_at_point(v, p, true),
        ),
        (
            |s, k, v, _| s.apply_impulse(k, v),
            |b, v, _| b.apply_impulse(v, true),
        ),
        (
            |s, k, v, _| s.apply_torque_impulse(k, v),
            |b, v, _| b.apply_torque_impulse(v, true),
        ),
        (
            |s, k, v, p| s.apply_impulse_at_point(k, v, p),
            |b, v, p| b.apply_impulse_at_point(v, p, true),
        ),
    ];
    for (ours, rapiers) in pairs {
        let mut simulation = space();
        let key = ball(&mut simulation);
        let mut bare = space();
        let bare_key = ball(&mut bare);
        ours(&mut simulation, key, value, point).unwrap();
        simulation.advance(MS(30), nothing);

        rapiers(bare.get_mut(bare_key).unwrap(), value, point);
        bare.world_mut().integration_parameters.dt = 0.01;
        bare.world_mut().step();
        bare.get_mut(bare_key).unwrap().reset_forces(true);
        bare.get_mut(bare_key).unwrap().reset_torques(true);
        bare.world_mut().step();
        bare.world_mut().step();
        assert_ne!(
            simulation.get(key).unwrap().vels(),
            &RigidBodyVelocity::zero()
        );
        assert_eq!(scenes::hash(simulation.world()), scenes::hash(bare.world()));
    }
}

#[test]
fn a_force_wakes_a_sleeper_and_does_nothing_to_a_fixed_body() {
    let mut simulation = space();
    let asleep = simulation.insert(
        RigidBodyBuilder::dynamic().sleeping(true),
        ColliderBuilder::ball(0.5).mass(1.0),
    );
    let fixed = simulation.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * 9.0),
        ColliderBuilder::ball(0.5),
    );
    for key in [asleep, fixed] {
        simulation.add_force(key, Vector::X * 100.0).unwrap();
    }
    simulation.advance(MS(20), nothing);
    assert_near(speed(&simulation, asleep), 1.0);
    assert_near(speed(&simulation, fixed), 0.0);
}

#[test]
fn user_forces_set_through_rapier_are_left_alone_to_the_bit() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    let (force, torque) = (Vector::new(0.1, 0.2, 0.3), Vector::new(0.7, 0.8, 0.9));
    let body = simulation.get_mut(key).unwrap();
    body.add_force(force, true);
    body.add_torque(torque, true);
    simulation
        .add_generator(
            key,
            Generator::Drag {
                linear: 0.1,
                angular: 0.1,
            },
        )
        .unwrap();
    for _ in 0..20 {
        simulation.advance(MS(35), |simulation, _| {
            simulation.add_force(key, Vector::X * 1e6).unwrap();
            simulation.add_force(key, Vector::X * -1e6).unwrap();
            simulation
                .add_force_at_point(key, Vector::Y, Vector::X)
                .unwrap();
        });
        let body = simulation.get(key).unwrap();
        assert_eq!((body.user_force(), body.user_torque()), (force, torque));
    }
}

#[test]
fn values_that_are_not_finite_are_refused() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    for bad in [
        Vector::NAN,
        Vector::INFINITY,
        Vector::new(0.0, f32::NEG_INFINITY, 0.0),
    ] {
        let refused = Err(BodyError::NotFinite);
        assert_eq!(simulation.add_force(key, bad), refused);
        assert_eq!(simulation.add_torque(key, bad), refused);
        assert_eq!(simulation.apply_impulse(key, bad), refused);
        assert_eq!(simulation.apply_torque_impulse(key, bad), refused);
        assert_eq!(
            simulation.add_force_at_point(key, bad, Vector::ZERO),
            refused
        );
        assert_eq!(
            simulation.add_force_at_point(key, Vector::ZERO, bad),
            refused
        );
        assert_eq!(
            simulation.apply_impulse_at_point(key, Vector::X, bad),
            refused
        );
    }
    simulation.advance(MS(30), nothing);
    assert!(simulation.get(key).unwrap().is_enabled());
    assert_near(speed(&simulation, key), 0.0);
}

#[test]
fn a_generator_acts_on_every_step_until_it_is_removed() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    let thrust = Generator::Thrust {
        force: Vector::X * 100.0,
        point: Vector::ZERO,
    };
    let generator = simulation.add_generator(key, thrust).unwrap();
    simulation.advance(MS(50), nothing);
    assert_near(speed(&simulation, key), 5.0);
    assert_eq!(simulation.generator(generator).unwrap().0, key);
    assert!(matches!(
        simulation.remove_generator(generator),
        Some(Generator::Thrust { .. })
    ));
    assert!(simulation.remove_generator(generator).is_none());
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
        Generator::custom(move |_, _| {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Wrench::default()
        })
    };
    let mut generators = Vec::new();
    for through_rapier in [false, true] {
        let key = ball(&mut simulation);
        generators.push(simulation.add_generator(key, counting.clone()).unwrap());
        simulation.advance(MS(10), nothing);
        if through_rapier {
            let handle = simulation.handle(key).unwrap();
            simulation.world_mut().remove_body(handle);
        } else {
            simulation.remove(key);
        }
        let generator = *generators.last().unwrap();
        assert!(simulation.generator(generator).is_none(), "at once");
        assert_eq!(
            simulation.add_generator(key, counting.clone()),
            Err(BodyError::Gone)
        );
    }
    assert_eq!(count(), 2);
    // The slots are used again by other bodies.
    ball(&mut simulation);
    simulation.advance(MS(50), nothing);
    assert_eq!(count(), 2);
    assert!(
        generators
            .into_iter()
            .all(|key| simulation.remove_generator(key).is_none())
    );
}

#[test]
fn a_generator_that_gives_zero_lets_its_body_sleep_and_one_that_pushes_wakes_it() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    let late = Generator::custom(|_, step| Wrench {
        force: if step.tick >= 500 {
            Vector::X
        } else {
            Vector::ZERO
        },
        torque: Vector::ZERO,
    });
    simulation.add_generator(key, late).unwrap();
    simulation.clock_mut().set_max_frame_time(Duration::MAX);
    assert_eq!(simulation.advance(MS(5_000), nothing).awake, 0);
    assert_eq!(simulation.advance(MS(1_000), nothing).awake, 1);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn a_generators_bad_value_is_left_out_and_counted() {
    let mut simulation = space();
    let key = ball(&mut simulation);
    let bad = Generator::custom(|_, step| Wrench {
        force: if step.tick == 3 {
            Vector::NAN
        } else {
            Vector::X * 100.0
        },
        torque: Vector::ZERO,
    });
    simulation.add_generator(key, bad).unwrap();
    assert_eq!(simulation.advance(MS(50), nothing).rejected_forces, 1);
    assert_near(speed(&simulation, key), 4.0);
    assert_eq!(simulation.advance(MS(10), nothing).rejected_forces, 0);
}

#[test]
fn a_spring_controller_behaves_the_same_at_every_frame_rate() {
    let run = |fps: u32| {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        let key = ball(&mut simulation);
        let frame = Duration::from_secs(1) / fps + Duration::from_nanos(1);
        while simulation.tick() < 300 {
            simulation.advance(frame, |simulation, _| {
                let body = simulation.get(key).unwrap();
                let pull = (Vector::Y * 3.0 - body.translation()) * 400.0 - body.linvel() * 20.0;
                simulation.add_force(key, pull).unwrap();
            });
            if simulation.tick() == 300 {
                break;
            }
        }
        (simulation.tick(), scenes::hash(simulation.world()))
    };
    let expected = run(60);
    assert_eq!(expected.0, 300);
    for fps in [15, 20, 240] {
        assert_eq!(run(fps), expected, "{fps}");
    }
}
