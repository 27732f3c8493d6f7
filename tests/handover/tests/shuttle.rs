//! Many random schedules, with more steps and frames than loom can explore.

mod sync {
    pub use shuttle::sync::{Mutex, TryLockError};
    pub use shuttle::thread;
}

mod model;

// The names that the library's file uses in its crate.
use model::stubs::{self as ecs, self as lock, self as pose, self as time};
use model::{Planted, hand_over};

/// Runs random schedules, and schedules with few switches, which find defects that need a long wait.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let model = std::sync::Arc::new(model);
    let again = std::sync::Arc::clone(&model);
    shuttle::check_random(move || model(), 1_000);
    shuttle::check_pct(move || again(), 1_000, 3);
}

#[test]
fn changes_and_events_arrive_once_and_in_order() {
    check(|| hand_over(2, 2, 2, true, Planted::None));
}

#[test]
fn uncollected_events_are_counted_as_lost() {
    check(|| hand_over(8, 6, 2, false, Planted::None));
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
