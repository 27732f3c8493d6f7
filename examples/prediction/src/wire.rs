//! Serialization of packets.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Serializes a packet.
#[must_use]
pub fn write(packet: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(packet).expect("plain data can be serialized")
}

/// Deserializes a packet. Returns `None` if it is invalid.
#[must_use]
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}
