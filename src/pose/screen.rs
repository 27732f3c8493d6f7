//! What frames show: the pose of every body as it was last shown, and what changed then.

use std::collections::BTreeMap;
use std::time::Duration;

use rapier::math::Pose;
use slotmap::SecondaryMap;

use crate::key::BodyKey;
use crate::key_log::KeyLog;

use super::changes::{Changes, ErrorChange};
use super::correction::{Correction, shown_with, turned};
use super::movers::Movers;
use super::onward::{Onward, move_on};
use super::paths::Weights;

/// Whoever draws has one: a simulation, or the view of one on another thread.
///
/// It takes the movers as they are, whatever state they are of: its own lists are brought into their order.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Screen {
    bodies: SecondaryMap<BodyKey, Shown>,
    /// New bodies, which the next frame shows first, and where they are until then.
    unseen: BTreeMap<BodyKey, Pose>,
    /// The bodies that move, in the order of the movers that were last shown, with what was shown of them.
    keys: Vec<BodyKey>,
    shown: Vec<Pose>,
    marks: Vec<Marks>,
    /// That of the movers; `None` if they may be others.
    #[cfg_attr(feature = "serde", serde(skip))]
    order: Option<u64>,
    /// How far off their places bodies are shown, after a rollback.
    errors: BTreeMap<BodyKey, Offset>,
    /// What this frame shows otherwise than the frame before, and what was put elsewhere since.
    moved: Vec<(BodyKey, Pose)>,
    removed: Vec<BodyKey>,
    /// Bodies whose last change was shown while they were not among the movers, by frame.
    rested: KeyLog,
    removals: KeyLog,
    /// The number of the last frame, how far between two states it was, and in simulated time, in seconds.
    number: u64,
    alpha: f32,
    time: f64,
}

/// What is shown of a body.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Shown {
    /// It is at rest there. `moved_at` as in [`Marks`].
    Resting { pose: Pose, moved_at: u32 },
    /// The index in the lists.
    Moving(usize),
}

/// How far off its place a body is shown, and where that is if it rests.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Offset {
    error: Pose,
    shown: Pose,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Marks {
    /// `shown` is to be reported by the next frame, whatever that shows.
    is_unreported: bool,
    /// It is shown off its place.
    has_error: bool,
    /// Where in `moved` it is, if it is.
    moved_at: u32,
}

impl Marks {
    fn reported_at(moved_at: u32) -> Self {
        Self {
            is_unreported: false,
            has_error: false,
            moved_at,
        }
    }
}

/// What a frame shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// The number of the frame: higher than that of every one before.
    pub frame: u64,
    /// Simulated time that is shown, in seconds.
    pub time: f64,
    /// How far between the two states.
    pub alpha: f32,
    /// How far beyond the second one, in seconds, and how each of the movers goes on there.
    pub beyond: Option<(f32, &'a [Onward])>,
    /// Real time since the last frame, in which errors decay.
    pub elapsed: Duration,
    pub correction: Option<Correction>,
}

/// How many bodies are worked on at once: few enough that what is made of them stays in the nearest cache.
const CHUNK: usize = 64;

/// # Frames
impl Screen {
    /// Makes the poses that this frame shows, and the lists of what changed. Gives the number of bodies that are shown
    /// beyond their last state.
    pub(crate) fn show(
        &mut self,
        movers: &Movers,
        changes: &mut Changes,
        moment: &Moment,
    ) -> usize {
        self.begin(moment);
        for change in changes.errors.drain(..) {
            self.change_error(change, moment.correction);
        }
        self.remove_gone(movers, changes);
        self.align(movers);
        self.decay(moment.correction, moment.elapsed);
        self.let_rest(movers, changes);
        let weights = Weights::new(moment.alpha);
        let mut extrapolated = 0;
        let mut poses = [Pose::IDENTITY; CHUNK];
        for start in (0..self.keys.len()).step_by(CHUNK) {
            let poses = &mut poses[..CHUNK.min(self.keys.len() - start)];
            extrapolated += movers.blend(start, &weights, poses);
            if let Some((seconds, onward)) = moment.beyond {
                move_on(poses, &onward[start..], seconds);
            }
            self.add_errors(start, poses);
            self.compare(start, poses);
        }
        extrapolated
    }

    /// The next frame will show these: of those that are new, where they are until then.
    pub(crate) fn expect(&mut self, movers: &Movers) {
        for (place, key) in movers.keys().iter().enumerate() {
            if !self.bodies.contains_key(*key) {
                self.insert(*key, movers.current(place));
            }
        }
    }

