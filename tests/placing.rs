//! Bodies, and whole worlds, that are put elsewhere.

mod scenes;

use crate::scenes::testing::{
    CONTACTS_ARE_RELATIVE, angle_between, ball_joint, cloth, cuboid, length, of_root, pose, scaled,
    spaced, spin, translation, turned, vector,
};
use evenstep::rapier::prelude::*;
use evenstep::{
    BodyError, BodyKey, ForceGenerator, Hooks, OriginError, Physics, Rate, Simulation, Step,
};
use scenes::{MS, advance, ball, space};
use std::time::Duration;

/// The largest distance between two poses' places of four points, 1 m from the origin.
fn apart(a: Pose, b: Pose) -> f32 {
    let corners = [Vector::ZERO, Vector::X, Vector::Y, vector(0.0, 0.0, 1.0)];
    let distances = corners.map(|corner| (a * corner - b * corner).length());
    distances.into_iter().fold(0.0, f32::max)
}

// Teleports that keep the motion.

fn tumbler(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .linvel(vector(8.0, 1.0, 0.0))
            .angvel(spin(3.0, 0.0, 5.0)),
        cuboid(0.1, 0.2, 0.3).translation(Vector::X * 0.3),
    )
}

#[test]
fn through_a_portal_motion_goes_on_as_on_the_other_side() {
    let portal = pose(vector(40.0, -3.0, 7.0), spin(0.3, 1.4, -0.2));
    // In a frame with a step and in one without; between frames and in a hook.
    for (ms, in_hook) in [(3, false), (11, false), (25, true)] {
        let (mut through, mut twin) = (space(100), space(100));
        let (key, other) = (tumbler(&mut through), tumbler(&mut twin));
        for simulation in [&mut through, &mut twin] {
            advance(simulation, 34);
        }
        if in_hook {
            let last = through.physics.tick() + 1;
            through.advance(MS(ms), |physics, step| {
                if step.tick == last {
                    physics.teleport_by(key, portal).unwrap();
                }
            });
        } else {
            let before = through.pose(key);
            through.physics.teleport_by(key, portal).unwrap();
            assert_eq!(through.pose(key), before, "until the next frame");
            advance(&mut through, ms);
            assert_eq!(through.frame().poses.teleported, 1);
        }
        advance(&mut twin, ms);
        for _ in 0..60 {
            let expected = portal * twin.pose(other).unwrap();
            let off = apart(through.pose(key).unwrap(), expected);
            assert!(off < 1e-4, "{off} m from where it would be");
            advance(&mut through, 7);
            advance(&mut twin, 7);
        }
        let velocity = portal.rotation * twin.physics.body(other).unwrap().linvel();
        assert!((through.physics.body(key).unwrap().linvel() - velocity).length() < 1e-5);
    }
}

#[test]
fn a_world_that_wraps_around_shows_no_jump_but_the_wrap() {
    // A world of 64 m: what leaves it at one end enters at the other, with its motion.
    let mut simulation = space(60);
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 50.0);
    let key = simulation.physics.insert(fly, ball());
    let (mut last, mut wraps) = (0.0, 0);
    for frame in 0..600 {
        simulation.advance(MS(7), |physics, _| {
            if physics.body(key).unwrap().translation().x > 32.0 {
                let back = translation(-64.0, 0.0, 0.0);
                physics.teleport_by(key, back).unwrap();
            }
        });
        let now = simulation.pose(key).unwrap().translation.x;
        let mut way = now - last;
        if way < -32.0 {
            way += 64.0;
            wraps += 1;
        }
        assert!(
            frame < 5 || (way - 0.35).abs() < 2e-5,
            "{way} m in frame {frame}"
        );
        last = now;
    }
    assert_eq!(wraps, 3);
}

#[test]
fn a_bad_isometry_is_refused_and_a_dead_body_named() {
    let mut simulation = space(60);
    let key = tumbler(&mut simulation);
    let nan = Pose::from_translation(Vector::NAN);
    assert_eq!(
        simulation.physics.teleport_by(key, nan),
        Err(BodyError::NotFinite(key))
    );
    let refused = simulation.physics.shift_origin(Vector::NAN).unwrap_err();
    assert!(refused.to_string().contains("NaN, NaN"), "{refused}");
    assert_eq!(simulation.pose(key), Some(Pose::IDENTITY));
    simulation.physics.remove(key);
    let there = Pose::IDENTITY;
    assert_eq!(
        simulation.physics.teleport_by(key, there),
        Err(BodyError::Gone(key))
    );
}

