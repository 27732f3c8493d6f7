//! Entities of bodies that a recovery, a rollback or a stop takes back or brings back.

use evenstep::ecs::EntityMap;
use evenstep::ecs::hecs::{Body, Entities};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, Worker};
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step};
use scenes::MS;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// A frame of about one step.
const FRAME: Duration = Duration::from_millis(17);

struct Idle;

impl Hooks for Idle {
    type Error = ();
}

fn ball() -> ColliderBuilder {
    ColliderBuilder::ball(0.1)
}

fn free() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic()
}

fn space() -> Simulation {
    let mut simulation = Simulation::default();
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    simulation.keep(Kept {
        ticks: 30,
        ..Kept::default()
    });
    simulation
}

/// A recovery takes a spawned body back, and the next one gets its key.
#[test]
fn a_body_with_the_key_of_one_that_a_recovery_took_back_stays_with_its_entity() {
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(space(), Idle, settings);
    let (mut world, mut entities) = (hecs::World::new(), Entities::default());
    worker.run_until(MS(55));
    entities
        .try_spawn(&mut world, &runner, free(), ball(), ())
        .unwrap();
    worker.run_until(MS(56));
    runner.frame_at(MS(56));
    entities.sync(&mut world, &mut runner);
    runner.call(|_, _| panic!("once")).unwrap();
    worker.run_until(MS(57));
    runner.recover().unwrap();
    for ms in 58..110 {
        worker.run_until(MS(ms));
    }
    let spawned = entities.try_spawn(&mut world, &runner, free(), ball(), ());
    let (second, spawned) = spawned.unwrap();
    worker.run_until(MS(110));
    for ms in 110..300 {
        worker.run_until(MS(ms));
        runner.frame_at(MS(ms));
        entities.sync(&mut world, &mut runner);
    }
    let key = spawned.key().unwrap();
    assert!(worker.simulation().physics.body(key).is_some());
    assert!(runner.view().pose(key).is_some());
    assert!(world.get::<&Body>(second).is_ok());
}

#[test]
fn a_stop_removes_the_bodies_of_removed_entities() {
    for panics in [true, false] {
        let mut simulation = space();
        let key = simulation.physics.insert(free(), ball());
        let mut settings = RunnerSettings::default();
        settings.call_capacity = 4;
        let (mut runner, mut worker) = Runner::without_thread(simulation, Idle, settings);
        let mut map = EntityMap::default();
        map.insert(key, 1);
        worker.run_until(MS(20));
        if panics {
            runner.call(|_, _| panic!("once")).unwrap();
            worker.run_until(MS(21));
        } else {
            while runner.call(|_, _| ()).is_ok() {}
        }
        map.remove_body(&mut runner, key, 1);
        let (simulation, _) = worker.stop(runner, MS(23));
        assert!(simulation.physics.body(key).is_none(), "{panics}");
    }
}

#[test]
fn a_second_recovery_removes_the_same_bodies() {
    let mut simulation = space();
    let key = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(simulation, Idle, settings);
    let mut map = EntityMap::default();
    map.insert(key, 1);
    worker.run_until(MS(80));
    map.remove_body(&mut runner, key, 1);
    for n in 1..=2 {
        runner.call(|_, _| panic!("twice")).unwrap();
        worker.run_until(MS(81));
        runner.recover().unwrap();
        worker.run_until(MS(81));
        assert!(worker.simulation().physics.body(key).is_none(), "{n}");
    }
}

#[test]
fn a_recovery_leaves_a_body_that_a_rollback_has_brought_back_long_before() {
    let mut simulation = space();
    let key = simulation.physics.insert(free(), ball());
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(simulation, Idle, settings);
    let mut map = EntityMap::default();
    map.insert(key, 1);
    let mut from = 0;
    let mut run = |runner: &mut Runner<Idle>, to: u64| {
        for ms in from..to {
            worker.run_until(MS(ms));
            runner.frame_at(MS(ms));
        }
        from = to;
        worker.simulation().physics.body(key).is_some()
    };
    run(&mut runner, 80);
    map.remove_body(&mut runner, key, 1);
    assert!(!run(&mut runner, 110));
    let back = |simulation: &mut Simulation, _: &mut Idle| {
        simulation.resimulate(2, |_, _| ()).unwrap();
    };
    runner.call(back).unwrap();
    assert!(run(&mut runner, 140));
    map.insert(key, 2);
    run(&mut runner, 300);
    runner.call(|_, _| panic!("once")).unwrap();
    run(&mut runner, 310);
    runner.recover().unwrap();
    assert!(run(&mut runner, 320));
}

