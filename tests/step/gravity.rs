//! Gravity that changes, and the bodies that it wakes.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Physics, Rate, Simulation, VectorError};
use scenes::testing::{cuboid, soft_cube, vector};
use scenes::{MS, advance, ball, hash, moved_keys, sleepers, space, with_floor};

const UP: Vector = vector(0.0, 9.81, 0.0);

fn asleep() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().sleeping(true)
}

fn is_asleep(physics: &Physics, key: BodyKey) -> bool {
    physics.body(key).unwrap().is_sleeping()
}

fn height(physics: &Physics, key: BodyKey) -> f32 {
    physics.body(key).unwrap().translation().y
}

/// Creates 50 balls asleep on a floor. Their first contact with it wakes them for a while.
fn at_rest() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = with_floor(Rate::hz(100));
    let keys = sleepers(&mut simulation, 50);
    for _ in 0..100 {
        advance(&mut simulation, 10);
    }
    assert_eq!(advance(&mut simulation, 10).movers, 0);
    (simulation, keys)
}

/// Creates free space with a body on each of these heights, which lies there from the first step on.
fn floating<const N: usize>(bodies: [RigidBodyBuilder; N]) -> (Simulation, [BodyKey; N]) {
    let mut simulation = space(100);
    let mut height = 0.0;
    let keys = bodies.map(|body| {
        height += 2.0;
        let body = body.translation(Vector::Y * height);
        simulation.physics.insert(body, ball())
    });
    for _ in 0..2 {
        advance(&mut simulation, 10);
    }
    (simulation, keys)
}

#[test]
fn a_change_of_gravity_wakes_all_sleeping_bodies_in_the_next_step() {
    let (mut simulation, keys) = at_rest();
    let heights = |simulation: &Simulation| {
        let heights = keys.iter().map(|key| height(&simulation.physics, *key));
        heights.collect::<Vec<f32>>()
    };
    let before = heights(&simulation);
    simulation.physics.set_gravity(UP).unwrap();
    assert_eq!(simulation.physics.gravity(), UP);
    assert_eq!(advance(&mut simulation, 2).movers, 0);
    let frame = advance(&mut simulation, 13);
    assert_eq!((frame.steps, frame.awake), (1, 50));
    let mut moved = moved_keys(&simulation);
    moved.sort_unstable();
    assert_eq!(moved, keys);
    // 2 ms were left from the frame without a step, so the picture is halfway through the step.
    let after = heights(&simulation);
    for ((key, before), after) in keys.iter().zip(before).zip(after) {
        let shown = simulation.pose(*key).unwrap().translation.y;
        assert!(before < shown && shown < after, "{before} {shown} {after}");
        assert!((shown - 0.5 * (before + after)).abs() < 1e-6, "{shown} m");
    }
}

#[test]
fn a_change_of_gravity_through_rapier_wakes_no_body() {
    let (mut simulation, keys) = at_rest();
    simulation.physics.rapier_mut_except_bodies().gravity = UP;
    advance(&mut simulation, 100);
    assert!(keys.iter().all(|key| is_asleep(&simulation.physics, *key)));
}

#[test]
fn bodies_fall_asleep_while_every_step_sets_the_same_gravity() {
    let (mut simulation, keys) = at_rest();
    let down = simulation.physics.gravity();
    simulation.physics.wake_up_all();
    assert_eq!(advance(&mut simulation, 10).awake, 50);
    for _ in 0..60 {
        simulation.advance(MS(10), |physics, _| physics.set_gravity(down).unwrap());
    }
    assert_eq!(simulation.frame().awake, 0);
    assert!(keys.iter().all(|key| is_asleep(&simulation.physics, *key)));
}

#[test]
fn gravity_that_is_not_finite_is_refused_and_wakes_no_body() {
    let (mut simulation, keys) = at_rest();
    let before = hash(simulation.physics.rapier());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let bad = Vector::X * bad;
        let error = simulation.physics.set_gravity(bad).unwrap_err();
        assert!(!error.0.is_finite());
        let message = error.to_string();
        assert!(message.starts_with("the vector"), "{message}");
    }
    assert_eq!(hash(simulation.physics.rapier()), before);
    assert_eq!(advance(&mut simulation, 20).awake, 0);
    assert_eq!(simulation.physics.bodies().count(), keys.len() + 1);
    let infinite = Vector::splat(f32::INFINITY);
    let refused = simulation.physics.set_gravity(infinite);
    assert_eq!(refused, Err(VectorError(infinite)));
}

