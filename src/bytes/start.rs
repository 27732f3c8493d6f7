//! The common parts of saved states and recordings: their starts, checksums and contents.

use std::hash::Hasher;

use serde::Deserialize;
use twox_hash::XxHash3_64;

/// The start of a file: its type, and the version of its format.
pub(crate) struct Start {
    pub magic: [u8; 8],
    pub format: u32,
}

/// Why the start of a file is invalid.
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

    /// Returns the bytes that follow the start.
    pub fn strip<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], NoStart> {
        let rest = bytes.strip_prefix(&self.magic).ok_or(NoStart::Magic)?;
        let (format, rest) = rest.split_first_chunk().ok_or(NoStart::Cut)?;
        match u32::from_le_bytes(*format) {
            format if format == self.format => Ok(rest),
            format => Err(NoStart::Format(format)),
        }
    }
}

/// Returns the first bytes of a hash of all bytes, except those of the checksum itself at `at`.
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
