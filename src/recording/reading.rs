//! A recording, read from bytes.

use std::fmt;
use std::ops::Range;

use crate::bytes::{NoStart, Start};
use crate::physics::fingerprint_of;

use super::chunk::{self, ChunkKind, NoChunk, START, StateChunk};
use super::replay::{Replay, ReplayError};

/// A recording of a [`Recorder`](crate::recording::Recorder), read from bytes, to be played by a [`Replay`].
///
/// If the bytes were truncated or changed, the recording ends before that point, and [`ending`](Self::ending) reports
/// it.
pub struct Recording<B> {
    bytes: B,
    runs: Vec<RecordedRun>,
    fingerprint: Option<u64>,
    /// The offset at which the last whole chunk ends.
    end: usize,
    ending: RecordingEnd,
}

/// A part of a recording that began with a new state: at the beginning, after
/// [`new_run`](crate::recording::Recorder::new_run), a rollback, or an assignment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedRun {
    /// The steps of the run. The last one may have been aborted.
    pub ticks: Range<u64>,
    /// The ticks of the states from which a replay can begin. The first one begins the run.
    pub keyframes: Vec<u64>,
    /// The offsets of the keyframes' chunks in the recording.
    offsets: Vec<usize>,
}

impl RecordedRun {
    /// Returns a run without steps and keyframes.
    fn beginning_at(tick: u64) -> Self {
        Self {
            ticks: tick..tick,
            keyframes: Vec::new(),
            offsets: Vec::new(),
        }
    }
}

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum RecordingEnd {
    /// The recorder was [finished](crate::recording::Recorder::finish).
    Complete,
    /// The recorder was not finished, or the end is missing. A damaged length can look like this, too.
    Cut {
        /// The number of bytes that can be played.
        at: u64,
    },
    /// Bytes were changed or added.
    Damaged {
        /// The number of bytes that can be played.
        at: u64,
    },
}

impl<B: AsRef<[u8]>> Recording<B> {
    /// Reads and checks a whole recording, and finds its keyframes.
    ///
    /// # Errors
    /// [`ReplayError::NotARecording`], [`ReplayError::Format`], [`ReplayError::Contents`], or [`ReplayError::State`] if
    /// this build cannot load the first state. Bytes that are missing or damaged later are not an error.
    pub fn read(bytes: B) -> Result<Self, ReplayError> {
        START.strip(bytes.as_ref()).map_err(|error| match error {
            NoStart::Format(found) => ReplayError::Format { found },
            NoStart::Magic | NoStart::Cut => ReplayError::NotARecording,
        })?;
        let mut recording = Self {
            bytes,
            runs: Vec::new(),
            fingerprint: None,
            end: Start::LEN,
            ending: RecordingEnd::Complete,
        };
        recording.ending = recording.scan()?;
        Ok(recording)
    }

    /// Finds the runs and their keyframes, up to the end or the first damaged chunk. Returns which of these it was. If
    /// a recording was cut at its front, its first run begins with a keyframe.
    fn scan(&mut self) -> Result<RecordingEnd, ReplayError> {
        let mut rest = &self.bytes.as_ref()[Start::LEN..];
        loop {
            let at = self.end as u64;
            let (chunk, after) = match chunk::take(rest) {
                Err(NoChunk::Cut) => return Ok(RecordingEnd::Cut { at }),
                Err(NoChunk::Damaged) => return Ok(RecordingEnd::Damaged { at }),
                Ok(taken) => taken,
            };
            match chunk.kind {
                ChunkKind::Run | ChunkKind::Keyframe => {
                    let state = StateChunk::decode(chunk.contents).ok_or(ReplayError::Contents)?;
                    if self.runs.is_empty() {
                        self.fingerprint = Some(fingerprint_of(state.simulation)?);
                    }
                    if chunk.kind == ChunkKind::Run || self.runs.is_empty() {
                        self.runs.push(RecordedRun::beginning_at(state.tick));
                    }
                    if let Some(run) = self.runs.last_mut() {
                        run.keyframes.push(state.tick);
                        run.offsets.push(self.end);
                    }
                }
                ChunkKind::Input => {
                    let (tick, _) =
                        chunk::tick_and_input(chunk.contents).ok_or(ReplayError::Contents)?;
                    // If the tick does not follow, the game has assigned another state before this step, and the run
                    // has ended.
                    let run = self.runs.last_mut();
                    if let Some(run) = run.filter(|run| run.ticks.end == tick) {
                        run.ticks.end = tick.saturating_add(1);
                    }
                }
                ChunkKind::End if after.is_empty() => return Ok(RecordingEnd::Complete),
                // Bytes were added after the end.
                ChunkKind::End => return Ok(RecordingEnd::Damaged { at }),
                ChunkKind::Frame | ChunkKind::StepRan => (),
            }
            self.end += rest.len() - after.len();
            rest = after;
        }
    }

    /// Returns how the recording ends.
    #[must_use]
    pub fn ending(&self) -> RecordingEnd {
        self.ending
    }

    /// Returns the runs of the recording.
    #[must_use]
    pub fn runs(&self) -> &[RecordedRun] {
        &self.runs
    }

    /// Returns the [`fingerprint`](crate::saving::fingerprint()) of the machine on which it was recorded, or `None` if
    /// it has no state. On a machine with another one, a replay may differ.
    #[must_use]
    pub fn fingerprint(&self) -> Option<u64> {
        self.fingerprint
    }

    /// Returns a replay of the whole recording.
    #[must_use]
    pub fn replay(&self) -> Replay<'_> {
        self.replay_from(0, 0)
    }

    /// Returns a replay from the last keyframe of a run at or before a tick, or from the beginning of the run if that
    /// is later, to the end of the recording. Steps before `tick` are replayed too. `run` is an index of
    /// [`runs`](Self::runs), or the replay is empty.
    #[must_use]
    pub fn replay_from(&self, run: usize, tick: u64) -> Replay<'_> {
        let start = self.runs.get(run).map_or(self.end, |run| {
            let last = run.keyframes.iter().rposition(|keyframe| *keyframe <= tick);
            run.offsets[last.unwrap_or(0)]
        });
        // Later runs follow. Until the replay reads a step, it reports differences at `tick`.
        Replay::new(&self.bytes.as_ref()[start..self.end], tick)
    }
}

impl<B> fmt::Debug for Recording<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("runs", &self.runs)
            .field("ending", &self.ending)
            .finish_non_exhaustive()
    }
}
