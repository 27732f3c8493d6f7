//! `Physics::preview`: later states, with and without a hook.

use allocation_counter::measure;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use scenes::{MS, assert_near, ball, flyer, flyer_in_space, space, stepped_x};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn push(physics: &mut Physics, step: Step, key: BodyKey) {
    let force = (step.tick % 3) as f32;
    physics.add_force(key, Vector::Y * force).unwrap();
}

#[test]
fn a_preview_gives_the_hook_the_steps_of_advance_without_real_time() {
    let (mut simulation, key) = flyer_in_space();
    let (mut seen, mut real) = (Vec::new(), Vec::new());
    let ahead = simulation.physics.preview(20, |physics, step| {
        assert_eq!(physics.current_step(), Some(step));
        assert_eq!(step.real_start, Duration::ZERO);
        assert_eq!(step.real_end, Duration::ZERO);
        assert_eq!(step.real_frame_end, Duration::ZERO);
        seen.push((step.tick, step.dt.to_bits(), step.start_time, step.end_time));
        push(physics, step, key);
    });
    while simulation.physics.tick() < 20 {
        simulation.advance(MS(7), |physics, step| {
            real.push((step.tick, step.dt.to_bits(), step.start_time, step.end_time));
            push(physics, step, key);
        });
    }
    assert_eq!(seen, real);
    let pose = |physics: &Physics| *physics.body(key).unwrap().position();
    assert_eq!(pose(&ahead), pose(&simulation.physics));
    assert_eq!((ahead.tick(), ahead.current_step()), (20, None));
}

#[test]
fn several_previews_in_a_row_equal_a_longer_one() {
    let (simulation, key) = flyer_in_space();
    let start = &simulation.physics;
    let once = start.preview(12, |physics, step| push(physics, step, key));
    let mut often = start.clone();
    for steps in [0, 1, 5, 0, 6] {
        often = often.preview(steps, |physics, step| push(physics, step, key));
    }
    let state = |physics: &Physics| {
        let body = physics.body(key).unwrap();
        (physics.tick(), *body.position(), body.linvel())
    };
    assert_eq!(state(&once), state(&often));
}

#[test]
fn a_body_inserted_by_the_hook_moves_in_that_step() {
    let (simulation, _) = flyer_in_space();
    let mut new = None;
    let ahead = simulation.physics.preview(3, |physics, step| {
        if step.tick == 1 {
            new = Some(physics.insert(flyer(), ball()));
        }
    });
    let key = new.unwrap();
    assert!((stepped_x(&ahead, key) - 2.0).abs() < 1e-4); // two steps of a metre
    assert!(simulation.physics.body(key).is_none());
}

#[test]
fn a_step_does_not_run_if_its_hook_assigns_another_state() {
    let (simulation, key) = flyer_in_space();
    let start = simulation.physics.clone();
    let mut ticks = Vec::new();
    let ahead = start.preview(5, |physics, step| {
        ticks.push(step.tick);
        physics.add_force(key, Vector::Y * 100.0).unwrap();
        if ticks.len() == 3 {
            *physics = start.clone();
        }
    });
    assert_eq!(ticks, [0, 1, 2, 0, 1]);
    assert_eq!(ahead.tick(), 2);
    assert_eq!(ahead.current_step(), None);
}

#[test]
fn an_assigned_state_in_an_equal_step_aborts_the_step_of_a_preview() {
    let (simulation, _) = flyer_in_space();
    let start = &simulation.physics;
    let mut in_step = None;
    let left = start.preview(1, |physics, step| {
        in_step = Some((std::mem::take(physics), step));
    });
    assert_eq!(left.tick(), 0);
    let ahead = start.preview(1, |physics, step| {
        let (other, equal) = in_step.take().unwrap();
        assert_eq!((other.current_step(), equal), (Some(step), step));
        *physics = other;
    });
    assert_eq!((ahead.tick(), ahead.current_step()), (0, None));
}

