//! How a body gets from one state to the next: what a frame shows between the two, or beyond.

use rapier::dynamics::{RigidBody, RigidBodyType, RigidBodyVelocity};
use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

use crate::dim::{LANES, capped_spin};

use super::paths::{Weights, about_centers, all_extrapolated, hermite};

/// How to draw a frame that falls between two steps: for
/// [`Simulation::smoothing`](crate::Simulation::smoothing) and, for one body,
/// [`Physics::set_body_smoothing`](crate::Physics::set_body_smoothing).
///
/// # Choosing
/// | | behind | in free motion | at contacts | cost |
/// | --- | --- | --- | --- | --- |
/// | [`Interpolate`](Self::Interpolate) | one step | straight between the states | a corner at each state | 1, off centre 2.4 |
/// | [`Hermite`](Self::Hermite) | one step | smooth at the states too | overshoots a little | 7 |
/// | [`Extrapolate`](Self::Extrapolate) | nothing | exact, but for acceleration | goes through it, and jumps back | 3.5 |
/// | [`Latest`](Self::Latest) | up to a step | in jumps | in jumps | 1.7 |
///
/// The cost is that of a frame without a step, as a multiple of that of bodies that are interpolated and
/// have their centre of mass at their origin: these take 5 ns each (`cargo bench --bench frame --
/// smoothing`, an AMD EPYC), because only they are computed from lists of poses alone.
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::{Simulation, Smoothing};
/// use std::time::Duration;
///
/// let shown = |smoothing| {
///     let mut simulation = Simulation::default();
///     simulation.smoothing = smoothing;
///     let body = RigidBodyBuilder::dynamic().gravity_scale(0.0).linvel(Vector::X * 60.0);
///     let body = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
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
    /// fading into the other, and the remaining difference to the second pose, which must be less than half a turn, is
    /// spread smoothly.
    Hermite,
    /// Beyond the last state, by the time since then, at that state's velocities.
    ///
    /// Frames are not behind. It never goes more than one step ahead: whatever the frame's time, the body is shown
    /// at most |v| · dt from its last state and turned by at most |ω| · dt. Under an acceleration
    /// a it is off by at most a · dt² from the next state; with Rapier's four substeps by 0.625 · a · dt², 1.7 mm for
    /// free fall at 60 Hz. At a contact it is off by up to |v| · dt, and then jumps back. A step made ahead on a
    /// copy shows contacts too, for 1.3 to 2.8 times the cost of a frame: [Previewing the next step][preview].
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
    /// How many steps had been made when it was last teleported.
    teleported_at: Option<u64>,
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
        // was teleported since, that says nothing of where it goes.
        let is_stale = self.teleported_at == Some(tick) && is_led(body);
        self.before = (!is_stale).then(|| capped(body, max_linear_velocity, dt));
    }

    /// Right after it. `has_moved`: the body is not where it was.
    pub fn end(&mut self, body: &RigidBody, smoothing: Smoothing, dt: f32, has_moved: bool) {
        self.center = if smoothing == Smoothing::Interpolate && is_led(body) {
            Vector::ZERO
        } else {
            finite_center(body)
        };
        self.after = finite_velocity(body);
        if stands(body, has_moved) {
            // A body at rest does not swing past its place.
            (self.before, self.after) = (None, RigidBodyVelocity::default());
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

    /// The body was teleported after `tick` steps.
    pub fn put(&mut self, tick: u64) {
        self.teleported_at = Some(tick);
    }

    /// The body's place was set: it goes on from there in the next step only.
    pub fn stop_moving(&mut self) {
        self.velocities().for_each(|it| it.linvel = Vector::ZERO);
    }

    /// The body's rotation was set: it goes on from there in the next step only.
    pub fn stop_turning(&mut self) {
        self.velocities()
            .for_each(|it| it.angvel = AngVector::default());
    }

    /// So many steps have another number from now on.
    pub fn set_tick(&mut self, old: u64, new: u64) {
        self.teleported_at = (self.teleported_at == Some(old)).then_some(new);
    }

    /// Whether the two poses are all that a frame needs: they are interpolated about the body's origin.
    pub fn is_plain(&self) -> bool {
        self.smoothing == Smoothing::Interpolate && self.center == Vector::ZERO
    }

    /// Whether it is no state between the two that is shown.
    pub fn goes_beyond(&self, alpha: f32) -> bool {
        let goes_on = self.smoothing == Smoothing::Extrapolate && alpha > 0.0 && alpha < 1.0;
        goes_on && self.after != RigidBodyVelocity::default()
    }

    /// The body has been turned.
    pub fn turn(&mut self, by: Rotation) {
        self.velocities().for_each(|it| *it = it.transformed(&by));
    }

    fn velocities(&mut self) -> impl Iterator<Item = &mut RigidBodyVelocity<Real>> {
        self.before.iter_mut().chain([&mut self.after])
    }

    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
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
        let centers = || self.trajectories.each_ref().map(|it| it.center);
        let after = || self.trajectories.each_ref().map(|it| &it.after);
        let ends = [self.previous, self.current];
        match smoothing {
            Smoothing::Interpolate | Smoothing::Hermite if weights.alpha <= 0.0 => *self.previous,
            Smoothing::Interpolate => about_centers(self.plain, ends, centers(), weights.alpha),
            Smoothing::Hermite => {
                let before = self.trajectories.each_ref();
                let before = before.map(|it| it.before.as_ref().unwrap_or(&it.after));
                let dt = self.trajectories.each_ref().map(|it| it.dt);
                hermite(ends, [before, after()], centers(), dt, weights)
            }
            Smoothing::Extrapolate => {
                let seconds = self.trajectories.each_ref().map(|it| weights.alpha * it.dt);
                all_extrapolated(self.current, after(), centers(), seconds)
            }
            Smoothing::Latest => *self.current,
        }
    }
}

/// A body's velocity; zero for one that is disabled or asleep, whatever Rapier keeps for it, and for one
/// that Rapier is about to disable because it is not finite.
pub(crate) fn finite_velocity(body: &RigidBody) -> RigidBodyVelocity<Real> {
    let velocity = Some(*body.vels()).filter(|it| is_in_motion(body) && it.is_finite());
    velocity.unwrap_or_default()
}

/// A body's centre of mass in its own frame; the origin if it is not finite.
pub(crate) fn finite_center(body: &RigidBody) -> Vector {
    let center = body.mass_properties().local_mprops.local_com;
    Some(center).filter(|it| it.is_finite()).unwrap_or_default()
}

/// Whether a body was at rest in the last step. Rapier gives one that is kinematic by position and stays where it is a
/// velocity all the same, which is nothing but rounding.
pub(super) fn stands(body: &RigidBody, has_moved: bool) -> bool {
    !is_in_motion(body) || (is_led(body) && !has_moved)
}

fn is_led(body: &RigidBody) -> bool {
    body.body_type() == RigidBodyType::KinematicPositionBased
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
            velocity.angvel = capped_spin(velocity.angvel, MAX_ROTATION / dt);
        }
    }
    velocity
}
