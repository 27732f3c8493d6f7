//! A ball that a hand holds and throws, on headsets that display 72, 90 and 120 frames per second.
//!
//! - Step at the same fixed rate on every headset. In the hook, set the next kinematic pose of a held object to where
//!   the hand will be at `step.real_end`, and draw the object with `Smoothing::Extrapolate`.
//! - If the player's body moves, place the hand at the body's pose *before* the step, because the body is drawn one
//!   step behind. With its pose after the step, the object runs ahead of the hand by 33 mm at 3 m/s and 90 Hz.
//! - To throw, make the body dynamic in the first step after the input's time stamp, and set its smoothing back. The
//!   difference decays.
//!
//! Fifty throws at 6 m/s, with steps at 90 Hz:
//!
//! | the ball | gap to the hand | jump at the release | landing |
//! |---|---|---|---|
//! | extrapolated, as above | 7 mm | 9 to 11 mm | equal on all displays |
//! | interpolated | 67 mm | 3 to 5 mm | equal |
//! | moved and released once per frame | 7 mm | 13 to 24 mm | differs by up to 75 cm |
//! | stepped once per frame (`FrameLocked`), drawn with `Latest` | 0 | 2 to 6 mm | differs by up to 27 cm |

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use evenstep::time::FrameTimer;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use scenes::space;
use std::f32::consts::PI;
use std::time::Duration;

/// The distance of the hand from the shoulder, in metres.
const ARM: f32 = 0.6;
/// How fast the arm turns, in radians per second. The hand moves at 6 m/s.
const TURN: f32 = 10.0;
/// The height of the shoulder, in metres.
const SHOULDER: f32 = 1.4;
/// The steps per second, where they do not follow the display.
const HZ: u16 = 90;
const DISPLAYS: [u16; 3] = [72, 90, 120];

/// How the game steps, and draws the ball.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Strategy {
    Interpolated,
    /// Drawn at the hand while the hand holds it, and then interpolated.
    AtTheHand,
    Extrapolated,
    /// Extrapolated while the hand holds it, and then interpolated.
    Switched,
    /// One step per frame, and the last state is drawn.
    FrameLocked,
    /// Extrapolated. The hand at each step is interpolated between its poses at two frames.
    SampledPerFrame,
    /// Extrapolated. The game moves and releases the ball once per frame, before the steps.
    MovedPerFrame,
}

/// The hand lets go at this time, in seconds. It then moves forward and up at 45 degrees.
#[derive(Clone, Copy)]
struct Swing(f32);

impl Swing {
    fn hand(self, time: f32) -> Vector {
        let angle = 0.75 * PI + TURN * (self.0 - time);
        Vector::Y * SHOULDER + Rotation::from_rotation_z(angle) * Vector::X * ARM
    }

    /// Returns the position of the ball on the ideal path.
    fn ball(self, time: f32) -> Vector {
        let flight = time - self.0;
        if flight < 0.0 {
            return self.hand(time);
        }
        let velocity = Vector::new(1.0, 1.0, 0.0).normalize() * ARM * TURN;
        self.hand(self.0) + velocity * flight + Vector::Y * -9.81 / 2.0 * flight * flight
    }

    fn landing(self) -> f32 {
        let times = (0u16..).map(|i| self.0 + f32::from(i) / 10_000.0);
        let mut path = times.map(|time| self.ball(time));
        path.find(|position| position.y < 0.0).unwrap().x
    }
}

/// The measures of a throw, in metres.
#[derive(Clone, Copy, Debug, Default)]
struct Throw {
    /// The largest distance of the drawn ball from the hand that holds it.
    gap: f32,
    /// The largest error of the drawn motion in one frame, at the release.
    jump: f32,
    /// How far from the ideal position the ball lands: before it, if negative.
    landing: f32,
}

/// A player who swings a ball and lets go.
struct Game {
    ball: BodyKey,
    swing: Swing,
    strategy: Strategy,
    is_held: bool,
    /// The position before the last step, and where it landed.
    last: Vector,
    landed: Option<f32>,
}

