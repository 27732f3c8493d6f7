//! The last seconds of a run in memory, as two recordings in turn, for crash reports.

use super::*;
use evenstep::recording::{RecordError, Recorder, RecorderSettings, Recording};

/// The last 10 to 20 seconds of a run.
struct LastSeconds {
    previous: Vec<u8>,
    current: Recorder<Vec<u8>>,
    first_tick: u64,
}

impl LastSeconds {
    fn begin_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: Duration,
    ) -> Result<(), RecordError> {
        let tick = simulation.physics.tick();
        if tick.abs_diff(self.first_tick) >= 600 {
            let next = Recorder::new(Vec::new(), RecorderSettings::default())?;
            self.previous = std::mem::replace(&mut self.current, next).finish()?;
            self.first_tick = tick;
        }
        self.current.begin_frame(simulation, &(), frame_time)
    }
}

#[test]
fn two_recordings_in_turn_hold_the_last_seconds_without_a_gap() {
    let mut simulation = Simulation::default();
    let mut last_seconds = LastSeconds {
        previous: Vec::new(),
        current: Recorder::new(Vec::new(), RecorderSettings::default()).unwrap(),
        first_tick: 0,
    };
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
