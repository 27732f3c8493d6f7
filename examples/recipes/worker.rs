//! Physics in a browser's worker, which posts pairs of poses to the page, and the page, which draws between them.
//!
//! - The page draws one step and a *slack* later than the worker. The slack must cover a late timer and a step. If it
//!   is too short, bodies stop and then jump.
//! - Add `performance.timeOrigin` to `performance.now()` and `event.timeStamp` on both sides, because the two origins
//!   differ.
//! - Read messages in `onmessage` while the page is hidden, or they pile up.

use std::collections::{BTreeMap, VecDeque};

use evenstep::rapier::prelude::*;
use evenstep::render::{PoseFloats, interpolate, pose_floats};
use evenstep::{BodyKey, Physics, Simulation, Step};

/// The time of a step, in milliseconds.
const PERIOD: f64 = 1_000.0 / 60.0;
/// How late a message may be, in milliseconds.
pub const SLACK: f64 = 10.0;

/// The message after each step.
#[derive(Default)]
pub struct Message {
    /// When the step is due, in milliseconds.
    pub end: f64,
    /// The bodies with new poses.
    pub ids: Vec<u32>,
    /// Their poses before and after the step: a `Float32Array`.
    pub poses: Vec<[PoseFloats; 2]>,
    /// The removed bodies.
    pub removed: Vec<u32>,
}

/// The side of the worker. All times are in milliseconds, by a clock that the page shares.
pub struct Worker {
    /// The number of each body, also of removed ones, so that no number is used twice.
    pub ids: BTreeMap<BodyKey, u32>,
    simulation: Simulation,
    game: fn(&mut Physics, Step),
    start: f64,
}

impl Worker {
    /// Starts a simulation of 60 Hz at the time `start`. `game` is its hook.
    pub fn new(simulation: Simulation, game: fn(&mut Physics, Step), start: f64) -> Self {
        Self {
            ids: BTreeMap::new(),
            simulation,
            game,
            start,
        }
    }

    /// Runs the steps that are due. A timer calls it, about every 4 ms.
    pub fn wake(&mut self, now: f64, mut post: impl FnMut(Message)) {
        // Each frame ends with its only step, so no step is left out.
        while let Some(due) = self.simulation.clock().until_next_step() {
            let end = self.simulation.clock().real_time() + due;
            let end = self.start + end.as_secs_f64() * 1_000.0;
            if end > now {
                break;
            }
            self.simulation.advance(due, self.game);
            post(self.message(end));
        }
    }

    fn message(&mut self, end: f64) -> Message {
        let data = self.simulation.render_data().unwrap();
        let resting = data.overrides();
        let resting = resting.map(|(key, pose)| (key, [pose_floats(&pose); 2]));
        let moving = data.keys().iter().copied().zip(data.pairs());
        let mut message = Message {
            end,
            ..Message::default()
        };
        let mut id = |key: BodyKey| {
            let next = self.ids.len() as u32;
            *self.ids.entry(key).or_insert(next)
        };
        // If a body is in both lists, the page keeps the second pair.
        for (key, pair) in resting.chain(moving) {
            message.ids.push(id(key));
            message.poses.push(pair);
        }
        message.removed = self.simulation.removed().iter().copied().map(id).collect();
        message
    }
}

/// The side of the page.
#[derive(Default)]
pub struct Page {
    /// The messages that arrived. Push them in `onmessage`.
    pub waiting: VecDeque<Message>,
    bodies: BTreeMap<u32, (f64, [PoseFloats; 2])>,
}

impl Page {
    /// Returns the poses to draw at the time stamp of a frame.
    pub fn frame(&mut self, now: f64) -> BTreeMap<u32, Pose> {
        let displayed = now - PERIOD - SLACK;
        let has_begun = |step: &Message| step.end - PERIOD <= displayed;
        while self.waiting.front().is_some_and(has_begun) {
            let step = self.waiting.pop_front().unwrap();
            for (id, pair) in step.ids.into_iter().zip(step.poses) {
                self.bodies.insert(id, (step.end, pair));
            }
            self.bodies.retain(|id, _| !step.removed.contains(id));
        }
        let bodies = self.bodies.iter().map(|(id, (end, pair))| {
            // It is above 1 if the body rests, or if its message is late.
            let alpha = 1.0 - (end - displayed) / PERIOD;
            let [previous, current] = pair.map(pose);
            let drawn = interpolate(&previous, &current, alpha.clamp(0.0, 1.0) as f32);
            (*id, drawn)
        });
        bodies.collect()
    }
}

fn pose([i, j, k, w, x, y, z, _]: PoseFloats) -> Pose {
    Pose::from_parts(Vector::new(x, y, z), Rotation::from_xyzw(i, j, k, w))
}
