//! Shifts of the origin, teleports and lifts, as a view displays them.

use super::*;

/// Creates a row of bodies of all kinds, each at a whole number of metres, and a flyer. The first body is at the
/// origin.
fn row() -> (Simulation, Vec<BodyKey>, BodyKey) {
    let mut simulation = scenes::space(100);
    let kinds = [
        RigidBodyBuilder::fixed(),
        RigidBodyBuilder::dynamic(),
        RigidBodyBuilder::kinematic_position_based(),
        RigidBodyBuilder::dynamic().sleeping(true),
        RigidBodyBuilder::fixed(),
    ];
    let keys = kinds.into_iter().enumerate().map(|(i, body)| {
        let body = body.translation(Vector::Y * 4.0 * i as f32);
        simulation.physics.insert(body, scenes::ball())
    });
    let keys = keys.collect();
    let flyer = simulation.physics.insert(
        scenes::flyer().translation(vector(0.0, 0.0, 9.0)),
        scenes::ball(),
    );
    (simulation, keys, flyer)
}

/// Returns the next shift of the origin, which keeps all numbers whole.
fn next_shift(number: u64) -> Vector {
    let x = (number % 5) as f32 - 2.0;
    vector(64.0 * x, 32.0, -16.0 * x)
}

/// What frames have displayed so far.
#[derive(Default)]
struct Shown {
    map: BTreeMap<BodyKey, Pose>,
    flown: f32,
    origins: Vec<Vector>,
}

impl Shown {
    /// Checks that a frame displays all bodies from one origin, that of its first body, and that the flyer continues
    /// evenly.
    fn check<E>(&mut self, view: &evenstep::threads::View<E>, keys: &[BodyKey], flyer: BodyKey) {
        self.map.extend(view.moved().iter().copied());
        let anchor = self.map[&keys[0]].translation;
        for (i, key) in keys.iter().enumerate() {
            let pose = view.pose(*key).unwrap();
            assert_eq!(self.map[key], pose, "a change is missing from the list");
            let expected = anchor + Vector::Y * 4.0 * i as f32;
            assert_eq!(pose.translation, expected, "two origins in one frame");
        }
        let flown = (view.pose(flyer).unwrap().translation - anchor).x;
        let expected = 100.0 * view.time().as_secs_f64() as f32;
        assert!((flown - expected).abs() < 0.02, "{flown}, not {expected}");
        assert!(flown >= self.flown - 1e-3, "{flown} after {}", self.flown);
        self.flown = flown;
        if self.origins.last() != Some(&anchor) {
            self.origins.push(anchor);
        }
    }
}

#[test]
fn a_runner_never_displays_two_origins_in_one_frame() {
    struct Idle;
    impl Hooks for Idle {
        type Error = Infallible;
    }
    let (simulation, keys, flyer) = row();
    let mut runner = Runner::new(simulation, Idle, RunnerSettings::default()).unwrap();
    let mut shown = Shown::default();
    let mut sent = 0;
    let mut origins = vec![Vector::ZERO];
    let start = runner.now();
    while shown.origins.len() < 12 {
        assert!(runner.now() - start < PATIENCE, "never");
        // Send the next shift once this one is displayed, and every third one in a pause.
        if shown.origins.len() > sent {
            let by = next_shift(sent as u64);
            if sent % 3 == 2 {
                runner.call(|simulation, _| simulation.pause()).unwrap();
            }
            runner
                .call(move |simulation, _| simulation.physics.shift_origin(by).unwrap())
                .unwrap();
            runner.call(|simulation, _| simulation.resume()).unwrap();
            origins.push(origins[sent] - by);
            sent += 1;
        }
        shown.check(runner.frame(), &keys, flyer);
    }
    assert_eq!(shown.origins, origins[..shown.origins.len()]);
    let (simulation, _) = runner.stop();
    assert!(
        keys.iter()
            .all(|key| simulation.physics.body(*key).is_some())
    );
}

/// Shifts the origin before or after steps.
struct Shifts {
    after: bool,
    every: u64,
    origin: Vector,
    count: u64,
}

impl Shifts {
    fn shift(&mut self, physics: &mut Physics, step: Step, after: bool) {
        if after == self.after && step.tick % self.every == self.every - 1 {
            self.count += 1;
            let by = next_shift(self.count);
            physics.shift_origin(by).unwrap();
            self.origin -= by;
        }
    }
}

impl Hooks for Shifts {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.shift(physics, step, false);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.shift(physics, step, true);
        Ok(())
    }
}

#[test]
fn an_origin_shift_after_a_step_is_displayed_in_the_same_frame() {
    for (after, every) in [(true, 7), (true, 1), (false, 7), (false, 1)] {
        let (simulation, keys, flyer) = row();
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut game = Shifts {
            after,
            every,
            origin: Vector::ZERO,
            count: 0,
        };
        let mut shown = Shown::default();
        // Frames end within steps, and every tenth frame ends exactly between two steps.
        for _ in 0..300 {
            let Ok(view) = overlap.frame(MS(3), &mut game);
            shown.check(view, &keys, flyer);
            if after {
                assert_eq!(shown.origins.last(), Some(&game.origin));
            }
        }
        assert!(shown.origins.len() > 10);
    }
}