/// Removes a body, takes that back, and places the body in the next step.
struct TakesBack(BodyKey, bool);

impl Hooks for TakesBack {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        if simulation.physics.tick() == 7 && !std::mem::replace(&mut self.1, true) {
            simulation.resimulate(4, |_, _| ()).unwrap();
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        match step.tick {
            6 if !self.1 => drop(physics.remove(self.0)),
            7 => {
                let body = physics.body_mut(self.0).unwrap();
                body.set_translation(Vector::Y, true);
            }
            _ => (),
        }
        Ok(())
    }
}

#[test]
fn a_body_that_is_placed_right_after_it_was_brought_back_keeps_its_entity() {
    let mut simulation = space();
    let key = simulation.physics.insert(free(), ball());
    let mut settings = RunnerSettings::default();
    settings.slack = 1.5; // the later state arrives in time
    let hooks = TakesBack(key, false);
    let (mut runner, mut worker) = Runner::without_thread(simulation, hooks, settings);
    let mut map = EntityMap::default();
    map.insert(key, 1);
    for ms in 0..400 {
        worker.run_until(MS(ms));
        runner.frame_at(MS(ms));
        assert_eq!(map.take_removed(&runner), [] as [i32; 0], "{ms}");
        let _ = map.moved(&runner).count();
    }
    assert!(worker.simulation().physics.body(key).is_some());
}

/// Ends a pause when the game asks for it.
struct Resumes(Arc<AtomicBool>);

impl Hooks for Resumes {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        if self.0.load(Ordering::Relaxed) {
            simulation.resume();
        }
        Ok(())
    }
}

#[test]
fn events_of_the_steps_that_a_stop_runs_are_displayed() {
    let mut simulation = space();
    for x in [-0.15, 0.15] {
        let body = free()
            .translation(Vector::X * x)
            .linvel(Vector::X * x * -50.0);
        let collider = ball().active_events(ActiveEvents::COLLISION_EVENTS);
        simulation.physics.insert(body, collider);
    }
    simulation.pause();
    let closed = Arc::new(AtomicBool::new(false));
    let hooks = Resumes(Arc::clone(&closed));
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(simulation, hooks, settings);
    worker.run_until(MS(0));
    runner.frame_at(MS(0));
    closed.store(true, Ordering::Relaxed);
    let (mut simulation, _) = worker.stop(runner, MS(40));
    let mut starts = 0;
    for _ in 0..20 {
        simulation.advance(MS(16), |_, _| ());
        starts += simulation
            .events()
            .collisions()
            .filter(|it| it.started)
            .count();
    }
    assert_eq!(starts, 1);
}

/// Shoots three bullets that live for a step.
struct Volley(Sender<BodyKey>, Vec<BodyKey>);

impl Hooks for Volley {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == 9 {
            self.1 = (0..3).map(|_| physics.insert(free(), ball())).collect();
            for key in &self.1 {
                self.0.send(*key).unwrap();
            }
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), ()> {
        for key in self.1.drain(..) {
            physics.remove(key);
        }
        Ok(())
    }
}

#[test]
fn a_host_that_skips_frames_learns_of_bodies_that_were_never_displayed() {
    let (to, from) = channel();
    let hooks = Volley(to, vec![]);
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(space(), hooks, settings);
    let mut map = EntityMap::default();
    let (mut listed, mut gone) = (vec![], vec![]);
    for n in 0..60 {
        worker.run_until(MS(n * 16));
        listed.extend_from_slice(runner.frame_at(MS(n * 16)).removed());
        for key in from.try_iter() {
            map.insert(key, key);
        }
        if n % 3 == 0 {
            gone.extend(map.take_removed(&runner));
            let _ = map.moved(&runner).count();
        }
    }
    assert_eq!((gone.len(), listed.len()), (3, 3));
}

