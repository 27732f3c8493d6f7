//! A match: a simulation with its own clock, a budget, and a record of its steps.

use std::time::Duration;

use evenstep::{Budget, FrameTimer, Simulation};
use serde::{Deserialize, Serialize};

use crate::game::Game;
use crate::record::{Ending, Played, Record};

/// The largest number of overdue steps that a match catches up on at once. Other matches wait meanwhile.
const CATCH_UP: u32 = 4;

/// A match is ended after it was over its budget in this many consecutive frames.
pub const PATIENCE: u32 = 30;

/// The number of a match, unique in the whole fleet.
pub type Id = u64;

pub struct Match {
    pub id: Id,
    simulation: Simulation,
    game: Game,
    settings: Settings,
    timer: FrameTimer,
    /// The server's time up to which the match was played.
    played_to: Duration,
    /// A moving average of the cost of a step.
    step_cost: Duration,
    over_budget_in_a_row: u32,
    pub record: Record,
    /// The results of the last frame.
    pub last: Played,
}

/// The settings of a match, which do not change while it runs.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Settings {
    /// The wall-clock time that a frame of the match may take.
    pub budget: Duration,
    /// The match ends after this many steps.
    pub length: u64,
}

impl Match {
    /// Creates a match whose first step is due one period after `start`.
    pub fn new(
        id: Id,
        (simulation, game): (Simulation, Game),
        settings: Settings,
        start: Duration,
    ) -> Self {
        let mut new = Self {
            id,
            simulation,
            game,
            settings,
            timer: FrameTimer::new(start),
            played_to: start,
            step_cost: Duration::ZERO,
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

    pub fn period(&self) -> Duration {
        self.simulation.clock().settings().rate().period()
    }

    /// Returns when the next step is due, rounded up to a nanosecond.
    ///
    /// The match's clock computes it from all the time that it was given, so rounding errors do not add up.
    pub fn due(&self) -> Duration {
        let until = self.simulation.clock().until_next_step();
        self.played_to + until.expect("matches are never paused")
    }

    /// Runs a frame: the steps that are due by now, each of them timed. Returns `None` if the match continues.
    pub fn play(&mut self, now: impl Fn() -> Duration) -> Option<Ending> {
        let begin = now();
        self.last.clear();
        self.simulation
            .clock_settings_mut()
            .set_budget(Some(Budget {
                frame: self.settings.budget,
                step: self.step_cost,
            }));
        self.simulation.begin_frame(self.timer.frame(begin));
        self.played_to = begin;
        while self.tick() < self.settings.length
            && let Some(step) = self.simulation.next_step()
        {
            self.game.step(&mut self.simulation.physics, step);
            self.simulation.make_step();
            let due = begin.saturating_sub(step.real_frame_end - step.real_end);
            self.last.lateness.push(now().saturating_sub(due));
        }
        self.last.dropped = self.simulation.end_frame().dropped;
        self.take_stock(now().saturating_sub(begin));
        self.ending()
    }

    fn take_stock(&mut self, cost: Duration) {
        let steps = self.last.lateness.len() as u32;
        let step_cost = cost / steps.max(1);
        self.step_cost = (self.step_cost * 7 + step_cost) / 8;
        // A frame that catches up on lost time may take longer. The clock's budget limits that.
        self.last.is_over_budget = step_cost > self.settings.budget;
        self.over_budget_in_a_row = match self.last.is_over_budget {
            true => self.over_budget_in_a_row + 1,
            false => 0,
        };
        self.record.add(&self.last, self.period());
    }

    fn ending(&self) -> Option<Ending> {
        if self.over_budget_in_a_row >= PATIENCE {
            return Some(Ending::OverBudget);
        }
        (self.tick() >= self.settings.length).then_some(Ending::Finished)
    }

    pub fn tick(&self) -> u64 {
        self.simulation.physics.tick()
    }

    pub fn checksum(&self) -> u64 {
        self.simulation.physics.checksum()
    }

    /// Returns whether all bodies are asleep. The match continues to count steps, which then cost next to nothing.
    pub fn is_idle(&self) -> bool {
        self.tick() > 0 && self.simulation.frame().awake == 0
    }

    /// Returns the parts that move to another server.
    pub fn parts(&self) -> (&Simulation, &Game, Settings) {
        (&self.simulation, &self.game, self.settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const START: Duration = Duration::from_millis(5);

    fn new(budget: Duration) -> Match {
        let settings = Settings {
            budget,
            length: u64::MAX,
        };
        Match::new(0, Game::new(1, 0, false), settings, START)
    }

    /// Returns when step `n` is due, counted from 1 and rounded up to a nanosecond.
    fn exact(n: u64) -> Duration {
        START + Duration::from_nanos((n * 1_000_000_000).div_ceil(60))
    }

    #[test]
    fn it_is_due_once_a_period_without_drift() {
        let mut playing = new(MS(16));
        for n in 1..=1_000 {
            let due = playing.due();
            assert_eq!(due, exact(n));
            playing.play(|| due);
            assert_eq!(playing.tick(), n);
        }
    }

    #[test]
    fn a_frame_that_comes_early_makes_no_step() {
        let mut playing = new(MS(16));
        playing.play(|| exact(1) - MS(1));
        assert_eq!((playing.tick(), playing.last.lateness.len()), (0, 0));
        assert_eq!(playing.due(), exact(1));
    }

    #[test]
    fn lateness_is_from_due_to_done() {
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
    fn it_makes_up_for_a_few_steps_drops_the_rest_and_stays_in_phase() {
        let mut playing = new(MS(1_000));
        playing.play(|| exact(10) + MS(3));
        assert_eq!(playing.tick(), u64::from(CATCH_UP));
        assert_eq!(playing.record.dropped.steps, 10 - u64::from(CATCH_UP));
        assert_eq!(playing.due(), exact(11));
    }

    #[test]
    fn over_its_budget_it_makes_up_for_nothing_and_is_ended() {
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
    fn patience_begins_anew_with_a_frame_within_the_budget() {
        let mut playing = new(MS(4));
        for n in 1..=3 * u64::from(PATIENCE) {
            let now = Cell::new(playing.due());
            let look = if n % 10 == 0 { MS(0) } else { MS(10) };
            assert_eq!(playing.play(|| now.replace(now.get() + look)), None);
        }
        assert!(playing.record.over_budget_frames > u64::from(PATIENCE));
    }

    #[test]
    fn it_ends_at_its_length_and_not_later() {
        let mut playing = new(MS(16));
        playing.settings.length = 3;
        let endings = [1, 2, 5].map(|n| playing.play(|| exact(n)));
        assert_eq!(endings, [None, None, Some(Ending::Finished)]);
        assert_eq!((playing.tick(), playing.record.dropped.steps), (3, 0));
    }

    #[test]
    fn it_is_idle_once_all_is_asleep() {
        let mut playing = Match::new(0, Game::new(5, 0, true), new(MS(16)).settings, START);
        assert!(!playing.is_idle());
        for n in 1..=600 {
            playing.play(|| exact(n));
        }
        assert!(playing.is_idle());
        assert_eq!(playing.tick(), 600);
    }
}
