//! The displayed poses of a frame, and how they differ from the last one.

use std::collections::BTreeMap;

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
    /// Displays a frame, and takes the changes: applies those to visual errors, brings `moving` into the order of the
    /// movers, blends their poses, adds the errors, and lists the bodies that have moved. `movers` are the bodies that
    /// may have moved in the last step. `changes` has other bodies, the causes of visual errors, and events.
    pub(crate) fn show(
        &mut self,
        movers: &Movers,
        changes: &mut Changes,
        context: &PictureContext,
    ) {
        span!("show_poses");
        self.begin(context);
        self.events.show(&mut changes.events, context.origin);
        // In most frames the same bodies move as in the last one, and nothing else has happened to any body.
        let has_changes = !changes.leaves_bodies_unchanged() || self.order != Some(movers.order());
        // The state does not continue the displayed one, for example because the game has assigned it.
        let is_unrelated = changes.scope == Scope::Unrelated;
        let mut errors_to_start = BTreeMap::new();
        if has_changes {
            // After a rollback or an assigned state, the changes do not list each removed body.
            if std::mem::take(&mut changes.scope) != Scope::Listed {
                self.find_removed(movers, changes);
            }
            if is_unrelated {
                self.end_errors();
            }
            errors_to_start = self.change_errors(&mut changes.list, context);
            for key in changes.removed.drain(..) {
                self.remove(key);
            }
            self.align(movers);
        }
        // Errors that `start_errors` begins below do not decay in this frame.
        if !self.errors.is_empty() {
            self.decay(context);
        }
        if has_changes {
            self.put_all_to_rest(movers, &mut changes.resting);
        }
        // From here on, `moving` has exactly the movers, in their order.
        let weights = Weights::new(context.alpha, context.seconds_ahead);
        if !errors_to_start.is_empty() {
            self.start_errors(errors_to_start, movers, &weights, context);
        }
        let mut poses = [Pose::IDENTITY; CHUNK];
        // If no body at rest was reported, `compare` supposes that `moved` is all of `moving`, until it finds a body
        // that has not moved.
        if self.moved.list().is_empty() {
            self.moved = MovedList::AllMoving(std::mem::take(self.moved.list()));
        }
        for start in (0..self.moving.len()).step_by(CHUNK) {
            let poses = &mut poses[..CHUNK.min(self.moving.len() - start)];
            movers.blend(start, &weights, poses);
            if !self.errors.is_empty() {
                self.add_errors(start, poses);
            }
            self.compare(start, poses);
        }
        if is_unrelated || !self.jumped.is_empty() {
            self.finish_jumps(is_unrelated);
        }
        self.displayed = Some((Some(movers.poses_version()), context.alpha));
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

    /// Begins a picture in which nothing has changed yet, except perhaps the origin.
    fn begin(&mut self, context: &PictureContext) {
        self.clear_changes(context.frame, context.time);
        let before = self.origin.replace(context.origin);
        self.origin_shift =
            before.map_or(Vector::ZERO, |before| context.origin.offset_from(&before));
    }

    /// Compares all bodies: adds displayed bodies that the state lacks to `changes.removed`, and drops bodies that it
    /// has from there. `changes.resting` has all its bodies at rest, because the scope was not `Listed`.
    ///
    /// The first picture of a view compares all bodies, too. A body in `first_poses` that the state lacks was removed,
    /// because the game may have drawn it there.
    fn find_removed(&mut self, movers: &Movers, changes: &mut Changes) {
        // `align` then compares all movers, too.
        self.order = None;
        let resting = changes.resting.iter().map(|(key, _)| *key);
        let alive = movers.keys().iter().copied().chain(resting);
        let alive: SecondaryMap<BodyKey, ()> = alive.map(|key| (key, ())).collect();
        let removed = &mut changes.removed;
        removed.extend(self.bodies.keys());
        removed.extend(std::mem::take(&mut self.first_poses).into_keys());
        removed.retain(|key| !alive.contains_key(*key));
        removed.sort_unstable();
        removed.dedup();
    }

    /// Displays bodies at rest: those in `resting`, unless they are movers again, and those that are displayed as
    /// moving and are no movers any more. [`align`](Self::align) has put the latter behind the movers.
    fn put_all_to_rest(&mut self, movers: &Movers, resting: &mut Vec<(BodyKey, Pose)>) {
        let end = movers.len();
        for (key, pose) in resting.drain(..) {
            if !matches!(self.bodies.get(key), Some(Displayed::Moving(index)) if *index < end) {
                self.put_to_rest(key, pose);
            }
        }
        // Bodies that `resting` does not list rest where they are displayed. The loop runs backwards, because
        // `put_to_rest` fills the gap in `moving` with the last body.
        for index in (end..self.moving.len()).rev() {
            let (key, pose) = self.moving[index];
            self.put_to_rest(key, pose);
        }
    }

    /// Brings the movers to the front of `moving`, in their order. Adds those that are not displayed as moving.
    fn align(&mut self, movers: &Movers) {
        if self.order.replace(movers.order()) == Some(movers.order()) {
            return;
        }
        for (index, key) in movers.keys().iter().enumerate() {
            if self.moving.get(index).is_none_or(|(shown, _)| shown != key) {
                let index_so_far = self.add_moving(*key);
                self.swap(index, index_so_far);
            }
        }
    }

    /// Displays the moving bodies from index `start` on at these poses, and reports in `moved` new bodies and those
    /// whose pose has changed by any bit, or all after a shift of the origin.
    ///
    /// In most frames every moving body moves. While that holds, `moved` is `AllMoving`, which needs no list, and the
    /// first loop only writes the poses. At the first body that has not moved, `moved` becomes a list of the bodies
    /// before it, and the second loop adds the later bodies that have moved.
    fn compare(&mut self, start: usize, poses: &[Pose]) {
        let indices = start..start + poses.len();
        let marks = &mut self.marks[indices.clone()];
        let shown = &mut self.moving[indices];
        let is_shifted = self.origin_shift != Vector::ZERO;
        let has_moved = |shown: &Pose, marks: &Marks, pose: &Pose| {
            marks.is_new || is_shifted || !is_same(pose, shown)
        };
        // The index in `poses` at which the second loop begins, or `None` if `moved` stays `AllMoving`.
        let mut list_from = Some(0);
        if matches!(self.moved, MovedList::AllMoving(_)) {
            let mut bodies = shown.iter_mut().zip(marks).zip(poses);
            // This is the first loop: `position` stops at the first body that has not moved.
            list_from = bodies.position(|(((_, shown), marks), pose)| {
                let has_moved = has_moved(shown, marks, pose);
                if has_moved {
                    *shown = *pose;
                    marks.is_new = false;
                }
                !has_moved
            });
        }
        let Some(list_from) = list_from else {
            return;
        };
        self.begin_moved_list(start + list_from);
        let moved = self.moved.list();
        for (index, pose) in (start..).zip(poses).skip(list_from) {
            let (shown, marks) = (&mut self.moving[index], &mut self.marks[index]);
            if has_moved(&shown.1, marks, pose) {
                shown.1 = *pose;
                marks.moved_index = as_index(moved.len());
                marks.is_new = false;
                moved.push(*shown);
            }
        }
    }
}

