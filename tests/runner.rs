//! The simulation on a real thread. What depends on time is tested with a clock of its own, in the library.

mod scenes;

use crate::scenes::testing::{cuboid, translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Failure, Runner, RunnerSettings, SendError};
use evenstep::{
    BodyKey, Event, ForceGenerator, Hooks, Owners, Physics, Rate, Simulation, Step, Wrench,
};
use scenes::{hash, in_time, space, with_floor};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longer than any of these should take, on the slowest of machines.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does what is asked of it, and reports every step.
struct Game {
    steps: Sender<u64>,
    panics_at: Option<u64>,
    pushed: Option<BodyKey>,
}

impl Game {
    fn new() -> (Self, Receiver<u64>) {
        let (steps, made) = channel();
        let game = Self {
            steps,
            panics_at: None,
            pushed: None,
        };
        (game, made)
    }
}

impl Hooks for Game {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if let Some(key) = self.pushed {
            let push = vector((step.tick % 3) as f32, 0.0, 0.1);
            physics.apply_impulse(key, push).expect("it is there");
        }
        assert_ne!(self.panics_at, Some(step.tick), "as it was asked to");
        Ok(())
    }

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        // Nobody may listen any more.
        let _ = self.steps.send(step.tick);
        Ok(())
    }
}

/// Waits until that step is made.
fn until(made: &Receiver<u64>, tick: u64) {
    while made.recv_timeout(PATIENCE).expect("steps are made") < tick {}
}

/// Frames until one is as it should be.
fn frames<H>(runner: &mut Runner<H>, mut is_good: impl FnMut(&mut Runner<H>) -> bool)
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    // A bound for a run that hangs; a frame takes no time here.
    let start = runner.now();
    while !is_good(runner) {
        assert!(runner.now() - start < PATIENCE, "never");
        std::thread::yield_now();
    }
}

#[test]
fn the_bits_are_those_of_one_thread() {
    let mut simulation = with_floor(Rate::hz(200).unwrap());
    let keys = scenes::pile(&mut simulation, 20);
    let (mut game, made) = Game::new();
    game.pushed = Some(keys[4]);
    let mut alone = simulation.clone();
    let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let mut shown = 0;
    frames(&mut runner, |runner| {
        let view = runner.frame();
        assert!(view.tick() >= shown);
        shown = view.tick();
        shown >= 30
    });
    until(&made, 40);
    let (simulation, _) = runner.stop();
    let (mut game, _made) = Game::new();
    game.pushed = Some(keys[4]);
    while alone.physics.tick() < simulation.physics.tick() {
        alone
            .advance_with(Duration::from_millis(5), &mut game)
            .unwrap();
    }
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(alone.physics.rapier())
    );
    assert!(!simulation.clock().settings().is_paused());
}

#[test]
fn a_thread_ends_in_every_state() {
    let start = || {
        let (game, made) = Game::new();
        let runner = Runner::new(space(1_000), game, RunnerSettings::default()).unwrap();
        (runner, made)
    };
    drop(start());
    let (simulation, _) = start().0.stop();
    assert!(simulation.physics.tick() < 10_000);
    let (runner, made) = start();
    until(&made, 5);
    assert!(runner.stop().0.physics.tick() >= 6);
    let (runner, _made) = start();
    runner.call(|simulation, _| simulation.pause()).unwrap();
    let paused = runner.ask(|simulation| simulation.clock().settings().is_paused());
    assert!(paused.unwrap().wait(PATIENCE).unwrap().1);
    let (simulation, _) = runner.stop();
    assert!(simulation.clock().settings().is_paused());
    // One step a second: it does not wait for it.
    let (game, _made) = Game::new();
    let runner = Runner::new(space(1), game, RunnerSettings::default()).unwrap();
    assert_eq!(runner.stop().0.physics.tick(), 0);
    // With much to do.
    let (runner, _made) = start();
    for _ in 0..200 {
        let _ = runner.spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.1)]);
    }
    drop(runner);
}

