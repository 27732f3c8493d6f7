//! Rollback: GGRS says which steps are made and with whose input, evenstep makes them.
//!
//! | GGRS asks to | evenstep |
//! | --- | --- |
//! | save | has done so: [`set_rewind_limits`](Simulation::set_rewind_limits). The cell gets the checksum |
//! | load | [`roll_back`](Simulation::roll_back) |
//! | advance | [`next_step`](Simulation::next_step), the game, [`make_step`](Simulation::make_step) |
//!
//! The game is a [resource](evenstep::Resources) of the simulation, and goes back with it.
//!
//! The frame decides how many steps are due ([`Clock::due`](evenstep::Clock::due)), GGRS is asked once for each of
//! them, and only where it says to advance is the step taken: a state is then saved before anything of its step
//! has been done.
//!
//! # Waiting
//! GGRS does not say to advance where it has predicted as far as it may: the list that it gives ends without.
//! (In GGRS 0.13 `GgrsError::PredictionThreshold` is for spectators only.) The frame ends there,
//! [`end_frame`](Simulation::end_frame) drops the steps that are still due and counts them in
//! [`Dropped::aborted`](evenstep::Dropped::aborted), and the picture stands still at the latest state. The time of
//! these steps is lost on purpose: it is that for which the other end was waited for.
//!
//! # Pace
//! Who is ahead of the other end goes slower by a hundredth, and who is behind faster, in place of the frames that
//! GGRS's `WaitRecommendation` leaves out. Nobody sees that, and every step is as long as any other.
//!
//! # What GGRS cannot be refused
//! Once it has asked to go back it counts on it. So leave
//! [`set_max_steps_per_frame`](evenstep::ClockSettings::set_max_steps_per_frame) and
//! [`set_budget`](evenstep::ClockSettings::set_budget) alone, which count the steps that are resimulated, or let
//! them be far above [`MAX_PREDICTION`].

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

use evenstep::{Frame, Physics, RewindError, Simulation};
use ggrs::{
    Config, DesyncDetection, GgrsError, GgrsEvent, GgrsRequest, InputStatus, P2PSession,
    PlayerType, PredictRepeatLast, SessionBuilder, SessionState,
};

use crate::game::{Buttons, Rules, checksum};
use crate::packets::{Carrier, OthersFingerprint, Packets};

/// How many ticks GGRS predicts before it waits for the other end: so far back a rollback may go.
pub const MAX_PREDICTION: usize = 8;
/// Ticks from a press to the step that it acts in: so many are not predicted at all.
pub const INPUT_DELAY: usize = 2;
/// By how much who is ahead is slower.
const PACE: f64 = 0.01;
/// Bytes of states that are kept: more than the arena takes.
const MOST_BYTES: usize = 64 << 20;

/// The types of a match, for GGRS.
#[derive(Debug)]
pub struct Netcode<G>(PhantomData<G>);

impl<G: Rules> Config for Netcode<G> {
    type Input = Buttons;
    type InputPredictor = PredictRepeatLast;
    /// The simulation keeps its own states.
    type State = ();
    /// There is one other end.
    type Address = ();
}

/// Why a match cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// GGRS says so: in a sync test, that two runs differ.
    #[error(transparent)]
    Session(#[from] GgrsError),
    /// GGRS goes back to a state that is not kept.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// The two machines round in different ways, so that their runs would part.
    #[error(
        "the mathematics here, {ours:016x}, differ from those of the other end, {theirs:016x}: \
         play the same build on both, with `enhanced-determinism` and `portable_math`"
    )]
    Fingerprint {
        /// Here.
        ours: u64,
        /// At the other end.
        theirs: u64,
    },
}

/// What rollback did so far.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// How often the match went back,
    pub rollbacks: u64,
    /// by how many ticks at most,
    pub longest: u64,
    /// and by how many together.
    pub again: u64,
    /// Steps that were due and not made, to wait for the other end.
    pub waited: u64,
    /// Events that only the later run had, that both had, that only the first had.
    pub events: [usize; 3],
}

