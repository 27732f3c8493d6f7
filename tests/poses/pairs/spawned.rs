//! Bodies that are spawned and removed.

use super::*;

#[test]
fn a_new_body_is_displayed_at_its_spawn_pose() {
    let mut simulation = space();
    let key = simulation
        .physics
        .insert(flyer().translation(Vector::X * 7.0), ball());
    assert_eq!(simulation.pose(key), Some(at(7.0)));
    advance(&mut simulation, 5); // no step
    assert_eq!(simulation.pose(key), Some(at(7.0)));
    assert_eq!(
        simulation.moved(),
        [(key, at(7.0))],
        "a new body is listed in its first frame"
    );
    advance(&mut simulation, 1);
    assert_eq!(simulation.moved(), []);
}

#[test]
fn the_first_step_starts_from_the_spawn_pose() {
    let mut simulation = space();
    let key = simulation
        .physics
        .insert(flyer().translation(Vector::X * 7.0), ball());
    advance(&mut simulation, 12);
    assert_eq!(previous_pose(&simulation, key), Some(at(7.0)));
    assert_near(shown_x(&simulation, key), 7.2);
}

#[test]
fn a_body_spawned_in_a_hook_starts_from_its_spawn_pose_in_that_step() {
    let mut simulation = space();
    let mut key = None;
    simulation.advance(MS(35), |physics, step| {
        if step.tick == 1 {
            key = Some(physics.insert(flyer(), ball()));
        }
    });
    let key = key.unwrap();
    assert_near(previous_pose(&simulation, key).unwrap().translation.x, 1.0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 2.0);
}

#[test]
fn a_body_moved_right_after_its_spawn_starts_from_the_new_pose() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_position(at(50.0), true);
    let other = simulation.physics.insert(flyer(), ball());
    let handle = simulation.physics.handle(other).unwrap();
    simulation.physics.rapier_mut().bodies[handle].set_position(at(60.0), true);
    advance(&mut simulation, 10);
    assert_eq!(previous_pose(&simulation, key), Some(at(50.0)));
    assert_eq!(previous_pose(&simulation, other), Some(at(60.0)));
}

#[test]
fn a_frame_without_a_step_interpolates_further_between_the_same_states() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 10);
    let pair = (
        previous_pose(&simulation, key),
        current_pose(&simulation, key),
    );
    for ms in 1..10 {
        advance(&mut simulation, 1);
        assert_eq!(
            (
                previous_pose(&simulation, key),
                current_pose(&simulation, key)
            ),
            pair
        );
        assert_near(shown_x(&simulation, key), ms as f32 / 10.0);
        assert_eq!(moved_keys(&simulation), [key]);
    }
}

#[test]
fn a_frame_with_several_steps_interpolates_the_last_two_states() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 104);
    assert_near(previous_pose(&simulation, key).unwrap().translation.x, 9.0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 10.0);
    assert_near(shown_x(&simulation, key), 9.4);
}

#[test]
fn pose_and_pose_at_and_moved_agree_bit_for_bit() {
    let mut simulation = space();
    let key = simulation
        .physics
        .insert(flyer().angvel(spin(30.0, 20.0, 10.0)), ball());
    advance(&mut simulation, 33);
    let frame = simulation.frame();
    let (previous, current) = (
        previous_pose(&simulation, key).unwrap(),
        current_pose(&simulation, key).unwrap(),
    );
    let pose = simulation.pose(key).unwrap();
    assert_eq!(pose, interpolate(&previous, &current, frame.alpha));
    let tick = frame.tick;
    assert_eq!(simulation.pose_at(key, tick, frame.alpha), Some(pose));
    assert_eq!(
        simulation.moved(),
        [(key, pose)],
        "the batch and a single call agree bit for bit"
    );
    assert_eq!(simulation.pose_at(key, tick, 0.0), Some(previous));
    assert_eq!(simulation.pose_at(key, tick, -3.0), Some(previous));
    assert_eq!(simulation.pose_at(key, tick, f32::NAN), Some(previous));
    assert_eq!(
        simulation.pose_at(key, tick, f32::INFINITY),
        simulation.pose_at(key, tick, 1.0)
    );
}

