//! Bodies far apart, without gravity and without contacts.

use evenstep::rapier::math::{AngVector, Vector};
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};

use crate::dim;

/// From one body to the next, in metres: more than two of them reach.
const SPACING: f32 = 4.0;

/// Some bodies that fly and spin for ever, and some at rest, which fall asleep.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// How many fly and spin. They never sleep.
    pub moving: usize,
    /// How many rest.
    pub resting: usize,
}

/// One body at the start.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Where it is, in metres.
    pub at: Vector,
    /// Metres a second. The same for all that move, so that none meets another.
    pub linvel: Vector,
    /// Radians a second.
    pub angvel: AngVector,
    /// Whether it moves, and is never to sleep.
    pub moves: bool,
}

impl Scene {
    /// One body at rest: what is left is the cost of a frame as such.
    pub const ONE: Self = Self {
        moving: 0,
        resting: 1,
    };

    /// How many bodies there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.moving + self.resting
    }

    /// The bodies, first those that move.
    pub fn bodies(self) -> impl Iterator<Item = Body> {
        let moving = dim::grid(self.moving, SPACING)
            .enumerate()
            .map(|(i, at)| Body {
                at,
                linvel: Vector::X,
                angvel: dim::spin(2.0 + (i % 7) as f32),
                moves: true,
            });
        // Below those that move, which go sideways.
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
    /// The body and its collider for Rapier's own API.
    pub fn for_rapier(&self) -> (RigidBodyBuilder, ColliderBuilder) {
        let body = RigidBodyBuilder::dynamic()
            .translation(self.at)
            .linvel(self.linvel)
            .angvel(self.angvel)
            .can_sleep(!self.moves);
        (body, dim::collider())
    }
}