#[test]
fn one_step_a_second_is_made_paused_single_stepped_and_sped_up() {
    let mut simulation = space(1);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation
        .physics
        .insert(body.can_sleep(false), scenes::ball());
    let (game, made) = Game::new();
    let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    until(&made, 0);
    runner.call(|simulation, _| simulation.pause()).unwrap();
    let (tick, paused) = runner
        .ask(|simulation| simulation.clock().settings().is_paused())
        .unwrap()
        .wait(PATIENCE)
        .unwrap();
    assert!(paused);
    // In the pause at once, one for each.
    for step in tick..tick + 3 {
        runner
            .call(|simulation, _| simulation.clock_settings_mut().step_once())
            .unwrap();
        assert_eq!(made.recv_timeout(PATIENCE), Ok(step));
    }
    assert!(made.try_recv().is_err());
    // What is done in a pause is shown in it.
    frames(&mut runner, |runner| runner.frame().tick() == tick + 3);
    // Ten minutes of steps, and no wait.
    runner
        .call(|simulation, _| simulation.set_speed(1_000.0).unwrap())
        .unwrap();
    runner.call(|simulation, _| simulation.resume()).unwrap();
    until(&made, 100);
    frames(&mut runner, |runner| {
        let view = runner.frame();
        let x = f64::from(view.pose(key).unwrap().translation.x);
        assert!((x - view.time()).abs() < 1e-3, "{x} at {}", view.time());
        view.tick() > 100
    });
    assert!(runner.stop().0.physics.tick() > 100);
}

#[test]
fn nobody_waits_for_a_deadline_that_is_a_day_away() {
    for is_stopped in [true, false] {
        let tick = in_time(move || {
            let (game, _made) = Game::new();
            let mut simulation = space(1);
            simulation
                .clock_settings_mut()
                .set_rate(Rate::fraction(1, 86_400).unwrap());
            let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
            runner.frame();
            let answer = runner.ask(|simulation| simulation.physics.tick()).unwrap();
            let tick = is_stopped.then(|| runner.stop().0.physics.tick());
            // There never will be one, which is known once the thread has ended.
            assert!(!is_stopped || answer.wait(PATIENCE).is_none());
            tick
        });
        assert_eq!(tick, is_stopped.then_some(0));
    }
}

#[test]
fn a_question_that_takes_its_time_is_waited_for_when_it_ends() {
    let (game, made) = Game::new();
    let runner = Runner::new(space(1_000), game, RunnerSettings::default()).unwrap();
    until(&made, 3);
    let (go_on, wait) = channel::<()>();
    let (begun, has_begun) = channel();
    let question = move |simulation: &Simulation| {
        begun.send(()).unwrap();
        wait.recv_timeout(PATIENCE).unwrap();
        simulation.physics.tick()
    };
    let answer = runner.ask(question).unwrap();
    has_begun.recv_timeout(PATIENCE).unwrap();
    let stopped = std::thread::spawn(move || runner.stop().0.physics.tick());
    go_on.send(()).unwrap();
    let (tick, seen) = answer.wait(PATIENCE).unwrap();
    assert_eq!(tick, seen);
    assert!(in_time(|| stopped.join().unwrap()) >= tick);
}

/// What panics, in the step of tick 20.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Panics {
    Frame,
    Before,
    After,
    Physics,
    Force,
    Call,
}

struct Panicking(Panics);

