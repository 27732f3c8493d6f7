//! Shifts of the origin.

use super::*;
use evenstep::rewind::Kept;

fn furthest(a: &[Vector], b: &[Vector]) -> f32 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).length());
    distances.fold(0.0, f32::max)
}

#[test]
fn an_origin_shift_does_not_change_motion_sleep_or_events() {
    // The bound is a few times the spacing of f32 at the larger distance, plus the effect of joints.
    for (origin, bound) in [
        (vector(64.0, 0.0, -32.0), 2e-4),
        (vector(1024.0, -512.0, 0.0), 1e-3),
        (vector(1000.3, -200.7, 333.1), 1e-3),
    ] {
        let (mut shifted, keys, cloth) = everything();
        let (mut other, ..) = everything();
        for simulation in [&mut shifted, &mut other] {
            for _ in 0..300 {
                advance(simulation, 11);
            }
            assert!(simulation.physics.body(keys[3]).unwrap().is_sleeping());
        }
        let by = Pose::from_translation(-origin);
        shifted.physics.shift_origin(origin).unwrap();
        let shifted_at = shifted.physics.tick();
        assert_eq!(advance(&mut shifted, 0).origin_shift, origin);
        for frame in 0..200 {
            // The first frame already displays the shifted poses, before the next step.
            for key in &keys {
                let expected = by * other.pose(*key).unwrap();
                let off = apart(shifted.pose(*key).unwrap(), expected);
                assert!(off < bound, "{off} m in frame {frame}");
                let (here, there) = (
                    shifted.physics.body(*key).unwrap(),
                    other.physics.body(*key).unwrap(),
                );
                assert_eq!(here.is_sleeping(), there.is_sleeping());
                let speed = (here.linvel() - there.linvel()).length();
                assert!(speed < 10.0 * bound, "{speed} m/s in frame {frame}");
            }
            let theirs = advance(&mut other, 11);
            let frame = advance(&mut shifted, 11);
            assert!(
                shifted
                    .events()
                    .collisions()
                    .eq(other.events().collisions())
            );
            assert_eq!(frame.tick, theirs.tick);
            if frame.tick > shifted_at {
                // The shift wakes the soft body. A cluster counts as one body.
                let sleeps = |simulation: &Simulation| {
                    let soft_bodies = &simulation.physics.rapier().soft_bodies;
                    soft_bodies.get(cloth).unwrap().is_sleeping()
                };
                let has_woken = sleeps(&other) && !sleeps(&shifted);
                assert_eq!(frame.awake, theirs.awake + usize::from(has_woken));
                // The frame and the collider of a soft body follow its particles in the next step.
                let here = positions(shifted.physics.rapier(), cloth, origin);
                let off = furthest(
                    &here,
                    &positions(other.physics.rapier(), cloth, Vector::ZERO),
                );
                assert!(off < bound, "{off} m after {} steps", frame.tick);
            }
        }
    }
}

#[test]
fn an_origin_shift_before_the_first_step_keeps_motion_events_and_queries() {
    let origin = vector(64.0, 0.0, -32.0);
    let (mut shifted, keys, _) = everything();
    let (mut other, ..) = everything();
    // The pile contains bodies that Rapier skips: one disabled, one with a bad position.
    for simulation in [&mut shifted, &mut other] {
        let body = || RigidBodyBuilder::dynamic().translation(spaced(0.0, 20.0, 36.0));
        simulation.physics.insert(body(), ball().enabled(false));
        let bad = simulation.physics.insert(body(), ball());
        let nowhere = Pose::from_translation(Vector::NAN);
        simulation
            .physics
            .body_mut(bad)
            .unwrap()
            .set_position(nowhere, true);
    }
    shifted.physics.shift_origin(origin).unwrap();
    let by = Pose::from_translation(-origin);
    for frame in 0..120 {
        for key in &keys {
            let expected = by * other.pose(*key).unwrap();
            let off = apart(shifted.pose(*key).unwrap(), expected);
            assert!(off < 1e-3, "{off} m in frame {frame}");
        }
        advance(&mut shifted, 17);
        advance(&mut other, 17);
        assert!(
            shifted
                .events()
                .collisions()
                .eq(other.events().collisions())
        );
        assert!(
            shifted
                .events()
                .quarantined()
                .eq(other.events().quarantined())
        );
    }
    // Queries do not find the disabled body at its position, and find the pile at its position.
    let hits = |x: f32, z: f32| {
        let ray = Ray::new(spaced(x, 50.0, z) - origin, -Vector::Y);
        let filter = QueryFilter::default();
        shifted
            .physics
            .rapier()
            .cast_ray(&ray, 45.0, true, filter)
            .is_some()
    };
    assert!(!hits(0.0, 36.0));
    assert!(hits(-20.0, 0.0));
}

