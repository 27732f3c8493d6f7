//! A match: a simulation with its own clock, a budget, and a record of its steps.

use std::time::Duration;

use evenstep::saving::{LoadError, SaveError};
use evenstep::time::{Budget, StepCost};
use evenstep::{Physics, Simulation, Step};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::{Ending, Played, Record};

/// The largest number of overdue steps that a match catches up on at once. Other matches wait meanwhile.
const CATCH_UP: u32 = 4;

/// A match is ended after it was over its budget in this many consecutive frames.
pub const PATIENCE: u32 = 30;

/// The number of a match, unique in the whole fleet.
pub type Id = u64;

/// The rules of a game, and its state beside the simulation. The state moves with the match.
pub trait Game: Serialize + DeserializeOwned {
    /// Applies the rules before a step.
    fn before_step(&mut self, physics: &mut Physics, step: Step);

    /// Reads the results of a step.
    fn after_step(&mut self, physics: &Physics) {
        let _ = physics;
    }
}

/// A match, between two frames.
#[derive(Debug)]
pub struct Match<G> {
    /// The number of the match.
    pub id: Id,
    simulation: Simulation,
    /// The game beside the simulation.
    pub game: G,
    settings: Settings,
    /// The server's time up to which the match was played.
    played_to: Duration,
    step_cost: StepCost,
    over_budget_in_a_row: u32,
    /// The record since the match came to this server.
    pub record: Record,
    /// The results of the last frame.
    pub last: Played,
}

/// The settings of a match, which do not change while it runs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The wall-clock time that a frame of the match may take.
    pub budget: Duration,
    /// The match ends after this many steps.
    pub length: u64,
}

