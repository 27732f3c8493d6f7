//! The plain map: every body's state is copied before and after every step.

use super::reference::{Velocity, Way, are_near, one_step_back};
use super::scenes::STEPPINGS;
use super::scenes::testing::{at_most, pose, spin, translation, vector};
use super::script::{Access, Action, Deed, Kind, Part, Setting};
use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use std::collections::BTreeMap;
use std::time::Duration;

pub struct Body {
    /// What frames show.
    pub way: Way,
    /// That of the last step, if it was put elsewhere since.
    pub stepped: Option<Way>,
    /// The ways of earlier steps, by the number of steps made at their end.
    pub ways: BTreeMap<u64, Way>,
    /// The first of these that is known: at the earliest that of its birth.
    pub since: u64,
    /// Whether the way of that one is known for sure: not of the step in which keeping began.
    pub is_since_known: bool,
    smoothing: Option<Smoothing>,
    /// Where the last step left it, or where it was born.
    left_at: Pose,
    was_teleported: bool,
    /// No step was made with it.
    is_new: bool,
    /// At the beginning of the step at hand. The velocity is `None` of one that is led and was put elsewhere.
    start: (Pose, Option<Velocity>),
    /// Whether its velocity may have been taken for that after the step: it slept, or is led and was put
    /// elsewhere among steps of one frame.
    may_be_unseen: bool,
    /// Its position is not finite, or was in this step: only that what is shown is finite is known.
    pub is_lost: bool,
    /// Up to this tick what it did is not known.
    pub lost_until: Option<u64>,
    /// The previous pose took arithmetic.
    pub is_rounded: bool,
    /// It was put elsewhere since the last step.
    pub is_altered: bool,
}

/// What a frame showed.
pub struct Shown {
    pub tick: u64,
    pub alpha: f32,
    /// Of bodies that were not put elsewhere since.
    pub poses: BTreeMap<BodyKey, Pose>,
}

impl Body {
    /// Earlier ticks are not known any more.
    fn begin_at(&mut self, tick: u64) {
        self.since = tick;
        self.is_since_known = false;
        self.ways.retain(|of, _| *of == tick);
    }
}

#[derive(Default)]
pub struct Model {
    /// Those that something is done to, in order of birth.
    keys: Vec<BodyKey>,
    pub bodies: BTreeMap<BodyKey, Body>,
    /// The last few frames.
    pub frames: Vec<Shown>,
    /// What each frame showed, and which bodies were gone in it.
    pub screens: Vec<BTreeMap<BodyKey, Pose>>,
    pub deaths: Vec<Vec<BodyKey>>,
    /// Since the last frame.
    pub dead: Vec<BodyKey>,
    pub teleports: usize,
    pub set_from_velocity: usize,
    /// The number of states kept.
    pub history: usize,
    /// What waits for the next step.
    pushes: Vec<(BodyKey, Vector)>,
    /// How many of these were there before the step at hand, and at the end of the last frame.
    waiting: usize,
    lasting: usize,
    /// How many steps are due in the frame at hand.
    due: u64,
    /// The length of the last step; before the first one, that of the rate.
    dt: f32,
    has_stepped: bool,
    /// Of the frame at hand.
    is_after_step: bool,
    /// How the origin was shifted in the step at hand, before it is made.
    shifted: Option<Pose>,
    /// A single step while paused, of the next frame.
    asks_for_step: bool,
    smoothing: Smoothing,
    new_tick: Option<u64>,
    /// Whether steps were made since the ways that frames show.
    is_outdated: bool,
}

const PUSH: Vector = vector(1.0, 2.0, 0.5);

/// What the game gets at: in a hook the physics, elsewhere the whole simulation.
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

/// Zero of a body that Rapier does not move, or is about to disable.
fn velocity(body: &RigidBody) -> Velocity {
    let (linear, angular) = (body.linvel(), body.angvel());
    let moves = body.is_enabled() && !body.is_sleeping();
    if moves && linear.is_finite() && angular.is_finite() {
        Velocity { linear, angular }
    } else {
        Velocity::default()
    }
}

