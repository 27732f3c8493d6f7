//! The displayed pose between two states, by its definition. The arithmetic is in f64, unless the pose is a copy.

use evenstep::rapier::prelude::*;
use evenstep::render::interpolate;
use evenstep::{Physics, Smoothing};
use scenes::testing::exact::{self, part, turn, vector};
use scenes::testing::{at_most, length, turned_spin};

/// A body's velocity at one moment, at its centre of mass, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    pub linear: Vector,
    pub angular: AngVector,
}

impl Velocity {
    /// Returns the velocity. It is zero for a body that Rapier does not move or is about to disable.
    pub fn of(body: &RigidBody) -> Self {
        let (linear, angular) = (body.linvel(), body.angvel());
        let moves = body.is_enabled() && !body.is_sleeping();
        if moves && linear.is_finite() && angular.is_finite() {
            Self { linear, angular }
        } else {
            Self::default()
        }
    }

    /// Returns the velocity as Rapier caps it at the beginning of a step.
    pub fn capped(body: &RigidBody, physics: &Physics, dt: f32) -> Self {
        let mut velocity = Self::of(body);
        if body.is_dynamic() {
            let parameters = physics.rapier().integration_parameters;
            let most = parameters.max_linear_velocity();
            velocity.linear = velocity.linear.clamp_length_max(most);
            let most = std::f32::consts::FRAC_PI_4 / dt;
            velocity.angular = at_most(velocity.angular, most);
        }
        velocity
    }
}

/// The path of a body in a step.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub previous: Pose,
    pub current: Pose,
    pub before: Velocity,
    /// Replaces `before` for a body that slept, because waking may have set it in motion at once.
    pub before_waking: Option<Velocity>,
    pub after: Velocity,
    /// The point that moves in a straight line, in the body's local frame.
    pub center: Vector,
    pub smoothing: Smoothing,
    pub dt: f32,
}

impl Way {
    pub fn at_rest(pose: Pose) -> Self {
        Self {
            previous: pose,
            current: pose,
            before: Velocity::default(),
            before_waking: None,
            after: Velocity::default(),
            center: Vector::ZERO,
            smoothing: Smoothing::Interpolate,
            dt: 0.0,
        }
    }

    /// Teleports the body to `position`. The changed part of the pose has no path from the previous value. Returns
    /// whether this needed arithmetic.
    pub fn put(&mut self, position: Pose) -> bool {
        // From now on, the path is that of the origin.
        let is_rounded = self.center != Vector::ZERO;
        let (previous, current, center) = (self.previous, self.current, self.center);
        let before = self.before_waking.iter_mut().chain([&mut self.before]);
        let moments = before.map(|velocity| (velocity, previous));
        for (velocity, pose) in moments.chain([(&mut self.after, current)]) {
            let at_center = RigidBodyVelocity::new(velocity.linear, velocity.angular);
            velocity.linear = at_center.velocity_at_point(pose.translation, pose * center);
        }
        self.center = Vector::ZERO;
        if position.rotation != self.current.rotation {
            self.previous.rotation = position.rotation;
            for velocity in self.velocities() {
                velocity.angular = AngVector::default();
            }
        }
        if position.translation != self.current.translation {
            self.previous.translation = position.translation;
            for velocity in self.velocities() {
                velocity.linear = Vector::ZERO;
            }
        }
        self.current = position;
        is_rounded
    }

    /// Applies an isometry of the world to the whole path.
    pub fn transform(&mut self, by: &Pose) {
        self.previous = by * self.previous;
        self.current = by * self.current;
        for velocity in self.velocities() {
            velocity.linear = by.rotation * velocity.linear;
            velocity.angular = turned_spin(by.rotation, velocity.angular);
        }
    }

    fn velocities(&mut self) -> impl Iterator<Item = &mut Velocity> {
        let before = self.before_waking.iter_mut().chain([&mut self.before]);
        before.chain([&mut self.after])
    }

    /// Returns whether `pose` is the displayed pose at `alpha`, bit for bit where no arithmetic is needed.
    pub fn shows(&self, alpha: f32, pose: &Pose) -> bool {
        let or_waking = self.before_waking.map(|before| Self { before, ..*self });
        let mut ways = [*self].into_iter().chain(or_waking);
        ways.any(|way| way.shows_it(alpha, pose))
    }

