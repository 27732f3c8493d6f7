//! The random games of `tests/laws/events`, with a runner.

// The actions of a game, and its hooks.
#[path = "../../../../tests/laws/events/game.rs"]
mod game;
// The rules.
#[path = "../../../../tests/laws/events/model.rs"]
mod model;

use super::*;
use crate::dim::testing;
use game::{Action, FrameScript, Game, ids, script, start};

fn play(script: &[FrameScript]) {
    let (simulation, mut game) = start();
    // The view hears of void events later.
    game.model.void = Some(Vec::new());
    let mut both = Both::new(simulation, game);
    let mut now = Duration::ZERO;
    for frame in script {
        for action in frame.actions.clone() {
            if let Action::Restart(is_displayed) = action {
                both.physics.hooks.left = u64::MAX;
                let (mut simulation, mut game) = both.stop(now);
                if is_displayed && !simulation.is_redoing() {
                    let result = simulation.advance_with(MS(1), &mut game);
                    result.expect("no hook fails");
                    game.check(&simulation);
                }
                now = simulation.clock().real_time();
                both = Both::new(simulation, game);
            } else {
                both.call(move |simulation, game: &mut Game| game.act(simulation, &action, true));
                both.in_time(now);
            }
        }
        both.physics.hooks.begin(frame);
        now += MS(frame.millis);
        both.in_time(now);
        both.frame(now);
        let (tick, events) = (both.view().tick(), ids(&both.view().events()));
        both.physics.hooks.model.display(tick, &events);
    }
}

proptest! {
    #![proptest_config(crate::testing::random(256))]

    #[test]
    fn each_event_is_displayed_once_by_a_runner(script in script()) {
        play(&script);
    }
}
