//! A soft body, whose particles are interpolated like any value of the game.

use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use recipes::cloth::{Cloth, particles};
use std::time::Duration;

#[test]
fn a_falling_cloth_is_drawn_above_its_latest_particles() {
    let mut simulation = Simulation::default();
    let flag = SoftBodyBuilder::cloth(Vector::Y * 3.0, Vector::X, Vector::Z, 5, 5);
    let flag = simulation.physics.rapier_mut().insert_soft_body(flag);
    let mut cloth = Cloth::new(&simulation.physics, flag);
    for _ in 0..100 {
        simulation.begin_frame(Duration::from_millis(7));
        while let Some(step) = simulation.next_step() {
            simulation.run_step();
            cloth.after_step(&simulation.physics, step);
        }
        let drawn = cloth.drawn(&simulation.end_frame());
        let latest = particles(&simulation.physics, flag);
        assert!(
            drawn
                .iter()
                .zip(latest)
                .all(|(drawn, latest)| drawn.y >= latest.y)
        );
    }
}
