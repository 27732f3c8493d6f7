//! The client: its own body and the crates near it are predicted and corrected; all others are shown as the server had
//! them a moment ago.
//!
//! This is the part to copy.

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::rapier::prelude::{Pose, RigidBody, RigidBodyType};
use evenstep::{BodyKey, Correction, RewindError, Simulation, Step};
use serde::{Deserialize, Serialize};

use crate::game::{Buttons, PLAYERS, arena, push};
use crate::packets::{Inputs, Report, Snapshot, State, read, write};
use crate::path::Path;
use crate::server::SNAPSHOT_EVERY;
use crate::spread::Spread;

/// States of so many ticks are kept: a second, for a line of that length there and back.
const KEPT: u64 = 60;
/// Input is sent in so many packets: all of them are lost in an outage only.
const REPEATED: u64 = 8;
/// A prediction that is as near as this, in metres and radians, is not corrected: nobody sees it, and rounding is less.
const NEAR_ENOUGH: [f32; 2] = [0.01, 0.05];
/// A proxy that goes further in a step, in metres, is put there: it would throw about what is in its way.
const LARGEST_STEP: f32 = 0.5;
/// Ticks that a client runs ahead of the first snapshot: enough for a line of 80 ms. What is right is known soon.
const FIRST_LEAD: u64 = 12;
/// Ticks by which input is to come before its step, beyond what it jitters.
const LEAD: f64 = 1.0;
/// Ticks of a missing lead that speed is for: two of them take a second or two. What is more is skipped.
const FAR: f64 = 6.0;
/// By how much the speed changes for each tick of a wrong lead, and at most.
const PACE: [f64; 2] = [0.01, 0.02];
/// Ticks without a snapshot after which nothing is predicted from what the player does.
const PATIENCE: u64 = 15;
/// By how much faster or slower the past is shown until its delay is right.
const DELAY_PACE: f64 = 0.05;

/// A client of a match.
#[derive(Debug)]
pub struct Client {
    /// What is drawn: all bodies, with the same call.
    pub simulation: Simulation,
    /// See [`arena`].
    pub bodies: Vec<BodyKey>,
    /// What was done, to be measured.
    pub counts: Counts,
    /// Crates that are nearer than this to its body, in metres, are predicted.
    reach: f32,
    /// Which of the players it is, once that is known.
    me: Option<usize>,
    is_predicted: Vec<bool>,
    paths: Vec<Path>,
    inputs: BTreeMap<u64, Buttons>,
    /// The newest snapshot, and the own tick at which it came.
    newest: u64,
    heard: u64,
    /// How early input comes to the server, as far as known since the tick that was skipped to.
    lead: Option<Spread>,
    skipped_to: u64,
    /// How many ticks old a snapshot is when it comes, and how old what is shown of others is.
    age: Option<Spread>,
    delay: f64,
}

/// What a client did.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// How often it went back, and how many steps it made again.
    pub rollbacks: u64,
    /// See above.
    pub resimulated: u64,
    /// How often it skipped ticks.
    pub skips: u64,
}

impl Client {
    /// A client that predicts the crates within `reach` metres of its body: 0 for none, infinite for all.
    #[must_use]
    pub fn new(crates: usize, reach: f32) -> Self {
        let (mut simulation, bodies) = arena(crates);
        simulation.set_rewind_limits(KEPT, usize::MAX);
        simulation.set_history(KEPT as usize);
        let mut correction = Correction::default();
        correction.half_life = Duration::from_millis(100);
        // How a ball is turned is not followed by eye.
        correction.max_angle = std::f32::consts::PI;
        simulation.set_correction(Some(correction));
        let paths = bodies.iter().filter_map(|key| {
            let body = simulation.body_mut(*key)?;
            body.set_body_type(RigidBodyType::KinematicPositionBased, true);
            Some(Path::new(State::of(body)))
        });
        Self {
            paths: paths.collect(),
            is_predicted: vec![false; bodies.len()],
            simulation,
            bodies,
            counts: Counts::default(),
            reach,
            me: None,
            inputs: BTreeMap::new(),
            newest: 0,
            heard: 0,
            lead: None,
            skipped_to: 0,
            age: None,
            delay: 0.0,
        }
    }

