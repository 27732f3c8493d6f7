//! With the feature `parallel`, the displayed poses do not depend on the number of threads that compute them.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing};
use rayon::ThreadPool;
use rayon::prelude::*;
use scenes::testing::spin;
use scenes::{Yard, in_time};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Creates enough bodies for several threads. There are plain, off-centre, Hermite, extrapolated and resting ones.
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
            .physics
            .set_body_smoothing(*key, Some(smoothing))
            .unwrap();
        let body = simulation.physics.body_mut(*key).unwrap();
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

/// Returns, in order, what frames with and without steps report, and the last states.
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
fn displayed_poses_do_not_depend_on_the_number_of_threads() {
    // A thread of a pool uses only its own pool.
    let alone = pool(1).install(shown);
    assert!(shown() == alone);
}

#[test]
fn a_thread_pool_stays_set_across_clones_rewinds_rollbacks_and_assigned_states() {
    let mut simulation = scenes::space(60);
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let mut other = simulation.clone();
    let pool = pool(2);
    (simulation.physics.rapier_mut()).set_thread_pool(Some(Arc::clone(&pool)));
    let check = |physics: &Physics, when| {
        let there = physics.rapier().thread_pool();
        assert!(
            there.is_some_and(|there| Arc::ptr_eq(&there, &pool)),
            "{when}"
        );
    };
    let frame = Duration::from_millis(100);
    simulation.advance(frame, |_, _| ());
    simulation.rewind(2).unwrap();
    check(&simulation.physics, "after a rewind");
    simulation.advance(frame, |_, _| ());
    let again = |physics: &mut Physics, _| check(physics, "while steps are resimulated");
    simulation.resimulate(5, again).unwrap();
    check(&simulation.physics, "after steps were resimulated");
    simulation.roll_back(5).unwrap();
    check(&simulation.physics, "after a rollback");
    simulation.begin_frame(Duration::ZERO);
    simulation.end_frame();
    check(&simulation.physics, "after an abandoned rollback");
    other.advance(frame, |_, _| ());
    simulation.physics = other.physics;
    simulation.begin_frame(Duration::ZERO);
    simulation.end_frame();
    check(&simulation.physics, "after another state was assigned");
    simulation.correct(simulation.physics.clone()).unwrap();
    check(&simulation.physics, "after a correction to another state");
    let mut copy = simulation.clone();
    check(&copy.physics, "in a clone");
    copy.advance(frame, |physics, _| check(physics, "in a step of the clone"));
    // A clone of a state has no pool, and the loop gives it one, even if another loop without a pool has stepped it.
    let mut lent = Simulation::default();
    lent.physics = simulation.physics.clone();
    lent.advance(frame, |_, _| ());
    simulation.physics = lent.physics;
    simulation.advance(frame, |physics, _| check(physics, "after another loop"));
}

/// Creates small matches, each with contacts and with bodies that are inserted and removed.
fn matches(count: usize) -> Vec<Yard> {
    (0..count).map(|_| Yard::new(Rate::default())).collect()
}

fn step(playing: &mut Yard) {
    playing.advance(scenes::MS(17));
}

/// Returns the hash after this many steps.
fn hash_alone(steps: u32) -> u64 {
    let mut alone = Yard::new(Rate::default());
    (0..steps).for_each(|_| step(&mut alone));
    scenes::hash(alone.simulation.physics.rapier())
}

/// Steps each match once. As many run at the same time as the pool has threads.
fn round(matches: &mut [Yard]) {
    matches.par_iter_mut().for_each(step);
}

fn pool(threads: usize) -> Arc<ThreadPool> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    Arc::new(builder.build().unwrap())
}

fn set_pool(playing: &mut Yard, pool: &Arc<ThreadPool>) {
    let world = playing.simulation.physics.rapier_mut();
    world.set_thread_pool(Some(Arc::clone(pool)));
}

fn has_pool(playing: &Yard, pool: &Arc<ThreadPool>) -> bool {
    let own = playing.simulation.physics.rapier().thread_pool();
    own.is_some_and(|own| Arc::ptr_eq(&own, pool))
}

