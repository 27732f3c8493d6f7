//! Hooks that fail, panic, or misuse the API.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::{MS, flyer_in_space};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Fails before or after one step.
struct Failing {
    tick: u64,
    after: bool,
    key: BodyKey,
}

#[derive(Debug, PartialEq)]
struct Failure(u64);

impl Failing {
    fn fail_at(&self, after: bool, step: Step) -> Result<(), Failure> {
        if self.after == after && step.tick == self.tick {
            Err(Failure(step.tick))
        } else {
            Ok(())
        }
    }
}

impl Hooks for Failing {
    type Error = Failure;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Failure> {
        physics.add_force(self.key, Vector::Y * 100.0).unwrap();
        self.fail_at(false, step)
    }

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Failure> {
        self.fail_at(true, step)
    }
}

/// Checks the simulation after a frame of five steps, of which `completed` ran, and that it continues.
fn check(mut simulation: Simulation, key: BodyKey, completed: u64) {
    let frame = simulation.frame();
    assert_eq!(
        (frame.steps, frame.tick, simulation.physics.tick()),
        (completed, completed, completed)
    );
    assert_eq!(frame.dropped.aborted, 5 - completed);
    assert_eq!(simulation.clock().dropped().aborted, 5 - completed);
    assert_eq!(frame.alpha < 1.0, completed == 5, "{}", frame.alpha);
    let body = simulation.physics.body(key).unwrap();
    assert!(
        (body.linvel().y - completed as f32).abs() < 1e-5,
        "one force per step that was run"
    );
    assert_eq!(body.user_force(), Vector::ZERO);
    let latest = *body.position();
    assert_eq!(current_pose(&simulation, key), Some(latest));
    if completed < 5 {
        assert_eq!(
            simulation.pose(key),
            Some(latest),
            "the frame displays the latest state"
        );
    }
    let mut ticks = Vec::new();
    simulation.advance(MS(20), |_, step| ticks.push(step.tick));
    assert_eq!(
        ticks,
        [completed, completed + 1],
        "the next frame continues"
    );
    assert_eq!(simulation.frame().dropped.aborted, 0);
    let rise = simulation.physics.body(key).unwrap().linvel().y;
    assert!(
        (rise - completed as f32).abs() < 1e-5,
        "the force of an aborted step is discarded"
    );
    let pair = (
        previous_pose(&simulation, key).unwrap(),
        current_pose(&simulation, key).unwrap(),
    );
    assert!((pair.1.translation.x - pair.0.translation.x - 1.0).abs() < 1e-4);
}

#[test]
fn the_simulation_continues_after_an_error_in_a_hook() {
    for tick in 0..5 {
        for after in [false, true] {
            let (mut simulation, key) = flyer_in_space();
            let mut failing = Failing { tick, after, key };
            let result = simulation.advance_with(MS(52), &mut failing);
            assert_eq!(result, Err(Failure(tick)));
            check(simulation, key, tick + u64::from(after));
        }
    }
}

#[test]
fn the_simulation_continues_after_a_panic_in_a_hook() {
    for tick in 0..5 {
        let (mut simulation, key) = flyer_in_space();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            simulation.advance(MS(52), |physics, step| {
                physics.add_force(key, Vector::Y * 100.0).unwrap();
                assert!(step.tick < tick, "the hook panics");
            });
        }));
        assert!(panicked.is_err());
        simulation.end_frame();
        check(simulation, key, tick);
    }
}

#[test]
fn an_error_before_the_first_step_displays_the_latest_state() {
    let (mut simulation, key) = flyer_in_space();
    simulation.advance(MS(29), |_, _| ());
    let latest = current_pose(&simulation, key);
    assert_ne!(simulation.pose(key), latest);
    let mut failing = Failing {
        tick: 2,
        after: false,
        key,
    };
    // Time continues into a step that does not run, and displayed poses must not go back.
    assert_eq!(
        simulation.advance_with(MS(3), &mut failing),
        Err(Failure(2))
    );
    assert_eq!(current_pose(&simulation, key), latest);
    assert_eq!(simulation.pose(key), latest);
    assert_eq!(simulation.frame().alpha, 1.0);
}

/// Fails before every other frame, and lists the times of all frames.
struct EachFrame(Vec<Duration>);

impl Hooks for EachFrame {
    type Error = usize;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), usize> {
        assert_eq!(simulation.frame().number, self.0.len() as u64);
        self.0.push(frame_time.duration());
        match self.0.len() {
            odd if odd % 2 == 1 => Err(odd),
            _ => Ok(()),
        }
    }
}