/// As Rapier caps it at the beginning of a step.
fn capped(body: &RigidBody, physics: &Physics, dt: f32) -> Velocity {
    let mut velocity = velocity(body);
    if body.is_dynamic() {
        let parameters = physics.rapier().integration_parameters;
        let most = parameters.max_linear_velocity();
        velocity.linear = velocity.linear.clamp_length_max(most);
        let most = std::f32::consts::FRAC_PI_4 / dt;
        velocity.angular = at_most(velocity.angular, most);
    }
    velocity
}

fn stands_still(simulation: &Simulation) -> bool {
    let settings = simulation.clock().settings();
    settings.is_paused() || settings.speed() == 0.0
}

fn is_led(body: &RigidBody) -> bool {
    body.body_type() == RigidBodyType::KinematicPositionBased
}

/// # Steps and frames
impl Model {
    /// Of a simulation in which nothing has happened yet. What is in it goes on as it is.
    pub fn new(simulation: &Simulation) -> Self {
        let mut model = Self::default();
        model.expect_dt(simulation);
        for (key, body) in simulation.physics.bodies() {
            model.born(&simulation.physics, key, *body.position());
        }
        model.keys.clear();
        model
    }

    pub fn living(&self) -> Vec<BodyKey> {
        self.bodies.keys().copied().collect()
    }

    /// A frame of this length is about to begin: it reads the settings.
    pub fn begin_frame(&mut self, simulation: &Simulation, frame_time: Duration) {
        let mut clock = simulation.clock().clone();
        clock.begin_frame(frame_time);
        self.due = clock.due();
        self.expect_dt(simulation);
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

    pub fn take_step(&mut self) {
        self.shifted = None;
        self.waiting = self.pushes.len();
    }

    /// Right before Rapier's step.
    pub fn begin_step(&mut self, physics: &Physics, step: Step) {
        for (key, body) in &mut self.bodies {
            let rapiers = physics.body(*key).unwrap();
            let pose = *rapiers.position();
            body.is_lost |= !pose.is_finite();
            if body.is_new && pose != body.way.current {
                // It was where its first step begins.
                for frame in &mut self.frames {
                    frame.poses.remove(key);
                }
            }
            let mut velocity = capped(rapiers, physics, step.dt);
            body.may_be_unseen |= rapiers.is_sleeping();
            let pushes = self.pushes.iter().filter(|(pushed, _)| pushed == key);
            if rapiers.is_dynamic() && pushes.clone().count() > 0 {
                let mut body = rapiers.clone();
                for (_, push) in pushes {
                    body.apply_impulse(*push, true);
                }
                velocity = capped(&body, physics, step.dt);
            }
            let was_put = body.was_teleported || pose != body.left_at;
            let is_noticed = body.was_teleported || !self.is_outdated;
            body.may_be_unseen |= is_led(rapiers) && was_put;
            // One that stood still was at rest there, if frames without a step have shown it so.
            let is_stale = velocity != Velocity::default();
            let is_unknown = is_led(rapiers) && was_put && is_noticed && is_stale;
            body.start = (pose, (!is_unknown).then_some(velocity));
        }
        self.pushes.clear();
    }

    /// Right after Rapier's step.
    pub fn end_step(&mut self, physics: &Physics, step: Step) {
        let tick = step.tick + 1;
        self.is_after_step = true;
        self.due -= 1;
        (self.dt, self.has_stepped) = (step.dt, true);
        self.is_outdated = !(step.is_last || self.history > 2);
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
                Velocity::default() // whatever rounding makes of it
            } else {
                velocity(rapiers)
            };
            let mut before = before.unwrap_or(after);
            if rapiers.is_sleeping() || !rapiers.is_enabled() || has_stayed {
                // It came to rest where it is: it does not swing past that.
                before = after;
            }
            body.left_at = current;
            body.was_teleported = false;
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
            body.stepped = None;
            if self.history > 2 && body.lost_until.is_none_or(|lost| lost < tick) {
                body.ways.insert(tick, body.way);
            }
        }
    }

    /// A frame of so many steps has ended: without one, and if time stands still, what was pushed since the frame before
    /// is forgotten. Gives how much that is.
    pub fn end_frame(&mut self, simulation: &Simulation, steps: u64) -> u64 {
        self.is_after_step = false;
        let mut forgotten = 0;
        if steps == 0 && stands_still(simulation) && !self.asks_for_step {
            let first = self.lasting.min(self.pushes.len());
            forgotten = self.pushes.drain(first..).count() as u64;
        }
        self.lasting = self.pushes.len();
        forgotten
    }

    /// Bodies that Rapier has elsewhere than the last step left them.
    pub fn notice(&mut self, physics: &Physics) {
        for key in self.living() {
            let pose = *physics.body(key).unwrap().position();
            if pose.is_finite() && pose != self.bodies[&key].way.current {
                let body = self.bodies.get_mut(&key).unwrap();
                body.stepped.get_or_insert(body.way);
                body.is_rounded |= body.way.put(pose);
                self.forget_current(key, physics.tick());
            }
        }
    }

    /// The frame, or the one that takes its place, begins without the steps that were due. Gives how many.
    pub fn abort(&mut self, physics: &Physics, was_taken: bool) -> u64 {
        let tick = physics.tick();
        if was_taken {
            self.pushes.truncate(self.waiting);
            // Who was born in the step that is not made was there before it.
            for body in self.bodies.values_mut() {
                body.since = body.since.min(tick);
            }
            if let Some(by) = self.shifted.take() {
                self.begin_at_origin(&by, tick);
            }
        }
        let due = std::mem::take(&mut self.due);
        if due == 0 {
            return 0;
        }
        let was_outdated = std::mem::take(&mut self.is_outdated);
        if !was_outdated {
            self.notice(physics);
        }
        for (key, body) in &mut self.bodies {
            let pose = *physics.body(*key).unwrap().position();
            body.is_lost |= !pose.is_finite();
            body.way = Way::at_rest(pose);
            if was_outdated {
                body.stepped = None;
            }
            if let Some(way) = body.ways.get_mut(&physics.tick()) {
                *way = body.stepped.unwrap_or(body.way);
            }
        }
        for key in self.living() {
            self.forget_current(key, physics.tick());
        }
        due
    }

    /// The origin was shifted in a step that is dropped: nothing before this tick is known.
    fn begin_at_origin(&mut self, by: &Pose, tick: u64) {
        for key in self.living() {
            let body = self.bodies.get_mut(&key).unwrap();
            body.begin_at(tick);
            if let Some(way) = body.ways.get_mut(&tick) {
                way.transform(by);
            }
            self.forget_all(key);
        }
    }

    /// The body is shown otherwise than the last step moved it, which is what its history has.
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

