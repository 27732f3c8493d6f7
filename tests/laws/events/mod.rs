//! Each event is displayed once, in the first picture whose tick is greater than its step, whatever the game does to
//! time. A model with the plain rules says which events these are. The same games run with a `Runner` in
//! `src/threads/worker/tests/events.rs`.

// The actions of a game, and its hooks.
mod game;
// The rules.
mod model;

use crate::scenes::testing;
use evenstep::Hooks;
use evenstep::threads::Overlap;
use game::{Action, FrameScript, ids, script, start};
use proptest::prelude::*;
use std::time::Duration;

fn play(script: &[FrameScript], is_pulled: bool) {
    let (mut simulation, mut game) = start();
    for frame in script {
        for action in &frame.actions {
            game.act(&mut simulation, action, false);
        }
        game.begin(frame);
        let time = Duration::from_millis(frame.millis);
        if is_pulled {
            simulation.begin_frame(time);
            while let Some(step) = simulation.next_step() {
                if game.before_step(&mut simulation.physics, step).is_err() {
                    break;
                }
                assert!(simulation.run_step());
                if game.after_step(&mut simulation.physics, step).is_err() {
                    break;
                }
            }
            simulation.end_frame();
        } else {
            // A failing hook ends the frame.
            let _ = simulation.advance_with(time, &mut game);
        }
        game.check(&simulation);
    }
}

fn play_overlap(script: &[FrameScript]) {
    let (simulation, mut game) = start();
    let mut overlap = Overlap::new(simulation).expect("a thread");
    for frame in script {
        for action in &frame.actions {
            game.left = u64::MAX;
            let simulation = overlap.simulation(&mut game).expect("no hook fails");
            game.act(simulation, action, true);
            if let Action::Restart(is_displayed) = action {
                let (mut simulation, result) = overlap.stop(&mut game);
                result.expect("no hook fails");
                if *is_displayed {
                    game.left = u64::MAX;
                    let result = simulation.advance_with(Duration::from_millis(1), &mut game);
                    result.expect("no hook fails");
                    game.check(&simulation);
                }
                overlap = Overlap::new(simulation).expect("a thread");
            }
        }
        game.begin(frame);
        let _ = overlap.frame(Duration::from_millis(frame.millis), &mut game);
        let view = overlap.view();
        game.model.display(view.tick(), &ids(&view.events()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::scenes::cases::scaled(256)))]

    #[test]
    fn each_event_is_displayed_once_in_the_closure_form(script in script()) {
        play(&script, false);
    }

    #[test]
    fn each_event_is_displayed_once_in_the_pull_form(script in script()) {
        play(&script, true);
    }

    #[test]
    fn each_event_is_displayed_once_in_an_overlap(script in script()) {
        play_overlap(&script);
    }
}
