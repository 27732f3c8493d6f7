//! The packets, and their precision.

use evenstep::rapier::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::game::{Buttons, Held};

/// Serializes a packet.
#[must_use]
pub fn write(packet: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(packet).expect("plain data can be serialized")
}

/// Deserializes a packet. Returns `None` if it is invalid.
#[must_use]
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

/// The packet that a client sends in every frame with a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Inputs {
    /// The newest snapshot that has arrived.
    pub ack: u64,
    /// The tick of the newest input.
    pub newest: u64,
    /// The input of that tick and of the ticks before it, backwards. Earlier inputs are repeated, because packets
    /// may be lost.
    pub buttons: Vec<Buttons>,
}

/// The packet that the server sends to a client twenty times per second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The number of steps that the server has run.
    pub tick: u64,
    /// The number of the client's player.
    pub player: u8,
    /// A report about the client's last packet, if one came since the last snapshot.
    pub report: Option<Report>,
    /// The crates that the players hold.
    pub held: Held,
    /// Bodies by their index in the arena's list: the client's own, and those whose state it does not know.
    pub bodies: Vec<(u16, State)>,
}

/// How early input arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The tick of the newest input.
    pub newest: u64,
    /// How many ticks the input came before it was needed. It is negative if the input was late.
    pub lead: i64,
}

/// The state of a body in 8 to 29 bytes. A moving body takes about 20.
///
/// | part | as | precision |
/// | --- | --- | --- |
/// | translation | millimetres | 0.5 mm per axis, up to 32.7 m from the origin |
/// | rotation | the smallest three of its four components, 10 bits each | 0.25 degrees at most, 2.5 mm at the corner of
/// a crate |
/// | velocities | mm/s, mrad/s | 0.1 mm in the 0.2 s that a client runs ahead |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    translation: [i16; 3],
    #[serde(with = "postcard::fixint::le")]
    rotation: u32,
    /// `None` at rest.
    velocities: Option<[i16; 6]>,
}

/// The units per metre, per m/s and per rad/s.
const UNITS: f32 = 1_000.0;

impl State {
    /// Returns the state of a body, rounded.
    #[must_use]
    pub fn of(body: &RigidBody) -> Self {
        // The conversion clamps numbers that are too large.
        let rounded = |number: f32| (number * UNITS).round() as i16;
        let [linear, angular] = [body.linvel(), body.angvel()].map(|it| it.to_array().map(rounded));
        let [[a, b, c], [d, e, f]] = [linear, angular];
        Self {
            translation: body.translation().to_array().map(rounded),
            rotation: smallest_three(*body.rotation()),
            velocities: Some([a, b, c, d, e, f]).filter(|parts| *parts != [0; 6]),
        }
    }

    /// Returns the pose.
    #[must_use]
    pub fn pose(&self) -> Pose {
        let translation = self.translation.map(|part| f32::from(part) / UNITS);
        Pose::from_parts(Vector::from_array(translation), from_three(self.rotation))
    }

    /// Returns the linear and the angular velocity.
    #[must_use]
    pub fn velocities(&self) -> [Vector; 2] {
        let [a, b, c, d, e, f] =
            (self.velocities.unwrap_or_default()).map(|it| f32::from(it) / UNITS);
        [Vector::new(a, b, c), Vector::new(d, e, f)]
    }

    /// Returns whether the body rests until a later state says otherwise.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.velocities.is_none()
    }
}

/// All components of a unit quaternion except the largest are within ±√½. They take ten bits each, and two bits say
/// which one is left out.
const PARTS: f32 = 511.0 * std::f32::consts::SQRT_2;

fn smallest_three(rotation: Rotation) -> u32 {
    let parts = rotation.to_array();
    let largest = (0..4).max_by(|a, b| parts[*a].abs().total_cmp(&parts[*b].abs()));
    let largest = largest.expect("a quaternion has four components");
    // Negating all components gives the same rotation, so the omitted one is made positive.
    let sign = parts[largest].signum();
    let others = (0..4).filter(|i| *i != largest);
    others.fold(largest as u32, |bits, i| {
        let rounded = (parts[i] * sign * PARTS).round() as i32 + 511;
        bits << 10 | rounded.clamp(0, 1_022) as u32
    })
}

fn from_three(bits: u32) -> Rotation {
    let largest = (bits >> 30) as usize;
    let mut parts = [0.0; 4];
    for (i, shift) in (0..4).filter(|i| *i != largest).zip([20, 10, 0]) {
        parts[i] = ((bits >> shift & 1_023) as f32 - 511.0) / PARTS;
    }
    let squares: f32 = parts.iter().map(|part| part * part).sum();
    parts[largest] = (1.0 - squares).max(0.0).sqrt();
    Rotation::from_array(parts).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_body(random: &mut crate::Random) -> RigidBody {
        let mut three =
            |scale| Vector::new(random.signed(), random.signed(), random.signed()) * scale;
        let body = RigidBodyBuilder::dynamic()
            .translation(three(8.0))
            .rotation(three(3.0));
        body.linvel(three(10.0)).angvel(three(10.0)).build()
    }

    #[test]
    fn an_encoded_state_keeps_its_documented_precision_and_size() {
        let mut random = crate::Random::new(5);
        for _ in 0..10_000 {
            let body = random_body(&mut random);
            let bytes = write(&(40_u16, State::of(&body)));
            assert!(bytes.len() <= 29, "{} bytes", bytes.len());
            let (_, state): (u16, State) = read(&bytes).unwrap();
            let off = (state.pose().translation - body.translation()).abs();
            assert!(off.max_element() < 0.000_51, "{off}");
            let angle = state.pose().rotation.angle_between(*body.rotation());
            assert!(angle < 0.004_4, "{} degrees", angle.to_degrees());
            let [linear, angular] = state.velocities();
            assert!((linear - body.linvel()).abs().max_element() < 0.000_51);
            assert!((angular - body.angvel()).abs().max_element() < 0.000_51);
        }
    }

    #[test]
    fn random_bytes_decode_to_valid_rotations_or_none() {
        let mut random = crate::Random::new(6);
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
            let snapshot = read::<Snapshot>(&bytes);
            // Decoded rotations are valid for any bytes.
            for (_, state) in snapshot.iter().flat_map(|snapshot| &snapshot.bodies) {
                assert!((state.pose().rotation.length() - 1.0).abs() < 1e-6);
            }
        }
        assert!(read::<Inputs>(&[1]).is_none());
    }
}