impl Game {
    fn build(strategy: Strategy, swing: Swing, frames_per_second: u16) -> (Simulation, Self) {
        let mut simulation = Simulation::new(Rate::hz(HZ.into()));
        let position = swing.hand(0.0);
        let body = RigidBodyBuilder::kinematic_position_based().translation(position);
        let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.05));
        match strategy {
            Strategy::Interpolated | Strategy::AtTheHand => {}
            Strategy::Extrapolated
            | Strategy::Switched
            | Strategy::SampledPerFrame
            | Strategy::MovedPerFrame => {
                let smoothing = Some(Smoothing::Extrapolate);
                let set = simulation.physics.set_body_smoothing(ball, smoothing);
                set.unwrap();
            }
            Strategy::FrameLocked => {
                let settings = simulation.clock_settings_mut();
                settings.set_rate(Rate::hz(frames_per_second.into()));
                settings.set_stepping(Stepping::FrameLocked);
                simulation.smoothing = Smoothing::Latest;
            }
        }
        let game = Self {
            ball,
            swing,
            strategy,
            is_held: true,
            last: position,
            landed: None,
        };
        (simulation, game)
    }

    fn let_go(&mut self, physics: &mut Physics) {
        if !std::mem::take(&mut self.is_held) {
            return;
        }
        let body = physics.body_mut(self.ball).unwrap();
        body.set_body_type(RigidBodyType::Dynamic, true);
        if self.strategy == Strategy::Switched {
            physics.set_body_smoothing(self.ball, None).unwrap();
        }
    }

    /// Before the steps of a frame that ends at `now`.
    fn before_frame(&mut self, simulation: &mut Simulation, now: f32, frame_time: Duration) {
        if self.strategy != Strategy::MovedPerFrame {
            return;
        }
        if now >= self.swing.0 {
            self.let_go(&mut simulation.physics);
            return;
        }
        let end = simulation.clock().time_after(frame_time);
        let pose = Pose::from_translation(self.swing.hand(now));
        let set = simulation
            .physics
            .set_kinematic_target(self.ball, pose, end);
        set.unwrap();
    }

    /// Before each step of a frame.
    fn before_step(&mut self, physics: &mut Physics, step: Step, [before, now]: [f32; 2]) {
        let position = position(physics, self.ball).translation;
        if position.y < 0.0 && self.landed.is_none() {
            let part = self.last.y / (self.last.y - position.y);
            self.landed = Some(self.last.lerp(position, part).x);
        }
        self.last = position;
        if self.strategy == Strategy::MovedPerFrame {
            return;
        }
        if step.start_time.as_secs_f32() >= self.swing.0 {
            self.let_go(physics);
            return;
        }
        let end = step.end_time.as_secs_f32();
        let next = match self.strategy {
            Strategy::SampledPerFrame => {
                let part = (end - before) / (now - before);
                self.swing.hand(before).lerp(self.swing.hand(now), part)
            }
            _ => self.swing.hand(end),
        };
        let body = physics.body_mut(self.ball).unwrap();
        body.set_next_kinematic_translation(next);
    }

    fn drawn(&self, simulation: &Simulation, now: f32) -> Vector {
        match self.strategy {
            Strategy::AtTheHand if now < self.swing.0 => self.swing.hand(now),
            _ => simulation.pose(self.ball).unwrap().translation,
        }
    }
}

fn throw(strategy: Strategy, frames_per_second: u16, swing: Swing) -> Throw {
    let (mut simulation, mut game) = Game::build(strategy, swing, frames_per_second);
    let frame_time = SECOND / u32::from(frames_per_second);
    let delay = match strategy {
        Strategy::Interpolated => 1.0 / f32::from(HZ),
        _ => 0.0,
    };
    let (mut throw, mut last_error) = (Throw::default(), Vector::ZERO);
    let ends = (0u16..).map(|frame| f32::from(frame) / f32::from(frames_per_second));
    for (before, now) in ends.clone().zip(ends.skip(1)) {
        game.before_frame(&mut simulation, now, frame_time);
        simulation.advance(frame_time, |physics, step| {
            game.before_step(physics, step, [before, now]);
        });
        let drawn = game.drawn(&simulation, now);
        if now > 0.1 && now < swing.0 {
            throw.gap = throw.gap.max(drawn.distance(swing.hand(now)));
        }
        let error = drawn - swing.ball(now - delay);
        if (-0.02..0.06).contains(&(now - swing.0)) {
            throw.jump = throw.jump.max(error.distance(last_error));
        }
        last_error = error;
        if game.landed.is_some() {
            break;
        }
    }
    throw.landing = game.landed.unwrap() - swing.landing();
    throw
}

/// Returns throws at 50 moments.
fn throws(strategy: Strategy, frames_per_second: u16) -> Vec<Throw> {
    let moments = (0u8..50).map(|i| Swing(0.46 + 0.001 * f32::from(i)));
    let throws = moments.map(|swing| throw(strategy, frames_per_second, swing));
    throws.collect()
}

/// A row of the book's table: 50 throws with a strategy.
#[derive(Debug)]
struct Row {
    /// In millimetres, the worst throw at any display.
    gap: f32,
    /// In millimetres, the worst throw at each display.
    jumps: [f32; 3],
    /// In metres, from the throw that is shortest to the one that is longest.
    landings: [f32; 2],
    /// How far apart the same throw lands on two displays, at most, in metres.
    spread: f32,
}

fn largest(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.fold(f32::NEG_INFINITY, f32::max)
}

fn smallest(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.fold(f32::INFINITY, f32::min)
}

