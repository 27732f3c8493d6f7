//! Keys that are stamped by the clock of the frames, and keys in a pause menu.

use super::*;
use evenstep::input::{Button, Delivery, InputQueue};
use evenstep::time::FrameTimer;
use scenes::MS;

/// A game in an event loop. `now` is the time since its start, by one clock for frames and keys.
struct Game {
    timer: FrameTimer,
    keys: InputQueue<bool>,
    jump: Button,
    simulation: Simulation,
    /// The ticks in which jump was pressed.
    jumps: Vec<u64>,
}

impl Game {
    fn new() -> Self {
        let simulation = Simulation::default();
        Self {
            timer: FrameTimer::new(Duration::ZERO, simulation.clock().real_time()),
            keys: InputQueue::new(Delivery::ByTime),
            jump: Button::default(),
            simulation,
            jumps: Vec::new(),
        }
    }

    fn on_key(&mut self, now: Duration, is_down: bool) {
        self.keys.push(self.timer.stamp(now), is_down);
    }

    fn on_redraw(&mut self, now: Duration) {
        let frame_time = self.timer.frame(now);
        self.simulation.advance(frame_time, |_, step| {
            self.jump.start_step();
            for sample in self.keys.drain(step) {
                self.jump.set(sample.input);
            }
            if self.jump.presses() > 0 {
                self.jumps.push(step.tick);
            }
        });
    }

    /// Call it in every paused frame, before the menu reads its input.
    fn on_paused_frame(&mut self) {
        for is_down in self.keys.drain_all() {
            self.jump.set(is_down);
        }
    }
}

#[test]
fn keys_stamped_in_their_handlers_reach_the_same_steps_at_every_frame_rate() {
    for frames_per_second in [20, 60, 144, 1_000] {
        let mut game = Game::new();
        let mut keys = [(20, true), (30, false), (130, true), (131, false)]
            .into_iter()
            .peekable();
        for frame in 1..=frames_per_second / 5 {
            let now = SECOND * frame / frames_per_second;
            while let Some((time, is_down)) = keys.next_if(|(time, _)| MS(*time) < now) {
                game.on_key(MS(time), is_down);
            }
            game.on_redraw(now);
        }
        assert_eq!(game.jumps, [1, 7], "at {frames_per_second}");
        assert_eq!(game.keys.counts().corrected, 0);
    }
}

#[test]
fn a_key_released_in_a_menu_is_up_after_it_and_the_game_sees_no_press() {
    let mut game = Game::new();
    game.on_key(MS(5), true);
    game.on_redraw(MS(20));
    assert!(game.jump.is_down());

    game.simulation.pause();
    // In the menu, the player releases the key and presses it once more.
    for (time, is_down) in [(600, false), (700, true), (701, false)] {
        game.on_key(MS(time), is_down);
    }
    game.on_redraw(MS(720));
    game.on_paused_frame();

    game.simulation.resume();
    game.on_redraw(MS(760));
    assert_eq!(game.simulation.frame().steps, 2);
    assert_eq!((game.jump.is_down(), game.jumps), (false, vec![0]));
}
