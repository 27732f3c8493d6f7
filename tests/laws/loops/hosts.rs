//! The loops that play a game.

use super::game::{Failure, Game, act};
use super::model::{Model, Plan};
use super::script::{Setting, Twist};
use crate::scenes::renderer::Renderer;
use crate::scenes::{MS, mixed};
use evenstep::threads::Overlap;
use evenstep::{Frame, Hooks, Simulation};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// One call per frame.
    Hooks,
    /// The loop that a game writes itself.
    Pull,
    Overlap,
}

/// A loop, and a renderer that draws its frames.
pub struct Host {
    kind: Loop,
    renderer: Renderer,
}

enum Loop {
    Hooks(Box<Simulation>),
    Pull(Box<Simulation>),
    Overlap(Box<Overlap>),
}

impl Host {
    pub fn new(simulation: Simulation, kind: Kind, slack: f32) -> Self {
        let kind = match kind {
            Kind::Hooks => Loop::Hooks(simulation.into()),
            Kind::Pull => Loop::Pull(simulation.into()),
            Kind::Overlap => {
                let mut overlap = Overlap::new(simulation).unwrap();
                overlap.set_slack(slack);
                Loop::Overlap(overlap.into())
            }
        };
        Self {
            kind,
            renderer: Renderer::default(),
        }
    }

    /// Returns the simulation between two frames.
    fn simulation(&mut self, game: &mut Game) -> &mut Simulation {
        match &mut self.kind {
            Loop::Hooks(simulation) | Loop::Pull(simulation) => simulation,
            Loop::Overlap(overlap) => {
                let Ok(simulation) = overlap.simulation(game) else {
                    unreachable!("no hook fails after the last step of a frame");
                };
                simulation
            }
        }
    }

    /// Carries out the commands before a frame.
    pub fn prepare(&mut self, plan: &Plan, model: &mut Model, game: &mut Game) {
        if plan.setting.is_none() && plan.edits.is_empty() && plan.twist.is_none() {
            return; // without a wait for the step that is running
        }
        let is_pull = matches!(self.kind, Loop::Pull(_));
        let simulation = self.simulation(game);
        assert_eq!(simulation.physics.tick(), plan.tick);
        set(simulation, plan.setting);
        for chance in &plan.edits {
            act(&mut simulation.physics, *chance, plan.pushes);
        }
        model.edit(plan);
        match plan.twist {
            Some(Twist::Late { .. } | Twist::Correct { .. }) if !is_pull => {
                go_back(simulation, plan, model, game);
            }
            Some(Twist::Rewind { back }) => {
                rewind(simulation, plan.tick.saturating_sub(back), model)
            }
            Some(Twist::Scrub { back, forwards }) => {
                let first = plan.tick.saturating_sub(back);
                rewind(simulation, first, model);
                let tick = simulation.physics.tick() + forwards;
                rewind(simulation, tick.min(plan.tick), model);
            }
            Some(Twist::Keep) => model.keep(simulation.clone()),
            Some(Twist::Take) => {
                if let Some(kept) = model.take_kept()
                    && let Err(error) = simulation.correct(kept.physics)
                {
                    simulation.physics = *error.state;
                }
            }
            _ => (),
        }
    }

    pub fn frame(&mut self, plan: &Plan, model: &mut Model, game: &mut Game) {
        game.begin_frame(plan.fails());
        let frame_time = MS(plan.millis);
        match &mut self.kind {
            Loop::Hooks(simulation) => {
                let _ = simulation.advance_with(frame_time, game);
                check(simulation, simulation.frame(), plan);
            }
            Loop::Pull(simulation) => {
                simulation.begin_frame(frame_time);
                let _ = pull(simulation, plan, model, game);
                let frame = simulation.end_frame();
                check(simulation, frame, plan);
            }
            Loop::Overlap(overlap) => {
                let _ = overlap.frame(frame_time, game);
            }
        }
        self.draw();
    }