#[test]
fn a_panic_in_the_hook_leaves_the_state_unchanged() {
    let (simulation, key) = flyer_in_space();
    let steps = AssertUnwindSafe(|| {
        simulation.physics.preview(4, |physics, step| {
            physics.add_force(key, Vector::Y * 100.0).unwrap();
            assert!(step.tick < 2, "planned");
        })
    });
    assert!(catch_unwind(steps).is_err());
    assert_eq!(simulation.physics.tick(), 0);
    let later = simulation.physics.preview(1, |_, _| ());
    assert_eq!(later.body(key).unwrap().linvel().y, 0.0);
}

#[test]
fn a_preview_in_a_hook_leaves_the_current_step_unchanged() {
    let (mut simulation, key) = flyer_in_space();
    let frame = simulation.advance(MS(25), |physics, step| {
        physics.apply_impulse(key, Vector::Y).unwrap();
        let ahead = physics.preview(3, |_, _| ());
        // The copy lacks the impulse of this step.
        assert_eq!(ahead.tick(), step.tick + 3);
        let speed = |physics: &Physics| physics.body(key).unwrap().linvel().y;
        assert_eq!(speed(&ahead), speed(physics));
        assert_eq!(physics.current_step(), Some(step));
    });
    assert_eq!((frame.steps, frame.dropped.aborted), (2, 0));
    assert!(simulation.physics.body(key).unwrap().linvel().y > 0.0);
}

/// The preview runs the steps that the loop runs next, to the bit, even if the loop has not run a step at its rate yet.
#[test]
fn a_preview_has_the_times_of_the_run_before_the_first_step_of_a_rate() {
    for (first, second) in [(60, 50), (7, 11), (144, 30)] {
        for is_renumbered in [false, true] {
            let mut simulation = space(first);
            let lift = RigidBodyBuilder::kinematic_position_based();
            let lift = simulation.physics.insert(lift, ball());
            if is_renumbered {
                simulation.advance(MS(200), |_, _| ());
                simulation.set_tick(1_000);
            }
            let rate = Rate::hz(second);
            simulation.clock_settings_mut().set_rate(rate);
            simulation.advance(Duration::ZERO, |_, _| ());
            let top = Pose::from_translation(Vector::Y * 3.0);
            let time = simulation.physics.time() + Duration::from_nanos(333_333_333);
            let physics = &mut simulation.physics;
            physics.set_kinematic_target(lift, top, time).unwrap();
            let mut seen = Vec::new();
            let ahead = simulation.physics.preview(9, |_, step| {
                seen.push((step.tick, step.dt, step.start_time, step.end_time));
            });
            let mut real = Vec::new();
            while simulation.physics.tick() < ahead.tick() {
                simulation.advance(MS(1), |_, step| {
                    real.push((step.tick, step.dt, step.start_time, step.end_time));
                });
            }
            assert_eq!(seen, real);
            let (physics, case) = (&simulation.physics, (first, second, is_renumbered));
            assert_eq!(ahead.time(), physics.time(), "{case:?}");
            let at = |physics: &Physics| *physics.body(lift).unwrap().position();
            assert_eq!(at(&ahead), at(physics), "{case:?}");
            #[cfg(feature = "checksum")]
            assert_eq!(ahead.checksum(), physics.checksum(), "{case:?}");
        }
    }
}