/// # Actions
impl Model {
    fn born(&mut self, physics: &Physics, key: BodyKey, pose: Pose) {
        self.keys.push(key);
        // In a hook before a step, the state after that step is the first with it.
        let is_before_step = physics.current_step().is_some();
        let body = Body {
            way: Way::at_rest(pose),
            stepped: None,
            ways: BTreeMap::new(),
            since: physics.tick() + u64::from(is_before_step),
            is_since_known: self.history > 2 && (is_before_step || !self.is_outdated),
            smoothing: None,
            left_at: pose,
            was_teleported: false,
            is_new: true,
            start: (pose, None),
            may_be_unseen: false,
            is_lost: false,
            lost_until: None,
            is_rounded: false,
            is_altered: false,
        };
        self.bodies.insert(key, body);
    }

    fn died(&mut self, key: BodyKey) {
        self.keys.retain(|other| *other != key);
        self.bodies.remove(&key);
        self.dead.push(key);
        self.forget_all(key);
    }

    pub fn act(&mut self, game: &mut impl Reach, action: &Action) {
        let physics = game.physics();
        match action {
            Action::Spawn { kind, x } => self.spawn(physics, *kind, *x),
            Action::Track { x } => {
                let at = translation(*x, 8.0, 0.0);
                let body = RigidBodyBuilder::dynamic().pose(at);
                let handle = physics.rapier_mut().insert_body(body);
                let key = physics.track(handle).unwrap();
                self.born(physics, key, at);
            }
            Action::ShiftOrigin(x) => self.shift_origin(physics, vector(*x, 3.0, -*x)),
            Action::Set(setting) => {
                if let Some(simulation) = game.simulation() {
                    self.set(simulation, setting);
                }
            }
            Action::To(i, deed) => {
                if let Some(key) = self.keys.get(i % self.keys.len().max(1)) {
                    let key = *key;
                    self.act_on(physics, key, deed);
                    if let Some(body) = self.bodies.get_mut(&key) {
                        body.may_be_unseen |= physics.body(key).unwrap().is_sleeping();
                    }
                }
            }
        }
    }

