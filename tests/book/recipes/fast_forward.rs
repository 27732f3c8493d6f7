//! Fast-forward where a step takes 1 ms and the display shows a frame every 16 ms.

use evenstep::time::Budget;
use evenstep::{Frame, Simulation};
use scenes::MS;
use std::time::Duration;

/// Returns the tenth frame at speed 100. A frame ends when its steps are done.
fn fast_forward(mut simulation: Simulation) -> Frame {
    simulation.clock_settings_mut().set_speed(100.0).unwrap();
    let mut frame_time = MS(16);
    for _ in 0..10 {
        let frame = simulation.advance(frame_time, |_, _| ());
        frame_time = MS(frame.steps.max(16));
    }
    simulation.frame()
}

#[test]
fn without_a_limit_a_frame_of_fast_forward_takes_a_second_and_a_half() {
    let frame = fast_forward(Simulation::default());
    assert_eq!(frame.steps, 1_500); // 0.25 s at speed 100
    assert_eq!(frame.dropped.frame_time, MS(1_250));
}

#[test]
fn a_budget_or_a_maximum_keeps_the_frames_of_fast_forward_short() {
    let mut simulation = Simulation::default();
    let budget = Budget {
        frame: MS(10),
        step: MS(1),
    };
    simulation.clock_settings_mut().set_budget(Some(budget));
    let frame = fast_forward(simulation);
    assert_eq!((frame.steps, frame.dropped.over_budget), (10, 86));
    assert_eq!(frame.dropped.frame_time, Duration::ZERO);

    let mut simulation = Simulation::default();
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(10));
    let frame = fast_forward(simulation);
    assert_eq!((frame.steps, frame.dropped.steps), (10, 86));
}
