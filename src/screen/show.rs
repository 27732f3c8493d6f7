//! The displayed poses of a frame, and how they differ from the last one.

use slotmap::SecondaryMap;

use crate::dim::is_same;
use crate::key::BodyKey;
use rapier::math::{Pose, Vector};

use super::{Displayed, Marks, MovedList, PictureContext, Screen, as_index};
use crate::pose::Movers;
use crate::pose::Weights;
use crate::pose::{Change, Changes, Scope};

/// The number of bodies that are processed at once: so few that the results stay in the L1 cache.
const CHUNK: usize = 64;

impl Screen {
    /// Displays a frame: applies the changes to visual errors, brings the lists into the order of the movers, blends
    /// their poses, adds the errors, and lists what has moved.
    pub(crate) fn show(
        &mut self,
        movers: &Movers,
        changes: &mut Changes,
        context: &PictureContext,
    ) {
        self.begin(context);
        self.events.show(&mut changes.events, context.origin);
        let is_other = changes.scope == Scope::Unrelated;
        if is_other {
            self.end_errors();
        }
        let errors_to_start = self.change_errors(&changes.list, context.smoothing);
        self.remove_gone(movers, changes);
        self.align(movers);
        // Those that `start_errors` begins below have not decayed yet.
        if !self.errors.is_empty() {
            self.decay(context);
        }
        self.let_rest(movers, &changes.rest);
        // From here on, `shown` has the movers, in their order.
        let weights = Weights::new(context.alpha, context.lead);
        if !errors_to_start.is_empty() {
            self.start_errors(errors_to_start, movers, &weights, context);
        }
        let mut poses = [Pose::IDENTITY; CHUNK];
        // Supposes that every body has moved, until one has not.
        if self.moved().is_empty() {
            self.moved = MovedList::AllShown(std::mem::take(self.moved.list()));
        }
        for start in (0..self.shown.len()).step_by(CHUNK) {
            let poses = &mut poses[..CHUNK.min(self.shown.len() - start)];
            movers.blend(start, &weights, poses);
            if !self.errors.is_empty() {
                self.add_errors(start, poses);
            }
            self.compare(start, poses);
        }
        if is_other || !self.jumped.is_empty() {
            self.finish_jumps(is_other);
        }
        self.displayed = Some((Some(movers.version()), context.alpha));
    }

    /// Prepares for the next frame, which displays these movers. New bodies have their current pose until then.
    pub(crate) fn prepare_for(&mut self, movers: &Movers) {
        for (index, key) in movers.keys().iter().enumerate() {
            if !self.bodies.contains_key(*key) {
                self.first_poses.insert(*key, movers.current(index));
            }
        }
    }

