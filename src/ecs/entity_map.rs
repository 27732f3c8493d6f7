//! Which entity has which body.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Weak;

use slotmap::Key;

use crate::key::{BodyKey, Id, slot_of};
use crate::physics::Physics;
use crate::screen::Screen;
use rapier::math::Pose;

use super::host::{Bodies, Host, Picture, StateNumber};

/// A record of which entity of an ECS has which body, for each pair of an ECS and a [`Simulation`](crate::Simulation)
/// or [`Runner`](crate::threads::Runner).
///
/// `E` is the entity type of the ECS. The package `examples/ecs` has examples with four ECSs.
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # use evenstep::ecs::EntityMap;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// let mut poses = vec![Pose::IDENTITY]; // a minimal ECS: an entity is an index
/// let mut map = EntityMap::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
/// map.insert(simulation.physics.insert(body, ColliderBuilder::ball(0.5)), 0);
///
/// simulation.advance(Duration::from_millis(40), |_, _| ());
/// let _removed = map.take_removed(&simulation);
/// for (entity, pose) in map.moved(&simulation) {
///     poses[entity] = pose;
/// }
/// assert!(poses[0].translation.x > 0.0);
/// ```
///
/// When an entity dies, call [`remove_body`](Self::remove_body) in a step. Once per frame, call
/// [`take_removed`](Self::take_removed), then [`moved`](Self::moved). If you skip some frames, the next call covers
/// them too. For another level, replace the `EntityMap`, because keys may be equal to old ones.
///
/// # Panics
/// In builds with debug assertions, [`take_removed`](Self::take_removed) and [`moved`](Self::moved) panic if they get
/// another simulation than before while the earlier one exists, unless you call [`unmatched`](Self::unmatched) first.
#[derive(Clone, Debug)]
pub struct EntityMap<E> {
    /// Entities, indexed by the slot of their key. A later body can reuse the slot of an earlier one.
    by_slot: Vec<Option<(BodyKey, E)>>,
    len: usize,
    /// Entities that have lost their record to another entity or a later body, until they are reported.
    replaced_entities: Vec<E>,
    /// Bodies that were inserted since the last sync, or that no picture has displayed yet. A picture without such a
    /// body may be too old to have it, unless its state has a greater number.
    not_displayed: BTreeMap<BodyKey, StateNumber>,
    synced: Synced,
}

/// Bodies with their poses.
type Poses<'a> = Cow<'a, [(BodyKey, Pose)]>;

/// The screen of the last sync, and its frame then, or `None` if every body is to be checked.
#[derive(Debug, Default)]
struct Synced(Option<(Weak<Id>, Option<u64>)>);

/// A copy has no screen, because it may belong to a copy of the simulation.
impl Clone for Synced {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Entities without a body and bodies without an entity, from [`EntityMap::unmatched`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Unmatched<E> {
    /// Entities without their body, sorted by key. Those that another entity or body has replaced come last.
    pub entities: Vec<E>,
    /// Bodies without an entity, sorted by key.
    pub bodies: Vec<BodyKey>,
}

impl<E> Unmatched<E> {
    /// Returns whether each entity has its body and each body its entity.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.bodies.is_empty()
    }
}

impl<E> Default for EntityMap<E> {
    // A derived one would require `E: Default`.
    fn default() -> Self {
        Self {
            by_slot: Vec::new(),
            len: 0,
            replaced_entities: Vec::new(),
            not_displayed: BTreeMap::new(),
            synced: Synced::default(),
        }
    }
}

impl<E: Copy + PartialEq> EntityMap<E> {
    /// Records that the entity has this body from now on. If another entity had it, the next
    /// [`take_removed`](Self::take_removed) returns that entity, even if it has got a body again. It returns this one if
    /// the key is null or dead.
    pub fn insert(&mut self, key: BodyKey, entity: E) {
        self.insert_after(key, entity, None);
    }

    /// Returns the entity of a body. For a ray cast, [`key_of_collider`](Physics::key_of_collider) has the key.
    #[must_use]
    #[inline]
    pub fn entity(&self, key: BodyKey) -> Option<E> {
        let (recorded, entity) = self.by_slot.get(slot_of(key))?.as_ref()?;
        // A later body may have the slot.
        (*recorded == key).then_some(*entity)
    }

