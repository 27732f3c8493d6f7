//! The commands of each frame.

use proptest::prelude::*;

#[derive(Clone, Debug)]
pub struct Script {
    pub seed: u64,
    /// How many ticks apart states are kept.
    pub interval: u64,
    /// The slack of the overlap.
    pub slack: f32,
    pub frames: Vec<FrameScript>,
}

#[derive(Clone, Debug)]
pub struct FrameScript {
    pub millis: u64,
    pub setting: Option<Setting>,
    /// Numbers for [`act`](super::game::act) between two frames.
    pub edits: Vec<u64>,
    pub twist: Option<Twist>,
}

#[derive(Clone, Copy, Debug)]
pub enum Setting {
    Pause,
    Resume,
    StepOnce,
    /// The speed, times two.
    Speed(u64),
}

/// A twist of the frame. A frame has at most one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Twist {
    /// The input of a tick, this many before the frame, arrives late. It arrives before the step of this index in the
    /// frame if the loop can go back there, or else before the frame.
    Late {
        back: u64,
        index: u64,
    },
    /// The state of another machine arrives late. It differs by [`act`](super::game::act) with this number.
    Correct {
        back: u64,
        index: u64,
        chance: u64,
    },
    Rewind {
        back: u64,
    },
    /// Goes back in time, and then forwards again.
    Scrub {
        back: u64,
        forwards: u64,
    },
    /// Keeps a copy.
    Keep,
    /// Restores the copy, mostly at another tick.
    Take,
    /// The hook before or after the step of this index fails.
    Fail {
        index: u64,
        is_after: bool,
    },
}

fn setting() -> impl Strategy<Value = Setting> {
    prop_oneof![
        2 => Just(Setting::Pause),
        3 => Just(Setting::Resume),
        3 => Just(Setting::StepOnce),
        2 => prop_oneof![Just(1u64), Just(2), Just(4)].prop_map(Setting::Speed),
    ]
}

fn twist() -> impl Strategy<Value = Twist> {
    let place = || (0..12u64, 0..5u64);
    prop_oneof![
        6 => place().prop_map(|(back, index)| Twist::Late { back, index }),
        4 => (place(), any::<u64>()).prop_map(|((back, index), chance)| Twist::Correct { back, index, chance }),
        2 => (1..9u64).prop_map(|back| Twist::Rewind { back }),
        2 => (1..9u64, 1..9u64).prop_map(|(back, forwards)| Twist::Scrub { back, forwards }),
        2 => Just(Twist::Keep),
        2 => Just(Twist::Take),
        3 => (0..4u64, any::<bool>()).prop_map(|(index, is_after)| Twist::Fail { index, is_after }),
    ]
}

fn frame() -> impl Strategy<Value = FrameScript> {
    let millis = prop_oneof![Just(0u64), Just(3), Just(7), Just(10), Just(16), Just(40)];
    let edits = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(any::<u64>(), 1..3)];
    let setting = prop::option::weighted(0.2, setting());
    let twist = prop::option::weighted(0.4, twist());
    (millis, setting, edits, twist).prop_map(|(millis, setting, edits, twist)| FrameScript {
        millis,
        setting,
        edits,
        twist,
    })
}

pub fn script() -> impl Strategy<Value = Script> {
    let interval = prop_oneof![2 => Just(1u64), 1 => Just(4)];
    let slack = prop_oneof![Just(1.0f32), Just(0.5), Just(0.0)];
    (
        any::<u64>(),
        interval,
        slack,
        prop::collection::vec(frame(), 1..60),
    )
        .prop_map(|(seed, interval, slack, frames)| Script {
            seed,
            interval,
            slack,
            frames,
        })
}
