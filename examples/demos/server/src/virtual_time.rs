//! Virtual time for tests. It advances only when a thread waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, MutexGuard};
use std::time::Duration;

use crate::pool::Time;

/// The time in nanoseconds.
#[derive(Default)]
pub struct VirtualTime(AtomicU64);

impl Time for VirtualTime {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }

    /// Advances the time to the end of the wait. Two threads advance it at different rates, so each sees matches that
    /// are late by any amount.
    fn wait<'a, T>(
        &self,
        _: &Condvar,
        guard: MutexGuard<'a, T>,
        until: Duration,
    ) -> MutexGuard<'a, T> {
        self.0.fetch_max(until.as_nanos() as u64, Ordering::SeqCst);
        guard
    }
}
