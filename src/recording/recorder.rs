//! Writes a run while it is played: states, frames, inputs, checksums.

use std::io::{self, Write};

use serde::Serialize;

use crate::bytes::SaveError;
use crate::key::BodyKey;
use crate::physics::Physics;
use crate::simulation::Simulation;
use crate::time::{Clock, ClockSettings, FrameTime, Step};

use super::chunk::{self, BodySums, Check, ChunkKind, FrameChunk, START};

/// How often a [`Recorder`] writes checksums and keyframes.
///
/// Sizes at 60 Hz, with all bodies awake, and without input:
///
/// | | 100 bodies | 1,000 bodies |
/// | --- | --- | --- |
/// | without checksums of bodies, per second | 2.7 kB | 2.7 kB |
/// | with them | 15 kB | 123 kB |
/// | a keyframe of free bodies | 78 kB | 0.8 MB |
/// | a keyframe of a heap | 0.6 MB | 7.7 MB |
///
/// A keyframe of a heap of 1,000 bodies takes about 25 ms in one frame. To choose the moment, set `keyframe_every` to
/// 0, and call [`new_run`](Recorder::new_run).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct RecorderSettings {
    /// The number of steps between [checksums of the physics](crate::Physics::checksum): 1 by default. With 0 they are
    /// written only with the checksums of the bodies.
    pub check_every: u64,
    /// The number of steps between checksums of all awake bodies: 1 by default. With 0 there are none.
    pub check_bodies_every: u64,
    /// The number of steps between keyframes: 600 by default. With 0, only the start of a run has one. A keyframe costs
    /// as much as [`Simulation::save`], and is postponed if [`SaveError::ChangedSinceStep`] prevents it.
    pub keyframe_every: u64,
    /// The maximum number of bytes for all keyframes, without the states at the start of runs: no limit by default.
    /// Towards the limit, keyframes become rarer, and those that do not fit are omitted.
    pub max_keyframe_bytes: u64,
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self {
            check_every: 1,
            check_bodies_every: 1,
            // Every ten seconds at 60 Hz.
            keyframe_every: 600,
            max_keyframe_bytes: u64::MAX,
        }
    }
}

/// Why something was not recorded. Your game can continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The writer failed. Later data can be read only if it wrote nothing of the failed part.
    #[error("the recording's writer failed: begin a new recording, with a writer that works")]
    Io(#[from] io::Error),
    /// The state cannot be written.
    #[error("a state cannot be saved for the recording: the source of this error names the remedy")]
    Save(#[from] SaveError),
    /// The input, or the game's part of a state, is longer than 4 GiB or not writable in postcard's format.
    #[error(
        "the input or the game's part of the state cannot be recorded: \
         use types that postcard can write, below 4 GiB"
    )]
    Game,
}

/// A writer of a run while it is played, for a [`Replay`](crate::recording::Replay).
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::recording::{Recorder, RecorderSettings, Recording};
/// use evenstep::{BodyKey, Simulation};
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// // The game's part of the state: here, the key of a body.
/// let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
/// let mut recorder = Recorder::new(Vec::new(), RecorderSettings::default())?;
/// for _ in 0..100 {
///     let frame_time = Duration::from_millis(7);
///     recorder.begin_frame(&mut simulation, &ball, frame_time)?;
///     simulation.begin_frame(frame_time);
///     while let Some(due) = simulation.next_step() {
///         let input = due.tick as f32;
///         recorder.input(due, &input)?;
///         simulation.physics.add_force(ball, Vector::X * input)?;
///         simulation.run_step();
///         recorder.end_step(&simulation.physics)?;
///     }
///     simulation.end_frame();
/// }
/// let bytes = recorder.finish()?;
///
/// let recording = Recording::read(bytes)?;
/// let mut replay = recording.replay();
/// while let Some((mut simulation, ball)) = replay.next_run::<BodyKey>()? {
///     while let Some(frame_time) = replay.begin_frame(&mut simulation)? {
///         simulation.begin_frame(frame_time);
///         while let Some(due) = simulation.next_step() {
///             let Some(input) = replay.input::<f32>(due)? else { break };
///             simulation.physics.add_force(ball, Vector::X * input)?;
///             simulation.run_step();
///             replay.end_step(&mut simulation.physics)?;
///         }
///         simulation.end_frame();
///     }
/// }
/// assert_eq!(replay.differences(), []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With [`Hooks`](crate::Hooks), call [`begin_frame`](Self::begin_frame) last in
/// [`before_frame`](crate::Hooks::before_frame), [`input`](Self::input) first in
/// [`before_step`](crate::Hooks::before_step), and [`end_step`](Self::end_step) last in
/// [`after_step`](crate::Hooks::after_step).
///
/// # Contents
/// - At the beginning and in later keyframes, the state as [`Simulation::save`] writes it, and your game's part.
/// - For each frame, its time and the settings of the clock at its beginning. A `resume` within a frame is not
///   recorded.
/// - For each step, its input, which is any value that postcard can write and read, and a checksum of the state after
///   it.
///
/// Other changes between two frames are not recorded, so make them in a step, from its input, or call
/// [`new_run`](Self::new_run) after them.
#[derive(Debug)]
pub struct Recorder<W> {
    writer: W,
    settings: RecorderSettings,
    /// Whether the state at the start of the run was written.
    run_has_state: bool,
    steps_since_state: u64,
    keyframe_bytes: u64,
    /// The settings and the awake bodies that were last written since the last state. A reader knows them.
    written_settings: Option<ClockSettings>,
    written_awake: Option<Vec<BodyKey>>,
    /// Whether the input of a step was recorded, and its end was not.
    is_in_step: bool,
    /// The simulation's number for the run of its state at the last frame. If it differs, the state was replaced.
    simulation_run: Option<u64>,
    /// How many frames the simulation had begun at the last recorded one.
    frames_begun: u64,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording. The recorder writes in small pieces, so wrap a file in a [`BufWriter`](io::BufWriter).
    ///
    /// # Errors
    /// [`RecordError::Io`]
    pub fn new(mut writer: W, settings: RecorderSettings) -> Result<Self, RecordError> {
        writer.write_all(&START.bytes())?;
        Ok(Self {
            writer,
            settings,
            run_has_state: false,
            steps_since_state: 0,
            keyframe_bytes: 0,
            written_settings: None,
            written_awake: None,
            is_in_step: false,
            simulation_run: None,
            frames_begun: 0,
        })
    }

