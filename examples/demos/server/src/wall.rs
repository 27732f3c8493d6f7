//! The wall clock.
#![allow(clippy::disallowed_methods, reason = "a host's own loop reads a clock")]

use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::pool::Time;

pub struct WallTime(Instant);

impl WallTime {
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Time for WallTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait<'a, T>(
        &self,
        changed: &Condvar,
        guard: MutexGuard<'a, T>,
        until: Duration,
    ) -> MutexGuard<'a, T> {
        // The wait ends at a fixed time, so errors of earlier waits do not add up.
        let wait = changed.wait_timeout(guard, until.saturating_sub(self.now()));
        wait.unwrap_or_else(PoisonError::into_inner).0
    }
}
