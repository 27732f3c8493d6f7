//! Calls, questions, other simulations.

use super::*;
use evenstep::threads::{SendError, Spawned};
use scenes::testing::{translation, vector};

#[test]
fn orders_are_carried_out_between_steps_in_the_order_sent() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(0));
    let body = |x: f32| RigidBodyBuilder::dynamic().translation(Vector::X * x);
    let ball = || [ball().mass(1.0)];
    let other = driver.runner.spawn(body(5.0), ball()).unwrap();
    let one = driver.runner.spawn(body(9.0), ball()).unwrap();
    let (pushed, put) = (one.clone(), other.clone());
    driver.call(move |simulation, _| {
        let (one, other) = (pushed.key().unwrap(), put.key().unwrap());
        simulation.physics.apply_impulse(one, Vector::Y).unwrap();
        let there = translation(7.0, 0.0, 0.0);
        simulation.physics.teleport(other, there).unwrap();
    });
    let there = other.clone();
    driver.call(move |simulation, _| {
        let body = simulation.physics.body_mut(there.key().unwrap()).unwrap();
        assert_eq!(body.translation().x, 7.0);
        body.set_linvel(vector(0.0, 0.0, 1.0), true);
    });
    assert_eq!((one.key(), other.key()), (None, None));
    driver.run(MS(9));
    let (one, other) = (one.key().unwrap(), other.key().unwrap());
    assert_eq!(driver.physics().bodies().count(), 3);
    assert_eq!(driver.tick(), 0, "no step is due yet");
    driver.run(MS(10));
    let at = |key| driver.physics().body(key).unwrap().translation();
    assert_eq!(at(one), vector(9.0, 0.01, 0.0));
    assert_eq!(at(other), vector(7.0, 0.0, 0.01));
    assert!(driver.frame(MS(20)).pose(one).is_some());
    driver.remove(one);
    driver.run(MS(20));
    driver.run(MS(30));
    let view = driver.frame(MS(40));
    assert_eq!((view.pose(one), view.removed()), (None, &[one][..]));
    // Keys of removed bodies are refused.
    driver.call(move |simulation, _| {
        assert!(simulation.physics.add_force(one, Vector::X).is_err());
        assert!(simulation.physics.remove(one).is_none());
    });
    driver.run(MS(40));
    assert!(driver.failures().is_empty());
    assert_eq!(driver.physics().bodies().count(), 2);
}

#[test]
fn bodies_spawned_by_a_runner_have_the_same_keys_as_in_one_thread() {
    let body = |x: f32| RigidBodyBuilder::dynamic().translation(Vector::X * x);
    let (mut alone, _) = flyer_in_space();
    let mut driver = Driver::new(flyer_in_space().0, Idle);
    let (mut sent, mut keys) = (Vec::new(), Vec::new());
    for i in 0..100u16 {
        let x = f32::from(i);
        sent.push(driver.runner.spawn(body(x), [ball()]).unwrap());
        keys.push(alone.physics.insert(body(x), ball()));
        // Some bodies are removed before they have arrived, and some long after.
        if i % 3 == 2 {
            let spawned = sent.remove(usize::from(i) / 3);
            driver.call(move |simulation, _| {
                simulation.physics.remove(spawned.key().unwrap()).unwrap();
            });
            alone
                .physics
                .remove(keys.remove(usize::from(i) / 3))
                .unwrap();
        }
        if i % 10 == 9 {
            driver.run(MS(4 * u64::from(i)));
            assert!(
                sent.iter()
                    .map(Spawned::key)
                    .eq(keys.iter().copied().map(Some))
            );
            let gone = vec![keys.remove(0), keys.remove(3)];
            drop((sent.remove(0), sent.remove(3)));
            for key in &gone {
                driver.remove_with_entity(*key);
            }
            for key in gone {
                alone.physics.remove(key).unwrap();
            }
        }
    }
    driver.run(MS(500));
    let (simulation, _) = driver.stop(MS(500));
    let keys_and_handles = |simulation: &Simulation| -> Vec<_> {
        let keys = simulation.physics.bodies().map(|(key, _)| key);
        keys.map(|key| (key, simulation.physics.handle(key)))
            .collect()
    };
    assert_eq!(keys_and_handles(&simulation), keys_and_handles(&alone));
}

