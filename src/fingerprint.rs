//! A hash of the mathematics of this machine.

use std::hash::Hasher;
use std::hint::black_box;
use std::sync::OnceLock;

use twox_hash::XxHash3_64;

use crate::dim::{interpolate, rotation_to_array, spin_to_array, world_of_all_shapes};
use rapier::math::Real;

/// A hash of what the mathematics under a simulation gives in this program on this machine: if two programs have
/// the same, expect their runs to agree to the bit. Compare it before a match begins. With the feature `checksum`.
///
/// ```
/// # let theirs = evenstep::fingerprint();
/// if theirs != evenstep::fingerprint() {
///     eprintln!("the two machines will disagree: only one of them may compute the match");
/// }
/// ```
///
/// It differs between versions of Rapier, between builds with other features that change bits, and where the C
/// libraries of two platforms round in another way: for that, see [`portable_math`](crate::portable_math), with which
/// it is the same on every platform.
///
/// # What it holds
/// Some thousand values of each float function that Rapier gets from the C library, and a small world of every shape, of
/// joints with limits and motors and of a soft body, stepped for half a second. The same fingerprint is evidence, no
/// proof: [checksums](crate::Physics#checksums) while the match runs find the rest.
///
/// It is in the header of [saved states](crate::fingerprint_of) and of
/// [recordings](crate::recording::Recording::fingerprint).
///
/// # Cost
/// The first call takes some 20 ms, later ones nothing. The first state that is saved and the first recording call it:
/// where that would be seen, call it while the game loads.
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

/// Those that Rapier calls. A sine and a cosine of one number are one function of some C libraries: both ways.
#[expect(clippy::disallowed_methods, reason = "how they differ is the question")]
fn hash_float_functions(hasher: &mut XxHash3_64) {
    const SAMPLES: u16 = 4096;
    for i in 0..SAMPLES {
        // From -1 to 1.
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
