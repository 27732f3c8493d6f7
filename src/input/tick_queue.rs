//! Input addressed by tick. Each sample is delivered to exactly that step.

use std::collections::VecDeque;

use crate::time::Step;

/// A queue of input samples that name the tick of their step. Dropped or paused time does not change the step that gets
/// a sample.
///
/// ```
/// # use evenstep::Simulation;
/// # use evenstep::input::{TickError, TickQueue};
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// let mut queue = TickQueue::new(simulation.physics.tick(), 119); // samples for two seconds
/// queue.push(1, "jump")?;
/// queue.push(0, "walk")?;
/// let mut played = Vec::new();
/// simulation.advance(Duration::from_millis(40), |_, step| {
///     played.extend(queue.drain(step).map(|input| (step.tick, input)));
/// });
/// assert_eq!(played, [(0, "walk"), (1, "jump")]);
/// assert_eq!(queue.push(1, "fire"), Err(TickError::Late { input: "fire", by: 1 }));
/// # Ok::<(), TickError<&str>>(())
/// ```
///
/// - Within a tick, samples come in the order of pushes, which differs between machines: use a queue for each player.
/// - For a match whose ticks begin again, create a new queue.
/// - The queue does not keep delivered samples. When a simulation goes back, call [`set_tick`](Self::set_tick) and push
///   the samples from that tick on again. If a hook fails or panics, it is called again for that step, and the samples
///   are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TickQueue<T> {
    /// Samples, sorted by tick and then in the order pushed.
    waiting: VecDeque<(u64, T)>,
    /// The first tick for which samples are accepted.
    tick: u64,
    /// A bit for each of the 64 previous ticks that got a sample. The lowest bit is the last tick.
    delivered_bits: u64,
    max_lead: u64,
    counts: TickCounts,
}

/// Why a sample is refused, with the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TickError<T> {
    /// The tick is before the queue's [`tick`](TickQueue::tick).
    #[error(
        "the input is {by} ticks late: roll back to its tick, or let the sender run further ahead"
    )]
    Late {
        /// The pushed input.
        input: T,
        /// The number of ticks: 1 if its step was the last one.
        by: u64,
    },
    /// The tick is further ahead than allowed.
    #[error(
        "the input is {by} ticks too far ahead: push it later, \
         or give `TickQueue::new` a larger `max_lead`"
    )]
    TooFarAhead {
        /// The pushed input.
        input: T,
        /// The number of ticks beyond the limit.
        by: u64,
    },
}

/// Counts samples that did not reach their step or were repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TickCounts {
    /// Samples refused with [`TickError::Late`].
    pub late: u64,
    /// Samples refused with [`TickError::TooFarAhead`].
    pub too_far_ahead: u64,
    /// Samples whose step did not drain the queue before a later step did.
    pub missed: u64,
    /// Samples of [`push_once`](TickQueue::push_once) for a tick that already had one.
    pub repeated: u64,
}

impl<T> TickError<T> {
    /// Returns the pushed input.
    #[must_use]
    pub fn into_input(self) -> T {
        match self {
            Self::Late { input, .. } | Self::TooFarAhead { input, .. } => input,
        }
    }
}

impl<T> TickQueue<T> {
    /// Creates an empty queue for a simulation whose next step is `tick`. It accepts samples for that step and the
    /// `max_lead` ticks after it, any number for each tick, so limit how many a network player may push.
    #[must_use]
    pub fn new(tick: u64, max_lead: u64) -> Self {
        Self {
            waiting: VecDeque::new(),
            tick,
            delivered_bits: 0,
            max_lead,
            counts: TickCounts::default(),
        }
    }

    /// Adds a sample for the step of `tick`.
    ///
    /// # Errors
    /// [`TickError`], with the sample, if that step or a later one has drained the queue, or if `tick` is more than
    /// `max_lead` ticks after the next step.
    pub fn push(&mut self, tick: u64, input: T) -> Result<(), TickError<T>> {
        let Some(lead) = tick.checked_sub(self.tick) else {
            self.counts.late = self.counts.late.saturating_add(1);
            let by = self.tick - tick;
            return Err(TickError::Late { input, by });
        };
        if lead > self.max_lead {
            self.counts.too_far_ahead = self.counts.too_far_ahead.saturating_add(1);
            let by = lead - self.max_lead;
            return Err(TickError::TooFarAhead { input, by });
        }
        // The sample goes after those of the same tick.
        let index = self.waiting.partition_point(|(other, _)| *other <= tick);
        self.waiting.insert(index, (tick, input));
        Ok(())
    }

