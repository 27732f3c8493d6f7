//! GGRS's messages as packets, over any transport.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use ggrs::{Message, NonBlockingSocket};

/// Carries packets to the other peer and back. They may be lost or overtake each other.
pub trait Carrier {
    /// Sends a packet.
    fn send(&mut self, packet: Vec<u8>);

    /// Returns the packets that have arrived since the last call.
    fn receive(&mut self) -> Vec<Vec<u8>>;
}

/// GGRS's messages to one other peer.
///
/// GGRS's handshake has no room for the game's data, so each packet begins with the sender's fingerprint. Before the
/// first step, both peers know whether they will agree.
pub struct Packets<C> {
    carrier: C,
    fingerprint: u64,
    others: OthersFingerprint,
}

/// The fingerprint of the other peer, after one of its packets has arrived.
pub type OthersFingerprint = Rc<Cell<Option<u64>>>;

impl<C> Packets<C> {
    /// Creates the packets of a machine with this [`fingerprint`](evenstep::saving::fingerprint).
    pub fn new(carrier: C, fingerprint: u64) -> Self {
        Self {
            carrier,
            fingerprint,
            others: OthersFingerprint::default(),
        }
    }

    /// Returns the own fingerprint, and the cell for that of the other peer.
    #[must_use]
    pub fn fingerprints(&self) -> (u64, OthersFingerprint) {
        (self.fingerprint, self.others.clone())
    }
}

impl<C> fmt::Debug for Packets<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packets")
            .field("fingerprint", &self.fingerprint)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}

impl<C: Carrier> NonBlockingSocket<()> for Packets<C> {
    fn send_to(&mut self, message: &Message, (): &()) {
        let packet = (self.fingerprint, message);
        let bytes = postcard::to_stdvec(&packet).expect("messages can be serialized");
        self.carrier.send(bytes);
    }

    fn receive_all_messages(&mut self) -> Vec<((), Message)> {
        let mut messages = Vec::new();
        for bytes in self.carrier.receive() {
            // Drops packets that are not ours.
            if let Ok((fingerprint, message)) = postcard::from_bytes::<(u64, Message)>(&bytes) {
                self.others.set(Some(fingerprint));
                messages.push(((), message));
            }
        }
        messages
    }
}