#[test]
fn gravity_wakes_only_bodies_that_it_acts_on() {
    let bodies = [
        asleep(),
        asleep().gravity_scale(-0.5),
        asleep().gravity_scale(0.0),
        asleep().enabled(false),
        RigidBodyBuilder::kinematic_velocity_based().sleeping(true),
        RigidBodyBuilder::fixed().sleeping(true),
    ];
    let (mut simulation, keys) = floating(bodies);
    simulation.physics.set_gravity(-UP).unwrap();
    let wakes = |simulation: &Simulation| keys.map(|key| !is_asleep(&simulation.physics, key));
    let expected = [true, true, false, false, false, false];
    assert_eq!(wakes(&simulation), expected);
    // The frame may list all bodies once. The later ones list the falling bodies only.
    for _ in 0..20 {
        advance(&mut simulation, 10);
    }
    assert_eq!(wakes(&simulation), expected);
    assert_eq!(simulation.frame().movers, 2);
    let heights = keys.map(|key| height(&simulation.physics, key));
    assert!(heights[0] < 1.9 && heights[1] > 4.05, "{heights:?}");
    assert_eq!(heights[2..], [6.0, 8.0, 10.0, 12.0]);
}

#[test]
fn wake_up_all_wakes_each_enabled_body_that_can_move() {
    let bodies = [
        asleep(),
        asleep().gravity_scale(0.0),
        RigidBodyBuilder::kinematic_velocity_based().sleeping(true),
        RigidBodyBuilder::fixed().sleeping(true),
        asleep().enabled(false),
    ];
    let (mut simulation, keys) = floating(bodies);
    // A velocity that does not wake the body.
    let body = simulation.physics.body_mut(keys[2]).unwrap();
    body.set_linvel(Vector::X, false);
    advance(&mut simulation, 10);
    assert_eq!(simulation.frame().awake, 0);
    simulation.physics.wake_up_all();
    let wakes = keys.map(|key| !is_asleep(&simulation.physics, key));
    assert_eq!(wakes, [true, true, true, false, false]);
    let frame = advance(&mut simulation, 15);
    assert_eq!(frame.awake, 3);
    assert_eq!(moved_keys(&simulation), [keys[2]]);
    let frame = advance(&mut simulation, 10);
    assert_eq!(frame.movers, 3, "a disabled body is no mover");
}

#[test]
fn bodies_without_gravity_wake_with_the_bodies_that_they_touch() {
    let mut simulation = with_floor(Rate::hz(100));
    let cube = || cuboid(0.5, 0.5, 0.5);
    let keys = [1.0, 0.0].map(|scale| {
        let body = RigidBodyBuilder::dynamic().gravity_scale(scale);
        let body = body.translation(Vector::Y * (1.5 - scale));
        simulation.physics.insert(body, cube())
    });
    for _ in 0..100 {
        advance(&mut simulation, 10);
    }
    assert!(keys.iter().all(|key| is_asleep(&simulation.physics, *key)));
    simulation.physics.set_gravity(UP).unwrap();
    assert!(is_asleep(&simulation.physics, keys[1]));
    let frame = advance(&mut simulation, 15);
    assert_eq!((frame.awake, frame.movers), (2, 2));
    assert!(simulation.physics.body(keys[1]).unwrap().linvel().y > 0.0);
}

#[test]
fn a_woken_body_that_falls_asleep_in_the_same_step_is_displayed_where_it_sleeps() {
    let (mut simulation, [key]) = floating([RigidBodyBuilder::dynamic()]);
    let body = simulation.physics.body_mut(key).unwrap();
    body.activation_mut().time_until_sleep = 0.009;
    body.activation_mut().normalized_linear_threshold = 100.0;
    for _ in 0..2 {
        advance(&mut simulation, 10);
    }
    assert!(is_asleep(&simulation.physics, key));
    // A bullet that hits a wall divides the next step. The body moves in the first part and falls asleep in the second.
    let rapier = simulation.physics.rapier_mut_except_bodies();
    rapier.integration_parameters.max_ccd_substeps = 4;
    let bullet = RigidBodyBuilder::dynamic()
        .ccd_enabled(true)
        .translation(Vector::X * -50.0)
        .linvel(Vector::X * 300.0);
    simulation.physics.insert(bullet, ball());
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * -48.0);
    simulation.physics.insert(wall, cuboid(0.1, 5.0, 5.0));
    simulation.physics.set_gravity(UP).unwrap();
    advance(&mut simulation, 10);
    assert!(is_asleep(&simulation.physics, key));
    let risen = height(&simulation.physics, key);
    assert!(risen > 2.0, "it does not move");
    advance(&mut simulation, 9);
    let shown = simulation.pose(key).unwrap().translation.y;
    assert!((2.0..=risen).contains(&shown) && shown > 2.0, "{shown} m");
    advance(&mut simulation, 1);
    assert_eq!(simulation.pose(key).unwrap().translation.y, risen);
}

/// Returns the bodies that Rapier steps, in its order.
fn active(physics: &Physics) -> Vec<RigidBodyHandle> {
    physics.rapier().islands.active_bodies().collect()
}

