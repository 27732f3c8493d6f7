//! Packets as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A packet, for the line.
#[must_use]
pub fn write(packet: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(packet).expect("plain data can be written")
}

/// A packet from the line; `None` for what is none.
#[must_use]
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
