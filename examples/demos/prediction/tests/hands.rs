//! Crates that change hands while they move: the largest jump of their picture, eased and not.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use evenstep_prediction::client::Client;
use evenstep_prediction::end::End;
use evenstep_prediction::game::{Buttons, TAKE, held};
use evenstep_prediction::lab::Lab;
use evenstep_prediction::line::Quality;
use evenstep_prediction::log::Figures;

const MS: fn(u64) -> Duration = Duration::from_millis;
/// The only crate, after the bodies of four players.
const CRATE: usize = 4;
/// The time at which a client presses or releases the button. The crate has moved for a second.
const START: Duration = Duration::from_secs(5);

const NOTHING: fn(usize, u64) -> Buttons = |_, _| Buttons(0);
const TAKES: fn(usize, u64) -> Buttons = |_, _| Buttons(TAKE);
const WALKS: fn(usize, u64) -> Buttons = |_, _| Buttons(1);
const WALKS_AND_TAKES: fn(usize, u64) -> Buttons = |_, _| Buttons(1 | TAKE);

/// The display rate in Hz, and the latency in ms.
type Setup = (u32, u64);

const SETUPS: [Setup; 4] = [(60, 50), (60, 150), (144, 50), (144, 150)];

fn quality((_, latency): Setup) -> Quality {
    Quality {
        delay: MS(latency),
        ..Quality::default()
    }
}

/// Creates a match with one crate. Clients predict only what they hold.
fn lab(players: u64, (display, _): Setup, quality: &Quality) -> Lab {
    let mut lab = Lab::new(1);
    lab.server.throws = false;
    let key = lab.server.bodies[CRATE];
    slide(&mut lab.server.simulation, key);
    for seed in 1..=players {
        let mut client = Client::new(1, 0.0);
        slide(&mut client.simulation, key);
        let mut end = End::new(client, display, quality, seed);
        end.buttons = NOTHING;
        lab.join(end);
    }
    lab
}

/// Removes the friction of a crate.
fn slide(simulation: &mut Simulation, key: BodyKey) {
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    let collider = &mut simulation.physics.rapier_mut().colliders[collider];
    collider.set_friction(0.0);
    collider.set_friction_combine_rule(CoefficientCombineRule::Min);
}

/// Lets the crate pass the first player, and runs until the start.
fn run_to_start(lab: &mut Lab, x: f32, speed: f32) {
    lab.run(START - MS(1_000));
    let key = lab.server.bodies[CRATE];
    let physics = &mut lab.server.simulation.physics;
    physics
        .teleport(key, Pose::translation(x, 0.36, 6.0))
        .unwrap();
    physics
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::X * speed, true);
    lab.run(START);
}

/// Runs for a second. Returns the largest jump of the crate on the display of a client, eased and not, in mm.
fn jumps(lab: &mut Lab, client: usize) -> [f32; 2] {
    // The log counts from the first frame of the client, which is up to 0.4 s after the start of the match.
    let after = lab.now - MS(500);
    lab.run(lab.now + MS(1_000));
    let figures = Figures::new(&lab.truth, &lab.ends[client].seen, after).unwrap();
    [figures.crate_jump, figures.crate_jump_uncorrected].map(|jump| 1e3 * jump)
}

/// Returns who holds the crate on the server, and according to a client.
fn holders(lab: &Lab, client: usize) -> [Option<usize>; 2] {
    let simulations = [&lab.server.simulation, &lab.ends[client].client.simulation];
    simulations.map(|simulation| {
        let held = held(&simulation.physics).0;
        held.iter().position(|held| *held == Some(CRATE as u16))
    })
}

fn is_predicted(lab: &Lab, client: usize) -> bool {
    lab.ends[client].client.is_predicted(CRATE)
}

/// Checks the jumps of all setups: at most `most` if they are eased, and at least `least` if they are not. Prints a row of
/// the README's table.
fn check(name: &str, jumps_of: impl Fn(Setup) -> [f32; 2], most: f32, least: f32) {
    let jumps = SETUPS.map(jumps_of);
    let cells = jumps.map(|[eased, bare]| format!("{bare:.0} → {eased:.0}"));
    println!("| {name} | {} |", cells.join(" | "));
    for ([eased, bare], setup) in jumps.iter().zip(SETUPS) {
        assert!(
            *eased < most && *bare >= least,
            "{name}, {setup:?}: {eased} of {bare} mm"
        );
    }
}

