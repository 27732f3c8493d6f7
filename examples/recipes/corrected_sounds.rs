//! Sounds of hits that continue if a rollback moves their hit, and stop if it retracts it.

use std::collections::{BTreeMap, BTreeSet};

use evenstep::events::{EventChanges, Events};
use evenstep::{BodyKey, Simulation};

/// Hits of the same bodies within this many ticks are the same hit.
const SAME_HIT: u64 = 10;

/// The tick of a hit, and its bodies.
pub type Hit = (u64, BTreeSet<BodyKey>);

/// The sounds of hits that a rollback can still change, with your mixer's numbers.
pub type Sounds = BTreeMap<Hit, u32>;

fn hits(events: &Events) -> Vec<Hit> {
    let started = events.collisions().filter(|hit| hit.started);
    let hits = started.map(|hit| (hit.step, hit.bodies.into_iter().flatten().collect()));
    hits.collect()
}

/// Starts the sounds of a frame's events. `play` starts one, and returns its number.
pub fn start(sounds: &mut Sounds, simulation: &Simulation, mut play: impl FnMut(&Hit) -> u32) {
    // No rollback goes back to before this tick.
    let oldest = simulation.rewindable().start;
    sounds.retain(|(tick, _), _| *tick >= oldest);
    for hit in hits(&simulation.events()) {
        sounds.entry(hit).or_insert_with_key(&mut play);
    }
}

/// Follows the changes of a rollback. Call it after each one. `stop` fades out a sound.
pub fn correct(sounds: &mut Sounds, changes: &EventChanges, mut stop: impl FnMut(u32)) {
    let mut new = hits(&changes.new);
    for old in hits(&changes.retracted) {
        let is_same = |hit: &Hit| hit.1 == old.1 && hit.0.abs_diff(old.0) <= SAME_HIT;
        let moved = new.iter().position(is_same).map(|i| new.remove(i));
        let Some(sound) = sounds.remove(&old) else {
            continue;
        };
        match moved {
            Some(hit) => drop(sounds.insert(hit, sound)),
            None => stop(sound),
        }
    }
}
