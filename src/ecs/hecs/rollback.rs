//! A world that goes back in time with the physics.

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use hecs::{Archetype, ColumnBatchBuilder, ColumnBatchType, Component, Entity, World};

use super::components::{Body, Coming, Noted, OwnerCopy, RenderPose};
use super::entities::Entities;

/// Combines a hecs world and its [`Entities`], so that they go back in time with the bodies, with the same entity ids.
///
/// Insert it as a [resource](crate::Resources) of the simulation. Register your component types once, using
/// [`with`](Self::with). They have to be `Clone`, so keep a mesh in an `Arc`.
///
/// ```
/// # use evenstep::Simulation;
/// # use evenstep::ecs::hecs::RollbackWorld;
/// # use evenstep::rapier::prelude::*;
/// # use std::time::Duration;
/// # #[derive(Clone)]
/// # struct Shot;
/// # let mut simulation = Simulation::default();
/// simulation.physics.resources_mut().insert(RollbackWorld::default().with::<Shot>());
/// simulation.advance(Duration::from_millis(20), |physics, _| {
///     let spawned = physics.resource_scope(|physics, game: &mut RollbackWorld| {
///         let (body, collider) = (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.1));
///         game.entities.spawn(&mut game.world, physics, body, collider, (Shot,))
///     });
///     assert!(spawned.is_some());
/// });
/// ```
///
/// Borrow it with [`Physics::resource_scope`](crate::Physics::resource_scope) in hooks and, once per frame, with
/// [`Simulation::resource_scope`](crate::Simulation::resource_scope) for [`Entities::sync`].
///
/// # Contents of a copy
/// A copy has all entities with their ids, the ids that the next entities will get, all components, and the order in
/// which queries iterate over them. Its [`Body`]s are bodies of the copy's simulation. It lacks entities that are
/// [reserved](World::reserve_entities) but not flushed. A [`Body`] of other [`Entities`] owns nothing in the copy.
///
/// The time for a copy is proportional to the number of entities. While states are kept, each step makes one.
pub struct RollbackWorld {
    /// The world.
    pub world: World,
    /// The record of which entity has which body.
    pub entities: Entities,
    columns: BTreeMap<TypeId, Arc<dyn Column>>,
}

impl RollbackWorld {
    /// Combines a hecs world and its `Entities`.
    #[must_use]
    pub fn new(world: World, entities: Entities) -> Self {
        let columns = BTreeMap::new();
        let mut new = Self {
            world,
            entities,
            columns,
        };
        new.copy_by(|it: &Body, copy| Body(it.0.copy(copy)));
        new.copy_by(|it: &Noted, copy| Noted(it.0.copy(copy)));
        new.copy_by(|it: &Coming, copy| Coming(it.0.copy(copy)));
        new.with::<RenderPose>()
    }

    /// Registers a component type, which is then cloned with the world.
    #[must_use]
    pub fn with<T: Component + Clone>(mut self) -> Self {
        self.copy_by(|component: &T, _| component.clone());
        self
    }

    fn copy_by<T: Component>(&mut self, copy: CopyOne<T>) {
        self.columns.insert(TypeId::of::<T>(), Arc::new(copy));
    }

    fn copy_archetype(
        &self,
        archetype: &Archetype,
        ids: &[Entity],
        copy: OwnerCopy<'_>,
        world: &mut World,
    ) {
        let Some(columns) = self.columns_of(archetype) else {
            let Some(id) = ids.first() else {
                return;
            };
            // hecs does not reveal the names of other types.
            let named = self.names_of(archetype);
            let unnamed = archetype.component_types().len() - named.len();
            panic!(
                "the entity {id:?} has {unnamed} component types that were not registered, besides {named:?}: \
                 register each type using `RollbackWorld::with`",
            );
        };
        let mut types = ColumnBatchType::new();
        for column in &columns {
            column.add_to(&mut types);
        }
        let batch = types.into_batch(archetype.len());
        for column in columns {
            column.copy(archetype, &batch, copy);
        }
        let batch = batch.build().expect("all columns were copied");
        world.spawn_column_batch_at(ids, batch);
    }

    fn names_of(&self, archetype: &Archetype) -> Vec<&'static str> {
        let types = archetype.component_types();
        types
            .filter_map(|id| Some(self.columns.get(&id)?.name()))
            .collect()
    }

    /// Returns the columns of an archetype's components, or `None` if a component type was not registered.
    fn columns_of(&self, archetype: &Archetype) -> Option<Vec<&dyn Column>> {
        let types = archetype.component_types();
        types
            .map(|id| self.columns.get(&id).map(|column| &**column))
            .collect()
    }
}

trait Column: Send + Sync {
    fn name(&self) -> &'static str;
    fn add_to(&self, columns: &mut ColumnBatchType);
    fn copy(&self, from: &Archetype, to: &ColumnBatchBuilder, copy: OwnerCopy<'_>);
}

type CopyOne<T> = fn(&T, OwnerCopy<'_>) -> T;

impl<T: Component> Column for CopyOne<T> {
    fn name(&self) -> &'static str {
        type_name::<T>()
    }

    fn add_to(&self, columns: &mut ColumnBatchType) {
        columns.add::<T>();
    }

    fn copy(&self, from: &Archetype, to: &ColumnBatchBuilder, copy: OwnerCopy<'_>) {
        if let (Some(from), Some(mut to)) = (from.get::<&T>(), to.writer::<T>()) {
            for component in from.iter() {
                // The batch has room for all components.
                let _ = to.push(self(component, copy));
            }
        }
    }
}

/// # Panics
/// If an entity has a component of a type that was not [registered](RollbackWorld::with).
impl Clone for RollbackWorld {
    fn clone(&self) -> Self {
        let entities = self.entities.copy();
        let copy = OwnerCopy {
            from: &self.entities.shared,
            to: &entities.shared,
        };
        let mut world = World::new();
        let live: Vec<_> = self.world.iter().map(|entity| entity.entity()).collect();
        let free: Vec<_> = self.world.freelist().collect();
        // All ids are in use while entities are spawned at them, because hecs searches the unused ids for each.
        let ids = live.iter().chain(&free).map(|entity| entity.id() + 1).max();
        let made = world.reserve_entities(ids.unwrap_or(0)).map(Some);
        let mut unused: Vec<_> = made.collect();
        world.flush();
        for entity in &live {
            unused[entity.id() as usize] = None;
        }
        let mut rest = &live[..];
        // Queries follow the order in which archetypes were created, so archetypes without entities are copied too.
        let mut archetypes = self.world.archetypes().map(|archetype| {
            let (ids, later) = rest.split_at(archetype.len() as usize);
            rest = later;
            (archetype, ids)
        });
        // The archetype without components exists already, and has the ids that are not copied yet.
        let bare = archetypes.next();
        for (archetype, ids) in archetypes {
            self.copy_archetype(archetype, ids, copy, &mut world);
        }
        for entity in unused.into_iter().flatten() {
            let _ = world.despawn(entity);
        }
        world.set_freelist(&[]);
        if let Some((archetype, ids)) = bare {
            self.copy_archetype(archetype, ids, copy, &mut world);
        }
        world.set_freelist(&free);
        Self {
            world,
            entities,
            columns: self.columns.clone(),
        }
    }
}

/// Creates a world without entities.
impl Default for RollbackWorld {
    fn default() -> Self {
        Self::new(World::new(), Entities::default())
    }
}

impl fmt::Debug for RollbackWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RollbackWorld")
            .field("entities", &self.entities)
            .finish_non_exhaustive()
    }
}
