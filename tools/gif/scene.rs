//! Balls and crates that tumble down stairs, and the log of their poses in each frame.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing, Step};
use serde::{Deserialize, Serialize};

/// The frame time at 50 Hz. The delays of a GIF are whole hundredths of a second, and browsers lengthen those below two.
const FRAME_TIME: Duration = Duration::from_millis(20);
/// The same bodies are inserted every 1.5 s, so the picture loops.
pub const LOOP_STEPS: u64 = 15;
pub const LOOP_FRAMES: u32 = 75;
/// The number of frames of a step.
const STEP_FRAMES: u32 = 5;
/// The number of loops before the one in the picture. In these the first bodies leave the picture.
const LOOPS_BEFORE: u32 = 3;
/// The x at which bodies appear and disappear, and the distance over which they grow and shrink, in metres.
const ENDS: [f32; 2] = [-3.9, 2.9];
const GROWTH: f32 = 0.4;

pub const BALL_RADIUS: f32 = 0.42;
pub const CRATE_HALF: f32 = 0.38;
/// Half the width of the stairs, in metres.
pub const STAIRS_HALF_Z: f32 = 1.3;
/// The height of the foot of the stairs, in metres.
pub const FOOT: f32 = -1.6;
/// The steps of the stairs. Each has a left end and a right end along x, and a height, in metres.
pub const STAIRS: [[f32; 3]; 4] = [
    [-4.2, -2.4, 1.6],
    [-2.4, -0.6, 0.6],
    [-0.6, 1.2, -0.4],
    [1.2, 3.0, -1.4],
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    Ball,
    Crate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// The latest state, `Smoothing::Latest`.
    Left,
    /// Interpolated between the last two states, `Smoothing::Interpolate`.
    Right,
}

impl Half {
    /// Returns the number of different positions of a moving body in these frames.
    pub fn positions_in(self, frames: u32) -> u32 {
        match self {
            Self::Left => frames / STEP_FRAMES,
            Self::Right => frames,
        }
    }

    fn smoothing(self) -> Smoothing {
        match self {
            Self::Left => Smoothing::Latest,
            Self::Right => Smoothing::Interpolate,
        }
    }
}

/// The pose of a body in a frame. It has only whole numbers, because the picture must depend on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub half: Half,
    pub frame: u32,
    /// The tick in which the body was inserted.
    pub arrival: u64,
    pub shape: Shape,
    /// The position, in tenths of a millimetre.
    pub x: i32,
    pub y: i32,
    pub z: i32,
    /// The rotation as a quaternion, in ten-thousandths.
    pub i: i32,
    pub j: i32,
    pub k: i32,
    pub w: i32,
}

impl Row {
    #[expect(clippy::cast_possible_truncation, reason = "a few metres fit")]
    fn new(half: Half, frame: u32, body: &Body, pose: Pose) -> Self {
        let whole = |value: f32| (value * 10_000.0).round() as i32;
        Self {
            half,
            frame,
            arrival: body.arrival,
            shape: body.shape,
            x: whole(pose.translation.x),
            y: whole(pose.translation.y),
            z: whole(pose.translation.z),
            i: whole(pose.rotation.x),
            j: whole(pose.rotation.y),
            k: whole(pose.rotation.z),
            w: whole(pose.rotation.w),
        }
    }

    pub fn position(&self) -> Vector {
        Vector::new(self.x as f32, self.y as f32, self.z as f32) / 10_000.0
    }

    /// Returns the radius of the ball, or half the width of the crate, as drawn. Bodies grow where they appear, and
    /// shrink where they disappear, so that the edge of the picture cuts none.
    pub fn drawn_size(&self) -> f32 {
        let x = self.position().x;
        let share = (x - ENDS[0]).min(ENDS[1] - x) / GROWTH;
        self.size() * share.clamp(0.0, 1.0)
    }

    /// Returns the position at which a body of the drawn size is drawn: it touches what the whole body touches.
    pub fn drawn_at(&self) -> Vector {
        self.position() - Vector::Y * (self.size() - self.drawn_size())
    }

    fn size(&self) -> f32 {
        match self.shape {
            Shape::Ball => BALL_RADIUS,
            Shape::Crate => CRATE_HALF,
        }
    }

    /// Returns the rotation, of about unit length.
    pub fn rotation(&self) -> Rotation {
        Rotation::from_xyzw(
            self.i as f32 / 10_000.0,
            self.j as f32 / 10_000.0,
            self.k as f32 / 10_000.0,
            self.w as f32 / 10_000.0,
        )
    }
}

struct Body {
    key: BodyKey,
    arrival: u64,
    shape: Shape,
}

/// The bodies inserted in a loop: the step, the shape, the speed along x in m/s, and z in metres.
const ARRIVALS: [(u64, Shape, f32, f32); 2] =
    [(0, Shape::Ball, 2.4, 0.6), (8, Shape::Crate, 3.2, -0.6)];

/// Returns the log of one loop, for both halves.
pub fn log() -> Vec<Row> {
    [Half::Left, Half::Right]
        .into_iter()
        .flat_map(|half| log_of(half, LOOPS_BEFORE))
        .collect()
}

