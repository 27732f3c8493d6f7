//! Runs every stepping strategy over the same scenes and the same frames, and records the outcomes.

// A loop without evenstep.
mod by_hand;
mod scenes;

use super::testing::{ball_joint, cuboid, spin, vector};
use std::time::{Duration, Instant};

use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing, Stepping};

use super::{hash, pile, with_floor};

pub use by_hand::costs;
pub use scenes::{SCENES, Scene};
use scenes::{body, dynamic};

/// A combination of stepping and smoothing.
pub struct Strategy {
    pub name: &'static str,
    pub stepping: Stepping,
    pub smoothing: Smoothing,
    pub hz: u32,
}

pub const STRATEGIES: [Strategy; 8] = {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    use Stepping::{DisplayCounted, Fixed, FrameLocked, SemiFixed, Variable};
    const fn of(name: &'static str, stepping: Stepping, smoothing: Smoothing, hz: u32) -> Strategy {
        Strategy {
            name,
            stepping,
            smoothing,
            hz,
        }
    }
    [
        of("frame-locked", FrameLocked, Latest, 60),
        of("variable", Variable, Latest, 60),
        of("semi-fixed", SemiFixed, Latest, 60),
        of("display-counted 240 Hz", DisplayCounted, Latest, 240),
        of("fixed, latest", Fixed, Latest, 60),
        of("fixed, extrapolated", Fixed, Extrapolate, 60),
        of("fixed, Hermite", Fixed, Hermite, 60),
        of("fixed, interpolated", Fixed, Interpolate, 60),
    ]
};

/// The frame times of a run.
pub struct Trace {
    pub name: String,
    pub times: Vec<Duration>,
}

impl Trace {
    /// Repeats `times` as often as they fit into `length`. The remainder lengthens the last frame, so that all traces
    /// have the same length and none ends with a frame too short for any display.
    pub fn new(
        name: &str,
        times: impl IntoIterator<Item = Duration, IntoIter: Clone>,
        length: Duration,
    ) -> Self {
        let mut left = length;
        let mut all: Vec<Duration> = Vec::new();
        for time in times.into_iter().cycle() {
            if time > left {
                break;
            }
            left -= time;
            all.push(time);
        }
        if let Some(last) = all.last_mut() {
            *last += left;
        }
        Self {
            name: name.to_owned(),
            times: all,
        }
    }
}

/// A generator of numbers that look random and are the same for the same seed (a linear congruential generator, with
/// the constants of Knuth's MMIX).
pub struct Random(pub u64);

impl Random {
    /// Returns a number in [0, 1).
    pub fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns traces of steady frames, jittered frames, captures, and a hitch, all of the same length.
pub fn traces(seed: u64, length: Duration, captures: &[(&str, &[Duration])]) -> Vec<Trace> {
    let steady = |hz: u32| Duration::from_secs(1) / hz;
    let mut random = Random(seed);
    let jittered: Vec<Duration> = (0..4_000)
        .map(|_| Duration::from_secs_f64((8.0 + 17.3 * random.number()) * 1e-3))
        .collect();
    let hitch_at = |which: fn(u32) -> bool, ms| {
        let time = move |i| {
            if which(i) {
                Duration::from_millis(ms)
            } else {
                steady(60)
            }
        };
        (0..40_000).map(time)
    };
    let mut traces = vec![
        Trace::new("steady 30", [steady(30)], length),
        Trace::new("steady 60", [steady(60)], length),
        Trace::new("steady 144", [steady(144)], length),
        Trace::new("jittered", jittered, length),
        Trace::new("one hitch", hitch_at(|i| i == 120, 300), length),
        Trace::new("hitches", hitch_at(|i| i % 60 == 59, 240), length),
        // Each frame is a little longer than a step at 60 Hz.
        Trace::new("steady 59.9", [Duration::from_micros(16_700)], length),
    ];
    for (name, times) in captures {
        traces.push(Trace::new(name, times.iter().copied(), length));
    }
    traces
}

/// The outcome of one scene, stepped by one strategy over one trace.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Wall time per second of simulated time, in seconds. No other figure differs from run to run.
    pub cost: f64,
    /// The figure that the scene measures.
    pub figure: f64,
    /// The largest distance of the watched body from the run in tiny steps, in metres.
    pub off_reference: Option<f64>,
    /// The distance of the rendered body from the smooth curve through the two frames before and the two after, in
    /// metres (root mean square).
    pub stutter: f64,
    /// The largest difference between the rendered body's motion in one frame and the motion at its true speed, in
    /// metres.
    pub jump: f64,
    /// A hash of all bits of the final state.
    pub end: u64,
    /// The time, the figure, and the rendered position of the watched body, at each frame.
    pub samples: Vec<(f64, f64, Vector)>,
}

