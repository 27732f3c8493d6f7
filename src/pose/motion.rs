//! How a body gets from one state to the next: what a frame shows between the two, or beyond.

use rapier::dynamics::{RigidBody, RigidBodyType, RigidBodyVelocity};
use rapier::glamx::{DQuat, DVec3, Quat, Vec4};
use rapier::math::{AngVector, Pose, Real, Vector};

use crate::slerp::{Blend, four_floats};

use super::lanes::{LANES, Quats, Vectors};

/// How to draw a frame that falls between two steps: for
/// [`Simulation::set_smoothing`](crate::Simulation::set_smoothing) and, for one body,
/// [`Simulation::set_body_smoothing`](crate::Simulation::set_body_smoothing).
///
/// # Choosing
/// | | latency | in free motion | at contacts | cost |
/// | --- | --- | --- | --- | --- |
/// | [`Interpolate`](Self::Interpolate) | one step | straight between the states | a corner at each state | 1, off centre 2.4 |
/// | [`Hermite`](Self::Hermite) | one step | smooth at the states too | overshoots a little | 7 |
/// | [`Extrapolate`](Self::Extrapolate) | none | exact, but for acceleration | goes through it, and jumps back | 3.5 |
/// | [`Latest`](Self::Latest) | up to a step | in jumps | in jumps | 1.7 |
///
/// The cost is that of a frame without a step, as a multiple of that of bodies that are interpolated and
/// have their centre of mass at their origin: these take 5 ns each (`cargo bench --bench frame --
/// smoothing`, an AMD EPYC), because only they are computed from lists of poses alone.
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::{Simulation, Smoothing};
/// use std::time::Duration;
///
/// let shown = |smoothing| {
///     let mut simulation = Simulation::default();
///     simulation.set_smoothing(smoothing);
///     let body = RigidBodyBuilder::dynamic().gravity_scale(0.0).linvel(Vector::X * 60.0);
///     let body = simulation.insert(body, ColliderBuilder::ball(0.5));
///     simulation.advance(Duration::from_millis(25), |_, _| ()); // one and a half steps, one metre each
///     simulation.pose(body).unwrap().translation.x
/// };
/// assert!((shown(Smoothing::Interpolate) - 0.5).abs() < 1e-3);
/// assert!((shown(Smoothing::Extrapolate) - 1.5).abs() < 1e-3);
/// assert!((shown(Smoothing::Latest) - 1.0).abs() < 1e-3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Smoothing {
    /// Between the last two states, at the frame's [`alpha`](crate::Frame::alpha). The default.
    ///
    /// The centre of mass moves in a straight line and the body turns about it at a constant rate, along the
    /// shorter arc, like a body that nothing touches. (For a body that is kinematic by position the origin moves in
    /// a straight line.)
    #[default]
    Interpolate,
    /// Between the last two states, along a curve that has both states' velocities at its ends.
    ///
    /// For what turns or is thrown fast enough to show corners, for low rates, and for a body
    /// that turns by more than half a turn in a step, which the two poses alone do not show. The
    /// position is a cubic Hermite spline. The rotation follows both angular velocities, each
    /// fading into the other, and the remaining difference to the second pose is spread smoothly.
    Hermite,
    /// Beyond the last state, by the time since then, at that state's velocities.
    ///
    /// No latency. It never goes more than one step ahead: whatever the frame's time, the body is shown
    /// at most |v| · dt from its last state and turned by at most |ω| · dt. Under an acceleration
    /// a it is off by at most a · dt² from the next state, 1.7 mm for free fall at 60 Hz (with Rapier's four
    /// substeps, 0.625 · a · dt²). At a contact it is off by up to |v| · dt, and then jumps back. A step made ahead on a
    /// copy shows contacts too, at a cost: [Showing the present][preview].
    ///
    /// [preview]: https://docs.rs/crate/evenstep/latest/source/docs/book/src/preview.md
    Extrapolate,
    /// The last state: not smooth, unless the display shows a frame for each step.
    Latest,
}

impl Smoothing {
    pub(super) const ALL: [Self; 4] = [
        Self::Interpolate,
        Self::Hermite,
        Self::Extrapolate,
        Self::Latest,
    ];
}

/// A body's last two states, and what a frame shows between them.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Pair {
    pub previous: Pose,
    pub current: Pose,
    /// `None`: interpolated about its origin, the common case that needs no more than the poses.
    pub trajectory: Option<Trajectory>,
}