#[test]
fn contacts_are_equal_bit_for_bit_after_an_exact_origin_shift() {
    // Far out the spacing of f32 is coarse, so coordinates near the new origin represent far positions exactly.
    let far = vector(2_100.0, 0.0, -1_300.0);
    let pile = || {
        let mut simulation = Simulation::new(Rate::hz(60));
        // Rapier keeps contacts over steps, and a shift makes it find them again. Here both simulations always find
        // them again.
        simulation
            .physics
            .rapier_mut()
            .integration_parameters
            .contact_recycling = false;
        let floor = cuboid(50.0, 0.5, 50.0);
        let below = RigidBodyBuilder::fixed().translation(far + Vector::Y * -0.5);
        simulation.physics.insert(below, floor);
        let keys = scenes::pile(&mut simulation, 60);
        for key in &keys {
            let mut pose = *simulation.physics.body(*key).unwrap().position();
            pose.translation += far;
            simulation.physics.teleport(*key, pose).unwrap();
        }
        for _ in 0..20 {
            advance(&mut simulation, 17);
        }
        simulation
    };
    let (mut shifted, mut other) = (pile(), pile());
    shifted.physics.shift_origin(far).unwrap();
    for (here, there) in shifted
        .physics
        .rapier()
        .bodies
        .iter()
        .zip(other.physics.rapier().bodies.iter())
    {
        assert_eq!(here.1.translation() + far, there.1.translation());
        assert_eq!(here.1.vels(), there.1.vels());
    }
    advance(&mut shifted, 17);
    advance(&mut other, 17);
    let contacts = |simulation: &Simulation| -> Vec<_> {
        let pairs = simulation.physics.rapier().narrow_phase.contact_pairs();
        let manifolds = pairs.flat_map(|pair| pair.manifolds().to_vec());
        let points = manifolds.flat_map(|manifold| manifold.points.to_vec());
        points
            .map(|point| (point.local_p1, point.local_p2, point.dist))
            .collect()
    };
    assert!(contacts(&shifted).len() > 100);
    if CONTACTS_ARE_RELATIVE {
        assert_eq!(contacts(&shifted), contacts(&other));
    }
    for (here, there) in contacts(&shifted).iter().zip(contacts(&other)) {
        assert!((here.2 - there.2).abs() < 1e-5, "{here:?} {there:?}");
    }
}

#[test]
fn the_next_frame_reports_an_origin_shift_once() {
    let (mut simulation, keys, _) = everything();
    for _ in 0..300 {
        advance(&mut simulation, 11);
    }
    let origin = spaced(300.0, 20.0, -900.0);
    let by = Pose::from_translation(-origin);
    let before: Vec<_> = keys
        .iter()
        .map(|key| simulation.pose(*key).unwrap())
        .collect();
    let ray = |x: f32| Ray::new(vector(x, 50.0, 3.5), -Vector::Y);
    let hit = |simulation: &Simulation, ray: Ray| {
        let query = simulation
            .physics
            .rapier()
            .cast_ray(&ray, 100.0, true, QueryFilter::default());
        query.map(|(collider, distance)| (collider, (distance * 1e3).round()))
    };
    let expected = hit(&simulation, ray(20.0));
    assert!(expected.is_some());
    simulation.physics.shift_origin(origin).unwrap();
    // Queries find the shifted positions before the next step.
    let mut moved = ray(20.0);
    moved.origin -= origin;
    assert_eq!(hit(&simulation, moved), expected);
    assert_eq!(hit(&simulation, ray(20.0)), None);
    let poses = |simulation: &Simulation| -> Vec<_> {
        keys.iter()
            .map(|key| simulation.pose(*key).unwrap())
            .collect()
    };
    assert_eq!(
        poses(&simulation),
        before,
        "displayed poses are unchanged until the next frame"
    );
    assert_eq!(advance(&mut simulation, 0).origin_shift, origin);
    for (now, before) in poses(&simulation).iter().zip(&before) {
        assert!(apart(*now, by * *before) < 1e-3);
    }
    let mut listed: Vec<_> = simulation.moved().iter().map(|(key, _)| *key).collect();
    listed.sort();
    assert!(keys.iter().all(|key| listed.binary_search(key).is_ok()));
    assert_eq!(listed.len(), keys.len() + 1, "the floor is listed too");
    assert_eq!(advance(&mut simulation, 0).origin_shift, Vector::ZERO);
    assert_eq!(simulation.moved(), []);
}

