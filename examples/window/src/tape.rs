//! A run of one half as it is recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::recording::{RecordError, Recorder, RecorderSettings};
use evenstep::{BodyKey, Physics, Simulation, Step};

use crate::game::{Game, Input};

/// The checksum of every body, after each step.
pub type Checks = BTreeMap<u64, BTreeMap<BodyKey, u64>>;

/// A recorder, and what the other half's run is compared by.
pub struct Tape {
    recorder: Recorder<Vec<u8>>,
    checks: Checks,
    /// The first thing that went wrong; nothing more is recorded then.
    error: Option<RecordError>,
}

impl Tape {
    /// An empty one.
    ///
    /// # Panics
    /// Never: bytes in memory can be written.
    #[must_use]
    pub fn new() -> Self {
        let recorder = Recorder::new(Vec::new(), RecorderSettings::default());
        Self {
            recorder: recorder.expect("bytes in memory can be written"),
            checks: Checks::new(),
            error: None,
        }
    }

    /// Before a frame.
    pub fn begin_frame(&mut self, simulation: &Simulation, game: &Game, frame_time: Duration) {
        self.record(|recorder| recorder.begin_frame(simulation, game, frame_time));
    }

    /// Before a step.
    pub fn input(&mut self, step: Step, input: &Input) {
        self.record(|recorder| recorder.input(step, input));
    }

    /// After a step.
    pub fn end_step(&mut self, physics: &Physics, step: Step) {
        self.record(|recorder| recorder.end_step(physics));
        self.checks.insert(step.tick, checks(physics));
    }

    /// What follows does not go on from what was.
    pub fn new_run(&mut self) {
        self.recorder.new_run();
    }

    /// How many bytes it has by now.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.recorder.writer().len()
    }

    /// What was recorded, and the checksums of its bodies.
    ///
    /// # Errors
    /// The first thing that went wrong while it was recorded.
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