#[test]
fn a_state_restored_by_a_call_is_displayed_completely() {
    let (simulation, flyer) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    let sleeper = RigidBodyBuilder::dynamic().sleeping(true);
    let sleeper = driver.edit(MS(0), |simulation| simulation.physics.insert_body(sleeper));
    driver.run(MS(10));
    let saved = driver.simulation().clone();
    let there = translation(0.0, 7.0, 0.0);
    let late = driver.edit(MS(10), move |simulation| {
        simulation.physics.teleport(sleeper, there).unwrap();
        simulation.physics.insert_body(RigidBodyBuilder::fixed())
    });
    driver.run(MS(50));
    let view = driver.frame(MS(60));
    assert_eq!(view.pose(sleeper), Some(there));
    assert!(view.pose(late).is_some());
    driver.call(move |simulation, _| *simulation = saved);
    for ms in [60, 70, 80, 90] {
        driver.run(MS(ms));
    }
    let view = driver.frame(MS(95));
    assert_eq!(view.pose(sleeper), Some(Pose::IDENTITY));
    assert_eq!((view.pose(late), view.removed()), (None, &[late][..]));
    // It continues from now, although its clock has another time.
    let x = view.pose(flyer).unwrap().translation.x;
    assert!((x - 3.0).abs() < 1e-3, "{x}");
}

#[test]
fn questions_see_all_earlier_calls_even_in_a_pause() {
    let (mut simulation, _) = flyer_in_space();
    let wall = RigidBodyBuilder::fixed().translation(Vector::Y * 50.0);
    let wall = simulation.physics.insert(wall, ColliderBuilder::ball(1.0));
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(0));
    for (paused, x) in [(false, 20.0f32), (true, 30.0)] {
        if paused {
            driver.pause();
            driver.run(MS(20));
            driver.run(MS(21));
        }
        driver.teleport(wall, translation(x, 9.0, 0.0));
        let answer = driver.runner.ask(move |simulation| {
            let pipeline = simulation.physics.rapier().query_pipeline();
            let ray = Ray::new(vector(x, 20.0, 0.0), -Vector::Y);
            pipeline.cast_ray(&ray, 100.0, true).map(|(_, at)| at)
        });
        driver.run(MS(if paused { 25 } else { 10 }));
        let (tick, hit) = answer.unwrap().get().expect("answered in this step");
        assert_eq!(tick, driver.tick());
        assert!((hit.unwrap() - 10.0).abs() < 1e-3, "{hit:?}");
    }
    assert_eq!(driver.tick(), 1, "the pause came before the second step");
}

#[test]
fn questions_in_a_pause_can_read_past_poses_and_worlds() {
    let (mut simulation, flyer) = flyer_in_space();
    simulation.keep(Kept {
        poses: 10,
        ticks: 10,
        ..simulation.kept()
    });
    let mut driver = Driver::new(simulation, Idle);
    for ms in (0..80).step_by(10) {
        driver.run(MS(ms));
    }
    driver.pause();
    driver.run(MS(80));
    for _ in 0..2 {
        let answer = driver.runner.ask(move |simulation| {
            let tick = simulation.physics.tick() - 3;
            let pose = simulation.pose_at(flyer, tick, 1.0);
            (pose.is_some(), simulation.world_at(tick, 1.0).is_ok())
        });
        driver.run(MS(90));
        let (_, known) = answer.unwrap().get().expect("answered without a step");
        assert_eq!(known, (true, true));
    }
}

/// A resource may be a whole ECS, whose copy is expensive or panics.
struct Uncopied;

impl Clone for Uncopied {
    fn clone(&self) -> Self {
        panic!("nothing keeps a state");
    }
}

#[test]
fn questions_between_two_steps_copy_no_resource() {
    for speed in [0.1, 0.0] {
        let (mut simulation, _) = flyer_in_space();
        simulation.physics.resources_mut().insert(Uncopied);
        let mut driver = Driver::new(simulation, Idle);
        driver.set_speed(speed);
        driver.run(MS(1));
        let is_there = |simulation: &Simulation| {
            let resources = simulation.physics.resources();
            resources.get::<Uncopied>().is_some()
        };
        let panics = driver.runner.ask(|_| panic!("of no use")).map(drop);
        panics.unwrap();
        let answer = driver.runner.ask(is_there).unwrap();
        driver.run(MS(2));
        assert_eq!(answer.get(), Some((0, true)));
        driver.set_speed(1.0);
        driver.run(MS(3));
        driver.run(MS(100));
        assert!(driver.tick() > 0 && is_there(driver.simulation()));
        let failures = driver.failures();
        assert_eq!(format!("{failures:?}"), "[Ask { tick: 0, .. }]");
    }
}

