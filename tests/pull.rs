//! The loop, pulled by the game: the order of a step, settings within a frame, and every misuse.

mod scenes;

use crate::scenes::testing::translation;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Dropped, Frame, Hooks, Physics, Rate, Simulation, Step, Stepping};
use scenes::{MS, Yard, advance, assert_near, ball, flyer_in_space, hash, moved_keys, space};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

/// Makes all steps that are due.
fn make_steps(simulation: &mut Simulation) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = simulation.next_step() {
        steps.push(step);
        assert!(steps.len() < 100, "no end of steps");
        assert!(simulation.make_step());
    }
    steps
}

fn rise(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.physics.body(key).unwrap().linvel().y
}

fn x(simulation: &Simulation, key: BodyKey) -> f32 {
    scenes::stepped_x(&simulation.physics, key)
}

fn next_x(simulation: &Simulation, key: BodyKey) -> f32 {
    let body = simulation.physics.body(key).unwrap();
    body.next_position().translation.x
}

// Pulled or not, it is one loop.

#[test]
fn the_same_bits_as_advance_at_every_frame_rate() {
    let end = |fps: u32, pulled: bool| {
        let mut yard = Yard::new(Rate::hz(60).unwrap());
        let frame_time = Duration::from_secs(1) / fps;
        let mut frames = Vec::new();
        for _ in 0..3 * fps {
            let frame = if pulled {
                pull(&mut yard, frame_time)
            } else {
                yard.advance(frame_time)
            };
            frames.push((frame, yard.simulation.moved().to_vec()));
        }
        (hash(yard.simulation.physics.rapier()), frames)
    };
    for fps in [15, 60, 144] {
        let (pulled, advanced) = (end(fps, true), end(fps, false));
        assert_eq!(pulled.0, advanced.0, "{fps}");
        assert!(pulled.1 == advanced.1, "other frames at {fps}");
    }
}

fn pull(yard: &mut Yard, frame_time: Duration) -> Frame {
    yard.simulation.begin_frame(frame_time);
    while let Some(step) = yard.simulation.next_step() {
        let Ok(()) = yard.game.before_step(&mut yard.simulation.physics, step);
        assert!(yard.simulation.make_step());
    }
    yard.simulation.end_frame()
}

#[test]
fn between_two_calls_it_may_be_moved_and_stored_and_sent() {
    let (simulation, key) = flyer_in_space();
    let mut expected = flyer_in_space().0;
    for ms in [25, 4, 33] {
        advance(&mut expected, ms);
    }
    let mut world = vec![None, Some(Box::new(simulation))];
    for ms in [25, 4, 33] {
        let mut stored = world.swap_remove(1).unwrap();
        stored.begin_frame(MS(ms));
        while stored.next_step().is_some() {
            let mut elsewhere = *stored;
            let sent = std::thread::spawn(move || {
                assert!(elsewhere.make_step());
                elsewhere
            });
            stored = Box::new(sent.join().unwrap());
        }
        stored.end_frame();
        world.push(Some(stored));
    }
    let simulation = world.pop().flatten().unwrap();
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(expected.physics.rapier())
    );
    assert_eq!(simulation.frame(), expected.frame());
    assert_eq!(simulation.pose(key), expected.pose(key));
}

#[test]
fn it_may_be_dropped_between_two_calls() {
    for calls in 0..4 {
        let mut simulation = flyer_in_space().0;
        simulation.begin_frame(MS(30));
        for call in 0..calls {
            if call % 2 == 0 {
                simulation.next_step();
            } else {
                simulation.make_step();
            }
        }
        drop(simulation);
    }
}

