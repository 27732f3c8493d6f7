//! Copies of a simulation's last state, to be displayed while steps run.

use std::sync::Arc;

use crate::pose::SmoothingSettings;
use crate::simulation::Simulation;
use crate::time::Clock;

use super::mailbox::{ClockReading, Snapshot, Update};

/// Publishes states of a simulation, and knows the last one.
pub(super) struct Publisher {
    /// The id of the simulation. A call may replace the simulation, and a call or a hook its state.
    run: u64,
    /// The last published state, the version of its poses, and how they are smoothed.
    epoch: u64,
    version: u64,
    smoothing: Arc<SmoothingSettings>,
    /// Published snapshots, for reuse once nobody else has them.
    pub sent: Vec<Arc<Snapshot>>,
}

impl Publisher {
    pub fn new(simulation: &Simulation) -> Self {
        Self {
            run: simulation.id(),
            epoch: 0,
            version: 0,
            smoothing: Arc::clone(simulation.physics.smoothing_settings()),
            sent: Vec::new(),
        }
    }

    pub fn is_other(&self, simulation: &Simulation) -> bool {
        simulation.id() != self.run
    }

    /// Returns whether this simulation has replaced the last one. All of it is published next in that case.
    pub fn notice_other(&mut self, simulation: &mut Simulation) -> bool {
        simulation.notice_physics();
        let is_other = self.is_other(simulation);
        self.run = simulation.id();
        is_other
    }

    /// Returns the last state, if it has not been published yet.
    pub fn publish(&mut self, simulation: &mut Simulation) -> Option<Update> {
        if simulation.is_redoing() {
            return None;
        }
        // A simulation that the game has assigned brings its own screen.
        drop(simulation.take_screen());
        let log = simulation.physics.take_log(self.epoch);
        let version = simulation.physics.pairs.movers().version();
        let smoothing = simulation.physics.smoothing_settings();
        let is_same = (self.epoch, self.version) == (log.epoch, version)
            && Arc::ptr_eq(&self.smoothing, smoothing);
        if log.is_empty() && is_same {
            return None;
        }
        (self.epoch, self.version) = (log.epoch, version);
        self.smoothing = Arc::clone(smoothing);
        let mut snapshot = self.free_snapshot();
        let filled = Arc::get_mut(&mut snapshot).expect("nobody else has the snapshot");
        filled.fill(simulation);
        self.sent.push(Arc::clone(&snapshot));
        Some(Update {
            snapshot,
            log,
            replaces: None,
        })
    }

    /// Returns a snapshot that nobody else has. The number of snapshots stays close to that of the waiting and
    /// displayed ones.
    fn free_snapshot(&mut self) -> Arc<Snapshot> {
        let mut sent = self.sent.iter_mut();
        let free = sent.position(|snapshot| Arc::get_mut(snapshot).is_some());
        free.map_or_else(Arc::default, |free| self.sent.swap_remove(free))
    }
}

impl Snapshot {
    /// Fills the snapshot with a simulation's last state, in place of an earlier one.
    fn fill(&mut self, simulation: &Simulation) {
        let clock = simulation.clock();
        self.run = simulation.id();
        self.frame = simulation.frame().number;
        self.tick = simulation.physics.tick();
        self.time = clock.simulated();
        self.dt = simulation.last_dt();
        self.is_single = clock.settings().stands_still() && simulation.frame().steps > 0;
        self.origin = simulation.physics.origin;
        self.movers.copy_shown(simulation.physics.pairs.movers());
        self.smoothing = Arc::clone(simulation.physics.smoothing_settings());
    }
}

impl ClockReading {
    /// Returns the reading at the end of the last frame.
    pub fn of(clock: &Clock) -> Self {
        let settings = clock.settings();
        let speed = if settings.stands_still() {
            0.0
        } else {
            settings.speed()
        };
        Self {
            real: clock.real_time(),
            time: clock.time(),
            speed,
        }
    }
}
