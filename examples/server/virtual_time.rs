//! Time for tests: it passes only where somebody waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, MutexGuard};
use std::time::Duration;

use crate::pool::Time;

/// In nanoseconds.
#[derive(Default)]
pub struct VirtualTime(AtomicU64);

impl Time for VirtualTime {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::SeqCst))
    }

    /// Whoever waits for a time makes it so. Two threads do not agree on how fast it goes: each finds matches that
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
