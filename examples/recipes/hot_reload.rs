//! A level that is loaded again while it is played. Its bodies keep their keys, poses and velocities. To reload code too,
//! own the simulation in the host program.

use std::collections::BTreeMap;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// Loads a file again. Each of its lines has a name, and half the size of a cube.
pub fn reload(physics: &mut Physics, keys: &mut BTreeMap<String, BodyKey>, file: &str) {
    let mut old = std::mem::take(keys);
    for line in file.lines() {
        let (name, size) = line.split_once(' ').unwrap();
        let size = size.parse().unwrap();
        let known = old.remove(name);
        let key = known.unwrap_or_else(|| physics.insert_body(RigidBodyBuilder::dynamic()));
        for collider in physics.body(key).unwrap().colliders().to_vec() {
            physics.remove_collider(collider);
        }
        let cube = ColliderBuilder::cuboid(size, size, size);
        physics.insert_collider(key, cube).unwrap();
        keys.insert(name.to_owned(), key);
    }
    for key in old.into_values() {
        physics.remove(key);
    }
}
