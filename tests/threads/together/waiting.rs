//! A rollback waits, because the hook of its steps fails. The picture of a view stays.

use super::*;

/// Fails in resimulated steps, until it is told that they may run.
struct Waits(Arc<AtomicU64>);

impl Hooks for Waits {
    type Error = ();

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), ()> {
        let may_run = self.0.load(Ordering::Relaxed) > 0;
        if step.is_resimulated && !may_run {
            return Err(());
        }
        Ok(())
    }
}

fn scene() -> (Simulation, BodyKey, BodyKey) {
    let (mut simulation, flyer) = scenes::flyer_in_space();
    simulation.keep(Kept {
        ticks: 9,
        ..Kept::default()
    });
    let fixed = RigidBodyBuilder::fixed();
    let fixed = simulation.physics.insert(fixed, ball());
    (simulation, flyer, fixed)
}

/// Displays the fixed body a metre too high, with an error that decays.
fn show_from(simulation: &mut Simulation, fixed: BodyKey) {
    let there = translation(0.0, 1.0, 0.0);
    simulation.physics.show_from(fixed, there).unwrap();
}

fn go_back(simulation: &mut Simulation) {
    let tick = simulation.physics.tick();
    simulation.roll_back(tick - 3).unwrap();
}

/// Checks where the flyer and the error were in each frame: 20 frames before the rollback, 20 while it waits, and 20
/// after it.
fn check(shown: &[(f32, f32)]) {
    let (last, waiting, after) = (shown[19], &shown[20..40], &shown[40..]);
    assert!(last.0 > 1.0 && last.1 > 0.1, "{last:?}");
    assert!(waiting.iter().all(|it| *it == last), "{shown:?}");
    assert!(after.is_sorted_by(|a, b| a.0 <= b.0), "{shown:?}");
    // As in one thread, no simulated time passes while it waits.
    assert!((after[19].0 - last.0 - 14.0).abs() < 1.0, "{shown:?}");
    assert!(after[19].1 < last.1, "{shown:?}");
}

#[test]
fn the_picture_of_an_overlap_stays_while_a_rollback_waits() {
    let (simulation, flyer, fixed) = scene();
    let mut overlap = Overlap::new(simulation).unwrap();
    let may_run = Arc::new(AtomicU64::new(0));
    let mut hooks = Waits(Arc::clone(&may_run));
    let mut shown = Vec::new();
    for frame in 0..60 {
        match frame {
            10 => show_from(overlap.simulation(&mut hooks).unwrap(), fixed),
            20 => go_back(overlap.simulation(&mut hooks).unwrap()),
            40 => may_run.store(1, Ordering::Relaxed),
            _ => (),
        }
        let is_waiting = (20..40).contains(&frame);
        assert_eq!(overlap.frame(MS(7), &mut hooks).is_err(), is_waiting);
        let at = |key| overlap.view().pose(key).unwrap().translation;
        shown.push((at(flyer).x, at(fixed).y));
    }
    check(&shown);
}

#[test]
fn the_picture_of_a_runner_stays_while_a_rollback_waits() {
    let (simulation, flyer, fixed) = scene();
    let may_run = Arc::new(AtomicU64::new(0));
    let hooks = Waits(Arc::clone(&may_run));
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, hooks, RunnerSettings::default());
    let mut shown = Vec::new();
    for frame in 0..60 {
        match frame {
            10 => runner
                .call(move |simulation, _| show_from(simulation, fixed))
                .unwrap(),
            20 => runner.call(|simulation, _| go_back(simulation)).unwrap(),
            40 => may_run.store(1, Ordering::Relaxed),
            _ => (),
        }
        let now = MS(7 * frame);
        let view = run_frame(&mut runner, &mut worker, now);
        let at = |key| view.pose(key).map(|pose| pose.translation);
        shown.push((
            at(flyer).unwrap_or_default().x,
            at(fixed).unwrap_or_default().y,
        ));
    }
    check(&shown);
}

struct Panics;

impl Hooks for Panics {
    type Error = Infallible;

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Infallible> {
        assert!(!step.is_resimulated, "it is a test");
        Ok(())
    }
}

#[test]
fn the_picture_of_a_runner_runs_on_after_a_panic_in_a_rollback() {
    let (simulation, flyer, _) = scene();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Panics, RunnerSettings::default());
    let mut shown = Vec::new();
    for frame in 0..40 {
        if frame == 20 {
            runner.call(|simulation, _| go_back(simulation)).unwrap();
        }
        let now = MS(7 * frame);
        let view = run_frame(&mut runner, &mut worker, now);
        assert_eq!(view.is_stopped(), frame >= 20);
        shown.push(view.pose(flyer).map_or(0.0, |pose| pose.translation.x));
    }
    // 13 whole steps had run.
    assert!(shown.is_sorted() && shown[19] < 12.0, "{shown:?}");
    assert!((shown[39] - 13.0).abs() < 1e-3, "{shown:?}");
}

#[test]
fn a_rollback_between_two_steps_of_a_runner_does_not_stop_its_picture() {
    let mut simulation = space(10);
    simulation.keep(Kept {
        ticks: 9,
        ..simulation.kept()
    });
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let flyer = simulation.physics.insert(body, ball());
    let hooks = Waits(Arc::new(AtomicU64::new(1)));
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, hooks, RunnerSettings::default());
    let mut last = 0.0;
    for frame in 1..130 {
        if frame == 101 {
            runner.call(|simulation, _| go_back(simulation)).unwrap();
        }
        let now = MS(7 * frame);
        let view = run_frame(&mut runner, &mut worker, now);
        let x = view.pose(flyer).unwrap().translation.x;
        // The body moves 7 cm in a frame.
        assert!(frame < 60 || (x - last - 0.07_f32).abs() < 0.01, "{frame}");
        last = x;
    }
}

/// The steps of a rollback have no events, and those of the first run wait for a frame.
#[test]
fn a_rollback_without_events_displaces_no_events_of_a_runner() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        ticks: 30,
        ..simulation.kept()
    });
    for (x, speed) in [(0.0, 20.0), (0.5, -20.0)] {
        let body = RigidBodyBuilder::dynamic()
            .translation(vector(x, 5.0, 0.0))
            .linvel(Vector::X * speed);
        let noisy = ball().active_events(ActiveEvents::COLLISION_EVENTS);
        simulation.physics.insert(body, noisy);
    }
    let mut settings = RunnerSettings::default();
    settings.events = 8;
    let hooks = Waits(Arc::new(AtomicU64::new(1)));
    let (mut runner, mut worker) = Runner::without_thread(simulation, hooks, settings);
    for ms in 1..300 {
        worker.run_until(MS(ms));
    }
    let resimulate = |simulation: &mut Simulation, hooks: &mut Waits| {
        let tick = simulation.physics.tick() - 20;
        simulation.resimulate_with(tick, hooks).unwrap();
    };
    runner.call(resimulate).unwrap();
    let mut starts = 0;
    for ms in 300..350 {
        worker.run_until(MS(ms));
        let collisions = runner.frame_at(MS(ms)).events().collisions();
        starts += collisions.filter(|it| it.started).count();
    }
    assert_eq!((starts, runner.lost_events()), (1, 0));
}
