//! Interpolation of poses: pure functions, without storage and without time.

use std::ops::{Add, Mul, Sub};

use wide::f32x4;

use rapier::math::Pose;

use super::dimension::blend::{LEFT_OUT, NEAR, NEAR_TERMS, blend, distances_squared, wide_slerp};

/// The number of pairs whose distances are computed before the first pair is blended, so that the processor waits for
/// memory once for all of them. They stay in the L1 cache.
const BLOCK: usize = 32;

/// Interpolation at one alpha: the weights of a slerp for angles up to [`NEAR`], as power series in 2 y, the square of
/// the distance between the rotations as points of the unit sphere or circle.
///
/// ```text
/// y = 1 − cos θ    sin(αθ) / sin θ = Σ c_i(α) yⁱ    c_0 = α    c_i = c_(i−1) (i² − α²) / (i (2i + 1))
/// ```
pub(crate) struct Blend {
    alpha: f32,
    /// The series of the end's weight, sin(αθ) / sin θ.
    end_weight: [f32; NEAR_TERMS],
    /// The series of the excess: the sum of both weights minus one, by which the start is scaled in addition to itself.
    /// Its first term is zero and omitted, because the weights of a turn by zero add up to one.
    excess: [f32; NEAR_TERMS - 1],
}

impl Blend {
    /// Prepares a slerp at `alpha`: computes the power series of both weights, once for all pairs.
    #[inline]
    pub fn new(alpha: f32) -> Self {
        let (start_weight, end_weight) = (terms(1.0 - alpha), terms(alpha));
        Self {
            alpha,
            end_weight,
            // The excess is the sum of both weights minus one. Its first term, (1 − α) + α − 1, is zero and omitted.
            excess: std::array::from_fn(|i| start_weight[i + 1] + end_weight[i + 1]),
        }
    }

    #[inline]
    pub fn one(&self, previous: &Pose, current: &Pose) -> Pose {
        self.up_to_four(&[*previous], &[*current])[0]
    }

    /// Interpolates any number of pairs, from `previous[i]` and `current[i]` to `out[i]`.
    pub fn all(&self, previous: &[Pose], current: &[Pose], out: &mut [Pose]) {
        let lengths = [previous.len(), current.len(), out.len()];
        assert!(
            lengths == [out.len(); 3],
            "slices of {lengths:?} poses: pass as many previous poses as current poses and outputs"
        );
        // A block stays in the L1 cache while its poses are read twice.
        let blocks = previous.chunks(BLOCK).zip(current.chunks(BLOCK));
        for ((previous, current), out) in blocks.zip(out.chunks_mut(BLOCK)) {
            self.block(previous, current, out);
        }
    }

    /// Interpolates up to [`BLOCK`] pairs, four at a time. The distances between all their rotations, on which the
    /// weights depend, come first, so that the processor waits for memory once.
    fn block(&self, previous: &[Pose], current: &[Pose], out: &mut [Pose]) {
        let (previous, last_previous) = previous.as_chunks::<LANES>();
        let (current, last_current) = current.as_chunks::<LANES>();
        let (out, last_out) = out.as_chunks_mut::<LANES>();
        let fours = || previous.iter().zip(current);
        let mut distances = [Floats::ZERO; BLOCK / LANES];
        for ((previous, current), distances) in fours().zip(&mut distances) {
            *distances = distances_squared(previous, current);
        }
        for (((previous, current), distances), out) in fours().zip(distances).zip(out) {
            self.with_distances(previous, current, distances, out);
        }
        for ((previous, current), out) in last_previous.iter().zip(last_current).zip(last_out) {
            *out = self.one(previous, current);
        }
    }

    #[inline]
    pub fn up_to_four<const N: usize>(
        &self,
        previous: &[Pose; N],
        current: &[Pose; N],
    ) -> [Pose; N] {
        let (mut out, distances) = (*previous, distances_squared(previous, current));
        self.with_distances(previous, current, distances, &mut out);
        out
    }