/// Panics once, when the game asks for it.
struct Fails(bool);

impl Hooks for Fails {
    type Error = ();

    fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
        assert!(!std::mem::take(&mut self.0), "once");
        Ok(())
    }
}

/// A body of another level, or of a time before the removal, was not removed.
#[test]
fn a_recovery_removes_no_body_of_another_level_or_of_an_earlier_time() {
    for (goes_back, stops) in [(true, true), (true, false), (false, true), (false, false)] {
        let level = || {
            let mut simulation = space();
            simulation.keep(Kept {
                ticks: 60,
                ..Kept::default()
            });
            let key = simulation.physics.insert(free(), ball());
            (simulation, key)
        };
        let (simulation, key) = level();
        let settings = RunnerSettings::default();
        let (mut runner, mut worker) = Runner::without_thread(simulation, Fails(false), settings);
        let mut ms = 0;
        let mut run = |runner: &mut Runner<Fails>, worker: &mut _, frames: u64| {
            for _ in 0..frames {
                ms += 17;
                evenstep::threads::Worker::run_until(worker, MS(ms));
                runner.frame_at(MS(ms));
            }
            ms
        };
        let mut map = EntityMap::default();
        map.insert(key, 1);
        run(&mut runner, &mut worker, 20);
        map.remove_body(&mut runner, key, 1);
        run(&mut runner, &mut worker, 2);
        let (next, alive) = level();
        if goes_back {
            let back = |simulation: &mut Simulation, _: &mut Fails| {
                simulation.rewind(10).unwrap();
            };
            runner.call(back).unwrap();
        } else {
            runner
                .call(move |simulation, _| *simulation = next)
                .unwrap();
        }
        run(&mut runner, &mut worker, 3);
        assert!(worker.simulation().physics.body(alive).is_some());
        runner.call(|_, game| game.0 = true).unwrap();
        run(&mut runner, &mut worker, 2);
        let is_alive = if stops {
            let now = run(&mut runner, &mut worker, 0);
            worker.stop(runner, MS(now)).0.physics.body(alive).is_some()
        } else {
            runner.recover().unwrap();
            run(&mut runner, &mut worker, 2);
            worker.simulation().physics.body(alive).is_some()
        };
        assert!(is_alive, "{goes_back} {stops}");
    }
}

/// The second body has the key of the first, which a recovery has taken back together with its removal.
#[test]
fn a_second_recovery_keeps_a_body_with_the_key_of_a_removed_one() {
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(space(), Idle, settings);
    let mut map = EntityMap::default();
    let mut ms = 80;
    worker.run_until(MS(ms));
    let first = runner.spawn(free(), ball()).unwrap();
    worker.run_until(MS(ms));
    let key = first.key().unwrap();
    map.insert(key, 1);
    map.remove_body(&mut runner, key, 1);
    worker.run_until(MS(ms));
    runner.call(|_, _| panic!("one")).unwrap();
    worker.run_until(MS(ms));
    runner.recover().unwrap();
    worker.run_until(MS(ms));
    runner.frame_at(MS(ms));
    let second = runner.spawn(free(), ball()).unwrap();
    worker.run_until(MS(ms));
    assert_eq!(second.key(), Some(key));
    map.insert(key, 2);
    while worker.simulation().physics.tick() < 4 {
        ms += 1;
        worker.run_until(MS(ms));
    }
    runner.call(|_, _| panic!("two")).unwrap();
    worker.run_until(MS(ms));
    runner.recover().unwrap();
    worker.run_until(MS(ms));
    assert!(worker.simulation().physics.body(key).is_some());
}

/// Removes a body in a step, unless that is resimulated.
struct RemovesAt10(BodyKey);

impl Hooks for RemovesAt10 {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == 10 && !step.is_resimulated {
            physics.remove(self.0);
        }
        Ok(())
    }
}

