//! The motion of a body from one state to the next: the displayed poses between the two, or beyond.

use slotmap::SecondaryMap;

use crate::dim::{LANES, capped_spin};
use crate::key::BodyKey;
use rapier::dynamics::{RigidBody, RigidBodyPosition, RigidBodyType, RigidBodyVelocity};
use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

use super::correction::{Correction, difference, with_error};
use super::paths::{Weights, about_centers, all_extrapolated, hermite};

/// A way to display bodies between two steps: all bodies with [`Simulation::smoothing`](crate::Simulation::smoothing),
/// or one with [`Physics::set_body_smoothing`](crate::Physics::set_body_smoothing).
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::{Simulation, Smoothing};
/// # use std::time::Duration;
/// let displayed = |smoothing| {
///     let mut simulation = Simulation::default();
///     simulation.smoothing = smoothing;
///     let body = RigidBodyBuilder::dynamic().gravity_scale(0.0).linvel(Vector::X * 60.0);
///     let body = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
///     simulation.advance(Duration::from_millis(25), |_, _| ()); // one and a half steps, one metre each
///     simulation.pose(body).unwrap().translation.x
/// };
/// assert!((displayed(Smoothing::Interpolate) - 0.5).abs() < 1e-3);
/// assert!((displayed(Smoothing::Extrapolate) - 1.5).abs() < 1e-3);
/// assert!((displayed(Smoothing::Latest) - 1.0).abs() < 1e-3);
/// ```
///
/// An interpolated body whose centre of mass is at its origin takes 5 ns in a frame without a step. Other bodies take
/// 2.3 times as long with `Interpolate`, 6.7 with `Hermite`, and 3.1 with `Extrapolate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Smoothing {
    /// Displays bodies between the last two states, at the frame's [`alpha`](crate::Frame::alpha). This is the default.
    ///
    /// The centre of mass, or the origin of a body that is kinematic by position, moves in a straight line, with a
    /// corner at each state. The body turns about it at a constant rate along the shorter arc.
    #[default]
    Interpolate,
    /// Displays bodies between the last two states, along a curve that has the first and the last velocity of the step
    /// at its ends.
    ///
    /// Use it at low rates, if corners are visible, and for a body that turns by more than half a turn in a step. It
    /// overshoots contacts a little. The position is a cubic Hermite spline. The rotation follows the first angular
    /// velocity, which fades into the second, and the remaining difference is spread smoothly.
    Hermite,
    /// Displays bodies beyond the last state, by the time since then, at the velocities of that state. Frames have no
    /// latency, or on a thread that of the slack. After a change of the rate, they display the last state until the
    /// next step. In a pause and in a starved frame, a view displays them up to a step beyond the pose that
    /// [`pose_at`](crate::Simulation::pose_at) returns for its alpha, and a rollback makes them jump.
    ///
    /// Under an acceleration a, a body is off by less than a · dt² from the next state: by 1.7 mm in free fall at 60
    /// Hz. At a contact it is off by about |v| · dt at worst, with v the relative velocity, and then jumps back. A
    /// preview has the right contacts too: see `docs/book/src/recipes-players.md`.
    Extrapolate,
    /// Displays the last state. This is not smooth, unless the display has one frame per step.
    Latest,
}

impl Smoothing {
    /// Returns whether the two display bodies at different times. `Interpolate` and `Hermite` have the same time.
    pub(crate) fn has_other_time(self, other: Self) -> bool {
        let is_between = |it| matches!(it, Self::Interpolate | Self::Hermite);
        self != other && !(is_between(self) && is_between(other))
    }

