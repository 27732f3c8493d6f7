//! Pause, slow motion, and back: five seconds, from the states that the simulation keeps, and the game with them.

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::Simulation;

/// How far back: five seconds.
pub const REWIND_STEPS: u64 = 300;
/// What the states may take: bytes. There are about 100 kB in each.
pub const REWIND_BYTES: usize = 128 << 20;

/// In slow motion.
const SLOW: f64 = 0.2;

/// What the player does with time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeKeys {
    /// It stands still.
    pub is_paused: bool,
    /// It goes slower.
    pub is_slow: bool,
    /// It goes back.
    pub is_rewinding: bool,
}

impl TimeKeys {
    /// How fast time goes, forwards or back: 0 while it stands still.
    #[must_use]
    pub fn speed(self) -> f64 {
        match self {
            Self {
                is_rewinding: true, ..
            } => 1.0,
            Self {
                is_paused: true, ..
            } => 0.0,
            Self { is_slow: true, .. } => SLOW,
            _ => 1.0,
        }
    }

    /// Before a frame that goes forwards.
    pub fn set(self, simulation: &mut Simulation) {
        if self.is_paused {
            simulation.pause();
        } else {
            simulation.resume();
        }
        let speed = if self.is_slow { SLOW } else { 1.0 };
        simulation.set_speed(speed).expect("it is in the range");
    }
}

/// A frame that goes back instead of forwards, as smoothly: it is shown between two states too. At the oldest state
/// that is kept, time stands still.
pub fn go_back(simulation: &mut Simulation, frame_time: Duration) {
    let oldest = simulation.rewindable().start;
    let step = simulation.clock().settings().rate().dt_f64();
    // In steps. What is shown is between the state after `tick - 1` steps and that after `tick`.
    let frame = simulation.frame();
    let now = frame.tick as f64 + f64::from(frame.alpha);
    let shown = (now - frame_time.as_secs_f64() / step).max(oldest as f64);
    let overstep = Duration::from_secs_f64(shown.fract() * step);
    let tick = shown as u64;
    if tick == simulation.physics.tick() || simulation.rewind(tick).is_ok() {
        // A frame in a pause makes no step. Real time goes on, as the stamps of input need it.
        simulation.pause();
        simulation.clock_settings_mut().set_overstep(overstep);
        simulation.advance(frame_time, |_, _| ());
    }
}

/// What the game was before each of the last steps. The simulation keeps its own states; this is the rest.
#[derive(Clone, Debug)]
pub struct Past<T> {
    by_tick: BTreeMap<u64, T>,
}

impl<T: Clone> Past<T> {
    /// Of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            by_tick: BTreeMap::new(),
        }
    }

    /// In the hook, before each step. What was kept of that tick and of later ones did not happen.
    pub fn keep(&mut self, tick: u64, state: &T) {
        drop(self.by_tick.split_off(&tick));
        self.by_tick.insert(tick, state.clone());
        if self.by_tick.len() as u64 > REWIND_STEPS {
            self.by_tick.pop_first();
        }
    }

    /// Before the step of that tick.
    #[must_use]
    pub fn at(&self, tick: u64) -> Option<&T> {
        self.by_tick.get(&tick)
    }
}

impl<T: Clone> Default for Past<T> {
    fn default() -> Self {
        Self::new()
    }
}
