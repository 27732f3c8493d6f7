//! How a body gets from one state to the next: what a frame shows between the two, or beyond.

use rapier3d::dynamics::{RigidBody, RigidBodyType, RigidBodyVelocity};
use rapier3d::glamx::{DVec3, Quat};
use rapier3d::math::{Pose, Vector};

use crate::slerp::interpolate;

/// How a frame is shown that falls between two steps: for
/// [`Simulation::set_smoothing`](crate::Simulation::set_smoothing) and, for one body,
/// [`Simulation::set_smoothing_of`](crate::Simulation::set_smoothing_of).
///
/// # Choosing
/// | | latency | where nothing happens | where something happens | cost |
/// | --- | --- | --- | --- | --- |
/// | [`Interpolate`](Self::Interpolate) | up to a step | straight between the states | a corner at each state | 1, off centre 4 |
/// | [`Hermite`](Self::Hermite) | up to a step | smooth at the states too | swings a little past it | 24 |
/// | [`Extrapolate`](Self::Extrapolate) | none | exact, but for acceleration | goes through it, and jumps back | 8 |
/// | [`Latest`](Self::Latest) | up to a step | in jumps | in jumps | 3 |
///
/// The cost is that of a frame without a step, as a multiple of that of bodies that are interpolated and
/// have their centre of mass at their origin: these take 6 ns each (`cargo bench --bench frame --
/// smoothing`, an AMD EPYC), as only they go through lists of poses and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Smoothing {
    /// Between the last two states, by what is left of the time. The default.
    ///
    /// The centre of mass goes straight from one to the other and the body turns about it at an
    /// even rate, by the shorter way: as a body does that nothing touches. (One that is kinematic
    /// by position is led by its origin, and goes straight with that.)
    #[default]
    Interpolate,
    /// Between the last two states, along a curve that has both states' velocities at its ends.
    ///
    /// For what turns or is thrown fast enough to show corners, for low rates, and for a body
    /// that turns by more than half a turn in a step, which the two poses alone do not tell. The
    /// position is a cubic Hermite spline. The rotation is led by both angular velocities, each
    /// fading into the other, and what they miss of the way between the poses is spread smoothly.
    Hermite,
    /// Beyond the last state, by what is left of the time, at that state's velocities.
    ///
    /// Without latency. Never by more than one step: whatever the frame's time, the body is shown
    /// at most |v| · dt from its last state and turned by at most |ω| · dt. Under an acceleration
    /// a it is off by at most a · dt² from where the next step leads, 2.7 mm for free fall at 60 Hz;
    /// at a contact by up to |v| · dt, and then it jumps back.
    Extrapolate,
    /// The last state: not smooth, unless the display shows a frame for each step.
    Latest,
}

/// A body's last two states, and what a frame shows of the way between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub previous: Pose,
    pub current: Pose,
    /// `None`: interpolated about its origin, the common case that needs no more than the poses.
    pub course: Option<Course>,
}

/// What a way from one pose to the next depends on, beside these.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Course {
    smoothing: Smoothing,
    /// What goes straight and is turned about, in the body's own frame: metres.
    center: Vector,
    /// At the previous and at the current state, of the centre of mass, in world axes.
    before: RigidBodyVelocity<f32>,
    after: RigidBodyVelocity<f32>,
    /// From one to the other: seconds.
    dt: f32,
}

impl Pair {
    /// A body that stays.
    pub fn at_rest(pose: Pose) -> Self {
        Self {
            previous: pose,
            current: pose,
            course: None,
        }
    }

    /// What is shown `alpha` of the way. At 1 that is the current pose, whatever the smoothing.
    pub fn at(&self, alpha: f32) -> Pose {
        let (previous, current) = (&self.previous, &self.current);
        match &self.course {
            Some(course) => {
                let plain = || interpolate(previous, current, alpha);
                course.at(previous, current, alpha, plain)
            }
            None => interpolate(previous, current, alpha),
        }
    }

    /// Moves both states by the same isometry of the world.
    pub fn transform(&mut self, by: &Pose) {
        self.previous = by * self.previous;
        self.current = by * self.current;
        if let Some(course) = &mut self.course {
            course.turn(by.rotation);
        }
    }
}

impl Course {
    /// Right before a step.
    pub fn begin(&mut self, body: &RigidBody) {
        self.before = finite_velocity(body);
    }

    /// Right after it.
    pub fn end(&mut self, body: &RigidBody, smoothing: Smoothing, dt: f32) {
        let led_by_origin = smoothing == Smoothing::Interpolate
            && body.body_type() == RigidBodyType::KinematicPositionBased;
        let center = body.mass_properties().local_mprops.local_com;
        self.center = if led_by_origin || !center.is_finite() {
            Vector::ZERO
        } else {
            center
        };
        self.after = finite_velocity(body);
        self.smoothing = smoothing;
        self.dt = dt;
    }

    /// Right after a step in which the body was not seen at its beginning: it was asleep, and whatever
    /// set it in motion did so at once.
    pub fn begin_as_it_ended(&mut self) {
        self.before = self.after;
    }

    /// The body was put where it is: it goes on from there in the next step only.
    pub fn stand(&mut self) {
        self.after = RigidBodyVelocity::default();
    }

