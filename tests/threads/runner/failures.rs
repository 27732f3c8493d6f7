//! Panics, full queues and the end of a thread.

use super::*;
use evenstep::rewind::Kept;
use evenstep::time::FrameTime;
use std::time::Duration;

/// The code that panics, in the step of tick 20.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Panics {
    Frame,
    Before,
    After,
    Physics,
    Call,
}

struct Panicking(Panics);

impl Hooks for Panicking {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Self::Error> {
        let tick = simulation.physics.tick();
        assert!(self.0 != Panics::Frame || tick != 20, "it panics");
        Ok(())
    }

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert!(self.0 != Panics::Before || step.tick != 20, "it panics");
        Ok(())
    }

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert!(self.0 != Panics::After || step.tick != 20, "it panics");
        Ok(())
    }

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        struct Filter;
        impl PhysicsHooks for Filter {
            fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
                panic!("it panics");
            }
        }
        (self.0 == Panics::Physics).then(|| Arc::new(Filter) as _)
    }
}

#[test]
fn every_panic_is_reported_and_the_runner_can_stop_drop_or_recover() {
    use Panics::{After, Before, Call, Frame, Physics};
    for panics in [Frame, Before, After, Physics, Call] {
        for ending in ["stop", "drop", "recover"] {
            let mut simulation = space(500);
            simulation.keep(Kept {
                ticks: 5,
                ..simulation.kept()
            });
            let key = simulation.physics.insert(scenes::flyer(), scenes::ball());
            // The flyer meets this wall in the step of tick 20, after 4.1 m at 0.2 m per step.
            let wall = cuboid(0.5, 5.0, 5.0).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
            let place = Vector::X * 4.7;
            simulation
                .physics
                .insert(RigidBodyBuilder::fixed().translation(place), wall);
            let mut runner =
                Runner::new(simulation, Panicking(panics), RunnerSettings::default()).unwrap();
            if panics == Call {
                frames(&mut runner, |runner| runner.frame().tick() > 5);
                runner.call(|_, _| panic!("it panics")).unwrap();
            }
            let mut failures = Vec::new();
            frames(&mut runner, |runner| {
                runner.frame();
                failures.extend(runner.failures());
                !failures.is_empty()
            });
            let Some(Failure::Panic { tick, payload }) = failures.pop() else {
                panic!("{panics:?}: {failures:?}");
            };
            let message = payload.downcast_ref::<&str>().map(ToString::to_string);
            let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
            assert!(message.unwrap().contains("it panics"), "{panics:?}");
            assert!(tick == 20 || panics == Call, "{panics:?} in {tick}");
            assert!(
                runner.frame().pose(key).is_some(),
                "{panics:?}: no pose is displayed"
            );
            match ending {
                "stop" => {
                    let (simulation, _) = in_time(move || runner.stop());
                    let is_made = u64::from(panics == After);
                    assert_eq!(simulation.physics.tick(), tick + is_made, "{panics:?}");
                }
                "drop" => in_time(move || drop(runner)),
                _ => {
                    runner.recover().unwrap();
                    // Run the same step once more, or a step in which nothing panics.
                    frames(&mut runner, |runner| {
                        runner.frame();
                        !runner.failures().is_empty() || runner.view().tick() > tick + 3
                    });
                }
            }
        }
    }
}

#[test]
fn a_full_queue_returns_the_call_for_a_retry() {
    let (game, _made) = Game::new();
    let mut settings = RunnerSettings::default();
    settings.call_capacity = 3;
    let runner = Runner::new(space(1), game, settings).unwrap();
    // The queue accepts nothing more while this call runs.
    let (begun, has_begun) = channel();
    let (go_on, wait) = channel::<()>();
    runner
        .call(move |_, _| {
            begun.send(()).unwrap();
            wait.recv_timeout(PATIENCE).unwrap();
        })
        .unwrap();
    has_begun.recv_timeout(PATIENCE).unwrap();
    let mut sent = 0u32;
    let refused = loop {
        match runner.call(|_, _| ()) {
            Ok(()) => sent += 1,
            Err(refused) => break refused,
        }
        assert!(sent < 1_000_000, "the queue is unbounded");
    };
    assert_eq!(sent, 3);
    assert!(matches!(refused, SendError::Full(_)));
    assert!(refused.to_string().contains("the queue of calls is full"));
    let refused = runner
        .spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.1)])
        .unwrap_err();
    go_on.send(()).unwrap();
    // A returned order can be sent again as soon as there is room. No part of it is lost.
    let SendError::Full(mut spawn) = refused else {
        panic!("{refused:?}");
    };
    let start = runner.now();
    while let Err(SendError::Full(again)) = runner.call(spawn) {
        assert!(
            runner.now() - start < PATIENCE,
            "the condition is never met"
        );
        spawn = again;
        std::thread::yield_now();
    }
    // Stop while orders are still waiting.
    let (simulation, _) = in_time(move || runner.stop());
    assert!(simulation.physics.tick() < 60);
}

