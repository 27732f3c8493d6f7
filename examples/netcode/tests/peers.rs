//! Two ends over UDP with losses. GGRS sends again by the wall clock; nothing here asks it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::line::Quality;
use evenstep_netcode::rollback::{MAX_PREDICTION, Peer};
use evenstep_netcode::udp::LoopbackSocket;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A tick that both ends go beyond.
const LAST: u64 = 300;

#[test]
fn both_ends_agree_on_every_state_that_is_confirmed() {
    let quality = Quality {
        delay: MS(60),
        jitter: MS(30),
        loss: 100,
        ..Quality::default()
    };
    let now = Rc::new(Cell::new(Duration::ZERO));
    let sockets = [0, 1].map(|seed| LoopbackSocket::bind(quality.clone(), seed, now.clone()));
    let sockets = sockets.map(|socket| socket.expect("a free port"));
    let addresses = [1, 0].map(|other: usize| sockets[other].address().unwrap());
    let mut number = 0..;
    let mut peers = sockets.map(|socket| {
        let number = number.next().unwrap();
        Peer::new(
            Arena::start(),
            number,
            socket,
            addresses[number],
            MS(60_000),
        )
        .unwrap()
    });
    while peers
        .iter()
        .any(|peer| peer.confirmed_checksum(LAST).is_none())
    {
        now.set(now.get() + MS(10));
        let mut steps = 0;
        for (number, peer) in peers.iter_mut().enumerate() {
            let buttons = |tick| Buttons::of_script(number, tick);
            steps += peer.frame(MS(10), buttons).unwrap().steps;
        }
        if steps == 0 {
            pause();
        }
    }
    let [here, there] = &peers;
    for tick in 0..=LAST {
        let sum = here.confirmed_checksum(tick);
        assert!(
            sum.is_some() && sum == there.confirmed_checksum(tick),
            "tick {tick}"
        );
    }
    for Peer {
        player, desyncs, ..
    } in &peers
    {
        assert_eq!(*desyncs, 0);
        let counts = &player.counts;
        // How often depends on how long GGRS waits, by the wall clock, before it sends again.
        assert!(counts.rollbacks > 0, "{counts:?}");
        assert!(counts.longest <= MAX_PREDICTION as u64, "{counts:?}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "GGRS sends again after 0.2 s of wall time"
)]
fn pause() {
    std::thread::sleep(MS(1));
}
