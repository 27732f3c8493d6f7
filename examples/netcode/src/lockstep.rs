//! Lockstep: input acts some ticks after it was given, and no step is made before both players' input for it is
//! there. Nothing is predicted, nothing is resimulated; every loss that lasts longer than the delay is a wait.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use evenstep::{Frame, Simulation, TickQueue};

use crate::game::{Arena, Buttons, Rules, checksum};

/// Ticks from a press to the step that it acts in.
pub const DELAY: u64 = 6;
/// Ticks from a checksum to the next.
const CHECK_EVERY: u64 = 30;

/// What one end sends in every frame. All input that may be lost is in each: none has to be asked for.
#[derive(Clone, Debug)]
pub struct Packet {
    /// By tick, without a gap.
    inputs: VecDeque<(u64, Buttons)>,
    /// The first tick for which the sender has no input of the receiver.
    wanted: u64,
    /// The tick and the checksum of a state.
    checksum: Option<(u64, u64)>,
}

/// One end of a match of two.
#[derive(Debug)]
pub struct Lockstep {
    /// The simulation.
    pub simulation: Simulation,
    /// Its game.
    pub game: Arena,
    /// How many checksums of both ends were equal, and how many were not.
    pub checks: [usize; 2],
    number: usize,
    queues: [TickQueue<Buttons>; 2],
    /// The first tick for which there is no input of the other end.
    wanted: u64,
    /// Own input that the other end may not have.
    unsure: VecDeque<(u64, Buttons)>,
    /// Own checksums that were not compared yet.
    checksums: BTreeMap<u64, u64>,
}

impl Lockstep {
    /// The end of player `number`, 0 or 1.
    #[must_use]
    pub fn new((simulation, game): (Simulation, Arena), number: usize) -> Self {
        Self {
            simulation,
            game,
            checks: [0; 2],
            number,
            queues: [TickQueue::new(0, 2 * DELAY), TickQueue::new(0, 2 * DELAY)],
            wanted: DELAY,
            unsure: VecDeque::new(),
            checksums: BTreeMap::new(),
        }
    }

    /// A frame, as far as the other end's input goes: steps that are due and have to wait are dropped. Gives what to
    /// send.
    pub fn frame(&mut self, time: Duration, buttons: impl Fn(u64) -> Buttons) -> (Frame, Packet) {
        self.simulation.begin_frame(time);
        while self.simulation.physics.tick() < self.wanted
            && let Some(step) = self.simulation.next_step()
        {
            let input = (step.tick + DELAY, buttons(step.tick));
            self.unsure.push_back(input);
            let own = self.queues[self.number].push(input.0, input.1);
            own.expect("it is for a later tick");
            // In the first ticks nobody holds anything down yet.
            let buttons = (self.queues.each_mut()).map(|queue| queue.drain(step).next());
            let buttons = buttons.map(Option::unwrap_or_default);
            self.game
                .before_step(&mut self.simulation.physics, step, buttons);
            self.simulation.make_step();
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

    /// Takes in what the other end has sent, in any order and any number of times.
    pub fn receive(&mut self, packet: &Packet) {
        for (tick, buttons) in &packet.inputs {
            if *tick == self.wanted {
                let others = self.queues[1 - self.number].push(*tick, *buttons);
                others.expect("neither end is ahead by more than the delay");
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
