//! Replays a recorded run and checks it.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::DeserializeOwned;

use crate::bytes::{LoadError, decode};
use crate::key::BodyKey;
use crate::physics::Physics;
use crate::simulation::Simulation;
use crate::time::{ClockSettings, FrameTime, Requests, Step};

use super::chunk::{self, Check, Chunk, ChunkKind, FrameChunk, START, StateChunk};

/// Why a recording cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The bytes do not begin like a recording.
    #[error("not a recording: give `Recording::read` the bytes that a `Recorder` has written")]
    NotARecording,
    /// The recording has another version of the format.
    #[error(
        "a recording of format {found}, not {}: \
         play it with the version of evenstep that recorded it",
        START.format
    )]
    Format {
        /// The version in the recording.
        found: u32,
    },
    /// A state in the recording cannot be loaded.
    #[error("a state of the recording cannot be loaded")]
    State(#[from] LoadError),
    /// The game's part of a state does not have the requested type.
    #[error(
        "the recording holds another type for the game's part of the state: \
         ask for the one that was recorded"
    )]
    Game,
    /// The input of a step does not have the requested type.
    #[error(
        "the recording holds another type of input, at tick {tick}: ask for the one that was recorded"
    )]
    Input {
        /// The tick of the step.
        tick: u64,
    },
    /// The checksums are right, but the contents are not those of a recording.
    #[error(
        "a recording whose contents contradict each other: \
         it was not written by a `Recorder`, play another one"
    )]
    Contents,
}

/// A range of steps in which a replay differed from the recording, from [`Replay::differences`].
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Divergence {
    /// The first step whose check failed: with the default [settings](crate::recording::RecorderSettings), the first
    /// step after which a body differed.
    pub tick: u64,
    /// The last step whose check failed before a check succeeded, the replay ended, or it continued from another state.
    pub last_tick: u64,
    /// The bodies that differed at the first of these checks that found any, sorted by key.
    pub bodies: Vec<BodyKey>,
}

/// A player of a recording that checks the results, from [`Recording::replay`](crate::recording::Recording::replay).
///
/// With the feature `enhanced-determinism`, a replay by the same program, on a machine with the same fingerprint, is
/// the recorded run, bit for bit, on any number of threads and from any keyframe. Otherwise, or with some soft bodies,
/// it may diverge some time after a state is [loaded](crate::saving#guarantees).
///
/// If a check fails, the replay continues. To continue from the recorded state, call [`next_run`](Self::next_run).
pub struct Replay<'r> {
    rest: &'r [u8],
    /// The settings of the clock that were read last.
    settings: Option<ClockSettings>,
    /// The bodies that were awake in the recorded run.
    recorded_awake: Vec<BodyKey>,
    /// The tick of the step that was read last.
    tick: u64,
    /// Whether the last check failed, so that the next failure continues the last difference.
    is_different: bool,
    differences: Vec<Divergence>,
}

impl<'r> Replay<'r> {
    /// Creates a replay of these chunks, which begin with a state. A difference that is found before the first step is
    /// reported at `tick`.
    pub(super) fn new(rest: &'r [u8], tick: u64) -> Self {
        Self {
            rest,
            settings: None,
            recorded_awake: Vec::new(),
            tick,
            is_different: false,
            differences: Vec::new(),
        }
    }

    /// Returns the state that the next run begins with, the simulation and your game's part, or `None` at the end of
    /// the recording.
    ///
    /// A run is over when [`begin_frame`](Self::begin_frame) returns `None`. If you call `next_run` before that, it
    /// skips to the next keyframe.
    ///
    /// # Errors
    /// [`ReplayError::State`], [`ReplayError::Game`] or [`ReplayError::Contents`].
    pub fn next_run<G: DeserializeOwned>(
        &mut self,
    ) -> Result<Option<(Simulation, G)>, ReplayError> {
        while let Some(chunk) = self.take() {
            if chunk.kind.is_state() {
                // The simulation continues from the recorded state, so a later difference is another one.
                self.is_different = false;
                let state = StateChunk::decode(chunk.contents).ok_or(ReplayError::Contents)?;
                let simulation = Simulation::load(state.simulation)?;
                let game = decode(state.game).ok_or(ReplayError::Game)?;
                return Ok(Some((simulation, game)));
            }
        }
        Ok(None)
    }

