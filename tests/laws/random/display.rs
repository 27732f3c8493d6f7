//! Each body is displayed on the path of a step, at the moment of the picture, plus its visual error. Errors begin where
//! the game says, and decay as set. Earlier poses are on the paths of their steps.

use crate::random::game::action::{Fade, OnBody, OnWorld, Past, Setting, Value, Whole};
use crate::random::game::log::State;
use crate::random::game::paths::{Known, Paths};
use crate::random::game::script::Setup;
use crate::random::game::{Action, Effect, Entry, Kind, Picture};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, DecayCurve, Smoothing};
use scenes::testing::length;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The number of steps and pictures after which a view has displayed the time before an action.
const LATE: [u32; 2] = [8, 15];

#[derive(Default)]
struct Judge<'a> {
    /// The paths of the steps, by the tick at their end, in the present run.
    run: BTreeMap<u64, &'a Paths>,
    /// The last few steps, in all runs.
    recent: Vec<(u64, &'a Paths)>,
    /// Bodies that are to be displayed at a pose.
    from: BTreeMap<BodyKey, Pose>,
    /// Bodies whose error has another cause than time, and whether all have.
    touched: BTreeSet<BodyKey>,
    all_touched: bool,
    /// Real time since the last picture, without pauses.
    passed: Duration,
    last: Option<&'a Picture>,
    /// The origin of the last picture, unless that was another simulation's.
    origin: Option<Vector>,
    /// Whether the game has gone back in time since the last picture.
    has_gone_back: bool,
    /// Whether the origin has been shifted since the last picture. A rollback may take the shift back.
    has_shifted: bool,
    /// Bodies that have gone through a portal since the last picture. A rollback may take the portal back.
    turned: BTreeSet<BodyKey>,
    /// Whether a step has begun that has not run, and whether another smoothing was set then.
    has_begun: bool,
    is_retimed: bool,
    /// Whether a step is running again, which does not begin at a pose again.
    runs_again: bool,
    is_pulled: bool,
    /// For how many steps, and in how many pictures, a view may display something else.
    unsure: [u32; 2],
    /// Whether a view may display visual errors, which it does not tell, and whether there was one.
    has_corrections: bool,
    has_errors: bool,
}

pub fn check(setup: &Setup, log: &[Entry], kind: Kind) {
    let mut judge = Judge {
        is_pulled: kind == Kind::Pull,
        has_corrections: setup.correction != Fade::Off,
        ..Judge::default()
    };
    for entry in log {
        match entry {
            Entry::Frame { time, speed } => {
                judge.runs_again = false;
                if *speed > 0.0 {
                    judge.passed += *time;
                }
            }
            Entry::Acted {
                action,
                effects,
                tick,
                ..
            } => judge.act(*action, effects, *tick),
            Entry::Begin { step, .. } => {
                judge.runs_again = step.is_resimulated;
                (judge.has_begun, judge.is_retimed) = (true, false);
            }
            // In the pull form, a step lasts until the next call of the loop.
            Entry::Left => judge.runs_again &= judge.is_pulled,
            Entry::Failed => judge.unsure = LATE,
            Entry::HandedOver(kind) => {
                judge.is_pulled = *kind == Kind::Pull;
                judge.origin = None;
                judge.has_errors |= judge.has_corrections;
                judge.all_touched = true;
                judge.unsure = LATE;
            }
            Entry::Ran { step, paths, .. } => {
                if !step.is_resimulated {
                    judge.unsure[0] = judge.unsure[0].saturating_sub(1);
                }
                judge.run.split_off(&(step.tick + 1));
                // A smoothing that was set in the hook displays the path after the step.
                if !judge.is_retimed {
                    judge.run.insert(step.tick + 1, paths);
                }
                judge.has_begun = false;
                judge.recent.push((step.tick + 1, paths));
                let first = judge.recent.len().saturating_sub(24);
                judge.recent.drain(..first);
            }
            Entry::Picture(picture) => judge.show(picture),
            _ => (),
        }
    }
}

