//! Detects the game's changes through Rapier's types, which do not report them.

use crate::key::BodyKey;
use crate::pose::{Change, finite_center, is_position_based};
use rapier::dynamics::{Multibody, RigidBody, RigidBodyHandle};
use rapier::geometry::ColliderHandle;

use super::{Physics, Stage, StepAtHand};

/// The number of edited bodies from which on duplicates are removed.
const MOST_WITH_DUPLICATES: usize = 4_096;

impl Physics {
    /// Looks for what the game has changed through Rapier's types since this was last called, in all bodies that it
    /// could have changed: other positions are teleports, and missing bodies are removals.
    pub(crate) fn detect_edits(&mut self) {
        if self.edits.check_all || !self.edits.to_check.is_empty() {
            self.check_edited();
        }
    }

    /// Checks the bodies that the game could have changed. A body at another pose than `pairs` has was teleported, and
    /// a body that Rapier lacks was removed.
    fn check_edited(&mut self) {
        let (mut dead, mut teleported) = (Vec::new(), Vec::new());
        let mut lost_targets = Vec::new();
        let Self {
            world,
            pairs,
            edits,
            event_log,
            ..
        } = self;
        let edited_since_step = &mut edits.edited_since_step;
        let mut note_edited = |key, body: &RigidBody| {
            // If the game has set the position of such a body, Rapier has discarded its target for the current step.
            lost_targets.extend(is_position_based(body).then_some(key));
            edited_since_step.push(key);
        };
        if std::mem::take(&mut edits.check_all) {
            for (key, handle) in world.keys.iter() {
                let Some(body) = world.rapier.bodies.get(handle) else {
                    dead.push(key);
                    continue;
                };
                let position = world.position_of(handle, body);
                if pairs.record_if_teleported(key, handle, position) {
                    teleported.push(key);
                }
                pairs.add_mover_if_awake(key, handle, body);
                note_edited(key, body);
            }
            // A changed centre of mass can turn any straight path into a curve, so the step decides again which are.
            pairs.recheck_all_paths();
            event_log.record_owners(&world.keys, &world.rapier.colliders);
        }
        for edited in edits.to_check.drain(..) {
            let root = world.handle(edited);
            // A body that Rapier lacks although it has a key was removed through Rapier.
            let is_dead = root.is_none() && world.keys.handle(edited).is_some();
            dead.extend(is_dead.then_some(edited));
            if let Some(body) = root.and_then(|root| world.rapier.bodies.get(root)) {
                note_edited(edited, body);
            }
            // If the body is the root of a multibody, the links move with it.
            let links = root.into_iter().flat_map(|root| world.links(root));
            for handle in root.into_iter().chain(links) {
                if let Some(key) = world.keys.key(handle)
                    && let Some(position) = world.position(handle)
                {
                    pairs.recheck_path(key, handle);
                    if pairs.record_if_teleported(key, handle, position) {
                        teleported.push(key);
                    }
                }
            }
        }
        for key in teleported {
            self.note_teleport(key);
        }
        if !lost_targets.is_empty() {
            self.resume_targets(lost_targets);
        }
        let edited = &mut self.edits.edited_since_step;
        if edited.len() >= MOST_WITH_DUPLICATES {
            // In a pause the game may edit the same bodies in each frame.
            edited.sort_unstable();
            edited.dedup();
        }
        // A removed body wakes the bodies that touched it.
        self.edits.any_may_wake |= !dead.is_empty();
        for key in dead {
            // A body may be in the list twice.
            if self.world.keys.mark_dead(key) {
                self.forget_body(key);
            }
        }
    }

    /// Sets the targets of these kinematic bodies for the current step again. The game may have set their positions, by
    /// which Rapier discards the targets, even if a position did not change.
    fn resume_targets(&mut self, edited: Vec<BodyKey>) {
        // Outside of a step, the next one sets the targets when it begins.
        if let Stage::Before(StepAtHand { step, .. }) = self.running.stage {
            for key in edited {
                self.targets.resume_target(key, &mut self.world, step);
            }
        }
    }

    /// Makes Rapier find the contacts of a dynamic body again. It would recycle contacts that are relative to the
    /// previous centre of mass.
    pub(super) fn renew_contacts_about_new_center(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
    ) {
        // The contacts need not be found once more after the step.
        self.edits.centers_before.remove(&key);
        if self.world.rapier.bodies[handle].is_dynamic() {
            self.world.renew_contacts(handle);
        }
    }

