//! Packets over UDP between two sockets of this machine, through a bad [`Line`].

use std::cell::Cell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::time::Duration;

use crate::line::{Line, Quality};
use crate::packets::Carrier;

/// The time that moves packets. The host of the sockets sets it.
pub type Now = Rc<Cell<Duration>>;

/// A UDP socket on the loopback interface. Its packets first go through a bad connection.
#[derive(Debug)]
pub struct LoopbackSocket {
    socket: UdpSocket,
    line: Line<Vec<u8>>,
    now: Now,
}

/// The largest packet in bytes. A message of GGRS holds the input of some ticks, each at most a byte.
const LARGEST: usize = 1 << 12;

impl LoopbackSocket {
    /// Creates two sockets on free ports, one per peer.
    ///
    /// # Errors
    /// If the system has no free port.
    pub fn pair(quality: &Quality, now: &Now) -> io::Result<[Self; 2]> {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
        let [one, other] = [bind()?, bind()?];
        let addresses: [SocketAddr; 2] = [one.local_addr()?, other.local_addr()?];
        one.connect(addresses[1])?;
        other.connect(addresses[0])?;
        let socket = |socket: UdpSocket, seed| {
            socket.set_nonblocking(true)?;
            let (line, now) = (Line::new(quality.clone(), seed), now.clone());
            Ok::<_, io::Error>(Self { socket, line, now })
        };
        Ok([socket(one, 1)?, socket(other, 2)?])
    }

    /// Sends the packets that have reached the end of the line. A packet that the system rejects is lost.
    fn deliver(&mut self) {
        for packet in self.line.receive(self.now.get()) {
            let _ = self.socket.send(&packet);
        }
    }
}

impl Carrier for LoopbackSocket {
    fn send(&mut self, packet: Vec<u8>) {
        self.line.send(self.now.get(), packet);
        self.deliver();
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        self.deliver();
        let mut buffer = [0; LARGEST];
        let mut packets = Vec::new();
        while let Ok(length) = self.socket.recv(&mut buffer) {
            packets.push(buffer[..length].to_vec());
        }
        packets
    }
}