    /// Removes the body of an entity, unless another entity has it by now. Call it in a hook when the entity is
    /// despawned or loses its body component. A runner removes the body between two steps.
    pub fn remove_body(&mut self, bodies: &mut impl Bodies, key: BodyKey, entity: E) {
        if self.forget(key, entity) {
            bodies.remove_for_entities(key);
        }
        // The caller knows that the entity has no body, so `take_removed` does not report it as replaced.
        self.replaced_entities.retain(|it| *it != entity);
    }

    /// Removes the bodies of all entities for which `body_of` returns another body, or none, in the order of keys. Use
    /// it with an ECS that does not report despawned entities.
    pub fn retain(
        &mut self,
        bodies: &mut impl Bodies,
        mut body_of: impl FnMut(E) -> Option<BodyKey>,
    ) {
        for (key, _) in self.take_if(|key, entity| body_of(entity) != Some(key)) {
            bodies.remove_for_entities(key);
        }
        // `take_removed` does not report replaced entities of which the ECS knows that they have no body.
        self.replaced_entities
            .retain(|entity| body_of(*entity).is_some());
    }

    /// Forgets and returns the entities whose body was removed. Also returns entities that have lost their body to
    /// another entity or a later body, once for each loss, even if they have another body by now.
    pub fn take_removed(&mut self, host: &impl Host) -> Vec<E> {
        let removed_bodies = self.removed(host.picture_for_entities()).into_iter();
        // An entity also loses its body if another entity gets it, or if a later body has its slot.
        let mut entities = self.take_replaced();
        entities.extend(removed_bodies.filter_map(|key| self.take_entity(key)));
        entities
    }

    /// Returns the entities whose displayed pose has changed, and those [inserted](Self::insert) since the last call,
    /// with their poses. Call it once per frame, after [`take_removed`](Self::take_removed).
    pub fn moved(&mut self, host: &impl Host) -> impl Iterator<Item = (E, Pose)> {
        let [new, moved] = self.take_moved(host.picture_for_entities());
        let new_keys: Vec<BodyKey> = new.iter().map(|(key, _)| *key).collect();
        // An iterator over indices can own the list, and need not copy it if it is borrowed from the host.
        let moved = (0..moved.len()).map(move |i| moved[i]);
        // A new body may be in both lists. The keys of new bodies are sorted.
        let moved = moved.filter(move |(key, _)| new_keys.binary_search(key).is_err());
        let all = new.into_owned().into_iter().chain(moved);
        all.filter_map(|(key, pose)| Some((self.entity(key)?, pose)))
    }

    /// Returns entities without a body and bodies without an entity after a restore, to despawn and spawn them.
    ///
    /// Call it right after an assignment, or after a [rollback](crate::Simulation::roll_back) before the first
    /// resimulated step. The next [`moved`](Self::moved) returns every body's pose.
    pub fn unmatched(&mut self, physics: &Physics) -> Unmatched<E> {
        // The lists of changed bodies do not cover a restore, so the next sync checks all bodies.
        self.synced = Synced::default();
        let gone = self.take_if(|key, _| physics.handle(key).is_none());
        // Pictures of earlier states may lack a body of this one.
        self.not_displayed.clear();
        self.expect_all(StateNumber::next());
        let mut entities: Vec<E> = gone.into_iter().map(|(_, entity)| entity).collect();
        // An entity that was replaced may have got another body since, or be in the list already.
        for entity in self.take_replaced() {
            let mut owners = self.by_slot.iter().flatten().map(|(_, owner)| *owner);
            if owners.all(|owner| owner != entity) && !entities.contains(&entity) {
                entities.push(entity);
            }
        }
        let bodies = physics.bodies().map(|(key, _)| key);
        let mut bodies: Vec<BodyKey> = bodies.filter(|key| self.entity(*key).is_none()).collect();
        bodies.sort_unstable();
        Unmatched { entities, bodies }
    }
}

/// # For a host that detects removals itself
impl<E: Copy + PartialEq> EntityMap<E> {
    #[cfg(feature = "hecs")]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the state after which a body was inserted, if it is known, for [`insert_after`](Self::insert_after).
    /// Every later state has the body until it is removed. A body that is displayed counts as inserted before all
    /// states.
    #[cfg(feature = "hecs")]
    pub(crate) fn inserted_after(&self, key: BodyKey, picture: Picture<'_>) -> Option<StateNumber> {
        let displayed = picture.displays(key).then(StateNumber::default);
        displayed.or_else(|| self.not_displayed.get(&key).copied())
    }

