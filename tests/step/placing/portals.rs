//! Teleports that keep the motion.

use super::*;

#[test]
fn motion_through_a_portal_equals_the_transformed_motion_without_it() {
    let portal = pose(vector(40.0, -3.0, 7.0), spin(0.3, 1.4, -0.2));
    // In a frame with a step and in one without, between frames and in a hook.
    for (ms, in_hook) in [(3, false), (11, false), (25, true)] {
        let (mut through, mut twin) = (space(100), space(100));
        let (key, other) = (tumbler(&mut through), tumbler(&mut twin));
        for simulation in [&mut through, &mut twin] {
            advance(simulation, 34);
        }
        if in_hook {
            let last = through.physics.tick() + 1;
            through.advance(MS(ms), |physics, step| {
                if step.tick == last {
                    physics.teleport_by(key, portal).unwrap();
                }
            });
        } else {
            let before = through.pose(key);
            through.physics.teleport_by(key, portal).unwrap();
            assert_eq!(
                through.pose(key),
                before,
                "the displayed pose is unchanged until the next frame"
            );
            advance(&mut through, ms);
        }
        advance(&mut twin, ms);
        for _ in 0..60 {
            let expected = portal * twin.pose(other).unwrap();
            let off = apart(through.pose(key).unwrap(), expected);
            assert!(off < 1e-4, "{off} m from the expected pose");
            advance(&mut through, 7);
            advance(&mut twin, 7);
        }
        let velocity = portal.rotation * twin.physics.body(other).unwrap().linvel();
        assert!((through.physics.body(key).unwrap().linvel() - velocity).length() < 1e-5);
    }
}

#[test]
fn wrapping_a_world_with_teleport_by_keeps_displayed_motion_even() {
    // A world of 64 m: a body that leaves it at one end enters at the other, with its motion.
    let mut simulation = space(60);
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 50.0);
    let key = simulation.physics.insert(fly, ball());
    let (mut last, mut wraps) = (0.0, 0);
    for frame in 0..600 {
        simulation.advance(MS(7), |physics, _| {
            if physics.body(key).unwrap().translation().x > 32.0 {
                let back = translation(-64.0, 0.0, 0.0);
                physics.teleport_by(key, back).unwrap();
            }
        });
        let now = simulation.pose(key).unwrap().translation.x;
        let mut way = now - last;
        if way < -32.0 {
            way += 64.0;
            wraps += 1;
        }
        assert!(
            frame < 5 || (way - 0.35).abs() < 2e-5,
            "{way} m in frame {frame}"
        );
        last = now;
    }
    assert_eq!(wraps, 3);
}

#[test]
fn portals_that_are_not_finite_and_removed_bodies_are_refused() {
    let mut simulation = space(60);
    let key = tumbler(&mut simulation);
    let nan = Pose::from_translation(Vector::NAN);
    assert_eq!(
        simulation.physics.teleport_by(key, nan),
        Err(BodyError::NotFinite(key))
    );
    let refused = simulation.physics.shift_origin(Vector::NAN).unwrap_err();
    assert!(refused.to_string().contains("NaN, NaN"), "{refused}");
    assert_eq!(simulation.pose(key), Some(Pose::IDENTITY));
    simulation.physics.remove(key);
    let there = Pose::IDENTITY;
    assert_eq!(
        simulation.physics.teleport_by(key, there),
        Err(BodyError::Gone(key))
    );
}
