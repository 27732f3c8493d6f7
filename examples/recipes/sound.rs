//! Sounds of hits, each played once, and of engines, which follow their bodies.

use std::collections::BTreeMap;

use evenstep::BodyKey;
use evenstep::ecs::Host;
use evenstep::rapier::prelude::*;

/// The speed of a hit at full volume, in m/s.
const LOUDEST: f32 = 10.0;

/// Starts the sounds of a frame's hits. Call it after each frame of any loop.
///
/// `sounds` has the names of the sounds of bodies that make one, and `start` stands for your audio library. It gets a
/// name, a position and a volume of at most 1.
pub fn play(
    host: &impl Host,
    sounds: &BTreeMap<BodyKey, &'static str>,
    mut start: impl FnMut(&'static str, Vector, f32),
) {
    for collision in host.events().collisions() {
        if let Some(hit) = collision.hit {
            let volume = (hit.speed() / LOUDEST).min(1.0);
            let bodies = collision.bodies.iter().flatten();
            for name in bodies.filter_map(|key| sounds.get(key)) {
                start(name, hit.point, volume);
            }
        }
    }
}

/// Moves the positions of engines to their bodies, as drawn. Call it after each frame.
pub fn move_engines(host: &impl Host, engines: &mut BTreeMap<BodyKey, Vector>) {
    for (key, position) in engines {
        if let Some(pose) = host.pose(*key) {
            *position = pose.translation;
        }
    }
}
