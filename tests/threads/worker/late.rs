//! A thread that is late: no time is lost, and input reaches the steps of its time.

use super::*;
use evenstep::input::{Delivery, InputQueue};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// A game that follows a song sets the speed in each frame.
#[test]
fn a_worker_whose_speed_changes_in_each_frame_loses_no_time() {
    for (frame, hz) in [(16, 60), (33, 60), (7, 60), (50, 60), (16, 240)] {
        let mut driver = Driver::new(Simulation::new(Rate::hz(hz)), Idle);
        let frames = 5_000 / frame;
        for number in 1..=frames {
            driver.set_speed(if number % 2 == 0 { 1.01 } else { 0.99 });
            driver.run(MS(number * frame));
            driver.frame(MS(number * frame));
        }
        let time = driver.simulation().clock().time();
        assert!(time > MS(4_900), "{frame} ms at {hz} Hz: {time:?}");
        assert_eq!(driver.runner.dropped(), Duration::ZERO);
    }
}

#[test]
fn lag_passes_at_a_new_speed() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    driver.set_speed(0.5);
    // The thread is fourteen steps late, and finishes the step under way at the old speed.
    driver.run(MS(245));
    driver.run(MS(345));
    let clock = driver.simulation().clock();
    let later = (clock.real_time() - MS(110)).mul_f64(0.5);
    assert!(clock.time().abs_diff(MS(110) + later) < Duration::from_micros(1));
    assert!(clock.real_time() > MS(320));
    driver.frame(MS(345));
    assert_eq!(driver.runner.dropped(), Duration::ZERO);
}

#[test]
fn a_hook_that_restarts_the_level_on_a_late_thread_loses_no_time() {
    struct Game(Option<Physics>);
    impl Hooks for Game {
        type Error = Infallible;

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
            if step.tick == 5
                && let Some(level) = self.0.take()
            {
                *physics = level;
            }
            Ok(())
        }
    }
    let results = [10, 200].map(|pause| {
        let simulation = Simulation::new(Rate::hz(60));
        let level = simulation.physics.clone();
        let mut driver = Driver::new(simulation, Game(Some(level)));
        for ms in (pause..=200).step_by(pause) {
            driver.run(MS(ms as u64));
        }
        driver.frame(MS(200));
        (driver.tick(), driver.runner.dropped())
    });
    assert_eq!(results, [(6, Duration::ZERO); 2]);
}

/// A hook that takes stamped input.
struct Keys(Arc<Mutex<InputQueue<u64>>>, Vec<(u64, u64)>);

impl Hooks for Keys {
    type Error = Infallible;

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Infallible> {
        let mut queue = self.0.lock().unwrap();
        let samples = queue.drain(step).map(|it| (step.tick, it.input));
        self.1.extend(samples);
        Ok(())
    }
}

#[test]
fn stamped_input_reaches_the_steps_of_its_time_although_they_run_late() {
    let run = |times: &[u64]| {
        let queue = Arc::new(Mutex::new(InputQueue::new(Delivery::ByTime)));
        let keys = Keys(Arc::clone(&queue), Vec::new());
        let mut driver = Driver::new(Simulation::new(Rate::hz(100)), keys);
        let mut last = 0;
        for now in times {
            // The game has pushed each sample with its time.
            for at in (5..75).step_by(10).filter(|at| last < *at && at <= now) {
                queue.lock().unwrap().push(MS(at), at / 10);
            }
            driver.run(MS(*now));
            last = *now;
        }
        let counts = queue.lock().unwrap().counts();
        let (_, keys) = driver.stop(MS(last));
        (keys.1, counts.corrected)
    };
    let each: Vec<_> = (0..7).map(|tick| (tick, tick)).collect();
    assert_eq!(run(&[1, 11, 21, 31, 41, 51, 61, 71, 81]), (each.clone(), 0));
    assert_eq!(run(&[1, 11, 71, 81]), (each, 0));
}

#[test]
fn a_late_worker_that_is_stopped_counts_the_time_that_no_step_covers() {
    let settings = RunnerSettings::default();
    let simulation = Simulation::new(Rate::hz(100));
    let (runner, worker) = Runner::without_thread(simulation, Idle, settings);
    let (simulation, _) = worker.stop(runner, MS(200));
    let clock = simulation.clock();
    assert_eq!(clock.real_time(), MS(200));
    assert_eq!(clock.time() + clock.dropped().frame_time, MS(200));
}
