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
