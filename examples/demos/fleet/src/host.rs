//! A match on a server: stepped when it is due, sent to its players, and saved every second.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use evenstep_server::match_::MoveError;
use evenstep_server::record::Ending;
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::match_::Match;
use crate::metrics::Metrics;
use crate::packets::{FromClient, FromServer, MOST_STEPS, write};
use crate::store::{Claim, Lease, Store, Taken};

/// The interval between saves of a match.
pub const SAVE_EVERY: Duration = Duration::from_secs(1);

/// After taking up a match, the server waits this long for its players and for the rows that they received. Then it
/// continues without them.
const PATIENCE: Duration = Duration::from_secs(3);

/// Players receive this many steps at once, twenty times per second.
const TELL_EVERY: u64 = 3;

/// A packet of a client, and where it came from.
pub type Received = (FromClient, SocketAddr);

/// The parts of a server that all its matches share.
#[derive(Clone)]
pub struct Shared {
    /// The server's socket.
    pub socket: Arc<UdpSocket>,
    /// The store of the matches.
    pub store: Store,
    /// The server's metrics.
    pub metrics: Metrics,
    /// The start of the server's time, which the matches are given.
    pub start: Instant,
}

/// Waits until the server drains.
pub async fn asked_for(drains: &mut watch::Receiver<bool>) {
    // Without its sender the server is gone, which counts as draining.
    let _ = drains.wait_for(|drains| *drains).await;
}

/// A match on a server.
pub struct Host {
    shared: Shared,
    claim: Claim,
    match_: Match,
    /// Why the match ended, if it has.
    ending: Option<Ending>,
    /// The match waits for players, until this time at most. `None` once it is played.
    gathers_until: Option<Instant>,
    /// The tick at which the match came to this server.
    base: u64,
    players: Vec<Option<Player>>,
    /// The match is not stepped later than this, because another server may then have it.
    leased_until: Instant,
    next_save: Instant,
    saves: JoinSet<Save>,
}

#[derive(Clone, Copy)]
struct Player {
    address: SocketAddr,
    /// The tick up to which the player has received steps from this server.
    have: u64,
}

/// A finished save: its size in bytes, and the answer of Redis.
type Save = (usize, redis::RedisResult<Option<Instant>>);

impl Host {
    /// Takes up a match.
    ///
    /// # Errors
    /// If its bytes come from another build.
    pub fn new(shared: Shared, taken: &Taken) -> Result<Self, MoveError> {
        let match_ = Match::load(&taken.bytes, shared.start.elapsed())?;
        let now = Instant::now();
        Ok(Self {
            shared,
            claim: taken.claim.clone(),
            ending: None,
            gathers_until: Some(now + PATIENCE),
            base: match_.tick(),
            players: vec![None; match_.game.inputs.players()],
            match_,
            leased_until: taken.leased_until,
            // Saves are spread over time, because all matches of a dead server are taken up at the same moment.
            next_save: now + SAVE_EVERY / 16 * (taken.claim.id % 16) as u32,
            saves: JoinSet::new(),
        })
    }

    /// Runs the match until it ends, belongs to another server, or the server drains.
    pub async fn run(
        mut self,
        mut packets: mpsc::Receiver<Received>,
        mut drains: watch::Receiver<bool>,
    ) -> Ending {
        loop {
            let wakes = self.wakes();
            tokio::select! {
                biased;
                () = asked_for(&mut drains) => return self.release().await,
                Some(saved) = self.saves.join_next() => {
                    if !self.take_note(saved.expect("saving does not panic")) {
                        return Ending::Lost;
                    }
                }
                Some((packet, from)) = packets.recv() => self.receive(&packet, from),
                () = sleep_until(wakes) => self.wake(),
            }
            if let Some(ending) = self.ending {
                return self.finish(ending).await;
            }
        }
    }

    /// Returns the next time at which to act if no packet arrives.
    fn wakes(&self) -> Instant {
        let step = self.shared.start + self.match_.due();
        let due = self.gathers_until.unwrap_or(step);
        // Steps that are due after the lease wait until it is renewed.
        if due < self.leased_until && Instant::now() < self.leased_until {
            due.min(self.next_save)
        } else {
            self.next_save
        }
    }

