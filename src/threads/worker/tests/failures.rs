//! Errors and panics.

use super::*;
use crate::simulation::Kept;

#[test]
fn the_failure_list_is_bounded_and_lost_failures_are_counted() {
    struct Never;
    impl Hooks for Never {
        type Error = ();
        fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
            Err(())
        }
    }
    let mut both = Both::new(flyer().0, Never);
    for ms in 1..=1_500 {
        both.physics(MS(10 * ms));
        if ms % 400 == 0 {
            both.frame(MS(10 * ms));
        }
    }
    assert_eq!(both.runner.failures().len(), 1_000);
    assert_eq!(both.runner.lost_failures(), 500);
}

#[test]
fn a_panic_in_a_question_is_reported_and_physics_continues() {
    let (simulation, _) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.runner.ask(|_| panic!("of no use")).map(drop).unwrap();
    both.physics(MS(10));
    both.pause();
    both.runner.ask(|_| panic!("of no use")).map(drop).unwrap();
    both.physics(MS(20));
    both.resume();
    both.physics(MS(30));
    let next = both.physics(MS(40));
    assert!(next.is_some() && both.tick() > 1);
    let failures = both.runner.failures();
    assert_eq!(
        format!("{failures:?}"),
        "[Ask { tick: 1, .. }, Ask { tick: 1, .. }]"
    );
}

struct Fails(Option<&'static str>);

impl Hooks for Fails {
    type Error = &'static str;

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert_ne!(step.tick, 6, "panics at tick 6");
        match self.0.take_if(|_| step.tick == 3) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

#[test]
fn a_panic_is_reported_and_freezes_the_displayed_poses_until_recovery() {
    for (states, interval) in [(0, 1), (4, 1), (4, 4)] {
        let (mut simulation, key) = flyer();
        simulation.keep(Kept {
            ticks: states,
            interval,
            ..simulation.kept()
        });
        let mut both = Both::new(simulation, Fails(Some("fails at tick 3")));
        for ms in 0..=10 {
            both.physics(MS(10 * ms));
        }
        let shown = both.frame(MS(100)).pose(key).unwrap();
        let failures = both.runner.failures();
        assert_eq!(
            format!("{failures:?}"),
            r#"[Hook { tick: 3, error: "fails at tick 3" }, Panic { tick: 6, .. }]"#
        );
        assert_eq!(both.physics(MS(110)), None);
        both.teleport(key, Pose::IDENTITY);
        assert_eq!(both.physics(MS(120)), None);
        assert_eq!(both.frame(MS(120)).pose(key), Some(shown));
        both.call(|simulation, _| simulation.set_tick(100));
        both.runner.recover().unwrap();
        // It panics again, because it is the same step.
        for ms in 13..=20 {
            both.physics(MS(10 * ms));
        }
        assert_eq!(both.physics(MS(210)), None);
        both.frame(MS(210));
        // Without kept states the simulation stays where it is.
        assert_eq!(both.runner.failures().len(), 1);
        let (simulation, _) = both.physics.into_parts();
        assert_eq!(simulation.physics.tick(), 6);
    }
}

#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

/// Hooks whose errors panic when they are dropped. The hooks themselves do so too if they are set to.
struct Armed {
    fails: bool,
    is_bomb: bool,
}

impl Hooks for Armed {
    type Error = Bomb;

    fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), Bomb> {
        if self.fails { Err(Bomb) } else { Ok(()) }
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if self.is_bomb {
            drop(Bomb);
        }
    }
}

fn armed(fails: bool) -> Both<Armed> {
    let (mut simulation, _) = flyer();
    simulation.keep(Kept {
        ticks: 10,
        ..simulation.kept()
    });
    let is_bomb = false;
    Both::new(simulation, Armed { fails, is_bomb })
}

fn call_with_bomb(both: &mut Both<Armed>) {
    let bomb = Bomb;
    both.call(move |_, _| drop(bomb));
}

#[test]
fn the_thread_survives_calls_questions_and_forces_that_panic_when_dropped() {
    let mut both = armed(false);
    both.physics(MS(10));
    // The first call panics, so the questions are not answered, and the second call is not carried out.
    for _ in 0..2 {
        let bomb = Bomb;
        (both.runner.ask(move |_| drop(bomb))).map(drop).unwrap();
    }
    call_with_bomb(&mut both);
    call_with_bomb(&mut both);
    assert_eq!(both.physics(MS(20)), None);
    // The force generator is dropped with its body.
    both.runner.recover().unwrap();
    both.call(|simulation, _| {
        let (key, _) = simulation.physics.bodies().next().unwrap();
        let bomb = Bomb;
        let force = move |_: &RigidBody, _| {
            let _ = &bomb;
            Default::default()
        };
        let force = ForceGenerator::custom(force);
        simulation
            .physics
            .insert_force_generator(key, force)
            .unwrap();
        simulation.keep(Kept {
            ticks: 0,
            bytes: 0,
            ..simulation.kept()
        });
    });
    both.physics(MS(30));
    let key = both.physics.simulation.physics.bodies().next().unwrap().0;
    both.runner.remove_body(key);
    both.physics(MS(40));
    let failures = format!("{:?}", both.runner.failures());
    assert_eq!(failures, "[Panic { tick: 1, .. }, Panic { tick: 2, .. }]");
    // These calls are still queued when the thread ends.
    for _ in 0..2 {
        call_with_bomb(&mut both);
    }
    both.physics.fetch();
    let (simulation, _) = both.physics.into_parts();
    assert_eq!(simulation.physics.bodies().count(), 0);
}

#[test]
fn hook_errors_that_panic_when_dropped_are_discarded_and_counted() {
    let mut both = armed(true);
    for ms in 1..=2_100 {
        both.physics(MS(10 * ms));
        if ms == 1_100 {
            both.frame(MS(10 * ms));
        }
    }
    let failures = both.runner.failures();
    assert_eq!(failures.len(), 1_000);
    discard(failures);
    assert_eq!(both.runner.lost_failures(), 1_100);
    for _ in 0..3 {
        both.physics(MS(30_000));
    }
    both.physics.into_parts();
    discard(both.runner.failures());
}

struct NotAgain;

impl Hooks for NotAgain {
    type Error = &'static str;

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert!(
            !step.is_resimulated || step.tick != 12,
            "panics when resimulated"
        );
        Ok(())
    }
}

