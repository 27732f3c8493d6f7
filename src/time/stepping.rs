//! The known stepping strategies: the number and the length of the steps in each frame.

use super::rate::{NANOS_PER_SECOND, Rate};

/// How elapsed time becomes steps, for [`ClockSettings::set_stepping`](crate::time::ClockSettings::set_stepping). Games
/// use [`Fixed`](Self::Fixed).
///
/// If steps vary in length, a run repeats only with the same frame times, stiffness changes with the frame rate, and a
/// pile may collapse after a long frame. `benches/reports/stepping` compares all strategies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Stepping {
    /// Runs whole steps of the rate's length, and keeps the rest of the time for the next frame. It is the default, and
    /// the only strategy whose runs do not depend on the frames.
    #[default]
    Fixed,
    /// At speed 1, runs one step of the rate's length in each frame: for recorded video, tests, and consoles at a
    /// locked rate.
    FrameLocked,
    /// Runs one step as long as the frame, for comparisons only. Lower the cap,
    /// [`max_frame_time`](crate::time::ClockSettings::set_max_frame_time), to 1/15 s or less, or Rapier loses contacts.
    Variable,
    /// Runs whole steps of the rate's length, and a shorter one for the rest of the frame, for tools that must display
    /// the present. A rest of less than a quarter of a step waits for the next frame.
    SemiFixed,
    /// Runs the frame time divided by the step length, rounded to whole steps, for the least latency without
    /// interpolation. The difference is discarded.
    ///
    /// Use it with high rates that are multiples of most displays' rates, such as 240 Hz. At speed 1, a frame has at
    /// least one step, and at most as many as at 30 Hz. On other displays the game runs slightly too fast or too slow.
    DisplayCounted,
}

impl Stepping {
    /// Divides `time` into steps of length `step`. Returns the number of whole steps, the length of a last step of
    /// another length, and the time that waits for the next frame.
    pub(crate) fn divide(self, time: u128, step: u128) -> (u64, Option<u128>, u128) {
        let whole = u64::try_from(time / step).unwrap_or(u64::MAX);
        let remainder = time % step;
        match self {
            Self::Fixed | Self::FrameLocked | Self::DisplayCounted => (whole, None, remainder),
            // Stacks collapse if much shorter steps mix with whole ones, so a short rest waits.
            Self::SemiFixed if remainder < step / SHORTEST => (whole, None, remainder),
            Self::SemiFixed => (whole, Some(remainder), 0),
            Self::Variable => (0, Some(time), 0),
        }
    }

    /// Returns the number of steps in a frame of `frame_nanos`, or `None` if the strategy does not count steps.
    pub(crate) fn step_count(self, frame_nanos: u128, rate: Rate) -> Option<u128> {
        match self {
            Self::FrameLocked => Some(1),
            Self::DisplayCounted => Some(display_count(frame_nanos, rate)),
            Self::Fixed | Self::Variable | Self::SemiFixed => None,
        }
    }
}

/// The shortest step of [`Stepping::SemiFixed`], as a part of a whole one. Rapier keeps a stack of 25 crates standing
/// with steps of a quarter in turn with whole ones, and not with an eighth.
const SHORTEST: u128 = 4;

/// The slowest display for which steps are counted, in Hz.
const SLOWEST_DISPLAY: u128 = 30;

/// Returns the length of a frame in steps, rounded to a whole number: at least one, and at most as many as in a frame
/// of the slowest display. Halves are rounded down.
fn display_count(frame_nanos: u128, rate: Rate) -> u128 {
    // Both lengths are in nanoseconds / `rate.steps()`, so that they are whole.
    let frame = frame_nanos * u128::from(rate.steps());
    let step = NANOS_PER_SECOND * u128::from(rate.seconds());
    // This is frame / step - 1/2, rounded up.
    let nearest = (2 * frame).saturating_sub(step).div_ceil(2 * step);
    let most = u128::from(rate.steps()).div_ceil(SLOWEST_DISPLAY * u128::from(rate.seconds()));
    nearest.clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_counted_steps_match_the_table_for_240_hz() {
        // Tests half periods of 4 1/6 ms, and the number of steps in the table up to there.
        let rate = Rate::hz(240);
        let period = 1e9 / 240.0;
        for steps in 1..8u32 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let up_to = ((f64::from(steps) + 0.5) * period) as u128;
            assert_eq!(display_count(up_to, rate), steps.into());
            assert_eq!(display_count(up_to + 1, rate), u128::from(steps) + 1);
        }
        assert_eq!(display_count(0, rate), 1);
        assert_eq!(display_count(u128::from(u64::MAX), rate), 8);
        // Tests the displays for which it is intended, with the jitter of a bad timer.
        for (hz, steps) in [
            (30, 8),
            (40, 6),
            (48, 5),
            (60, 4),
            (80, 3),
            (120, 2),
            (240, 1),
        ] {
            for jitter in [-1_500_000, 0, 1_500_000] {
                let nanos = 1_000_000_000 / hz + jitter;
                assert_eq!(
                    display_count(nanos.try_into().unwrap(), rate),
                    steps,
                    "{hz}"
                );
            }
        }
    }

    #[test]
    fn display_counted_steps_follow_the_same_rule_at_other_rates() {
        let rate = Rate::hz(480);
        let periods = |tenths: u128| tenths * 1_000_000_000 / 4_800;
        // A published table has 2 steps from 2.5 to 3.5 periods; the rule has 3.
        assert_eq!(display_count(periods(30), rate), 3);
        assert_eq!(display_count(periods(24), rate), 2);
        assert_eq!(display_count(periods(1_000), rate), 16);
        assert_eq!(display_count(periods(1_000), Rate::hz(10)), 1);
        let ntsc = Rate::fraction(60_000, 1_001);
        assert_eq!(display_count(33_366_667, ntsc), 2);
    }
}
