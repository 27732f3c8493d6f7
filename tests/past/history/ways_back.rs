//! Poses after rollbacks, rewinds, corrections, portals and shifts of the origin.

use super::*;
use evenstep::rewind::Kept;

/// This holds even if the two runs differ from the first resimulated step on, and if that step is the only one.
#[test]
fn poses_of_resimulated_steps_replace_those_of_the_first_run() {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        poses: 20,
        ..simulation.kept()
    });
    let put = |physics: &mut Physics, key, y| {
        physics.teleport(key, translation(0.0, y, 0.0)).unwrap();
    };
    advance(&mut simulation, 50);
    let again = |physics: &mut Physics, _| put(physics, key, 1.0);
    simulation.resimulate(4, again).unwrap();
    advance(&mut simulation, 10);
    let shown = simulation.pose_at(key, 5, 1.0).unwrap();
    assert_eq!(shown.translation.y, 1.0);

    let (mut simulation, _) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        poses: 20,
        ..simulation.kept()
    });
    let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    simulation.advance(MS(60), |physics, step| {
        if step.tick == 4 {
            put(physics, wall, 4.0);
        }
    });
    let again = |physics: &mut Physics, step: Step| {
        if step.tick == 2 {
            put(physics, wall, 2.0);
        }
    };
    simulation.resimulate(2, again).unwrap();
    for (tick, y) in [(1, 0.0), (2, 0.0), (3, 2.0), (5, 2.0)] {
        let shown = simulation.pose_at(wall, tick, 1.0).unwrap();
        assert_eq!(shown.translation.y, y, "{tick}");
    }
}

#[test]
fn a_restored_body_has_its_history_although_its_slot_was_reused() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: 20,
        ticks: 20,
        ..simulation.kept()
    });
    let moving = |at: f32| {
        let body = RigidBodyBuilder::dynamic().translation(vector(at, 0.0, 0.0));
        body.linvel(Vector::X * 100.0)
    };
    let old = simulation.physics.insert(moving(0.0), ball());
    advance(&mut simulation, 60);
    simulation.physics.remove(old);
    let new = simulation.physics.insert(moving(50.0), ball());
    advance(&mut simulation, 40);
    let x_of = |simulation: &Simulation, key, tick| {
        let pose: Option<Pose> = simulation.pose_at(key, tick, 1.0);
        pose.map(|pose| pose.translation.x.round())
    };
    let present = (x_of(&simulation, old, 3), x_of(&simulation, new, 8));
    assert_eq!(present, (None, Some(52.0)));
    for _ in 0..2 {
        simulation.rewind(5).unwrap();
        let there = (x_of(&simulation, old, 3), x_of(&simulation, new, 8));
        assert_eq!(there, (Some(3.0), None));
        simulation.rewind(10).unwrap();
        assert_eq!(
            present,
            (x_of(&simulation, old, 3), x_of(&simulation, new, 8))
        );
    }
    // A new run from there, in which nothing is removed.
    simulation.rewind(5).unwrap();
    advance(&mut simulation, 50);
    let ticks = [3, 5, 6, 10].map(|tick| x_of(&simulation, old, tick));
    assert_eq!(ticks, [3.0, 5.0, 6.0, 10.0].map(Some));
}

#[test]
fn a_rollback_or_rewind_does_not_bring_back_discarded_poses() {
    let (mut simulation, key) = flyer(5);
    advance(&mut simulation, 200);
    let mut seen = Vec::new();
    simulation.roll_back(10).unwrap();
    while let Some(step) = simulation.next_step() {
        let ticks = (step.tick.saturating_sub(6)..=step.tick).filter(|tick| *tick > 0);
        seen.extend(ticks.map(|tick| (step.tick, tick, x_at(&simulation, key, tick))));
        simulation.run_step();
    }
    assert_eq!(simulation.physics.tick(), 20);
    for (now, tick, x) in seen {
        // The history has only the ticks since the rollback, and at most as many as it keeps.
        let is_known = tick >= 10 && tick + 4 > now;
        assert_eq!(x, is_known.then_some(tick as f32), "{tick} at {now}");
    }
    simulation.rewind(12).unwrap();
    assert_eq!([8, 9].map(|tick| x_at(&simulation, key, tick)), [None; 2]);
    assert_eq!(x_at(&simulation, key, 12), Some(12.0));
    advance(&mut simulation, 20);
    let ticks = [11, 12, 13, 14].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(12.0), Some(13.0), Some(14.0)]);
}