/// Nothing reads the logs of a state that no loop has.
#[test]
fn a_state_does_not_grow_in_ten_thousand_previews() {
    let mut state = space(60).physics;
    let key = state.insert(flyer().linvel(Vector::X), ball());
    // The two never meet: Rapier keeps pairs of removed colliders.
    let far = || flyer().translation(Vector::Y * 50.0);
    let mut guest = state.insert(far(), ball());
    let edit = |physics: &mut Physics, guest: &mut BodyKey| {
        physics.teleport(key, Pose::IDENTITY).unwrap();
        physics.remove(*guest).unwrap();
        *guest = physics.insert(far(), ball());
        physics.shift_origin(Vector::X).unwrap();
        physics.shift_origin(Vector::X * -1.0).unwrap();
    };
    let mut sizes = Vec::new();
    for number in 0..10_000 {
        // Changes between previews and in the step.
        edit(&mut state, &mut guest);
        state = state.preview(1, |physics, _| edit(physics, &mut guest));
        if [100, 9_999].contains(&number) {
            let copy = measure(|| std::mem::forget(state.clone()));
            sizes.push(copy.bytes_total);
        }
    }
    assert_eq!(sizes[0], sizes[1]);
}

/// A rule that asks a preview decides the same when its step runs again, and in a frame whose rate changes after it.
#[test]
fn a_preview_in_a_step_runs_at_the_rate_of_that_step() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(evenstep::rewind::Kept {
        ticks: 20,
        ..Default::default()
    });
    let mut seen = [Vec::new(), Vec::new()];
    let ahead =
        |physics: &mut Physics, step: Step| (step.tick, physics.preview(3, |_, _| ()).time());
    simulation.begin_frame(MS(67));
    while let Some(step) = simulation.next_step() {
        seen[0].push(ahead(&mut simulation.physics, step));
        let next = simulation.physics.preview(1, |_, _| ());
        simulation.run_step();
        assert_eq!(next.time(), simulation.physics.time());
        assert_eq!(stepped_x(&next, key), stepped_x(&simulation.physics, key));
        simulation.clock_settings_mut().set_rate(Rate::hz(120));
    }
    simulation.end_frame();
    assert_eq!(seen[0].len(), 6);
    // Between two frames, the next step is one of the new rate.
    let next = simulation.physics.preview(1, |_, _| ()).time() - simulation.physics.time();
    assert!(next < MS(9), "{next:?}");
    let again = |physics: &mut Physics, step| seen[1].push(ahead(physics, step));
    simulation.resimulate(0, again).unwrap();
    assert_eq!(seen[0], seen[1]);
}

/// The target ends in the step, and the edit stops the body in Rapier until the step begins.
#[test]
fn a_preview_in_a_hook_leads_a_body_that_was_edited_after_its_target_was_set() {
    let mut simulation = space(100);
    let body = RigidBodyBuilder::kinematic_position_based();
    let key = simulation.physics.insert(body, ball());
    let mut ahead = None;
    simulation.advance(MS(10), |physics, step| {
        let pose = Pose::from_translation(Vector::X * 3.0);
        physics
            .set_kinematic_target(key, pose, step.end_time)
            .unwrap();
        let body = physics.body_mut(key).unwrap();
        body.set_translation(Vector::X, true);
        ahead = Some(physics.preview(1, |_, _| ()));
    });
    let x = |physics: &Physics| physics.body(key).unwrap().translation().x;
    assert_eq!((x(&simulation.physics), x(&ahead.unwrap())), (3.0, 3.0));
}

#[test]
fn a_preview_uses_the_rate_of_the_next_step_before_and_after_a_rollback() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    for _ in 0..5 {
        simulation.advance(MS(10), |_, _| ());
    }
    simulation.clock_settings_mut().set_rate(Rate::hz(10));
    simulation.advance(MS(1), |_, _| ());
    let way = |simulation: &Simulation| {
        let ahead = simulation.physics.preview(1, |_, _| ());
        stepped_x(&ahead, key) - stepped_x(&simulation.physics, key)
    };
    let [slow, fast] = [10.0, 1.0];
    assert_near(way(&simulation), slow);
    simulation.roll_back(2).unwrap();
    assert_near(way(&simulation), fast);
    while simulation.next_step().is_some() {
        simulation.run_step();
    }
    assert_near(way(&simulation), slow);
    simulation.resimulate(2, |_, _| ()).unwrap();
    assert_near(way(&simulation), slow);
}
