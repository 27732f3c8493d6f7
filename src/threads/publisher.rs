//! Copies of a simulation's last state, to be displayed while steps run.

use std::sync::{Arc, Mutex};

use crate::ecs::StateNumber;
use crate::events::StepId;
use crate::lock::lock;
use crate::pose::{Changes, Origin, Scope, SmoothingSettings};
use crate::simulation::Simulation;
use crate::time::Clock;

use super::mailbox::{ClockReading, Snapshot, Update};

pub(super) struct Publisher {
    /// The timeline of the simulation. A call may replace the simulation, and a call or a hook its state. Then another
    /// timeline begins.
    timeline: u64,
    /// Whether the next state is the first one of a later timeline than the first.
    begins_timeline: bool,
    /// Whether the next state does not depend on earlier ones, so the view has to drop its visual errors.
    starts_over: bool,
    /// What was published last, or `None` if the next state is compared with all bodies.
    last: Option<Published>,
    pub last_number: StateNumber,
    newest: NewestState,
}

/// A body that an entity map has by now is in all states later than this one, until it is removed. While hooks may run,
/// this is the last published state, and while none does, the number before it.
pub(super) type NewestState = Arc<Mutex<StateNumber>>;

/// Everything of a state that a view displays. If it is equal, so is the picture.
struct Published {
    movers_version: u64,
    smoothing: Arc<SmoothingSettings>,
    origin: Origin,
    next_dt: f32,
}

impl Published {
    /// Returns what a view would display of this state.
    fn of(simulation: &Simulation) -> Self {
        let physics = &simulation.physics;
        Self {
            movers_version: physics.pairs.movers().poses_version(),
            smoothing: Arc::clone(physics.smoothing_settings()),
            origin: physics.origin,
            next_dt: next_dt(simulation),
        }
    }

    /// Returns whether a view would display the same bodies in motion. Those with the same version have the same poses.
    /// Changes of bodies at rest are in the update's list. The length of the next step tells how far a view
    /// extrapolates.
    fn is_same(&self, other: &Self) -> bool {
        self.movers_version == other.movers_version
            && Arc::ptr_eq(&self.smoothing, &other.smoothing)
            && self.origin == other.origin
            && self.next_dt.to_bits() == other.next_dt.to_bits()
    }
}

impl Publisher {
    /// Returns a publisher for a view that displays this simulation already. So its first state continues the picture,
    /// and only lists all bodies.
    pub fn new(simulation: &Simulation) -> Self {
        Self {
            timeline: simulation.timeline(),
            begins_timeline: false,
            starts_over: false,
            last: None,
            last_number: StateNumber::default(),
            newest: NewestState::default(),
        }
    }

    /// Returns where the number of the newest state is found from now on.
    pub fn newest(&self) -> NewestState {
        Arc::clone(&self.newest)
    }

    /// Tells entity maps whether no hook or call runs until the next call of this function, and the last published
    /// state has all bodies. If so, a body that it lacks was removed, although no later state follows.
    pub fn set_idle(&mut self, is_idle: bool) {
        // The call with `false` comes before any hook or call runs. So a sync that has read the earlier number knows no
        // body that is inserted later, and all bodies that it knows are in the last state, or were removed.
        *lock(&self.newest) = if is_idle {
            self.last_number.just_before()
        } else {
            self.last_number
        };
    }

    /// Returns whether the game has assigned another simulation or state since the last call. If so, the next published
    /// state does not continue the picture. An assigned simulation may have an earlier timeline, so another one
    /// begins.
    pub fn detect_replaced(&mut self, simulation: &mut Simulation) -> bool {
        simulation.take_over();
        let is_replaced = simulation.timeline() != self.timeline;
        if is_replaced {
            simulation.begin_timeline();
            self.timeline = simulation.timeline();
            self.begins_timeline = true;
            self.start_over();
        }
        is_replaced
    }

    /// Lets the next state list all bodies, and replace all changes before it.
    pub fn start_over(&mut self) {
        self.last = None;
        self.starts_over = true;
    }

