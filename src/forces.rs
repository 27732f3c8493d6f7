//! Forces for one step, and forces that act on every step until removed.

use std::fmt;
use std::sync::Arc;

use rapier3d::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier3d::math::Vector;
use rapier3d::pipeline::PhysicsWorld;
use slotmap::SlotMap;

use crate::clock::Step;
use crate::key::{BodyKey, GeneratorKey, Keys};

/// Why something could not be done to a body. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The key names no body: it was removed, or is of another simulation.
    #[error("the body is gone")]
    Gone,
    /// A value is NaN or infinite. Rapier would disable the body, and those that it touches.
    #[error("a value is not finite")]
    NotFinite,
    /// Only a body that is kinematic by position can be led to a target.
    #[error("the body is not kinematic by position")]
    NotKinematic,
}

/// A force and a torque on a body, in world axes: what a [`Generator`] gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Newtons, at the centre of mass.
    pub force: Vector,
    /// Newton metres, about the centre of mass.
    pub torque: Vector,
}

impl Wrench {
    /// `force` at `point`, both in world space: the force, and its torque about the body's centre
    /// of mass.
    #[must_use]
    pub fn at_point(body: &RigidBody, force: Vector, point: Vector) -> Self {
        Self {
            force,
            torque: (point - body.center_of_mass()).cross(force),
        }
    }

    fn is_finite(&self) -> bool {
        self.force.is_finite() && self.torque.is_finite()
    }
}

/// A lasting force on one body, asked for its value before every step until it is removed.
///
/// Give it to [`Simulation::add_generator`](crate::Simulation::add_generator). It sees the body as
/// the step will start with it, so the force is the same at every frame rate. A body that is
/// pushed does not fall asleep: a generator whose value is exactly zero lets it.
///
/// ```
/// use evenstep::{Generator, Wrench};
/// use evenstep::rapier3d::math::Vector;
///
/// // Anything else is a function of the body and the step.
/// let buoyancy = Generator::custom(|body, _step| Wrench {
///     force: Vector::Y * 30.0 * (-body.translation().y).clamp(0.0, 1.0),
///     ..Wrench::default()
/// });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Generator {
    /// Moving air: pulls the body's velocity toward the air's.
    Wind {
        /// The air's velocity, metres a second, in world axes.
        velocity: Vector,
        /// Newtons for each metre a second of difference.
        drag: f32,
    },
    /// An engine fixed to the body.
    Thrust {
        /// Newtons, in the body's own axes.
        force: Vector,
        /// Where it acts, in the body's own frame, metres from its origin.
        point: Vector,
    },
    /// A damped spring from a point of the body to a point of the world.
    Spring {
        /// The end in the world, metres.
        anchor: Vector,
        /// The end on the body, in the body's own frame, metres from its origin.
        point: Vector,
        /// The length at which it neither pulls nor pushes, metres.
        rest_length: f32,
        /// Newtons for each metre of difference from the rest length.
        stiffness: f32,
        /// Newtons for each metre a second at which the length changes.
        damping: f32,
    },
    /// Resistance of still air or water to motion and to turning.
    Drag {
        /// Newtons for each metre a second.
        linear: f32,
        /// Newton metres for each radian a second.
        angular: f32,
    },
    /// Any function of the body and the step: see [`Generator::custom`].
    Custom(Arc<WrenchFn>),
}

/// A function for [`Generator::Custom`].
type WrenchFn = dyn Fn(&RigidBody, &Step) -> Wrench + Send + Sync;

impl Generator {
    /// A force that is computed by `wrench`, once before each step.
    ///
    /// It is a pure function, so that a run can be repeated: what changes over time comes from
    /// the step's tick, what the game decides by removing one generator and adding another. A
    /// value that is not finite is left out and counted in
    /// [`Frame::rejected_forces`](crate::Frame::rejected_forces).
    #[must_use]
    pub fn custom(wrench: impl Fn(&RigidBody, &Step) -> Wrench + Send + Sync + 'static) -> Self {
        Self::Custom(Arc::new(wrench))
    }

