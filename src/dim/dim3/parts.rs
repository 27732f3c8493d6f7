//! The parts of a pose and of a motion, and what they are in numbers.

use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

/// Whether two poses are equal to the bit: −0 is another number than 0.
#[inline]
pub(crate) fn is_same(one: &Pose, other: &Pose) -> bool {
    let bits = |pose: &Pose| {
        let (translation, rotation) = (pose.translation.to_array(), pose.rotation.to_array());
        (translation.map(f32::to_bits), rotation.map(f32::to_bits))
    };
    bits(one) == bits(other)
}

/// A pose whose rotation has unit length; `None` if it has none, or is not finite.
///
/// A rotation that is of unit length but for rounding is left as it is, to the bit.
pub(crate) fn normalized(pose: Pose) -> Option<Pose> {
    // In f64, where the square of no f32 overflows.
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

/// How far a rotation turns, in radians: by the sine of its half, which small angles need.
pub(crate) fn angle(rotation: Rotation) -> Real {
    2.0 * libm::asinf(rotation.xyz().length().min(1.0))
}

/// An angular velocity of at most `max` radians a second.
#[inline]
pub(crate) fn capped_spin(spin: AngVector, max: Real) -> AngVector {
    spin.clamp_length_max(max)
}

/// The point at `fraction` of the way. In f64 as it is added to a position, which may have few digits left for it.
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
    fn only_a_rotation_off_unit_length_is_changed() {
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
