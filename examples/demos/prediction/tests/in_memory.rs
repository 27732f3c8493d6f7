//! Matches in virtual time, over bad connections.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use evenstep_prediction::Random;
use evenstep_prediction::client::Client;
use evenstep_prediction::end::End;
use evenstep_prediction::game::Buttons;
use evenstep_prediction::lab::Lab;
use evenstep_prediction::line::Quality;
use evenstep_prediction::log::Figures;
use evenstep_prediction::packets::{Inputs, read};
use evenstep_prediction::server::Server;

const MS: fn(u64) -> Duration = Duration::from_millis;
const CRATES: usize = 40;
/// The reach of the prediction, in metres.
const REACH: f32 = 2.5;

const NOTHING: fn(usize, u64) -> Buttons = |_, _| Buttons(0);
/// Pushes towards the crates.
const UP: fn(usize, u64) -> Buttons = |_, _| Buttons(8);

/// A delay of 50 ms ± 15 ms.
fn line() -> Quality {
    Quality {
        delay: MS(35),
        jitter: MS(30),
        loss: 20,
        ..Quality::default()
    }
}

/// A delay of 50 ms.
fn good_line() -> Quality {
    Quality {
        delay: MS(50),
        ..Quality::default()
    }
}

fn end(crates: usize, quality: &Quality) -> End {
    End::new(Client::new(crates, REACH), 60, quality, 1)
}

/// Creates a match of two clients.
fn two(quality: &Quality) -> Lab {
    let mut lab = Lab::new(CRATES);
    for (seed, display) in [(1, 60), (2, 144)] {
        let client = Client::new(CRATES, REACH);
        lab.join(End::new(client, display, quality, seed));
    }
    lab
}

fn figures(lab: &Lab, from: Duration) -> Vec<Figures> {
    let ends = lab.ends.iter();
    ends.map(|end| Figures::new(&lab.truth, &end.seen, from).unwrap())
        .collect()
}

/// Releases all buttons, and waits until all bodies have come to rest.
fn rest(lab: &mut Lab) {
    lab.server.throws = false;
    for end in &mut lab.ends {
        end.buttons = NOTHING;
    }
    lab.run(lab.now + MS(10_000));
    let mut bodies = lab.server.bodies.iter();
    assert!(bodies.all(|key| {
        let body = lab.server.simulation.physics.body(*key);
        body.is_some_and(RigidBody::is_sleeping)
    }));
}

/// Gives a body of the server an impulse, which no client can know.
fn push(server: &mut Server, key: BodyKey, impulse: Vector) {
    let pushed = server.simulation.physics.apply_impulse(key, impulse);
    pushed.unwrap();
}

/// Returns where a body is.
fn position(simulation: &Simulation, key: BodyKey) -> Vector {
    simulation.physics.body(key).unwrap().translation()
}

/// Returns how far a client's body is from the server's, in metres and radians.
fn off(server: &Server, client: &Client, place: usize) -> (f32, f32) {
    let simulations = [&server.simulation, &client.simulation];
    let [there, here] =
        simulations.map(|it| *it.physics.body(server.bodies[place]).unwrap().position());
    let angle = there.rotation.angle_between(here.rotation);
    (there.translation.distance(here.translation), angle)
}

/// Checks that every body of a client is where the server has it, except for rounding and differences too small to
/// correct.
fn assert_same(server: &Server, client: &Client) {
    for place in 0..server.bodies.len() {
        let most = if client.is_predicted(place) {
            (0.01, 0.05)
        } else {
            (0.000_9, 0.004_4)
        };
        let (distance, angle) = off(server, client, place);
        assert!(
            distance < most.0 && angle < most.1,
            "body {place}: {distance} m, {angle} rad"
        );
    }
}

#[test]
fn moved_bodies_reach_every_client_despite_loss_and_jitter() {
    let lost = Quality {
        loss: 400,
        ..line()
    };
    let late = Quality {
        jitter: MS(250),
        ..line()
    };
    for quality in [lost, late] {
        let mut lab = two(&quality);
        lab.run(MS(8_000));
        rest(&mut lab);
        for end in &lab.ends {
            assert_same(&lab.server, &end.client);
        }
        // Known bodies at rest are not sent, so only the client's own body remains.
        lab.ends.clear();
        for (_, packet) in lab.server.frame(MS(50)) {
            assert!(packet.len() < 25, "{} bytes", packet.len());
        }
    }
}