#[test]
fn an_origin_shift_between_frames_is_displayed_with_the_next_step() {
    let (simulation, keys, flyer) = row();
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut idle = Shifts {
        after: false,
        every: u64::MAX,
        origin: Vector::ZERO,
        count: 0,
    };
    let mut shown = Shown::default();
    for number in 0..300 {
        if number % 11 == 5 {
            let by = next_shift(number);
            overlap
                .simulation(&mut idle)
                .unwrap()
                .physics
                .shift_origin(by)
                .unwrap();
            idle.origin -= by;
        }
        let Ok(view) = overlap.frame(MS(3), &mut idle);
        shown.check(view, &keys, flyer);
        // A step lasts 3.3 frames.
        if number % 11 == 9 {
            assert_eq!(shown.origins.last(), Some(&idle.origin));
        }
    }
}

/// Creates a lift, and a body that is only teleported, to whole positions.
fn lift_and_body() -> (Simulation, BodyKey, BodyKey) {
    let mut simulation = scenes::space(100);
    let body = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    let lift = RigidBodyBuilder::kinematic_position_based().translation(vector(0.0, 0.0, 50.0));
    let lift = simulation.physics.insert(lift, scenes::ball());
    (simulation, body, lift)
}

/// The heights that the lift is sent to, one after the other. None of them is a number that f32 holds exactly.
const FLOORS: [f32; 3] = [1.1, -0.7, 3.3];

fn floor(height: f32) -> Pose {
    translation(0.1, height, 50.3)
}

#[test]
fn a_teleported_body_is_never_displayed_in_between() {
    struct Jumps(BodyKey);
    impl Hooks for Jumps {
        type Error = Infallible;
        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
            let x = 10.0 * (step.tick % 4) as f32;
            physics.teleport(self.0, translation(x, 0.0, 0.0)).unwrap();
            Ok(())
        }
    }
    let check = |pose: Option<Pose>| {
        let x = pose.unwrap().translation.x;
        assert!([0.0, 10.0, 20.0, 30.0].contains(&x), "{x}");
        x
    };
    let (simulation, body, _) = lift_and_body();
    let mut overlap = Overlap::new(simulation.clone()).unwrap();
    let mut seen = Vec::new();
    for number in 0..300u64 {
        let Ok(view) = overlap.frame(MS(number % 7), &mut Jumps(body));
        seen.push(check(view.pose(body)));
    }
    assert!(seen.contains(&30.0));
    let mut runner = Runner::new(simulation, Jumps(body), RunnerSettings::default()).unwrap();
    let start = runner.now();
    while runner.frame().tick() < 40 {
        assert!(runner.now() - start < PATIENCE, "never");
        check(runner.view().pose(body));
    }
    // Calls teleport the body too, several in one step.
    let number = std::cell::Cell::new(0);
    while number.get() < 200 {
        number.set(number.get() + 1);
        let x = 10.0 * (number.get() % 4) as f32;
        // A call that finds the queue full is tried again later.
        let _ = runner.call(move |simulation, _| {
            simulation
                .physics
                .teleport(body, translation(x, 0.0, 0.0))
                .unwrap()
        });
        check(runner.frame().pose(body));
    }
}

#[test]
fn a_lift_arrives_exactly_at_its_last_kinematic_target() {
    struct Idle;
    impl Hooks for Idle {
        type Error = Infallible;
    }
    let (simulation, _, lift) = lift_and_body();
    let mut runner = Runner::new(simulation.clone(), Idle, RunnerSettings::default()).unwrap();
    let start = runner.now();
    for (i, height) in FLOORS.into_iter().enumerate() {
        // Another target comes first, before the final one.
        let there = Duration::from_millis(400 * i as u64 + 150);
        runner
            .call(move |simulation, _| {
                simulation
                    .physics
                    .set_kinematic_target(lift, floor(-9.0), there)
                    .unwrap()
            })
            .unwrap();
        runner
            .call(move |simulation, _| {
                simulation
                    .physics
                    .set_kinematic_target(lift, floor(height), there)
                    .unwrap()
            })
            .unwrap();
        while runner.frame().pose(lift) != Some(floor(height)) {
            assert!(runner.now() - start < PATIENCE, "never");
            std::thread::yield_now();
        }
    }
    let (stopped, _) = runner.stop();
    assert_eq!(
        stopped.physics.body(lift).unwrap().position(),
        &floor(FLOORS[2])
    );

    let mut overlap = Overlap::new(simulation).unwrap();
    for height in FLOORS {
        let there = overlap.simulation(&mut Idle).unwrap().clock().time() + MS(150);
        let mut last = overlap.view().pose(lift);
        for part in 1..=5 {
            // The same target, across several steps.
            overlap
                .simulation(&mut Idle)
                .unwrap()
                .physics
                .set_kinematic_target(lift, floor(height), there)
                .unwrap();
            for _ in 0..5 {
                let Ok(view) = overlap.frame(MS(10), &mut Idle);
                let pose = view.pose(lift);
                assert!(
                    part > 3 || pose != last || part == 1,
                    "the lift stopped before it arrived"
                );
                last = pose;
            }
        }
        assert_eq!(last, Some(floor(height)));
    }
}