    fn spawn(&mut self, physics: &mut Physics, kind: Kind, x: f32) {
        let at = translation(x, 1.0 + x.abs(), 0.3 * x);
        let spin = spin(9.0, x, 1.0);
        let body = match kind {
            Kind::Fixed => RigidBodyBuilder::fixed(),
            Kind::Asleep => RigidBodyBuilder::dynamic().sleeping(true),
            Kind::Spinner | Kind::Hammer => RigidBodyBuilder::dynamic().angvel(spin),
            Kind::Bullet => RigidBodyBuilder::dynamic()
                .ccd_enabled(true)
                .linvel(Vector::Y * -600.0),
            Kind::Conveyor => RigidBodyBuilder::kinematic_velocity_based()
                .linvel(Vector::X)
                .angvel(spin),
            Kind::Platform | Kind::Door => RigidBodyBuilder::kinematic_position_based(),
        };
        let off = match kind {
            Kind::Hammer | Kind::Door | Kind::Conveyor => vector(0.5, 0.0, 0.2),
            _ => Vector::ZERO,
        };
        let ball = ColliderBuilder::ball(0.4).translation(off);
        let key = physics.insert(body.pose(at), ball);
        // Whatever slows down is asleep after a few steps, and never wakes and falls asleep again within one.
        let body = physics.body_mut(key).unwrap();
        body.activation_mut().time_until_sleep = 0.06;
        body.activation_mut().normalized_linear_threshold = 0.5;
        self.born(physics, key, at);
    }

    fn shift_origin(&mut self, physics: &mut Physics, origin: Vector) {
        if !self.is_outdated {
            self.notice(physics);
        }
        physics.shift_origin(origin).unwrap();
        let tick = physics.tick();
        let is_before_step = physics.current_step().is_some();
        let is_within_step = is_before_step || self.is_after_step;
        let by = Pose::from_translation(-origin);
        if is_before_step {
            self.shifted = Some(by * self.shifted.unwrap_or(Pose::IDENTITY));
        }
        for key in self.living() {
            let body = self.bodies.get_mut(&key).unwrap();
            if let Some(stepped) = &mut body.stepped {
                stepped.transform(&by);
            }
            if !is_within_step {
                body.begin_at(tick);
            }
            if let Some(way) = body.ways.get_mut(&tick).filter(|_| !is_before_step) {
                way.transform(&by);
            }
            self.transform(key, &by, tick);
            if !is_within_step {
                self.forget_all(key);
            }
        }
    }

    /// The body was moved together with its motion. Earlier motions stay where they were.
    fn transform(&mut self, key: BodyKey, by: &Pose, tick: u64) {
        let body = self.bodies.get_mut(&key).unwrap();
        body.way.transform(by);
        body.left_at = by * body.left_at;
        self.forget_current(key, tick);
    }

    fn set(&mut self, simulation: &mut Simulation, setting: &Setting) {
        match *setting {
            Setting::Smoothing(smoothing) => {
                simulation.smoothing = smoothing;
                // The loop passes it on in its next call. This one does nothing else: that tick is not kept.
                let _ = simulation.rewind(u64::MAX);
                self.smoothing = smoothing;
                self.expect_dt(simulation);
            }
            Setting::History(states) => {
                simulation.set_history(states);
                self.set_history(states, simulation.physics.tick());
            }
            Setting::Tick(tick) => {
                simulation.clock_settings_mut().set_tick(tick);
                self.new_tick = Some(tick);
            }
            Setting::Hz(hz) => simulation
                .clock_settings_mut()
                .set_rate(Rate::hz(hz).unwrap()),
            Setting::Pause => simulation.pause(),
            Setting::Resume => {
                simulation.resume();
                self.asks_for_step = false;
            }
            Setting::StepOnce => {
                simulation.clock_settings_mut().step_once();
                self.asks_for_step = simulation.clock().settings().is_paused();
            }
            Setting::Speed(speed) => simulation.set_speed(speed).unwrap(),
            Setting::Stepping(i) => simulation.clock_settings_mut().set_stepping(STEPPINGS[i]),
            Setting::MaxSteps(most) => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(most),
        }
    }

