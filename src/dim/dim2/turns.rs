//! Rotations from angles, by power series.

use rapier::math::{AngVector, Rotation};

use crate::dim::lanes::{Floats, Lanes, chosen};

use super::lanes::{Rotations, Spins};

/// The square of the angle up to which a few terms of the series are enough. The angle is 45 degrees, the most that
/// Rapier lets a body turn in a step.
const NEAR_TURN: f32 = 0.617;

/// Returns the rotations by angles of any size, in radians.
///
/// It uses the power series of sine and cosine, whose first omitted term is below 3e-8.
pub(crate) fn turns(by: Spins) -> Rotations {
    let Lanes([angle]) = by;
    let squared = angle * angle;
    let series = |terms: [f32; 5]| {
        let terms = terms.into_iter().rev();
        terms.fold(Floats::ZERO, |sum, term| sum * squared + term)
    };
    let sinc = series([
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5_040.0,
        1.0 / 362_880.0,
    ]);
    let turns = Rotations {
        re: series([1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0]),
        im: angle * sinc,
    };
    match squared.simd_gt(NEAR_TURN).to_bitmask() {
        0 => turns,
        wide => wide_turns(angle, turns, wide),
    }
}

#[cold]
fn wide_turns(angles: Floats, turns: Rotations, wide: u32) -> Rotations {
    let (angles, mut turns) = (angles.to_array(), turns.to_array());
    for i in chosen(wide) {
        turns[i] = wide_turn(angles[i]);
    }
    Rotations::new(turns)
}

#[expect(clippy::cast_possible_truncation, reason = "a rotation is in f32")]
fn wide_turn(angle: AngVector) -> Rotation {
    let (sin, cos) = libm::sincos(f64::from(angle));
    Rotation::from_cos_sin_unchecked(cos as f32, sin as f32)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compared within a tolerance")]
mod tests {
    use super::*;
    use crate::dim::lanes::LANES;

    fn turn_by(angle: AngVector) -> Rotation {
        turns(Spins::new([angle; LANES])).to_array()[0]
    }

    #[test]
    fn rotations_by_angles_of_any_size_are_exact_to_1e_7() {
        for i in -4_000..4_000i16 {
            let angle = 0.01 * f32::from(i);
            let turn = turn_by(angle);
            let (sin, cos) = f64::from(angle).sin_cos();
            assert!(
                (f64::from(turn.im) - sin).abs() < 1e-7,
                "{turn:?} at {angle}"
            );
            assert!(
                (f64::from(turn.re) - cos).abs() < 1e-7,
                "{turn:?} at {angle}"
            );
        }
        assert!(turn_by(1e30).is_normalized());
        assert_eq!(turn_by(0.0), Rotation::IDENTITY);
    }

    #[test]
    fn each_of_four_lanes_turns_by_its_own_angle() {
        let angles = [0.1, -3.0, 0.7, 40.0];
        let all = turns(Spins::new(angles)).to_array();
        assert_eq!(all, angles.map(turn_by));
    }
}
