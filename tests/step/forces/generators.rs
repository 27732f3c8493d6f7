//! Force generators.

use super::*;

#[test]
fn a_force_generator_acts_in_every_step_until_it_is_removed() {
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
fn removing_a_body_removes_its_force_generators() {
    let mut simulation = space();
    let thrust = ForceGenerator::Thrust {
        force: Vector::X * 100.0,
        point: Vector::ZERO,
    };
    let mut generators = Vec::new();
    for through_rapier in [false, true] {
        let key = ball(&mut simulation.physics);
        generators.push(
            simulation
                .physics
                .insert_force_generator(key, thrust.clone())
                .unwrap(),
        );
        simulation.advance(MS(10), nothing);
        assert_near(speed(&simulation, key), 1.0);
        if through_rapier {
            let handle = simulation.physics.handle(key).unwrap();
            simulation.physics.rapier_mut().remove_body(handle);
        } else {
            simulation.physics.remove(key);
        }
        let generator = *generators.last().unwrap();
        let removed = simulation.physics.remove_force_generator(generator);
        assert!(removed.is_none(), "at once");
        assert_eq!(
            simulation
                .physics
                .insert_force_generator(key, thrust.clone()),
            Err(BodyError::Gone(key))
        );
    }
    // The slots are reused by other bodies.
    let keys = [(); 2].map(|()| ball(&mut simulation.physics));
    simulation.advance(MS(50), nothing);
    assert_eq!(keys.map(|key| speed(&simulation, key)), [0.0; 2]);
    assert!(
        generators
            .into_iter()
            .all(|key| simulation.physics.remove_force_generator(key).is_none())
    );
}

#[test]
fn a_generator_force_of_zero_allows_sleep_and_a_nonzero_one_wakes() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let thrust = |force| ForceGenerator::Thrust {
        force,
        point: Vector::ZERO,
    };
    let zero = simulation
        .physics
        .insert_force_generator(key, thrust(Vector::ZERO));
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    assert_eq!(simulation.advance(MS(5_000), nothing).awake, 0);
    simulation.physics.remove_force_generator(zero.unwrap());
    let late = thrust(Vector::X);
    let inserted = simulation.physics.insert_force_generator(key, late);
    inserted.unwrap();
    assert_eq!(simulation.advance(MS(1_000), nothing).awake, 1);
    assert_near(speed(&simulation, key), 1.0);
}

#[test]
fn a_generator_force_that_is_not_finite_is_rejected_and_counted() {
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    let thrust = |force| ForceGenerator::Thrust {
        force,
        point: Vector::ZERO,
    };
    for force in [Vector::X * 100.0, Vector::NAN] {
        let generator = thrust(force);
        let inserted = simulation.physics.insert_force_generator(key, generator);
        let generator = inserted.unwrap();
        let frame = simulation.advance(MS(20), nothing);
        assert_eq!(frame.rejected_forces, if force.is_finite() { 0 } else { 2 });
        simulation.physics.remove_force_generator(generator);
    }
    assert_near(speed(&simulation, key), 2.0);
    assert_eq!(simulation.advance(MS(10), nothing).rejected_forces, 0);
}

#[test]
fn a_spring_controller_behaves_the_same_at_every_frame_rate() {
    let run = |fps: u32| {
        let mut simulation = Simulation::new(Rate::hz(60));
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
fn inserting_and_removing_generators_gives_equal_velocities_at_every_frame_rate() {
    // The forces differ so much in size that another order of addition gives another sum.
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
                // A generator that is removed with its body.
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