/// What the motion from one pose to the next depends on, beside these.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Trajectory {
    smoothing: Smoothing,
    /// What goes straight and is turned about, in the body's own frame: metres.
    center: Vector,
    /// At the previous and at the current state, of the centre of mass, in world axes.
    ///
    /// The first is `None` of a body that was not seen at the beginning of the step, or has no velocity that
    /// means anything there: as at the end.
    before: Option<RigidBodyVelocity<Real>>,
    after: RigidBodyVelocity<Real>,
    /// From one to the other: seconds.
    dt: Real,
    /// How many steps had been made when it was last put elsewhere.
    put_at: Option<u64>,
}

impl Pair {
    /// A body that stays.
    pub fn at_rest(pose: Pose) -> Self {
        Self {
            previous: pose,
            current: pose,
            trajectory: None,
        }
    }

    /// What is shown at `alpha`. At 1 that is the current pose, whatever the smoothing.
    pub fn at(&self, alpha: f32) -> Pose {
        self.weighted(&Weights::new(alpha))
    }

    pub(super) fn weighted(&self, weights: &Weights) -> Pose {
        let plain = weights.blend.one(&self.previous, &self.current);
        let Some(trajectory) = self.trajectory else {
            return plain;
        };
        let motions = Motions {
            trajectories: &[trajectory; LANES],
            previous: &[self.previous; LANES],
            current: &[self.current; LANES],
            plain: &[plain; LANES],
        };
        motions.at(trajectory.smoothing, weights)[0]
    }

    pub fn is_finite(&self) -> bool {
        self.previous.is_finite() && self.current.is_finite()
    }

    /// Moves both states by the same isometry of the world.
    pub fn transform(&mut self, by: &Pose) {
        self.previous = by * self.previous;
        self.current = by * self.current;
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.turn(by.rotation);
        }
    }
}

impl Trajectory {
    /// Right before a step, when `tick` have been made.
    pub fn begin(&mut self, body: &RigidBody, max_linear_velocity: Real, dt: Real, tick: u64) {
        // Rapier keeps the velocity of the last step for a body that is kinematic by position. Of one that
        // was put elsewhere since, that says nothing of where it goes.
        let is_led = body.body_type() == RigidBodyType::KinematicPositionBased;
        let is_stale = self.put_at == Some(tick) && is_led;
        self.before = (!is_stale).then(|| capped(body, max_linear_velocity, dt));
    }

    /// Right after it.
    pub fn end(&mut self, body: &RigidBody, smoothing: Smoothing, dt: f32) {
        let led_by_origin = smoothing == Smoothing::Interpolate
            && body.body_type() == RigidBodyType::KinematicPositionBased;
        self.center = if led_by_origin {
            Vector::ZERO
        } else {
            finite_center(body)
        };
        self.after = finite_velocity(body);
        if !is_in_motion(body) {
            // It has come to rest, and does not swing past that.
            self.before = None;
        }
        // Not seen at the beginning: it was asleep, and whatever set it in motion did so at once.
        self.before.get_or_insert(self.after);
        self.smoothing = smoothing;
        self.dt = dt;
    }

    /// What goes straight and is turned about, in the body's own frame.
    pub fn center(&self) -> Vector {
        self.center
    }

    /// The body was put elsewhere after `tick` steps.
    pub fn put(&mut self, tick: u64) {
        self.put_at = Some(tick);
    }

    /// The body's place was set: it goes on from there in the next step only.
    pub fn stop_moving(&mut self) {
        self.after.linvel = Vector::ZERO;
        if let Some(before) = &mut self.before {
            before.linvel = Vector::ZERO;
        }
    }

    /// The body's rotation was set: it goes on from there in the next step only.
    pub fn stop_turning(&mut self) {
        self.after.angvel = AngVector::default();
        if let Some(before) = &mut self.before {
            before.angvel = AngVector::default();
        }
    }

    /// So many steps have another number from now on.
    pub fn set_tick(&mut self, old: u64, new: u64) {
        self.put_at = (self.put_at == Some(old)).then_some(new);
    }

    /// Whether the poses alone say as much.
    pub fn is_plain(&self) -> bool {
        self.smoothing == Smoothing::Interpolate && self.center == Vector::ZERO
    }

    /// Whether it is no state between the two that is shown.
    pub fn goes_beyond(&self, alpha: f32) -> bool {
        let goes_on = self.smoothing == Smoothing::Extrapolate && alpha > 0.0 && alpha < 1.0;
        goes_on && self.after != RigidBodyVelocity::default()
    }

