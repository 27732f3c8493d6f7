//! The work of each frame, and of each step.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hecs::{Archetype, Entity, PreparedQuery, PreparedView, With, World};
use rapier::math::Pose;

use crate::ecs::{Bodies, Host, Picture, StateNumber};
use crate::key::BodyKey;
use crate::lock::lock;
use crate::physics::Physics;

use super::components::{Body, RenderPose, Waiting};
use super::entities::Entities;

type Drawn = With<&'static mut RenderPose, &'static Body>;

thread_local! {
    /// Kept to reuse its memory. A query holds pointers while in use, which would bind [`Entities`] to a thread.
    static DRAWN: RefCell<PreparedQuery<Drawn>> = RefCell::default();
}

/// # In each step
impl Entities {
    /// Removes the bodies of entities that were despawned through hecs or whose [`Body`] was dropped, in the order of
    /// their keys. Call it at the end of a hook that may do that.
    pub fn remove_dropped(&mut self, world: &mut World, physics: &mut Physics) {
        for key in self.take_dropped(world, physics.bodies_for_entities()) {
            physics.remove(key);
        }
        self.to_remove.clear();
    }
}

/// # Once per frame
impl Entities {
    /// Writes the [`RenderPose`]s that changed, and handles your changes since the last sync as in the table in [the
    /// module](super#case-by-case). Call it once per frame, after `advance` or `frame`.
    ///
    /// The cost is proportional to the changes and to the bodies that moved, or to all bodies while steps are
    /// resimulated, after an assignment of [`Simulation::physics`](crate::Simulation::physics), after you have moved a
    /// component, while you keep a [`Body`], and after other `Entities` have spawned or despawned in this world.
    ///
    /// With an [`Overlap`](crate::threads::Overlap), only hooks may spawn and despawn.
    ///
    /// # Panics
    /// In builds with debug assertions, if the host displays another simulation than in the last sync, and that one
    /// exists.
    pub fn sync(&mut self, world: &mut World, host: &mut impl Host) {
        let dropped = self.update(world, host.picture_for_entities());
        let listed = std::mem::take(&mut self.to_remove);
        if !host.remove_all_for_entities(&dropped) {
            self.keep_dropped(host.picture_for_entities(), dropped, &listed);
        }
    }

    /// Keeps bodies for the next hook that calls [`remove_dropped`](Self::remove_dropped), because they may be on a
    /// thread, unless they were removed. `listed` are those that were kept before.
    fn keep_dropped(
        &mut self,
        picture: Picture<'_>,
        dropped: Vec<BodyKey>,
        listed: &BTreeMap<BodyKey, StateNumber>,
    ) {
        let Picture::View {
            displayed,
            newest,
            present,
            ..
        } = picture
        else {
            return;
        };
        for key in dropped {
            // The body existed when its component was dropped, so states later than the newest one have it until it is
            // removed.
            let state = listed.get(&key).copied().unwrap_or(newest);
            let may_exist = picture.displays(key) || displayed <= Some(state);
            if may_exist && present.is_none_or(|physics| physics.handle(key).is_some()) {
                self.to_remove.insert(key, state);
            }
        }
    }

    /// Brings entities in line with the displayed bodies. Returns the bodies whose [`Body`] was dropped, to be removed.
    fn update(&mut self, world: &mut World, picture: Picture<'_>) -> Vec<BodyKey> {
        // This comes first, because keys repeat in resimulated steps: a body that was just inserted may have the key of
        // a removed one.
        let dropped = self.take_dropped(world, picture);
        let removed = self.map.removed(picture);
        // The component of a removed body may have been moved by hand. It is found first, so that its entity loses it
        // below.
        if removed.iter().any(|key| self.is_record_stale(world, *key)) {
            self.reconcile_all(world, picture);
        }
        for key in removed {
            // If a later sync finds the component of this body, its entity loses it.
            if let Some(is_removed) = self.components_to_find.get_mut(&key) {
                *is_removed = true;
            }
            if let Some(entity) = self.entity(key) {
                self.detach(world, entity);
            }
        }
        // A component that was removed from its entity may be on another one by now.
        if !self.write_poses(world, picture) || !self.components_to_find.is_empty() {
            self.reconcile_all(world, picture);
        }
        dropped
    }