#[test]
fn recovery_from_a_panic_in_a_resimulation_returns_to_the_present() {
    for panics_in_call in [false, true] {
        let (mut simulation, key) = flyer();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        let mut both = Both::new(simulation, NotAgain);
        both.in_time(MS(200));
        both.call(move |simulation, _| {
            simulation.roll_back(10).unwrap();
            assert!(!panics_in_call, "panics after the rollback");
        });
        both.in_time(MS(200));
        both.in_time(MS(300));
        assert_eq!(both.runner.failures().len(), 1);
        both.runner.recover().unwrap();
        both.in_time(MS(300));
        both.in_time(MS(400));
        assert!(both.tick() > 25, "{}", both.tick());
        let at = both
            .physics
            .simulation
            .physics
            .body(key)
            .unwrap()
            .translation()
            .x;
        assert_eq!(at.round(), both.tick() as f32);
    }
}

/// Panics once, at tick 6: itself, or by a joint to a removed body, at which Rapier panics.
struct PanicsOnce {
    in_rapier: bool,
    has_panicked: bool,
}

impl Hooks for PanicsOnce {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick == 6 && !std::mem::replace(&mut self.has_panicked, true) {
            assert!(self.in_rapier, "panics once");
            let rapier = physics.rapier_mut();
            let ends = [(); 2].map(|()| rapier.insert_body(RigidBodyBuilder::dynamic()));
            rapier.remove_body(ends[1]);
            rapier.insert_impulse_joint(ends[0], ends[1], FixedJointBuilder::new());
        }
        Ok(())
    }
}

/// The state before the panic still has the removed bodies.
#[test]
fn bodies_removed_after_a_panic_stay_removed() {
    for in_rapier in [false, true] {
        let (mut simulation, key) = flyer();
        let (body, collider) = (RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.1));
        let others = [(); 2].map(|()| simulation.physics.insert(body.clone(), collider.clone()));
        simulation.keep(Kept {
            ticks: 4,
            ..simulation.kept()
        });
        let has_panicked = false;
        let mut both = Both::new(
            simulation,
            PanicsOnce {
                in_rapier,
                has_panicked,
            },
        );
        both.in_time(MS(100));
        assert_eq!(both.runner.failures().len(), 1);
        for keys in [vec![key], vec![others[0], key]] {
            keys.into_iter()
                .for_each(|key| both.runner.remove_body(key));
            both.physics(MS(110));
        }
        both.runner.recover().unwrap();
        both.physics(MS(120));
        both.physics(MS(140));
        assert!(both.tick() > 6);
        let bodies = &both.physics.simulation.physics;
        assert!(bodies.body(key).is_none() && bodies.body(others[0]).is_none());
        assert!(bodies.body(others[1]).is_some());
        assert!(both.runner.failures().is_empty());
        let view = both.frame(MS(200));
        let poses = [key, others[0], others[1]].map(|key| view.pose(key).is_some());
        assert_eq!(poses, [false, false, true]);
    }
}