    /// Records that the entity has this body, unless a later body has its slot. A state later than `inserted_after`, if
    /// that is known, lacks the body only if it was removed. Returns the record that this one replaces, with the same
    /// key or an earlier one in the same slot.
    pub(crate) fn insert_after(
        &mut self,
        key: BodyKey,
        entity: E,
        inserted_after: Option<StateNumber>,
    ) -> Option<(BodyKey, E)> {
        let slot = slot_of(key);
        // The greater key in a slot is that of the later body. The earlier one was removed, or will be once its removal
        // is displayed.
        let recorded = self.by_slot.get(slot).copied().flatten();
        let has_later_body = recorded.is_some_and(|(recorded, _)| recorded > key);
        if has_later_body || key.is_null() {
            // The entity gets no body. It is reported like one that has lost its body.
            self.replaced_entities.push(entity);
            return None;
        }
        if slot >= self.by_slot.len() {
            self.by_slot.resize(slot + 1, None);
        }
        let replaced_record = self.by_slot[slot].replace((key, entity));
        match replaced_record {
            None => self.len += 1,
            Some((replaced_key, owner)) => {
                self.not_displayed.remove(&replaced_key);
                if owner != entity {
                    self.replaced_entities.push(owner);
                }
            }
        }
        // Until a picture displays the body, each sync writes its pose to the entity.
        let inserted_after = inserted_after.unwrap_or_else(StateNumber::next);
        self.not_displayed.insert(key, inserted_after);
        replaced_record
    }

    /// Removes the record of a body, if it has this entity. Returns whether it has.
    pub(crate) fn forget(&mut self, key: BodyKey, entity: E) -> bool {
        let is_recorded = self.entity(key) == Some(entity);
        if is_recorded {
            self.by_slot[slot_of(key)] = None;
            self.len -= 1;
            self.not_displayed.remove(&key);
        }
        is_recorded
    }

    /// Removes the record of a body, and returns its entity.
    pub(crate) fn take_entity(&mut self, key: BodyKey) -> Option<E> {
        let entity = self.entity(key)?;
        self.forget(key, entity).then_some(entity)
    }

    /// Removes and returns the records for which `condition` is true, in the order of their keys.
    pub(crate) fn take_if(
        &mut self,
        mut condition: impl FnMut(BodyKey, E) -> bool,
    ) -> Vec<(BodyKey, E)> {
        let records = self.by_slot.iter().flatten().copied();
        let taken = records.filter(|(key, entity)| condition(*key, *entity));
        let taken: Vec<_> = taken.collect();
        for (key, entity) in &taken {
            self.forget(*key, *entity);
        }
        taken
    }

    /// Returns the entities whose record another entity or a later body has replaced since the last call.
    pub(crate) fn take_replaced(&mut self) -> Vec<E> {
        std::mem::take(&mut self.replaced_entities)
    }

    /// Returns whether a body was removed. A view displays an earlier state, which may be too old to have the body. So
    /// a body that the view lacks was removed only if a picture has displayed it or the view is later than its
    /// insertion.
    pub(crate) fn is_removed(&self, key: BodyKey, picture: Picture<'_>) -> bool {
        let has_pose = picture.pose(key).is_some();
        let Picture::View {
            displayed, present, ..
        } = picture
        else {
            return !has_pose;
        };
        match self.by_slot.get(slot_of(key)).copied().flatten() {
            Some((recorded, _)) if recorded == key => {
                // A picture has displayed every body that is not in `not_displayed`.
                let is_view_new_enough =
                    (self.not_displayed.get(&key)).is_none_or(|after| Some(*after) < displayed);
                let is_gone = || present.is_some_and(|physics| physics.handle(key).is_none());
                !has_pose && (is_view_new_enough || is_gone())
            }
            // The body has no entity now. If a later body has its slot, it was removed, even if it is still displayed.
            recorded => !has_pose || recorded.is_some_and(|(later, _)| later > key),
        }
    }

