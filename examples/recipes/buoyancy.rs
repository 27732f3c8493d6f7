//! Crates that float on water and drift in gusts of wind: forces with your own formula.

use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Step};

/// Returns the force on a crate of 1 m³, in water up to height 0.
fn buoyancy(body: &RigidBody) -> Vector {
    let volume = (0.5 - body.translation().y).clamp(0.0, 1.0); // under water
    let weight = Vector::Y * 9.81 * 1_000.0 * volume; // of the displaced water
    weight - body.linvel() * 800.0 * volume
}

/// Returns the force of a wind of 10 m/s, every other second.
fn gusts(body: &RigidBody, step: Step) -> Vector {
    let blows = step.start_time.as_secs().is_multiple_of(2);
    let wind = if blows {
        Vector::X * 10.0
    } else {
        Vector::ZERO
    };
    (wind - body.linvel()) * 60.0
}

/// Adds both forces to each floating body, in the hook before a step.
pub fn add_forces(
    floating: &[BodyKey],
    physics: &mut Physics,
    step: Step,
) -> Result<(), BodyError> {
    for key in floating {
        let body = physics.body(*key).ok_or(BodyError::Gone(*key))?;
        let force = buoyancy(body) + gusts(body, step);
        physics.add_force(*key, force)?;
    }
    Ok(())
}
