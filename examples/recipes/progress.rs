//! A saved game that survives an update: facts of the game, from which it builds the world again.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};
use serde::{Deserialize, Serialize};

/// A saved game, in numbers that no update of Rapier changes.
#[derive(Deserialize, Serialize)]
pub struct Progress {
    /// The number of the level.
    pub level: u32,
    /// The collected coins.
    #[serde(default)] // a later version added it
    pub coins: u32,
    /// The crates of the level.
    pub crates: Vec<SavedBody>,
}

/// The pose and the velocities of a body.
#[derive(Deserialize, Serialize)]
pub struct SavedBody {
    position: [f32; 3],
    rotation: [f32; 4],
    linvel: [f32; 3],
    angvel: [f32; 3],
}

impl Progress {
    /// Inserts the crates into the level, as it is at its start. Returns their keys.
    pub fn insert_crates(&self, physics: &mut Physics) -> Vec<BodyKey> {
        let crates = self.crates.iter();
        crates
            .map(|saved| physics.insert(saved.build(), ColliderBuilder::cuboid(0.5, 0.5, 0.5)))
            .collect()
    }
}

impl SavedBody {
    /// Saves a body.
    pub fn of(body: &RigidBody) -> Self {
        Self {
            position: body.translation().to_array(),
            rotation: body.position().rotation.to_array(),
            linvel: body.linvel().to_array(),
            angvel: body.angvel().to_array(),
        }
    }

    /// Builds the body again.
    pub fn build(&self) -> RigidBodyBuilder {
        let rotation = Rotation::from_array(self.rotation);
        RigidBodyBuilder::dynamic()
            .pose(Pose::from_parts(self.position.into(), rotation))
            .linvel(self.linvel.into())
            .angvel(self.angvel.into())
    }
}
