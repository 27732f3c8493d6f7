//! A hash of this machine's float results.

use std::hash::Hasher;
use std::hint::black_box;
use std::sync::OnceLock;

use twox_hash::XxHash3_64;

use crate::dim::{interpolate, rotation_to_array, spin_to_array, world_of_all_shapes};
use rapier::math::Real;

/// Returns a hash of the float results on which a simulation depends, in this program on this machine, to compare
/// before a match.
///
/// If two programs have the same fingerprint, expect their runs to agree bit for bit. It differs between versions of
/// Rapier, between builds with different features that change bits, and between platforms whose C libraries round
/// differently. To make it the same on every platform, use [`portable_math`](crate::portable_math). Requires the
/// feature `checksum`.
///
/// The hash covers 4,096 values of each float function that Rapier gets from the C library, and half a second of a
/// small world with every shape, joints with limits and motors, and a soft body. Equal fingerprints are evidence, not
/// proof. [Checksums](crate::Physics#checksums) during the match find the remaining differences.
///
/// The headers of saved states and recordings contain the fingerprint.
///
/// # Cost
/// The first call takes about 20 ms, and later calls cost nothing. Saving a state and recording call this function too.
/// To avoid a hitch, call it while the game loads.
#[must_use]
pub fn fingerprint() -> u64 {
    static FINGERPRINT: OnceLock<u64> = OnceLock::new();
    #[cfg(feature = "parallel")]
    let compute = || {
        let result = crate::step::on_one_thread(compute);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    *FINGERPRINT.get_or_init(compute)
}

fn compute() -> u64 {
    let mut hasher = XxHash3_64::new();
    hash_float_functions(&mut hasher);
    hash_world(&mut hasher);
    hasher.finish()
}

/// Hashes the functions that Rapier calls. Some C libraries compute the sine and cosine of one number in a single
/// function, so both forms are included.
#[expect(
    clippy::disallowed_methods,
    reason = "their differences are what is measured"
)]
fn hash_float_functions(hasher: &mut XxHash3_64) {
    const SAMPLES: u16 = 4096;
    for i in 0..SAMPLES {
        // `x` runs from -1 to 1.
        let x = black_box(f32::from(i).mul_add(2.0 / f32::from(SAMPLES), -1.0));
        let turn = black_box(x * std::f32::consts::TAU);
        let positive = black_box(1.5 + x);
        let both = black_box(turn * 0.7).sin_cos();
        hash(
            hasher,
            [x.acos(), x.asin(), turn.cos(), black_box(turn).sin()],
        );
        hash(hasher, [both.0, both.1, (x * 8.0).exp()]);
        hash(hasher, [positive.log2(), positive.powf(1.0 / 3.0)]);
    }
}

fn hash_world(hasher: &mut XxHash3_64) {
    const STEPS: u8 = 30;
    let mut world = world_of_all_shapes();
    for _ in 0..STEPS {
        world.step();
        for (_, body) in world.bodies.iter() {
            let between = interpolate(body.position(), body.next_position(), 0.3);
            for pose in [body.position(), &between] {
                hash(hasher, pose.translation.to_array());
                hash(hasher, rotation_to_array(pose.rotation));
            }
            hash(hasher, spin_to_array(body.angvel()));
        }
    }
}

fn hash<const N: usize>(hasher: &mut XxHash3_64, numbers: [Real; N]) {
    for number in numbers {
        hasher.write(&number.to_bits().to_le_bytes());
    }
}
