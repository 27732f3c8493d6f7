//! A match on a server: stepped when it is due, told to its players, saved every second.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use evenstep::FrameTimer;
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::inputs::Inputs;
use crate::match_::{Match, MatchError};
use crate::metrics::Metrics;
use crate::packets::{FromClient, FromServer, MOST_STEPS, write};
use crate::store::{Claim, Lease, Store, Taken};

/// A match is saved as often.
pub const SAVE_EVERY: Duration = Duration::from_secs(1);

/// A match that was taken up waits as long for its players, and for the rows that they were told, before it goes on
/// without.
const PATIENCE: Duration = Duration::from_secs(3);

/// Players are told of the steps of so many at once: twenty times a second.
const TELL_EVERY: u64 = 3;

/// A packet of a client, and where it came from.
pub type Received = (FromClient, SocketAddr);

/// What all matches of a server use.
#[derive(Clone)]
pub struct Shared {
    /// The server's.
    pub socket: Arc<UdpSocket>,
    /// Where matches are kept.
    pub store: Store,
    /// The server's figures.
    pub metrics: Metrics,
}

/// Why a match is no longer here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It is over.
    Finished,
    /// It was saved for another server.
    Released,
    /// Another server has it: this one could not save it in time.
    Lost,
}

/// Waits until the server drains.
pub async fn asked_for(drains: &mut watch::Receiver<bool>) {
    // A server that is no more drains as well.
    let _ = drains.wait_for(|drains| *drains).await;
}

/// A match on a server.
pub struct Host {
    shared: Shared,
    claim: Claim,
    match_: Match,
    inputs: Inputs,
    phase: Phase,
    /// The tick at which it came here.
    base: u64,
    players: Vec<Option<Player>>,
    /// The match is stepped until then at most: from then on it may be another's.
    leased_until: Instant,
    next_save: Instant,
    saves: JoinSet<Save>,
}

#[derive(Clone, Copy)]
enum Phase {
    /// Waits for its players, until then at most.
    Gathering(Instant),
    Playing(Pace),
}

/// When steps are due.
#[derive(Clone, Copy)]
struct Pace {
    start: Instant,
    timer: FrameTimer,
    played_to: Instant,
}

#[derive(Clone, Copy)]
struct Player {
    address: SocketAddr,
    /// Up to which tick it has heard from this server.
    have: u64,
}

/// A save that has ended: how many bytes it had, and Redis's answer.
type Save = (usize, redis::RedisResult<Option<Instant>>);

impl Host {
    /// Takes up a match.
    ///
    /// # Errors
    /// If its bytes are of another build.
    pub fn new(shared: Shared, taken: &Taken) -> Result<Self, MatchError> {
        let match_ = Match::load(&taken.bytes)?;
        let (base, players) = (match_.tick(), usize::from(match_.plan.players));
        let now = Instant::now();
        Ok(Self {
            shared,
            claim: taken.claim.clone(),
            inputs: Inputs::new(players, base, match_.last()),
            match_,
            phase: Phase::Gathering(now + PATIENCE),
            base,
            players: vec![None; players],
            leased_until: taken.leased_until,
            // Not all at once: those of a dead server are taken up at the same moment.
            next_save: now + SAVE_EVERY / 16 * (taken.claim.id % 16) as u32,
            saves: JoinSet::new(),
        })
    }

