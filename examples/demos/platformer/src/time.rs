//! Pause, slow motion, and a rewind of five seconds. The simulation keeps its snapshots, and the game keeps its own
//! state with them.

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::Simulation;

/// The length of the rewind: five seconds.
pub const REWIND_STEPS: u64 = 300;
/// The memory limit of the snapshots, in bytes. Each has about 100 kB.
pub const REWIND_BYTES: usize = 128 << 20;

/// The speed of slow motion.
const SLOW: f64 = 0.2;

/// The player's control of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeKeys {
    /// Whether the game is paused.
    pub is_paused: bool,
    /// Whether the game is in slow motion.
    pub is_slow: bool,
    /// Whether the game rewinds.
    pub is_rewinding: bool,
}

impl TimeKeys {
    /// Returns how fast time passes, forwards or backwards. It is 0 in a pause.
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

    /// Applies the settings before a frame that plays forwards.
    pub fn set(self, simulation: &mut Simulation) {
        if self.is_paused {
            simulation.pause();
        } else {
            simulation.resume();
        }
        let speed = if self.is_slow { SLOW } else { 1.0 };
        simulation.clock_settings_mut().set_speed(speed).unwrap();
    }
}

/// Runs a frame that goes back in time, as smoothly as play: its poses are interpolated between two states. Time stops
/// at the oldest snapshot.
pub fn go_back(simulation: &mut Simulation, frame_time: Duration) {
    let oldest = simulation.rewindable().start;
    let step = simulation.clock().settings().rate().dt_f64();
    // Times are in steps. The displayed time is between the states after `tick - 1` and after `tick` steps.
    let frame = simulation.frame();
    let now = frame.tick as f64 + f64::from(frame.alpha);
    let shown = (now - frame_time.as_secs_f64() / step).max(oldest as f64);
    let overstep = Duration::from_secs_f64(shown.fract() * step);
    let tick = shown as u64;
    if tick == simulation.physics.tick() || simulation.rewind(tick).is_ok() {
        // A paused frame runs no step. Real time continues, because input stamps need it.
        simulation.pause();
        simulation.set_overstep(overstep);
        simulation.advance(frame_time, |_, _| ());
    }
}

/// The game's state before each of the last steps. The simulation keeps its own snapshots.
#[derive(Clone, Debug)]
pub struct Past<T> {
    by_tick: BTreeMap<u64, T>,
}

impl<T: Clone> Past<T> {
    /// Creates an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self {
            by_tick: BTreeMap::new(),
        }
    }

    /// Keeps the state before a step. Called in the hook before each step. It discards the states of this tick and of
    /// later ones, which no longer apply.
    pub fn keep(&mut self, tick: u64, state: &T) {
        drop(self.by_tick.split_off(&tick));
        self.by_tick.insert(tick, state.clone());
        if self.by_tick.len() as u64 > REWIND_STEPS {
            self.by_tick.pop_first();
        }
    }

    /// Returns the state before the step of this tick.
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
