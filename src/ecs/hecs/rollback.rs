//! A world that goes back in time with the physics.

use std::any::{TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use hecs::{Archetype, ColumnBatchBuilder, ColumnBatchType, Component, Entity, TypeInfo, World};

use super::components::{Body, Dropped, RenderPose, Waiting};
use super::entities::Entities;

/// A hecs world and its [`Entities`] that go back in time with the bodies, with the same entity ids.
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
/// For [`Entities::sync`], borrow it once per frame with
/// [`Simulation::resource_scope`](crate::Simulation::resource_scope).
///
/// A copy has all entities and components, the ids of the next entities, and the order of queries. It lacks entities
/// that are [reserved](World::reserve_entities) but not flushed, and the bodies of other [`Entities`].
pub struct RollbackWorld {
    /// The world.
    pub world: World,
    /// The record of which entity has which body.
    pub entities: Entities,
    columns: BTreeMap<TypeId, Column>,
}

/// How to copy the components of a type.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    info: TypeInfo,
    copy: fn(&Archetype, &ColumnBatchBuilder, DroppedLists<'_>),
}

/// The lists of the `Entities` that is copied, and of its copy.
type DroppedLists<'a> = [&'a Arc<Dropped>; 2];

/// Copies the components of one type from an archetype to a batch of new entities.
fn copy_column<T: Component>(from: &Archetype, to: &ColumnBatchBuilder, copy: impl Fn(&T) -> T) {
    if let (Some(components), Some(mut copies)) = (from.get::<&T>(), to.writer::<T>()) {
        for component in components.iter() {
            // The batch has room for all components.
            let _ = copies.push(copy(component));
        }
    }
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
        // The copy of a `Body` has to refer to the copy of its `Entities`.
        new.register::<Body>(|from, to, dropped_lists| {
            copy_column(from, to, |body: &Body| body.copy(dropped_lists));
        });
        new.with::<RenderPose>().with::<Waiting>()
    }

    /// Registers a component type, which is then cloned with the world. Register also types that entities have only
    /// within a step: the order of queries depends on them.
    #[must_use]
    pub fn with<T: Component + Clone>(mut self) -> Self {
        self.register::<T>(|from, to, _| copy_column(from, to, T::clone));
        self
    }

    /// Sets the function that copies the components of a type.
    fn register<T: Component>(
        &mut self,
        copy: fn(&Archetype, &ColumnBatchBuilder, DroppedLists<'_>),
    ) {
        let (name, info) = (type_name::<T>(), TypeInfo::of::<T>());
        let column = Column { name, info, copy };
        self.columns.insert(TypeId::of::<T>(), column);
    }

    /// Copies the entities of an archetype into `world`, at the same `ids`. A copied [`Body`] refers to the second of
    /// the `dropped_lists`.
    ///
    /// # Panics
    /// If one of its component types was not registered.
    fn copy_archetype(
        &self,
        archetype: &Archetype,
        ids: &[Entity],
        dropped_lists: DroppedLists<'_>,
        world: &mut World,
    ) {
        let types = archetype.component_types();
        let columns: Vec<_> = types.filter_map(|id| self.columns.get(&id)).collect();
        let unregistered = archetype.component_types().len() - columns.len();
        if unregistered > 0 {
            // An archetype without entities is left out, because there are no components to lose.
            let Some(id) = ids.first() else {
                return;
            };
            // hecs does not reveal the names of unregistered types.
            let registered: Vec<_> = columns.iter().map(|column| column.name).collect();
            panic!(
                "the entity {id:?} has {unregistered} component types that were not registered, \
                 besides {registered:?}: register each type using `RollbackWorld::with`",
            );
        }
        let mut types = ColumnBatchType::new();
        for column in &columns {
            types.add_dynamic(column.info);
        }
        let batch = types.into_batch(archetype.len());
        for column in columns {
            (column.copy)(archetype, &batch, dropped_lists);
        }
        let batch = batch.build().expect("all columns were copied");
        world.spawn_column_batch_at(ids, batch);
    }
}

/// # Panics
/// If an entity has a component of a type that was not [registered](RollbackWorld::with).
impl Clone for RollbackWorld {
    fn clone(&self) -> Self {
        let entities = self.entities.copy();
        // A `Body` refers to the list of its `Entities`, in which it reports that it was dropped. A copied `Body`
        // refers to the list of the copy instead.
        let dropped_lists = [&self.entities.dropped, &entities.dropped];
        let live: Vec<_> = self.world.iter().map(|entity| entity.entity()).collect();
        let free: Vec<_> = self.world.freelist().collect();
        // hecs searches its list of unused ids for the id of each copied entity. The list stays empty until the end:
        // each id in use first gets an empty entity, which the copied one then replaces.
        let mut world = World::new();
        let id_count = live.iter().chain(&free).map(|entity| entity.id() + 1).max();
        let mut unused: Vec<_> = world.reserve_entities(id_count.unwrap_or(0)).collect();
        world.flush();
        let used: BTreeSet<u32> = live.iter().map(|entity| entity.id()).collect();
        unused.retain(|entity| !used.contains(&entity.id()));
        for entity in unused {
            let _ = world.despawn(entity);
        }
        // The despawned ids are not needed in the list.
        world.set_freelist(&[]);
        // `live` lists the entities archetype by archetype. Archetypes without entities are copied too, because queries
        // follow the order in which archetypes were created.
        let mut rest = &live[..];
        let archetypes = self.world.archetypes().map(|archetype| {
            let (ids, later) = rest.split_at(archetype.len() as usize);
            rest = later;
            (archetype, ids)
        });
        let mut archetypes: Vec<_> = archetypes.collect();
        // The first archetype, without components, comes last: until then it has the empty entities of ids that are not
        // copied yet.
        archetypes.rotate_left(1);
        for (archetype, ids) in archetypes {
            self.copy_archetype(archetype, ids, dropped_lists, &mut world);
        }
        // The next entities get the same ids as in this world.
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
