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
#[derive(Debug)]
pub struct LoopbackSocket {
    socket: UdpSocket,
    line: Line<(SocketAddr, Vec<u8>)>,
    now: Now,
}

/// Bytes: a message of GGRS holds the input of some ticks, a byte or less each.
const LARGEST: usize = 1 << 12;

impl LoopbackSocket {
    /// A socket on a free port.
    ///
    /// # Errors
    /// Where the system gives none.
    pub fn bind(quality: Quality, seed: u64, now: Now) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        let line = Line::new(quality, seed);
        Ok(Self { socket, line, now })
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
        let bytes = postcard::to_stdvec(message).expect("a message is plain data");
        self.line.send(self.now.get(), (*address, bytes));
        self.deliver();
    }

    fn receive_all_messages(&mut self) -> Vec<(SocketAddr, Message)> {
        self.deliver();
        let mut buffer = [0; LARGEST];
        let mut messages = Vec::new();
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            messages.extend(postcard::from_bytes(&buffer[..length]).map(|message| (from, message)));
        }
        messages
    }
}
