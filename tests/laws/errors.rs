//! Visual errors in random games: bodies are displayed where arithmetic in f64 says, after changes of the smoothing,
//! `show_from`, corrections of all kinds, rollbacks, pauses, copies and shifts of the origin.

use crate::game::action::smoothing;
use crate::scenes::cases::scaled;
use crate::scenes::testing::{translation, vector};
use crate::scenes::{MS, ball, space};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::Overlap;
use evenstep::{BodyKey, Correction, Hooks, Physics, Simulation, Smoothing, Step};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// The length of a step in seconds.
const DT: f64 = 0.01;

/// The speeds of the bodies in m/s. The last two are fixed and asleep.
const SPEEDS: [f32; 6] = [10.0, -4.0, 1.0, 7.0, 0.0, 0.0];

#[derive(Clone, Copy, Debug)]
enum Action {
    Smoothing(Smoothing),
    BodySmoothing(usize, Option<Smoothing>),
    ShowFrom(usize, i8, i8),
    Teleport(usize, i8),
    Portal(usize, i8),
    ShiftOrigin(i8),
    Correct(Fade),
    BodyCorrect(usize, Option<Fade>),
    Pause,
    Resume,
    /// In quarters.
    Speed(u8),
    Resimulate(u8),
    Clone,
    Load,
    Assign,
}

/// A correction. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
enum Fade {
    Off,
    HalfLife(u64),
    Linear(u64),
}

impl Fade {
    fn correction(self) -> Correction {
        match self {
            Self::Off => Correction::OFF,
            Self::HalfLife(ms) => Correction::half_life(MS(ms)),
            Self::Linear(ms) => Correction::linear(MS(ms)),
        }
    }
}

#[derive(Clone, Debug)]
struct Frame {
    ms: u64,
    between: Vec<Action>,
    /// The actions before the first step of the frame, or of a later one if it has none.
    within: Vec<Action>,
}

#[derive(Clone, Copy, Debug)]
struct Error {
    at: [f64; 2],
    /// The remaining time of a linear decay, in seconds.
    left: Option<f64>,
}

impl Error {
    const NONE: Self = Self {
        at: [0.0; 2],
        left: None,
    };

    fn add(&mut self, x: f64, fade: Fade) {
        let length = libm::hypot(self.at[0], self.at[1]);
        if let Fade::Linear(ms) = fade
            && x != 0.0
        {
            let whole = ms as f64 / 1e3;
            let left = self.left.unwrap_or(whole).min(whole);
            let share = x.abs() / (length + x.abs());
            self.left = Some(left + (whole - left) * share);
        } else if !matches!(fade, Fade::Linear(_)) {
            self.left = None;
        }
        self.at[0] += x;
        let sum = libm::hypot(self.at[0], self.at[1]);
        // The limit is 2 m. An error that the game begins may be larger.
        let most = length.max(2.0);
        if sum > most {
            self.at = self.at.map(|it| it * most / sum);
        }
        if matches!(fade, Fade::Off) {
            *self = Self::NONE;
        }
    }

    fn decay(&mut self, seconds: f64, fade: Fade) {
        let rest = match fade {
            Fade::Off => 0.0,
            Fade::HalfLife(ms) => {
                self.left = None;
                libm::exp2(-seconds / (ms as f64 / 1e3))
            }
            Fade::Linear(ms) => {
                let whole = ms as f64 / 1e3;
                let left = self.left.unwrap_or(whole).min(whole);
                let after = (left - seconds).max(0.0);
                self.left = Some(after);
                if after > 1e-12 { after / left } else { 0.0 }
            }
        };
        self.at = self.at.map(|it| it * rest);
        if libm::hypot(self.at[0], self.at[1]) < 1e-5 {
            self.at = [0.0; 2];
        }
    }
}

/// A body as it is expected. All positions are relative to the landmark.
struct Body {
    key: BodyKey,
    speed: f64,
    /// Its position at the time 0.
    x: f64,
    y: f64,
    smoothing: Option<Smoothing>,
    /// The smoothing of its last step.
    applied: Smoothing,
    /// The smoothing of a step that has run since the last picture.
    due: Option<Smoothing>,
    fade: Option<Fade>,
    error: Error,
    begins_at: Option<[f64; 2]>,
    /// Whether it was teleported since the last step.
    is_put: bool,
}

struct Model {
    landmark: BodyKey,
    bodies: Vec<Body>,
    general: Smoothing,
    fade: Fade,
    /// Simulated time in quarters of a millisecond, and the number of steps.
    time: u64,
    ticks: u64,
    speed: u64,
    is_paused: bool,
    /// The last tick whose step does not run again in the same way.
    edited: u64,
    drawn: BTreeMap<BodyKey, Pose>,
    /// Whether a state was assigned since the last picture. The next one jumps to it.
    is_assigned: bool,
    /// The actions that wait for a step, which may have happened in the frame.
    waiting: Vec<Action>,
}

