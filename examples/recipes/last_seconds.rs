//! The last seconds of a run in memory, as two recordings in turn, for crash reports.

use std::time::Duration;

use evenstep::Simulation;
use evenstep::recording::{RecordError, Recorder, RecorderSettings};

/// The last 10 to 20 seconds of a run.
pub struct LastSeconds {
    /// The finished recording before the current one. At first it is empty.
    pub previous: Vec<u8>,
    /// The current recording. Record the input and the end of each step in it.
    pub current: Recorder<Vec<u8>>,
    first_tick: u64,
}

impl LastSeconds {
    /// Starts with the first recording.
    pub fn new(simulation: &Simulation) -> Result<Self, RecordError> {
        Ok(Self {
            previous: Vec::new(),
            current: Recorder::new(Vec::new(), RecorderSettings::default())?,
            first_tick: simulation.physics.tick(),
        })
    }

    /// Records that a frame begins. Call it before the simulation's `begin_frame`.
    pub fn begin_frame(
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