fn row(strategy: Strategy) -> Row {
    let displays = DISPLAYS.map(|frames_per_second| throws(strategy, frames_per_second));
    let all = || displays.iter().flatten();
    let landings = |throw: usize| displays.iter().map(move |throws| throws[throw].landing);
    let spreads = (0..50).map(|throw| largest(landings(throw)) - smallest(landings(throw)));
    Row {
        gap: 1e3 * largest(all().map(|throw| throw.gap)),
        jumps: displays
            .each_ref()
            .map(|throws| 1e3 * largest(throws.iter().map(|throw| throw.jump))),
        landings: [
            smallest(all().map(|throw| throw.landing)),
            largest(all().map(|throw| throw.landing)),
        ],
        spread: largest(spreads),
    }
}

/// Checks a row of the table in the chapter on the camera.
#[track_caller]
fn check(strategy: Strategy, gap: f32, jumps: [f32; 3], landings: [f32; 2], spread: f32) {
    let row = row(strategy);
    assert!((row.gap - gap).abs() < 0.5, "{row:?}");
    let pairs = row.jumps.into_iter().zip(jumps);
    assert!(
        pairs.into_iter().all(|(is, was)| (is - was).abs() < 0.51),
        "{row:?}"
    );
    let pairs = row.landings.into_iter().zip(landings);
    assert!(
        pairs.into_iter().all(|(is, was)| (is - was).abs() < 0.01),
        "{row:?}"
    );
    assert!((row.spread - spread).abs() < 0.005, "{row:?}");
}

#[test]
fn a_held_ball_that_is_interpolated_lags_or_jumps() {
    check(
        Strategy::Interpolated,
        67.0,
        [5.0, 4.0, 3.0],
        [-0.15, 0.16],
        0.0,
    );
    check(Strategy::AtTheHand, 0.0, [67.0; 3], [-0.15, 0.16], 0.0);
}

#[test]
fn a_held_ball_that_is_extrapolated_is_at_the_hand_and_flies_on_evenly() {
    check(
        Strategy::Extrapolated,
        7.0,
        [11.0, 10.0, 9.0],
        [-0.15, 0.16],
        0.0,
    );
    check(
        Strategy::Switched,
        7.0,
        [11.0, 10.0, 9.0],
        [-0.15, 0.16],
        0.0,
    );
}

#[test]
fn with_one_step_per_frame_the_same_throw_lands_elsewhere_on_each_display() {
    check(
        Strategy::FrameLocked,
        0.0,
        [6.0, 4.0, 2.0],
        [-0.20, 0.18],
        0.27,
    );
}

#[test]
fn a_hand_that_is_known_once_per_frame_throws_less_exactly() {
    check(
        Strategy::SampledPerFrame,
        7.0,
        [11.0, 10.0, 8.5],
        [-0.19, 0.16],
        0.04,
    );
    check(
        Strategy::MovedPerFrame,
        7.0,
        [24.0, 17.0, 13.0],
        [-1.36, -0.37],
        0.75,
    );
}

#[test]
fn frames_at_predicted_times_draw_even_motion_even_if_refreshes_are_skipped() {
    const SPEED: f32 = 4.0; // metres per second
    const REFRESH: Duration = Duration::from_nanos(11_111_111);
    let head_at = |time: Duration| Pose::translation(0.1 * time.as_secs_f32(), 1.7, 0.0);
    let mut simulation = space(60);
    let [player, ball, hand] = [0.0, 2.0, 4.0].map(|z| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Z * z);
        simulation
            .physics
            .insert(body.linvel(Vector::X * SPEED), ColliderBuilder::ball(0.1))
    });
    let smoothing = Some(Smoothing::Extrapolate);
    let set = simulation.physics.set_body_smoothing(hand, smoothing);
    set.unwrap();

    let start = Duration::from_secs(1_000); // on the runtime's clock
    let mut timer = FrameTimer::new(start, simulation.clock().real_time());
    for frame in 1..400 {
        // Frame 200 took long, so two refreshes are skipped.
        let refresh = if frame < 200 { frame } else { frame + 2 };
        let predicted = start + REFRESH * refresh;
        simulation.advance(timer.frame(predicted), |_, _| ());
        if simulation.physics.tick() < 2 {
            continue;
        }
        let x = |key| simulation.pose(key).unwrap().translation.x;
        let time = (predicted - start).as_secs_f32();
        assert!(
            (x(ball) - SPEED * (time - 1.0 / 60.0)).abs() < 1e-3,
            "frame {frame}"
        );
        assert!((x(hand) - SPEED * time).abs() < 1e-3, "frame {frame}");

        // Only the head moves relative to the player.
        let head = head_at(predicted - start);
        let camera = simulation.pose(player).unwrap() * head;
        let seen = camera.inverse() * simulation.pose(ball).unwrap().translation;
        assert!((seen.x + head.translation.x).abs() < 1e-3);
    }
}
