//! Over UDP, by the wall clock: what a server's process and a client's do.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime};

use crate::client::Client;
use crate::game::Buttons;
use crate::line::{Line, Quality};
use crate::log::{ClientLog, ServerLog};
use crate::packets::{Inputs, read};
use crate::server::Server;

/// Bytes: more than a packet has.
const LARGEST: usize = 2_048;

/// The time of day: what two processes of a machine agree on.
fn now() -> Duration {
    let since = SystemTime::UNIX_EPOCH.elapsed();
    since.expect("it is later than 1970")
}

/// Waits for a packet, until a time.
fn receive(socket: &UdpSocket, until: Duration) -> io::Result<Option<(Vec<u8>, SocketAddr)>> {
    let left = until.saturating_sub(now());
    socket.set_read_timeout(Some(left.max(Duration::from_micros(1))))?;
    let mut packet = vec![0; LARGEST];
    // Whatever the system says of a packet, it is lost.
    Ok(socket.recv_from(&mut packet).ok().map(|(length, from)| {
        packet.truncate(length);
        (packet, from)
    }))
}

/// Serves a match with so many crates for a time.
///
/// # Errors
/// Where the system takes no timeout.
pub fn serve(socket: &UdpSocket, crates: usize, length: Duration) -> io::Result<ServerLog> {
    let (mut server, mut log) = (Server::new(crates), ServerLog::default());
    let mut players = BTreeMap::new();
    let start = now();
    let mut last = start;
    while last < start + length {
        let wait = server.simulation.clock().until_next_step();
        let due = last + wait.expect("a server is never paused");
        while now() < due {
            let Some((packet, from)) = receive(socket, due)? else {
                continue;
            };
            // Who sends what is no packet does not join.
            if let None = players.get(&from)
                && read::<Inputs>(&packet).is_some()
                && let Some(player) = server.join()
            {
                players.insert(from, player);
            }
            if let Some(player) = players.get(&from) {
                server.receive(*player, &packet);
            }
        }
        let time = now() - last;
        last += time;
        let packets = server.frame(time);
        players.retain(|_, player| server.is_taken(*player));
        for (from, player) in &players {
            for (_, packet) in packets.iter().filter(|(of, _)| of == player) {
                let _ = socket.send_to(packet, from);
            }
        }
        log.frame(last, &server);
    }
    Ok(log)
}

/// Plays for a time, at so many frames a second, by a bad line there and back. The outage is counted from the start.
///
/// # Errors
/// Where the system takes no timeout.
pub fn play(
    mut client: Client,
    socket: &UdpSocket,
    display: u32,
    quality: &Quality,
    length: Duration,
) -> io::Result<ClientLog> {
    let seed = u64::from(display);
    let [mut up, mut down] = [seed, !seed].map(|seed| Line::new(quality.clone(), seed));
    let mut log = ClientLog::default();
    let start = now();
    let (mut last, mut next) = (start, start);
    while last < start + length {
        next += Duration::from_secs(1) / display;
        while now() < next {
            // The line delivers to the millisecond.
            let until = next.min(now() + Duration::from_millis(1));
            if let Some((packet, _)) = receive(socket, until)? {
                down.send(now() - start, packet);
            }
            for packet in up.receive(now() - start) {
                let _ = socket.send(&packet);
            }
        }
        for packet in down.receive(now() - start) {
            log.received(&packet);
            client.receive(&packet);
        }
        let time = now() - last;
        last += time;
        let player = client.player().unwrap_or_default();
        let buttons = Buttons::of_script(player, client.simulation.tick());
        if let Some(packet) = client.frame(time, buttons) {
            log.sent(&packet);
            up.send(last - start, packet);
        }
        log.frame(last, &client);
    }
    Ok(log)
}
