//! The speed at which a clock follows another one.

/// A follower of another clock, such as that of music or a server, through the
/// [speed](crate::time::ClockSettings::set_speed).
///
/// Time never jumps. The speed is 1 + `gain` · `behind`, within the limit, so a distance below `max_change` / `gain`
/// decays to about a third within 1 / `gain` seconds, and a longer one shrinks by `max_change` per second.
///
/// ```
/// # use evenstep::Simulation;
/// # use evenstep::time::ClockFollower;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// let follower = ClockFollower::default();
/// // In each frame, before `advance`. Ask your audio library for the position of the song.
/// let song = Duration::from_millis(250);
/// let behind = song.as_secs_f64() - simulation.clock().time().as_secs_f64();
/// let speed = follower.speed(behind).expect("a song does not jump by more than a second");
/// simulation.clock_settings_mut().set_speed(speed).expect("the limit is below 1");
/// assert_eq!(speed, 1.05);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockFollower {
    /// The change of speed per second of distance, in 1/s: 1 by default.
    pub gain: f64,
    /// The largest change of speed, at most 1: 0.05 by default.
    pub max_change: f64,
    /// The distance in seconds beyond which the follower gives up, and your game jumps: 1 by default.
    pub max_distance: f64,
}

impl Default for ClockFollower {
    fn default() -> Self {
        Self {
            // A distance of less than 0.05 s decays to about a third within a second. Longer ones shrink by 0.05 s/s.
            gain: 1.0,
            max_change: 0.05,
            max_distance: 1.0,
        }
    }
}

impl ClockFollower {
    /// Returns the speed for a clock that is `behind` the other one by this many seconds, or ahead of it if the number
    /// is negative.
    ///
    /// Returns `None` if the distance is above [`max_distance`](Self::max_distance) or not finite. A gain or a limit
    /// that is NaN or negative counts as 0.
    #[must_use]
    pub fn speed(&self, behind: f64) -> Option<f64> {
        // `max` ignores NaN.
        let is_near = behind.is_finite() && behind.abs() <= self.max_distance.max(0.0);
        if !is_near {
            return None;
        }
        let most = self.max_change.clamp(0.0, 1.0);
        let most = if most.is_nan() { 0.0 } else { most };
        // An infinite gain times zero is NaN, too.
        let change = (behind * self.gain.max(0.0)).clamp(-most, most);
        Some(1.0 + if change.is_nan() { 0.0 } else { change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{Clock, Rate};
    use std::time::Duration;

    /// The distance to the true position of a song whose known position advances in whole buffers, and the speeds.
    fn follow(follower: ClockFollower, drift: f64, start: f64) -> Vec<(f64, f64)> {
        const BUFFER: f64 = 1_024.0 / 44_100.0;
        let mut clock = Clock::new(Rate::hz(60));
        let mut followed = Vec::new();
        for frame in 0..60 * 60u32 {
            let song = start + f64::from(frame) / 60.0 * drift;
            let known = (song / BUFFER).floor() * BUFFER;
            let own = clock.time().as_secs_f64();
            let speed = follower.speed(known - own).unwrap();
            clock.settings_mut().set_speed(speed).unwrap();
            followed.push((own - (song - BUFFER / 2.0), speed));
            clock.begin_frame(Duration::from_secs(1) / 60);
            while clock.next_step().is_some() {}
        }
        followed
    }

    #[test]
    fn a_song_that_advances_in_buffers_is_followed_within_5_ms() {
        for drift in [1.0, 0.999, 1.001] {
            let followed = follow(ClockFollower::default(), drift, 0.0);
            let (mut largest, mut fastest) = (0.0_f64, 0.0_f64);
            for (off, speed) in &followed[600..] {
                largest = largest.max(off.abs());
                fastest = fastest.max((speed - 1.0).abs());
            }
            assert!(largest < 0.005, "{drift}: {largest}");
            assert!(fastest < 0.02, "{drift}: {fastest}");
        }
    }

    #[test]
    fn a_distance_of_half_a_second_is_caught_up_within_the_limit() {
        let followed = follow(ClockFollower::default(), 1.0, 0.5);
        assert!(followed.iter().all(|(_, speed)| *speed <= 1.05));
        assert!(followed[60 * 15].0.abs() < 0.005, "{:?}", followed[60 * 15]);
    }

    #[test]
    fn numbers_that_are_not_finite_neither_panic_nor_set_a_speed() {
        let follower = ClockFollower::default();
        for behind in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1, -1.1] {
            assert_eq!(follower.speed(behind), None);
        }
        for bad in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            let gain = ClockFollower {
                gain: bad,
                ..follower
            };
            let max_change = ClockFollower {
                max_change: bad,
                ..follower
            };
            assert_eq!([gain, max_change].map(|it| it.speed(0.5)), [Some(1.0); 2]);
            let max_distance = ClockFollower {
                max_distance: bad,
                ..follower
            };
            assert_eq!(
                [0.0, 0.1].map(|it| max_distance.speed(it)),
                [Some(1.0), None]
            );
        }
        let most = ClockFollower {
            gain: f64::INFINITY,
            max_change: f64::INFINITY,
            ..follower
        };
        assert_eq!(most.speed(-0.5), Some(0.0));
        assert_eq!(most.speed(0.0), Some(1.0));
        for max_distance in [f64::INFINITY, f64::NAN] {
            let patient = ClockFollower {
                max_distance,
                ..follower
            };
            assert_eq!(patient.speed(f64::INFINITY), None);
            assert_eq!(patient.speed(9.0).is_some(), max_distance.is_infinite());
        }
    }
}