#[test]
fn packets_stay_below_the_size_limit_and_every_body_is_sent() {
    let mut lab = Lab::new(200);
    lab.join(end(200, &line()));
    lab.run(MS(1_000));
    for key in lab.server.bodies.clone() {
        push(&mut lab.server, key, Vector::Y * 4.0);
    }
    let heights = |lab: &Lab| {
        let bodies = lab.server.bodies.iter();
        let heights = bodies.map(|key| position(&lab.ends[0].client.simulation, *key).y);
        heights.collect::<Vec<_>>()
    };
    let (low, mut largest) = (heights(&lab), 0);
    let mut has_risen = vec![false; low.len()];
    for _ in 0..50 {
        lab.run(lab.now + MS(16));
        let packets = lab.server.clone().frame(MS(50));
        largest = packets
            .iter()
            .fold(largest, |largest, (_, packet)| largest.max(packet.len()));
        for (i, height) in heights(&lab).iter().enumerate().skip(4) {
            has_risen[i] |= *height > low[i] + 0.1;
        }
    }
    assert!((800..1_200).contains(&largest), "{largest} bytes");
    assert!(
        has_risen.iter().skip(4).all(|risen| *risen),
        "{has_risen:?}"
    );
    rest(&mut lab);
    assert_same(&lab.server, &lab.ends[0].client);
}

#[test]
fn input_survives_the_loss_of_its_packet() {
    let mut lab = two(&Quality {
        loss: 100,
        ..line()
    });
    lab.run(MS(5_000));
    let before = [0, 1].map(|player| lab.server.missed(player));
    lab.run(MS(15_000));
    for (player, before) in before.iter().enumerate() {
        let missed = lab.server.missed(player) - before;
        assert!(missed <= 6, "{missed} of 600");
    }
}

#[test]
fn input_over_a_slow_connection_arrives_in_time_after_two_seconds() {
    let mut lab = two(&Quality {
        delay: MS(250),
        ..Quality::default()
    });
    lab.run(MS(2_000));
    let before = [0, 1].map(|player| lab.server.missed(player));
    lab.run(MS(6_000));
    assert_eq!([0, 1].map(|player| lab.server.missed(player)), before);
}

#[test]
fn an_out_of_order_snapshot_is_ignored() {
    let (mut server, mut client) = (Server::new(4), Client::new(4, REACH));
    server.join();
    let mut packets = Vec::new();
    while packets.len() < 3 {
        packets.extend(server.frame(MS(17)).into_iter().map(|(_, packet)| packet));
    }
    for number in [0, 2, 1] {
        client.receive(&packets[number]);
    }
    let inputs: Inputs = read(&client.frame(MS(17), Buttons(0)).unwrap()).unwrap();
    assert_eq!(inputs.ack, server.simulation.physics.tick());
}

/// The server and the client have the same time, with no delay between them.
#[test]
fn a_misprediction_is_corrected_to_within_rounding() {
    let (mut server, mut client) = (Server::new(0), Client::new(0, REACH));
    let me = server.join().unwrap();
    let period = server.simulation.clock().settings().rate().period();
    let frame = |server: &mut Server, client: &mut Client| {
        if let Some(packet) = client.frame(period, Buttons(8)) {
            server.receive(me, &packet);
        }
        server.frame(period)
    };
    let own = server.bodies[me];
    let mut corrected = 0;
    for i in 0..120 {
        if i == 60 {
            push(&mut server, own, Vector::new(5.0, 2.0, 0.0));
        }
        for (_, packet) in frame(&mut server, &mut client) {
            let before = client.counts.rollbacks;
            client.receive(&packet);
            let tick = server.simulation.physics.tick();
            if client.counts.rollbacks > before && i >= 60 {
                let there = server.simulation.physics.body(own).unwrap().position();
                // The pose at the beginning of the next step.
                let here = client.simulation.pose_at(own, tick + 1, 0.0).unwrap();
                let distance = there.translation.distance(here.translation);
                assert!(distance < 0.000_9, "{distance} m at tick {tick}");
                corrected += 1;
            }
        }
    }
    assert_eq!(corrected, 1);
    // From there on the prediction is right: the client's present is the server's future.
    let tick = client.simulation.physics.tick();
    let here = *client.simulation.physics.body(own).unwrap().position();
    while server.simulation.physics.tick() < tick {
        server.frame(period);
    }
    let there = server.simulation.physics.body(own).unwrap().position();
    let distance = there.translation.distance(here.translation);
    assert!(distance < 0.002, "{distance} m");
}

