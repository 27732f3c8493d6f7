//! Keys in an event loop. Each press reaches the step in which it happened, and a key released in a menu is up after it.

use std::time::Duration;

use evenstep::input::{Button, Delivery, InputQueue};
use evenstep::time::FrameTimer;
use evenstep::{Physics, Simulation, Step};

/// A game in an event loop. `now` is the time since its start, by one clock for frames and keys.
pub struct Game {
    /// The bodies and the clock.
    pub simulation: Simulation,
    /// The keys that no step has read yet: whether jump is down.
    pub keys: InputQueue<bool>,
    /// The key to jump.
    pub jump: Button,
    timer: FrameTimer,
}

impl Game {
    /// Starts at a time.
    pub fn new(simulation: Simulation, now: Duration) -> Self {
        Self {
            keys: InputQueue::new(Delivery::ByTime),
            jump: Button::default(),
            timer: FrameTimer::new(now, simulation.clock().real_time()),
            simulation,
        }
    }

    /// Stamps a press or a release. Call it in the handler of the event.
    pub fn on_key(&mut self, now: Duration, is_down: bool) {
        self.keys.push(self.timer.stamp(now), is_down);
    }

    /// Runs a frame. `hook` gets the key as it is in each step.
    pub fn on_redraw(&mut self, now: Duration, mut hook: impl FnMut(&mut Physics, Step, &Button)) {
        let frame_time = self.timer.frame(now);
        self.simulation.advance(frame_time, |physics, step| {
            self.jump.start_step();
            for sample in self.keys.drain(step) {
                self.jump.set(sample.input);
            }
            hook(physics, step, &self.jump);
        });
    }

    /// Reads the keys of a pause menu. Call it in every paused frame, before the menu.
    pub fn on_paused_frame(&mut self) {
        for is_down in self.keys.drain_all() {
            self.jump.set(is_down);
        }
    }
}