impl Model {
    fn new() -> (Simulation, Self) {
        let mut simulation = space(100);
        let landmark = simulation.physics.insert_body(RigidBodyBuilder::fixed());
        let bodies = SPEEDS.iter().enumerate().map(|(i, speed)| {
            let body = match i {
                4 => RigidBodyBuilder::fixed(),
                5 => RigidBodyBuilder::dynamic().sleeping(true),
                _ => RigidBodyBuilder::dynamic().can_sleep(false),
            };
            let at = vector(0.0, i as f32, 0.0);
            let body = body.translation(at).linvel(Vector::X * *speed);
            Body {
                key: simulation.physics.insert(body, ball().sensor(true)),
                speed: (*speed).into(),
                x: 0.0,
                y: i as f64,
                smoothing: None,
                applied: Smoothing::Interpolate,
                due: None,
                fade: None,
                error: Error::NONE,
                begins_at: None,
                is_put: false,
            }
        });
        let bodies = bodies.collect();
        let mut model = Self {
            landmark,
            bodies,
            general: Smoothing::Interpolate,
            fade: Fade::HalfLife(200),
            time: 100,
            ticks: 2,
            speed: 4,
            is_paused: false,
            edited: 0,
            drawn: BTreeMap::new(),
            is_assigned: false,
            waiting: Vec::new(),
        };
        keep(&mut simulation);
        simulation.advance(MS(25), |_, _| ());
        model.draw(simulation.moved());
        (simulation, model)
    }

    fn draw(&mut self, moved: &[(BodyKey, Pose)]) {
        self.drawn.extend(moved.iter().copied());
    }

    /// Returns the position of a body as this smoothing displays it.
    fn own(&self, body: &Body, smoothing: Smoothing) -> f64 {
        let (now, state) = (self.time as f64 / 4e3, self.ticks as f64 * DT);
        let shown = match smoothing {
            _ if body.is_put => state,
            Smoothing::Latest => state,
            Smoothing::Extrapolate => now,
            _ => now - DT,
        };
        body.x + body.speed * shown
    }

    /// Displays the bodies with the smoothings of the last step.
    fn adopt(&mut self) {
        for i in 0..self.bodies.len() {
            let Some(new) = self.bodies[i].due.take() else {
                continue;
            };
            let body = &self.bodies[i];
            let by = self.own(body, body.applied) - self.own(body, new);
            let is_later = matches!(new, Smoothing::Extrapolate | Smoothing::Latest)
                || matches!(body.applied, Smoothing::Extrapolate | Smoothing::Latest);
            let fade = body.fade.unwrap_or(self.fade);
            let body = &mut self.bodies[i];
            if is_later && new != body.applied && body.speed != 0.0 && !self.is_assigned {
                body.error.add(by, fade);
            }
            body.applied = new;
        }
    }

    /// Advances time, and expects the picture of this frame.
    fn frame(&mut self, ms: u64) {
        let stands_still = self.is_paused || self.speed == 0;
        if !stands_still {
            self.time += ms * self.speed;
        }
        let ticks = self.time / 40;
        let steps = ticks - self.ticks;
        self.ticks = ticks;
        for body in &mut self.bodies {
            body.is_put &= steps == 0;
            if !stands_still && ms > 0 {
                let fade = body.fade.unwrap_or(self.fade);
                body.error.decay(ms as f64 / 1e3, fade);
            }
            if matches!(body.fade.unwrap_or(self.fade), Fade::Off) {
                body.error = Error::NONE;
            }
        }
        if steps > 0 {
            for body in &mut self.bodies {
                body.due = Some(body.smoothing.unwrap_or(self.general));
            }
        }
        self.adopt();
        self.is_assigned = false;
        for i in 0..self.bodies.len() {
            let own = self.own(&self.bodies[i], self.bodies[i].applied);
            let fade = self.bodies[i].fade.unwrap_or(self.fade);
            let body = &mut self.bodies[i];
            if let Some([x, y]) = body.begins_at.take() {
                let at = [x - own, y - body.y];
                body.error = Error { at, left: None };
                if matches!(fade, Fade::Off) {
                    body.error = Error::NONE;
                }
            }
        }
    }

