//! Steps that run on another thread while the frame is drawn: a heap of 200 crates.
//!
//! `cargo run --release --example overlap`

use std::convert::Infallible;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::{Hooks, Physics, Simulation, Step};

/// The game's data, which need not be [`Send`]: the hooks run on this thread.
#[derive(Default)]
struct Game {
    steps: std::rc::Rc<std::cell::Cell<u64>>,
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, _physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.steps.set(step.tick + 1);
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = Simulation::default();
    let floor = ColliderBuilder::cuboid(50.0, 0.1, 50.0);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    for i in 0..200u8 {
        let [x, y] = [i % 10, i / 10].map(f32::from);
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 1.0 + 1.1 * y, 0.3 * y));
        let crate_ = ColliderBuilder::cuboid(0.5, 0.5, 0.5);
        simulation.physics.insert(body, crate_);
    }
    let mut game = Game::default();
    let mut overlap = Overlap::new(simulation)?;
    for frame in 0..144 {
        let view = overlap.frame(Duration::from_secs(1) / 144, &mut game)?;
        // Draw these poses here. The next step already runs.
        let moved = view.moved();
        if frame % 12 == 0 {
            let highest = moved.iter().map(|(_, pose)| pose.translation.y);
            let highest = highest.fold(0.0, f32::max);
            println!(
                "frame {frame}: {} moved, the highest to {highest:.2} m",
                moved.len()
            );
        }
    }
    let (simulation, result) = overlap.stop(&mut game);
    result?;
    println!("{} steps in all", game.steps.get());
    assert_eq!(simulation.physics.tick(), game.steps.get());
    Ok(())
}
