//! Saved states: a header that identifies the build, and the contents in postcard's format. Recordings begin in the
//! same way.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::bytes::fingerprint;

/// The first bytes of a file: eight letters that name its type, and the number of its format.
pub(crate) struct Start {
    pub magic: [u8; 8],
    pub format: u32,
}

/// Why bytes do not begin with a [`Start`]: they have other letters, no format number, or another one.
pub(crate) enum NoStart {
    Magic,
    Cut,
    Format(u32),
}

impl Start {
    pub const LEN: usize = 8 + 4;

    pub fn bytes(&self) -> Vec<u8> {
        [&self.magic[..], &self.format.to_le_bytes()].concat()
    }

    /// Checks that these bytes begin with this magic and format number, and returns the bytes that follow.
    pub fn strip<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], NoStart> {
        let rest = bytes.strip_prefix(&self.magic).ok_or(NoStart::Magic)?;
        let (format, rest) = rest.split_first_chunk().ok_or(NoStart::Cut)?;
        match u32::from_le_bytes(*format) {
            format if format == self.format => Ok(rest),
            format => Err(NoStart::Format(format)),
        }
    }
}

/// Returns the first `N` bytes of a hash of all bytes, except the `N` bytes at `at`, where the checksum itself is
/// written.
pub(crate) fn checksum<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut hasher = XxHash3_64::new();
    hasher.write(&bytes[..at]);
    hasher.write(&bytes[at + N..]);
    let sum = hasher.finish().to_le_bytes();
    std::array::from_fn(|i| sum[i])
}

/// Decodes a value from these bytes, or returns `None` if they are invalid or some are left over.
pub(crate) fn decode<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// The type of a saved state. The format number is raised when the data after the header changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateType {
    Simulation,
    Physics,
}

const FORMAT: u32 = 8;

impl StateType {
    const ALL: [Self; 2] = [Self::Simulation, Self::Physics];

    const fn start(self) -> Start {
        Start {
            magic: match self {
                Self::Simulation => *b"evenstep",
                Self::Physics => *b"evenphys",
            },
            format: FORMAT,
        }
    }

    fn is_of(self, bytes: &[u8]) -> bool {
        bytes.starts_with(&self.start().magic)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Simulation => "Simulation",
            Self::Physics => "Physics",
        }
    }
}

/// The fields after the start, in little-endian bytes.
#[derive(Serialize, Deserialize)]
struct Header {
    rapier: [[u8; 2]; 3],
    layout: Layout,
    fingerprint: [u8; 8],
    len: [u8; 8],
    checksum: [u8; 8],
}

/// A hash of a small state's bytes, which differs between builds whose types have other fields.
pub(crate) type Layout = [u8; 8];

const HEADER_LEN: usize = Start::LEN + size_of::<Header>();

/// The offset of the checksum, the last field of the header.
const CHECKSUM_AT: usize = HEADER_LEN - 8;

/// Why a state cannot be written to bytes. You can still clone it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// A frame is open: call `end_frame`. Or steps are [to be
    /// resimulated](crate::Simulation::steps_to_resimulate): run them, or [`rewind`](crate::Simulation::rewind) to the
    /// tick that [`Physics::tick`](crate::Physics::tick) returns.
    #[error(
        "a simulation cannot be saved within a frame or a rollback: call `end_frame` first, and run the steps that are to \
         be resimulated"
    )]
    WithinFrame,
    /// Rapier [panicked](crate::Simulation#after-a-panic-of-rapier) in a step.
    #[error(
        "Rapier panicked in a step, so its world is in an unknown state: rewind the simulation, or assign a sound state to \
         its `physics`, before you save it"
    )]
    Panicked,
    /// Since the last step, Rapier's world was borrowed mutably, a body with joints or, beside soft bodies, any body was
    /// removed, or the origin was shifted, or no step has run since the state was created from a world with bodies. Save
    /// right after a step, because Rapier does not write changes that no step has processed.
    #[error("Rapier's world was changed since the last step: save right after a step")]
    ChangedSinceStep,
    /// Rapier's world contains something that cannot be serialised.
    #[error(
        "a part of Rapier's world cannot be written, most likely a custom shape: \
         use Rapier's own shapes, or keep a clone"
    )]
    NotWritable,
}

