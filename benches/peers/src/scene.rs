//! Bodies far apart, without gravity and without contacts.

use evenstep::rapier::math::Vector;
use evenstep::rapier::prelude::{ColliderBuilder, RigidBodyBuilder};

/// Half the extents of every body, in metres.
pub const HALF_EXTENTS: Vector = Vector::new(0.5, 0.3, 0.2);

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
    pub angvel: Vector,
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
        let moving = grid(self.moving).enumerate().map(|(i, at)| Body {
            at,
            linvel: Vector::X,
            angvel: Vector::new(1.0, 2.0 + (i % 7) as f32, 0.5),
            moves: true,
        });
        // Below those that move, which go sideways.
        let resting = grid(self.resting).map(|at| Body {
            at: Vector::new(at.x, -SPACING - at.y, at.z),
            linvel: Vector::ZERO,
            angvel: Vector::ZERO,
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
        let [x, y, z] = HALF_EXTENTS.to_array();
        (body, ColliderBuilder::cuboid(x, y, z))
    }
}

/// The first `count` points of a cube of points.
fn grid(count: usize) -> impl Iterator<Item = Vector> {
    let side = (1..).find(|side| side * side * side >= count).unwrap_or(1);
    (0..count).map(move |i| {
        Vector::from([i % side, i / side % side, i / side / side].map(|n| SPACING * n as f32))
    })
}
