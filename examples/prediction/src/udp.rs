//! Over UDP, by the wall clock: what a server's process and a client's do.

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

/// Bytes: more than a packet has.
const LARGEST: usize = 2_048;

/// The time of day as it was at the beginning, and goes on evenly: what the processes of a machine agree on.
struct WallClock {
    start: Duration,
    since: Instant,
}

impl WallClock {
    #[expect(clippy::disallowed_methods, reason = "packets come by the wall clock")]
    fn new() -> Self {
        let start = SystemTime::UNIX_EPOCH.elapsed();
        Self {
            start: start.expect("it is later than 1970"),
            since: Instant::now(),
        }
    }

    fn now(&self) -> Duration {
        self.start + self.since.elapsed()
    }
}

/// Waits for a packet, for a time at most.
fn receive(socket: &UdpSocket, left: Duration) -> io::Result<Option<(Vec<u8>, SocketAddr)>> {
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
    let clock = WallClock::new();
    let mut last = clock.start;
    while last < clock.start + length {
        let wait = server.simulation.clock().until_next_step();
        let due = last + wait.expect("a server is never paused");
        while clock.now() < due {
            let left = due.saturating_sub(clock.now());
            let Some((packet, from)) = receive(socket, left)? else {
                continue;
            };
            // Who sends what is no packet does not join.
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
    let clock = WallClock::new();
    let (mut last, mut next) = (clock.start, clock.start);
    while last < clock.start + length {
        next += Duration::from_secs(1) / display;
        while clock.now() < next {
            // The line delivers to the millisecond.
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