#[test]
fn a_removed_body_is_displayed_until_the_next_frame() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    let kept = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 15);
    let displayed = simulation.pose(key);
    assert!(simulation.physics.remove(key).is_some());
    assert_eq!(
        (simulation.pose(key), displayed.is_some()),
        (displayed, true)
    );
    assert_eq!(
        (
            previous_pose(&simulation, key),
            current_pose(&simulation, key)
        ),
        (None, None)
    );
    assert!(simulation.physics.body(key).is_none() && simulation.physics.body_mut(key).is_none());
    assert!(simulation.physics.handle(key).is_none() && simulation.physics.remove(key).is_none());
    assert_eq!(
        simulation.physics.add_force(key, Vector::X),
        Err(BodyError::Gone(key))
    );
    assert_eq!(
        simulation.physics.teleport(key, at(0.0)),
        Err(BodyError::Gone(key))
    );
    assert_eq!(
        simulation.physics.insert_collider(key, ball()),
        Err(BodyError::Gone(key))
    );
    advance(&mut simulation, 2);
    assert_eq!(simulation.pose(key), None);
    assert_eq!(moved_keys(&simulation), [kept]);
    assert_eq!(simulation.removed(), [key]);
    advance(&mut simulation, 2);
    assert_eq!(simulation.removed(), []);
}

#[test]
fn a_body_spawned_and_removed_between_two_frames_leaves_no_trace() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    simulation.physics.remove(key);
    let frame = simulation.advance(MS(25), |_, _| ());
    assert_eq!((frame.steps, frame.awake), (2, 0));
    assert_eq!(simulation.pose(key), None);
    assert_eq!(simulation.moved(), []);
}

#[test]
fn a_body_in_a_reused_slot_never_has_the_pose_of_its_predecessor() {
    let mut simulation = space();
    let old = simulation
        .physics
        .insert(flyer().translation(Vector::X * -50.0), ball());
    advance(&mut simulation, 15);
    let slot = simulation.physics.handle(old).unwrap().into_raw_parts().0;
    simulation.physics.remove(old);
    let new = simulation
        .physics
        .insert(flyer().translation(Vector::X * 7.0), ball());
    assert_eq!(
        simulation.physics.handle(new).unwrap().into_raw_parts().0,
        slot
    );
    assert_near(shown_x(&simulation, old), -49.5);
    assert_eq!(simulation.pose(new), Some(at(7.0)));
    advance(&mut simulation, 7);
    assert_near(shown_x(&simulation, new), 7.2);
    assert_eq!(
        (simulation.pose(old), moved_keys(&simulation)),
        (None, vec![new])
    );
}

#[test]
fn a_body_removed_through_rapier_is_listed_as_removed() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    let asleep = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().sleeping(true), ball());
    advance(&mut simulation, 15);
    for key in [key, asleep] {
        let handle = simulation.physics.handle(key).unwrap();
        simulation.physics.rapier_mut().remove_body(handle);
        assert_eq!(
            (
                simulation.physics.handle(key),
                simulation.physics.key(handle)
            ),
            (None, None)
        );
        assert_eq!(
            simulation.physics.add_force(key, Vector::X),
            Err(BodyError::Gone(key))
        );
    }
    // Its slot is reused by a body that has no key.
    let stranger = simulation
        .physics
        .rapier_mut()
        .insert_body(RigidBodyBuilder::dynamic());
    assert_eq!(simulation.physics.key(stranger), None);
    advance(&mut simulation, 15);
    assert_eq!(simulation.moved(), []);
    let mut removed = simulation.removed().to_vec();
    removed.sort();
    let mut expected = vec![key, asleep];
    expected.sort();
    assert_eq!(removed, expected);
    let tracked = simulation.physics.track(stranger).unwrap();
    assert_eq!(
        simulation.physics.track(stranger),
        Some(tracked),
        "tracking again returns the same key"
    );
    assert_eq!(simulation.physics.key(stranger), Some(tracked));
    assert_eq!(simulation.pose(key), None);
    assert_eq!(simulation.physics.track(RigidBodyHandle::invalid()), None);
}
