//! The game's part in every step, on whichever thread the step runs.

use evenstep::rewind::Kept;
use std::collections::VecDeque;
use std::convert::Infallible;

use evenstep::{Hooks, Physics, Simulation, Step};

use crate::game::{Game, Input};
use crate::tape::Tape;

/// The largest number of steps to go back.
pub const MOST_STEPS_BACK: u64 = 300;
/// The memory limit of the snapshots, in bytes.
const MOST_BYTES: usize = 200_000_000;

/// The game, and what its steps need.
pub struct Player {
    /// The game.
    pub game: Game,
    /// The input of the next step. Its actions are carried out once.
    pub input: Input,
    /// The recording, if there is one.
    pub tape: Option<Tape>,
    /// The game's state before each of the last steps. The simulation keeps its own snapshots.
    past: VecDeque<(u64, Game)>,
}

impl Player {
    /// Creates a player, and lets the simulation keep snapshots.
    #[must_use]
    pub fn new(game: Game, simulation: &mut Simulation) -> Self {
        simulation.keep(Kept {
            ticks: MOST_STEPS_BACK,
            bytes: MOST_BYTES,
            ..Kept::default()
        });
        Self {
            game,
            input: Input::default(),
            tape: None,
            past: VecDeque::new(),
        }
    }

    /// Goes back one step, between two frames. Returns whether that was possible.
    pub fn step_back(&mut self, simulation: &mut Simulation) -> bool {
        let Some(tick) = simulation.physics.tick().checked_sub(1) else {
            return false;
        };
        if simulation.rewind(tick).is_err() {
            return false;
        }
        while let Some((before, game)) = self.past.pop_back() {
            self.game = game;
            if before <= tick {
                break;
            }
        }
        // The next steps do not continue the recorded run.
        if let Some(tape) = &mut self.tape {
            tape.new_run();
        }
        true
    }
}

impl Hooks for Player {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        while self.past.len() as u64 >= MOST_STEPS_BACK {
            self.past.pop_front();
        }
        self.past.push_back((step.tick, self.game.clone()));
        let input = Input {
            deeds: std::mem::take(&mut self.input.deeds),
            ..self.input.clone()
        };
        if let Some(tape) = &mut self.tape {
            tape.input(step, &input);
        }
        self.game.step(physics, step, &input);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if let Some(tape) = &mut self.tape {
            tape.end_step(physics, step);
        }
        Ok(())
    }
}
