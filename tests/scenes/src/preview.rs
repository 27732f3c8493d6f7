//! Frames that display the present, by extrapolation or by a step that a copy of the state runs ahead. How far are they
//! from the poses that the run reaches?

use super::testing::{angle_between, axes, cuboid, cuboid_of, spin, translation, vector};
use evenstep::rewind::Kept;
use std::time::{Duration, Instant};

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing, Step, Stepping};

use super::strategies::{self, Random};
use super::{ball, heap, with_floor};

/// A method of displaying a frame that falls between two steps.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Smoothing(Smoothing),
    /// A copy runs one step that ends at the frame's time, and is discarded.
    Preview {
        /// The shortest step that the copy runs, as a fraction of a whole one. If the step is longer than the frame
        /// needs, the frame displays a pose between its two states. With 1, the step is always whole.
        least: f32,
        /// Whether the game's hook is called for it.
        plays: bool,
    },
}

pub const WAYS: [(&str, Way); 7] = {
    const fn preview(least: f32, plays: bool) -> Way {
        Way::Preview { least, plays }
    }
    [
        ("interpolated", Way::Smoothing(Smoothing::Interpolate)),
        ("Hermite", Way::Smoothing(Smoothing::Hermite)),
        ("extrapolated", Way::Smoothing(Smoothing::Extrapolate)),
        ("preview, partial step", preview(0.0, true)),
        ("preview, a quarter or more", preview(0.25, true)),
        ("preview, full step", preview(1.0, true)),
        ("the same without the hook", preview(1.0, false)),
    ]
};

impl Way {
    /// Returns how many steps the displayed pose is behind the frame's time.
    fn steps_late(self) -> u64 {
        let is_late = [Smoothing::Interpolate, Smoothing::Hermite];
        matches!(self, Self::Smoothing(smoothing) if is_late.contains(&smoothing)).into()
    }
}

/// The game's part in a step. It knows what has happened up to a real time.
type Game<'a> = &'a dyn Fn(&mut Physics, Step, Duration);

/// A simulation and its frames, displayed by one method.
pub struct Screen {
    way: Way,
    pub simulation: Simulation,
    ahead: Option<Simulation>,
}

impl Screen {
    pub fn new(mut simulation: Simulation, way: Way) -> Self {
        if let Way::Smoothing(smoothing) = way {
            simulation.smoothing = smoothing;
        }
        Self {
            way,
            simulation,
            ahead: None,
        }
    }

    /// Runs the steps of a frame. Call [`preview`](Self::preview) afterwards.
    pub fn advance(&mut self, time: Duration, game: Game) {
        self.simulation.advance(time, |physics, step| {
            game(physics, step, Duration::MAX);
        });
    }

    pub fn preview(&mut self, game: Game) {
        let Way::Preview { least, plays } = self.way else {
            return;
        };
        let mut ahead = self.simulation.clone();
        let length = self.simulation.frame().alpha.max(least);
        let mut time = Duration::ZERO;
        if length >= 1.0 {
            ahead.pause();
            ahead.step_once();
        } else {
            ahead.set_overstep(Duration::ZERO);
            ahead.clock_settings_mut().set_stepping(Stepping::Variable);
            let period = self.simulation.clock().settings().rate().period();
            time = period.mul_f32(length).max(Duration::from_nanos(1));
        }
        let now = self.simulation.clock().real_time();
        ahead.advance(time, |physics, step| {
            if plays {
                game(physics, step, now);
            }
        });
        self.ahead = Some(ahead);
    }

    pub fn pose(&self, key: BodyKey) -> Pose {
        let pose = match (&self.ahead, self.way) {
            (Some(ahead), Way::Preview { least, .. }) => {
                let alpha = self.simulation.frame().alpha;
                // A step that ends at the frame's time is displayed at its end, even if it took no time.
                let share = if alpha >= least { 1.0 } else { alpha / least };
                ahead.pose_at(key, ahead.physics.tick(), share)
            }
            _ => self.simulation.pose(key),
        };
        pose.expect("no scene removes a body")
    }
}

/// The same run, some steps ahead. It knows the poses that the frames should have displayed.
pub struct Truth(Simulation);

const AHEAD: u64 = 3;

