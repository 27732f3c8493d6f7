//! Valid checksums. Their offsets are found by trial, because evenstep's formats are private.

use std::sync::LazyLock;

use evenstep::Simulation;
use evenstep::recording::{Recorder, RecorderSettings};
use twox_hash::XxHash3_64;

/// The first bytes of a saved state.
const STATE: &[u8] = b"evenstep";

/// The size of a chunk's kind and length, and of its whole header, which adds the checksum.
const KIND_AND_LEN: usize = 1 + 4;
const CHUNK_HEADER: usize = KIND_AND_LEN + 4;

struct Places {
    len: usize,
    sum: usize,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let state = Simulation::default()
        .save()
        .expect("the state can be saved");
    let sum = (STATE.len()..200).find(|at| state[*at..at + 8] == sum(&state, *at, 8));
    let len = (state.len() as u64).to_le_bytes();
    let len = (STATE.len()..200).find(|at| state[*at..at + 8] == len);
    Places {
        len: len.expect("the state has its length"),
        sum: sum.expect("the state has a checksum"),
    }
});

/// The offset of the first chunk of a recording.
static CHUNKS_AT: LazyLock<usize> = LazyLock::new(|| {
    let recorder = Recorder::new(Vec::new(), RecorderSettings::default()).expect("a Vec grows");
    let bytes = recorder.finish().expect("a Vec grows");
    bytes.len() - CHUNK_HEADER
});

fn sum(bytes: &[u8], at: usize, len: usize) -> Vec<u8> {
    let others = [&bytes[..at], &bytes[at + len..]].concat();
    XxHash3_64::oneshot(&others).to_le_bytes()[..len].to_vec()
}

/// Returns the offset of a state's contents.
pub fn contents_at() -> usize {
    PLACES.sum + 8
}

/// Writes a valid length and checksum into a state.
pub fn seal(state: &mut [u8]) {
    let Places { len, sum: at } = *PLACES;
    if state.starts_with(STATE) && state.len() >= at + 8 {
        let whole = (state.len() as u64).to_le_bytes();
        state[len..len + 8].copy_from_slice(&whole);
        let sum = sum(state, at, 8);
        state[at..at + 8].copy_from_slice(&sum);
    }
}

/// The chunks of a recording, and the bytes before them.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    start: Vec<u8>,
    pub chunks: Vec<Chunk>,
}

/// A chunk: its kind and its contents.
pub type Chunk = (u8, Vec<u8>);

impl Chunks {
    pub fn of(recording: &[u8]) -> Self {
        let (start, mut rest) = recording.split_at(recording.len().min(*CHUNKS_AT));
        let mut chunks = Vec::new();
        while let Some((header, after)) = rest.split_first_chunk::<CHUNK_HEADER>() {
            let [kind, a, b, c, d, ..] = *header;
            let len = u32::from_le_bytes([a, b, c, d]) as usize;
            let (contents, after) = after.split_at(len.min(after.len()));
            chunks.push((kind, contents.to_vec()));
            rest = after;
        }
        Self {
            start: start.to_vec(),
            chunks,
        }
    }

    /// Returns the recording, with valid checksums of its chunks and of the states in them.
    pub fn sealed(mut self) -> Vec<u8> {
        let mut bytes = self.start;
        for (kind, contents) in &mut self.chunks {
            if let Some(at) = state_in(contents) {
                seal(&mut contents[at..]);
            }
            let mut chunk = vec![*kind];
            chunk.extend((contents.len() as u32).to_le_bytes());
            chunk.extend([0; 4]);
            chunk.extend(&*contents);
            let sum = sum(&chunk, KIND_AND_LEN, 4);
            chunk[KIND_AND_LEN..CHUNK_HEADER].copy_from_slice(&sum);
            bytes.extend(chunk);
        }
        bytes
    }
}

/// Returns the offset of the state in a keyframe.
fn state_in(contents: &[u8]) -> Option<usize> {
    contents
        .windows(STATE.len())
        .position(|window| window == STATE)
}
