//! Data from the physics to the renderer. Neither side waits: if the mailbox is in use, it tries again later.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{self, Arc};
use std::time::Duration;

use crate::ecs::StateNumber;
use crate::lock::own;
use crate::pose::{Changes, Movers, Origin, SmoothingSettings};
use crate::time::StepCost;

use super::failure::Failure;
use super::settings::RunnerSettings;
use super::sync::{Mutex, TryLockError};

/// The delay before retrying a handover while the other side uses the mailbox.
pub(super) const RETRY_DELAY: Duration = Duration::from_micros(100);

/// The maximum number of unread failures. A hook that fails in every step has reported the cause by then.
const MOST_FAILURES: usize = 1_000;

/// The maximum number of removed bodies that wait while no frame is computed. Bodies that were displayed do not count.
const MOST_REMOVALS: usize = 1_000;

/// The number of unread states and the real time after which a state replaces all changes before it, so that they take
/// no more memory. With the default correction, a visual error has decayed to a thousandth by then.
const MOST_UNREAD: (usize, Duration) = (100, Duration::from_secs(2));

#[derive(Debug)]
pub(super) struct Snapshot {
    pub timeline: u64,
    pub number: StateNumber,
    pub tick: u64,
    pub movers: Arc<Movers>,
    pub smoothing: Arc<SmoothingSettings>,
    pub origin: Origin,
    /// Simulated time at the end of the state's last step.
    pub time: Duration,
    pub dt: f64,
    /// The length of the next step, in seconds. Bodies are extrapolated by up to this time.
    pub next_dt: f32,
}

/// The rounding error of a step's length: both its times are rounded to nanoseconds.
const ROUNDING: Duration = Duration::from_nanos(2);

/// A state to hand over, with the changes since the previous one.
#[derive(Debug)]
pub(super) struct Update {
    pub snapshot: Arc<Snapshot>,
    pub changes: Changes,
}

/// The simulation's time at a moment of real time, and the speed at which it advances.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClockReading {
    pub real: Duration,
    pub time: Duration,
    pub speed: f64,
    /// Whether a rollback is unfinished, in which the picture stays.
    pub is_rolling_back: bool,
    /// Whether the clock displays the last state itself, beyond which no body is extrapolated.
    pub displays_state: bool,
}

impl ClockReading {
    /// Returns the simulation's time at the real time `now`, in seconds.
    pub fn time_at(&self, now: Duration) -> f64 {
        self.time.as_secs_f64() + now.saturating_sub(self.real).as_secs_f64() * self.speed
    }
}

#[derive(Debug)]
pub(super) struct Mail<E> {
    /// The last few states, oldest first. The changes before a dropped state are handed over with the next one.
    pub states: VecDeque<Update>,
    pub reading: ClockReading,
    /// How far the reader's picture is behind the present, in seconds.
    pub delay: f64,
    pub step_cost: StepCost,
    /// The number of events that no frame displayed in time, oldest steps first.
    pub lost_events: u64,
    pub lost_removals: u64,
    /// The number of states that were sent since the other side took the last ones, and the real time of the first.
    pub unread: (usize, Duration),
    /// In a lock, because the payload of a panic cannot be shared between threads, and a view can.
    pub failures: sync::Mutex<VecDeque<Failure<E>>>,
    pub lost_failures: u64,
    pub dropped: Duration,
    /// Whether physics has stopped after a panic.
    pub is_stopped: bool,
    /// The number of requests to recover from a panic that were handled.
    pub recoveries: usize,
}

impl<E> Default for Mail<E> {
    fn default() -> Self {
        Self {
            states: VecDeque::new(),
            reading: ClockReading::default(),
            delay: 0.0,
            step_cost: StepCost::default(),
            lost_events: 0,
            lost_removals: 0,
            unread: (0, Duration::ZERO),
            failures: sync::Mutex::default(),
            lost_failures: 0,
            dropped: Duration::ZERO,
            is_stopped: false,
            recoveries: 0,
        }
    }
}

