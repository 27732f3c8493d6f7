//! Panics in hooks, in forces and in Rapier's own hooks.

use super::*;
use evenstep::rewind::Kept;

fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<&str>() {
        Ok(message) => message.to_string(),
        Err(payload) => *payload.downcast::<String>().unwrap(),
    }
}

fn panic_of(overlap: &mut Overlap, game: &mut Game) -> String {
    let frame = AssertUnwindSafe(|| overlap.frame(MS(10), game).map(drop));
    message(catch_unwind(frame).unwrap_err())
}

/// Counts its calls, and panics in one of them.
struct Filter {
    calls: AtomicU64,
    panics_at: u64,
}

impl PhysicsHooks for Filter {
    fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        assert_ne!(calls, self.panics_at, "the filter panics");
        None
    }
}

/// Creates a ball above a floor. The ball asks Rapier's hooks about its contacts.
fn above_a_floor() -> (Simulation, BodyKey) {
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let ball = ColliderBuilder::ball(0.5).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let key = simulation.physics.insert(body, ball);
    (simulation, key)
}

#[test]
fn an_overlap_calls_rapiers_hooks_only_while_they_are_set() {
    let (simulation, key) = above_a_floor();
    let physics = Arc::new(Filter {
        calls: AtomicU64::new(0),
        panics_at: u64::MAX,
    });
    let mut game = Game::idle();
    game.physics = Some(physics.clone());
    let mut overlap = Overlap::new(simulation).unwrap();
    frames(&mut overlap, &mut game, 100);
    let y = overlap.view().pose(key).unwrap().translation.y;
    assert!(y < -3.0, "it fell through the floor: {y}");
    assert!(physics.calls.load(Ordering::Relaxed) > 5);
    // Each step asks again, so contacts return without the hooks.
    game.physics = None;
    overlap
        .simulation(&mut game)
        .unwrap()
        .physics
        .teleport(key, translation(0.0, 0.5, 0.0))
        .unwrap();
    frames(&mut overlap, &mut game, 100);
    let y = overlap.view().pose(key).unwrap().translation.y;
    assert!((0.3..0.6).contains(&y), "{y}");
}

#[test]
fn a_panic_in_rapiers_hooks_propagates_and_a_rewind_recovers() {
    let tick = in_time(|| {
        let (mut simulation, key) = above_a_floor();
        simulation.keep(Kept {
            ticks: 3,
            ..simulation.kept()
        });
        let mut game = Game::idle();
        game.physics = Some(Arc::new(Filter {
            calls: AtomicU64::new(0),
            panics_at: 4,
        }));
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut panics = Vec::new();
        while panics.len() < 3 {
            let frame = AssertUnwindSafe(|| overlap.frame(MS(10), &mut game).map(drop));
            if let Err(payload) = catch_unwind(frame) {
                panics.push(message(payload));
            }
        }
        assert!(panics[0].contains("the filter panics"), "{panics:?}");
        assert!(panics[1].contains("Rapier panicked in the step") && panics[2] == panics[1]);
        assert!(overlap.view().pose(key).is_some());
        let tick = overlap.simulation(&mut game).unwrap().physics.tick();
        overlap.simulation(&mut game).unwrap().rewind(tick).unwrap();
        frames(&mut overlap, &mut game, 10);
        overlap.stop(&mut game).0.physics.tick() - tick
    });
    assert!((10..=12).contains(&tick), "{tick}");
}

/// Fails and panics in turn, before every third frame.
#[derive(Default)]
struct BadFrames(u32);

impl Hooks for BadFrames {
    type Error = ();

    fn before_frame(&mut self, _: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        self.0 += 1;
        assert!(!self.0.is_multiple_of(6), "before the frame");
        if self.0.is_multiple_of(3) {
            return Err(());
        }
        Ok(())
    }
}

