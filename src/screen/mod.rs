//! The displayed pose of every body, and the changes in the last frame.

// The displayed poses of a frame.
mod show;
// Visual errors.
mod errors;
// Keys with the frame in which something happened to them.
mod key_log;
// Pairs of poses and jumps, for renderers.
mod render_data;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

pub use render_data::RenderData;
use slotmap::SecondaryMap;

use crate::dim::is_same;
use crate::events::DisplayedEvents;
use crate::key::{BodyKey, Id};
use rapier::math::{Pose, Vector};

use key_log::KeyLog;

use crate::pose::{Origin, SmoothingSettings, VisualError};

/// The displayed bodies of a simulation, or of its view on another thread. A screen accepts the movers of any state,
/// and brings its lists into their order.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    id: ScreenId,
    bodies: SecondaryMap<BodyKey, Displayed>,
    /// Bodies that no frame of a view has displayed yet, with their poses until its first one.
    first_poses: BTreeMap<BodyKey, Pose>,
    /// The moving bodies, in the order of the movers that were last displayed, with their displayed poses.
    moving: Vec<(BodyKey, Pose)>,
    marks: Vec<Marks>,
    /// The order of the movers that `moving` is in, or `None` if the movers may be different.
    order: Option<u64>,
    errors: BTreeMap<BodyKey, ShownError>,
    moved: MovedList,
    removed: Vec<BodyKey>,
    /// Bodies whose last change was displayed while they were not among the movers, by frame.
    changed_at_rest: KeyLog,
    removals: KeyLog,
    pub(crate) events: DisplayedEvents,
    /// The version of the displayed movers, which a loaded screen does not know, and their alpha, or `None` before the
    /// first picture of a simulation. The first picture compares all bodies.
    displayed: Option<(Option<u64>, f32)>,
    /// The bodies in `moved` that jumped.
    jumped: Vec<BodyKey>,
    /// The origin of the last picture or, before the first one, of the state with which the simulation began.
    origin: Option<Origin>,
    origin_shift: Vector,
    /// The number of the last frame before the game was loaded, if it was. The changes since that frame are unknown.
    loaded_after: Option<u64>,
    number: u64,
    time: f64,
}

/// Identifies a screen as long as it is alive. A copy gets another one, because its frames have the same numbers.
#[derive(Debug, Default)]
struct ScreenId(Arc<Id>);

impl Clone for ScreenId {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Clone, Copy, Debug)]
enum Displayed {
    /// A body at rest. `moved_index` is that of [`Marks`].
    Resting { pose: Pose, moved_index: u32 },
    /// The index in the lists.
    Moving(usize),
}

#[derive(Clone, Debug)]
enum MovedList {
    /// Exactly the moving bodies, as in most frames. The list is empty, to be used again.
    AllMoving(Vec<(BodyKey, Pose)>),
    Listed(Vec<(BodyKey, Pose)>),
}

