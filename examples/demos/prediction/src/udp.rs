//! Server and client over UDP, by the wall clock.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::end::End;
use crate::log::{ClientLog, ServerLog};
use crate::packets::{Inputs, read};
use crate::server::Server;

/// The size of the receive buffer in bytes, larger than any packet.
const LARGEST: usize = 2_048;

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

/// Serves a match with `crates` crates until `length` after its start.
///
/// # Errors
/// If the system rejects a timeout.
pub fn serve(
    socket: &UdpSocket,
    crates: usize,
    start: Instant,
    length: Duration,
) -> io::Result<ServerLog> {
    let (mut server, mut log) = (Server::new(crates), ServerLog::default());
    let mut players = BTreeMap::new();
    let mut last = start.elapsed();
    while last < length {
        let wait = server.simulation.clock().until_next_step();
        let due = last + wait.expect("the server is never paused");
        while start.elapsed() < due {
            let left = due.saturating_sub(start.elapsed());
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
        let time = start.elapsed() - last;
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

/// Plays until `length` after the start of the match, over a bad connection.
///
/// # Errors
/// If the system rejects a timeout.
pub fn play(
    mut end: End,
    socket: &UdpSocket,
    start: Instant,
    length: Duration,
) -> io::Result<ClientLog> {
    let mut last = start.elapsed();
    end.next_frame = last;
    while last < length {
        end.next_frame += end.period;
        while start.elapsed() < end.next_frame {
            // The connection delivers packets with millisecond precision.
            let left = end.next_frame.saturating_sub(start.elapsed());
            if let Some((packet, _)) = receive(socket, left.min(Duration::from_millis(1)))? {
                end.down.send(start.elapsed(), packet);
            }
            for packet in end.up.receive(start.elapsed()) {
                let _ = socket.send(&packet);
            }
        }
        let time = start.elapsed() - last;
        last += time;
        end.frame(last, time);
    }
    Ok(end.seen)
}
