//! The server: one simulation, which only players' input changes; snapshots of what moved.

use std::collections::VecDeque;
use std::time::Duration;

use evenstep::{BodyKey, Simulation, Smoothing, Step, TickQueue};

use crate::game::{Buttons, PLAYERS, arena, push, throw};
use crate::packets::{Inputs, Report, Snapshot, State, read, write};

/// Ticks from a snapshot to the next: 20 a second, of 60 steps.
pub const SNAPSHOT_EVERY: u64 = 3;
/// How many states go into a packet: at 29 bytes each it has less than 1,200, which every network carries whole.
const MOST_STATES: usize = 40;
/// For so many steps a player without input goes on as before: longer than a lost packet, shorter than is seen.
const HOLD: u64 = 6;
/// A player who is silent for so many steps has left.
const LEFT: u64 = 600;
/// Input may come so many ticks before its step.
const MOST_LEAD: u64 = 60;
/// Snapshots of which the acknowledgement may still come: those of the last two seconds.
const KEPT: usize = 40;

/// The server of a match.
#[derive(Clone, Debug)]
pub struct Server {
    /// What is true.
    pub simulation: Simulation,
    /// See [`arena`].
    pub bodies: Vec<BodyKey>,
    /// Whether crates are thrown.
    pub throws: bool,
    /// Of each body its state in the last snapshot, and the first tick that it had it in: 0 in the beginning.
    states: Vec<(u64, State)>,
    /// Of the last snapshot: the simulation's tick and frame.
    last: (u64, u64),
    peers: [Option<Peer>; PLAYERS],
}

/// A client, as the server knows it.
#[derive(Clone, Debug)]
struct Peer {
    inputs: TickQueue<Buttons>,
    held: Buttons,
    /// For how many steps in a row there was no input.
    silence: u64,
    /// How many steps were made without it.
    missed: u64,
    report: Option<Report>,
    /// Of each body the tick of the newest state that the client is known to have.
    known: Vec<u64>,
    /// In which snapshot each body was sent last.
    sent: Vec<u64>,
    /// The snapshots that may still be acknowledged, with the bodies in them.
    snapshots: VecDeque<(u64, Vec<usize>)>,
}

impl Server {
    /// A match with so many crates, before its first step.
    #[must_use]
    pub fn new(crates: usize) -> Self {
        let (mut simulation, bodies) = arena(crates);
        // Nothing is drawn here: what moved is told of the latest states.
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
            last: (0, 0),
            peers: [const { None }; PLAYERS],
        }
    }

    /// Gives a new client one of the players; `None` if all are taken.
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

    /// Whether somebody plays this player.
    #[must_use]
    pub fn is_taken(&self, player: usize) -> bool {
        self.peers[player].is_some()
    }

    /// How many steps were made without the input of a player that is there.
    #[must_use]
    pub fn missed(&self, player: usize) -> u64 {
        self.peers[player].as_ref().map_or(0, |peer| peer.missed)
    }

    /// A packet from the client of this player.
    pub fn receive(&mut self, player: usize, packet: &[u8]) {
        if let (Some(peer), Some(inputs)) = (&mut self.peers[player], read::<Inputs>(packet)) {
            peer.receive(&inputs, self.simulation.physics.tick());
        }
    }

    /// A frame: makes the steps that are due, and every third one gives a packet to each client.
    pub fn frame(&mut self, time: Duration) -> Vec<(usize, Vec<u8>)> {
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            self.play(step);
            self.simulation.make_step();
        }
        self.simulation.end_frame();
        for peer in &mut self.peers {
            peer.take_if(|peer| peer.silence > LEFT);
        }
        if self.simulation.physics.tick() < self.last.0 + SNAPSHOT_EVERY {
            return Vec::new();
        }
        self.take_states();
        let mut packets = Vec::new();
        for (player, peer) in self.peers.iter_mut().enumerate() {
            if let Some(peer) = peer {
                let snapshot = peer.snapshot(player, self.last.0, &self.states);
                packets.push((player, write(&snapshot)));
            }
        }
        packets
    }

    fn play(&mut self, step: Step) {
        for (peer, key) in self.peers.iter_mut().zip(&self.bodies) {
            if let Some(peer) = peer {
                push(&mut self.simulation.physics, *key, peer.buttons(step));
            }
        }
        if self.throws {
            throw(&mut self.simulation.physics, &self.bodies, step.tick);
        }
    }

    /// Looks at the bodies that moved since the last snapshot, and at no others.
    fn take_states(&mut self) {
        let (tick, frame) = (
            self.simulation.physics.tick(),
            self.simulation.frame().number,
        );
        let moved = match self.simulation.changes_since(self.last.1) {
            Some(changes) => changes.moved.iter().map(|(key, _)| *key).collect(),
            // More has happened than is kept.
            None => self.bodies.clone(),
        };
        let moved = moved.into_iter();
        for body in moved.filter_map(|key| self.simulation.physics.body(key)) {
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
            // What is late or too far ahead the client sees in the report.
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

    /// What the player does in a step: without input the same as before, for a while.
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

    /// The client's own body, and all that it is not known to have: of those that it gets no room for, the ones that it
    /// has waited for the longest come next.
    fn snapshot(&mut self, player: usize, tick: u64, states: &[(u64, State)]) -> Snapshot {
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
            bodies: bodies.collect(),
        };
        self.snapshots.push_back((tick, due));
        let extra = self.snapshots.len().saturating_sub(KEPT);
        self.snapshots.drain(..extra);
        snapshot
    }
}