    /// Returns the bodies whose colliders Rapier's queries may lack until the next step, some perhaps twice: those that
    /// may have been changed since the last step, and new ones.
    pub(crate) fn new_since_step(&self) -> impl Iterator<Item = BodyKey> {
        let keys = &self.world.keys;
        // Bodies that were inserted after the last step exist first at the present tick or, in a hook, at the next one.
        // Those from the hook before the last step have the present tick too, and are returned without need.
        let is_new = |key: &BodyKey| keys.was_inserted_since(*key, self.tick);
        let new = keys.iter().map(|(key, _)| key).filter(is_new);
        self.edits.edited_since_step.iter().copied().chain(new)
    }

    /// Returns whether [`prepare_for_edits`](Self::prepare_for_edits) has something to do.
    pub(super) fn needs_preparation(&self) -> bool {
        let edits = &self.edits;
        edits.any_may_wake
            || edits.may_joints_change
            || !edits.colliders_before.is_empty()
            || !edits.woken.is_empty()
            || self.pairs.positions_before_edits().next().is_some()
    }

    /// Prepares a step for the game's changes since the last one: renews the contacts of changed bodies, and lists
    /// those at rest that may move.
    pub(super) fn prepare_for_edits(&mut self) {
        self.renew_contacts();
        self.add_woken_movers();
        if std::mem::take(&mut self.edits.may_joints_change) {
            self.add_links();
        }
    }

    /// Returns the bodies that may wake in a step after a shift of the origin for another reason: those that the game
    /// may have changed, which are `edited`, and all that touch one, or that a joint connects to one.
    pub(super) fn may_wake_otherwise(&self, edited: &[BodyKey]) -> Vec<RigidBodyHandle> {
        let Self {
            world,
            pairs,
            edits,
            ..
        } = self;
        if edits.any_may_wake || edits.may_joints_change {
            return world.rapier.bodies.iter().map(|(it, _)| it).collect();
        }
        let moved = pairs.positions_before_edits().map(|(key, _)| key);
        let edited = edited.iter().copied().chain(moved);
        let edited = edited.filter_map(|key| world.handle(key));
        let with_neighbours =
            edited.flat_map(|it| world.sleeping_neighbours(it).into_iter().chain([it]));
        let colliders = edits.colliders_before.keys();
        let at_colliders = colliders.flat_map(|(index, generation)| {
            world.sleepers_at(ColliderHandle::from_raw_parts(*index, *generation))
        });
        let woken = edits.woken.iter().filter_map(|key| world.handle(*key));
        with_neighbours.chain(at_colliders).chain(woken).collect()
    }

    /// Makes Rapier find contacts again that it would otherwise recycle from the last step: with changed colliders, and
    /// with moved bodies that are not dynamic. It compares with the state after that step, so the result does not depend
    /// on how often edits were detected since. Also records the bodies of changed colliders.
    fn renew_contacts(&mut self) {
        let Self {
            world,
            pairs,
            edits,
            event_log,
            ..
        } = self;
        for ((index, generation), before) in std::mem::take(&mut edits.colliders_before) {
            let handle = ColliderHandle::from_raw_parts(index, generation);
            if let Some(parts) = world.contact_parts(handle) {
                // The collider may have got another body.
                event_log.record_owner(handle, world.key_of_collider(handle));
                if parts != before {
                    world.renew_contacts_of(handle);
                }
            }
        }
        for (key, position_before) in pairs.positions_before_edits() {
            if let Some(handle) = world.handle(key) {
                let body = &world.rapier.bodies[handle];
                // Rapier keeps contacts with such a body in world space, and does not see that it was moved.
                let is_not_dynamic = body.is_fixed() || body.is_kinematic();
                if is_not_dynamic && *body.position() != position_before {
                    world.renew_contacts(handle);
                }
            }
        }
    }

    /// Notes what the contacts of a body depend on, before the game changes the body through Rapier's world.
    pub(super) fn note_contacts_of(&mut self, key: BodyKey) {
        let Some(body) = self.world.get(key) else {
            return;
        };
        let center = finite_center(body);
        self.edits.centers_before.entry(key).or_insert(center);
        for handle in body.colliders().to_vec() {
            self.note_contact_parts(handle);
        }
    }

