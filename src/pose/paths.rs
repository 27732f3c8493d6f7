//! The paths of four bodies from one state to the next, or beyond it. The centres of mass move along the paths, and the
//! bodies turn about them.

use rapier::dynamics::RigidBodyVelocity;
use rapier::math::{Pose, Real, Vector};

use crate::dim::{Blend, Floats, LANES, Rotations, Spins, Vectors, lanes_set_in, turns};

/// The position of a frame between two states, and the weights of the two, which are the same for all bodies.
pub(crate) struct Weights {
    /// The fraction of the last step, from 0 to 1.
    pub alpha: f32,
    /// How far ahead of the last state extrapolated bodies are, in seconds, or `None` for `alpha` of the last step.
    pub seconds_ahead: Option<f32>,
    pub blend: Blend,
    /// The blend at the fraction [`ease`] of `alpha`.
    eased: Blend,
}

impl Weights {
    /// Computes the weights of a frame, once for all bodies. `seconds_ahead` is how far ahead of the last state
    /// extrapolated bodies are displayed, or `None` for `alpha` of the last step.
    pub fn new(alpha: f32, seconds_ahead: Option<f32>) -> Self {
        Self {
            alpha,
            seconds_ahead,
            blend: Blend::new(alpha),
            // Only for a part of the rotation on a Hermite curve, which begins and ends with zero speed.
            eased: Blend::new(ease(alpha)),
        }
    }
}

/// How far four bodies move and turn in a time at constant velocities.
struct Travel {
    distance: Vectors,
    turn: Spins,
}

impl Travel {
    #[inline]
    fn new(velocities: [&RigidBodyVelocity<Real>; LANES], seconds: [f32; LANES]) -> Self {
        let seconds = Floats::new(seconds);
        Self {
            distance: Vectors::new(velocities.map(|it| it.linvel)) * seconds,
            turn: Spins::new(velocities.map(|it| it.angvel)) * seconds,
        }
    }

    /// Returns numbers that are zero if and only if a body neither moves nor turns.
    fn length_squared(&self) -> Floats {
        self.distance.length_squared() + self.turn.length_squared()
    }
}

/// Returns the poses `blended`, which are interpolated about the bodies' origins between the two `ends`, corrected so
/// that the points `centers` of the bodies move in straight lines.
#[inline]
pub(crate) fn about_centers(
    blended: &[Pose; LANES],
    ends: [&[Pose; LANES]; 2],
    centers: [Vector; LANES],
    alpha: f32,
) -> [Pose; LANES] {
    let center = Vectors::new(centers);
    let start = Rotations::of(ends[0]).rotate(center);
    let end = Rotations::of(ends[1]).rotate(center);
    let turned = Rotations::of(blended).rotate(center);
    // How far the blended poses have the centres off the straight lines. The offset is subtracted, not added:
    // subtracting zero leaves −0 as it is.
    let offset = (turned - (start - (start - end) * alpha)).to_array();
    std::array::from_fn(|i| {
        Pose::from_parts(blended[i].translation - offset[i], blended[i].rotation)
    })
}

/// Returns poses on curves that have the `velocities` of both `ends`, which are `dt` seconds apart. The points
/// `centers` of the bodies follow cubic Hermite splines.
#[inline]
pub(crate) fn hermite(
    ends: [&[Pose; LANES]; 2],
    velocities: [[&RigidBodyVelocity<Real>; LANES]; 2],
    centers: [Vector; LANES],
    dt: [f32; LANES],
    weights: &Weights,
) -> [Pose; LANES] {
    let [previous, current] = ends;
    // The whole step at the velocity of its start, and at that of its end.
    let [at_start, at_end] = velocities.map(|velocities| Travel::new(velocities, dt));
    let rotations = ends.map(Rotations::of);
    let rotation = hermite_rotation(rotations, [at_start.turn, at_end.turn], weights);
    let center = Vectors::new(centers);
    let start = Vectors::translations(previous) + rotations[0].rotate(center);
    let end = Vectors::translations(current) + rotations[1].rotate(center);
    let (t, remaining) = (weights.alpha, 1.0 - weights.alpha);
    // The Hermite basis: the two ends, and the distances that the velocities cover in the step as tangents.
    let center_at =
        start + (end - start) * ease(t) + at_start.distance * (t * remaining * remaining)
            - at_end.distance * (t * t * remaining);
    let mut poses = to_poses(center_at - rotation.rotate(center), rotation);

    // A body at rest is displayed at its pose, bit for bit.
    for i in zeros(at_start.length_squared() + at_end.length_squared()) {
        if previous[i] == current[i] {
            poses[i] = current[i];
        }
    }
    poses
}

