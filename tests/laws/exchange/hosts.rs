//! The loops.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use evenstep::threads::Overlap;
use evenstep::{Hooks, Simulation, Stepping};

use super::MS;
use super::game::{Planned, Player, act};
use super::script::{Action, Kind, Part, Setting};

/// A loop of any kind.
pub trait Host: Send {
    /// Runs and draws a frame of this many milliseconds.
    fn frame(&mut self, ms: u8, player: &mut Player);

    /// Runs a part of a frame, or a whole one.
    fn part(&mut self, part: Part, player: &mut Player) {
        if let Part::Begin(ms) = part {
            self.frame(ms, player);
        }
    }

    /// Acts between two frames.
    fn act(&mut self, action: Action, player: &mut Player);

    /// Runs frames until everything is displayed, and checks the picture.
    fn rest(&mut self, player: &mut Player) {
        self.frame(0, player);
    }

    /// Returns the simulation.
    fn stop(self: Box<Self>, player: &mut Player) -> Simulation;
}

/// Starts a loop.
pub fn start(kind: Kind, simulation: Simulation) -> Box<dyn Host> {
    match kind {
        Kind::Closure | Kind::Hooks | Kind::Pull => Box::new(OneThread { kind, simulation }),
        Kind::Overlap => Box::new(Overlapping {
            overlap: Overlap::new(simulation).expect("a thread starts"),
        }),
    }
}

/// Makes a call in which a hook may panic as planned. Returns `None` if it did.
pub fn caught<T>(call: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => Some(result),
        Err(payload) if payload.is::<Planned>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

struct OneThread {
    kind: Kind,
    simulation: Simulation,
}

impl OneThread {
    fn next(&mut self, player: &mut Player) {
        let is_again = self.simulation.physics.current_step();
        if let Some(step) = self.simulation.next_step()
            && is_again != Some(step)
        {
            caught(|| player.before_step(&mut self.simulation.physics, step));
        }
    }

    /// Runs the current step. Returns whether there was one.
    fn run(&mut self, player: &mut Player) -> bool {
        let step = self.simulation.physics.current_step();
        let has_run = self.simulation.run_step();
        if let Some(step) = step.filter(|_| has_run) {
            caught(|| player.after_step(&mut self.simulation.physics, step));
        }
        has_run
    }

    /// Draws the frame, unless a failure before it has prevented it, or a panic has left it open.
    fn draw(&self, player: &mut Player) {
        if self.simulation.frame().number > player.desk.frame {
            player.desk.picture.draw_simulation(&self.simulation);
        }
    }
}

impl Host for OneThread {
    fn frame(&mut self, ms: u8, player: &mut Player) {
        let frame_time = MS(ms.into());
        let simulation = &mut self.simulation;
        player.desk.frame = simulation.frame().number;
        match self.kind {
            Kind::Hooks => caught(|| {
                let _ = simulation.advance_with(frame_time, player);
            }),
            // A closure cannot fail.
            Kind::Closure => caught(|| {
                simulation.advance(frame_time, |physics, step| {
                    let _ = player.before_step(physics, step);
                });
            }),
            _ => {
                self.part(Part::Begin(ms), player);
                self.next(player);
                while self.run(player) {
                    self.next(player);
                }
                return self.part(Part::End, player);
            }
        };
        self.draw(player);
    }

    fn part(&mut self, part: Part, player: &mut Player) {
        if self.kind != Kind::Pull {
            if let Part::Begin(ms) = part {
                self.frame(ms, player);
            }
            return;
        }
        match part {
            Part::Begin(ms) => self.simulation.begin_frame(MS(ms.into())),
            Part::Next => self.next(player),
            Part::Run => {
                self.run(player);
            }
            Part::End => {
                player.desk.frame = self.simulation.frame().number;
                self.simulation.end_frame();
                self.draw(player);
            }
        }
    }

    fn act(&mut self, action: Action, player: &mut Player) {
        act(player, action, &mut self.simulation);
    }

    fn stop(self: Box<Self>, _: &mut Player) -> Simulation {
        self.simulation
    }
}

/// Lets the view of a thread come to rest: first in motion, and then in a pause after one more step.
pub fn rest(host: &mut impl Host, player: &mut Player) {
    const IN_MOTION: &[Setting] = &[
        Setting::Resume,
        Setting::Speed(2),
        Setting::Stepping(Stepping::Fixed),
        Setting::MaxSteps(None),
        Setting::Smooth(false),
    ];
    const AT_REST: &[Setting] = &[Setting::Pause, Setting::StepOnce];
    let mut plans = Default::default();
    player.desk.exchange_plans(&mut plans);
    for settings in [IN_MOTION, AT_REST] {
        for setting in settings {
            host.act(Action::Set(*setting), player);
        }
        for _ in 0..20 {
            host.frame(15, player);
        }
    }
    player.desk.exchange_plans(&mut plans);
}

struct Overlapping {
    overlap: Overlap,
}

impl Overlapping {
    /// Finishes the frames that have begun. Each call may fail in another hook.
    fn simulation(&mut self, player: &mut Player) -> &mut Simulation {
        while caught(|| self.overlap.simulation(player).is_ok()) != Some(true) {}
        self.overlap
            .simulation(player)
            .expect("nothing is left to fail")
    }
}

impl Host for Overlapping {
    fn frame(&mut self, ms: u8, player: &mut Player) {
        let result = caught(|| self.overlap.frame(MS(ms.into()), player).is_ok());
        // A frame that panics displays nothing.
        if result.is_some() {
            (player.desk.picture).draw_view(self.overlap.view(), &self.overlap);
        }
    }

    fn act(&mut self, action: Action, player: &mut Player) {
        let simulation = self.simulation(player);
        act(player, action, simulation);
    }

    fn rest(&mut self, player: &mut Player) {
        rest(self, player);
        let physics = &self.simulation(player).physics;
        player.desk.picture.check_rest(physics);
    }

    fn stop(mut self: Box<Self>, player: &mut Player) -> Simulation {
        self.simulation(player);
        // A view displays a single step to its end, and one thread does not.
        player.desk.picture.jump();
        self.overlap.stop(player).0
    }
}
