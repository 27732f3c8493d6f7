//! Pauses and speeds: they apply from the moment they are sent, and no time is lost or gained.

use super::*;
use evenstep::Stepping;
use scenes::testing::translation;

#[test]
fn pause_speed_and_single_steps_control_the_displayed_motion() {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.in_time(MS(100));
    driver.pause();
    assert_eq!(driver.run(MS(104)), None);
    let stood = x(&mut driver, key, MS(115));
    assert!((stood - 10.0).abs() < 1e-3, "{stood}");
    for ms in [120, 200, 5_000] {
        assert_eq!(driver.run(MS(ms)), None);
        assert_eq!(x(&mut driver, key, MS(ms)), stood);
    }
    driver.step_once();
    assert_eq!(driver.run(MS(5_010)), None);
    assert_eq!(driver.tick(), 11);
    driver.resume();
    driver.set_speed(0.5);
    // The remaining six of ten milliseconds take twice as long from now on.
    let next = driver.run(MS(6_000)).unwrap();
    assert_eq!(next, MS(6_012));
    driver.run(next);
    driver.run(next + MS(20));
    let one = x(&mut driver, key, next + MS(30));
    driver.run(next + MS(40));
    let two = x(&mut driver, key, next + MS(40));
    assert!((two - one - 0.5).abs() < 1e-3, "{one} {two}");
    assert_eq!(driver.tick(), 14);
    // A step takes two seconds at half the speed, less the five milliseconds that have passed.
    driver.set(|settings| settings.set_rate(Rate::hz(1)));
    let next = driver.run(next + MS(50)).unwrap();
    assert_eq!(next, MS(6_012 + 50 + 1_990));
    let tick = driver.tick();
    assert_eq!(driver.run(next), Some(next + MS(2_000)));
    assert_eq!(driver.run(next + MS(2_000)), Some(next + MS(4_000)));
    assert_eq!(driver.tick(), tick + 2);
}

#[test]
fn time_at_speed_zero_is_not_counted_as_dropped() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.set_speed(0.0);
    driver.run(MS(5));
    driver.run(MS(5_000));
    driver.set_speed(1.0);
    assert_eq!(driver.run(MS(10_000)), Some(MS(10_005)));
    let clock = driver.simulation().clock();
    assert_eq!(clock.real_time(), MS(10_000));
    assert_eq!(clock.time(), MS(5));
    assert_eq!(clock.dropped(), Dropped::default());
    driver.frame(MS(10_000));
    assert_eq!(driver.runner.dropped(), Duration::ZERO);
}

#[test]
fn lag_is_counted_as_dropped_when_a_pause_begins() {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(100));
    driver.set_speed(0.0);
    // The thread is fourteen steps late.
    driver.run(MS(245));
    driver.run(MS(345));
    let clock = driver.simulation().clock();
    let (time, dropped) = (clock.time(), clock.dropped().frame_time);
    assert_eq!(time + dropped, MS(245));
    driver.frame(MS(345));
    assert_eq!(driver.runner.dropped(), dropped);
    assert!(dropped > MS(130), "{dropped:?}");
}

#[test]
fn setting_the_tick_does_not_disturb_the_displayed_motion() {
    for tick in [0, 1_000] {
        let (simulation, key) = flyer_in_space();
        let mut driver = Driver::new(simulation, Idle);
        let mut last = 0.0;
        for ms in 1..400u64 {
            if ms == 205 {
                driver.call(move |simulation, _| simulation.set_tick(tick));
            }
            driver.in_time(MS(ms));
            let x = x(&mut driver, key, MS(ms));
            let by = x - last;
            // The body moves a metre in each step at 100 Hz.
            assert!(ms < 30 || (by - 0.1).abs() < 1e-3, "{by} at {ms} ms");
            last = x;
        }
        assert!(driver.view().tick().abs_diff(tick + 19) <= 2);
    }
}

#[test]
fn a_faster_rate_lets_the_display_catch_up_at_one_and_a_half_times_its_speed() {
    let mut driver = Driver::new(Simulation::new(Rate::hz(50)), Idle);
    driver.in_time(MS(100));
    driver.frame(MS(100));
    driver.pause();
    driver.step_once();
    driver.in_time(MS(100));
    for ms in 100..200 {
        driver.frame(MS(ms));
    }
    driver.set(|settings| settings.set_rate(Rate::hz(125)));
    driver.resume();
    driver.run(MS(200));
    let mut last = driver.view().time().as_secs_f64();
    for ms in 201..300 {
        driver.in_time(MS(ms));
        let time = driver.frame(MS(ms)).time().as_secs_f64();
        let by = time - last;
        assert!((0.0..0.001_501).contains(&by), "{by} s at {ms} ms");
        last = time;
    }
}

