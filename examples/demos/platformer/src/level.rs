//! The level at its beginning.

use std::time::Duration;

use evenstep::Physics;
use evenstep::rapier::prelude::*;

use crate::platforms::Route;

/// The collision group of the character, which shots do not touch.
pub const HERO: Group = Group::GROUP_1;
/// The collision group of shots.
pub const SHOT: Group = Group::GROUP_2;

/// The level at its beginning. Positions are those of centres, in metres.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// The position of the character's feet.
    pub start: Vector,
    /// Blocks of ground: centre and half extents.
    pub ground: Vec<(Vector, Vector)>,
    /// Routes of platforms.
    pub routes: Vec<Route>,
    /// Crates.
    pub crates: Vec<Vector>,
    /// Coins.
    pub coins: Vec<Vector>,
}

impl Level {
    /// Returns two islands, a ferry between them, and a lift to a tower. The character looks along −z.
    #[must_use]
    pub fn islands() -> Self {
        let at = Vector::new;
        let seconds = Duration::from_secs;
        Self {
            start: at(0.0, 0.0, 9.0),
            ground: vec![
                (at(0.0, -1.0, 0.0), at(10.0, 1.0, 12.0)),
                (at(0.0, -1.0, -29.0), at(10.0, 1.0, 9.0)),
                (at(-7.0, 2.0, -33.0), at(3.0, 2.0, 3.0)),
                (at(8.0, 0.5, -2.0), at(2.0, 0.5, 2.0)),
            ],
            routes: vec![
                Route {
                    from: at(0.0, -0.2, -13.7),
                    to: at(0.0, -0.2, -18.3),
                    travel: seconds(3),
                    wait: seconds(1),
                },
                Route {
                    from: at(-2.2, -0.1, -33.0),
                    to: at(-2.2, 3.8, -33.0),
                    travel: seconds(3),
                    wait: seconds(2),
                },
            ],
            crates: vec![
                at(-3.0, 0.5, -2.0),
                at(-3.0, 1.5, -2.0),
                at(-4.05, 0.5, -2.0),
                at(2.0, 0.5, -5.0),
                at(3.0, 0.5, -28.0),
                at(4.05, 0.5, -28.0),
                at(3.5, 1.5, -28.0),
            ],
            coins: vec![
                at(0.0, 0.9, 5.0),
                at(0.0, 0.9, 2.0),
                at(0.0, 2.2, -1.0),
                at(8.0, 1.9, -2.0),
                at(0.0, 1.9, -16.0),
                at(0.0, 0.9, -24.0),
                at(-7.0, 4.9, -33.0),
            ],
        }
    }

    /// Inserts the ground as one body, including the walls.
    pub fn build_ground(&self, physics: &mut Physics) {
        let body = RigidBodyBuilder::fixed().user_data(Paint::Ground.into());
        let ground = physics.insert_body(body);
        for (middle, half) in &self.ground {
            let block = ColliderBuilder::cuboid(half.x, half.y, half.z).translation(*middle);
            physics.insert_collider(ground, block).unwrap();
        }
    }
}

/// How a body is drawn, stored in Rapier's user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Squares in two colours.
    Ground,
    /// A platform, which carries.
    Platform,
    /// A crate, to be pushed.
    Crate,
    /// A coin, to be collected.
    Coin,
    /// A flying shot.
    Shot,
    /// The character.
    Hero,
}

impl Paint {
    const ALL: [Self; 6] = [
        Self::Ground,
        Self::Platform,
        Self::Crate,
        Self::Coin,
        Self::Shot,
        Self::Hero,
    ];

    /// Returns the paint in a body's user data.
    #[must_use]
    pub fn of(body: &RigidBody) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|paint| u128::from(*paint) == body.user_data)
    }
}

impl From<Paint> for u128 {
    fn from(paint: Paint) -> Self {
        paint as Self
    }
}
