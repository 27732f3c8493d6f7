//! Rollback: GGRS decides which steps to run and with whose input, and evenstep runs them.
//!
//! | GGRS asks to | evenstep |
//! | --- | --- |
//! | save | has done so, see [`keep`](Simulation::keep). The cell gets the checksum |
//! | load | [`roll_back`](Simulation::roll_back) |
//! | advance | [`next_step`](Simulation::next_step), the game, [`run_step`](Simulation::run_step) |
//!
//! The game is a [resource](evenstep::Resources) of the simulation, and is restored with it.
//!
//! The frame decides how many steps are due ([`Clock::due`](evenstep::time::Clock::due)). GGRS is asked once for each of
//! them, and the step is taken only when GGRS says to advance. So a state is saved before anything of its step has
//! happened.
//!
//! # Waiting
//! When GGRS has predicted as far as it may, its list ends without a request to advance. (In GGRS 0.13
//! `GgrsError::PredictionThreshold` is for spectators only.) The frame then ends. [`end_frame`](Simulation::end_frame)
//! drops the steps that are still due and counts them in [`Dropped::aborted`](evenstep::time::Dropped::aborted), and the
//! picture pauses at the latest state. The time of these steps is lost on purpose, because it was spent waiting for the
//! other peer.
//!
//! # Pace
//! A peer that is ahead runs one per cent slower, and a peer that is behind runs faster. This replaces the frames that
//! GGRS's `WaitRecommendation` would skip. Nobody notices the difference, and all steps are equally long.
//!
//! # Limits that GGRS does not know

use evenstep::rewind::Kept;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::time::Duration;

use evenstep::rewind::RewindError;
use evenstep::{Frame, Physics, Simulation};
use ggrs::{
    Config, DesyncDetection, GgrsError, GgrsEvent, GgrsRequest, InputStatus, P2PSession,
    PlayerType, PredictRepeatLast, SessionBuilder, SessionState,
};

use crate::game::{Buttons, Rules, checksum};
use crate::packets::{Carrier, OthersFingerprint, Packets};

/// The number of ticks that GGRS predicts before it waits for the other peer. It limits the length of a rollback.
pub const MAX_PREDICTION: usize = 8;
/// The number of ticks from a press to the step in which it takes effect. These ticks are never predicted.
pub const INPUT_DELAY: usize = 2;
/// The difference in speed of a peer that is ahead or behind.
const PACE: f64 = 0.01;
/// The memory limit for snapshots, in bytes. It is more than the arena needs.
const MOST_BYTES: usize = 64 << 20;

/// The types of a match, for GGRS.
#[derive(Debug)]
pub struct Netcode<G>(PhantomData<G>);

impl<G: Rules> Config for Netcode<G> {
    type Input = Buttons;
    type InputPredictor = PredictRepeatLast;
    /// The simulation keeps its snapshots, so GGRS stores no state.
    type State = ();
    /// There is only one other peer.
    type Address = ();
}

/// Why a match cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum MatchError {
    /// An error of GGRS. In a sync test, two runs differ.
    #[error(transparent)]
    Session(#[from] GgrsError),
    /// GGRS goes back to a state that is no longer kept.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// The two machines round differently, so their runs would diverge.
    #[error(
        "the mathematics here, {ours:016x}, differ from those of the other end, {theirs:016x}: \
         play the same build on both, with `enhanced-determinism` and `portable_math`"
    )]
    Fingerprint {
        /// The fingerprint of this machine.
        ours: u64,
        /// The fingerprint of the other machine.
        theirs: u64,
    },
}

/// Statistics of the rollbacks so far.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The number of rollbacks.
    pub rollbacks: u64,
    /// The length of the longest rollback, in ticks.
    pub longest: u64,
    /// The number of resimulated steps.
    pub again: u64,
    /// The number of due steps that were dropped to wait for the other peer.
    pub waited: u64,
    /// The number of events that are new, confirmed and retracted.
    pub events: [usize; 3],
}

/// A simulation with its game, driven by GGRS.
#[derive(Debug)]
pub struct Player<G> {
    /// The simulation, with the game among its resources.
    pub simulation: Simulation,
    /// Statistics of the rollbacks.
    pub counts: Counts,
    /// The checksum of the state before each tick, as last saved.
    checksums: BTreeMap<u64, u64>,
    /// Whether there are event changes that were not counted yet.
    went_back: bool,
    rules: PhantomData<G>,
}