impl<'a> Judge<'a> {
    fn act(&mut self, action: Action, effects: &[Effect], tick: u64) {
        let is_harmless = matches!(
            action,
            Action::World(OnWorld::Score(_))
                | Action::Value(Value::Copy)
                | Action::Whole(Whole::Shelve)
        );
        if !is_harmless {
            self.unsure = LATE;
        }
        if matches!(action, Action::Whole(Whole::Swap(_))) {
            self.origin = None;
        }
        self.has_corrections |= matches!(
            action,
            Action::Setting(Setting::Correction(_)) | Action::Body(_, OnBody::OwnCorrection(_))
        );
        let begins_error =
            |it: &Effect| !matches!(it, Effect::Pushed(_) | Effect::Cut(_) | Effect::LinksMoved);
        let is_smoothing = matches!(
            action,
            Action::Setting(Setting::Smoothing(_)) | Action::Body(_, OnBody::OwnSmoothing(_))
        );
        if matches!(action, Action::Past(Past::Resimulate(_))) {
            // Its last step has ended.
            self.runs_again = false;
        }
        self.is_retimed |= is_smoothing && self.has_begun;
        let begins = is_smoothing || effects.iter().any(begins_error);
        self.has_errors |= self.has_corrections && begins;
        if !action.is_edit() {
            // A setting may have an effect later.
            self.all_touched = true;
        }
        for effect in effects {
            match *effect {
                Effect::From(key, _) if self.runs_again => drop(self.touched.insert(key)),
                Effect::From(key, pose) => drop(self.from.insert(key, pose)),
                // A rollback may put the portal before or after.
                Effect::Turned(key, _) if self.has_gone_back => {
                    self.touched.insert(key);
                    self.from.remove(&key);
                }
                Effect::Turned(key, by) => {
                    self.touched.insert(key);
                    self.turned.insert(key);
                    self.from.entry(key).and_modify(|pose| *pose = by * *pose);
                }
                Effect::Shifted(by) => {
                    self.run.clear();
                    self.has_shifted = true;
                    if self.runs_again {
                        // The rollback has taken the first shift back.
                        self.from.clear();
                    }
                    for pose in self.from.values_mut() {
                        pose.translation += by;
                    }
                }
                Effect::Cut(key) => drop(self.from.remove(&key)),
                Effect::LinksMoved => {
                    self.all_touched = true;
                    self.from.clear();
                }
                Effect::Back(tick) => {
                    self.run.split_off(&(tick + 1));
                    self.has_gone_back = true;
                    if self.has_shifted {
                        self.from.clear();
                    }
                    // A body that does not exist there is taken back, too.
                    let (turned, there) = (&self.turned, self.run.get(&tick));
                    let exists =
                        |key: &BodyKey| there.is_some_and(|it| it.bodies.contains_key(key));
                    self.from
                        .retain(|key, _| !turned.contains(key) && exists(key));
                }
                Effect::Pushed(_) => (),
                _ => {
                    self.run.clear();
                    self.from.clear();
                }
            }
            if let Effect::From(key, _) | Effect::Cut(key) = *effect {
                self.touched.insert(key);
            }
        }
        if let Action::Body(
            _,
            OnBody::Put(..)
            | OnBody::PutNowhere
            | OnBody::OwnSmoothing(_)
            | OnBody::SetType(_)
            | OnBody::Weigh(_)
            | OnBody::Toggle,
        ) = action
        {
            self.all_touched = true;
            if !matches!(action, Action::Body(_, OnBody::OwnSmoothing(_))) {
                self.from.clear();
            }
        }
        // The path that leads to this state was edited.
        self.run.remove(&tick);
    }

    fn show(&mut self, picture: &'a Picture) {
        self.runs_again = false;
        match &picture.state {
            Some(state) if state.steps_to_resimulate > 0 => {
                self.all_touched = true;
                self.passed = Duration::ZERO;
                return;
            }
            Some(state) => {
                check_paths(picture, state);
                self.check_origin(picture, state);
                self.check_begun(picture, state);
                self.check_decay(picture, state);
                self.check_earlier(state);
            }
            None => {
                self.check_view(picture);
                self.from.clear();
            }
        }
        self.unsure[1] = self.unsure[1].saturating_sub(1);
        self.touched.clear();
        self.has_gone_back = false;
        self.has_shifted = false;
        self.turned.clear();
        self.all_touched = false;
        self.passed = Duration::ZERO;
        self.last = Some(picture);
    }

    /// Checks how far the origin has moved since the last picture.
    fn check_origin(&mut self, picture: &Picture, state: &State) {
        let origin = state.paths.origin;
        if let Some(last) = self.origin.replace(origin) {
            let off = (picture.origin_shift - (origin - last)).length();
            let scale = 1.0 + origin.length() + last.length();
            assert!(
                off < 1e-5 * scale,
                "from {last} to {origin}: {}",
                picture.origin_shift
            );
        }
    }

    /// Checks that bodies are displayed where the game has asked for.
    fn check_begun(&mut self, picture: &Picture, state: &State) {
        for (key, pose) in std::mem::take(&mut self.from) {
            let Some(shown) = picture.poses.get(&key) else {
                continue;
            };
            let correction = state.corrections[&key];
            let off = (shown.translation - pose.translation).length();
            let scale = 1.0
                + pose.translation.length()
                + state
                    .errors
                    .get(&key)
                    .map_or(0.0, |it| it.translation.length());
            let is_off = correction.position.curve == DecayCurve::HalfLife(Duration::ZERO)
                || correction.position.curve == DecayCurve::Linear(Duration::ZERO)
                || correction.position.max == 0.0;
            assert!(
                is_off || off < 2e-5 * scale,
                "{key:?} is displayed at {shown:?}, not from {pose:?}"
            );
        }
    }