    /// Makes of copies the way from where bodies were shown last to the first of their two states.
    pub(crate) fn lead_to(&self, movers: &mut Movers) {
        for place in 0..movers.len() {
            let key = movers.keys()[place];
            let shown = self.pose(key).filter(|_| self.bodies.contains_key(key));
            let error = self.error(key).copied().unwrap_or_default();
            let back = Pose::from_parts(-error.translation, error.rotation.inverse());
            movers.lead(place, shown.map(|shown| shown_with(&back, &shown)));
        }
    }

    /// A body was inserted there.
    pub fn insert(&mut self, key: BodyKey, pose: Pose) {
        self.unseen.insert(key, pose);
    }

    /// A frame that shows what the last one has shown.
    pub fn show_same(&mut self, frame: u64, time: f64) {
        self.number = frame;
        self.time = time;
        self.moved.clear();
        self.removed.clear();
    }

    fn begin(&mut self, moment: &Moment) {
        self.show_same(moment.frame, moment.time);
        self.unseen.clear();
        self.alpha = moment.alpha;
    }

    fn remove_gone(&mut self, movers: &Movers, changes: &mut Changes) {
        if std::mem::take(&mut changes.is_whole) {
            self.order = None;
            let resting = changes.rest.iter().map(|(key, _)| *key);
            let living = movers.keys().iter().copied().chain(resting);
            let living: SecondaryMap<BodyKey, ()> = living.map(|key| (key, ())).collect();
            let gone = self.bodies.keys().filter(|key| !living.contains_key(*key));
            changes.removed.extend(gone);
            changes.removed.sort_unstable();
            changes.removed.dedup();
            changes.removed.retain(|key| !living.contains_key(*key));
        }
        for key in changes.removed.drain(..) {
            self.remove(key);
        }
    }

    /// Shows the bodies that came to rest where they did, but for those that move again.
    fn let_rest(&mut self, movers: &Movers, changes: &mut Changes) {
        let len = movers.len();
        for (key, pose) in changes.rest.drain(..) {
            if !matches!(self.bodies.get(key), Some(Shown::Moving(place)) if *place < len) {
                self.rest(key, pose);
            }
        }
        // Of a body that was put elsewhere and is not among these yet.
        while self.keys.len() > len {
            let place = self.keys.len() - 1;
            self.rest(self.keys[place], self.shown[place]);
        }
    }

    /// Brings the lists into the order of the movers.
    fn align(&mut self, movers: &Movers) {
        if self.order.replace(movers.order()) == Some(movers.order()) {
            return;
        }
        for (place, key) in movers.keys().iter().enumerate() {
            if self.keys.get(place) != Some(key) {
                let listed = self.list(*key);
                self.swap(place, listed);
            }
        }
    }

    /// Shows `poses` of the bodies from `start` on.
    fn compare(&mut self, start: usize, poses: &[Pose]) {
        let places = start..start + poses.len();
        let keys = &self.keys[places.clone()];
        let marks = &mut self.marks[places.clone()];
        let shown = &mut self.shown[places];
        for (((key, marks), shown), pose) in keys.iter().zip(marks).zip(shown).zip(poses) {
            // In parts: a pose copied whole would go into the list by way of the stack.
            let pose = Pose::from_parts(pose.translation, pose.rotation);
            if pose != *shown || marks.is_unreported {
                *shown = pose;
                marks.moved_at = index(self.moved.len());
                marks.is_unreported = false;
                self.moved.push((*key, pose));
            }
        }
    }
}

