//! GGRS's messages as packets, over whatever carries them.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use ggrs::{Message, NonBlockingSocket};

/// Carries packets to the other end, and from it. They may be lost, and overtake each other.
pub trait Carrier {
    /// Sends a packet.
    fn send(&mut self, packet: Vec<u8>);

    /// What has come since the last call.
    fn receive(&mut self) -> Vec<Vec<u8>>;
}

/// GGRS's messages to one other end.
///
/// GGRS has no room for data of the game in its own handshake, so each packet begins with the sender's fingerprint:
/// before the first step is made, both ends know whether they will agree.
pub struct Packets<C> {
    carrier: C,
    fingerprint: u64,
    others: OthersFingerprint,
}

/// The fingerprint of the other end, as soon as one of its packets has come.
pub type OthersFingerprint = Rc<Cell<Option<u64>>>;

impl<C> Packets<C> {
    /// From a machine with this [`fingerprint`](evenstep::fingerprint).
    pub fn new(carrier: C, fingerprint: u64) -> Self {
        Self {
            carrier,
            fingerprint,
            others: OthersFingerprint::default(),
        }
    }

    /// Its own fingerprint, and where that of the other end will be.
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
        let bytes = postcard::to_stdvec(&packet).expect("a message is plain data");
        self.carrier.send(bytes);
    }

    fn receive_all_messages(&mut self) -> Vec<((), Message)> {
        let mut messages = Vec::new();
        for bytes in self.carrier.receive() {
            // What is none of ours is lost.
            if let Ok((fingerprint, message)) = postcard::from_bytes::<(u64, Message)>(&bytes) {
                self.others.set(Some(fingerprint));
                messages.push(((), message));
            }
        }
        messages
    }
}