#[test]
fn the_visual_error_of_a_correction_fades_smoothly() {
    let mut lab = Lab::new(0);
    lab.join(end(0, &good_line()));
    lab.run(MS(2_000));
    let own = lab.server.bodies[0];
    push(&mut lab.server, own, Vector::X * 6.0);
    let mut largest: f32 = 0.0;
    for _ in 0..30 {
        lab.run(lab.now + MS(16));
        let error = lab.ends[0].client.simulation.visual_error(own);
        largest = error.map_or(largest, |error| largest.max(error.translation.length()));
    }
    assert!(largest > 0.2, "{largest} m");
    let figures = figures(&lab, MS(1_500))[0];
    assert!(
        figures.jump_uncorrected > 0.2 && figures.jump < 0.05,
        "{figures:?}"
    );
    rest(&mut lab);
    assert_same(&lab.server, &lab.ends[0].client);
    assert_eq!(lab.ends[0].client.simulation.visual_error(own), None);
}

#[test]
fn a_correct_prediction_causes_no_rollback() {
    let mut lab = Lab::new(0);
    lab.join(end(0, &line()));
    lab.run(MS(2_000));
    let before = lab.ends[0].client.counts.rollbacks;
    lab.run(MS(12_000));
    assert_eq!(lab.ends[0].client.counts.rollbacks, before);
    let place = position(&lab.server.simulation, lab.server.bodies[0]);
    assert!(place.z < 6.0, "the player is at {place}");
}

#[test]
fn clients_with_fast_or_slow_clocks_stay_in_sync() {
    let mut lab = two(&good_line());
    (lab.ends[0].clock, lab.ends[1].clock) = (1.01, 0.99);
    lab.run(MS(10_000));
    let missed: Vec<_> = (0..2).map(|player| lab.server.missed(player)).collect();
    for _ in 0..600 {
        lab.run(lab.now + MS(16));
        for end in &lab.ends {
            let speed = end.client.simulation.clock().settings().speed();
            assert!((0.98..=1.02).contains(&speed));
            // 50 ms are three steps.
            let ahead = end.client.simulation.physics.tick() as i64
                - lab.server.simulation.physics.tick() as i64;
            assert!((3..=8).contains(&ahead), "{ahead} ticks ahead");
        }
    }
    for (i, figures) in figures(&lab, MS(10_000)).iter().enumerate() {
        let speed = figures.speed * lab.ends[i].clock;
        assert!((speed - 1.0).abs() < 0.001, "{speed}");
        assert_eq!(lab.server.missed(i), missed[i]);
        assert_eq!(lab.ends[i].client.counts.skips, 1);
    }
}

#[test]
fn other_bodies_are_displayed_later_if_packets_jitter_more() {
    let delays = [0, 60].map(|jitter| {
        let quality = Quality {
            jitter: MS(jitter),
            delay: MS(80 - jitter / 2),
            ..Quality::default()
        };
        let mut lab = two(&quality);
        lab.run(MS(15_000));
        let figures = figures(&lab, MS(8_000))[0];
        assert!(figures.error_mean < 0.01, "{figures:?}");
        figures.delay
    });
    assert!(
        (180.0..210.0).contains(&delays[0]) && delays[1] > delays[0] + 15.0,
        "{delays:?} ms"
    );
}

#[test]
fn a_late_joiner_is_in_sync_within_a_second() {
    let mut lab = Lab::new(CRATES);
    lab.join(end(CRATES, &line()));
    lab.run(MS(20_000));
    rest(&mut lab);
    let client = Client::new(CRATES, REACH);
    lab.join(End::new(client, 144, &line(), 2));
    lab.ends[1].buttons = NOTHING;
    lab.run(lab.now + MS(1_000));
    assert_same(&lab.server, &lab.ends[1].client);
    // Bodies that have moved since the beginning are sent, each at least once and until it is acknowledged.
    let missed = lab.server.missed(1);
    lab.run(lab.now + MS(1_000));
    assert_eq!(lab.server.missed(1), missed);
}