    /// The body has been turned.
    pub fn turn(&mut self, by: Quat) {
        for velocity in self.before.iter_mut().chain([&mut self.after]) {
            velocity.linvel = by * velocity.linvel;
            velocity.angvel = by * velocity.angvel;
        }
    }

    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }
}

/// Where between two states a frame is, and the weights of the two, which are the same for all bodies.
pub(super) struct Weights {
    pub alpha: f32,
    pub blend: Blend,
    /// At [`ease`] of it.
    eased: Blend,
}

impl Weights {
    pub fn new(alpha: f32) -> Self {
        Self {
            alpha,
            blend: Blend::new(alpha),
            eased: Blend::new(ease(alpha)),
        }
    }
}

/// Four bodies that are not shown as the two poses alone have it.
pub(super) struct Motions<'a> {
    pub trajectories: &'a [Trajectory; LANES],
    pub previous: &'a [Pose; LANES],
    pub current: &'a [Pose; LANES],
    /// What is interpolated about their origins.
    pub plain: &'a [Pose; LANES],
}

impl Motions<'_> {
    /// As [`Pair::at`], were this smoothing that of all four.
    pub fn at(&self, smoothing: Smoothing, weights: &Weights) -> [Pose; LANES] {
        if weights.alpha >= 1.0 {
            return *self.current;
        }
        match smoothing {
            Smoothing::Interpolate => self.about_center(weights.alpha),
            Smoothing::Hermite => self.hermite(weights),
            Smoothing::Extrapolate => {
                let seconds = self.trajectories.each_ref().map(|it| weights.alpha * it.dt);
                let velocities = self.trajectories.each_ref().map(|it| &it.after);
                all_moved_on(self.current, velocities, self.centers(), seconds)
            }
            Smoothing::Latest => *self.current,
        }
    }

    fn centers(&self) -> [Vector; LANES] {
        self.trajectories.each_ref().map(|it| it.center)
    }

    /// `plain`, corrected by how far the centre is off its straight line in it.
    fn about_center(&self, alpha: f32) -> [Pose; LANES] {
        let center = Vectors::new(self.centers());
        let start = rotations(self.previous).rotate(center);
        let end = rotations(self.current).rotate(center);
        let plain = rotations(self.plain).rotate(center);
        let off = (start + (end - start) * alpha - plain).to_array();
        std::array::from_fn(|i| {
            let Pose {
                translation,
                rotation,
                ..
            } = self.plain[i];
            Pose::from_parts(translation + off[i], rotation)
        })
    }

    fn hermite(&self, weights: &Weights) -> [Pose; LANES] {
        if weights.alpha <= 0.0 {
            return *self.previous;
        }
        let after = self.trajectories.each_ref().map(|it| &it.after);
        let before = self.trajectories.each_ref();
        let before = before.map(|it| it.before.as_ref().unwrap_or(&it.after));
        let dt = Vec4::from_array(self.trajectories.each_ref().map(|it| it.dt));
        let turning = [before, after].map(|ends| Vectors::new(ends.map(|it| it.angvel)) * dt);
        let [v, w] = [before, after].map(|ends| Vectors::new(ends.map(|it| it.linvel)) * dt);

        let turned = [self.previous, self.current].map(rotations);
        let rotation = hermite_rotation(turned, turning, weights);
        let center = Vectors::new(self.centers());
        let start = translations(self.previous) + turned[0].rotate(center);
        let end = translations(self.current) + turned[1].rotate(center);
        let (t, left) = (weights.alpha, 1.0 - weights.alpha);
        let center_at =
            start + (end - start) * ease(t) + v * (t * left * left) - w * (t * t * left);
        let mut poses = to_poses(center_at - rotation.rotate(center), rotation);

        // A body at rest is shown where it is, to the bit.
        let still = are_still([turning[0], turning[1], v, w]);
        for i in chosen(still) {
            if self.previous[i] == self.current[i] {
                poses[i] = self.previous[i];
            }
        }
        poses
    }
}

