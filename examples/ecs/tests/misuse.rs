//! Tests two kinds of misuse of the loop: systems that panic, and systems that replace the simulation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use evenstep_ecs::game::{Game, Mishap, SCRIPT_LENGTH};
use evenstep_ecs::host::{ALL, Host, frames};

/// The length of a frame of five steps.
const FRAME: Duration = Duration::from_nanos(83_333_334);

/// The tick of the third step of a frame, after the end of the input.
const TICK: u64 = 452;

#[test]
fn the_next_frame_continues_after_a_panic_in_a_system() {
    assert!(SCRIPT_LENGTH < FRAME * 90);
    for ecs in ALL {
        let mut host = (ecs.start)(Game::new(Some(Mishap::Panic(TICK))));
        for _ in 0..90 {
            host.frame(FRAME);
        }
        let panicked = catch_unwind(AssertUnwindSafe(|| host.frame(FRAME)));
        assert!(panicked.is_err(), "{}", ecs.name);
        host.recover();
        host.frame(FRAME);
        let outcome = host.outcome();
        // Two steps ran before the panic. The three that were still due are dropped.
        let frame = outcome.frame;
        assert_eq!((frame.number, frame.steps, frame.tick), (91, 7, 457));
        assert_eq!(frame.dropped.aborted, 3, "{}", ecs.name);
        assert_eq!(outcome.render_poses, outcome.shown, "{}", ecs.name);

        let mut other = (ecs.start)(Game::new(None));
        steps(&mut *other, 457);
        let other = other.outcome();
        assert!(
            (outcome.hash, &outcome.entities) == (other.hash, &other.entities),
            "{}: the same as without a panic",
            ecs.name
        );
    }
}

/// Runs `count` steps, each in a separate frame.
fn steps(host: &mut dyn Host, count: u64) {
    for frame in 0..count {
        let time = if frame == 0 { FRAME / 4 } else { FRAME / 5 };
        host.frame(time);
    }
    assert_eq!(host.outcome().frame.tick, count);
}

#[test]
fn a_level_restarted_in_mid_frame_equals_a_new_game() {
    let after = frames(144, Duration::from_secs(5));
    for ecs in ALL {
        let mut host = (ecs.start)(Game::new(Some(Mishap::Restart(TICK))));
        for _ in 0..90 {
            host.frame(FRAME);
        }
        assert_eq!(host.outcome().frame.tick, 450, "{}", ecs.name);
        host.frame(FRAME);
        let restarted = host.outcome();
        assert_eq!(restarted.frame.tick, 0, "{}", ecs.name);
        assert_eq!(restarted, ecs.play(&[]), "{}", ecs.name);
        for time in &after {
            host.frame(*time);
        }
        assert_eq!(host.outcome(), ecs.play(&after), "{}", ecs.name);
    }
}