/// A motion in steps of 1/2,000 s: the position of the watched body after each step.
pub struct Reference(Vec<Vector>);

const REFERENCE_HZ: u32 = 2_000;

impl Reference {
    pub fn of(scene: &Scene, length: Duration) -> Option<Self> {
        if !scene.has_reference {
            return None;
        }
        let (mut simulation, key) = start(scene, REFERENCE_HZ);
        let mut places = vec![body(&simulation.physics, key).translation()];
        let step = Duration::from_secs(1) / REFERENCE_HZ;
        for _ in 0..=length.as_millis() as u32 * REFERENCE_HZ / 1_000 {
            advance(&mut simulation, scene, key, step);
            places.push(body(&simulation.physics, key).translation());
        }
        Some(Self(places))
    }

    /// Returns the position at a time, or `None` after the end.
    fn at(&self, seconds: f64) -> Option<Vector> {
        let at = seconds * f64::from(REFERENCE_HZ);
        let before = at as usize;
        let pair = (self.0.get(before)?, self.0.get(before + 1)?);
        Some(pair.0.lerp(*pair.1, (at - before as f64) as f32))
    }
}

fn start(scene: &Scene, hz: u32) -> (Simulation, BodyKey) {
    let mut simulation = Simulation::new(Rate::hz(hz));
    let key = (scene.build)(&mut simulation);
    (simulation, key)
}

/// Runs a frame, with the scene's force in each step. Returns the simulated time.
fn advance(simulation: &mut Simulation, scene: &Scene, key: BodyKey, time: Duration) -> f64 {
    let mut made = 0.0;
    simulation.advance(time, |physics, step| {
        made += f64::from(step.dt);
        if let Some(force) = scene.force {
            let force = force(body(physics, key), step.start_time);
            // If a strategy has thrown the body out of the world, there is no force any more.
            let _ = physics.add_force(key, force);
        }
    });
    made
}

#[expect(
    clippy::disallowed_methods,
    reason = "the cost is measured with the wall clock"
)]
pub fn run(
    scene: &Scene,
    strategy: &Strategy,
    trace: &Trace,
    reference: Option<&Reference>,
) -> Outcome {
    let (mut simulation, key) = start(scene, strategy.hz);
    simulation
        .clock_settings_mut()
        .set_stepping(strategy.stepping);
    simulation.smoothing = strategy.smoothing;
    // No frame of these traces is cut, so each run covers the same time.
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::from_millis(300));
    let mut outcome = Outcome::default();
    let (mut simulated, mut wall, mut now) = (0.0, Duration::ZERO, 0.0);
    let (mut speeds, mut worst) = (Vec::new(), f64::MIN);
    for time in &trace.times {
        let begin = Instant::now();
        simulated += advance(&mut simulation, scene, key, *time);
        wall += begin.elapsed();
        now += time.as_secs_f64();
        let figure = (scene.figure)(&simulation, key);
        worst = worst.max(figure);
        let shown = simulation
            .pose(key)
            .expect("the watched body exists")
            .translation;
        outcome.samples.push((now, figure, shown));
        speeds.push(body(&simulation.physics, key).linvel().length());
        if let Some(reference) = reference {
            let true_place = body(&simulation.physics, key).translation();
            if let Some(place) = reference.at(simulated) {
                let off = f64::from(true_place.distance(place));
                let most = outcome.off_reference.unwrap_or(0.0);
                outcome.off_reference = Some(off.max(most));
            }
        }
    }
    outcome.cost = wall.as_secs_f64() / simulated.max(f64::MIN_POSITIVE);
    outcome.figure = if scene.worst {
        worst
    } else {
        outcome.samples.last().map_or(0.0, |s| s.1)
    };
    outcome.end = hash(simulation.physics.rapier());
    (outcome.stutter, outcome.jump) = smoothness(&outcome.samples, &speeds);
    outcome
}

