//! Magnets that attract each other, and keep their momentum.

use evenstep::{BodyKey, Physics};

const STRENGTH: f32 = 12.0; // newtons at a distance of 1 m

/// Adds the forces between all magnets. Call it in the hook, before each step.
pub fn attract(physics: &mut Physics, magnets: &[BodyKey]) {
    for (i, one) in magnets.iter().enumerate() {
        for other in &magnets[i + 1..] {
            let centre = |key| physics.body(key).unwrap().center_of_mass();
            let offset = centre(*other) - centre(*one);
            let force = offset.normalize() * STRENGTH / offset.length_squared();
            physics.add_force(*one, force).unwrap();
            physics.add_force(*other, -force).unwrap();
        }
    }
}
