//! The last seconds of a run in memory, as two recordings in turn, for crash reports.

use evenstep::Simulation;
use evenstep::recording::Recording;
use recipes::last_seconds::LastSeconds;
use std::time::Duration;

#[test]
fn two_recordings_in_turn_hold_the_last_seconds_without_a_gap() {
    let mut simulation = Simulation::default();
    let mut last_seconds = LastSeconds::new(&simulation).unwrap();
    let frame_time = Duration::from_millis(16);
    for _ in 0..2_000 {
        last_seconds
            .begin_frame(&mut simulation, frame_time)
            .unwrap();
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            last_seconds.current.input(step, &()).unwrap();
            simulation.run_step();
            last_seconds.current.end_step(&simulation.physics).unwrap();
        }
        simulation.end_frame();
    }
    let previous = Recording::read(&last_seconds.previous).unwrap();
    let current = Recording::read(last_seconds.current.writer()).unwrap();
    let (previous, current) = (&previous.runs()[0].ticks, &current.runs()[0].ticks);
    assert_eq!(previous.end, current.start);
    assert_eq!(current.end, simulation.physics.tick());
    assert!(current.end - previous.start >= 600);
}
