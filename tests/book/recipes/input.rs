//! Keys that are stamped by the clock of the frames, and keys in a pause menu.

use super::SECOND;
use evenstep::input::Button;
use evenstep::{Physics, Simulation, Step};
use recipes::input::Game;
use scenes::MS;
use std::time::Duration;

fn new_game() -> Game {
    Game::new(Simulation::default(), Duration::ZERO)
}

#[test]
fn keys_stamped_in_their_handlers_reach_the_same_steps_at_every_frame_rate() {
    for frames_per_second in [20, 60, 144, 1_000] {
        let mut game = new_game();
        let mut jumps = Vec::new();
        let mut keys = [(20, true), (30, false), (130, true), (131, false)]
            .into_iter()
            .peekable();
        for frame in 1..=frames_per_second / 5 {
            let now = SECOND * frame / frames_per_second;
            while let Some((time, is_down)) = keys.next_if(|(time, _)| MS(*time) < now) {
                game.on_key(MS(time), is_down);
            }
            game.on_redraw(now, |_, step, jump| {
                if jump.presses() > 0 {
                    jumps.push(step.tick);
                }
            });
        }
        assert_eq!(jumps, [1, 7], "at {frames_per_second}");
        assert_eq!(game.keys.counts().corrected, 0);
    }
}

#[test]
fn a_key_released_in_a_menu_is_up_after_it_and_the_game_sees_no_press() {
    let mut game = new_game();
    let mut jumps = Vec::new();
    let mut hook = |_: &mut Physics, step: Step, jump: &Button| {
        if jump.presses() > 0 {
            jumps.push(step.tick);
        }
    };
    game.on_key(MS(5), true);
    game.on_redraw(MS(20), &mut hook);
    assert!(game.jump.is_down());

    game.simulation.pause();
    // In the menu, the player releases the key and presses it once more.
    for (time, is_down) in [(600, false), (700, true), (701, false)] {
        game.on_key(MS(time), is_down);
    }
    game.on_redraw(MS(720), &mut hook);
    game.on_paused_frame();

    game.simulation.resume();
    game.on_redraw(MS(760), &mut hook);
    assert_eq!(game.simulation.frame().steps, 2);
    assert_eq!((game.jump.is_down(), jumps), (false, vec![0]));
}
