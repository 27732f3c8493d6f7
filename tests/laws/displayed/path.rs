//! The paths of the bodies, as the hooks see them, and the pictures of these paths.

use super::script::OTHERS;
use crate::scenes::ball;
use crate::scenes::testing::{about_z, spin, vector};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Smoothing};
use std::time::Duration;

/// Times are displayed in whole nanoseconds.
const NANOSECOND: f64 = 1e-9;

/// A body with a constant velocity along x and about z.
struct Flyer {
    key: BodyKey,
    /// In metres and radians per second.
    speed: f64,
    spin: f64,
    /// The centre of mass in the body's own frame.
    center: Vector,
    /// Up to this time the picture of the body is not checked, because it was teleported.
    since: Option<Duration>,
    /// Whether a view leads it to its path, from where it was displayed.
    is_led: bool,
    shown: Option<Shown>,
}

/// How the last frame displayed a body.
#[derive(Clone, Copy, Debug)]
struct Shown {
    /// The time at which the body is where it was displayed, in seconds.
    time: f64,
    x: f64,
    smoothing: Smoothing,
    /// The number of the displayed state.
    state: usize,
}

/// Where a picture displays a body.
struct Seen {
    body: usize,
    at: Place,
    /// How far positions round, in metres.
    tolerance: f64,
}

/// The pose of a body, relative to the landmark.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The position of the centre of mass.
    x: f64,
    y: f64,
    angle: f64,
}

impl Place {
    fn of(pose: &Pose, center: Vector, landmark: Vector) -> Self {
        let at = *pose * center;
        Self {
            x: f64::from(at.x) - f64::from(landmark.x),
            y: f64::from(at.y) - f64::from(landmark.y),
            angle: about_z(pose.rotation).into(),
        }
    }

    /// Returns the point at a fraction of the straight line to another one.
    fn towards(&self, to: &Self, part: f64) -> Self {
        Self {
            x: self.x + (to.x - self.x) * part,
            y: self.y + (to.y - self.y) * part,
            angle: self.angle + turn(to.angle - self.angle) * part,
        }
    }

    fn is_near(&self, other: &Self, tolerance: f64) -> bool {
        (self.x - other.x).abs() < tolerance
            && (self.y - other.y).abs() < tolerance
            && turn(self.angle - other.angle).abs() < 2e-3
    }
}

/// Returns an angle between −π and π.
fn turn(angle: f64) -> f64 {
    let half = std::f64::consts::PI;
    (angle + half).rem_euclid(2.0 * half) - half
}

/// A state that a step has led to, with the smoothing of its step.
#[derive(Clone, Debug)]
struct State {
    time: Duration,
    /// A resimulated step may have another smoothing than its first run, which a view may still display.
    bodies: Vec<(Place, Vec<Smoothing>)>,
}

/// A picture to check.
pub struct Picture<'a> {
    /// The displayed time in seconds.
    pub time: f64,
    /// The time of the displayed state, or `None` if only the displayed time tells.
    pub state: Option<Duration>,
    /// How far ahead of the state an extrapolated body may be, in seconds.
    pub most_ahead: f64,
    /// Whether the state is displayed until the next step. Extrapolated bodies may go back to it.
    pub stops: bool,
    /// Whether the step is shorter than the one that was displayed before. Extrapolated bodies may go back then, too.
    pub is_shorter: bool,
    /// Whether the displayed time may have gone back.
    pub is_free: bool,
    /// Returns the displayed pose and the visual error.
    pub pose: &'a dyn Fn(BodyKey) -> Option<(Pose, Option<Pose>)>,
}

pub struct Paths {
    flyers: Vec<Flyer>,
    /// A body at rest. All places are relative to it, because the origin moves.
    pub landmark: BodyKey,
    /// The greatest distance of the landmark from the origin so far. Positions round to the spacing of f32 there.
    far: f64,
    /// The states so far, by time.
    states: Vec<State>,
    /// The states before another one took the place of the last one, while a view displays them.
    abandoned: Vec<Vec<State>>,
}

