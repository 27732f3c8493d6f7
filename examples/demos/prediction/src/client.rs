//! The client. It predicts and corrects its own body, the crates near it, and the crate that its player takes. All others
//! are displayed as the server had them a moment ago.
//!
//! This is the part to copy.

use evenstep::rewind::Kept;
use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::rapier::prelude::{Pose, RigidBody, RigidBodyType};
use evenstep::{BodyKey, Correction, Physics, Simulation, Step};

use crate::game::{ARM, Buttons, Held, PLAYERS, act, arena, takes};
use crate::packets::{Inputs, Report, Snapshot, State, read, write};
use crate::server::SNAPSHOT_EVERY;
use crate::timing::{Lead, Pace};
use recipes::remote_bodies::{Delay, RemoteBody};

/// The number of ticks for which snapshots are kept: a second, for a connection with a round trip of nearly that.
const KEPT: u64 = 60;
/// The number of packets that repeat each input. Only an outage loses all of them.
const REPEATED: usize = 8;
/// A prediction this close to the truth, in metres and radians, is not corrected. Nobody sees the difference, and
/// rounding is smaller.
const NEAR_ENOUGH: [f32; 2] = [0.01, 0.05];
/// A proxy that would move further than this in a step, in metres, is teleported. It would throw about bodies in its
/// path.
const LARGEST_STEP: f32 = 0.5;
/// The number of ticks that a client initially runs ahead of the first snapshot: enough for a latency of 80 ms. The
/// right lead is known soon.
const FIRST_LEAD: u64 = 12;
/// After this many ticks without a snapshot, the prediction releases the buttons.
const PATIENCE: u64 = 15;
/// The time in which the picture of a crate that changes hands glides from the past to the present, or back. If it is
/// shorter, fast crates dart. If it is longer, players see crates for longer where they cannot touch them.
const EASE: Duration = Duration::from_millis(300);

/// A client of a match.
#[derive(Debug)]
pub struct Client {
    /// The simulation, from which all bodies are drawn in the same way.
    pub simulation: Simulation,
    /// See [`arena`].
    pub bodies: Vec<BodyKey>,
    /// Statistics.
    pub counts: Counts,
    /// Crates within this distance of the client's body, in metres, are predicted.
    reach: f32,
    /// The number of the client's player, once it is known.
    me: Option<usize>,
    /// For each body, whether it is predicted, and its received states.
    is_predicted: Vec<bool>,
    received: Vec<Received>,
    /// The client's input by tick.
    inputs: BTreeMap<u64, Buttons>,
    /// The buttons and the duration of the last frame.
    buttons: Buttons,
    frame_time: Duration,
    /// The crates that the players held in the newest snapshot.
    held: Held,
    /// The tick of the newest snapshot, and the client's tick at which it arrived.
    newest: u64,
    heard: u64,
    lead: Lead,
    delay: Delay,
}

/// The states of a body that the server has sent.
#[derive(Debug)]
struct Received {
    /// The newest state, and its tick.
    newest: (u64, State),
    poses: RemoteBody,
}

impl Received {
    /// Starts with the state of a body that has existed from the beginning.
    fn new(state: State) -> Self {
        let mut poses = RemoteBody::default();
        poses.push(0.0, state.pose(), 0);
        let newest = (0, state);
        Self { newest, poses }
    }

    /// Adds a state. Ticks must ascend.
    fn push(&mut self, tick: u64, state: State) {
        if self.newest.1.is_at_rest() {
            // Bodies at rest are not sent, so this one rested until the last snapshot without it.
            let last = tick.saturating_sub(SNAPSHOT_EVERY);
            self.poses.rest_until(last as f64);
        }
        self.poses.push(tick as f64, state.pose(), 0);
        self.newest = (tick, state);
    }

    fn pose_at(&self, tick: f64) -> Pose {
        self.poses.pose_at(tick).expect("there is a first state")
    }
}

/// Statistics of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The number of rollbacks.
    pub rollbacks: u64,
    /// The number of resimulated steps.
    pub resimulated: u64,
    /// The number of times that it skipped ticks.
    pub skips: u64,
}

impl Client {
    /// Creates a client that predicts the crates within `reach` metres of its body: 0 for none, infinity for all.
    #[must_use]
    pub fn new(crates: usize, reach: f32) -> Self {
        let (mut simulation, bodies) = arena(crates);
        simulation.keep(Kept {
            ticks: KEPT,
            poses: KEPT,
            ..Kept::default()
        });
        simulation.correction = Correction::half_life(Duration::from_millis(100));
        for key in &bodies[PLAYERS..] {
            let ease = Some(Correction::linear(EASE));
            (simulation.physics.set_body_correction(*key, ease)).expect("bodies stay");
        }
        let received = bodies.iter().filter_map(|key| {
            let body = simulation.physics.body_mut(*key)?;
            body.set_body_type(RigidBodyType::KinematicPositionBased, true);
            Some(Received::new(State::of(body)))
        });
        Self {
            received: received.collect(),
            is_predicted: vec![false; bodies.len()],
            simulation,
            bodies,
            counts: Counts::default(),
            reach,
            me: None,
            inputs: BTreeMap::new(),
            buttons: Buttons::default(),
            frame_time: Duration::ZERO,
            held: Held::default(),
            newest: 0,
            heard: 0,
            lead: Lead::default(),
            delay: Delay::new(SNAPSHOT_EVERY as f64),
        }
    }

