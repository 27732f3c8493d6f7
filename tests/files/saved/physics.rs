//! The bytes of a state alone, without a simulation: they hold what a clone holds.

use super::*;

/// Returns a clone of a state, and the state as it is read in each way.
fn copies(physics: &Physics) -> [Physics; 3] {
    let text = serde_json::to_string(physics).unwrap();
    [
        physics.clone(),
        Physics::load(&physics.save().unwrap()).unwrap(),
        serde_json::from_str(&text).unwrap(),
    ]
}

/// Returns what the next steps depend on.
fn state(physics: &Physics) -> (u64, u64, Duration) {
    (hash(physics.rapier()), physics.tick(), physics.time())
}

#[test]
fn a_loaded_states_targets_are_replaced_and_removed_like_those_of_a_clone() {
    let up = |y: f32| translation(0.0, y, 0.0);
    let edits: [fn(&mut Physics, BodyKey); 6] = [
        |_, _| (),
        |physics, lift| {
            physics.teleport(lift, translation(5.0, 0.0, 0.0)).unwrap();
        },
        |physics, lift| {
            let there = translation(0.0, -8.0, 0.0);
            physics.set_kinematic_target(lift, there, MS(900)).unwrap();
        },
        |physics, lift| {
            physics
                .teleport_by(lift, translation(0.0, 3.0, 0.0))
                .unwrap();
        },
        |physics, lift| _ = physics.remove(lift).unwrap(),
        |physics, lift| {
            let body = physics.body_mut(lift).unwrap();
            body.set_body_type(RigidBodyType::Dynamic, true);
        },
    ];
    // A target that was set, and one on the way to it.
    for steps in [0, 10] {
        for (number, edit) in edits.into_iter().enumerate() {
            let mut physics = space(60).physics;
            let lifts = [(); 3]
                .map(|()| physics.insert(RigidBodyBuilder::kinematic_position_based(), ball()));
            // In another order than that of the keys.
            for (lift, y) in lifts.into_iter().zip([10.0, 20.0, 30.0]).rev() {
                physics.set_kinematic_target(lift, up(y), MS(500)).unwrap();
            }
            let physics = physics.preview(steps, |_, _| ());
            let [clone, loaded, read] = copies(&physics).map(|mut copy| {
                edit(&mut copy, lifts[1]);
                state(&copy.preview(60, |_, _| ()))
            });
            assert_eq!(loaded, clone, "{number} after {steps} steps");
            assert_eq!(read, clone, "{number} after {steps} steps");
        }
    }
}

#[test]
fn a_target_of_a_removed_body_or_a_second_target_of_a_body_is_refused() {
    let mut physics = Physics::new();
    let lift = physics.insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let there = translation(0.0, 9.0, 0.0);
    physics.set_kinematic_target(lift, there, MS(500)).unwrap();
    let state = serde_json::to_value(&physics).unwrap();
    assert!(Physics::deserialize(&state).is_ok());
    let forge = |forge: fn(&mut Vec<Value>)| {
        let mut forged = state.clone();
        let list = forged.pointer_mut("/targets").unwrap();
        forge(list.as_array_mut().unwrap());
        Physics::deserialize(&forged)
    };
    assert!(forge(|_| ()).is_ok());
    let twice = |list: &mut Vec<Value>| list.push(list[0].clone());
    let dead = |list: &mut Vec<Value>| list[0][0]["version"] = 5.into();
    let error = |list| forge(list).unwrap_err().to_string();
    assert_eq!(error(twice), "a key occurs twice");
    assert_eq!(error(dead), "the parts of the state contradict each other");
}

/// Saves its state in each hook, together with a clone.
struct Saves {
    key: BodyKey,
    states: Vec<[Physics; 3]>,
}

impl Hooks for Saves {
    type Error = std::convert::Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let push = Vector::Y * (1 + step.tick) as f32;
        physics.apply_impulse(self.key, push).unwrap();
        physics.add_force(self.key, push).unwrap();
        self.states.push(copies(physics));
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
        physics.apply_impulse(self.key, Vector::X).unwrap();
        self.states.push(copies(physics));
        Ok(())
    }
}