impl Paths {
    /// Inserts the bodies.
    pub fn new(physics: &mut Physics, smoothing: Smoothing) -> Self {
        let landmark = physics.insert_body(RigidBodyBuilder::fixed());
        let sensor = |center| ball().sensor(true).translation(center);
        let flyers = (0..=OTHERS).map(|i| {
            let (speed, angular) = (0.5 * (i + 1) as f32, 0.1 * (i % 4) as f32);
            let center = Vector::Y * if i == 4 { 0.3 } else { 0.0 };
            let body = if i == 5 {
                RigidBodyBuilder::kinematic_velocity_based()
            } else {
                RigidBodyBuilder::dynamic()
            };
            let body = body
                .translation(vector(0.0, i as f32, 0.0))
                .linvel(Vector::X * speed)
                .angvel(spin(0.0, 0.0, angular))
                .can_sleep(false);
            let key = physics.insert(body, sensor(center));
            // The others follow the general smoothing.
            let own = match i {
                0 => Some(Smoothing::Interpolate),
                1 => Some(Smoothing::Hermite),
                2 => Some(Smoothing::Latest),
                OTHERS => Some(Smoothing::Extrapolate),
                _ => None,
            };
            physics.set_body_smoothing(key, own).unwrap();
            Flyer {
                key,
                speed: speed.into(),
                spin: angular.into(),
                center,
                since: None,
                is_led: false,
                shown: None,
            }
        });
        let flyers = flyers.collect();
        let mut paths = Self {
            flyers,
            landmark,
            far: 0.0,
            states: Vec::new(),
            abandoned: Vec::new(),
        };
        paths.end_step(physics, smoothing, false);
        paths
    }

    pub fn key(&self, body: usize) -> BodyKey {
        self.flyers[body].key
    }

    pub fn keys(&self) -> impl Iterator<Item = BodyKey> {
        self.flyers.iter().map(|flyer| flyer.key)
    }

    /// Returns the bodies that were not teleported since this time.
    pub fn unmoved(&self, time: Duration) -> impl Iterator<Item = BodyKey> {
        let unmoved = self
            .flyers
            .iter()
            .filter(move |flyer| flyer.since < Some(time));
        unmoved.map(|flyer| flyer.key)
    }

    fn read(&self, physics: &Physics) -> Vec<Place> {
        let at = |key| physics.body(key).unwrap().position();
        let landmark = at(self.landmark).translation;
        let places = self.flyers.iter();
        places
            .map(|flyer| Place::of(at(flyer.key), flyer.center, landmark))
            .collect()
    }

    /// Notes where the bodies are before a step.
    pub fn begin_step(&mut self, physics: &Physics) {
        let (time, places) = (physics.time(), self.read(physics));
        for state in self.states.iter_mut().filter(|state| state.time == time) {
            for (body, place) in state.bodies.iter_mut().zip(&places) {
                body.0 = *place;
            }
        }
    }

    /// Adds the state after a step.
    pub fn end_step(&mut self, physics: &Physics, general: Smoothing, is_resimulated: bool) {
        let landmark = physics.body(self.landmark).unwrap().translation();
        self.far = self.far.max(landmark.x.abs().into());
        let time = physics.time();
        let place = self.states.partition_point(|state| state.time < time);
        if !is_resimulated {
            self.states.truncate(place);
        }
        let smoothing = |flyer: &Flyer| vec![physics.body_smoothing(flyer.key).unwrap_or(general)];
        let smoothing = self.flyers.iter().map(smoothing);
        let bodies = self.read(physics).into_iter().zip(smoothing).collect();
        let state = State { time, bodies };
        match self.states.get_mut(place) {
            Some(known) if known.time == time => {
                let then = std::mem::replace(known, state).bodies;
                for ((_, now), (_, then)) in known.bodies.iter_mut().zip(then) {
                    now.extend(then);
                }
            }
            _ => self.states.insert(place, state),
        }
    }

    /// Notes that bodies have another smoothing, which a view may display from now on.
    pub fn set_smoothing(&mut self, physics: &Physics, general: Smoothing) {
        let smoothing = |key| physics.body_smoothing(key).unwrap_or(general);
        let smoothing: Vec<_> = self.keys().map(smoothing).collect();
        if let Some(state) = self.states.last_mut() {
            for ((_, known), new) in state.bodies.iter_mut().zip(smoothing) {
                known.push(new);
            }
        }
    }

    /// Notes that a body was teleported now.
    pub fn teleport(&mut self, physics: &Physics, body: usize) {
        let (time, places) = (physics.time(), self.read(physics));
        self.flyers[body].since = Some(time);
        self.flyers[body].shown = None;
        for state in &mut self.states {
            if state.time == time {
                state.bodies[body].0 = places[body];
            }
        }
    }

    /// Keeps the states so far, which a view may still display.
    pub fn abandon(&mut self) {
        self.abandoned.push(self.states.clone());
    }

    /// Forgets later states, because another state has taken the place of the last one.
    pub fn go_to(&mut self, physics: &Physics) {
        let time = physics.time();
        self.abandon();
        self.states.retain(|state| state.time <= time);
        for flyer in &mut self.flyers {
            flyer.since = flyer.since.map(|since| since.min(time));
        }
        self.begin_step(physics);
    }