/// Returns the stutter and the largest jump of a rendered body.
fn smoothness(samples: &[(f64, f64, Vector)], speeds: &[f32]) -> (f64, f64) {
    let (mut squares, mut count, mut jump) = (0.0, 0, 0.0f64);
    // Strategies that display the past do not move in their first frames.
    for (around, speed) in samples.windows(5).zip(&speeds[2..]).skip(10) {
        let times: Vec<f64> = around.iter().map(|sample| sample.0).collect();
        if times.windows(2).any(|pair| pair[1] <= pair[0]) {
            continue;
        }
        let smooth = cubic(around, times[2]);
        squares += f64::from(around[2].2.distance_squared(smooth));
        count += 1;
        let covered = f64::from(*speed) * (times[2] - times[1]);
        jump = jump.max((f64::from(around[2].2.distance(around[1].2)) - covered).abs());
    }
    ((squares / f64::from(count.max(1))).sqrt(), jump)
}

/// Returns the position of the middle frame on the curve through the two frames before and the two after (Lagrange's
/// cubic). The cubic follows a curved path, so that only stutter remains.
fn cubic(around: &[(f64, f64, Vector)], time: f64) -> Vector {
    let others = [0, 1, 3, 4];
    let weight = |i: usize| -> f64 {
        let rest = others.into_iter().filter(|j| *j != i);
        rest.map(|j| (time - around[j].0) / (around[i].0 - around[j].0))
            .product()
    };
    others
        .into_iter()
        .map(|i| around[i].2 * weight(i) as f32)
        .sum()
}

/// Returns the mean time from an input to the first frame that displays its effect, in seconds.
pub fn latency(strategy: &Strategy, trace: &Trace, seed: u64) -> f64 {
    let mut random = Random(seed);
    let mut simulation = Simulation::new(Rate::hz(strategy.hz));
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    simulation
        .clock_settings_mut()
        .set_stepping(strategy.stepping);
    simulation.smoothing = strategy.smoothing;
    let body = RigidBodyBuilder::dynamic().can_sleep(false);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut queue = InputQueue::new(Delivery::NextStep);
    let (mut waiting, mut pressed): (Option<Duration>, Option<Pose>) = (None, None);
    let (mut total, mut count, mut pause) = (0.0, 0, 0u32);
    for time in &trace.times {
        let start = simulation.clock().real_time();
        if waiting.is_none() && pause == 0 {
            // At a random time within this frame, while the previous one is on the screen.
            let at = start + time.mul_f64(random.number());
            queue.push(at, ());
            waiting = Some(at);
            pressed = simulation.pose(key);
        }
        simulation.advance(*time, |physics, step| {
            for _ in queue.drain(step) {
                let body = physics.body_mut(key).expect("the body exists");
                body.set_linvel(Vector::X, true);
            }
        });
        pause = pause.saturating_sub(1);
        let seen = simulation.pose(key) != pressed;
        if let Some(at) = waiting.filter(|_| seen) {
            total += (simulation.clock().real_time() - at).as_secs_f64();
            count += 1;
            waiting = None;
            pause = 7;
            // At rest again for the next input.
            simulation
                .physics
                .body_mut(key)
                .expect("the body exists")
                .set_linvel(Vector::ZERO, true);
        }
    }
    total / f64::from(count.max(1))
}

/// Returns the kinetic and potential energy of all bodies, in joules.
pub fn energy(simulation: &Simulation) -> f64 {
    let of = |body: &RigidBody| body.kinetic_energy() + body.mass() * 9.81 * body.translation().y;
    dynamic(simulation).map(|body| f64::from(of(body))).sum()
}
