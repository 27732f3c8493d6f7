//! The format of a recording: a header, then chunks, each with its own checksum.
//!
//! A chunk consists of its kind (1 byte), the length of its contents and a checksum of kind, length and contents (4
//! bytes each, little-endian), and the contents, in postcard's format.

use serde::{Deserialize, Serialize};

use crate::bytes::{Start, checksum};
use crate::key::BodyKey;
use crate::physics::Physics;
use crate::time::{ClockSettings, FrameTime, Requests};

/// The format number is raised when chunks change their meaning. The header of each state has Rapier's version and
/// layout.
pub(super) const START: Start = Start {
    magic: *b"evenplay",
    format: 2,
};

/// The offset of the checksum in a chunk.
const CHECKSUM_AT: usize = 1 + 4;

const HEADER_LEN: usize = CHECKSUM_AT + 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// A state from which the run continues, regardless of earlier chunks.
    Run = 1,
    /// The state of the run at this point.
    Keyframe,
    /// A frame begins.
    Frame,
    Input,
    /// A step was run: its checks.
    StepRan,
    End,
}

impl ChunkKind {
    fn from_byte(byte: u8) -> Option<Self> {
        let kinds = [
            Self::Run,
            Self::Keyframe,
            Self::Frame,
            Self::Input,
            Self::StepRan,
            Self::End,
        ];
        kinds.into_iter().find(|kind| *kind as u8 == byte)
    }

    pub fn is_state(self) -> bool {
        matches!(self, Self::Run | Self::Keyframe)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct FrameChunk {
    pub time: FrameTime,
    /// The settings of the clock, if they changed since the previous frame chunk.
    pub settings: Option<ClockSettings>,
    pub requests: Requests,
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct Check {
    pub checksum: Option<[u8; 8]>,
    pub bodies: Option<BodySums>,
    pub pauses: bool,
}

/// The awake bodies, each with a part of its checksum, to tell which body differs when the checksum of the physics
/// does.
#[derive(Serialize, Deserialize)]
pub(super) struct BodySums {
    pub keys: Option<Vec<BodyKey>>,
    pub sums: Vec<[u8; 2]>,
}

/// Returns two bytes of a body's checksum, which keep a recording short. One difference in 65,536 has the same bytes.
pub(super) fn short_sum(physics: &Physics, key: BodyKey) -> Option<[u8; 2]> {
    let [a, b, ..] = physics.body_checksum(key)?.to_le_bytes();
    Some([a, b])
}

/// Returns the bodies whose checksums are recorded. Fixed, disabled and sleeping bodies are left out, which keeps
/// recordings short.
pub(super) fn awake(physics: &Physics) -> impl Iterator<Item = BodyKey> {
    let bodies = physics.bodies();
    let awake =
        bodies.filter(|(_, body)| body.is_enabled() && !body.is_fixed() && !body.is_sleeping());
    awake.map(|(key, _)| key)
}

/// Returns an empty header, to which the contents of the chunk are appended before [`seal`] writes it.
pub(super) fn begin() -> Vec<u8> {
    vec![0; HEADER_LEN]
}

/// Writes the header of a chunk with complete contents, or returns `None` if they are too long for the length field.
pub(super) fn seal(kind: ChunkKind, chunk: &mut [u8]) -> Option<()> {
    let len = u32::try_from(chunk.len() - HEADER_LEN).ok()?;
    chunk[0] = kind as u8;
    chunk[1..CHECKSUM_AT].copy_from_slice(&len.to_le_bytes());
    let sum: [u8; 4] = checksum(chunk, CHECKSUM_AT);
    chunk[CHECKSUM_AT..HEADER_LEN].copy_from_slice(&sum);
    Some(())
}

/// Returns the kind and the total length, with the header, of the chunk at the start of these bytes, or `None` if they
/// are too few or not a chunk. The checksum is not tested.
pub(super) fn peek(bytes: &[u8]) -> Option<(ChunkKind, usize)> {
    let (header, _) = bytes.split_first_chunk::<HEADER_LEN>()?;
    let [kind, a, b, c, d, ..] = *header;
    let len = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    Some((ChunkKind::from_byte(kind)?, HEADER_LEN.checked_add(len)?))
}

pub(super) struct Chunk<'r> {
    pub kind: ChunkKind,
    pub contents: &'r [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoChunk {
    /// There are fewer bytes than in a chunk, or than in this one.
    Cut,
    Damaged,
}

/// Returns the chunk at the start of these bytes, after a check of its checksum, and the bytes that follow it.
pub(super) fn take(bytes: &[u8]) -> Result<(Chunk<'_>, &[u8]), NoChunk> {
    if bytes.len() < HEADER_LEN {
        return Err(NoChunk::Cut);
    }
    // The length includes the header, so all slices below exist.
    let (kind, len) = peek(bytes).ok_or(NoChunk::Damaged)?;
    let (chunk, rest) = bytes.split_at_checked(len).ok_or(NoChunk::Cut)?;
    if chunk[CHECKSUM_AT..HEADER_LEN] != checksum::<4>(chunk, CHECKSUM_AT) {
        return Err(NoChunk::Damaged);
    }
    let contents = &chunk[HEADER_LEN..];
    Ok((Chunk { kind, contents }, rest))
}

pub(super) struct StateChunk<'r> {
    pub tick: u64,
    /// The game's part of the state.
    pub game: &'r [u8],
    /// The bytes that [`Simulation::save`](crate::Simulation::save) returned.
    pub simulation: &'r [u8],
}

impl<'r> StateChunk<'r> {
    /// Splits the contents of a run or keyframe chunk into its parts, which are still encoded.
    pub fn decode(contents: &'r [u8]) -> Option<Self> {
        let ((tick, game), simulation) = postcard::take_from_bytes(contents).ok()?;
        Some(Self {
            tick,
            game,
            simulation,
        })
    }
}

/// Splits the contents of an input chunk into the tick of its step and the encoded input.
pub(super) fn tick_and_input(contents: &[u8]) -> Option<(u64, &[u8])> {
    postcard::take_from_bytes(contents).ok()
}
