//! A hash that is equal if two runs are equal bit for bit.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::dim::{rotation_to_array, spin_to_array};
use crate::key::BodyKey;
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::Real;

use super::Physics;

/// # Checksums
///
/// Machines that run the same steps exchange a checksum every few ticks. The hash is XXH3 with 64 bits.
impl Physics {
    /// Returns a hash of the tick, the simulated time and all bodies, even those without a key: their handles, types,
    /// poses, velocities, forces set through Rapier, sleep timers, and whether they are enabled and asleep.
    ///
    /// Colliders, joints, contacts, damping and mass change it once they change a motion. The call costs about 15 ns
    /// per body.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let mut hasher = XxHash3_64::with_seed(0);
        hasher.write(&self.tick().to_le_bytes());
        hasher.write(&self.exact_time().units().to_le_bytes());
        for (handle, body) in self.rapier().bodies.iter() {
            write_body(&mut hasher, handle, body);
        }
        hasher.finish()
    }

    /// Returns a hash of one body, as in [`checksum`](Self::checksum), or `None` if it was removed.
    #[must_use]
    pub fn body_checksum(&self, key: BodyKey) -> Option<u64> {
        let mut hasher = XxHash3_64::with_seed(0);
        write_body(&mut hasher, self.handle(key)?, self.body(key)?);
        Some(hasher.finish())
    }
}

/// Hashes a body: its handle, type, poses, velocities, forces and sleep timer, and whether it is enabled and asleep.
fn write_body(hasher: &mut XxHash3_64, handle: RigidBodyHandle, body: &RigidBody) {
    let mut bytes = Bytes {
        // A 3D body takes 119 bytes.
        bytes: [0; 128],
        len: 0,
    };
    let (index, generation) = handle.into_raw_parts();
    bytes.push(index.to_le_bytes());
    bytes.push(generation.to_le_bytes());
    let kind = body.body_type() as u8;
    bytes.push([kind, body.is_enabled().into(), body.is_sleeping().into()]);
    for pose in [body.position(), body.next_position()] {
        bytes.push_reals(pose.translation.to_array());
        bytes.push_reals(rotation_to_array(pose.rotation));
    }
    for vector in [body.linvel(), body.user_force()] {
        bytes.push_reals(vector.to_array());
    }
    for spin in [body.angvel(), body.user_torque()] {
        bytes.push_reals(spin_to_array(spin));
    }
    // How long the body has been slow decides when it falls asleep.
    bytes.push_reals([body.activation().time_since_can_sleep]);
    hasher.write(&bytes.bytes[..bytes.len]);
}

/// Collects the hashed bytes of a body for one call of the hasher, because many calls with a few bytes are slow.
struct Bytes {
    bytes: [u8; 128],
    len: usize,
}

impl Bytes {
    fn push<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }

    /// Adds the bits of these numbers. All NaNs count as the same one.
    fn push_reals<const N: usize>(&mut self, reals: [Real; N]) {
        for real in reals {
            // The sign and the payload of a NaN depend on the processor and the compiler.
            let real = if real.is_nan() { Real::NAN } else { real };
            self.push(real.to_bits().to_le_bytes());
        }
    }
}
