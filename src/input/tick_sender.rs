//! One sample for each tick, while the input delay changes.

use std::{iter, mem};

/// A player's samples, assigned to ticks so that each tick gets exactly one, even if the input delay changes.
///
/// If the delay grows, the sender repeats its last sample. If it shrinks, the sender drops samples until one is for a
/// tick that has none. Push and send only what [`schedule`](Self::schedule) returns, so that your
/// [`TickQueue`](crate::input::TickQueue) equals that of every receiver.
///
/// ```
/// # use evenstep::input::TickSender;
/// let mut sender = TickSender::new(0, "none");
/// let mut sent = Vec::new();
/// let steps = [(0, 0, "a"), (1, 2, "b"), (2, 2, "c"), (3, 0, "d"), (4, 0, "e"), (5, 0, "f")];
/// for (tick, delay, input) in steps {
///     sent.extend(sender.schedule(tick + delay, input)); // push and send these
/// }
/// // The delay grows in step 1: "a" is repeated. It shrinks in step 3: "d" and "e" are dropped.
/// assert_eq!(sent, [(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "c"), (5, "f")]);
/// ```
///
/// A sample should say which buttons are down, not which were pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TickSender<T> {
    /// The first tick that has no sample, or `None` if the last of all ticks has one.
    next_tick: Option<u64>,
    /// The sample of the tick before.
    last: T,
}

impl<T: Clone> TickSender<T> {
    /// Creates a sender whose first sample is for `tick`. If the first call of [`schedule`](Self::schedule) is for a
    /// later tick, the ticks before get `input`. Create a new sender if your simulation
    /// [skips](crate::time::Clock::set_tick) to another tick.
    pub const fn new(tick: u64, input: T) -> Self {
        Self {
            next_tick: Some(tick),
            last: input,
        }
    }

    /// Takes the sample for `tick`, the tick of the present step plus the input delay, and returns all samples to push
    /// and send, each with its tick. A sample that you do not take from the iterator is lost.
    ///
    /// Call it once in each step, except in resimulated ones.
    pub fn schedule(&mut self, tick: u64, input: T) -> impl Iterator<Item = (u64, T)> + use<T> {
        // If the input delay has shrunk, the tick has a sample already, and this one is dropped.
        let first = self.next_tick.filter(|first| tick >= *first);
        let samples = first.map(|first| {
            self.next_tick = tick.checked_add(1);
            // If the delay has grown, the ticks in between get the last sample again.
            let skipped_ticks = first..tick;
            let last = mem::replace(&mut self.last, input.clone());
            let repeated = skipped_ticks.map(move |tick| (tick, last.clone()));
            repeated.chain(iter::once((tick, input)))
        });
        samples.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        /// Each tick has the newest sample that was not too late for it.
        #[test]
        fn each_tick_gets_exactly_one_sample(
            first in 0..20u64,
            delays in prop::collection::vec(0..20u64, 1..100),
        ) {
            let mut sender = TickSender::new(first, None);
            let (mut sent, mut taken) = (Vec::new(), Vec::<(u64, Option<u64>)>::new());
            for (step, delay) in (0..).zip(delays) {
                let tick = step + delay;
                sent.extend(sender.schedule(tick, Some(step)));
                if tick >= first && taken.last().is_none_or(|(newest, _)| tick > *newest) {
                    taken.push((tick, Some(step)));
                }
                prop_assert_eq!(sent.last(), taken.last());
            }
            let end = taken.last().map_or(first, |(tick, _)| tick + 1);
            let expected = (first..end).map(|tick| {
                let sample = taken.iter().rfind(|(taken, _)| *taken <= tick);
                (tick, sample.and_then(|(_, step)| *step))
            });
            prop_assert_eq!(sent, expected.collect::<Vec<_>>());
        }
    }
}
