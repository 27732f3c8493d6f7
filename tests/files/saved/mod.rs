//! Saved states: a loaded state continues bit for bit, and invalid bytes are refused.

mod going_on;
mod memory;
mod physics;
mod plain_types;
mod refused;

use allocation_counter::measure;
use evenstep::ecs::EntityMap;
use evenstep::forces::ForceGenerator;
use evenstep::input::{Button, Delivery, InputQueue, TickQueue, TickSender};
use evenstep::rapier::prelude::*;
use evenstep::recording::{RecorderSettings, RecordingEnd};
use evenstep::saving::{LoadError, SaveError};
use evenstep::threads::Overlap;
use evenstep::time::Clock;
use evenstep::{BodyKey, Correction, Hooks, Physics, Rate, Simulation, Smoothing, Step, Stepping};
#[cfg(feature = "enhanced-determinism")]
use scenes::everything::Everything;
use scenes::testing::{ball_joint, translation, vector};
use scenes::{MS, Yard, assert_near, ball, hash, space};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Returns a small match, right after a step.
fn game() -> Simulation {
    let mut yard = Yard::new(Rate::hz(60));
    yard.advance(MS(200));
    yard.simulation
}
