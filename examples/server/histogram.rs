//! A histogram of durations.

use std::time::Duration;

/// Counts durations in buckets of 50 µs, each including its upper end, up to 100 ms. The last bucket takes longer ones.
#[derive(Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    pub sum: Duration,
    pub longest: Duration,
}

const BUCKET: Duration = Duration::from_micros(50);
const BUCKETS: usize = 2_000;

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS + 1],
            sum: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }
}

impl Histogram {
    pub fn add(&mut self, time: Duration) {
        let bucket = time
            .as_nanos()
            .div_ceil(BUCKET.as_nanos())
            .saturating_sub(1);
        self.counts[bucket.min(BUCKETS as u128) as usize] += 1;
        self.sum += time;
        self.longest = self.longest.max(time);
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the upper end of the bucket that contains this quantile, or the longest duration if that is shorter.
    pub fn quantile(&self, part: f64) -> Duration {
        let rank = (part * self.count() as f64).ceil() as u64;
        let mut below = 0;
        let bucket = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        });
        match bucket {
            Some(bucket) if bucket < BUCKETS => (BUCKET * (bucket as u32 + 1)).min(self.longest),
            _ => self.longest,
        }
    }

    /// Returns how many durations are at most `limit`, a whole number of buckets.
    pub fn up_to(&self, limit: Duration) -> u64 {
        let buckets = (limit.as_nanos() / BUCKET.as_nanos()) as usize;
        self.counts[..buckets].iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn of(times: impl IntoIterator<Item = Duration>) -> Histogram {
        let mut histogram = Histogram::default();
        times.into_iter().for_each(|time| histogram.add(time));
        histogram
    }

    #[test]
    fn quantiles_are_ends_of_buckets() {
        let histogram = of((1..=1_000).map(|i| Duration::from_micros(10 * i)));
        assert_eq!(histogram.count(), 1_000);
        assert_eq!(histogram.quantile(0.5), MS(5));
        assert_eq!(histogram.quantile(0.99), Duration::from_micros(9_900));
        assert_eq!(histogram.quantile(0.999), MS(10));
        assert_eq!(
            of([Duration::from_micros(7)]).quantile(0.5),
            Duration::from_micros(7)
        );
        assert_eq!(of([]).quantile(0.999), Duration::ZERO);
    }

    #[test]
    fn what_is_longer_than_all_buckets_is_counted() {
        let histogram = of([MS(1), MS(100), MS(5_000)]);
        assert_eq!((histogram.up_to(MS(100)), histogram.count()), (2, 3));
        assert_eq!(histogram.quantile(1.0), MS(5_000));
        assert_eq!(histogram.sum, MS(5_101));
    }

    #[test]
    fn a_bound_is_included() {
        let histogram = of([MS(1), MS(1) + Duration::from_nanos(1)]);
        assert_eq!(histogram.up_to(MS(1)), 1);
    }
}
