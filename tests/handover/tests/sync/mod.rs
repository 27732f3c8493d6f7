//! The types that the threads share, built from loom's. Loom does not explore schedules at its own `try_lock`,
//! so it never meets the other thread in between.

use std::ops::{Deref, DerefMut};
use std::sync::MutexGuard;
pub use std::sync::TryLockError;

use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering;
pub use loom::thread;

/// A mutex that is locked only with `try_lock`.
#[derive(Debug, Default)]
pub struct Mutex<T> {
    taken: AtomicBool,
    value: std::sync::Mutex<T>,
}

/// A locked mutex, until the guard is dropped.
#[derive(Debug)]
pub struct Guard<'a, T> {
    taken: &'a AtomicBool,
    value: MutexGuard<'a, T>,
}

impl<T> Mutex<T> {
    pub fn try_lock(&self) -> Result<Guard<'_, T>, TryLockError<Guard<'_, T>>> {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        if (self.taken.compare_exchange(false, true, acquire, relaxed)).is_err() {
            return Err(TryLockError::WouldBlock);
        }
        Ok(Guard {
            taken: &self.taken,
            value: self.value.try_lock().expect("no other thread holds it"),
        })
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // The value itself is released right after this, before the next switch of threads.
        self.taken.store(false, Ordering::Release);
    }
}
