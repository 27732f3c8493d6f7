//! Detects the game's changes through Rapier's types, which do not report them.

use crate::key::BodyKey;
use crate::pose::{Change, Changes, Scope, froms};
use rapier::dynamics::{RigidBody, RigidBodyAdditionalMassProps, RigidBodyHandle};

use super::{Physics, Stage, StepAtHand};

impl Physics {
    pub(crate) fn detect_edits(&mut self) {
        if !(self.edits.bodies.is_empty() && self.edits.colliders.is_empty()) {
            self.renew_edited_contacts();
        }
        let (mut dead, mut put) = (Vec::new(), Vec::new());
        let Self {
            world,
            pairs,
            edits,
            ..
        } = self;
        if std::mem::take(&mut edits.all) {
            for (key, handle) in world.keys.iter() {
                let Some(body) = world.rapier.bodies.get(handle) else {
                    dead.push(key);
                    continue;
                };
                let position = world.position_of(handle, body);
                if pairs.detect_edit(key, handle, position) {
                    put.push(key);
                }
                pairs.list_if_awake(key, handle, body);
            }
            pairs.recheck_all();
        }
        for edited in edits.bodies.drain(..) {
            let root = world.handle(edited);
            let is_dead = root.is_none() && world.keys.handle(edited).is_some();
            dead.extend(is_dead.then_some(edited));
            // The links of a multibody move with its root.
            let links = root.into_iter().flat_map(|root| world.links(root));
            for handle in root.into_iter().chain(links) {
                if let Some(key) = world.keys.key(handle)
                    && let Some(position) = world.position(handle)
                {
                    pairs.recheck(key, handle);
                    if pairs.detect_edit(key, handle, position) {
                        put.push(key);
                    }
                }
            }
        }
        for key in put {
            self.note_teleport(key);
            self.note_position(key);
        }
        self.edits.any_woken |= !dead.is_empty();
        for key in dead {
            if self.world.keys.found_dead(key) {
                self.forget_body(key);
            }
        }
    }

    /// Notes that the game may change a body from now on.
    pub(super) fn note_edit(&mut self, key: BodyKey) {
        self.edits.bodies.push(key);
        let mass = self.world.get(key).and_then(additional_mass);
        if let Some(mass) = mass {
            self.edits.masses.entry(key).or_insert(mass);
        }
    }

    /// Tells Rapier what it does not see when a body's position is set: a body on its way to a target still moves, and
    /// contacts with a body that is not dynamic are elsewhere.
    pub(super) fn note_position(&mut self, key: BodyKey) {
        let Some(handle) = self.world.handle(key) else {
            return;
        };
        let body = &mut self.world.rapier.bodies[handle];
        if let Stage::Before(StepAtHand { step, .. }) = self.running.stage {
            self.targets.lead_on(key, body, step);
        }
        if body.is_fixed() || body.is_kinematic() {
            self.world.renew_contacts(handle);
        }
    }

    pub(super) fn renew_contacts_if_dynamic(&mut self, handle: RigidBodyHandle) {
        if self.world.rapier.bodies[handle].is_dynamic() {
            self.world.renew_contacts(handle);
        }
    }

    /// Renews the contacts of colliders and bodies whose material or mass was changed.
    fn renew_edited_contacts(&mut self) {
        let Self { world, edits, .. } = self;
        for (handle, before) in edits.colliders.drain(..) {
            if world.contact_parts(handle).is_some_and(|it| it != before) {
                world.renew_contacts_of(handle);
            }
        }
        for key in &edits.bodies {
            if let Some(body) = world.get(*key)
                && let Some(mass) = additional_mass(body)
                && edits.masses.get(key) != Some(&mass)
                && let Some(handle) = world.handle(*key)
            {
                world.renew_contacts(handle);
            }
        }
        edits.masses.clear();
    }

    pub(crate) fn list_movers(&mut self) {
        self.detect_edits();
        self.list_woken();
    }

    /// Lists bodies at rest that may move in this step, even if they fall asleep again in it.
    fn list_woken(&mut self) {
        let Self {
            world,
            pairs,
            edits,
            ..
        } = self;
        for key in edits.woken.drain(..) {
            if let Some(handle) = world.handle(key) {
                pairs.list_resting(key, handle);
            }
        }
        if std::mem::take(&mut edits.any_woken) {
            for (key, handle) in world.keys.iter() {
                if world.get(key).is_some_and(|body| !body.is_fixed()) {
                    pairs.list_resting(key, handle);
                }
            }
        }
    }

    pub(super) fn forget_body(&mut self, key: BodyKey) {
        self.pairs.remove(key);
        self.targets.remove(key);
        self.forget_smoothing(key);
        self.running.changes.removed.push(key);
    }

    pub(super) fn note_teleport(&mut self, key: BodyKey) {
        self.running.changes.list.push(Change::Cut(key));
    }

    /// Expects motion of the bodies that a removed collider touched: Rapier wakes them in the next step.
    pub(super) fn expect_motion_of_neighbours(&mut self, handle: RigidBodyHandle) {
        let Self { world, edits, .. } = self;
        let neighbours = world.sleeping_neighbours(handle).into_iter();
        let keys = neighbours.filter_map(|neighbour| world.keys.key(neighbour));
        edits.woken.extend(keys);
    }
}

/// # For the display
impl Physics {
    /// Takes the changes since they were last taken. A reader that was not the last one has to compare all bodies.
    pub(crate) fn take_changes(&mut self, compares_all: bool) -> Changes {
        let mut changes = std::mem::take(&mut self.running.changes);
        if compares_all {
            changes.widen(Scope::All);
        }
        if changes.scope == Scope::Listed {
            // A body may have come to rest in a frame that displayed nothing, and have been removed after it.
            let removed = std::mem::take(&mut changes.removed);
            changes.drop_rest_of(&removed);
            changes.removed = removed;
        } else {
            changes.rest = self.pairs.resting().collect();
        }
        changes
    }

    pub(crate) fn unlist_resting(&mut self) {
        self.pairs
            .unlist_resting(&self.world, &mut self.running.changes);
    }

    /// Continues the changes of the state that this one replaces with its own later requests.
    pub(crate) fn continue_changes(
        &mut self,
        left: Changes,
        scope: Scope,
        list: impl IntoIterator<Item = Change>,
    ) {
        let own = std::mem::replace(&mut self.running.changes, left);
        self.running.changes.widen(own.scope.max(scope));
        self.running.changes.list.extend(list);
        self.running.changes.list.extend(froms(own.list));
    }
}

fn additional_mass(body: &RigidBody) -> Option<RigidBodyAdditionalMassProps> {
    (body.mass_properties().additional_local_mprops)
        .as_deref()
        .copied()
}