    /// Notes the parts of a collider that its contacts depend on. Rapier recycles contacts even if these change, so the
    /// next step compares them.
    pub(super) fn note_contact_parts(&mut self, handle: ColliderHandle) {
        if let Some(parts) = self.world.contact_parts(handle) {
            let noted = self.edits.colliders_before.entry(handle.into_raw_parts());
            noted.or_insert(parts);
        }
    }

    /// Notes the centres of mass of these bodies before a step or, if the game has had access to one through Rapier's
    /// world, before that.
    pub(super) fn note_centers(&mut self, bodies: &[BodyKey]) {
        let Self { world, edits, .. } = self;
        let before = std::mem::take(&mut edits.centers_before);
        let center = |key: &BodyKey| {
            let now = || world.get(*key).map(finite_center);
            before.get(key).copied().or_else(now).unwrap_or_default()
        };
        edits.centers.clear();
        edits.centers.extend(bodies.iter().map(center));
    }

    /// Makes the next step find the contacts of dynamic bodies again if this step has changed their centre of mass, to
    /// which recycled contacts are relative. `bodies` are those whose centres were noted before the step, in that
    /// order.
    pub(super) fn renew_contacts_where_center_moved(&mut self, bodies: &[BodyKey]) {
        let Self { world, edits, .. } = self;
        for (key, before) in bodies.iter().zip(edits.centers.drain(..)) {
            if let Some(handle) = world.handle(*key) {
                let body = &world.rapier.bodies[handle];
                if body.is_dynamic() && finite_center(body) != before {
                    world.renew_contacts(handle);
                }
            }
        }
    }

    /// Lists sleeping bodies that may wake in this step among the movers, whose poses it reads. They would be missed if
    /// they also fell asleep again in it.
    fn add_woken_movers(&mut self) {
        let Self {
            world,
            pairs,
            edits,
            ..
        } = self;
        for key in edits.woken.drain(..) {
            if let Some(handle) = world.handle(key) {
                pairs.add_mover(key, handle);
            }
        }
        // Only the step itself finds out which bodies Rapier wakes, so all that can move are listed.
        if std::mem::take(&mut edits.any_may_wake) {
            for (key, handle) in world.keys.iter() {
                if world.get(key).is_some_and(|body| !body.is_fixed()) {
                    pairs.add_mover(key, handle);
                }
            }
        }
    }

    /// Lists all links of multibodies among the movers, because their joints may have changed. Rapier places them in each
    /// step, even those that sleep or are disabled, and wakes none.
    fn add_links(&mut self) {
        let Self { world, pairs, .. } = self;
        let multibodies = world.rapier.multibody_joints.multibodies();
        for link in multibodies.flat_map(Multibody::links) {
            let handle = link.rigid_body_handle();
            if let Some(key) = world.keys.key(handle)
                && world.get(key).is_some_and(|body| !body.is_fixed())
            {
                pairs.add_mover(key, handle);
            }
        }
    }

    /// Drops the poses, the target and the smoothing of a body that was removed, and reports it to the next frame.
    pub(super) fn forget_body(&mut self, key: BodyKey) {
        self.pairs.remove(key);
        self.targets.remove(key);
        self.forget_smoothing(key);
        self.running.changes.removed.push(key);
    }

    pub(super) fn note_teleport(&mut self, key: BodyKey) {
        let tick = self.first_tick_after_edit();
        let changes = &mut self.running.changes;
        changes.list.push(Change::Teleported(key, tick));
    }

    /// Notes the sleeping bodies that touch this one, before one of its colliders is removed. Rapier wakes them in the
    /// next step, which then has to read their poses.
    pub(super) fn note_neighbours_to_wake(&mut self, body: RigidBodyHandle) {
        let neighbours = self.world.sleeping_neighbours(body);
        self.note_woken(neighbours);
    }

    /// Notes sleeping bodies that the next step wakes.
    pub(super) fn note_woken(&mut self, sleepers: Vec<RigidBodyHandle>) {
        let keys = sleepers
            .into_iter()
            .filter_map(|it| self.world.keys.key(it));
        self.edits.woken.extend(keys);
    }
}