#[test]
fn clients_recover_from_an_outage_without_skipping_ticks() {
    let quality = Quality {
        outage: MS(8_000)..MS(10_000),
        ..line()
    };
    let mut lab = two(&quality);
    // One player pushes all the time. The server never receives what the other one does during the outage.
    lab.ends[0].buttons = UP;
    lab.ends[1].buttons = |_, tick| Buttons(u8::from((480..600).contains(&tick)));
    lab.run(MS(8_000));
    let skips: Vec<_> = lab.ends.iter().map(|end| end.client.counts.skips).collect();
    lab.run(MS(9_990));
    let missed: Vec<_> = (0..2).map(|player| lab.server.missed(player)).collect();
    assert!(missed.iter().all(|missed| *missed > 100), "{missed:?}");
    // Both sides have come to rest.
    let speed = lab
        .server
        .simulation
        .physics
        .body(lab.server.bodies[0])
        .unwrap()
        .linvel()
        .length();
    assert!(speed < 0.3, "{speed} m/s");
    let (distance, _) = off(&lab.server, &lab.ends[1].client, 1);
    assert!((0.05..1.0).contains(&distance), "{distance} m");
    lab.run(MS(11_000));
    for (i, figures) in figures(&lab, MS(10_500)).iter().enumerate() {
        let late = lab.server.missed(i) - missed[i];
        assert!(late < 12, "{late} steps without input after the outage");
        assert!(figures.error_mean < 0.02, "{figures:?}");
        // Ticks continued, so none had to be skipped.
        assert_eq!(lab.ends[i].client.counts.skips, skips[i]);
    }
    rest(&mut lab);
    for end in &lab.ends {
        assert_same(&lab.server, &end.client);
    }
}

/// The crate in front of the first player.
const IN_FRONT: usize = 4 + 33;

/// Returns how many milliseconds after the client the server moves a crate that the player pushes.
fn pushed_before(reach: f32) -> i64 {
    let mut lab = Lab::new(CRATES);
    lab.server.throws = false;
    let client = Client::new(CRATES, reach);
    lab.join(End::new(client, 60, &good_line(), 1));
    lab.ends[0].buttons = NOTHING;
    lab.run(MS(2_000));
    lab.ends[0].buttons = UP;
    let key = lab.server.bodies[IN_FRONT];
    let start = position(&lab.server.simulation, key).z;
    let mut pushed = [None; 2];
    while pushed.contains(&None) {
        assert!(lab.now < MS(10_000), "{pushed:?}");
        lab.run(lab.now + MS(1));
        let simulations = [&lab.server.simulation, &lab.ends[0].client.simulation];
        for (pushed, simulation) in pushed.iter_mut().zip(simulations) {
            if simulation.physics.body(key).unwrap().translation().z < start - 0.05 {
                pushed.get_or_insert(lab.now.as_millis() as i64);
            }
        }
    }
    pushed[0].unwrap() - pushed[1].unwrap()
}

#[test]
fn near_crates_are_predicted_and_far_crates_follow_the_server() {
    let [with, without] = [REACH, 0.0].map(pushed_before);
    // The client is ahead of the server by the latency. It displays the past, delayed by the latency and two snapshots.
    assert!((50..130).contains(&with), "{with} ms");
    assert!((-250..-140).contains(&without), "{without} ms");

    let mut lab = two(&good_line());
    lab.run(MS(6_000));
    for end in &lab.ends {
        let client = &end.client;
        let me = client.player().unwrap();
        let at = |place: usize| {
            client
                .simulation
                .physics
                .body(client.bodies[place])
                .unwrap()
        };
        for place in 0..client.bodies.len() {
            let distance = at(place).translation().distance(at(me).translation());
            let is_crate = place >= 4;
            assert!(client.is_predicted(place) || place != me && (!is_crate || distance > 2.0));
            assert!(!client.is_predicted(place) || place == me || is_crate && distance < 4.5);
            assert_eq!(at(place).is_dynamic(), client.is_predicted(place));
        }
    }
}

