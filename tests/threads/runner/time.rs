//! Deadlines, pauses, speeds and questions that take long.

use super::*;
use std::time::Duration;

#[test]
fn a_runner_matches_one_thread_bit_for_bit() {
    let mut simulation = with_floor(Rate::hz(200));
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
fn a_runner_stops_and_drops_in_every_state() {
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
    // At 1 Hz, the end of the runner does not wait for the next step.
    let (game, _made) = Game::new();
    let runner = Runner::new(space(1), game, RunnerSettings::default()).unwrap();
    assert_eq!(runner.stop().0.physics.tick(), 0);
    // The thread has much work to do.
    let (runner, _made) = start();
    for _ in 0..200 {
        let _ = runner.spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.1)]);
    }
    drop(runner);
}

#[test]
fn a_runner_at_1_hz_pauses_single_steps_and_speeds_up() {
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
    // Each call in a pause is carried out at once.
    for step in tick..tick + 3 {
        runner.call(|simulation, _| simulation.step_once()).unwrap();
        assert_eq!(made.recv_timeout(PATIENCE), Ok(step));
    }
    assert!(made.try_recv().is_err());
    // Changes during a pause are displayed during it.
    frames(&mut runner, |runner| runner.frame().tick() == tick + 3);
    // Ten minutes of steps run without a wait.
    runner
        .call(|simulation, _| simulation.clock_settings_mut().set_speed(1_000.0).unwrap())
        .unwrap();
    runner.call(|simulation, _| simulation.resume()).unwrap();
    until(&made, 100);
    frames(&mut runner, |runner| {
        let view = runner.frame();
        let x = f64::from(view.pose(key).unwrap().translation.x);
        assert!(
            (x - view.time().as_secs_f64()).abs() < 1e-3,
            "{x} at {}",
            view.time().as_secs_f64()
        );
        view.tick() > 100
    });
    assert!(runner.stop().0.physics.tick() > 100);
}

#[test]
fn stop_and_drop_do_not_wait_for_a_step_a_day_away() {
    for is_stopped in [true, false] {
        let tick = in_time(move || {
            let (game, _made) = Game::new();
            let mut simulation = space(1);
            simulation
                .clock_settings_mut()
                .set_rate(Rate::fraction(1, 86_400));
            let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
            runner.frame();
            let answer = runner.ask(|simulation| simulation.physics.tick()).unwrap();
            let tick = is_stopped.then(|| runner.stop().0.physics.tick());
            // The answer will never come, which is known once the thread has ended.
            assert!(!is_stopped || answer.wait(PATIENCE).is_none());
            tick
        });
        assert_eq!(tick, is_stopped.then_some(0));
    }
}

#[test]
fn stop_waits_for_a_question_that_is_being_answered() {
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
