//! What is drawn for each body: two stores that do the same. Copy the one that is like your game's.

use std::collections::BTreeMap;

use evenstep::entities::{Entities, EntityError, RenderPose};
use evenstep::hecs::World;
use evenstep::rapier::math::Pose;
use evenstep::{BodyKey, Simulation};

/// What something looks like; widths are in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// The player's.
    Hero,
    /// It can be pushed.
    Crate,
    /// To collect.
    Coin,
    /// A block of the ground.
    Rock(f32),
    /// To jump onto.
    Platform(f32),
}

impl Look {
    /// What is in front is drawn later. No part of the pose.
    #[must_use]
    pub fn depth(self) -> i32 {
        match self {
            Self::Rock(_) => 0,
            Self::Platform(_) => 1,
            Self::Coin => 2,
            Self::Crate => 3,
            Self::Hero => 4,
        }
    }
}

/// A store of the game's own: a map by key.
#[derive(Clone, Debug, Default)]
pub struct OwnStore {
    sprites: BTreeMap<BodyKey, (Look, Pose)>,
    frame: u64,
}

impl OwnStore {
    /// A sprite for each body.
    #[must_use]
    pub fn new(simulation: &Simulation, looks: &[(BodyKey, Look)]) -> Self {
        let sprites = looks.iter().filter_map(|(key, look)| {
            let body = simulation.physics.body(*key)?;
            Some((*key, (*look, *body.position())))
        });
        Self {
            sprites: sprites.collect(),
            frame: simulation.frame().number,
        }
    }

    /// After each frame: what moved, and what is gone.
    pub fn sync(&mut self, simulation: &Simulation) {
        let Some(changes) = simulation.changes_since(self.frame) else {
            // Too long ago, or of another simulation: all of them.
            self.sprites.retain(|key, (_, shown)| {
                let pose = simulation.pose(*key);
                pose.is_some_and(|pose| {
                    *shown = pose;
                    true
                })
            });
            self.frame = simulation.frame().number;
            return;
        };
        for (key, pose) in changes.moved.iter() {
            if let Some((_, shown)) = self.sprites.get_mut(key) {
                *shown = *pose;
            }
        }
        for key in changes.removed.iter() {
            self.sprites.remove(key);
        }
        self.frame = simulation.frame().number;
    }

    /// From the back to the front.
    #[must_use]
    pub fn sprites(&self) -> Vec<(Look, Pose)> {
        sorted(self.sprites.values().copied())
    }
}

/// The same as components of hecs.
#[derive(Default)]
pub struct HecsStore {
    world: World,
    entities: Entities,
}

impl HecsStore {
    /// An entity for each body.
    ///
    /// # Errors
    /// If a body is gone.
    pub fn new(
        simulation: &mut Simulation,
        looks: &[(BodyKey, Look)],
    ) -> Result<Self, EntityError> {
        let mut store = Self::default();
        for (key, look) in looks {
            let entity = store.world.spawn((*look,));
            store
                .entities
                .attach(&mut store.world, simulation, entity, *key)?;
        }
        Ok(store)
    }

    /// After each frame.
    pub fn sync(&mut self, simulation: &mut Simulation) {
        self.entities.sync(&mut self.world, simulation);
    }

    /// From the back to the front.
    #[must_use]
    pub fn sprites(&self) -> Vec<(Look, Pose)> {
        let mut query = self.world.query::<(&Look, &RenderPose)>();
        sorted(query.iter().map(|(look, pose)| (*look, pose.0)))
    }
}

fn sorted(sprites: impl Iterator<Item = (Look, Pose)>) -> Vec<(Look, Pose)> {
    let mut sprites: Vec<_> = sprites.collect();
    sprites.sort_by_key(|(look, _)| look.depth());
    sprites
}