    /// Sets the clock as it was when the next frame was recorded, and returns that frame's time, or `None` at the end
    /// of the run.
    ///
    /// # Errors
    /// [`ReplayError::Contents`]
    pub fn begin_frame(
        &mut self,
        simulation: &mut Simulation,
    ) -> Result<Option<FrameTime>, ReplayError> {
        loop {
            match self.peek() {
                None | Some(ChunkKind::Run | ChunkKind::End) => return Ok(None),
                // The replay continues from its own state, so it skips the recorded one.
                Some(ChunkKind::Keyframe) => {
                    self.take();
                }
                // The last recorded frame has a step that the replayed one did not run.
                Some(ChunkKind::Input | ChunkKind::StepRan) => self.skip_part_of_step()?,
                Some(ChunkKind::Frame) => return self.take_frame(simulation).map(Some),
            }
        }
    }

    /// Returns the input of a step, or `None` if it did not run when it was recorded. End the frame in that case.
    ///
    /// # Errors
    /// [`ReplayError::Input`] or [`ReplayError::Contents`].
    pub fn input<T: DeserializeOwned>(&mut self, step: Step) -> Result<Option<T>, ReplayError> {
        if self.peek() != Some(ChunkKind::Input) {
            // The recorded frame has no more steps.
            return Ok(None);
        }
        let Some(chunk) = self.take() else {
            return Ok(None);
        };
        let (tick, input) = chunk::tick_and_input(chunk.contents).ok_or(ReplayError::Contents)?;
        let ran_when_recorded = match self.peek() {
            Some(ChunkKind::StepRan) => true,
            // The recording was cut off in this step, perhaps by a panic, which the replay of the same step repeats.
            None => tick == step.tick,
            // The recorded step did not run, and its frame ended.
            _ => false,
        };
        if !ran_when_recorded {
            return Ok(None);
        }
        self.tick = tick;
        if tick != step.tick {
            // The ticks differ, whatever the bodies do.
            self.record_difference(Vec::new());
        }
        let input = decode(input).ok_or(ReplayError::Input { tick })?;
        Ok(Some(input))
    }

    /// Checks the simulation after a step, and [pauses](Physics::pause_after_step) after it if that was recorded. Call
    /// it where the recorder's [`end_step`](crate::recording::Recorder::end_step) was called.
    ///
    /// # Errors
    /// [`ReplayError::Contents`]
    pub fn end_step(&mut self, physics: &mut Physics) -> Result<(), ReplayError> {
        match self.peek() {
            // The recording or its run ends in this step: the game panicked or went back in time, or the rest was cut
            // off.
            None | Some(ChunkKind::Run) => Ok(()),
            Some(ChunkKind::StepRan) => self.check_step(physics),
            // The recorded run has no end of a step here.
            Some(_) => {
                self.record_difference(Vec::new());
                Ok(())
            }
        }
    }

    /// Returns the differences from the recording so far, one for each series of steps whose checks failed.
    #[must_use]
    pub fn differences(&self) -> &[Divergence] {
        &self.differences
    }

    /// Returns the kind of the next chunk, or `None` at the end.
    fn peek(&self) -> Option<ChunkKind> {
        chunk::peek(self.rest).map(|(kind, _)| kind)
    }

