//! A part of the world that is paused: what continues exactly, and what does not.

use super::{at_tick, position};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use recipes::paused::{Pause, Paused};
use scenes::{space, with_floor};

/// Cubes that fall onto each other, or one that flies.
fn build(simulation: &mut Simulation, is_pile: bool) -> Vec<BodyKey> {
    let cubes = if is_pile { 0..10u8 } else { 0..1 };
    let keys = cubes.map(|i| {
        let place = Vector::new(0.05 * f32::from(i % 3), 0.6 + 1.1 * f32::from(i), 0.0);
        let up = if is_pile { 0.0 } else { 20.0 };
        let body = RigidBodyBuilder::dynamic()
            .translation(place)
            .linvel(Vector::Y * up)
            .angvel(Vector::new(0.3, 0.5, 0.1));
        let cube = ColliderBuilder::cuboid(0.5, 0.5, 0.5);
        simulation.physics.insert(body, cube)
    });
    keys.collect()
}

/// Returns the poses before step 120, without the steps of the pause.
fn run(how: Option<Pause>, is_pile: bool, frames_per_second: u32) -> Vec<Pose> {
    let mut simulation = with_floor(Rate::hz(60));
    let keys = build(&mut simulation, is_pile);
    let mut paused = None;
    let steps = if how.is_some() { 60 } else { 0 };
    let hook = |physics: &mut Physics, step: Step| {
        if step.tick == 40 {
            paused = how.map(|how| Paused::pause(physics, &keys, how));
        }
        if step.tick == 40 + steps {
            paused.take().into_iter().for_each(|it| it.resume(physics));
        }
    };
    let poses = |physics: &Physics| keys.iter().map(|key| position(physics, *key)).collect();
    at_tick(120 + steps, frames_per_second, simulation, hook, poses)
}

/// Returns the largest distance between the same bodies, in metres.
fn difference(a: &[Pose], b: &[Pose]) -> f32 {
    let pairs = a.iter().zip(b);
    let distances = pairs.map(|(a, b)| a.translation.distance(b.translation));
    distances.fold(0.0, f32::max)
}

#[test]
fn a_paused_body_in_flight_continues_bit_for_bit_and_a_fixed_one_within_rounding() {
    let never = run(None, false, 60);
    for frames_per_second in [30, 60, 144] {
        for how in [Pause::Disabled, Pause::Asleep] {
            assert_eq!(run(Some(how), false, frames_per_second), never, "{how:?}");
        }
        let off = difference(&run(Some(Pause::Fixed), false, frames_per_second), &never);
        assert!(off < 1e-5, "{off} m");
    }
}

#[test]
fn a_paused_pile_continues_bit_for_bit_only_if_it_slept() {
    let never = run(None, true, 60);
    assert_eq!(run(Some(Pause::Asleep), true, 144), never);
    for how in [Pause::Fixed, Pause::Disabled] {
        let off = difference(&run(Some(how), true, 60), &never);
        assert!(off > 0.004 && off < 0.006, "{how:?}: {off} m");
    }
}

#[test]
fn a_body_that_runs_into_a_paused_one_wakes_it_stops_or_passes_through() {
    // Where the paused ball and the running one are after a second. They begin at 0 and -2 m.
    let run = |how| {
        let mut simulation = space(60);
        let [paused, running] = [0.0, -2.0].map(|x| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            let body = body.linvel(Vector::X * if x < 0.0 { 4.0 } else { 0.0 });
            simulation.physics.insert(body, ColliderBuilder::ball(0.5))
        });
        let _ = Paused::pause(&mut simulation.physics, &[paused], how);
        let hook = |_: &mut Physics, _| ();
        let x =
            |physics: &Physics| [paused, running].map(|key| position(physics, key).translation.x);
        at_tick(60, 60, simulation, hook, x)
    };
    let [paused, running] = run(Pause::Asleep);
    assert!(paused > 0.5 && running < paused, "{paused} m, {running} m");
    let [paused, running] = run(Pause::Fixed);
    assert!(paused == 0.0 && running < -0.9, "{paused} m, {running} m");
    let [paused, running] = run(Pause::Disabled);
    assert!(paused == 0.0 && running > 1.9, "{paused} m, {running} m");
}

#[test]
fn a_force_or_a_joint_to_an_awake_body_wakes_a_paused_one() {
    let [by_force, by_joint] = [false, true].map(|has_joint| {
        let mut simulation = space(60);
        let [paused, other] = [0.0, 2.0].map(|x| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            simulation
                .physics
                .insert(body.linvel(Vector::Y * x), ColliderBuilder::ball(0.1))
        });
        if has_joint {
            let data = SphericalJointBuilder::new().local_anchor1(Vector::X * 2.0);
            let [a, b] = [paused, other].map(|key| simulation.physics.handle(key).unwrap());
            let rapier = simulation.physics.rapier_mut_except_bodies();
            rapier.insert_impulse_joint(a, b, data);
        }
        let _ = Paused::pause(&mut simulation.physics, &[paused], Pause::Asleep);
        let hook = |physics: &mut Physics, step: Step| {
            if step.tick == 10 && !has_joint {
                physics.add_force(paused, Vector::Z).unwrap();
            }
        };
        at_tick(20, 60, simulation, hook, |physics| {
            !physics.body(paused).unwrap().is_sleeping()
        })
    });
    assert!(by_force && by_joint);
}

#[test]
fn a_body_that_sleeps_or_is_fixed_loses_its_velocity() {
    for how in [Pause::Asleep, Pause::Fixed] {
        let mut simulation = space(60);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let key = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
        let _ = Paused::pause(&mut simulation.physics, &[key], how);
        assert_eq!(simulation.physics.body(key).unwrap().linvel(), Vector::ZERO);
    }
}
