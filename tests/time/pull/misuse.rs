//! Calls in a wrong order, restarts and panics.

use super::*;

/// Creates a scene with a collision in its first step, and another flyer.
fn colliding() -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_in_space();
    for y in [5.0, 5.1] {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * y);
        let ball = ball().active_events(ActiveEvents::COLLISION_EVENTS);
        simulation.physics.insert(body, ball);
    }
    (simulation, key)
}

#[test]
fn a_frame_begun_twice_counts_as_one_frame() {
    let (mut simulation, key) = colliding();
    let lamp = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    let gone = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    let last = advance(&mut simulation, 5);
    simulation.begin_frame(MS(300)); // 50 ms over the maximum
    simulation.next_step().unwrap();
    simulation.run_step();
    let events = simulation.physics.events();
    assert_eq!(events.in_step(0).collisions().count(), 1);
    let there = translation(0.0, -9.0, 0.0);
    simulation.physics.teleport(lamp, there).unwrap();
    simulation.physics.remove(gone).unwrap();
    // A step is pending, and is not run.
    simulation.next_step().unwrap();
    simulation
        .physics
        .apply_impulse(key, Vector::Y * 100.0)
        .unwrap();

    simulation.begin_frame(MS(21));
    assert_eq!(simulation.frame().dropped.aborted, 24);
    let steps = run_steps(&mut simulation);
    assert_eq!(
        steps.iter().map(|step| step.tick).collect::<Vec<_>>(),
        [1, 2]
    );
    let frame = simulation.end_frame();
    assert_eq!((frame.number, frame.steps), (last.number + 1, 3));
    assert_eq!(frame.ticks(), 0..3);
    assert_eq!(frame.dropped.frame_time, MS(50));
    assert_eq!(frame.dropped.aborted, 24);
    assert_eq!(simulation.clock().dropped(), frame.dropped);
    assert_eq!(simulation.events().in_step(0).collisions().count(), 1);
    let moved = moved_keys(&simulation);
    assert!(moved.contains(&lamp) && moved.contains(&key));
    assert_eq!(simulation.removed(), [gone]);
    assert_near(rise(&simulation, key), 0.0);
    // The body is displayed between its last two states.
    let (previous, current) = (
        previous_pose(&simulation, key),
        current_pose(&simulation, key),
    );
    assert_near(previous.unwrap().translation.x, 2.0);
    assert_near(current.unwrap().translation.x, 3.0);
    assert_near(frame.alpha, 0.6);
    assert_near(simulation.pose(key).unwrap().translation.x, 2.6);
    // All of this ends with the frame.
    let frame = advance(&mut simulation, 1);
    assert_eq!((frame.steps, frame.dropped), (0, Dropped::default()));
    assert!(simulation.events().is_empty());
    assert_eq!(simulation.removed(), []);
}

#[test]
fn a_frame_begun_again_without_due_steps_still_interpolates() {
    let (mut simulation, key) = flyer_in_space();
    simulation.begin_frame(MS(24));
    run_steps(&mut simulation);
    simulation.begin_frame(MS(3)); // `end_frame` was forgotten
    assert_eq!(run_steps(&mut simulation), []);
    let frame = simulation.end_frame();
    assert_eq!(
        (frame.number, frame.steps, frame.dropped.aborted),
        (1, 2, 0)
    );
    assert_near(simulation.pose(key).unwrap().translation.x, 1.7);
}

#[test]
fn a_frame_ended_early_displays_the_latest_state() {
    // Before the first step, between two steps, and with a pending step.
    for (made, taken) in [(0, false), (0, true), (2, false), (2, true)] {
        let (mut simulation, key) = flyer_in_space();
        advance(&mut simulation, 26);
        simulation.begin_frame(MS(43)); // four steps, and 9 ms left over
        for _ in 0..made {
            simulation.next_step().unwrap();
            simulation.run_step();
        }
        if taken {
            simulation.next_step().unwrap();
        }
        let frame = simulation.end_frame();
        assert_eq!((frame.steps, frame.dropped.aborted), (made, 4 - made));
        assert_eq!((frame.tick, frame.alpha), (2 + made, 1.0));
        let latest = *simulation.physics.body(key).unwrap().position();
        assert_near(latest.translation.x, (2 + made) as f32);
        assert_eq!(simulation.pose(key), Some(latest));
        // The fraction is kept.
        let frame = advance(&mut simulation, 1);
        assert_eq!((frame.steps, frame.alpha), (1, 0.0));
    }
}

#[test]
fn repeated_calls_of_next_step_return_the_same_step() {
    let (mut simulation, key) = flyer_in_space();
    let lift = simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * 5.0),
        ball(),
    );
    let there = translation(2.0, 5.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(lift, there, MS(20))
        .unwrap();
    simulation.begin_frame(MS(20));
    let step = simulation.next_step();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    assert_eq!(simulation.next_step(), step);
    assert_eq!(simulation.next_step(), step);
    simulation.run_step();
    assert_near(rise(&simulation, key), 1.0);
    assert_near(x(&simulation, lift), 1.0);
    // A force added before the second call belongs to that step all the same.
    let step = simulation.next_step();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    assert_eq!(simulation.next_step(), step);
    simulation.end_frame();
    advance(&mut simulation, 10);
    assert_near(rise(&simulation, key), 1.0);
}

/// Returns everything that a host can observe.
fn seen(simulation: &Simulation) -> (u64, u64, Frame, Vec<(BodyKey, Pose)>) {
    let moved = simulation.moved().to_vec();
    let hash = hash(simulation.physics.rapier());
    (hash, simulation.physics.tick(), simulation.frame(), moved)
}

