//! A hecs world with an entity for each body. Without the feature `hecs`, bodies have no entities.

use evenstep::BodyKey;
use evenstep::rapier::prelude::*;
use std::collections::BTreeMap;

/// How an entity is despawned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Despawn {
    /// Through evenstep.
    Evenstep,
    /// Through hecs.
    Hecs,
    /// Its component is dropped on another thread.
    Thread,
}

/// The displayed poses of entities.
pub type Rendered = BTreeMap<BodyKey, Pose>;

#[cfg(feature = "hecs")]
mod hecs_world {
    use super::*;
    use evenstep::Physics;
    use evenstep::ecs::Host;
    use evenstep::ecs::hecs::{Body, Entities, RenderPose};
    use hecs::World;

    #[derive(Default)]
    pub struct Owners {
        world: World,
        entities: Entities,
    }

    impl Owners {
        /// Gives bodies an entity, unless they have one.
        pub fn adopt(&mut self, physics: &mut Physics, keys: impl IntoIterator<Item = BodyKey>) {
            for key in keys {
                if self.entities.entity(key).is_none() {
                    let entity = self.world.spawn(());
                    let attached = self.entities.attach(&mut self.world, physics, entity, key);
                    attached.expect("both are there");
                }
            }
        }

        /// Matches the entities with another state.
        pub fn restore(&mut self, physics: &mut Physics) {
            let unmatched = self.entities.unmatched(&mut self.world, physics);
            for entity in unmatched.entities {
                self.world.despawn(entity).expect("it is there");
            }
            self.adopt(physics, unmatched.bodies);
        }

        /// Despawns the entity of a body, if it has one, and removes the body.
        pub fn despawn(&mut self, key: BodyKey, how: Despawn, physics: &mut Physics) {
            let entity = self.entities.entity(key);
            if let Some(entity) = entity.filter(|entity| self.world.contains(*entity)) {
                match how {
                    Despawn::Evenstep => {
                        let despawned = self.entities.despawn(&mut self.world, physics, entity);
                        despawned.expect("it is there");
                    }
                    Despawn::Hecs => self.world.despawn(entity).expect("it is there"),
                    Despawn::Thread => {
                        let body = self.world.remove_one::<Body>(entity);
                        let dropping = std::thread::spawn(move || drop(body));
                        dropping.join().expect("it drops");
                    }
                }
                self.remove_dropped(physics);
            }
            // It has none in the plain loop, or after the game has left it.
            physics.remove(key);
        }

        /// Despawns the entity of a body, which a later sync or hook removes. Returns whether it had one.
        pub fn leave(&mut self, key: BodyKey) -> bool {
            let entity = self.entities.entity(key);
            entity.is_some_and(|entity| self.world.despawn(entity).is_ok())
        }

        pub fn remove_dropped(&mut self, physics: &mut Physics) {
            self.entities.remove_dropped(&mut self.world, physics);
        }

        pub fn sync(&mut self, host: &mut impl Host) -> Option<Rendered> {
            self.entities.sync(&mut self.world, host);
            let mut drawn = self.world.query::<(&Body, &RenderPose)>();
            let drawn = drawn.iter().map(|(body, pose)| (body.key(), pose.0));
            Some(drawn.collect())
        }
    }
}

#[cfg(not(feature = "hecs"))]
mod no_world {
    use super::*;
    use evenstep::Physics;
    use evenstep::ecs::Host;

    #[derive(Default)]
    pub struct Owners(());

    impl Owners {
        pub fn adopt(&mut self, _: &mut Physics, _: impl IntoIterator<Item = BodyKey>) {}

        pub fn restore(&mut self, _: &mut Physics) {}

        pub fn despawn(&mut self, key: BodyKey, _: Despawn, physics: &mut Physics) {
            physics.remove(key);
        }

        pub fn leave(&mut self, _: BodyKey) -> bool {
            false
        }

        pub fn remove_dropped(&mut self, _: &mut Physics) {}

        pub fn sync(&mut self, _: &mut impl Host) -> Option<Rendered> {
            None
        }
    }
}

#[cfg(feature = "hecs")]
pub use hecs_world::Owners;
#[cfg(not(feature = "hecs"))]
pub use no_world::Owners;
