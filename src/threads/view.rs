//! The view on the game's thread, which interpolates received states with a delay.

use std::sync::Arc;
use std::time::Duration;

use crate::events::Events;
use crate::key::BodyKey;
use crate::lock::own;
use crate::physics::Physics;
use crate::pose::{Changes, Scope};
use crate::screen::{PictureContext, RenderData, Screen};
use crate::simulation::Simulation;
use crate::time::StepCost;
use rapier::math::{Pose, Vector};

use super::failure::Failure;
use super::mailbox::{ClockReading, Mail, Mailbox, Snapshot, Update};
use super::settings::RunnerSettings;
use crate::ecs::{Picture, StateNumber};

/// Times are in whole nanoseconds, so two times that are closer count as equal.
const NANOSECOND: f64 = 1e-9;

/// The displayed frame of a simulation on another thread, from [`Runner::frame`](super::Runner::frame) or
/// [`Overlap::frame`](super::Overlap::frame).
#[derive(Debug)]
pub struct View<E> {
    settings: RunnerSettings,
    mail: Mail<E>,
    screen: Screen,
    now: Duration,
    /// The simulation of the newest state, and its time, or `None` if the displayed time belongs to another simulation.
    newest: Option<(u64, Duration)>,
    /// The last displayed state, and the position between its poses.
    displayed: Option<(Arc<Snapshot>, f32)>,
    /// The simulation's present time in the last frame, not the displayed time.
    last_present: Option<f64>,
    /// The longest step in this second and in the one before, in seconds of simulated time, so that steps of uneven
    /// length do not change the speed of the picture.
    longest_steps: [f64; 2],
    /// How much of this second has passed.
    passed_of_second: f64,
    /// The time for which extrapolated bodies were last displayed, in seconds.
    extrapolated_to: f64,
    is_starved: bool,
}

impl<E> View<E> {
    pub(super) fn new(settings: RunnerSettings, screen: Screen, now: Duration) -> Self {
        Self {
            settings,
            mail: Mail::default(),
            screen,
            now,
            newest: None,
            displayed: None,
            last_present: None,
            longest_steps: [0.0; 2],
            passed_of_second: 0.0,
            extrapolated_to: 0.0,
            is_starved: false,
        }
    }

    /// Gives the simulation the screen, which has the displayed poses, their moment, and the changes that the view has
    /// not displayed, so that the simulation continues with them.
    pub(super) fn return_screen(&mut self, simulation: &mut Simulation) {
        let mut undisplayed = Changes::default();
        for state in self.mail.states.drain(..) {
            undisplayed.append(state.changes);
        }
        let displayed = self.displayed.as_ref();
        let moment = displayed.map(|(state, alpha)| (state.tick, *alpha, self.time()));
        simulation.put_screen(std::mem::take(&mut self.screen), moment, undisplayed);
    }

    pub(super) fn slack(&self) -> f32 {
        self.settings.slack
    }

    pub(super) fn set_slack(&mut self, slack: f32) {
        self.settings.slack = slack;
    }

    /// Prepares for the first frame, once the first state has arrived.
    pub(super) fn begin(&mut self) {
        let Some(Update { snapshot, .. }) = self.mail.states.back() else {
            return;
        };
        self.last_present = Some(self.mail.reading.time_at(self.now));
        // Gives bodies that were never displayed a pose until the first frame, because their entities need one.
        self.screen.prepare_for(&snapshot.movers);
    }

    /// Receives the mail, and displays the frame at the real time `now`.
    pub(super) fn update(&mut self, mailbox: &Mailbox<E>, now: Duration) {
        self.fetch(mailbox);
        self.show(now);
    }

    /// Receives a state, if there is a new one, and a reading of the clock, from the same thread and so without a
    /// mailbox.
    pub(super) fn receive(&mut self, state: Option<Update>, reading: ClockReading) {
        let states = state.into_iter().collect();
        let mut mail = Mail {
            states,
            reading,
            ..Mail::default()
        };
        self.mail.append(&mut mail, &self.settings);
    }

    /// Drops what the changes of this state, which is later, make void in the states that wait, like
    /// [`Mail::give_way_to`].
    pub(super) fn give_way_to(&mut self, later: &mut Physics) {
        later.complete_changes(false);
        (self.mail).give_way_to(&mut later.running.changes, later.pairs.movers());
    }