const FRAME: Duration = Duration::from_millis(7);

/// Checks the frames of a flyer, at each of these speeds for this many milliseconds.
fn fly(speeds: impl IntoIterator<Item = (f64, u64)>) {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    let (mut now, mut next_frame, mut expected) = (Duration::ZERO, FRAME, 0.0);
    let (mut shown, mut stood, mut last_speed) = (0.0, 0, 1.0);
    for (speed, ms) in speeds {
        driver.set_speed(speed);
        driver.run(now);
        now += MS(ms);
        while next_frame <= now {
            driver.in_time(next_frame);
            let x = x(&mut driver, key, next_frame);
            // It is displayed a step and a half in the past.
            if driver.simulation().clock().time() > MS(25) {
                stood = if x > shown { 0 } else { stood + 1 };
                assert!(stood <= 2, "at {x} for {stood} frames, at {next_frame:?}");
            }
            let most = 1.5 * 100.0 * FRAME.as_secs_f64() * f64::max(speed, last_speed);
            let step = f64::from(x - shown);
            assert!(
                (0.0..=most).contains(&step),
                "{x} after {shown} at {next_frame:?}, at speed {speed}"
            );
            assert!(!driver.view().is_starved());
            (shown, last_speed) = (x, speed);
            next_frame += FRAME;
        }
        driver.in_time(now);
        expected += speed * MS(ms).as_secs_f64();
    }
    driver.run(now);
    let time = driver.simulation().clock().time().as_secs_f64();
    // The clock is behind by less than a step.
    let behind = expected - time;
    assert!((-1e-6..=0.01).contains(&behind), "{time}, not {expected}");
    assert_eq!(driver.runner.dropped(), Duration::ZERO);
}

#[test]
fn slow_motion_applies_at_once_and_displayed_motion_never_jumps() {
    for speed in [0.1, 0.05, 0.01] {
        fly([(1.0, 500), (speed, 2_000), (1.0, 500)]);
    }
    // Speeds also change in the middle of steps.
    fly([(1.0, 503), (0.1, 1_998), (2.0, 509), (0.3, 1_001)]);
}

#[test]
fn frequent_speed_changes_neither_lose_nor_gain_time() {
    fly([(1.0, 500), (0.02, 500)].repeat(8));
    fly([(1.0, 13), (0.02, 29)].repeat(60));
}

fn pauses(times: u32, running: u64, paused: u64) -> Duration {
    let (simulation, _) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    let mut now = Duration::ZERO;
    for _ in 0..times {
        driver.resume();
        driver.in_time(now);
        now += MS(running);
        driver.in_time(now);
        driver.pause();
        driver.run(now);
        now += MS(paused);
        driver.frame(now);
    }
    assert_eq!(driver.runner.dropped(), Duration::ZERO);
    let simulation = driver.simulation();
    let steps = simulation.clock().time().as_millis() / 10;
    assert_eq!(u128::from(driver.tick()), steps);
    simulation.clock().time()
}

#[test]
fn pauses_in_the_middle_of_steps_lose_no_time() {
    for (times, running, paused) in [(200, 1, 10), (300, 17, 3), (300, 17, 400)] {
        let (time, expected) = (pauses(times, running, paused), MS(running) * times);
        // A pause that comes with a step comes a nanosecond before it.
        assert!(time <= expected && expected - time < MS(1), "{time:?}");
    }
}

