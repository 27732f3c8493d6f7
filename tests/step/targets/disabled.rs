//! Bodies that are disabled on their way to a target.

use super::*;
use proptest::prelude::*;
use scenes::with_floor;
use std::collections::BTreeSet;

fn set_enabled(physics: &mut Physics, key: BodyKey, is_enabled: bool) {
    physics.body_mut(key).unwrap().set_enabled(is_enabled);
}

fn set_target(physics: &mut Physics, key: BodyKey, x: f32, time: Duration) {
    physics.set_kinematic_target(key, at(x), time).unwrap();
}

/// Returns a platform that has moved 0.25 m at 1 m/s, and arrives after 1 s.
fn under_way() -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    set_target(&mut simulation.physics, key, 1.0, SECOND);
    advance(&mut simulation, 250);
    assert_eq!(position(&simulation.physics, key).x, 0.25);
    (simulation, key)
}

/// Enables a body, and checks that it stays where it is, bit for bit.
#[track_caller]
fn assert_stays(simulation: &mut Simulation, key: BodyKey) {
    let pose = current_pose(simulation, key);
    set_enabled(&mut simulation.physics, key, true);
    for _ in 0..5 {
        advance(simulation, 10);
        let body = simulation.physics.body(key).unwrap();
        assert_eq!(Some(*body.position()), pose);
        assert_eq!(body.linvel(), Vector::ZERO);
    }
}

#[test]
fn a_disabled_body_rests_and_stays_after_its_targets_time() {
    let (mut simulation, key) = under_way();
    set_enabled(&mut simulation.physics, key, false);
    advance(&mut simulation, 10);
    for _ in 0..10 {
        assert_eq!(advance(&mut simulation, 100).movers, 0);
        assert_eq!(current_pose(&simulation, key), Some(at(0.25)));
    }
    assert_stays(&mut simulation, key);
}

#[test]
fn a_body_enabled_before_its_targets_time_moves_evenly_and_arrives_in_time() {
    for in_hook in [false, true] {
        let (mut simulation, key) = under_way();
        set_enabled(&mut simulation.physics, key, false);
        advance(&mut simulation, 250);
        if !in_hook {
            set_enabled(&mut simulation.physics, key, true);
        }
        for tick in 51..=100u8 {
            simulation.advance(MS(10), |physics, _| set_enabled(physics, key, true));
            let fraction = f32::from(tick - 50) / 50.0;
            let off = position(&simulation.physics, key).x - (0.25 + 0.75 * fraction);
            assert!(off.abs() < 1e-6, "{off} m in step {tick}");
        }
        assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
        assert_stays(&mut simulation, key);
    }
}

#[test]
fn no_motion_of_the_step_in_which_a_body_is_disabled_is_left() {
    // The game's calls before the step, and then two in its hook.
    type Edit = fn(&mut Physics, BodyKey);
    let nothing: Edit = |_, _| ();
    let set_past: Edit = |physics, key| set_target(physics, key, 9.0, Duration::ZERO);
    let set_future: Edit = |physics, key| set_target(physics, key, 9.0, MS(400));
    let disable: Edit = |physics, key| set_enabled(physics, key, false);
    for (before, first, second) in [
        (nothing, nothing, disable),
        (nothing, set_past, disable),
        (nothing, set_future, disable),
        (nothing, disable, set_past),
        (nothing, disable, set_future),
        (set_past, nothing, disable),
        (disable, set_past, nothing),
        (disable, set_future, nothing),
    ] {
        for is_aborted in [false, true] {
            let (mut simulation, key) = under_way();
            before(&mut simulation.physics, key);
            simulation.begin_frame(MS(10));
            simulation.next_step().unwrap();
            first(&mut simulation.physics, key);
            if is_aborted {
                simulation.end_frame();
                simulation.begin_frame(MS(10));
                simulation.next_step().unwrap();
            }
            second(&mut simulation.physics, key);
            set_enabled(&mut simulation.physics, key, false);
            while simulation.run_step() {
                simulation.next_step();
            }
            simulation.end_frame();
            for _ in 0..10 {
                advance(&mut simulation, 100);
            }
            assert_eq!(current_pose(&simulation, key), Some(at(0.25)));
            assert_stays(&mut simulation, key);
        }
    }
}

