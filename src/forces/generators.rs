//! Forces that act in every step until they are removed.

use rapier::dynamics::{RigidBody, RigidBodyVelocity};
use rapier::math::{AngVector, Real, Rotation, Vector};
use rapier::utils::CrossProduct;

/// A force at a body's centre of mass and a torque about it, both in world axes, or the impulses of both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Wrench {
    pub force: Vector,
    pub torque: AngVector,
}

impl Wrench {
    pub fn of_force(force: Vector) -> Self {
        Self {
            force,
            ..Self::default()
        }
    }

    pub fn of_torque(torque: AngVector) -> Self {
        Self {
            torque,
            ..Self::default()
        }
    }

    /// Returns the wrench of a `force` at `point`, both in world space.
    pub fn at_point(body: &RigidBody, force: Vector, point: Vector) -> Self {
        Self {
            force,
            torque: (point - body.center_of_mass()).gcross(force),
        }
    }

    pub fn turned(&self, by: Rotation) -> Self {
        // A force and a torque turn like a linear and an angular velocity, which Rapier can turn in 2D and 3D.
        let turned = RigidBodyVelocity::new(self.force, self.torque).transformed(&by);
        Self {
            force: turned.linvel,
            torque: turned.angvel,
        }
    }

    pub fn is_finite(&self) -> bool {
        self.force.is_finite() && self.torque.is_finite()
    }
}

/// A lasting force on one body, for [`Physics::insert_force_generator`](crate::Physics::insert_force_generator).
///
/// The force is computed from the body's state at the start of each step. It keeps the body awake, unless the force and
/// the torque are exactly zero. It acts only while the body is dynamic and enabled. A force that is not finite is
/// ignored and, in new steps, [counted](crate::Frame::rejected_forces). For your own formula, call
/// [`add_force`](crate::Physics::add_force) before each step.
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # use evenstep::forces::ForceGenerator;
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// let leaf = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
/// let wind = ForceGenerator::Wind {
///     velocity: Vector::X * 10.0,
///     drag: 0.1,
/// };
/// let generator = simulation.physics.insert_force_generator(leaf, wind)?;
/// simulation.advance(Duration::from_millis(100), |_, _| ());
/// assert!(simulation.physics.body(leaf).unwrap().linvel().x > 0.0);
///
/// simulation.physics.remove(leaf); // and its generators
/// assert!(simulation.physics.remove_force_generator(generator).is_none());
/// # Ok::<(), evenstep::BodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ForceGenerator {
    /// Moving air, which pulls the body's velocity toward its own.
    Wind {
        /// The air's velocity in metres per second, in world axes.
        velocity: Vector,
        /// The force per difference between the velocities, in N/(m/s).
        drag: Real,
    },
    /// An engine fixed to the body.
    Thrust {
        /// The force in newtons, in the body's local axes.
        force: Vector,
        /// The point at which the force acts, in metres from the body's origin, in its local axes.
        point: Vector,
    },
    /// A damped spring from a point of the body to a point of the world.
    Spring {
        /// The end in the world, in metres.
        anchor: Vector,
        /// The end on the body, in metres from the body's origin, in its local axes.
        point: Vector,
        /// The length at which the spring neither pulls nor pushes, in metres.
        rest_length: Real,
        /// The force per difference from the rest length, in N/m.
        stiffness: Real,
        /// The force per rate of change of the length, in N/(m/s).
        damping: Real,
    },
    /// Resistance of still air or water to motion and to turning.
    Drag {
        /// The force per velocity, in N/(m/s).
        linear: Real,
        /// The torque per angular velocity, in N·m/(rad/s).
        angular: Real,
    },
}

impl ForceGenerator {
    /// Returns the force and the torque on a body in its present state.
    pub(super) fn wrench(&self, body: &RigidBody) -> Wrench {
        match *self {
            Self::Wind { velocity, drag } => Wrench::of_force((velocity - body.linvel()) * drag),
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
                let closing_speed = body.velocity_at_point(end).dot(direction);
                let pull = stiffness * (span.length() - rest_length) - damping * closing_speed;
                Wrench::at_point(body, direction * pull, end)
            }
            Self::Drag { linear, angular } => Wrench {
                force: body.linvel() * -linear,
                torque: body.angvel() * -angular,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier::dynamics::RigidBodyBuilder;
    use scenes::testing::{length, spin};

    fn wrench(generator: &ForceGenerator, body: RigidBodyBuilder) -> Wrench {
        generator.wrench(&body.additional_mass(1.0).build())
    }

    #[test]
    fn wind_pulls_toward_its_velocity_and_drag_toward_rest() {
        let body = || {
            RigidBodyBuilder::dynamic()
                .linvel(Vector::X)
                .angvel(spin(0.0, 1.0, 0.0))
        };
        let wind = ForceGenerator::Wind {
            velocity: Vector::X * 3.0,
            drag: 2.0,
        };
        assert_eq!(wrench(&wind, body()).force, Vector::X * 4.0);
        let drag = ForceGenerator::Drag {
            linear: 2.0,
            angular: 3.0,
        };
        let drag = wrench(&drag, body());
        assert_eq!(
            (drag.force, drag.torque),
            (Vector::X * -2.0, spin(0.0, -3.0, 0.0))
        );
    }

    #[test]
    fn thrust_turns_with_the_body() {
        let quarter = spin(0.0, 0.0, std::f32::consts::FRAC_PI_2);
        let body = RigidBodyBuilder::dynamic().rotation(quarter);
        let thrust = ForceGenerator::Thrust {
            force: Vector::X,
            point: Vector::X,
        };
        let thrust = wrench(&thrust, body);
        assert!((thrust.force - Vector::Y).length() < 1e-6);
        assert!(length(thrust.torque) < 1e-6);
    }

    #[test]
    fn a_stretched_spring_pulls_and_is_damped() {
        let spring = |damping| ForceGenerator::Spring {
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
