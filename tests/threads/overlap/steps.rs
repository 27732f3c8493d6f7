//! Errors, input and hooks of single steps.

use super::*;

#[test]
fn errors_in_every_step_do_not_accumulate_steps() {
    for when in [Before, After] {
        let (simulation, key) = flyer_in_space();
        let fails = Arc::new(AtomicU64::new(1));
        let still = Arc::clone(&fails);
        let mut game = Game::new(move |_, _, now| {
            let fails = still.load(Ordering::Relaxed) > 0 && now == when;
            if fails { Err("as always") } else { Ok(()) }
        });
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut shown = 0.0;
        for _ in 0..60 {
            let result = overlap.frame(MS(33), &mut game);
            assert!(when == After || result.is_err());
            assert!(x(&overlap, key) >= shown);
            shown = x(&overlap, key);
        }
        // Completed steps are displayed, even by a frame that fails.
        assert_eq!(when == After, shown > 20.0, "{shown}");
        fails.store(0, Ordering::Relaxed);
        let before = game.count(Before);
        frames(&mut overlap, &mut game, 5);
        let made = game.count(Before) - before;
        assert!((5..=6).contains(&made), "{made} steps in 50 ms");
        // As on one thread, the errors cost the steps that were still due.
        assert!(
            overlap
                .simulation(&mut game)
                .unwrap()
                .clock()
                .dropped()
                .aborted
                > 60
        );
    }
}

#[test]
fn input_samples_are_delivered_in_the_step_that_covers_them() {
    let (simulation, _) = flyer_in_space();
    let mut overlap = Overlap::new(simulation).unwrap();
    let queue = Arc::new(Mutex::new(InputQueue::new(Delivery::ByTime)));
    let got = Arc::new(Mutex::new(Vec::new()));
    let (for_game, for_test) = ((queue.clone(), got.clone()), (queue, got));
    let mut game = Game::new(move |_, step, when| {
        if when == Before {
            let mut queue = for_game.0.lock().unwrap();
            for sample in queue.drain(step) {
                let off: Duration = sample.input;
                assert!(step.real_start <= off && off < step.real_end);
                for_game
                    .1
                    .lock()
                    .unwrap()
                    .push((step.tick, sample.fraction));
            }
        }
        Ok(())
    });
    for number in 0..200 {
        // When the frame begins, a press has arrived since the last one.
        let pressed = overlap.now() + MS(1);
        for_test.0.lock().unwrap().push(pressed, pressed);
        let frame_time = MS([7, 16, 3, 41][number % 4]);
        overlap.frame(frame_time, &mut game).unwrap();
    }
    let queue = for_test.0.lock().unwrap();
    let got = for_test.1.lock().unwrap();
    assert_eq!(queue.counts(), evenstep::input::InputCounts::default());
    assert!(got.len() + 5 > 200 && queue.len() + got.len() == 200);
    // Inputs keep their time within the step.
    assert!(
        got.iter()
            .any(|(_, fraction)| (0.3..0.9).contains(fraction))
    );
}

#[test]
fn frames_list_bodies_inserted_and_removed_in_hooks() {
    let (simulation, first) = flyer_in_space();
    let mut keys = vec![first];
    let mut game = Game::new(move |physics, step, when| {
        if (step.tick % 2 == 0) == (when == Before) {
            keys.push(physics.insert(scenes::flyer(), scenes::ball()));
        }
        if step.tick % 3 == 2 && !keys.is_empty() {
            // The body may already have been removed between two frames.
            let _ = physics.remove(keys.remove(0));
        }
        Ok(())
    });
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut map = std::collections::BTreeMap::new();
    for number in 0..300u64 {
        let view = overlap.frame(MS(number % 23), &mut game).unwrap();
        for key in view.removed() {
            assert!(map.remove(key).is_some(), "{key:?} was never displayed");
        }
        map.extend(view.moved().iter().copied());
        assert!(map.iter().all(|(key, pose)| view.pose(*key) == Some(*pose)));
        if number % 40 == 17 {
            // Between two frames, while a step is running.
            let simulation = overlap.simulation(&mut game).unwrap();
            let key = simulation.physics.bodies().next().map(|(key, _)| key);
            if let Some(key) = key.filter(|_| simulation.physics.bodies().count() > 10) {
                simulation.physics.remove(key).unwrap();
            }
        }
    }
    let simulation = overlap.stop(&mut game).0;
    assert!(simulation.physics.bodies().count().abs_diff(map.len()) <= 3);
}

#[test]
fn a_hooks_error_is_returned_by_the_call_that_waits_for_its_step() {
    for stops in [false, true] {
        let (simulation, _) = flyer_in_space();
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut fails = Game::new(|_, _, when| if when == After { Err("no") } else { Ok(()) });
        frames(&mut overlap, &mut fails, 1);
        overlap.frame(MS(2), &mut fails).unwrap();
        let tick = if stops {
            let (simulation, result) = overlap.stop(&mut fails);
            assert_eq!(result, Err("no"));
            simulation.physics.tick()
        } else {
            assert_eq!(overlap.simulation(&mut fails).err(), Some("no"));
            let now = overlap.now();
            let simulation = overlap.simulation(&mut fails).unwrap();
            // The frame that waited has run.
            assert_eq!((now, simulation.frame().number), (MS(12), 2));
            assert_eq!(simulation.clock().real_time(), MS(12));
            overlap.frame(MS(1), &mut fails).unwrap();
            let simulation = overlap.simulation(&mut fails).unwrap();
            assert_eq!(simulation.frame().number, 3);
            assert_eq!(simulation.clock().real_time(), MS(13));
            simulation.physics.tick()
        };
        // The step that failed has run, and its hooks are called once.
        assert_eq!(
            (tick, &fails.calls[..]),
            (1, &[(0, Before), (0, After)][..])
        );
    }
}

/// The frames that have waited for a step whose hook fails run in the next call.
#[test]
fn stamped_input_reaches_the_steps_of_its_time_although_a_hook_has_failed() {
    struct Game {
        queue: InputQueue<u64>,
        delivered: Vec<(u64, u64)>,
        has_failed: bool,
    }
    impl Hooks for Game {
        type Error = ();

        fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), ()> {
            let samples = self.queue.drain(step).map(|it| (step.tick, it.input));
            self.delivered.extend(samples);
            Ok(())
        }

        fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), ()> {
            let fails = step.tick == 4 && !std::mem::replace(&mut self.has_failed, step.tick >= 4);
            if fails { Err(()) } else { Ok(()) }
        }
    }
    for shift in 0..12 {
        let frames = [11, 11, 11, 3, 3, 3 + shift, 4, 14, 45, 45, 45, 11, 11];
        let [alone, overlapped] = [false, true].map(|is_overlapped| {
            let mut game = Game {
                queue: InputQueue::new(Delivery::ByTime),
                delivered: Vec::new(),
                has_failed: false,
            };
            let mut alone = Simulation::new(Rate::hz(100));
            let mut overlap = Overlap::new(Simulation::new(Rate::hz(100))).unwrap();
            let mut now = 0;
            for frame in frames {
                for at in (now..now + frame).filter(|at| at % 3 == 0) {
                    game.queue.push(MS(at), at);
                }
                now += frame;
                // One of these calls returns the error.
                if is_overlapped {
                    let _ = overlap.frame(MS(frame), &mut game);
                } else {
                    let _ = alone.advance_with(MS(frame), &mut game);
                }
            }
            let _ = overlap.stop(&mut game);
            assert!(game.has_failed);
            (game.delivered, game.queue.counts())
        });
        assert_eq!(overlapped, alone, "{shift}");
    }
}
