//! Bodies far apart, without gravity and without contacts.

use evenstep::rapier::math::{AngVector, Vector};
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};

use crate::dim;

/// The distance between two bodies in metres. It is larger than the size of two bodies.
const SPACING: f32 = 4.0;

/// Some bodies that always fly and spin, and some at rest, which fall asleep.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// The number of bodies that fly and spin. They never sleep.
    pub moving: usize,
    /// The number of bodies at rest.
    pub resting: usize,
}

/// One body at the start.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// The position, in metres.
    pub at: Vector,
    /// The velocity in m/s. All moving bodies have the same velocity, so that no two collide.
    pub linvel: Vector,
    /// The angular velocity in rad/s.
    pub angvel: AngVector,
    /// Whether the body moves, and must never sleep.
    pub moves: bool,
}

impl Scene {
    /// One body at rest, which measures the fixed cost of a frame.
    pub const ONE: Self = Self {
        moving: 0,
        resting: 1,
    };

    /// Returns the number of bodies.
    #[must_use]
    pub fn count(&self) -> usize {
        self.moving + self.resting
    }

    /// Returns the bodies, moving ones first.
    pub fn bodies(self) -> impl Iterator<Item = Body> {
        let moving = dim::grid(self.moving, SPACING)
            .enumerate()
            .map(|(i, at)| Body {
                at,
                linvel: Vector::X,
                angvel: dim::spin(2.0 + (i % 7) as f32),
                moves: true,
            });
        // Resting bodies are below the moving ones, which move sideways.
        let resting = dim::grid(self.resting, SPACING).map(|at| Body {
            at: at.with_y(-SPACING - at.y),
            linvel: Vector::ZERO,
            angvel: AngVector::default(),
            moves: false,
        });
        moving.chain(resting)
    }
}

impl Body {
    /// Returns the body and its collider for Rapier's API.
    pub fn for_rapier(&self) -> (RigidBodyBuilder, ColliderBuilder) {
        let body = RigidBodyBuilder::dynamic()
            .translation(self.at)
            .linvel(self.linvel)
            .angvel(self.angvel)
            .can_sleep(!self.moves);
        (body, dim::collider())
    }
}