#[test]
fn a_body_disabled_after_rapiers_own_target_rests_until_it_is_enabled() {
    let mut simulation = space(100);
    let key = platform(&mut simulation);
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_next_kinematic_position(at(1.0));
    body.set_enabled(false);
    for _ in 0..2 {
        advance(&mut simulation, 10);
    }
    assert_eq!(advance(&mut simulation, 10).movers, 0);
    // Rapier keeps its next position.
    set_enabled(&mut simulation.physics, key, true);
    advance(&mut simulation, 15);
    assert_eq!(current_pose(&simulation, key), Some(at(1.0)));
    assert_eq!(simulation.pose(key).unwrap(), at(0.5));
}

/// The lift's target is reached at this tick.
const ARRIVAL: u64 = 200;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(100)))]

    /// A lift under crates is enabled and disabled at random ticks, until half a second before the time of its target,
    /// and then after that time. Each step moves it no faster than the rest of its path needs.
    #[test]
    fn no_lift_or_crate_leaps_when_the_lift_is_enabled(
        toggles in prop::collection::btree_set(0..150u64, 0..8),
        late_toggles in prop::collection::btree_set(ARRIVAL..300, 0..8),
        between_frames in any::<bool>(),
        to in (-5.0..5.0f32, 1.0..5.0f32),
        fps in prop_oneof![Just(30), Just(100), Just(144)],
    ) {
        let toggles: BTreeSet<u64> = toggles.union(&late_toggles).copied().collect();
        let mut simulation = with_floor(Rate::hz(100));
        let lift = platform(&mut simulation);
        simulation.physics.teleport(lift, translation(0.0, 1.0, 0.0)).unwrap();
        let crates = [0.5, 1.6, 3.0].map(|height| {
            let body = RigidBodyBuilder::dynamic().translation(vector(height - 1.5, height, 0.0));
            simulation.physics.insert(body, cuboid(0.25, 0.25, 0.25))
        });
        let end = translation(to.0, to.1, 0.0);
        let time = SECOND * 2;
        simulation.physics.set_kinematic_target(lift, end, time).unwrap();
        let toggle = |physics: &mut Physics, tick: u64| {
            if toggles.contains(&tick) {
                let is_enabled = physics.body(lift).unwrap().is_enabled();
                set_enabled(physics, lift, !is_enabled);
            }
        };
        let mut fastest = 0.0_f32;
        while simulation.physics.tick() < 320 {
            let tick = simulation.physics.tick();
            if between_frames {
                toggle(&mut simulation.physics, tick);
            }
            simulation.begin_frame(SECOND / fps);
            while let Some(step) = simulation.next_step() {
                if !between_frames {
                    toggle(&mut simulation.physics, step.tick);
                }
                let body = simulation.physics.body(lift).unwrap();
                let is_under_way = body.is_enabled() && step.tick < ARRIVAL;
                let rest = (end.translation - body.translation()).length();
                let most = if is_under_way { rest / (time - step.start_time).as_secs_f32() } else { 0.0 };
                simulation.run_step();
                let body = simulation.physics.body(lift).unwrap();
                if body.is_enabled() {
                    let speed = body.linvel().length();
                    prop_assert!(speed <= 1.001 * most + 1e-3, "{} of {} m/s", speed, most);
                }
                fastest = fastest.max(most);
                for key in crates {
                    let speed = simulation.physics.body(key).unwrap().linvel().length();
                    prop_assert!(speed <= fastest + 12.0, "a crate at {} m/s", speed);
                }
            }
            simulation.end_frame();
        }
    }
}