impl Truth {
    pub fn new(mut simulation: Simulation, game: Game) -> Self {
        simulation.keep(Kept {
            poses: 8,
            ..simulation.kept()
        });
        simulation.pause();
        for _ in 0..AHEAD {
            simulation.step_once();
            simulation.advance(Duration::ZERO, |physics, step| {
                game(physics, step, Duration::MAX);
            });
        }
        simulation.resume();
        Self(simulation)
    }

    pub fn advance(&mut self, time: Duration, game: Game) {
        self.0.advance(time, |physics, step| {
            game(physics, step, Duration::MAX);
        });
    }

    /// Returns the pose between the states after `tick` steps and after the next one. Interpolation displays it a step
    /// later.
    pub fn between(&self, key: BodyKey, tick: u64, alpha: f32) -> Pose {
        let pose = self.0.pose_at(key, tick + 1, alpha);
        pose.expect("states are kept for long enough")
    }

    /// Returns the position on the smooth curve through these two states and the ones before and after (Lagrange's
    /// cubic). The body follows it where nothing hits it. At least two steps must have run.
    pub fn curve(&self, key: BodyKey, tick: u64, alpha: f32) -> Vector {
        let a = alpha;
        let weights = [
            -a * (a - 1.0) * (a - 2.0) / 6.0,
            (a + 1.0) * (a - 1.0) * (a - 2.0) / 2.0,
            -(a + 1.0) * a * (a - 2.0) / 2.0,
            (a + 1.0) * a * (a - 1.0) / 6.0,
        ];
        let near = self.between(key, tick, 0.0).translation;
        let states = (tick - 2..).zip(weights);
        // Relative to one of the states, so that positions far out are not rounded.
        let of = |(before, weight)| (self.between(key, before, 1.0).translation - near) * weight;
        near + states.map(of).sum::<Vector>()
    }
}

/// A scene, and the game's part in it.
pub struct Scene {
    pub name: &'static str,
    /// Fills a world and returns the body that the game controls.
    pub build: fn(&mut Simulation) -> BodyKey,
    pub game: fn(&mut Physics, BodyKey, Step, Duration),
    /// Whether nothing collides, so that the motion follows a smooth curve.
    pub is_smooth: bool,
}

const fn scene(
    name: &'static str,
    is_smooth: bool,
    build: fn(&mut Simulation) -> BodyKey,
) -> Scene {
    Scene {
        name,
        build,
        game: |_, _, _, _| (),
        is_smooth,
    }
}

pub fn scenes() -> [Scene; 9] {
    [
        scene("free fall", true, |simulation| {
            simulation
                .physics
                .insert(RigidBodyBuilder::dynamic(), ball())
        }),
        scene("spinner off centre", true, |simulation| {
            simulation.physics.set_gravity(Vector::ZERO).unwrap();
            let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 3.0);
            let side = cuboid(0.5, 0.1, 0.3).translation(Vector::X * 0.5);
            simulation
                .physics
                .insert(body.angvel(spin(0.5, 12.0, 0.0)), side)
        }),
        Scene {
            game: |physics, key, step, _| {
                let force = of_report("curve").force.expect("the scene has a force");
                let body = physics.body(key).expect("the body exists");
                let force = force(body, step.start_time);
                physics.add_force(key, force).expect("the body exists");
            },
            ..scene("force of the game", true, of_report("curve").build)
        },
        scene("elastic ball", false, of_report("elastic ball").build),
        scene("bullets in a box", false, bullets_in_a_box),
        scene("chain of 20", true, of_report("chain of 20").build),
        scene("heap of 200, shot at", false, heap_shot_at),
        Scene {
            game: |physics, key, step, _| {
                let stroke = step.start_time.as_secs();
                let height = if stroke.is_multiple_of(2) { 2.0 } else { 0.0 };
                let pose = translation(0.0, height, 0.0);
                let end = Duration::from_secs(stroke + 1);
                let set = physics.set_kinematic_target(key, pose, end);
                set.expect("a pose of a kinematic body");
            },
            ..scene("crates on a lift", false, lift)
        },
        Scene {
            game: |physics, key, step, now| {
                let turn = turns_before(step.end_time.min(now));
                let way = [
                    Vector::X,
                    vector(0.0, 0.0, 1.0),
                    -Vector::X,
                    -vector(0.0, 0.0, 1.0),
                ][turn % 4];
                let body = physics.body_mut(key).expect("the body exists");
                body.set_linvel(way * 6.0, true);
            },
            ..scene("player who turns", false, |simulation| {
                simulation.physics.set_gravity(Vector::ZERO).unwrap();
                simulation
                    .physics
                    .insert(RigidBodyBuilder::dynamic(), ball())
            })
        },
    ]
}