#[test]
fn a_failing_before_frame_hook_leaves_clock_settings_unchanged() {
    let (mut simulation, _) = flyer_in_space();
    simulation.clock_settings_mut().set_max_frame_time(MS(50));
    simulation
        .clock_settings_mut()
        .set_stepping(evenstep::Stepping::Variable);
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut hooks = BadFrames::default();
    let (mut failed, mut panicked) = (0, 0);
    for _ in 0..60 {
        let frame = AssertUnwindSafe(|| overlap.frame(MS(10), &mut hooks).is_err());
        match catch_unwind(frame) {
            Ok(is_err) => failed += u64::from(is_err),
            Err(_) => panicked += 1,
        }
        let clock = overlap.simulation(&mut Game::idle()).unwrap().clock();
        assert_eq!(clock.settings().max_frame_time(), MS(50));
        assert_eq!(clock.settings().stepping(), evenstep::Stepping::Variable);
    }
    // An error drops the step that was due, and a panic drops the frame, as on one thread.
    assert_eq!((failed, panicked), (10, 10));
    let (mut simulation, _) = overlap.stop(&mut Game::idle());
    assert_eq!(simulation.physics.tick(), 60 - 20);
    // The last frame has panicked.
    let frame = simulation.advance(MS(1_000), |_, _| ());
    assert_eq!(frame.dropped.frame_time, MS(950));
}

#[test]
fn the_simulation_continues_after_a_panic_in_a_hook() {
    for panicking in ["before", "after"] {
        let ticks = in_time(move || {
            let (simulation, key) = flyer_in_space();
            let mut game = Game::new(move |_, step, when| {
                let name = if when == Before { "before" } else { "after" };
                assert!(panicking != name || step.tick != 4, "the hook panics");
                Ok(())
            });
            let mut overlap = Overlap::new(simulation).unwrap();
            frames(
                &mut overlap,
                &mut game,
                if panicking == "before" { 4 } else { 5 },
            );
            let message = panic_of(&mut overlap, &mut game);
            assert!(message.contains(" panics"), "{message}");
            // The displayed pose stays. The step gets another number, or does not run twice.
            assert!(x(&overlap, key) <= 4.0);
            if panicking != "after" {
                overlap.simulation(&mut game).unwrap().set_tick(100);
            }
            frames(&mut overlap, &mut game, 10);
            assert!(x(&overlap, key) > 8.0);
            game.calls
        });
        let made = ticks.iter().filter(|(_, when)| *when == After).count();
        assert!((13..=15).contains(&made), "{panicking}: {made}");
    }
}

#[test]
fn an_overlap_stops_and_drops_in_every_state() {
    for state in 0..8 {
        in_time(move || {
            let (simulation, _) = above_a_floor();
            let mut overlap = Overlap::new(simulation).unwrap();
            let mut game = Game::idle();
            match state {
                0 => (),
                1 => frames(&mut overlap, &mut game, 1),
                2 => frames(&mut overlap, &mut game, 20),
                3 => {
                    overlap.simulation(&mut game).unwrap().pause();
                    frames(&mut overlap, &mut game, 2);
                }
                4 => {
                    // The step panics while no caller waits for it.
                    game.physics = Some(Arc::new(Filter {
                        calls: AtomicU64::new(0),
                        panics_at: 0,
                    }));
                    overlap.frame(Duration::ZERO, &mut game).unwrap();
                    return drop(overlap);
                }
                5 => {
                    game = Game::once(Before, 0, |_| panic!("at once"));
                    panic_of(&mut overlap, &mut game);
                }
                6 => {
                    let (other, _) = flyer_in_space();
                    *overlap.simulation(&mut game).unwrap() = other;
                }
                _ => {
                    game = Game::new(|_, _, _| Err("at once"));
                    overlap.frame(MS(10), &mut game).unwrap_err();
                }
            }
            let simulation = overlap.stop(&mut game).0;
            assert!(simulation.physics.tick() <= 21);
        });
        in_time(move || {
            let (simulation, _) = flyer_in_space();
            let mut overlap = Overlap::new(simulation).unwrap();
            frames(&mut overlap, &mut Game::idle(), state);
        });
    }
}

#[test]
fn an_overlap_can_run_another_overlap_in_its_hooks() {
    let (simulation, key) = flyer_in_space();
    let (other, other_key) = flyer_in_space();
    let inner = Arc::new(Mutex::new(Overlap::new(other).unwrap()));
    let shared = Arc::clone(&inner);
    let mut game = Game::new(move |_, _, when| {
        if when == Before {
            let mut inner = shared.lock().unwrap();
            inner.frame(MS(10), &mut Game::idle()).unwrap();
        }
        Ok(())
    });
    let mut overlap = Overlap::new(simulation).unwrap();
    for _ in 0..20 {
        overlap.frame(MS(10), &mut game).unwrap();
    }
    let inner = inner.lock().unwrap();
    assert!(x(&inner, other_key) >= 17.0);
    assert!(x(&overlap, key) >= 17.0);
}