    /// Receives a packet from the server, between two frames.
    pub fn receive(&mut self, packet: &[u8]) {
        let snapshot = read::<Snapshot>(packet);
        let Some(snapshot) = snapshot.filter(|it| usize::from(it.player) < PLAYERS) else {
            return;
        };
        // A snapshot that was overtaken is not acknowledged, so its contents are sent again.
        if self.me.is_some() && snapshot.tick <= self.newest {
            return;
        }
        if self.me.replace(snapshot.player.into()).is_none() {
            self.skip(snapshot.tick.saturating_add(FIRST_LEAD));
        }
        (self.newest, self.heard) = (snapshot.tick, self.tick());
        self.held = snapshot.held;
        for (place, state) in &snapshot.bodies {
            if let Some(received) = self.received.get_mut(usize::from(*place)) {
                received.push(snapshot.tick, *state);
            }
        }
        let now = self.tick() as f64 + f64::from(self.simulation.clock().alpha());
        self.delay.record_arrival(now, snapshot.tick as f64);
        if let Some(report) = snapshot.report {
            self.keep_pace(report);
        }
        self.correct();
    }

    /// Runs a frame, in which the player holds down these buttons. Returns the packet to send.
    pub fn frame(&mut self, time: Duration, buttons: Buttons) -> Option<Vec<u8>> {
        let begins_to_take = takes(buttons) && !takes(self.buttons);
        (self.buttons, self.frame_time) = (buttons, time);
        if begins_to_take {
            // The player does not wait for the next snapshot.
            self.correct();
        }
        if self.me.is_some() {
            self.simulation.begin_frame(time);
        }
        while let Some(step) = self.simulation.next_step() {
            // In an outage the server soon continues without input, and so does the prediction.
            let is_lost = step.tick > self.heard + PATIENCE;
            let buttons = if is_lost { Buttons::default() } else { buttons };
            self.inputs.insert(step.tick, buttons);
            self.delay.adapt(1.0);
            self.play(step);
            self.simulation.run_step();
        }
        let frame = self.simulation.end_frame();
        self.counts.resimulated += frame.resimulated;
        (frame.steps > 0 || self.me.is_none()).then(|| write(&self.packet()))
    }

    fn packet(&mut self) -> Inputs {
        let tick = self.simulation.physics.tick();
        self.inputs = self.inputs.split_off(&tick.saturating_sub(KEPT));
        let newest = self.inputs.values().rev().take(REPEATED);
        Inputs {
            ack: self.newest,
            newest: tick.saturating_sub(1),
            buttons: newest.copied().collect(),
        }
    }

    /// Runs the game's part of a step, for the first time or again: the client's input, and proxies along their paths.
    fn play(&mut self, step: Step) {
        if let Some(me) = self.me {
            let buttons = self.inputs.get(&step.tick).copied().unwrap_or_default();
            act(&mut self.simulation.physics, &self.bodies, me, buttons);
        }
        let shown = self.delay.displayed_tick((step.tick + 1) as f64);
        for (place, received) in self.received.iter().enumerate() {
            if !self.is_predicted[place] {
                follow(
                    &mut self.simulation.physics,
                    self.bodies[place],
                    received.pose_at(shown),
                );
            }
        }
    }

    /// Corrects the prediction with the newest snapshot, if it is wrong or a body changes hands.
    fn correct(&mut self) {
        let places = 0..self.bodies.len();
        let is_predicted: Vec<_> = places.map(|place| self.is_mine(place)).collect();
        let pictures = self.pictures_of_changes(&is_predicted);
        let is_right = pictures.is_empty() && !self.is_wrong(self.newest);
        // There is no snapshot of a skipped tick. A later one will do.
        if is_right || self.simulation.roll_back(self.newest).is_err() {
            return;
        }
        self.is_predicted = is_predicted;
        self.counts.rollbacks += 1;
        self.resimulate();
        for (key, picture) in pictures {
            (self.simulation.physics.show_from(key, picture)).expect("bodies stay");
        }
    }

    /// Returns the bodies that change hands, each with the pose at which the next frame would draw it without the change.
    fn pictures_of_changes(&self, is_predicted: &[bool]) -> Vec<(BodyKey, Pose)> {
        let places = 0..self.bodies.len();
        let changes = places.filter(|place| is_predicted[*place] != self.is_predicted[*place]);
        let pictures = changes.filter_map(|place| {
            let mut picture = self.simulation.pose(self.bodies[place])?;
            picture.translation += self.body(place).linvel() * self.frame_time.as_secs_f32();
            Some((self.bodies[place], picture))
        });
        pictures.collect()
    }

    /// Resimulates after a rollback: sets predicted bodies to the server's states, and runs the later steps again.
    pub fn resimulate(&mut self) {
        (0..self.bodies.len()).for_each(|place| self.put(place));
        self.simulation.physics.resources_mut().insert(self.held);
        while let Some(step) = self.simulation.next_step() {
            self.play(step);
            self.simulation.run_step();
        }
    }