    /// Returns the simulation's state for a view, with the changes since the last call. Returns `None` during a
    /// rollback, whose states are not displayed, or if the view would display the same.
    pub fn publish(&mut self, simulation: &mut Simulation) -> Option<Update> {
        if simulation.is_rolling_back() {
            return None;
        }
        simulation.physics.detect_edits();
        let mut changes = Changes::default();
        if std::mem::take(&mut self.begins_timeline) {
            // The game has replaced the state, so all events of the old one that were not displayed yet are void.
            changes.events.go_back(StepId::default());
        }
        // If the game has ended a frame itself, that picture took changes that the view lacks, so the view starts over.
        let has_picture = simulation.take_screen().has_picture();
        let starts_over = std::mem::take(&mut self.starts_over) || has_picture;
        if starts_over {
            changes.scope = Scope::Unrelated;
        }
        // A view that has not received the changes before these gets all bodies at rest, too.
        let lacks_changes = starts_over || self.last.is_none();
        simulation.physics.complete_changes(lacks_changes);
        changes.append(std::mem::take(&mut simulation.physics.running.changes));
        let published = Published::of(simulation);
        let is_same = |last: &Published| last.is_same(&published);
        if changes.is_empty() && self.last.as_ref().is_some_and(is_same) {
            return None;
        }
        self.last = Some(published);
        let snapshot = Arc::new(Snapshot::of(simulation));
        self.last_number = snapshot.number;
        self.set_idle(false);
        Some(Update { snapshot, changes })
    }
}

impl Snapshot {
    /// Returns the present state, for a view on another thread. It shares the movers, which are the moving bodies with
    /// their last two poses. The next step copies them before it changes them.
    fn of(simulation: &Simulation) -> Self {
        let physics = &simulation.physics;
        Self {
            timeline: simulation.timeline(),
            number: StateNumber::next(),
            tick: physics.tick(),
            movers: Arc::clone(physics.pairs.movers()),
            smoothing: Arc::clone(physics.smoothing_settings()),
            origin: physics.origin,
            time: physics.time(),
            dt: physics.dt_f64(),
            next_dt: next_dt(simulation),
        }
    }
}

/// Returns the expected length of the next step, in seconds. Bodies are extrapolated by up to this time.
fn next_dt(simulation: &Simulation) -> f32 {
    let clock = simulation.clock();
    if clock.used().leaves_a_fraction {
        // Only fixed stepping leaves a fraction, and its steps have the rate's length.
        clock.settings().rate().dt()
    } else {
        // The next step may have any length. It is probably like the last one, because frames have similar lengths.
        simulation.physics.dt()
    }
}

impl ClockReading {
    /// Reads the clock of a simulation, which may be in a rollback.
    pub fn of(simulation: &Simulation) -> Self {
        Self {
            is_rolling_back: simulation.is_rolling_back(),
            ..Self::of_clock(simulation.clock())
        }
    }

    /// Reads a clock. The speed is 0 while the clock is stopped.
    pub fn of_clock(clock: &Clock) -> Self {
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
            is_rolling_back: false,
            displays_state: clock.alpha() >= 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Hooks;
    use crate::testing::flyer;
    use crate::time::FrameTime;
    use rapier::math::Pose;
    use std::time::Duration;

    struct Idle;

    impl Hooks for Idle {
        type Error = ();
    }

    /// Runs a frame and publishes its state, as a worker does.
    fn publish(simulation: &mut Simulation, publisher: &mut Publisher, ms: u64) -> Option<Update> {
        let time = FrameTime::for_one_step(Duration::from_millis(ms));
        simulation.begin_frame_with(&mut Idle, time).unwrap();
        simulation.run_steps(&mut Idle).unwrap();
        simulation.close_frame();
        publisher.publish(simulation)
    }

    #[test]
    fn a_pause_publishes_a_state_only_after_a_visible_change() {
        let (mut simulation, key) = flyer();
        let mut publisher = Publisher::new(&simulation);
        assert!(publish(&mut simulation, &mut publisher, 10).is_some());
        simulation.pause();
        publish(&mut simulation, &mut publisher, 0);
        assert!(publish(&mut simulation, &mut publisher, 0).is_none());
        simulation.clock_settings_mut().set_speed(2.0).unwrap();
        assert!(publish(&mut simulation, &mut publisher, 0).is_none());
        simulation.physics.teleport(key, Pose::IDENTITY).unwrap();
        assert!(publish(&mut simulation, &mut publisher, 0).is_some());
    }
}
