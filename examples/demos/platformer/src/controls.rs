//! The player's input in each step.

use std::time::Duration;

use evenstep::Step;
use evenstep::input::{Button, Delivery, InputQueue};
use evenstep::rapier::math::Vector;

use crate::look::Look;

/// An input event that steps must know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A walking key went down or up.
    Walk(Way, bool),
    /// The jump key.
    Jump(bool),
    /// The shoot button.
    Shoot(bool),
    /// The player looks in this direction.
    Look(Look),
}

/// A direction to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In the direction of the look.
    Forward,
    /// Backwards.
    Back,
    /// Sideways.
    Left,
    /// Sideways.
    Right,
}

/// The player's intentions in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// The horizontal walking direction, of length 1 or zero.
    pub walk: Vector,
    /// The number of presses of the jump key in this step.
    pub jumps: u32,
    /// The number of presses of the shoot button in this step.
    pub shots: u32,
    /// The direction of the look.
    pub look: Look,
}

/// The queue of input events, and which keys are down. A rewind does not change it, so a key that is down stays down.
#[derive(Clone, Debug)]
pub struct Controls {
    queue: InputQueue<Input>,
    ways: [bool; 4],
    jump: Button,
    shoot: Button,
    look: Look,
}

impl Controls {
    /// Creates controls. Use `NextStep` for a window that is polled once per frame, and `ByTime` if events have their
    /// own times.
    #[must_use]
    pub fn new(delivery: Delivery) -> Self {
        Self {
            queue: InputQueue::new(delivery),
            ways: [false; 4],
            jump: Button::default(),
            shoot: Button::default(),
            look: Look::default(),
        }
    }

    /// Adds an event that happened at this real time.
    pub fn push(&mut self, time: Duration, input: Input) {
        self.queue.push(time, input);
    }

    /// Returns the intentions for a step. Called in the hook before each step.
    pub fn wish(&mut self, step: Step) -> Wish {
        self.jump.start_step();
        self.shoot.start_step();
        let inputs: Vec<_> = self.queue.drain(step).collect();
        for sample in inputs {
            self.take(sample.input);
        }
        Wish {
            walk: self.walk(),
            jumps: self.jump.presses(),
            shots: self.shoot.presses(),
            look: self.look,
        }
    }

    /// Skips the input of a frame that does not play. Presses have no effect, and released keys are up.
    pub fn skip(&mut self) {
        let inputs: Vec<_> = self.queue.drain_all().collect();
        for input in inputs {
            self.take(input);
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Walk(way, down) => self.ways[way as usize] = down,
            Input::Jump(down) => self.jump.set(down),
            Input::Shoot(down) => self.shoot.set(down),
            Input::Look(look) => self.look = look,
        }
    }

    fn walk(&self) -> Vector {
        let held = |way: Way| f32::from(u8::from(self.ways[way as usize]));
        let right = held(Way::Right) - held(Way::Left);
        let back = held(Way::Back) - held(Way::Forward);
        self.look.heading() * Vector::new(right, 0.0, back).normalize_or_zero()
    }
}
