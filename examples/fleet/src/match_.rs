//! A match: its simulation, and the game's state.

use evenstep::{BodyKey, SaveError, Simulation, Step};
use serde::{Deserialize, Serialize};

use crate::game::{Buttons, PLAYERS, arena, push, throw};
use crate::packets::{Id, Row};

/// The largest number of overdue steps that a match catches up on at once. Other matches wait meanwhile.
const CATCH_UP: u32 = 4;

/// This many of the last steps are remembered, for players that missed them: ten seconds.
const REMEMBERED: usize = 600;
/// This many of them are saved, for packets that were under way when the server died.
const SAVED: usize = 120;

/// The settings of a match, which do not change while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The number of players, at most [`PLAYERS`].
    pub players: u8,
    /// The number of crates.
    pub crates: u16,
    /// The match ends after this many steps.
    pub length: u64,
}

/// A match, in a frame or between two frames.
#[derive(Debug)]
pub struct Match {
    /// The world, and its clock.
    pub simulation: Simulation,
    bodies: Vec<BodyKey>,
    /// The settings, which do not change.
    pub plan: Plan,
    /// The last steps, in order.
    steps: Vec<Made>,
}

/// The row that was applied in a step, and the checksum after it.
pub type Made = (Row, u64);

/// The saved form of a match.
#[derive(Serialize, Deserialize)]
struct Saved {
    plan: Plan,
    steps: Vec<Made>,
    /// `None` before the first step, because the arena is the same everywhere.
    state: Option<Vec<u8>>,
}