/// Turned by the velocity before, which fades out, and the velocity after, which fades in. The
/// rest, what is then still missing, goes between the two, so that it is without speed at
/// both ends. It is small, also where the turn itself is large, so it has a shorter arc.
fn hermite_rotation([start, end]: [Quats; 2], [v, w]: [Vectors; 2], weights: &Weights) -> Quats {
    let missing = turns(w * -0.5) * end * start.conjugate() * turns(v * -0.5);
    let missing = missing.renormalized().to_array().map(Pose::from_rotation);
    let mut part = [Pose::IDENTITY; LANES];
    weights
        .eased
        .block(&[Pose::IDENTITY; LANES], &missing, &mut part);
    let part = rotations(&part);
    let t = weights.alpha;
    let (of_v, of_w) = (t - 0.5 * t * t, 0.5 * t * t);
    (turns(w * of_w) * part * turns(v * of_v) * start).renormalized()
}

/// Where bodies that nothing touches are after so many seconds, or were before: `centers` are those of their
/// mass, in their own frames.
pub(crate) fn all_moved_on(
    poses: &[Pose; LANES],
    velocities: [&RigidBodyVelocity<Real>; LANES],
    centers: [Vector; LANES],
    seconds: [f32; LANES],
) -> [Pose; LANES] {
    let seconds = Vec4::from_array(seconds);
    let way = Vectors::new(velocities.map(|it| it.linvel)) * seconds;
    let turn = Vectors::new(velocities.map(|it| it.angvel)) * seconds;
    let (center, before) = (Vectors::new(centers), rotations(poses));
    let rotation = (turns(turn) * before).renormalized();
    let swing = before.rotate(center) - rotation.rotate(center);
    let mut moved = to_poses(translations(poses) + (way + swing), rotation);
    let still = are_still([way, turn]);
    for i in chosen(still) {
        moved[i] = poses[i];
    }
    moved
}

/// The same of one body.
pub(crate) fn moved_on(
    pose: &Pose,
    velocity: &RigidBodyVelocity<Real>,
    center: Vector,
    seconds: f32,
) -> Pose {
    let (poses, velocities) = ([*pose; LANES], [velocity; LANES]);
    all_moved_on(&poses, velocities, [center; LANES], [seconds; LANES])[0]
}

fn rotations(poses: &[Pose; LANES]) -> Quats {
    Quats::new(poses.each_ref().map(|pose| pose.rotation))
}

fn translations(poses: &[Pose; LANES]) -> Vectors {
    Vectors::of_four_floats(poses.each_ref().map(four_floats))
}

fn to_poses(translations: Vectors, rotations: Quats) -> [Pose; LANES] {
    let (translations, rotations) = (translations.to_array(), rotations.to_array());
    std::array::from_fn(|i| Pose::from_parts(translations[i], rotations[i]))
}

/// Which bodies do not move at all, a bit each.
fn are_still<const N: usize>(ways: [Vectors; N]) -> u32 {
    let squares = ways.iter().fold(Vec4::ZERO, |sum, way| sum + way.dot(*way));
    squares.cmpeq(Vec4::ZERO).bitmask()
}

/// The bodies whose bit is set.
fn chosen(bits: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |i| bits >> i & 1 == 1)
}

/// A body's velocity; zero for one that is disabled or asleep, whatever Rapier keeps for it, and for one
/// that Rapier is about to disable because it is not finite.
pub(crate) fn finite_velocity(body: &RigidBody) -> RigidBodyVelocity<Real> {
    let velocity = *body.vels();
    if is_in_motion(body) && velocity.linvel.is_finite() && velocity.angvel.is_finite() {
        velocity
    } else {
        RigidBodyVelocity::default()
    }
}

/// A body's centre of mass in its own frame; the origin if it is not finite.
pub(crate) fn finite_center(body: &RigidBody) -> Vector {
    let center = body.mass_properties().local_mprops.local_com;
    if center.is_finite() {
        center
    } else {
        Vector::ZERO
    }
}

fn is_in_motion(body: &RigidBody) -> bool {
    body.is_enabled() && !body.is_sleeping()
}

/// The most that Rapier lets a body turn in a step: 45 degrees, its `MAX_ROTATION`.
const MAX_ROTATION: Real = std::f32::consts::FRAC_PI_4;

/// The velocity with which Rapier will begin a step of length `dt`: it caps what the game has set.
fn capped(body: &RigidBody, max_linear_velocity: Real, dt: Real) -> RigidBodyVelocity<Real> {
    let mut velocity = finite_velocity(body);
    if body.is_dynamic() {
        velocity.linvel = velocity.linvel.clamp_length_max(max_linear_velocity);
        if !body.is_fast_rotation_allowed() && dt > 0.0 {
            velocity.angvel = velocity.angvel.clamp_length_max(MAX_ROTATION / dt);
        }
    }
    velocity
}

