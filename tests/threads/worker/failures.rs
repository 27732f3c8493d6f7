//! Errors and panics.

use super::*;
use scenes::{break_rapier, stepped_x};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn the_failure_list_is_bounded_and_lost_failures_are_counted() {
    struct Never;
    impl Hooks for Never {
        type Error = ();
        fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
            Err(())
        }
    }
    let mut driver = Driver::new(flyer_in_space().0, Never);
    for ms in 1..=1_500 {
        driver.run(MS(10 * ms));
        if ms % 400 == 0 {
            driver.frame(MS(10 * ms));
        }
    }
    assert_eq!(driver.failures().len(), 1_000);
    assert_eq!(driver.runner.lost_failures(), 500);
}

#[test]
fn a_panic_in_a_question_is_reported_and_physics_continues() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver
        .runner
        .ask(|_| panic!("of no use"))
        .map(drop)
        .unwrap();
    driver.run(MS(10));
    driver.pause();
    driver
        .runner
        .ask(|_| panic!("of no use"))
        .map(drop)
        .unwrap();
    driver.run(MS(20));
    driver.resume();
    driver.run(MS(30));
    let next = driver.run(MS(40));
    assert!(next.is_some() && driver.tick() > 1);
    let failures = driver.failures();
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
        let (mut simulation, key) = flyer_in_space();
        simulation.keep(Kept {
            ticks: states,
            interval,
            ..simulation.kept()
        });
        let mut driver = Driver::new(simulation, Fails(Some("fails at tick 3")));
        for ms in 0..=10 {
            driver.run(MS(10 * ms));
        }
        let shown = driver.frame(MS(100)).pose(key).unwrap();
        let failures = driver.failures();
        assert_eq!(
            format!("{failures:?}"),
            r#"[Hook { tick: 3, error: "fails at tick 3" }, Panic { tick: 6, .. }]"#
        );
        assert_eq!(driver.run(MS(110)), None);
        let refused = driver.runner.call(move |simulation, _| {
            simulation.physics.teleport(key, Pose::IDENTITY).unwrap();
        });
        assert!(matches!(refused, Err(SendError::Stopped(_))));
        assert_eq!(driver.run(MS(120)), None);
        assert_eq!(driver.frame(MS(120)).pose(key), Some(shown));
        driver.runner.recover().unwrap();
        // It panics again, because it is the same step.
        for ms in 13..=20 {
            driver.run(MS(10 * ms));
        }
        assert_eq!(driver.run(MS(210)), None);
        driver.frame(MS(210));
        // Without kept states the simulation stays where it is.
        assert_eq!(driver.failures().len(), 1);
        let (simulation, _) = driver.stop(MS(210));
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

/// Hooks whose errors panic when they are dropped.
struct Armed {
    fails: bool,
}

impl Hooks for Armed {
    type Error = Bomb;

    fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), Bomb> {
        if self.fails { Err(Bomb) } else { Ok(()) }
    }
}

fn armed(fails: bool) -> Driver<Armed> {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 10,
        ..simulation.kept()
    });
    Driver::new(simulation, Armed { fails })
}

fn call_with_bomb(driver: &Driver<Armed>) {
    let bomb = Bomb;
    driver.call(move |_, _| drop(bomb));
}

#[test]
fn the_thread_survives_calls_and_questions_that_panic_when_dropped() {
    let mut driver = armed(false);
    driver.run(MS(10));
    // The first call panics, so the questions are not answered, and the second call is not carried out.
    for _ in 0..2 {
        let bomb = Bomb;
        (driver.runner.ask(move |_| drop(bomb))).map(drop).unwrap();
    }
    call_with_bomb(&driver);
    call_with_bomb(&driver);
    assert_eq!(driver.run(MS(20)), None);
    let failures = format!("{:?}", driver.failures());
    assert_eq!(failures, "[Panic { tick: 1, .. }]");
    // These calls are still queued when the worker ends.
    call_with_bomb(&driver);
    call_with_bomb(&driver);
    let (simulation, _) = driver.stop(MS(20));
    assert_eq!(simulation.physics.tick(), 1);
}

#[test]
fn hook_errors_that_panic_when_dropped_are_discarded_and_counted() {
    let mut driver = armed(true);
    for ms in 1..=2_100 {
        driver.run(MS(10 * ms));
        if ms == 1_100 {
            driver.frame(MS(10 * ms));
        }
    }
    let failures = driver.failures();
    assert_eq!(failures.len(), 1_000);
    for failure in failures {
        catch_unwind(AssertUnwindSafe(|| drop(failure))).unwrap_err();
    }
    assert_eq!(driver.runner.lost_failures(), 1_100);
    for _ in 0..3 {
        driver.run(MS(30_000));
    }
    drop(driver.stop(MS(60_000)));
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
        let (mut simulation, key) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        let mut driver = Driver::new(simulation, NotAgain);
        driver.in_time(MS(200));
        driver.call(move |simulation, _| {
            simulation.roll_back(10).unwrap();
            assert!(!panics_in_call, "panics after the rollback");
        });
        driver.in_time(MS(200));
        driver.in_time(MS(300));
        assert_eq!(driver.failures().len(), 1);
        driver.runner.recover().unwrap();
        driver.in_time(MS(300));
        driver.in_time(MS(500));
        assert!(driver.tick() > 25, "{}", driver.tick());
        let x = stepped_x(driver.physics(), key);
        assert_eq!(x.round(), driver.tick() as f32);
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
            break_rapier(physics);
        }
        Ok(())
    }
}

