//! A queue of orders to the physics that are not yet carried out, with a limited length.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::failure::SendError;
use super::sync::{AtomicUsize, Ordering, Receiver, Sender, channel};

// The count protects no other memory.
const ORDERING: Ordering = Ordering::Relaxed;

/// The sending end.
pub(super) struct OrderSender<T> {
    sender: Sender<T>,
    /// The number of orders that wait, on their way and at the other end.
    waiting: Arc<AtomicUsize>,
    most: usize,
}

/// The end that carries out orders.
pub(super) struct Orders<T> {
    receiver: Receiver<T>,
    fetched: VecDeque<T>,
    waiting: Arc<AtomicUsize>,
}

/// Creates the two ends of a queue in which at most `most` orders may wait.
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
    /// Fetches the orders that were sent by now. Returns `false` once nobody can send any more.
    pub fn fetch(&mut self) -> bool {
        loop {
            match self.receiver.try_recv() {
                Ok(order) => self.fetched.push_back(order),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    /// Waits until an order comes, for at most `most`. Returns `false` once nobody can send any more.
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

    /// Returns whether no fetched order is left.
    pub fn is_empty(&self) -> bool {
        self.fetched.is_empty()
    }

    /// Returns the oldest fetched order. It no longer counts as waiting, so there is room for another.
    pub fn pop(&mut self) -> Option<T> {
        let order = self.fetched.pop_front()?;
        self.waiting.fetch_sub(1, ORDERING);
        Some(order)
    }
}