    fn displays_last_state(self, weights: &Weights) -> bool {
        weights.alpha >= 1.0 && (self != Self::Extrapolate || weights.seconds_ahead.is_none())
    }
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Pair {
    pub previous: Pose,
    pub current: Pose,
    /// `None` in the common case: the body is interpolated about its origin, and needs only the two poses.
    pub trajectory: Option<Trajectory>,
}

#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Trajectory {
    smoothing: Smoothing,
    /// The centre of mass, in metres in the body's frame.
    center_of_mass: Vector,
    /// Whether the body is kinematic by position. If it is interpolated, its origin moves in a straight line.
    is_position_based: bool,
    /// The velocities of the centre of mass at the previous and at the current state, in world axes. The first is
    /// `None`, and the second is used for both, if the trajectory was needed only after the beginning of the step, or
    /// the velocity there was stale.
    start_velocity: Option<RigidBodyVelocity<Real>>,
    end_velocity: RigidBodyVelocity<Real>,
    dt: Real,
    /// After how many steps the game has last moved the body, and how.
    last_move: Option<(u64, MovedBy)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum MovedBy {
    /// It is at rest where it was put.
    Teleport,
    /// Its motion was turned with it, but not the velocity that Rapier keeps for a body that is kinematic by position.
    Turn,
}

impl Pair {
    pub fn at_rest(pose: Pose) -> Self {
        Self {
            previous: pose,
            current: pose,
            trajectory: None,
        }
    }

    /// Returns the displayed pose at `alpha`. At 1 it is the current pose, whatever the smoothing.
    pub fn at(&self, alpha: f32) -> Pose {
        self.displayed(&Weights::new(alpha, None))
    }

    /// Returns the displayed pose, with the body's own smoothing.
    pub fn displayed(&self, weights: &Weights) -> Pose {
        let blended = weights.blend.one(&self.previous, &self.current);
        let Some(trajectory) = self.trajectory else {
            // In the common case, the body is interpolated about its origin.
            return blended;
        };
        // Curves are computed for four bodies at once. Here all four are this one.
        let motions = Motions {
            trajectories: &[trajectory; LANES],
            previous: &[self.previous; LANES],
            current: &[self.current; LANES],
            blended: &[blended; LANES],
        };
        motions.at(trajectory.smoothing, weights)[0]
    }

    pub fn smoothing(&self) -> Smoothing {
        (self.trajectory).map_or(Smoothing::Interpolate, |it| it.smoothing)
    }

    /// Returns the pose that another smoothing would display, on the same path.
    pub fn displayed_as(&self, smoothing: Smoothing, weights: &Weights) -> Pose {
        if let Some(trajectory) = self.trajectory.filter(Trajectory::was_read) {
            let trajectory = Some(Trajectory {
                smoothing,
                ..trajectory
            });
            return Self {
                trajectory,
                ..*self
            }
            .displayed(weights);
        }
        // Without the velocities of a step, the path is straight.
        let blended = weights.blend.one(&self.previous, &self.current);
        match smoothing {
            // The straight path continues: one step ahead of the blend, by the motion of the last step.
            Smoothing::Extrapolate if !smoothing.displays_last_state(weights) => {
                with_error(&difference(&self.current, &self.previous), &blended)
            }
            Smoothing::Extrapolate | Smoothing::Latest => self.current,
            Smoothing::Interpolate | Smoothing::Hermite => blended,
        }
    }

    /// Returns whether another smoothing displays the body at another time, at which it has another pose.
    pub fn is_displaced_by(&self, smoothing: Smoothing) -> bool {
        self.previous != self.current && self.smoothing().has_other_time(smoothing)
    }

    /// Displays the path of the last step with another smoothing: see [`Trajectory::retime`].
    pub fn retime(&mut self, smoothing: Smoothing, dt: Real) {
        let ends = [&self.previous, &self.current];
        let trajectory = self.trajectory.get_or_insert_default();
        trajectory.retime(smoothing, dt, ends);
    }

    pub fn is_finite(&self) -> bool {
        self.previous.is_finite() && self.current.is_finite()
    }

    /// Moves both poses by an isometry of the world. Of the trajectory only the velocities turn, because its centre is
    /// in the body's frame of reference.
    pub fn transform(&mut self, by: &Pose) {
        self.previous = by * self.previous;
        self.current = by * self.current;
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.turn(by.rotation);
        }
    }
}

