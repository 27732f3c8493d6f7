//! Locks that no panic poisons.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a value, and ignores a poisoned lock: a panic leaves no value half-written that the crate shares between
/// threads.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a value that only its owner uses, and that is in a lock because its type cannot be shared between threads.
pub(crate) fn own<T: ?Sized>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}