    fn wrench(&self, body: &RigidBody, step: &Step) -> Wrench {
        match *self {
            Self::Wind { velocity, drag } => Wrench {
                force: (velocity - body.linvel()) * drag,
                torque: Vector::ZERO,
            },
            Self::Thrust { force, point } => {
                let pose = body.position();
                let force = pose.transform_vector(force);
                Wrench::at_point(body, force, pose.transform_point(point))
            }
            Self::Spring {
                anchor,
                point,
                rest_length,
                stiffness,
                damping,
            } => {
                let end = body.position().transform_point(point);
                let span = anchor - end;
                let direction = span.normalize_or_zero();
                let closing = body.velocity_at_point(end).dot(direction);
                let pull = stiffness * (span.length() - rest_length) - damping * closing;
                Wrench::at_point(body, direction * pull, end)
            }
            Self::Drag { linear, angular } => Wrench {
                force: body.linvel() * -linear,
                torque: body.angvel() * -angular,
            },
            Self::Custom(ref wrench) => wrench(body, step),
        }
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wind { velocity, drag } => write!(f, "Wind({velocity}, {drag})"),
            Self::Thrust { force, point } => write!(f, "Thrust({force}, {point})"),
            Self::Spring { anchor, point, .. } => write!(f, "Spring({anchor}, {point})"),
            Self::Drag { linear, angular } => write!(f, "Drag({linear}, {angular})"),
            Self::Custom(_) => write!(f, "Custom"),
        }
    }
}

/// What acts on a body in one step. Points are in world space.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Push {
    Force(Vector),
    ForceAtPoint { force: Vector, point: Vector },
    Torque(Vector),
    Impulse(Vector),
    ImpulseAtPoint { impulse: Vector, point: Vector },
    TorqueImpulse(Vector),
}

impl Push {
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Force(v) | Self::Torque(v) | Self::Impulse(v) | Self::TorqueImpulse(v) => {
                v.is_finite()
            }
            Self::ForceAtPoint { force: v, point } | Self::ImpulseAtPoint { impulse: v, point } => {
                v.is_finite() && point.is_finite()
            }
        }
    }

    fn translate(&mut self, by: Vector) {
        if let Self::ForceAtPoint { point, .. } | Self::ImpulseAtPoint { point, .. } = self {
            *point += by;
        }
    }

    fn apply(self, body: &mut RigidBody) {
        match self {
            Self::Force(force) => body.add_force(force, true),
            Self::ForceAtPoint { force, point } => body.add_force_at_point(force, point, true),
            Self::Torque(torque) => body.add_torque(torque, true),
            Self::Impulse(impulse) => body.apply_impulse(impulse, true),
            Self::ImpulseAtPoint { impulse, point } => {
                body.apply_impulse_at_point(impulse, point, true);
            }
            Self::TorqueImpulse(impulse) => body.apply_torque_impulse(impulse, true),
        }
    }
}

/// The forces of a simulation: those of the next step, and the lasting ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forces {
    pushes: Vec<(BodyKey, Push)>,
    generators: SlotMap<GeneratorKey, (BodyKey, Generator)>,
    /// The user forces that were there before ours, to be put back after the step: Rapier's own
    /// last until they are reset, and it adds ours to them.
    replaced: Vec<(RigidBodyHandle, Wrench)>,
}

impl Forces {
    pub fn push(&mut self, key: BodyKey, push: Push) {
        self.pushes.push((key, push));
    }

    /// Moves the points in the world at which forces act.
    pub fn translate(&mut self, by: Vector) {
        for (_, push) in &mut self.pushes {
            push.translate(by);
        }
        for (_, generator) in self.generators.values_mut() {
            if let Generator::Spring { anchor, .. } = generator {
                *anchor += by;
            }
        }
    }

    /// Forgets the forces of a step that is not made.
    pub fn clear_pushes(&mut self) {
        self.pushes.clear();
    }

    pub fn add_generator(&mut self, key: BodyKey, generator: Generator) -> GeneratorKey {
        self.generators.insert((key, generator))
    }

    pub fn remove_generator(&mut self, key: GeneratorKey) -> Option<(BodyKey, Generator)> {
        self.generators.remove(key)
    }

    pub fn generator(&self, key: GeneratorKey) -> Option<&(BodyKey, Generator)> {
        self.generators.get(key)
    }

