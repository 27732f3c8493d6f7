//! Coyote time and buffered presses.

use super::SECOND;
use evenstep::Simulation;
use recipes::coyote_time::Jump;

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

#[test]
fn a_jump_before_a_restart_of_the_level_does_not_count_after_it() {
    let mut jump = Jump::default();
    assert!(!jump.step(100, true, false));
    assert!(!jump.step(0, false, true));
    assert!(jump.step(1, true, false));
}