#[test]
fn an_error_in_before_frame_drops_due_steps_and_keeps_the_overstep() {
    let (mut simulation, _) = flyer_in_space();
    let mut hooks = EachFrame(Vec::new());
    assert_eq!(simulation.advance_with(MS(25), &mut hooks), Err(1));
    let frame = simulation.frame();
    assert_eq!((frame.steps, frame.dropped.aborted), (0, 2));
    // The rest of the time is in the next frame.
    let frame = simulation.advance_with(MS(5), &mut hooks).unwrap();
    assert_eq!((frame.steps, frame.tick, frame.dropped.aborted), (1, 1, 0));
    assert_eq!(simulation.clock().real_time(), MS(30));
    assert_eq!(simulation.advance_with(MS(0), &mut hooks), Err(3));
    assert_eq!(hooks.0, [MS(25), MS(5), MS(0)]);
}

/// Panics before the first frame.
struct Panics(bool);

impl Hooks for Panics {
    type Error = Failure;

    fn before_frame(&mut self, _: &mut Simulation, _: FrameTime) -> Result<(), Failure> {
        assert!(!std::mem::take(&mut self.0), "before the frame");
        Ok(())
    }
}

#[test]
fn a_panic_in_before_frame_skips_that_frame() {
    let (mut simulation, _) = flyer_in_space();
    let mut hooks = Panics(true);
    let frame = AssertUnwindSafe(|| simulation.advance_with(MS(25), &mut hooks));
    catch_unwind(frame).unwrap_err();
    assert_eq!(simulation.clock().real_time(), MS(0));
    let frame = simulation.advance_with(MS(10), &mut hooks).unwrap();
    assert_eq!((frame.number, frame.steps), (1, 1));
}

/// Panics in one step, and rewinds before the next frame.
struct GoesBack {
    panics_at: u64,
    to: u64,
}

impl Hooks for GoesBack {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Infallible> {
        if simulation.physics.tick() == self.panics_at {
            simulation.rewind(self.to).unwrap();
        }
        Ok(())
    }

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Infallible> {
        if step.tick == self.panics_at && step.is_last {
            return Ok(());
        }
        assert!(step.tick < self.panics_at, "the hook panics");
        Ok(())
    }
}

#[test]
fn no_frame_is_open_in_before_frame_even_after_a_panic() {
    // Back to an earlier tick, and to the present one, for which no state is kept. There, the open frame continues.
    for (kept, to, ticks) in [(20, 1, 1..2), (0, 3, 0..4)] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: kept,
            ..simulation.kept()
        });
        let mut hooks = GoesBack { panics_at: 3, to };
        let frame = AssertUnwindSafe(|| simulation.advance_with(MS(50), &mut hooks));
        catch_unwind(frame).unwrap_err();
        let Ok(frame) = simulation.advance_with(MS(10), &mut hooks);
        assert_eq!((frame.number, frame.ticks()), (1, ticks));
        assert_eq!(simulation.clock().dropped().aborted, 2);
    }
}

#[test]
fn advance_after_a_panic_in_rapiers_step_panics_with_the_remedy() {
    let (mut simulation, _) = flyer_in_space();
    scenes::break_rapier(&mut simulation.physics);
    let mut advance = || {
        let advance = || simulation.advance(MS(10), |_, _| ());
        catch_unwind(AssertUnwindSafe(advance)).unwrap_err()
    };
    advance();
    let message = advance().downcast::<String>();
    assert_eq!(
        *message.unwrap(),
        "Rapier panicked in the step of tick 0: rewind this simulation, assign a sound state to its `physics`, or drop it"
    );
}

#[test]
fn advance_within_an_open_frame_takes_over_that_frame() {
    let (mut simulation, key) = flyer_in_space();
    let force = |physics: &mut Physics, _: Step| {
        physics.add_force(key, Vector::Y * 100.0).unwrap();
    };
    let mut inner = None;
    simulation.begin_frame(MS(52));
    while let Some(step) = simulation.next_step() {
        force(&mut simulation.physics, step);
        if step.tick == 2 {
            inner = Some(simulation.advance(MS(10), force));
        }
        assert_eq!(simulation.run_step(), step.tick < 2);
    }
    let outer = simulation.end_frame();
    // Two steps of the outer frame and one of the inner frame run. The other due steps are dropped and counted.
    assert_eq!((outer.steps, outer.dropped.aborted), (3, 3));
    assert_eq!(inner, Some(outer));
    let rise = simulation.physics.body(key).unwrap().linvel().y;
    assert!((rise - 3.0).abs() < 1e-5, "one force per step that was run");
}

#[test]
fn a_closure_hook_can_mutate_the_games_data() {
    let (mut simulation, key) = flyer_in_space();
    let mut world = vec![key];
    let frame = simulation.advance(MS(30), |physics, step| {
        if step.tick == 1 {
            world.push(physics.insert_body(RigidBodyBuilder::dynamic()));
        }
        assert_eq!((step.start_time, step.dt), (MS(step.tick * 10), 0.01));
        assert_eq!(
            (physics.tick(), physics.time()),
            (step.tick, step.start_time)
        );
    });
    assert_eq!((world.len(), frame.steps), (2, 3));
}

