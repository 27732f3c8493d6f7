//! Server and client over UDP, by the wall clock.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

use crate::client::Client;
use crate::game::Buttons;
use crate::line::{Line, Quality};
use crate::log::{ClientLog, ServerLog};
use crate::packets::{Inputs, read};
use crate::server::Server;

/// The size of the receive buffer in bytes, larger than any packet.
const LARGEST: usize = 2_048;

/// The time of day at the start, continued at an even rate. The processes of a machine agree on it.
struct WallClock {
    start: Duration,
    since: Instant,
}

impl WallClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "packets arrive in wall-clock time"
    )]
    fn new() -> Self {
        let start = SystemTime::UNIX_EPOCH.elapsed();
        Self {
            start: start.expect("the year is later than 1970"),
            since: Instant::now(),
        }
    }

    fn now(&self) -> Duration {
        self.start + self.since.elapsed()
    }
}

/// Waits for a packet, at most for a given time.
fn receive(socket: &UdpSocket, left: Duration) -> io::Result<Option<(Vec<u8>, SocketAddr)>> {
    socket.set_read_timeout(Some(left.max(Duration::from_micros(1))))?;
    let mut packet = vec![0; LARGEST];
    // If the system reports an error for a packet, the packet is lost.
    Ok(socket.recv_from(&mut packet).ok().map(|(length, from)| {
        packet.truncate(length);
        (packet, from)
    }))
}

/// Serves a match with `crates` crates for a given time.
///
/// # Errors
/// If the system rejects a timeout.
pub fn serve(socket: &UdpSocket, crates: usize, length: Duration) -> io::Result<ServerLog> {
    let (mut server, mut log) = (Server::new(crates), ServerLog::default());
    let mut players = BTreeMap::new();
    let clock = WallClock::new();
    let mut last = clock.start;
    while last < clock.start + length {
        let wait = server.simulation.clock().until_next_step();
        let due = last + wait.expect("the server is never paused");
        while clock.now() < due {
            let left = due.saturating_sub(clock.now());
            let Some((packet, from)) = receive(socket, left)? else {
                continue;
            };
            // A sender of invalid packets does not join.
            if !players.contains_key(&from)
                && read::<Inputs>(&packet).is_some()
                && let Some(player) = server.join()
            {
                players.insert(from, player);
            }
            if let Some(player) = players.get(&from) {
                server.receive(*player, &packet);
            }
        }
        let time = clock.now() - last;
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

/// Plays for a given time and frame rate, with a bad connection in both directions. The outage is counted from the
/// start.
///
/// # Errors
/// If the system rejects a timeout.
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
    let clock = WallClock::new();
    let (mut last, mut next) = (clock.start, clock.start);
    while last < clock.start + length {
        next += Duration::from_secs(1) / display;
        while clock.now() < next {
            // The connection delivers packets with millisecond precision.
            let left = next.saturating_sub(clock.now());
            if let Some((packet, _)) = receive(socket, left.min(Duration::from_millis(1)))? {
                down.send(clock.since.elapsed(), packet);
            }
            for packet in up.receive(clock.since.elapsed()) {
                let _ = socket.send(&packet);
            }
        }
        for packet in down.receive(clock.since.elapsed()) {
            log.received(&packet);
            client.receive(&packet);
        }
        let time = clock.now() - last;
        last += time;
        let player = client.player().unwrap_or_default();
        let buttons = Buttons::of_script(player, client.simulation.physics.tick());
        if let Some(packet) = client.frame(time, buttons) {
            log.sent(&packet);
            up.send(last - clock.start, packet);
        }
        log.frame(last, &client);
    }
    Ok(log)
}
