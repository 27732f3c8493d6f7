//! Forces and impulses of one step.

use super::*;

#[test]
fn a_force_acts_in_one_step_only() {
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
fn every_force_and_impulse_call_equals_rapiers_bit_for_bit() {
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
fn a_force_wakes_a_sleeping_body_and_does_not_move_a_fixed_one() {
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
fn user_forces_set_through_rapier_stay_unchanged_bit_for_bit() {
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
fn forces_and_impulses_that_are_not_finite_are_refused() {
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
fn a_force_at_a_point_keeps_its_lever_arm_through_a_teleport() {
    let moves: [fn(&mut Physics, BodyKey); 3] = [
        |physics, key| {
            let far = Pose::from_translation(Vector::X * 100.0);
            physics.teleport(key, far).unwrap();
        },
        |physics, key| {
            let far = Pose::from_translation(Vector::X * 100.0);
            physics.teleport_by(key, far).unwrap();
        },
        |physics, _| physics.shift_origin(Vector::X * 100.0).unwrap(),
    ];
    let spin = |arm: f32, go: Option<fn(&mut Physics, BodyKey)>| {
        let mut simulation = space();
        let key = ball(&mut simulation.physics);
        // The force waits for the step, and the impulse is one of the step.
        (simulation.physics)
            .add_force_at_point(key, Vector::Y, Vector::X * arm)
            .unwrap();
        simulation.advance(MS(10), |physics, _| {
            (physics.apply_impulse_at_point(key, Vector::Y, Vector::X * arm)).unwrap();
            if let Some(go) = go {
                go(physics, key);
            }
        });
        simulation.physics.body(key).unwrap().angvel()
    };
    for go in moves {
        assert_eq!(spin(0.0, Some(go)), spin(0.0, None));
        assert_eq!(spin(0.3, Some(go)), spin(0.3, None));
        assert_ne!(spin(0.3, Some(go)), spin(0.0, None));
    }
}

#[test]
fn forces_that_wait_turn_with_their_body_in_a_portal() {
    let quarter = spin(0.0, 0.0, std::f32::consts::FRAC_PI_2);
    let by = pose(vector(7.0, 0.0, 0.0), quarter);
    let mut simulation = space();
    let key = ball(&mut simulation.physics);
    simulation.physics.apply_impulse(key, Vector::X).unwrap();
    simulation.advance(MS(10), |physics, _| {
        physics.apply_impulse(key, Vector::X).unwrap();
        physics.teleport_by(key, by).unwrap();
        physics.apply_impulse(key, Vector::X).unwrap();
    });
    let velocity = simulation.physics.body(key).unwrap().linvel();
    assert!(
        (velocity - vector(1.0, 2.0, 0.0)).length() < 1e-5,
        "{velocity}"
    );
}

fn disabled_ball(physics: &mut Physics) -> BodyKey {
    let key = ball(physics);
    physics.body_mut(key).unwrap().set_enabled(false);
    key
}

#[test]
fn an_impulse_on_a_disabled_body_does_not_act_when_it_is_enabled() {
    let mut simulation = space();
    let key = disabled_ball(&mut simulation.physics);
    for _ in 0..3 {
        simulation.advance(MS(10), |physics, _| {
            physics.apply_impulse(key, Vector::X).unwrap();
        });
    }
    simulation.advance(MS(30), |physics, _| {
        physics.body_mut(key).unwrap().set_enabled(true);
    });
    assert_near(speed(&simulation, key), 0.0);
}

/// Rapier counts changes of masses and colliders only in its step, and divides an impulse by the mass that it knows.
#[test]
fn an_impulse_changes_the_velocity_of_the_mass_that_the_body_has_in_the_step() {
    type Build = fn(&mut Physics) -> BodyKey;
    type Edit = fn(&mut Physics, BodyKey);
    let builds: [(Build, Edit, f32); 13] = [
        (ball, |_, _| (), 1.0),
        (
            |physics| physics.insert_body(RigidBodyBuilder::dynamic().additional_mass(2.0)),
            |_, _| (),
            2.0,
        ),
        (
            |physics| {
                let heavy = RigidBodyBuilder::dynamic().additional_mass(2.0);
                physics.insert(heavy, ColliderBuilder::ball(0.5).mass(2.0))
            },
            |_, _| (),
            4.0,
        ),
        (
            ball,
            |physics, key| {
                let collider = physics.body(key).unwrap().colliders()[0];
                physics.collider_mut(collider).unwrap().set_mass(4.0);
            },
            4.0,
        ),
        (
            ball,
            |physics, key| {
                let body = physics.body_mut(key).unwrap();
                body.set_additional_mass(3.0, true);
            },
            4.0,
        ),
        (
            |physics| {
                let key = ball(physics);
                let cargo = ColliderBuilder::ball(0.5).mass(7.0);
                physics.insert_collider(key, cargo).unwrap();
                key
            },
            |physics, key| {
                let cargo = physics.body(key).unwrap().colliders()[1];
                physics.remove_collider(cargo);
            },
            1.0,
        ),
        (
            |physics| {
                let waiting = RigidBodyBuilder::dynamic().enabled(false);
                physics.insert(waiting, ColliderBuilder::ball(0.5).mass(2.0))
            },
            |physics, key| physics.body_mut(key).unwrap().set_enabled(true),
            2.0,
        ),
        (
            |physics| {
                let waiting = ColliderBuilder::ball(0.5).mass(2.0).enabled(false);
                physics.insert(RigidBodyBuilder::dynamic(), waiting)
            },
            |physics, key| {
                let collider = physics.body(key).unwrap().colliders()[0];
                physics.collider_mut(collider).unwrap().set_enabled(true);
            },
            2.0,
        ),
        (
            disabled_ball,
            |physics, key| physics.body_mut(key).unwrap().set_enabled(true),
            1.0,
        ),
        (
            disabled_ball,
            |physics, key| {
                physics.body_mut(key).unwrap().set_enabled(true);
                let cargo = ColliderBuilder::ball(0.5).mass(7.0);
                physics.insert_collider(key, cargo).unwrap();
            },
            8.0,
        ),
        (
            disabled_ball,
            |physics, key| {
                physics.body_mut(key).unwrap().set_enabled(true);
                let collider = physics.body(key).unwrap().colliders()[0];
                physics.collider_mut(collider).unwrap().set_mass(4.0);
            },
            4.0,
        ),
        (
            |physics| {
                let heavy = RigidBodyBuilder::dynamic().additional_mass(2.0);
                physics.insert(heavy, ColliderBuilder::ball(0.5).mass(6.0))
            },
            |physics, key| {
                let collider = physics.body(key).unwrap().colliders()[0];
                physics.collider_mut(collider).unwrap().set_enabled(false);
            },
            2.0,
        ),
        (
            |physics| {
                let heavy = RigidBodyBuilder::dynamic().additional_mass(2.0);
                let ball = ColliderBuilder::ball(0.5).mass(6.0);
                physics.insert(heavy, [ball.clone(), ball.enabled(false)])
            },
            |physics, key| {
                let collider = physics.body(key).unwrap().colliders()[0];
                physics.remove_collider(collider);
            },
            2.0,
        ),
    ];
    for (i, (build, edit, mass)) in builds.into_iter().enumerate() {
        for steps in [0, 3] {
            let mut simulation = space();
            let key = build(&mut simulation.physics);
            for _ in 0..steps {
                simulation.advance(MS(10), nothing);
            }
            simulation.advance(MS(10), |physics, _| {
                edit(physics, key);
                physics.apply_impulse(key, Vector::X * 8.0).unwrap();
            });
            let x = speed(&simulation, key);
            assert!(
                (x - 8.0 / mass).abs() < 1e-3,
                "{i} after {steps} steps: {x} m/s"
            );
        }
    }
}