    /// Adds all forces of `step` to the bodies, and drops the generators of bodies that are gone.
    /// Gives the number of values left out because they are not finite.
    pub fn apply(&mut self, bodies: &mut RigidBodySet, keys: &Keys, step: &Step) -> u64 {
        let Self {
            pushes,
            generators,
            replaced,
        } = self;
        replaced.clear();
        let mut rejected = 0;
        generators.retain(|_, (key, generator)| {
            let Some(handle) = keys.handle(*key).filter(|handle| bodies.contains(*handle)) else {
                return false;
            };
            let wrench = generator.wrench(&bodies[handle], step);
            if !wrench.is_finite() {
                rejected += 1;
            } else if wrench != Wrench::default() {
                let body = &mut bodies[handle];
                replaced.push((handle, user_force(body)));
                Push::Force(wrench.force).apply(body);
                Push::Torque(wrench.torque).apply(body);
            }
            true
        });
        for (key, push) in pushes.drain(..) {
            let Some(handle) = keys.handle(key) else {
                continue;
            };
            if let Some(body) = bodies.get_mut(handle) {
                replaced.push((handle, user_force(body)));
                push.apply(body);
            }
        }
        rejected
    }

    /// Puts back the user forces as they were before [`apply`](Self::apply), but for bodies that
    /// Rapier has just quarantined: it zeroed theirs for a reason.
    pub fn restore(&mut self, world: &mut PhysicsWorld) {
        // Newest to oldest: the first entry of a body holds what was there before all of ours.
        for (handle, user) in self.replaced.drain(..).rev() {
            if world.quarantine().bodies().contains(&handle) {
                continue;
            }
            if let Some(body) = world.bodies.get_mut(handle) {
                body.reset_forces(false);
                body.reset_torques(false);
                body.add_force(user.force, false);
                body.add_torque(user.torque, false);
            }
        }
    }
}

fn user_force(body: &RigidBody) -> Wrench {
    Wrench {
        force: body.user_force(),
        torque: body.user_torque(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::rate::Rate;
    use rapier3d::dynamics::RigidBodyBuilder;
    use std::time::Duration;

    fn wrench(generator: &Generator, body: RigidBodyBuilder) -> Wrench {
        let step = Clock::new(Rate::default())
            .advance(Duration::from_millis(20))
            .next();
        generator.wrench(&body.additional_mass(1.0).build(), &step.unwrap())
    }

    #[test]
    fn wind_pulls_toward_its_velocity_and_drag_toward_rest() {
        let body = || {
            RigidBodyBuilder::dynamic()
                .linvel(Vector::X)
                .angvel(Vector::Y)
        };
        let wind = Generator::Wind {
            velocity: Vector::X * 3.0,
            drag: 2.0,
        };
        assert_eq!(wrench(&wind, body()).force, Vector::X * 4.0);
        let drag = Generator::Drag {
            linear: 2.0,
            angular: 3.0,
        };
        let drag = wrench(&drag, body());
        assert_eq!(
            (drag.force, drag.torque),
            (Vector::X * -2.0, Vector::Y * -3.0)
        );
    }

    #[test]
    fn thrust_turns_with_the_body() {
        let quarter = Vector::Z * std::f32::consts::FRAC_PI_2;
        let body = RigidBodyBuilder::dynamic().rotation(quarter);
        let thrust = Generator::Thrust {
            force: Vector::X,
            point: Vector::X,
        };
        let thrust = wrench(&thrust, body);
        assert!((thrust.force - Vector::Y).length() < 1e-6);
        assert!(thrust.torque.length() < 1e-6);
    }

    #[test]
    fn a_spring_pulls_when_long_and_is_damped() {
        let spring = |damping| Generator::Spring {
            anchor: Vector::Y * 5.0,
            point: Vector::ZERO,
            rest_length: 2.0,
            stiffness: 10.0,
            damping,
        };
        let still = RigidBodyBuilder::dynamic();
        assert_eq!(wrench(&spring(0.0), still).force, Vector::Y * 30.0);
        let rising = RigidBodyBuilder::dynamic().linvel(Vector::Y);
        assert_eq!(wrench(&spring(4.0), rising).force, Vector::Y * 26.0);
        let at_anchor = RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0);
        assert_eq!(wrench(&spring(4.0), at_anchor), Wrench::default());
    }
}