#[test]
fn a_hook_panic_is_reported_and_the_last_poses_stay_displayed() {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks: 3,
        ..simulation.kept()
    });
    let (mut game, _made) = Game::new();
    game.panics_at = Some(20);
    let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let mut failures = Vec::new();
    frames(&mut runner, |runner| {
        runner.frame();
        failures.extend(runner.failures());
        !failures.is_empty()
    });
    let Failure::Panic { tick, payload } = failures.pop().unwrap() else {
        panic!("{failures:?}");
    };
    assert_eq!(tick, 20);
    let message = payload.downcast::<String>().unwrap();
    assert!(message.contains("the requested panic"), "{message}");
    assert!(runner.frame().pose(key).is_some());
    runner.recover().unwrap();
    // The same step runs again and panics again, because the hook is unchanged.
    frames(&mut runner, |runner| !runner.failures().is_empty());
    let (simulation, game) = runner.stop();
    assert_eq!((simulation.physics.tick(), game.panics_at), (20, Some(20)));
}

#[test]
fn calls_sent_before_stop_are_carried_out() {
    let (game, _) = Game::new();
    let mut simulation = space(100);
    let keys: Vec<BodyKey> = (0..3)
        .map(|_| simulation.physics.insert_body(RigidBodyBuilder::fixed()))
        .collect();
    let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let (goes_on, waits) = channel::<()>();
    runner
        .call(move |_, _| waits.recv_timeout(PATIENCE).unwrap_or_default())
        .unwrap();
    for key in keys {
        runner
            .call(move |simulation, _| drop(simulation.physics.remove(key)))
            .unwrap();
    }
    let spawned = runner
        .spawn(
            RigidBodyBuilder::dynamic(),
            [(); 0].map(|()| scenes::ball()),
        )
        .unwrap();
    goes_on.send(()).unwrap();
    let (simulation, _) = runner.stop();
    let there: Vec<_> = simulation.physics.bodies().map(|(key, _)| key).collect();
    assert_eq!(there, [spawned.key().unwrap()]);
}

/// The view says that physics has stopped, and nothing is accepted that would not run.
#[test]
fn a_stopped_runner_says_so_and_refuses_calls_until_it_recovers() {
    let simulation = space(500);
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Panicking(Panics::Call), settings);
    let ms = Duration::from_millis;
    worker.run_until(ms(4));
    assert!(!runner.frame_at(ms(4)).is_stopped());
    runner.call(|_, _| panic!("it panics")).unwrap();
    worker.run_until(ms(6));
    assert!(runner.frame_at(ms(6)).is_stopped());
    for _ in 0..2 {
        assert!(matches!(runner.call(|_, _| ()), Err(SendError::Stopped(_))));
        assert!(matches!(runner.ask(|_| ()), Err(SendError::Stopped(()))));
        let spawned = runner.spawn(RigidBodyBuilder::dynamic(), [scenes::ball()]);
        assert!(matches!(spawned, Err(SendError::Stopped(_))));
        worker.run_until(ms(8));
        assert!(runner.frame_at(ms(8)).is_stopped());
    }
    runner.recover().unwrap();
    // A call that is sent after it runs after it.
    let (sender, receiver) = channel();
    runner.call(move |_, _| sender.send(()).unwrap()).unwrap();
    worker.run_until(ms(10));
    assert!(!runner.frame_at(ms(10)).is_stopped());
    assert!(receiver.try_recv().is_ok() && runner.call(|_, _| ()).is_ok());
    assert_eq!(runner.failures().len(), 1);
}

/// A game may keep these in the resources of an engine, which are shared between threads.
#[test]
fn runners_overlaps_and_views_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Runner<Panicking>>();
    is_shared::<evenstep::threads::Overlap>();
    is_shared::<evenstep::threads::View<std::cell::Cell<u8>>>();
    is_shared::<evenstep::threads::Asked<std::cell::Cell<u8>>>();
}
