//! Lockstep: input takes effect some ticks later, and no step runs before both players' input for it has arrived.
//! Nothing is predicted or resimulated. Any loss that lasts longer than the input delay makes the game wait.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use evenstep::input::{TickQueue, TickSender};
use evenstep::{Frame, Simulation};

use crate::game::{Arena, Buttons, Rules, checksum};

/// The number of ticks from a press to the step in which it takes effect, until the peer changes it.
pub const DELAY: u64 = 6;
/// The largest number of these ticks.
pub const MOST_DELAY: u64 = 12;
/// The number of ticks between two checksums.
const CHECK_EVERY: u64 = 30;

/// The packet that a peer sends in every frame. Each contains all input that may have been lost, so no input has to be
/// requested again.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Input by tick, without gaps.
    inputs: VecDeque<(u64, Buttons)>,
    /// The first tick for which the sender lacks the receiver's input.
    wanted: u64,
    /// The tick and the checksum of a state.
    checksum: Option<(u64, u64)>,
}

/// A peer in a match of two.
#[derive(Debug)]
pub struct Lockstep {
    /// The simulation.
    pub simulation: Simulation,
    /// The game beside the simulation.
    pub game: Arena,
    /// The number of checksums of both peers that were equal, and the number that were not.
    pub checks: [usize; 2],
    number: usize,
    delay: u64,
    sender: TickSender<Buttons>,
    queues: [TickQueue<Buttons>; 2],
    /// The first tick for which the other peer's input is missing.
    wanted: u64,
    /// Own input that the other peer may not have.
    unsure: VecDeque<(u64, Buttons)>,
    /// Own checksums that were not compared yet.
    checksums: BTreeMap<u64, u64>,
}

impl Lockstep {
    /// Creates the peer of player `number`, 0 or 1.
    #[must_use]
    pub fn new((simulation, game): (Simulation, Arena), number: usize) -> Self {
        Self {
            simulation,
            game,
            checks: [0; 2],
            number,
            delay: DELAY,
            sender: TickSender::new(DELAY, Buttons::default()),
            queues: [0; 2].map(|tick| TickQueue::new(tick, 2 * MOST_DELAY)),
            wanted: DELAY,
            unsure: VecDeque::new(),
            checksums: BTreeMap::new(),
        }
    }

    /// Changes this peer's input delay, from 1 to [`MOST_DELAY`] ticks, at any time. The other peer need not know it.
    pub fn set_delay(&mut self, ticks: u64) {
        self.delay = ticks.clamp(1, MOST_DELAY);
    }

    /// Runs a frame, as far as the other peer's input allows. Drops due steps that have to wait. Returns the packet to
    /// send.
    pub fn frame(&mut self, time: Duration, buttons: impl Fn(u64) -> Buttons) -> (Frame, Packet) {
        self.simulation.begin_frame(time);
        while self.simulation.physics.tick() < self.wanted
            && let Some(step) = self.simulation.next_step()
        {
            let takes_effect = step.tick + self.delay;
            for (tick, buttons) in self.sender.schedule(takes_effect, buttons(step.tick)) {
                self.unsure.push_back((tick, buttons));
                self.queues[self.number].push(tick, buttons).unwrap();
            }
            // In the first ticks no button is held.
            let buttons = (self.queues.each_mut()).map(|queue| queue.drain(step).next());
            let buttons = buttons.map(Option::unwrap_or_default);
            self.game
                .before_step(&mut self.simulation.physics, step, buttons);
            self.simulation.run_step();
            self.game.after_step(&mut self.simulation.physics, step);
            if self.simulation.physics.tick().is_multiple_of(CHECK_EVERY) {
                let sum = checksum(&self.simulation.physics, &self.game);
                self.checksums.insert(self.simulation.physics.tick(), sum);
            }
        }
        (self.simulation.end_frame(), self.packet())
    }

    fn packet(&self) -> Packet {
        let oldest = self.checksums.first_key_value();
        Packet {
            inputs: self.unsure.clone(),
            wanted: self.wanted,
            checksum: oldest.map(|(tick, sum)| (*tick, *sum)),
        }
    }

    /// Receives a packet of the other peer. Packets may come in any order, and more than once.
    pub fn receive(&mut self, packet: &Packet) {
        for (tick, buttons) in &packet.inputs {
            if *tick == self.wanted {
                // No peer is ahead by more than both delays.
                (self.queues[1 - self.number].push(*tick, *buttons)).unwrap();
                self.wanted += 1;
            }
        }
        self.unsure.retain(|(tick, _)| *tick >= packet.wanted);
        if let Some((tick, theirs)) = packet.checksum
            && let Some(ours) = self.checksums.get(&tick)
        {
            self.checks[usize::from(*ours != theirs)] += 1;
            self.checksums.retain(|of, _| *of > tick);
        }
    }
}
