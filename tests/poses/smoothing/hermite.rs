//! Hermite curves.

use super::*;

/// Creates a ball that moves on a circle with a radius of 1 m, once per second, at 10 Hz.
fn on_a_circle(simulation: &mut Simulation, smoothing: Smoothing) -> BodyKey {
    simulation.smoothing = smoothing;
    let rate = std::f32::consts::TAU;
    let key = simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::X)
            .linvel(Vector::Y * rate),
        ColliderBuilder::ball(0.1).mass(1.0),
    );
    let to_the_middle = ForceGenerator::Spring {
        anchor: Vector::ZERO,
        point: Vector::ZERO,
        rest_length: 0.0,
        stiffness: rate * rate,
        damping: 0.0,
    };
    simulation
        .physics
        .insert_force_generator(key, to_the_middle)
        .unwrap();
    key
}

/// Returns the largest change of the displayed velocity from one frame of a millisecond to the next, in m/s.
fn corners(smoothing: Smoothing) -> f32 {
    let mut simulation = space(10);
    let key = on_a_circle(&mut simulation, smoothing);
    advance(&mut simulation, 240);
    let mut at = Vec::new();
    for _ in 0..700 {
        advance(&mut simulation, 1);
        at.push(simulation.pose(key).unwrap().translation);
    }
    let velocities: Vec<Vector> = at
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) * 1e3)
        .collect();
    let changes = velocities
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).length());
    changes.fold(0.0, f32::max)
}

#[test]
fn hermite_displays_velocity_without_jumps() {
    let (straight, curved) = (corners(Smoothing::Interpolate), corners(Smoothing::Hermite));
    // With straight lines, the velocity jumps at each state by the effect of the force. With curves, the change is
    // spread over a hundred frames.
    assert!(
        (3.0..8.0).contains(&straight),
        "{straight} m/s, {curved} m/s"
    );
    assert!(curved < straight / 20.0, "{curved} m/s against {straight}");
}

#[test]
fn hermite_passes_through_both_states_and_rotates_the_shorter_way() {
    let mut simulation = space(10);
    simulation.smoothing = Smoothing::Hermite;
    let key = thrown_hammer(&mut simulation);
    advance(&mut simulation, 500);
    let (tick, pair) = (
        simulation.physics.tick(),
        (
            previous_pose(&simulation, key),
            current_pose(&simulation, key),
        ),
    );
    assert_eq!(simulation.pose_at(key, tick, 0.0), pair.0);
    assert_eq!(simulation.pose_at(key, tick, 1.0), pair.1);
    for alpha in [0.1, 0.5, 0.9] {
        let hermite = simulation.pose_at(key, tick, alpha).unwrap();
        let straight = interpolate(&pair.0.unwrap(), &pair.1.unwrap(), alpha);
        // Rapier turns by atan(x) for x, a hundredth less than the velocity says.
        let apart = angle_between(hermite.rotation, straight.rotation);
        assert!(apart < 0.01, "{apart} rad from the even turn at {alpha}");
        assert!((hermite * Vector::X).y.abs() < 1e-5);
        assert!((hermite.rotation.length() - 1.0).abs() < 4e-7);
    }
}