fn of_report(name: &str) -> &'static strategies::Scene {
    static ALL: [strategies::Scene; 9] = strategies::SCENES;
    let scene = ALL.iter().find(|scene| scene.name == name);
    scene.expect("the report has this scene")
}

/// Returns how often the player has turned. It turns once every 0.4 s, at times that do not coincide with steps or
/// frames.
fn turns_before(time: Duration) -> usize {
    let at = |i: u16| 0.4 * f64::from(i) + 0.3 * Random(i.into()).number();
    (0..).take_while(|i| at(*i) < time.as_secs_f64()).count()
}

/// Creates twenty balls of 5 to 50 m/s that hit the walls and each other.
fn bullets_in_a_box(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let elastic = |collider: ColliderBuilder| collider.restitution(1.0).friction(0.0);
    for axis in axes() {
        let half = Vector::splat(3.0) - axis * 2.5;
        for at in [axis * 2.5, axis * -2.5] {
            let wall = RigidBodyBuilder::fixed().translation(at);
            simulation.physics.insert(wall, elastic(cuboid_of(half)));
        }
    }
    let mut last = None;
    for i in 0..20u8 {
        let n = f32::from(i);
        let at = vector(0.6 * (n % 5.0) - 1.2, 0.0, 0.6 * f32::from(i / 5) - 0.9);
        let way = vector(1.0, (n % 3.0) - 1.0, (n % 7.0) - 3.0).normalize();
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .ccd_enabled(true);
        let body = body.linvel(way * (5.0 + 45.0 / 19.0 * n));
        last = Some(
            simulation
                .physics
                .insert(body, elastic(ColliderBuilder::ball(0.1))),
        );
    }
    last.expect("twenty balls are inserted")
}

/// Creates crates that fall onto a heap, and ten heavy balls that fly into it.
fn heap_shot_at(simulation: &mut Simulation) -> BodyKey {
    *simulation = with_floor(simulation.clock().settings().rate());
    let crates = heap(simulation, 200);
    for i in 0..10u8 {
        let at = vector(-15.0 - 6.0 * f32::from(i), 2.5, 3.5);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .gravity_scale(0.0);
        let body = body.linvel(Vector::X * 20.0);
        simulation
            .physics
            .insert(body, ColliderBuilder::ball(0.4).density(5.0));
    }
    crates[0]
}

fn lift(simulation: &mut Simulation) -> BodyKey {
    let body = RigidBodyBuilder::kinematic_position_based();
    let lift = simulation.physics.insert(body, cuboid(3.0, 0.1, 3.0));
    for i in 0..8u8 {
        let at = vector(f32::from(i % 4) - 1.5, 0.6, 1.5 * f32::from(i / 4) - 0.7);
        let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
        simulation.physics.insert(body, cuboid(0.4, 0.5, 0.4));
    }
    lift
}

/// Returns frame times of 144 frames per second, each up to a fifth longer or shorter. One in sixteen frames ends a
/// microsecond after a step.
pub fn frames(rate: Rate, length: Duration) -> Vec<Duration> {
    let mut random = Random(1);
    let (mut now, mut frames) = (Duration::ZERO, Vec::new());
    while now < length {
        let mut end = now + (Duration::from_secs(1) / 144).mul_f64(0.8 + 0.4 * random.number());
        if frames.len() % 16 == 15 {
            let steps = (end.as_secs_f64() / rate.dt_f64()).ceil();
            end = Duration::from_secs_f64(steps * rate.dt_f64() + 1e-6);
        }
        frames.push(end - now);
        now = end;
    }
    frames
}

/// The mean and the largest error, in metres or in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    sum: f64,
    count: u32,
    pub worst: f64,
}

impl Errors {
    fn add(&mut self, error: f32) {
        let error = if error.is_finite() {
            error.into()
        } else {
            f64::INFINITY
        };
        self.sum += error;
        self.count += 1;
        self.worst = self.worst.max(error);
    }

    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }
}