#[test]
fn assigning_a_state_of_a_later_tick_clears_the_history() {
    let (mut simulation, key) = flyer(20);
    let mut theirs = simulation.clone();
    advance(&mut simulation, 100);
    advance(&mut theirs, 200);
    simulation.physics = theirs.physics;
    assert_eq!([5, 15].map(|tick| x_at(&simulation, key, tick)), [None; 2]);
    advance(&mut simulation, 20);
    let ticks = [20, 21, 22].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [20.0, 21.0, 22.0].map(Some));
}

#[test]
fn a_body_added_by_a_correction_or_rewind_has_no_earlier_history() {
    // A body that only the other machine has.
    let (mut simulation, _) = flyer(20);
    let mut theirs = simulation.clone();
    let key = theirs.physics.insert(scenes::flyer(), ball());
    advance(&mut simulation, 50);
    advance(&mut theirs, 50);
    simulation.correct(theirs.physics).unwrap();
    advance(&mut simulation, 50);
    let ticks = [4, 6, 8].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(6.0), Some(8.0)]);
    // A body that was removed for longer than the history reaches.
    let (mut simulation, key) = flyer(3);
    advance(&mut simulation, 50);
    simulation.physics.remove(key).unwrap();
    advance(&mut simulation, 100);
    simulation.rewind(4).unwrap();
    advance(&mut simulation, 50);
    let ticks = [7, 8, 9].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(ticks, [None, Some(8.0), Some(9.0)]);
}

#[test]
fn a_portal_leaves_poses_of_earlier_ticks_unchanged() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    simulation
        .physics
        .teleport_by(key, translation(100.0, 0.0, 0.0))
        .unwrap();
    assert_eq!(
        x_at(&simulation, key, 5),
        Some(5.0),
        "the pose of this tick is unchanged too"
    );
    advance(&mut simulation, 50);
    let ticks = [3, 5, 6, 10];
    let seen = |simulation: &Simulation| ticks.map(|tick| x_at(simulation, key, tick));
    let expected = [3.0, 5.0, 106.0, 110.0].map(Some);
    assert_eq!(seen(&simulation), expected);
    simulation.rewind(4).unwrap();
    assert_eq!(x_at(&simulation, key, 3), Some(3.0));
    // Another portal at this tick, in a run that is abandoned without a step.
    simulation
        .physics
        .teleport_by(key, translation(0.0, 7.0, 0.0))
        .unwrap();
    simulation.rewind(10).unwrap();
    assert_eq!(seen(&simulation), expected);
    // A new run, with another portal.
    simulation.rewind(4).unwrap();
    simulation
        .physics
        .teleport_by(key, translation(0.0, 7.0, 0.0))
        .unwrap();
    advance(&mut simulation, 20);
    let y = [3, 4, 5, 6].map(|tick| simulation.pose_at(key, tick, 1.0).unwrap().translation.y);
    assert_eq!(y, [0.0, 0.0, 7.0, 7.0]);
}

#[test]
fn an_origin_shift_outside_a_step_clears_the_history() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    let seen = [4, 5].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(seen, [None, None]);
    advance(&mut simulation, 20);
    let seen = [4, 5, 6, 7].map(|tick| x_at(&simulation, key, tick));
    assert_eq!(seen, [None, Some(-95.0), Some(-94.0), Some(-93.0)]);
}

/// One body rests and one moves. The origin is shifted before and after the step.
#[test]
fn an_origin_shift_in_a_step_leaves_earlier_poses_unchanged() {
    struct Shifter(bool);
    impl Hooks for Shifter {
        type Error = evenstep::VectorError;

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if step.tick == 4 && !self.0 {
                physics.shift_origin(Vector::X * 100.0)?;
            }
            Ok(())
        }

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if step.tick == 4 && self.0 {
                physics.shift_origin(Vector::X * 100.0)?;
            }
            Ok(())
        }
    }
    for after in [false, true] {
        let (mut simulation, key) = flyer(20);
        let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        simulation
            .advance_with(MS(80), &mut Shifter(after))
            .unwrap();
        let seen = |simulation: &Simulation, key| {
            [3, 4, 5, 8].map(|tick| x_at(simulation, key, tick).unwrap())
        };
        let expected = ([3.0, 4.0, -95.0, -92.0], [0.0, 0.0, -100.0, -100.0]);
        assert_eq!(
            (seen(&simulation, key), seen(&simulation, wall)),
            expected,
            "{after}"
        );
        simulation.resimulate_with(2, &mut Shifter(after)).unwrap();
        assert_eq!(
            (seen(&simulation, key), seen(&simulation, wall)),
            expected,
            "{after}"
        );
    }
}