/// Why bytes cannot be loaded as a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes do not begin like a saved state.
    #[error("not a saved state: give `load` the bytes that `save` returned")]
    NotAState,
    /// The bytes are a state of the other type: of a `Physics` instead of a `Simulation`, or the reverse.
    #[error("a saved `{found}`: load it with `{found}::load`")]
    OtherType {
        /// The name of the type that was saved.
        found: &'static str,
    },
    /// The state has another version of the format.
    #[error(
        "a saved state of format {found}, not {}: \
         load it with the version of evenstep that saved it",
        FORMAT
    )]
    Format {
        /// The version in the bytes.
        found: u32,
    },
    /// The state comes from another version of Rapier.
    #[error(
        "a saved state of Rapier {}.{}.{}, not {}: load it with a build for that version",
        found[0], found[1], found[2], rapier::VERSION
    )]
    Rapier {
        /// The major, minor and patch version in the bytes.
        found: [u16; 3],
    },
    /// The state comes from a build with other features.
    #[error(
        "a saved state of a build with other features of evenstep or Rapier: \
         load it with a build that has the same features"
    )]
    Layout,
    /// There are fewer or more bytes than were written.
    #[error(
        "a saved state of {expected} bytes has {found}: give `load` all of its bytes and nothing else"
    )]
    Length {
        /// The number of bytes that were written.
        expected: u64,
        /// The number of bytes that were given.
        found: u64,
    },
    /// The bytes were changed: the checksum is wrong.
    #[error("a saved state whose checksum is wrong: its bytes were changed, load another copy")]
    Checksum,
    /// The checksum is right, but the contents are not those of a state.
    #[error(
        "a saved state whose contents contradict each other: \
         it was not written by `save`, load another one"
    )]
    Contents,
}

/// Returns a saved state: the header, with the checksum of all other bytes, and the encoded contents. `layout` is that
/// of this build, so that a build whose types have other fields can refuse the state.
pub(crate) fn write(
    state: StateType,
    layout: Layout,
    contents: &impl Serialize,
) -> Result<Vec<u8>, SaveError> {
    // The header is filled in last, because it has the length and the checksum of the contents.
    let mut bytes = vec![0; HEADER_LEN];
    bytes = postcard::to_extend(contents, bytes).map_err(|_| SaveError::NotWritable)?;
    // The start and the fields of `Header`, in their order.
    let parts = [
        &state.start().bytes()[..],
        &rapier_version().concat(),
        &layout,
        &fingerprint().to_le_bytes(),
        &(bytes.len() as u64).to_le_bytes(),
    ];
    bytes[..CHECKSUM_AT].copy_from_slice(&parts.concat());
    let sum: [u8; 8] = checksum(&bytes, CHECKSUM_AT);
    bytes[CHECKSUM_AT..HEADER_LEN].copy_from_slice(&sum);
    Ok(bytes)
}

/// Checks the header of a saved state of this type and layout, and returns the decoded contents.
pub(crate) fn read<'b, T: Deserialize<'b>>(
    state: StateType,
    layout: Layout,
    bytes: &'b [u8],
) -> Result<T, LoadError> {
    let (_, contents) = open(state, layout, bytes)?;
    decode(contents).ok_or(LoadError::Contents)
}

/// Returns the fingerprint of the machine that wrote a state of either type.
pub(crate) fn read_fingerprint(layout: Layout, bytes: &[u8]) -> Result<u64, LoadError> {
    let state = StateType::ALL.into_iter().find(|it| it.is_of(bytes));
    let (header, _) = open(state.ok_or(LoadError::NotAState)?, layout, bytes)?;
    Ok(u64::from_le_bytes(header.fingerprint))
}

/// Returns the header and the contents, after every check that is possible before the contents are decoded. `layout` is
/// that of this build, which can only decode states with the same.
fn open(state: StateType, layout: Layout, bytes: &[u8]) -> Result<(Header, &[u8]), LoadError> {
    let found = bytes.len() as u64;
    let wrong_length = |expected| LoadError::Length { expected, found };
    let too_short = wrong_length(HEADER_LEN as u64);
    let rest = state.start().strip(bytes).map_err(|error| match error {
        NoStart::Magic => match StateType::ALL.into_iter().find(|other| other.is_of(bytes)) {
            Some(other) => LoadError::OtherType {
                found: other.name(),
            },
            None => LoadError::NotAState,
        },
        NoStart::Cut => too_short,
        NoStart::Format(found) => LoadError::Format { found },
    })?;
    let header = postcard::take_from_bytes(rest);
    let (header, contents): (Header, _) = header.map_err(|_| too_short)?;
    let expected = u64::from_le_bytes(header.len);
    if expected != found {
        return Err(wrong_length(expected));
    }
    if header.checksum != checksum(bytes, CHECKSUM_AT) {
        return Err(LoadError::Checksum);
    }
    if header.rapier != rapier_version() {
        let found = header.rapier.map(u16::from_le_bytes);
        return Err(LoadError::Rapier { found });
    }
    if header.layout != layout {
        return Err(LoadError::Layout);
    }
    Ok((header, contents))
}

/// Returns the major, minor and patch version of Rapier, each in little-endian bytes. A suffix such as `-beta` is
/// ignored.
fn rapier_version() -> [[u8; 2]; 3] {
    let mut parts = rapier::VERSION.split(['.', '-', '+']);
    let parts = [(); 3].map(|()| parts.next().and_then(|part| part.parse().ok()));
    parts.map(|part: Option<u16>| part.unwrap_or(0).to_le_bytes())
}
