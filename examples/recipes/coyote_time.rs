//! Jumps that feel fair: a press just after the edge, or just before the landing, counts.

/// How long ago something may have happened to count, in steps: 0.1 s at 60 Hz.
const RECENT: u64 = 6;

/// The last tick on the ground, and the last tick with a press.
#[derive(Clone, Debug, Default)]
pub struct Jump {
    on_ground: Option<u64>,
    pressed: Option<u64>,
}

impl Jump {
    /// Returns whether to jump in this step.
    pub fn step(&mut self, tick: u64, on_ground: bool, pressed: bool) -> bool {
        self.on_ground = on_ground.then_some(tick).or(self.on_ground);
        self.pressed = pressed.then_some(tick).or(self.pressed);
        let is_recent = |last: Option<u64>| last.is_some_and(|at| tick.abs_diff(at) <= RECENT);
        let jumps = is_recent(self.on_ground) && is_recent(self.pressed);
        if jumps {
            *self = Self::default(); // so that neither counts twice
        }
        jumps
    }
}