    /// Checks whether the picture displays a state that was abandoned.
    pub fn check_abandoned(&mut self, picture: &Picture) -> bool {
        let mut abandoned = std::mem::take(&mut self.abandoned);
        let first = abandoned.iter_mut().position(|states| {
            std::mem::swap(&mut self.states, states);
            let is_displayed = self.check(picture).is_ok();
            std::mem::swap(&mut self.states, states);
            is_displayed
        });
        if let Some(first) = first {
            self.abandoned = abandoned.split_off(first);
        }
        first.is_some()
    }

    /// Checks the displayed poses of all bodies.
    pub fn check(&mut self, picture: &Picture) -> Result<(), String> {
        let Some((landmark, _)) = (picture.pose)(self.landmark) else {
            return Ok(());
        };
        let bodies = 0..self.flyers.len();
        let shown = bodies.map(|body| self.check_body(picture, body, landmark.translation));
        let shown: Vec<_> = shown.collect::<Result<_, _>>()?;
        for (flyer, shown) in self.flyers.iter_mut().zip(shown) {
            (flyer.shown, flyer.is_led) = shown;
        }
        Ok(())
    }

    /// Returns how the picture displays a body, if that can be told, and whether a view leads the body to its path.
    fn check_body(
        &self,
        picture: &Picture,
        body: usize,
        landmark: Vector,
    ) -> Result<(Option<Shown>, bool), String> {
        let flyer = &self.flyers[body];
        let Some((pose, error)) = (picture.pose)(flyer.key) else {
            return Ok((None, false));
        };
        let at = Place::of(&without(pose, error), flyer.center, landmark);
        let tolerance = 2e-6 * (4.0 + at.x.abs() + self.far);
        let seen = Seen {
            body,
            at,
            tolerance,
        };
        let mut reasons = Vec::new();
        for state in self.candidates(picture) {
            let is_teleported = |since: Duration| {
                self.states[state].time <= since || picture.time <= since.as_secs_f64()
            };
            if flyer.since.is_some_and(is_teleported) {
                continue;
            }
            for &smoothing in &self.states[state].bodies[body].1 {
                let shown = self.shown(&seen, state, smoothing, picture);
                let is_free = picture.is_free || error.is_some();
                let may_go_back = picture.stops || picture.is_shorter;
                match shown.and_then(|it| self.check_order(&seen, it, may_go_back, is_free)) {
                    Ok(it) => return Ok((error.is_none().then_some(it), false)),
                    Err(reason) => reasons.push(reason),
                }
            }
        }
        if reasons.is_empty() {
            return Ok((None, false));
        }
        if picture.state.is_none() && self.may_be_led(body, picture) {
            return Ok((None, true));
        }
        Err(format!(
            "body {body} at {at:?} in a picture of {} s, state {:?}, after {:?}: {reasons:#?}",
            picture.time, picture.state, flyer.shown
        ))
    }

    /// Returns how a body is displayed, unless it goes back.
    fn check_order(
        &self,
        seen: &Seen,
        shown: Shown,
        may_go_back: bool,
        is_free: bool,
    ) -> Result<Shown, String> {
        let flyer = &self.flyers[seen.body];
        let before = flyer.shown.filter(|before| {
            let goes_back = may_go_back && shown.smoothing == Smoothing::Extrapolate;
            !is_free && !goes_back && before.smoothing == shown.smoothing
        });
        let goes_back = before.is_some_and(|before| {
            // Positions round in each step.
            let steps = shown.state.saturating_sub(before.state) as f64;
            let tolerance = seen.tolerance * (2.0 + 0.2 * steps);
            let late = 2.0 * NANOSECOND + tolerance / flyer.speed;
            shown.time < before.time - late || shown.x < before.x - tolerance
        });
        if goes_back {
            return Err(format!("it goes back: {shown:?}"));
        }
        Ok(shown)
    }

    /// Returns whether a view may lead the body to its path, because it was teleported or has another smoothing.
    fn may_be_led(&self, body: usize, picture: &Picture) -> bool {
        let flyer = &self.flyers[body];
        let state = self.candidates(picture)[0];
        let first = flyer.shown.map_or(state, |shown| shown.state.min(state));
        let later = self.states[first..].iter();
        let mut later = later.flat_map(|state| &state.bodies[body].1);
        let first = flyer.shown.map(|shown| shown.smoothing);
        let first = first.or_else(|| later.next().copied());
        flyer.is_led
            || (flyer.since.is_some() && flyer.shown.is_none())
            || later.any(|later| Some(*later) != first)
    }

    /// Returns the indices of the states that the picture may display.
    fn candidates(&self, picture: &Picture) -> Vec<usize> {
        let first = |time: f64| {
            let place = self
                .states
                .partition_point(|state| state.time.as_secs_f64() < time);
            place.min(self.states.len() - 1)
        };
        match picture.state {
            Some(time) => {
                let place = self.states.iter().position(|state| state.time == time);
                vec![place.expect("each state is known")]
            }
            None => {
                let both = [-2.0, 2.0].map(|off| first(picture.time + off * NANOSECOND));
                let mut both = both.to_vec();
                both.dedup();
                both
            }
        }
    }

