//! Spinning bodies in free space.

use evenstep::Simulation;
use evenstep::rapier::prelude::*;

/// Creates `count` bodies in a cube, 1 m apart, each with a different spin. They have no colliders.
pub fn spinners(count: usize) -> Simulation {
    let mut simulation = Simulation::default();
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let side = side(count);
    for i in 0..count {
        let at = [i % side, i / side % side, i / side / side];
        let [x, y, z] = at.map(|n| n as f32 - 0.5 * (side - 1) as f32);
        let spin = Vector::new((i % 7) as f32 - 3.0, (i % 11) as f32 - 5.0, 1.0);
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(x, y, z))
            .angvel(spin)
            .linvel(Vector::new(0.0, 0.1 * (i % 5) as f32, 0.0))
            .additional_mass_properties(MassProperties::new(Vector::ZERO, 1.0, Vector::ONE))
            .can_sleep(false);
        simulation.physics.insert_body(body);
    }
    simulation
}

/// Returns the number of bodies along an edge of the cube.
pub fn side(count: usize) -> usize {
    let mut sides = 1..;
    sides.find(|side: &usize| side.pow(3) >= count).unwrap_or(1)
}