    /// Displays the frame at the real time `now`: the simulation's time then, less the delay, but nothing later than
    /// the newest state. The displayed time goes back only if the simulation does.
    pub(super) fn show(&mut self, now: Duration) {
        let Some(Update { snapshot, .. }) = self.mail.states.back() else {
            // No state has arrived, so the poses stay. The screen's lists are those of the frame before this view. If a
            // rollback is unfinished, this may take many frames, in which visual errors stay.
            self.now = now;
            return self.repeat_picture(self.screen.time());
        };
        let (timeline, end) = (snapshot.timeline, snapshot.time);
        let newest_time = end.as_secs_f64();
        let speed = self.mail.reading.speed;
        let real_elapsed = now.saturating_sub(std::mem::replace(&mut self.now, now));
        let present = self.mail.reading.time_at(now);
        // The simulated time since the last frame is negative if the simulation went back.
        let passed = present - self.last_present.replace(present).unwrap_or(present);
        if self.mail.reading.is_rolling_back {
            self.is_starved = false;
            return self.repeat_picture(self.screen.time());
        }
        let continues = self.continues(timeline, end);
        let last_shown = if continues { self.screen.time() } else { 0.0 };
        let due = present - self.delay(passed.max(0.0), continues);
        let last_due = due - passed;
        self.is_starved = speed > 0.0 && due > newest_time;
        let min_advance = if speed == 0.0 {
            // No other step will follow, so the picture runs on to the newest state, and stays there.
            real_elapsed.as_secs_f64()
        } else if last_shown > last_due && last_shown > 0.0 {
            // A picture that is ahead, because it continues one that had no delay, or because the delay has risen, runs
            // at half speed until it no longer is. At time 0 nothing has moved yet, so it waits there.
            passed.max(0.0) / 2.0
        } else {
            0.0
        };
        let time = due.max(last_shown + min_advance).min(newest_time);
        // Visual errors do not decay in a pause.
        let decay_time = if speed > 0.0 {
            real_elapsed
        } else {
            Duration::ZERO
        };
        // Bodies are extrapolated to this time at most.
        let latest = if self.mail.reading.displays_state {
            newest_time
        } else {
            present
        };
        self.show_time(time, decay_time, latest);
    }

    /// Displays the last picture again, at this time in seconds.
    fn repeat_picture(&mut self, time: f64) {
        let frame = self.screen.number().saturating_add(1);
        self.screen.clear_changes(frame, time);
    }

    /// Returns whether the displayed time must not go back. It may if the game has replaced the state, which begins a
    /// timeline, or has gone back in time. `end` is the time of the newest state.
    fn continues(&mut self, timeline: u64, end: Duration) -> bool {
        let continues = match self.newest.replace((timeline, end)) {
            Some((last_timeline, last_end)) => last_timeline == timeline && last_end <= end,
            // The first state continues from the time that the simulation displayed last.
            None => self.screen.time() <= end.as_secs_f64(),
        };
        if !continues {
            // The time up to which bodies are extrapolated may go back, too.
            self.extrapolated_to = 0.0;
        }
        continues
    }

    /// Returns how far the picture is behind the present, in seconds. If steps get shorter for good, the picture runs
    /// at one and a half times its speed until it has caught up. `passed` is the simulated time since the last frame,
    /// and `continues` is whether that frame displayed the same simulation.
    fn delay(&mut self, passed: f64, continues: bool) -> f64 {
        // The longest step of the last one to two seconds decides, so that uneven steps do not change the delay.
        let steps = self.mail.states.iter().map(|state| state.snapshot.dt);
        let longest = steps.fold(0.0, f64::max);
        self.passed_of_second += passed;
        if !continues {
            self.longest_steps = [longest; 2];
        } else if self.passed_of_second >= 1.0 {
            self.longest_steps = [longest, self.longest_steps[0]];
            self.passed_of_second = 0.0;
        } else {
            self.longest_steps[0] = self.longest_steps[0].max(longest);
        }
        let [this_second, last_second] = self.longest_steps;
        let target = self.settings.delay() * this_second.max(last_second);
        // The delay rises at once, and falls by at most half of the passed time.
        let least = if continues {
            self.mail.delay - passed / 2.0
        } else {
            0.0
        };
        self.mail.delay = target.max(least);
        self.mail.delay
    }