impl<G: Rules> Player<G> {
    /// Creates a player before the first step.
    #[must_use]
    pub fn new((mut simulation, game): (Simulation, G)) -> Self {
        simulation.keep(Kept {
            ticks: MAX_PREDICTION as u64,
            bytes: MOST_BYTES,
            ..Kept::default()
        });
        simulation.physics.resources_mut().insert(game);
        Self {
            simulation,
            counts: Counts::default(),
            checksums: BTreeMap::new(),
            went_back: false,
            rules: PhantomData,
        }
    }

    /// Returns the game.
    ///
    /// # Panics
    /// If the game was removed from the simulation's resources.
    #[must_use]
    pub fn game(&self) -> &G {
        let game = self.simulation.physics.resources().get();
        game.unwrap()
    }

    /// Runs a frame. `advance` asks GGRS what to do about a due step, given its tick.
    ///
    /// # Errors
    /// A [`MatchError`]. The frame then stays open.
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
        let step = step.expect("GGRS is asked only for due steps");
        if !step.is_resimulated {
            self.note_changes();
        }
        let buttons = [inputs[0].0, inputs[1].0];
        self.with_game(|physics, game| game.before_step(physics, step, buttons));
        self.simulation.run_step();
        self.with_game(|physics, game| game.after_step(physics, step));
    }

    fn with_game(&mut self, f: impl FnOnce(&mut Physics, &mut G)) {
        let scope = self.simulation.physics.resource_scope(f);
        scope.unwrap();
    }

    /// Counts event changes after a rollback has reached the present. A game would start and stop sounds and particles
    /// here.
    fn note_changes(&mut self) {
        if std::mem::take(&mut self.went_back) {
            let changes = self.simulation.event_changes();
            let changes = [changes.new, changes.confirmed, changes.retracted];
            for (count, events) in self.counts.events.iter_mut().zip(changes) {
                *count += events.collisions().count();
            }
        }
    }

    /// Returns the checksum of the state before a step, from the input that is known so far, or `None` before that
    /// step.
    #[must_use]
    pub fn checksum(&self, tick: u64) -> Option<u64> {
        self.checksums.get(&tick).copied()
    }
}

/// Converts a frame of GGRS, which is a tick.
fn tick(frame: ggrs::Frame) -> u64 {
    u64::try_from(frame).expect("GGRS counts from 0")
}

/// A peer in a match of two.
pub struct Peer<G: Rules> {
    /// The simulation of this peer.
    pub player: Player<G>,
    /// The number of checksums that differed between the peers.
    pub desyncs: usize,
    session: P2PSession<Netcode<G>>,
    /// The number of this peer's player.
    number: usize,
    /// The fingerprints of this machine and of the other one.
    fingerprints: (u64, OthersFingerprint),
    /// The first tick whose state may still change.
    predicted: u64,
}

impl<G: Rules> Peer<G> {
    /// Creates the peer of player `number`, 0 or 1. It plays against the peer at the other end of `packets`.
    ///
    /// # Errors
    /// If `number` is not a player's number.
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

    /// Runs a frame. Nothing happens until the other peer is connected. `buttons` returns the buttons that the player
    /// holds down in a tick.
    ///
    /// # Errors
    /// A [`MatchError`].
    pub fn frame(
        &mut self,
        time: Duration,
        mut buttons: impl FnMut(u64) -> Buttons,
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
            // The requests take account of all input that has arrived so far.
            self.predicted = u64::try_from(self.session.confirmed_frame() + 1).unwrap_or(0);
            Ok(requests)
        })
    }

    fn keep_pace(&mut self) {
        let ahead = self.session.frames_ahead().clamp(-1, 1);
        let speed = 1.0 - PACE * f64::from(ahead);
        let speed = self.player.simulation.clock_settings_mut().set_speed(speed);
        speed.expect("the speed is near 1");
    }

    /// Returns the checksum of the state before a step, if that state can no longer change, or `None` if it can.
    #[must_use]
    pub fn confirmed_checksum(&self, tick: u64) -> Option<u64> {
        let sum = self.player.checksum(tick)?;
        (tick <= self.predicted).then_some(sum)
    }
}
