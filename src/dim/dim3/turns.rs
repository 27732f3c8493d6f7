//! Rotations about axes by angles, by power series.

use rapier::glamx::{DQuat, DVec3};
use rapier::math::{AngVector, Rotation};

use crate::dim::lanes::chosen;

use super::lanes::{Rotations, Spins};

/// The square of half the angle up to which a few terms of the series are enough. The angle is 45 degrees, the most
/// that Rapier lets a body turn in a step.
const NEAR_TURN: f32 = 0.155;

/// Returns the rotations about axes whose lengths are the angles, in radians of any size.
///
/// It uses the power series of sine and cosine, whose first omitted term is below 2e-8.
pub(crate) fn turns(by: Spins) -> Rotations {
    let squared = by.length_squared() * 0.25;
    let series = |[a, b, c, d]: [f32; 4]| a + squared * (b + squared * (c + squared * d));
    let half_sinc = series([1.0 / 2.0, -1.0 / 12.0, 1.0 / 240.0, -1.0 / 10_080.0]);
    let turns = Rotations {
        vector: by * half_sinc,
        w: series([1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0]),
    };
    match squared.simd_gt(NEAR_TURN).to_bitmask() {
        0 => turns,
        wide => wide_turns(by, turns, wide),
    }
}

#[cold]
fn wide_turns(by: Spins, turns: Rotations, wide: u32) -> Rotations {
    let (by, mut turns) = (by.to_array(), turns.to_array());
    for i in chosen(wide) {
        turns[i] = wide_turn(by[i]);
    }
    Rotations::new(turns)
}

/// Returns a rotation by a wide angle. It uses `f64`, in which the series yields all bits of an `f32` without tricks.
fn wide_turn(by: AngVector) -> Rotation {
    use std::f64::consts::{PI, TAU};
    let by = by.as_dvec3();
    let angle = by.length();
    // The remainder is exact.
    let half = 0.5 * angle % TAU;
    let (sin, cos) = sin_cos(if half > PI { half - TAU } else { half });
    let DVec3 { x, y, z } = by * (sin / angle);
    DQuat::from_xyzw(x, y, z, cos).as_quat()
}

/// Returns sine and cosine by power series, for an angle in [−π, π], with an error below 1e-9.
fn sin_cos(angle: f64) -> (f64, f64) {
    let squared = angle * angle;
    let (mut sin, mut cos) = (1.0, 1.0);
    for n in (1..=12).rev().map(|n| f64::from(2 * n)) {
        cos = 1.0 - squared * (1.0 / ((n - 1.0) * n)) * cos;
        sin = 1.0 - squared * (1.0 / (n * (n + 1.0))) * sin;
    }
    (angle * sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::lanes::LANES;
    use nalgebra::{UnitQuaternion, Vector3};

    fn turn_by(by: AngVector) -> Rotation {
        turns(Spins::new([by; LANES])).to_array()[0]
    }

    #[test]
    fn rotations_by_angles_of_any_size_are_exact_to_1e_7() {
        for i in 0..4_000u16 {
            let angle = 0.01 * f32::from(i);
            let by = AngVector::new(0.6, 0.0, -0.8) * angle;
            let exact = UnitQuaternion::new(Vector3::new(by.x, by.y, by.z).cast::<f64>());
            let [x, y, z, w] = turn_by(by).to_array().map(f64::from);
            for (ours, theirs) in [(x, exact.i), (y, exact.j), (z, exact.k), (w, exact.w)] {
                assert!(
                    (ours - theirs).abs() < 1e-7,
                    "{ours}, not {theirs}, at {angle}"
                );
            }
        }
        assert!(turn_by(AngVector::Y * 1e30).is_normalized());
        assert_eq!(turn_by(AngVector::ZERO), Rotation::IDENTITY);
    }
}
