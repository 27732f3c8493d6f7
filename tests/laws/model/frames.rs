//! Frames of a random game, checked against the plain map.

use evenstep::rapier::prelude::*;
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Correction, Frame, Hooks, Physics, Rate, Simulation, Step};
use std::collections::{BTreeMap, BTreeSet};

use super::plain::{Body, Model, Reach, Shown, at_previous};
use super::script::{Action, Cut, Drive, FrameScript};
use crate::reference::are_near;
use crate::scenes::renderer::Renderer;
use crate::scenes::testing::exact;
use crate::scenes::{MS, collider_pose, with_floor};

/// The game's part in a frame.
struct Game<'a> {
    model: &'a mut Model,
    script: &'a FrameScript,
    /// The index of the current step in the frame.
    index: u64,
    fails: Option<(u64, bool)>,
    /// The expected counts of the frame.
    expected: Expected,
}

/// The expected counts of a frame.
#[derive(Default)]
struct Expected {
    steps: u64,
    aborted: u64,
    dt: f32,
}

struct Failure;

impl Game<'_> {
    fn is_failing(&self, after: bool) -> bool {
        self.fails == Some((self.index, after))
    }

    fn act(&mut self, game: &mut impl Reach, actions: &[(u64, Action)]) {
        for (_, action) in actions.iter().filter(|(i, _)| *i == self.index) {
            self.model.act(game, action);
        }
    }

    /// Counts the steps that are still due and are about to be dropped.
    fn abort(&mut self, physics: &Physics, was_taken: bool) {
        self.expected.aborted += self.model.abort(physics, was_taken);
    }

    /// Returns whether the step is to be run.
    fn before(&mut self, game: &mut impl Reach, step: Step) -> bool {
        self.model.take_step(game.physics());
        self.act(game, &self.script.before);
        if self.is_failing(false) {
            self.abort(game.physics(), true);
            return false;
        }
        self.model.begin_step(game.physics(), step);
        true
    }

    /// Returns whether another step is to follow.
    fn after(&mut self, game: &mut impl Reach, step: Step) -> bool {
        self.expected.steps += 1;
        self.expected.dt = step.dt;
        self.model.end_step(game.physics(), step);
        self.act(game, &self.script.after);
        let fails = self.is_failing(true);
        if fails {
            self.abort(game.physics(), false);
        }
        self.index += 1;
        !fails
    }

    fn pull(&mut self, simulation: &mut Simulation, cut: Option<(u64, bool, Cut)>) -> Frame {
        self.begin(simulation, self.script.millis);
        self.fails = cut.map(|(index, after, _)| (index, after));
        if !self.pull_steps(simulation)
            && let Some((_, _, Cut::Begin(millis))) = cut
        {
            self.fails = None;
            self.begin(simulation, millis);
            self.pull_steps(simulation);
        }
        simulation.end_frame()
    }

    fn begin(&mut self, simulation: &mut Simulation, millis: u64) {
        self.model.begin_frame(simulation, MS(millis));
        simulation.begin_frame(MS(millis));
    }

    fn pull_steps(&mut self, simulation: &mut Simulation) -> bool {
        while let Some(step) = simulation.next_step() {
            assert!(self.index < 100, "the steps do not end");
            if !self.before(simulation, step) {
                return false;
            }
            assert!(simulation.run_step());
            if !self.after(simulation, step) {
                return false;
            }
        }
        true
    }
}

impl Hooks for Game<'_> {
    type Error = Failure;

    /// Changes the settings that no hook of a step can reach.
    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), Failure> {
        let actions = self.script.before.iter().chain(&self.script.after);
        for (_, action) in actions.filter(|(_, action)| matches!(action, Action::Set(_))) {
            self.model.act(simulation, action);
        }
        self.model.begin_frame(simulation, frame_time.duration());
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        self.before(physics, step).then_some(()).ok_or(Failure)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        self.after(physics, step).then_some(()).ok_or(Failure)
    }
}

/// Plays a game of these frames, in which changes of the smoothing are eased or jump. Returns a count of its steps and
/// actions.
pub fn play(script: &[FrameScript], is_eased: bool) -> u64 {
    let mut simulation = with_floor(Rate::hz(100));
    simulation.correction = if is_eased {
        Correction::linear(MS(100))
    } else {
        Correction::OFF
    };
    // With several CCD substeps, a body may still move in the step in which it falls asleep.
    simulation
        .physics
        .rapier_mut()
        .integration_parameters
        .max_ccd_substeps = 4;
    let mut model = Model::new(&simulation);
    let mut renderer = Renderer::default();
    let mut operations = 0;
    for frame in script {
        run(&mut model, &mut simulation, frame);
        renderer.draw(
            simulation.render_data(),
            (simulation.moved(), simulation.removed()),
            |key| simulation.pose(key),
        );
        let actions = frame.between.len() + frame.before.len() + frame.after.len();
        operations += actions as u64 + simulation.frame().steps;
    }
    operations
}

