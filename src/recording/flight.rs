//! Keeps the last seconds of a run in memory, to write them to a file when something goes wrong.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::bytes::{Start, decode};

use super::chunk::{self, ChunkKind, FrameChunk, START};

/// A writer for a [`Recorder`](crate::recording::Recorder) that keeps the last seconds of a recording in memory, and
/// writes them to a file on request, or when the game panics.
///
/// The file is a recording that begins at a keyframe. So it covers at least the requested time, and at most one
/// interval between keyframes more. Set [`keyframe_every`](crate::recording::RecorderSettings::keyframe_every) to a
/// fraction of the requested time. Leave [`max_keyframe_bytes`](crate::recording::RecorderSettings::max_keyframe_bytes)
/// without a limit, because the flight recorder drops old data itself.
///
/// ```
/// use evenstep::recording::{FlightRecorder, Recorder, RecorderSettings, Recording};
/// use evenstep::{Simulation, Step};
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// let mut settings = RecorderSettings::default();
/// settings.keyframe_every = 120;
/// let path = std::env::temp_dir().join("evenstep-example-crash");
/// let flight = FlightRecorder::new(Duration::from_secs(10), 64 << 20).on_panic(path);
/// let mut recorder = Recorder::new(flight, settings)?;
/// for _ in 0..2_000 {
///     let frame_time = Duration::from_millis(20);
///     recorder.begin_frame(&mut simulation, &(), frame_time)?;
///     simulation.begin_frame(frame_time);
///     while let Some(step) = simulation.next_step() {
///         recorder.input(step, &())?;
///         simulation.make_step();
///         recorder.end_step(&simulation.physics)?;
///     }
///     simulation.end_frame();
/// }
/// // Something went wrong. What led to it?
/// let mut bytes = Vec::new();
/// recorder.writer().write_to(&mut bytes)?;
/// let recording = Recording::read(bytes)?;
/// assert_eq!(recording.runs()[0].ticks, 1_800..2_400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics in your game
/// With [`on_panic`](Self::on_panic), the flight recorder writes its file when a panic drops it. The recorder therefore
/// has to be owned by a stack frame that unwinds. If a panic is caught before that, or aborts the process, call
/// [`write_to`](Self::write_to) at that point, or in a panic hook. The input of the step that panicked is included, so
/// a replay panics in the same step.
#[derive(Debug)]
pub struct FlightRecorder {
    duration: Duration,
    max_bytes: usize,
    on_panic: Option<PathBuf>,
    /// Bytes that do not yet form a whole chunk.
    pending: Vec<u8>,
    /// Whether the recording's header was seen.
    has_header: bool,
    stretches: VecDeque<Stretch>,
}

/// A state and the chunks that follow it, up to the next state.
#[derive(Debug)]
struct Stretch {
    bytes: Vec<u8>,
    time: Duration,
}

impl FlightRecorder {
    /// Creates a flight recorder that keeps the frames of the last `duration`, or fewer if they exceed `max_bytes`.
    ///
    /// `max_bytes` should be at least twice the size of a keyframe and the data up to the next one. If even one such
    /// stretch does not fit, the recorder returns an error, and nothing is kept until the next keyframe. A run's first
    /// state is tried again in each frame.
    #[must_use]
    pub fn new(duration: Duration, max_bytes: usize) -> Self {
        Self {
            duration,
            max_bytes,
            on_panic: None,
            pending: Vec::new(),
            has_header: false,
            stretches: VecDeque::new(),
        }
    }

    /// Sets the file to write if a panic drops the recorder. It replaces an existing file. A failure to write is not
    /// reported.
    #[must_use]
    pub fn on_panic(mut self, path: impl Into<PathBuf>) -> Self {
        self.on_panic = Some(path.into());
        self
    }

    /// Writes the kept data as a recording.
    ///
    /// # Errors
    /// The writer's error.
    pub fn write_to(&self, mut writer: impl Write) -> io::Result<()> {
        writer.write_all(&START.bytes())?;
        for stretch in &self.stretches {
            writer.write_all(&stretch.bytes)?;
        }
        let mut end = chunk::begin();
        chunk::seal(ChunkKind::End, &mut end);
        writer.write_all(&end)?;
        writer.flush()
    }

    /// Returns the length of the first item in `pending`, if it is complete.
    fn whole_len(&self) -> Option<usize> {
        let len = if self.has_header {
            chunk::peek(&self.pending)?.1
        } else {
            Start::LEN
        };
        (self.pending.len() >= len).then_some(len)
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some((kind, _)) = chunk::peek(bytes).filter(|_| self.has_header) else {
            self.has_header = true;
            return Ok(());
        };
        if kind.is_state() {
            self.stretches.push_back(Stretch {
                bytes: Vec::new(),
                time: Duration::ZERO,
            });
        }
        // `write_to` writes the end. Before the first state there is nothing to continue from.
        if kind != ChunkKind::End
            && let Some(last) = self.stretches.back_mut()
        {
            last.bytes.extend_from_slice(bytes);
            if kind == ChunkKind::Frame {
                last.time = last.time.saturating_add(frame_time(bytes));
            }
        }
        self.drop_old()
    }

    fn drop_old(&mut self) -> io::Result<()> {
        let bytes = |stretches: &VecDeque<Stretch>| -> usize {
            stretches.iter().map(|stretch| stretch.bytes.len()).sum()
        };
        while self.stretches.len() > 1
            && (bytes(&self.stretches) > self.max_bytes || self.time_after_first() >= self.duration)
        {
            self.stretches.pop_front();
        }
        if bytes(&self.stretches) > self.max_bytes {
            self.stretches.clear();
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the data between two keyframes exceeds the capacity of the flight recorder",
            ));
        }
        Ok(())
    }

    fn time_after_first(&self) -> Duration {
        let times = self.stretches.iter().skip(1).map(|stretch| stretch.time);
        times.fold(Duration::ZERO, Duration::saturating_add)
    }
}

/// Returns the time of a frame, as its recorder has just written it.
fn frame_time(bytes: &[u8]) -> Duration {
    let frame = chunk::take(bytes).ok();
    let frame = frame.and_then(|(chunk, _)| decode::<FrameChunk>(chunk.contents));
    frame.map_or(Duration::ZERO, |frame| frame.time.duration())
}

/// Receives data from a [`Recorder`](crate::recording::Recorder), in pieces of any size. It is for recorders only.
impl Write for FlightRecorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        while let Some(len) = self.whole_len() {
            let rest = self.pending.split_off(len);
            let whole = std::mem::replace(&mut self.pending, rest);
            self.keep(&whole)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for FlightRecorder {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(path) = &self.on_panic
            && let Ok(file) = File::create(path)
        {
            // A failure can no longer be reported to anyone.
            let _ = self.write_to(io::BufWriter::new(file));
        }
    }
}
