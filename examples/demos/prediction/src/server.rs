//! The server: one simulation that only players' input changes, and snapshots of moving bodies.

use std::collections::VecDeque;
use std::time::Duration;

use evenstep::input::TickQueue;
use evenstep::{BodyKey, Frame, Simulation, Smoothing, Step};

use crate::game::{Buttons, Held, PLAYERS, act, arena, held, throw};
use crate::packets::{Inputs, Report, Snapshot, State, read, write};

/// The number of ticks between two snapshots: 20 per second, at 60 Hz.
pub const SNAPSHOT_EVERY: u64 = 3;
/// The number of states in a packet. At 29 bytes each, a packet is smaller than 1,200 bytes, which no network splits.
const MOST_STATES: usize = 40;
/// A player without input keeps its buttons for this many steps: longer than a lost packet, and too short to be seen.
const HOLD: u64 = 6;
/// A player who is silent for this many steps has left.
const LEFT: u64 = 600;
/// Input may arrive this many ticks before its step.
const MOST_LEAD: u64 = 60;
/// The snapshots whose acknowledgement may still arrive: those of the last two seconds.
const KEPT: usize = 40;

/// The server of a match.
#[derive(Clone, Debug)]
pub struct Server {
    /// The authoritative simulation.
    pub simulation: Simulation,
    /// See [`arena`].
    pub bodies: Vec<BodyKey>,
    /// Whether crates are thrown.
    pub throws: bool,
    /// For each body, its state in the last snapshot, and the first tick with that state, initially 0.
    states: Vec<(u64, State)>,
    /// The simulation's tick and frame at the last snapshot.
    last: (u64, Frame),
    peers: [Option<Peer>; PLAYERS],
}

/// A client, as known to the server.
#[derive(Clone, Debug)]
struct Peer {
    inputs: TickQueue<Buttons>,
    held: Buttons,
    /// The number of consecutive steps without input.
    silence: u64,
    /// The total number of steps without input.
    missed: u64,
    report: Option<Report>,
    /// For each body, the tick of the newest state that the client is known to have.
    known: Vec<u64>,
    /// The snapshot in which each body was last sent.
    sent: Vec<u64>,
    /// The snapshots that may still be acknowledged, with their bodies.
    snapshots: VecDeque<(u64, Vec<usize>)>,
}

impl Server {
    /// Creates a match with `crates` crates, before its first step.
    #[must_use]
    pub fn new(crates: usize) -> Self {
        let (mut simulation, bodies) = arena(crates);
        // The server draws nothing, so `moved` reports the latest states.
        simulation.smoothing = Smoothing::Latest;
        let states = bodies
            .iter()
            .filter_map(|key| simulation.physics.body(*key));
        let states = states.map(|body| (0, State::of(body))).collect();
        Self {
            simulation,
            bodies,
            throws: true,
            states,
            last: (0, Frame::default()),
            peers: [const { None }; PLAYERS],
        }
    }

    /// Assigns a player to a new client. Returns `None` if all are taken.
    pub fn join(&mut self) -> Option<usize> {
        let player = self.peers.iter().position(Option::is_none)?;
        self.peers[player] = Some(Peer {
            inputs: TickQueue::new(self.simulation.physics.tick(), MOST_LEAD),
            held: Buttons::default(),
            silence: 0,
            missed: 0,
            report: None,
            known: vec![0; self.bodies.len()],
            sent: vec![0; self.bodies.len()],
            snapshots: VecDeque::new(),
        });
        Some(player)
    }

    /// Returns whether a client plays this player.
    #[must_use]
    pub fn is_taken(&self, player: usize) -> bool {
        self.peers[player].is_some()
    }

    /// Returns the number of steps that ran without the input of a connected player.
    #[must_use]
    pub fn missed(&self, player: usize) -> u64 {
        self.peers[player].as_ref().map_or(0, |peer| peer.missed)
    }

    /// Receives a packet from the client of this player.
    pub fn receive(&mut self, player: usize, packet: &[u8]) {
        if let (Some(peer), Some(inputs)) = (&mut self.peers[player], read::<Inputs>(packet)) {
            peer.receive(&inputs, self.simulation.physics.tick());
        }
    }