    fn wake(&mut self) {
        let now = Instant::now();
        if now >= self.next_save {
            self.next_save = now + SAVE_EVERY;
            self.save();
        }
        if now >= self.leased_until {
            return;
        }
        match self.gathers_until {
            Some(until) if now >= until => self.play(),
            Some(_) => {}
            None => self.frame(),
        }
    }

    fn receive(&mut self, packet: &FromClient, from: SocketAddr) {
        let Some(player) = self.players.get_mut(usize::from(packet.player)) else {
            return;
        };
        *player = Some(Player {
            address: from,
            have: packet.have,
        });
        let inputs = &mut self.match_.game.inputs;
        inputs.receive(packet);
        if self.gathers_until.is_some() {
            inputs.receive_rows(packet.first, &packet.rows);
            if inputs.is_complete() && Instant::now() < self.leased_until {
                self.play();
            }
            self.tell(false);
        }
    }

    /// Resimulates the steps that the players have seen, and continues.
    fn play(&mut self) {
        while self.ending.is_none() && self.match_.game.inputs.is_known() {
            self.ending = self.match_.step_now();
            self.shared.metrics.steps_again.inc();
        }
        self.match_.continue_at(self.shared.start.elapsed());
        self.gathers_until = None;
    }

    /// Runs the steps that are due.
    fn frame(&mut self) {
        let (tick, start) = (self.match_.tick(), self.shared.start);
        self.ending = self.match_.play(|| start.elapsed());
        let metrics = &self.shared.metrics;
        metrics.common.frame(&self.match_.last, start.elapsed());
        let missing = std::mem::take(&mut self.match_.game.inputs.missing);
        metrics.missing_inputs.inc_by(missing);
        if self.match_.tick() / TELL_EVERY != tick / TELL_EVERY || self.ending.is_some() {
            self.tell(false);
        }
    }

    /// Sends each player the steps that it does not have.
    fn tell(&self, is_moved: bool) {
        for player in self.players.iter().flatten() {
            let (first, steps) = self.match_.game.steps_from(player.have);
            let packet = write(&FromServer {
                id: self.claim.id,
                base: self.base,
                wants: self.match_.game.inputs.wants(),
                first,
                steps: steps[..steps.len().min(MOST_STEPS)].to_vec(),
                is_moved,
            });
            self.shared.metrics.told_bytes.inc_by(packet.len() as u64);
            // A packet that the system rejects is lost.
            let _ = self.shared.socket.try_send_to(&packet, player.address);
        }
    }

    /// Begins a save, unless another is in progress.
    fn save(&mut self) {
        if !self.saves.is_empty() {
            return;
        }
        let bytes = self.bytes();
        let (mut store, claim) = (self.shared.store.clone(), self.claim.clone());
        self.saves.spawn(async move {
            let answer = store.save(&claim, &bytes, Lease::Renew).await;
            (bytes.len(), answer)
        });
    }

    /// # Panics
    /// Never between two frames, in a game without joints.
    fn bytes(&self) -> Vec<u8> {
        self.match_.save().expect("the match is between two frames")
    }

    /// Processes the result of a save. Returns whether the match still belongs to this server.
    fn take_note(&mut self, (bytes, answer): Save) -> bool {
        match answer {
            Ok(Some(leased_until)) => {
                self.leased_until = leased_until;
                self.shared.metrics.save(bytes);
                true
            }
            Ok(None) => false,
            // Saving is tried again until the lease ends.
            Err(error) => {
                eprintln!("could not save match {}: {error}", self.claim.id);
                true
            }
        }
    }

    /// Saves the match for another server, and tells the players to look for it.
    async fn release(mut self) -> Ending {
        while self.saves.join_next().await.is_some() {}
        let bytes = self.bytes();
        loop {
            let store = &mut self.shared.store;
            match store.save(&self.claim, &bytes, Lease::Release).await {
                Ok(Some(_)) => {
                    self.shared.metrics.save(bytes.len());
                    break;
                }
                Ok(None) => return Ending::Lost,
                // Another server will take up the last save when the lease has ended.
                Err(_) if Instant::now() >= self.leased_until => return Ending::Lost,
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
        self.tell(true);
        Ending::Moved
    }

    async fn finish(mut self, ending: Ending) -> Ending {
        while self.saves.join_next().await.is_some() {}
        loop {
            match self.shared.store.remove(&self.claim).await {
                Ok(true) => return ending,
                Ok(false) => return Ending::Lost,
                Err(_) if Instant::now() >= self.leased_until => return Ending::Lost,
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
