//! All schedules of a few steps and frames.

mod sync;

mod model;

// The names that the library's file uses in its crate.
use model::stubs::{self as ecs, self as lock, self as pose, self as time};
use model::{Planted, hand_over};

fn check(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

#[test]
fn changes_and_events_arrive_once_and_in_order() {
    check(|| hand_over(2, 2, 2, true, Planted::None));
}

#[test]
fn uncollected_events_are_counted_as_lost() {
    check(|| hand_over(3, 2, 1, false, Planted::None));
}

#[test]
#[should_panic(expected = "events were lost")]
fn the_checker_detects_dropped_events() {
    check(|| hand_over(2, 2, 2, true, Planted::EventsDropped));
}

#[test]
#[should_panic(expected = "the last state never arrived")]
fn the_checker_detects_a_missing_retry() {
    check(|| hand_over(2, 2, 2, true, Planted::NoRetry));
}
