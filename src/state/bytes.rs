//! What saved states and recordings have in common: how they begin, their checksums, their contents.

use std::hash::Hasher;

use serde::Deserialize;
use twox_hash::XxHash3_64;

/// How a file begins: what it is, and the version of its format.
pub(crate) struct Start {
    pub magic: [u8; 8],
    pub format: u32,
}

/// Why a file does not begin like that.
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

    /// What follows it.
    pub fn strip<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], NoStart> {
        let rest = bytes.strip_prefix(&self.magic).ok_or(NoStart::Magic)?;
        let (format, rest) = rest.split_first_chunk().ok_or(NoStart::Cut)?;
        match u32::from_le_bytes(*format) {
            format if format == self.format => Ok(rest),
            format => Err(NoStart::Format(format)),
        }
    }
}

/// The first bytes of a hash of all bytes but those of the checksum itself, which is at `at`.
pub(crate) fn checksum<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut hasher = XxHash3_64::new();
    hasher.write(&bytes[..at]);
    hasher.write(&bytes[at + N..]);
    let sum = hasher.finish().to_le_bytes();
    std::array::from_fn(|i| sum[i])
}

/// A value that these bytes are, and nothing more.
pub(crate) fn decode<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}