#[test]
fn hermite_displays_more_than_half_a_turn_per_step_correctly() {
    for turns in [0.3, -0.6, 0.9, 1.4f32] {
        // The turn that Rapier integrates from it, in four substeps.
        let whole = std::f32::consts::TAU;
        let made = 4.0 * integrated(0.25 * turns * whole) / whole;
        if (turns - made).abs() > 0.5 {
            continue; // the direction of the rest cannot be determined
        }
        let mut simulation = space(10);
        let key = simulation.physics.insert(
            RigidBodyBuilder::dynamic()
                .angvel(spin(0.0, 0.0, turns * std::f32::consts::TAU * 10.0))
                .allow_fast_rotation(true),
            ball(),
        );
        let smoothing = Some(Smoothing::Hermite);
        simulation
            .physics
            .set_body_smoothing(key, smoothing)
            .unwrap();
        advance(&mut simulation, 100);
        let start = previous_pose(&simulation, key).unwrap().rotation;
        let mut turned = 0.0;
        let mut last = start;
        for i in 1..=100u8 {
            let alpha = f32::from(i) / 100.0;
            let rotation = simulation.pose_at(key, 1, alpha).unwrap().rotation;
            // Each frame turns forward by a small angle.
            let step = angle_between(last, rotation) / std::f32::consts::TAU;
            assert!(step < 0.02, "{step} turns at {alpha}");
            turned += step * turns.signum();
            last = rotation;
            let off = turned - alpha * made;
            assert!(
                off.abs() < 0.1 * turns.abs(),
                "{off} of {turns} turns at {alpha}"
            );
        }
        assert!((turned - made).abs() < 1e-3, "{turned} of {made} turns");
    }
}

#[test]
fn hermite_limits_an_excessive_velocity_as_rapier_does() {
    let mut simulation = space(10);
    simulation.smoothing = Smoothing::Hermite;
    let too_fast = RigidBodyBuilder::dynamic()
        .linvel(Vector::X * 1e4)
        .angvel(spin(0.0, 0.0, 60.0));
    let key = simulation.physics.insert(too_fast, ball());
    advance(&mut simulation, 100);
    let (start, end) = (
        previous_pose(&simulation, key),
        current_pose(&simulation, key),
    );
    let (start, end) = (start.unwrap(), end.unwrap());
    for alpha in [0.25, 0.5, 0.75] {
        let shown = simulation.pose_at(key, 1, alpha).unwrap();
        let even = interpolate(&start, &end, alpha);
        let off = (shown.translation - even.translation).length();
        assert!(off < 1e-3 * end.translation.x, "{off} m at {alpha}");
        let off = angle_between(shown.rotation, even.rotation);
        assert!(off < 0.02, "{off} rad at {alpha}");
    }
}

/// Rapier stores a velocity for a fixed body that was built with one. The body does not move with it.
#[test]
fn a_fixed_body_that_was_built_with_a_velocity_is_displayed_where_it_is() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
    ] {
        let mut simulation = space(60);
        simulation.smoothing = smoothing;
        let body = RigidBodyBuilder::fixed().linvel(Vector::X * 4.0);
        let key = simulation.physics.insert(body, ball());
        for _ in 0..10 {
            simulation.advance(MS(21), |physics, _| {
                assert!(physics.body_mut(key).is_some())
            });
            assert_eq!(simulation.pose(key), Some(Pose::IDENTITY), "{smoothing:?}");
        }
    }
}

#[test]
fn a_pushed_body_starts_from_rest_or_with_the_impulse_whether_it_was_looked_at_or_not() {
    let play = |has_access: bool| {
        let mut simulation = space(10);
        simulation.smoothing = Smoothing::Hermite;
        let keys = [0.0, 0.6].map(|x| {
            let body = RigidBodyBuilder::dynamic().sleeping(true);
            let body = body.translation(Vector::X * x);
            simulation
                .physics
                .insert(body, ColliderBuilder::ball(0.29).mass(1.0))
        });
        advance(&mut simulation, 500);
        let mut shown = Vec::new();
        for i in 0..200 {
            if has_access {
                let _ = simulation.physics.rapier_mut();
            }
            if i == 10 {
                // It wakes the other body in its second step.
                (simulation.physics)
                    .apply_impulse(keys[0], Vector::X * 0.3)
                    .unwrap();
            }
            advance(&mut simulation, 7);
            shown.push(keys.map(|key| simulation.pose(key)));
        }
        shown
    };
    let shown = play(false);
    assert_ne!(shown[0], shown[199]);
    assert_eq!(shown, play(true));
}
