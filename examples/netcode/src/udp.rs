//! GGRS's messages over UDP between two sockets of this machine, by a bad [`Line`].

use std::cell::Cell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::time::Duration;

use ggrs::{Message, NonBlockingSocket};

use crate::line::{Line, Quality};

/// The time by which packets are under way: the host of the sockets sets it.
pub type Now = Rc<Cell<Duration>>;

/// A UDP socket on the loopback interface. What it sends goes over a bad line first.
///
/// GGRS has no room for data of the game in its own handshake, so each packet begins with the sender's fingerprint:
/// before the first step is made, both ends know whether they will agree.
#[derive(Debug)]
pub struct LoopbackSocket {
    socket: UdpSocket,
    line: Line<(SocketAddr, Vec<u8>)>,
    now: Now,
    fingerprint: u64,
    others: OthersFingerprint,
}

/// The fingerprint of the other end, as soon as one of its packets has come.
pub type OthersFingerprint = Rc<Cell<Option<u64>>>;

/// Bytes: a message of GGRS holds the input of some ticks, a byte or less each.
const LARGEST: usize = 1 << 12;

impl LoopbackSocket {
    /// A socket on a free port, of a machine with this [`fingerprint`](evenstep::fingerprint).
    ///
    /// # Errors
    /// Where the system gives none.
    pub fn bind(quality: Quality, seed: u64, now: Now, fingerprint: u64) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            line: Line::new(quality, seed),
            now,
            fingerprint,
            others: OthersFingerprint::default(),
        })
    }

    /// Its own fingerprint, and where that of the other end will be.
    #[must_use]
    pub fn fingerprints(&self) -> (u64, OthersFingerprint) {
        (self.fingerprint, self.others.clone())
    }

    /// Where it can be reached.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Hands the system what has come to the end of the line. What it cannot take is lost, as packets are.
    fn deliver(&mut self) {
        for (address, bytes) in self.line.receive(self.now.get()) {
            let _ = self.socket.send_to(&bytes, address);
        }
    }
}

impl NonBlockingSocket<SocketAddr> for LoopbackSocket {
    fn send_to(&mut self, message: &Message, address: &SocketAddr) {
        let packet = (self.fingerprint, message);
        let bytes = postcard::to_stdvec(&packet).expect("a message is plain data");
        self.line.send(self.now.get(), (*address, bytes));
        self.deliver();
    }

    fn receive_all_messages(&mut self) -> Vec<(SocketAddr, Message)> {
        self.deliver();
        let mut buffer = [0; LARGEST];
        let mut messages = Vec::new();
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            let packet = postcard::from_bytes::<(u64, Message)>(&buffer[..length]);
            messages.extend(packet.map(|(fingerprint, message)| {
                self.others.set(Some(fingerprint));
                (from, message)
            }));
        }
        messages
    }
}