impl Hooks for Panicking {
    type Error = &'static str;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: Duration,
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
fn whatever_panics_is_reported_and_ends_nothing_else() {
    use Panics::{After, Before, Call, Force, Frame, Physics};
    for panics in [Frame, Before, After, Physics, Force, Call] {
        for ending in ["stop", "drop", "recover"] {
            let mut simulation = space(500);
            simulation.set_rewind_limits(5, usize::MAX);
            let key = simulation.physics.insert(scenes::flyer(), scenes::ball());
            // It meets this in the step of tick 20: 4.1 m on, at 0.2 m a step.
            let wall = cuboid(0.5, 5.0, 5.0).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
            let place = Vector::X * 4.7;
            simulation
                .physics
                .insert(RigidBodyBuilder::fixed().translation(place), wall);
            if panics == Force {
                let force = ForceGenerator::custom(|_, step| {
                    assert_ne!(step.tick, 20, "it panics");
                    Wrench::default()
                });
                simulation
                    .physics
                    .insert_force_generator(key, force)
                    .unwrap();
            }
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
            assert!(runner.frame().pose(key).is_some(), "what was shown stays");
            match ending {
                "stop" => {
                    let (simulation, _) = in_time(move || runner.stop());
                    let is_made = u64::from(panics == After);
                    assert_eq!(simulation.physics.tick(), tick + is_made, "{panics:?}");
                }
                "drop" => in_time(move || drop(runner)),
                _ => {
                    runner.recover().unwrap();
                    // The same step once more, or none to panic in.
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
fn a_full_queue_hands_the_call_back() {
    let (game, _made) = Game::new();
    let mut settings = RunnerSettings::default();
    settings.commands = 3;
    let runner = Runner::new(space(1), game, settings).unwrap();
    // Nothing more is taken while this one runs.
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
        assert!(sent < 1_000_000, "it is bounded");
    };
    assert_eq!(sent, 3);
    assert!(matches!(refused, SendError::Full(_)));
    assert!(refused.to_string().contains("the queue of calls is full"));
    let refused = runner
        .spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.1)])
        .unwrap_err();
    go_on.send(()).unwrap();
    // What is handed back may be sent again: as soon as there is room, and nothing of it is lost.
    let SendError::Full(mut spawn) = refused else {
        panic!("{refused:?}");
    };
    let start = runner.now();
    while let Err(SendError::Full(again)) = runner.call(spawn) {
        assert!(runner.now() - start < PATIENCE, "never");
        spawn = again;
        std::thread::yield_now();
    }
    // With what still waits.
    let (simulation, _) = in_time(move || runner.stop());
    assert!(simulation.physics.tick() < 60);
}

#[test]
fn a_body_is_moved_and_hit_in_the_same_frame() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    let (game, _made) = Game::new();
    let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    for i in 1..5u8 {
        let x = 10.0 * f32::from(i);
        runner
            .call(move |simulation, _| {
                simulation
                    .physics
                    .teleport(key, translation(x, 0.0, 0.0))
                    .unwrap()
            })
            .unwrap();
        let spawned = runner
            .spawn(
                RigidBodyBuilder::fixed().translation(vector(x, 5.0, 0.0)),
                [ColliderBuilder::ball(1.0)],
            )
            .unwrap();
        let cast = runner.ask(move |simulation| {
            let pipeline = simulation.physics.rapier().query_pipeline();
            let hit = |from: f32| {
                let ray = Ray::new(vector(x, from, 0.0), Vector::Y);
                let (collider, _) = pipeline.cast_ray(&ray, 20.0, true)?;
                simulation.physics.key_of_collider(collider)
            };
            [hit(-9.0), hit(2.0)]
        });
        let (tick, hits) = cast.unwrap().wait(PATIENCE).unwrap();
        assert_eq!(hits, [Some(key), spawned.key()], "in step {tick}");
        let spawned = spawned.key().expect("the question was sent after it");
        runner
            .call(move |simulation, _| drop(simulation.physics.remove(spawned)))
            .unwrap();
    }
    let saved = runner
        .ask(Simulation::clone)
        .unwrap()
        .wait(PATIENCE)
        .unwrap()
        .1;
    runner.call(|simulation, _| simulation.pause()).unwrap();
    let replace = saved.clone();
    runner
        .call(move |simulation, _| *simulation = replace)
        .unwrap();
    let (simulation, _) = runner.stop();
    assert_eq!(
        simulation.physics.bodies().count(),
        saved.physics.bodies().count()
    );
}

#[test]
fn a_panic_reaches_the_other_thread_and_the_last_poses_stay() {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.set_rewind_limits(3, usize::MAX);
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
    assert!(message.contains("as it was asked to"), "{message}");
    assert!(runner.frame().pose(key).is_some());
    runner.recover().unwrap();
    // The same step again, which panics again: the hook is as it was.
    frames(&mut runner, |runner| !runner.failures().is_empty());
    let (simulation, game) = runner.stop();
    assert_eq!((simulation.physics.tick(), game.panics_at), (20, Some(20)));
}

#[test]
fn events_come_once_each_and_with_their_picture() {
    let mut simulation = space(100);
    let sensor = cuboid(0.5, 5.0, 5.0)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    simulation.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::X * 6.5),
        sensor,
    );
    let key = simulation.physics.insert(scenes::flyer(), scenes::ball());
    let (game, made) = Game::new();
    let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let mut events = Vec::new();
    frames(&mut runner, |runner| {
        runner.frame();
        let come = runner.shown_events();
        if !come.is_empty() {
            let x = runner
                .frame()
                .pose(key)
                .map_or(0.0, |pose| pose.translation.x);
            assert!(x >= 5.9 + 0.1, "{x}: the picture is not there yet");
        }
        events.extend(come);
        events.len() == 2
    });
    let ticks: Vec<u64> = events.iter().map(Event::tick).collect();
    assert_eq!(ticks, [6, 8]);
    until(&made, 20);
    assert!(runner.events().is_empty());
    assert_eq!(runner.lost_events(), 0);
}

