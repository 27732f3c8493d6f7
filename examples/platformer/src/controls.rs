//! What the player does, for each step.

use std::time::Duration;

use evenstep::rapier::math::Vector;
use evenstep::{Button, Delivery, InputQueue, Step};

use crate::look::Look;

/// What a step has to know of the player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A key for walking went down, or up.
    Walk(Way, bool),
    /// The key for jumping.
    Jump(bool),
    /// The button for shooting.
    Shoot(bool),
    /// The player looks there.
    Look(Look),
}

/// A way to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Where the player looks.
    Forward,
    /// Backwards.
    Back,
    /// Sideways.
    Left,
    /// Sideways.
    Right,
}

/// What the player wants of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wish {
    /// Horizontal; of length 1, or zero.
    pub walk: Vector,
    /// How often the key was pressed in this step.
    pub jumps: u32,
    /// The same for the button.
    pub shots: u32,
    /// Where to.
    pub look: Look,
}

/// The queue of the devices' events, and which keys are down. It is not rewound: a key that is down stays down.
#[derive(Clone, Debug)]
pub struct Controls {
    queue: InputQueue<Input>,
    ways: [bool; 4],
    jump: Button,
    shoot: Button,
    look: Look,
}

impl Controls {
    /// `NextStep` for a window that is asked once a frame, `ByTime` where events have their own time.
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

    /// Adds an event that happened at that real time.
    pub fn push(&mut self, time: Duration, input: Input) {
        self.queue.push(time, input);
    }

    /// In the hook, before each step.
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

    /// In a frame whose keys are not for the game: what was pressed does nothing, what was released is up.
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
