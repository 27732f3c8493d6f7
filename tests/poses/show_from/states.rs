//! Copies, saved states, rollbacks and assigned states.

use super::*;
use evenstep::{Hooks, Step};

fn keep(simulation: &mut Simulation) {
    let kept = simulation.kept();
    simulation.keep(Kept { ticks: 30, ..kept });
}

#[test]
fn a_clone_of_the_simulation_begins_at_the_pose_and_a_clone_of_the_state_does_not() {
    let (mut simulation, key) = flight();
    simulation.physics.show_from(key, hand()).unwrap();
    let mut copy = simulation.clone();
    let mut other = Simulation::default();
    other.physics = simulation.physics.clone();
    for simulation in [&mut simulation, &mut copy, &mut other] {
        advance(simulation, 4);
    }
    assert_at(&simulation, key, hand());
    assert_at(&copy, key, hand());
    assert_eq!(other.visual_error(key), None);
    // The rest of the decay is copied, too.
    let mut copy = simulation.clone();
    for simulation in [&mut simulation, &mut copy] {
        advance(simulation, 40);
    }
    assert_eq!(simulation.pose(key), copy.pose(key));
}

#[cfg(feature = "serde")]
#[test]
fn saved_bytes_hold_neither_the_call_nor_the_decay() {
    let (mut simulation, key) = flight();
    let mut plain = simulation.clone();
    simulation.physics.show_from(key, hand()).unwrap();
    for ms in [4, 3, 30] {
        let mut loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
        for simulation in [&mut simulation, &mut plain, &mut loaded] {
            advance(simulation, ms);
        }
        assert!(simulation.visual_error(key).is_some());
        assert_eq!(loaded.visual_error(key), None);
        assert_eq!(loaded.pose(key), plain.pose(key));
    }
    simulation.physics.show_from(key, hand()).unwrap();
    simulation.physics = Physics::load(&simulation.physics.save().unwrap()).unwrap();
    advance(&mut simulation, 4);
    assert_eq!(simulation.visual_error(key), None);
}

#[test]
fn a_resimulated_step_does_not_begin_again() {
    let (mut simulation, key) = flight();
    keep(&mut simulation);
    let release = |physics: &mut Physics, tick| {
        if tick == 7 {
            physics.show_from(key, hand()).unwrap();
        }
    };
    // The step of tick 7 runs in the first frame.
    for ms in [30, 20, 20] {
        simulation.advance(MS(ms), |physics, step| release(physics, step.tick));
        let before = simulation.pose(key);
        simulation
            .resimulate(6, |physics, step| release(physics, step.tick))
            .unwrap();
        advance(&mut simulation, 0);
        assert_eq!(simulation.pose(key), before);
    }
}

#[test]
fn a_rollback_in_the_frame_of_the_call_keeps_the_call() {
    let (mut simulation, key) = flight();
    keep(&mut simulation);
    let aside = translation(0.0, -0.5, 0.0);
    simulation.begin_frame(MS(40));
    while let Some(step) = simulation.next_step() {
        if step.tick == 6 && !step.is_resimulated {
            simulation.physics.show_from(key, hand()).unwrap();
        }
        simulation.run_step();
        if step.tick == 7 && !step.is_resimulated {
            simulation.roll_back(6).unwrap();
            simulation.physics.teleport_by(key, aside).unwrap();
        }
    }
    simulation.end_frame();
    assert_at(&simulation, key, hand());
    assert!((own(&simulation, key).translation.y + 0.5).abs() < 1e-5);
}

#[test]
fn portals_and_teleports_follow_the_call_in_an_assigned_state() {
    let by = translation(0.0, -0.5, 0.0);
    let aside = translation(9.0, 0.0, 0.0);
    for is_assigned in [true, false] {
        let renew = |physics: &mut Physics| {
            if is_assigned {
                *physics = physics.clone();
            }
        };
        let (mut simulation, key) = flight();
        advance(&mut simulation, 50);
        let physics = &mut simulation.physics;
        renew(physics);
        physics.show_from(key, hand()).unwrap();
        physics.teleport_by(key, by).unwrap();
        advance(&mut simulation, 4);
        assert_at(&simulation, key, by * hand());
        let physics = &mut simulation.physics;
        renew(physics);
        physics.show_from(key, hand()).unwrap();
        physics.teleport(key, aside).unwrap();
        advance(&mut simulation, 4);
        assert_eq!(simulation.visual_error(key), None);
    }
}

#[test]
fn a_failed_resimulation_leaves_no_step_that_ignores_the_call() {
    let (mut simulation, key) = flight();
    keep(&mut simulation);
    advance(&mut simulation, 50);
    let mut hooks = FailAfter(7);
    assert!(simulation.resimulate_with(6, &mut hooks).is_err());
    simulation.physics.show_from(key, hand()).unwrap();
    simulation.resimulate(8, |_, _| ()).unwrap();
    advance(&mut simulation, 4);
    assert_at(&simulation, key, hand());
}

/// Fails after the step of this tick.
struct FailAfter(u64);

impl Hooks for FailAfter {
    type Error = u64;

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), u64> {
        if step.tick == self.0 {
            return Err(self.0);
        }
        Ok(())
    }
}

