//! `std::sync::mpsc` without disconnection, because an order ends the run here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use std::time::Duration;

use loom::sync::{Condvar, Mutex};

#[derive(Debug)]
struct Channel<T> {
    sent: Mutex<VecDeque<T>>,
    more: Condvar,
}

#[derive(Debug)]
pub struct Sender<T>(Arc<Channel<T>>);

pub struct Receiver<T>(Arc<Channel<T>>);

pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel {
        sent: Mutex::new(VecDeque::new()),
        more: Condvar::new(),
    });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.sent.lock().unwrap().push_back(value);
        self.0.more.notify_one();
        Ok(())
    }
}

impl<T> Receiver<T> {
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut sent = self.0.sent.lock().unwrap();
        sent.pop_front().ok_or(TryRecvError::Empty)
    }

    pub fn recv(&self) -> Result<T, RecvError> {
        let mut sent = self.0.sent.lock().unwrap();
        loop {
            match sent.pop_front() {
                Some(value) => return Ok(value),
                None => sent = self.0.more.wait(sent).unwrap(),
            }
        }
    }

    /// Returns at once, because loom has no time.
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        self.try_recv().map_err(|_| RecvTimeoutError::Timeout)
    }
}
