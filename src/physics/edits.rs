//! Detects the game's changes through Rapier's types, which do not report them.

use crate::key::BodyKey;
use crate::pose::{ErrorChange, PoseLog};
use rapier::dynamics::RigidBodyHandle;

use super::Physics;

impl Physics {
    pub(crate) fn detect_edits(&mut self) {
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
        }
        self.edits.any_woken |= !dead.is_empty();
        for key in dead {
            self.world.keys.found_dead(key);
            self.forget_body(key);
        }
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
        self.log.smoothings.remove(&key);
        self.log.removed.push(key);
    }

    pub(super) fn note_teleport(&mut self, key: BodyKey) {
        self.log.errors.push(ErrorChange::Clear(key));
        self.log.drop_path(key);
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
    pub(crate) fn take_log(&mut self, displayed: Option<u64>) -> PoseLog {
        let mut log = std::mem::take(&mut self.log);
        for (key, change) in std::mem::take(&mut log.smoothings) {
            let Some(path) = change.path else {
                self.log.change_smoothing(key, change.before);
                continue;
            };
            log.errors.push(ErrorChange::Smooth(key, Box::new(path)));
            // The game may have set another smoothing since that step.
            self.expect_smoothing(key);
        }
        log.epoch = Some(self.epoch.number());
        if log.epoch == displayed {
            // A body may have come to rest in a frame that displayed nothing, and have been removed after it.
            let removed = std::mem::take(&mut log.removed);
            log.drop_rest_of(&removed);
            log.removed = removed;
        } else {
            log.rest = self.pairs.resting().collect();
        }
        log
    }

    pub(crate) fn unlist_resting(&mut self) {
        self.pairs.unlist_resting(&self.world, &mut self.log);
    }

    /// Begins the log of a state, from the visual errors and removals of the state that it replaces, and its own later
    /// requests.
    pub(crate) fn continue_log(
        &mut self,
        left: PoseLog,
        errors: impl IntoIterator<Item = ErrorChange>,
    ) {
        let left = PoseLog {
            rest: Vec::new(),
            ..left
        };
        let own = std::mem::replace(&mut self.log, left);
        // The old log knows which changes no picture has displayed.
        self.log
            .smoothings
            .retain(|_, change| change.path.is_some());
        let waiting = own.smoothings.iter().filter(|(_, it)| it.path.is_none());
        for (key, change) in waiting {
            self.log.change_smoothing(*key, change.before);
        }
        self.log.errors.extend(errors);
        self.log.errors.extend(own.into_beginnings());
    }
}