fn run(model: &mut Model, simulation: &mut Simulation, script: &FrameScript) {
    for action in &script.between {
        act_between_frames(model, simulation, action);
    }
    let last = simulation.frame();
    let mut game = Game {
        model,
        script,
        index: 0,
        fails: None,
        expected: Expected {
            dt: last.dt,
            ..Expected::default()
        },
    };
    let frame = match script.drive {
        Drive::Advance { fails } => {
            game.fails = fails;
            let _ = simulation.advance_with(MS(script.millis), &mut game);
            simulation.frame()
        }
        Drive::Pull { cut } => game.pull(simulation, cut),
    };
    let Expected { steps, aborted, dt } = game.expected;
    assert_eq!(
        (frame.steps, frame.dropped.aborted, frame.dt),
        (steps, aborted, dt)
    );
    assert_eq!(frame.number, last.number + 1);
    assert_eq!(
        (frame.tick, frame),
        (simulation.physics.tick(), simulation.frame())
    );
    // A frame that began twice may have been given a lower tick in between.
    let ticks = frame.ticks().end - frame.ticks().start;
    assert_eq!(ticks, steps.min(frame.tick));
    model.detect_edits(&simulation.physics);
    let forgotten = model.end_frame(simulation, steps);
    assert_eq!(frame.forgotten_forces, forgotten);
    check_poses(model, simulation, frame);
    assert!((0.0..=1.0).contains(&frame.alpha));
    check_displayed_world(simulation);
    check_moved(model, simulation);
    check_moved_since(model, simulation);
    check_removed(model, simulation);
    remember(model, simulation, frame);
    check_history(model, simulation, frame);
}

/// Acts between two frames. The picture of the last frame stays as it is.
fn act_between_frames(model: &mut Model, simulation: &mut Simulation, action: &Action) {
    let lists = |it: &Simulation| (it.moved().to_vec(), it.removed().to_vec());
    let before = lists(simulation);
    model.act(simulation, action);
    assert_eq!(lists(simulation), before);
    for (key, pose) in model.screens.last().into_iter().flatten() {
        assert_eq!(simulation.pose(*key), Some(*pose));
    }
}

fn check_poses(model: &mut Model, simulation: &Simulation, frame: Frame) {
    let before = at_previous(simulation.clone());
    for (key, body) in &mut model.bodies {
        let previous = before.pose(*key).unwrap();
        let current = current_pose(simulation, *key);
        let current = current.filter(Pose::is_finite).unwrap_or(body.way.current);
        let shown = simulation.pose(*key).unwrap();
        assert!(
            [previous, shown].iter().all(Pose::is_finite),
            "{previous:?} {shown:?}"
        );
        let begins_at = body.begins_at.take();
        if body.is_lost {
            continue;
        }
        if let Some(pose) = begins_at.filter(|_| simulation.correction != Correction::OFF) {
            let scale = 1.0 + pose.translation.length() + shown.translation.length();
            assert!(are_near(&shown, &exact::pose(pose), scale), "{shown:?}");
        }
        let error = simulation.visual_error(*key);
        if error.is_some() || before.visual_error(*key).is_some() {
            // The sum of the pose and the error is rounded.
            let error = error.unwrap_or_default();
            let rotation = error.rotation.inverse() * shown.rotation;
            let own = Pose::from_parts(shown.translation - error.translation, rotation);
            let scale = error.translation.length() + shown.translation.length();
            assert!(
                body.way.shows_about(frame.alpha, &own, scale),
                "{own:?} at {} of {:?}, with the error {error:?}",
                frame.alpha,
                body.way
            );
            continue;
        }
        let shows_previous = body.way.shows_previous();
        if body.is_rounded && shows_previous {
            let off = (previous.translation - body.way.previous.translation).length();
            let scale = 1.0 + previous.translation.length();
            assert!(off < 4e-6 * scale, "{previous:?} {:?}", body.way);
            // Displayed poses in between can then be compared bit for bit.
            body.way.previous.translation = previous.translation;
            body.is_rounded = false;
        }
        if shows_previous {
            assert_eq!(previous, body.way.previous);
        }
        assert_eq!(current, body.way.current);
        assert!(
            body.way.shows(frame.alpha, &shown),
            "{shown:?} at {} of {:?}",
            frame.alpha,
            body.way
        );
    }
}

/// Bodies and colliders of the displayed world are where the frame displays them.
fn check_displayed_world(simulation: &Simulation) {
    let world = simulation.displayed_world();
    let bodies = world.bodies();
    for (key, _) in simulation.physics.bodies() {
        let handle = simulation.physics.handle(key).unwrap();
        assert_eq!(Some(*bodies[handle].position()), simulation.pose(key));
    }
    for (handle, collider) in world.colliders().iter() {
        if collider.is_enabled() {
            let pose = collider_pose(simulation, handle).unwrap();
            assert_eq!(*collider.position(), pose);
        }
    }
}

