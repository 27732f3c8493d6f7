//! A half of the window: a scene under a strategy, on this thread or another one.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings};
use evenstep::time::StepCost;
use evenstep::{BodyKey, Frame, Rate, Simulation};

use crate::bones::Bones;
use crate::game::{Game, Input};
use crate::player::Player;
use crate::scenes::Scene;
use crate::shown::{Looks, Shown, look, wheels};
use crate::strategy::Strategy;
use crate::tape::Tape;

/// A scene under a strategy.
pub struct Half {
    strategy: Strategy,
    /// Why the half is on this thread although its strategy needs another.
    trouble: Option<String>,
    /// `None` only while the simulation moves between threads.
    host: Option<Host>,
    report: Report,
    shown: Shown,
    /// Whether reports need [`Bones`].
    wants_bones: bool,
    /// The input that the steps received last.
    input: Input,
    pace: Pace,
    /// The measured time of steps on this thread, and the frames since the last record of it.
    step_cost: StepCost,
    work: Work,
}

/// The steps of some frames.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    busy: Duration,
    steps: u64,
}

/// The pace of a half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The rate of its steps.
    pub rate: Rate,
    /// The ratio of simulated time to real time.
    pub speed: f64,
    /// Whether the half is paused.
    pub is_paused: bool,
}

impl Pace {
    fn apply(self, simulation: &mut Simulation) {
        simulation.clock_settings_mut().set_rate(self.rate);
        (simulation.clock_settings_mut().set_speed(self.speed))
            .expect("the panel offers only valid speeds");
        if self.is_paused {
            simulation.pause();
        } else {
            simulation.resume();
        }
    }
}

/// Where the steps run.
enum Host {
    Here(Box<(Simulation, Player)>),
    Thread {
        runner: Box<Runner<Player>>,
        answer: Option<Receiver<Report>>,
    },
}

impl Host {
    fn here(mut simulation: Simulation, player: Player) -> Self {
        // A runner removes this limit.
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::from_millis(250));
        Self::Here(Box::new((simulation, player)))
    }
}

/// The state of the simulation beside the poses. On another thread it is slightly late.
#[derive(Clone)]
pub struct Report {
    /// The last frame.
    pub frame: Frame,
    /// The total dropped time.
    pub dropped: Duration,
    /// The game's state.
    pub game: Game,
    /// The looks of all bodies.
    pub looks: Looks,
    /// Copies for debug lines, if needed.
    pub bones: Option<Bones>,
    /// Whether the state to display did not arrive in time. Only another thread can be late.
    pub is_starved: bool,
    /// The number of recorded bytes, if the half is recorded.
    pub recorded: Option<usize>,
}

impl Report {
    fn of(simulation: &Simulation, player: &Player, mut looks: Looks, wants_bones: bool) -> Self {
        look(&simulation.physics, &mut looks);
        Self {
            frame: simulation.frame(),
            dropped: simulation.clock().dropped().frame_time,
            game: player.game.clone(),
            looks,
            bones: wants_bones.then(|| Bones::of(&simulation.physics)),
            is_starved: false,
            recorded: player.tape.as_ref().map(Tape::bytes),
        }
    }
}

impl Half {
    /// Creates a scene at its beginning.
    #[must_use]
    pub fn new(scene: Scene, strategy: Strategy, rate: Rate) -> Self {
        let (mut simulation, game) = Game::new(scene, rate);
        let player = Player::new(game, &mut simulation);
        let report = Report::of(&simulation, &player, Looks::new(), false);
        let mut half = Self {
            strategy: Strategy::Latest,
            trouble: None,
            host: Some(Host::Here(Box::new((simulation, player)))),
            report,
            shown: Shown::default(),
            wants_bones: false,
            input: Input::default(),
            pace: Pace {
                rate,
                speed: 1.0,
                is_paused: false,
            },
            step_cost: StepCost::default(),
            work: Work::default(),
        };
        half.set_strategy(strategy);
        half.show();
        half
    }