#[test]
fn bodies_wake_in_the_order_of_their_keys_and_then_those_without_a_key() {
    let mut simulation = space(100);
    let world = simulation.physics.rapier_mut();
    let handles: Vec<RigidBodyHandle> = (0..6u8)
        .map(|i| {
            let at = Vector::Y * 2.0 * f32::from(i);
            world.insert(asleep().translation(at), ball()).0
        })
        .collect();
    // The keys are in the reverse order of the handles, and two bodies have none.
    let with_key: Vec<RigidBodyHandle> = [5, 4, 2, 1].map(|i: usize| handles[i]).into();
    for handle in &with_key {
        simulation.physics.track(*handle).unwrap();
    }
    advance(&mut simulation, 10);
    assert_eq!(active(&simulation.physics), []);
    let expected = [&with_key[..], &[handles[0], handles[3]]].concat();
    let mut copy = simulation.clone();
    simulation.physics.set_gravity(UP).unwrap();
    copy.physics.wake_up_all();
    for simulation in [&mut simulation, &mut copy] {
        advance(simulation, 10);
        assert_eq!(active(&simulation.physics), expected);
    }
}

#[test]
fn a_rollback_repeats_a_change_of_gravity_in_a_hook_only() {
    let run = |in_hook: bool| {
        let (mut simulation, keys) = at_rest();
        simulation.keep(Kept {
            ticks: 20,
            ..simulation.kept()
        });
        let from = simulation.physics.tick();
        for _ in 0..10 {
            if !in_hook && simulation.physics.tick() == from + 5 {
                simulation.physics.set_gravity(UP).unwrap();
            }
            simulation.advance(MS(10), |physics, step| {
                if in_hook && step.tick == from + 5 {
                    physics.set_gravity(UP).unwrap();
                }
            });
        }
        let before = hash(simulation.physics.rapier());
        simulation
            .resimulate(from, |physics, step| {
                if in_hook && step.tick == from + 5 {
                    physics.set_gravity(UP).unwrap();
                }
            })
            .unwrap();
        let is_equal = hash(simulation.physics.rapier()) == before;
        (is_equal, is_asleep(&simulation.physics, keys[0]))
    };
    assert_eq!(run(true), (true, false));
    assert_eq!(run(false), (false, true));
}

// Soft bodies.

/// Creates a floor with a soft cube asleep on it, and returns the cube's lowest particle.
fn soft(gravity_scale: f32) -> (Simulation, SoftBodyHandle) {
    let mut simulation = with_floor(Rate::hz(100));
    let cube = soft_cube(Vector::Y * (1.5 - gravity_scale), 0.5, 3).gravity_scale(gravity_scale);
    let handle = simulation
        .physics
        .rapier_mut_except_bodies()
        .insert_soft_body(cube);
    for _ in 0..1_000 {
        advance(&mut simulation, 10);
        let cube = &simulation.physics.rapier().soft_bodies[handle];
        if cube.is_sleeping() {
            return (simulation, handle);
        }
    }
    panic!("the soft body does not fall asleep");
}

fn soft_height(simulation: &Simulation, handle: SoftBodyHandle) -> f32 {
    let cube = &simulation.physics.rapier().soft_bodies[handle];
    cube.center_of_mass().y
}

#[test]
fn a_change_of_gravity_wakes_a_soft_body() {
    let (mut simulation, cube) = soft(1.0);
    let before = soft_height(&simulation, cube);
    simulation.physics.set_gravity(UP).unwrap();
    for _ in 0..50 {
        advance(&mut simulation, 10);
    }
    let risen = soft_height(&simulation, cube) - before;
    assert!(risen > 0.5, "it has risen by {risen} m");
}

#[test]
fn a_soft_body_without_gravity_sleeps_until_all_are_woken() {
    let (mut simulation, cube) = soft(0.0);
    let is_asleep =
        |simulation: &Simulation| simulation.physics.rapier().soft_bodies[cube].is_sleeping();
    simulation.physics.set_gravity(UP).unwrap();
    advance(&mut simulation, 10);
    assert!(is_asleep(&simulation));
    simulation.physics.wake_up_all();
    advance(&mut simulation, 10);
    assert!(!is_asleep(&simulation));
    // A disabled soft body is not woken.
    for _ in 0..1_000 {
        advance(&mut simulation, 10);
    }
    assert!(is_asleep(&simulation));
    let soft_bodies = &mut simulation.physics.rapier_mut_except_bodies().soft_bodies;
    soft_bodies[cube].set_enabled(false);
    simulation.physics.wake_up_all();
    assert!(is_asleep(&simulation));
    assert_eq!(advance(&mut simulation, 10).awake, 0);
}

#[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
#[test]
fn a_state_saved_after_a_change_of_gravity_wakes_the_same_bodies_once_loaded() {
    let (mut rigid, _) = at_rest();
    let (mut soft, _) = soft(1.0);
    for simulation in [&mut rigid, &mut soft] {
        simulation.physics.set_gravity(UP).unwrap();
        let mut loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
        for number in 0..60 {
            for simulation in [&mut *simulation, &mut loaded] {
                advance(simulation, 10);
            }
            // The first frame of a loaded simulation lists all bodies.
            assert!(number == 0 || simulation.moved() == loaded.moved());
            let bits = [&*simulation, &loaded].map(|it| hash(it.physics.rapier()));
            assert_eq!(bits[0], bits[1]);
        }
    }
}
