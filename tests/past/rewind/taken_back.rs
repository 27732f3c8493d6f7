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
    Pose::from_translation(vector(0.0, 50.0, 0.0))
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
        let insert = |simulation: &mut Simulation, x| {
            let body = RigidBodyBuilder::dynamic().translation(vector(x, 0.0, 0.0));
            simulation.physics.insert(body, ball())
        };
        let before = insert(&mut simulation, 0.0);
        advance(&mut simulation, 0);
        // The rollback takes the body back, because it was inserted outside of a step.
        simulation.resimulate(0, |_, _| ()).unwrap();
        let key = insert(&mut simulation, 1.0);
        advance(&mut simulation, 0);
        assert_eq!(key, before);
        assert_eq!(simulation.pose(key).unwrap().translation.x, 1.0);
        let data = simulation.render_data().unwrap();
        assert_eq!(data.jumped(), [key]);
    }
}