// Origin shifts.

/// Everything that has a place: a pile, a collider without a body and a crate on it, a hanging chain
/// of joints of both kinds, cloth on two pins, a spring to a point of the world, a lift under way, and a
/// body that flies free.
fn everything() -> (Simulation, Vec<BodyKey>, SoftBodyHandle) {
    let mut simulation = scenes::with_floor(Rate::hz(60).unwrap());
    let mut keys = scenes::pile(&mut simulation, 30);
    let rock = cuboid(4.0, 1.0, 4.0).translation(Vector::X * 20.0);
    simulation.physics.rapier_mut().insert_collider(rock, None);
    let cube = || cuboid(0.25, 0.25, 0.25);
    let mut add = |simulation: &mut Simulation, body: RigidBodyBuilder, at: [f32; 3]| {
        let key = simulation.physics.insert(
            body.translation(spaced(at[0], at[1], at[2])),
            cube().mass(1.0),
        );
        keys.push(key);
        key
    };
    add(
        &mut simulation,
        RigidBodyBuilder::dynamic(),
        [20.0, 1.3, 0.0],
    );
    let chain: Vec<BodyKey> = (0..6u8)
        .map(|i| {
            let body = RigidBodyBuilder::dynamic()
                .linear_damping(4.0)
                .angular_damping(4.0);
            let body = if i == 0 {
                RigidBodyBuilder::fixed()
            } else {
                body
            };
            add(&mut simulation, body, [-20.0, 9.0 - f32::from(i), 0.0])
        })
        .collect();
    for (i, pair) in chain.windows(2).enumerate() {
        let [a, b] = [pair[0], pair[1]].map(|key| simulation.physics.handle(key).unwrap());
        let joint = ball_joint(Vector::Y * -0.5, Vector::Y * 0.5);
        let world = simulation.physics.rapier_mut();
        if i < 3 {
            world.insert_impulse_joint(a, b, joint);
        } else {
            world.insert_multibody_joint(a, b, joint).unwrap();
        }
    }
    let hung = add(
        &mut simulation,
        RigidBodyBuilder::dynamic(),
        [0.0, 8.0, -20.0],
    );
    let spring = ForceGenerator::Spring {
        anchor: spaced(0.0, 11.0, -20.0),
        point: Vector::ZERO,
        rest_length: 2.0,
        stiffness: 50.0,
        damping: 1.0,
    };
    simulation
        .physics
        .insert_force_generator(hung, spring)
        .unwrap();
    let lift = RigidBodyBuilder::kinematic_position_based();
    let lift = add(&mut simulation, lift, [0.0, 1.0, 20.0]);
    let top = Pose::from_translation(spaced(0.0, 9.0, 20.0));
    simulation
        .physics
        .set_kinematic_target(lift, top, Duration::from_secs(8))
        .unwrap();
    let flyer = RigidBodyBuilder::dynamic()
        .angvel(spin(1.0, 1.0, 1.0))
        .gravity_scale(0.1);
    add(&mut simulation, flyer, [0.0, 30.0, 0.0]);
    let cloth = cloth(spaced(30.0, 5.0, 30.0), 1.0, 4).pinned_particles([0, 3]);
    let cloth = simulation.physics.rapier_mut().insert_soft_body(cloth);
    (simulation, keys, cloth)
}

/// Where everything is that has a place, less the origin of the world.
fn places(world: &PhysicsWorld, soft_body: SoftBodyHandle, origin: Vector) -> Vec<Vector> {
    let bodies = world.bodies.iter().map(|(_, body)| body.translation());
    let colliders = world
        .colliders
        .iter()
        .map(|(_, collider)| collider.translation());
    let particles = world
        .soft_bodies
        .get(soft_body)
        .unwrap()
        .particle_positions();
    let all = bodies.chain(colliders).chain(particles);
    all.map(|place| place + origin).collect()
}

fn furthest(a: &[Vector], b: &[Vector]) -> f32 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).length());
    distances.fold(0.0, f32::max)
}

