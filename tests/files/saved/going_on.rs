//! A loaded state continues bit for bit.

use super::*;
use evenstep::input::InputCounts;
use evenstep::rewind::Kept;
use evenstep::time::FrameTimer;
use evenstep::{Correction, DecayCurve};

/// A state continues bit for bit with the feature `enhanced-determinism`, in which Rapier's tables have a fixed order.
#[cfg(feature = "enhanced-determinism")]
#[test]
fn a_loaded_state_continues_bit_for_bit() {
    let mut game = Everything::new();
    let mut read: Vec<(u64, Everything)> = Vec::new();
    for number in 0..400u64 {
        game.frame(number);
        for (from, other) in &mut read {
            other.frame(number);
            let (mut seen, expected) = (other.seen(), game.seen());
            if number == *from + 1 {
                assert_eq!(seen.moved.len(), game.simulation.physics.bodies().count());
                let mut moved = expected.moved.iter();
                assert!(moved.all(|moved| seen.moved.contains(moved)));
                seen.moved = expected.moved.clone();
            }
            assert_eq!(seen, expected, "frame {number}, saved after frame {from}");
            let bytes = |game: &Everything| postcard::to_stdvec(&game.simulation.physics);
            assert!(
                bytes(other) == bytes(&game),
                "the bytes of frame {number}, saved after frame {from}"
            );
        }
        if number.is_multiple_of(13)
            && let Ok(bytes) = game.simulation.save()
        {
            let simulation = Simulation::load(&bytes).unwrap();
            assert_eq!(
                simulation.physics.checksum(),
                game.simulation.physics.checksum()
            );
            assert_eq!(
                simulation.save().as_ref(),
                Ok(&bytes),
                "the bytes differ when saved again"
            );
            let script = game.script.clone();
            read.push((number, Everything { simulation, script }));
            // Follow each loaded state for some time, and the first one to the end.
            if read.len() > 4 {
                read.remove(1);
            }
        }
    }
    assert!(read.len() > 3 && read[0].0 < 50, "{} states", read.len());
}

/// Returns joints and contacts with their impulses. Every NaN is the same.
#[cfg(feature = "enhanced-determinism")]
fn impulses(simulation: &Simulation) -> String {
    let world = simulation.physics.rapier();
    let joints = (&world.impulse_joints, &world.multibody_joints);
    serde_json::to_string(&(joints, &world.narrow_phase)).unwrap()
}

/// Ropes with both kinds of joints fall onto the floor and onto each other. Rapier disables a body that becomes NaN.
#[cfg(feature = "enhanced-determinism")]
#[test]
fn loaded_joints_and_contacts_have_the_same_impulses() {
    use scenes::testing::{ball_joint, cuboid};

    let mut here = scenes::with_floor(Rate::hz(60));
    let mut bodies = Vec::new();
    for (rope, i) in (0..4u8).flat_map(|rope| (0..6u8).map(move |i| (rope, i))) {
        let at = vector(
            f32::from(i),
            0.6 + f32::from(rope),
            0.2 * f32::from(rope % 2),
        );
        let body = RigidBodyBuilder::dynamic().translation(at);
        let key = here.physics.insert(body, cuboid(0.4, 0.3, 0.3));
        let body = here.physics.handle(key).unwrap();
        if i > 0 {
            let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
            let physics = here.physics.rapier_mut_except_bodies();
            let last = bodies[bodies.len() - 1];
            if rope % 2 == 0 {
                physics.insert_multibody_joint(last, body, joint).unwrap();
            } else {
                physics.insert_impulse_joint(last, body, joint);
            }
        }
        bodies.push(body);
    }
    // A link of each multibody also has an impulse joint.
    for ends in [[2, 9], [14, 21]].map(|ends| ends.map(|i| bodies[i])) {
        let physics = here.physics.rapier_mut_except_bodies();
        physics.insert_impulse_joint(ends[0], ends[1], RopeJointBuilder::new(1.5));
    }
    let mut loaded: Vec<Simulation> = Vec::new();
    for step in 0..90 {
        if step == 60 {
            for simulation in loaded.iter_mut().chain([&mut here]) {
                let body = &mut simulation.physics.rapier_mut().bodies[bodies[8]];
                body.add_force(Vector::Y * f32::MAX, true);
            }
        }
        for simulation in loaded.iter_mut().chain([&mut here]) {
            simulation.advance(MS(17), |_, _| ());
        }
        let expected = impulses(&here);
        assert!(
            loaded.iter().all(|there| impulses(there) == expected),
            "step {step}"
        );
        if step % 3 == 0 {
            loaded = vec![Simulation::load(&here.save().unwrap()).unwrap()];
        }
    }
    let is_nan = |(_, joint): (_, &ImpulseJoint)| format!("{:?}", joint.impulses).contains("NaN");
    assert!(here.physics.rapier().impulse_joints().any(is_nan));
}

