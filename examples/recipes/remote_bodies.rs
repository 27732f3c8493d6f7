//! Bodies that another machine simulates, drawn smoothly: other players on a client, or everything for a spectator.
//!
//! Snapshots arrive late, twice, out of order or not at all. So each body is displayed a moment ago, between two poses
//! that have arrived. To use this file, copy it into your game. It needs no physics world.
//!
//! 1. Create one [`Delay`] per connection, and a [`RemoteBody`] for each body.
//! 2. When a snapshot arrives, call [`Delay::record_arrival`], and [`RemoteBody::push`] for each body in it.
//! 3. In each step or frame, call [`Delay::adapt`], then [`RemoteBody::pose_at`] with [`Delay::displayed_tick`].
//!
//! All times are ticks of the sender, as `f64`. A snapshot is of a whole tick, the displayed time lies between two, and
//! the age of a snapshot is negative if your clock is behind, which a `Duration` cannot express. Your local clock may
//! start anywhere, but must have the sender's rate. Without ticks, use seconds times that rate.
//!
//! A body is never extrapolated, because it would be drawn inside walls. After its last pose it rests, and if a later one
//! arrives after its displayed time, the body jumps there.

use std::collections::VecDeque;

use evenstep::rapier::math::Pose;
use evenstep::render::interpolate;

/// The number of states that a body keeps: three seconds at 20 snapshots per second, and one second at 60. The delay must
/// be shorter, or the body is displayed at its oldest state.
const MOST_STATES: usize = 64;

/// The received poses of one body.
#[derive(Clone, Debug, Default)]
pub struct RemoteBody {
    /// Ticks ascend, and each occurs once.
    states: VecDeque<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    tick: f64,
    pose: Pose,
    teleports: u8,
}

impl RemoteBody {
    /// Adds a state, which may be older than others. It replaces a state of the same tick. The rotation must have unit
    /// length. Returns whether the state is finite. If it is not, it is ignored.
    ///
    /// The sender counts the teleports of the body so far, and the count may wrap. Between two states with different
    /// counts, the body stays at the first one, then jumps. A flag instead of a count would be lost with its snapshot.
    pub fn push(&mut self, tick: f64, pose: Pose, teleports: u8) -> bool {
        if !tick.is_finite() || !pose.is_finite() {
            return false;
        }
        let state = State {
            tick,
            pose,
            teleports,
        };
        let index = self.states.partition_point(|other| other.tick < tick);
        match self.states.get_mut(index) {
            Some(other) if other.tick == tick => *other = state,
            _ => self.states.insert(index, state),
        }
        if self.states.len() > MOST_STATES {
            self.states.pop_front();
        }
        true
    }

    /// Records that the body has rested from its newest state until this tick.
    ///
    /// If the sender leaves out bodies at rest, call it before `push` with the tick of the snapshot before. Otherwise, the
    /// body would creep towards the pose at which it moves again.
    pub fn rest_until(&mut self, tick: f64) {
        if let Some(newest) = self.states.back().filter(|newest| newest.tick < tick) {
            self.push(tick, newest.pose, newest.teleports);
        }
    }

    /// Returns the pose at a tick, or between two ticks. Before its first state and after its last one the body rests.
    /// Returns `None` if there are no states.
    #[must_use]
    pub fn pose_at(&self, tick: f64) -> Option<Pose> {
        let next = self.states.partition_point(|state| state.tick <= tick);
        let before = self.states.get(next.saturating_sub(1))?;
        let after = self.states.get(next).unwrap_or(before);
        if before.tick >= after.tick || before.teleports != after.teleports {
            return Some(before.pose);
        }
        let part = (tick - before.tick) / (after.tick - before.tick);
        Some(interpolate(&before.pose, &after.pose, part as f32))
    }
}

/// The largest change of the displayed speed: nobody notices it.
const MOST_CHANGE: f64 = 0.05;
/// A delay that is wrong by more than this many ticks is not corrected at a changed speed, which would take ten seconds.
/// A snapshot whose age differs by more from the mean begins a new measurement.
const GAP: f64 = 30.0;

/// How far in the past the bodies of one connection are displayed: the usual age of snapshots when they arrive, plus two
/// intervals between snapshots so that one may be lost, plus a margin for the jitter.
#[derive(Clone, Debug)]
pub struct Delay {
    /// The number of ticks between two snapshots.
    interval: f64,
    ticks: f64,
    arrivals: Option<Arrivals>,
}

#[derive(Clone, Debug)]
struct Arrivals {
    /// The tick of the newest snapshot.
    newest: f64,
    age: Spread,
}

impl Delay {
    /// Creates a delay for a sender that sends a snapshot every `interval` ticks.
    #[must_use]
    pub fn new(interval: f64) -> Self {
        Self {
            interval,
            ticks: 0.0,
            arrivals: None,
        }
    }

    /// Measures the age of a snapshot of `tick` that arrives when your local clock is at `now`. Snapshots that are doubled
    /// or overtaken do not count.
    pub fn record_arrival(&mut self, now: f64, tick: f64) {
        let age = now - tick;
        if !age.is_finite() {
            return;
        }
        let Some(arrivals) = &mut self.arrivals else {
            let (newest, age) = (tick, Spread::new(age));
            self.arrivals = Some(Arrivals { newest, age });
            self.ticks = self.right_delay(age);
            return;
        };
        if tick <= arrivals.newest {
            return;
        }
        arrivals.newest = tick;
        if (age - arrivals.age.mean).abs() > GAP {
            arrivals.age = Spread::new(age);
        } else {
            arrivals.age.add(age);
        }
    }

    /// Moves the delay a little towards the right value. Call it in each step or frame, with the number of ticks by which
    /// your local clock has advanced. The displayed time then advances 5 % faster or slower at most.
    ///
    /// After a gap, such as a stall of the connection, the displayed time stops or jumps forward until it is nearly right.
    /// It never goes back.
    pub fn adapt(&mut self, elapsed: f64) {
        let Some(arrivals) = &self.arrivals else {
            return;
        };
        let missing = self.right_delay(arrivals.age) - self.ticks;
        let most = if missing < -GAP {
            f64::INFINITY
        } else if missing > GAP {
            // As the delay grows like the clock, the displayed time stops.
            elapsed.max(0.0)
        } else {
            MOST_CHANGE * elapsed.max(0.0)
        };
        self.ticks += missing.clamp(-most, most);
    }

    /// Returns the tick to display when your local clock is at `now`.
    #[must_use]
    pub fn displayed_tick(&self, now: f64) -> f64 {
        now - self.ticks
    }

    /// Records that your local clock was set forward by this many ticks. The displayed time does not change.
    pub fn shift(&mut self, ticks: f64) {
        self.ticks += ticks;
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.age.mean += ticks;
        }
    }

    fn right_delay(&self, age: Spread) -> f64 {
        age.mean + 2.0 * self.interval + 2.0 * age.deviation
    }
}

/// The weight of the latest number in a mean. At 20 snapshots per second, the last second counts.
const WEIGHT: f64 = 1.0 / 16.0;

/// The mean of a jittering number, and its mean deviation. TCP measures round trips in this way (RFC 6298).
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The mean distance from the mean.
    pub deviation: f64,
}

impl Spread {
    /// Starts with a first number, and a deviation of 1 until more is known.
    #[must_use]
    pub fn new(first: f64) -> Self {
        Self {
            mean: first,
            deviation: 1.0,
        }
    }

    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        let off = number - self.mean;
        self.mean += WEIGHT * off;
        self.deviation += WEIGHT * (off.abs() - self.deviation);
    }
}
