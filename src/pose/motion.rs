//! How a body gets from one state to the next: what a frame shows between the two, or beyond.

use crate::rapier::dynamics::{RigidBody, RigidBodyType, RigidBodyVelocity};
use crate::rapier::glamx::{DQuat, DVec3, Quat};
use crate::rapier::math::{AngVector, Pose, Real, Vector};

use crate::slerp::interpolate;

/// How a frame is shown that falls between two steps: for
/// [`Simulation::set_smoothing`](crate::Simulation::set_smoothing) and, for one body,
/// [`Simulation::set_body_smoothing`](crate::Simulation::set_body_smoothing).
///
/// # Choosing
/// | | latency | where nothing happens | where something happens | cost |
/// | --- | --- | --- | --- | --- |
/// | [`Interpolate`](Self::Interpolate) | up to a step | straight between the states | a corner at each state | 1, off centre 3.9 |
/// | [`Hermite`](Self::Hermite) | up to a step | smooth at the states too | swings a little past it | 27 |
/// | [`Extrapolate`](Self::Extrapolate) | none | exact, but for acceleration | goes through it, and jumps back | 9 |
/// | [`Latest`](Self::Latest) | up to a step | in jumps | in jumps | 1.8 |
///
/// The cost is that of a frame without a step, as a multiple of that of bodies that are interpolated and
/// have their centre of mass at their origin: these take 5 ns each (`cargo bench --bench frame --
/// smoothing`, an AMD EPYC), as only they go through lists of poses and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Smoothing {
    /// Between the last two states, by what is left of the time. The default.
    ///
    /// The centre of mass goes straight from one to the other and the body turns about it at an
    /// even rate, along the shorter arc: as a body does that nothing touches. (Of one that is kinematic
    /// by position the origin goes straight.)
    #[default]
    Interpolate,
    /// Between the last two states, along a curve that has both states' velocities at its ends.
    ///
    /// For what turns or is thrown fast enough to show corners, for low rates, and for a body
    /// that turns by more than half a turn in a step, which the two poses alone do not show. The
    /// position is a cubic Hermite spline. The rotation follows both angular velocities, each
    /// fading into the other, and what they miss of the turn between the poses is spread smoothly.
    Hermite,
    /// Beyond the last state, by what is left of the time, at that state's velocities.
    ///
    /// Without latency. Never by more than one step: whatever the frame's time, the body is shown
    /// at most |v| · dt from its last state and turned by at most |ω| · dt. Under an acceleration
    /// a it is off by at most a · dt² from the next state, 1.7 mm for free fall at 60 Hz (Rapier's four
    /// substeps make 0.625 · a · dt² of it); at a contact by up to |v| · dt, and then it jumps back. What a
    /// step made ahead on a copy would show instead, and cost, is measured in `docs/book/src/preview.md`.
    Extrapolate,
    /// The last state: not smooth, unless the display shows a frame for each step.
    Latest,
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
        let (previous, current) = (&self.previous, &self.current);
        match &self.trajectory {
            Some(trajectory) => {
                let plain = || interpolate(previous, current, alpha);
                trajectory.at(previous, current, alpha, plain)
            }
            None => interpolate(previous, current, alpha),
        }
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
        let center = body.mass_properties().local_mprops.local_com;
        self.center = if led_by_origin || !center.is_finite() {
            Vector::ZERO
        } else {
            center
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

    /// `plain`, corrected by how far the centre is off its straight line in it.
    fn about_center(&self, previous: &Pose, current: &Pose, alpha: f32, plain: Pose) -> Pose {
        let start = previous.rotation * self.center;
        let end = current.rotation * self.center;
        let off = start + (end - start) * alpha - plain.rotation * self.center;
        Pose::from_parts(plain.translation + off, plain.rotation)
    }

    fn hermite(&self, previous: &Pose, current: &Pose, alpha: f32) -> Pose {
        let before = self.before.as_ref().unwrap_or(&self.after);
        // A body at rest is shown where it is, to the bit.
        let stands = [before, &self.after] == [&RigidBodyVelocity::default(); 2];
        if alpha <= 0.0 || stands && previous == current {
            return *previous;
        }
        let (start, end) = (previous * self.center, current * self.center);
        let (v, w) = (before.linvel * self.dt, self.after.linvel * self.dt);
        let (t, left) = (alpha, 1.0 - alpha);
        let center = start + (end - start) * ease(t) + v * (t * left * left) - w * (t * t * left);
        let rotation = self.hermite_rotation(previous.rotation, current.rotation, before, t);
        Pose::from_parts(center - rotation * self.center, rotation)
    }

    /// Turned by the velocity before, which fades out, and the velocity after, which fades in. The
    /// rest, what is then still missing, goes between the two, so that it is without speed at
    /// both ends. It is small, also where the turn itself is large, so it has a shorter arc.
    fn hermite_rotation(
        &self,
        start: Quat,
        end: Quat,
        before: &RigidBodyVelocity<Real>,
        t: f32,
    ) -> Quat {
        let (v, w) = (before.angvel * self.dt, self.after.angvel * self.dt);
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
    velocity: &RigidBodyVelocity<Real>,
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
    DQuat::from_xyzw(x, y, z, cos).as_quat()
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
        let moved = there * center - pose * center;
        assert!((moved - velocity.linvel * 0.25).length() < 1e-6);
        let back = moved_on(&there, &velocity, center, -0.25);
        assert!((back.translation - pose.translation).length() < 1e-6);
        assert!((back.rotation - pose.rotation).length() < 1e-6);
        let at_rest = RigidBodyVelocity::default();
        assert_eq!(moved_on(&pose, &at_rest, center, 0.25), pose);
    }
}