#[test]
fn many_matches_in_one_pool_do_not_deadlock() {
    let expected = hash_alone(60);
    let rounds = |threads, count| {
        let mut matches = matches(count);
        pool(threads).install(|| (0..60).for_each(|_| round(&mut matches)));
        matches
    };
    for (threads, count) in [(1, 5), (2, 20), (4, 9), (4, 40), (7, 30)] {
        for playing in in_time(move || rounds(threads, count)) {
            assert_eq!(scenes::hash(playing.simulation.physics.rapier()), expected);
            assert!(playing.simulation.physics.rapier().thread_pool().is_none());
        }
    }
}

#[test]
fn matches_with_the_same_another_or_no_pool_do_not_deadlock() {
    let expected = hash_alone(60);
    let rounds = |threads| {
        let (this, other) = (pool(threads), pool(threads));
        let mut matches = matches(12);
        for (i, playing) in matches.iter_mut().enumerate() {
            match i % 3 {
                0 => set_pool(playing, &this),
                1 => set_pool(playing, &other),
                _ => (),
            }
        }
        this.install(|| (0..60).for_each(|_| round(&mut matches)));
        (this, other, matches)
    };
    for threads in [2, 4] {
        let (this, other, matches) = in_time(move || rounds(threads));
        for (i, playing) in matches.iter().enumerate() {
            assert_eq!(scenes::hash(playing.simulation.physics.rapier()), expected);
            assert_eq!(has_pool(playing, &this), i % 3 == 0);
            assert_eq!(has_pool(playing, &other), i % 3 == 1);
        }
    }
}

#[test]
fn matches_on_separate_threads_that_share_a_pool_do_not_deadlock() {
    let rounds = || {
        let pool = pool(2);
        let mut matches = matches(12);
        matches
            .iter_mut()
            .for_each(|playing| set_pool(playing, &pool));
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
        assert_eq!(scenes::hash(playing.simulation.physics.rapier()), expected);
        assert!(has_pool(&playing, &pool));
    }
}

#[test]
fn large_worlds_on_threads_outside_a_pool_do_not_deadlock() {
    let rounds = || {
        let mut simulation = scenes::with_floor(Rate::default());
        scenes::pile(&mut simulation, 600);
        let mut matches = vec![simulation; 4];
        let pool = pool(3);
        for simulation in &mut matches[2..] {
            let world = simulation.physics.rapier_mut();
            world.set_thread_pool(Some(Arc::clone(&pool)));
        }
        std::thread::scope(|scope| {
            for simulation in &mut matches {
                scope.spawn(|| (0..100).for_each(|_| _ = scenes::advance(simulation, 17)));
            }
        });
        matches
    };
    let matches = in_time(rounds);
    let hash = |simulation: &Simulation| scenes::hash(simulation.physics.rapier());
    let expected = hash(&matches[0]);
    assert!(
        matches
            .iter()
            .all(|simulation| hash(simulation) == expected)
    );
}

/// A thread of the pool waits for the mutex, and a step under the mutex must not wait for that thread.
#[test]
fn steps_under_a_mutex_that_pool_threads_await_do_not_deadlock() {
    let rounds = || {
        let playing = Mutex::new(Yard::new(Rate::default()));
        let locked_step = |_| step(&mut playing.lock().unwrap());
        pool(3).install(|| (0..200).into_par_iter().for_each(locked_step));
        playing.into_inner().unwrap()
    };
    let playing = in_time(rounds);
    assert_eq!(
        scenes::hash(playing.simulation.physics.rapier()),
        hash_alone(200)
    );
}

/// Rapier's hooks, which step another match for each pair of colliders.
struct Inner(Mutex<Yard>);

impl PhysicsHooks for Inner {
    fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
        step(&mut self.0.lock().unwrap());
        Some(SolverFlags::default())
    }
}

/// Creates a ball on a floor, whose contact calls Rapier's hooks.
fn hooked() -> Simulation {
    let mut simulation = scenes::with_floor(Rate::default());
    let ball = ColliderBuilder::ball(0.5).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    let body = RigidBodyBuilder::dynamic().can_sleep(false);
    simulation
        .physics
        .insert(body.translation(Vector::Y * 0.45), ball);
    simulation
}