/// # Bodies
impl Screen {
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        match self.bodies.get(key) {
            Some(Shown::Resting { pose, .. }) => {
                Some(self.errors.get(&key).map_or(*pose, |it| it.shown))
            }
            Some(Shown::Moving(place)) => Some(self.shown[*place]),
            None => self.unseen.get(&key).copied(),
        }
    }

    pub fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Simulated time that the last frame has shown, in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The number of the last frame.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moved
    }

    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }

    /// The bodies that may be shown elsewhere than in an earlier frame; `None` if that is too long ago.
    pub fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        listed_or(self.listed_since(frame, &self.moved), move || {
            let rested = self.rested.since(frame).filter(|_| frame <= self.number)?;
            let keys = rested.chain(self.keys.iter().copied());
            Some(keys.filter_map(|key| Some((key, self.pose(key)?))))
        })
    }

    /// The bodies that were removed after an earlier frame; `None` if that is too long ago.
    pub fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        listed_or(self.listed_since(frame, &self.removed), move || {
            let removed = self
                .removals
                .since(frame)
                .filter(|_| frame <= self.number)?;
            // After a rollback some may live again.
            Some(removed.filter(|key| !self.bodies.contains_key(*key)))
        })
    }

    /// The list of the last frame, if all that changed since an earlier one is there: since that frame, or the one
    /// before it.
    fn listed_since<'a, T>(&self, frame: u64, list: &'a [T]) -> Option<&'a [T]> {
        let frames = self.number.checked_sub(frame);
        frames.filter(|frames| *frames <= 1).map(|_| list)
    }

    /// Shows a body elsewhere at once: in what this frame has reported, and in what the next one reports to
    /// hosts that have read that already.
    pub fn show_at(&mut self, key: BodyKey, pose: Pose) {
        if let Some(unseen) = self.unseen.get_mut(&key) {
            *unseen = pose;
            let moved_at = self.moved.iter().rposition(|(moved, _)| *moved == key);
            self.report(key, pose, moved_at.map_or(0, index));
        } else if self.pose(key) != Some(pose) {
            let place = self.list(key);
            self.shown[place] = pose;
            self.marks[place].is_unreported = true;
            self.marks[place].moved_at = self.report(key, pose, self.marks[place].moved_at);
        }
    }

    fn remove(&mut self, key: BodyKey) {
        if let Some(Shown::Moving(place)) = self.bodies.remove(key) {
            self.unlist(place);
        }
        self.errors.remove(&key);
        self.removed.push(key);
        self.removals.grow(self.bodies.len() + 1);
        self.removals.push(self.number, key);
    }

    /// The body stays where it is.
    fn rest(&mut self, key: BodyKey, pose: Pose) {
        let before = self.pose(key);
        let now = self.with_error(key, pose);
        if let Some(offset) = self.errors.get_mut(&key) {
            offset.shown = now;
        }
        let marks = match self.bodies.get(key) {
            Some(Shown::Moving(place)) => {
                let marks = self.marks[*place];
                self.rested.push(self.number, key);
                self.unlist(*place);
                marks
            }
            Some(Shown::Resting { moved_at, .. }) => Marks::reported_at(*moved_at),
            None => Marks::reported_at(0),
        };
        let moved_at = marks.moved_at;
        self.bodies.insert(key, Shown::Resting { pose, moved_at });
        self.rested.grow(self.bodies.len());
        if before != Some(now) || marks.is_unreported {
            self.report_resting(key, now);
        }
    }

    /// Of a body that moves, the lists say it anyway.
    fn report_resting(&mut self, key: BodyKey, shown: Pose) {
        if let Some(&Shown::Resting { pose, moved_at }) = self.bodies.get(key) {
            self.rested.push(self.number, key);
            let moved_at = self.report(key, shown, moved_at);
            self.bodies[key] = Shown::Resting { pose, moved_at };
        }
    }

    /// Gives where in `moved` it is.
    fn report(&mut self, key: BodyKey, shown: Pose, moved_at: u32) -> u32 {
        match self.moved.get_mut(moved_at as usize) {
            Some(reported) if reported.0 == key => {
                reported.1 = shown;
                moved_at
            }
            _ => {
                self.moved.push((key, shown));
                index(self.moved.len() - 1)
            }
        }
    }
}

/// # Errors
impl Screen {
    pub fn error(&self, key: BodyKey) -> Option<&Pose> {
        let error = &self.errors.get(&key)?.error;
        (*error != Pose::IDENTITY).then_some(error)
    }

    /// How many bodies are shown off their places.
    pub fn errors_len(&self) -> usize {
        self.errors.len()
    }

    pub(crate) fn change_error(&mut self, change: ErrorChange, correction: Option<Correction>) {
        match change {
            ErrorChange::Add(key, by) => {
                let error = self.error(key).map_or(by, |error| shown_with(error, &by));
                self.set_error(key, correction.filter(|it| it.keeps(&error)).map(|_| error));
            }
            ErrorChange::Turn(key, by) => {
                if let Some(error) = self.error(key) {
                    self.set_error(key, Some(turned(error, by)));
                }
            }
            ErrorChange::Clear(key) if self.errors.contains_key(&key) => self.set_error(key, None),
            ErrorChange::Clear(_) => (),
            ErrorChange::ClearAll => {
                let keys: Vec<_> = self.errors.keys().copied().collect();
                for key in keys {
                    self.set_error(key, None);
                }
            }
        }
    }

