//! Teleports and removals that no frame has displayed, and that a rollback takes back.

use super::*;

/// Creates free space, of which the last twenty states are kept.
fn with_states() -> Simulation {
    let mut simulation = space(60);
    simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    simulation
}

fn far() -> Pose {
    translation(0.0, 50.0, 0.0)
}

/// Inserts a body at rest.
fn insert_at(physics: &mut Physics, x: f32) -> BodyKey {
    let body = RigidBodyBuilder::dynamic().translation(vector(x, 0.0, 0.0));
    physics.insert(body, ball())
}

/// Changes a body in the step of tick 10, which no frame has displayed when steps from tick 4 are resimulated, with
/// another velocity from there on. `repeats` says whether the resimulated step changes it again. Returns the displayed
/// position on the y axis, and whether the body jumped.
fn displayed(change: impl Fn(&mut Physics, BodyKey), repeats: bool) -> (f32, bool) {
    let mut simulation = with_states();
    let body = RigidBodyBuilder::dynamic().linvel(vector(6.0, 0.0, 0.0));
    let key = simulation.physics.insert(body, ball());
    let period = Rate::hz(60).period() + Duration::from_nanos(1);
    for _ in 0..10 {
        simulation.advance(period, |_, _| ());
    }
    simulation.begin_frame(period);
    while simulation.next_step().is_some() {
        change(&mut simulation.physics, key);
        simulation.run_step();
    }
    let rerun = |physics: &mut Physics, step: Step| match step.tick {
        4 => {
            let body = physics.body_mut(key).unwrap();
            body.set_linvel(vector(6.0, 6.0, 0.0), true);
        }
        10 if repeats => change(physics, key),
        _ => (),
    };
    simulation.resimulate(4, rerun).unwrap();
    simulation.end_frame();
    let jumped = simulation.render_data().unwrap().jumped().contains(&key);
    (simulation.pose(key).unwrap().translation.y, jumped)
}