#[test]
fn calls_and_questions_in_slow_motion_do_not_wait_for_a_step() {
    let (mut simulation, key) = flyer_in_space();
    let wall = simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    let mut driver = Driver::new(simulation, Idle);
    driver.in_time(MS(108));
    driver.set_speed(0.0001);
    driver.run(MS(108));
    // 1.5 steps before 108 ms, the time is 93 ms.
    assert!((x(&mut driver, key, MS(110)) - 9.3).abs() < 1e-3);
    let there = translation(0.0, 7.0, 0.0);
    driver.teleport(wall, there);
    let spawned = driver
        .runner
        .spawn(RigidBodyBuilder::fixed(), [ColliderBuilder::ball(1.0)]);
    let answer = driver.runner.ask(move |simulation| {
        let ray = Ray::new(Vector::Y * 20.0, -Vector::Y);
        let pipeline = simulation.physics.rapier().query_pipeline();
        pipeline.cast_ray(&ray, 100.0, true).map(|(_, at)| at)
    });
    // The next step is twenty seconds away.
    assert!(driver.run(MS(120)).unwrap() > MS(20_000));
    let (tick, hit) = answer.unwrap().get().expect("answered without a step");
    assert_eq!((tick, driver.tick()), (10, 10));
    assert!((hit.unwrap() - 12.0).abs() < 1e-3, "{hit:?}");
    let spawned = spawned.unwrap().key().expect("inserted without a step");
    let view = driver.frame(MS(121));
    assert_eq!(view.pose(wall), Some(there));
    assert_eq!(view.pose(spawned), Some(Pose::IDENTITY));
    // Time is not paused: the flyer continues as slowly as before.
    assert!((x(&mut driver, key, MS(200)) - 9.3).abs() < 1e-2);
}

#[test]
fn a_rollback_in_a_call_neither_drops_nor_gains_time() {
    for (at, pauses) in [(500, false), (503, false), (503, true)] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 100,
            ..simulation.kept()
        });
        let mut driver = Driver::new(simulation, Idle);
        driver.in_time(MS(at));
        if pauses {
            driver.pause();
            driver.in_time(MS(at));
        }
        let tick = driver.tick();
        let back = if pauses { tick - 1 } else { 10 };
        driver.call(move |simulation, _| simulation.roll_back(back).unwrap());
        driver.in_time(MS(at));
        let clock = driver.simulation().clock();
        assert_eq!((clock.real_time(), clock.tick()), (MS(at), tick), "{at}");
        assert_eq!(clock.dropped(), Dropped::default());
        let later = if pauses { 60_000 } else { at };
        driver.in_time(MS(later));
        driver.resume();
        driver.in_time(MS(later));
        driver.in_time(MS(later + 20));
        assert_eq!(driver.tick(), tick + 2);
        driver.frame(MS(later + 20));
        assert_eq!(driver.runner.dropped(), Duration::ZERO);
    }
}

struct PausesAt(u64, bool);

impl PausesAt {
    fn pause(&self, physics: &mut Physics, step: Step, is_after: bool) {
        if (step.tick, is_after) == (self.0, self.1) {
            physics.pause_after_step();
        }
    }
}

impl Hooks for PausesAt {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        self.pause(physics, step, false);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        self.pause(physics, step, true);
        Ok(())
    }
}

#[test]
fn a_pause_after_a_step_displays_its_end_and_loses_no_time() {
    for (is_after, is_late) in [(false, false), (true, false), (false, true), (true, true)] {
        let (simulation, key) = flyer_in_space();
        let mut driver = Driver::new(simulation, PausesAt(6, is_after));
        let mut shown = 0.0;
        for ms in 0..400 {
            if !is_late || ms % 30 == 29 {
                driver.in_time(MS(ms));
            }
            if ms == 200 {
                assert_eq!((driver.tick(), shown), (7, 7.0));
                assert_eq!(driver.run(MS(ms)), None);
                driver.resume();
                driver.run(MS(ms));
            }
            let x = driver.frame(MS(ms)).pose(key).unwrap().translation.x;
            assert!(x >= shown, "{x} after {shown} at {ms} ms");
            shown = x;
        }
        // 130 ms were paused.
        driver.run(MS(400));
        assert_eq!(driver.tick(), 40 - 13);
        let clock = driver.simulation().clock();
        assert_eq!(clock.time(), MS(270));
        assert_eq!(clock.dropped(), Dropped::default());
    }
}

#[test]
fn steps_that_a_pause_holds_run_as_soon_as_the_game_resumes() {
    for (later, rate) in [(0, 100), (700, 100), (700, 50)] {
        let mut driver = Driver::new(Simulation::new(Rate::hz(1)), PausesAt(3, true));
        driver.in_time(MS(100));
        driver.set(|settings| settings.set_rate(Rate::hz(100)));
        driver.in_time(MS(100));
        driver.in_time(MS(101));
        assert_eq!(driver.tick(), 4);
        assert_eq!(driver.simulation().clock().time().as_millis(), 100);
        driver.in_time(MS(101 + later));
        driver.set(move |settings| settings.set_rate(Rate::hz(rate)));
        driver.resume();
        driver.in_time(MS(101 + later));
        // The time of the six steps that were held makes three of the new length.
        let tick = if rate == 100 { 10 } else { 7 };
        assert_eq!(driver.tick(), tick, "{later} {rate}");
        driver.in_time(MS(201 + later));
        let clock = driver.simulation().clock();
        assert_eq!(clock.tick(), tick + u64::from(rate) / 10);
        assert_eq!(clock.dropped(), Dropped::default());
    }
}