    /// Checks that errors without another cause decay with time alone.
    fn check_decay(&self, picture: &Picture, state: &State) {
        let Some((last, before)) = self
            .last
            .and_then(|last| Some((last, last.state.as_ref()?)))
        else {
            return;
        };
        if self.all_touched || picture.origin_shift != Vector::ZERO || last.time > picture.time {
            return;
        }
        for key in state.keys.iter().filter(|key| !self.touched.contains(key)) {
            let smoothing = |it: &State| it.paths.bodies.get(key).map(|it| it.way.smoothing);
            let correction = state.corrections[key];
            let moves = state.paths.moves_with_others(*key);
            if moves
                || before.corrections.get(key) != Some(&correction)
                || smoothing(before) != smoothing(state)
            {
                continue;
            }
            let length = |it: &State| it.errors.get(key).map_or(0.0, |it| it.translation.length());
            let (then, now) = (length(before), length(state));
            match correction.position.curve {
                DecayCurve::HalfLife(half) if !half.is_zero() => {
                    let rest = libm::exp2(-self.passed.as_secs_f64() / half.as_secs_f64());
                    let expected = f64::from(then) * rest;
                    let off = (f64::from(now) - expected).abs();
                    let least = f64::from(correction.position.min);
                    assert!(
                        off < 1e-4 * (0.1 + expected) + least,
                        "the error of {key:?} is {now} m, not {expected} m after {then} m"
                    );
                }
                _ => assert!(
                    now <= then * 1.0001,
                    "the error of {key:?} grows from {then} m to {now} m"
                ),
            }
        }
    }

    fn check_earlier(&self, state: &State) {
        for (key, tick, alpha, pose) in &state.earlier {
            let ago = state.tick - tick;
            let Some(pose) = pose else {
                assert_ne!(ago, 0, "the present pose of {key:?} is known");
                continue;
            };
            assert!(
                ago <= state.kept.max(1),
                "{key:?} at {tick} is known at {}",
                state.tick
            );
            let paths = if ago == 0 { None } else { self.run.get(tick) };
            let Some((known, paths)) = paths.and_then(|it| Some((it.bodies.get(key)?, it))) else {
                continue;
            };
            if is_known(known, paths, *key) && known.way.dt > 0.0 {
                let shows = known.way.shows_about(*alpha, pose, 10.0);
                assert!(
                    shows,
                    "{key:?} was at {pose:?}, at {tick} + {alpha} of {known:?}"
                );
            }
        }
    }

    /// Checks that a view displays bodies on the path of a step.
    fn check_view(&self, picture: &Picture) {
        if self.unsure != [0; 2] || self.has_errors {
            return;
        }
        let steps: Vec<_> = self
            .recent
            .iter()
            .filter(|(tick, _)| *tick == picture.tick)
            .collect();
        for (key, shown) in &picture.poses {
            let known: Vec<_> = steps
                .iter()
                .filter_map(|(_, paths)| {
                    let known = paths.bodies.get(key)?;
                    (is_known(known, paths, *key) && known.way.smoothing != Smoothing::Extrapolate)
                        .then_some(known)
                })
                .collect();
            let is_there = |known: &&Known| known.way.shows_about(picture.alpha, shown, 300.0);
            assert!(
                known.is_empty() || known.iter().any(is_there),
                "{key:?} is displayed at {shown:?}, {} of {known:?}",
                picture.alpha
            );
        }
    }
}

fn is_known(known: &Known, paths: &Paths, key: BodyKey) -> bool {
    let way = &known.way;
    // f32 cannot tell on which side a body turns that turns by half a turn per step, nor where one is that flies away.
    let is_wild = [way.before, way.after].iter().any(|velocity| {
        length(velocity.angular) * way.dt > 1.5 || velocity.linear.length() * way.dt > 100.0
    });
    let is_curve_known = way.smoothing != Smoothing::Hermite || !known.is_pushed && !is_wild;
    !known.is_lost && is_curve_known && !paths.moves_with_others(key)
}

fn check_paths(picture: &Picture, state: &State) {
    for (key, known) in &state.paths.bodies {
        let way = &known.way;
        if !is_known(known, &state.paths, *key) || way.smoothing == Smoothing::Extrapolate {
            continue;
        }
        let shown = picture.poses[key];
        let error = state.errors.get(key);
        let is_there = match error {
            None if !known.is_rounded && !state.paths.is_link(*key) => {
                way.shows(picture.alpha, &shown)
            }
            error => {
                // The sum of the pose and the error is rounded.
                let error = error.copied().unwrap_or_default();
                let rotation = error.rotation.inverse() * shown.rotation;
                let at = shown.translation - error.translation;
                let scale = error.translation.length() + shown.translation.length();
                way.shows_about(picture.alpha, &Pose::from_parts(at, rotation), scale)
            }
        };
        assert!(
            is_there,
            "{key:?} is displayed at {shown:?}, at {} of {known:?}, with the error {error:?}",
            picture.alpha
        );
    }
}