/// A simulation with its game, as GGRS drives it.
#[derive(Debug)]
pub struct Player<G> {
    /// The simulation, with the game among its resources.
    pub simulation: Simulation,
    /// What rollback did.
    pub counts: Counts,
    /// Of the state before each tick, as it was saved last.
    checksums: BTreeMap<u64, u64>,
    /// Whether there are changes of events that were not looked at.
    went_back: bool,
    rules: PhantomData<G>,
}

impl<G: Rules> Player<G> {
    /// A player before the first step.
    #[must_use]
    pub fn new((mut simulation, game): (Simulation, G)) -> Self {
        simulation.set_rewind_limits(MAX_PREDICTION as u64, MOST_BYTES);
        simulation.physics.resources_mut().insert(game);
        Self {
            simulation,
            counts: Counts::default(),
            checksums: BTreeMap::new(),
            went_back: false,
            rules: PhantomData,
        }
    }

    /// The game.
    ///
    /// # Panics
    /// If it was removed from the simulation's resources.
    #[must_use]
    pub fn game(&self) -> &G {
        let game = self.simulation.physics.resources().get();
        game.expect("it was inserted")
    }

    /// A frame. `advance` asks GGRS what to do about a step that is due, given its tick.
    ///
    /// # Errors
    /// A [`MatchError`]; the frame is left open.
    pub fn frame(
        &mut self,
        time: Duration,
        mut advance: impl FnMut(u64) -> Result<Vec<GgrsRequest<Netcode<G>>>, GgrsError>,
    ) -> Result<Frame, MatchError> {
        self.simulation.begin_frame(time);
        while self.simulation.clock().due() > 0 {
            let tick = self.simulation.physics.tick();
            for request in advance(tick)? {
                self.fulfil(request)?;
            }
            if self.simulation.physics.tick() == tick {
                break;
            }
        }
        let frame = self.simulation.end_frame();
        self.note_changes();
        self.counts.waited += frame.dropped.aborted;
        Ok(frame)
    }

    fn fulfil(&mut self, request: GgrsRequest<Netcode<G>>) -> Result<(), MatchError> {
        match request {
            GgrsRequest::SaveGameState { cell, frame } => {
                let sum = checksum(&self.simulation.physics, self.game());
                self.checksums.insert(tick(frame), sum);
                cell.save(frame, None, Some(sum.into()));
            }
            GgrsRequest::LoadGameState { frame, .. } => {
                let steps = self.simulation.physics.tick() - tick(frame);
                self.simulation.roll_back(tick(frame))?;
                self.went_back = true;
                self.counts.rollbacks += 1;
                self.counts.again += steps;
                self.counts.longest = self.counts.longest.max(steps);
            }
            GgrsRequest::AdvanceFrame { inputs } => self.step(&inputs),
        }
        Ok(())
    }

    fn step(&mut self, inputs: &[(Buttons, InputStatus)]) {
        let step = self.simulation.next_step();
        let step = step.expect("GGRS is asked for steps that are due");
        if !step.is_resimulated {
            self.note_changes();
        }
        let buttons = [inputs[0].0, inputs[1].0];
        self.with_game(|physics, game| game.before_step(physics, step, buttons));
        self.simulation.make_step();
        self.with_game(|physics, game| game.after_step(physics, step));
    }

    fn with_game(&mut self, f: impl FnOnce(&mut Physics, &mut G)) {
        let scope = self.simulation.physics.resource_scope(f);
        scope.expect("it was inserted");
    }

    /// Once the present is reached: here sounds and sparks would start, and end.
    fn note_changes(&mut self) {
        if std::mem::take(&mut self.went_back) {
            let changes = self.simulation.event_changes();
            let changes = [changes.new, changes.confirmed, changes.retracted];
            for (count, events) in self.counts.events.iter_mut().zip(changes) {
                *count += events.collisions().count();
            }
        }
    }