/// The state before the panic still has the removed bodies.
#[test]
fn bodies_removed_after_a_panic_stay_removed() {
    for in_rapier in [false, true] {
        let (mut simulation, key) = flyer_in_space();
        let (body, collider) = (RigidBodyBuilder::fixed(), ball());
        let others = [(); 2].map(|()| simulation.physics.insert(body.clone(), collider.clone()));
        simulation.keep(Kept {
            ticks: 4,
            ..simulation.kept()
        });
        let has_panicked = false;
        let mut driver = Driver::new(
            simulation,
            PanicsOnce {
                in_rapier,
                has_panicked,
            },
        );
        driver.in_time(MS(100));
        assert_eq!(driver.failures().len(), 1);
        for keys in [vec![key], vec![others[0], key]] {
            keys.into_iter()
                .for_each(|key| driver.remove_with_entity(key));
            driver.run(MS(110));
        }
        driver.runner.recover().unwrap();
        driver.run(MS(120));
        driver.run(MS(140));
        assert!(driver.tick() > 6);
        let bodies = &driver.physics();
        assert!(bodies.body(key).is_none() && bodies.body(others[0]).is_none());
        assert!(bodies.body(others[1]).is_some());
        assert!(driver.failures().is_empty());
        let view = driver.frame(MS(200));
        let poses = [key, others[0], others[1]].map(|key| view.pose(key).is_some());
        assert_eq!(poses, [false, false, true]);
    }
}

/// The panic has left the frame open, and a step in hand.
#[test]
fn a_simulation_that_was_stopped_after_a_panic_of_a_hook_can_be_saved_edited_and_rewound() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 9,
        ..simulation.kept()
    });
    let hooks = PanicsOnce {
        in_rapier: false,
        has_panicked: false,
    };
    let mut driver = Driver::new(simulation, hooks);
    driver.in_time(MS(100));
    assert_eq!(driver.failures().len(), 1);
    let (mut simulation, _) = driver.stop(MS(110));
    #[cfg(feature = "serde")]
    simulation.save().unwrap();
    assert!(simulation.physics.current_step().is_none());
    assert_eq!(simulation.physics.tick(), 6);
    let speed = simulation.physics.body(key).unwrap().linvel().x;
    let mass = simulation.physics.body(key).unwrap().mass();
    simulation
        .physics
        .apply_impulse(key, Vector::X * mass)
        .unwrap();
    assert!(simulation.advance(MS(20), |_, _| ()).steps > 0);
    let faster = simulation.physics.body(key).unwrap().linvel().x;
    assert!((faster - speed - 1.0).abs() < 1e-3, "{faster}");
    assert_eq!(simulation.rewind(2), Ok(()));
}

#[test]
fn stopping_after_a_panic_discards_pending_calls() {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    driver.call(|_, _| panic!("injected"));
    driver.remove(key);
    driver.run(MS(110));
    let (simulation, _) = driver.stop(MS(120));
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
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, FailsOnce(false));
    let mut last = 0.0;
    for ms in 0..300 {
        driver.in_time(MS(ms));
        let x = driver.frame(MS(ms)).pose(key).unwrap().translation.x;
        let by = x - last;
        assert!((0.0..0.101).contains(&by), "{by} m at {ms} ms");
        last = x;
    }
    assert_eq!(driver.failures().len(), 1);
}

/// The next frame renumbers the steps, so that its first one is that of tick 10.
#[test]
fn a_failure_names_the_tick_of_its_step_after_a_renumbering() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, FailsOnce(false));
    driver.in_time(MS(55));
    driver.call(|simulation, _| simulation.set_tick(10));
    driver.in_time(MS(75));
    driver.frame(MS(75));
    let failures = driver.failures();
    assert!(
        matches!(failures[..], [Failure::Hook { tick: 10, .. }]),
        "{failures:?}"
    );
}