#[test]
fn each_step_knows_its_place_and_the_frame_its_ticks() {
    let mut simulation = space(100);
    for (ms, ticks) in [(30, 0..3), (5, 3..3), (5, 3..4), (20, 4..6)] {
        simulation.begin_frame(MS(ms));
        let steps = make_steps(&mut simulation);
        let frame = simulation.end_frame();
        assert_eq!(frame.ticks(), ticks);
        assert_eq!(frame.steps, steps.len() as u64);
        for (i, step) in steps.iter().enumerate() {
            assert_eq!(step.tick, ticks.start + i as u64);
            assert_eq!(step.is_first, i == 0);
            assert_eq!(step.is_last, i + 1 == steps.len());
        }
    }
}

// The order of a step.

#[test]
fn a_platform_s_next_position_is_that_of_the_step_at_hand() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let there = translation(4.0, 0.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(key, there, MS(40))
        .unwrap();
    simulation.begin_frame(MS(50));
    for after in [1.0, 2.0, 3.0, 4.0, 4.0] {
        simulation.next_step().unwrap();
        let next = next_x(&simulation, key);
        assert_near(next, after);
        simulation.make_step();
        assert_eq!(x(&simulation, key), next);
    }
    simulation.end_frame();
}

#[test]
fn a_target_that_is_set_in_a_step_acts_in_it() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let elsewhere = translation(-9.0, 0.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(key, elsewhere, MS(10))
        .unwrap();
    simulation.begin_frame(MS(20));
    let step = simulation.next_step().unwrap();
    let there = translation(2.0, 0.0, 0.0);
    simulation
        .physics
        .set_kinematic_target(key, there, step.time + MS(20))
        .unwrap();
    for after in [1.0, 2.0] {
        simulation.next_step().unwrap();
        let next = next_x(&simulation, key);
        assert_near(next, after);
        simulation.make_step();
        assert_near(x(&simulation, key), after);
    }
    simulation.end_frame();
}

#[test]
fn settings_within_a_frame_hold_from_the_next_one_on() {
    type Set = fn(&mut Simulation);
    // Each, and the tick, the steps and the first step's length in a frame of 40 ms after it.
    let settings: [(Set, u64, u64, f32); 8] = [
        (
            |s| s.clock_settings_mut().set_rate(Rate::hz(50).unwrap()),
            4,
            2,
            0.02,
        ),
        (
            |s| s.clock_settings_mut().set_stepping(Stepping::Variable),
            4,
            1,
            0.045,
        ),
        (|s| s.set_speed(0.5).unwrap(), 4, 2, 0.01),
        (|s| s.pause(), 4, 0, 0.0),
        (
            |s| s.clock_settings_mut().set_max_steps_per_frame(Some(1)),
            4,
            1,
            0.01,
        ),
        (
            |s| s.clock_settings_mut().set_max_frame_time(MS(16)),
            4,
            2,
            0.01,
        ),
        (|s| s.clock_settings_mut().set_tick(100), 100, 4, 0.01),
        (
            |s| s.clock_settings_mut().set_overstep(Duration::ZERO),
            4,
            4,
            0.01,
        ),
    ];
    for (i, (set, tick, steps, dt)) in settings.into_iter().enumerate() {
        let mut simulation = space(100);
        simulation.begin_frame(MS(45));
        let mut made = Vec::new();
        while let Some(step) = simulation.next_step() {
            made.push((step.tick, step.dt));
            if step.is_first {
                set(&mut simulation);
            }
            simulation.make_step();
        }
        assert_eq!(made, [(0, 0.01), (1, 0.01), (2, 0.01), (3, 0.01)], "{i}");
        let frame = simulation.end_frame();
        assert_eq!((frame.alpha, frame.tick), (0.5, 4), "{i}");

        simulation.begin_frame(MS(40));
        let first = simulation.next_step();
        let made = make_steps(&mut simulation);
        assert_eq!(made.len() as u64, steps, "{i}");
        if let Some(first) = first {
            assert_eq!(first.tick, tick, "{i}");
            assert_near(first.dt, dt);
        }
        let frame = simulation.end_frame();
        assert_eq!(frame.tick, tick + steps, "{i}");
        let overstep = simulation.clock().overstep();
        let none_is_left = overstep == Duration::ZERO;
        assert_eq!(none_is_left, matches!(i, 1 | 7), "{i}: {overstep:?}");
    }
}