#[test]
fn a_pause_within_a_frame_takes_effect_in_the_next_frame() {
    let (mut simulation, _) = flyer_in_space();
    simulation.begin_frame(MS(30));
    while let Some(step) = simulation.next_step() {
        if step.tick == 1 {
            simulation.pause();
        }
        assert!(simulation.run_step());
    }
    assert_eq!(simulation.end_frame().steps, 3);
    assert_eq!(simulation.advance(MS(30), |_, _| ()).steps, 0);
}

/// Uses the whole simulation before each frame: reads earlier poses, rolls back, changes the speed, and pauses.
struct Director(BodyKey);

impl Hooks for Director {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Infallible> {
        let tick = simulation.physics.tick();
        assert_eq!(simulation.clock().tick(), tick);
        match simulation.frame().number {
            0 => (),
            1 => {
                let x = |pose: Option<Pose>| pose.unwrap().translation.x.round();
                assert_eq!(x(simulation.pose_at(self.0, 1, 1.0)), 1.0);
                simulation.roll_back(1).unwrap();
            }
            2 => simulation.clock_settings_mut().set_speed(0.5).unwrap(),
            _ => simulation.pause(),
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if step.is_resimulated {
            physics.apply_impulse(self.0, Vector::Y).unwrap();
        }
        Ok(())
    }
}

#[test]
fn changes_in_before_frame_take_effect_in_that_frame() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 10,
        poses: 10,
        ..simulation.kept()
    });
    let mut frame = || {
        let Ok(frame) = simulation.advance_with(MS(40), &mut Director(key));
        let rise = simulation.physics.body(key).unwrap().linvel().y;
        (frame.steps, frame.resimulated, rise.round())
    };
    assert_eq!(frame(), (4, 0, 0.0));
    assert_eq!(frame(), (4, 3, 3.0), "three steps are resimulated");
    assert_eq!(frame(), (2, 0, 3.0), "at half speed");
    assert_eq!(frame(), (0, 0, 3.0), "in a pause");
}

#[test]
fn the_frame_reports_dropped_time_and_its_cause() {
    let (mut simulation, _) = flyer_in_space();
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(10));
    let frame = simulation.advance(MS(1_000), |_, _| ());
    assert_eq!((frame.steps, frame.tick, frame.awake), (10, 10, 1));
    assert_eq!(
        (frame.dropped.frame_time, frame.dropped.steps),
        (MS(750), 15)
    );
    let frame = simulation.advance(MS(5), |_, _| ());
    assert_eq!((frame.steps, frame.alpha), (0, 0.5));
    assert_eq!(frame.dropped, evenstep::time::Dropped::default());
    assert_eq!(simulation.clock().dropped().steps, 15);
}

#[test]
fn rapiers_physics_hooks_are_called() {
    struct NoContacts;
    impl PhysicsHooks for NoContacts {
        fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
            None
        }
    }
    struct Ghosts;
    impl Hooks for Ghosts {
        type Error = Infallible;
        fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
            Some(Arc::new(NoContacts))
        }
    }
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let key = simulation.physics.insert(
        RigidBodyBuilder::dynamic().translation(Vector::Y),
        ColliderBuilder::ball(0.5).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS),
    );
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    let Ok(_) = simulation.advance_with(MS(1_000), &mut Ghosts);
    assert!(
        simulation.physics.body(key).unwrap().translation().y < -3.0,
        "the body fell through the floor"
    );
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

/// Hooks are an object that extensions share, a borrow, or a closure.
#[test]
fn hooks_can_be_objects_borrows_and_closures() {
    use evenstep::{BeforeStep, Hooks, Physics, Simulation, Step};
    use std::convert::Infallible;
    struct Counts(u64);
    impl Hooks for Counts {
        type Error = Infallible;
        fn after_step(&mut self, _: &mut Physics, _: Step) -> Result<(), Infallible> {
            self.0 += 1;
            Ok(())
        }
    }
    let mut simulation = Simulation::default();
    let step = std::time::Duration::from_millis(17);
    let mut counts = Counts(0);
    let object: &mut dyn Hooks<Error = Infallible> = &mut counts;
    let Ok(_) = simulation.advance_with(step, object);
    let mut boxed: Box<dyn Hooks<Error = Infallible>> = Box::new(&mut counts);
    let Ok(_) = simulation.advance_with(step, &mut boxed);
    let Ok(_) = simulation.advance_with(step, &mut *boxed);
    drop(boxed);
    assert_eq!(counts.0, 3);
    let mut steps = 0;
    let Ok(_) = simulation.advance_with(step, &mut BeforeStep(|_: &mut Physics, _| steps += 1));
    assert_eq!(steps, 1);
}
