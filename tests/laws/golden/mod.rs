//! The bits of many scenes are the same on every platform. Compares states, displayed poses and saved bytes with
//! `3d.csv` or `2d.csv`.
//!
//! After a change that is meant to change bits (another version of Rapier), rewrite the file and say so in the
//! changelog: `GOLDEN=write cargo test --workspace --all-features --test laws golden`.
//!
//! The scenes use the float functions of `portable_math`. Without it, scenes differ whose inertia needs an eigenvalue.
#![cfg(all(feature = "enhanced-determinism", feature = "serde"))]

// What differs between two dimensions and three.
#[cfg_attr(dim2, path = "dim2.rs")]
#[cfg_attr(not(dim2), path = "dim3.rs")]
mod dim;
mod games;

use std::hash::Hasher;
use std::time::Duration;

use evenstep::forces::ForceGenerator;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing, Step};
use scenes::everything::Everything;
use scenes::testing::{
    ball_joint, cloth, cuboid, rotation_numbers, soft_cube, spin, translation, vector,
};
use scenes::{MS, ball, pile, sleepers, space, with_floor};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use games::{all, piled};

evenstep::portable_math!();

const FRAMES: u64 = 300;

/// The [`evenstep::saving::fingerprint`] of all machines that agree in these scenes.
const FINGERPRINT: u64 = 0xc947_3383_bdea_690e;

/// The results of a scene: hashes as hexadecimal numbers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Golden {
    scene: String,
    /// A hash of the checksums after every frame.
    states: String,
    /// A hash of all poses that moved in every frame, with their keys.
    shown: String,
    /// A hash of the final state as bytes.
    saved: String,
}

impl Golden {
    fn columns(&self) -> [(&'static str, &str); 3] {
        [
            ("states", &self.states),
            ("shown", &self.shown),
            ("saved", &self.saved),
        ]
    }
}

struct Hashes {
    states: XxHash3_64,
    shown: XxHash3_64,
}

impl Hashes {
    fn new() -> Self {
        let [states, shown] = [0, 1].map(XxHash3_64::with_seed);
        Self { states, shown }
    }

    fn add(&mut self, simulation: &Simulation) {
        self.states
            .write(&simulation.physics.checksum().to_le_bytes());
        for (key, pose) in simulation.moved() {
            let key = format!("{key:?}");
            self.shown.write(key.as_bytes());
            let (at, turned) = (pose.translation.to_array(), rotation_numbers(pose.rotation));
            for number in at.into_iter().chain(turned) {
                self.shown.write(&number.to_bits().to_le_bytes());
            }
        }
    }

    fn end(self, scene: &str, simulation: &Simulation) -> Golden {
        let bytes = with_one_nan(simulation.save().expect("it can be saved"));
        let hex = |number: u64| format!("{number:016x}");
        Golden {
            scene: scene.into(),
            states: hex(self.states.finish()),
            shown: hex(self.shown.finish()),
            saved: hex(XxHash3_64::oneshot(&bytes)),
        }
    }
}

/// Gives each NaN the same sign, which the compiler chooses. Bytes with a NaN lose their header, because it has their
/// checksum.
fn with_one_nan(mut bytes: Vec<u8>) -> Vec<u8> {
    /// At least the length of the header.
    const HEADER: usize = 64;
    let nan = f32::NAN.to_le_bytes();
    let places: Vec<usize> = (HEADER..bytes.len() - 3)
        .filter(|i| bytes[*i..*i + 3] == nan[..3] && bytes[*i + 3] & 0x7F == nan[3])
        .collect();
    for place in &places {
        bytes[place + 3] = nan[3];
    }
    if places.is_empty() {
        bytes
    } else {
        bytes.split_off(HEADER)
    }
}

/// Returns frame times of uneven length. No two successive ones are equal.
fn frame_time(number: u64) -> Duration {
    Duration::from_micros(3_000 + number * 7_919 % 31_000)
}

fn expected() -> Vec<Golden> {
    let mut file = csv::Reader::from_reader(dim::EXPECTED);
    let all: Result<_, _> = file.deserialize().collect();
    all.unwrap()
}

/// Names each scene and its columns that differ, and tells the reader what to do.
fn differences(found: &[Golden], expected: &[Golden]) -> String {
    let mut text = format!("{} differs:\n", dim::FILE);
    for golden in found {
        match expected.iter().find(|other| other.scene == golden.scene) {
            Some(other) if other == golden => (),
            Some(other) => {
                let columns = golden.columns().into_iter().zip(other.columns());
                let differing = columns.filter(|(found, expected)| found != expected);
                let names: Vec<_> = differing.map(|((name, _), _)| name).collect();
                text += &format!("  {}: {}\n", golden.scene, names.join(", "));
            }
            None => text += &format!("  {}: a new scene\n", golden.scene),
        }
    }
    let is_missing = |golden: &&Golden| !found.iter().any(|other| other.scene == golden.scene);
    for golden in expected.iter().filter(is_missing) {
        text += &format!("  {}: no longer a scene\n", golden.scene);
    }
    text += "If only `saved` differs, states are saved as other bytes: raise `FORMAT` in src/bytes/header.rs, so that bytes \
             of the previous format are refused. If `states` or `shown` differ, bodies move or are displayed in another \
             way. If that is meant, write the file with GOLDEN=write and say so in the changelog.";
    text
}

/// Compares all scenes with the file.
///
/// # Panics
/// If anything differs.
pub fn compare() {
    let found = all();
    if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
        let mut file = csv::Writer::from_path(dim::FILE).unwrap();
        for golden in &found {
            file.serialize(golden).unwrap();
        }
        file.flush().unwrap();
        return;
    }
    let expected = expected();
    assert!(found == expected, "{}", differences(&found, &expected));
    // All machines that agree in these scenes have this fingerprint.
    let fingerprint = evenstep::saving::fingerprint();
    assert_eq!(fingerprint, FINGERPRINT);
    let bytes = piled().0.save().expect("it can be saved");
    assert_eq!(evenstep::saving::fingerprint_of(&bytes), Ok(fingerprint));
}

#[test]
fn a_difference_names_its_scene_and_column() {
    let mut found = expected();
    found[0].saved = "0".into();
    found[2].states = "0".into();
    found[2].shown = "0".into();
    let left_out = found.pop().unwrap().scene;
    let text = differences(&found, &expected());
    let lines: Vec<&str> = text.lines().collect();
    let [first, second] = [0, 2].map(|i| &found[i].scene);
    assert_eq!(lines[1], format!("  {first}: saved"));
    assert_eq!(lines[2], format!("  {second}: states, shown"));
    assert_eq!(lines[3], format!("  {left_out}: no longer a scene"));
    assert!(lines[4].contains("raise `FORMAT` in src/bytes/header.rs"));
}

#[test]
fn all_scenes_match_the_golden_values() {
    compare();
}