    fn check(&self, pose: &dyn Fn(BodyKey) -> Option<Pose>) {
        let landmark = pose(self.landmark).unwrap().translation;
        for (i, body) in self.bodies.iter().enumerate() {
            let shown = pose(body.key).unwrap();
            assert_eq!(self.drawn.get(&body.key), Some(&shown), "it is not listed");
            let at = shown.translation - landmark;
            let own = self.own(body, body.applied);
            let expected = [own + body.error.at[0], body.y + body.error.at[1]];
            let [x, y] = [f64::from(at.x) - expected[0], f64::from(at.y) - expected[1]];
            let off = libm::hypot(x, y);
            assert!(
                off < 3e-4,
                "body {i} is at {at}, not at {expected:?}, with the error {:?}",
                body.error
            );
        }
    }

    /// Carries out an action that a hook may do.
    fn act_on(&mut self, physics: &mut Physics, action: Action) {
        let ticks = physics.tick() as f64;
        let landmark = physics.body(self.landmark).unwrap().translation();
        let at = |x: f64, y: f64| translation(landmark.x + x as f32, landmark.y + y as f32, 0.0);
        match action {
            Action::BodySmoothing(i, smoothing) => {
                let body = &mut self.bodies[i];
                physics.set_body_smoothing(body.key, smoothing).unwrap();
                body.smoothing = smoothing;
            }
            Action::ShowFrom(i, x, y) => {
                let (body, [x, y]) = (&mut self.bodies[i], [x, y].map(f64::from));
                let x = body.x + body.speed * ticks * DT + x / 100.0;
                physics.show_from(body.key, at(x, y)).unwrap();
                body.begins_at = Some([x, y]);
            }
            Action::Teleport(i, x) => {
                let body = &mut self.bodies[i];
                physics.teleport(body.key, at(x.into(), body.y)).unwrap();
                body.x = f64::from(x) - body.speed * ticks * DT;
                (body.is_put, body.begins_at, body.error) = (true, None, Error::NONE);
                body.applied = body.due.take().unwrap_or(body.applied);
            }
            Action::Portal(i, x) => {
                let body = &mut self.bodies[i];
                let by = translation(x.into(), 0.0, 0.0);
                physics.teleport_by(body.key, by).unwrap();
                body.x += f64::from(x);
                body.begins_at = body.begins_at.map(|[at, y]| [at + f64::from(x), y]);
            }
            Action::ShiftOrigin(x) => physics.shift_origin(vector(x.into(), 2.0, 0.0)).unwrap(),
            Action::BodyCorrect(i, fade) => {
                let body = &mut self.bodies[i];
                let correction = fade.map(Fade::correction);
                physics.set_body_correction(body.key, correction).unwrap();
                body.fade = fade;
            }
            _ => return,
        }
        self.edited = physics.tick();
    }

    fn act(&mut self, simulation: &mut Simulation, action: Action) {
        match action {
            Action::Smoothing(smoothing) => {
                simulation.smoothing = smoothing;
                self.general = smoothing;
            }
            Action::Correct(fade) => {
                simulation.correction = fade.correction();
                self.fade = fade;
            }
            Action::Pause => {
                simulation.pause();
                self.is_paused = true;
            }
            Action::Resume => {
                simulation.resume();
                self.is_paused = false;
            }
            Action::Speed(quarters) => {
                let speed = f64::from(quarters) / 4.0;
                simulation.clock_settings_mut().set_speed(speed).unwrap();
                self.speed = quarters.into();
            }
            Action::Resimulate(back) => {
                let to = simulation.physics.tick().saturating_sub(back.into());
                if back > 0 && to > self.edited && simulation.resimulate(to, |_, _| ()).is_ok() {
                    for body in &mut self.bodies {
                        body.due = Some(body.smoothing.unwrap_or(self.general));
                    }
                }
            }
            Action::Clone => {
                *simulation = simulation.clone();
                self.forget_past(simulation);
            }
            #[cfg(feature = "serde")]
            Action::Load => {
                // The joints may have changed since the last step.
                let mut bodies = self.bodies.iter();
                if bodies.all(|body| body.smoothing.unwrap_or(self.general) == body.applied)
                    && let Ok(bytes) = simulation.save()
                {
                    *simulation = Simulation::load(&bytes).unwrap();
                    // A loaded simulation has displayed nothing, so a changed smoothing has no error.
                    self.is_assigned = true;
                    for body in &mut self.bodies {
                        (body.error, body.begins_at) = (Error::NONE, None);
                    }
                    self.forget_past(simulation);
                }
            }
            Action::Assign => {
                let mut bodies = self.bodies.iter();
                if bodies.all(|body| body.smoothing.unwrap_or(self.general) == body.applied) {
                    simulation.physics = simulation.physics.clone();
                    self.is_assigned = true;
                    for body in &mut self.bodies {
                        (body.error, body.begins_at) = (Error::NONE, None);
                    }
                    self.forget_past(simulation);
                }
            }
            _ => self.act_on(&mut simulation.physics, action),
        }
    }

