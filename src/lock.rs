//! A lock that no panic poisons.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value. What the crate shares between threads is never half-written when a thread panics, so a poisoned lock
/// is ignored.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