    /// Returns the bodies that were removed since the last sync, some perhaps twice.
    pub(crate) fn removed(&mut self, picture: Picture<'_>) -> Vec<BodyKey> {
        let last_synced_frame = self.last_synced_frame(picture);
        let screen = picture.screen_with_lists();
        let since_sync = last_synced_frame.and_then(|frame| screen?.removed_since(frame));
        let is_complete = since_sync.is_some();
        // The list of the last frame may lack bodies that earlier frames have removed. It still has those that are not
        // recorded here, while all that are recorded are checked below.
        let listed = since_sync.or_else(|| Some(screen?.removed().into()));
        let is_removed = |key: &BodyKey| self.is_removed(*key, picture);
        // Some of these bodies are alive again if steps were resimulated since, or have their keys from earlier ones.
        let is_meant = |key: &BodyKey| picture.pose(*key).is_none() && is_removed(key);
        let listed = listed.iter().flat_map(|keys| keys.iter().copied());
        // A body that no picture has displayed yet may be missing from the list.
        let mut removed: Vec<_> = listed.filter(is_meant).collect();
        // Without a complete list, any recorded body may have been removed.
        if is_complete {
            removed.extend(self.not_displayed.keys().copied().filter(is_removed));
        } else {
            removed.extend(self.keys().filter(is_removed));
        }
        removed
    }

    /// Returns the poses of bodies that were inserted since the last call, sorted by key, and of bodies that may have
    /// moved since. A body may be in both lists.
    pub(crate) fn take_moved<'a>(&mut self, picture: Picture<'a>) -> [Poses<'a>; 2] {
        let last_synced_frame = self.last_synced_frame(picture);
        let screen = picture.screen_with_lists();
        // The next sync reads the changes since this frame, or checks all bodies if this one has no complete lists.
        self.synced = Synced(
            picture
                .screen()
                .map(|it| (it.id(), screen.map(Screen::number))),
        );
        let mut new = Vec::new();
        // A body is new in each call until a picture displays it.
        self.not_displayed.retain(|key, _| {
            new.extend(picture.pose(*key).map(|pose| (*key, pose)));
            !picture.displays(*key)
        });
        let listed = last_synced_frame.and_then(|frame| screen?.moved_since(frame));
        // Without a complete list, all bodies may have moved.
        let moved = listed.unwrap_or_else(|| {
            let all = self.keys();
            all.filter_map(|key| Some((key, picture.pose(key)?)))
                .collect()
        });
        [new.into(), moved]
    }

    /// Returns the number of the last frame that was synced, or `None` if all bodies are to be checked. With another
    /// screen than in the last sync, all bodies count as not displayed yet.
    fn last_synced_frame(&mut self, picture: Picture<'_>) -> Option<u64> {
        let id = picture.screen()?.id();
        let last_sync = match &self.synced.0 {
            Some((last, frame)) if last.ptr_eq(&id) => *frame,
            last => {
                // A screen without references left belongs to a simulation that was dropped.
                debug_assert!(
                    last.as_ref()
                        .is_none_or(|(last, _)| last.strong_count() == 0),
                    "this is another simulation than in the last frame, whose bodies would count as removed: \
                     use one `EntityMap` or `Entities` per simulation, or call `unmatched` after a restore"
                );
                let after = match last {
                    // The earlier host has displayed the others, so every state of this one has them.
                    Some(_) => StateNumber::default(),
                    // A copy may belong to a state that a rollback has restored, so earlier states may lack its bodies.
                    None => StateNumber::next(),
                };
                self.expect_all(after);
                self.synced = Synced(Some((id, None)));
                None
            }
        };
        if let Picture::View { newest, .. } = picture {
            // All recorded bodies were inserted by now, so states later than this one have them until they are removed.
            // In a pause, a later sync may know an earlier such state.
            for after in self.not_displayed.values_mut() {
                *after = newest.min(*after);
            }
        }
        last_sync
    }

    /// Lets all bodies count as not displayed yet. Those that did not so far are in every state after this number, until
    /// they are removed.
    fn expect_all(&mut self, after: StateNumber) {
        for (key, _) in self.by_slot.iter().flatten() {
            self.not_displayed.entry(*key).or_insert(after);
        }
    }

    fn keys(&self) -> impl Iterator<Item = BodyKey> {
        self.by_slot.iter().flatten().map(|(key, _)| *key)
    }
}