/// Runs a frame of 17 ms with Rapier's hooks.
fn step_with(simulation: &mut Simulation, hooks: &dyn PhysicsHooks) {
    simulation.begin_frame(scenes::MS(17));
    while simulation.next_step().is_some() {
        simulation.run_step_with(hooks);
    }
    simulation.end_frame();
}

#[test]
fn steps_nested_in_rapiers_hooks_do_not_deadlock() {
    let in_hooks = |own: Option<Arc<ThreadPool>>| {
        let mut inner = Yard::new(Rate::default());
        let mut outer = hooked();
        outer.physics.rapier_mut().set_thread_pool(own.clone());
        inner.simulation.physics.rapier_mut().set_thread_pool(own);
        let inner = Inner(Mutex::new(inner));
        (0..20).for_each(|_| step_with(&mut outer, &inner));
        let inner = inner.0.into_inner().unwrap();
        let steps = inner.simulation.physics.tick();
        assert!(steps >= 20);
        (
            steps as u32,
            scenes::hash(inner.simulation.physics.rapier()),
        )
    };
    let results = in_time(move || {
        let pool = pool(2);
        let mut results = vec![in_hooks(None), in_hooks(Some(Arc::clone(&pool)))];
        for own in [None, Some(Arc::clone(&pool))] {
            results.push(pool.install(|| in_hooks(own.clone())));
            let both = pool.install(|| rayon::join(|| in_hooks(own.clone()), || in_hooks(None)));
            results.extend([both.0, both.1]);
        }
        results
    });
    for (steps, hash) in results {
        assert_eq!(hash, hash_alone(steps));
    }
}

thread_local! {
    /// How many steps are on this thread's stack.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Steps a simulation, and returns how many steps are on the thread's stack during it.
fn depth_of_step(simulation: &mut Simulation) -> usize {
    let depth = DEPTH.get() + 1;
    DEPTH.set(depth);
    scenes::advance(simulation, 17);
    DEPTH.set(depth - 1);
    depth
}

#[test]
fn steps_of_many_matches_do_not_nest_on_one_stack() {
    let rounds = |threads| {
        let pool = pool(threads);
        let mut matches = vec![hooked(); 2_000];
        for simulation in matches.iter_mut().step_by(3) {
            let world = simulation.physics.rapier_mut();
            world.set_thread_pool(Some(Arc::clone(&pool)));
        }
        let deepest = AtomicUsize::new(0);
        let step = |simulation: &mut Simulation| {
            deepest.fetch_max(depth_of_step(simulation), Ordering::Relaxed);
        };
        pool.install(|| {
            matches.par_iter_mut().for_each(step);
            rayon::scope(|scope| {
                for simulation in &mut matches {
                    scope.spawn(|_| step(simulation));
                }
            });
        });
        deepest.into_inner()
    };
    for threads in [1, 2, 4] {
        assert_eq!(in_time(move || rounds(threads)), 1);
    }
}

/// Rapier's hooks, which panic.
struct Panics;

impl PhysicsHooks for Panics {
    fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
        panic!("a hook of the game")
    }
}

#[test]
fn a_panic_in_a_step_propagates_and_the_pool_stays_usable() {
    let after_panics = || {
        let pool = pool(2);
        let fail = |own: Option<Arc<ThreadPool>>| {
            let mut simulation = hooked();
            simulation.physics.rapier_mut().set_thread_pool(own.clone());
            let step = AssertUnwindSafe(|| step_with(&mut simulation, &Panics));
            let panic = catch_unwind(step).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"a hook of the game"));
            let kept = simulation.physics.rapier().thread_pool();
            assert_eq!(kept.is_some(), own.is_some());
        };
        let fail_with_and_without = |_| {
            fail(Some(Arc::clone(&pool)));
            fail(None);
        };
        (0..4).for_each(fail_with_and_without);
        pool.install(|| (0..4).into_par_iter().for_each(fail_with_and_without));
        let mut matches = matches(8);
        set_pool(&mut matches[0], &pool);
        pool.install(|| (0..20).for_each(|_| round(&mut matches)));
        matches.iter_mut().for_each(step);
        matches
    };
    let expected = hash_alone(21);
    for playing in in_time(after_panics) {
        assert_eq!(scenes::hash(playing.simulation.physics.rapier()), expected);
    }
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}