#[test]
fn a_resumed_pause_holds_from_the_next_frame_on_too() {
    let mut simulation = space(100);
    simulation.pause();
    simulation.clock_settings_mut().step_once();
    simulation.begin_frame(MS(30));
    simulation.resume();
    assert_eq!(make_steps(&mut simulation).len(), 1);
    assert_eq!(simulation.end_frame().steps, 1);
    assert_eq!(advance(&mut simulation, 30).steps, 3);
}

#[test]
fn forces_for_a_step_that_is_not_made_are_forgotten_and_those_that_waited_are_kept() {
    let (mut simulation, key) = flyer_in_space();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation
        .physics
        .apply_impulse(key, Vector::Y * 100.0)
        .unwrap();
    simulation.end_frame();
    assert_near(rise(&simulation, key), 0.0);
    // In a frame without a step it waits on.
    advance(&mut simulation, 5);
    assert_near(rise(&simulation, key), 0.0);
    advance(&mut simulation, 5);
    assert_near(rise(&simulation, key), 1.0);
    advance(&mut simulation, 10);
    assert_near(rise(&simulation, key), 1.0);
}

// Misuse.

/// A scene with a collision in its first step, and another flyer.
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
fn a_frame_that_is_begun_twice_is_one() {
    let (mut simulation, key) = colliding();
    let lamp = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    let gone = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    let last = advance(&mut simulation, 5);
    simulation.begin_frame(MS(300)); // 50 ms over the most
    simulation.next_step().unwrap();
    simulation.make_step();
    assert_eq!(simulation.events().in_tick(0).collisions().count(), 1);
    let there = translation(0.0, -9.0, 0.0);
    simulation.physics.teleport(lamp, there).unwrap();
    simulation.physics.remove(gone).unwrap();
    // A step is taken, and not made.
    simulation.next_step().unwrap();
    simulation
        .physics
        .apply_impulse(key, Vector::Y * 100.0)
        .unwrap();

    simulation.begin_frame(MS(21));
    assert_eq!(simulation.frame().dropped.aborted, 24);
    let steps = make_steps(&mut simulation);
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
    assert_eq!(simulation.events().in_tick(0).collisions().count(), 1);
    let moved = moved_keys(&simulation);
    assert!(moved.contains(&lamp) && moved.contains(&key));
    assert_eq!(simulation.removed(), [gone]);
    assert_eq!(frame.poses.teleported, 1);
    assert_near(rise(&simulation, key), 0.0);
    // It is shown between its last two states.
    let (previous, current) = (
        previous_pose(&simulation, key),
        current_pose(&simulation, key),
    );
    assert_near(previous.unwrap().translation.x, 2.0);
    assert_near(current.unwrap().translation.x, 3.0);
    assert_near(frame.alpha, 0.6);
    assert_near(simulation.pose(key).unwrap().translation.x, 2.6);
    // And all of it is over with the frame.
    let frame = advance(&mut simulation, 1);
    assert_eq!((frame.steps, frame.dropped), (0, Dropped::default()));
    assert!(simulation.events().is_empty());
    assert_eq!(simulation.removed(), []);
}

#[test]
fn a_frame_that_is_begun_twice_with_no_step_due_goes_on_as_smoothly() {
    let (mut simulation, key) = flyer_in_space();
    simulation.begin_frame(MS(24));
    make_steps(&mut simulation);
    simulation.begin_frame(MS(3)); // `end_frame` was forgotten
    assert_eq!(make_steps(&mut simulation), []);
    let frame = simulation.end_frame();
    assert_eq!(
        (frame.number, frame.steps, frame.dropped.aborted),
        (1, 2, 0)
    );
    assert_near(simulation.pose(key).unwrap().translation.x, 1.7);
}

