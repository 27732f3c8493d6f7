//! Bodies that another machine simulates: late, doubled, lost and jittering snapshots.

use evenstep::rapier::prelude::Pose;
use recipes::remote_bodies::{Delay, RemoteBody};

const INTERVAL: f64 = 3.0;
/// The rounding of a sum, in ticks.
const ROUNDING: f64 = 1e-9;
/// The largest change of the delay, in ticks per tick.
const MOST_CHANGE: f64 = 0.05;

fn pose(x: f64) -> Pose {
    Pose::translation(x as f32, 0.0, 0.0)
}

/// Returns a delay in ticks.
fn ticks(delay: &Delay) -> f64 {
    -delay.displayed_tick(0.0)
}

/// Creates a body with these ticks and positions.
fn body<const N: usize>(states: [(f64, f64); N]) -> RemoteBody {
    let mut body = RemoteBody::default();
    for (tick, x) in states {
        assert!(body.push(tick, pose(x), 0));
    }
    body
}

fn xs<const N: usize>(body: &RemoteBody, ticks: [f64; N]) -> [f32; N] {
    ticks.map(|tick| body.pose_at(tick).unwrap().translation.x)
}

#[test]
fn a_lost_snapshot_is_interpolated_linearly_and_the_ends_rest() {
    let body = body([(10.0, 1.0), (13.0, 2.0), (19.0, 4.0)]);
    let ticks = [9.0, 10.0, 11.5, 13.0, 16.0, 19.0, 1e9];
    assert_eq!(xs(&body, ticks), [1.0, 1.0, 1.5, 2.0, 3.0, 4.0, 4.0]);
    assert_eq!(RemoteBody::default().pose_at(10.0), None);
}

#[test]
fn the_order_of_snapshots_and_duplicates_change_nothing() {
    let mut body = body([(6.0, 4.0), (0.0, 0.0), (6.0, 4.0), (3.0, 3.0), (0.0, 0.0)]);
    assert_eq!(xs(&body, [0.0, 1.0, 3.0, 6.0]), [0.0, 1.0, 3.0, 4.0]);
    for _ in 0..100 {
        body.push(6.0, pose(4.0), 0);
    }
    assert_eq!(xs(&body, [0.0]), [0.0]); // no other state was discarded
}

#[test]
fn a_body_at_rest_does_not_creep_towards_its_next_motion() {
    let mut body = body([(0.0, 1.0)]);
    for tick in [97.0, 50.0, f64::NAN] {
        body.rest_until(tick);
    }
    body.push(100.0, pose(2.0), 0);
    assert_eq!(xs(&body, [50.0, 97.0, 98.5]), [1.0, 1.0, 1.5]);
    RemoteBody::default().rest_until(1.0);
}

#[test]
fn a_teleport_is_a_cut_even_if_its_snapshot_is_lost() {
    let mut body = body([(0.0, 0.0), (3.0, 3.0)]);
    // The body was teleported at tick 4, and the snapshot of tick 6 is lost.
    body.push(9.0, pose(50.0), 1);
    body.push(12.0, pose(53.0), 1);
    assert_eq!(xs(&body, [1.0, 8.9, 9.0, 10.0]), [1.0, 3.0, 50.0, 51.0]);
    body.rest_until(15.0);
    assert_eq!(xs(&body, [14.0]), [53.0]);
}

#[test]
fn numbers_that_are_not_finite_are_ignored() {
    let mut body = body([(0.0, 1.0)]);
    let mut delay = Delay::new(INTERVAL);
    delay.record_arrival(5.0, 0.0);
    let displayed = delay.displayed_tick(5.0);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(!body.push(bad, pose(2.0), 0));
        assert!(!body.push(1.0, pose(bad), 0));
        assert_eq!(xs(&body, [bad]), [1.0]);
        delay.record_arrival(bad, 3.0);
        delay.record_arrival(8.0, bad);
        delay.adapt(f64::NAN);
    }
    assert_eq!(xs(&body, [-1e9, 0.0, 1e9]), [1.0; 3]);
    assert_eq!(delay.displayed_tick(5.0), displayed);
}

#[test]
fn old_states_are_discarded() {
    let mut body = RemoteBody::default();
    for tick in (0..1_000).chain(0..10).map(f64::from) {
        body.push(tick, pose(tick), 0);
    }
    assert_eq!(xs(&body, [0.0, 999.0]), [936.0, 999.0]); // 64 states
}