    /// Interpolates up to four pairs. `distances` are the squared distances between their rotations. All the arithmetic
    /// is here: the same operations in the same order for each pair, whatever its position in a batch.
    #[expect(
        clippy::inline_always,
        reason = "a call for each four poses takes an eighth of a frame without a step"
    )]
    #[inline(always)]
    fn with_distances<const N: usize>(
        &self,
        previous: &[Pose; N],
        current: &[Pose; N],
        distances: Floats,
        out: &mut [Pose; N],
    ) {
        // The result at 0 and 1 is exactly one of the poses, which the series would round.
        if self.alpha >= 1.0 || self.alpha <= 0.0 {
            *out = *if self.alpha > 0.0 { current } else { previous };
            return;
        }
        let end_weight = polynomial(&self.end_weight, distances);
        // The two weights add up to one plus this excess. Its series begins with the term of the first power.
        let excess = distances * polynomial(&self.excess, distances);
        let weights = [end_weight, excess].map(Floats::to_array);
        for i in 0..N {
            let weights = weights.map(|weights| weights[i]);
            out[i] = blend(&previous[i], &current[i], weights, self.alpha);
        }
        // The series is not exact for pairs that are farther apart.
        let wide_lanes = distances.simd_gt(NEAR).to_bitmask();
        for i in lanes_set_in(wide_lanes).filter(|i| *i < N) {
            out[i].rotation = wide_slerp(previous[i].rotation, current[i].rotation, self.alpha);
        }
    }
}

/// Returns whether the body turns by at most 45 degrees, so that the series is exact enough.
pub(crate) fn is_near(previous: &Pose, current: &Pose) -> bool {
    distances_squared(&[*previous], &[*current]).to_array()[0] <= NEAR
}

/// Returns the coefficients of the weight sin(αθ) / sin θ as a power series in the squared distance of the rotations,
/// 2 (1 − cos θ). Those of [`Blend`] belong to powers of 1 − cos θ, so each power has a factor of 0.5.
fn terms(alpha: f32) -> [f32; NEAR_TERMS] {
    let mut terms = [alpha; NEAR_TERMS];
    // `i` is `n` as a float.
    let mut i = 1.0;
    for n in 1..NEAR_TERMS {
        terms[n] = terms[n - 1] * 0.5 * coefficient_ratio(i, alpha);
        i += 1.0;
    }
    // The last term also stands for the first omitted one, as if the variable were always `LEFT_OUT`. This removes most
    // of the error.
    terms[NEAR_TERMS - 1] *= 1.0 + 0.5 * coefficient_ratio(i, alpha) * LEFT_OUT;
    terms
}

/// Returns the quotient of two consecutive coefficients of [`Blend`], `c_i / c_(i−1)`.
fn coefficient_ratio(i: f32, alpha: f32) -> f32 {
    (i * i - alpha * alpha) / (i * (2.0 * i + 1.0))
}

/// Returns the polynomial with the coefficients `terms`, the constant one first, at `x`, by Horner's method.
#[inline]
fn polynomial<const N: usize>(terms: &[f32; N], x: Floats) -> Floats {
    let (last, others) = terms.split_last().expect("there are terms");
    let last = Floats::splat(*last);
    others.iter().rev().fold(last, |sum, term| sum * x + *term)
}

pub(crate) const LANES: usize = 4;

pub(crate) type Floats = f32x4;

/// Four vectors, stored component by component.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<const COMPONENTS: usize>(pub(super) [Floats; COMPONENTS]);

/// Returns the indices of the lanes whose bit is set.
pub(crate) fn lanes_set_in(bits: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |i| bits >> i & 1 == 1)
}

impl<const COMPONENTS: usize> Lanes<COMPONENTS> {
    #[inline]
    pub fn length_squared(self) -> Floats {
        self.dot(self)
    }

    #[inline]
    pub fn dot(self, other: Self) -> Floats {
        let mut sum = self.0[0] * other.0[0];
        for i in 1..COMPONENTS {
            sum += self.0[i] * other.0[i];
        }
        sum
    }
}

