//! A client that predicts its player, and a server that corrects it, in one process.

use super::position;
use evenstep::Rate;
use evenstep::rapier::prelude::*;
use evenstep::rewind::{Kept, RewindError};
use recipes::predicted_player::{Snapshot, correct, push};
use scenes::with_floor;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

#[test]
fn one_correction_leads_back_to_the_servers_run() {
    const FRAME: Duration = Duration::from_millis(20);
    let mut client = with_floor(Rate::hz(60));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.6);
    let ball = client
        .physics
        .insert(body, ColliderBuilder::ball(0.5).mass(1.0));
    let mut server = client.clone();
    client.keep(Kept {
        ticks: 60,
        poses: 60,
        ..Kept::default()
    });

    let (mut inputs, mut sent) = (BTreeMap::new(), VecDeque::new());
    let (mut corrections, mut first) = (0, None);
    for frame in 0..200 {
        client.advance(FRAME, |physics, step| {
            let input = if step.tick / 40 % 2 == 0 { 3.0 } else { -3.0 };
            inputs.insert(step.tick, input);
            push(physics, ball, input);
        });
        // The client runs five frames ahead, so that its input reaches the server in time.
        if frame >= 5 {
            server.advance(FRAME, |physics, step| {
                push(physics, ball, inputs[&step.tick]);
                // The client cannot predict this.
                if step.tick == 100 {
                    physics.apply_impulse(ball, Vector::Z).unwrap();
                }
            });
            let snapshot = Snapshot::of(&server, ball);
            first.get_or_insert(snapshot);
            sent.push_back(snapshot);
        }
        // A snapshot arrives three frames later.
        if sent.len() > 3 {
            let snapshot = sent.pop_front().unwrap();
            let result = correct(&mut client, ball, &inputs, &snapshot);
            corrections += u32::from(result.unwrap());
        }
    }
    assert_eq!(corrections, 1);
    let first = first.unwrap();
    let too_late = correct(&mut client, ball, &inputs, &first);
    assert!(matches!(too_late, Err(RewindError::NotKept { .. })));
    while server.physics.tick() < client.physics.tick() {
        server.advance(FRAME, |physics, step| {
            push(physics, ball, inputs[&step.tick]);
        });
    }
    let [there, here] = [&server, &client].map(|it| position(&it.physics, ball).translation);
    assert!(there.distance(here) < 0.01, "{there} {here}");
}
