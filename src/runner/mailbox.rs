//! What goes from the physics to the renderer. Neither waits for the other: who finds the box taken comes again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::key::BodyKey;
use crate::pose::{Onward, Poses};
use crate::simulation::Frame;
use crate::step::Event;

use super::sync::{Mutex, TryLockError};
use super::{Failure, RunnerSettings};

/// When to come again with what could not be handed over, as the other side was at the box.
pub(super) const SOON: Duration = Duration::from_micros(100);

/// The most failures that wait to be taken. A hook that fails in every step has said why by then.
const MOST_FAILURES: usize = 1_000;

/// What a step has led to.
#[derive(Debug, Default)]
pub(super) struct State {
    pub poses: Poses,
    /// How the bodies that move go on from it; empty if nobody asks.
    pub onward: Vec<Onward>,
    pub frame: Frame,
    /// Counts up when the game puts another simulation in place of the one there was: its frames are numbered anew.
    pub replaced: u64,
    /// Simulated time at its end.
    pub time: Duration,
    /// The length of a step, in seconds.
    pub dt: f64,
    /// How many bodies of [`Mail::spawned`] had come by then.
    pub spawned: u64,
}

/// Which simulated time it is at a moment of real time, and how fast that goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    pub real: Duration,
    pub time: Duration,
    /// 0 while paused.
    pub speed: f64,
}

#[derive(Debug)]
pub(super) struct Mail<E> {
    /// The last few, oldest first. Of those between, what they did to the poses is in the later ones.
    pub states: VecDeque<Arc<State>>,
    pub pace: Pace,
    /// Of each step that had any, oldest first.
    pub events: VecDeque<(u64, Vec<Event>)>,
    /// How many events of the oldest steps were dropped, as nobody took them.
    pub lost_events: u64,
    pub failures: VecDeque<Failure<E>>,
    /// How many of the oldest were dropped, as nobody took them.
    pub lost_failures: u64,
    /// Keys for bodies that are still to come.
    pub keys: Vec<BodyKey>,
    /// Those whose bodies have come, in that order, or never will.
    pub spawned: VecDeque<BodyKey>,
    /// Real time that was dropped.
    pub dropped: Duration,
    /// Commands that came too late for their key: see [`Runner::spawn`](super::Runner::spawn).
    pub lost_spawns: u64,
}

impl<E> Default for Mail<E> {
    fn default() -> Self {
        Self {
            states: VecDeque::new(),
            pace: Pace::default(),
            events: VecDeque::new(),
            lost_events: 0,
            failures: VecDeque::new(),
            lost_failures: 0,
            keys: Vec::new(),
            spawned: VecDeque::new(),
            dropped: Duration::ZERO,
            lost_spawns: 0,
        }
    }
}

impl<E> Mail<E> {
    /// Adds what has come later. As many states are kept as the settings say, and the events of as many steps.
    pub fn append(&mut self, later: &mut Self, settings: &RunnerSettings) {
        for state in later.states.drain(..) {
            let is_other = |last: &Arc<State>| last.replaced != state.replaced;
            if self.states.back().is_some_and(is_other) {
                self.states.clear();
            }
            // What was done in a pause, or the simulation went back.
            let is_before = |last: &Arc<State>| last.frame.tick < state.frame.tick;
            while self.states.back().is_some_and(|last| !is_before(last)) {
                self.states.pop_back();
            }
            self.states.push_back(state);
        }
        let old = self.states.len().saturating_sub(settings.states());
        self.states.drain(..old);
        self.events.append(&mut later.events);
        let old = self.events.len().saturating_sub(settings.events);
        self.lost_events += std::mem::take(&mut later.lost_events);
        self.lost_events += self
            .events
            .drain(..old)
            .map(|(_, lost)| lost.len() as u64)
            .sum::<u64>();
        self.pace = later.pace;
        self.failures.append(&mut later.failures);
        let old = self.failures.len().saturating_sub(MOST_FAILURES);
        self.failures.drain(..old);
        self.lost_failures += std::mem::take(&mut later.lost_failures) + old as u64;
        self.keys.append(&mut later.keys);
        self.spawned.append(&mut later.spawned);
        self.dropped += std::mem::take(&mut later.dropped);
        self.lost_spawns += std::mem::take(&mut later.lost_spawns);
    }
}

/// A box that one puts mail into and another takes it out of.
#[derive(Debug)]
pub(super) struct Mailbox<E>(Mutex<Mail<E>>);

impl<E> Default for Mailbox<E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<E> Mailbox<E> {
    /// Puts mail into the box. Gives when to come again if the other side is at it in this moment: nobody else says so.
    pub fn put(
        &self,
        mail: &mut Mail<E>,
        settings: &RunnerSettings,
        now: Duration,
    ) -> Option<Duration> {
        let is_put = self.try_with(|there| there.append(mail, settings));
        (!is_put).then(|| now + SOON)
    }

    /// Adds what is in the box to the mail. If the other side is at it in this moment, the next frame does.
    pub fn take(&self, mail: &mut Mail<E>, settings: &RunnerSettings) {
        self.try_with(|there| mail.append(there, settings));
    }

    /// Does something with the mail, unless the other side is at it in this moment. Gives whether it was done.
    pub fn try_with(&self, act: impl FnOnce(&mut Mail<E>)) -> bool {
        match self.0.try_lock() {
            Ok(mut mail) => act(&mut mail),
            Err(TryLockError::Poisoned(poisoned)) => act(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }
}