    /// Brings the map up to date with components that the game has inserted, moved or dropped through hecs. Returns the
    /// bodies that no entity has taken over, sorted by key, because several threads may have dropped components in any
    /// order.
    fn take_dropped(&mut self, world: &mut World, picture: Picture<'_>) -> Vec<BodyKey> {
        self.attach_sent(world);
        let mut dropped = std::mem::take(&mut *lock(&self.dropped));
        dropped.extend(self.to_remove.keys());
        dropped.sort_unstable();
        // A component that was dropped is on no entity.
        self.components_to_find
            .retain(|key, _| dropped.binary_search(key).is_err());
        // A body that was attached again has another component.
        let has_no_owner = |key: &&BodyKey| self.owner(world, **key).is_none();
        let without_owner: Vec<BodyKey> = dropped.iter().filter(has_no_owner).copied().collect();
        // These entities have lost their `Body`. If they have no other one, they also lose a remaining `RenderPose`.
        let changed_entities = without_owner
            .iter()
            .filter_map(|key| self.map.take_entity(*key))
            .collect();
        self.reconcile_each(world, picture, changed_entities);
        // This may have found a body at another entity, to which the game has moved the component.
        dropped.retain(|key| self.entity(*key).is_none());
        dropped
    }

    /// Gives entities the [`Body`] that was sent to a thread, once it is inserted. If it never will be, the entity
    /// loses its [`RenderPose`]. Returns these entities.
    pub(super) fn attach_sent(&mut self, world: &mut World) -> Vec<Entity> {
        let mut lost = Vec::new();
        if self.sent.is_empty() {
            return lost;
        }
        let mut waiting = BTreeMap::new();
        for (entity, Waiting(spawned)) in world.query_mut::<(Entity, &Waiting)>() {
            waiting.entry(spawned.address()).or_insert(entity);
        }
        for spawned in std::mem::take(&mut self.sent) {
            let entity = waiting.get(&spawned.address()).copied();
            if let Some((key, last_without_body)) = spawned.inserted() {
                // If no entity waits for it, this drops the `Body`, which removes the body.
                let body = Body::new(key, &self.dropped);
                if let Some(entity) = entity {
                    let _ = world.exchange_one::<Waiting, Body>(entity, body);
                    self.record(world, key, entity, Some(last_without_body));
                }
            } else if !spawned.is_lost() {
                self.sent.push(spawned);
            } else if let Some(entity) = entity {
                let _ = world.remove_one::<Waiting>(entity);
                let _ = world.remove_one::<RenderPose>(entity);
                lost.push(entity);
            }
        }
        lost
    }

    /// Reconciles the record with all components, after some were moved by hand: first entities whose [`Body`] is
    /// recorded on another entity or that lack a [`RenderPose`], then recorded entities that have lost their [`Body`].
    /// Later syncs look for the [`Body`]s of the latter on other entities.
    pub(super) fn reconcile_all(&mut self, world: &mut World, picture: Picture<'_>) {
        let mut changed = Vec::new();
        for (entity, body, pose) in world.query_mut::<(Entity, &Body, Option<&RenderPose>)>() {
            let key = body.key_of(&self.dropped);
            if key.is_some_and(|key| pose.is_none() || self.entity(key) != Some(entity)) {
                changed.push(entity);
            }
        }
        self.reconcile_each(world, picture, changed);
        let bodies = world.view_mut::<&Body>();
        let lost = self.map.take_if(|key, entity| {
            let body = bodies.get(entity);
            body.and_then(|body| body.key_of(&self.dropped)) != Some(key)
        });
        // As far as is known, these bodies were not removed.
        let is_removed = false;
        self.components_to_find
            .extend(lost.iter().map(|(key, _)| (*key, is_removed)));
        let lost = lost.into_iter().map(|(_, entity)| entity);
        self.reconcile_each(world, picture, lost.collect());
        self.unrecorded_components = self.count_unrecorded(world);
    }