    /// Returns the strategy.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Returns why the half is not on another thread, although its strategy is [`Strategy::Threaded`].
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Continues with another strategy.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
        self.trouble = None;
        self.step_cost = StepCost::default();
        let (mut simulation, player) = match self.host.take().expect("the host is restored below") {
            Host::Here(here) => *here,
            Host::Thread { runner, .. } => runner.stop(),
        };
        strategy.apply(&mut simulation);
        // A stopped runner forgets changes that wait for its next step.
        self.pace.apply(&mut simulation);
        self.host = Some(if strategy == Strategy::Threaded {
            self.on_a_thread(simulation, player)
        } else {
            Host::here(simulation, player)
        });
    }

    /// Moves the simulation to another thread. If the system cannot start one, as in a browser, it stays on this
    /// thread.
    fn on_a_thread(&mut self, simulation: Simulation, player: Player) -> Host {
        match Runner::new(simulation, player, RunnerSettings::default()) {
            Ok(runner) => Host::Thread {
                runner: Box::new(runner),
                answer: None,
            },
            Err(error) => {
                self.trouble =
                    Some("no thread can be started: the steps run between frames".into());
                let (simulation, player) = error.into_given();
                Host::here(simulation, player)
            }
        }
    }

    /// Carries out an order on the simulation and the game: at once on this thread, or between two steps on another. An
    /// order is lost if too many are waiting there.
    pub fn order(&mut self, order: impl FnOnce(&mut Simulation, &mut Player) + Send + 'static) {
        match self.host_mut() {
            Host::Here(here) => order(&mut here.0, &mut here.1),
            Host::Thread { runner, .. } => {
                if runner.call(order).is_err() {
                    eprintln!("an order was lost: too many are waiting");
                }
            }
        }
    }

    /// Sets the input of the next steps. Actions are added to those that no step has received yet.
    pub fn set_input(&mut self, input: Input) {
        if input == self.input && input.deeds.is_empty() {
            return;
        }
        self.input = Input {
            deeds: Vec::new(),
            ..input.clone()
        };
        self.order(move |_, player| {
            let mut deeds = std::mem::take(&mut player.input.deeds);
            deeds.extend_from_slice(&input.deeds);
            player.input = Input { deeds, ..input };
        });
    }

    /// Sets the pace: speed, rate and pause.
    pub fn set_pace(&mut self, pace: Pace) {
        if self.pace != pace {
            self.pace = pace;
            self.order(move |simulation, _| pace.apply(simulation));
        }
    }

    /// Sets whether to report the data for debug lines.
    pub fn set_wants_bones(&mut self, wants: bool) {
        self.wants_bones = wants;
    }

    /// Runs a frame of this length, and measures it with a clock. A simulation on another thread uses the wall clock
    /// instead.
    pub fn advance(&mut self, frame_time: Duration, clock: &impl Fn() -> Duration) {
        let start = clock();
        if let Host::Here(here) = self.host_mut() {
            let (simulation, player) = &mut **here;
            if let Some(tape) = &mut player.tape {
                tape.begin_frame(simulation, &player.game, frame_time);
            }
            let Ok(frame) = simulation.advance_with(frame_time, player);
            self.work.steps += frame.steps;
            self.work.busy += clock().saturating_sub(start);
        }
    }

    /// Updates the displayed state.
    pub fn show(&mut self) {
        let wants_bones = self.wants_bones;
        let looks = std::mem::take(&mut self.report.looks);
        let (poses, tick) = match self
            .host
            .as_mut()
            .expect("the host is missing only during a move")
        {
            Host::Here(here) => {
                let (simulation, player) = &**here;
                self.report = Report::of(simulation, player, looks, wants_bones);
                let poses = poses(&self.report.looks, |key| simulation.pose(key));
                (poses, simulation.physics.tick())
            }
            Host::Thread { runner, answer } => {
                self.report.looks = looks;
                if let Some(Ok(report)) = answer.as_ref().map(Receiver::try_recv) {
                    self.report = report;
                    *answer = None;
                }
                if answer.is_none() {
                    *answer = ask(runner, self.report.looks.clone(), wants_bones);
                }
                self.report.dropped = runner.dropped();
                let view = runner.frame();
                self.report.is_starved = view.is_starved();
                (poses(&self.report.looks, |key| view.pose(key)), view.tick())
            }
        };
        let game = &self.report.game;
        let origins = game.origins().iter().rev();
        let origin = origins.clone().find(|(since, _)| *since < tick.max(1));
        self.shown = Shown {
            wheels: wheels(game, poses.get(&game.cast.followed)),
            poses,
            origin: origin.map_or(Vector::ZERO, |(_, origin)| *origin),
        };
    }

    /// Returns the displayed state.
    #[must_use]
    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Records how long steps took in the frames since the last record, which took this much real time.
    pub fn record_load(&mut self, elapsed: Duration) {
        let Work { busy, steps } = std::mem::take(&mut self.work);
        self.step_cost.record(elapsed, busy, steps);
    }

    /// Returns the time that steps take. A runner measures its thread itself.
    #[must_use]
    pub fn step_cost(&self) -> StepCost {
        match &self.host {
            Some(Host::Thread { runner, .. }) => runner.step_cost(),
            _ => self.step_cost,
        }
    }

    /// Returns the last report of the simulation.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Begins a recording, unless the simulation is on another thread, where frames cannot be recorded.
    pub fn record(&mut self) {
        if let Host::Here(here) = self.host_mut() {
            here.1.tape = Some(Tape::new());
        }
    }

    /// Ends the recording, and returns it.
    pub fn take_tape(&mut self) -> Option<Tape> {
        match self.host_mut() {
            Host::Here(here) => here.1.tape.take(),
            Host::Thread { .. } => None,
        }
    }

    fn host_mut(&mut self) -> &mut Host {
        self.host
            .as_mut()
            .expect("the host is missing only during a move")
    }
}

/// Requests a report from a runner. It uses a call, because other requests do not see the runner's hooks.
fn ask(runner: &Runner<Player>, looks: Looks, wants_bones: bool) -> Option<Receiver<Report>> {
    let (sender, answer) = channel();
    let sent = runner.call(move |simulation, player| {
        // If the receiver was dropped, the report is not needed.
        let _ = sender.send(Report::of(simulation, player, looks, wants_bones));
    });
    sent.is_ok().then_some(answer)
}

fn poses(looks: &Looks, pose: impl Fn(BodyKey) -> Option<Pose>) -> BTreeMap<BodyKey, Pose> {
    let keys = looks.keys();
    keys.filter_map(|key| Some((*key, pose(*key)?))).collect()
}