    /// What was let go, or was never kept, is not known again.
    fn set_history(&mut self, states: usize, tick: u64) {
        let kept = self.history.max(2) as u64 - 1;
        self.history = states;
        for body in self.bodies.values_mut() {
            body.is_since_known = false;
            if states <= 2 {
                body.ways.clear();
            } else {
                body.since = body.since.max((tick + 1).saturating_sub(kept));
                if !self.is_outdated && !body.is_new {
                    let way = body.stepped.unwrap_or(body.way);
                    body.ways.entry(tick).or_insert(way);
                }
            }
        }
    }

    fn act_on(&mut self, physics: &mut Physics, key: BodyKey, deed: &Deed) {
        let handle = physics.handle(key).unwrap();
        let rapiers = &physics.rapier().bodies[handle];
        let (position, collider) = (*rapiers.position(), rapiers.colliders().first().copied());
        let to = |x: f32| pose(vector(x, 6.0, -x), spin(0.1 * x, 0.2, 0.0));
        match *deed {
            Deed::Remove => {
                physics.remove(key).unwrap();
                self.died(key);
            }
            Deed::RemoveThroughRapier => {
                physics.rapier_mut().remove_body(handle).unwrap();
                self.died(key);
            }
            Deed::Teleport(x) => {
                physics.teleport(key, to(x)).unwrap();
                let body = self.bodies.get_mut(&key).unwrap();
                body.stepped.get_or_insert(body.way);
                body.way.put(to(x));
                body.way.previous = to(x);
                body.way.before = Velocity::default();
                body.way.before_waking = None;
                body.way.after = Velocity::default();
                body.was_teleported = true;
                self.teleports += 1;
                self.forget_current(key, physics.tick());
            }
            Deed::TeleportBy(x) => {
                let by = pose(vector(x, 1.0, 0.0), spin(0.0, 0.1 * x, 0.0));
                let result = physics.teleport_by(key, by);
                if position.is_finite() {
                    assert_eq!(result, Ok(()));
                    self.teleports += 1;
                    let body = self.bodies.get_mut(&key).unwrap();
                    body.stepped.get_or_insert(body.way);
                    self.transform(key, &by, physics.tick());
                    // The velocity of one that is led is not turned with it.
                    let is_led = is_led(physics.body(key).unwrap());
                    self.bodies.get_mut(&key).unwrap().may_be_unseen |= is_led;
                } else {
                    assert_eq!(result, Err(BodyError::NotFinite(key)));
                }
            }
            Deed::Put(part, x, how) => {
                let body = access(physics, key, how);
                // Half of them without waking the body: nothing but we will look at it then.
                match part {
                    Part::Whole => body.set_position(to(x), x > 0.0),
                    Part::Translation => body.set_translation(to(x).translation, x > 0.0),
                    Part::Rotation => body.set_rotation(to(x).rotation, x > 0.0),
                }
            }
            Deed::Push => {
                physics.apply_impulse(key, PUSH).unwrap();
                self.pushes.push((key, PUSH));
            }
            Deed::SetVelocity(x, how) => {
                let body = access(physics, key, how);
                body.set_linvel(vector(0.1 * x, 2.0, 0.5), true);
                body.set_angvel(spin(0.5, x, 3.0), true);
            }
            Deed::Sleep(how) => access(physics, key, how).sleep(),
            Deed::Toggle => {
                let body = physics.body_mut(key).unwrap();
                body.set_enabled(!body.is_enabled());
            }
            Deed::NanVelocity => physics.body_mut(key).unwrap().set_linvel(Vector::NAN, true),
            Deed::NanPosition => {
                let body = physics.body_mut(key).unwrap();
                body.set_position(Pose::from_translation(Vector::NAN), true);
                self.bodies.get_mut(&key).unwrap().is_lost = true;
            }
            Deed::SetType(i) => {
                let types = [
                    RigidBodyType::Dynamic,
                    RigidBodyType::Fixed,
                    RigidBodyType::KinematicPositionBased,
                    RigidBodyType::KinematicVelocityBased,
                ];
                let body = physics.body_mut(key).unwrap();
                body.set_body_type(types[usize::from(i)], true);
            }
            Deed::Target { x, ms } => {
                let is_led = is_led(&physics.rapier().bodies[handle]);
                let time = physics.time() + Duration::from_millis(ms);
                let result = physics.set_kinematic_target(key, to(x), time);
                assert_eq!(
                    result,
                    is_led.then_some(()).ok_or(BodyError::NotKinematic(key))
                );
            }
            Deed::SetNext(x) => {
                let body = physics.body_mut(key).unwrap();
                body.set_next_kinematic_position(to(x));
            }
            Deed::SetPreviousFromVelocity => self.set_previous(physics, key),
            Deed::SetSmoothing(smoothing) => {
                physics.set_body_smoothing(key, smoothing).unwrap();
                self.bodies.get_mut(&key).unwrap().smoothing = smoothing;
                assert_eq!(physics.body_smoothing(key), smoothing);
            }
            Deed::AddCollider(x) => {
                let ball = ColliderBuilder::ball(0.2).translation(vector(0.0, 0.0, 0.1 * x));
                physics.insert_collider(key, ball).unwrap();
            }
            Deed::RemoveCollider => {
                if let Some(collider) = collider {
                    physics.remove_collider(collider).unwrap();
                }
            }
        }
    }