    /// Returns the changes with which a picture of these movers and bodies at rest begins where bodies are displayed now.
    pub(crate) fn froms<'a>(
        &'a self,
        movers: &'a Movers,
        rest: &'a [(BodyKey, Pose)],
    ) -> impl Iterator<Item = Change> + 'a {
        let moving = movers.keys().iter().copied();
        let rest = rest
            .iter()
            .filter(|(key, pose)| self.pose(*key) != Some(*pose));
        let keys = moving.chain(rest.map(|(key, _)| *key));
        let displayed = keys.filter(|key| self.bodies.contains_key(*key));
        displayed.filter_map(|key| Some(Change::From(key, self.pose(key)?, self.origin?)))
    }

    /// Numbers the frame, and reports no changes in it. The displayed poses stay.
    pub fn clear_changes(&mut self, frame: u64, time: f64) {
        self.number = frame;
        self.time = time;
        self.origin_shift = Vector::ZERO;
        self.clear_moved();
        self.removed.clear();
        self.events.show_none();
        self.jumped.clear();
    }

    fn begin(&mut self, context: &PictureContext) {
        // Nothing has changed until a body moves or is removed.
        self.clear_changes(context.frame, context.time);
        self.first_poses.clear();
        let before = self.origin.replace(context.origin);
        self.origin_shift =
            before.map_or(Vector::ZERO, |before| context.origin.offset_from(&before));
    }

    fn remove_gone(&mut self, movers: &Movers, changes: &mut Changes) {
        let Changes {
            scope,
            rest,
            removed,
            ..
        } = changes;
        if *scope != Scope::Listed {
            self.order = None;
            let resting = rest.iter().map(|(key, _)| *key);
            let listed = movers.keys().iter().copied().chain(resting);
            let listed: SecondaryMap<BodyKey, ()> = listed.map(|key| (key, ())).collect();
            let gone = self.bodies.keys().filter(|key| !listed.contains_key(*key));
            removed.extend(gone);
            removed.sort_unstable();
            removed.dedup();
            removed.retain(|key| !listed.contains_key(*key));
        }
        for key in removed.drain(..) {
            self.remove(key);
        }
    }

    fn let_rest(&mut self, movers: &Movers, rest: &[(BodyKey, Pose)]) {
        let len = movers.len();
        for &(key, pose) in rest {
            if !matches!(self.bodies.get(key), Some(Displayed::Moving(index)) if *index < len) {
                self.rest(key, pose);
            }
        }
        // Bodies beyond the movers rest where they are displayed. A teleported body may not be listed yet.
        for index in (len..self.shown.len()).rev() {
            let (key, pose) = self.shown[index];
            self.rest(key, pose);
        }
    }

    fn align(&mut self, movers: &Movers) {
        if self.order.replace(movers.order()) == Some(movers.order()) {
            return;
        }
        for (index, key) in movers.keys().iter().enumerate() {
            if self.shown.get(index).is_none_or(|(shown, _)| shown != key) {
                let listed = self.list(*key);
                self.swap(index, listed);
            }
        }
    }

    fn compare(&mut self, start: usize, poses: &[Pose]) {
        let places = start..start + poses.len();
        let marks = &mut self.marks[places.clone()];
        let shown = &mut self.shown[places];
        let has_moved =
            |shown: &Pose, marks: &Marks, pose: &Pose| marks.is_unreported || !is_same(pose, shown);
        let mut unmoved = Some(0);
        if matches!(self.moved, MovedList::AllShown(_)) {
            let mut bodies = shown.iter_mut().zip(marks).zip(poses);
            unmoved = bodies.position(|(((_, shown), marks), pose)| {
                let has_moved = has_moved(shown, marks, pose);
                if has_moved {
                    *shown = *pose;
                    marks.is_unreported = false;
                }
                !has_moved
            });
        }
        let Some(first) = unmoved else {
            return;
        };
        self.list_moved(start + first);
        let moved = self.moved.list();
        for (index, pose) in (start..).zip(poses).skip(first) {
            let (shown, marks) = (&mut self.shown[index], &mut self.marks[index]);
            if has_moved(&shown.1, marks, pose) {
                shown.1 = *pose;
                marks.moved_index = as_index(moved.len());
                marks.is_unreported = false;
                moved.push(*shown);
            }
        }
    }
}

impl Screen {
    pub(super) fn list(&mut self, key: BodyKey) -> usize {
        let (shown, moved_index) = match self.bodies.get(key) {
            Some(Displayed::Moving(index)) => return *index,
            Some(Displayed::Resting { moved_index, .. }) => (self.pose(key), *moved_index),
            None => (None, 0),
        };
        if shown.is_none() {
            self.jumped.push(key);
        }
        let index = self.shown.len();
        self.shown.push((key, shown.unwrap_or_default()));
        self.marks.push(Marks {
            is_unreported: shown.is_none(),
            has_error: self.errors.contains_key(&key),
            ..Marks::reported_at(moved_index)
        });
        self.bodies.insert(key, Displayed::Moving(index));
        self.rested.grow(self.bodies.len());
        index
    }

    pub(super) fn unlist(&mut self, index: usize) {
        self.shown.swap_remove(index);
        self.marks.swap_remove(index);
        self.repair(index);
    }

    pub(super) fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.shown.swap(one, other);
            self.marks.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    fn repair(&mut self, index: usize) {
        if let Some((key, _)) = self.shown.get(index) {
            self.bodies[*key] = Displayed::Moving(index);
        }
    }
}
