//! A match against a page in a browser, which connects over a WebSocket. The page is in `examples/demos/browser`.
//!
//! `cargo run --release --manifest-path examples/demos/netcode/Cargo.toml --bin websocket`

use std::cell::Cell;
use std::error::Error;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::packets::{Carrier, Packets};
use evenstep_netcode::rollback::Peer;
use tungstenite::{Message, WebSocket};

evenstep::portable_math!();

/// A match against a page in a browser.
#[derive(Parser)]
struct Args {
    /// The port to listen on; 0 for a free one
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// The duration of the match, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u64,
}

/// The timeout allows for a page that loads slowly, and for a short visit to another tab.
const DISCONNECT: Duration = Duration::from_secs(10);
const FRAME_TIME: Duration = Duration::from_micros(16_667);
/// The number of ticks between two printed checksums.
const CHECK_EVERY: u64 = 60;

/// This end of a WebSocket. After the page has left, packets are lost.
struct Socket {
    socket: WebSocket<TcpStream>,
    page_has_left: Rc<Cell<bool>>,
}

impl Carrier for Socket {
    fn send(&mut self, packet: Vec<u8>) {
        let _ = self.socket.send(Message::binary(packet));
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        loop {
            match self.socket.read() {
                Ok(Message::Binary(packet)) => packets.push(packet.into()),
                Ok(_) => (),
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    break;
                }
                Err(_) => {
                    self.page_has_left.set(true);
                    break;
                }
            }
        }
        packets
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "GGRS uses the wall clock, so the match does, too"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))?;
    println!("waiting at ws://{}", listener.local_addr()?);
    let socket = tungstenite::accept(listener.accept()?.0)?;
    // Another page waits until this program is started again.
    drop(listener);
    socket.get_ref().set_nodelay(true)?;
    socket.get_ref().set_nonblocking(true)?;

    let page_has_left = Rc::default();
    let socket = Socket {
        socket,
        page_has_left: Rc::clone(&page_has_left),
    };
    let packets = Packets::new(socket, evenstep::saving::fingerprint());
    let mut peer = Peer::new(Arena::start(), 0, packets, DISCONNECT)?;
    let (start, mut last, mut checked) = (Instant::now(), Instant::now(), 0);
    while !page_has_left.get() && start.elapsed() < Duration::from_secs(args.seconds) {
        let now = Instant::now();
        peer.frame(now - last, |tick| Buttons::of_script(0, tick))?;
        last = now;
        while let Some(sum) = peer.confirmed_checksum(checked) {
            println!("state before step {checked}: {sum:016x}");
            checked += CHECK_EVERY;
        }
        std::thread::sleep(FRAME_TIME.saturating_sub(now.elapsed()));
    }
    if peer.desyncs > 0 {
        return Err(format!("{} checksums differ", peer.desyncs).into());
    }
    Ok(())
}
