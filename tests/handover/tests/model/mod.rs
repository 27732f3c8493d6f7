//! The model that both checkers run: the library's own files, driven by two test threads.

// The library's own file, which is private.
#[expect(dead_code, reason = "no test here reads a state's poses")]
#[path = "../../../../src/threads/mailbox.rs"]
mod mailbox;
// Minimal stubs for the names that the library's files use.
pub mod stubs;

use std::sync::Arc;
use std::time::Duration;

use crate::sync::{self, thread};
use mailbox::{Mail, Mailbox, Snapshot, Update};
// The names that the mailbox uses in its module.
use stubs::{self as failure, self as settings};
use stubs::{Changes, Movers, Origin, RunnerSettings, StateNumber, StepEvents};

/// A planted defect, which shows that the checker finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Planted {
    None,
    /// Events are thrown away if the mailbox is locked.
    EventsDropped,
    /// Mail that finds the mailbox locked is handed over with the next step, so after the last step it never arrives.
    NoRetry,
}

const STATES: usize = 2;

/// Adds the result of a step: a state with its changes, and two events.
fn step(mail: &mut Mail<()>, tick: u64) {
    let snapshot = Arc::new(Snapshot {
        timeline: 0,
        number: StateNumber,
        tick,
        movers: Arc::new(Movers),
        smoothing: Arc::default(),
        origin: Origin,
        time: Duration::from_secs(tick),
        dt: 1.0,
        next_dt: 1.0,
    });
    let changes = Changes {
        list: vec![tick],
        events: StepEvents(vec![tick]),
    };
    mail.states.push_back(Update { snapshot, changes });
    mail.reading.time = Duration::from_secs(tick);
    mail.dropped += Duration::from_secs(1);
}

/// Runs the physics: this many steps, then a pause in which it has to wake itself.
fn run_steps(mailbox: &Mailbox<()>, settings: &RunnerSettings, steps: u64, planted: Planted) {
    let now = Duration::ZERO;
    let mut outgoing = Mail::default();
    for tick in 1..=steps {
        step(&mut outgoing, tick);
        let again = mailbox.put(&mut outgoing, settings, now);
        if again.is_some() && planted == Planted::EventsDropped {
            let states = outgoing.states.iter_mut();
            states.for_each(|state| state.changes.events = StepEvents::default());
        }
    }
    if planted == Planted::NoRetry {
        return;
    }
    while mailbox.put(&mut outgoing, settings, now).is_some() {
        thread::yield_now();
    }
}

/// Runs a frame, and checks that no state goes back. Returns the steps whose changes the frame has.
fn frame(mailbox: &Mailbox<()>, settings: &RunnerSettings, mail: &mut Mail<()>) -> Vec<u64> {
    let shown = newest(mail);
    mailbox.take(mail, settings);
    assert!(newest(mail) >= shown, "a state went back");
    let ticks = mail.states.iter().map(|state| state.snapshot.tick);
    assert!(ticks.is_sorted_by(|a, b| a < b), "states out of order");
    assert!(mail.states.len() <= STATES, "too many states");
    let states = mail.states.iter_mut();
    states
        .flat_map(|state| std::mem::take(&mut state.changes.list))
        .collect()
}

fn newest(mail: &Mail<()>) -> u64 {
    mail.states.back().map_or(0, |state| state.snapshot.tick)
}

/// Runs both threads at one mailbox, which keeps the events of this many steps. The game takes them in each frame, or
/// only at the end.
pub fn hand_over(steps: u64, frames: usize, events: usize, takes_events: bool, planted: Planted) {
    let settings = RunnerSettings {
        states: STATES,
        events,
    };
    let mailbox = Arc::new(Mailbox::default());
    let theirs = Arc::clone(&mailbox);
    let physics = thread::spawn(move || run_steps(&theirs, &settings, steps, planted));
    let mut mail = Mail::default();
    let mut events = Vec::new();
    let mut take = |mail: &mut Mail<()>| {
        let states = mail.states.iter_mut();
        events.extend(states.flat_map(|state| std::mem::take(&mut state.changes.events).0));
    };
    let mut changes = Vec::new();
    for _ in 0..frames {
        changes.extend(frame(&mailbox, &settings, &mut mail));
        if takes_events {
            take(&mut mail);
        }
    }
    physics.join().expect("it does not panic");
    // The physics sleeps, and everything has arrived.
    changes.extend(frame(&mailbox, &settings, &mut mail));
    take(&mut mail);
    assert_eq!(newest(&mail), steps, "the last state never arrived");
    assert_eq!(mail.reading.time, Duration::from_secs(steps));
    assert_eq!(mail.dropped, Duration::from_secs(steps));
    assert!(changes.into_iter().eq(1..=steps), "changes");
    assert!(events.is_sorted_by(|a, b| a < b), "events out of order");
    let expected = 2 * (steps - events.len() as u64);
    assert_eq!(mail.lost_events, expected, "events were lost uncounted");
    if steps <= settings.events as u64 {
        assert_eq!(mail.lost_events, 0, "events were lost");
    }
}