/// A world without bodies has a picture, too: that of its soft bodies, or of a sky.
#[test]
fn a_shift_in_a_pause_is_reported_even_if_there_is_no_body() {
    struct Idle;
    impl Hooks for Idle {
        type Error = Infallible;
    }
    let mut simulation = scenes::space(60);
    simulation.pause();
    simulation.advance(MS(17), |_, _| ());
    let by = vector(32.0, 0.0, 0.0);
    let mut overlap = Overlap::new(simulation.clone()).unwrap();
    overlap.frame(MS(17), &mut Idle).unwrap();
    (overlap.simulation(&mut Idle).unwrap().physics)
        .shift_origin(by)
        .unwrap();
    let frames = (0..10).map(|_| overlap.frame(MS(17), &mut Idle).unwrap().origin_shift());
    assert_eq!(frames.sum::<Vector>(), by);
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    worker.run_until(MS(1));
    runner.frame_at(MS(1));
    (runner.call(move |simulation, _| simulation.physics.shift_origin(by).unwrap())).unwrap();
    let frames = (2..60).map(|ms| {
        worker.run_until(MS(ms));
        runner.frame_at(MS(ms)).origin_shift()
    });
    assert_eq!(frames.sum::<Vector>(), by);
}

/// Late input changes a velocity six steps ago, so the paths of the present step have another distance at each moment.
#[test]
fn a_rollback_that_changes_a_velocity_moves_no_body_in_one_frame() {
    struct Late {
        key: BodyKey,
        at: u64,
    }

    impl Late {
        fn jump(&self, physics: &mut Physics, step: Step) {
            if step.tick == self.at {
                let body = physics.body_mut(self.key).unwrap();
                body.set_linvel(Vector::Y * 6.0, true);
            }
        }
    }

    impl Hooks for Late {
        type Error = ();

        fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
            let tick = simulation.physics.tick();
            if tick == 30 && self.at == u64::MAX {
                self.at = tick - 6;
                simulation.roll_back(self.at).unwrap();
            }
            Ok(())
        }

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
            self.jump(physics, step);
            Ok(())
        }
    }

    let start = || {
        let mut simulation = space(60);
        simulation.keep(Kept {
            ticks: 20,
            ..Kept::default()
        });
        let key = simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), ball());
        (simulation, Late { key, at: u64::MAX })
    };
    // Returns the largest way in a frame, in milliseconds of the fastest motion.
    let check = |heights: &[f32], ms: u64, host: &str| {
        assert!(heights.iter().any(|y| *y > 1.0), "{host}: it flies");
        for pair in heights.windows(2) {
            let way = pair[1] - pair[0];
            // The error decays, too.
            let most = 6.0 * 1e-3 * ms as f32 * 2.5 + 0.01;
            assert!((-1e-4..most).contains(&way), "{host}, {ms} ms: {pair:?}");
        }
    };
    for ms in [2, 7, 17] {
        let (mut simulation, mut late) = start();
        let heights = (0..1_000 / ms).map(|_| {
            simulation.advance_with(MS(ms), &mut late).unwrap();
            simulation.pose(late.key).unwrap().translation.y
        });
        check(&heights.collect::<Vec<_>>(), ms, "simulation");
        let (simulation, mut late) = start();
        let mut overlap = Overlap::new(simulation).unwrap();
        let heights = (0..1_000 / ms).map(|_| {
            let key = late.key;
            let view = overlap.frame(MS(ms), &mut late).unwrap();
            view.pose(key).unwrap().translation.y
        });
        check(&heights.collect::<Vec<_>>(), ms, "overlap");
        for speed in [1.0, 0.3] {
            let (mut simulation, late) = start();
            simulation.clock_settings_mut().set_speed(speed).unwrap();
            let key = late.key;
            let settings = RunnerSettings::default();
            let (mut runner, mut worker) = Runner::without_thread(simulation, late, settings);
            let heights = (0..4_000 / ms).map(|i| {
                let now = MS(ms * i);
                while worker.run_until(now).is_some_and(|next| next <= now) {}
                runner
                    .frame_at(now)
                    .pose(key)
                    .map_or(0.0, |it| it.translation.y)
            });
            check(&heights.collect::<Vec<_>>(), ms, "runner");
        }
    }
}
