//! The bits are the same on one thread, in an overlap and on another thread.

use super::*;

fn alone() -> Game {
    let (mut simulation, mut game, _made) = game(500, 0);
    while game.seen.len() < STEPS {
        let Ok(_) = simulation.advance_with(MS(3), &mut game);
    }
    game
}

#[track_caller]
fn assert_same(game: &Game, alone: &Game) {
    assert!(alone.filters.calls.load(Ordering::Relaxed) > 10);
    assert!(game.seen.len() >= STEPS);
    for (here, there) in game.seen.iter().zip(&alone.seen) {
        assert_eq!((here.0, here.1), (there.0, there.1), "bodies");
        assert_eq!(here.2, there.2, "particles after step {}", there.0);
        assert_eq!(here.3, there.3, "events of step {}", there.0);
    }
}

#[test]
fn overlap_and_runner_match_one_thread_bit_for_bit() {
    let alone = alone();
    for stalls in [0, 300] {
        let (simulation, mut beside, _made) = game(500, stalls);
        let mut overlap = Overlap::new(simulation).unwrap();
        for number in 0.. {
            stall(number, stalls);
            let frame_time = Duration::from_micros(number * 7_919 % 5_000);
            let Ok(_) = overlap.frame(frame_time, &mut beside);
            if beside.seen.len() >= STEPS {
                break;
            }
        }
        assert_same(&beside, &alone);
        drop(overlap);

        let (simulation, game, made) = game(500, stalls);
        let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
        let start = runner.now();
        let (mut number, mut last) = (0, 0.0);
        while made.try_iter().all(|tick| tick + 1 < STEPS as u64) {
            assert!(runner.now() - start < PATIENCE, "never");
            number += 1;
            stall(number, stalls);
            let view = runner.frame();
            assert!(view.time().as_secs_f64() >= last);
            last = view.time().as_secs_f64();
        }
        let (_, game) = runner.stop();
        assert_same(&game, &alone);
    }
}
