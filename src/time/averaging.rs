//! Frame times as the average of the last ones.

use std::collections::VecDeque;

/// The last frames and their sum, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Averaging {
    frames: usize,
    last: VecDeque<i128>,
    sum: i128,
}

impl Averaging {
    /// Over one frame or more.
    pub(super) fn new(frames: usize) -> Self {
        Self {
            frames,
            last: VecDeque::new(),
            sum: 0,
        }
    }

    /// The average, and a part of what waits beside it.
    pub(super) fn average(&mut self, elapsed: i128, waiting: i128) -> i128 {
        if self.last.len() == self.frames {
            self.sum -= self.last.pop_front().unwrap_or(0);
        }
        self.last.push_back(elapsed);
        self.sum += elapsed;
        let count = i128::try_from(self.last.len()).unwrap_or(i128::MAX);
        let average = self.sum / count;
        average + (waiting - average) / count
    }
}