#[test]
fn the_displayed_time_never_goes_back_when_the_rate_changes() {
    let smoothings = [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Latest,
    ];
    for (smoothing, every) in smoothings
        .into_iter()
        .flat_map(|it| [7, 60].map(|n| (it, n)))
    {
        let (mut simulation, key) = flyer_in_space();
        simulation.smoothing = smoothing;
        let mut driver = Driver::new(simulation, Idle);
        let (mut last, mut shown) = (0.0, 0.0);
        for ms in 0..900 {
            if ms % every == 0 {
                let hz = [240, 60, 30, 60][(ms / every) as usize % 4];
                driver.set(move |settings| settings.set_rate(Rate::hz(hz)));
            }
            // Sometimes the thread is late.
            if ms % 200 < 150 || ms % 23 == 0 {
                driver.in_time(MS(ms));
            }
            let view = driver.frame(MS(ms));
            let (time, x) = (
                view.time().as_secs_f64(),
                view.pose(key).unwrap().translation.x,
            );
            assert!(
                time >= last,
                "{smoothing:?}: {time} after {last} at {ms} ms"
            );
            assert!(
                x >= shown - 2e-4,
                "{smoothing:?}: {x} after {shown} at {ms} ms"
            );
            if matches!(smoothing, Smoothing::Interpolate | Smoothing::Hermite) {
                let of_time = 100.0 * time;
                assert!((f64::from(x) - of_time).abs() < 0.01, "{x}, not {of_time}");
            }
            (last, shown) = (time, x);
        }
        assert!(shown > 80.0, "{smoothing:?}: {shown}");
    }
}

#[test]
fn a_frame_displays_the_time_one_and_a_half_steps_ago() {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation, Idle);
    let mut next = driver.run(MS(0));
    assert_eq!(next, Some(MS(10)));
    for micros in (0..2_000_000).step_by(6_944) {
        let now = Duration::from_micros(micros);
        while next.is_some_and(|next| next <= now) {
            next = driver.run(next.unwrap());
        }
        let view = driver.frame(now);
        let expected = (100.0 * now.as_secs_f32() - 1.5).max(0.0);
        let x = view.pose(key).unwrap().translation.x;
        assert!(
            (x - expected).abs() < 1e-3,
            "{x} at {now:?}, not {expected}"
        );
        assert!(!view.is_starved());
        assert!(view.moved().len() <= 1);
    }
    assert_eq!(driver.tick(), 199);
}

#[test]
fn a_faster_rate_does_not_make_the_picture_skip() {
    // A frame of 7 ms at 1 m/s, at one and a half times the speed.
    let most = 0.0107;
    let rates = [
        [50, 60],
        [30, 60],
        [30, 120],
        [20, 60],
        [60, 240],
        [30, 1_000],
    ];
    for ([slow, fast], slack) in rates.into_iter().flat_map(|it| [(it, 0.0), (it, 3.0)]) {
        let mut simulation = scenes::space(slow);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let key = simulation.physics.insert(body, ball());
        let mut settings = RunnerSettings::default();
        settings.slack = slack;
        let mut driver = Driver::with(simulation, Idle, settings);
        let mut last = 0.0;
        for i in 0..400 {
            let now = FRAME * i;
            if i == 200 {
                driver.set(move |settings| settings.set_rate(Rate::hz(fast)));
            }
            driver.in_time(now);
            let x = driver.frame(now).pose(key).unwrap().translation.x;
            assert!(
                i < 70 || x - last < most,
                "{slow} to {fast} Hz: {last} to {x} in frame {i}"
            );
            last = x;
        }
    }
}