/// Runs these ticks. Snapshots arrive every three ticks, with ages that alternate. Returns the last delay.
fn run(delay: &mut Delay, range: std::ops::Range<u32>, ages: [f64; 2]) -> f64 {
    for now in range {
        let before = ticks(delay);
        if now % 3 == 0 {
            let age = ages[now as usize % 2];
            delay.record_arrival(now.into(), f64::from(now) - age);
        }
        delay.adapt(1.0);
        let is_first = before == 0.0;
        assert!(is_first || (ticks(delay) - before).abs() <= MOST_CHANGE + ROUNDING);
    }
    ticks(delay)
}

#[test]
fn the_delay_grows_and_shrinks_slowly_with_the_jitter() {
    let mut delay = Delay::new(INTERVAL);
    let even = run(&mut delay, 0..600, [5.0, 5.0]);
    let jittering = run(&mut delay, 600..1_200, [4.0, 6.0]);
    let even_again = run(&mut delay, 1_200..1_800, [5.0, 5.0]);
    let delays = [even, jittering, even_again];
    let off = |i: usize, right: f64| (delays[i] - right).abs();
    assert!(off(0, 11.0) < 0.05 && off(2, 11.0) < 0.05, "{delays:?}");
    assert!(off(1, 13.0) < 0.2, "{delays:?}");
}

#[test]
fn after_a_gap_the_displayed_time_stops_or_jumps_forward_but_never_back() {
    let mut delay = Delay::new(INTERVAL);
    run(&mut delay, 0..600, [5.0, 5.0]);
    // The connection stalls. Its first snapshot is 100 ticks old.
    delay.record_arrival(700.0, 600.0);
    let displayed = delay.displayed_tick(700.0);
    for now in 701..760 {
        delay.adapt(1.0);
        let moved = delay.displayed_tick(now.into()) - displayed;
        assert!(moved.abs() < ROUNDING, "{moved} at {now}");
    }
    for now in 760..1_600 {
        let before = delay.displayed_tick(f64::from(now) - 1.0);
        delay.adapt(1.0);
        let moved = delay.displayed_tick(now.into()) - before;
        assert!(moved > -ROUNDING, "{moved} at {now}");
    }
    assert_eq!(ticks(&delay), 108.0);
    delay.record_arrival(1_600.0, 1_595.0);
    delay.adapt(0.0);
    assert_eq!(ticks(&delay), 13.0);
}

#[test]
fn a_clock_that_is_set_forward_does_not_change_the_displayed_time() {
    let mut delay = Delay::new(INTERVAL);
    delay.record_arrival(5.0, 0.0);
    let displayed = delay.displayed_tick(5.0);
    delay.shift(1_000.0);
    delay.adapt(0.0);
    assert_eq!(delay.displayed_tick(1_005.0), displayed);
}

/// Returns the snapshots that arrive at a tick: of every third tick, after 5 to 12 ticks, one in seven lost, and each
/// doubled.
fn arriving(now: f64) -> impl Iterator<Item = f64> {
    let sent = (0..400_u32).filter(|i| i % 7 != 3);
    sent.filter_map(move |i| {
        let tick = 3.0 * f64::from(i);
        let arrival = tick + f64::from(5 + 5 * i % 8);
        [arrival, arrival + 4.0].contains(&now).then_some(tick)
    })
}

#[test]
fn a_body_moves_evenly_over_a_bad_connection() {
    let (mut delay, mut body) = (Delay::new(INTERVAL), RemoteBody::default());
    let mut last = f64::NEG_INFINITY;
    for now in (5..1_200).map(f64::from) {
        for tick in arriving(now) {
            delay.record_arrival(now, tick);
            body.push(tick, pose(tick), 0);
        }
        delay.adapt(1.0);
        let displayed = delay.displayed_tick(now);
        let drawn = body.pose_at(displayed).unwrap();
        // The body moves by a metre per tick. The jitter is known within two seconds.
        let off = f64::from(drawn.translation.x) - displayed;
        assert!(now < 120.0 || off.abs() < 1e-3, "{off} m at tick {now}");
        let moved = displayed - last;
        assert!(now == 5.0 || (0.949..1.051).contains(&moved), "{moved}");
        last = displayed;
    }
}