impl Default for MovedList {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl MovedList {
    /// Returns the list, which is empty if all of `moving` have moved.
    fn list(&mut self) -> &mut Vec<(BodyKey, Pose)> {
        let (Self::AllMoving(list) | Self::Listed(list)) = self;
        list
    }
}

#[derive(Clone, Copy, Debug)]
struct ShownError {
    error: VisualError,
    shown: Pose,
}

#[derive(Clone, Copy, Debug)]
struct Marks {
    /// Whether no frame has displayed the body yet. It is then reported whatever its pose is.
    is_new: bool,
    has_error: bool,
    /// The index in `moved` of the last frame that listed the body. That frame may be old, so the key there is
    /// compared.
    moved_index: u32,
}

impl Marks {
    /// Returns the marks of a body that was displayed without a visual error. `moved_index` is where `moved` has listed
    /// it the last time.
    fn reported_at(moved_index: u32) -> Self {
        Self {
            is_new: false,
            has_error: false,
            moved_index,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PictureContext<'a> {
    pub frame: u64,
    /// The tick of the state.
    pub tick: u64,
    /// The displayed simulated time, in seconds.
    pub time: f64,
    pub alpha: f32,
    /// How far ahead of the last state extrapolated bodies are displayed, in seconds, or `None` for `alpha` of the last
    /// step.
    pub seconds_ahead: Option<f32>,
    /// Real time since the last frame, in which errors decay.
    pub elapsed: Duration,
    pub smoothing: &'a SmoothingSettings,
    pub origin: Origin,
}

/// The number of removed bodies that are remembered even if fewer were displayed.
const MOST_UNSEEN: usize = 1_000;

/// # Construction
impl Screen {
    /// Returns a screen for a loaded simulation. No body is displayed yet. The last frame before it was saved had this
    /// number and displayed this time, in seconds. `origin` is that of its picture, or `None` if there was none.
    #[cfg(feature = "serde")]
    pub(crate) fn loaded(number: u64, time: f64, alpha: f32, origin: Option<Origin>) -> Self {
        Self {
            // Without the version of the movers, the first picture compares all bodies.
            displayed: origin.map(|_| (None, alpha)),
            loaded_after: Some(number),
            number,
            time,
            origin,
            ..Self::default()
        }
    }

    /// Returns the origin of the last picture, or `None` before the first one.
    pub(crate) fn origin(&self) -> Option<Origin> {
        self.origin.filter(|_| self.has_displayed())
    }

    /// Lets the first picture report how far the origin was shifted from this one. Later pictures compare with the one
    /// before.
    pub(crate) fn begin_at(&mut self, origin: Origin) {
        if !self.has_displayed() {
            self.origin = Some(origin);
        }
    }

    fn has_displayed(&self) -> bool {
        self.displayed.is_some() || self.number > self.loaded_after.unwrap_or(0)
    }
}

/// # Bodies
impl Screen {
    /// Returns where the last frame displayed a body, with its visual error. Before the first frame of a view, returns
    /// the pose with which that frame will begin.
    #[inline]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        match self.bodies.get(key) {
            // `pose` lacks the visual error. The last displayed pose includes it, and so do the poses in `moving`.
            Some(Displayed::Resting { pose, .. }) => {
                Some(self.errors.get(&key).map_or(*pose, |it| it.shown))
            }
            Some(Displayed::Moving(index)) => Some(self.moving[*index].1),
            None => self.first_poses.get(&key).copied(),
        }
    }

    /// Returns whether the last picture has the body. Before the first frame of a view, a body may have a
    /// [`pose`](Self::pose) without that.
    pub fn has_displayed_body(&self, key: BodyKey) -> bool {
        self.bodies.contains_key(key)
    }

    pub fn alpha(&self) -> Option<f32> {
        self.displayed.map(|(_, alpha)| alpha)
    }

    pub fn time(&self) -> f64 {
        self.time
    }

    pub fn origin_shift(&self) -> Vector {
        self.origin_shift
    }

    /// Returns the number of the last frame. It counts the frames of this screen alone, which may move to a thread.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn id(&self) -> Weak<Id> {
        Arc::downgrade(&self.id.0)
    }

    /// Returns a number that no other screen has.
    pub fn own_number(&self) -> u64 {
        self.id.0.number()
    }

    /// Returns whether the last picture was saved, so that the first one of this screen continues it.
    fn is_loaded(&self) -> bool {
        matches!(self.displayed, Some((None, _)))
    }

    /// Returns whether this screen itself has displayed a picture, not only the game that was loaded.
    pub fn has_picture(&self) -> bool {
        self.displayed.is_some_and(|(version, _)| version.is_some())
    }

    /// Prepares a view's screen for the simulation again, whose next picture compares all bodies.
    pub fn return_from_view(&mut self) {
        self.displayed = None;
        self.first_poses.clear();
    }