impl Trajectory {
    /// Returns the trajectory of a body at rest. A step that wakes the body begins with these zero velocities.
    pub fn from_rest() -> Self {
        Self {
            start_velocity: Some(RigidBodyVelocity::default()),
            ..Self::default()
        }
    }

    /// Reads the velocity with which the body begins a step of length `dt`, when `tick` steps have run.
    pub fn begin_step(&mut self, body: &RigidBody, max_linear_velocity: Real, dt: Real, tick: u64) {
        // Rapier keeps the velocity of the last step for a body that is kinematic by position. If the game has moved
        // the body since, that velocity says nothing about its next motion.
        let is_stale = self.last_move.is_some_and(|(at, _)| at == tick) && is_position_based(body);
        self.start_velocity = (!is_stale).then(|| capped(body, max_linear_velocity, dt));
    }

    /// Reads the body right after the step. `has_moved` is whether its pose has changed.
    pub fn end_step(&mut self, body: &RigidBody, smoothing: Smoothing, dt: f32, has_moved: bool) {
        self.read_center(body);
        self.end_velocity = finite_velocity(body);
        if was_at_rest(body, has_moved) {
            // A body at rest must not overshoot its pose, so it has no velocity at either end.
            (self.start_velocity, self.end_velocity) = (None, RigidBodyVelocity::default());
        }
        // If no velocity was read at the start of the step, or a stale one, the one at its end counts for both.
        self.start_velocity.get_or_insert(self.end_velocity);
        self.smoothing = smoothing;
        self.dt = dt;
    }

    /// Displays the path of the last step, of length `dt`, with another smoothing. If the path was a blend of two poses,
    /// no step has read the velocity at its end, and the game may have changed that of the body since. The path then
    /// continues straight.
    pub fn retime(&mut self, smoothing: Smoothing, dt: Real, [previous, current]: [&Pose; 2]) {
        self.smoothing = smoothing;
        if self.was_read() {
            return;
        }
        self.dt = dt;
        let path = RigidBodyPosition {
            position: *previous,
            next_position: *current,
        };
        self.end_velocity = path.interpolate_velocity(1.0 / dt, Vector::ZERO);
    }

    /// Returns whether a step has read the body's velocity, which a blend of the two poses does not need.
    fn was_read(&self) -> bool {
        self.dt > 0.0
    }

    fn read_center(&mut self, body: &RigidBody) {
        self.center_of_mass = finite_center(body);
        self.is_position_based = is_position_based(body);
    }

    /// Returns the point that moves in a straight line and about which the body turns, in metres in the body's frame.
    pub fn center(&self) -> Vector {
        self.center_as(self.smoothing)
    }

    /// Returns the centre of the path that another smoothing displays.
    fn center_as(&self, smoothing: Smoothing) -> Vector {
        // A target moves the origin of a body that is kinematic by position in a straight line. All other motion is
        // that of the centre of mass, which the velocities describe.
        if smoothing == Smoothing::Interpolate && self.is_position_based {
            Vector::ZERO
        } else {
            self.center_of_mass
        }
    }

    pub fn note_teleport(&mut self, tick: u64) {
        self.last_move = Some((tick, MovedBy::Teleport));
    }

    /// Notes that the game has moved the body with its motion. A teleport after the same number of steps counts more,
    /// because the body rests where it was put.
    pub fn note_turn(&mut self, tick: u64) {
        if !self.is_teleported_at(tick) {
            self.last_move = Some((tick, MovedBy::Turn));
        }
    }

    fn is_teleported_at(&self, tick: u64) -> bool {
        self.last_move == Some((tick, MovedBy::Teleport))
    }

