//! Lockstep over a bad connection, without a clock.

use std::time::Duration;

use evenstep_netcode::game::{Arena, Buttons};
use evenstep_netcode::line::{Line, Quality};
use evenstep_netcode::lockstep::{DELAY, Lockstep, MOST_DELAY};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Plays with one peer at 144 Hz and one at 50 Hz. `delay` returns the input delay of a peer in a tick. Returns the
/// peers after both have run `ticks` ticks, and the number of steps that had to wait.
fn play(quality: &Quality, ticks: u64, delay: impl Fn(usize, u64) -> u64) -> ([Lockstep; 2], u64) {
    let mut ends = [0, 1].map(|number| Lockstep::new(Arena::start(), number));
    let mut lines = [0, 1].map(|number| Line::new(quality.clone(), number));
    let mut waited = 0;
    for now in (1..).map(|ms| ms * 1_000).map(Duration::from_micros) {
        for (number, every) in [7, 20].into_iter().enumerate() {
            if now.as_millis() % every != 0 {
                continue;
            }
            for packet in lines[1 - number].receive(now) {
                ends[number].receive(&packet);
            }
            let time = MS(every as u64);
            let buttons = |tick| Buttons::of_script(number, tick);
            let tick = ends[number].simulation.physics.tick();
            ends[number].set_delay(delay(number, tick));
            let (frame, packet) = ends[number].frame(time, buttons);
            waited += frame.dropped.aborted;
            lines[number].send(now, packet);
        }
        if ends
            .iter()
            .all(|end| end.simulation.physics.tick() >= ticks)
        {
            break;
        }
        assert!(now < MS(60_000), "the peers wait for each other");
    }
    (ends, waited)
}

#[test]
fn lockstep_peers_stay_in_sync_through_losses_and_an_outage() {
    let quality = Quality {
        delay: MS(40),
        jitter: MS(30),
        loss: 200,
        outage: MS(3_000)..MS(4_000),
    };
    let (ends, waited) = play(&quality, 600, |_, _| DELAY);
    let [equal, unequal] = [0, 1].map(|i| ends[0].checks[i] + ends[1].checks[i]);
    assert!(equal >= 10 && unequal == 0, "{equal} {unequal}");
    assert!(waited > 60, "the outage lasts 60 ticks: {waited}");
}

#[test]
fn lockstep_peers_stay_in_sync_while_their_input_delays_change() {
    let quality = Quality {
        delay: MS(20),
        jitter: MS(30),
        loss: 200,
        ..Quality::default()
    };
    let delay = |number, tick| match number {
        0 => tick / 7 % 14,
        _ => 12 - tick / 40 % 12,
    };
    let (ends, _) = play(&quality, 600, delay);
    let [equal, unequal] = [0, 1].map(|i| ends[0].checks[i] + ends[1].checks[i]);
    assert!(equal >= 10 && unequal == 0, "{equal} {unequal}");
}

#[test]
fn a_longer_input_delay_ends_the_waiting() {
    let quality = Quality {
        delay: MS(150),
        ..Quality::default()
    };
    let waited = |later| {
        let delay = |_, tick| if tick < 100 { DELAY } else { later };
        play(&quality, 300, delay).1
    };
    let [short, long] = [DELAY, MOST_DELAY].map(waited);
    assert!(short > 2 * long && long > 0, "{short} {long}");
}

#[test]
fn a_desync_is_detected() {
    let mut there = Lockstep::new(Arena::start(), 1);
    there.game.scores[0] += 1;
    let mut here = Lockstep::new(Arena::start(), 0);
    while here.simulation.physics.tick() < 60 {
        let (_, packet) = here.frame(MS(10), |tick| Buttons::of_script(0, tick));
        there.receive(&packet);
        let (_, packet) = there.frame(MS(10), |tick| Buttons::of_script(1, tick));
        here.receive(&packet);
    }
    let [equal, unequal] = [0, 1].map(|i| here.checks[i] + there.checks[i]);
    assert!(equal == 0 && unequal > 0, "{equal} {unequal}");
}

#[test]
fn no_step_waits_on_a_connection_without_jitter_or_loss() {
    let quality = Quality {
        delay: MS(30),
        ..Quality::default()
    };
    let (_, waited) = play(&quality, 300, |_, _| DELAY);
    assert_eq!(waited, 0);
}