/// On the server, the body has been at another pose from the start.
#[test]
fn a_correction_that_moves_a_resting_body_leaves_earlier_poses_unchanged() {
    let (mut client, _) = flyer(20);
    let wall = client.physics.insert(RigidBodyBuilder::fixed(), ball());
    let mut server = client.clone();
    server
        .physics
        .teleport(wall, translation(0.0, 7.0, 0.0))
        .unwrap();
    for _ in 0..5 {
        advance(&mut client, 10);
        advance(&mut server, 10);
    }
    let y = |client: &Simulation| {
        [2, 4, 5, 7].map(|tick| {
            let pose = client.pose_at(wall, tick, 0.5);
            pose.map(|pose| pose.translation.y)
        })
    };
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(y(&client), [Some(0.0), Some(0.0), Some(7.0), None]);
    advance(&mut client, 20);
    assert_eq!(y(&client), [0.0, 0.0, 7.0, 7.0].map(Some));
    // The same for an earlier state, whose wall was teleported after the step.
    client.roll_back(6).unwrap();
    let mut theirs = client.clone();
    theirs
        .physics
        .teleport(wall, translation(0.0, 9.0, 0.0))
        .unwrap();
    client.correct(theirs.physics).unwrap();
    while client.next_step().is_some() {
        client.run_step();
    }
    assert_eq!(y(&client), [0.0, 0.0, 7.0, 9.0].map(Some));
}

/// The body's key also belongs to a body of the abandoned run.
#[test]
fn a_body_inserted_after_a_rewind_leaves_no_trace_after_another_rewind() {
    let (mut simulation, _) = flyer(20);
    advance(&mut simulation, 40);
    let key = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 40);
    let known = |simulation: &Simulation| {
        let ticks = 0..10;
        let ticks = ticks.filter(|tick| simulation.pose_at(key, *tick, 0.5).is_some());
        ticks.collect::<Vec<u64>>()
    };
    assert_eq!(known(&simulation), [4, 5, 6, 7, 8]);
    simulation.rewind(2).unwrap();
    let wall = RigidBodyBuilder::fixed().translation(Vector::Y);
    assert_eq!(simulation.physics.insert(wall, ball()), key);
    assert_eq!(known(&simulation), [2]);
    simulation.rewind(8).unwrap();
    assert_eq!(known(&simulation), [4, 5, 6, 7, 8]);
    assert_eq!(simulation.pose_at(key, 4, 0.5), Some(Pose::IDENTITY));
    advance(&mut simulation, 10);
    assert_eq!(known(&simulation), [4, 5, 6, 7, 8, 9]);
}

#[test]
fn rewind_limits_do_not_shorten_the_pose_history() {
    let (mut simulation, key) = flyer(20);
    simulation.keep(Kept {
        ticks: 100,
        bytes: 1,
        ..simulation.kept()
    });
    advance(&mut simulation, 100);
    assert!(simulation.rewindable().is_empty());
    assert_eq!(x_at(&simulation, key, 1), Some(1.0));
    simulation.keep(Kept {
        ticks: 5,
        bytes: usize::MAX,
        ..simulation.kept()
    });
    advance(&mut simulation, 100);
    assert_eq!(simulation.rewindable(), 15..20);
    assert_eq!(
        [1, 2].map(|tick| x_at(&simulation, key, tick)),
        [None, Some(2.0)]
    );
    simulation.keep(Kept {
        ticks: 0,
        bytes: 0,
        ..simulation.kept()
    });
    assert_eq!(x_at(&simulation, key, 2), Some(2.0));
}

#[test]
fn a_clone_keeps_the_history_length_but_no_earlier_poses() {
    let (mut simulation, key) = flyer(20);
    advance(&mut simulation, 50);
    let mut copy = simulation.clone();
    assert_eq!([4, 5].map(|tick| x_at(&copy, key, tick)), [None, Some(5.0)]);
    advance(&mut copy, 20);
    assert_eq!(
        [4, 5, 6].map(|tick| x_at(&copy, key, tick)),
        [None, Some(5.0), Some(6.0)]
    );
}

#[test]
fn a_history_length_set_during_a_rollback_takes_effect() {
    for gives_up in [false, true] {
        let (mut simulation, key) = flyer(20);
        advance(&mut simulation, 100);
        simulation.roll_back(4).unwrap();
        simulation.keep(Kept {
            poses: 6,
            ..simulation.kept()
        });
        if gives_up {
            simulation.rewind(4).unwrap();
            advance(&mut simulation, 60);
        } else {
            assert_eq!(advance(&mut simulation, 0).resimulated, 6);
        }
        assert_eq!(simulation.physics.tick(), 10);
        let ticks = [5, 6, 9].map(|tick| x_at(&simulation, key, tick));
        assert_eq!(ticks, [None, Some(6.0), Some(9.0)]);
    }
}