/// # The first frame of a view
impl Screen {
    /// Prepares for the first frame of a view, which displays these movers. Until then, [`pose`](Self::pose) returns
    /// the current pose of movers that no frame has displayed.
    pub(crate) fn prepare_for(&mut self, movers: &Movers) {
        for (index, key) in movers.keys().iter().enumerate() {
            if !self.bodies.contains_key(*key) {
                self.first_poses.insert(*key, movers.current(index));
            }
        }
    }

    /// Returns changes for the next picture, of these movers and bodies at rest. With them, each body is displayed at
    /// first where it is displayed now, and the difference decays as a visual error.
    pub(crate) fn show_from_displayed<'a>(
        &'a self,
        movers: &'a Movers,
        resting: &'a [(BodyKey, Pose)],
    ) -> impl Iterator<Item = Change> + 'a {
        let moving = movers.keys().iter().copied();
        let resting = resting
            .iter()
            .filter(|(key, pose)| self.pose(*key) != Some(*pose));
        let keys = moving.chain(resting.map(|(key, _)| *key));
        // The first pose of a body that no frame has displayed, which `pose` returns too, is no start of an error.
        let displayed = keys.filter(|key| self.bodies.contains_key(*key));
        displayed.filter_map(|key| Some(Change::ShowFrom(key, self.pose(key)?, self.origin?)))
    }
}

/// # The moving bodies
impl Screen {
    /// Adds a body to `moving`, unless it is there, at its displayed pose. Returns its index. A new body has jumped,
    /// and is reported as moved whatever its pose is.
    pub(super) fn add_moving(&mut self, key: BodyKey) -> usize {
        let (shown, moved_index) = match self.bodies.get(key) {
            Some(Displayed::Moving(index)) => return *index,
            Some(Displayed::Resting { moved_index, .. }) => (self.pose(key), *moved_index),
            // `moved` has not listed the body, so any index will do: readers compare the key there.
            None => (None, 0),
        };
        if shown.is_none() {
            self.jumped.push(key);
        }
        let index = self.moving.len();
        self.moving.push((key, shown.unwrap_or_default()));
        self.marks.push(Marks {
            is_new: shown.is_none(),
            has_error: self.errors.contains_key(&key),
            ..Marks::reported_at(moved_index)
        });
        self.bodies.insert(key, Displayed::Moving(index));
        // The log has room for one entry per body.
        self.changed_at_rest.grow(self.bodies.len());
        index
    }

    pub(super) fn remove_moving(&mut self, index: usize) {
        self.moving.swap_remove(index);
        self.marks.swap_remove(index);
        self.update_index(index);
    }

    /// Swaps two moving bodies in the lists, and updates their indices in `bodies`.
    pub(super) fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.moving.swap(one, other);
            self.marks.swap(one, other);
            self.update_index(one);
            self.update_index(other);
        }
    }

    /// Records the index of the body that was moved to it, if there is one.
    fn update_index(&mut self, index: usize) {
        if let Some((key, _)) = self.moving.get(index) {
            self.bodies[*key] = Displayed::Moving(index);
        }
    }
}
