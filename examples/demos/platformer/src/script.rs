//! A scripted player, for pictures and tests.

use std::collections::VecDeque;
use std::time::Duration;

use crate::controls::{Input, Way};
use crate::game::Game;
use crate::time::TimeKeys;

/// An action of the player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// Presses or releases something.
    Input(Input),
    /// Moves the mouse to the right and down, in pixels.
    Turn(f32, f32),
    /// Controls time from the next frame on.
    Time(TimeKeys),
}

/// The actions of a player, ordered by real time.
#[derive(Clone, Debug, Default)]
pub struct Script {
    acts: VecDeque<(Duration, Act)>,
}

impl Script {
    /// Creates a script. Times are in milliseconds, in ascending order.
    #[must_use]
    pub fn new(acts: impl IntoIterator<Item = (u64, Act)>) -> Self {
        let acts = acts.into_iter();
        Self {
            acts: acts
                .map(|(at, act)| (Duration::from_millis(at), act))
                .collect(),
        }
    }

    /// Runs a frame of the game, with all actions that happen in it.
    pub fn frame(&mut self, game: &mut Game, frame_time: Duration) {
        let end = game.real_time() + frame_time;
        while let Some((at, act)) = self.acts.pop_front_if(|(at, _)| *at < end) {
            match act {
                Act::Input(input) => game.input(at, input),
                Act::Turn(right, down) => game.turn(at, right, down),
                Act::Time(keys) => game.time = keys,
            }
        }
        game.frame(frame_time);
    }

    /// Returns a tour of the first island: coins, a jump, a crate that is shot, another that is pushed, and the ferry.
    #[must_use]
    pub fn tour() -> Self {
        use Act::Turn;
        let walk = |way, down| Act::Input(Input::Walk(way, down));
        let jump = |down| Act::Input(Input::Jump(down));
        let shoot = |down| Act::Input(Input::Shoot(down));
        Self::new([
            (0, Turn(0.0, 60.0)),
            (200, walk(Way::Forward, true)),
            (1_500, jump(true)),
            (1_600, jump(false)),
            (2_000, walk(Way::Forward, false)),
            (2_100, Turn(-140.0, 0.0)),
            (2_300, shoot(true)),
            (2_350, shoot(false)),
            (2_500, shoot(true)),
            (2_550, shoot(false)),
            (3_000, Turn(140.0, 0.0)),
            (3_100, walk(Way::Right, true)),
            (3_500, walk(Way::Right, false)),
            (3_500, walk(Way::Forward, true)),
            (5_000, walk(Way::Forward, false)),
        ])
    }

    /// Returns the tour, and a rewind of two seconds at its end.
    #[must_use]
    pub fn tour_and_back() -> Self {
        let mut script = Self::tour();
        let back = TimeKeys {
            is_rewinding: true,
            ..TimeKeys::default()
        };
        let back = [(6_000, back), (8_000, TimeKeys::default())];
        let acts = back.map(|(at, keys)| (Duration::from_millis(at), Act::Time(keys)));
        script.acts.extend(acts);
        script
    }
}