    /// Returns how a body is displayed at this state, if the picture may display it so.
    fn shown(
        &self,
        seen: &Seen,
        state: usize,
        smoothing: Smoothing,
        picture: &Picture,
    ) -> Result<Shown, String> {
        let (expected, time) = match smoothing {
            Smoothing::Latest => self.latest(seen, state, picture),
            Smoothing::Extrapolate => self.extrapolated(seen, state, picture)?,
            _ => self.interpolated(seen.body, state, picture.time)?,
        };
        let speed = self.flyers[seen.body].speed;
        let tolerance = seen.tolerance + 2.0 * NANOSECOND * speed;
        if !seen.at.is_near(&expected, tolerance) {
            return Err(format!("{smoothing:?} expects {expected:?}"));
        }
        Ok(Shown {
            time,
            x: seen.at.x,
            smoothing,
            state,
        })
    }

    /// Returns the place of a body at the latest state, and its time. A view leads the body there.
    fn latest(&self, seen: &Seen, state: usize, picture: &Picture) -> (Place, f64) {
        let flyer = &self.flyers[seen.body];
        let (place, end) = self.end(seen.body, state);
        let time = end + (seen.at.x - place.x) / flyer.speed;
        let late = NANOSECOND + seen.tolerance / flyer.speed;
        let last = self.last_time() + late;
        let is_led = |shown: Shown| time != end && (shown.time - late..last).contains(&time);
        if picture.state.is_none() && flyer.shown.is_some_and(is_led) {
            let Place { x, angle, .. } = seen.at;
            (Place { x, angle, ..place }, time)
        } else {
            (place, end)
        }
    }

    /// Returns the place of a body ahead of the state, and its time.
    fn extrapolated(
        &self,
        seen: &Seen,
        state: usize,
        picture: &Picture,
    ) -> Result<(Place, f64), String> {
        let flyer = &self.flyers[seen.body];
        let (place, end) = self.end(seen.body, state);
        let ahead = (seen.at.x - place.x) / flyer.speed;
        let (time, rounding) = (
            end + ahead,
            2.0 * (NANOSECOND + seen.tolerance / flyer.speed),
        );
        if picture.stops && ahead.abs() > rounding {
            return Err(format!(
                "it is {ahead} s ahead of a state that is displayed"
            ));
        }
        let is_allowed = (-rounding..=picture.most_ahead + rounding).contains(&ahead);
        // After a change of its smoothing, a body is where the one that is always extrapolated was.
        let others = self.flyers[OTHERS].shown.map_or(0.0, |shown| shown.time);
        let stays = (time - others).abs() <= rounding;
        let is_led = |shown: Shown| {
            let most = self.last_time() + picture.most_ahead;
            time > shown.time - rounding && (ahead < 0.0 || time < most)
        };
        let is_led = picture.state.is_none() && flyer.shown.is_some_and(is_led);
        if !(is_allowed || stays || is_led) {
            return Err(format!("it is {ahead} s ahead of {end} s"));
        }
        let (Place { x, .. }, angle) = (seen.at, place.angle + flyer.spin * ahead);
        Ok((Place { x, angle, ..place }, time))
    }

    /// Returns the place of a body between the state and the one before, at a time.
    fn interpolated(&self, body: usize, state: usize, time: f64) -> Result<(Place, f64), String> {
        let (place, end) = self.end(body, state);
        let Some(before) = state.checked_sub(1) else {
            return Ok((place, time));
        };
        let (from, start) = self.end(body, before);
        let part = (time - start) / (end - start);
        let rounding = 2.0 * NANOSECOND / (end - start);
        if !(-rounding..=1.0 + rounding).contains(&part) {
            return Err(format!("it is not between {start} s and {end} s"));
        }
        Ok((from.towards(&place, part), time))
    }

    /// Returns the place of a body in a state, and the time of the state.
    fn end(&self, body: usize, state: usize) -> (Place, f64) {
        let state = &self.states[state];
        (state.bodies[body].0, state.time.as_secs_f64())
    }

    fn last_time(&self) -> f64 {
        self.states.last().unwrap().time.as_secs_f64()
    }
}

/// Returns the displayed pose without the visual error.
fn without(pose: Pose, error: Option<Pose>) -> Pose {
    let error = error.unwrap_or_default();
    let rotation = error.rotation.inverse() * pose.rotation;
    Pose::from_parts(pose.translation - error.translation, rotation)
}