    /// A packet from the server: between two frames.
    pub fn receive(&mut self, packet: &[u8]) {
        let snapshot = read::<Snapshot>(packet);
        let Some(snapshot) = snapshot.filter(|it| usize::from(it.player) < PLAYERS) else {
            return;
        };
        // What is in one that was overtaken is not acknowledged, and comes again.
        if self.me.is_some() && snapshot.tick <= self.newest {
            return;
        }
        if self.me.replace(snapshot.player.into()).is_none() {
            self.skip_to(snapshot.tick.saturating_add(FIRST_LEAD));
        }
        (self.newest, self.heard) = (snapshot.tick, self.tick());
        for (place, state) in &snapshot.bodies {
            if let Some(path) = self.paths.get_mut(usize::from(*place)) {
                path.push(snapshot.tick, *state);
            }
        }
        self.note_age(snapshot.tick);
        if let Some(report) = snapshot.report {
            self.keep_pace(report);
        }
        self.correct(snapshot.tick);
    }

    /// A frame, in which the player holds down these buttons. Gives what to send.
    pub fn frame(&mut self, time: Duration, buttons: Buttons) -> Option<Vec<u8>> {
        if self.me.is_some() {
            self.simulation.begin_frame(time);
        }
        while let Some(step) = self.simulation.next_step() {
            // In an outage the server soon does without input, and so does the prediction.
            let is_lost = step.tick > self.heard + PATIENCE;
            let buttons = if is_lost { Buttons::default() } else { buttons };
            self.inputs.insert(step.tick, buttons);
            self.keep_delay();
            self.play(step);
            self.simulation.make_step();
        }
        let frame = self.simulation.end_frame();
        self.counts.resimulated += frame.resimulated;
        (frame.steps > 0 || self.me.is_none()).then(|| write(&self.packet()))
    }

    fn packet(&mut self) -> Inputs {
        let tick = self.simulation.tick();
        self.inputs = self.inputs.split_off(&tick.saturating_sub(KEPT));
        let newest = self.inputs.iter().rev().take(REPEATED as usize);
        Inputs {
            ack: self.newest,
            newest: tick.saturating_sub(1),
            buttons: newest.map(|(_, buttons)| *buttons).collect(),
        }
    }

    /// The game's part of a step, the first time and again: own input, and proxies along their paths.
    fn play(&mut self, step: Step) {
        if let Some(me) = self.me {
            let buttons = self.inputs.get(&step.tick).copied();
            push(
                &mut self.simulation,
                self.bodies[me],
                buttons.unwrap_or_default(),
            );
        }
        let shown = (step.tick + 1) as f64 - self.delay;
        for (place, path) in self.paths.iter().enumerate() {
            if !self.is_predicted[place] {
                follow(&mut self.simulation, self.bodies[place], path.at(shown));
            }
        }
    }

    /// Corrects the prediction by the states of a tick, if it is wrong.
    fn correct(&mut self, tick: u64) {
        let places = 0..self.bodies.len();
        let is_predicted: Vec<_> = places.map(|place| self.is_near(place)).collect();
        if is_predicted == self.is_predicted && !self.is_wrong(tick) {
            return;
        }
        let before = std::mem::replace(&mut self.is_predicted, is_predicted);
        if self.resimulate(tick).is_err() {
            // Of a tick that was skipped nothing is kept: a later snapshot will do.
            self.is_predicted = before;
        }
    }

    /// Goes back to a tick, puts what is predicted where the server had it, and makes the steps since then again.
    ///
    /// # Errors
    /// Where the state of that tick is not kept; nothing is changed.
    pub fn resimulate(&mut self, tick: u64) -> Result<(), RewindError> {
        self.simulation.roll_back(tick)?;
        (0..self.bodies.len()).for_each(|place| self.put(place, tick));
        while let Some(step) = self.simulation.next_step() {
            self.play(step);
            self.simulation.make_step();
        }
        self.counts.rollbacks += 1;
        Ok(())
    }

    /// Whether a body is to be predicted: the own one, and crates near it.
    fn is_near(&self, place: usize) -> bool {
        let Some(me) = self.me.filter(|me| place == *me || place >= PLAYERS) else {
            return false;
        };
        let [me_at, at] = [me, place].map(|place| self.simulation.body(self.bodies[place]));
        let [me_at, at] = [me_at, at].map(|body| body.expect("bodies stay").translation());
        // One that goes to and fro at the edge does not change every time.
        let reach = self.reach * if self.is_predicted[place] { 1.4 } else { 1.0 };
        place == me || at.distance(me_at) < reach
    }

    /// Whether a body was predicted to be elsewhere at that tick.
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

