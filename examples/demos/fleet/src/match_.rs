//! The game of a match: the rules of the example `prediction`, the players' input, and the last steps.

use std::time::Duration;

use evenstep::{BodyKey, Physics, Step};
use evenstep_prediction::game::{Buttons, Held, PLAYERS, act, arena, held, throw};
use evenstep_server::match_::{Game, Id, Settings};
use serde::{Deserialize, Serialize, Serializer};

use crate::inputs::Inputs;
use crate::packets::Row;

/// This many of the last steps are remembered, for players that missed them: ten seconds.
const REMEMBERED: usize = 600;
/// This many of them are saved, for packets that were under way when the server died.
const SAVED: usize = 120;

/// The wall-clock time that a frame of a match may take, nearly a step's length. A step that always takes longer cannot
/// keep up.
const BUDGET: Duration = Duration::from_millis(16);

/// A match of the fleet.
pub type Match = evenstep_server::match_::Match<Arena>;

/// The settings of a match, which do not change while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of players, at most [`PLAYERS`].
    pub players: u8,
    /// The number of crates.
    pub crates: u16,
    /// The match ends after this many steps.
    pub length: u64,
}

impl Plan {
    /// Creates a match before its first step, in the server's time.
    #[must_use]
    pub fn start(self, id: Id, now: Duration) -> Match {
        let (simulation, bodies) = arena(self.crates.into());
        let game = Arena {
            bodies,
            held: Held::default(),
            inputs: Inputs::new(self.players.into()),
            steps: Vec::new(),
        };
        let settings = Settings {
            budget: BUDGET,
            length: self.length,
        };
        Match::new(id, (simulation, game), settings, now)
    }
}

/// The game's state beside the simulation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Arena {
    bodies: Vec<BodyKey>,
    /// The held crates. A saved simulation has no resources, so they are put into it before each step.
    held: Held,
    /// The input of the next steps.
    pub inputs: Inputs,
    /// The last steps, in order.
    #[serde(serialize_with = "save_last")]
    steps: Vec<Made>,
}

/// The row that was applied in a step, and the checksum after it.
pub type Made = (Row, u64);

fn save_last<S: Serializer>(steps: &[Made], to: S) -> Result<S::Ok, S::Error> {
    steps[steps.len().saturating_sub(SAVED)..].serialize(to)
}

impl Game for Arena {
    fn before_step(&mut self, physics: &mut Physics, step: Step) {
        physics.resources_mut().insert(self.held);
        for (player, buttons) in self.inputs.take().into_iter().enumerate() {
            act(physics, &self.bodies, player, buttons);
        }
        self.held = held(physics);
        throw(physics, &self.bodies, step.tick);
    }

    fn after_step(&mut self, physics: &Physics) {
        if self.steps.len() == 2 * REMEMBERED {
            self.steps.drain(..REMEMBERED);
        }
        self.steps.push((self.inputs.last(), physics.checksum()));
    }
}

impl Arena {
    /// Returns the steps from a tick on, and the tick of the first of them. It is a later tick if the steps are no
    /// longer kept.
    #[must_use]
    pub fn steps_from(&self, tick: u64) -> (u64, &[Made]) {
        let next = self.inputs.next();
        let oldest = next - self.steps.len() as u64;
        let first = tick.clamp(oldest, next);
        (first, &self.steps[(first - oldest) as usize..])
    }
}

/// Returns the buttons of a bot.
#[must_use]
pub fn of_script(id: Id, player: u8, tick: u64) -> Buttons {
    Buttons::of_script(id as usize * PLAYERS + usize::from(player), tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_steps_are_kept_and_the_latest_of_them_are_saved() {
        let plan = Plan {
            players: 2,
            crates: 18,
            length: u64::MAX,
        };
        let mut long = plan.start(7, Duration::ZERO);
        let rows: Vec<Row> = (0..2_000)
            .map(|tick| [0, 1, 2, 3].map(|player| of_script(7, player, tick)))
            .collect();
        long.game.inputs.receive_rows(0, &rows);
        let mut made = Vec::new();
        for row in rows {
            long.step_now();
            made.push((row, long.checksum()));
        }
        let (first, steps) = long.game.steps_from(0);
        assert!(steps.len() >= REMEMBERED && steps.len() <= 2 * REMEMBERED);
        assert_eq!(steps, &made[first as usize..]);
        assert_eq!(long.game.steps_from(1_990), (1_990, &made[1_990..]));
        assert_eq!(long.game.steps_from(3_000), (2_000, &[][..]));
        let mut saved = Match::load(&long.save().unwrap(), Duration::ZERO).unwrap();
        assert_eq!(saved.game.steps_from(0), (1_880, &made[1_880..]));
        // Without input the players keep their last buttons, on any server.
        for _ in 0..10 {
            long.step_now();
            saved.step_now();
        }
        assert_eq!(saved.game.steps_from(1_900), long.game.steps_from(1_900));
    }
}
