//! A picture that freezes for a moment after each hit.

use std::time::Duration;

use evenstep::{Physics, Simulation, Step};

/// How long time stops after a hit.
const STOP: Duration = Duration::from_millis(80);

/// Runs a frame at the game's `speed`, usually 1. `until` is the real time at which the hit-stop ends, zero at first.
pub fn frame(
    simulation: &mut Simulation,
    until: &mut Duration,
    frame_time: Duration,
    speed: f64,
    hook: impl FnMut(&mut Physics, Step),
) {
    let is_stopped = simulation.clock().real_time() < *until;
    let speed = if is_stopped { 0.0 } else { speed };
    simulation.clock_settings_mut().set_speed(speed).unwrap();
    simulation.advance(frame_time, hook);
    if simulation.events().collisions().any(|hit| hit.started) {
        *until = simulation.clock().real_time() + STOP;
    }
}