fn take(setup: Setup, quality: &Quality) -> [f32; 2] {
    let mut lab = lab(1, setup, quality);
    run_to_start(&mut lab, -6.4, 2.0);
    let before = lab.ends[0].client.simulation.pose(lab.server.bodies[CRATE]);
    lab.ends[0].buttons = TAKES;
    lab.run(lab.now + Duration::from_secs(1) / setup.0);
    assert!(is_predicted(&lab, 0), "the client waits for the server");
    // The picture moves on in the frame of the change.
    let now = lab.ends[0].client.simulation.pose(lab.server.bodies[CRATE]);
    let moved = (now.unwrap().translation).distance(before.unwrap().translation);
    let speed = moved * setup.0 as f32;
    assert!((1.5..2.5).contains(&speed), "{speed} m/s");
    let jumps = jumps(&mut lab, 0);
    assert_eq!(holders(&lab, 0), [Some(0); 2]);
    jumps
}

#[test]
fn a_passing_crate_is_taken_over() {
    check(
        "taken over",
        |setup| take(setup, &quality(setup)),
        20.0,
        200.0,
    );
}

#[test]
fn a_crate_is_taken_over_while_packets_are_lost() {
    let lost = |setup| Quality {
        loss: 300,
        jitter: MS(30),
        ..quality(setup)
    };
    check(
        "taken over, 30 % of packets lost",
        |setup| take(setup, &lost(setup)),
        20.0,
        200.0,
    );
}

#[test]
fn a_crate_is_taken_over_before_a_late_answer() {
    let late = |setup| Quality {
        outage: START..START + MS(200),
        ..quality(setup)
    };
    check(
        "taken over, answer 200 ms late",
        |setup| take(setup, &late(setup)),
        20.0,
        200.0,
    );
}

fn throw(setup: Setup, quality: &Quality) -> [f32; 2] {
    let mut lab = lab(1, setup, quality);
    run_to_start(&mut lab, -4.5, 0.0);
    lab.ends[0].buttons = TAKES;
    lab.run(lab.now + MS(1_000));
    lab.ends[0].buttons = WALKS_AND_TAKES;
    lab.run(lab.now + MS(1_000));
    assert!(is_predicted(&lab, 0));
    lab.ends[0].buttons = WALKS;
    let jumps = jumps(&mut lab, 0);
    assert!(!is_predicted(&lab, 0));
    assert_eq!(holders(&lab, 0), [None; 2]);
    jumps
}

#[test]
fn a_thrown_crate_is_handed_back() {
    check(
        "handed back",
        |setup| throw(setup, &quality(setup)),
        20.0,
        500.0,
    );
}

#[test]
fn a_thrown_crate_is_handed_back_while_packets_are_lost() {
    let lost = |setup| Quality {
        loss: 300,
        jitter: MS(30),
        ..quality(setup)
    };
    check(
        "handed back, 30 % of packets lost",
        |setup| throw(setup, &lost(setup)),
        20.0,
        500.0,
    );
}

#[test]
fn of_two_clients_that_take_a_crate_in_the_same_tick_the_server_chooses_one() {
    let jumps_of = |setup| {
        let mut lab = lab(2, setup, &quality(setup));
        run_to_start(&mut lab, -3.0, 0.0);
        for end in &mut lab.ends {
            end.buttons = |_, tick| Buttons(if tick >= 330 { TAKE } else { 0 });
        }
        lab.run(START + MS(250));
        let jumps = jumps(&mut lab, 1);
        assert!(is_predicted(&lab, 0) && !is_predicted(&lab, 1));
        assert_eq!([holders(&lab, 0), holders(&lab, 1)], [[Some(0); 2]; 2]);
        jumps
    };
    check("taken by two, for the loser", jumps_of, 150.0, 1_200.0);
}

#[test]
fn a_crate_at_rest_changes_hands_without_a_jump() {
    let jumps_of = |setup| {
        let mut lab = lab(1, setup, &quality(setup));
        run_to_start(&mut lab, -4.5, 0.0);
        lab.ends[0].buttons = TAKES;
        let jumps = jumps(&mut lab, 0);
        assert_eq!(holders(&lab, 0), [Some(0); 2]);
        jumps
    };
    check("taken over at rest", jumps_of, 3.0, 0.0);
}
