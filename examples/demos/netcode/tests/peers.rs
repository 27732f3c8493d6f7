//! Two peers over UDP with losses. GGRS resends in wall-clock time, and no assertion depends on when it does.

use std::time::Duration;

use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::line::Quality;
use evenstep_netcode::packets::Packets;
use evenstep_netcode::rollback::{MAX_PREDICTION, MatchError, Peer};
use evenstep_netcode::udp::{LoopbackSocket, Now};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A tick that both peers pass.
const LAST: u64 = 300;

/// Creates two peers with these fingerprints.
fn two_peers(quality: &Quality, now: &Now, fingerprints: [u64; 2]) -> [Peer<Arena>; 2] {
    let [one, other] = LoopbackSocket::pair(quality, now).expect("there are free ports");
    let peer = |number, socket| {
        let packets = Packets::new(socket, fingerprints[number]);
        Peer::new(Arena::start(), number, packets, MS(60_000)).unwrap()
    };
    [peer(0, one), peer(1, other)]
}

#[test]
fn peers_with_different_fingerprints_report_an_error_and_run_no_step() {
    let now = Now::default();
    let ours = evenstep::saving::fingerprint();
    let mut peers = two_peers(&Quality::default(), &now, [ours, !ours]);
    let mut errors = [None, None];
    while errors.iter().any(Option::is_none) {
        now.set(now.get() + MS(10));
        for (peer, error) in peers.iter_mut().zip(&mut errors) {
            match peer.frame(MS(10), |_| Buttons::default()) {
                Ok(frame) => assert_eq!(frame.steps, 0),
                Err(other) => *error = Some(other),
            }
        }
    }
    let [here, there] = errors.map(|error| match error {
        Some(MatchError::Fingerprint { ours, theirs }) => [ours, theirs],
        other => panic!("{other:?}"),
    });
    assert_eq!([here, there], [[ours, !ours], [!ours, ours]]);
}

#[test]
fn both_peers_agree_on_every_confirmed_state() {
    let quality = Quality {
        delay: MS(60),
        jitter: MS(30),
        loss: 100,
        ..Quality::default()
    };
    let now = Now::default();
    let mut peers = two_peers(&quality, &now, [evenstep::saving::fingerprint(); 2]);
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
        // The number depends on how long GGRS waits, in wall-clock time, before it resends.
        assert!(counts.rollbacks > 0, "{counts:?}");
        assert!(counts.longest <= MAX_PREDICTION as u64, "{counts:?}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "GGRS resends after 0.2 s of wall-clock time"
)]
fn pause() {
    std::thread::sleep(MS(1));
}
