//! What both checkers check: the library's own files, with two threads of ours around them.

// What the library's files name, as small as it can be.
pub mod stubs;

use std::sync::Arc;
use std::time::Duration;

use crate::mailbox::{Mail, Mailbox, Snapshot, Update};
use crate::orders::{OrderSender, Orders, orders};
use crate::sync::thread;
use stubs::{Event, Movers, Origin, PoseLog, RunnerSettings, SendError};

/// A defect that is put in, to show that the checker finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Planted {
    None,
    /// What finds the box taken is thrown away.
    EventsDropped,
    /// What finds the box taken is handed over with the next step; after the last one that is never.
    NoRetry,
    /// An order waits no longer as soon as it has come.
    RoomTooEarly,
}

const STATES: usize = 2;

/// The end of a step: a state with what has changed by it, and two events.
fn step(mail: &mut Mail<()>, tick: u64) {
    let snapshot = Arc::new(Snapshot {
        run: 0,
        frame: tick,
        tick,
        movers: Movers,
        smoothing: Arc::default(),
        origin: Origin,
        time: Duration::from_secs(tick),
        dt: 1.0,
        is_single: false,
    });
    let log = PoseLog(vec![tick]);
    mail.states.push_back(Update {
        snapshot,
        log,
        replaces: None,
    });
    mail.reading.time = Duration::from_secs(tick);
    mail.events.push_back((tick, vec![Event, Event]));
    mail.dropped += Duration::from_secs(1);
}

/// The physics: so many steps, then a pause in which nobody wakes it but it itself.
fn make_steps(mailbox: &Mailbox<()>, settings: &RunnerSettings, steps: u64, planted: Planted) {
    let now = Duration::ZERO;
    let mut outgoing = Mail::default();
    for tick in 1..=steps {
        step(&mut outgoing, tick);
        let again = mailbox.put(&mut outgoing, settings, now);
        if again.is_some() && planted == Planted::EventsDropped {
            outgoing.events.clear();
        }
    }
    if planted == Planted::NoRetry {
        return;
    }
    while mailbox.put(&mut outgoing, settings, now).is_some() {
        thread::yield_now();
    }
}

/// A frame: nothing that it has shown goes back. Gives of which steps it has the changes.
fn frame(mailbox: &Mailbox<()>, settings: &RunnerSettings, mail: &mut Mail<()>) -> Vec<u64> {
    let shown = newest(mail);
    mailbox.take(mail, settings);
    assert!(newest(mail) >= shown, "a state went back");
    let ticks = mail.states.iter().map(|state| state.snapshot.tick);
    assert!(ticks.is_sorted_by(|a, b| a < b), "states out of order");
    assert!(mail.states.len() <= STATES, "too many states");
    let states = mail.states.iter_mut();
    states
        .flat_map(|state| std::mem::take(&mut state.log).0)
        .collect()
}

fn newest(mail: &Mail<()>) -> u64 {
    mail.states.back().map_or(0, |state| state.snapshot.tick)
}

/// Both threads at one mailbox, which keeps the events of so many steps. The game takes them in each frame, or only at the end.
pub fn hand_over(steps: u64, frames: usize, events: usize, takes_events: bool, planted: Planted) {
    let settings = RunnerSettings {
        states: STATES,
        events,
    };
    let mailbox = Arc::new(Mailbox::default());
    let theirs = Arc::clone(&mailbox);
    let physics = thread::spawn(move || make_steps(&theirs, &settings, steps, planted));
    let mut mail = Mail::default();
    let mut events = Vec::new();
    let mut take = |mail: &mut Mail<()>| events.extend(mail.events.drain(..).map(|(tick, _)| tick));
    let mut changes = Vec::new();
    for _ in 0..frames {
        changes.extend(frame(&mailbox, &settings, &mut mail));
        if takes_events {
            take(&mut mail);
        }
    }
    physics.join().expect("it does not panic");
    // The physics sleeps, and everything is there.
    changes.extend(frame(&mailbox, &settings, &mut mail));
    take(&mut mail);
    assert_eq!(newest(&mail), steps, "the last state never came");
    assert_eq!(mail.reading.time, Duration::from_secs(steps));
    assert_eq!(mail.dropped, Duration::from_secs(steps));
    assert!(changes.into_iter().eq(1..=steps), "changes");
    assert!(events.is_sorted_by(|a, b| a < b), "events out of order");
    let expected = 2 * (steps - events.len() as u64);
    assert_eq!(mail.lost_events, expected, "events are gone uncounted");
    if steps <= settings.events as u64 {
        assert_eq!(mail.lost_events, 0, "events are gone");
    }
}

/// The last order.
const STOP: u32 = u32::MAX;

/// The physics: carries out what it has fetched, and sleeps until more comes.
fn carry_out(orders: &mut Orders<u32>, most: usize, planted: Planted) -> Vec<u32> {
    let mut done = Vec::new();
    loop {
        let mut batch = Vec::new();
        orders.fetch();
        if planted == Planted::RoomTooEarly {
            batch.extend(std::iter::from_fn(|| orders.pop()));
            orders.fetch();
        }
        batch.extend(std::iter::from_fn(|| orders.pop()));
        assert!(batch.len() <= most, "more wait than may");
        done.append(&mut batch);
        if done.last() == Some(&STOP) {
            return done;
        }
        orders.wait(None);
    }
}

/// Both threads at one queue, which holds `most` orders. The game tries to send so many, and then that it is over.
pub fn queue(most: usize, count: u32, planted: Planted) {
    let (sender, mut received) = orders(most);
    let physics = thread::spawn(move || {
        let done = carry_out(&mut received, most, planted);
        (done, received)
    });
    let mut sent: Vec<u32> = (0..count)
        .filter(|order| sender.send(*order).is_ok())
        .collect();
    send_at_last(&sender, STOP);
    sent.push(STOP);
    let (done, mut received) = physics.join().expect("it does not panic");
    assert_eq!(done, sent, "each once and in order");
    // There is room for as many as at the start.
    for order in 0..most {
        assert!(sender.send(order as u32).is_ok(), "room was lost");
    }
    assert!(matches!(sender.send(0), Err(SendError::Full(0))));
    received.fetch();
    assert_eq!(std::iter::from_fn(|| received.pop()).count(), most);
    assert!(received.is_empty());
}

fn send_at_last(sender: &OrderSender<u32>, order: u32) {
    while sender.send(order).is_err() {
        thread::yield_now();
    }
}
