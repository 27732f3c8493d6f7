//! The same steps in every form of the loop and at every frame rate, and the picture of the state.

use super::*;

/// The steps after which the game pauses. The last two follow each other.
const STOPS: [(u64, When); 5] = [
    (3, Before),
    (14, After),
    (27, Between),
    (40, Before),
    (41, After),
];

/// Checks the report and the picture of a frame that ended with a pause after the step of this tick.
fn assert_stopped(simulation: &Simulation, key: BodyKey, tick: u64, what: &str) {
    let frame = simulation.frame();
    let physics = &simulation.physics;
    assert!(simulation.clock().settings().is_paused(), "{what}");
    assert_eq!((frame.tick, physics.tick()), (tick + 1, tick + 1), "{what}");
    assert_eq!(
        (frame.alpha, frame.dropped),
        (1.0, Dropped::default()),
        "{what}"
    );
    assert_eq!(frame.time, physics.time(), "{what}");
    let current = *physics.body(key).unwrap().position();
    assert_eq!(simulation.pose(key), Some(current), "{what}");
}

#[test]
fn a_pause_after_a_step_gives_the_same_steps_in_every_loop_at_every_frame_rate() {
    let (simulation, key) = flyer_in_space();
    let mut whole = Game::default();
    let Ok(_) = simulation.clone().advance_with(MS(0), &mut whole);
    let mut alone = simulation.clone();
    for _ in 0..70 {
        let Ok(_) = alone.advance_with(MS(10), &mut whole);
    }
    for frame_time in [1_000, 7_000, 16_667, 33_000, 100_000, 250_000].map(Duration::from_micros) {
        for mut host in Loop::all(&simulation) {
            let what = format!("{} at {frame_time:?}", host.name());
            let mut game = Game::new(&STOPS);
            let (mut running, mut stops, mut last) = (Duration::ZERO, Vec::new(), 0.0);
            while game.steps.len() < 60 {
                let made = game.steps.len();
                let is_paused = host.simulation(&mut game).clock().settings().is_paused();
                assert!(!is_paused, "{what}");
                let time = host.frame(frame_time, &mut game);
                assert!(time >= last, "{what}: {time} after {last}");
                last = time;
                running += frame_time;
                let is_view = matches!(host, Loop::Overlap(_));
                let simulation = host.simulation(&mut game);
                assert_eq!(simulation.clock().time(), running, "{what}");
                if simulation.clock().settings().is_paused() {
                    let tick = simulation.physics.tick() - 1;
                    stops.push(tick);
                    if is_view {
                        assert_eq!(simulation.frame().tick, tick + 1, "{what}");
                    } else {
                        assert_stopped(simulation, key, tick, &what);
                        let x = stepped_x(&simulation.physics, key);
                        assert_eq!(shown_x(simulation, key), x);
                    }
                    // The pause lasts.
                    for _ in 0..3 {
                        let time = host.frame(MS(40), &mut game);
                        assert!(time >= last, "{what}: {time} after {last}");
                        last = time;
                        let simulation = host.simulation(&mut game);
                        assert_eq!(simulation.frame().steps, 0, "{what}");
                        assert_eq!(simulation.frame().dropped, Dropped::default(), "{what}");
                        if !is_view {
                            assert_stopped(simulation, key, tick, &what);
                            assert!(moved_keys(simulation).is_empty(), "{what}");
                        }
                    }
                    let simulation = host.simulation(&mut game);
                    assert_eq!(simulation.clock().time(), running, "{what}");
                    simulation.resume();
                } else {
                    // No step of the time so far is left.
                    let due = running.as_nanos() / MS(10).as_nanos();
                    assert_eq!(game.steps.len() as u128, due, "{what}");
                    assert!(made as u128 <= due);
                }
            }
            assert_eq!(stops, STOPS.map(|(tick, _)| tick), "{what}");
            let run = game.run();
            let len = run.len().min(70);
            assert_eq!(run[..len], whole.run()[..len], "{what}");
            // The steps cover real time without a gap.
            for pair in game.steps.windows(2) {
                assert_eq!(pair[0].0.real_end, pair[1].0.real_start, "{what}");
            }
        }
    }
}

/// Resumes in the third frame of each pause, and counts the time of frames that run.
#[derive(Default)]
struct Resuming {
    game: Game,
    paused: u64,
    running: Duration,
}

impl Hooks for Resuming {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), Infallible> {
        if simulation.clock().settings().is_paused() {
            self.paused += 1;
            if self.paused.is_multiple_of(3) {
                simulation.resume();
            }
        }
        if !simulation.clock().settings().is_paused() {
            self.running += frame_time.duration();
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.game.before_step(physics, step)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.game.after_step(physics, step)
    }
}

/// Nothing but frames is asked of the overlap, so that its frames wait while a step runs.
#[test]
fn a_pause_after_a_step_is_the_same_in_an_overlap_whose_frames_wait() {
    for slack in [1.0, 0.3, 0.0] {
        for frame_time in [1_000, 3_000, 9_000, 25_000].map(Duration::from_micros) {
            let (mut alone, key) = flyer_in_space();
            let mut overlap = Overlap::new(alone.clone()).unwrap();
            overlap.set_slack(slack);
            let [mut game, mut reference] = [(); 2].map(|()| Resuming {
                game: Game::new(&STOPS),
                ..Resuming::default()
            });
            let mut shown = (0.0, 0.0);
            while alone.physics.tick() < 60 {
                let Ok(_) = alone.advance_with(frame_time, &mut reference);
                let Ok(view) = overlap.frame(frame_time, &mut game);
                let now = (
                    view.time().as_secs_f64(),
                    view.pose(key).unwrap().translation.x,
                );
                assert!(now >= shown && now.1 >= shown.1, "{now:?} after {shown:?}");
                shown = now;
            }
            let (simulation, _) = overlap.stop(&mut game);
            assert_eq!(simulation.clock(), alone.clock(), "{frame_time:?}");
            assert_eq!(simulation.clock().time(), game.running);
            assert_eq!(
                (game.paused, game.running),
                (reference.paused, reference.running)
            );
            assert_eq!(game.game.steps, reference.game.steps);
            assert_eq!(game.paused, 3 * STOPS.len() as u64);
        }
    }
}

#[test]
fn a_game_that_resumes_after_it_has_asked_for_a_pause_does_not_pause() {
    let (mut simulation, _) = flyer_in_space();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.run_step();
    simulation.physics.pause_after_step();
    simulation.resume();
    simulation.end_frame();
    assert_eq!(simulation.advance(MS(10), |_, _| ()).steps, 1);
}