    /// Displays the simulated time `time`, in seconds, and extrapolates to `latest` at most. Visual errors decay for
    /// `elapsed`, which is the real time since the last frame, or zero in a pause.
    fn show_time(&mut self, time: f64, elapsed: Duration, latest: f64) {
        let (snapshot, mut changes) = self.take_state_at(time);
        // At first and after a rewind, the view lacks the states before this one, so it displays the beginning of this
        // one's step instead of an earlier time.
        let step_start = snapshot.time.as_secs_f64() - snapshot.dt;
        let time = time.max(step_start);
        let is_first_picture = self.displayed.is_none();
        // Bodies jump to a state that does not continue the last picture.
        let jumps = changes.scope == Scope::Unrelated;
        let passed = time - self.screen.time();
        if is_first_picture && !jumps && passed > 2.0 * elapsed.as_secs_f64() {
            // Bodies would move more than twice as far as in a frame, for example after steps that no frame displayed.
            // So the view's first picture begins where the simulation's last one has them, with a visual error.
            let starts = self
                .screen
                .show_from_displayed(&snapshot.movers, &changes.resting);
            // They come first, so that a teleport in the list still cancels them.
            changes.list.splice(0..0, starts);
        }
        let alpha = alpha(&snapshot, time);
        let frame = self.screen.number().saturating_add(1);
        // Extrapolated bodies are displayed this many seconds after the state. They do not go back to a time before the
        // last picture's, even if the next step is expected to be shorter now. After a rewind, `show` has reset it.
        let until = |time: f64| rounded(time - snapshot.time.as_secs_f64()).max(0.0);
        let last_seconds_ahead = until(self.extrapolated_to);
        let seconds_ahead = (alpha * snapshot.next_dt)
            .min(until(latest))
            .max(last_seconds_ahead);
        let is_same = |(last, last_alpha): &(Arc<Snapshot>, f32)| {
            Arc::ptr_eq(last, &snapshot)
                && last_alpha.to_bits() == alpha.to_bits()
                && last_seconds_ahead.to_bits() == seconds_ahead.to_bits()
        };
        // The poses of an unchanged picture are not computed again, unless visual errors decay.
        if changes.is_empty()
            && (self.screen.errors_len() == 0 || elapsed.is_zero())
            && self.displayed.as_ref().is_some_and(is_same)
        {
            return self.repeat_picture(time);
        }
        self.extrapolated_to = snapshot.time.as_secs_f64() + f64::from(seconds_ahead);
        let context = PictureContext {
            frame,
            tick: snapshot.tick,
            time,
            alpha,
            seconds_ahead: Some(seconds_ahead),
            elapsed,
            smoothing: &snapshot.smoothing,
            origin: snapshot.origin,
        };
        self.screen.show(&snapshot.movers, &mut changes, &context);
        self.displayed = Some((snapshot, alpha));
    }

    /// Returns the state whose step contains this time, or the newest if there is none, with the changes up to it. As
    /// in one thread, the moment at which a step ends belongs to the next step.
    fn take_state_at(&mut self, time: f64) -> (Arc<Snapshot>, Changes) {
        let states = &mut self.mail.states;
        let is_over = |state: &Update| state.snapshot.time.as_secs_f64() < time + NANOSECOND;
        let chosen = states.partition_point(is_over);
        let chosen = chosen.min(states.len() - 1);
        let mut changes = Changes::default();
        for state in states.range_mut(..=chosen) {
            changes.append(std::mem::take(&mut state.changes));
        }
        // An earlier state is never displayed after a later one, even if the simulation goes back in time, because its
        // bodies may have been removed since.
        states.drain(..chosen);
        (Arc::clone(&states[0].snapshot), changes)
    }

    /// Receives the mail. If the physics is using the mailbox, the next frame receives it.
    pub(super) fn fetch(&mut self, mailbox: &Mailbox<E>) {
        mailbox.take(&mut self.mail, &self.settings);
    }

