//! The random games of `tests/laws/exchange`, in which a runner exchanges states with loops of other kinds.

// The loops and values of a game, and its hooks.
#[path = "../../../../tests/laws/exchange/game.rs"]
mod game;
// The loops.
#[path = "../../../../tests/laws/exchange/hosts.rs"]
mod hosts;
// A renderer, and the laws of its pictures.
#[path = "../../../../tests/laws/exchange/picture.rs"]
mod picture;
// The moves of a game.
#[path = "../../../../tests/laws/exchange/script.rs"]
mod script;

use super::*;
use crate::dim::testing;
use game::{Player, act, play};
use hosts::{Host, caught};
use script::Action;
use std::panic::resume_unwind;

struct Running {
    both: Both<Player>,
    now: Duration,
}

impl Running {
    fn start(simulation: Simulation) -> Box<dyn Host> {
        let now = simulation.clock().real_time();
        let both = Both::new(simulation, Player::default());
        Box::new(Self { both, now })
    }

    /// Lets the physics work with the player. After a panic it continues from the previous state.
    fn work(&mut self, player: &mut Player) {
        std::mem::swap(&mut self.both.physics.hooks, player);
        self.both.in_time(self.now);
        while self.both.physics.broken.is_some() {
            self.both.runner.recover().expect("there is room for it");
            self.both.in_time(self.now);
            self.both.physics.hooks.desk.picture.jump();
        }
        std::mem::swap(&mut self.both.physics.hooks, player);
        for failure in self.both.runner.failures() {
            if let Failure::Panic { payload, .. } = failure {
                caught(|| resume_unwind(payload));
            }
        }
    }
}

impl Host for Running {
    fn frame(&mut self, ms: u8, player: &mut Player) {
        self.now += MS(ms.into());
        self.work(player);
        self.both.frame(self.now);
        (player.desk.picture).draw_view(self.both.view(), &self.both.runner);
    }

    fn act(&mut self, action: Action, player: &mut Player) {
        self.both
            .call(move |simulation, player| act(player, action, simulation));
        self.work(player);
    }

    fn rest(&mut self, player: &mut Player) {
        hosts::rest(self, player);
        let physics = &self.both.physics.simulation.physics;
        player.desk.picture.check_rest(physics);
    }

    fn stop(self: Box<Self>, player: &mut Player) -> Simulation {
        player.desk.picture.jump();
        self.both.stop(self.now).0
    }
}

proptest! {
    #![proptest_config(crate::testing::random(50))]

    #[test]
    fn a_runner_displays_exchanged_states(game in script::game()) {
        play(Running::start, &game);
    }
}
