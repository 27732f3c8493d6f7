//! The parts of a pose and of a motion as numbers.

use rapier::glamx::DVec2;
use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

/// Returns whether two poses are equal bit for bit. −0 differs from 0.
#[inline]
pub(crate) fn is_same(one: &Pose, other: &Pose) -> bool {
    let bits = |pose: &Pose| {
        let (translation, rotation) = (pose.translation, pose.rotation);
        [translation.x, translation.y, rotation.re, rotation.im].map(f32::to_bits)
    };
    bits(one) == bits(other)
}

/// Returns a pose with its rotation normalised to unit length, or `None` if that is impossible or the pose is not
/// finite.
///
/// A rotation that has unit length except for rounding is left unchanged, bit for bit.
pub(crate) fn normalized(pose: Pose) -> Option<Pose> {
    // It uses `f64`, in which the square of an `f32` cannot overflow.
    let rotation = DVec2::new(pose.rotation.re.into(), pose.rotation.im.into());
    let length_squared = rotation.length_squared();
    if !pose.is_finite() || length_squared == 0.0 {
        return None;
    }
    if (length_squared - 1.0).abs() < 1e-5 {
        return Some(pose);
    }
    let Vector { x, y } = (rotation / length_squared.sqrt()).as_vec2();
    let rotation = Rotation::from_cos_sin_unchecked(x, y);
    Some(Pose::from_parts(pose.translation, rotation))
}

/// Returns the angle of a rotation, in radians.
pub(crate) fn angle(rotation: Rotation) -> Real {
    libm::atan2f(rotation.im, rotation.re).abs()
}

/// Limits an angular velocity to `max` radians per second.
#[inline]
pub(crate) fn capped_spin(spin: AngVector, max: Real) -> AngVector {
    spin.clamp(-max, max)
}

/// Returns the point at `fraction` between two points. It uses `f64`, because far from the origin an `f32` has few
/// digits left.
pub(crate) fn lerp_in_f64(from: Vector, to: Vector, fraction: f64) -> Vector {
    from.as_dvec2().lerp(to.as_dvec2(), fraction).as_vec2()
}

#[cfg(feature = "checksum")]
pub(crate) fn rotation_to_array(rotation: Rotation) -> [Real; 2] {
    [rotation.re, rotation.im]
}

#[cfg(feature = "checksum")]
pub(crate) fn spin_to_array(spin: AngVector) -> [Real; 1] {
    [spin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_keeps_unit_rotations_and_refuses_zero_and_nan() {
        let scaled = |scale: f32| {
            let unit = Rotation::from_angle(1.0);
            Rotation::from_cos_sin_unchecked(unit.re * scale, unit.im * scale)
        };
        let unit = Pose::from_rotation(scaled(1.0));
        assert_eq!(normalized(unit), Some(unit));
        for scale in [1e-30, 0.5, 1.001, 1e30] {
            let pose = normalized(Pose::from_rotation(scaled(scale))).unwrap();
            assert!(
                pose.rotation.angle_between(&unit.rotation).abs() < 1e-6,
                "{scale}"
            );
            assert!((pose.rotation.length() - 1.0).abs() < 1e-6, "{scale}");
        }
        for bad in [0.0, f32::NAN] {
            assert_eq!(normalized(Pose::from_rotation(scaled(bad))), None);
        }
    }

    #[test]
    fn the_angle_of_a_rotation_is_unsigned_and_at_most_half_a_turn() {
        for (turn, expected) in [
            (0.5, 0.5),
            (-0.5, 0.5),
            (3.0, 3.0),
            (4.0, std::f32::consts::TAU - 4.0),
        ] {
            assert!(
                (angle(Rotation::from_angle(turn)) - expected).abs() < 1e-6,
                "{turn}"
            );
        }
    }
}