    /// Returns whether `pose` is near the displayed pose. Its numbers are rounded at this `scale` in metres.
    pub fn shows_about(&self, alpha: f32, pose: &Pose, scale: f32) -> bool {
        let is_near = |way: &Self| {
            let expected = match way.exactly(alpha) {
                Some(expected) => Some(exact::pose(expected)),
                None => way.curve(alpha.into()),
            };
            let scale = scale + way.scale();
            expected.is_none_or(|expected| are_near(pose, &expected, scale))
        };
        let or_waking = self.before_waking.map(|before| Self { before, ..*self });
        let mut ways = [*self].into_iter().chain(or_waking);
        ways.any(|way| is_near(&way))
    }

    fn scale(&self) -> f32 {
        let scale = [self.previous.translation, self.current.translation];
        let scale: f32 = scale.iter().map(|vector| vector.length()).sum();
        let velocities = self.before.linear.length() + self.after.linear.length();
        1.0 + scale + self.center.length() + self.dt * velocities
    }

    fn shows_it(&self, alpha: f32, pose: &Pose) -> bool {
        match self.exactly(alpha) {
            Some(expected) => expected == *pose,
            None => self
                .curve(alpha.into())
                .is_none_or(|expected| are_near(pose, &expected, self.scale())),
        }
    }

    fn exactly(&self, alpha: f32) -> Option<Pose> {
        let (previous, current) = (self.previous, self.current);
        let velocities = [self.before, self.after];
        let is_at_rest = previous == current && velocities == [Velocity::default(); 2];
        // At 1 the state is displayed until the next step.
        let is_at_end = alpha >= 1.0 || (self.smoothing == Smoothing::Extrapolate && alpha == 0.0);
        if is_at_end || is_at_rest || self.smoothing == Smoothing::Latest {
            return Some(current);
        }
        match self.smoothing {
            Smoothing::Interpolate if self.center == Vector::ZERO => {
                Some(interpolate(&previous, &current, alpha))
            }
            Smoothing::Interpolate | Smoothing::Hermite if alpha == 0.0 => Some(previous),
            _ => None,
        }
    }

    /// Returns the curve, or `None` at half a turn, where f32 cannot tell which way is shorter, and for many turns per
    /// step, whose rest f32 cannot tell.
    fn curve(&self, t: f64) -> Option<exact::Isometry> {
        let dt = f64::from(self.dt);
        let spins_fast = |it: &Velocity| length(it.angular) * self.dt > 30.0;
        if self.smoothing != Smoothing::Interpolate
            && [self.before, self.after].iter().any(spins_fast)
        {
            return None;
        }
        let (start, end) = (rotation(&self.previous), rotation(&self.current));
        let center = vector(self.center);
        let (from, to) = (
            point(&self.previous, self.center),
            point(&self.current, self.center),
        );
        let (v, w) = (
            vector(self.before.linear) * dt,
            vector(self.after.linear) * dt,
        );
        let spun = |seconds| turn(self.before.angular, seconds * dt);
        let spins = |seconds| turn(self.after.angular, seconds * dt);
        let ease = t * t * (3.0 - 2.0 * t);
        let (at, turned) = match self.smoothing {
            Smoothing::Interpolate => (from + (to - from) * t, part(end / start, t)? * start),
            Smoothing::Hermite => {
                let at = from
                    + (to - from) * ease
                    + v * (t * (1.0 - t) * (1.0 - t))
                    + w * (t * t * (t - 1.0));
                let missing = spins(-0.5) * end / start * spun(-0.5);
                let turned =
                    spins(0.5 * t * t) * part(missing, ease)? * spun(t - 0.5 * t * t) * start;
                (at, turned)
            }
            Smoothing::Extrapolate => (to + w * t, spins(t) * end),
            _ => unreachable!("the latest is a copy"),
        };
        Some(isometry(at - turned * center, turned))
    }
}

pub fn are_near(pose: &Pose, expected: &exact::Isometry, scale: f32) -> bool {
    let off = vector(pose.translation) - expected.translation.vector;
    let turned = rotation(pose).angle_to(&expected.rotation);
    off.norm() < 4e-6 * f64::from(scale) && turned < 1e-5
}

fn isometry(at: exact::Vector, turned: exact::Rotation) -> exact::Isometry {
    exact::Isometry::from_parts(at.into(), turned)
}

/// Returns the position of a body's point in the world.
fn point(pose: &Pose, local: Vector) -> exact::Vector {
    vector(pose.translation) + rotation(pose) * vector(local)
}

fn rotation(pose: &Pose) -> exact::Rotation {
    exact::pose(*pose).rotation
}