#[test]
fn an_assigned_simulation_is_displayed_from_its_first_state() {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(0));
    driver.call(|simulation, _| {
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        })
    });
    for ms in 0..=40 {
        driver.run(MS(10 * ms));
    }
    assert_eq!(driver.frame(MS(405)).time().as_secs_f64(), 0.39);
    // The simulation goes back in time: later states are displayed as they are then.
    driver.call(|simulation, _| simulation.rewind(20).unwrap());
    driver.run(MS(410));
    let x = driver.frame(MS(410)).pose(key).unwrap().translation.x;
    assert!((20.0..=21.0).contains(&x), "{x}");
    // Another simulation has bodies at rest. They are displayed, and the old ones are not.
    let mut other = Simulation::new(Rate::hz(100));
    let rock = other
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    let stone = other
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    for _ in 0..9 {
        other.advance(MS(10), |_, _| ());
    }
    driver.call(|simulation, _| *simulation = other);
    for ms in 42..48 {
        driver.run(MS(10 * ms));
    }
    // Its clock has another time, but it continues from now.
    assert_eq!(driver.tick(), 9 + 5);
    let view = driver.frame(MS(480));
    assert_eq!(view.pose(stone), Some(Pose::IDENTITY));
    assert_eq!((rock, view.pose(rock)), (key, Some(Pose::IDENTITY)));
    assert_eq!(view.moved().len(), 2);
    assert_eq!(driver.runner.dropped(), Duration::ZERO);
}

#[test]
fn assigning_an_older_or_newer_copy_replaces_all_displayed_poses() {
    for (age, pauses) in [(10, false), (10, true), (90, false), (90, true)] {
        let (mut simulation, key) = flyer_in_space();
        let ball = || ColliderBuilder::ball(1.0);
        let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        let only_here = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        let mut saved = simulation.clone();
        saved.physics.remove(only_here).unwrap();
        for _ in 0..age {
            saved.advance(MS(10), |_, _| ());
        }
        let mut driver = Driver::new(simulation, Idle);
        let first = translation(0.0, 7.0, 0.0);
        driver.teleport(wall, first);
        for ms in 0..50 {
            driver.run(MS(10 * ms));
            driver.frame(MS(10 * ms));
        }
        assert_eq!(driver.view().pose(wall), Some(first));
        if pauses {
            driver.pause();
        }
        driver.call(move |simulation, _| {
            let is_paused = simulation.clock().settings().is_paused();
            *simulation = saved;
            if is_paused {
                simulation.pause();
            }
        });
        driver.run(MS(500));
        driver.run(MS(510));
        let view = driver.frame(MS(512));
        assert_eq!(view.pose(wall), Some(Pose::IDENTITY));
        assert_eq!(view.pose(only_here), None);
        assert_eq!(view.removed(), [only_here]);
        let x = view.pose(key).unwrap().translation.x;
        assert!((x - age as f32).abs() <= 3.0, "{x} after {age} steps");
    }
}

#[test]
fn a_step_that_a_new_rate_makes_due_before_the_start_is_run() {
    let mut simulation = Simulation::new(Rate::hz(1));
    simulation.advance(MS(200), |_, _| ());
    simulation.clock_settings_mut().set_rate(Rate::hz(100));
    let mut driver = Driver::new(simulation, Idle);
    for _ in 0..10 {
        driver.worker.run_until(MS(300));
    }
    assert_eq!(driver.tick(), 30);
}

#[derive(Default)]
struct Frames(u64);

impl Hooks for Frames {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Self::Error> {
        assert_eq!(simulation.frame().number, self.0);
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn before_frame_is_called_for_every_frame_even_in_a_pause() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Frames::default());
    driver.run(MS(20));
    driver.pause();
    driver.run(MS(30));
    driver.call(|simulation, _| simulation.set_overstep(MS(4)));
    driver.run(MS(40));
    driver.resume();
    driver.run(MS(50));
    assert_eq!(driver.simulation().frame().number, driver.hooks().0);
    let (simulation, hooks) = driver.stop(MS(65));
    assert_eq!(simulation.frame().number, hooks.0);
}

