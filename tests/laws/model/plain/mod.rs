//! The plain map. It copies every body's state before and after every step.

mod actions;

use super::script::{Access, Action, Deed, Kind, Part, Setting};
use crate::reference::{Velocity, Way};
use crate::scenes::STEPPINGS;
use crate::scenes::testing::{pose, spin, translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use std::collections::BTreeMap;
use std::time::Duration;

pub struct Body {
    /// The path that frames display.
    pub way: Way,
    /// The path of the last step, if the body was teleported since.
    pub stepped: Option<Way>,
    /// The path of the last step, as the current step began.
    begun: Option<Way>,
    /// The paths of earlier steps, by the number of steps at their end.
    pub ways: BTreeMap<u64, Way>,
    /// The first known path in `ways`: at the earliest, that of the body's birth.
    pub since: u64,
    /// Whether the first path is certain. It is not for the step in which keeping began.
    pub is_since_known: bool,
    smoothing: Option<Smoothing>,
    /// The pose after the last step, or at birth.
    left_at: Pose,
    was_teleported: bool,
    /// Whether it was turned since the last step, with its velocity.
    was_turned: bool,
    /// Whether the body has not been in a step yet.
    is_new: bool,
    /// The pose and velocity at the beginning of the current step. The velocity is `None` for a kinematic body that was
    /// teleported.
    start: (Pose, Option<Velocity>),
    /// Whether the velocity before the step may have been taken for the one after it, because the body slept.
    may_be_unseen: bool,
    /// Whether its position is not finite, or was not in this step. Then only the displayed pose is known to be finite.
    pub is_lost: bool,
    /// The tick up to which its motion is unknown.
    pub lost_until: Option<u64>,
    /// Whether the previous pose needed arithmetic.
    pub is_rounded: bool,
    /// Whether it was teleported since the last step.
    pub is_altered: bool,
    /// The pose at which the next picture begins, if the game has asked for one.
    pub begins_at: Option<Pose>,
}

/// The displayed poses of a frame.
pub struct Shown {
    pub tick: u64,
    pub alpha: f32,
    /// The poses of bodies that were not teleported since, and that can be displayed again.
    pub poses: BTreeMap<BodyKey, Pose>,
}

impl Body {
    /// Forgets earlier ticks.
    fn begin_at(&mut self, tick: u64) {
        self.since = tick;
        self.is_since_known = false;
        self.ways.retain(|of, _| *of == tick);
    }
}

#[derive(Default)]
pub struct Model {
    /// The bodies that actions choose from, in order of birth.
    keys: Vec<BodyKey>,
    pub bodies: BTreeMap<BodyKey, Body>,
    /// The last few frames.
    pub frames: Vec<Shown>,
    /// The displayed poses of each frame, and the bodies that it reports as removed.
    pub screens: Vec<BTreeMap<BodyKey, Pose>>,
    pub deaths: Vec<Vec<BodyKey>>,
    /// The bodies that were removed since the last frame.
    pub dead: Vec<BodyKey>,
    /// The number of states kept.
    pub history: u64,
    /// The pushes that wait for the next step.
    pushes: Vec<(BodyKey, Vector)>,
    /// How many pushes waited before the current step, and at the end of the last frame.
    waiting: usize,
    lasting: usize,
    /// How many steps are due in the current frame.
    due: u64,
    /// The length of the last step. Before the first step, the length that the rate gives.
    dt: f32,
    has_stepped: bool,
    /// Whether the current frame is after one of its steps.
    is_after_step: bool,
    /// The shift of the origin in the current step, before it runs.
    shifted: Option<Pose>,
    /// Whether the next frame has a single step during a pause.
    asks_for_step: bool,
    /// Whether the current frame has no step, however long it is.
    was_stopped: bool,
    smoothing: Smoothing,
    new_tick: Option<u64>,
}

const PUSH: Vector = vector(1.0, 2.0, 0.5);

/// The game's access: the physics in a hook, the whole simulation otherwise.
pub trait Reach {
    fn physics(&mut self) -> &mut Physics;
    fn simulation(&mut self) -> Option<&mut Simulation>;
}

impl Reach for Physics {
    fn physics(&mut self) -> &mut Physics {
        self
    }

    fn simulation(&mut self) -> Option<&mut Simulation> {
        None
    }
}

impl Reach for Simulation {
    fn physics(&mut self) -> &mut Physics {
        &mut self.physics
    }

    fn simulation(&mut self) -> Option<&mut Simulation> {
        Some(self)
    }
}

fn access(physics: &mut Physics, key: BodyKey, access: Access) -> &mut RigidBody {
    let handle = physics.handle(key).unwrap();
    match access {
        Access::BodyMut => physics.body_mut(key).unwrap(),
        Access::PhysicsMut => &mut physics.rapier_mut().bodies[handle],
        Access::PhysicsMutFor => &mut physics.rapier_mut_for(&[key]).bodies[handle],
    }
}

fn is_time_stopped(simulation: &Simulation) -> bool {
    let settings = simulation.clock().settings();
    settings.is_paused() || settings.speed() == 0.0
}

fn is_led(body: &RigidBody) -> bool {
    body.body_type() == RigidBodyType::KinematicPositionBased
}

/// # Steps and frames
impl Model {
    /// Creates the map of a simulation in which nothing has happened yet. Existing bodies keep their motion.
    pub fn new(simulation: &Simulation) -> Self {
        let mut model = Self::default();
        model.expect_dt(simulation);
        for (key, body) in simulation.physics.bodies() {
            model.born(&simulation.physics, key, *body.position());
        }
        model.keys.clear();
        model
    }

    pub fn alive(&self) -> Vec<BodyKey> {
        self.bodies.keys().copied().collect()
    }

    /// Reads the settings, right before a frame of this length begins.
    pub fn begin_frame(&mut self, simulation: &Simulation, frame_time: Duration) {
        let mut clock = simulation.clock().clone();
        clock.begin_frame(frame_time);
        self.due = clock.due();
        self.expect_dt(simulation);
        self.was_stopped = is_time_stopped(simulation) && !self.asks_for_step;
        self.asks_for_step = false;
        if let Some(new) = self.new_tick.take()
            && new != simulation.physics.tick()
        {
            self.frames.iter_mut().for_each(|frame| frame.poses.clear());
            for body in self.bodies.values_mut() {
                body.since = new;
                body.is_since_known = false;
                body.lost_until = body.lost_until.map(|_| new);
                body.ways.clear();
                if self.history > 2 {
                    body.ways.insert(new, body.stepped.unwrap_or(body.way));
                }
            }
        }
    }

    fn expect_dt(&mut self, simulation: &Simulation) {
        if !self.has_stepped {
            self.dt = simulation.clock().settings().rate().dt();
        }
    }

    pub fn take_step(&mut self, physics: &Physics) {
        if self.history > 2 {
            // Poses of earlier ticks are kept as each step begins.
            self.detect_edits(physics);
        }
        self.shifted = None;
        self.waiting = self.pushes.len();
        for body in self.bodies.values_mut() {
            body.begun = Some(body.stepped.unwrap_or(body.way));
        }
    }

    /// Copies the bodies right before Rapier's step.
    pub fn begin_step(&mut self, physics: &Physics, step: Step) {
        for (key, body) in &mut self.bodies {
            let rapiers = physics.body(*key).unwrap();
            let pose = *rapiers.position();
            body.is_lost |= !pose.is_finite();
            if body.is_new && pose != body.way.current {
                // Its birth pose becomes the one at which its first step begins.
                for frame in &mut self.frames {
                    frame.poses.remove(key);
                }
            }
            let mut velocity = Velocity::capped(rapiers, physics, step.dt);
            body.may_be_unseen |= rapiers.is_sleeping();
            let pushes = self.pushes.iter().filter(|(pushed, _)| pushed == key);
            if rapiers.is_dynamic() && pushes.clone().count() > 0 {
                let mut body = rapiers.clone();
                for (_, push) in pushes {
                    body.apply_impulse(*push, true);
                }
                velocity = Velocity::capped(&body, physics, step.dt);
            }
            let was_put = body.was_teleported || pose != body.left_at;
            // The velocity of a kinematic body says nothing about its motion from another pose.
            let is_unknown = is_led(rapiers) && (was_put || body.was_turned);
            body.start = (pose, (!is_unknown).then_some(velocity));
        }
        self.pushes.clear();
    }

    /// Copies the bodies right after Rapier's step.
    pub fn end_step(&mut self, physics: &Physics, step: Step) {
        let tick = step.tick + 1;
        self.is_after_step = true;
        self.due -= 1;
        (self.dt, self.has_stepped) = (step.dt, true);
        for (key, body) in &mut self.bodies {
            let rapiers = physics.body(*key).unwrap();
            let current = *rapiers.position();
            let (previous, before) = body.start;
            let smoothing = body.smoothing.unwrap_or(self.smoothing);
            let center = if is_led(rapiers) && smoothing == Smoothing::Interpolate {
                Vector::ZERO
            } else {
                rapiers.mass_properties().local_mprops.local_com
            };
            let has_stayed = is_led(rapiers) && previous == current;
            let after = if has_stayed {
                Velocity::default() // regardless of rounding
            } else {
                Velocity::of(rapiers)
            };
            let mut before = before.unwrap_or(after);
            if rapiers.is_sleeping() || !rapiers.is_enabled() || has_stayed {
                // The body comes to rest at this pose and does not swing past it.
                before = after;
            }
            body.left_at = current;
            (body.was_teleported, body.was_turned) = (false, false);
            body.is_new = false;
            body.is_lost |= !current.is_finite();
            if body.is_lost {
                body.ways.clear();
                body.lost_until = Some(tick);
                body.is_lost = !(previous.is_finite() && current.is_finite());
            }
            body.way = Way {
                previous,
                current,
                before,
                before_waking: body.may_be_unseen.then_some(after),
                after,
                center,
                smoothing,
                dt: step.dt,
            };
            body.may_be_unseen = rapiers.is_sleeping();
            body.is_rounded = false;
            body.is_altered = false;
            (body.stepped, body.begun) = (None, None);
            if self.history > 2 && body.lost_until.is_none_or(|lost| lost < tick) {
                body.ways.insert(tick, body.way);
            }
        }
    }

    /// Ends a frame with this many steps. If it had no step and time is stopped, it forgets the pushes since the
    /// previous frame. Returns the number of forgotten pushes.
    pub fn end_frame(&mut self, simulation: &Simulation, steps: u64) -> u64 {
        self.is_after_step = false;
        let mut forgotten = 0;
        let is_stopped = is_time_stopped(simulation) && !self.asks_for_step;
        if steps == 0 && self.was_stopped && is_stopped {
            let first = self.lasting.min(self.pushes.len());
            forgotten = self.pushes.drain(first..).count() as u64;
        }
        self.lasting = self.pushes.len();
        forgotten
    }

    /// Detects bodies whose pose in Rapier differs from the one after the last step.
    pub fn detect_edits(&mut self, physics: &Physics) {
        for key in self.alive() {
            let pose = *physics.body(key).unwrap().position();
            if pose.is_finite() && pose != self.bodies[&key].way.current {
                let body = self.bodies.get_mut(&key).unwrap();
                body.stepped.get_or_insert(body.way);
                body.is_rounded |= body.way.put(pose);
                self.forget_current(key, physics.tick());
            }
        }
    }

    /// Drops the steps that were due in the frame, or in the one that replaces it. Returns their number.
    pub fn abort(&mut self, physics: &Physics, was_taken: bool) -> u64 {
        let tick = physics.tick();
        if was_taken {
            self.pushes.truncate(self.waiting);
            // The step does not run, so bodies that were born in it count as born before it.
            for body in self.bodies.values_mut() {
                body.since = body.since.min(tick);
                body.begun = None;
            }
            if let Some(by) = self.shifted.take() {
                self.begin_at_origin(&by, tick);
            }
        }
        let due = std::mem::take(&mut self.due);
        if due == 0 {
            return 0;
        }
        self.detect_edits(physics);
        for body in self.bodies.values_mut() {
            // What the game did in the step belongs to the state before it.
            if let Some(way) = body.ways.get_mut(&tick) {
                *way = body.stepped.unwrap_or(body.way);
            }
        }
        due
    }

    /// The origin was shifted in a step that is dropped, so nothing before this tick is known.
    fn begin_at_origin(&mut self, by: &Pose, tick: u64) {
        for key in self.alive() {
            let body = self.bodies.get_mut(&key).unwrap();
            body.begin_at(tick);
            if let Some(way) = body.ways.get_mut(&tick) {
                way.transform(by);
            }
            self.forget_all(key);
        }
    }

    /// The displayed pose of the body differs from the result of the last step, which its history has.
    fn forget_current(&mut self, key: BodyKey, tick: u64) {
        self.bodies.get_mut(&key).unwrap().is_altered = true;
        for frame in self.frames.iter_mut().filter(|frame| frame.tick == tick) {
            frame.poses.remove(&key);
        }
    }

    fn forget_all(&mut self, key: BodyKey) {
        for frame in &mut self.frames {
            frame.poses.remove(&key);
        }
    }
}

/// Returns this simulation with the poses right before the last step displayed, as far as a frame can.
pub fn at_previous(mut simulation: Simulation) -> Simulation {
    // The stepping has no effect while time stands still. The call also clears requested single steps.
    simulation.resume();
    let settings = simulation.clock_settings_mut();
    settings.set_speed(1.0).unwrap();
    settings.set_stepping(Stepping::Fixed);
    simulation.set_overstep(Duration::ZERO);
    simulation.advance(Duration::ZERO, |_, _| ());
    simulation
}
