//! A bad line: delay, jitter, loss, an outage.

use std::ops::Range;
use std::time::Duration;

use crate::Random;

/// How bad a line is, one way.
#[derive(Clone, Debug, Default)]
pub struct Quality {
    /// How long a packet takes at least.
    pub delay: Duration,
    /// By how much longer at most: packets overtake each other.
    pub jitter: Duration,
    /// How many of a thousand packets are lost.
    pub loss: u64,
    /// When all of them are.
    pub outage: Range<Duration>,
}

/// One direction of a line. Time is an argument: from any clock, or from none.
#[derive(Debug)]
pub struct Line<T> {
    quality: Quality,
    random: Random,
    /// When each packet arrives.
    under_way: Vec<(Duration, T)>,
}

impl<T> Line<T> {
    /// A line with nothing under way.
    pub fn new(quality: Quality, seed: u64) -> Self {
        Self {
            quality,
            random: Random::new(seed),
            under_way: Vec::new(),
        }
    }

    /// Sends a packet, or loses it.
    pub fn send(&mut self, now: Duration, packet: T) {
        let is_lost = self.random.below(1_000) < self.quality.loss;
        let jitter = self.random.below(1_000) as u32 * (self.quality.jitter / 1_000);
        if !is_lost && !self.quality.outage.contains(&now) {
            let arrival = now + self.quality.delay + jitter;
            self.under_way.push((arrival, packet));
        }
    }

    /// What has arrived by now, in the order of arrival.
    pub fn receive(&mut self, now: Duration) -> impl Iterator<Item = T> {
        self.under_way.sort_by_key(|(arrival, _)| *arrival);
        let arrived = self
            .under_way
            .partition_point(|(arrival, _)| *arrival <= now);
        self.under_way.drain(..arrived).map(|(_, packet)| packet)
    }
}