/// The view of an overlap has not displayed the removal when the rollback takes it back.
#[test]
fn a_body_whose_removal_is_undone_before_its_display_stays_drawn_and_keeps_its_entity() {
    for body in [free(), RigidBodyBuilder::fixed()] {
        let mut simulation = space();
        let (mut world, mut entities) = (hecs::World::new(), Entities::default());
        let (entity, key) = entities.spawn(
            &mut world,
            &mut simulation.physics,
            body,
            ball(),
            ("crate",),
        );
        let mut map = EntityMap::default();
        map.insert(key, 1);
        let mut hooks = RemovesAt10(key);
        let mut overlap = Overlap::new(simulation).unwrap();
        for number in 0..20 {
            if number == 11 {
                let simulation = overlap.simulation(&mut hooks).unwrap();
                assert!(simulation.physics.body(key).is_none());
                simulation.resimulate(9, |_, _| ()).unwrap();
                let physics = &simulation.physics;
                assert!(map.unmatched(physics).is_empty());
                assert!(entities.unmatched(&mut world, physics).is_empty());
            }
            let view = overlap.frame(FRAME, &mut hooks).unwrap();
            assert!(
                view.pose(key).is_some() && view.removed().is_empty(),
                "{number}"
            );
            assert!(map.take_removed(&overlap).is_empty(), "{number}");
            let _ = map.moved(&overlap).count();
            entities.sync(&mut world, &mut overlap);
        }
        assert_eq!(map.entity(key), Some(1));
        assert_eq!(entities.entity(key), Some(entity));
        assert!(world.get::<&Body>(entity).is_ok());
        // A later removal is reported.
        let simulation = overlap.simulation(&mut hooks).unwrap();
        simulation.physics.remove(key);
        let mut removed = Vec::new();
        for _ in 0..5 {
            overlap.frame(FRAME, &mut hooks).unwrap();
            removed.extend(map.take_removed(&overlap));
            let _ = map.moved(&overlap).count();
            entities.sync(&mut world, &mut overlap);
        }
        assert_eq!(removed, [1]);
        assert!(world.get::<&Body>(entity).is_err());
    }
}

/// Each batch of removals is sent in another frame, before physics recovers.
#[test]
fn all_bodies_removed_after_a_panic_are_gone_after_a_recovery_or_a_stop() {
    for (ticks, shifts, stops) in [
        (30, false, false),
        (0, false, false),
        (0, false, true),
        // The shift of the origin ends the kept states.
        (30, true, false),
        (30, true, true),
    ] {
        let mut simulation = space();
        simulation.keep(Kept {
            ticks,
            ..Kept::default()
        });
        let keys = [(); 3].map(|()| simulation.physics.insert(RigidBodyBuilder::fixed(), ball()));
        let settings = RunnerSettings::default();
        let (mut runner, mut worker) = Runner::without_thread(simulation, Idle, settings);
        let mut map = EntityMap::default();
        worker.run_until(MS(80));
        let fails = move |simulation: &mut Simulation, _: &mut Idle| {
            if shifts {
                simulation.physics.shift_origin(Vector::X).unwrap();
            }
            panic!("once");
        };
        runner.call(fails).unwrap();
        worker.run_until(MS(81));
        for (n, key) in (0..2).zip(keys) {
            map.insert(key, n);
            map.remove_body(&mut runner, key, n);
            worker.run_until(MS(82 + n));
        }
        let is_alive =
            |simulation: &Simulation| keys.map(|key| simulation.physics.body(key).is_some());
        let alive = if stops {
            is_alive(&worker.stop(runner, MS(90)).0)
        } else {
            runner.recover().unwrap();
            worker.run_until(MS(90));
            is_alive(worker.simulation())
        };
        assert_eq!(alive, [false, false, true], "{ticks} {shifts} {stops}");
    }
}

/// Goes back behind the removal of a body, and panics three steps later, once.
struct BringsBack {
    /// Whether the first run inserts a body, and the second one another that gets its key.
    reuses: bool,
    keys: Sender<BodyKey>,
    is_resimulated: bool,
    has_panicked: bool,
}

