//! What the game's thread shows: the states that have come, interpolated somewhat in the past.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::key::BodyKey;
use crate::pose::Screen;
use crate::rapier::math::Pose;
use crate::step::Events;

use super::mailbox::{Mail, Mailbox, Pace, State};
use super::{Failure, RunnerSettings};

/// What a frame shows of a simulation on another thread: from [`Runner::frame`](super::Runner::frame).
#[derive(Debug)]
pub struct View<E> {
    settings: RunnerSettings,
    mail: Mail<E>,
    screen: Screen,
    /// Simulated time that is shown, in seconds; it never goes back.
    time: f64,
    tick: u64,
    alpha: f32,
    is_starved: bool,
}

impl<E> View<E> {
    pub(super) fn new(settings: RunnerSettings) -> Self {
        Self {
            settings,
            mail: Mail::default(),
            screen: Screen::default(),
            time: 0.0,
            tick: 0,
            alpha: 0.0,
            is_starved: false,
        }
    }

    /// Shows what is to be seen at `now`, of what has come by then.
    pub(super) fn update(&mut self, mailbox: &Mailbox<E>, now: Duration) {
        self.fetch(mailbox);
        let Some(newest) = self.mail.states.back() else {
            return;
        };
        let Pace { real, time, speed } = self.mail.pace;
        let since = now.as_secs_f64() - real.as_secs_f64();
        let present = time.as_secs_f64() + since.max(0.0) * speed;
        self.time = (present - self.settings.delay() * newest.dt).max(self.time);
        let end = newest.time.as_secs_f64();
        self.is_starved = self.time > end;
        self.time = self.time.min(end);
        // The first state that is not before it; the oldest if all are after it.
        let states = &self.mail.states;
        let place = states.partition_point(|state| state.time.as_secs_f64() < self.time);
        let state = Arc::clone(&states[place.min(states.len() - 1)]);
        self.alpha = alpha(&state, self.time);
        self.tick = state.frame.tick;
        let shown_with = if self.is_starved { 1.0 } else { self.alpha };
        self.screen
            .show(&state.poses, state.replaced, state.frame.number, shown_with);
    }

    fn fetch(&mut self, mailbox: &Mailbox<E>) {
        mailbox.take(&mut self.mail, &self.settings);
    }

    /// Where a body is shown; `None` of one that is not there, or not yet.
    #[must_use]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.screen.pose(key)
    }

    /// The bodies that are shown otherwise than in the frame before: as
    /// [`Simulation::moved`](crate::Simulation::moved), in an order without meaning.
    #[must_use]
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        self.screen.moved()
    }

    /// The bodies that were shown in the frame before and are gone.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        self.screen.removed()
    }

    /// The number of steps made at the end of the step that is shown.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// How far into that step, from 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Simulated time that is shown, in seconds.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Whether the state that should be shown has not come yet: the newest one is shown as it is. If that
    /// happens often, the [slack](RunnerSettings::slack) is too small.
    #[must_use]
    pub fn is_starved(&self) -> bool {
        self.is_starved
    }

    pub(super) fn take_key(&mut self, mailbox: &Mailbox<E>) -> Option<BodyKey> {
        if self.mail.keys.is_empty() {
            self.fetch(mailbox);
        }
        self.mail.keys.pop()
    }

    pub(super) fn give_key_back(&mut self, key: BodyKey) {
        self.mail.keys.push(key);
    }

    pub(super) fn take_events(
        &mut self,
        mailbox: &Mailbox<E>,
        shown: Option<u64>,
    ) -> Vec<(u64, Events)> {
        let Some(shown) = shown else {
            self.fetch(mailbox);
            return self.mail.events.drain(..).collect();
        };
        let events: &mut VecDeque<(u64, Events)> = &mut self.mail.events;
        // After a rewind ticks come again: what was before it was shown, too.
        let last = events.iter().rposition(|(tick, _)| *tick < shown);
        events.drain(..last.map_or(0, |last| last + 1)).collect()
    }

    pub(super) fn take_failures(&mut self, mailbox: &Mailbox<E>) -> Vec<Failure<E>> {
        self.fetch(mailbox);
        self.mail.failures.drain(..).collect()
    }

    pub(super) fn lost_events(&self) -> u64 {
        self.mail.lost_events
    }

    pub(super) fn lost_spawns(&self) -> u64 {
        self.mail.lost_spawns
    }

    pub(super) fn dropped(&self) -> Duration {
        self.mail.dropped
    }
}

/// How far into the step that has led to the state, from 0 to 1.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is the point"
)]
fn alpha(state: &State, time: f64) -> f32 {
    let left = (state.time.as_secs_f64() - time) / state.dt;
    (1.0 - left).clamp(0.0, 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_before_a_rewind_hold_no_later_ones_back() {
        let mailbox = Mailbox::<()>::default();
        let ticks = [50, 51, 52, 53, 3, 4, 5];
        mailbox.try_with(|mail| {
            mail.events = ticks.map(|tick| (tick, Events::default())).into();
        });
        let mut view = View::new(RunnerSettings::default());
        view.fetch(&mailbox);
        let come = view.take_events(&mailbox, Some(5));
        assert!(come.iter().map(|(tick, _)| tick).eq(&ticks[..6]));
        assert!(view.take_events(&mailbox, Some(5)).is_empty());
        assert_eq!(view.take_events(&mailbox, Some(6)).len(), 1);
    }
}