/// `Simulation::save` names the exceptions.
#[cfg(feature = "enhanced-determinism")]
#[test]
fn loaded_soft_bodies_continue_bit_for_bit() {
    use scenes::testing::{cloth, cuboid, soft_cube};

    let particles = |simulation: &Simulation| -> Vec<Vector> {
        let soft_bodies = simulation.physics.rapier().soft_bodies.iter();
        let all = |soft: &SoftBody| -> Vec<Vector> {
            (0..soft.num_particles())
                .map(|i| soft.particle_position(i))
                .collect()
        };
        soft_bodies.flat_map(|(_, soft)| all(soft)).collect()
    };
    let mut here = Simulation::new(Rate::hz(60));
    let floor = cuboid(20.0, 0.1, 20.0);
    here.physics.insert(RigidBodyBuilder::fixed(), floor);
    let at = |y: f32| soft_cube(Vector::Y * y, 0.5, 3);
    let cloth = cloth(Vector::Y * 2.5, 2.0, 6);
    for soft_body in [at(0.7), at(1.9), cloth] {
        here.physics.rapier_mut().insert_soft_body(soft_body);
    }
    for _ in 0..8 {
        here.advance(MS(170), |_, _| ());
        let mut there = Simulation::load(&here.save().unwrap()).unwrap();
        let mut copy = here.clone();
        for _ in 0..10 {
            for simulation in [&mut copy, &mut there] {
                simulation.advance(MS(17), |_, _| ());
            }
            assert_eq!(particles(&copy), particles(&there));
        }
    }
}

/// Returns the bodies that moved in the last frame, and the removed ones.
fn lists(simulation: &Simulation) -> (BTreeMap<BodyKey, Pose>, BTreeSet<BodyKey>) {
    let moved = simulation.moved().iter().copied();
    (
        moved.collect(),
        simulation.removed().iter().copied().collect(),
    )
}

#[test]
fn a_loaded_state_has_the_same_poses_and_keys_but_no_past() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 5,
        ..simulation.kept()
    });
    let flying = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let keys: Vec<BodyKey> = (0..6)
        .map(|_| simulation.physics.insert(flying.clone(), ball()))
        .collect();
    simulation.smoothing = Smoothing::Hermite;
    let mut correction = Correction::linear(MS(300));
    correction.position.curve = DecayCurve::HalfLife(MS(30));
    simulation.correction = correction;
    correction.rotation.curve = DecayCurve::HalfLife(MS(50));
    let own = Some(correction);
    simulation
        .physics
        .set_body_correction(keys[5], own)
        .unwrap();
    simulation.keep(Kept {
        ticks: 10,
        ..simulation.kept()
    });
    simulation.advance(MS(45), |_, _| ());
    // Slots are reused in an unusual order, and no step has used the edits.
    for i in [4, 1, 3] {
        simulation.physics.remove(keys[i]);
    }
    let there = translation(0.0, 9.0, 0.0);
    simulation.physics.teleport(keys[0], there).unwrap();
    simulation
        .physics
        .body_mut(keys[2])
        .unwrap()
        .set_linvel(Vector::Y, true);
    simulation
        .physics
        .apply_impulse(keys[5], vector(0.0, 0.0, 1.0))
        .unwrap();
    let mut read = Simulation::load(&simulation.save().unwrap()).unwrap();
    assert_eq!(read.rewindable(), 0..0);
    read.keep(Kept {
        poses: 5,
        ..read.kept()
    });
    let first = read.physics.tick();
    assert_eq!(read.correction, simulation.correction);
    assert_eq!(read.physics.body_correction(keys[5]), own);
    let text = serde_json::to_string(&simulation).unwrap();
    let from_text: Simulation = serde_json::from_str(&text).unwrap();
    assert_eq!(from_text.save(), read.save());
    for ms in [0, 3, 10, 25] {
        for simulation in [&mut simulation, &mut read] {
            simulation.advance(MS(ms), |_, _| ());
        }
        // The first frame is compared by `the_first_frame_after_a_load_lists_all_bodies_without_errors`.
        if ms > 0 {
            assert_eq!(lists(&read), lists(&simulation));
        }
        assert_eq!(read.frame(), simulation.frame());
        assert_eq!(read.clock(), simulation.clock());
        for key in &keys {
            assert_eq!(read.pose(*key), simulation.pose(*key));
            for tick in 0..12 {
                let then = simulation.pose_at(*key, tick, 0.3);
                let is_known = tick >= first;
                assert_eq!(read.pose_at(*key, tick, 0.3), then.filter(|_| is_known));
            }
        }
        let born = [&mut simulation, &mut read]
            .map(|simulation| [(); 2].map(|()| simulation.physics.insert(flying.clone(), ball())));
        assert_eq!(born[0], born[1]);
    }
    assert_eq!(
        hash(read.physics.rapier()),
        hash(simulation.physics.rapier())
    );
}