    /// Adds a sample like [`push`](Self::push), but only if this tick had none yet. Use it if packets repeat the last
    /// ticks, so that a lost packet does no harm.
    ///
    /// Samples that are repeated for more than 64 steps, or missed their step, count as late each time.
    ///
    /// # Errors
    /// The errors of [`push`](Self::push).
    pub fn push_once(&mut self, tick: u64, input: T) -> Result<(), TickError<T>> {
        if self.had_sample(tick) {
            self.counts.repeated = self.counts.repeated.saturating_add(1);
            return Ok(());
        }
        self.push(tick, input)
    }

    /// Returns whether a sample for this tick is queued or was delivered. For a tick more than 64 steps ago this is not
    /// known, and the answer is `false`.
    fn had_sample(&self, tick: u64) -> bool {
        match self.tick.checked_sub(tick) {
            // The step of this tick has not drained the queue yet.
            None | Some(0) => (self.waiting)
                .binary_search_by_key(&tick, |(other, _)| *other)
                .is_ok(),
            // The lowest bit says whether the previous tick got a sample.
            Some(ago) => ago <= 64 && self.delivered_bits >> (ago - 1) & 1 == 1,
        }
    }

    /// Removes the samples for `step`, even those that you do not take, and returns them in the order of pushes. Call
    /// it once before each step. Samples for earlier ticks are discarded, and counted as missed.
    pub fn drain(&mut self, step: Step) -> impl Iterator<Item = T> {
        let missed = self.count_before(step.tick);
        self.waiting.drain(..missed);
        self.counts.missed = self.counts.missed.saturating_add(missed as u64);
        let next = step.tick.saturating_add(1);
        let due = self.count_before(next);
        self.set_tick(next);
        // `set_tick` has moved the bits, so that the lowest one is for this step.
        self.delivered_bits |= u64::from(due > 0);
        self.waiting.drain(..due).map(|(_, input)| input)
    }

    /// Returns the number of queued samples for ticks before this one.
    fn count_before(&self, tick: u64) -> usize {
        self.waiting.partition_point(|(other, _)| *other < tick)
    }

    /// Returns the first tick for which samples are accepted.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Continues at `tick`, after a rollback or together with [`Simulation::set_tick`](crate::Simulation::set_tick).
    /// Queued samples are kept. Of the ticks before `tick`, the queue remembers which got a sample.
    pub fn set_tick(&mut self, tick: u64) {
        // The lowest bit is then for the tick before `tick`. The bits of later ticks are dropped, so that these can get
        // samples again.
        let by = u32::try_from(tick.abs_diff(self.tick)).unwrap_or(u32::MAX);
        let delivered_bits = if tick >= self.tick {
            self.delivered_bits.checked_shl(by)
        } else {
            self.delivered_bits.checked_shr(by)
        };
        self.delivered_bits = delivered_bits.unwrap_or(0);
        self.tick = tick;
    }