    /// Runs the match until it is over, is no longer this server's, or the server drains.
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
                    if !self.take_note(saved.expect("a save does not panic")) {
                        return Ending::Lost;
                    }
                }
                Some((packet, from)) = packets.recv() => self.receive(&packet, from),
                () = sleep_until(wakes) => self.wake(),
            }
            if self.match_.is_over() {
                return self.finish().await;
            }
        }
    }

    /// When there is something to do, if nothing comes.
    fn wakes(&self) -> Instant {
        let due = match self.phase {
            Phase::Gathering(until) => until,
            Phase::Playing(pace) => self.due(pace),
        };
        // What is due after the lease is not done before it was renewed.
        if due < self.leased_until && Instant::now() < self.leased_until {
            due.min(self.next_save)
        } else {
            self.next_save
        }
    }

    fn due(&self, pace: Pace) -> Instant {
        let missing = self.match_.simulation.clock().until_next_step();
        pace.played_to + missing.expect("a match is never paused")
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
        match self.phase {
            Phase::Gathering(until) if now >= until => self.play(),
            Phase::Gathering(_) => {}
            Phase::Playing(pace) => self.frame(pace, now),
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
        self.inputs.receive(packet);
        if let Phase::Gathering(_) = self.phase {
            self.inputs.receive_rows(packet);
            if self.inputs.is_complete() && Instant::now() < self.leased_until {
                self.play();
            }
            self.tell(false);
        }
    }

    /// Makes the steps again that the players have seen, and goes on from there.
    fn play(&mut self) {
        while self.inputs.is_known() && !self.match_.is_over() {
            let (row, _) = self.inputs.take();
            self.match_.step_now(row);
            self.shared.metrics.steps_again.inc();
        }
        let now = Instant::now();
        self.phase = Phase::Playing(Pace {
            start: now,
            timer: FrameTimer::new(Duration::ZERO),
            played_to: now,
        });
    }

    /// Makes the steps that are due.
    fn frame(&mut self, mut pace: Pace, now: Instant) {
        let metrics = &self.shared.metrics;
        let tick = self.match_.tick();
        let simulation = &mut self.match_.simulation;
        simulation.begin_frame(pace.timer.frame(now - pace.start));
        pace.played_to = now;
        while !self.match_.is_over()
            && let Some(step) = self.match_.simulation.next_step()
        {
            let (row, missing) = self.inputs.take();
            self.match_.step(step, row);
            metrics.missing_inputs.inc_by(missing);
            let due = now - step.real_frame_end.saturating_sub(step.real_end);
            metrics.step(due.elapsed());
        }
        metrics.drop_steps(self.match_.simulation.end_frame().dropped);
        self.phase = Phase::Playing(pace);
        if self.match_.tick() / TELL_EVERY != tick / TELL_EVERY || self.match_.is_over() {
            self.tell(false);
        }
    }

    /// Tells each player what it does not know.
    fn tell(&self, is_moved: bool) {
        for player in self.players.iter().flatten() {
            let (first, steps) = self.match_.steps_from(player.have);
            let packet = write(&FromServer {
                id: self.claim.id,
                base: self.base,
                wants: self.inputs.wants(),
                first,
                steps: steps[..steps.len().min(MOST_STEPS)].to_vec(),
                is_moved,
            });
            self.shared.metrics.told_bytes.inc_by(packet.len() as u64);
            // What the system cannot take is lost, as packets are.
            let _ = self.shared.socket.try_send_to(&packet, player.address);
        }
    }

    /// Begins a save, unless the one before it is under way.
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

    /// Whether the match is still this server's.
    fn take_note(&mut self, (bytes, answer): Save) -> bool {
        match answer {
            Ok(Some(leased_until)) => {
                self.leased_until = leased_until;
                self.shared.metrics.save(bytes);
                true
            }
            Ok(None) => false,
            // Until the lease ends it is tried again.
            Err(error) => {
                eprintln!("match {} was not saved: {error}", self.claim.id);
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
                // What was saved last will be taken up when the lease has ended.
                Err(_) if Instant::now() >= self.leased_until => return Ending::Lost,
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
        self.tell(true);
        Ending::Released
    }

    async fn finish(mut self) -> Ending {
        while self.saves.join_next().await.is_some() {}
        loop {
            match self.shared.store.remove(&self.claim).await {
                Ok(true) => return Ending::Finished,
                Ok(false) => return Ending::Lost,
                Err(_) if Instant::now() >= self.leased_until => return Ending::Lost,
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
