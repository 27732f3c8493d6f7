//! The answer to a question to the physics thread.

use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::lock::lock;

/// The answer to a question, from [`Runner::ask`](super::Runner::ask).
#[derive(Debug)]
pub struct Asked<T>(Mutex<Receiver<(u64, T)>>);

impl<T> Asked<T> {
    pub(super) fn new(receiver: Receiver<(u64, T)>) -> Self {
        Self(Mutex::new(receiver))
    }

    /// Takes the answer, with the tick at which it was given. Returns `None` before there is one, after it was taken,
    /// and forever after a panic or once the runner has stopped.
    #[must_use]
    pub fn get(&self) -> Option<(u64, T)> {
        lock(&self.0).try_recv().ok()
    }

    /// Waits for the answer, for at most `most` of real time. Returns `None` if there is no answer by then, and at once
    /// if there will be none.
    #[must_use]
    pub fn wait(&self, most: Duration) -> Option<(u64, T)> {
        lock(&self.0).recv_timeout(most).ok()
    }
}
