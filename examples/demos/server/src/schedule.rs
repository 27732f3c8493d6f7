//! The schedule: which match is due next.

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::Rate;
use evenstep_server::match_::Id;

use crate::Match;

/// The waiting matches, sorted by when they are due.
#[derive(Default)]
pub struct Schedule(BTreeMap<(Duration, Id), Match>);

impl Schedule {
    pub fn put(&mut self, waiting: Match) {
        self.0.insert((waiting.due(), waiting.id), waiting);
    }

    pub fn first_due(&self) -> Option<Duration> {
        self.0.first_key_value().map(|((due, _), _)| *due)
    }

    /// Takes out the match that is due first, if it is due by now.
    pub fn take_due(&mut self, now: Duration) -> Option<Match> {
        let first = self.0.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    pub fn take(&mut self, id: Id) -> Option<Match> {
        let key = *self.0.keys().find(|(_, waiting)| *waiting == id)?;
        self.0.remove(&key)
    }

    pub fn matches(&self) -> impl Iterator<Item = &Match> {
        self.0.values()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Returns the period of a step.
pub fn period() -> Duration {
    Rate::default().period()
}

/// Returns how far into a period a match begins. The phases are spread evenly, whatever the number of matches and
/// whichever of them leave.
///
/// They are the fractional parts of the multiples of the golden ratio. Each new one falls into one of the widest gaps.
pub fn phase(id: Id, period: Duration) -> Duration {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let fraction = u128::from(id.wrapping_mul(GOLDEN));
    Duration::from_nanos(((fraction * period.as_nanos()) >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use evenstep_server::game::Crates;
    use evenstep_server::match_::Settings;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const SETTINGS: Settings = Settings {
        budget: Duration::MAX,
        length: u64::MAX,
    };

    /// Creates a schedule with a match for each start, in milliseconds.
    fn schedule(starts: &[u64]) -> Schedule {
        let mut schedule = Schedule::default();
        for (id, start) in (0..).zip(starts) {
            schedule.put(Match::new(
                id,
                Crates::new(1, 0, false),
                SETTINGS,
                MS(*start),
            ));
        }
        schedule
    }

    #[test]
    fn take_due_returns_the_earliest_match_once_it_is_due() {
        let mut schedule = schedule(&[30, 10, 20, 10]);
        let mut due = |now| schedule.take_due(MS(now)).map(|due| due.id);
        // The first matches are due a period after 10 ms.
        assert_eq!(
            [due(26), due(27), due(27), due(27)],
            [None, Some(1), Some(3), None]
        );
        assert_eq!([due(90), due(90), due(90)], [Some(2), Some(0), None]);
    }

    #[test]
    fn take_removes_the_match_with_the_given_id() {
        let mut schedule = schedule(&[30, 10, 20]);
        assert_eq!(schedule.take(2).map(|taken| taken.id), Some(2));
        assert!(schedule.take(2).is_none());
        assert_eq!(schedule.len(), 2);
    }

    #[test]
    fn phases_are_spread_evenly_for_any_number_of_matches() {
        let period = MS(16);
        for count in [1, 2, 3, 10, 100, 1_000] {
            let mut phases: Vec<Duration> = (0..count).map(|id| phase(id, period)).collect();
            phases.push(period);
            phases.sort();
            assert!(phases[0] == MS(0) && phases.windows(2).all(|pair| pair[0] < pair[1]));
            let widest = phases.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(
                widest <= Some(period * 2 / count as u32),
                "{count}: {widest:?}"
            );
        }
    }
}
