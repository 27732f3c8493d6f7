//! Sprites for bodies, in two stores that do the same. Copy the one that fits your game.

use std::collections::BTreeMap;

use evenstep::ecs::hecs::{Entities, EntityError, RenderPose};
use evenstep::hecs::World;
use evenstep::rapier::math::Pose;
use evenstep::{BodyKey, Frame, Simulation};

/// The look of a body. Widths are in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// The player.
    Hero,
    /// A crate to push.
    Crate,
    /// A coin to collect.
    Coin,
    /// A block of ground.
    Rock(f32),
    /// A one-way platform.
    Platform(f32),
}

impl Look {
    /// Returns the drawing order: sprites in front are drawn later. The pose has no such value.
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

/// A store without an ECS: a map indexed by body key.
#[derive(Clone, Debug, Default)]
pub struct OwnStore {
    sprites: BTreeMap<BodyKey, (Look, Pose)>,
    frame: Frame,
}

impl OwnStore {
    /// Creates a sprite for each body.
    #[must_use]
    pub fn new(simulation: &Simulation, looks: &[(BodyKey, Look)]) -> Self {
        let sprites = looks.iter().filter_map(|(key, look)| {
            let body = simulation.physics.body(*key)?;
            Some((*key, (*look, *body.position())))
        });
        Self {
            sprites: sprites.collect(),
            frame: simulation.frame(),
        }
    }

    /// Updates the sprites after a frame, with moved and removed bodies.
    pub fn sync(&mut self, simulation: &Simulation) {
        let Some(changes) = simulation.changes_since(&self.frame) else {
            // The removals are too old, or belong to another simulation: update all sprites.
            self.sprites.retain(|key, (_, shown)| {
                let pose = simulation.pose(*key);
                pose.is_some_and(|pose| {
                    *shown = pose;
                    true
                })
            });
            self.frame = simulation.frame();
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
        self.frame = simulation.frame();
    }

    /// Returns the sprites from back to front.
    #[must_use]
    pub fn sprites(&self) -> Vec<(Look, Pose)> {
        sorted(self.sprites.values().copied())
    }
}

/// The same store as hecs components.
#[derive(Default)]
pub struct HecsStore {
    world: World,
    entities: Entities,
}

impl HecsStore {
    /// Creates an entity for each body.
    ///
    /// # Errors
    /// If a body has been removed.
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

    /// Updates the sprites after a frame.
    pub fn sync(&mut self, simulation: &mut Simulation) {
        self.entities.sync(&mut self.world, simulation);
    }

    /// Returns the sprites from back to front.
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