    /// Returns the bodies that moved or appeared in the last frame, with their displayed poses.
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        match &self.moved {
            MovedList::AllMoving(_) => &self.moving,
            MovedList::Listed(moved) => moved,
        }
    }

    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }

    /// Returns the bodies whose pose may have changed since an earlier frame, perhaps some of them twice, or `None` if
    /// that frame is too long ago.
    pub fn moved_since(&self, frame: u64) -> Option<Cow<'_, [(BodyKey, Pose)]>> {
        if Some(frame) <= self.loaded_after {
            return None;
        }
        match self.number.checked_sub(frame)? {
            0 => return Some(Cow::Borrowed(&[])),
            1 => return Some(Cow::Borrowed(self.moved())),
            _ => (),
        }
        // The log has only the changes of bodies at rest. Each moving body may have changed in a skipped frame.
        let moving = self.moving.iter().map(|(key, _)| *key);
        let keys = self.changed_at_rest.since(frame)?.chain(moving);
        let moved = keys.filter_map(|key| Some((key, self.pose(key)?)));
        Some(moved.collect())
    }

    /// Returns the bodies that were removed after an earlier frame, or `None` if that frame is too long ago.
    pub fn removed_since(&self, frame: u64) -> Option<Cow<'_, [BodyKey]>> {
        if Some(frame) <= self.loaded_after {
            return None;
        }
        match self.number.checked_sub(frame)? {
            0 => return Some(Cow::Borrowed(&[])),
            1 => return Some(Cow::Borrowed(&self.removed)),
            _ => (),
        }
        let removed = self.removals.since(frame)?;
        // A rollback may have brought some of them back.
        Some(
            removed
                .filter(|key| !self.bodies.contains_key(*key))
                .collect(),
        )
    }

    /// Lists moved bodies one by one from now on, because `moved` is no longer exactly `moving`. If it was so far, the
    /// list begins with the moving bodies before the index `end`, which have moved.
    fn begin_moved_list(&mut self, end: usize) {
        if let MovedList::AllMoving(empty_list) = &mut self.moved {
            empty_list.extend_from_slice(&self.moving[..end]);
            for (index, marks) in self.marks[..end].iter_mut().enumerate() {
                marks.moved_index = as_index(index);
            }
            self.moved = MovedList::Listed(std::mem::take(empty_list));
        }
    }

    fn clear_moved(&mut self) {
        let list = self.moved.list();
        list.clear();
        self.moved = MovedList::Listed(std::mem::take(list));
    }

    /// Forgets a removed body, and reports it in `removed` and in the log for skipped frames.
    fn remove(&mut self, key: BodyKey) {
        if let Some(Displayed::Moving(index)) = self.bodies.remove(key) {
            self.remove_moving(index);
        }
        self.errors.remove(&key);
        self.removed.push(key);
        // The log also has bodies that were never displayed, so it needs room for more than `bodies`.
        self.removals.grow(self.bodies.len().max(MOST_UNSEEN));
        self.removals.push(self.number, key);
    }

    /// Displays a body at rest at `pose` with its error, and reports it if its displayed pose changes.
    fn put_to_rest(&mut self, key: BodyKey, pose: Pose) {
        let before = self.pose(key);
        let now = self.with_error(key, pose);
        if let Some(shown_error) = self.errors.get_mut(&key) {
            shown_error.shown = now;
        }
        let marks = match self.bodies.get(key) {
            Some(Displayed::Moving(index)) => {
                let marks = self.marks[*index];
                // `moved_since` does not find the body in `moving` any more, so the log has to list it.
                self.changed_at_rest.push(self.number, key);
                self.remove_moving(*index);
                marks
            }
            Some(Displayed::Resting { moved_index, .. }) => Marks::reported_at(*moved_index),
            None => {
                self.jumped.push(key);
                // `moved` has not listed the body, so any index will do: `report` compares the key there.
                Marks::reported_at(0)
            }
        };
        let moved_index = marks.moved_index;
        self.bodies
            .insert(key, Displayed::Resting { pose, moved_index });
        self.changed_at_rest.grow(self.bodies.len());
        // After a shift of the origin, an equal pose is another position in the world.
        let is_elsewhere = |before| self.origin_shift != Vector::ZERO || !is_same(&before, &now);
        if before.is_none_or(is_elsewhere) || marks.is_new {
            self.report_resting(key, now);
        }
    }

    /// Reports a body at rest in `moved`, with its displayed pose, and in the log for skipped frames. The pose in
    /// `bodies` lacks the visual error, which the displayed one has.
    fn report_resting(&mut self, key: BodyKey, shown: Pose) {
        if let Some(&Displayed::Resting { pose, moved_index }) = self.bodies.get(key) {
            self.changed_at_rest.push(self.number, key);
            let moved_index = self.report(key, shown, moved_index);
            self.bodies[key] = Displayed::Resting { pose, moved_index };
        }
    }

    /// Reports a body at rest in `moved`, with its displayed pose. `moved_index` is where it was listed last, perhaps
    /// in this frame. Returns its index now.
    fn report(&mut self, key: BodyKey, shown: Pose, moved_index: u32) -> u32 {
        // If `moved` is all of `moving` so far, it becomes a list, because the body is not one of these.
        self.begin_moved_list(self.moving.len());
        let moved = self.moved.list();
        match moved.get_mut(moved_index as usize) {
            Some(reported) if reported.0 == key => {
                reported.1 = shown;
                moved_index
            }
            _ => {
                moved.push((key, shown));
                as_index(moved.len() - 1)
            }
        }
    }
}

/// The index in a key has 32 bits, so there are never more bodies than that.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
fn as_index(len: usize) -> u32 {
    len as u32
}