/// Why a match cannot move.
#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    /// The bytes come from another program.
    #[error("these are no bytes of a match: {0}")]
    Bytes(#[from] postcard::Error),
    /// The state cannot be loaded, for example because it comes from another build.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The state cannot be saved.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl<G: Game> Match<G> {
    /// Creates a match whose first step is due one period after `start`, in the server's time.
    pub fn new(
        id: Id,
        (simulation, game): (Simulation, G),
        settings: Settings,
        start: Duration,
    ) -> Self {
        let mut new = Self {
            id,
            simulation,
            game,
            settings,
            played_to: start,
            step_cost: StepCost::default(),
            over_budget_in_a_row: 0,
            record: Record::default(),
            last: Played::default(),
        };
        // Dropped time is a whole number of steps, so the match keeps its phase.
        new.simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        new.simulation
            .clock_settings_mut()
            .set_max_steps_per_frame(Some(CATCH_UP));
        new
    }

    /// Saves the match as bytes, to move it to another server.
    ///
    /// # Errors
    /// See [`Simulation::save`].
    pub fn save(&self) -> Result<Vec<u8>, MoveError> {
        let state = self.simulation.save()?;
        let parts = (self.id, self.settings, &self.game, state);
        Ok(postcard::to_stdvec(&parts)?)
    }

    /// Loads a match. No simulated time has passed since it was saved, and its next step is due within one period from
    /// `now`.
    ///
    /// # Errors
    /// If the bytes come from another program or build.
    pub fn load(bytes: &[u8], now: Duration) -> Result<Self, MoveError> {
        let (id, settings, game, state): (_, _, _, Vec<u8>) = postcard::from_bytes(bytes)?;
        let simulation = Simulation::load(&state)?;
        Ok(Self::new(id, (simulation, game), settings, now))
    }

    fn period(&self) -> Duration {
        self.simulation.clock().settings().rate().period()
    }

    /// Returns when the next step is due, rounded up to a nanosecond.
    ///
    /// The match's clock computes it from all the time that it was given, so rounding errors do not add up.
    ///
    /// # Panics
    /// If the clock is paused.
    pub fn due(&self) -> Duration {
        let until = self.simulation.clock().until_next_step();
        self.played_to + until.expect("matches are never paused")
    }

    /// Runs a frame: the steps that are due by now, each of them timed. Returns `None` if the match continues.
    pub fn play(&mut self, now: impl Fn() -> Duration) -> Option<Ending> {
        let begin = now();
        let elapsed = begin.saturating_sub(self.played_to);
        // The list is reused, so a frame allocates nothing.
        let mut lateness = std::mem::take(&mut self.last.lateness);
        lateness.clear();
        self.last = Played {
            lateness,
            ..Played::default()
        };
        self.simulation
            .clock_settings_mut()
            .set_budget(Some(Budget {
                frame: self.settings.budget,
                step: self.step_cost.step().unwrap_or_default(),
            }));
        self.simulation.begin_frame(elapsed);
        self.played_to = begin;
        while self.tick() < self.settings.length
            && let Some(step) = self.simulation.next_step()
        {
            self.game.before_step(&mut self.simulation.physics, step);
            self.simulation.run_step();
            self.game.after_step(&self.simulation.physics);
            let due = begin.saturating_sub(step.real_frame_end - step.real_end);
            self.last.lateness.push(now().saturating_sub(due));
        }
        self.last.dropped = self.simulation.end_frame().dropped;
        self.last.cost = now().saturating_sub(begin);
        self.take_stock(elapsed);
        self.ending()
    }

    /// Runs the next step, as if it were due.
    pub fn step_now(&mut self) -> Option<Ending> {
        let due = self.due();
        self.play(|| due)
    }

    /// Continues now, whatever was played before. No time has passed for the match.
    pub fn continue_at(&mut self, now: Duration) {
        self.played_to = now;
        self.step_cost = StepCost::default();
    }

    fn take_stock(&mut self, elapsed: Duration) {
        let (period, last) = (self.period(), &mut self.last);
        let steps = last.steps();
        self.step_cost.record(elapsed, last.cost, steps);
        last.late_steps = last.lateness.iter().filter(|late| **late >= period).count() as u64;
        // A frame that catches up on lost time may take longer. The clock's budget limits that.
        last.is_over_budget = last.cost / steps.max(1) as u32 > self.settings.budget;
        self.over_budget_in_a_row = match last.is_over_budget {
            true => self.over_budget_in_a_row + 1,
            false => 0,
        };
        self.record.add(last);
    }

    fn ending(&self) -> Option<Ending> {
        if self.over_budget_in_a_row >= PATIENCE {
            return Some(Ending::OverBudget);
        }
        (self.tick() >= self.settings.length).then_some(Ending::Finished)
    }

    /// Returns the tick of the next step.
    pub fn tick(&self) -> u64 {
        self.simulation.physics.tick()
    }

    /// Returns the checksum of the bodies.
    pub fn checksum(&self) -> u64 {
        self.simulation.physics.checksum()
    }

    /// Returns whether all bodies are asleep. The match continues to count steps, which then cost next to nothing.
    pub fn is_idle(&self) -> bool {
        self.tick() > 0 && self.simulation.frame().awake == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Crates;
    use std::cell::Cell;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const START: Duration = Duration::from_millis(5);

    fn new(budget: Duration) -> Match<Crates> {
        let settings = Settings {
            budget,
            length: u64::MAX,
        };
        Match::new(0, Crates::new(1, 0, false), settings, START)
    }

    /// Returns when step `n` is due, counted from 1 and rounded up to a nanosecond.
    fn exact(n: u64) -> Duration {
        START + Duration::from_nanos((n * 1_000_000_000).div_ceil(60))
    }

    #[test]
    fn a_match_is_due_once_per_period_without_drift() {
        let mut playing = new(MS(16));
        for n in 1..=1_000 {
            let due = playing.due();
            assert_eq!(due, exact(n));
            playing.play(|| due);
            assert_eq!(playing.tick(), n);
        }
    }

    #[test]
    fn a_frame_before_the_due_time_runs_no_step() {
        let mut playing = new(MS(16));
        playing.play(|| exact(1) - MS(1));
        assert_eq!((playing.tick(), playing.last.lateness.len()), (0, 0));
        assert_eq!(playing.due(), exact(1));
    }

    #[test]
    fn lateness_is_measured_from_the_due_time_to_the_step_end() {
        let mut playing = new(MS(16));
        // The frame begins 40 ms late, and each reading of the clock takes a millisecond.
        let now = Cell::new(exact(1) + MS(40));
        playing.play(|| now.replace(now.get() + MS(1)));
        let late: Vec<u128> = (playing.last.lateness.iter().map(|late| late.as_millis())).collect();
        assert_eq!(late, [41, 25, 9]);
        assert_eq!((playing.record.steps, playing.record.late_steps), (3, 2));
        assert_eq!(playing.record.longest_lateness.as_millis(), 41);
    }

    #[test]
    fn a_late_match_catches_up_to_its_limit_and_keeps_its_phase() {
        let mut playing = new(MS(1_000));
        playing.play(|| exact(10) + MS(3));
        assert_eq!(playing.tick(), u64::from(CATCH_UP));
        assert_eq!(playing.record.dropped.steps, 10 - u64::from(CATCH_UP));
        assert_eq!(playing.due(), exact(11));
    }

    #[test]
    fn a_match_over_its_budget_drops_steps_and_finally_ends() {
        let mut playing = new(MS(4));
        let now = Cell::new(Duration::ZERO);
        // Each reading of the clock takes 10 ms, so a step takes at least 10 ms.
        let slow = || now.replace(now.get() + MS(10));
        for n in 1..PATIENCE {
            now.set(exact(2 * u64::from(n)));
            assert_eq!(playing.play(slow), None);
            assert!(playing.last.is_over_budget);
        }
        assert!(playing.record.dropped.over_budget > u64::from(PATIENCE) / 2);
        now.set(playing.due());
        assert_eq!(playing.play(slow), Some(Ending::OverBudget));
    }

    #[test]
    fn a_frame_within_the_budget_resets_the_patience() {
        let mut playing = new(MS(4));
        for n in 1..=3 * u64::from(PATIENCE) {
            let now = Cell::new(playing.due());
            let look = if n % 10 == 0 { MS(0) } else { MS(10) };
            assert_eq!(playing.play(|| now.replace(now.get() + look)), None);
        }
        assert!(playing.record.over_budget_frames > u64::from(PATIENCE));
    }

    #[test]
    fn a_match_ends_exactly_at_its_length() {
        let mut playing = new(MS(16));
        playing.settings.length = 3;
        let endings = [1, 2, 5].map(|n| playing.play(|| exact(n)));
        assert_eq!(endings, [None, None, Some(Ending::Finished)]);
        assert_eq!((playing.tick(), playing.record.dropped.steps), (3, 0));
    }

    #[test]
    fn a_moved_match_continues_bit_for_bit() {
        let settings = new(Duration::MAX).settings;
        for moves_at in [0, 1, 60, 61] {
            let mut stays = Match::new(3, Crates::new(40, 3, false), settings, START);
            while stays.tick() < moves_at {
                stays.step_now();
            }
            let now = Duration::from_secs(5_000);
            let mut moved = Match::<Crates>::load(&stays.save().unwrap(), now).unwrap();
            assert_eq!((moved.id, moved.tick()), (3, moves_at));
            let waits = moved.due() - now;
            assert!(waits > Duration::ZERO && waits <= moved.period() + Duration::from_nanos(1));
            while moved.tick() < 200 {
                stays.step_now();
                moved.step_now();
            }
            assert_eq!(moved.checksum(), stays.checksum());
            assert_eq!(moved.record.dropped.steps, 0);
        }
    }

    #[test]
    fn loading_a_match_rejects_invalid_bytes() {
        for bytes in [&[][..], &[1, 0], &[200, 0, 0, 0, 1], &[0; 100]] {
            assert!(Match::<Crates>::load(bytes, Duration::ZERO).is_err());
        }
    }

    #[test]
    fn a_match_is_idle_once_all_its_bodies_sleep() {
        let mut playing = Match::new(0, Crates::new(5, 0, true), new(MS(16)).settings, START);
        assert!(!playing.is_idle());
        for n in 1..=600 {
            playing.play(|| exact(n));
        }
        assert!(playing.is_idle());
        assert_eq!(playing.tick(), 600);
    }
}