/// Steps that were resimulated between two frames count in the next frame, even if another process runs that frame.
#[test]
fn steps_resimulated_before_a_save_count_in_the_first_loaded_frame() {
    let mut simulation = game();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    simulation.advance(MS(100), |_, _| ());
    let again = 4;
    let from = simulation.physics.tick() - again;
    simulation.resimulate(from, |_, _| ()).unwrap();
    let mut read = Simulation::load(&simulation.save().unwrap()).unwrap();
    for simulation in [&mut simulation, &mut read] {
        assert_eq!(simulation.advance(MS(0), |_, _| ()).resimulated, again);
    }
}

#[test]
fn a_loaded_state_has_its_force_generators() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball().mass(1.0));
    let generators = [
        ForceGenerator::Wind {
            velocity: Vector::X * 100.0,
            drag: 1.0,
        },
        ForceGenerator::Thrust {
            force: Vector::Y,
            point: Vector::X,
        },
        ForceGenerator::Spring {
            anchor: Vector::X * 3.0,
            point: Vector::ZERO,
            rest_length: 1.0,
            stiffness: 50.0,
            damping: 2.0,
        },
        ForceGenerator::Drag {
            linear: 0.5,
            angular: 0.25,
        },
    ];
    let keys = generators.clone().map(|generator| {
        let inserted = simulation.physics.insert_force_generator(key, generator);
        inserted.unwrap()
    });
    simulation.advance(MS(10), |_, _| ());
    let mut read = Simulation::load(&simulation.save().unwrap()).unwrap();
    for simulation in [&mut simulation, &mut read] {
        simulation.advance(MS(10), |_, _| ());
    }
    let velocities = [&simulation, &read].map(|it| it.physics.body(key).unwrap().linvel());
    assert!(velocities[0].x > 1.9, "{velocities:?}");
    assert_eq!(velocities[0], velocities[1]);
    let loaded = keys.map(|key| read.physics.remove_force_generator(key));
    assert_eq!(loaded, generators.map(Some));
}

/// The rollback is unfinished when the first frame after loading ends.
#[test]
fn a_frame_that_repeats_the_picture_of_a_loaded_state_reports_its_tick_and_time() {
    let mut simulation = space(100);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
    let key = simulation.physics.insert(body, ball());
    let seen = simulation.advance(MS(66), |_, _| ());
    let loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
    let [here, there] = [simulation, loaded].map(|mut simulation| {
        simulation.keep(Kept {
            ticks: 60,
            ..simulation.kept()
        });
        simulation.begin_frame(MS(20));
        let step = simulation.next_step().unwrap();
        simulation.run_step();
        simulation.roll_back(step.tick).unwrap();
        let held = simulation.end_frame();
        assert_eq!((held.tick, held.alpha), (6, seen.alpha));
        assert_eq!(held.time, seen.time);
        let next = simulation.advance(MS(1), |_, _| ());
        assert!(next.time >= seen.time, "it does not go back");
        (held, next, simulation.pose(key))
    });
    assert_eq!(here, there);
}

#[test]
fn the_first_frame_after_a_load_lists_all_bodies_without_errors() {
    let (mut simulation, flyer) = scenes::flyer_in_space();
    let [wall, lamp] = [2.0, 4.0].map(|y| {
        let body = RigidBodyBuilder::fixed().translation(Vector::Y * y);
        simulation.physics.insert(body, ball())
    });
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let by = translation(0.0, 0.5, 0.0);
    simulation.advance(MS(25), |_, _| ());
    let again = |physics: &mut Physics, _| physics.teleport_by(flyer, by).unwrap();
    simulation.resimulate(1, again).unwrap();
    let saved = simulation.advance(MS(0), |_, _| ());
    assert!(simulation.visual_error(flyer).is_some());
    // Nothing of this is in the bytes.
    simulation.physics.show_from(wall, by).unwrap();
    simulation.physics.remove(lamp).unwrap();

    let mut loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
    assert!(loaded.moved().is_empty() && loaded.removed().is_empty());
    assert_eq!(loaded.frame(), saved);
    let now = *loaded.physics.body(flyer).unwrap().position();
    assert_eq!(loaded.pose(flyer), Some(now), "no frame has displayed it");
    let first = loaded.advance(MS(3), |_, _| ());
    assert_eq!((first.number, first.steps), (saved.number + 1, 0));
    assert_eq!(first.time, saved.time + MS(3));
    assert_eq!(first.tick, saved.tick);
    let error = [flyer, wall].map(|key| loaded.visual_error(key));
    assert_eq!(error, [None; 2]);
    let path = loaded.pose_at(flyer, first.tick, first.alpha);
    assert_eq!(loaded.pose(flyer), path);
    let (moved, removed) = lists(&loaded);
    assert!(moved.keys().copied().eq([flyer, wall]) && removed.is_empty());
    // A host that has followed the saved simulation has to compare all bodies.
    assert!(loaded.changes_since(&saved).is_none());
    loaded.advance(MS(3), |_, _| ());
    assert!(loaded.changes_since(&saved).is_none());
    let changes = loaded.changes_since(&first).unwrap();
    assert_eq!(changes.moved.len(), 1);
    // Nor is a later frame of the saved simulation one of the loaded one.
    let later = simulation.advance(MS(3), |_, _| ());
    assert!(later.number < loaded.frame().number);
    assert!(loaded.changes_since(&later).is_none());
}