    /// Returns the number of queued samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Discards all queued samples, without counting them.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Returns how many samples did not reach their step or were repeated.
    #[must_use]
    pub fn counts(&self) -> TickCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Clock, Rate};
    use proptest::prelude::*;
    use std::time::Duration;

    /// Runs and returns the next step.
    fn step(clock: &mut Clock) -> Step {
        clock.begin_frame(Duration::from_millis(10));
        clock.next_step().unwrap()
    }

    fn clock() -> Clock {
        Clock::new(Rate::hz(100))
    }

    fn drained(queue: &mut TickQueue<u64>, step: Step) -> Vec<u64> {
        queue.drain(step).collect()
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        /// Compares with a plain list: every sample is delivered to its tick in the order pushed, or counted.
        #[test]
        fn every_sample_is_delivered_to_its_tick_or_counted(
            actions in prop::collection::vec((0..40u64, 0..4u32, 0..20u32), 1..200),
            max_lead in 0..10u64,
        ) {
            let (mut clock, mut queue) = (clock(), TickQueue::new(0, max_lead));
            let mut waiting: Vec<(u64, u64)> = Vec::new();
            let (mut next, mut counts) = (0, TickCounts::default());
            for (id, (tick, skipped, action)) in (0..).zip(actions) {
                match action {
                    0 => {
                        clock.set_tick(tick);
                        queue.set_tick(tick);
                        next = tick;
                    }
                    1..5 => {
                        let step = (0..=skipped).map(|_| step(&mut clock)).last().unwrap();
                        let got = drained(&mut queue, step);
                        let due = waiting.extract_if(.., |(tick, _)| *tick == step.tick);
                        prop_assert_eq!(got, due.map(|(_, id)| id).collect::<Vec<_>>());
                        let missed = waiting.extract_if(.., |(tick, _)| *tick < step.tick);
                        counts.missed += missed.count() as u64;
                        next = step.tick + 1;
                    }
                    _ => {
                        let expected = if tick < next {
                            counts.late += 1;
                            Err(TickError::Late { input: id, by: next - tick })
                        } else if tick > next + max_lead {
                            counts.too_far_ahead += 1;
                            Err(TickError::TooFarAhead { input: id, by: tick - next - max_lead })
                        } else {
                            waiting.push((tick, id));
                            Ok(())
                        };
                        prop_assert_eq!(queue.push(tick, id), expected);
                    }
                }
                prop_assert_eq!(queue.len(), waiting.len());
                prop_assert_eq!((queue.tick(), queue.counts()), (next, counts));
            }
        }
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        /// Compares with a set of the ticks that got a sample: each gets one, even if samples are lost or repeated.
        #[test]
        fn repeated_samples_are_delivered_once_and_counted(
            actions in prop::collection::vec((0..90u64, 0..12u32), 1..300),
        ) {
            let (mut clock, mut queue) = (clock(), TickQueue::new(0, 30));
            let mut got = std::collections::BTreeSet::new();
            let (mut next, mut counts) = (0, TickCounts::default());
            for (ago, action) in actions {
                if action < 4 {
                    let steps = if action == 0 { 1 + ago } else { 1 };
                    let step = (0..steps).map(|_| step(&mut clock)).last().unwrap();
                    let missed = (next..step.tick).filter(|tick| got.remove(tick)).count();
                    counts.missed += missed as u64;
                    let expected = got.get(&step.tick).copied();
                    prop_assert_eq!(drained(&mut queue, step), Vec::from_iter(expected));
                    next = step.tick + 1;
                } else if action == 4 {
                    let tick = next.saturating_sub(ago);
                    clock.set_tick(tick);
                    queue.set_tick(tick);
                    // The ticks in between need samples again, and the earliest ones are forgotten.
                    got.retain(|got| *got >= next || (*got < tick && *got + 64 >= next));
                    next = tick;
                } else {
                    let tick = (next + 20).saturating_sub(ago);
                    let is_known = tick >= next || next - tick <= 64;
                    let result = queue.push_once(tick, tick);
                    if is_known && got.contains(&tick) {
                        counts.repeated += 1;
                        prop_assert_eq!(result, Ok(()));
                    } else if tick < next {
                        counts.late += 1;
                        prop_assert_eq!(result, Err(TickError::Late { input: tick, by: next - tick }));
                    } else {
                        got.insert(tick);
                        prop_assert_eq!(result, Ok(()));
                    }
                }
                prop_assert_eq!((queue.tick(), queue.counts()), (next, counts));
                prop_assert_eq!(queue.len(), got.range(next..).count());
            }
        }
    }

    #[test]
    fn after_a_rollback_past_ticks_accept_input_again_and_queued_input_remains() {
        let (mut clock, mut queue) = (clock(), TickQueue::new(0, 10));
        queue.push(5, 50).unwrap();
        for _ in 0..4 {
            drained(&mut queue, step(&mut clock));
        }
        assert_eq!(queue.push(2, 20).unwrap_err().into_input(), 20);
        clock.set_tick(2);
        queue.set_tick(2);
        queue.push(2, 20).unwrap();
        queue.push(4, 40).unwrap();
        let played: Vec<_> = (0..4)
            .map(|_| drained(&mut queue, step(&mut clock)))
            .collect();
        assert_eq!(played, [vec![20], vec![], vec![40], vec![50]]);
        assert_eq!(queue.counts().missed, 0);
    }

    #[test]
    fn the_queue_follows_a_simulation_that_went_back_without_set_tick() {
        let (mut clock, mut queue) = (clock(), TickQueue::new(0, 10));
        for _ in 0..6 {
            drained(&mut queue, step(&mut clock));
        }
        clock.set_tick(2);
        assert_eq!(drained(&mut queue, step(&mut clock)), []);
        assert_eq!(queue.tick(), 3);
        queue.push(3, 30).unwrap();
        assert_eq!(drained(&mut queue, step(&mut clock)), [30]);
    }

    #[test]
    fn clear_discards_queued_samples_without_counting_them() {
        let (mut clock, mut queue) = (clock(), TickQueue::new(0, 10));
        assert!(queue.is_empty());
        queue.push(1, 10).unwrap();
        queue.push(0, 0).unwrap();
        assert!(!queue.is_empty());
        queue.clear();
        assert!(queue.is_empty());
        assert_eq!(drained(&mut queue, step(&mut clock)), []);
        assert_eq!(queue.counts(), TickCounts::default());
    }

    #[test]
    fn the_queue_accepts_the_maximum_tick() {
        let mut queue = TickQueue::new(u64::MAX - 1, u64::MAX);
        queue.push(u64::MAX, 1).unwrap();
        let mut clock = clock();
        clock.set_tick(u64::MAX - 1);
        assert_eq!(drained(&mut queue, step(&mut clock)), []);
        assert_eq!((queue.tick(), queue.len()), (u64::MAX, 1));
        let by = u64::MAX;
        assert_eq!(queue.push(0, 2), Err(TickError::Late { input: 2, by }));
    }
}