#[test]
fn a_shift_of_the_origin_is_not_seen() {
    // The spacing of f32 at the larger distance, a few times; and what joints make of it.
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
            // In the first frame already, before the next step.
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
            // In the first step after it all are awake.
            assert!(frame.awake == theirs.awake || frame.tick == shifted_at + 1);
            assert_eq!(frame.poses.teleported, 0);
            if frame.tick > shifted_at {
                // The frame and the collider of a soft body follow its particles in the next step.
                let here = places(shifted.physics.rapier(), cloth, origin);
                let off = furthest(&here, &places(other.physics.rapier(), cloth, Vector::ZERO));
                assert!(off < bound, "{off} m after {} steps", frame.tick);
            }
        }
    }
}

#[test]
fn a_shift_before_the_first_step_loses_nothing() {
    let origin = vector(64.0, 0.0, -32.0);
    let (mut shifted, keys, _) = everything();
    let (mut other, ..) = everything();
    // Among bodies that Rapier leaves out: one disabled, one with a bad position.
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
    // The disabled one is not found where it is, and the pile is found where that is.
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
fn contacts_are_the_same_to_the_bit_where_the_shift_is_exact() {
    // Far out the spacing of f32 is coarse; what is near the new origin can hold all of it.
    let far = vector(2_100.0, 0.0, -1_300.0);
    let pile = || {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        // Rapier keeps contacts over steps; a shift makes it find them anew. Both do, always.
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
fn a_shift_is_told_once_by_the_next_frame() {
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
    // Queries see it before the next step.
    let mut moved = ray(20.0);
    moved.origin -= origin;
    assert_eq!(hit(&simulation, moved), expected);
    assert_eq!(hit(&simulation, ray(20.0)), None);
    let poses = |simulation: &Simulation| -> Vec<_> {
        keys.iter()
            .map(|key| simulation.pose(*key).unwrap())
            .collect()
    };
    assert_eq!(poses(&simulation), before, "the picture stays as it is");
    assert_eq!(advance(&mut simulation, 0).origin_shift, origin);
    for (now, before) in poses(&simulation).iter().zip(&before) {
        assert!(apart(*now, by * *before) < 1e-3);
    }
    let mut told: Vec<_> = simulation.moved().iter().map(|(key, _)| *key).collect();
    told.sort();
    assert!(keys.iter().all(|key| told.binary_search(key).is_ok()));
    assert_eq!(told.len(), keys.len() + 1, "and the floor");
    assert_eq!(advance(&mut simulation, 0).origin_shift, Vector::ZERO);
    assert_eq!(simulation.moved(), []);
}

struct Shifter {
    tick: u64,
    after: bool,
    origin: Vector,
}

impl Hooks for Shifter {
    type Error = OriginError;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), OriginError> {
        if !self.after && step.tick == self.tick {
            physics.shift_origin(self.origin)?;
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), OriginError> {
        if self.after && step.tick == self.tick {
            physics.shift_origin(self.origin)?;
        }
        Ok(())
    }
}

#[test]
fn a_shift_inside_a_hook_is_not_seen_either() {
    let origin = vector(64.0, 0.0, -32.0);
    let by = Pose::from_translation(-origin);
    for history in [2, 8] {
        for (tick, after) in [(33, false), (35, false), (33, true), (35, true)] {
            let (mut shifted, keys, _) = everything();
            let (mut other, ..) = everything();
            for simulation in [&mut shifted, &mut other] {
                simulation.set_history(history);
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
fn what_waits_for_the_next_step_is_shifted_too() {
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
fn what_hits_a_sleeper_in_the_step_after_a_shift_wakes_it() {
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
        "no momentum is lost"
    );
}

// Changes of a part.

#[test]
fn a_change_of_one_thing_changes_nothing_else() {
    let start = || {
        let mut simulation = space(100);
        let key = tumbler(&mut simulation);
        simulation.set_history(4);
        advance(&mut simulation, 56);
        (simulation, key)
    };
    let everything_of = |body: &RigidBody| {
        (
            body.translation(),
            *body.rotation(),
            body.linvel(),
            body.angvel(),
        )
    };
    let (simulation, key) = start();
    let (translation, rotation, linvel, angvel) =
        everything_of(simulation.physics.body(key).unwrap());
    let pair = (
        previous_pose(&simulation, key).unwrap(),
        current_pose(&simulation, key).unwrap(),
    );
    let turned = turned(spin(0.0, 0.2, 0.0)) * rotation;

    // Velocities: the pair is as it was, and the picture goes on.
    type Change = fn(&mut RigidBody);
    let velocities: [(Change, Vector, AngVector); 3] = [
        (
            |body| body.set_linvel(Vector::ZERO, true),
            Vector::ZERO,
            angvel,
        ),
        (
            |body| body.set_angvel(spin(0.0, 1.0, 0.0), true),
            linvel,
            spin(0.0, 1.0, 0.0),
        ),
        (
            |body| body.set_linvel(with_y(body.linvel(), 5.0), true),
            with_y(linvel, 5.0),
            angvel,
        ),
    ];
    for (change, linvel, angvel) in velocities {
        let (mut simulation, key) = start();
        let shown = simulation.pose(key);
        change(simulation.physics.body_mut(key).unwrap());
        let frame = advance(&mut simulation, 0);
        assert_eq!(frame.poses.teleported, 0);
        assert_eq!(
            (
                previous_pose(&simulation, key).unwrap(),
                current_pose(&simulation, key).unwrap()
            ),
            pair
        );
        assert_eq!(simulation.pose(key), shown);
        let now = everything_of(simulation.physics.body(key).unwrap());
        assert_eq!(now, (translation, rotation, linvel, angvel));
    }

    // Parts of the pose: simulated, the rest of it is the true state's, not one that was shown; shown, the rest
    // goes on as smoothly as before.
    let (mut simulation, key) = start();
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_rotation(turned, true);
    advance(&mut simulation, 0);
    let now = everything_of(simulation.physics.body(key).unwrap());
    assert_eq!(now, (translation, turned, linvel, angvel));
    let pose = simulation.pose(key).unwrap();
    assert!(angle_between(pose.rotation, turned) < 1e-6, "{pose:?}");
    // The origin, which the body was turned about, goes straight.
    let alpha = simulation.frame().alpha;
    let straight = pair.0.translation.lerp(pair.1.translation, alpha);
    assert!(straight.distance(translation) > 0.01, "on the way");
    assert!(pose.translation.distance(straight) < 1e-6, "{pose:?}");

    let (mut simulation, key) = start();
    let shown = simulation.pose(key).unwrap();
    let body = simulation.physics.body_mut(key).unwrap();
    let lifted = with_y(body.translation(), 9.0);
    body.set_translation(lifted, true);
    let frame = advance(&mut simulation, 0);
    assert_eq!(frame.poses.teleported, 1);
    let now = everything_of(simulation.physics.body(key).unwrap());
    assert_eq!(now, (lifted, rotation, linvel, angvel));
    let pose = simulation.pose(key).unwrap();
    // The centre of mass, which the body goes on turning about, stands.
    let body = simulation.physics.body(key).unwrap();
    let center = body.mass_properties().local_mprops.local_com;
    let there = *body.position() * center;
    assert!((pose * center).distance(there) < 1e-5, "{pose:?}");
    assert!(shown.rotation != rotation);
    assert!(
        angle_between(pose.rotation, shown.rotation) < 1e-6,
        "{pose:?}"
    );
}

#[test]
fn a_portal_to_nowhere_is_refused() {
    let mut simulation = space(60);
    let key = tumbler(&mut simulation);
    let far = translation(3e38, 0.0, 0.0);
    simulation.physics.teleport(key, far).unwrap();
    assert_eq!(
        simulation.physics.teleport_by(key, far),
        Err(BodyError::NotFinite(key))
    );
    assert_eq!(simulation.pose(key), Some(far));
    simulation.physics.shift_origin(-far.translation).unwrap();
    advance(&mut simulation, 5);
    assert!(simulation.pose(key).unwrap().is_finite());
}

#[test]
fn only_what_is_put_elsewhere_counts_as_that() {
    let mut simulation = space(100);
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    for i in 0..10u8 {
        simulation
            .physics
            .insert(fly().translation(Vector::Y * f32::from(i)), ball());
    }
    for ms in [10, 20, 30] {
        let frame = simulation.advance(MS(ms), |physics, _| {
            physics.rapier_mut();
        });
        assert_eq!(frame.poses.teleported, 0, "{ms} ms");
    }
    let frame = simulation.advance(MS(20), |physics, _| {
        physics.shift_origin(Vector::X).unwrap();
    });
    assert_eq!(frame.poses.teleported, 0);
}

#[test]
fn a_shift_after_a_frame_reaches_a_host_that_has_not_taken_it_over_yet() {
    let (mut simulation, _, _) = everything();
    advance(&mut simulation, 25);
    simulation.physics.shift_origin(Vector::X * 8.0).unwrap();
    assert!(simulation.moved().len() > 30);
    for (key, pose) in simulation.moved() {
        assert_eq!(simulation.pose(*key), Some(*pose));
    }
}

/// A chain of links that hang on one another in free space, pushed into motion; gives its bodies, the root
/// first.
fn chain(simulation: &mut Simulation, links: u8, root: RigidBodyBuilder) -> Vec<BodyKey> {
    let mut keys = vec![simulation.physics.insert(root, ball())];
    for i in 1..links {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * f32::from(i));
        keys.push(simulation.physics.insert(body, ball().mass(0.004)));
        let ends = [keys[usize::from(i) - 1], keys[usize::from(i)]];
        let [one, other] = ends.map(|key| simulation.physics.handle(key).unwrap());
        let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
        let joints = simulation.physics.rapier_mut_except_bodies();
        joints.insert_multibody_joint(one, other, joint).unwrap();
    }
    simulation.advance(MS(200), |physics, _| {
        // Rapier gives links no velocity but that of their joints: only forces set them in motion.
        for (key, push) in keys.iter().zip([
            vector(0.0, 0.5, 1.0),
            -Vector::Y,
            Vector::Y,
            vector(0.0, -0.5, 1.0),
        ]) {
            physics.add_force(*key, push * 0.3).unwrap();
        }
    });
    keys
}

#[test]
fn the_links_of_a_multibody_are_put_elsewhere_with_their_root() {
    for by_hand in [false, true] {
        let mut simulation = space(100);
        let keys = chain(&mut simulation, 5, RigidBodyBuilder::dynamic());
        advance(&mut simulation, 255);
        let [before, after] =
            [keys[0], keys[4]].map(|key| simulation.physics.body(key).unwrap().position());
        let relative = before.inverse() * *after;
        let to = pose(vector(0.0, 300.0, 7.0), of_root(spin(1.0, 0.0, 0.0)));
        if by_hand {
            let root = simulation.physics.body_mut(keys[0]).unwrap();
            root.set_position(to, true);
            advance(&mut simulation, 1); // no step
        } else {
            simulation.physics.teleport(keys[0], to).unwrap();
            advance(&mut simulation, 0);
        }
        let shown = simulation.pose(keys[4]).unwrap();
        assert!(shown.translation.distance((to * relative).translation) < 1e-3);
        let mut last: Vec<Pose> = keys
            .iter()
            .map(|key| simulation.pose(*key).unwrap())
            .collect();
        for ms in [1, 10, 4] {
            advance(&mut simulation, ms);
            for (key, last) in keys.iter().zip(&mut last) {
                let shown = simulation.pose(*key).unwrap();
                let way = shown.translation.distance(last.translation);
                assert!(way < 0.2, "{way} m in a frame, by hand {by_hand}");
                *last = shown;
            }
        }
    }
}

#[test]
fn a_multibody_goes_through_a_portal_in_one_piece_and_with_its_motion() {
    for root in [RigidBodyBuilder::dynamic(), RigidBodyBuilder::fixed()] {
        let run = |by: Option<Pose>| {
            let mut simulation = space(100);
            let keys = chain(&mut simulation, 4, root.clone());
            advance(&mut simulation, 105);
            if let Some(by) = by {
                simulation.physics.teleport_by(keys[0], by).unwrap();
            }
            let mut shown = Vec::new();
            for _ in 0..40 {
                advance(&mut simulation, 7);
                shown.extend(keys.iter().map(|key| simulation.pose(*key).unwrap()));
            }
            let way = shown[1]
                .translation
                .distance(shown[keys.len() * 39 + 1].translation);
            assert!(way > 0.02, "it moves: {way} m");
            shown
        };
        let by = pose(vector(4.0, -3.0, 8.0), of_root(spin(0.0, 1.2, 0.0)));
        for (through, stayed) in run(Some(by)).into_iter().zip(run(None)) {
            let off = through.translation.distance((by * stayed).translation);
            assert!(off < 2e-3, "{off} m");
        }
    }
}

#[test]
fn what_depends_on_others_is_not_put_elsewhere_alone() {
    let mut simulation = space(100);
    let keys = chain(&mut simulation, 3, RigidBodyBuilder::dynamic());
    let cloth = cloth(Vector::Y * 9.0, 1.0, 4);
    let physics = simulation.physics.rapier_mut();
    let cloth = physics.insert_soft_body(cloth);
    physics.add_soft_body_cluster(cloth, &[0, 1, 2, 3]).unwrap();
    let is_frame = |body: &RigidBody| body.body_type() == RigidBodyType::SoftFrame;
    let frame = physics.rigid_bodies().find(|(_, body)| is_frame(body));
    let (frame, _) = frame.expect("the cluster has a frame");
    let frame = simulation.physics.track(frame).unwrap();
    for key in [keys[1], keys[2], frame] {
        let before = *simulation.physics.body(key).unwrap().position();
        let to = translation(5.0, 5.0, 5.0);
        assert_eq!(
            simulation.physics.teleport(key, to),
            Err(BodyError::Dependent(key))
        );
        assert_eq!(
            simulation.physics.teleport_by(key, to),
            Err(BodyError::Dependent(key))
        );
        assert_eq!(*simulation.physics.body(key).unwrap().position(), before);
    }
}

/// Rapier panics in a step of such a multibody, and when its links are placed.
#[test]
fn a_root_with_a_link_that_is_not_dynamic_is_not_put_elsewhere() {
    let to = translation(5.0, 5.0, 5.0);
    for root in [RigidBodyBuilder::dynamic(), RigidBodyBuilder::fixed()] {
        for kind in [
            RigidBodyType::Fixed,
            RigidBodyType::KinematicPositionBased,
            RigidBodyType::KinematicVelocityBased,
        ] {
            let mut simulation = space(100);
            let keys = chain(&mut simulation, 4, root.clone());
            for steps in [0, 3] {
                advance(&mut simulation, steps * 10);
                let set_type = |simulation: &mut Simulation, kind| {
                    let link = simulation.physics.body_mut(keys[2]).unwrap();
                    link.set_body_type(kind, true);
                };
                let poses = |simulation: &Simulation| -> Vec<Pose> {
                    let bodies = keys
                        .iter()
                        .map(|key| simulation.physics.body(*key).unwrap());
                    bodies.map(|body| *body.position()).collect()
                };
                set_type(&mut simulation, kind);
                let before = poses(&simulation);
                let refused = Err(BodyError::LinkNotDynamic(keys[0]));
                assert_eq!(simulation.physics.teleport(keys[0], to), refused);
                assert_eq!(simulation.physics.teleport_by(keys[0], to), refused);
                assert_eq!(poses(&simulation), before);
                set_type(&mut simulation, RigidBodyType::Dynamic);
                simulation.physics.teleport_by(keys[0], to).unwrap();
                assert_ne!(poses(&simulation), before);
                simulation.physics.teleport(keys[0], to).unwrap();
                assert_eq!(poses(&simulation)[0], to);
            }
            advance(&mut simulation, 30);
        }
    }
}

#[test]
fn a_rotation_is_normalised_or_refused() {
    let mut simulation = space(100);
    let key = tumbler(&mut simulation);
    let lift = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let once = turned(spin(0.0, 1.0, 0.0));
    let long = Pose::from_parts(Vector::X, scaled(once, 7.0));
    let none = Pose::from_parts(Vector::X, scaled(once, 0.0));
    let before = simulation.pose(key);
    assert_eq!(
        simulation.physics.teleport(key, none),
        Err(BodyError::NotARotation(key))
    );
    assert_eq!(
        simulation.physics.teleport_by(key, none),
        Err(BodyError::NotARotation(key))
    );
    let target = simulation.physics.set_kinematic_target(lift, none, MS(50));
    assert_eq!(target, Err(BodyError::NotARotation(lift)));
    assert_eq!(simulation.pose(key), before);

    simulation
        .physics
        .set_kinematic_target(lift, long, MS(50))
        .unwrap();
    simulation.physics.teleport(key, long).unwrap();
    assert!(angle_between(simulation.pose(key).unwrap().rotation, once) < 1e-6);
    simulation.physics.teleport_by(key, long).unwrap();
    advance(&mut simulation, 50);
    let twice = turned(spin(0.0, 2.0, 0.0));
    for (key, rotation) in [(lift, once), (key, twice)] {
        let body = simulation.physics.body(key).unwrap();
        assert!(body.is_enabled() && body.rotation().is_normalized());
        assert!(key != lift || angle_between(*body.rotation(), rotation) < 1e-6);
    }
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// The pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

fn with_y(mut vector: Vector, y: f32) -> Vector {
    vector.y = y;
    vector
}