fn check_moved(model: &mut Model, simulation: &Simulation) {
    let moved: BTreeMap<BodyKey, Pose> = simulation.moved().iter().copied().collect();
    assert_eq!(
        moved.len(),
        simulation.moved().len(),
        "a body is listed twice"
    );
    let last = model.screens.last();
    let now: BTreeMap<BodyKey, Pose> = (model.bodies.keys())
        .map(|key| (*key, simulation.pose(*key).unwrap()))
        .collect();
    for (key, pose) in &now {
        let is_elsewhere = last.and_then(|last| last.get(key)) != Some(pose);
        assert_eq!(moved.get(key), is_elsewhere.then_some(pose));
    }
    assert!(moved.keys().all(|key| now.contains_key(key)));
    model.screens.push(now);
}

/// Returns some earlier frames to ask for. The last one comes first.
fn earlier(number: u64) -> [u64; 5] {
    [0, 1, 2, 5, number / 2].map(|ago| number.saturating_sub(ago))
}

fn check_moved_since(model: &Model, simulation: &Simulation) {
    let number = simulation.frame().number;
    assert!(simulation.changes_since(number + 1).is_none());
    for from in earlier(number) {
        let Some(changes) = simulation.changes_since(from) else {
            assert!(
                from + 1 < number,
                "the history has no room for the last frame"
            );
            continue;
        };
        let moved: BTreeMap<BodyKey, Pose> = changes.moved.iter().copied().collect();
        assert!(
            moved
                .iter()
                .all(|(key, pose)| simulation.pose(*key) == Some(*pose))
        );
        let screen = from.checked_sub(1).map(|i| &model.screens[i as usize]);
        for key in model.bodies.keys() {
            let before = screen.and_then(|screen| screen.get(key)).copied();
            assert!(moved.contains_key(key) || before == simulation.pose(*key));
        }
    }
}

fn check_removed(model: &mut Model, simulation: &Simulation) {
    let removed: BTreeSet<BodyKey> = simulation.removed().iter().copied().collect();
    assert_eq!(
        removed.len(),
        simulation.removed().len(),
        "a body is listed twice"
    );
    let dead = std::mem::take(&mut model.dead);
    assert_eq!(removed, dead.iter().copied().collect());
    model.deaths.push(dead);
    let number = simulation.frame().number;
    for from in earlier(number) {
        let Some(changes) = simulation.changes_since(from) else {
            assert_ne!(from, number);
            continue;
        };
        let removed: BTreeSet<BodyKey> = changes.removed.iter().copied().collect();
        let mut dead = model.deaths[from as usize..].iter().flatten();
        assert!(dead.all(|key| removed.contains(key)));
        assert!(removed.iter().all(|key| simulation.pose(*key).is_none()));
    }
}

fn remember(model: &mut Model, simulation: &Simulation, frame: Frame) {
    let mut poses = model.screens.last().unwrap().clone();
    poses.retain(|key, _| {
        let body = &model.bodies[key];
        !body.is_altered && simulation.visual_error(*key).is_none()
    });
    model.frames.push(Shown {
        tick: frame.tick,
        alpha: frame.alpha,
        poses,
    });
    let first = model.frames.len().saturating_sub(12);
    model.frames.drain(..first);
}

/// Checks earlier poses against those that frames displayed, and against the paths of the steps in between.
fn check_history(model: &Model, simulation: &Simulation, frame: Frame) {
    let now = frame.tick;
    for (key, body) in &model.bodies {
        let at = |tick: u64, alpha| simulation.pose_at(*key, tick, alpha);
        assert_eq!(at(now + 1, 0.5), None);
        for tick in now.saturating_sub(12)..=now {
            check_tick(model, body, tick, now, |alpha| at(tick, alpha));
        }
        for shown in &model.frames {
            if let Some(pose) = shown.poses.get(key)
                && let Some(again) = at(shown.tick, shown.alpha)
            {
                assert_eq!(again, *pose, "at {}", shown.tick);
            }
        }
    }
}

fn check_tick(model: &Model, body: &Body, tick: u64, now: u64, at: impl Fn(f32) -> Option<Pose>) {
    if body.is_lost || body.lost_until.is_some_and(|lost| tick <= lost) {
        return;
    }
    let kept = model.history.max(2) - 1;
    let is_kept = tick == now || (tick >= body.since && tick + kept > now);
    let way = if tick == now {
        Some(body.stepped.as_ref().unwrap_or(&body.way))
    } else {
        body.ways.get(&tick)
    };
    // Each frame asks for one position of an earlier tick, and another frame for the next.
    let mut alphas = &[0.0, 0.3, 0.9, 1.0][..];
    if tick + 1 < now {
        let place = (tick as usize + model.screens.len()) % alphas.len();
        alphas = &alphas[place..=place];
    }
    for &alpha in alphas {
        let Some(pose) = at(alpha) else {
            let may_be_unknown = tick == body.since && !body.is_since_known;
            assert!(!is_kept || may_be_unknown, "{tick} of {now}");
            continue;
        };
        assert!(is_kept, "{tick} of {now}, since {}", body.since);
        assert!(
            way.is_none_or(|way| way.shows(alpha, &pose)),
            "{pose:?} at {tick} + {alpha} of {way:?}"
        );
        assert!(way.is_some() || tick == body.since);
    }
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}