/// A body that did not move on the server is not sent, but its state is known.
#[test]
fn a_crate_moved_only_on_the_client_returns_to_its_server_pose() {
    let mut lab = two(&line());
    lab.ends[0].buttons = UP;
    lab.run(MS(4_000));
    rest(&mut lab);
    let client = &mut lab.ends[0].client;
    let near = (4..client.bodies.len())
        .find(|place| client.is_predicted(*place))
        .unwrap();
    client
        .simulation
        .physics
        .apply_impulse(client.bodies[near], Vector::X * 3.0)
        .unwrap();
    lab.run(lab.now + MS(50));
    assert!(off(&lab.server, &lab.ends[0].client, near).0 > 0.1);
    lab.run(lab.now + MS(1_000));
    assert_same(&lab.server, &lab.ends[0].client);
}

#[test]
fn a_teleported_proxy_does_not_push_the_player() {
    let mut lab = Lab::new(0);
    lab.join(end(0, &good_line()));
    // The first player leans against the wall, and the second one is beside it.
    lab.ends[0].buttons = |_, _| Buttons(4);
    let [own, other] = [lab.server.bodies[0], lab.server.bodies[1]];
    let place = |x| Pose::translation(x, 0.5, 7.5);
    lab.server
        .simulation
        .physics
        .teleport(other, place(-3.4))
        .unwrap();
    lab.run(MS(2_000));
    lab.server
        .simulation
        .physics
        .teleport(other, place(-5.6))
        .unwrap();
    let mut most = 0.0_f32;
    for _ in 0..60 {
        lab.run(lab.now + MS(16));
        let at = position(&lab.ends[0].client.simulation, own);
        most = most.max((at.x + 4.5).abs());
    }
    assert!(most < 0.1, "{most} m");
}

/// The crate is predicted in the present, which is farther away than the past.
#[test]
fn prediction_of_a_crate_that_leaves_the_reach_ends_only_once() {
    let mut lab = Lab::new(1);
    lab.server.throws = false;
    lab.join(end(1, &good_line()));
    lab.ends[0].buttons = NOTHING;
    let key = lab.server.bodies[4];
    let near = Pose::translation(-4.5, 0.35, 5.0);
    lab.server.simulation.physics.teleport(key, near).unwrap();
    lab.run(MS(3_000));
    assert!(lab.ends[0].client.is_predicted(4));
    let away = Vector::Z * -5.0;
    push(&mut lab.server, key, away);
    let mut changes = 0;
    for _ in 0..120 {
        let before = lab.ends[0].client.is_predicted(4);
        lab.run(lab.now + MS(16));
        changes += usize::from(lab.ends[0].client.is_predicted(4) != before);
    }
    assert_eq!((changes, lab.ends[0].client.is_predicted(4)), (1, false));
}

#[test]
fn a_silent_player_is_removed_and_its_slot_is_reused() {
    let mut server = Server::new(0);
    let players: Vec<_> = (0..5).map(|_| server.join()).collect();
    assert_eq!(players, [Some(0), Some(1), Some(2), Some(3), None]);
    let mut client = Client::new(0, REACH);
    for _ in 0..700 {
        for (player, packet) in server.frame(MS(17)) {
            if player == 2 {
                client.receive(&packet);
            }
        }
        if let Some(packet) = client.frame(MS(17), Buttons(0)) {
            server.receive(2, &packet);
        }
    }
    let taken: Vec<_> = (0..4).filter(|player| server.is_taken(*player)).collect();
    assert_eq!(taken, [2]);
    assert_eq!(server.join(), Some(0));
}

#[test]
fn random_and_corrupted_packets_cause_no_panic() {
    let mut random = Random::new(9);
    let (mut server, mut client) = (Server::new(4), Client::new(4, REACH));
    server.join();
    let mut real = Vec::new();
    for i in 0..20_000 {
        let mut packet: Vec<u8> = (0..random.below(60)).map(|_| random.bits() as u8).collect();
        // Nearly valid bytes get further into the parser.
        if i % 2 == 0 && !real.is_empty() {
            packet.clone_from(&real);
            let at = random.below(packet.len() as u64) as usize;
            packet[at] = random.bits() as u8;
        }
        server.receive(0, &packet);
        client.receive(&packet);
        if i % 50 == 0 {
            real = client.frame(MS(17), Buttons(0)).unwrap_or_default();
            for (_, packet) in server.frame(MS(17)) {
                real = packet;
            }
        }
    }
}
