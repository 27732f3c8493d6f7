//! A whole world as one number.

use super::testing::{rotation_numbers, spin_numbers};
use evenstep::rapier::pipeline::PhysicsWorld;

/// Returns a hash of every bit of the state of every body (FNV-1a). Any NaN counts as equal to any other: nothing that
/// a body does depends on the sign of a NaN, and saved states have only one.
pub fn hash(world: &PhysicsWorld) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (handle, body) in world.bodies.iter() {
        let pose = body.position();
        let numbers = pose
            .translation
            .to_array()
            .into_iter()
            .chain(rotation_numbers(pose.rotation))
            .chain(body.linvel().to_array())
            .chain(spin_numbers(body.angvel()));
        let (index, generation) = handle.into_raw_parts();
        let words = [index, generation, body.is_sleeping().into()];
        for word in words.into_iter().chain(numbers.map(bits)) {
            hash = (hash ^ u64::from(word)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

fn bits(number: f32) -> u32 {
    if number.is_nan() { f32::NAN } else { number }.to_bits()
}