    /// Displays the origin of the body, instead of its centre of mass, on a straight line or curve between these poses.
    pub fn follow_origin(&mut self, [previous, current]: [&Pose; 2]) {
        let center = std::mem::take(&mut self.center_of_mass);
        let start = self.start_velocity.iter_mut().map(|it| (it, previous));
        for (velocity, pose) in start.chain([(&mut self.end_velocity, current)]) {
            velocity.linvel = velocity.velocity_at_point(pose.translation, pose * center);
        }
    }

    /// Stops the displayed body, because its position was set. It moves on in the next step.
    pub fn stop_moving(&mut self) {
        self.velocities().for_each(|it| it.linvel = Vector::ZERO);
    }

    pub fn stop_turning(&mut self) {
        self.velocities()
            .for_each(|it| it.angvel = AngVector::default());
    }

    /// Follows a change of the tick from `old` to `new`. A move before an earlier step has no effect any more.
    pub fn set_tick(&mut self, old: u64, new: u64) {
        let since_step = self.last_move.filter(|(at, _)| *at == old);
        self.last_move = since_step.map(|(_, by)| (new, by));
    }

    /// Returns whether a frame only blends the two poses, because the body is interpolated about its origin. A
    /// trajectory is then not needed.
    pub fn is_blend(&self) -> bool {
        self.smoothing == Smoothing::Interpolate && self.center() == Vector::ZERO
    }

    /// Returns whether frames only [blend](Self::is_blend) the two poses of a step that ends now. The whole path is
    /// drawn about the centre of mass that the body has at its end.
    pub fn is_blend_after_step(body: &RigidBody, smoothing: Smoothing) -> bool {
        let mut at_end = Self {
            smoothing,
            ..Self::default()
        };
        at_end.read_center(body);
        at_end.is_blend()
    }

    /// Returns whether the body is displayed beyond its last state, even if it was put to sleep since.
    pub fn is_extrapolated(&self) -> bool {
        self.smoothing == Smoothing::Extrapolate
            && self.end_velocity != RigidBodyVelocity::default()
    }

    pub fn turn(&mut self, by: Rotation) {
        self.velocities().for_each(|it| *it = it.transformed(&by));
    }

    fn velocities(&mut self) -> impl Iterator<Item = &mut RigidBodyVelocity<Real>> {
        self.start_velocity
            .iter_mut()
            .chain([&mut self.end_velocity])
    }

    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }
}

/// The motions of four bodies. `blended` are their poses as interpolated about their origins.
pub(super) struct Motions<'a> {
    pub trajectories: &'a [Trajectory; LANES],
    pub previous: &'a [Pose; LANES],
    pub current: &'a [Pose; LANES],
    pub blended: &'a [Pose; LANES],
}

impl Motions<'_> {
    /// Returns the poses at which this smoothing displays the four bodies, whatever their own smoothing is.
    pub fn at(&self, smoothing: Smoothing, weights: &Weights) -> [Pose; LANES] {
        if smoothing.displays_last_state(weights) {
            return *self.current;
        }
        // These are closures, because not every smoothing needs them.
        let centers = || (self.trajectories.each_ref()).map(|it| it.center_as(smoothing));
        let end_velocities = || self.trajectories.each_ref().map(|it| &it.end_velocity);
        let ends = [self.previous, self.current];
        match smoothing {
            // At the start of the step, the bodies are at their poses bit for bit.
            Smoothing::Interpolate | Smoothing::Hermite if weights.alpha <= 0.0 => *self.previous,
            Smoothing::Interpolate => about_centers(self.blended, ends, centers(), weights.alpha),
            Smoothing::Hermite => {
                // If no velocity was read at the start of the step, or a stale one, the one at its end counts for both.
                let start_velocities = self.trajectories.each_ref();
                let start_velocities = start_velocities
                    .map(|it| it.start_velocity.as_ref().unwrap_or(&it.end_velocity));
                let velocities = [start_velocities, end_velocities()];
                let dt = self.trajectories.each_ref().map(|it| it.dt);
                hermite(ends, velocities, centers(), dt, weights)
            }
            Smoothing::Extrapolate => {
                let ahead =
                    |it: &Trajectory| weights.seconds_ahead.unwrap_or(weights.alpha * it.dt);
                let seconds = self.trajectories.each_ref().map(ahead);
                all_extrapolated(self.current, end_velocities(), centers(), seconds)
            }
            Smoothing::Latest => *self.current,
        }
    }
}

