//! Every stepping strategy over the same scenes and the same frames, and what came of it.

use super::testing::{ball_joint, cuboid, spin, vector};
use std::time::{Duration, Instant};

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Delivery, InputQueue, Physics, Rate, Simulation, Smoothing, Stepping};

use super::{hash, pile, with_floor};

/// One way to step and to show.
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
    /// `times`, over and over, as far as they fit into `length`; the last one is made longer by
    /// what is left, so that all traces are of the same length and none ends with a frame that no
    /// display would show.
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

/// Numbers that look random and are the same for the same seed (a linear congruential generator,
/// with the constants of Knuth's MMIX).
pub struct Random(pub u64);

impl Random {
    /// In [0, 1).
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Steady frames, jittered ones, a capture, and a hitch; all of the same length.
pub fn traces(seed: u64, length: Duration, captures: &[(&str, &[Duration])]) -> Vec<Trace> {
    let steady = |hz: u32| Duration::from_secs(1) / hz;
    let mut random = Random(seed);
    let jittered: Vec<Duration> = (0..4_000)
        .map(|_| Duration::from_secs_f64((8.0 + 17.3 * random.next()) * 1e-3))
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
    ];
    for (name, times) in captures {
        traces.push(Trace::new(name, times.iter().copied(), length));
    }
    traces
}

/// A scene that may or may not come apart.
pub struct Scene {
    pub name: &'static str,
    /// Fills a world and gives the body to watch.
    pub build: fn(&mut Simulation) -> BodyKey,
    /// The force of the game's own code on that body, asked for before each step.
    pub force: Option<fn(&RigidBody, Duration) -> Vector>,
    /// What the scene is about, and how it is called.
    pub figure: fn(&Simulation, BodyKey) -> f64,
    pub figure_name: &'static str,
    /// Whether the worst moment counts, or the end.
    pub worst: bool,
    /// Whether the motion is regular enough to compare it with a run in tiny steps.
    pub has_reference: bool,
}

pub const SCENES: [Scene; 9] = [
    Scene {
        name: "spring",
        build: |simulation| {
            simulation.physics.rapier_mut().gravity = Vector::ZERO;
            simulation.physics.insert(
                RigidBodyBuilder::dynamic(),
                ColliderBuilder::ball(0.2).mass(1.0),
            )
        },
        // Its end goes to and fro between two places, a metre apart, twice a second.
        force: Some(|body, time| {
            let end = Vector::X * (time.as_millis() / 500 % 2) as f32;
            (end - body.translation()) * SPRING - body.linvel() * DAMPING
        }),
        figure: |simulation, key| {
            (f64::from(body(&simulation.physics, key).translation().x) - 0.5).abs()
        },
        figure_name: "metres from the middle, where 0.5 is the end of the spring",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "stack of 25",
        build: |simulation| {
            *simulation = with_floor(simulation.clock().settings().rate());
            let crates = (0..25).map(|i| {
                let at = Vector::Y * (0.5 + i as f32);
                let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
                simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5))
            });
            crates.last().unwrap()
        },
        force: None,
        figure: |simulation, key| 24.5 - f64::from(body(&simulation.physics, key).translation().y),
        figure_name: "metres that the top came down",
        worst: false,
        has_reference: false,
    },
    Scene {
        name: "elastic ball",
        build: |simulation| {
            *simulation = with_floor(simulation.clock().settings().rate());
            let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0);
            let ball = ColliderBuilder::ball(0.5).restitution(1.0).friction(0.0);
            let ball = ball.restitution_combine_rule(CoefficientCombineRule::Max);
            simulation.physics.insert(body, ball)
        },
        force: None,
        figure: |simulation, key| f64::from(body(&simulation.physics, key).translation().y),
        figure_name: "highest point after a fall from 5 m",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "chain of 20",
        build: chain,
        force: None,
        figure: |simulation, _| energy(simulation) - CHAIN_START,
        figure_name: "joules gained",
        worst: true,
        has_reference: false,
    },
    Scene {
        name: "bullets, no CCD",
        build: |simulation| bullets(simulation, false),
        force: None,
        figure: |simulation, _| tunnelled(simulation),
        figure_name: "of 20 through the wall",
        worst: true,
        has_reference: false,
    },
    Scene {
        name: "bullets, CCD",
        build: |simulation| bullets(simulation, true),
        force: None,
        figure: |simulation, _| tunnelled(simulation),
        figure_name: "of 20 through the wall",
        worst: true,
        has_reference: false,
    },
    Scene {
        name: "curve",
        build: |simulation| {
            simulation.physics.rapier_mut().gravity = Vector::ZERO;
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::X * 5.0)
                .linvel(vector(0.0, 0.0, 8.0));
            simulation
                .physics
                .insert(body, ColliderBuilder::ball(0.2).mass(1.0))
        },
        // v² / r toward the middle: a circle of 5 m at 8 m/s.
        force: Some(|body, _| body.translation().normalize_or_zero() * (-64.0 / 5.0)),
        figure: |simulation, key| {
            (f64::from(body(&simulation.physics, key).translation().length()) - 5.0).abs()
        },
        figure_name: "metres off the circle",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "spinning top",
        build: |simulation| {
            simulation.physics.rapier_mut().gravity = Vector::ZERO;
            let body = RigidBodyBuilder::dynamic().angvel(spin(0.5, 12.0, 0.0));
            simulation
                .physics
                .insert(body, cuboid(0.5, 0.1, 0.3).mass(1.0))
        },
        force: None,
        figure: |simulation, key| {
            let energy = f64::from(body(&simulation.physics, key).kinetic_energy());
            (energy / TOP_START - 1.0).abs() * 100.0
        },
        figure_name: "% of energy lost or gained",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "1,000 mixed bodies",
        build: |simulation| {
            *simulation = with_floor(simulation.clock().settings().rate());
            let crates = pile(simulation, 700);
            for i in 0..300 {
                let at = vector(
                    (i % 20) as f32 - 10.0,
                    12.0 + (i / 20) as f32,
                    (i % 7) as f32,
                );
                simulation.physics.insert(
                    RigidBodyBuilder::dynamic().translation(at),
                    ColliderBuilder::ball(0.4),
                );
            }
            crates[699]
        },
        force: None,
        figure: |simulation, key| f64::from(body(&simulation.physics, key).translation().y),
        figure_name: "height of the last crate at the end",
        worst: false,
        has_reference: false,
    },
];