    /// Returns the next chunk and goes past it.
    fn take(&mut self) -> Option<Chunk<'r>> {
        let (chunk, rest) = chunk::take(self.rest).ok()?;
        self.rest = rest;
        Some(chunk)
    }

    /// Goes past the next chunk, and returns its decoded contents.
    fn take_contents<T: DeserializeOwned>(&mut self) -> Result<T, ReplayError> {
        let chunk = self.take().ok_or(ReplayError::Contents)?;
        decode(chunk.contents).ok_or(ReplayError::Contents)
    }

    /// Goes past the input or the end of a recorded step that this replay has not run. This counts as a difference,
    /// unless the recorded step did not run either.
    fn skip_part_of_step(&mut self) -> Result<(), ReplayError> {
        if self.peek() == Some(ChunkKind::StepRan) {
            self.take_check()?;
        } else {
            let chunk = self.take().ok_or(ReplayError::Contents)?;
            // The step did not run, and the run ends in it.
            if self.peek() == Some(ChunkKind::Run) {
                return Ok(());
            }
            (self.tick, _) = chunk::tick_and_input(chunk.contents).ok_or(ReplayError::Contents)?;
        }
        self.record_difference(Vec::new());
        Ok(())
    }

    /// Reads the next frame, and sets the clock as it was when it was recorded. Returns its frame time.
    fn take_frame(&mut self, simulation: &mut Simulation) -> Result<FrameTime, ReplayError> {
        let frame: FrameChunk = self.take_contents()?;
        // Settings that did not change are not recorded again.
        self.settings = frame.settings.or(self.settings.take());
        let settings = self.settings.clone().ok_or(ReplayError::Contents)?;
        *simulation.clock_settings_mut() = settings;
        // A forged number must not request billions of single steps. Each recorded step takes more than one byte.
        let most = u32::try_from(self.rest.len()).unwrap_or(u32::MAX);
        simulation.set_requests(Requests {
            single_steps: frame.requests.single_steps.min(most),
            ..frame.requests
        });
        Ok(frame.time)
    }

    /// Reads the recorded end of a step, and takes over which bodies were awake after it.
    fn take_check(&mut self) -> Result<Check, ReplayError> {
        let mut check: Check = self.take_contents()?;
        let keys = check.bodies.as_mut().and_then(|bodies| bodies.keys.take());
        // Keys that did not change are not recorded again.
        if let Some(keys) = keys {
            self.recorded_awake = keys;
        }
        Ok(check)
    }

    /// Reads the recorded end of a step, pauses if the recorded run did there, and compares the checksum if it has one.
    fn check_step(&mut self, physics: &mut Physics) -> Result<(), ReplayError> {
        let check = self.take_check()?;
        if check.pauses {
            physics.pause_after_step();
        }
        let Some(checksum) = check.checksum else {
            return Ok(());
        };
        if checksum == physics.checksum().to_le_bytes() {
            self.is_different = false;
            return Ok(());
        }
        let bodies = check.bodies.map(|bodies| bodies.sums);
        let differing = bodies.map(|sums| self.differing_bodies(physics, &sums));
        self.record_difference(differing.unwrap_or_default());
        Ok(())
    }

    /// Returns the bodies that differ from the recorded run, sorted by key. `sums` are the recorded checksums of the
    /// bodies that were awake in it.
    fn differing_bodies(&self, physics: &Physics, sums: &[[u8; 2]]) -> Vec<BodyKey> {
        let recorded_keys: BTreeSet<BodyKey> = self.recorded_awake.iter().copied().collect();
        let awake_only_in_replay = chunk::awake(physics).filter(|key| !recorded_keys.contains(key));
        let recorded = self.recorded_awake.iter().zip(sums);
        let changed = recorded.filter(|(key, sum)| chunk::short_sum(physics, **key) != Some(**sum));
        let changed = changed.map(|(key, _)| *key);
        // A set sorts the keys.
        let all: BTreeSet<BodyKey> = changed.chain(awake_only_in_replay).collect();
        all.into_iter().collect()
    }

    /// Records that the last step differs from the recorded run. `bodies` is empty if the recording cannot tell which
    /// bodies differ. Extends the last difference if the step before differed, too.
    fn record_difference(&mut self, bodies: Vec<BodyKey>) {
        // Until it is set below, `is_different` describes the step before.
        match self.differences.last_mut().filter(|_| self.is_different) {
            Some(difference) => {
                difference.last_tick = self.tick;
                if difference.bodies.is_empty() {
                    difference.bodies = bodies;
                }
            }
            None => self.differences.push(Divergence {
                tick: self.tick,
                last_tick: self.tick,
                bodies,
            }),
        }
        self.is_different = true;
    }
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("tick", &self.tick)
            .field("bytes_to_come", &self.rest.len())
            .field("differences", &self.differences)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Start;
    use crate::bytes::checksum;
    use crate::recording::Recording;
    use crate::time::{Clock, Rate};
    use proptest::prelude::*;
    use rapier::prelude::*;
    use std::time::Duration;

    fn chunk(kind: ChunkKind, contents: &[u8]) -> Vec<u8> {
        let mut bytes = [chunk::begin(), contents.to_vec()].concat();
        chunk::seal(kind, &mut bytes).unwrap();
        bytes
    }

    fn recording_of(state: &[u8]) -> Vec<u8> {
        let mut contents = postcard::to_stdvec(&(0u64, &[0u8; 0][..])).unwrap();
        contents.extend_from_slice(state);
        [START.bytes(), chunk(ChunkKind::Run, &contents)].concat()
    }

    fn state() -> Vec<u8> {
        let mut simulation = Simulation::default();
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
        simulation.advance(Duration::from_millis(20), |_, _| ());
        simulation.save().unwrap()
    }

    /// Returns a state with some bytes of its header changed, and a valid checksum.
    fn state_with(at: usize, byte: u8) -> Vec<u8> {
        let mut state = state();
        state[at] = byte;
        let sum: [u8; 8] = checksum(&state, 42);
        state[42..50].copy_from_slice(&sum);
        state
    }

    #[test]
    fn recordings_of_other_versions_and_builds_are_refused() {
        let refused = |bytes: &[u8]| Recording::read(bytes).unwrap_err();
        assert!(Recording::read(recording_of(&state())).is_ok());
        let other = recording_of(&state_with(14, 99));
        assert!(matches!(
            refused(&other),
            ReplayError::State(LoadError::Rapier { found: [_, 99, _] })
        ));
        let layout = state()[20];
        let other = recording_of(&state_with(20, !layout));
        assert_eq!(refused(&other), ReplayError::State(LoadError::Layout));
        let other = recording_of(&state_with(8, 99));
        let error = LoadError::Format { found: 99 };
        assert_eq!(refused(&other), ReplayError::State(error));
        let mut newer = recording_of(&state());
        newer[8] = 9;
        assert_eq!(refused(&newer), ReplayError::Format { found: 9 });
        assert_eq!(refused(b"evenplay"), ReplayError::NotARecording);
        assert_eq!(refused(&state()), ReplayError::NotARecording);
    }

    fn play(bytes: &[u8]) -> Result<u64, ReplayError> {
        let recording = Recording::read(bytes)?;
        let mut replay = recording.replay();
        let mut steps = 0;
        while let Some((mut simulation, ())) = replay.next_run()? {
            while let Some(frame_time) = replay.begin_frame(&mut simulation)? {
                simulation.begin_frame(frame_time);
                while let Some(step) = simulation.next_step() {
                    let Some(()) = replay.input(step)? else { break };
                    simulation.run_step();
                    steps += 1;
                    replay.end_step(&mut simulation.physics)?;
                }
                simulation.end_frame();
            }
        }
        Ok(steps)
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        /// Plays chunks that no recorder writes, with valid checksums.
        #[test]
        fn arbitrary_chunks_with_valid_checksums_never_panic(
            chunks in prop::collection::vec(
                (0..6u8, prop::collection::vec(any::<u8>(), 0..40), any::<bool>()), 0..40,
            ),
        ) {
            let state = state();
            let mut bytes = recording_of(&state);
            let mut clock = Clock::new(Rate::default());
            clock.pause();
            // More single steps than a game could request.
            let requests = Requests {
                single_steps: u32::MAX,
                ..Requests::default()
            };
            for (kind, contents, is_plain) in chunks {
                let frame = FrameChunk {
                    time: Duration::from_millis(contents.len() as u64 * 1_000).into(),
                    settings: Some(clock.settings().clone()),
                    requests,
                };
                let chunk = match kind {
                    0 => recording_of(&state).split_off(Start::LEN),
                    1 if is_plain => chunk(ChunkKind::Frame, &postcard::to_stdvec(&frame).unwrap()),
                    1 => chunk(ChunkKind::Frame, &contents),
                    2 if is_plain => chunk(ChunkKind::Input, &[contents.len() as u8]),
                    2 => chunk(ChunkKind::Input, &contents),
                    3 => chunk(ChunkKind::StepRan, &contents),
                    4 => chunk(ChunkKind::Keyframe, &contents),
                    _ => chunk(ChunkKind::StepRan, &[0, 0]),
                };
                bytes.extend(chunk);
            }
            let _ = play(&bytes);
        }

        #[test]
        fn arbitrary_bytes_replay_no_step_and_never_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200), has_header in any::<bool>(),
        ) {
            let header = START.bytes();
            let bytes = if has_header { [header, bytes].concat() } else { bytes };
            prop_assert_eq!(play(&bytes).unwrap_or(0), 0);
        }
    }
}