/// Returns rotations that follow the first velocity, which fades out, and the second, which fades in. The remaining
/// difference is spread with zero speed at both ends. It is small even if the turn itself is large, so its shorter arc
/// is the right one. `turn_at_start` and `turn_at_end` are the turns of the whole step at the velocity of its start and
/// of its end.
fn hermite_rotation(
    [start, end]: [Rotations; 2],
    [turn_at_start, turn_at_end]: [Spins; 2],
    weights: &Weights,
) -> Rotations {
    // In the whole step, a velocity that fades linearly turns the body half as far as a constant one.
    let difference =
        turns(turn_at_end * -0.5) * end * start.inverse() * turns(turn_at_start * -0.5);
    let difference = difference
        .renormalized()
        .to_array()
        .map(Pose::from_rotation);
    let nothing = [Pose::IDENTITY; LANES];
    let part = Rotations::of(&weights.eased.up_to_four(&nothing, &difference));
    let t = weights.alpha;
    // The integrals from 0 to t of the factors 1 - t and t of the two velocities.
    let (fading_out, fading_in) = (t - 0.5 * t * t, 0.5 * t * t);
    (turns(turn_at_end * fading_in) * part * turns(turn_at_start * fading_out) * start)
        .renormalized()
}

/// Returns the poses of bodies that nothing touches, after or before a number of seconds. `centers` are their centres
/// of mass, in their own frames.
pub(crate) fn all_extrapolated(
    poses: &[Pose; LANES],
    velocities: [&RigidBodyVelocity<Real>; LANES],
    centers: [Vector; LANES],
    seconds: [f32; LANES],
) -> [Pose; LANES] {
    let travel = Travel::new(velocities, seconds);
    let (center, start) = (Vectors::new(centers), Rotations::of(poses));
    let rotation = (turns(travel.turn) * start).renormalized();
    // The origin of a body turns about its centre of mass.
    let swing = start.rotate(center) - rotation.rotate(center);
    let translation = Vectors::translations(poses) + (travel.distance + swing);
    let mut extrapolated = to_poses(translation, rotation);
    // A body at rest is displayed at its pose, bit for bit.
    for i in zeros(travel.length_squared()) {
        extrapolated[i] = poses[i];
    }
    extrapolated
}

fn to_poses(translations: Vectors, rotations: Rotations) -> [Pose; LANES] {
    let (translations, rotations) = (translations.to_array(), rotations.to_array());
    std::array::from_fn(|i| Pose::from_parts(translations[i], rotations[i]))
}

/// Returns the lanes whose number is zero.
fn zeros(numbers: Floats) -> impl Iterator<Item = usize> {
    lanes_set_in(numbers.simd_eq(0.0).to_bitmask())
}

/// Returns the smooth step from 0 to 1, with zero speed at both ends.
fn ease(t: f32) -> f32 {
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenes::testing::{angle_between, pose, spin, vector};

    fn extrapolated(
        pose: &Pose,
        velocity: &RigidBodyVelocity<Real>,
        center: Vector,
        seconds: f32,
    ) -> Pose {
        let (poses, velocities) = ([*pose; LANES], [velocity; LANES]);
        all_extrapolated(&poses, velocities, [center; LANES], [seconds; LANES])[0]
    }

    #[test]
    fn extrapolating_forward_and_back_returns_to_the_start_pose() {
        let pose = pose(vector(1.0, 2.0, 3.0), spin(0.3, -1.0, 0.5));
        let velocity = RigidBodyVelocity::new(vector(3.0, 0.0, -2.0), spin(5.0, 4.0, 0.0));
        let center = vector(0.2, 0.0, -0.4);
        let there = extrapolated(&pose, &velocity, center, 0.25);
        let moved = there * center - pose * center;
        assert!((moved - velocity.linvel * 0.25).length() < 1e-6);
        let back = extrapolated(&there, &velocity, center, -0.25);
        assert!((back.translation - pose.translation).length() < 1e-6);
        assert!(angle_between(back.rotation, pose.rotation) < 1e-6);
        let at_rest = RigidBodyVelocity::default();
        assert_eq!(extrapolated(&pose, &at_rest, center, 0.25), pose);
    }
}
