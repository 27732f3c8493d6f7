//! The loop of a server that sleeps until its next step.

use evenstep::Simulation;
use evenstep::time::FrameTimer;
use std::time::Duration;

#[test]
fn a_server_that_sleeps_until_the_next_step_never_drifts() {
    let mut server = Simulation::default();
    // The server catches up after a delay of up to this much.
    server
        .clock_settings_mut()
        .set_max_frame_time(Duration::from_secs(2));
    let mut now = Duration::from_secs(1_000_000); // on the host's clock
    let mut timer = FrameTimer::new(now, server.clock().real_time());
    while server.physics.tick() < 36_000 {
        now += server.clock().until_next_step().unwrap();
        let frame = server.advance(timer.frame(now), |_, _| ());
        assert_eq!(frame.steps, 1);
    }
    assert_eq!(server.clock().real_time(), Duration::from_secs(600));
    // It wakes up half a second late, runs the steps that it missed, and drops none.
    now += Duration::from_millis(517);
    let frame = server.advance(timer.frame(now), |_, _| ());
    assert_eq!(
        (frame.steps, frame.dropped.frame_time),
        (31, Duration::ZERO)
    );
}