/// Returns the velocity of a body: zero for a body that is fixed, disabled or asleep, whatever Rapier stores for it,
/// and for a body whose velocity is not finite, which Rapier is about to disable.
pub(crate) fn finite_velocity(body: &RigidBody) -> RigidBodyVelocity<Real> {
    let velocity = Some(*body.vels()).filter(|it| is_in_motion(body) && it.is_finite());
    velocity.unwrap_or_default()
}

pub(crate) fn finite_center(body: &RigidBody) -> Vector {
    let center = body.mass_properties().local_mprops.local_com;
    Some(center).filter(|it| it.is_finite()).unwrap_or_default()
}

/// Returns whether a body was at rest in the last step. Rapier gives a body that is kinematic by position a velocity
/// even if it does not move, which is only a rounding error.
pub(super) fn was_at_rest(body: &RigidBody, has_moved: bool) -> bool {
    !is_in_motion(body) || (is_position_based(body) && !has_moved)
}

/// Returns whether the body is kinematic by position: targets move it, and its velocity follows from its poses.
pub(crate) fn is_position_based(body: &RigidBody) -> bool {
    body.body_type() == RigidBodyType::KinematicPositionBased
}

pub(crate) fn is_in_motion(body: &RigidBody) -> bool {
    body.is_enabled() && !body.is_sleeping() && !body.is_fixed()
}

/// The most that Rapier lets a body turn in a step: 45 degrees, its `MAX_ROTATION`.
const MAX_ROTATION: Real = std::f32::consts::FRAC_PI_4;

/// Returns the velocity with which Rapier will begin a step of length `dt`, after it caps the velocity that the game
/// has set.
fn capped(body: &RigidBody, max_linear_velocity: Real, dt: Real) -> RigidBodyVelocity<Real> {
    let mut velocity = finite_velocity(body);
    if body.is_dynamic() {
        velocity.linvel = velocity.linvel.clamp_length_max(max_linear_velocity);
        if !body.is_fast_rotation_allowed() && dt > 0.0 {
            // Rapier turns such a body by at most `MAX_ROTATION`, 45 degrees, per step.
            velocity.angvel = capped_spin(velocity.angvel, MAX_ROTATION / dt);
        }
    }
    velocity
}

/// The general settings belong to the loop, which passes them to each state. Those of a body belong to the state.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SmoothingSettings {
    pub general: GeneralSmoothing,
    bodies: SecondaryMap<BodyKey, BodySmoothing>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GeneralSmoothing {
    pub smoothing: Smoothing,
    pub correction: Correction,
}

/// The settings of one body. `None` is the general setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BodySmoothing {
    pub smoothing: Option<Smoothing>,
    pub correction: Option<Correction>,
}

impl SmoothingSettings {
    pub fn body(&self, key: BodyKey) -> BodySmoothing {
        self.bodies.get(key).copied().unwrap_or_default()
    }

    /// Sets the settings of a body. This does nothing if a later body in the same slot has settings.
    pub fn set_body(&mut self, key: BodyKey, settings: BodySmoothing) {
        self.bodies.insert(key, settings);
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.bodies.remove(key);
    }

    pub fn keys(&self) -> impl Iterator<Item = BodyKey> {
        self.bodies.keys()
    }

    pub fn has(&self, key: BodyKey) -> bool {
        self.bodies.contains_key(key)
    }

    pub fn of(&self, key: BodyKey) -> Smoothing {
        self.body(key).smoothing.unwrap_or(self.general.smoothing)
    }

    pub fn correction_of(&self, key: BodyKey) -> Correction {
        self.body(key).correction.unwrap_or(self.general.correction)
    }
}