#[test]
fn next_step_make_step_and_end_frame_do_nothing_outside_a_frame() {
    let (mut simulation, _) = flyer_in_space();
    for ms in [0, 25, 4] {
        let frame = simulation.frame();
        let before = seen(&simulation);
        assert_eq!(simulation.next_step(), None);
        assert!(!simulation.run_step());
        assert_eq!(simulation.end_frame(), frame);
        assert_eq!(seen(&simulation), before);
        advance(&mut simulation, ms);
    }
}

#[test]
fn make_step_without_a_pending_step_does_nothing() {
    let (mut simulation, key) = flyer_in_space();
    simulation.begin_frame(MS(20));
    assert!(!simulation.run_step());
    simulation.next_step().unwrap();
    assert!(simulation.run_step());
    let before = seen(&simulation);
    assert!(!simulation.run_step());
    assert_eq!(seen(&simulation), before);
    assert_eq!(run_steps(&mut simulation).len(), 1);
    assert_eq!(simulation.next_step(), None, "no step is due");
    assert!(!simulation.run_step());
    assert_eq!(simulation.end_frame().steps, 2);
    assert_near(x(&simulation, key), 2.0);
}

#[test]
fn a_simulation_assigned_within_a_frame_has_no_open_frame() {
    let (mut simulation, _) = flyer_in_space();
    simulation.begin_frame(MS(30));
    simulation.next_step().unwrap();
    simulation.run_step();
    simulation.next_step().unwrap();
    let key;
    (simulation, key) = flyer_in_space(); // the level restarts
    assert!(!simulation.run_step());
    assert_eq!(simulation.next_step(), None);
    assert_eq!(simulation.end_frame(), Frame::default());
    assert_eq!(advance(&mut simulation, 20).steps, 2);
    assert_near(x(&simulation, key), 2.0);
}

/// Replaces the state with a new one, before or after the first step of tick 1.
struct Restart {
    after: bool,
    is_done: bool,
    calls: Vec<(u64, bool)>,
}

impl Restart {
    fn call(&mut self, physics: &mut Physics, step: Step, after: bool) {
        self.calls.push((step.tick, after));
        if (step.tick, after) == (1, self.after) && !std::mem::replace(&mut self.is_done, true) {
            *physics = flyer_in_space().0.physics;
        }
    }
}

impl Hooks for Restart {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.call(physics, step, false);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.call(physics, step, true);
        Ok(())
    }
}

#[test]
fn a_state_replaced_in_a_hook_runs_the_frames_remaining_steps() {
    for after in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        let mut restart = Restart {
            after,
            is_done: false,
            calls: Vec::new(),
        };
        let Ok(frame) = simulation.advance_with(MS(40), &mut restart);
        // Two steps remain. A step that was aborted has no hook after it.
        let begun = [(0, false), (0, true), (1, false), (1, true)];
        let begun = if after { &begun[..] } else { &begun[..3] };
        let again = [(0, false), (0, true), (1, false), (1, true)];
        assert_eq!(restart.calls, [begun, &again].concat());
        assert_eq!((frame.number, frame.steps, frame.ticks()), (1, 2, 0..2));
        assert_eq!(frame.dropped.aborted, u64::from(!after));
        let ((key, body), time) = (simulation.physics.bodies().next().unwrap(), MS(20));
        assert_near(body.translation().x, 2.0);
        assert_eq!(
            (simulation.physics.tick(), simulation.physics.time()),
            (2, time)
        );
        // As always, a frame displays the poses of one step ago.
        assert_near(simulation.pose(key).unwrap().translation.x, 1.0);
        assert_eq!(advance(&mut simulation, 20).ticks(), 2..4);
    }
}

#[test]
fn the_game_continues_after_a_panic_between_next_step_and_make_step() {
    let (mut simulation, key) = flyer_in_space();
    let frame = |simulation: &mut Simulation, panics: bool| {
        simulation.begin_frame(MS(30));
        while let Some(step) = simulation.next_step() {
            simulation.physics.apply_impulse(key, Vector::Y).unwrap();
            assert!(!(panics && step.tick == 1), "a system panics");
            simulation.run_step();
        }
        simulation.end_frame()
    };
    let panicking = || frame(&mut simulation, true);
    assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
    let done = frame(&mut simulation, false);
    // The open frame is part of this one.
    assert_eq!((done.number, done.steps, done.dropped.aborted), (1, 4, 2));
    assert_eq!(done.ticks(), 0..4);
    assert_near(rise(&simulation, key), 4.0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 4.0);
    assert_eq!(frame(&mut simulation, false).dropped, Dropped::default());
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

/// A build with debug assertions names the call that a loop always leaves out, instead of a hang, a stutter or a still
/// picture.
#[test]
#[cfg(debug_assertions)]
fn a_loop_that_always_leaves_out_a_call_panics_with_its_cure() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    type Loop = fn(&mut Simulation);
    let loops: [(&str, Loop); 3] = [
        ("run_step", |simulation| {
            simulation.begin_frame(MS(20));
            while simulation.next_step().is_some() {}
        }),
        ("end_frame", |simulation| {
            loop {
                simulation.begin_frame(MS(20));
                while simulation.next_step().is_some() {
                    simulation.run_step();
                }
            }
        }),
        ("begin_frame", |simulation| {
            loop {
                simulation.end_frame();
            }
        }),
    ];
    for (forgotten, run) in loops {
        let mut simulation = Simulation::default();
        let panic = catch_unwind(AssertUnwindSafe(|| run(&mut simulation))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains(&format!("call `{forgotten}`")), "{text}");
    }
}