    /// The server's state of a body at the tick of the newest snapshot, if it is known: what is not in it is unchanged.
    fn truth(&self, place: usize, tick: u64) -> Option<State> {
        let (of, state) = self.paths[place].latest();
        (of == tick || state.is_at_rest()).then_some(state)
    }

    /// After going back to a tick: puts a body where it was then.
    fn put(&mut self, place: usize, tick: u64) {
        let key = self.bodies[place];
        let is_dynamic = self.simulation.body(key).is_some_and(RigidBody::is_dynamic);
        if !self.is_predicted[place] && !is_dynamic {
            return;
        }
        let truth = self.truth(place, tick);
        let body = self.simulation.body_mut(key).expect("bodies stay");
        if !self.is_predicted[place] {
            body.set_body_type(RigidBodyType::KinematicPositionBased, true);
            body.set_position(self.paths[place].at(tick as f64 - self.delay), true);
            return;
        }
        body.set_body_type(RigidBodyType::Dynamic, true);
        if let Some(state) = truth {
            let [linear, angular] = state.velocities();
            body.set_position(state.pose(), true);
            body.set_linvel(linear, true);
            body.set_angvel(angular, true);
        }
    }

    /// Runs a little faster or slower, so that input comes just in time.
    fn keep_pace(&mut self, report: Report) {
        if report.newest < self.skipped_to {
            return;
        }
        let lead = report.lead as f64;
        let spread = self.lead.get_or_insert(Spread::new(lead));
        spread.add(lead);
        let missing = LEAD + 2.0 * spread.deviation - spread.mean;
        if missing > FAR {
            return self.skip_to(self.tick().saturating_add(missing.round() as u64));
        }
        let speed = 1.0 + (PACE[0] * missing).clamp(-PACE[1], PACE[1]);
        (self.simulation.set_speed(speed)).expect("it is near 1");
    }

    /// Goes on at another tick with the next frame: to join, and after the machine has slept. States that are kept are of
    /// other ticks, and so is what was measured.
    fn skip_to(&mut self, tick: u64) {
        self.delay += tick as f64 - self.tick() as f64;
        self.simulation.clock_settings_mut().set_tick(tick);
        (self.skipped_to, self.heard) = (tick, tick);
        (self.lead, self.age) = (None, None);
        self.counts.skips += 1;
    }

    /// The next step's tick.
    fn tick(&self) -> u64 {
        let clock = self.simulation.clock();
        clock.settings().new_tick().unwrap_or(clock.tick())
    }

    fn note_age(&mut self, tick: u64) {
        let now = self.tick() as f64 + f64::from(self.simulation.clock().alpha());
        let age = now - tick as f64;
        match &mut self.age {
            Some(spread) => spread.add(age),
            None => self.delay = right_delay(*self.age.insert(Spread::new(age))),
        }
    }

    fn keep_delay(&mut self) {
        if let Some(age) = self.age {
            let wrong = right_delay(age) - self.delay;
            self.delay += wrong.clamp(-DELAY_PACE, DELAY_PACE);
        }
    }

    /// Which of the players it is; `None` until the first snapshot has come.
    #[must_use]
    pub fn player(&self) -> Option<usize> {
        self.me
    }

    /// Whether a body is predicted: all others are shown as they were some time ago.
    #[must_use]
    pub fn is_predicted(&self, place: usize) -> bool {
        self.is_predicted[place]
    }

    /// The server's tick at which bodies that are not predicted are shown.
    #[must_use]
    pub fn shown_tick(&self) -> f64 {
        let frame = self.simulation.frame();
        frame.tick as f64 - 1.0 + f64::from(frame.alpha) - self.delay
    }
}

/// Others are shown so long ago that a snapshot may be lost and the next one may jitter: 100 ms and a little more after it
/// came.
fn right_delay(age: Spread) -> f64 {
    age.mean + 2.0 * SNAPSHOT_EVERY as f64 + 2.0 * age.deviation
}

/// Moves a proxy.
fn follow(simulation: &mut Simulation, key: BodyKey, to: Pose) {
    let at = *simulation.body(key).expect("bodies stay").position();
    if at.translation.distance(to.translation) > LARGEST_STEP {
        (simulation.teleport(key, to)).expect("what came is finite");
    } else if at != to {
        let body = simulation.body_mut(key).expect("bodies stay");
        body.set_next_kinematic_position(to);
    }
}