#[test]
fn scenes_with_everything_run_on_a_thread() {
    let mut game = scenes::everything::Everything::new();
    game.simulation
        .clock_settings_mut()
        .set_rate(Rate::hz(500).unwrap());
    game.simulation.physics.shift_origin(Vector::X).unwrap();
    let mut runner = Runner::new(game.simulation, game.script, RunnerSettings::default()).unwrap();
    let (mut frames_made, mut moved) = (0, 0);
    frames(&mut runner, |runner| {
        let view = runner.frame();
        frames_made += 1;
        moved += view.moved().len();
        for (key, pose) in view.moved() {
            assert!(pose.is_finite() && view.pose(*key) == Some(*pose));
        }
        view.tick() > 100
    });
    assert!(moved > 0);
    let (simulation, _) = runner.stop();
    assert!(simulation.physics.tick() > 100);
}

#[cfg(feature = "serde")]
#[test]
fn a_state_is_saved_on_the_thread_and_read_again() {
    let (simulation, key) = scenes::flyer_in_space();
    let (game, made) = Game::new();
    let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let spawned = runner
        .spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.1)])
        .unwrap();
    until(&made, 3);
    let (tick, bytes) = runner
        .ask(Simulation::save)
        .unwrap()
        .wait(PATIENCE)
        .unwrap();
    let loaded = Simulation::load(&bytes.unwrap()).unwrap();
    assert_eq!(loaded.physics.tick(), tick);
    let spawned = spawned.key().expect("the question was sent after it");
    assert!(
        [key, spawned]
            .iter()
            .all(|key| loaded.physics.body(*key).is_some())
    );
    // It takes the place of the one that runs.
    runner
        .call(move |simulation, _| *simulation = loaded)
        .unwrap();
    let (now, there) = runner
        .ask(move |simulation| simulation.physics.body(spawned).is_some())
        .unwrap()
        .wait(PATIENCE)
        .unwrap();
    assert!(now > tick && there);
}

/// An ECS of the game's own beside the thread: an entity is a number.
#[test]
fn owners_join_an_ecs_with_a_runner() {
    let mut owners = Owners::default();
    let mut simulation = space(100);
    let flyer = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    owners.insert(simulation.physics.insert(flyer(), scenes::ball()), 0);
    let mut runner = Runner::new(simulation, Game::new().0, RunnerSettings::default()).unwrap();
    let at = flyer().translation(Vector::Y * 9.0);
    let spawned = [(); 2].map(|()| runner.spawn(at.clone(), [scenes::ball()]).unwrap());
    // What is asked after it is answered after it.
    let inserted = runner.ask(|_| ()).unwrap().wait(PATIENCE);
    assert!(inserted.is_some());
    let keys = spawned.map(|spawned| spawned.key().unwrap());
    for (key, entity) in keys.into_iter().zip([1, 2]) {
        owners.insert(key, entity);
    }
    let mut poses = BTreeMap::new();
    let mut removed = Vec::new();
    owners.release(&mut runner, keys[0], 1);
    runner
        .call(move |simulation, _| drop(simulation.physics.remove(keys[1])))
        .unwrap();
    frames(&mut runner, |runner| {
        runner.frame();
        removed.extend(owners.removed(runner));
        poses.extend(owners.moved(runner));
        let has_moved = poses.get(&0).is_some_and(|pose| pose.translation.x > 0.1);
        has_moved && !removed.is_empty()
    });
    assert_eq!(removed, [2], "the other was released");
    assert_eq!(owners.entity(keys[0]), None);
    let left = runner.ask(|simulation| simulation.physics.bodies().count());
    assert_eq!(left.unwrap().wait(PATIENCE).unwrap().1, 1);
}

#[test]
fn an_answer_is_got_once_it_is_there_and_time_goes_on() {
    let (game, made) = Game::new();
    let mut runner = Runner::new(space(100), game, RunnerSettings::default()).unwrap();
    let start = runner.now();
    until(&made, 3);
    assert!(runner.now() > start);
    let answer = runner.ask(|simulation| simulation.physics.tick()).unwrap();
    let mut got = None;
    frames(&mut runner, |_| {
        got = answer.get();
        got.is_some()
    });
    let (tick, of_simulation) = got.unwrap();
    assert_eq!(tick, of_simulation);
    assert!(tick > 3);
}

#[test]
fn what_was_sent_before_a_stop_is_done() {
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
        .spawn::<Collider>(RigidBodyBuilder::dynamic(), [])
        .unwrap();
    goes_on.send(()).unwrap();
    let (simulation, _) = runner.stop();
    let there: Vec<_> = simulation.physics.bodies().map(|(key, _)| key).collect();
    assert_eq!(there, [spawned.key().unwrap()]);
}