    /// A body at rest is shown where it was until the next frame.
    fn set_error(&mut self, key: BodyKey, error: Option<Pose>) {
        let Some(shown) = self.pose(key) else {
            return;
        };
        let error = error.unwrap_or(Pose::IDENTITY);
        if let Some(Shown::Moving(place)) = self.bodies.get(key) {
            self.marks[*place].has_error = error != Pose::IDENTITY;
        }
        self.errors.insert(key, Offset { error, shown });
    }

    fn with_error(&self, key: BodyKey, pose: Pose) -> Pose {
        self.error(key)
            .map_or(pose, |error| shown_with(error, &pose))
    }

    fn add_errors(&self, start: usize, poses: &mut [Pose]) {
        if self.errors.is_empty() {
            return;
        }
        for (place, pose) in (start..).zip(poses) {
            if self.marks[place].has_error {
                *pose = self.with_error(self.keys[place], *pose);
            }
        }
    }

    fn decay(&mut self, correction: Option<Correction>, elapsed: Duration) {
        for (key, Offset { error, shown }) in std::mem::take(&mut self.errors) {
            let left = correction.and_then(|it| it.decayed(&error, elapsed));
            let now = match self.bodies.get(key) {
                Some(Shown::Moving(place)) => {
                    self.marks[*place].has_error = left.is_some();
                    None
                }
                Some(Shown::Resting { pose, .. }) => {
                    Some(left.map_or(*pose, |error| shown_with(&error, pose)))
                }
                None => continue,
            };
            if let Some(error) = left {
                let shown = now.unwrap_or(shown);
                self.errors.insert(key, Offset { error, shown });
            }
            if let Some(now) = now.filter(|now| *now != shown) {
                self.report_resting(key, now);
            }
        }
    }
}

/// # Places in the lists
impl Screen {
    /// Puts a body onto the list of those that move, if it is not there.
    fn list(&mut self, key: BodyKey) -> usize {
        let (shown, moved_at) = match self.bodies.get(key) {
            Some(Shown::Moving(place)) => return *place,
            Some(Shown::Resting { pose, moved_at }) => {
                (Some(self.with_error(key, *pose)), *moved_at)
            }
            None => (None, 0),
        };
        let place = self.keys.len();
        self.keys.push(key);
        self.shown.push(shown.unwrap_or_default());
        self.marks.push(Marks {
            is_unreported: shown.is_none(),
            has_error: self.errors.contains_key(&key),
            ..Marks::reported_at(moved_at)
        });
        self.bodies.insert(key, Shown::Moving(place));
        self.rested.grow(self.bodies.len());
        place
    }

    fn unlist(&mut self, place: usize) {
        self.keys.swap_remove(place);
        self.shown.swap_remove(place);
        self.marks.swap_remove(place);
        self.repair(place);
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.keys.swap(one, other);
            self.shown.swap(one, other);
            self.marks.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    /// Another body has come to `place`: writes that to its key.
    fn repair(&mut self, place: usize) {
        if let Some(key) = self.keys.get(place) {
            self.bodies[*key] = Shown::Moving(place);
        }
    }

    /// Whether the lists are those of the bodies, with finite poses.
    #[cfg(feature = "serde")]
    pub fn is_consistent(&self) -> bool {
        let len = self.keys.len();
        let is_listed = |(place, key): (usize, &BodyKey)| matches!(self.bodies.get(*key), Some(Shown::Moving(at)) if *at == place);
        let resting = self.bodies.values().filter_map(|shown| match shown {
            Shown::Resting { pose, .. } => Some(pose),
            Shown::Moving(_) => None,
        });
        let errors = self.errors.values().flat_map(|it| [&it.error, &it.shown]);
        (self.shown.len(), self.marks.len()) == (len, len)
            && self.keys.iter().enumerate().all(is_listed)
            && self.unseen.values().all(Pose::is_finite)
            && self.bodies.len() - resting.clone().count() == len
            && resting
                .chain(&self.shown)
                .chain(errors)
                .all(Pose::is_finite)
    }
}

/// What the last frame lists, or else what is known of the frames before it.
fn listed_or<T: Copy, I: Iterator<Item = T>>(
    listed: Option<&[T]>,
    missed: impl FnOnce() -> Option<I>,
) -> Option<impl Iterator<Item = T>> {
    let missed = match listed {
        Some(_) => None,
        None => Some(missed()?),
    };
    let listed = listed.unwrap_or_default().iter().copied();
    Some(listed.chain(missed.into_iter().flatten()))
}

/// Keys are 32 bits wide, so there are never more bodies than that.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
fn index(len: usize) -> u32 {
    len as u32
}
