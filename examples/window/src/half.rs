//! One half of the window: a scene under a strategy, on this thread or on another one.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings};
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
    /// Why it is on this thread, if it should be on another one.
    trouble: Option<String>,
    /// `None` only while it moves from one thread to another.
    host: Option<Host>,
    report: Report,
    shown: Shown,
    /// Whether reports have [`Bones`].
    wants_bones: bool,
    /// What was handed to the steps last.
    input: Input,
    pace: Pace,
}

/// How its time goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Of its steps.
    pub rate: Rate,
    /// Simulated time for real time.
    pub speed: f64,
    /// Whether it stands still.
    pub is_paused: bool,
}

impl Pace {
    fn apply(self, simulation: &mut Simulation) {
        simulation.clock_settings_mut().set_rate(self.rate);
        (simulation.set_speed(self.speed)).expect("the panel has no other");
        if self.is_paused {
            simulation.pause();
        } else {
            simulation.resume();
        }
    }
}

/// Where the steps are made.
enum Host {
    Here(Box<(Simulation, Player)>),
    Thread {
        runner: Box<Runner<Player>>,
        answer: Option<Receiver<Report>>,
    },
}

impl Host {
    fn here(mut simulation: Simulation, player: Player) -> Self {
        // A runner lifts this limit.
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::from_millis(250));
        Self::Here(Box::new((simulation, player)))
    }
}

/// What is known of the simulation, beside the poses: of one on another thread, a little late.
#[derive(Clone)]
pub struct Report {
    /// What its last frame did.
    pub frame: Frame,
    /// How much time was dropped since the beginning.
    pub dropped: Duration,
    /// The game's part.
    pub game: Game,
    /// What there is.
    pub looks: Looks,
    /// For debug lines, if they are wanted.
    pub bones: Option<Bones>,
    /// Whether the state to be shown has not come in time: of another thread only.
    pub is_starved: bool,
    /// How many bytes were recorded by now, if it is recorded.
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
    /// A scene from its beginning.
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
        };
        half.set_strategy(strategy);
        half.show();
        half
    }

    /// How it is stepped and shown.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Why it is not on a thread of its own, though its strategy is [`Strategy::Threaded`].
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Has it go on by another strategy.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
        self.trouble = None;
        let (mut simulation, player) = match self.host.take().expect("it is put back below") {
            Host::Here(here) => *here,
            Host::Thread { runner, .. } => runner.stop(),
        };
        strategy.apply(&mut simulation);
        // A runner that is stopped forgets what waits for its next step.
        self.pace.apply(&mut simulation);
        self.host = Some(if strategy == Strategy::Threaded {
            self.on_a_thread(simulation, player)
        } else {
            Host::here(simulation, player)
        });
    }

    /// On a thread of its own; where the system starts none, as in a browser, on this one.
    fn on_a_thread(&mut self, simulation: Simulation, player: Player) -> Host {
        match Runner::new(simulation, player, RunnerSettings::default()) {
            Ok(runner) => Host::Thread {
                runner: Box::new(runner),
                answer: None,
            },
            Err(error) => {
                self.trouble = Some("no thread starts here: it is stepped between frames".into());
                let (simulation, player) = error.into_given();
                Host::here(simulation, player)
            }
        }
    }

    /// Does something to the simulation and the game: at once here, between two steps on a thread, and there not
    /// at all if too much waits for that.
    pub fn order(&mut self, order: impl FnOnce(&mut Simulation, &mut Player) + Send + 'static) {
        match self.host_mut() {
            Host::Here(here) => order(&mut here.0, &mut here.1),
            Host::Thread { runner, .. } => {
                if runner.call(order).is_err() {
                    eprintln!("an order was lost: too many wait to be carried out");
                }
            }
        }
    }

    /// Sets what the next steps are given; deeds are added to those that no step was given yet.
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

    /// Sets how fast its time goes, in which steps, and whether it goes.
    pub fn set_pace(&mut self, pace: Pace) {
        if self.pace != pace {
            self.pace = pace;
            self.order(move |simulation, _| pace.apply(simulation));
        }
    }

    /// Whether it is to report what debug lines need.
    pub fn set_wants_bones(&mut self, wants: bool) {
        self.wants_bones = wants;
    }

    /// One frame of that length; what is on another thread goes by the wall clock instead.
    pub fn advance(&mut self, frame_time: Duration) {
        if let Host::Here(here) = self.host_mut() {
            let (simulation, player) = &mut **here;
            if let Some(tape) = &mut player.tape {
                tape.begin_frame(simulation, &player.game, frame_time);
            }
            let Ok(_) = simulation.advance_with(frame_time, player);
        }
    }

    /// Looks at what is to be seen now.
    pub fn show(&mut self) {
        let wants_bones = self.wants_bones;
        let looks = std::mem::take(&mut self.report.looks);
        let (poses, tick) = match self.host.as_mut().expect("only moving takes it") {
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

    /// What is to be seen.
    #[must_use]
    pub fn shown(&self) -> &Shown {
        &self.shown
    }

    /// What is known of the simulation.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Begins to record, unless it is on another thread: there nobody is told of the frames.
    pub fn record(&mut self) {
        if let Host::Here(here) = self.host_mut() {
            here.1.tape = Some(Tape::new());
        }
    }

    /// Ends the recording, and gives it.
    pub fn take_tape(&mut self) -> Option<Tape> {
        match self.host_mut() {
            Host::Here(here) => here.1.tape.take(),
            Host::Thread { .. } => None,
        }
    }

    fn host_mut(&mut self) -> &mut Host {
        self.host.as_mut().expect("only moving takes it")
    }
}

/// A question to the simulation and the game: by a call, as what a runner is asked does not see its hooks.
fn ask(runner: &Runner<Player>, looks: Looks, wants_bones: bool) -> Option<Receiver<Report>> {
    let (sender, answer) = channel();
    let sent = runner.call(move |simulation, player| {
        // Who has dropped the receiver does not want to know.
        let _ = sender.send(Report::of(simulation, player, looks, wants_bones));
    });
    sent.is_ok().then_some(answer)
}

fn poses(looks: &Looks, pose: impl Fn(BodyKey) -> Option<Pose>) -> BTreeMap<BodyKey, Pose> {
    let keys = looks.keys();
    keys.filter_map(|key| Some((*key, pose(*key)?))).collect()
}