/// They hold nothing of the step at hand, and the forces that wait for the next one.
#[test]
fn bytes_of_a_state_made_in_a_hook_equal_a_clone() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.physics.insert(body, ball().mass(1.0));
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    let states = Vec::new();
    let mut game = Saves { key, states };
    for ms in [34, 0, 17, 50] {
        let Ok(_) = simulation.advance_with(MS(ms), &mut game);
    }
    assert_eq!(game.states.len(), 12);
    for (number, copies) in game.states.iter().enumerate() {
        assert!(copies.iter().all(|copy| copy.current_step().is_none()));
        let bytes = copies.each_ref().map(|copy| copy.save().unwrap());
        assert!(bytes[1..].iter().all(|it| *it == bytes[0]), "{number}");
        let [clone, others @ ..] = copies.each_ref().map(|it| state(&it.preview(2, |_, _| ())));
        assert_eq!(others, [clone; 2], "{number}");
    }
}

#[test]
fn a_state_sent_by_a_server_has_its_forces_and_the_clients_resources() {
    let thrust = ForceGenerator::Thrust {
        force: Vector::X,
        point: Vector::ZERO,
    };
    let mut server = space(60);
    let key = server
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball().mass(1.0));
    let inserted = server.physics.insert_force_generator(key, thrust);
    inserted.unwrap();
    server.physics.resources_mut().insert(7_u32);
    let mut client = server.clone();
    for simulation in [&mut server, &mut client] {
        simulation.advance(MS(50), |_, _| ());
    }
    server
        .physics
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::Y, true);
    let bytes = server.physics.save().unwrap();
    client.correct(Physics::load(&bytes).unwrap()).unwrap();
    assert_eq!(client.physics.resources().get(), Some(&7_u32));
    let mut late = Simulation::default();
    late.physics = Physics::load(&bytes).unwrap();
    late.clock_settings_mut().set_rate(Rate::hz(60));
    for simulation in [&mut server, &mut client, &mut late] {
        while simulation.physics.tick() < 20 {
            simulation.advance(MS(20), |_, _| ());
        }
    }
    assert_eq!(state(&client.physics), state(&server.physics));
    assert_eq!(state(&late.physics), state(&server.physics));
}

/// Continuous collision detection leaves the root of a multibody beside its links until the next step.
#[test]
fn a_loaded_link_of_a_stopped_root_is_displayed_as_before() {
    let mut simulation = space(60);
    let physics = &mut simulation.physics;
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * 6.0);
    physics.insert(wall, ColliderBuilder::ball(5.0));
    let root = RigidBodyBuilder::dynamic().ccd_enabled(true);
    let root = physics.insert(root.translation(Vector::X * -4.0), ball());
    let above = vector(-4.0, 1.0, 0.0);
    let link = physics.insert(RigidBodyBuilder::dynamic().translation(above), ball());
    let ends = [root, link].map(|key| physics.handle(key).unwrap());
    let joint = ball_joint(Vector::Y * 0.5, Vector::Y * -0.5);
    let joints = physics.rapier_mut_except_bodies();
    joints.insert_multibody_joint(ends[0], ends[1], joint);
    physics.set_gravity(Vector::X * 500.0).unwrap();
    let mut found = 0;
    for _ in 0..30 {
        simulation.advance(MS(17), |_, _| ());
        let rapier = simulation.physics.rapier();
        let multibody = rapier.multibody_joints.multibodies().next().unwrap();
        if multibody.root().local_to_world() == rapier.bodies[ends[0]].position() {
            continue;
        }
        found += 1;
        let mut twin = simulation.clone();
        let mut loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
        let poses = [&mut twin, &mut loaded].map(|simulation| {
            let body = simulation.physics.body_mut(link).unwrap();
            body.set_linear_damping(0.1);
            simulation.pause();
            simulation.advance(MS(0), |_, _| ());
            simulation.pose(link).unwrap()
        });
        assert_eq!(poses[0], poses[1]);
    }
    assert!(found > 0);
}