    fn forget_past(&mut self, simulation: &mut Simulation) {
        self.edited = simulation.physics.tick();
        keep(simulation);
    }
}

fn keep(simulation: &mut Simulation) {
    let kept = simulation.kept();
    simulation.keep(Kept { ticks: 30, ..kept });
}

impl Hooks for Model {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if !step.is_resimulated {
            for action in std::mem::take(&mut self.waiting) {
                self.act_on(physics, action);
            }
        }
        Ok(())
    }
}

fn play(frames: &[Frame], is_pulled: bool) {
    let (mut simulation, mut model) = Model::new();
    for frame in frames {
        for action in &frame.between {
            model.act(&mut simulation, *action);
        }
        model.waiting.extend(&frame.within);
        let time = MS(frame.ms);
        if is_pulled {
            simulation.begin_frame(time);
            while let Some(step) = simulation.next_step() {
                let Ok(()) = model.before_step(&mut simulation.physics, step);
                simulation.run_step();
            }
            simulation.end_frame();
        } else {
            let Ok(_) = simulation.advance_with(time, &mut model);
        }
        model.frame(frame.ms);
        model.draw(simulation.moved());
        model.check(&|key| simulation.pose(key));
    }
}

fn play_overlap(frames: &[Frame]) {
    let (simulation, mut model) = Model::new();
    let mut overlap = Overlap::new(simulation).unwrap();
    // Its picture is then as far behind as in one thread.
    overlap.set_slack(0.0);
    for frame in frames {
        if !frame.between.is_empty() {
            let simulation = overlap.simulation(&mut model).unwrap();
            // In a view, the time may jump to that of another state.
            let is_other =
                |it: &&Action| matches!(it, Action::Clone | Action::Load | Action::Assign);
            for action in frame.between.iter().filter(|it| !is_other(it)) {
                model.act(simulation, *action);
            }
        }
        model.waiting.extend(&frame.within);
        let _ = overlap.frame(MS(frame.ms), &mut model).unwrap();
        let view = overlap.view();
        model.frame(frame.ms);
        model.draw(view.moved());
        model.check(&|key| view.pose(key));
    }
}

fn fade() -> impl Strategy<Value = Fade> {
    prop_oneof![
        1 => Just(Fade::Off),
        3 => (10..300_u64).prop_map(Fade::HalfLife),
        4 => (10..300_u64).prop_map(Fade::Linear),
    ]
}

fn on_body() -> impl Strategy<Value = Action> {
    let body = || 0..SPEEDS.len();
    prop_oneof![
        4 => (body(), prop::option::of(smoothing())).prop_map(|(i, it)| Action::BodySmoothing(i, it)),
        6 => (body(), any::<i8>(), -9..9_i8).prop_map(|(i, x, y)| Action::ShowFrom(i, x, y)),
        1 => (body(), -9..9_i8).prop_map(|(i, x)| Action::Teleport(i, x)),
        2 => (body(), -9..9_i8).prop_map(|(i, x)| Action::Portal(i, x)),
        2 => (-9..9_i8).prop_map(Action::ShiftOrigin),
        1 => (body(), prop::option::of(fade())).prop_map(|(i, it)| Action::BodyCorrect(i, it)),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => on_body(),
        3 => smoothing().prop_map(Action::Smoothing),
        2 => fade().prop_map(Action::Correct),
        1 => Just(Action::Pause),
        2 => Just(Action::Resume),
        1 => (0..9_u8).prop_map(Action::Speed),
        3 => (0..8_u8).prop_map(Action::Resimulate),
        1 => Just(Action::Clone),
        1 => Just(Action::Load),
        1 => Just(Action::Assign),
    ]
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let actions = prop::collection::vec(action(), 0..3);
    let within = prop::collection::vec(on_body(), 0..2);
    let frame = (0..40_u64, actions, within);
    let frame = frame.prop_map(|(ms, between, within)| Frame {
        ms,
        between,
        within,
    });
    prop::collection::vec(frame, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scaled(100)))]

    #[test]
    fn errors_decay_as_computed_in_the_closure_form(frames in frames()) {
        play(&frames, false);
    }

    #[test]
    fn errors_decay_as_computed_in_the_pull_form(frames in frames()) {
        play(&frames, true);
    }

    #[test]
    fn errors_decay_as_computed_in_an_overlap(frames in frames()) {
        play_overlap(&frames);
    }
}