    /// Whether the poses alone tell as much.
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
        for velocity in [&mut self.before, &mut self.after] {
            velocity.linvel = by * velocity.linvel;
            velocity.angvel = by * velocity.angvel;
        }
    }

    /// As [`Pair::at`]. `plain` gives what is interpolated about the origin.
    pub fn at(
        &self,
        previous: &Pose,
        current: &Pose,
        alpha: f32,
        plain: impl FnOnce() -> Pose,
    ) -> Pose {
        if alpha >= 1.0 {
            return *current;
        }
        match self.smoothing {
            Smoothing::Interpolate => self.about_center(previous, current, alpha, plain()),
            Smoothing::Hermite => self.hermite(previous, current, alpha),
            Smoothing::Extrapolate => moved_on(current, &self.after, self.center, alpha * self.dt),
            Smoothing::Latest => *current,
        }
    }

    /// `plain`, put right by how far the centre is off its straight way in it.
    fn about_center(&self, previous: &Pose, current: &Pose, alpha: f32, plain: Pose) -> Pose {
        let start = previous.rotation * self.center;
        let end = current.rotation * self.center;
        let off = start + (end - start) * alpha - plain.rotation * self.center;
        Pose::from_parts(plain.translation + off, plain.rotation)
    }

    fn hermite(&self, previous: &Pose, current: &Pose, alpha: f32) -> Pose {
        // A body that was put elsewhere has no way behind it, whatever its velocity.
        if alpha <= 0.0 || previous == current {
            return *previous;
        }
        let (start, end) = (previous * self.center, current * self.center);
        let (v, w) = (self.before.linvel * self.dt, self.after.linvel * self.dt);
        let (t, left) = (alpha, 1.0 - alpha);
        let center = start + (end - start) * ease(t) + v * (t * left * left) - w * (t * t * left);
        let rotation = self.hermite_rotation(previous.rotation, current.rotation, t);
        Pose::from_parts(center - rotation * self.center, rotation)
    }

    /// Turned by the velocity before, which fades out, and the velocity after, which fades in. The
    /// rest, what is then still missing, goes between the two, so that it is without speed at
    /// both ends. It is small, also where the turn itself is large, so it has a shorter arc.
    fn hermite_rotation(&self, start: Quat, end: Quat, t: f32) -> Quat {
        let (v, w) = (self.before.angvel * self.dt, self.after.angvel * self.dt);
        let missing = turn_by(w * -0.5) * end * start.conjugate() * turn_by(v * -0.5);
        let missing = Pose::from_rotation(missing.normalize());
        let missing = interpolate(&Pose::IDENTITY, &missing, ease(t)).rotation;
        let (of_v, of_w) = (t - 0.5 * t * t, 0.5 * t * t);
        (turn_by(w * of_w) * missing * turn_by(v * of_v) * start).normalize()
    }
}

/// Where a body that nothing touches is after `seconds`, or was before: `center` is that of its
/// mass, in its own frame.
pub(crate) fn moved_on(
    pose: &Pose,
    velocity: &RigidBodyVelocity<f32>,
    center: Vector,
    seconds: f32,
) -> Pose {
    if *velocity == RigidBodyVelocity::default() {
        return *pose;
    }
    let rotation = (turn_by(velocity.angvel * seconds) * pose.rotation).normalize();
    let swing = pose.rotation * center - rotation * center;
    Pose::from_parts(
        pose.translation + (velocity.linvel * seconds + swing),
        rotation,
    )
}

/// A body's velocity; zero for one that is disabled, whatever Rapier keeps for it, and for one that
/// Rapier is about to disable because it is not finite.
pub(crate) fn finite_velocity(body: &RigidBody) -> RigidBodyVelocity<f32> {
    let velocity = *body.vels();
    if body.is_enabled() && velocity.linvel.is_finite() && velocity.angvel.is_finite() {
        velocity
    } else {
        RigidBodyVelocity::default()
    }
}

/// From 0 to 1, without speed at both ends.
fn ease(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

/// The rotation about an axis by an angle, given as their product: radians, of any size.
///
/// In f64, where the sine's and the cosine's power series need no tricks to end with all bits of an
/// f32.
fn turn_by(rotation: Vector) -> Quat {
    use std::f64::consts::{PI, TAU};
    let rotation = rotation.as_dvec3();
    let angle = rotation.length();
    if angle == 0.0 {
        return Quat::IDENTITY;
    }
    // The remainder is exact.
    let half = 0.5 * angle % TAU;
    let (sin, cos) = sin_cos(if half > PI { half - TAU } else { half });
    let DVec3 { x, y, z } = rotation * (sin / angle);
    rapier3d::glamx::DQuat::from_xyzw(x, y, z, cos).as_quat()
}

/// By their power series, for an angle in [−π, π]: to 1e-9.
fn sin_cos(angle: f64) -> (f64, f64) {
    let squared = angle * angle;
    // Up to a turn by 57 degrees, a few terms are enough.
    let terms = if squared < 0.25 { 4 } else { 12 };
    let (mut sin, mut cos) = (1.0, 1.0);
    for n in (1..=terms).rev().map(|n| f64::from(2 * n)) {
        cos = 1.0 - squared * (1.0 / ((n - 1.0) * n)) * cos;
        sin = 1.0 - squared * (1.0 / (n * (n + 1.0))) * sin;
    }
    (angle * sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{UnitQuaternion, Vector3};

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
        let way = there * center - pose * center;
        assert!((way - velocity.linvel * 0.25).length() < 1e-6);
        let back = moved_on(&there, &velocity, center, -0.25);
        assert!((back.translation - pose.translation).length() < 1e-6);
        assert!((back.rotation - pose.rotation).length() < 1e-6);
        let at_rest = RigidBodyVelocity::default();
        assert_eq!(moved_on(&pose, &at_rest, center, 0.25), pose);
    }
}