impl<E> Mail<E> {
    /// Appends later mail: lists and what was lost or dropped are added, and all other values but the delay are
    /// replaced.
    pub fn append(&mut self, later: &mut Self, settings: &RunnerSettings) {
        // This also removes the states that a return to an earlier tick has undone, so the times increase.
        for state in later.states.drain(..) {
            self.add(state);
        }
        self.limit_states(settings);
        self.lost_events += std::mem::take(&mut later.lost_events);
        self.limit_events(settings.events);
        self.lost_removals += std::mem::take(&mut later.lost_removals);
        // Without this limit, a game that computes no frames would collect removals for ever.
        for state in &mut self.states {
            self.lost_removals += state.changes.drop_removals(MOST_REMOVALS) as u64;
        }
        self.reading = later.reading;
        self.step_cost = later.step_cost;
        (self.is_stopped, self.recoveries) = (later.is_stopped, later.recoveries);
        self.dropped = (self.dropped).saturating_add(std::mem::take(&mut later.dropped));
        self.append_failures(later);
    }

    /// Appends the failures of later mail. Drops the oldest ones beyond the limit, even if their destructors panic, and
    /// counts them.
    pub fn append_failures(&mut self, later: &mut Self) {
        let failures = own(&mut self.failures);
        failures.append(own(&mut later.failures));
        let excess = failures.len().saturating_sub(MOST_FAILURES);
        discard(failures.drain(..excess));
        self.lost_failures += std::mem::take(&mut later.lost_failures) + excess as u64;
    }

    /// Returns whether the other side has taken no states for so long that the next one has to replace all changes
    /// before it, and then counts from now. The mailbox keeps only the last few states, with the changes of all.
    pub fn begin_again_if_unread(&mut self, now: Duration) -> bool {
        let (states, since) = self.unread;
        let is_unread = states >= MOST_UNREAD.0 && now.saturating_sub(since) >= MOST_UNREAD.1;
        if is_unread {
            self.unread = (0, now);
        }
        is_unread
    }

    /// Adds a state after the waiting states that are earlier than its step. It replaces all others, and takes over
    /// their changes.
    pub fn add(&mut self, mut state: Update) {
        let Snapshot {
            timeline,
            tick,
            time,
            dt,
            ..
        } = *state.snapshot;
        // Seconds as a float would be too coarse after some months.
        let length = Duration::try_from_secs_f64(dt).unwrap_or(Duration::MAX);
        let step_start = time.saturating_sub(length);
        let rewound_to = state.changes.events.rewound_to_tick();
        let stays = |waiting: &Update| {
            let waiting = &*waiting.snapshot;
            // A step of less than a nanosecond may end at the time at which it began.
            let is_earlier = waiting.time < time || (length < ROUNDING && waiting.tick < tick);
            let is_undone = rewound_to.is_some_and(|tick| waiting.tick > tick);
            waiting.timeline == timeline
                && !is_undone
                && is_earlier
                // A state that stays is not in the middle of this state's step.
                && waiting.time < step_start.saturating_add(ROUNDING)
        };
        // The replaced states belong to a pause, to another simulation, or to steps before a return to an earlier tick.
        // The last one may be in the middle of this state's step.
        let first_replaced = self
            .states
            .iter()
            .rposition(stays)
            .map_or(0, |last| last + 1);
        let mut changes = Changes::default();
        for replaced in self.states.drain(first_replaced..) {
            changes.append(replaced.changes);
        }
        changes.append(state.changes);
        self.give_way_to(&mut changes, &state.snapshot.movers);
        state.changes = changes;
        self.states.push_back(state);
    }

