//! The delay of frames, and the limits of the queues.

use std::time::Duration;

/// The delay of a [`Runner`](super::Runner), and the limits of its queues.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RunnerSettings {
    /// The delay of frames beyond the one step that interpolation needs, in steps: 0.5 by default, at most 60. Negative
    /// numbers and NaN count as 0.
    ///
    /// Frames [starve](super::View::is_starved) while a step takes longer than this.
    // A slack that adapts to the longest wait of the last two seconds was compared with a fixed one of the same mean
    // delay, on recorded runs of 20 s. With steps of 1 ms, it starved 0.00 % of the frames, not 0.04 %. With one step
    // of 30 ms among them every 1.6 s: 0.00 %, not 0.08 %. With steps of 11 ms and some of 30 ms: 3.94 %, not 3.98 %.
    // It starved clearly fewer frames only where steps of 11 ms grew longer for a while: 0.45 %, not 2.05 %. A single
    // long step increased its delay by 1.4 steps for seconds.
    pub slack: f32,
    /// The capacity of the queue for [calls](super::Runner::call) and questions: 256 by default, at least 1 and at most
    /// 65,536.
    pub call_capacity: usize,
    /// The number of steps whose [events](super::View::events) are kept until a frame displays them: 1,000 by default.
    /// Older ones are dropped and [counted](super::Runner::lost_events).
    pub events: usize,
    /// How late physics may be before that time is dropped and [counted](super::Runner::dropped): 250 ms by default. In
    /// a pause it may not be late at all.
    pub max_lag: Duration,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            // In steps: frames get every state in time if a step takes less than half its length.
            slack: 0.5,
            call_capacity: 256,
            // In steps: about 17 s at 60 Hz.
            events: 1_000,
            // The same as the default maximum frame time of a clock, which it replaces.
            max_lag: Duration::from_millis(250),
        }
    }
}

impl RunnerSettings {
    /// Returns how many messages the queue holds. It is allocated at once.
    pub(super) fn messages(&self) -> usize {
        self.call_capacity.clamp(1, 65_536)
    }

    /// Returns how far frames are behind the present, in steps: the step that interpolation needs, and the slack.
    pub(super) fn delay(&self) -> f64 {
        1.0 + valid_slack(self.slack)
    }

    /// Returns how many of the last states are kept for the view: those within the delay, the one before them, and one
    /// more for a late reader.
    pub(super) fn states(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "from 1 to 61")]
        #[expect(clippy::cast_sign_loss, reason = "from 1 to 61")]
        let delay = self.delay().ceil() as usize;
        // In an `Overlap` with semi-fixed stepping, a step of the delay may be two states: a whole step and the rest of
        // its frame.
        2 * delay + 2
    }
}

/// Returns the slack within its limits, from 0 to 60 steps.
fn valid_slack(slack: f32) -> f64 {
    // NaN becomes 0.
    if slack > 0.0 {
        slack.min(60.0).into()
    } else {
        0.0
    }
}
