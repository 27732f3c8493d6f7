//! Coyote time and buffered presses.

use super::*;

/// How long ago something may have happened to count, in steps: 0.1 s at 60 Hz.
const RECENT: u64 = 6;

/// The last tick on the ground, and the last tick with a press.
#[derive(Clone, Default)]
struct Jump {
    on_ground: Option<u64>,
    pressed: Option<u64>,
}

impl Jump {
    /// Returns whether to jump in this step.
    fn step(&mut self, tick: u64, on_ground: bool, pressed: bool) -> bool {
        self.on_ground = on_ground.then_some(tick).or(self.on_ground);
        self.pressed = pressed.then_some(tick).or(self.pressed);
        let is_recent = |last: Option<u64>| last.is_some_and(|at| tick - at <= RECENT);
        let jumps = is_recent(self.on_ground) && is_recent(self.pressed);
        if jumps {
            *self = Self::default(); // so that neither counts twice
        }
        jumps
    }
}

#[test]
fn a_press_just_after_the_edge_or_before_the_landing_counts_once() {
    for frames_per_second in [30, 60, 144] {
        let (mut simulation, mut jump) = (Simulation::default(), Jump::default());
        let mut jumps = Vec::new();
        while simulation.physics.tick() < 500 {
            simulation.advance(SECOND / frames_per_second, |_, step| {
                // 30 steps in the air, then 70 on the ground.
                let on_ground = step.tick < 100 || step.tick % 100 >= 30;
                let pressed = [50, 105, 207, 323, 424].contains(&step.tick);
                if jump.step(step.tick, on_ground, pressed) {
                    jumps.push(step.tick);
                }
            });
        }
        // The presses at 207 and 323 were too late and too early.
        assert_eq!(jumps, [50, 105, 430]);
    }
}