    /// The checksum of the state before a step, by the input that is known so far; `None` before it was taken.
    #[must_use]
    pub fn checksum(&self, tick: u64) -> Option<u64> {
        self.checksums.get(&tick).copied()
    }
}

/// GGRS's frames are ticks.
fn tick(frame: ggrs::Frame) -> u64 {
    u64::try_from(frame).expect("GGRS counts from 0")
}

/// One end of a match of two.
pub struct Peer<G: Rules> {
    /// Its simulation.
    pub player: Player<G>,
    /// How often the ends' checksums differed.
    pub desyncs: usize,
    session: P2PSession<Netcode<G>>,
    /// Which of the players it is.
    number: usize,
    /// Of the machine, and of the one at the other end.
    fingerprints: (u64, OthersFingerprint),
    /// The first tick whose state may still be another.
    predicted: u64,
}

impl<G: Rules> Peer<G> {
    /// The end of player `number`, 0 or 1, which plays against the one that the packets go to.
    ///
    /// # Errors
    /// None but for a number that is no player's.
    pub fn new(
        start: (Simulation, G),
        number: usize,
        packets: Packets<impl Carrier + 'static>,
        disconnect_timeout: Duration,
    ) -> Result<Self, GgrsError> {
        let fingerprints = packets.fingerprints();
        let session = SessionBuilder::<Netcode<G>>::new()
            .with_max_prediction_window(MAX_PREDICTION)
            .with_input_delay(INPUT_DELAY)
            .with_desync_detection_mode(DesyncDetection::On { interval: 10 })
            .with_disconnect_timeout(disconnect_timeout)
            .add_player(PlayerType::Local, number)?
            .add_player(PlayerType::Remote(()), 1 - number)?
            .start_p2p_session(packets)?;
        Ok(Self {
            player: Player::new(start),
            desyncs: 0,
            session,
            number,
            fingerprints,
            predicted: 0,
        })
    }

    /// A frame; nothing happens in it until the other end is there. `buttons` are what the player holds down for a tick.
    ///
    /// # Errors
    /// A [`MatchError`].
    pub fn frame(
        &mut self,
        time: Duration,
        buttons: impl Fn(u64) -> Buttons,
    ) -> Result<Frame, MatchError> {
        self.session.poll_remote_clients();
        let (ours, theirs) = (self.fingerprints.0, self.fingerprints.1.get());
        if let Some(theirs) = theirs.filter(|theirs| *theirs != ours) {
            return Err(MatchError::Fingerprint { ours, theirs });
        }
        let events = self.session.events();
        let desyncs = events.filter(|event| matches!(event, GgrsEvent::DesyncDetected { .. }));
        self.desyncs += desyncs.count();
        if self.session.current_state() != SessionState::Running {
            return Ok(self.player.simulation.frame());
        }
        self.keep_pace();
        self.player.frame(time, |tick| {
            (self.session).add_local_input(self.number, buttons(tick))?;
            let requests = self.session.advance_frame()?;
            // All that is known by now is in what GGRS asks for.
            self.predicted = u64::try_from(self.session.confirmed_frame() + 1).unwrap_or(0);
            Ok(requests)
        })
    }

    fn keep_pace(&mut self) {
        let ahead = self.session.frames_ahead().clamp(-1, 1);
        let speed = 1.0 - PACE * f64::from(ahead);
        let speed = self.player.simulation.set_speed(speed);
        speed.expect("it is near 1");
    }

    /// The checksum of the state before a step that can no longer change; `None` while it can, or before it was taken.
    #[must_use]
    pub fn confirmed_checksum(&self, tick: u64) -> Option<u64> {
        let sum = self.player.checksum(tick)?;
        (tick <= self.predicted).then_some(sum)
    }
}