fn log_of(half: Half, loops_before: u32) -> Vec<Row> {
    let mut simulation = stairs();
    simulation.smoothing = half.smoothing();
    let (mut bodies, mut log) = (Vec::new(), Vec::new());
    let first = loops_before * LOOP_FRAMES;
    for frame in 0..first + LOOP_FRAMES {
        simulation.advance(FRAME_TIME, |physics, step| {
            insert_and_remove(physics, step, &mut bodies);
        });
        if let Some(frame) = frame.checked_sub(first) {
            let row = |body: &Body| Some(Row::new(half, frame, body, simulation.pose(body.key)?));
            log.extend(bodies.iter().filter_map(row));
        }
    }
    log
}

fn stairs() -> Simulation {
    let rate = Rate::hz(10);
    let mut simulation = Simulation::new(rate);
    for [left, right, top] in STAIRS {
        let half = Vector::new((right - left) / 2.0, (top - FOOT) / 2.0, STAIRS_HALF_Z);
        let at = Vector::new((left + right) / 2.0, (top + FOOT) / 2.0, 0.0);
        simulation.physics.insert(
            RigidBodyBuilder::fixed().translation(at),
            ColliderBuilder::cuboid(half.x, half.y, half.z),
        );
    }
    simulation
}

/// Inserts and removes bodies in a step.
fn insert_and_remove(physics: &mut Physics, step: Step, bodies: &mut Vec<Body>) {
    bodies.retain(|body| {
        let there = physics.body(body.key);
        let stays = there.is_some_and(|body| body.translation().x < ENDS[1]);
        if !stays {
            physics.remove(body.key);
        }
        stays
    });
    let step_of_loop = step.tick % LOOP_STEPS;
    for (_, shape, speed, z) in ARRIVALS
        .into_iter()
        .filter(|arrival| arrival.0 == step_of_loop)
    {
        bodies.push(Body {
            key: arrive(physics, shape, speed, z),
            arrival: step.tick,
            shape,
        });
    }
}

fn arrive(physics: &mut Physics, shape: Shape, speed: f32, z: f32) -> BodyKey {
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::new(ENDS[0], 2.2, z))
        .linvel(Vector::X * speed)
        .angvel(Vector::new(1.0, 0.5, -4.0))
        .enabled_translations(true, true, false);
    let collider = match shape {
        Shape::Ball => ColliderBuilder::ball(BALL_RADIUS).restitution(0.6),
        // The crate slides down the stairs without stopping.
        Shape::Crate => ColliderBuilder::cuboid(CRATE_HALF, CRATE_HALF, CRATE_HALF)
            .friction(0.0)
            .friction_combine_rule(CoefficientCombineRule::Min),
    };
    physics.insert(body, collider)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a row without the part that differs from loop to loop.
    fn without_arrival(mut row: Row) -> Row {
        row.arrival %= LOOP_STEPS;
        row
    }

    #[test]
    fn consecutive_loops_have_the_same_poses() {
        for half in [Half::Left, Half::Right] {
            let logs = [LOOPS_BEFORE, LOOPS_BEFORE + 1].map(|before| log_of(half, before));
            let [first, second] = logs.map(|log| log.into_iter().map(without_arrival));
            assert!(first.eq(second), "{half:?}");
        }
    }

    /// Returns a list for each body: its motion from frame to frame, in tenths of a millimetre.
    fn motions(half: Half) -> Vec<Vec<f32>> {
        let log = log_of(half, LOOPS_BEFORE);
        let mut arrivals: Vec<u64> = log.iter().map(|row| row.arrival).collect();
        arrivals.sort_unstable();
        arrivals.dedup();
        let of_one = |arrival| {
            let rows: Vec<_> = log.iter().filter(|row| row.arrival == arrival).collect();
            let motion = |pair: &[&Row]| pair[0].position().distance(pair[1].position()) * 10_000.0;
            rows.windows(2).map(motion).collect()
        };
        arrivals.into_iter().map(of_one).collect()
    }

    #[test]
    fn the_right_half_moves_evenly_and_the_left_half_in_jumps() {
        let longest = |motions: &[Vec<f32>]| motions.iter().flatten().copied().fold(0.0, f32::max);
        let [left, right] = [Half::Left, Half::Right].map(motions);
        // A step has five frames: four without motion, and one with the whole motion.
        let still = left
            .iter()
            .flatten()
            .filter(|motion| **motion == 0.0)
            .count();
        let all = left.iter().flatten().count();
        assert!(
            (0.75..0.85).contains(&(still as f32 / all as f32)),
            "{still} of {all}"
        );
        let share = longest(&right) / longest(&left);
        assert!((0.19..0.21).contains(&share), "{share} of the longest jump");
        // Within a step all motions are equal, except for the rounding of the log.
        let uneven = |motions: &[f32]| {
            motions
                .windows(2)
                .filter(|pair| (pair[0] - pair[1]).abs() > 4.0)
                .count()
        };
        let changes: usize = right.iter().map(|motions| uneven(motions)).sum();
        let all = right.iter().flatten().count();
        assert!(changes * 5 <= all + 5 * right.len(), "{changes} of {all}");
    }
}
