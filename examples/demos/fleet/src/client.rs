//! The players: bots that play a script, and record everything that servers send them.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use evenstep_server::match_::Id;
use redis::RedisResult;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::match_::{Plan, of_script};
use crate::packets::{FromClient, FromServer, LARGEST, MOST_ROWS, Row, read, write};
use crate::store::Store;

/// Input is sent this many ticks ahead: 0.2 s, for the latency and for servers that send late.
const LEAD: u64 = 12;

/// A client that receives nothing for this long looks for its match again.
const SILENCE: Duration = Duration::from_millis(300);

/// The longest interval between packets, and between searches for the match.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// What a player received in a match.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The match.
    pub id: Id,
    /// The row that was applied in each step, as last received.
    pub rows: Vec<Row>,
    /// Each checksum from any server, with the tick of its step.
    pub checksums: Vec<(u64, u64)>,
    /// The times at which another server continued the match.
    pub handovers: Vec<Handover>,
    /// The longest time between two new steps.
    pub longest_silence: Duration,
    /// The number of steps whose rows changed after they had been received. Such a match continued without this player.
    pub taken_back: u64,
}

/// Another server has continued the match.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// The time of its first new step.
    pub at: Instant,
    /// The time since the last new step.
    pub silence: Duration,
    /// The number of resimulated steps, which the player had received and the server did not have.
    pub again: u64,
}

/// Plays all matches of the store to their ends.
///
/// # Errors
/// An error of Redis, or of the system if it has no free port.
///
/// # Panics
/// If a player panics.
pub async fn play_all(mut store: Store, players: u8) -> RedisResult<Vec<Log>> {
    let mut bots = JoinSet::new();
    for id in store.ids().await? {
        for player in 0..players {
            bots.spawn(play(store.clone(), id, player));
        }
    }
    bots.join_all().await.into_iter().collect()
}

async fn play(mut store: Store, id: Id, player: u8) -> RedisResult<Log> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
    let mut bot = Bot::new(id, player);
    let mut tries = interval(TRY_EVERY);
    tries.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut buffer = [0; LARGEST];
    loop {
        tokio::select! {
            received = socket.recv_from(&mut buffer) => {
                let Ok((length, from)) = received else { continue };
                let Some(packet) = read(&buffer[..length]) else { continue };
                if !bot.receive(packet, from) {
                    continue;
                }
            }
            _ = tries.tick() => {
                if bot.hears_nothing() {
                    match store.find(id).await {
                        Ok(None) => return Ok(bot.log),
                        Ok(Some(server)) => bot.server = server,
                        // The search is repeated.
                        Err(_) => {}
                    }
                }
            }
        }
        if let Some(server) = bot.server {
            // A packet that the system rejects is lost.
            let _ = socket.send_to(&write(&bot.packet()), server).await;
        }
    }
}

struct Bot {
    player: u8,
    log: Log,
    server: Option<SocketAddr>,
    /// The server that sent the last step, and the tick at which it took up the match.
    teller: Option<(SocketAddr, u64)>,
    /// The server that sent the last new step.
    newest_teller: Option<SocketAddr>,
    last_new: Instant,
    /// `None` if the server is known to be gone.
    last_heard: Option<Instant>,
    /// The tick up to which the server has sent steps, and the first tick whose row it does not know.
    have: u64,
    wants: u64,
}

impl Bot {
    fn new(id: Id, player: u8) -> Self {
        Self {
            player,
            log: Log {
                id,
                ..Log::default()
            },
            server: None,
            teller: None,
            newest_teller: None,
            last_new: Instant::now(),
            last_heard: None,
            have: 0,
            wants: u64::MAX,
        }
    }

    fn hears_nothing(&self) -> bool {
        self.last_heard.is_none_or(|last| last.elapsed() > SILENCE)
    }

    /// Receives a packet. Returns whether it needs an answer.
    fn receive(&mut self, packet: FromServer, from: SocketAddr) -> bool {
        if packet.id != self.log.id || Some(from) != self.server {
            return false;
        }
        self.last_heard = Some(Instant::now());
        self.wants = packet.wants;
        let known = self.log.rows.len() as u64;
        let teller = Some((from, packet.base));
        if self.teller != teller {
            // A new server sends its own steps again, for a comparison, but of the earlier ones only those that were
            // lost.
            (self.teller, self.have) = (teller, packet.base.min(known));
        }
        // There must be no gap. The server resends what was lost.
        if packet.first <= self.have {
            for (tick, (row, checksum)) in (packet.first..).zip(packet.steps) {
                if tick == self.have {
                    self.have += 1;
                    self.learn(tick, row, checksum);
                }
            }
        }
        if self.log.rows.len() as u64 > known {
            self.go_on(from, known.saturating_sub(packet.base));
        }
        if packet.is_moved {
            (self.server, self.last_heard) = (None, None);
        }
        true
    }

    fn learn(&mut self, tick: u64, row: Row, checksum: u64) {
        let rows = &mut self.log.rows;
        match rows.get(tick as usize) {
            Some(known) if *known == row => {}
            // The server is authoritative.
            Some(_) => {
                self.log.taken_back += rows.len() as u64 - tick;
                rows.truncate(tick as usize);
                self.log.checksums.retain(|(of, _)| *of < tick);
                rows.push(row);
            }
            None => rows.push(row),
        }
        self.log.checksums.push((tick, checksum));
    }

    /// Records that new steps have arrived.
    fn go_on(&mut self, from: SocketAddr, again: u64) {
        let now = Instant::now();
        if let Some(teller) = self.newest_teller {
            let silence = now - self.last_new;
            self.log.longest_silence = self.log.longest_silence.max(silence);
            if teller != from {
                self.log.handovers.push(Handover {
                    at: now,
                    silence,
                    again,
                });
            }
        }
        (self.newest_teller, self.last_new) = (Some(from), now);
    }

    fn packet(&self) -> FromClient {
        let seen = self.log.rows.len() as u64;
        let first = self.wants.min(seen);
        let rows = &self.log.rows[first as usize..];
        FromClient {
            id: self.log.id,
            player: self.player,
            have: self.have,
            seen,
            first,
            rows: rows[..rows.len().min(MOST_ROWS)].to_vec(),
            own: (seen..seen + LEAD)
                .map(|tick| of_script(self.log.id, self.player, tick))
                .collect(),
        }
    }
}

/// Replays the match alone and without interruption, with the rows that the player received. Returns how many checksums
/// were received, and how many of them differ.
#[must_use]
pub fn compare(plan: Plan, log: &Log) -> (usize, usize) {
    let mut alone = plan.start(log.id, Duration::ZERO);
    alone.game.inputs.receive_rows(0, &log.rows);
    let checksums = log.rows.iter().map(|_| {
        alone.step_now();
        alone.checksum()
    });
    let expected: Vec<u64> = checksums.collect();
    let differ = |(tick, told): &&(u64, u64)| expected[*tick as usize] != *told;
    (
        log.checksums.len(),
        log.checksums.iter().filter(differ).count(),
    )
}
