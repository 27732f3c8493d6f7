//! The paths of four bodies from one state to the next, or beyond it. The centres of mass move along the paths, and the
//! bodies turn about them.

use rapier::dynamics::RigidBodyVelocity;
use rapier::math::{Pose, Real, Vector};

use crate::dim::{Blend, Floats, LANES, Rotations, Spins, Vectors, chosen, turns};

/// The position of a frame between two states, and the weights of the two, which are the same for all bodies.
pub(crate) struct Weights {
    pub alpha: f32,
    /// How far ahead of the last state extrapolated bodies are, in seconds, or `None` for `alpha` of the last step.
    pub lead: Option<f32>,
    pub blend: Blend,
    eased: Blend,
}

impl Weights {
    pub fn new(alpha: f32, lead: Option<f32>) -> Self {
        Self {
            alpha,
            lead,
            blend: Blend::new(alpha),
            eased: Blend::new(ease(alpha)),
        }
    }
}

struct Way {
    moved: Vectors,
    turned: Spins,
}

impl Way {
    #[inline]
    fn new(velocities: [&RigidBodyVelocity<Real>; LANES], seconds: [f32; LANES]) -> Self {
        let seconds = Floats::new(seconds);
        Self {
            moved: Vectors::new(velocities.map(|it| it.linvel)) * seconds,
            turned: Spins::new(velocities.map(|it| it.angvel)) * seconds,
        }
    }

    fn length_squared(&self) -> Floats {
        self.moved.length_squared() + self.turned.length_squared()
    }
}

/// Returns `plain`, which is interpolated about the bodies' origins, corrected so that `centers` move in straight
/// lines.
#[inline]
pub(crate) fn about_centers(
    plain: &[Pose; LANES],
    ends: [&[Pose; LANES]; 2],
    centers: [Vector; LANES],
    alpha: f32,
) -> [Pose; LANES] {
    let center = Vectors::new(centers);
    let start = Rotations::of(ends[0]).rotate(center);
    let end = Rotations::of(ends[1]).rotate(center);
    let shown = Rotations::of(plain).rotate(center);
    // The offset is subtracted, not added: subtracting zero leaves −0 as it is.
    let off = (shown - (start - (start - end) * alpha)).to_array();
    std::array::from_fn(|i| Pose::from_parts(plain[i].translation - off[i], plain[i].rotation))
}

/// Returns poses on curves that have the `velocities` of both ends, which are `dt` seconds apart.
#[inline]
pub(crate) fn hermite(
    ends: [&[Pose; LANES]; 2],
    velocities: [[&RigidBodyVelocity<Real>; LANES]; 2],
    centers: [Vector; LANES],
    dt: [f32; LANES],
    weights: &Weights,
) -> [Pose; LANES] {
    let [previous, current] = ends;
    let [before, after] = velocities.map(|velocities| Way::new(velocities, dt));
    let turned = ends.map(Rotations::of);
    let rotation = hermite_rotation(turned, [before.turned, after.turned], weights);
    let center = Vectors::new(centers);
    let start = Vectors::translations(previous) + turned[0].rotate(center);
    let end = Vectors::translations(current) + turned[1].rotate(center);
    let (t, left) = (weights.alpha, 1.0 - weights.alpha);
    let (v, w) = (before.moved, after.moved);
    let center_at = start + (end - start) * ease(t) + v * (t * left * left) - w * (t * t * left);
    let mut poses = to_poses(center_at - rotation.rotate(center), rotation);

    // A body at rest is displayed at its pose, bit for bit.
    for i in zeros(before.length_squared() + after.length_squared()) {
        if previous[i] == current[i] {
            poses[i] = current[i];
        }
    }
    poses
}

/// Turns by the first velocity, which fades out, and by the second, which fades in. The remaining difference is spread
/// with zero speed at both ends. It is small even if the turn itself is large, so its shorter arc is the right one.
fn hermite_rotation(
    [start, end]: [Rotations; 2],
    [v, w]: [Spins; 2],
    weights: &Weights,
) -> Rotations {
    let missing = turns(w * -0.5) * end * start.inverse() * turns(v * -0.5);
    let missing = missing.renormalized().to_array().map(Pose::from_rotation);
    let nothing = [Pose::IDENTITY; LANES];
    let part = Rotations::of(&weights.eased.up_to_four(&nothing, &missing));
    let t = weights.alpha;
    let (of_v, of_w) = (t - 0.5 * t * t, 0.5 * t * t);
    (turns(w * of_w) * part * turns(v * of_v) * start).renormalized()
}

/// Returns the poses of bodies that nothing touches, after or before a number of seconds. `centers` are their centres
/// of mass, in their own frames.
pub(crate) fn all_extrapolated(
    poses: &[Pose; LANES],
    velocities: [&RigidBodyVelocity<Real>; LANES],
    centers: [Vector; LANES],
    seconds: [f32; LANES],
) -> [Pose; LANES] {
    let way = Way::new(velocities, seconds);
    let (center, before) = (Vectors::new(centers), Rotations::of(poses));
    let rotation = (turns(way.turned) * before).renormalized();
    let swing = before.rotate(center) - rotation.rotate(center);
    let mut moved = to_poses(Vectors::translations(poses) + (way.moved + swing), rotation);
    for i in zeros(way.length_squared()) {
        moved[i] = poses[i];
    }
    moved
}

fn to_poses(translations: Vectors, rotations: Rotations) -> [Pose; LANES] {
    let (translations, rotations) = (translations.to_array(), rotations.to_array());
    std::array::from_fn(|i| Pose::from_parts(translations[i], rotations[i]))
}

fn zeros(numbers: Floats) -> impl Iterator<Item = usize> {
    chosen(numbers.simd_eq(0.0).to_bitmask())
}

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