#[test]
fn stopping_after_a_panic_discards_pending_calls() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(100));
    both.call(|_, _| panic!("injected"));
    both.remove(key);
    both.physics(MS(110));
    let (simulation, _) = both.stop(MS(120));
    assert!(simulation.physics.body(key).is_some());
}

struct FailsOnce(bool);

impl Hooks for FailsOnce {
    type Error = &'static str;

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick == 10 && !std::mem::replace(&mut self.0, true) {
            return Err("injected");
        }
        Ok(())
    }
}

#[test]
fn displayed_motion_does_not_jump_when_a_hook_error_drops_a_step() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, FailsOnce(false));
    let mut last = 0.0;
    for ms in 0..300 {
        both.in_time(MS(ms));
        let x = both.frame(MS(ms)).pose(key).unwrap().translation.x;
        let by = x - last;
        assert!((0.0..0.101).contains(&by), "{by} m at {ms} ms");
        last = x;
    }
    assert_eq!(both.runner.failures().len(), 1);
}

#[test]
fn recovery_does_not_restore_bodies_removed_before_or_after_the_panic() {
    for (removed_at, interval) in [(55, 4), (55, 1), (75, 4), (75, 1)] {
        let (mut simulation, key) = flyer();
        let (body, collider) = (RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.1));
        let other = simulation.physics.insert(body, collider);
        simulation.keep(Kept {
            ticks: 4,
            interval,
            ..simulation.kept()
        });
        let mut both = Both::new(simulation, Fails(None));
        for ms in (0..=100).step_by(5) {
            if ms == removed_at {
                both.runner.remove_body(other);
            }
            both.physics(MS(ms));
            both.frame(MS(ms));
        }
        assert_eq!(both.runner.failures().len(), 1);
        both.runner.recover().unwrap();
        both.physics(MS(105));
        let there = [key, other].map(|key| both.physics.simulation.physics.body(key).is_some());
        assert_eq!(
            there,
            [true, false],
            "removed at {removed_at} ms, {interval}"
        );
    }
}

/// When the hook shifts the origin and then panics, once.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    BeforeFrame,
    BeforeStep,
    AfterStep,
}

struct ShiftsAndPanics(Option<Place>);

impl ShiftsAndPanics {
    fn act(&mut self, physics: &mut Physics, place: Place) {
        if physics.tick() >= 12 && self.0.take_if(|it| *it == place).is_some() {
            physics.shift_origin(Vector::X * 4.0).unwrap();
            panic!("after a shift of the origin");
        }
    }
}

impl Hooks for ShiftsAndPanics {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Self::Error> {
        self.act(&mut simulation.physics, Place::BeforeFrame);
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
        self.act(physics, Place::BeforeStep);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
        self.act(physics, Place::AfterStep);
        Ok(())
    }
}

#[test]
fn a_runner_recovers_after_a_hook_has_shifted_the_origin_and_panicked() {
    for place in [Place::BeforeFrame, Place::BeforeStep, Place::AfterStep] {
        for states in [0, 1, 4] {
            let (mut simulation, key) = flyer();
            simulation.keep(Kept {
                ticks: states,
                ..simulation.kept()
            });
            let mut both = Both::new(simulation, ShiftsAndPanics(Some(place)));
            let (mut origin, mut shown) = (0.0, 0.0);
            for ms in 0..400 {
                both.in_time(MS(ms));
                if ms == 200 {
                    assert_eq!(both.runner.failures().len(), 1, "{place:?} {states}");
                    both.runner.recover().unwrap();
                    both.in_time(MS(ms));
                }
                let view = both.frame(MS(ms));
                origin += view.origin_shift().x;
                let x = view.pose(key).unwrap().translation.x + origin;
                // At most two steps are run again, and then the time since the panic.
                let most = if ms == 200 { 10.0 } else { 1.0 };
                let is_near = (shown - 2.0..shown + most).contains(&x);
                assert!(is_near, "{place:?} {states}: {x} after {shown} at {ms} ms");
                shown = x;
            }
            let case = format!("{place:?} {states}");
            assert!(both.runner.failures().is_empty(), "{case}");
            // The step of the panic is dropped if it did not run, or if the runner went back to the state before it.
            let is_dropped =
                place == Place::BeforeStep || (place == Place::AfterStep && states > 0);
            let end = if is_dropped { 37.4 } else { 38.4 };
            assert!((shown - end).abs() < 0.01, "{case}: {shown}, not {end}");
        }
    }
}
