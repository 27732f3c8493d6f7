//! The loop that a game writes by hand.

use std::hint::black_box;
use std::time::{Duration, Instant};

use evenstep::rapier::math::Pose;
use evenstep::rapier::pipeline::PhysicsWorld;

use super::{Scene, Strategy, Trace, advance, start};

const HZ: u32 = 60;

/// An accumulator, two poses per body, and a blend.
struct Loop {
    world: PhysicsWorld,
    accumulator: f32,
    previous: Vec<Pose>,
    current: Vec<Pose>,
}

impl Loop {
    fn new(scene: &Scene) -> Self {
        let mut simulation = start(scene, HZ).0;
        let mut world = std::mem::take(simulation.physics.rapier_mut());
        world.integration_parameters.dt = 1.0 / HZ as f32;
        let current = poses(&world);
        Self {
            world,
            accumulator: 0.0,
            previous: current.clone(),
            current,
        }
    }

    /// Runs a frame. Returns the number of steps, and their wall time.
    #[expect(
        clippy::disallowed_methods,
        reason = "the cost is measured with the wall clock"
    )]
    fn frame(&mut self, time: Duration) -> (u32, Duration) {
        let dt = self.world.integration_parameters.dt;
        let (mut steps, mut rapier) = (0, Duration::ZERO);
        self.accumulator += time.as_secs_f32();
        while self.accumulator >= dt {
            let begin = Instant::now();
            self.world.step();
            rapier += begin.elapsed();
            self.previous = std::mem::replace(&mut self.current, poses(&self.world));
            self.accumulator -= dt;
            steps += 1;
        }
        for (previous, current) in self.previous.iter().zip(&self.current) {
            black_box(previous.lerp(current, self.accumulator / dt));
        }
        (steps, rapier)
    }
}

fn poses(world: &PhysicsWorld) -> Vec<Pose> {
    let bodies = world.bodies.iter();
    bodies.map(|(_, body)| *body.position()).collect()
}

/// Runs a scene with a strategy and with a loop by hand, frame by frame in turn. Returns the wall time per second of
/// simulated time, in seconds: of the strategy, of the steps of the loop by hand, and of that whole loop.
#[expect(
    clippy::disallowed_methods,
    reason = "the cost is measured with the wall clock"
)]
pub fn costs(scene: &Scene, strategy: &Strategy, trace: &Trace) -> [f64; 3] {
    let (mut simulation, key) = start(scene, strategy.hz);
    let settings = simulation.clock_settings_mut();
    settings.set_stepping(strategy.stepping);
    settings.set_max_frame_time(Duration::from_millis(300));
    simulation.smoothing = strategy.smoothing;
    let mut by_hand = Loop::new(scene);
    let (mut wall, mut simulated, mut steps) = ([Duration::ZERO; 3], 0.0, 0);
    for time in &trace.times {
        let begin = Instant::now();
        simulated += advance(&mut simulation, scene, key, *time);
        let between = Instant::now();
        let (ran, rapier) = by_hand.frame(*time);
        let frame = between.elapsed();
        wall[0] += between - begin;
        wall[1] += rapier;
        wall[2] += frame;
        steps += ran;
    }
    let second = f64::from(steps) / f64::from(HZ);
    let seconds = [simulated.max(f64::MIN_POSITIVE), second, second];
    std::array::from_fn(|i| wall[i].as_secs_f64() / seconds[i])
}