struct Shifter {
    tick: u64,
    after: bool,
    origin: Vector,
}

impl Hooks for Shifter {
    type Error = VectorError;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), VectorError> {
        if !self.after && step.tick == self.tick {
            physics.shift_origin(self.origin)?;
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), VectorError> {
        if self.after && step.tick == self.tick {
            physics.shift_origin(self.origin)?;
        }
        Ok(())
    }
}

#[test]
fn an_origin_shift_in_a_hook_does_not_change_displayed_motion() {
    let origin = vector(64.0, 0.0, -32.0);
    let by = Pose::from_translation(-origin);
    for history in [2, 8] {
        for (tick, after) in [(33, false), (35, false), (33, true), (35, true)] {
            let (mut shifted, keys, _) = everything();
            let (mut other, ..) = everything();
            for simulation in [&mut shifted, &mut other] {
                simulation.keep(Kept {
                    poses: history,
                    ..simulation.kept()
                });
                for _ in 0..33 {
                    advance(simulation, 17);
                }
            }
            assert_eq!(shifted.physics.tick(), 33);
            // Three steps: ticks 33, 34 and 35.
            let mut shifter = Shifter {
                tick,
                after,
                origin,
            };
            let frame = shifted.advance_with(MS(50), &mut shifter).unwrap();
            advance(&mut other, 50);
            assert_eq!(frame.steps, 3);
            for _ in 0..5 {
                for key in &keys {
                    let expected = by * other.pose(*key).unwrap();
                    let off = apart(shifted.pose(*key).unwrap(), expected);
                    assert!(off < 1e-4, "{off} m, shifted in {tick}, after: {after}");
                    let back = (frame.tick - 1, 0.5);
                    let expected = other.pose_at(*key, back.0, back.1);
                    assert_eq!(expected.is_some(), history > 2);
                    if let Some(expected) = expected {
                        let pose = shifted.pose_at(*key, back.0, back.1).unwrap();
                        // Tick 35 is in its own coordinates.
                        let is_shifted = tick == 33;
                        let there = if is_shifted { by * expected } else { expected };
                        assert!(apart(pose, there) < 1e-4);
                    }
                }
                advance(&mut shifted, 5);
                advance(&mut other, 5);
            }
        }
    }
}

#[test]
fn pending_forces_are_shifted_with_the_origin() {
    let origin = Vector::X * 128.0;
    let spin = |shift: bool| {
        let mut simulation = space(60);
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * 130.0);
        let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
        let point = vector(130.0, 1.0, 0.0);
        simulation
            .physics
            .add_force_at_point(key, Vector::X, point)
            .unwrap();
        simulation
            .physics
            .apply_impulse_at_point(key, vector(3.0, 0.0, 1.0), point)
            .unwrap();
        if shift {
            simulation.physics.shift_origin(origin).unwrap();
        }
        advance(&mut simulation, 17);
        simulation.physics.body(key).unwrap().angvel()
    };
    assert_eq!(spin(true), spin(false));
    assert!(length(spin(true)) > 1.0);
}

#[test]
fn a_sleeping_body_wakes_when_hit_right_after_an_origin_shift() {
    let mut simulation = space(60);
    let sleeper = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().sleeping(true), ball());
    let bullet = RigidBodyBuilder::dynamic()
        .translation(Vector::X * -0.3)
        .linvel(Vector::X * 10.0)
        .ccd_enabled(true);
    let bullet = simulation.physics.insert(bullet, ball());
    simulation.physics.shift_origin(Vector::Y * 100.0).unwrap();
    for _ in 0..10 {
        advance(&mut simulation, 17);
    }
    let speed = |key| simulation.physics.body(key).unwrap().linvel().x;
    assert!(speed(sleeper) > 1.0, "{} m/s", speed(sleeper));
    assert!(
        (speed(sleeper) + speed(bullet) - 10.0).abs() < 1e-3,
        "momentum is conserved"
    );
}

