//! The recording of one half.

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::recording::{RecordError, Recorder, RecorderSettings};
use evenstep::{BodyKey, Physics, Simulation, Step};

use crate::game::{Game, Input};

/// The checksum of each body after each step.
pub type Checks = BTreeMap<u64, BTreeMap<BodyKey, u64>>;

/// A recorder, and checksums for the comparison with the other half.
pub struct Tape {
    recorder: Recorder<Vec<u8>>,
    checks: Checks,
    /// The first error, after which nothing more is recorded.
    error: Option<RecordError>,
}

impl Tape {
    /// Creates an empty recording.
    ///
    /// # Panics
    /// Never, because bytes can be written to memory.
    #[must_use]
    pub fn new() -> Self {
        let recorder = Recorder::new(Vec::new(), RecorderSettings::default());
        Self {
            recorder: recorder.expect("bytes in memory can be written"),
            checks: Checks::new(),
            error: None,
        }
    }

    /// Begins a frame.
    pub fn begin_frame(&mut self, simulation: &mut Simulation, game: &Game, frame_time: Duration) {
        self.record(|recorder| recorder.begin_frame(simulation, game, frame_time));
    }

    /// Records the input of a step.
    pub fn input(&mut self, step: Step, input: &Input) {
        self.record(|recorder| recorder.input(step, input));
    }

    /// Records the end of a step.
    pub fn end_step(&mut self, physics: &Physics, step: Step) {
        self.record(|recorder| recorder.end_step(physics));
        self.checks.insert(step.tick, checks(physics));
    }

    /// Begins a new run, which does not continue the previous one.
    pub fn new_run(&mut self) {
        self.recorder.new_run();
    }

    /// Returns the number of bytes so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.recorder.writer().len()
    }

    /// Returns the recording, and the checksums of its bodies.
    ///
    /// # Errors
    /// The first error of the recording.
    pub fn finish(self) -> Result<(Vec<u8>, Checks), RecordError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok((self.recorder.finish()?, self.checks)),
        }
    }

    fn record(&mut self, what: impl FnOnce(&mut Recorder<Vec<u8>>) -> Result<(), RecordError>) {
        if self.error.is_none() {
            self.error = what(&mut self.recorder).err();
        }
    }
}

impl Default for Tape {
    fn default() -> Self {
        Self::new()
    }
}

fn checks(physics: &Physics) -> BTreeMap<BodyKey, u64> {
    let keys = physics.bodies().map(|(key, _)| key);
    keys.filter_map(|key| Some((key, physics.body_checksum(key)?)))
        .collect()
}
