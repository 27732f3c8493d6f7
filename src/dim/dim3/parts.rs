//! The parts of a pose and of a motion as numbers.

use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

/// Returns whether two poses are equal bit for bit. −0 differs from 0.
#[inline]
pub(crate) fn is_same(one: &Pose, other: &Pose) -> bool {
    let bits = |pose: &Pose| {
        let (translation, rotation) = (pose.translation.to_array(), pose.rotation.to_array());
        (translation.map(f32::to_bits), rotation.map(f32::to_bits))
    };
    bits(one) == bits(other)
}

/// Returns a pose with its rotation normalised to unit length, or `None` if that is impossible or the pose is not
/// finite.
///
/// A rotation that has unit length except for rounding is left unchanged, bit for bit.
pub(crate) fn normalized(pose: Pose) -> Option<Pose> {
    // It uses `f64`, in which the square of an `f32` cannot overflow.
    let rotation = pose.rotation.as_dquat();
    let length_squared = rotation.length_squared();
    if !pose.is_finite() || length_squared == 0.0 {
        return None;
    }
    if (length_squared - 1.0).abs() < 1e-5 {
        return Some(pose);
    }
    let rotation = rotation / length_squared.sqrt();
    Some(Pose::from_parts(pose.translation, rotation.as_quat()))
}

/// Returns the angle of a rotation, in radians. It uses the sine of half the angle, because that is exact for small
/// angles.
pub(crate) fn angle(rotation: Rotation) -> Real {
    2.0 * libm::asinf(rotation.xyz().length().min(1.0))
}

/// Limits an angular velocity to `max` radians per second.
#[inline]
pub(crate) fn capped_spin(spin: AngVector, max: Real) -> AngVector {
    spin.clamp_length_max(max)
}

/// Returns the point at `fraction` between two points. It uses `f64`, because far from the origin an `f32` has few
/// digits left.
pub(crate) fn lerp_in_f64(from: Vector, to: Vector, fraction: f64) -> Vector {
    from.as_dvec3().lerp(to.as_dvec3(), fraction).as_vec3()
}

#[cfg(feature = "checksum")]
pub(crate) fn rotation_to_array(rotation: Rotation) -> [Real; 4] {
    rotation.to_array()
}

#[cfg(feature = "checksum")]
pub(crate) fn spin_to_array(spin: AngVector) -> [Real; 3] {
    spin.to_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_keeps_unit_rotations_and_refuses_zero_and_nan() {
        let unit = Rotation::from_rotation_y(1.0);
        assert_eq!(
            normalized(Pose::from_rotation(unit)),
            Some(Pose::from_rotation(unit))
        );
        for scale in [1e-30, 0.5, 1.001, 1e30] {
            let pose = normalized(Pose::from_rotation(unit * scale)).unwrap();
            assert!(pose.rotation.abs_diff_eq(unit, 1e-6), "{scale}");
            assert!((pose.rotation.length() - 1.0).abs() < 1e-6, "{scale}");
        }
        for bad in [
            Rotation::from_array([0.0; 4]),
            Rotation::from_array([f32::NAN; 4]),
        ] {
            assert_eq!(normalized(Pose::from_rotation(bad)), None);
        }
    }
}
