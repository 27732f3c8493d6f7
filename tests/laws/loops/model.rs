//! The game without frames: single steps, with a copy before each. The steps of a frame are counted in whole numbers.

use super::game::{Bits, Game, act};
use super::script::{FrameScript, Setting, Twist};
use crate::scenes::MS;
use evenstep::Simulation;

pub struct Model {
    current: Simulation,
    /// The copies before the steps of ticks from `first` on.
    states: Vec<Simulation>,
    first: u64,
    /// A copy of the loop's simulation, and one of the model's.
    kept: Option<(Simulation, Simulation)>,
    is_paused: bool,
    /// The speed, times two.
    speed: u64,
    /// The overstep in half milliseconds of simulated time.
    overstep: u64,
    /// The time of frames since the last step, in milliseconds.
    waited: u64,
    /// The present tick during a rollback.
    present: Option<u64>,
    interval: u64,
}

/// The commands of a frame, and the number of its steps.
pub struct Plan {
    pub millis: u64,
    pub setting: Option<Setting>,
    pub edits: Vec<u64>,
    pub twist: Option<Twist>,
    /// The number of new steps.
    pub steps: u64,
    /// The tick before the frame.
    pub tick: u64,
    pub interval: u64,
    /// Whether the edits before the frame may add forces.
    pub pushes: bool,
    /// Whether the frame discards the forces that were added before it.
    forgets: bool,
}

impl Plan {
    /// Returns the hook that fails.
    pub fn fails(&self) -> Option<(u64, bool)> {
        match self.twist {
            Some(Twist::Fail { index, is_after }) => Some((index, is_after)),
            _ => None,
        }
    }

    /// Returns the index of the step before which the pull form goes back in time.
    pub fn goes_back_at(&self) -> Option<u64> {
        match self.twist {
            Some(Twist::Late { index, .. } | Twist::Correct { index, .. }) => Some(index),
            _ => None,
        }
    }
}

impl Model {
    pub fn new(simulation: &Simulation, interval: u64) -> Self {
        Self {
            current: simulation.clone(),
            states: Vec::new(),
            first: 0,
            kept: None,
            is_paused: false,
            speed: 2,
            overstep: 0,
            waited: 0,
            present: None,
            interval,
        }
    }

    pub fn tick(&self) -> u64 {
        self.current.physics.tick()
    }

    pub fn bits(&self) -> Bits {
        Bits::of(&self.current.physics)
    }

    pub fn plan(&mut self, frame: &FrameScript) -> Plan {
        // A single step needs a pause.
        let setting = frame
            .setting
            .filter(|setting| self.is_paused || !matches!(setting, Setting::StepOnce));
        match setting {
            Some(Setting::Pause) => self.is_paused = true,
            Some(Setting::Resume) => self.is_paused = false,
            Some(Setting::Speed(speed)) => self.speed = speed,
            _ => (),
        }
        let due = if self.is_paused {
            matches!(setting, Some(Setting::StepOnce)).into()
        } else {
            self.overstep += frame.millis * self.speed;
            let due = self.overstep / 20;
            self.overstep %= 20;
            due
        };
        // An overlap calls the hook after the last step in the next frame. The game does nothing in the hook after a
        // step of an odd tick.
        let is_even = self.tick().is_multiple_of(2);
        // If not every state is kept, the loop determines which edits a rollback undoes.
        let is_every_kept = self.interval == 1;
        let mut edits = frame.edits.clone();
        edits.retain(|_| is_even && is_every_kept);
        let twist = frame.twist.filter(|twist| match twist {
            Twist::Late { .. } | Twist::Fail { .. } => true,
            Twist::Correct { .. } => is_even && is_every_kept,
            // While a step is running, an overlap drops the frames that wait for it.
            Twist::Rewind { .. } | Twist::Scrub { .. } => is_even && self.waited == 0,
            Twist::Take => is_even && is_every_kept && self.waited == 0,
            Twist::Keep => is_even,
        });
        let mut plan = Plan {
            millis: frame.millis,
            setting,
            edits,
            twist,
            steps: due,
            tick: self.tick(),
            interval: self.interval,
            // A copy from a pause keeps the forces of that pause, which the frame may discard. The model cannot
            // distinguish them from other forces, so copies from a pause have none.
            pushes: !(self.is_paused && twist == Some(Twist::Keep)),
            forgets: false,
        };
        plan.steps = match plan.fails() {
            Some((index, false)) => due.min(index),
            Some((index, true)) if index + 1 < due => index + 1,
            _ => due,
        };
        plan.forgets = self.is_paused && plan.steps == 0;
        self.waited += frame.millis;
        if plan.steps > 0 {
            self.waited = 0;
        }
        plan
    }

    /// Edits the state between two frames.
    pub fn edit(&mut self, plan: &Plan) {
        for chance in &plan.edits {
            act(
                &mut self.current.physics,
                *chance,
                plan.pushes && !plan.forgets,
            );
        }
    }

    /// Returns the state before the step of this tick.
    pub fn at(&self, tick: u64) -> Option<&Simulation> {
        if tick == self.tick() {
            return Some(&self.current);
        }
        let index = tick.checked_sub(self.first)?;
        self.states.get(index as usize)
    }

    /// Goes back in time. The steps since then are due again.
    pub fn roll_back(&mut self, tick: u64) {
        if tick < self.tick() {
            self.present = Some(self.tick());
            self.current = self.at(tick).unwrap().clone();
        }
    }

    /// Replaces the state, at the current tick or at another one.
    pub fn replace(&mut self, state: Simulation) {
        if state.physics.tick() != self.tick() {
            self.states.clear();
            self.first = state.physics.tick();
        }
        self.current = state;
    }

    pub fn keep(&mut self, of_loop: Simulation) {
        self.kept = Some((of_loop, self.current.clone()));
    }

    /// Restores the kept copy. Returns the loop's copy.
    pub fn take_kept(&mut self) -> Option<Simulation> {
        let (of_loop, state) = self.kept.take()?;
        self.replace(state);
        Some(of_loop)
    }

    /// Returns the end of the ticks that a rewind can reach.
    fn end(&self) -> u64 {
        self.first + self.states.len() as u64
    }

    pub fn can_rewind(&self, tick: u64) -> bool {
        self.interval == 1 && (self.first..self.end()).contains(&tick)
    }

    pub fn rewind(&mut self, tick: u64) {
        let index = (self.tick() - self.first) as usize;
        if index + 1 >= self.states.len() {
            self.states.truncate(index);
            self.states.push(self.current.clone());
        }
        self.current = self.states[(tick - self.first) as usize].clone();
    }

    /// Resimulates after a rollback, then runs the new steps of the frame.
    pub fn catch_up(&mut self, plan: &Plan, game: &mut Game) {
        let present = self.present.take().unwrap_or(self.tick());
        while self.tick() < present + plan.steps {
            self.step(game);
        }
    }

    fn step(&mut self, game: &mut Game) {
        self.states.truncate((self.tick() - self.first) as usize);
        self.states.push(self.current.clone());
        let made = self.current.advance_with(MS(10), game);
        assert!(made.is_ok_and(|frame| frame.steps == 1));
    }
}