    /// Begins a new run within the recording: the next frame begins with a state from which a replay continues.
    ///
    /// Call it after changing the state outside of steps. After an assignment, going back, `set_tick`, a step without
    /// `end_step`, a frame that was not recorded, and an error of the recorder, a new run begins by itself. If
    /// [`SaveError::ChangedSinceStep`] or an unfinished rollback prevents the state, frames are omitted until it can be
    /// written. So if your game goes back before each frame, use [`resimulate`](Simulation::resimulate) instead of
    /// [`roll_back`](Simulation::roll_back), which would prevent the state in every frame.
    pub fn new_run(&mut self) {
        self.run_has_state = false;
    }

    /// Records a frame that is about to begin, and a keyframe if one is due. `game` is everything that your steps
    /// depend on besides the simulation and their input.
    ///
    /// # Errors
    /// [`RecordError`]. If only a keyframe cannot be written, the frame is still recorded.
    pub fn begin_frame<G: Serialize>(
        &mut self,
        simulation: &mut Simulation,
        game: &G,
        frame_time: impl Into<FrameTime>,
    ) -> Result<(), RecordError> {
        // If the game has assigned a state, this gives it the number of another run.
        simulation.take_over();
        let run = simulation.physics.running.run_number;
        let is_replaced = std::mem::replace(&mut self.simulation_run, run) != run;
        let frames_begun = simulation.frames_begun;
        // Since the last call, the game must have begun one frame, the recorded one. A replay would lack any others.
        let has_unrecorded_frames = frames_begun.saturating_sub(self.frames_begun) != 1;
        self.frames_begun = frames_begun;
        // A step without an end did not run, but the game may have changed the state in it, which only a new run
        // records.
        if std::mem::take(&mut self.is_in_step) || has_unrecorded_frames || is_replaced {
            self.new_run();
        }
        let result = self.record_state_if_due(simulation, game);
        if self.run_has_state {
            self.record_frame(simulation.clock(), frame_time.into())?;
        }
        result
    }

    /// Records the input of a step. Call it once in each step, before your game acts on the input. Resimulated steps
    /// are not recorded.
    ///
    /// # Errors
    /// [`RecordError::Io`] if the writer fails, or [`RecordError::Game`] if the input cannot be written.
    pub fn input<T: Serialize>(&mut self, step: Step, input: &T) -> Result<(), RecordError> {
        // A resimulated step is not recorded, so the run after it needs a new state. If the end of the previous step is
        // missing, it did not run, even if it begins again in the same frame.
        if step.is_resimulated || self.is_in_step {
            self.new_run();
        }
        self.is_in_step = true;
        // This writes nothing until the new run has its state.
        self.record(ChunkKind::Input, &(step.tick, input))
    }

    /// Records that the step was run, with the checksums that are due. Call it last in the hook after the step.
    ///
    /// If your game has replaced the state in this frame, the recorded run ends before this step.
    ///
    /// # Errors
    /// [`RecordError::Io`]
    pub fn end_step(&mut self, physics: &Physics) -> Result<(), RecordError> {
        self.is_in_step = false;
        self.steps_since_state += 1;
        // The game has replaced the state since the frame was recorded.
        if self.simulation_run != physics.running.run_number {
            self.new_run();
        }
        if !self.run_has_state {
            return Ok(());
        }
        let tick = physics.tick().saturating_sub(1);
        // With 0, no check is due.
        let is_due = |every| tick.checked_rem(every) == Some(0);
        let checks_bodies = is_due(self.settings.check_bodies_every);
        let checks = checks_bodies || is_due(self.settings.check_every);
        let check = Check {
            checksum: checks.then(|| physics.checksum().to_le_bytes()),
            bodies: checks_bodies.then(|| self.body_sums(physics)),
            pauses: physics.running.pauses,
        };
        self.record(ChunkKind::StepRan, &check)
    }

