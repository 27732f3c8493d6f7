//! What was sent to the physics and is not done yet: no more of it than may wait.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::failure::SendError;
use super::sync::{AtomicUsize, Ordering, Receiver, Sender, channel};

// The count guards nothing but itself.
const ORDERING: Ordering = Ordering::Relaxed;

/// The end that sends.
pub(super) struct OrderSender<T> {
    sender: Sender<T>,
    /// How many wait, on their way and at the other end.
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// The end that carries out.
pub(super) struct Orders<T> {
    receiver: Receiver<T>,
    fetched: VecDeque<T>,
    waiting: Arc<AtomicUsize>,
}

/// The two ends of a queue in which so many orders may wait.
pub(super) fn orders<T>(most: usize) -> (OrderSender<T>, Orders<T>) {
    let (sender, receiver) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let sender = OrderSender {
        sender,
        waiting: Arc::clone(&waiting),
        most,
    };
    let orders = Orders {
        receiver,
        fetched: VecDeque::new(),
        waiting,
    };
    (sender, orders)
}

impl<T> fmt::Debug for OrderSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} orders", self.most)
    }
}

impl<T> OrderSender<T> {
    pub fn send(&self, order: T) -> Result<(), SendError<T>> {
        let has_room = |waiting| (waiting < self.most).then_some(waiting + 1);
        if (self.waiting.fetch_update(ORDERING, ORDERING, has_room)).is_err() {
            return Err(SendError::Full(order));
        }
        self.sender.send(order).map_err(|refused| {
            self.waiting.fetch_sub(1, ORDERING);
            SendError::Ended(refused.0)
        })
    }
}

impl<T> Orders<T> {
    /// Fetches what was sent by now. Gives `false` once nobody can send any more.
    pub fn fetch(&mut self) -> bool {
        loop {
            match self.receiver.try_recv() {
                Ok(order) => self.fetched.push_back(order),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Waits until an order comes, but no longer than that. Gives `false` once nobody can send any more.
    pub fn wait(&mut self, most: Option<Duration>) -> bool {
        let order = match most {
            Some(most) => self.receiver.recv_timeout(most),
            None => self.receiver.recv().map_err(RecvTimeoutError::from),
        };
        match order {
            Ok(order) => self.fetched.push_back(order),
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        true
    }

    /// Whether none was fetched that is not popped.
    pub fn is_empty(&self) -> bool {
        self.fetched.is_empty()
    }

    /// The oldest that was fetched. It waits no longer: there is room for another.
    pub fn pop(&mut self) -> Option<T> {
        let order = self.fetched.pop_front()?;
        self.waiting.fetch_sub(1, ORDERING);
        Some(order)
    }
}