/// Newtons a metre, for 1 kg: a stiff spring, as of a car's wheel.
const SPRING: f32 = 2_500.0;

/// Newtons for each metre a second: enough for steps of up to about 25 ms, by the sums for a force that
/// is held for a step.
const DAMPING: f32 = 25.0;

fn body(physics: &Physics, key: BodyKey) -> &RigidBody {
    physics.body(key).expect("the watched body lives")
}

fn dynamic(simulation: &Simulation) -> impl Iterator<Item = &RigidBody> {
    simulation
        .physics
        .rapier()
        .bodies
        .iter()
        .map(|(_, body)| body)
        .filter(|body| body.is_dynamic())
}

/// Kinetic energy, and that of height, of all bodies in joules.
pub fn energy(simulation: &Simulation) -> f64 {
    let of = |body: &RigidBody| body.kinetic_energy() + body.mass() * 9.81 * body.translation().y;
    dynamic(simulation).map(|body| f64::from(of(body))).sum()
}

/// The energy of the chain as it is let go: all of it at height 0.
const CHAIN_START: f64 = 0.0;

/// The kinetic energy of the top at first, in joules.
const TOP_START: f64 =
    0.5 * (0.5 * 0.5 * (0.2 * 0.2 + 0.6 * 0.6) + 144.0 * (1.0 + 0.6 * 0.6)) / 12.0;

/// A chain of balls of one kilogram, let go level, with its first end fixed.
fn chain(simulation: &mut Simulation) -> BodyKey {
    let link = |simulation: &mut Simulation, i: usize| {
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::X * (0.5 * i as f32))
            .can_sleep(false);
        let ball = ColliderBuilder::ball(0.1)
            .mass(1.0)
            .collision_groups(InteractionGroups::none());
        simulation.physics.insert(body, ball)
    };
    let mut last = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    for i in 1..=20 {
        let next = link(simulation, i);
        let ends = [last, next].map(|key| simulation.physics.handle(key).expect("just inserted"));
        let joint = ball_joint(Vector::ZERO, Vector::X * -0.5);
        simulation
            .physics
            .rapier_mut()
            .insert_impulse_joint(ends[0], ends[1], joint);
        last = next;
    }
    last
}