    /// Sets a body to its state at the restored tick, unless it is there already.
    fn put(&mut self, place: usize) {
        let (key, tick) = (self.bodies[place], self.simulation.physics.tick());
        let (body_type, truth) = if self.is_predicted[place] {
            (RigidBodyType::Dynamic, self.truth(place, tick))
        } else {
            (RigidBodyType::KinematicPositionBased, None)
        };
        if self.body(place).body_type() == body_type && truth.is_none() {
            return;
        }
        let shown = self.delay.displayed_tick(tick as f64);
        let shown = self.received[place].pose_at(shown);
        let body = self.simulation.physics.body_mut(key).expect("bodies stay");
        body.set_body_type(body_type, true);
        body.set_position(truth.map_or(shown, |state| state.pose()), true);
        if let Some(state) = truth {
            let [linear, angular] = state.velocities();
            body.set_linvel(linear, true);
            body.set_angvel(angular, true);
        }
    }

    fn body(&self, place: usize) -> &RigidBody {
        let body = self.simulation.physics.body(self.bodies[place]);
        body.expect("bodies stay")
    }

    /// Returns whether to predict a body: the client's own, and crates near it or in reach of its arm. A crate that another
    /// player holds follows input that is unknown here.
    fn is_mine(&self, place: usize) -> bool {
        let Some(me) = self.me.filter(|me| place == *me || place >= PLAYERS) else {
            return false;
        };
        let holder = (self.held.0.iter()).position(|held| *held == Some(place as u16));
        if holder.is_some_and(|player| player != me) {
            return false;
        }
        let [own, other] = [me, place].map(|place| self.body(place).translation());
        let arm = if takes(self.buttons) { ARM } else { 0.0 };
        // The hysteresis keeps a crate at the edge from changing every time.
        let edge = if self.is_predicted[place] { 1.4 } else { 1.0 };
        place == me || own.distance(other) < edge * self.reach.max(arm)
    }

    /// Returns whether the prediction of any body was wrong at that tick.
    fn is_wrong(&self, tick: u64) -> bool {
        let mut predicted = (0..self.bodies.len()).filter(|place| self.is_predicted[*place]);
        predicted.any(|place| {
            let pose = self.simulation.pose_at(self.bodies[place], tick, 1.0);
            let truth = self.truth(place, tick).map(|state| state.pose());
            truth.zip(pose).is_some_and(|(truth, pose)| {
                truth.translation.distance(pose.translation) > NEAR_ENOUGH[0]
                    || truth.rotation.angle_between(pose.rotation) > NEAR_ENOUGH[1]
            })
        })
    }

    /// Returns the server's state of a body at the tick of the newest snapshot, if it is known. Bodies at rest are not
    /// sent again.
    fn truth(&self, place: usize, tick: u64) -> Option<State> {
        let (of, state) = self.received[place].newest;
        (of == tick || state.is_at_rest()).then_some(state)
    }

    fn keep_pace(&mut self, report: Report) {
        match self.lead.pace(report) {
            Some(Pace::Speed(speed)) => {
                (self.simulation.clock_settings_mut().set_speed(speed))
                    .expect("the speed is near 1");
            }
            Some(Pace::Skip(ticks)) => self.skip(ticks),
            None => (),
        }
    }

    /// Skips ticks before the next frame. Kept states, input and the measured lead belong to other ticks, so they are
    /// discarded.
    fn skip(&mut self, ticks: u64) {
        let tick = self.tick().saturating_add(ticks);
        self.simulation.set_tick(tick);
        self.lead.skip_to(tick);
        self.delay.shift(ticks as f64);
        self.inputs.clear();
        self.heard = tick;
        self.counts.skips += 1;
    }

    /// Returns the tick of the next step.
    fn tick(&self) -> u64 {
        self.simulation.clock().next_tick()
    }
}

/// # Statistics
impl Client {
    /// Returns the number of the client's player, or `None` before the first snapshot.
    #[must_use]
    pub fn player(&self) -> Option<usize> {
        self.me
    }

    /// Returns whether a body is predicted. All others are displayed as they were some time ago.
    #[must_use]
    pub fn is_predicted(&self, place: usize) -> bool {
        self.is_predicted[place]
    }

    /// Returns the server's tick at which bodies that are not predicted are displayed.
    #[must_use]
    pub fn shown_tick(&self) -> f64 {
        let frame = self.simulation.frame();
        let now = frame.tick as f64 - 1.0 + f64::from(frame.alpha);
        self.delay.displayed_tick(now)
    }
}

/// Moves a proxy.
fn follow(physics: &mut Physics, key: BodyKey, to: Pose) {
    let at = *physics.body(key).expect("bodies stay").position();
    if at.translation.distance(to.translation) > LARGEST_STEP {
        (physics.teleport(key, to)).expect("received poses are finite");
    } else if at != to {
        let body = physics.body_mut(key).expect("bodies stay");
        body.set_next_kinematic_position(to);
    }
}
