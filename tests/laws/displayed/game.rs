//! The game: it carries out the actions of a script, in its hooks and between frames.

use super::path::Paths;
use super::script::{Action, Cut, Deed, FrameScript};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::time::{Budget, FrameTime};
use evenstep::{Hooks, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most steps of a frame, and its most simulated time in seconds, so that a game takes no long time. In a step of
/// several seconds Rapier would also cap and round rotations.
const MOST_STEPS: f64 = 40.0;
const MOST_TIME: f64 = 0.5;

/// Returns the most simulated time of a frame at this rate, in seconds.
pub fn most_time(rate: Rate) -> f64 {
    MOST_TIME.min(rate.dt_f64() * MOST_STEPS)
}

pub struct Failure;

pub struct Game {
    pub paths: Paths,
    general: Smoothing,
    /// The limit of kept states, and the number of states whose poses are kept.
    limits: u64,
    history: u64,
    /// The deeds before and after the steps, by tick. A resimulated step repeats those of its first run.
    deeds: BTreeMap<u64, [Vec<Deed>; 2]>,
    /// The frame, and how many of its steps have begun.
    script: FrameScript,
    begun: u64,
    /// Whether the displayed time of the next picture may have gone back: for all loops, for a single thread, and in the
    /// next frame that begins.
    pub is_free: bool,
    pub is_replaced: bool,
    is_overstep_set: bool,
    is_tick_set: bool,
    /// The length of a step in seconds at the rate of the frame, and that of the longest step so far.
    pub step: f64,
    pub longest: f64,
    /// The rate and the speed of the next frame.
    pub rate: Rate,
    pub speed: f64,
    /// Whether frames may end between two steps.
    pub is_fixed: bool,
    /// Whether time is stopped in the frame.
    pub stands_still: bool,
    /// Whether a step has asked to pause.
    pub has_stopped: bool,
    /// Whether the last step of the frame so far was resimulated.
    reacts_to_resimulated: bool,
    /// The bodies that begin the next picture at a position, relative to the landmark.
    pub beginnings: BTreeMap<usize, Vector>,
    /// Whether the origin was shifted between two steps since the last picture.
    pub has_shifted: bool,
}

impl Game {
    pub fn new(simulation: &mut Simulation, smoothing: Smoothing) -> Self {
        let paths = Paths::new(&mut simulation.physics, smoothing);
        let mut game = Self {
            paths,
            general: smoothing,
            limits: 20,
            history: 0,
            deeds: BTreeMap::new(),
            script: FrameScript::empty(),
            begun: 0,
            is_free: false,
            is_replaced: false,
            is_overstep_set: false,
            is_tick_set: false,
            step: 0.0,
            longest: simulation.clock().settings().rate().dt_f64(),
            rate: simulation.clock().settings().rate(),
            speed: 1.0,
            is_fixed: true,
            stands_still: false,
            has_stopped: false,
            reacts_to_resimulated: false,
            beginnings: BTreeMap::new(),
            has_shifted: false,
        };
        simulation.smoothing = smoothing;
        game.keep_past(simulation);
        game
    }

    fn keep_past(&mut self, simulation: &mut Simulation) {
        simulation.keep(Kept {
            ticks: self.limits,
            poses: self.history,
            ..simulation.kept()
        });
    }

    /// Begins a frame of the script.
    pub fn begin(&mut self, script: &FrameScript) {
        self.script = script.clone();
        self.begun = 0;
        self.has_stopped = false;
        self.reacts_to_resimulated = false;
    }

    /// Returns how many steps of the frame have begun.
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// Notes that a frame begins, which adopts the requests.
    pub fn begin_frame(&mut self, simulation: &Simulation) {
        let settings = simulation.clock().settings();
        self.step = settings.rate().dt_f64();
        self.is_fixed = settings.stepping() == Stepping::Fixed;
        self.stands_still = settings.is_paused() || settings.speed() == 0.0;
        self.longest = self.longest.max(self.step);
        self.is_free |= std::mem::take(&mut self.is_overstep_set);
        if std::mem::take(&mut self.is_tick_set) && simulation.steps_to_resimulate() > 0 {
            // The state stays at an earlier time.
            self.beginnings.clear();
            self.is_free = true;
            self.is_replaced = true;
            self.paths.go_to(&simulation.physics);
        }
    }

    /// Carries out the actions within the frame.
    pub fn act_within(&mut self, simulation: &mut Simulation) {
        for action in std::mem::take(&mut self.script.within) {
            self.act(simulation, &action);
        }
    }

    /// Slows down a frame that an overlap has let wait, and that would be too long at a rate or speed set since.
    fn limit_speed(&mut self, simulation: &mut Simulation, time: Duration) {
        let most = most_time(self.rate) / time.as_secs_f64();
        // The times of other frames are rounded to nanoseconds.
        if self.speed > 1.01 * most {
            self.act(simulation, &Action::Speed(most));
        }
    }

    pub fn act(&mut self, simulation: &mut Simulation, action: &Action) {
        let here = simulation.physics.tick();
        match *action {
            Action::Rate(rate) => {
                self.rate = rate;
                self.longest = self.longest.max(rate.dt_f64());
                simulation.clock_settings_mut().set_rate(rate);
            }
            Action::Speed(speed) => {
                let stepping = simulation.clock().settings().stepping();
                let is_counted =
                    matches!(stepping, Stepping::FrameLocked | Stepping::DisplayCounted);
                let speed = if is_counted { speed.min(4.0) } else { speed };
                self.speed = speed;
                simulation.clock_settings_mut().set_speed(speed).unwrap();
            }
            // These count a step per frame, at every speed.
            Action::Stepping(Stepping::FrameLocked | Stepping::DisplayCounted)
                if self.speed > 4.0 => {}
            Action::Stepping(stepping) => simulation.clock_settings_mut().set_stepping(stepping),
            Action::Pause => simulation.pause(),
            Action::Resume => simulation.resume(),
            Action::StepOnce => simulation.step_once(),
            Action::MaxSteps(most) => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(most),
            Action::MaxFrameTime(most) => simulation.clock_settings_mut().set_max_frame_time(most),
            Action::Budget(steps) => {
                let budget = |steps| Budget {
                    frame: Duration::from_millis(1) * steps,
                    step: Duration::from_millis(1),
                };
                simulation
                    .clock_settings_mut()
                    .set_budget(steps.map(budget));
            }
            Action::SetTick(tick) => {
                simulation.set_tick(tick);
                self.is_tick_set = true;
            }
            Action::SetOverstep(overstep) => {
                simulation.set_overstep(overstep);
                self.is_overstep_set = true;
            }
            Action::Smoothing(smoothing) => {
                simulation.smoothing = smoothing;
                self.general = smoothing;
                self.paths.set_smoothing(&simulation.physics, smoothing);
            }
            Action::Limits(ticks) => {
                self.limits = ticks;
                simulation.keep(Kept {
                    ticks,
                    ..simulation.kept()
                });
            }
            Action::Interval(ticks) => simulation.keep(Kept {
                interval: ticks,
                ..simulation.kept()
            }),
            Action::History(states) => {
                self.history = states;
                simulation.keep(Kept {
                    poses: states,
                    ..simulation.kept()
                });
            }
            // The state may not be kept.
            Action::RollBack(back) => {
                // Until the rollback is finished, a view displays the states before it.
                if simulation.roll_back(here.saturating_sub(back)).is_ok() {
                    self.paths.abandon();
                }
            }
            Action::Rewind(back) => {
                if simulation.rewind(here.saturating_sub(back)).is_ok() {
                    self.replace(simulation);
                }
            }
            Action::Correct => simulation.correct(simulation.physics.clone()).unwrap(),
            Action::Assign => {
                simulation.physics = simulation.physics.clone();
                self.replace(simulation);
            }
            Action::Clone => {
                *simulation = simulation.clone();
                self.paths.abandon();
                self.is_replaced = true;
                self.keep_past(simulation);
            }
            Action::Load => self.load(simulation),
            // A rollback would not repeat it, or would round other positions.
            Action::Deed(Deed::Teleport(..) | Deed::ShiftOrigin(_))
                if simulation.steps_to_resimulate() > 0 => {}
            // A view cannot tell from an edit how two shifts round.
            Action::Deed(Deed::ShiftOrigin(_))
                if std::mem::replace(&mut self.has_shifted, true) => {}
            Action::Deed(deed) => {
                // The game acts before the current step, or after the last one.
                let step = simulation.physics.current_step();
                let is_resimulated =
                    step.map_or(self.reacts_to_resimulated, |it| it.is_resimulated);
                self.carry_out(&mut simulation.physics, deed, is_resimulated);
                if let Deed::Teleport(..) = deed {
                    // A rollback would undo it.
                    simulation.keep(Kept::default());
                    self.keep_past(simulation);
                }
            }
        }
    }

    fn replace(&mut self, simulation: &Simulation) {
        self.beginnings.clear();
        self.is_free = true;
        self.is_replaced = true;
        // The other state has no step that could ask to pause.
        self.has_stopped = false;
        self.paths.go_to(&simulation.physics);
    }

    #[cfg(feature = "serde")]
    fn load(&mut self, simulation: &mut Simulation) {
        // Within a frame and in a rollback nothing is saved.
        if let Ok(bytes) = simulation.save() {
            *simulation = Simulation::load(&bytes).unwrap();
            self.paths.abandon();
            self.beginnings.clear();
            self.is_replaced = true;
            self.keep_past(simulation);
        }
    }

    #[cfg(not(feature = "serde"))]
    fn load(&mut self, _: &mut Simulation) {}

    fn carry_out(&mut self, physics: &mut Physics, deed: Deed, is_resimulated: bool) {
        match deed {
            Deed::Teleport(body, x) => {
                let key = self.paths.key(body);
                let mut pose = *physics.body(key).unwrap().position();
                let landmark = physics.body(self.paths.landmark).unwrap();
                pose.translation.x = landmark.translation().x + x;
                physics.teleport(key, pose).unwrap();
                self.paths.teleport(physics, body);
                self.beginnings.remove(&body);
            }
            Deed::ShowFrom(body, x, y) => {
                let landmark = physics.body(self.paths.landmark).unwrap().translation();
                let at = Vector::X * x + Vector::Y * y;
                let pose = Pose::from_translation(landmark + at);
                physics.show_from(self.paths.key(body), pose).unwrap();
                self.beginnings.remove(&body);
                if !is_resimulated {
                    self.beginnings.insert(body, at);
                }
            }
            Deed::ShiftOrigin(x) => physics.shift_origin(Vector::X * x).unwrap(),
            Deed::Smoothing(body, smoothing) => {
                let key = self.paths.key(body);
                physics.set_body_smoothing(key, smoothing).unwrap();
                self.paths.set_smoothing(physics, self.general);
            }
            Deed::PauseAfterStep => physics.pause_after_step(),
        }
    }

    fn deeds(&self, index: u64) -> [Vec<Deed>; 2] {
        let at = |deeds: &[(u64, Deed)]| {
            let deeds = deeds.iter().filter(|(at, _)| *at == index);
            deeds.map(|(_, deed)| *deed).collect()
        };
        [at(&self.script.before), at(&self.script.after)]
    }

    fn carry_out_all(&mut self, physics: &mut Physics, step: Step, when: usize) {
        let deeds = self.deeds.get(&step.tick).cloned().unwrap_or_default();
        for deed in &deeds[when] {
            self.has_stopped |= matches!(deed, Deed::PauseAfterStep) && !step.is_resimulated;
            self.carry_out(physics, *deed, step.is_resimulated);
        }
    }
}

impl Hooks for Game {
    type Error = Failure;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        time: FrameTime,
    ) -> Result<(), Failure> {
        self.act_within(simulation);
        self.limit_speed(simulation, time.duration());
        self.begin_frame(simulation);
        if self.script.cut == Some(Cut::NoStep) {
            return Err(Failure);
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        assert_eq!(physics.tick(), step.tick);
        assert_eq!(physics.time(), step.start_time);
        self.longest = self.longest.max(step.dt.into());
        self.paths.begin_step(physics);
        let index = self.begun;
        self.begun += 1;
        if self.script.cut == Some(Cut::Before(index)) {
            return Err(Failure);
        }
        if !step.is_resimulated {
            self.deeds.insert(step.tick, self.deeds(index));
        }
        self.carry_out_all(physics, step, 0);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        self.reacts_to_resimulated = step.is_resimulated;
        self.paths
            .end_step(physics, self.general, step.is_resimulated);
        self.carry_out_all(physics, step, 1);
        match self.script.cut {
            Some(Cut::After(index)) if index + 1 == self.begun => Err(Failure),
            _ => Ok(()),
        }
    }
}
