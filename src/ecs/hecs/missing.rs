//! Bodies for entities that have none.

use hecs::{Entity, Or, Query, Without, World};

use crate::key::BodyKey;
use crate::physics::Physics;
use rapier::dynamics::RigidBodyBuilder;
use rapier::geometry::ColliderBuilder;

use super::components::{Body, Coming};
use super::entities::Entities;

/// The entities that match `Q` and have no body. One that was sent to a thread counts as a body.
type Missing<Q> = Without<(Entity, Q), Or<&'static Body, &'static Coming>>;

/// # Components that describe bodies
impl Entities {
    /// Inserts a body for each entity that matches `Q` and has no [`Body`]. Returns the new bodies in the order of
    /// their insertion.
    ///
    /// `describe` gets the entity and the components of `Q`. It returns the body, its colliders, and a value that
    /// orders the bodies, or `None` if the entity should not have a body.
    ///
    /// ```
    /// use evenstep::ecs::hecs::Entities;
    /// use evenstep::rapier::prelude::*;
    /// use evenstep::Physics;
    ///
    /// struct Order(u64);
    /// struct Crate { size: f32 }
    ///
    /// let (mut world, mut entities) = (hecs::World::new(), Entities::default());
    /// let mut physics = Physics::new();
    /// let [second, first] = [2, 1].map(|order| world.spawn((Order(order), Crate { size: 1.0 })));
    /// world.spawn((Crate { size: 1.0 },)); // does not match
    ///
    /// for bodies in [vec![first, second], vec![]] {
    ///     let new = entities.insert_missing::<(&Order, &Crate), _>(
    ///         &mut world,
    ///         &mut physics,
    ///         |_, (order, it)| {
    ///             let collider = ColliderBuilder::ball(it.size / 2.0);
    ///             Some((order.0, RigidBodyBuilder::dynamic(), vec![collider]))
    ///         },
    ///     );
    ///     assert!(new.iter().map(|(entity, _)| *entity).eq(bodies));
    /// }
    /// ```
    ///
    /// # Order
    /// Bodies are inserted in ascending order. Rapier's results depend on this order, so it must not depend on the
    /// frame rate. The order of a query does, and so do the ids of entities, if frames spawn entities too, for example
    /// particles. So number the entities in the step that spawns them. Entities with the same value come in the order
    /// of their ids.
    ///
    /// # When to call it
    /// - In each step, after your rules have spawned entities.
    /// - Before each frame, too, if entities are spawned between frames. A frame may run no step, and without this call
    ///   the entity would not have a [`Body`] yet. If you keep states for rollbacks, or record the run, call it in
    ///   steps only: resimulated steps do not repeat changes that were made between frames.
    ///
    /// An entity whose body was removed by its key has a [`Body`] until the next [`sync`](Self::sync), then it gets
    /// another one. If that should not depend on frames, [`detach`](Self::detach) the body before you remove it.
    ///
    /// The cost is proportional to the number of matching entities without a body. Nothing in it can fail: if
    /// `describe` panics, nothing was inserted.
    #[expect(clippy::missing_panics_doc, reason = "entities and bodies exist")]
    pub fn insert_missing<Q: Query, K: Ord>(
        &mut self,
        world: &mut World,
        physics: &mut Physics,
        mut describe: impl FnMut(
            Entity,
            Q::Item<'_>,
        ) -> Option<(K, RigidBodyBuilder, Vec<ColliderBuilder>)>,
    ) -> Vec<(Entity, BodyKey)> {
        let missing = world.query_mut::<Missing<Q>>().into_iter();
        let described = missing.filter_map(|(entity, item)| {
            let (order, body, colliders) = describe(entity, item)?;
            Some(((order, entity), body, colliders))
        });
        let mut described: Vec<_> = described.collect();
        described.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
        let insert = |((_, entity), body, colliders)| {
            let key = insert(physics, body, colliders);
            self.attach(world, physics, entity, key)
                .expect("both exist");
            (entity, key)
        };
        described.into_iter().map(insert).collect()
    }
}

fn insert(
    physics: &mut Physics,
    body: RigidBodyBuilder,
    colliders: Vec<ColliderBuilder>,
) -> BodyKey {
    let key = physics.insert_body(body);
    for collider in colliders {
        (physics.insert_collider(key, collider)).expect("the body was just inserted");
    }
    key
}