#[test]
fn sending_to_an_ended_thread_reports_ended_not_full() {
    let (simulation, _) = flyer_in_space();
    let driver = Driver::new(simulation, Frames::default());
    drop(driver.worker);
    for _ in 0..300 {
        let sent = driver.runner.call(|_, _| ());
        assert!(matches!(sent, Err(SendError::Ended(_))));
    }
}

#[test]
fn sending_to_an_ended_thread_reports_ended_even_after_a_panic() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.call(|_, _| panic!("of no use"));
    driver.run(MS(10));
    assert!(driver.frame(MS(10)).is_stopped());
    let sent = driver.runner.call(|_, _| ());
    assert!(matches!(sent, Err(SendError::Stopped(_))));
    drop(driver.worker);
    let sent = driver.runner.call(|_, _| ());
    assert!(matches!(sent, Err(SendError::Ended(_))));
}

struct Replaces(Option<Physics>);

impl Hooks for Replaces {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick == 50 {
            *physics = self.0.take().unwrap();
        }
        Ok(())
    }
}

#[test]
fn a_state_assigned_in_a_hook_is_displayed_completely_and_continues_from_now() {
    let (mut other, _) = flyer_in_space();
    let wall = RigidBodyBuilder::fixed().translation(vector(0.0, 5.0, 0.0));
    // This key does not exist in the first simulation.
    other.physics.insert(RigidBodyBuilder::dynamic(), ball());
    let wall = other.physics.insert(wall, ball());
    for _ in 0..40 {
        other.advance(MS(100), |_, _| ());
    }
    assert_eq!(other.physics.tick(), 400);
    let (mut simulation, _) = flyer_in_space();
    let only_here: Vec<_> = (0..5)
        .map(|_| simulation.physics.insert_body(RigidBodyBuilder::fixed()))
        .collect();
    let mut driver = Driver::new(simulation, Replaces(Some(other.physics)));
    for ms in (10..=800).step_by(10) {
        driver.in_time(MS(ms));
        driver.frame(MS(ms));
    }
    assert_eq!(driver.simulation().clock().real_time(), MS(800));
    assert!((428..=431).contains(&driver.tick()), "{}", driver.tick());
    let view = driver.view();
    assert_eq!(view.pose(wall).unwrap().translation.y, 5.0);
    assert_eq!(view.pose(only_here[4]), None);
    assert_eq!(view.removed(), []);
}

#[test]
fn the_view_displays_changes_in_a_frame_that_a_call_advances() {
    let (mut simulation, _) = flyer_in_space();
    let old = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let mut driver = Driver::new(simulation, Idle);
    driver.in_time(MS(50));
    driver.frame(MS(50));
    let spawned = driver
        .runner
        .spawn(RigidBodyBuilder::fixed(), [(); 0].map(|()| ball()))
        .unwrap();
    driver.call(move |simulation, _| {
        simulation.physics.remove(old).unwrap();
        simulation.advance(MS(100), |_, _| ());
    });
    for ms in (60..=400).step_by(10) {
        driver.in_time(MS(ms));
        driver.frame(MS(ms));
    }
    let new = spawned.key().unwrap();
    assert!(driver.view().pose(new).is_some() && driver.view().pose(old).is_none());
}

#[test]
fn a_visual_error_not_yet_displayed_is_smoothed_after_a_stop() {
    for end in [200, 210] {
        check_smoothing_after_a_stop(end);
    }
}

/// Tests the stop before and after the thread has handed over a state with the error.
fn check_smoothing_after_a_stop(end: u64) {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    let mut driver = Driver::new(simulation, Idle);
    for ms in (5..=200).step_by(5) {
        driver.in_time(MS(ms));
        driver.frame(MS(ms));
    }
    let shown = driver.view().pose(key).unwrap().translation;
    driver.call(move |simulation, _| {
        let put = |physics: &mut Physics, step: Step| {
            if step.tick == 10 {
                let by = translation(0.0, 1.0, 0.0);
                physics.teleport_by(key, by).unwrap();
            }
        };
        simulation.resimulate(10, put).unwrap();
    });
    driver.in_time(MS(end));
    let (mut simulation, _) = driver.stop(MS(end));
    simulation.advance(MS(1), |_, _| ());
    let next = simulation.pose(key).unwrap().translation;
    assert!((next.y - shown.y).abs() < 0.1, "{end}: {shown} {next}");
}