#[test]
fn a_held_frame_waits_with_the_call() {
    for is_before in [true, false] {
        let (mut simulation, key) = flight();
        keep(&mut simulation);
        advance(&mut simulation, 50);
        let before = simulation.pose(key);
        if is_before {
            simulation.physics.show_from(key, hand()).unwrap();
        }
        simulation.roll_back(8).unwrap();
        if !is_before {
            // It is not within a resimulated step.
            simulation.physics.show_from(key, hand()).unwrap();
            simulation.roll_back(7).unwrap();
        }
        for _ in 0..3 {
            // The rollback is not finished in these frames.
            simulation.begin_frame(MS(30));
            simulation.end_frame();
            assert_eq!(simulation.pose(key), before);
        }
        advance(&mut simulation, 4);
        assert_at(&simulation, key, hand());
        advance(&mut simulation, 50);
        assert!((simulation.pose(key).unwrap().translation.y - 3.5).abs() < 1e-4);
    }
}

#[test]
fn an_assigned_state_moves_smoothly_from_where_its_body_was_displayed() {
    for is_assigned_first in [true, false] {
        let (mut simulation, key) = flight();
        let mut server = simulation.physics.clone();
        server.teleport(key, hand()).unwrap();
        let displayed = simulation.pose(key).unwrap();
        if is_assigned_first {
            simulation.physics = server;
            simulation.physics.show_from(key, displayed).unwrap();
        } else {
            server.show_from(key, displayed).unwrap();
            simulation.physics = server;
        }
        advance(&mut simulation, 4);
        assert_at(&simulation, key, displayed);
        advance(&mut simulation, 50);
        assert!((simulation.pose(key).unwrap().translation.y - 3.5).abs() < 1e-4);
    }
}

#[test]
fn a_corrected_state_may_begin_elsewhere() {
    let (mut simulation, key) = flight();
    keep(&mut simulation);
    let mut state = simulation.physics.clone();
    state.teleport(key, translation(0.0, 50.0, 0.0)).unwrap();
    state.show_from(key, hand()).unwrap();
    simulation.correct(state).unwrap();
    advance(&mut simulation, 4);
    // Without the call, a correction of 50 m would jump.
    assert_at(&simulation, key, hand());
}

#[test]
fn a_teleport_that_a_rollback_undoes_does_not_cancel_the_call() {
    let (mut simulation, key) = flight();
    keep(&mut simulation);
    advance(&mut simulation, 50);
    let shown = simulation.pose(key).unwrap();
    simulation.roll_back(6).unwrap();
    simulation.physics.show_from(key, hand()).unwrap();
    while let Some(step) = simulation.next_step() {
        if step.tick == 8 {
            simulation.physics.teleport(key, shown).unwrap();
            break;
        }
        simulation.run_step();
    }
    simulation.run_step();
    // This goes back to before the teleport, which the step does not repeat.
    simulation.resimulate(7, |_, _| ()).unwrap();
    advance(&mut simulation, 0);
    assert_at(&simulation, key, hand());
}

/// A resimulated step teleports the body, and then a state of a later tick is corrected.
#[test]
fn an_earlier_teleport_does_not_cancel_a_request_of_a_corrected_state() {
    type Act = fn(&mut Physics, BodyKey);
    let acts: [Act; 3] = [
        |_, _| (),
        |physics, key| {
            let there = translation(10.0, 1.0, 0.0);
            physics.teleport(key, there).unwrap();
        },
        |physics, key| {
            let up = translation(0.0, 1.0, 0.0);
            physics.teleport_by(key, up).unwrap();
        },
    ];
    for act in acts {
        let (mut client, key) = scenes::flyer_in_space();
        client.keep(Kept {
            ticks: 30,
            interval: 8,
            ..client.kept()
        });
        let mut server = client.clone();
        let hook = |physics: &mut Physics, step: Step| {
            if step.tick == 9 {
                act(physics, key);
            }
        };
        client.advance(MS(200), hook);
        server.advance(MS(110), hook);
        let mut state = server.physics.clone();
        let there = translation(12.0, 7.0, 0.0);
        state.show_from(key, there).unwrap();
        client.roll_back(11).unwrap();
        while client.physics.tick() < 11 {
            let step = client.next_step().unwrap();
            hook(&mut client.physics, step);
            client.run_step();
        }
        client.correct(state).unwrap();
        client.resimulate(11, hook).unwrap();
        client.advance(MS(0), |_, _| ());
        let shown = client.pose(key).unwrap().translation;
        assert!((shown.y - 7.0).abs() < 1e-5, "{shown}");
    }
}

#[test]
fn a_body_with_the_key_of_one_that_going_back_removes_does_not_begin_at_the_pose() {
    let ways: [fn(&mut Simulation); 3] = [
        |simulation| simulation.rewind(7).unwrap(),
        |simulation| {
            simulation.roll_back(7).unwrap();
            simulation.set_tick(100);
            simulation.begin_frame(MS(0));
        },
        |simulation| simulation.resimulate(7, |_, _| ()).unwrap(),
    ];
    for go_back in ways {
        let (mut simulation, _) = flight();
        keep(&mut simulation);
        advance(&mut simulation, 50);
        let insert = |physics: &mut Physics, y| {
            let body = RigidBodyBuilder::fixed().translation(Vector::Y * y);
            physics.insert(body, ball())
        };
        let first = insert(&mut simulation.physics, 0.0);
        simulation.physics.show_from(first, hand()).unwrap();
        go_back(&mut simulation);
        let key = insert(&mut simulation.physics, 3.0);
        simulation.end_frame();
        advance(&mut simulation, 0);
        assert_eq!(simulation.pose(key).unwrap(), translation(0.0, 3.0, 0.0));
    }
}
