//! The format of a recording: a header, then chunks, each with a checksum of its own.
//!
//! A chunk is its kind (1 byte), the length of its contents and a checksum of kind, length and contents (4 bytes
//! each, little-endian), and the contents, by postcard.

use std::hash::Hasher;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::key::BodyKey;
use crate::simulation::Simulation;
use crate::time::ClockSettings;

/// The first bytes of every recording.
pub(super) const MAGIC: [u8; 8] = *b"evenplay";

/// Counted up when chunks change their meaning. Rapier's version and layout are in each state's own header.
pub(super) const FORMAT: u32 = 1;

/// Magic and format.
pub(super) const HEADER_LEN: usize = 8 + 4;

/// Kind, length, checksum.
const CHUNK_HEADER_LEN: usize = 1 + 4 + 4;

pub(super) fn header() -> Vec<u8> {
    [&MAGIC[..], &FORMAT.to_le_bytes()].concat()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A state that the run goes on from, whatever was before.
    Run = 1,
    /// The state that the run has at this place.
    Keyframe,
    /// A frame begins.
    Frame,
    /// A step was taken: its tick, and its input.
    Input,
    /// It was made.
    Made,
    /// Nothing follows.
    End,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        let kinds = [
            Self::Run,
            Self::Keyframe,
            Self::Frame,
            Self::Input,
            Self::Made,
            Self::End,
        ];
        kinds.into_iter().find(|kind| *kind as u8 == byte)
    }

    pub fn is_state(self) -> bool {
        matches!(self, Self::Run | Self::Keyframe)
    }
}

/// The contents of [`Kind::Frame`].
#[derive(Serialize, Deserialize)]
pub(super) struct Frame {
    pub time: Duration,
    /// What the clock was set to, if it is not what it was before the frame before.
    pub settings: Option<ClockSettings>,
}

/// The contents of [`Kind::Made`], after each part that is due.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Check {
    /// Of the whole simulation.
    pub checksum: Option<[u8; 8]>,
    pub bodies: Option<Bodies>,
}

/// The bodies that are awake, each with a part of its checksum: enough to tell which one differs, where the
/// checksum of the whole says that one does.
#[derive(Serialize, Deserialize)]
pub(super) struct Bodies {
    /// If they are not those of the check before.
    pub keys: Option<Vec<BodyKey>>,
    pub sums: Vec<[u8; 2]>,
}

/// The first bytes of a body's checksum.
pub(super) fn short_sum(simulation: &Simulation, key: BodyKey) -> Option<[u8; 2]> {
    let [a, b, ..] = simulation.body_checksum(key)?.to_le_bytes();
    Some([a, b])
}

/// The bodies that may move, by their keys.
pub(super) fn awake(simulation: &Simulation) -> impl Iterator<Item = BodyKey> {
    let bodies = simulation.bodies();
    let moves =
        bodies.filter(|(_, body)| body.is_enabled() && !body.is_fixed() && !body.is_sleeping());
    moves.map(|(key, _)| key)
}

/// Contents to come, behind room for their header.
pub(super) fn begin() -> Vec<u8> {
    vec![0; CHUNK_HEADER_LEN]
}

/// Writes the header of a chunk whose contents are complete; `None` if they are longer than can be said.
pub(super) fn seal(kind: Kind, chunk: &mut [u8]) -> Option<()> {
    let len = u32::try_from(chunk.len() - CHUNK_HEADER_LEN).ok()?;
    chunk[0] = kind as u8;
    chunk[1..5].copy_from_slice(&len.to_le_bytes());
    let sum = checksum(chunk);
    chunk[5..CHUNK_HEADER_LEN].copy_from_slice(&sum);
    Some(())
}

/// The kind and the whole length of the chunk that begins with these bytes, unchecked; `None` if they are too few
/// to tell, or not of a chunk.
pub(super) fn peek(bytes: &[u8]) -> Option<(Kind, usize)> {
    let (header, _) = bytes.split_first_chunk::<CHUNK_HEADER_LEN>()?;
    let [kind, a, b, c, d, ..] = *header;
    let len = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    Some((Kind::of(kind)?, CHUNK_HEADER_LEN.checked_add(len)?))
}

/// A chunk as it was written.
pub(super) struct Chunk<'r> {
    pub kind: Kind,
    pub contents: &'r [u8],
}

/// Why there is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoChunk {
    Cut,
    Damaged,
}

/// The chunk at the beginning of these bytes, and what follows it.
pub(super) fn take(bytes: &[u8]) -> Result<(Chunk<'_>, &[u8]), NoChunk> {
    if bytes.len() < CHUNK_HEADER_LEN {
        return Err(NoChunk::Cut);
    }
    let (kind, len) = peek(bytes).ok_or(NoChunk::Damaged)?;
    let (chunk, rest) = bytes.split_at_checked(len).ok_or(NoChunk::Cut)?;
    if chunk[5..CHUNK_HEADER_LEN] != checksum(chunk) {
        return Err(NoChunk::Damaged);
    }
    let contents = &chunk[CHUNK_HEADER_LEN..];
    Ok((Chunk { kind, contents }, rest))
}

/// Of all bytes but those of the checksum itself.
fn checksum(chunk: &[u8]) -> [u8; 4] {
    let mut hasher = XxHash3_64::new();
    hasher.write(&chunk[..5]);
    hasher.write(&chunk[CHUNK_HEADER_LEN..]);
    let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
    [a, b, c, d]
}

/// A value that these bytes are, and nothing more.
pub(super) fn decode<'r, T: Deserialize<'r>>(contents: &'r [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(contents).ok()?;
    rest.is_empty().then_some(value)
}

/// The contents of a state: its tick, the game's part, and the simulation.
pub(super) struct State<'r> {
    pub tick: u64,
    pub game: &'r [u8],
    pub simulation: &'r [u8],
}

impl<'r> State<'r> {
    pub fn decode(contents: &'r [u8]) -> Option<Self> {
        let ((tick, game), simulation) = postcard::take_from_bytes(contents).ok()?;
        Some(Self {
            tick,
            game,
            simulation,
        })
    }
}