/// The errors of one method's frames, over all bodies that are not fixed.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The distance from the run's true position at the frame's time, in metres.
    pub off: Errors,
    /// The same for the rotation, in degrees.
    pub turned: Errors,
    /// The distance from the smooth curve, if there is one, in metres.
    pub off_curve: Option<Errors>,
    /// The motion since the previous frame, less the true motion at the displayed time, in metres.
    pub jump: Errors,
    /// The cost of a preview as a multiple of a frame with one step, median against median. `None` without previews.
    pub cost: Option<f64>,
}

/// Displays a scene by one method and compares each frame.
#[expect(
    clippy::disallowed_methods,
    reason = "the cost is measured with the wall clock"
)]
pub fn measure(scene: &Scene, way: Way, rate: Rate, length: Duration) -> Figures {
    let mut simulation = Simulation::new(rate);
    let played = (scene.build)(&mut simulation);
    let keys: Vec<BodyKey> = (simulation.physics.bodies())
        .filter(|(_, body)| !body.is_fixed())
        .map(|(key, _)| key)
        .collect();
    let game = |physics: &mut Physics, step: Step, now: Duration| {
        (scene.game)(physics, played, step, now);
    };
    let mut truth = Truth::new(simulation.clone(), &game);
    let mut screen = Screen::new(simulation, way);
    let mut figures = Figures::default();
    let (mut steps, mut previews) = (Vec::new(), Vec::new());
    let mut off_before: Vec<Option<Vector>> = vec![None; keys.len()];
    for time in frames(rate, length) {
        let begin = Instant::now();
        screen.advance(time, &game);
        let stepped = begin.elapsed();
        screen.preview(&game);
        previews.push(begin.elapsed() - stepped);
        if screen.simulation.frame().steps == 1 {
            steps.push(stepped);
        }
        truth.advance(time, &game);
        let (tick, alpha) = (
            screen.simulation.physics.tick(),
            screen.simulation.frame().alpha,
        );
        if tick < 2 {
            continue;
        }
        for (key, before) in keys.iter().zip(&mut off_before) {
            let shown = screen.pose(*key);
            let real = truth.between(*key, tick, alpha);
            figures
                .off
                .add(shown.translation.distance(real.translation));
            figures.turned.add(degrees(shown.rotation, real.rotation));
            if scene.is_smooth {
                let curve = truth.curve(*key, tick, alpha);
                let off_curve = figures.off_curve.get_or_insert_default();
                off_curve.add(shown.translation.distance(curve));
            }
            let meant = truth.between(*key, tick - way.steps_late(), alpha);
            let off = shown.translation - meant.translation;
            if let Some(before) = before.replace(off) {
                figures.jump.add(off.distance(before));
            }
        }
    }
    let has_cost = matches!(way, Way::Preview { .. });
    figures.cost = has_cost.then(|| median(&mut previews) / median(&mut steps));
    figures
}

/// Returns the mean time from an input to the first frame that displays its effect, in seconds. Compares the run with
/// one without the input.
pub fn latency(way: Way, rate: Rate) -> f64 {
    let mut total = Duration::ZERO;
    let presses = 48;
    for i in 0..presses {
        let pressed = Duration::from_millis(100) + rate.period() * i * 5 / presses;
        total += seen_after(way, rate, pressed);
    }
    total.as_secs_f64() / f64::from(presses)
}

fn seen_after(way: Way, rate: Rate, pressed: Duration) -> Duration {
    let mut simulation = Simulation::new(rate);
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().can_sleep(false), ball());
    let mut screen = Screen::new(simulation, way);
    let game = |physics: &mut Physics, step: Step, now: Duration| {
        if pressed < step.end_time.min(now) {
            let body = physics.body_mut(key).expect("the body exists");
            body.set_linvel(Vector::X, true);
        }
    };
    for time in frames(rate, Duration::from_secs(1)) {
        screen.advance(time, &game);
        screen.preview(&game);
        if screen.pose(key) != Pose::IDENTITY {
            return screen.simulation.clock().real_time() - pressed;
        }
    }
    unreachable!("every method displays the effect in the end")
}

fn degrees(one: Rotation, other: Rotation) -> f32 {
    angle_between(one, other).to_degrees()
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2);
    middle.map_or(f64::NAN, Duration::as_secs_f64)
}