impl Hooks for BringsBack {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        if simulation.physics.tick() == 9 && !std::mem::replace(&mut self.is_resimulated, true) {
            let another = |physics: &mut Physics, step: Step| {
                if self.reuses && step.tick == 6 {
                    physics.insert(free(), ball());
                }
            };
            simulation.resimulate(3, another).unwrap();
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == 5 && !step.is_resimulated {
            let is_first = self.reuses && !self.is_resimulated;
            if is_first {
                self.keys.send(physics.insert(free(), ball())).unwrap();
            }
        }
        assert!(
            step.tick != 12 || std::mem::replace(&mut self.has_panicked, true),
            "once"
        );
        Ok(())
    }
}

/// A rollback takes the removal back, or gives the key to another body.
#[test]
fn after_a_panic_a_body_stays_that_a_rollback_has_brought_back_under_the_key_of_a_removed_one() {
    for (reuses, stops) in [(false, true), (false, false), (true, true), (true, false)] {
        let mut simulation = space();
        simulation.keep(Kept {
            ticks: 50,
            interval: 50,
            ..Kept::default()
        });
        let (keys, sent) = channel();
        if !reuses {
            keys.send(simulation.physics.insert(free(), ball()))
                .unwrap();
        }
        let hooks = BringsBack {
            reuses,
            keys,
            is_resimulated: false,
            has_panicked: false,
        };
        let settings = RunnerSettings::default();
        let (mut runner, mut worker) = Runner::without_thread(simulation, hooks, settings);
        let mut map = EntityMap::default();
        let run = |runner: &mut Runner<BringsBack>,
                   worker: &mut Worker<BringsBack>,
                   frames: std::ops::Range<u64>| {
            for n in frames {
                worker.run_until(MS(17 * n));
                runner.frame_at(MS(17 * n));
            }
        };
        run(&mut runner, &mut worker, 0..8);
        let key = sent.recv().unwrap();
        map.insert(key, 1);
        map.remove_body(&mut runner, key, 1);
        run(&mut runner, &mut worker, 8..9);
        assert!(worker.simulation().physics.body(key).is_none());
        run(&mut runner, &mut worker, 9..16);
        assert_eq!(runner.failures().len(), 1);
        assert!(worker.simulation().physics.body(key).is_some());
        let is_alive = if stops {
            let (simulation, _) = worker.stop(runner, MS(17 * 16));
            simulation.physics.body(key).is_some()
        } else {
            runner.recover().unwrap();
            worker.run_until(MS(17 * 16));
            // The recovered state is that before the first step.
            assert!(worker.simulation().physics.tick() < 5);
            worker.simulation().physics.body(key).is_some() != reuses
        };
        assert!(is_alive, "{reuses} {stops}");
    }
}

/// Puts an earlier state back and panics, once.
struct LoadsAndPanics(Option<Physics>, bool);

impl Hooks for LoadsAndPanics {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == 3 && !self.1 {
            self.0 = Some(physics.clone());
        }
        if step.tick == 9 && !std::mem::replace(&mut self.1, true) {
            *physics = self.0.take().unwrap();
            panic!("once");
        }
        Ok(())
    }
}

#[test]
fn a_recovery_leaves_the_bodies_of_a_state_that_a_hook_has_assigned_before_it_panicked() {
    for ticks in [0, 30] {
        let mut simulation = space();
        simulation.keep(Kept {
            ticks,
            ..Kept::default()
        });
        let key = simulation.physics.insert(free(), ball());
        let settings = RunnerSettings::default();
        let hooks = LoadsAndPanics(None, false);
        let (mut runner, mut worker) = Runner::without_thread(simulation, hooks, settings);
        let mut map = EntityMap::default();
        map.insert(key, 1);
        for n in 0..15 {
            worker.run_until(MS(17 * n));
            runner.frame_at(MS(17 * n));
            if n == 6 {
                map.remove_body(&mut runner, key, 1);
            }
        }
        assert_eq!(runner.failures().len(), 1);
        runner.recover().unwrap();
        worker.run_until(MS(17 * 15));
        assert!(worker.simulation().physics.body(key).is_some(), "{ticks}");
    }
}