#[test]
fn a_change_that_a_rollback_takes_back_does_not_move_the_body_on_screen() {
    let changes: [fn(&mut Physics, BodyKey); 5] = [
        |_, _| (),
        |physics, key| drop(physics.remove(key)),
        |physics, key| physics.teleport(key, far()).unwrap(),
        |physics, key| {
            let body = physics.body_mut(key).unwrap();
            body.set_translation(far().translation, true);
        },
        |physics, key| physics.teleport_by(key, far()).unwrap(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let (y, jumped) = displayed(change, false);
        assert!(y.abs() < 0.15 && !jumped, "{index}: {y} {jumped}");
    }
}

#[test]
fn a_teleport_that_a_resimulated_step_repeats_is_displayed_at_once() {
    let change = |physics: &mut Physics, key| physics.teleport(key, far()).unwrap();
    let (y, jumped) = displayed(change, true);
    assert!(y > 49.0 && jumped, "{y} {jumped}");
}

#[test]
fn a_teleport_before_the_first_resimulated_step_is_displayed_at_once() {
    let mut simulation = with_states();
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    for _ in 0..10 {
        advance(&mut simulation, 17);
    }
    let tick = simulation.physics.tick();
    simulation.physics.teleport(key, far()).unwrap();
    simulation.begin_frame(MS(17));
    while simulation.next_step().is_some() {
        simulation.run_step();
    }
    // The state of this tick has the teleport.
    simulation.resimulate(tick, |_, _| ()).unwrap();
    simulation.end_frame();
    assert_eq!(simulation.pose(key).unwrap().translation.y, 50.0);
    assert_eq!(simulation.visual_error(key), None);
}

#[test]
fn a_body_that_gets_the_key_of_a_displayed_one_after_a_rollback_jumps_to_its_place() {
    for correction in [Correction::OFF, Correction::default()] {
        let mut simulation = with_states();
        simulation.correction = correction;
        advance(&mut simulation, 17);
        let before = insert_at(&mut simulation.physics, 0.0);
        advance(&mut simulation, 0);
        // The rollback takes the body back, because it was inserted outside of a step.
        simulation.resimulate(0, |_, _| ()).unwrap();
        let key = insert_at(&mut simulation.physics, 1.0);
        advance(&mut simulation, 0);
        assert_eq!(key, before);
        assert_eq!(simulation.pose(key).unwrap().translation.x, 1.0);
        let data = simulation.render_data().unwrap();
        assert_eq!(data.jumped(), [key]);
    }
}

/// Two late inputs arrive before the next picture: the first takes the shot back, and after the second another player
/// has shot.
#[test]
fn a_body_that_gets_the_key_of_one_that_an_earlier_rollback_took_back_jumps_to_its_place() {
    let mut simulation = with_states();
    let mut shots = Vec::new();
    for _ in 0..10 {
        simulation.advance(MS(17), |physics, step| {
            if step.tick == 5 {
                shots.push(insert_at(physics, 0.0));
            }
        });
    }
    simulation.resimulate(4, |_, _| ()).unwrap();
    let rerun = |physics: &mut Physics, step: Step| {
        if step.tick == 8 {
            shots.push(insert_at(physics, 1.5));
        }
    };
    simulation.resimulate(7, rerun).unwrap();
    advance(&mut simulation, 17);
    assert_eq!(shots[0], shots[1]);
    assert_eq!(simulation.pose(shots[1]).unwrap().translation.x, 1.5);
    assert_eq!(simulation.visual_error(shots[1]), None);
}

#[test]
fn after_a_rewind_and_a_rollback_the_next_frame_jumps_without_errors() {
    let mut simulation = with_states();
    let mut keys = Vec::new();
    for _ in 0..10 {
        simulation.advance(MS(17), |physics, step| {
            if step.tick == 4 {
                keys.push(insert_at(physics, 0.0));
            }
        });
    }
    simulation.rewind(5).unwrap();
    simulation
        .resimulate(3, |physics, step| {
            if step.tick == 4 {
                keys.push(insert_at(physics, 1.2));
            }
        })
        .unwrap();
    advance(&mut simulation, 0);
    assert_eq!(simulation.pose(keys[1]).unwrap().translation.x, 1.2);
    assert_eq!(simulation.visual_error(keys[1]), None);
}

/// Two late inputs arrive before the next picture: the first takes the shot back, and the second brings it back.
#[test]
fn a_body_that_a_second_rollback_brings_back_is_corrected_smoothly() {
    let mut simulation = with_states();
    let shoot = |physics: &mut Physics, step: Step| {
        if step.tick == 5 {
            let body = RigidBodyBuilder::dynamic().linvel(vector(6.0, 0.0, 0.0));
            physics.insert(body, ball());
        }
    };
    for _ in 0..10 {
        simulation.advance(MS(17), shoot);
    }
    let (key, _) = simulation.physics.bodies().next().unwrap();
    let before = simulation.pose(key).unwrap().translation.x;
    simulation.resimulate(4, |_, _| ()).unwrap();
    assert!(simulation.physics.handle(key).is_none());
    let rerun = |physics: &mut Physics, step: Step| {
        shoot(physics, step);
        if step.tick == 7 {
            physics
                .body_mut(key)
                .unwrap()
                .set_linvel(vector(12.0, 0.0, 0.0), true);
        }
    };
    simulation.resimulate(4, rerun).unwrap();
    advance(&mut simulation, 1);
    let x = simulation.pose(key).unwrap().translation.x;
    assert!((x - before).abs() < 0.05, "from {before} to {x}");
    assert!(simulation.visual_error(key).unwrap().translation.x < -0.1);
}

/// The rollback takes back the removal, and not the teleport before it.
#[test]
fn a_body_whose_removal_is_taken_back_after_a_teleport_is_displayed_at_its_place() {
    let mut simulation = with_states();
    let key = (simulation.physics).insert(RigidBodyBuilder::fixed(), ball());
    for _ in 0..10 {
        advance(&mut simulation, 17);
    }
    let first = simulation.physics.tick();
    simulation.begin_frame(MS(34));
    while let Some(step) = simulation.next_step() {
        if step.tick == first {
            let to = translation(1.5, 0.0, 0.0);
            simulation.physics.teleport(key, to).unwrap();
        } else if !step.is_resimulated {
            simulation.physics.remove(key).unwrap();
        }
        simulation.run_step();
        if step.tick == first + 1 && !step.is_resimulated {
            simulation.roll_back(first + 1).unwrap();
        }
    }
    simulation.end_frame();
    assert_eq!(simulation.visual_error(key), None);
    assert_eq!(shown_x(&simulation, key), 1.5);
}

#[test]
fn a_body_that_rapier_has_removed_before_its_first_frame_has_no_pose() {
    let mut simulation = with_states();
    advance(&mut simulation, 17);
    let physics = &mut simulation.physics;
    let key = physics.insert(RigidBodyBuilder::dynamic(), ball());
    let handle = physics.handle(key).unwrap();
    physics.rapier_mut().remove_body(handle);
    assert_eq!(simulation.pose(key), None);
}
