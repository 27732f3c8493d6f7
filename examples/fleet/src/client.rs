//! The players: bots that play a script, and remember all that they were told.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use redis::RedisResult;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::match_::{Match, Plan, of_script};
use crate::packets::{FromClient, FromServer, Id, LARGEST, MOST_ROWS, Row, read, write};
use crate::store::Store;

/// How many ticks of input are sent ahead: 0.2 s, for the way and for what the server tells late.
const LEAD: u64 = 12;

/// A client that hears nothing for as long looks for the match anew.
const SILENCE: Duration = Duration::from_millis(300);

/// A client sends as often though nothing came, and looks as often for its match.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// What a player was told in a match.
#[derive(Clone, Debug)]
pub struct Log {
    /// The match.
    pub id: Id,
    /// What was applied in each step, as last told.
    pub rows: Vec<Row>,
    /// Each checksum that any server told: of which step, by its tick.
    pub checksums: Vec<(u64, u64)>,
    /// The match went on at another server.
    pub handovers: Vec<Handover>,
    /// Between two new steps.
    pub longest_silence: Duration,
    /// Steps that were told in another way after they had been told: of a match that went on without this player.
    pub taken_back: u64,
}

/// A match went on at another server.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// When the first new step was told.
    pub at: Instant,
    /// Since the last new step.
    pub silence: Duration,
    /// Steps that were made again: that the player had been told of, and the server did not have.
    pub again: u64,
}

/// Plays all matches of the store to their ends.
///
/// # Errors
/// Redis's, and the system's if it gives no port.
///
/// # Panics
/// If a player does.
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
                        // It is asked again.
                        Err(_) => {}
                    }
                }
            }
        }
        if let Some(server) = bot.server {
            // What the system cannot take is lost, as packets are.
            let _ = socket.send_to(&write(&bot.packet()), server).await;
        }
    }
}

struct Bot {
    player: u8,
    log: Log,
    server: Option<SocketAddr>,
    /// Who told the last step: a server, since it took the match up at a tick.
    teller: Option<(SocketAddr, u64)>,
    /// Who told the last new step.
    newest_teller: Option<SocketAddr>,
    last_new: Instant,
    /// `None` if it is known to have gone.
    last_heard: Option<Instant>,
    /// Up to which tick it has told, and from which on it does not know the rows.
    have: u64,
    wants: u64,
}

impl Bot {
    fn new(id: Id, player: u8) -> Self {
        Self {
            player,
            log: Log {
                id,
                rows: Vec::new(),
                checksums: Vec::new(),
                handovers: Vec::new(),
                longest_silence: Duration::ZERO,
                taken_back: 0,
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

    /// Whether there is something to answer.
    fn receive(&mut self, packet: FromServer, from: SocketAddr) -> bool {
        if packet.id != self.log.id || Some(from) != self.server {
            return false;
        }
        self.last_heard = Some(Instant::now());
        self.wants = packet.wants;
        let known = self.log.rows.len() as u64;
        let teller = Some((from, packet.base));
        if self.teller != teller {
            // What it made itself it tells again, for a comparison; what it took up, only what was lost on the way.
            (self.teller, self.have) = (teller, packet.base.min(known));
        }
        // Without a gap: the server tells again what was lost on the way.
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
            // The server's word counts.
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

    /// There is something new.
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

/// Plays the match again from its beginning to its end, alone and without interruption, by the rows that the player was
/// told. Gives how many checksums were told, and how many of them differ.
#[must_use]
pub fn compare(plan: Plan, log: &Log) -> (usize, usize) {
    let mut alone = Match::new(plan);
    let expected: Vec<u64> = log.rows.iter().map(|row| alone.step_now(*row)).collect();
    let differ = |(tick, told): &&(u64, u64)| expected[*tick as usize] != *told;
    (
        log.checksums.len(),
        log.checksums.iter().filter(differ).count(),
    )
}
