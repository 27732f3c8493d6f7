//! The player's input in each step.

use std::time::Duration;

use evenstep::Step;
use evenstep::input::{Button, Delivery, InputQueue};

/// A key that went down or up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The key to walk left.
    Left(bool),
    /// The key to walk right.
    Right(bool),
    /// The key to jump.
    Jump(bool),
}

/// The player's intentions in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// The direction to walk: −1 is left, 1 is right.
    pub walk: f32,
    /// Whether jump was pressed in this step.
    pub jumps: bool,
    /// Whether jump is held.
    pub is_jump_held: bool,
}

/// The keys, polled once per frame.
#[derive(Clone, Debug)]
pub struct Controls {
    queue: InputQueue<Key>,
    left: bool,
    right: bool,
    jump: Button,
}

impl Default for Controls {
    fn default() -> Self {
        Self {
            queue: InputQueue::new(Delivery::NextStep),
            left: false,
            right: false,
            jump: Button::default(),
        }
    }
}

impl Controls {
    /// Adds a key event, before a frame and with its real time.
    pub fn push(&mut self, time: Duration, key: Key) {
        self.queue.push(time, key);
    }

    /// Returns the intentions for a step. Called in the hook before each step.
    pub fn wish(&mut self, step: Step) -> Wish {
        self.jump.start_step();
        for sample in self.queue.drain(step) {
            match sample.input {
                Key::Left(is_down) => self.left = is_down,
                Key::Right(is_down) => self.right = is_down,
                Key::Jump(is_down) => self.jump.set(is_down),
            }
        }
        Wish {
            walk: f32::from(u8::from(self.right)) - f32::from(u8::from(self.left)),
            jumps: self.jump.presses() > 0,
            is_jump_held: self.jump.is_down(),
        }
    }
}
