//! The loops that play a game, and the laws of their pictures.

use super::game::{Failure, Game, most_time};
use super::path::Picture;
use super::script::{Action, Cut, FrameScript, Script};
use crate::scenes::space;
use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::{BodyKey, Correction, Frame, Hooks, Simulation};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Closure,
    Pull,
}

/// Returns the simulation of a script, and its game.
fn start(script: &Script, correction: Correction) -> (Simulation, Game) {
    let mut simulation = space(100);
    simulation.clock_settings_mut().set_rate(script.rate);
    simulation.correction = correction;
    let game = Game::new(&mut simulation, script.smoothing);
    (simulation, game)
}

/// Returns the time of a frame, so short that it has not too many steps.
fn frame_time(script: &FrameScript, game: &Game) -> Duration {
    let (mut rate, mut speed) = (game.rate, game.speed);
    for action in script.between.iter().chain(&script.within) {
        match *action {
            Action::Rate(new) => rate = new,
            Action::Speed(new) => speed = new,
            _ => (),
        }
    }
    let most = most_time(rate) / speed.max(0.01);
    script.time.min(Duration::from_secs_f64(most))
}

/// The picture of a frame on a single thread.
struct Display {
    frame: Frame,
    poses: BTreeMap<BodyKey, Pose>,
    /// The sum of the displayed shifts of the origin.
    origin: Vector,
    /// The position of the landmark in the first frame.
    start: Option<Vector>,
    /// The longest step since the displayed state, in seconds.
    longest: f64,
    /// The shortest one.
    shortest: f64,
    /// Whether the picture may be nearer to the present than usual.
    is_near: bool,
    /// The length of the displayed step, in seconds.
    dt: f64,
}

/// Plays a script in a single thread, and checks each frame.
pub fn play(script: &Script, kind: Kind) {
    let (mut simulation, mut game) = start(script, script.correction);
    let mut display = Display {
        frame: Frame::default(),
        poses: BTreeMap::new(),
        origin: Vector::ZERO,
        start: None,
        longest: 0.0,
        shortest: f64::MAX,
        is_near: false,
        dt: 0.0,
    };
    for script in &script.frames {
        for action in &script.between {
            game.act(&mut simulation, action);
        }
        let time = frame_time(script, &game);
        game.begin(script);
        match kind {
            Kind::Closure => drop(simulation.advance_with(time, &mut game)),
            Kind::Pull => pull(&mut simulation, &mut game, script, time),
        }
        display.check(&simulation, &mut game);
    }
}

fn pull(simulation: &mut Simulation, game: &mut Game, script: &FrameScript, time: Duration) {
    game.begin_frame(simulation);
    simulation.begin_frame(time);
    let mut again = match script.cut {
        Some(Cut::NoStep) => {
            simulation.end_frame();
            return;
        }
        Some(Cut::Again(at, time)) => Some((at, time)),
        _ => None,
    };
    let mut at = Some(script.at);
    loop {
        if at.take_if(|at| *at == game.begun()).is_some() {
            game.act_within(simulation);
        }
        if let Some((_, time)) = again.take_if(|(at, _)| *at == game.begun() && !game.has_stopped) {
            game.begin_frame(simulation);
            simulation.begin_frame(time);
        }
        let Some(step) = simulation.next_step() else {
            break;
        };
        if game.before_step(&mut simulation.physics, step).is_err() {
            break;
        }
        assert!(simulation.run_step());
        if game.after_step(&mut simulation.physics, step).is_err() {
            break;
        }
    }
    simulation.end_frame();
}

