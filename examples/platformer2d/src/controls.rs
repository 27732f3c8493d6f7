//! What the player does, for each step.

use std::time::Duration;

use evenstep::{Button, Delivery, InputQueue, Step};

/// A key that went down, or up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Walks to the left.
    Left(bool),
    /// Walks to the right.
    Right(bool),
    /// Jumps.
    Jump(bool),
}

/// What the player wants of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// From −1, to the left, to 1.
    pub walk: f32,
    /// Jump was pressed in this step.
    pub jumps: bool,
    /// Jump is held.
    pub is_jump_held: bool,
}

/// The keys, asked once a frame.
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
    /// Before a frame, at its real time.
    pub fn push(&mut self, time: Duration, key: Key) {
        self.queue.push(time, key);
    }

    /// In the hook, before each step.
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
