//! A simulated bad connection: delay, jitter, loss, an outage.

use std::ops::Range;
use std::time::Duration;

use crate::Random;

/// The quality of a connection, in one direction.
#[derive(Clone, Debug, Default)]
pub struct Quality {
    /// The shortest time that a packet takes.
    pub delay: Duration,
    /// The largest additional time. It lets packets overtake each other.
    pub jitter: Duration,
    /// The number of lost packets per thousand.
    pub loss: u64,
    /// The time in which all packets are lost.
    pub outage: Range<Duration>,
}

/// One direction of a connection. Time is an argument, from any clock or from none.
#[derive(Debug)]
pub struct Line<T> {
    quality: Quality,
    random: Random,
    /// The packets under way, each with its time of arrival.
    under_way: Vec<(Duration, T)>,
}

impl<T> Line<T> {
    /// Creates a connection without packets under way.
    pub fn new(quality: Quality, seed: u64) -> Self {
        Self {
            quality,
            random: Random::new(seed),
            under_way: Vec::new(),
        }
    }

    /// Changes the quality. Packets under way keep their time of arrival.
    pub fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
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

    /// Returns the packets that have arrived by now, in the order of arrival.
    pub fn receive(&mut self, now: Duration) -> impl Iterator<Item = T> {
        self.under_way.sort_by_key(|(arrival, _)| *arrival);
        let arrived = self
            .under_way
            .partition_point(|(arrival, _)| *arrival <= now);
        self.under_way.drain(..arrived).map(|(_, packet)| packet)
    }
}
