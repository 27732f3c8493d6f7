//! The game: crates, a player pushed by input, and balls that are spawned and removed at fixed ticks.

use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::recording::{RecordError, Recorder};
use evenstep::{BodyKey, Physics, Simulation, Step};
use serde::{Deserialize, Serialize};

/// A ball is spawned every `BALL_EVERY` steps. Above the maximum count, the oldest ball is removed.
const BALL_EVERY: u64 = 12;
const MOST_BALLS: usize = 20;

/// The player's input in one step. Nothing else from the input devices is recorded.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Input {
    /// The stick, from -1 to 1 on both axes.
    walk: [f32; 2],
    jump: bool,
}

impl Input {
    /// Returns the input of a player who walks in a square and jumps now and then.
    pub fn at(tick: u64) -> Self {
        let walk = match tick / 90 % 4 {
            0 => [1.0, 0.0],
            1 => [0.0, 1.0],
            2 => [-1.0, 0.0],
            _ => [0.0, -1.0],
        };
        let jump = tick % 150 == 149;
        Self { walk, jump }
    }
}

/// The game's state, written with each keyframe of a recording.
#[derive(Serialize, Deserialize)]
pub struct Game {
    player: BodyKey,
    /// The balls, oldest first.
    balls: VecDeque<BodyKey>,
}

impl Game {
    pub fn new() -> (Simulation, Self) {
        let mut simulation = Simulation::default();
        simulation.physics.insert(
            RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
            ColliderBuilder::cuboid(50.0, 0.5, 50.0),
        );
        for i in 0..40 {
            let (stack, level) = (i / 5, i % 5);
            let at = Vector::new(1.3 * stack as f32, 0.5 + level as f32, 0.1 * level as f32);
            let body = RigidBodyBuilder::dynamic().translation(at);
            simulation
                .physics
                .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
        }
        let player = simulation.physics.insert(
            RigidBodyBuilder::dynamic()
                .translation(Vector::new(-4.0, 1.0, 0.0))
                .linear_damping(0.5)
                .lock_rotations(),
            ColliderBuilder::capsule_y(0.5, 0.4),
        );
        let balls = VecDeque::new();
        (simulation, Self { player, balls })
    }

    /// Applies the game's rules to a step. Recording and replay use the same function.
    pub fn step(&mut self, physics: &mut Physics, step: Step, input: Input) {
        let [x, z] = input.walk;
        let push = Vector::new(x, 0.0, z) * 15.0;
        let jump = Vector::Y * if input.jump { 4.0 } else { 0.0 };
        let pushed = physics.add_force(self.player, push);
        pushed
            .and_then(|()| physics.apply_impulse(self.player, jump))
            .unwrap();
        if step.tick.is_multiple_of(BALL_EVERY) {
            let at = Vector::new((step.tick * 7 % 31) as f32 * 0.4 - 3.0, 12.0, 0.0);
            let body = RigidBodyBuilder::dynamic().translation(at);
            let ball = ColliderBuilder::ball(0.35).restitution(0.5);
            self.balls.push_back(physics.insert(body, ball));
        }
        if self.balls.len() > MOST_BALLS {
            let oldest = self.balls.pop_front();
            oldest.and_then(|key| physics.remove(key));
        }
    }

    /// Runs a frame and records it.
    pub fn record_frame(
        &mut self,
        simulation: &mut Simulation,
        recorder: &mut Recorder<impl Write>,
        frame_time: Duration,
    ) -> Result<(), RecordError> {
        recorder.begin_frame(simulation, self, frame_time)?;
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            let input = Input::at(step.tick);
            recorder.input(step, &input)?;
            self.step(&mut simulation.physics, step, input);
            simulation.run_step();
            recorder.end_step(&simulation.physics)?;
        }
        simulation.end_frame();
        Ok(())
    }

    /// Changes the clock's settings between frames, as a menu would. The game is in slow motion now and then. The
    /// recording contains these settings.
    pub fn set_clock(simulation: &mut Simulation) -> Result<(), evenstep::time::SpeedError> {
        let is_slow = simulation.clock().real_time().as_secs() % 10 == 9;
        simulation
            .clock_settings_mut()
            .set_speed(if is_slow { 0.25 } else { 1.0 })
    }

    /// Returns the frame time of a slightly uneven display.
    pub fn frame_time(number: u64) -> Duration {
        Duration::from_micros(9_000 + number * 7_919 % 15_000)
    }

    /// Injects a defect: changes the last bit of the velocity of a ball in the air.
    pub fn break_a_bit(&self, physics: &mut Physics) {
        let falling = self.balls.iter().rev().nth(1);
        if let Some(ball) = falling.and_then(|key| physics.body_mut(*key)) {
            let mut velocity = ball.linvel();
            velocity.y = f32::from_bits(velocity.y.to_bits() ^ 1);
            ball.set_linvel(velocity, true);
        }
    }
}