    /// Runs a frame with all due steps. After every third step it returns a packet for each client.
    pub fn frame(&mut self, time: Duration) -> Vec<(usize, Vec<u8>)> {
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            self.play(step);
            self.simulation.run_step();
        }
        self.simulation.end_frame();
        for peer in &mut self.peers {
            peer.take_if(|peer| peer.silence > LEFT);
        }
        if self.simulation.physics.tick() < self.last.0 + SNAPSHOT_EVERY {
            return Vec::new();
        }
        self.take_states();
        let held = held(&self.simulation.physics);
        let mut packets = Vec::new();
        for (player, peer) in self.peers.iter_mut().enumerate() {
            if let Some(peer) = peer {
                let snapshot = peer.snapshot(player, self.last.0, &self.states, held);
                packets.push((player, write(&snapshot)));
            }
        }
        packets
    }

    fn play(&mut self, step: Step) {
        for (player, peer) in self.peers.iter_mut().enumerate() {
            // A player who has left drops its crate.
            let buttons = peer.as_mut().map(|peer| peer.buttons(step));
            let physics = &mut self.simulation.physics;
            act(physics, &self.bodies, player, buttons.unwrap_or_default());
        }
        if self.throws {
            throw(&mut self.simulation.physics, &self.bodies, step.tick);
        }
    }

    /// Reads only the bodies that moved since the last snapshot.
    fn take_states(&mut self) {
        let (tick, frame) = (self.simulation.physics.tick(), self.simulation.frame());
        let moved = match self.simulation.changes_since(&self.last.1) {
            Some(changes) => changes.moved.iter().map(|(key, _)| *key).collect(),
            // The changes are no longer kept, so all bodies are read.
            None => self.bodies.clone(),
        };
        let moved = moved.into_iter();
        let moved = moved.filter_map(|key| self.simulation.physics.body(key));
        // The walls are reported once, as a new body.
        for body in moved.filter(|body| body.is_dynamic()) {
            let (place, state) = (body.user_data as usize, State::of(body));
            if state != self.states[place].1 {
                self.states[place] = (tick, state);
            }
        }
        self.last = (tick, frame);
    }
}

impl Peer {
    fn receive(&mut self, inputs: &Inputs, tick: u64) {
        let newest = inputs.newest;
        for (ago, buttons) in (0..).zip(&inputs.buttons) {
            // The report tells the client about input that is late or too early.
            let _ = self.inputs.push_once(newest.saturating_sub(ago), *buttons);
        }
        if !inputs.buttons.is_empty() {
            let lead = newest.wrapping_sub(tick) as i64;
            self.report = Some(Report { newest, lead });
        }
        let acked = self.snapshots.iter().position(|(of, _)| *of == inputs.ack);
        if let Some((of, bodies)) = acked.and_then(|i| self.snapshots.remove(i)) {
            for place in bodies {
                self.known[place] = self.known[place].max(of);
            }
        }
    }

    /// Returns the player's buttons in a step. Without input they stay the same for a while.
    fn buttons(&mut self, step: Step) -> Buttons {
        match self.inputs.drain(step).last() {
            Some(buttons) => (self.held, self.silence) = (buttons, 0),
            None => {
                self.silence += 1;
                self.missed += 1;
            }
        }
        if self.silence > HOLD {
            self.held = Buttons::default();
        }
        self.held
    }

    /// Returns a snapshot of the client's own body, and of all states that it is not known to have. Bodies without room
    /// come next time, in order of how long they have waited.
    fn snapshot(
        &mut self,
        player: usize,
        tick: u64,
        states: &[(u64, State)],
        held: Held,
    ) -> Snapshot {
        let is_due = |place: &usize| *place == player || states[*place].0 > self.known[*place];
        let mut due: Vec<_> = (0..states.len()).filter(is_due).collect();
        due.sort_by_key(|place| (*place != player, self.sent[*place]));
        due.truncate(MOST_STATES);
        for place in &due {
            self.sent[*place] = tick;
        }
        let bodies = due.iter().map(|place| (*place as u16, states[*place].1));
        let snapshot = Snapshot {
            tick,
            player: player as u8,
            report: self.report.take(),
            held,
            bodies: bodies.collect(),
        };
        self.snapshots.push_back((tick, due));
        let extra = self.snapshots.len().saturating_sub(KEPT);
        self.snapshots.drain(..extra);
        snapshot
    }
}
