//! Saved states: a loaded state continues bit for bit, and invalid bytes are refused.

mod going_on;
mod memory;
mod plain_types;
mod refused;

#[cfg(feature = "enhanced-determinism")]
use crate::scenes::everything::{Everything, gusts};
use crate::scenes::testing::{translation, vector};
use crate::scenes::{MS, Yard, ball, hash, space};
use allocation_counter::measure;
use evenstep::rapier::prelude::*;
use evenstep::recording::{RecorderSettings, RecordingEnd};
use evenstep::threads::Overlap;
use evenstep::{
    BodyKey, Button, Clock, Correction, Delivery, ForceGenerator, Hooks, InputQueue, LoadError,
    Owners, Physics, Rate, SaveError, Simulation, Smoothing, Stepping, TickQueue, TickSender,
    Wrench,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "enhanced-determinism")]
fn load(bytes: &[u8]) -> Simulation {
    let named = |name: &str| (name == "gusts").then(gusts);
    Simulation::load_with(bytes, named).unwrap()
}

/// Returns a small match, right after a step.
fn game() -> Simulation {
    let mut yard = Yard::new(Rate::hz(60).unwrap());
    yard.advance(MS(200));
    yard.simulation
}
