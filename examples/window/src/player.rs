//! The game's part in every step, on whichever thread that is made.

use std::collections::VecDeque;
use std::convert::Infallible;

use evenstep::{Hooks, Physics, Simulation, Step};

use crate::game::{Game, Input};
use crate::tape::Tape;

/// How many steps it is possible to go back.
pub const MOST_STEPS_BACK: u64 = 300;
/// And how many bytes they may take.
const MOST_BYTES: usize = 200_000_000;

/// The game, with what it needs around its steps.
pub struct Player {
    /// The game.
    pub game: Game,
    /// What the player does in the next step: its deeds are done once.
    pub input: Input,
    /// The run as it is written, if it is.
    pub tape: Option<Tape>,
    /// The game as it was before each of the last steps: the simulation keeps its own part itself.
    past: VecDeque<(u64, Game)>,
}

impl Player {
    /// Has the simulation keep its states for steps back.
    #[must_use]
    pub fn new(game: Game, simulation: &mut Simulation) -> Self {
        simulation.set_rewind_limits(MOST_STEPS_BACK, MOST_BYTES);
        Self {
            game,
            input: Input::default(),
            tape: None,
            past: VecDeque::new(),
        }
    }

    /// One step back, between two frames. Gives whether there was one.
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
        // What follows does not go on from what was.
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