    /// Drops states beyond the number in the settings, oldest first, unless the reader still needs them for its display.
    fn limit_states(&mut self, settings: &RunnerSettings) {
        let time_of = |state: &Update| state.snapshot.time.as_secs_f64();
        let newest = self.states.back().map_or(0.0, time_of);
        while self.states.len() > settings.states() {
            // Once the reader sees a longer step, its delay rises.
            let steps = self.states.iter().map(|state| state.snapshot.dt);
            let delay_of_longest = settings.delay() * steps.fold(0.0, f64::max);
            let displayed = newest - self.delay.max(delay_of_longest);
            // The reader interpolates between two states, so the oldest one is needed until the second one is displayed.
            if time_of(&self.states[1]) > displayed {
                break;
            }
            self.merge_oldest_into_next();
        }
    }

    /// Drops and counts the events of the oldest steps until at most `max_steps` steps with events wait, and as many
    /// that ran again without events.
    fn limit_events(&mut self, max_steps: usize) {
        for are_empty in [false, true] {
            let events = self.states.iter().map(|state| &state.changes.events);
            let mut steps: usize = events.map(|it| it.count(are_empty)).sum();
            for state in &mut self.states {
                while steps > max_steps
                    && let Some(dropped) = state.changes.events.drop_oldest(are_empty)
                {
                    steps -= 1;
                    self.lost_events += dropped as u64;
                }
            }
        }
    }

    /// Drops what later changes make void in the states that wait: events, and removals of bodies that a rollback has
    /// brought back. Moves later events of the same steps from `later` to these states, so that they are displayed with
    /// the right events. `movers` are the moving bodies after the later changes.
    pub fn give_way_to(&mut self, later: &mut Changes, movers: &Movers) {
        let waiting = (self.states.iter_mut()).map(|it| (&mut it.changes, &*it.snapshot.movers));
        later.cancel_revived_removals(movers, waiting);
        for state in &mut self.states {
            state.changes.events.give_way_to(&mut later.events);
        }
    }

    /// Drops the oldest state, and puts its changes before the changes of the next state.
    fn merge_oldest_into_next(&mut self) {
        if let Some(oldest) = self.states.pop_front()
            && let Some(next) = self.states.front_mut()
        {
            let later = std::mem::replace(&mut next.changes, oldest.changes);
            next.changes.append(later);
        }
    }
}

/// Drops the game's values, whose panics must not end the thread.
pub(super) fn discard<T>(values: impl IntoIterator<Item = T>) {
    for value in values {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
            // The payload may panic when it is dropped, too, so it is leaked.
            std::mem::forget(payload);
        }
    }
}

#[derive(Debug)]
pub(super) struct Mailbox<E>(Mutex<Mail<E>>);

impl<E> Default for Mailbox<E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<E> Mailbox<E> {
    /// Puts mail into the mailbox. If the other side is using it, returns the time at which to try again, because
    /// nothing signals that the mailbox is free.
    pub fn put(
        &self,
        mail: &mut Mail<E>,
        settings: &RunnerSettings,
        now: Duration,
    ) -> Option<Duration> {
        let is_put = self.try_with(|contents| {
            // If the mailbox is empty, the other side has taken all states.
            if contents.states.is_empty() {
                mail.unread = (0, now);
            }
            mail.unread.0 += mail.states.len();
            contents.append(mail, settings);
        });
        (!is_put).then(|| now.saturating_add(RETRY_DELAY))
    }

    /// Adds the contents of the mailbox to the reader's mail, and tells the mailbox the reader's delay. If the other
    /// side is using it, the next frame does it.
    pub fn take(&self, mail: &mut Mail<E>, settings: &RunnerSettings) {
        self.try_with(|contents| {
            contents.delay = mail.delay;
            mail.append(contents, settings);
        });
    }

    /// Calls a function with the mail, unless the other side is using it. Returns whether it was called.
    pub fn try_with(&self, act: impl FnOnce(&mut Mail<E>)) -> bool {
        match self.0.try_lock() {
            Ok(mut mail) => act(&mut mail),
            // A panic leaves no mail half-written.
            Err(TryLockError::Poisoned(poisoned)) => act(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }
}