/// The step runs on the other thread after the frame has been displayed.
#[test]
fn a_step_in_which_rapier_panicked_is_not_counted() {
    for (frame_time, broken) in [(10, 0), (10, 3), (35, 3), (35, 5)] {
        let (mut alone, _) = flyer_in_space();
        let mut overlap = Overlap::new(alone.clone()).unwrap();
        let [mut game, mut reference] =
            [(); 2].map(|()| Game::once(Before, broken, scenes::break_rapier));
        let frame = MS(frame_time);
        while catch_unwind(AssertUnwindSafe(|| {
            alone.advance_with(frame, &mut reference)
        }))
        .is_ok()
        {
            // Waits for the step that the frame has begun.
            overlap.frame(frame, &mut game).unwrap();
            overlap.simulation(&mut game).unwrap();
        }
        let frame = AssertUnwindSafe(|| {
            overlap.frame(frame, &mut game).unwrap();
            overlap.simulation(&mut game).is_ok()
        });
        catch_unwind(frame).unwrap_err();
        let simulation = overlap.simulation(&mut game).unwrap();
        assert_eq!(simulation.physics.tick(), broken);
        assert_eq!(report(simulation).tick, broken);
        assert_eq!(report(simulation), report(&alone));
        assert_eq!(simulation.clock(), alone.clock());
    }
}

#[test]
fn a_pause_lasts_after_a_panic_in_a_hook() {
    for panics_in in [None, Some(Before), Some(After)] {
        let (simulation, _) = flyer_in_space();
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut idle = Game::idle();
        frames(&mut overlap, &mut idle, 3);
        let simulation = overlap.simulation(&mut idle).unwrap();
        simulation.pause();
        simulation.step_once();
        let frame = AssertUnwindSafe(|| {
            if let Some(panics_in) = panics_in {
                let mut game = Game::once(panics_in, 3, |_| panic!("planned"));
                overlap.frame(MS(10), &mut game).unwrap();
                let _ = overlap.simulation(&mut game);
            } else {
                let mut game = Framed(|_: &mut Simulation| panic!("planned"));
                overlap.frame(MS(10), &mut game).unwrap();
            }
        });
        catch_unwind(frame).unwrap_err();
        frames(&mut overlap, &mut idle, 5);
        let simulation = overlap.simulation(&mut idle).unwrap();
        assert!(simulation.clock().settings().is_paused(), "{panics_in:?}");
        // The panic comes before the single step is due, or drops it, or comes after it.
        let tick = if panics_in == Some(Before) { 3 } else { 4 };
        assert_eq!(simulation.physics.tick(), tick, "{panics_in:?}");
    }
}

#[test]
fn stopping_after_an_earlier_panic_of_rapier_panics_only_if_frames_have_not_run_yet() {
    for pending in 0..3 {
        let (mut simulation, _) = flyer_in_space();
        let kept = simulation.kept();
        simulation.keep(Kept { ticks: 3, ..kept });
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut game = Game::once(Before, 0, scenes::break_rapier);
        overlap.frame(MS(10), &mut game).unwrap();
        for _ in 0..pending {
            // No step is due in these frames, so they wait for the one under way.
            overlap.frame(MS(1), &mut game).unwrap();
        }
        let call = AssertUnwindSafe(|| overlap.simulation(&mut game).is_ok());
        catch_unwind(call).unwrap_err();
        let stopped = catch_unwind(AssertUnwindSafe(|| overlap.stop(&mut game)));
        assert_eq!(stopped.is_err(), pending > 0, "{pending}");
        if let Ok((mut simulation, result)) = stopped {
            assert_eq!(result, Ok(()));
            simulation.rewind(0).unwrap();
            assert_eq!(simulation.advance(MS(10), |_, _| ()).steps, 1);
        }
    }
}
