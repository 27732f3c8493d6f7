//! A lock that no panic poisons.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value, and ignores a poisoned lock: a panic leaves no value half-written that the crate shares between
/// threads.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