impl<const COMPONENTS: usize> Add for Lanes<COMPONENTS> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl<const COMPONENTS: usize> Sub for Lanes<COMPONENTS> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl<const COMPONENTS: usize, Factor: Copy> Mul<Factor> for Lanes<COMPONENTS>
where
    Floats: Mul<Factor, Output = Floats>,
{
    type Output = Self;

    #[inline]
    fn mul(self, by: Factor) -> Self {
        Self(self.0.map(|component| component * by))
    }
}

#[cfg(test)]
mod tests {
    use super::super::dimension::blend::interpolate;
    use super::super::dimension::parts::{BLEND_WGSL, PoseFloats, pose_floats};
    use super::*;
    use scenes::testing::{pose, spin, vector};

    const HALF: usize = size_of::<PoseFloats>() / size_of::<f32>() / 2;

    fn ratio(i: f32, alpha: f32) -> f32 {
        0.5 * (i * i - alpha * alpha) / (i * (2.0 * i + 1.0))
    }

    fn blended(previous: PoseFloats, current: PoseFloats, alpha: f32) -> PoseFloats {
        if alpha >= 1.0 {
            return current;
        }
        let back = |i: usize| previous[i] - current[i];
        let apart: f32 = (0..HALF).map(|i| back(i) * back(i)).sum();
        let left = 1.0 - alpha;
        let (mut term, mut end_weight, mut excess) = ([left, alpha], alpha, 0.0);
        for n in 1..NEAR_TERMS {
            let i = f32::from(u8::try_from(n).unwrap());
            term[0] *= apart * ratio(i, left);
            term[1] *= apart * ratio(i, alpha);
            if n == NEAR_TERMS - 1 {
                term[0] *= 1.0 + LEFT_OUT * ratio(i + 1.0, left);
                term[1] *= 1.0 + LEFT_OUT * ratio(i + 1.0, alpha);
            }
            end_weight += term[1];
            excess += term[0] + term[1];
        }
        std::array::from_fn(|i| {
            if i < HALF {
                previous[i] - (back(i) * end_weight - previous[i] * excess)
            } else {
                previous[i] - back(i) * alpha
            }
        })
    }

    #[test]
    fn the_shader_formula_matches_interpolation_on_the_cpu() {
        let mut largest = 0.0_f32;
        for turns in 0..=50_u8 {
            let turn = f32::from(turns) / 50.0 * std::f32::consts::FRAC_PI_4;
            let start = pose(vector(1.0, -2.0, 3.0), spin(0.7, -1.2, 2.5));
            let by = pose(vector(1.5, -1.0, 2.0), spin(0.0, 0.0, turn));
            let end = Pose::from_parts(by.translation, by.rotation * start.rotation);
            assert!(is_near(&start, &end));
            for alphas in 0..=20_u8 {
                let alpha = f32::from(alphas) / 20.0;
                let blend = blended(pose_floats(&start), pose_floats(&end), alpha);
                let exact = pose_floats(&interpolate(&start, &end, alpha));
                for (one, other) in blend[..HALF].iter().zip(exact) {
                    largest = largest.max((one - other).abs());
                }
                assert_eq!(blend[HALF..], exact[HALF..]);
            }
        }
        // An error of the angle changes a component by half as much in 3D, and by as much in 2D.
        assert!(largest < 1.5e-7, "{largest}");
    }

    #[test]
    fn the_shader_has_the_same_constants_as_the_crate() {
        let terms = format!("EVENSTEP_TERMS = {NEAR_TERMS};");
        assert!(BLEND_WGSL.contains(&terms));
        let mut lines = BLEND_WGSL.lines();
        let line = lines.find_map(|line| line.strip_prefix("const EVENSTEP_LEFT_OUT = "));
        let factors = line.unwrap().trim_end_matches(';').split(" * ");
        let left_out: f32 = factors.map(|it| it.parse::<f32>().unwrap()).product();
        assert!((left_out - LEFT_OUT).abs() < 1e-9);
    }
}
