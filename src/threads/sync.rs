//! The types that the two threads share. A model checker replaces them: see `tests/handover`.

pub(super) use std::sync::atomic::{AtomicUsize, Ordering};
pub(super) use std::sync::mpsc::{Receiver, Sender, channel};
pub(super) use std::sync::{Mutex, TryLockError};