/// Why a match cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// The bytes come from another program.
    #[error("these are no bytes of a match: {0}")]
    Bytes(#[from] postcard::Error),
    /// The bytes come from another build.
    #[error(transparent)]
    State(#[from] evenstep::LoadError),
}

impl Match {
    /// Creates a match before its first step.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let (simulation, bodies) = arena(plan.crates.into());
        Self::with(simulation, bodies, plan, Vec::new())
    }

    fn with(
        mut simulation: Simulation,
        bodies: Vec<BodyKey>,
        plan: Plan,
        steps: Vec<Made>,
    ) -> Self {
        (simulation.clock_settings_mut()).set_max_steps_per_frame(Some(CATCH_UP));
        Self {
            simulation,
            bodies,
            plan,
            steps,
        }
    }

    /// Runs a step that was taken. Returns the checksum after it.
    pub fn step(&mut self, step: Step, row: Row) -> u64 {
        for (body, buttons) in self.bodies.iter().zip(row) {
            push(&mut self.simulation.physics, *body, buttons);
        }
        throw(&mut self.simulation.physics, &self.bodies, step.tick);
        self.simulation.make_step();
        let checksum = self.simulation.physics.checksum();
        if self.steps.len() == 2 * REMEMBERED {
            self.steps.drain(..REMEMBERED);
        }
        self.steps.push((row, checksum));
        checksum
    }

    /// Runs a step that is not due, in a separate frame of the missing time.
    ///
    /// # Panics
    /// If the clock is paused.
    pub fn step_now(&mut self, row: Row) -> u64 {
        let missing = self.simulation.clock().until_next_step();
        (self.simulation).begin_frame(missing.expect("matches are never paused"));
        let step = self.simulation.next_step().expect("it is due");
        let checksum = self.step(step, row);
        self.simulation.end_frame();
        checksum
    }

    /// Returns the tick of the next step.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.simulation.physics.tick()
    }

    /// Returns the row that was applied in the last step.
    #[must_use]
    pub fn last(&self) -> Row {
        self.steps.last().map_or_else(Row::default, |(row, _)| *row)
    }

    /// Returns the steps from a tick on, and the tick of the first of them. It is a later tick if the steps are no
    /// longer kept.
    #[must_use]
    pub fn steps_from(&self, tick: u64) -> (u64, &[Made]) {
        let oldest = self.tick() - self.steps.len() as u64;
        let first = tick.clamp(oldest, self.tick());
        (first, &self.steps[(first - oldest) as usize..])
    }

    /// Returns whether the match has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.tick() >= self.plan.length
    }

    /// Saves the match as bytes, between two frames.
    ///
    /// # Errors
    /// See [`Simulation::save`].
    ///
    /// # Panics
    /// Never, because plain data can be serialized.
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        let state = (self.tick() > 0).then(|| self.simulation.save());
        let saved = Saved {
            plan: self.plan,
            steps: self.steps[self.steps.len().saturating_sub(SAVED)..].to_vec(),
            state: state.transpose()?,
        };
        Ok(postcard::to_stdvec(&saved).expect("plain data can be written"))
    }

    /// Loads a match.
    ///
    /// # Errors
    /// If the bytes come from another program or build.
    pub fn load(bytes: &[u8]) -> Result<Self, MatchError> {
        let Saved { plan, steps, state } = postcard::from_bytes(bytes)?;
        let Some(state) = state else {
            return Ok(Self::new(plan));
        };
        let simulation = Simulation::load(&state)?;
        // The bodies, by their index in the arena's list.
        let mut bodies: Vec<_> = (simulation.physics.bodies())
            .map(|(key, body)| (body.user_data, key))
            .collect();
        bodies.sort_unstable();
        let bodies = bodies.into_iter().map(|(_, key)| key).collect();
        Ok(Self::with(simulation, bodies, plan, steps))
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

    const PLAN: Plan = Plan {
        players: 2,
        crates: 18,
        length: u64::MAX,
    };

    fn rows(ticks: std::ops::Range<u64>) -> impl Iterator<Item = Row> {
        ticks.map(|tick| [0, 1, 2, 3].map(|player| of_script(7, player, tick)))
    }

    #[test]
    fn a_match_goes_on_elsewhere_as_if_it_had_not_moved() {
        for moves_at in [0, 1, 60, 61] {
            let mut stays = Match::new(PLAN);
            for row in rows(0..moves_at) {
                stays.step_now(row);
            }
            let mut moved = Match::load(&stays.save().unwrap()).unwrap();
            assert_eq!((moved.tick(), moved.last()), (moves_at, stays.last()));
            assert_eq!(moved.steps_from(0), stays.steps_from(0));
            for row in rows(moves_at..300) {
                assert_eq!(moved.step_now(row), stays.step_now(row));
            }
        }
    }

    #[test]
    fn the_last_steps_are_remembered_and_fewer_are_saved() {
        let mut long = Match::new(PLAN);
        let made: Vec<Made> = (rows(0..2_000).map(|row| (row, long.step_now(row)))).collect();
        let (first, steps) = long.steps_from(0);
        assert!(steps.len() >= REMEMBERED && steps.len() <= 2 * REMEMBERED);
        assert_eq!(steps, &made[first as usize..]);
        assert_eq!(long.steps_from(1_990), (1_990, &made[1_990..]));
        assert_eq!(long.steps_from(3_000), (2_000, &[][..]));
        let saved = Match::load(&long.save().unwrap()).unwrap();
        assert_eq!(saved.steps_from(0), (1_880, &made[1_880..]));
    }

    #[test]
    fn a_step_now_is_the_step_that_would_be_due() {
        let (mut now, mut due) = (Match::new(PLAN), Match::new(PLAN));
        for row in rows(0..120) {
            due.simulation
                .begin_frame(std::time::Duration::from_millis(17));
            while let Some(step) = due.simulation.next_step() {
                assert_eq!(due.step(step, row), now.step_now(row));
            }
            due.simulation.end_frame();
        }
        assert!(now.tick() >= 120);
    }

    #[test]
    fn bytes_that_are_none_are_refused() {
        let mut saved = Match::new(PLAN);
        for row in rows(0..3) {
            saved.step_now(row);
        }
        let mut bytes = saved.save().unwrap();
        bytes.truncate(bytes.len() - 1);
        assert!(matches!(Match::load(&bytes), Err(MatchError::Bytes(_))));
        assert!(matches!(Match::load(&[]), Err(MatchError::Bytes(_))));
    }
}
