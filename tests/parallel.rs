//! With the feature `parallel`, what is shown does not depend on how many threads take it.

mod scenes;

use crate::scenes::testing::spin;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation, Smoothing};
use rayon::prelude::*;
use scenes::{Yard, in_time};
use std::sync::Arc;
use std::time::Duration;

/// Enough for several threads, of each kind: plain, off centre, Hermite, extrapolated, at rest.
fn scene() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::space(60);
    let keys = scenes::spinners(&mut simulation, 50_001);
    for (i, key) in keys.iter().enumerate() {
        let smoothing = match i % 7 {
            0 => Smoothing::Hermite,
            1 => Smoothing::Extrapolate,
            _ => Smoothing::Interpolate,
        };
        simulation
            .set_body_smoothing(*key, Some(smoothing))
            .unwrap();
        let body = simulation.body_mut(*key).unwrap();
        match i % 5 {
            0 => {
                let mass = MassProperties::new(Vector::X, 1.0, spin(1.0, 1.0, 1.0));
                body.set_additional_mass_properties(mass, true);
            }
            1 => body.sleep(),
            _ => (),
        }
    }
    (simulation, keys)
}

/// What frames of some steps and of none report, in its order, and the last states.
fn shown() -> Vec<(BodyKey, Pose)> {
    let (mut simulation, keys) = scene();
    let mut shown = Vec::new();
    for millis in [40, 5, 30] {
        simulation.advance(Duration::from_millis(millis), |_, _| ());
        shown.extend_from_slice(simulation.moved());
        let pose = |key: &BodyKey| (*key, simulation.pose(*key).unwrap());
        shown.extend(keys.iter().map(pose));
        let state = |key: &BodyKey| (*key, current_pose(&simulation, *key).unwrap());
        shown.extend(keys.iter().map(state));
    }
    shown
}

#[test]
fn what_is_shown_is_the_same_with_any_number_of_threads() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(shown)
    };
    let alone = with(1);
    assert!(with(5) == alone);
}

#[test]
fn a_thread_pool_stays_set_when_the_simulation_goes_back_or_takes_over_a_state() {
    let mut simulation = scenes::space(60);
    simulation.set_rewind_limits(20, usize::MAX);
    let mut other = simulation.clone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    let pool = Arc::new(pool.build().unwrap());
    (simulation.physics_mut()).set_thread_pool(Some(Arc::clone(&pool)));
    let check = |simulation: &Simulation, when| {
        let there = simulation.physics().thread_pool();
        assert!(
            there.is_some_and(|there| Arc::ptr_eq(&there, &pool)),
            "{when}"
        );
    };
    let frame = Duration::from_millis(100);
    simulation.advance(frame, |_, _| ());
    simulation.rewind(2).unwrap();
    check(&simulation, "after a rewind");
    simulation.advance(frame, |_, _| ());
    let again = |simulation: &mut Simulation, _| check(simulation, "while steps are resimulated");
    simulation.resimulate(5, again).unwrap();
    check(&simulation, "after steps were resimulated");
    simulation.roll_back(5).unwrap();
    check(&simulation, "after a rollback");
    simulation.begin_frame(Duration::ZERO);
    simulation.end_frame();
    check(&simulation, "after a rollback that was given up");
    other.advance(frame, |_, _| ());
    simulation.replace_state(other).unwrap();
    check(&simulation, "after another state was taken over");
}

/// Small matches, each with contacts, joints and bodies that come and go.
fn matches(count: usize) -> Vec<Yard> {
    (0..count).map(|_| Yard::new(Rate::default())).collect()
}

fn step(playing: &mut Yard) {
    playing.advance(scenes::MS(17));
}

/// What so many of them lead to.
fn hash_alone(steps: u32) -> u64 {
    let mut alone = Yard::new(Rate::default());
    (0..steps).for_each(|_| step(&mut alone));
    scenes::hash(alone.simulation.physics())
}

/// A round: each match makes a step, as many at once as the pool has threads.
fn round(matches: &mut [Yard]) {
    matches.par_iter_mut().for_each(step);
}

#[test]
fn steps_of_many_matches_in_one_pool_end() {
    let expected = hash_alone(60);
    let rounds = |threads, count| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let mut matches = matches(count);
        pool.install(|| (0..60).for_each(|_| round(&mut matches)));
        matches
    };
    for (threads, count) in [(2, 20), (4, 9), (4, 40), (7, 30)] {
        for playing in in_time(move || rounds(threads, count)) {
            assert_eq!(scenes::hash(playing.simulation.physics()), expected);
            assert!(playing.simulation.physics().thread_pool().is_none());
        }
    }
}

#[test]
fn steps_of_worlds_that_share_a_pool_end() {
    let rounds = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        let pool = Arc::new(pool.build().unwrap());
        let mut matches = matches(12);
        for playing in &mut matches {
            let world = playing.simulation.physics_mut();
            world.set_thread_pool(Some(Arc::clone(&pool)));
        }
        std::thread::scope(|scope| {
            for playing in &mut matches {
                scope.spawn(|| (0..400).for_each(|_| step(playing)));
            }
        });
        (pool, matches)
    };
    let expected = hash_alone(400);
    let (pool, matches) = in_time(rounds);
    for playing in matches {
        let world = playing.simulation.physics();
        assert_eq!(scenes::hash(world), expected);
        assert!(Arc::ptr_eq(&world.thread_pool().unwrap(), &pool));
    }
}

#[cfg(feature = "checksum")]
#[test]
fn a_fingerprint_that_all_threads_of_a_pool_wait_for_is_computed() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3);
    let pool = pool.build().unwrap();
    let fingerprints = in_time(move || pool.broadcast(|_| evenstep::fingerprint()));
    assert_eq!(fingerprints, [evenstep::fingerprint(); 3]);
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.body(key)?.position())
}