    fn draw(&mut self) {
        match &self.kind {
            Loop::Hooks(simulation) | Loop::Pull(simulation) => self.renderer.draw(
                simulation.render_data(),
                (simulation.moved(), simulation.removed()),
                |key| simulation.pose(key),
            ),
            Loop::Overlap(overlap) => {
                let view = overlap.view();
                self.renderer
                    .draw(view.render_data(), (view.moved(), view.removed()), |key| {
                        view.pose(key)
                    });
            }
        }
    }

    /// Stops after the last hook.
    pub fn stop(mut self, game: &mut Game) -> Simulation {
        self.simulation(game).pause();
        match self.kind {
            Loop::Hooks(simulation) | Loop::Pull(simulation) => *simulation,
            Loop::Overlap(mut overlap) => {
                assert!(overlap.frame(MS(0), game).is_ok());
                overlap.stop(game).0
            }
        }
    }
}

fn set(simulation: &mut Simulation, setting: Option<Setting>) {
    match setting {
        Some(Setting::Pause) => simulation.pause(),
        Some(Setting::Resume) => simulation.resume(),
        Some(Setting::StepOnce) => simulation.step_once(),
        Some(Setting::Speed(twice)) => simulation
            .clock_settings_mut()
            .set_speed(twice as f64 / 2.0)
            .unwrap(),
        None => (),
    }
}

/// Runs the steps of a frame, and goes back in time before one of them.
fn pull(
    simulation: &mut Simulation,
    plan: &Plan,
    model: &mut Model,
    game: &mut Game,
) -> Result<(), Failure> {
    let mut index = plan.goes_back_at();
    loop {
        while let Some(step) = simulation.next_step() {
            if !step.is_resimulated && index.take_if(|index| *index == game.begun).is_some() {
                go_back(simulation, plan, model, game);
                continue;
            }
            game.before_step(&mut simulation.physics, step)?;
            assert!(simulation.run_step());
            game.after_step(&mut simulation.physics, step)?;
        }
        if index.take().is_none() {
            return Ok(());
        }
        go_back(simulation, plan, model, game);
    }
}

/// Goes back to an earlier tick, whose input or whole state arrives late.
fn go_back(simulation: &mut Simulation, plan: &Plan, model: &mut Model, game: &mut Game) {
    let (back, chance) = match plan.twist {
        Some(Twist::Late { back, .. }) => (back, None),
        Some(Twist::Correct { back, chance, .. }) => (back, Some(chance)),
        _ => return,
    };
    let tick = plan.tick.saturating_sub(back);
    if let Err(error) = simulation.roll_back(tick) {
        assert!(model.at(tick).is_none(), "{error}");
        return;
    }
    let reached = simulation.physics.tick();
    assert!(reached <= tick && tick < reached + plan.interval);
    model.roll_back(reached);
    if let Some(chance) = chance {
        let mut theirs = model.at(reached).unwrap().clone();
        act(&mut theirs.physics, chance, false);
        simulation.correct(theirs.clone().physics).unwrap();
        model.replace(theirs);
    } else {
        game.take(tick, mixed(tick));
    }
}

fn rewind(simulation: &mut Simulation, tick: u64, model: &mut Model) {
    if tick == simulation.physics.tick() {
        return;
    }
    match simulation.rewind(tick) {
        Ok(()) => model.rewind(tick),
        Err(error) => assert!(!model.can_rewind(tick), "{error}"),
    }
}

/// Checks the laws that hold after each frame of one thread.
fn check(simulation: &Simulation, frame: Frame, plan: &Plan) {
    assert_eq!(frame.steps, plan.steps);
    assert_eq!(frame.tick, simulation.physics.tick());
    // Only if no body was teleported since the last step.
    if frame.steps > 0 && frame.tick.is_multiple_of(2) {
        for (key, _) in simulation.physics.bodies() {
            let again = simulation.pose_at(key, frame.tick, frame.alpha);
            let is_corrected = simulation.visual_error(key).is_some();
            assert!(is_corrected || again == simulation.pose(key));
        }
    }
    // A frame that ends before its last step displays the latest state.
    if frame.dropped.aborted > 0 {
        for (key, body) in simulation.physics.bodies() {
            let is_corrected = simulation.visual_error(key).is_some();
            assert!(is_corrected || simulation.pose(key) == Some(*body.position()));
        }
    }
}