#[test]
fn each_step_of_a_faster_rate_and_each_single_step_has_its_own_frame() {
    struct Counts([u32; 2]);

    impl Hooks for Counts {
        type Error = ();

        fn before_frame(&mut self, _: &mut Simulation, _: FrameTime) -> Result<(), ()> {
            self.0[0] = 0;
            Ok(())
        }

        fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), ()> {
            assert!(step.is_first && step.is_last);
            self.0[0] += 1;
            self.0[1] = self.0[1].max(self.0[0]);
            Ok(())
        }
    }

    let mut driver = Driver::new(scenes::space(10), Counts([0; 2]));
    driver.in_time(MS(190));
    driver.set(|settings| settings.set_rate(Rate::hz(100)));
    driver.in_time(MS(191));
    driver.in_time(MS(192));
    // 100 ms at 10 Hz, and the next 90 at 100 Hz.
    assert_eq!((driver.tick(), driver.hooks().0[1]), (1 + 9, 1));
    driver.in_time(MS(300));
    assert_eq!((driver.tick(), driver.hooks().0[1]), (1 + 20, 1));
    driver.pause();
    (0..5).for_each(|_| driver.step_once());
    driver.in_time(MS(400));
    assert_eq!((driver.tick(), driver.hooks().0[1]), (1 + 20 + 5, 1));
}

#[test]
fn steps_that_a_faster_rate_makes_due_survive_a_pause_between_them() {
    struct Stops;

    impl Hooks for Stops {
        type Error = ();

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
            if step.tick == 5 {
                physics.pause_after_step();
            }
            Ok(())
        }
    }

    let mut driver = Driver::new(scenes::space(10), Stops);
    driver.in_time(MS(190));
    driver.set(|settings| settings.set_rate(Rate::hz(100)));
    driver.in_time(MS(191));
    driver.in_time(MS(300));
    assert_eq!(driver.tick(), 6);
    driver.resume();
    driver.in_time(MS(300));
    driver.in_time(MS(301));
    // 100 ms at 10 Hz, and 91 at 100 Hz.
    assert_eq!(driver.tick(), 1 + 9);
    driver.in_time(MS(401));
    assert_eq!(driver.tick(), 1 + 9 + 10);
}

#[test]
fn a_rate_that_was_set_before_the_start_is_that_of_the_first_delay() {
    let delay = |simulation: Simulation| {
        let mut driver = Driver::new(simulation, Idle);
        driver.in_time(MS(100));
        MS(100) - driver.frame(MS(100)).time()
    };
    let mut changed = Simulation::default();
    changed.clock_settings_mut().set_rate(Rate::hz(240));
    assert_eq!(delay(changed), delay(Simulation::new(Rate::hz(240))));
}

#[test]
fn the_picture_is_smooth_after_years() {
    let mut simulation = scenes::space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 6.0);
    // After the long step it would fall asleep.
    let body = body.can_sleep(false);
    let key = simulation.physics.insert(body, ball());
    // One long step instead of billions.
    let settings = simulation.clock_settings_mut();
    settings.set_max_frame_time(Duration::MAX);
    settings.set_stepping(Stepping::Variable);
    simulation.advance(Duration::from_secs(100_000_000), |_, _| ());
    simulation
        .clock_settings_mut()
        .set_stepping(Stepping::Fixed);
    simulation.physics.teleport(key, Pose::IDENTITY).unwrap();
    for _ in 0..20 {
        simulation.advance(FRAME, |_, _| ());
    }
    let start = simulation.clock().real_time();
    let mut driver = Driver::new(simulation, Idle);
    let mut last = 0.0;
    for n in 0..400 {
        let now = start + FRAME * n;
        driver.in_time(now);
        let x = driver.frame(now).pose(key).unwrap().translation.x;
        // A frame of 7 ms at 6 m/s, after the first delay.
        let off = (x - last - 0.042).abs();
        assert!(n < 100 || off < 0.002, "{last} to {x} in frame {n}");
        last = x;
    }
}

#[test]
fn a_call_that_runs_frames_does_not_delay_the_next_steps() {
    let (mut runner, mut worker) =
        Runner::without_thread(flyer_in_space().0, Idle, RunnerSettings::default());
    worker.run_until(MS(100));
    let settle = |simulation: &mut Simulation, _: &mut Idle| {
        for _ in 0..500 {
            simulation.advance(MS(10), |_, _| ());
        }
    };
    runner.call(settle).unwrap();
    worker.run_until(MS(100));
    let tick = worker.simulation().physics.tick();
    for ms in 100..200 {
        while worker.run_until(MS(ms)).is_some_and(|next| next <= MS(ms)) {}
        runner.frame_at(MS(ms));
    }
    let steps = worker.simulation().physics.tick() - tick;
    assert!((9..=10).contains(&steps), "{steps}");
}
