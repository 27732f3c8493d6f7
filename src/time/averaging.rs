//! Frame times, averaged over the last frames.

use std::collections::VecDeque;

/// How far the filtered time may be behind, in typical frames.
///
/// A timer that is coarser than the display gives one frame the time of the next ones, and a missed frame adds as much
/// again. With a smaller value, motion under such a timer would stutter. With a larger one, the filter would take
/// longer to make up for a hitch.
const MOST_BEHIND: i128 = 2;

/// The last frames, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Averaging {
    frames: usize,
    last: VecDeque<i128>,
    /// The last frames that took any time, the shortest first.
    sorted: Vec<i128>,
}

impl Averaging {
    /// Creates an average over one frame or more.
    pub(super) fn new(frames: usize) -> Self {
        Self {
            frames,
            last: VecDeque::new(),
            sorted: Vec::new(),
        }
    }

    /// Creates a filter as if it had averaged `last` until now.
    pub(super) fn after(frames: usize, last: impl IntoIterator<Item = i128>) -> Self {
        let mut averaging = Self::new(frames);
        for time in last {
            averaging.push(time);
        }
        averaging
    }

    /// Returns the average and a part of the waiting time, limited so that the filtered time is ahead by at most one
    /// typical frame and behind by at most [`MOST_BEHIND`].
    ///
    /// Only as much of a hitch enters the average as the filtered time may be behind. The rest would be returned twice:
    /// in the average of the next frames, and out of the waiting time.
    pub(super) fn average(&mut self, elapsed: i128, waiting: i128) -> i128 {
        self.push(elapsed);
        let typical = typical(&self.sorted);
        let behind = MOST_BEHIND * typical;
        let sum: i128 = self.last.iter().map(|time| behind.min(*time)).sum();
        let count = i128::try_from(self.last.len()).unwrap_or(i128::MAX);
        let average = sum / count;
        let even = average + (waiting - average) / count;
        bounded(even, waiting, typical)
    }

    fn push(&mut self, time: i128) {
        if self.last.len() == self.frames
            && let Some(oldest) = self.last.pop_front()
            && let Ok(place) = self.sorted.binary_search(&oldest)
        {
            self.sorted.remove(place);
        }
        self.last.push_back(time);
        if time > 0 {
            let place = self.sorted.partition_point(|other| *other < time);
            self.sorted.insert(place, time);
        }
    }
}

/// Bounds a filtered time, so that the filter is ahead by at most one typical frame, and behind by at most [`MOST_BEHIND`].
pub(super) fn bounded(filtered: i128, waiting: i128, typical: i128) -> i128 {
    filtered.clamp(waiting - MOST_BEHIND * typical, waiting + typical)
}

/// Returns the median of frames that took any time: for a coarse timer, one of its steps; 0 if there is none.
pub(super) fn typical(sorted: &[i128]) -> i128 {
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(0)
}