    /// Reconciles these entities, and then those that have lost their body to one of them.
    fn reconcile_each(&mut self, world: &mut World, picture: Picture<'_>, changed: Vec<Entity>) {
        for entity in changed {
            self.reconcile(world, picture, entity);
        }
        for entity in self.map.take_replaced() {
            self.reconcile(world, picture, entity);
        }
    }

    /// Records the entity's [`Body`], and writes its [`RenderPose`]. If the body was removed or belongs to another
    /// entity, this one loses both components. Without a [`Body`], it loses its [`RenderPose`].
    fn reconcile(&mut self, world: &mut World, picture: Picture<'_>, entity: Entity) {
        let Some(key) = self.key_on(world, entity) else {
            // A `Body` of other `Entities` keeps its pose.
            if !world.satisfies::<&Body>(entity) {
                let _ = world.remove_one::<RenderPose>(entity);
            }
            return;
        };
        let owner = self.owner(world, key);
        let has_other_owner = owner.is_some_and(|owner| owner != entity);
        // A component that syncs have looked for was found. Unless its body was removed, it is recorded for the checks
        // below.
        if !has_other_owner && self.components_to_find.remove(&key) == Some(false) {
            self.map.insert(key, entity);
        }
        if has_other_owner || self.map.is_removed(key, picture) {
            self.detach(world, entity);
            return;
        }
        if let Some(pose) = self.pose(world, picture, key) {
            (world.insert_one(entity, RenderPose(pose))).expect("it has a body");
        }
        // Later syncs need this to tell a view that is too old for the body from one in which it was removed.
        let inserted_after = self.map.inserted_after(key, picture);
        self.map.insert_after(key, entity, inserted_after);
    }

    /// Writes the poses that changed. Returns whether every body was found where it was recorded.
    fn write_poses(&mut self, world: &mut World, picture: Picture<'_>) -> bool {
        let [new, moved] = self.map.take_moved(picture);
        let are_found = DRAWN.with_borrow_mut(|drawn| {
            let mut write = |poses| self.write_to_view(drawn.view_mut(world), poses);
            // `&` writes the second list even if a body of the first was not found.
            write(&new) & write(&moved)
        });
        // Bodies at rest are not looked up. If the game has moved the component of one to another entity, which is not
        // recorded for it, this number has changed since the last sync. Other `Entities` have a constant part in it.
        are_found && self.count_unrecorded(world) == self.unrecorded_components
    }

    /// Writes these poses to the recorded entities. Returns whether each of them has a [`Body`] and a [`RenderPose`].
    ///
    /// A view is nearly as fast as a loop over the archetypes. It is passed by value: if a closure borrows it, it is
    /// read from memory again for each body.
    fn write_to_view(
        &self,
        mut entities_with_body: PreparedView<Drawn>,
        poses: &[(BodyKey, Pose)],
    ) -> bool {
        let mut are_found = true;
        for (key, pose) in poses {
            if let Some(entity) = self.map.entity(*key) {
                match entities_with_body.get_mut(entity) {
                    Some(render_pose) => *render_pose = RenderPose(*pose),
                    None => are_found = false,
                }
            }
        }
        are_found
    }

    /// Returns how many components are not on recorded entities, for example because they belong to other [`Entities`].
    /// It changes when a component is moved by hand. A recorded entity has two, [`Body`] and [`RenderPose`]. The number
    /// wraps if one of them was removed by hand, which does no harm: it is only compared with the last one.
    fn count_unrecorded(&self, world: &World) -> usize {
        let components =
            |it: &Archetype| (it.len() as usize) * (1 + usize::from(it.has::<RenderPose>()));
        let with_body = world.archetypes().filter(|it| it.has::<Body>());
        with_body
            .map(components)
            .sum::<usize>()
            .wrapping_sub(2 * self.map.len())
    }
}