#[test]
fn the_target_of_a_pinned_particle_moves_with_the_origin() {
    let ends = [Vector::Y * 4.0, Vector::Y * 2.7];
    let target = Vector::X * 0.1 + ends[0];
    for shifted_at in [10, 11] {
        let mut simulation = scenes::space(60);
        let rope = SoftBodyBuilder::rope(ends[0], ends[1], 8).pinned_particles([0]);
        let physics = simulation.physics.rapier_mut_except_bodies();
        let rope = physics.insert_soft_body(rope);
        for _ in 0..60 {
            simulation.advance(scenes::MS(17), |physics, step| {
                if step.tick == 10 {
                    let soft_body = &mut physics.rapier_mut_except_bodies().soft_bodies[rope];
                    soft_body.set_particle_kinematic_target(0, target);
                }
                if step.tick == shifted_at {
                    physics.shift_origin(Vector::X * 64.0).unwrap();
                }
            });
        }
        let at = simulation.physics.rapier().soft_bodies[rope].particle_position(0);
        assert!((at + Vector::X * 64.0 - target).length() < 1e-4, "{at}");
    }
}

#[test]
fn mutable_access_after_a_shift_or_a_portal_changes_no_picture() {
    type Move = fn(&mut Physics, BodyKey);
    let moves: [Move; 2] = [
        |physics, _| physics.shift_origin(vector(13.7, 0.3, -3.1)).unwrap(),
        |physics, root| {
            let by = pose(vector(13.7, 0.3, -3.1), spin(0.0, 0.0, 0.4));
            physics.teleport_by(root, by).unwrap();
        },
    ];
    for go in moves {
        let play = |has_access| {
            let mut simulation = space(50);
            let root = RigidBodyBuilder::dynamic().translation(vector(0.3, 0.2, 0.1));
            let links = chain(&mut simulation, 5, root);
            let cloth = cloth(vector(0.0, 9.0, 0.0), 1.0, 4).pinned_particles([0, 3]);
            simulation.physics.rapier_mut().insert_soft_body(cloth);
            let mut hooks = Late(|physics: &mut Physics, step: Step| {
                if step.tick % 20 == 9 {
                    go(physics, links[0]);
                    if has_access {
                        let _ = physics.rapier_mut();
                    }
                }
            });
            let mut shown = Vec::new();
            for _ in 0..200 {
                simulation.advance_with(MS(7), &mut hooks).unwrap();
                let keys = simulation.physics.bodies().map(|(key, _)| key);
                shown.push(keys.map(|key| simulation.pose(key)).collect::<Vec<_>>());
            }
            shown
        };
        assert_eq!(play(true), play(false));
    }
}

/// Calls a closure after each step.
struct Late<F>(F);

impl<F: FnMut(&mut Physics, Step)> Hooks for Late<F> {
    type Error = std::convert::Infallible;

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        (self.0)(physics, step);
        Ok(())
    }
}

#[test]
fn a_target_of_shape_matching_is_left_out_in_the_step_of_a_shift() {
    let (origin, target) = (vector(100.0, 0.0, 0.0), vector(0.0, 2.0, 0.0));
    let furthest = |leaves_out: bool| {
        let mut simulation = space(50);
        let cube = soft_cube(target, 0.5, 3);
        let cube = simulation.physics.rapier_mut().insert_soft_body(cube);
        let set = |simulation: &mut Simulation, target: Option<Vector>| {
            let world = simulation.physics.rapier_mut_except_bodies();
            let cluster = world.soft_bodies[cube].cluster_mut(0).unwrap();
            cluster.set_shape_matching_target(target.map(Pose::from_translation));
        };
        let world = simulation.physics.rapier_mut_except_bodies();
        world.soft_bodies[cube].enable_cluster_shape_matching(0, true);
        set(&mut simulation, Some(target));
        for _ in 0..10 {
            advance(&mut simulation, 20);
        }
        simulation.physics.shift_origin(origin).unwrap();
        set(&mut simulation, (!leaves_out).then_some(target - origin));
        let mut furthest = 0.0_f32;
        for _ in 0..10 {
            advance(&mut simulation, 20);
            set(&mut simulation, Some(target - origin));
            let at = positions(simulation.physics.rapier(), cube, origin);
            let middle = at.iter().copied().sum::<Vector>() / at.len() as f32;
            furthest = furthest.max((middle - target).length());
        }
        furthest
    };
    assert!(furthest(true) < 0.01, "{} m", furthest(true));
    // Once this holds without leaving it out, Rapier no longer remembers the target before the shift.
    assert!(furthest(false) > 1.0, "{} m", furthest(false));
}