#[test]
fn a_frame_that_is_ended_early_shows_the_latest_state() {
    // Before the first step, between two, and with a step taken.
    for (made, taken) in [(0, false), (0, true), (2, false), (2, true)] {
        let (mut simulation, key) = flyer_in_space();
        advance(&mut simulation, 26);
        simulation.begin_frame(MS(43)); // four steps, and 9 ms over
        for _ in 0..made {
            simulation.next_step().unwrap();
            simulation.make_step();
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
fn a_step_is_taken_once_however_often_it_is_asked_for() {
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
    simulation.make_step();
    assert_near(rise(&simulation, key), 1.0);
    assert_near(x(&simulation, lift), 1.0);
    // What was pushed before the second call is for that step all the same.
    let step = simulation.next_step();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    assert_eq!(simulation.next_step(), step);
    simulation.end_frame();
    advance(&mut simulation, 10);
    assert_near(rise(&simulation, key), 1.0);
}

/// All that a host sees.
fn seen(simulation: &Simulation) -> (u64, u64, Frame, Vec<(BodyKey, Pose)>) {
    let moved = simulation.moved().to_vec();
    let hash = hash(simulation.physics.rapier());
    (hash, simulation.physics.tick(), simulation.frame(), moved)
}

#[test]
fn outside_of_a_frame_there_is_no_step_and_nothing_to_end() {
    let (mut simulation, _) = flyer_in_space();
    for ms in [0, 25, 4] {
        let frame = simulation.frame();
        let before = seen(&simulation);
        assert_eq!(simulation.next_step(), None);
        assert!(!simulation.make_step());
        assert_eq!(simulation.end_frame(), frame);
        assert_eq!(seen(&simulation), before);
        advance(&mut simulation, ms);
    }
}

#[test]
fn a_step_is_made_only_if_it_was_taken() {
    let (mut simulation, key) = flyer_in_space();
    simulation.begin_frame(MS(20));
    assert!(!simulation.make_step());
    simulation.next_step().unwrap();
    assert!(simulation.make_step());
    let before = seen(&simulation);
    assert!(!simulation.make_step());
    assert_eq!(seen(&simulation), before);
    assert_eq!(make_steps(&mut simulation).len(), 1);
    assert_eq!(simulation.next_step(), None, "none is due");
    assert!(!simulation.make_step());
    assert_eq!(simulation.end_frame().steps, 2);
    assert_near(x(&simulation, key), 2.0);
}

#[test]
fn a_simulation_that_takes_another_s_place_is_outside_of_a_frame() {
    let (mut simulation, _) = flyer_in_space();
    simulation.begin_frame(MS(30));
    simulation.next_step().unwrap();
    simulation.make_step();
    simulation.next_step().unwrap();
    let key;
    (simulation, key) = flyer_in_space(); // the level restarts
    assert!(!simulation.make_step());
    assert_eq!(simulation.next_step(), None);
    assert_eq!(simulation.end_frame(), Frame::default());
    assert_eq!(advance(&mut simulation, 20).steps, 2);
    assert_near(x(&simulation, key), 2.0);
}

/// Puts a new state in the place of the old one, before or after the first step of tick 1.
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
fn a_level_that_restarts_inside_a_hook_has_the_rest_of_the_frame() {
    for after in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        let mut restart = Restart {
            after,
            is_done: false,
            calls: Vec::new(),
        };
        let Ok(frame) = simulation.advance_with(MS(40), &mut restart);
        // Two steps are left. A step that was not made has no hook after it.
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
        // As always, a frame shows one step ago.
        assert_near(simulation.pose(key).unwrap().translation.x, 1.0);
        assert_eq!(advance(&mut simulation, 20).ticks(), 2..4);
    }
}

#[test]
fn after_a_panic_between_taking_a_step_and_making_it_the_game_goes_on() {
    let (mut simulation, key) = flyer_in_space();
    let frame = |simulation: &mut Simulation, panics: bool| {
        simulation.begin_frame(MS(30));
        while let Some(step) = simulation.next_step() {
            simulation.physics.apply_impulse(key, Vector::Y).unwrap();
            assert!(!(panics && step.tick == 1), "a system panics");
            simulation.make_step();
        }
        simulation.end_frame()
    };
    let panicking = || frame(&mut simulation, true);
    assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
    let done = frame(&mut simulation, false);
    // The frame that was open is in this one.
    assert_eq!((done.number, done.steps, done.dropped.aborted), (1, 4, 2));
    assert_eq!(done.ticks(), 0..4);
    assert_near(rise(&simulation, key), 4.0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 4.0);
    assert_eq!(frame(&mut simulation, false).dropped, Dropped::default());
}

// Calls that are forgotten.

/// What the library says on standard error in a test of this program that is run alone.
fn told_by(test: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap();
    let arguments = [test, "--exact", "--ignored", "--nocapture"];
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{test}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let lines = said.lines().filter(|line| line.starts_with("evenstep:"));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_call_that_is_forgotten_is_told_once_in_debug_builds() {
    let cases = [
        ("told::frames_that_are_not_ended", "call `end_frame`"),
        ("told::steps_that_are_not_made", "call `make_step`"),
        ("told::a_step_that_is_taken_for_ever", "call `make_step`"),
    ];
    for (test, advice) in cases {
        let told = told_by(test);
        assert_eq!(told.len(), usize::from(cfg!(debug_assertions)), "{told:?}");
        assert!(told.iter().all(|line| line.contains(advice)), "{told:?}");
    }
    assert_eq!(told_by("told::loops_that_forget_nothing"), [""; 0]);
}

/// Loops that are watched from outside.
mod told {
    use super::*;

    #[test]
    #[ignore = "for the test above"]
    fn frames_that_are_not_ended() {
        let (mut simulation, _) = flyer_in_space();
        for _ in 0..200 {
            simulation.begin_frame(MS(10));
            make_steps(&mut simulation);
        }
        assert_eq!(simulation.physics.tick(), 200);
    }

    #[test]
    #[ignore = "for the test above"]
    fn steps_that_are_not_made() {
        let (mut simulation, _) = flyer_in_space();
        for _ in 0..200 {
            simulation.begin_frame(MS(10));
            assert!(simulation.next_step().is_some());
            simulation.end_frame();
        }
        assert_eq!(simulation.physics.tick(), 0);
    }

    #[test]
    #[ignore = "for the test above"]
    fn a_step_that_is_taken_for_ever() {
        let (mut simulation, _) = flyer_in_space();
        simulation.begin_frame(MS(10));
        let mut steps = 0;
        while simulation.next_step().is_some() && steps < 200 {
            steps += 1;
        }
        assert_eq!(steps, 200);
    }

    /// It has nothing to say in these hooks either: they abort their steps on purpose.
    #[test]
    #[ignore = "for the test above"]
    fn loops_that_forget_nothing() {
        struct Fails;

        impl Hooks for Fails {
            type Error = ();

            fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
                Err(())
            }
        }

        let (mut simulation, _) = flyer_in_space();
        simulation.set_rewind_limits(20, usize::MAX);
        for _ in 0..200 {
            simulation.begin_frame(MS(25));
            make_steps(&mut simulation);
            simulation.end_frame();
            simulation.advance(MS(10), |_, _| ());
            let tick = simulation.physics.tick();
            simulation.resimulate(tick - 2, |_, _| ()).unwrap();
        }
        for _ in 0..200 {
            simulation.advance_with(MS(10), &mut Fails).unwrap_err();
        }
        for _ in 0..200 {
            let panics = || simulation.advance(MS(10), |_, _| panic!("a bug of the game"));
            catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        }
    }
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// The pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