impl Display {
    fn check(&mut self, simulation: &Simulation, game: &mut Game) {
        game.has_shifted = false;
        let frame = simulation.frame();
        let last = std::mem::replace(&mut self.frame, frame);
        let poses = game.paths.keys().chain([game.paths.landmark]);
        let poses = poses.map(|key| (key, simulation.pose(key).unwrap()));
        let before = std::mem::replace(&mut self.poses, poses.collect());
        self.origin += frame.origin_shift;
        let present = simulation.clock().time();
        assert_eq!(frame.number, last.number + 1);
        if simulation.steps_to_resimulate() > 0 {
            // The frame repeats the last picture.
            assert_eq!(
                (frame.tick, frame.alpha.to_bits(), frame.time),
                (last.tick, last.alpha.to_bits(), last.time)
            );
            assert!(before.is_empty() || self.poses == before);
            self.is_near = true;
            return;
        }
        let is_free = std::mem::take(&mut game.is_free);
        assert!(
            is_free || frame.time >= last.time,
            "{:?} after {:?}",
            frame.time,
            last.time
        );
        assert!((0.0..=1.0).contains(&frame.alpha));
        assert_eq!(frame.time, simulation.clock().displayed_time());
        let end = simulation.physics.time();
        let dt = f64::from(frame.dt);
        let behind = end
            .checked_sub(frame.time)
            .expect("no later than the state");
        assert!(
            behind.as_secs_f64() <= dt * 1.000_001 + 2e-9,
            "{behind:?} of {dt}"
        );
        let landmark = self.poses[&game.paths.landmark].translation;
        let start = *self.start.get_or_insert(landmark + self.origin);
        assert_eq!(landmark + self.origin, start);

        // Ahead by at most the length of a step.
        let step = game.step;
        let longest = self.longest.max(dt);
        self.longest = if frame.steps > 0 { dt } else { longest }.max(step);
        let shortest = self.shortest.min(dt);
        self.shortest = if frame.steps > 0 { dt } else { shortest }.min(step);
        let ends_near = is_free || frame.alpha == 1.0;
        let is_near = self.is_near || ends_near;
        self.is_near = ends_near || self.is_near && (frame.steps == 0 || game.stands_still);
        // Between two steps, and as far behind the present as the shorter or the longer of the two lengths.
        let lag = present.saturating_sub(frame.time).as_secs_f64();
        let waits = game.stands_still
            || game.has_stopped
            || simulation.clock().overstep().as_secs_f64() >= step;
        let least = if is_near { 0.0 } else { shortest.min(step) };
        let most = if waits || is_near {
            f64::MAX
        } else {
            longest.max(step)
        };
        assert!(
            (least - 2e-9..=most + 2e-9).contains(&lag),
            "{lag} s, not between {least} s and {most} s"
        );

        let pose = |key| Some((self.poses[&key], simulation.visual_error(key)));
        let picture = Picture {
            time: frame.time.as_secs_f64(),
            state: Some(end),
            most_ahead: game.longest,
            stops: frame.alpha == 1.0,
            is_shorter: dt < std::mem::replace(&mut self.dt, dt),
            is_free,
            pose: &pose,
        };
        game.paths.check(&picture).unwrap();
        self.check_history(simulation, game);
        self.check_beginnings(simulation, game);
    }

    /// Checks that bodies begin where the game has asked for.
    fn check_beginnings(&self, simulation: &Simulation, game: &mut Game) {
        let landmark = self.poses[&game.paths.landmark].translation;
        for (body, at) in std::mem::take(&mut game.beginnings) {
            if simulation.correction != Correction::OFF {
                let shown = self.poses[&game.paths.key(body)].translation - landmark;
                let off = (shown - at).length();
                assert!(off < 1e-4 * (1.0 + landmark.length()), "{shown}, not {at}");
            }
        }
    }

    /// Checks that the frame can be displayed again.
    fn check_history(&self, simulation: &Simulation, game: &Game) {
        for key in game.paths.unmoved(simulation.physics.time()) {
            if simulation.visual_error(key).is_none() {
                let again = simulation.pose_at(key, self.frame.tick, self.frame.alpha);
                assert_eq!(again, Some(self.poses[&key]), "{:?}", self.frame);
            }
        }
    }
}

/// Plays a script in an overlap, and checks each view.
pub fn play_overlap(script: &Script) {
    // Views tell no visual errors.
    let (simulation, mut game) = start(script, Correction::OFF);
    let mut overlap = Overlap::new(simulation).unwrap();
    overlap.set_slack(script.slack);
    let (mut last, mut origin, mut start) = (0.0, Vector::ZERO, None);
    for script in &script.frames {
        if !script.between.is_empty() {
            let simulation = loop {
                if overlap.simulation(&mut game).is_ok() {
                    break overlap
                        .simulation(&mut game)
                        .unwrap_or_else(|_| unreachable!());
                }
            };
            for action in &script.between {
                game.act(simulation, action);
            }
        }
        game.begin(script);
        let time = frame_time(script, &game);
        let _: Result<_, Failure> = overlap.frame(time, &mut game).map(drop);
        game.has_shifted = false;
        let view = overlap.view();
        origin += view.origin_shift();
        let is_free = std::mem::take(&mut game.is_free) | std::mem::take(&mut game.is_replaced);
        let time = view.time().as_secs_f64();
        assert!(is_free || time >= last, "{time} s after {last} s");
        assert!((0.0..=1.0).contains(&view.alpha()));
        last = time;
        if let Some(landmark) = view.pose(game.paths.landmark) {
            let at = landmark.translation + origin;
            assert_eq!(at, *start.get_or_insert(at));
        }
        let pose = |key| Some((view.pose(key)?, None));
        let picture = Picture {
            time,
            state: None,
            most_ahead: game.longest,
            stops: false,
            is_shorter: false,
            is_free,
            pose: &pose,
        };
        if game.paths.check_abandoned(&picture) {
            game.is_replaced = is_free;
            continue;
        }
        game.paths.check(&picture).unwrap();
    }
}
