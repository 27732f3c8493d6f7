//! An engine with its own fixed update: its former loop, and the loop with evenstep.

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};
use scenes::space;
use std::time::Duration;

const SPEED: f32 = 300.0; // pixels per second
const STEP: f32 = 1.0 / 60.0; // s

/// Returns the drawn positions of an engine that accumulates frame times and draws the last step.
fn former_loop(frames_per_second: u16) -> Vec<f32> {
    let mut simulation = space(60);
    let world = simulation.physics.rapier_mut();
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED);
    let (body, _) = world.insert(body, ColliderBuilder::ball(1.0));
    let mut accumulator = 0.0;
    let frames = (0..frames_per_second * 2).map(|_| {
        accumulator += 1.0 / f32::from(frames_per_second);
        while accumulator >= STEP {
            world.step();
            accumulator -= STEP;
        }
        world.bodies[body].translation().x
    });
    frames.collect()
}

/// The same engine with evenstep.
struct Engine {
    simulation: Simulation,
    ship: BodyKey,
    /// The ticks of the fixed updates, with the position before each.
    updates: Vec<(u64, f32)>,
    drawn: Vec<f32>,
}

impl Engine {
    fn frame(&mut self, frame_time: Duration) {
        self.simulation.begin_frame(frame_time); // was: accumulator += frame_time
        // was: while accumulator >= STEP
        while let Some(step) = self.simulation.next_step() {
            self.fixed_update(step);
            self.simulation.run_step(); // was: world.step()
            self.after_physics(step);
        }
        self.simulation.end_frame();
        self.draw();
    }

    fn fixed_update(&mut self, step: Step) {
        let x = position(&self.simulation.physics, self.ship).translation.x;
        self.updates.push((step.tick, x));
    }

    fn after_physics(&mut self, step: Step) {
        assert_eq!(self.simulation.physics.tick(), step.tick + 1);
    }

    fn draw(&mut self) {
        let pose = self.simulation.pose(self.ship).unwrap();
        self.drawn.push(pose.translation.x);
    }
}

/// Runs a frame of a loop that had an accumulator, and returns where it draws a body.
fn frame(
    simulation: &mut Simulation,
    key: BodyKey,
    frame_time: Duration,
    mut fixed_update: impl FnMut(&mut Physics, Step),
) -> f32 {
    simulation.begin_frame(frame_time); // was: accumulator += frame_time.min(0.25)
    // was: while accumulator >= DT
    while let Some(step) = simulation.next_step() {
        fixed_update(&mut simulation.physics, step);
        simulation.run_step(); // was: copy poses, step, accumulator -= DT
    }
    simulation.end_frame(); // was: alpha = accumulator / DT
    let pose = simulation.pose(key); // was: previous.lerp(&current, alpha)
    pose.unwrap().translation.x
}

/// Returns the engine after two seconds.
fn evensteps_loop(frames_per_second: u16) -> Engine {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED);
    let ship = simulation.physics.insert(body, ColliderBuilder::ball(1.0));
    let mut engine = Engine {
        simulation,
        ship,
        updates: Vec::new(),
        drawn: Vec::new(),
    };
    for _ in 0..frames_per_second * 2 {
        engine.frame(SECOND / u32::from(frames_per_second));
    }
    engine
}

/// Returns how far the drawn motion per frame is off the even motion, in pixels (RMS).
fn uneven(drawn: &[f32], frames_per_second: u16) -> f32 {
    let even = SPEED / f32::from(frames_per_second);
    let drawn = &drawn[usize::from(frames_per_second)..];
    let off = drawn.windows(2).map(|pair| pair[1] - pair[0] - even);
    (off.map(|off| off * off).sum::<f32>() / drawn.len() as f32).sqrt()
}

#[test]
fn a_body_is_drawn_evenly_with_next_step_in_place_of_an_accumulator() {
    for (frames_per_second, former) in [(75, 2.0), (120, 2.5), (144, 2.5)] {
        let off = uneven(&former_loop(frames_per_second), frames_per_second);
        assert!(
            (off - former).abs() < 0.05,
            "{off} px at {frames_per_second}"
        );
        let engine = evensteps_loop(frames_per_second);
        let off = uneven(&engine.drawn, frames_per_second);
        assert!(off < 1e-3, "{off} px at {frames_per_second}");
    }
}

#[test]
fn lines_in_place_of_an_accumulator_draw_what_the_engine_draws() {
    let engine = evensteps_loop(144);
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED);
    let ship = simulation.physics.insert(body, ColliderBuilder::ball(1.0));
    let mut ticks = Vec::new();
    let drawn = (0..288).map(|_| {
        frame(&mut simulation, ship, SECOND / 144, |_, step| {
            ticks.push(step.tick);
        })
    });
    assert_eq!(drawn.collect::<Vec<_>>(), engine.drawn);
    let updates: Vec<_> = engine.updates.iter().map(|(tick, _)| *tick).collect();
    assert_eq!(ticks, updates);
}

#[test]
fn fixed_updates_see_the_same_steps_at_every_frame_rate() {
    let updates = |frames_per_second| {
        let mut updates = evensteps_loop(frames_per_second).updates;
        updates.truncate(119);
        updates
    };
    let reference = updates(60);
    assert_eq!(reference.len(), 119);
    for frames_per_second in [30, 75, 144, 240] {
        assert_eq!(updates(frames_per_second), reference);
    }
}
