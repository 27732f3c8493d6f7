//! Scenes modelled on Rapier's own demos. They run in every way in which evenstep runs steps, and each step equals
//! bare Rapier's bit for bit.
#![cfg(all(feature = "enhanced-determinism", feature = "serde"))]

// What differs between two dimensions and three.
#[cfg_attr(dim2, path = "dim2.rs")]
#[cfg_attr(not(dim2), path = "dim3.rs")]
mod dim;

// A script's view of a run.
mod world;
// A script in bare Rapier, and as a game that compares.
mod game;
// All ways in which evenstep runs steps.
mod ways;
// The parts of the scenes.
mod parts;
// The scenes.
mod control;
mod joints;
mod removals;
mod rigid;
mod soft;
#[cfg(not(dim2))]
mod vehicles;

use game::{Difference, Game, STEPS, Scene, bare, input};
use ways::ways;

/// The step whose input is left out in a second run, to check that each way detects a difference.
const SKIPPED: u64 = 82;

/// Compares each way of running steps with bare Rapier.
fn conforms<S: Scene>() {
    conforms_to::<S, S>();
}

/// Compares each way with bare Rapier in another scene.
fn conforms_to<S: Scene, R: Scene>() {
    let scene = std::any::type_name::<S>();
    let expected = bare::<R>(input);
    let other = bare::<R>(|tick| if tick == SKIPPED { 0.0 } else { input(tick) });
    for (name, way) in ways::<S>() {
        let run = |expected| {
            let (simulation, game) = Game::start(expected);
            way(simulation, game).map(|game| game.compared)
        };
        match run(&expected) {
            Ok(compared) => assert_eq!(compared, STEPS, "steps of {scene}, {name}"),
            Err(Difference(tick)) => panic!("{scene}, {name}: step {tick} is not bare Rapier's"),
        }
        let seen = run(&other).expect_err("another input changes the run");
        assert_eq!(seen, Difference(SKIPPED), "{scene}, {name}");
    }
}

#[test]
fn edits_through_rapier_match_bare_rapier() {
    conforms::<rigid::Edits>();
}

#[test]
fn sensors_and_moving_platforms_match_bare_rapier() {
    conforms::<rigid::Zones>();
}

#[test]
fn removals_in_hooks_match_bare_rapier() {
    conforms::<removals::Removals>();
}

#[test]
fn terrain_and_bullets_match_bare_rapier() {
    conforms::<rigid::Terrain>();
}

#[test]
fn characters_match_bare_rapier() {
    conforms::<control::Walk>();
}

#[test]
fn breaking_joints_with_motors_match_bare_rapier() {
    conforms::<joints::Machines>();
}

#[test]
fn a_link_put_to_sleep_matches_rapier_with_joints_prepared_each_step() {
    conforms_to::<joints::Stop<true, false>, joints::Stop<true, true>>();
    assert!(bare::<joints::Stop<true, false>>(input) != bare::<joints::Stop<true, true>>(input));
}

#[test]
fn a_link_that_becomes_fixed_matches_rapier_with_joints_prepared_each_step() {
    conforms_to::<joints::Stop<false, false>, joints::Stop<false, true>>();
    assert!(bare::<joints::Stop<false, false>>(input) != bare::<joints::Stop<false, true>>(input));
}

#[test]
fn soft_bodies_match_bare_rapier() {
    conforms::<soft::Soft<true>>();
}

#[test]
fn soft_bodies_with_state_that_rapier_does_not_save_match_bare_rapier() {
    conforms::<soft::Soft<false>>();
}