    fn set_previous(&mut self, physics: &mut Physics, key: BodyKey) {
        if !self.is_outdated {
            self.notice(physics);
        }
        physics.set_previous_from_velocity(key).unwrap();
        let dt = self.dt;
        let rapiers = physics.body(key).unwrap();
        let (position, after) = (*rapiers.position(), velocity(rapiers));
        if !position.is_finite() {
            return;
        }
        self.set_from_velocity += 1;
        let body = self.bodies.get_mut(&key).unwrap();
        let center = rapiers.mass_properties().local_mprops.local_com;
        let expected = one_step_back(&position, after, center, dt);
        let smoothing = body.smoothing.unwrap_or(self.smoothing);
        // While steps are still due, no frame will show it; nor will one that shows the state after.
        let shows_previous = matches!(smoothing, Smoothing::Interpolate | Smoothing::Hermite);
        let is_shown = self.due == 0 && shows_previous;
        let tick = physics.tick();
        let is_of_step = physics.current_step().is_none() && body.stepped.is_none();
        // Of the same state, without a past.
        let mut copy = Simulation::with_physics(Rate::default(), physics.clone());
        copy.smoothing = self.smoothing;
        let at_start = copy.pose_at(key, tick, 0.0);
        let previous = if is_shown {
            at_previous(copy).pose(key).unwrap()
        } else {
            // No frame shows it now, but later ones may look back at this tick.
            let of_step = is_of_step.then_some(at_start);
            of_step.flatten().unwrap_or(position)
        };
        let scale = 1.0 + position.translation.length() + dt * after.linear.length();
        assert!(
            !is_shown || are_near(&previous, &expected, scale),
            "{previous:?} is not {expected}"
        );
        let led = is_led(rapiers) && smoothing == Smoothing::Interpolate;
        let before = capped(rapiers, physics, dt);
        body.way = Way {
            previous,
            current: position,
            before,
            before_waking: None,
            after,
            center: if led { Vector::ZERO } else { center },
            smoothing,
            dt,
        };
        if is_of_step && let Some(way) = body.ways.get_mut(&tick) {
            *way = body.way;
            way.previous = at_start.unwrap();
        }
        self.forget_current(key, tick);
    }
}

/// This simulation, as it shows the poses right before the last step, as far as a frame can.
pub fn at_previous(mut simulation: Simulation) -> Simulation {
    // Also without the single steps that were asked for.
    simulation.resume();
    simulation.pause();
    let settings = simulation.clock_settings_mut();
    settings.set_stepping(Stepping::Fixed);
    settings.set_overstep(Duration::ZERO);
    simulation.advance(Duration::ZERO, |_, _| ());
    simulation
}