/// Plays ten frames of about two steps, with a press 20 ms into each. Returns when in its step each press arrived.
fn press_in_frames(
    mut simulation: Simulation,
    mut timer: FrameTimer,
    mut host: Duration,
) -> (Vec<(u64, f32)>, InputCounts) {
    let mut keys = InputQueue::new(Delivery::ByTime);
    let mut arrived = Vec::new();
    let first = simulation.physics.tick();
    for _ in 0..10 {
        keys.push(timer.stamp(host + MS(20)), ());
        host += MS(34);
        simulation.advance(timer.frame(host), |_, step| {
            let presses = keys.drain(step);
            arrived.extend(presses.map(|press| (step.tick - first, press.fraction)));
        });
    }
    (arrived, keys.counts())
}

#[test]
fn a_press_after_a_load_arrives_in_the_step_of_its_time() {
    let mut simulation = space(60);
    let (mut timer, mut host) = (FrameTimer::new(MS(0), Duration::ZERO), MS(0));
    for _ in 0..100 {
        host += MS(34);
        simulation.advance(timer.frame(host), |_, _| ());
    }
    let expected = press_in_frames(simulation.clone(), timer, host);
    assert!(expected.0.len() > 8 && expected.0.iter().any(|(_, fraction)| *fraction > 0.1));
    let loaded = || Simulation::load(&simulation.save().unwrap()).unwrap();
    // In another process, and a minute later in the same one.
    for host in [MS(500), host + MS(60_000)] {
        let loaded = loaded();
        let timer = FrameTimer::new(host, loaded.clock().real_time());
        assert_eq!(press_in_frames(loaded, timer, host), expected);
    }
}

#[test]
fn a_loaded_game_that_is_corrected_before_its_first_frame_does_not_jump() {
    let mut simulation = space(100);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(body, ball());
    let lamp = RigidBodyBuilder::fixed().translation(Vector::Y * 3.0);
    let lamp = simulation.physics.insert(lamp, ball());
    let mut server = simulation.clone();
    let body = server.physics.body_mut(key).unwrap();
    body.set_linvel(Vector::X * -10.0, true);
    let aside = translation(0.5, 3.0, 0.0);
    server.physics.teleport(lamp, aside).unwrap();
    simulation.advance(MS(52), |_, _| ());
    server.advance(MS(52), |_, _| ());
    let before = [key, lamp].map(|key| simulation.pose(key).unwrap().translation.x);
    let loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
    for mut game in [simulation.clone(), simulation, loaded] {
        game.correct(server.physics.clone()).unwrap();
        game.advance(MS(0), |_, _| ());
        let after = [key, lamp].map(|key| game.pose(key).unwrap().translation.x);
        assert_near(after[0], before[0]);
        assert_near(after[1], before[1]);
        game.advance(Duration::from_secs(9), |_, _| ());
        assert_near(game.pose(lamp).unwrap().translation.x, 0.5);
    }
}

#[test]
fn a_loaded_clock_runs_the_steps_that_a_faster_rate_has_made_due() {
    for pauses in [false, true] {
        let mut simulation = Simulation::new(Rate::hz(60));
        simulation.advance(MS(30), |_, _| ());
        if pauses {
            simulation.pause();
            simulation.step_once();
        }
        simulation.clock_settings_mut().set_rate(Rate::hz(240));
        simulation.advance(Duration::ZERO, |_, _| ());
        let loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
        assert_eq!(loaded.clock().time(), simulation.clock().time());
        let [steps, steps_loaded] = [simulation, loaded].map(|mut simulation| {
            simulation.resume();
            simulation.advance(MS(1), |_, _| ()).steps
        });
        assert!(steps > 1);
        assert_eq!(steps_loaded, steps);
    }
}