#[test]
fn a_shift_before_the_first_picture_is_reported_in_it() {
    let by = vector(5_000.0, 0.0, 0.0);
    let start = || {
        let mut simulation = space(60);
        let body = RigidBodyBuilder::dynamic().translation(by);
        simulation.physics.insert(body, ball());
        simulation
    };
    let shift = move |physics: &mut Physics, step: Step| {
        if step.tick == 0 {
            physics.shift_origin(by).unwrap();
        }
    };
    for ms in [8, 17, 50] {
        let mut simulation = start();
        let shifts = (0..9).map(|_| simulation.advance(MS(ms), shift).origin_shift);
        assert_eq!(shifts.sum::<Vector>(), by);
    }
    // The game's thread has computed no frame while the levels loaded.
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(start(), BeforeStep(shift), settings);
    while worker
        .run_until(MS(300))
        .is_some_and(|next| next <= MS(300))
    {}
    assert_eq!(runner.frame_at(MS(300)).origin_shift(), by);
    assert_eq!(runner.frame_at(MS(316)).origin_shift(), Vector::ZERO);
    // A game begins in the coordinates of the state that it has loaded.
    let mut shifted = start();
    shifted.advance(MS(17), shift);
    let mut simulation = Simulation::default();
    simulation.physics = shifted.physics.clone();
    assert_eq!(advance(&mut simulation, 17).origin_shift, Vector::ZERO);
    simulation.physics = start().physics;
    assert_eq!(advance(&mut simulation, 17).origin_shift, -by);
}

#[cfg(feature = "serde")]
#[test]
fn a_game_that_is_saved_before_its_first_picture_reports_a_shift_in_it() {
    let mut simulation = space(60);
    simulation.physics.shift_origin(Vector::X).unwrap();
    simulation.begin_frame(MS(17));
    while simulation.next_step().is_some() {
        simulation.run_step();
    }
    let mut loaded = Simulation::default();
    loaded.physics = Physics::load(&simulation.physics.save().unwrap()).unwrap();
    let mut loaded = Simulation::load(&loaded.save().unwrap()).unwrap();
    loaded.physics.shift_origin(Vector::Y).unwrap();
    assert_eq!(advance(&mut loaded, 17).origin_shift, Vector::Y);
}

/// Rapier moves the frames of soft bodies only in its next step, but only those that existed at the shift.
#[test]
fn frames_of_soft_bodies_that_are_new_after_a_shift_are_displayed_where_they_are() {
    for shifts_again in [false, true] {
        let mut simulation = space(100);
        let old = soft_cube(Vector::Y * 5.0, 0.4, 3);
        simulation.physics.rapier_mut().insert_soft_body(old);
        simulation.advance(MS(15), |_, _| ());
        simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
        let new = soft_cube(vector(7.0, 5.0, 0.0), 0.4, 3);
        simulation.physics.rapier_mut().insert_soft_body(new);
        let mut expected = vec![vector(-100.0, 5.0, 0.0), vector(7.0, 5.0, 0.0)];
        if shifts_again {
            simulation.physics.shift_origin(Vector::X * 50.0).unwrap();
            expected.iter_mut().for_each(|it| it.x -= 50.0);
        }
        simulation.physics.track_all();
        for ms in [0, 15] {
            simulation.advance(MS(ms), |_, _| ());
            let bodies = simulation.physics.bodies();
            let frames = bodies.filter(|(_, it)| it.body_type() == RigidBodyType::SoftFrame);
            let mut shown: Vec<_> = frames
                .map(|(key, _)| simulation.pose(key).unwrap().translation)
                .collect();
            shown.sort_by(|a, b| a.x.total_cmp(&b.x));
            for (shown, expected) in shown.iter().zip(&expected) {
                assert!(
                    (shown - expected).length() < 0.1,
                    "{shown} is not {expected}"
                );
            }
            assert_eq!(shown.len(), 2);
        }
    }
}

#[test]
fn the_frame_of_a_disabled_soft_body_moves_with_the_origin() {
    let mut simulation = space(60);
    let soft = soft_cube(Vector::Y * 5.0, 0.4, 3);
    let soft = simulation.physics.rapier_mut().insert_soft_body(soft);
    simulation.physics.track_all();
    let (key, _) = simulation.physics.bodies().next().unwrap();
    let enable = |simulation: &mut Simulation, is_enabled| {
        let soft_bodies = &mut simulation.physics.rapier_mut().soft_bodies;
        soft_bodies.get_mut(soft).unwrap().set_enabled(is_enabled);
        advance(simulation, 40);
    };
    enable(&mut simulation, false);
    simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    let check = |simulation: &mut Simulation| {
        for _ in 0..4 {
            advance(simulation, 17);
            let x = simulation.pose(key).unwrap().translation.x;
            assert!((x + 100.0).abs() < 0.1, "{x}");
        }
    };
    check(&mut simulation);
    enable(&mut simulation, true);
    check(&mut simulation);
}