#[test]
fn recovery_does_not_restore_bodies_removed_before_or_after_the_panic() {
    for (removed_at, interval) in [(55, 4), (55, 1), (75, 4), (75, 1)] {
        let (mut simulation, key) = flyer_in_space();
        let (body, collider) = (RigidBodyBuilder::fixed(), ball());
        let other = simulation.physics.insert(body, collider);
        simulation.keep(Kept {
            ticks: 4,
            interval,
            ..simulation.kept()
        });
        let mut driver = Driver::new(simulation, Fails(None));
        for ms in (0..=100).step_by(5) {
            if ms == removed_at {
                driver.remove_with_entity(other);
            }
            driver.run(MS(ms));
            driver.frame(MS(ms));
        }
        assert_eq!(driver.failures().len(), 1);
        driver.runner.recover().unwrap();
        driver.run(MS(105));
        let there = [key, other].map(|key| driver.physics().body(key).is_some());
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
            let (mut simulation, key) = flyer_in_space();
            simulation.keep(Kept {
                ticks: states,
                ..simulation.kept()
            });
            let mut driver = Driver::new(simulation, ShiftsAndPanics(Some(place)));
            let (mut origin, mut shown) = (0.0, 0.0);
            for ms in 0..400 {
                driver.in_time(MS(ms));
                if ms == 200 {
                    assert_eq!(driver.failures().len(), 1, "{place:?} {states}");
                    driver.runner.recover().unwrap();
                    driver.in_time(MS(ms));
                }
                let view = driver.frame(MS(ms));
                origin += view.origin_shift().x;
                let x = view.pose(key).unwrap().translation.x + origin;
                // At most two steps are run again, or one was never sent.
                let is_near = (shown - 2.0..=shown + 1.0).contains(&x);
                assert!(is_near, "{place:?} {states}: {x} after {shown} at {ms} ms");
                shown = x;
            }
            let case = format!("{place:?} {states}");
            assert!(driver.failures().is_empty(), "{case}");
            // The time without physics is dropped, and the last step if the runner went back to the state before it.
            let goes_back = place == Place::AfterStep && states > 0;
            let end = if goes_back { 29.4 } else { 30.4 };
            assert!((shown - end).abs() < 0.01, "{case}: {shown}, not {end}");
        }
    }
}

#[test]
fn a_queue_of_any_capacity_holds_65_536_calls() {
    let mut settings = RunnerSettings::default();
    settings.call_capacity = usize::MAX;
    let (runner, worker) = Runner::without_thread(Simulation::default(), Idle, settings);
    for _ in 0..65_536 {
        runner.call(|_, _| ()).unwrap();
    }
    assert!(matches!(runner.call(|_, _| ()), Err(SendError::Full(_))));
    let _ = worker.stop(runner, Duration::ZERO);
}

#[test]
fn a_question_that_arrives_after_a_panic_gets_no_answer() {
    let mut driver = Driver::new(flyer_in_space().0, Fails(None));
    driver.run(MS(200));
    // The game has not seen the panic yet.
    let asked = (driver.runner)
        .ask(|simulation| simulation.physics.tick())
        .unwrap();
    driver.run(MS(210));
    // Its sender is gone, so this does not wait.
    assert_eq!(asked.wait(Duration::MAX), None);
    driver.runner.recover().unwrap();
    driver.run(MS(220));
    assert_eq!(asked.get(), None);
}

/// Fails in the resimulated step of tick 7, this many times.
struct FailsAgain(u32);

impl Hooks for FailsAgain {
    type Error = &'static str;

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.is_resimulated && step.tick == 7 && self.0 > 0 {
            self.0 -= 1;
            return Err("injected");
        }
        Ok(())
    }
}

#[test]
fn steps_to_resimulate_run_within_a_period_after_a_failure_even_in_a_pause_or_slow_motion() {
    for speed in [None, Some(0.0), Some(0.01)] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        let mut driver = Driver::new(simulation, FailsAgain(3));
        driver.in_time(MS(100));
        match speed {
            Some(speed) => driver.set_speed(speed),
            None => driver.pause(),
        }
        driver.in_time(MS(100));
        driver.call(|simulation, _| simulation.roll_back(5).unwrap());
        driver.run(MS(100));
        for (failures, ms) in [(1, 109), (2, 119), (3, 129)] {
            driver.in_time(MS(ms));
            assert_eq!(driver.failures().len(), 1, "{speed:?} {failures}");
            assert_eq!(driver.tick(), 7, "{speed:?} {failures}");
            assert!(driver.next.is_some_and(|next| next > MS(ms)));
        }
        driver.in_time(MS(131));
        assert_eq!(driver.tick(), 10, "{speed:?}");
        assert_eq!(driver.simulation().steps_to_resimulate(), 0, "{speed:?}");
        assert_eq!(driver.next.is_none(), speed != Some(0.01), "{speed:?}");
    }
}

#[test]
fn the_time_between_a_panic_and_the_recovery_is_dropped() {
    for states in [0, 4] {
        let (mut simulation, key) = flyer_in_space();
        simulation.keep(Kept {
            ticks: states,
            ..simulation.kept()
        });
        let hooks = PanicsOnce {
            in_rapier: false,
            has_panicked: false,
        };
        let mut driver = Driver::new(simulation, hooks);
        let mut last = 0.0;
        for ms in 0..=500 {
            if ms == 200 {
                driver.runner.recover().unwrap();
            }
            driver.in_time(MS(ms));
            let x = driver.frame(MS(ms)).pose(key).unwrap().translation.x;
            let by = x - last;
            assert!(by < 0.21, "{states}: {by} m at {ms} ms");
            last = x;
        }
        assert_eq!(driver.failures().len(), 1);
        let dropped = driver.runner.dropped();
        assert!((MS(125)..=MS(135)).contains(&dropped), "{dropped:?}");
        // Three tenths of a second follow the six steps before the panic.
        assert!((35..=37).contains(&driver.tick()), "{}", driver.tick());
    }
}