/// Twenty bullets of all speeds up to 200 m/s, a metre before a wall of 5 cm.
fn bullets(simulation: &mut Simulation, ccd: bool) -> BodyKey {
    simulation.physics.rapier_mut().gravity = Vector::ZERO;
    let wall = cuboid(0.025, 20.0, 20.0);
    let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), wall);
    for i in 1..=20 {
        let at = vector(-2.0, 0.0, i as f32 - 10.0);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linvel(Vector::X * 10.0 * i as f32)
            .ccd_enabled(ccd);
        simulation
            .physics
            .insert(body, ColliderBuilder::ball(0.05).restitution(0.5));
    }
    if !ccd {
        // Rapier sweeps fast bodies against fixed ones unasked: without any CCD at all.
        simulation
            .physics
            .rapier_mut()
            .integration_parameters
            .max_ccd_substeps = 0;
    }
    wall
}

fn tunnelled(simulation: &Simulation) -> f64 {
    dynamic(simulation)
        .filter(|body| body.translation().x > 0.1)
        .count() as f64
}

/// What came of one scene, stepped in one way over one trace.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Wall time for each second of simulated time, in seconds: the one figure that differs from run
    /// to run.
    pub cost: f64,
    /// What the scene is about.
    pub figure: f64,
    /// The largest distance of the watched body from the run in tiny steps, in metres.
    pub off_reference: Option<f64>,
    /// How far the rendered body is from the smooth curve through the two frames before and the
    /// two after, in metres (root mean square).
    pub stutter: f64,
    /// The longest way that the rendered body moved in one frame beyond or short of its true speed,
    /// in metres.
    pub jump: f64,
    /// All bits of the end.
    pub end: u64,
    /// Time, the figure, and the rendered place of the watched body, at each frame.
    pub samples: Vec<(f64, f64, Vector)>,
}

/// A motion in steps of 1/2,000 s: the place of the watched body after each.
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

    /// The place at a time; `None` after the end.
    fn at(&self, seconds: f64) -> Option<Vector> {
        let at = seconds * f64::from(REFERENCE_HZ);
        let before = at as usize;
        let pair = (self.0.get(before)?, self.0.get(before + 1)?);
        Some(pair.0.lerp(*pair.1, (at - before as f64) as f32))
    }
}

fn start(scene: &Scene, hz: u32) -> (Simulation, BodyKey) {
    let mut simulation = Simulation::new(Rate::hz(hz).expect("not zero"));
    let key = (scene.build)(&mut simulation);
    (simulation, key)
}

/// A frame, with the game's own force in each step; gives the simulated time that it made.
fn advance(simulation: &mut Simulation, scene: &Scene, key: BodyKey, time: Duration) -> f64 {
    let mut made = 0.0;
    simulation.advance(time, |physics, step| {
        made += f64::from(step.dt);
        if let Some(force) = scene.force {
            let force = force(body(physics, key), step.time);
            // Where a strategy has thrown the body out of the world there is no force any more.
            let _ = physics.add_force(key, force);
        }
    });
    made
}

#[expect(
    clippy::disallowed_methods,
    reason = "the cost is measured by the wall clock"
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
    // No frame of these traces is cut: each run covers the same time.
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
            .expect("the watched body lives")
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

/// The stutter and the longest jump of a rendered body.
fn smoothness(samples: &[(f64, f64, Vector)], speeds: &[f32]) -> (f64, f64) {
    let (mut squares, mut count, mut jump) = (0.0, 0, 0.0f64);
    // The first frames of a strategy that shows the past stand still.
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

/// Where the two frames before and the two after would have the middle one: Lagrange's cubic, which
/// follows a curve, so that what is left is stutter.
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

/// The mean time from an input to the first frame that shows its effect, in seconds.
pub fn latency(strategy: &Strategy, trace: &Trace, seed: u64) -> f64 {
    let mut random = Random(seed);
    let mut simulation = Simulation::new(Rate::hz(strategy.hz).expect("not zero"));
    simulation.physics.rapier_mut().gravity = Vector::ZERO;
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
            // Somewhere in this frame, while the one before is on the screen.
            let at = start + time.mul_f64(random.next());
            queue.push(at, ());
            waiting = Some(at);
            pressed = simulation.pose(key);
        }
        simulation.advance(*time, |physics, step| {
            for _ in queue.drain(step) {
                let body = physics.body_mut(key).expect("it lives");
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
            // At rest again for the next one.
            simulation
                .physics
                .body_mut(key)
                .expect("it lives")
                .set_linvel(Vector::ZERO, true);
        }
    }
    total / f64::from(count.max(1))
}