    /// Ends the recording, and flushes and returns the writer.
    ///
    /// # Errors
    /// [`RecordError::Io`]
    pub fn finish(mut self) -> Result<W, RecordError> {
        // `record` writes nothing while a run has no state, but a recording always needs its end.
        self.run_has_state = true;
        self.record(ChunkKind::End, &())?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    /// Returns the writer.
    #[must_use]
    pub fn writer(&self) -> &W {
        &self.writer
    }

    /// Writes the state if a run begins or a keyframe is due. If the state cannot be saved now, a later frame tries
    /// again. A keyframe beyond the limit of bytes is not written.
    fn record_state_if_due<G: Serialize>(
        &mut self,
        simulation: &Simulation,
        game: &G,
    ) -> Result<(), RecordError> {
        let kind = if !self.run_has_state {
            ChunkKind::Run
        } else if self.keyframe_is_due() {
            ChunkKind::Keyframe
        } else {
            return Ok(());
        };
        let state = match simulation.save() {
            Err(SaveError::WithinFrame | SaveError::ChangedSinceStep) => return Ok(()),
            state => state?,
        };
        // A keyframe that is too large is not tried again in each frame.
        self.steps_since_state = 0;
        let game = postcard::to_stdvec(game).map_err(|_| RecordError::Game)?;
        // The parts of a `StateChunk`.
        let tick_and_game = (simulation.physics.tick(), &game[..]);
        let mut bytes =
            postcard::to_extend(&tick_and_game, chunk::begin()).map_err(|_| RecordError::Game)?;
        bytes.extend_from_slice(&state);
        if kind == ChunkKind::Keyframe {
            let all = self.keyframe_bytes.saturating_add(bytes.len() as u64);
            if all > self.settings.max_keyframe_bytes {
                return Ok(());
            }
            self.keyframe_bytes = all;
        }
        self.write(kind, bytes)?;
        // A replay that begins here has read nothing before, so both are written again.
        (self.written_settings, self.written_awake) = (None, None);
        self.run_has_state = true;
        Ok(())
    }

    /// Returns whether a keyframe is due. The more of the bytes for keyframes are used, the more steps are between two.
    fn keyframe_is_due(&self) -> bool {
        let max = self.settings.max_keyframe_bytes;
        let free = max - self.keyframe_bytes;
        // Without free bytes, no keyframe is due.
        let factor = max.checked_div(free).unwrap_or(u64::MAX);
        let distance = self.settings.keyframe_every.saturating_mul(factor);
        // With 0, keyframes are off.
        distance > 0 && self.steps_since_state >= distance
    }

    /// Records a frame, with the settings of the clock unless the same ones were written last.
    fn record_frame(&mut self, clock: &Clock, time: FrameTime) -> Result<(), RecordError> {
        let is_written = self.written_settings.as_ref() == Some(clock.settings());
        let frame = FrameChunk {
            time,
            settings: (!is_written).then(|| clock.settings().clone()),
            requests: clock.requests(),
        };
        self.record(ChunkKind::Frame, &frame)?;
        if frame.settings.is_some() {
            self.written_settings = frame.settings;
        }
        Ok(())
    }

    /// Returns the checksums of the awake bodies, with their keys unless the same ones were written last.
    fn body_sums(&mut self, physics: &Physics) -> BodySums {
        let awake: Vec<BodyKey> = chunk::awake(physics).collect();
        let sums = awake.iter();
        let sums = sums.filter_map(|key| chunk::short_sum(physics, *key));
        BodySums {
            sums: sums.collect(),
            keys: (self.written_awake.as_ref() != Some(&awake)).then(|| {
                self.written_awake = Some(awake.clone());
                awake
            }),
        }
    }

    /// Writes a chunk with these contents, unless the first state of the run is not written yet, without which no
    /// replay can use them.
    fn record<T: Serialize>(&mut self, kind: ChunkKind, contents: &T) -> Result<(), RecordError> {
        if !self.run_has_state {
            return Ok(());
        }
        let bytes = postcard::to_extend(contents, chunk::begin()).map_err(|_| RecordError::Game);
        let result = bytes.and_then(|bytes| self.write(kind, bytes));
        if result.is_err() {
            // A replay would lack this part of the run.
            self.new_run();
        }
        result
    }

    /// Writes a chunk with the contents after the room for the header.
    fn write(&mut self, kind: ChunkKind, mut bytes: Vec<u8>) -> Result<(), RecordError> {
        chunk::seal(kind, &mut bytes).ok_or(RecordError::Game)?;
        Ok(self.writer.write_all(&bytes)?)
    }
}