/// From 0 to 1, without speed at both ends.
fn ease(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

/// The square of half an angle up to which a few terms of the series are enough: of a turn by 45 degrees, the
/// most that Rapier lets a body turn in a step.
const NEAR_TURN: f32 = 0.155;

/// The rotations about axes by angles, given as their products: radians, of any size.
///
/// By the power series of sine and cosine, of which the first term left out is below 2e-8.
fn turns(by: Vectors) -> Quats {
    let squared = by.dot(by) * 0.25;
    let series = |terms: [f32; 4]| {
        let [a, b, c, d] = terms.map(Vec4::splat);
        a + squared * (b + squared * (c + squared * d))
    };
    let half_sinc = series([1.0 / 2.0, -1.0 / 12.0, 1.0 / 240.0, -1.0 / 10_080.0]);
    let turns = Quats {
        vector: by * half_sinc,
        w: series([1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0]),
    };
    match squared.cmpgt(Vec4::splat(NEAR_TURN)).bitmask() {
        0 => turns,
        wide => wide_turns(by, turns, wide),
    }
}

#[cold]
fn wide_turns(by: Vectors, turns: Quats, wide: u32) -> Quats {
    let (by, mut turns) = (by.to_array(), turns.to_array());
    for i in chosen(wide) {
        turns[i] = wide_turn(by[i]);
    }
    Quats::new(turns)
}

/// In f64, where the series need no tricks to end with all bits of an f32.
fn wide_turn(by: Vector) -> Quat {
    use std::f64::consts::{PI, TAU};
    let by = by.as_dvec3();
    let angle = by.length();
    // The remainder is exact.
    let half = 0.5 * angle % TAU;
    let (sin, cos) = sin_cos(if half > PI { half - TAU } else { half });
    let DVec3 { x, y, z } = by * (sin / angle);
    DQuat::from_xyzw(x, y, z, cos).as_quat()
}

/// By their power series, for an angle in [−π, π]: to 1e-9.
fn sin_cos(angle: f64) -> (f64, f64) {
    let squared = angle * angle;
    let (mut sin, mut cos) = (1.0, 1.0);
    for n in (1..=12).rev().map(|n| f64::from(2 * n)) {
        cos = 1.0 - squared * (1.0 / ((n - 1.0) * n)) * cos;
        sin = 1.0 - squared * (1.0 / (n * (n + 1.0))) * sin;
    }
    (angle * sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{UnitQuaternion, Vector3};

    fn turn_by(by: Vector) -> Quat {
        turns(Vectors::new([by; LANES])).to_array()[0]
    }

    #[test]
    fn turns_of_all_sizes_are_exact() {
        for i in 0..4_000u16 {
            let angle = 0.01 * f32::from(i);
            let by = Vector::new(0.6, 0.0, -0.8) * angle;
            let exact = UnitQuaternion::new(Vector3::new(by.x, by.y, by.z).cast::<f64>());
            let [x, y, z, w] = turn_by(by).to_array().map(f64::from);
            for (ours, theirs) in [(x, exact.i), (y, exact.j), (z, exact.k), (w, exact.w)] {
                assert!(
                    (ours - theirs).abs() < 1e-7,
                    "{ours}, not {theirs}, at {angle}"
                );
            }
        }
        assert!(turn_by(Vector::Y * 1e30).is_normalized());
        assert_eq!(turn_by(Vector::ZERO), Quat::IDENTITY);
    }

    #[test]
    fn what_moves_on_and_back_again_is_where_it_was() {
        let pose = Pose::new(Vector::new(1.0, 2.0, 3.0), Vector::new(0.3, -1.0, 0.5));
        let velocity =
            RigidBodyVelocity::new(Vector::new(3.0, 0.0, -2.0), Vector::new(5.0, 4.0, 0.0));
        let center = Vector::new(0.2, 0.0, -0.4);
        let there = moved_on(&pose, &velocity, center, 0.25);
        let moved = there * center - pose * center;
        assert!((moved - velocity.linvel * 0.25).length() < 1e-6);
        let back = moved_on(&there, &velocity, center, -0.25);
        assert!((back.translation - pose.translation).length() < 1e-6);
        assert!((back.rotation - pose.rotation).length() < 1e-6);
        let at_rest = RigidBodyVelocity::default();
        assert_eq!(moved_on(&pose, &at_rest, center, 0.25), pose);
    }
}
