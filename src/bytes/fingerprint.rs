//! A hash of what differs between machines.

use std::hash::Hasher;
use std::hint::black_box;
use std::sync::OnceLock;

use twox_hash::XxHash3_64;

use rapier::math::{Real, SIMD_WIDTH};

/// Returns a hash of what may differ between two machines, to compare before a match.
///
/// It covers the version of Rapier, its features `enhanced-determinism` and `simd8`, and 4,096 values of each float
/// function except `atan2` that Rapier gets from the C library, or from [`portable_math`](crate::portable_math). Equal
/// fingerprints are evidence, not proof: also compare [checksums](crate::Physics#checksums) during the match.
#[must_use]
pub fn fingerprint() -> u64 {
    static FINGERPRINT: OnceLock<u64> = OnceLock::new();
    *FINGERPRINT.get_or_init(|| {
        let mut hasher = XxHash3_64::new();
        hasher.write(rapier::VERSION.as_bytes());
        hasher.write(&[u8::from(cfg!(feature = "enhanced-determinism"))]);
        hasher.write(&(SIMD_WIDTH as u64).to_le_bytes());
        hash_float_functions(&mut hasher);
        hasher.finish()
    })
}

/// Hashes results of the float functions that Rapier calls, which differ between C libraries.
#[expect(
    clippy::disallowed_methods,
    reason = "their differences are what is measured"
)]
fn hash_float_functions(hasher: &mut XxHash3_64) {
    const SAMPLES: u16 = 4096;
    for i in 0..SAMPLES {
        // `x` runs from -1 to 1. `black_box` keeps the compiler from computing results itself.
        let x = black_box(f32::from(i).mul_add(2.0 / f32::from(SAMPLES), -1.0));
        let turn = black_box(x * std::f32::consts::TAU);
        let positive = black_box(1.5 + x);
        // Some libraries compute the sine and cosine of one number in a single function, whose results may differ from
        // those of `sin` and `cos`. The compiler may call it for `sin_cos`, but not for `turn`, which the second
        // `black_box` makes look like two numbers.
        let (sin, cos) = black_box(turn * 0.7).sin_cos();
        hash(
            hasher,
            [x.acos(), x.asin(), turn.cos(), black_box(turn).sin()],
        );
        // `atan2` is left out. C libraries round it in different ways, but Rapier calls it only for a few joints, for
        // cones, and in 2D for soft bodies. Machines that agree in all else would have different fingerprints.
        hash(hasher, [sin, cos, (x * 8.0).exp()]);
        hash(hasher, [positive.log2(), positive.powf(1.0 / 3.0)]);
    }
}

/// Hashes the bits of these numbers.
fn hash<const N: usize>(hasher: &mut XxHash3_64, numbers: [Real; N]) {
    for number in numbers {
        hasher.write(&number.to_bits().to_le_bytes());
    }
}
