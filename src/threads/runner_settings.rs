//! How far in the past frames are shown, and how much is kept for them.

use std::time::Duration;

/// Settings of a [`Runner`](super::Runner).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RunnerSettings {
    /// How far in the past frames are shown, beyond the one step that interpolation needs: in steps, 0.5 by default,
    /// 60 at most. A negative number and NaN are 0.
    ///
    /// A step that takes longer than this is late, and the frames until it arrives [starve](super::View::is_starved). How many
    /// do on your machine: `cargo run --release --all-features --example threads_report -- --seconds 8`.
    /// A starved frame displays the newest state. The slack does not adapt by itself.
    // A slack that follows the longest wait of the last two seconds was tried on recorded runs of 20 s, against a fixed
    // one with the same mean delay: it starved 0.00 % of the frames, not 0.04 %, with steps of 1 ms; 0.00 %, not 0.08 %,
    // with one of 30 ms among them every 1.6 s; 3.94 %, not 3.98 %, with steps of 11 ms and some of 30 ms; and clearly
    // fewer only where steps of 11 ms grew longer for a while: 0.45 %, not 2.05 %. A single long step delayed it by 1.4
    // steps for seconds.
    pub slack: f32,
    /// The capacity of the queue of [calls](super::Runner::call) and questions: 256 by default.
    pub commands: usize,
    /// For how many steps events are kept until they are read: 1,000 by default. Older ones are
    /// dropped and [counted](super::Runner::lost_events).
    pub events: usize,
    /// How far physics may be behind the wall clock before that time is dropped and
    /// [counted](super::Runner::dropped): 250 ms by default.
    pub max_lag: Duration,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            slack: 0.5,
            commands: 256,
            events: 1_000,
            max_lag: Duration::from_millis(250),
        }
    }
}

impl RunnerSettings {
    /// How many steps in the past frames are shown.
    pub(super) fn delay(&self) -> f64 {
        1.0 + steps(self.slack)
    }

    /// How many states are handed over: those on both sides of the delay, and one more for a reader that is late.
    pub(super) fn states(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "from 1 to 61")]
        #[expect(clippy::cast_sign_loss, reason = "from 1 to 61")]
        let delay = self.delay().ceil() as usize;
        delay + 2
    }
}

/// A setting in steps, limited to 0 to 60.
fn steps(set: f32) -> f64 {
    // NaN is 0.
    if set > 0.0 { set.min(60.0).into() } else { 0.0 }
}