    /// Returns the pose at which to draw a body in this frame, in world space, or `None` if there is no such body or it
    /// has not been displayed yet.
    #[must_use]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.screen.pose(key)
    }

    /// Returns the bodies whose displayed poses changed since the previous frame, like
    /// [`Simulation::moved`](crate::Simulation::moved).
    #[must_use]
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        self.screen.moved()
    }

    /// Returns the bodies that were removed since the previous frame, even those never displayed, unless
    /// [`Runner::lost_removals`](super::Runner::lost_removals) counts them. Bodies that lived only in resimulated
    /// steps, and that no frame displayed, are not listed.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        self.screen.removed()
    }

    /// Returns the events of the steps that this frame is the first to display, like
    /// [`Simulation::events`](crate::Simulation::events). [`Runner::lost_events`](super::Runner::lost_events) counts
    /// events that no frame displayed in time.
    #[must_use]
    pub fn events(&self) -> Events {
        self.screen.events.events()
    }

    /// Returns how far the origin was shifted since the previous frame, in metres, like
    /// [`Frame::origin_shift`](crate::Frame::origin_shift).
    #[must_use]
    pub fn origin_shift(&self) -> Vector {
        self.screen.origin_shift()
    }

    /// Returns the poses of this frame for renderers, like [`Simulation::render_data`](crate::Simulation::render_data),
    /// or `None` before the first state is displayed.
    #[must_use]
    pub fn render_data(&self) -> Option<RenderData<'_>> {
        let (displayed, _) = self.displayed.as_ref()?;
        self.screen.render_data(&displayed.movers)
    }

    /// Returns this picture for entities. States later than `newest` have all bodies that an entity map has by now, so a
    /// body that is missing in one of them was removed. `present` is the physics, if no step runs.
    pub(super) fn picture<'a>(
        &'a self,
        newest: StateNumber,
        present: Option<&'a Physics>,
    ) -> Picture<'a> {
        let displayed = self.displayed.as_ref();
        Picture::View {
            screen: &self.screen,
            displayed: displayed.map(|(state, _)| state.number),
            newest,
            present,
        }
    }

    /// Returns the tick at the end of the displayed step. It is 0 until the first state is displayed, which a view that
    /// begins in a rollback does after it.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.displayed.as_ref().map_or(0, |(state, _)| state.tick)
    }

    /// Returns how far into the displayed step the frame is, from 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f32 {
        self.displayed.as_ref().map_or(0.0, |(_, alpha)| *alpha)
    }

    /// Returns the simulated time that this frame displays, rounded to a nanosecond. It goes back only if the
    /// simulation does, or after an assignment. In a pause it runs on to the newest state.
    ///
    /// The first frame continues from the time that the simulation displayed last. If that is later than the delay
    /// allows, time runs at half speed for a while.
    #[must_use]
    pub fn time(&self) -> Duration {
        // A forged state may have any time.
        Duration::try_from_secs_f64(self.screen.time()).unwrap_or_default()
    }

    /// Returns whether the state to display is late, so that the newest one is displayed instead, because the
    /// [slack](RunnerSettings::slack) is too small.
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.is_starved
    }

    /// Returns whether physics has stopped because of a [panic](super::Failure::Panic). The frames then run on to the
    /// newest state, and stay the same, until [`Runner::recover`](super::Runner::recover).
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.mail.is_stopped
    }

    pub(super) fn recoveries(&self) -> usize {
        self.mail.recoveries
    }

    /// Returns all failures that have arrived, even since the last frame, unless the physics is using the mailbox.
    pub(super) fn take_failures(&mut self, mailbox: &Mailbox<E>) -> Vec<Failure<E>> {
        mailbox.try_with(|contents| self.mail.append_failures(contents));
        own(&mut self.mail.failures).drain(..).collect()
    }

    pub(super) fn lost_events(&self) -> u64 {
        self.mail.lost_events
    }

    pub(super) fn lost_removals(&self) -> u64 {
        self.mail.lost_removals
    }

    pub(super) fn lost_failures(&self) -> u64 {
        self.mail.lost_failures
    }

    pub(super) fn step_cost(&self) -> StepCost {
        self.mail.step_cost
    }

    pub(super) fn dropped(&self) -> Duration {
        self.mail.dropped
    }
}

/// Returns where `time`, in seconds, lies in the step that ends at this state, from 0 to 1.
fn alpha(state: &Snapshot, time: f64) -> f32 {
    let passed = state.dt - (state.time.as_secs_f64() - time);
    // This includes the state before the first step, whose `dt` is 0.
    if passed < NANOSECOND {
        return 0.0;
    }
    rounded((passed / state.dt).min(1.0))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is the point"
)]
fn rounded(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_without_a_state_lists_no_bodies_and_is_not_starved() {
        let settings = RunnerSettings {
            slack: f32::NAN,
            ..RunnerSettings::default()
        };
        let mut view = View::<()>::new(settings, Screen::default(), Duration::ZERO);
        view.update(&Mailbox::default(), Duration::from_millis(u64::MAX / 2));
        assert!(view.moved().is_empty() && view.removed().is_empty() && !view.is_starved());
    }
}
