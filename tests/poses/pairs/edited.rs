//! Teleports, scenes at rest, pauses.

use super::*;

#[test]
fn a_teleport_is_displayed_in_the_next_frame_without_interpolation() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 25);
    let displayed = simulation.pose(key);
    simulation.physics.teleport(key, at(500.0)).unwrap();
    assert_eq!(
        simulation.pose(key),
        displayed,
        "displayed poses do not change"
    );
    advance(&mut simulation, 1); // no step
    assert_eq!(simulation.pose(key), Some(at(500.0)));
    assert_eq!(simulation.moved(), [(key, at(500.0))]);
    advance(&mut simulation, 10);
    assert_near(
        previous_pose(&simulation, key).unwrap().translation.x,
        500.0,
    );
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 501.0);
    assert_eq!(
        simulation.physics.body(key).unwrap().linvel(),
        Vector::X * 100.0,
        "the velocity is unchanged"
    );
    let bad = Pose::from_translation(Vector::NAN);
    assert_eq!(
        simulation.physics.teleport(key, bad),
        Err(BodyError::NotFinite(key))
    );
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 501.0);
}

#[test]
fn set_position_before_or_after_a_step_is_not_interpolated() {
    struct Mover {
        key: BodyKey,
        tick: u64,
        after: bool,
        through_rapier: bool,
    }
    impl Mover {
        fn set(&self, physics: &mut Physics) {
            let handle = physics.handle(self.key).unwrap();
            let body = if self.through_rapier {
                &mut physics.rapier_mut().bodies[handle]
            } else {
                physics.body_mut(self.key).unwrap()
            };
            body.set_position(at(500.0), true);
        }
    }
    impl evenstep::Hooks for Mover {
        type Error = std::convert::Infallible;
        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if !self.after && step.tick == self.tick {
                self.set(physics);
            }
            Ok(())
        }
        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if self.after && step.tick == self.tick {
                self.set(physics);
            }
            Ok(())
        }
    }

    for asleep in [false, true] {
        for (tick, after, through_rapier) in combinations(&[2, 3, 4], &[false, true]) {
            let mut simulation = space();
            let key = simulation.physics.insert(flyer().sleeping(asleep), ball());
            advance(&mut simulation, 20);
            let mut mover = Mover {
                key,
                tick,
                after,
                through_rapier,
            };
            let Ok(_) = simulation.advance_with(MS(35), &mut mover);
            let context = format!("asleep {asleep}, tick {tick}, after {after}");
            for ms in [0, 4, 10] {
                advance(&mut simulation, ms);
                let current = current_pose(&simulation, key).unwrap();
                let step = current.translation.x - shown_x(&simulation, key);
                assert!(step < 1.01, "{context}: {step} m in a step");
                assert!(
                    shown_x(&simulation, key) >= 499.99,
                    "{context}: {}",
                    shown_x(&simulation, key)
                );
            }
        }
    }
}

/// Returns all combinations of a tick and two flags.
fn combinations(ticks: &[u64], flags: &[bool]) -> Vec<(u64, bool, bool)> {
    let mut all = Vec::new();
    for &tick in ticks {
        for &first in flags {
            all.extend(flags.iter().map(|&second| (tick, first, second)));
        }
    }
    all
}

/// Advances by frames of `ms` milliseconds until all bodies sleep.
fn advance_until_asleep(simulation: &mut Simulation, ms: u64) {
    for _ in 0..2_000 {
        if advance(simulation, ms).awake == 0 {
            return;
        }
    }
    panic!("{} are still awake", simulation.frame().awake);
}

#[test]
fn a_sleeping_scene_lists_no_moved_bodies() {
    let mut simulation = scenes::with_floor(Rate::hz(60));
    scenes::pile(&mut simulation, 100);
    advance(&mut simulation, 17);
    assert_eq!(simulation.frame().awake, 100);
    advance_until_asleep(&mut simulation, 16);
    advance(&mut simulation, 16);
    advance(&mut simulation, 16);
    for _ in 0..50 {
        advance(&mut simulation, 7);
        assert_eq!(simulation.moved(), []);
    }
}

#[test]
fn a_body_at_constant_speed_is_displayed_evenly() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    for frame in 1..=400 {
        simulation.advance(Duration::from_nanos(6_944_444), |_, _| ());
        // The displayed pose is a step behind the true state, and at the start until the second step begins.
        let expected = (0.694_444_4 * f64::from(frame) - 1.0).max(0.0);
        let shown = f64::from(shown_x(&simulation, key));
        assert!(
            (shown - expected).abs() < 1e-4,
            "{shown} in frame {frame}, not {expected}"
        );
    }
}

#[test]
fn displayed_poses_stop_in_a_pause_and_move_evenly_in_slow_motion() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 25);
    simulation.pause();
    let still = simulation.pose(key);
    for _ in 0..5 {
        assert_eq!(simulation.advance(MS(16), |_, _| ()).steps, 0);
        assert_eq!((simulation.pose(key), simulation.moved().len()), (still, 0));
    }
    simulation.resume();
    simulation.clock_settings_mut().set_speed(0.1).unwrap();
    let mut before = shown_x(&simulation, key);
    for _ in 0..50 {
        advance(&mut simulation, 10);
        let now = shown_x(&simulation, key);
        assert!((now - before - 0.1).abs() < 1e-4);
        before = now;
    }
}

#[test]
fn a_key_of_another_simulation_causes_no_panic() {
    let (mut one, mut other) = (space(), space());
    one.physics.insert(flyer(), ball());
    let foreign = one.physics.insert(flyer(), ball());
    assert_eq!(other.pose(foreign), None);
    other.physics.insert(flyer(), ball());
    other.physics.insert(flyer(), ball());
    // The key may name a body of the other simulation.
    assert!(other.pose(foreign).is_some());
    assert!(other.physics.remove(foreign).is_some());
}

#[test]
fn the_frame_counts_the_bodies_that_move_or_may_have_moved() {
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let keys = scenes::pile(&mut simulation, 20);
    let frame = advance(&mut simulation, 15);
    assert_eq!((frame.steps, frame.alpha, frame.movers), (1, 0.5, 21));
    advance_until_asleep(&mut simulation, 10);
    advance(&mut simulation, 10);
    assert_eq!(advance(&mut simulation, 10).movers, 0);

    // Two bodies are moved, one is set to its own pose, and one is only looked at.
    let there = translation(0.0, 50.0, 0.0);
    simulation.physics.teleport(keys[0], there).unwrap();
    simulation.physics.teleport_by(keys[1], there).unwrap();
    let same = *simulation.physics.body(keys[2]).unwrap().position();
    let body = simulation.physics.body_mut(keys[2]).unwrap();
    body.set_position(same, false);
    assert!(simulation.physics.body(keys[3]).is_some());
    let frame = advance(&mut simulation, 2); // no step
    assert_eq!((frame.steps, frame.movers), (0, 3));
}
