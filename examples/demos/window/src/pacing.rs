//! Frame times: those of the display, or generated ones with jitter and hitches.

use std::time::Duration;

/// The settings of frame times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacingSettings {
    /// Frames per second; `None` for the display's rate.
    pub rate: Option<u32>,
    /// The largest relative deviation of a frame time, from 0 to 0.9.
    pub jitter: f64,
    /// The time between frames that take [`HITCH`] longer; `None` for never.
    pub hitch_every: Option<Duration>,
}

impl Default for PacingSettings {
    fn default() -> Self {
        Self {
            rate: Some(75),
            jitter: 0.0,
            hitch_every: None,
        }
    }
}

/// The additional time of a hitch: long enough to be visible, and too short to be clamped.
pub const HITCH: Duration = Duration::from_millis(200);

/// The largest number of generated frames in one frame of the display. Time beyond that is dropped.
const MOST_AT_ONCE: usize = 32;

/// Generates frame times. The same settings give the same times in every run.
#[derive(Clone, Debug)]
pub struct Pacing {
    /// The settings from now on.
    pub settings: PacingSettings,
    random: u64,
    /// Real time that no frame has used yet.
    waiting: Duration,
    /// The length of the next frame, once it is known.
    next: Option<Duration>,
    since_hitch: Duration,
    is_hitch_asked: bool,
}

impl Pacing {
    /// Creates frame times, with a seed for the jitter.
    #[must_use]
    pub fn new(settings: PacingSettings, seed: u64) -> Self {
        Self {
            settings,
            random: seed,
            waiting: Duration::ZERO,
            next: None,
            since_hitch: Duration::ZERO,
            is_hitch_asked: false,
        }
    }

    /// Makes the next frame a hitch.
    pub fn hitch(&mut self) {
        self.is_hitch_asked = true;
        self.next = None;
    }

    /// Returns the frames that fit into the real time that has passed: mostly none or one, and several if the display
    /// is slower than the requested rate.
    pub fn frames(&mut self, elapsed: Duration) -> Vec<Duration> {
        if self.settings.rate.is_none() {
            self.waiting = Duration::ZERO;
            return vec![self.stretched(elapsed)];
        }
        self.waiting += elapsed;
        let mut frames = Vec::new();
        while frames.len() < MOST_AT_ONCE {
            let next = self.next_frame();
            if self.waiting < next {
                return frames;
            }
            self.waiting -= next;
            self.next = None;
            frames.push(next);
        }
        self.waiting = Duration::ZERO;
        frames
    }

    /// Returns one frame at the requested rate, whatever the real time, for pictures without a display. The display's
    /// rate then means 60 Hz.
    pub fn frame(&mut self) -> Duration {
        let frame = self.next_frame();
        self.next = None;
        frame
    }

    fn next_frame(&mut self) -> Duration {
        if let Some(next) = self.next {
            return next;
        }
        let even = Duration::from_secs(1) / self.settings.rate.unwrap_or(60).max(1);
        let factor = 1.0 + self.settings.jitter * self.random();
        let next = self.stretched(even.mul_f64(factor));
        self.next = Some(next);
        next
    }

    /// Adds a hitch to the frame if one is due.
    fn stretched(&mut self, frame: Duration) -> Duration {
        self.since_hitch += frame;
        let is_due = (self.settings.hitch_every).is_some_and(|every| self.since_hitch >= every);
        if is_due {
            self.since_hitch = Duration::ZERO;
        }
        if std::mem::take(&mut self.is_hitch_asked) || is_due {
            frame + HITCH
        } else {
            frame
        }
    }

    /// Returns a number from -1 to 1. It uses xorshift, which needs no crate and is the same everywhere.
    fn random(&mut self) -> f64 {
        self.random = self.random.max(1);
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(rate: u32, jitter: f64) -> PacingSettings {
        PacingSettings {
            rate: Some(rate),
            jitter,
            hitch_every: None,
        }
    }

    #[test]
    fn frames_take_the_time_that_passed_whatever_the_display_shows() {
        for display in [5, 30, 60, 144] {
            let mut pacing = Pacing::new(settings(50, 0.5), 7);
            let frames: Vec<_> = (0..display * 4)
                .flat_map(|_| pacing.frames(Duration::from_secs(1) / display))
                .collect();
            assert!((190..=210).contains(&frames.len()), "{}", frames.len());
            let longest = frames.iter().max().unwrap();
            assert!(*longest > Duration::from_millis(28) && *longest <= Duration::from_millis(30));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_times() {
        let times = |seed| {
            let mut pacing = Pacing::new(settings(60, 0.3), seed);
            (0..50).map(|_| pacing.frame()).collect::<Vec<_>>()
        };
        assert_eq!(times(3), times(3));
        assert_ne!(times(3), times(4));
    }

    #[test]
    fn hitches_come_when_asked_for_and_when_due() {
        let mut pacing = Pacing::new(settings(50, 0.0), 1);
        assert_eq!(pacing.frame(), Duration::from_millis(20));
        pacing.hitch();
        assert_eq!(pacing.frame(), Duration::from_millis(220));
        assert_eq!(pacing.frame(), Duration::from_millis(20));
        pacing.settings.hitch_every = Some(Duration::from_secs(1));
        let long = (0..100).filter(|_| pacing.frame() > HITCH).count();
        assert_eq!(long, 2);
    }
}
