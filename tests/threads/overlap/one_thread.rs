//! Frames, rewinds and rollbacks match those of one thread.

use super::*;
use evenstep::rewind::Kept;

const SPEEDS: [Change; 3] = [
    |simulation| simulation.clock_settings_mut().set_speed(0.1).unwrap(),
    |simulation| simulation.clock_settings_mut().set_speed(1.0).unwrap(),
    |simulation| simulation.clock_settings_mut().set_speed(3.0).unwrap(),
];

/// The first three pause, resume or request a single step.
const OTHERS: [Change; 6] = [
    Simulation::pause,
    Simulation::resume,
    |simulation| simulation.step_once(),
    |simulation| set_rate(simulation, 60),
    |simulation| set_rate(simulation, 250),
    |simulation| {
        let settings = simulation.clock_settings_mut();
        let most = settings.max_steps_per_frame().xor(Some(2));
        settings.set_max_steps_per_frame(most);
        settings.set_max_frame_time(MS(100));
    },
];

/// Pushes a body in each step, changes the clock in some steps, and records the numbers of all frames.
#[derive(Default)]
struct Changing {
    key: BodyKey,
    seed: u64,
    changes: &'static [Change],
    frames: Vec<(u64, Duration, u64)>,
    steps: Vec<(Step, usize)>,
}

impl Changing {
    fn change(&self, simulation: &mut Simulation, number: u64) {
        let chance = mixed(self.seed + number);
        if chance.is_multiple_of(7) && !self.changes.is_empty() {
            self.changes[(chance / 7) as usize % self.changes.len()](simulation);
        }
    }
}

impl Hooks for Changing {
    type Error = ();

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), ()> {
        let frame = (
            simulation.frame().number,
            frame_time.duration(),
            simulation.physics.tick(),
        );
        self.frames.push(frame);
        self.change(simulation, frame.0);
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        let push = Vector::Y * (step.tick % 5) as f32;
        physics.apply_impulse(self.key, push).unwrap();
        self.steps.push((step, self.frames.len()));
        Ok(())
    }
}

#[test]
fn frames_and_steps_match_those_of_one_thread() {
    for seed in 0..60 {
        let (mut simulation, key) = flyer_in_space();
        if seed % 3 == 0 {
            let settings = simulation.clock_settings_mut();
            settings.set_max_steps_per_frame(Some(1 + (seed / 3) as u32 % 3));
        }
        if seed % 5 == 4 {
            let stepping = evenstep::Stepping::Variable;
            simulation.clock_settings_mut().set_stepping(stepping);
        }
        // The later change wins, so the hooks and the driver change different settings.
        let (of_hooks, of_driver): (&[Change], &[Change]) = match seed % 4 {
            0 => (&SPEEDS, &OTHERS),
            1 => (&OTHERS[3..], &SPEEDS),
            2 => (&[], &OTHERS),
            _ => (&OTHERS[3..], &OTHERS[..3]),
        };
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation).unwrap();
        overlap.set_slack([1.0, 0.5, 0.0][seed as usize / 4 % 3]);
        let [mut game, mut reference] = [(); 2].map(|()| Changing {
            key,
            seed: 1_000_000 * seed,
            changes: of_hooks,
            ..Changing::default()
        });
        for number in 0..200 {
            let chance = mixed(1_000_000 * seed + 500_000 + number);
            let frame_time = MS([0, 1, 1, 2, 3, 7, 10, 16, 33, 400][chance as usize % 10]);
            if (chance / 10).is_multiple_of(6) {
                let change = of_driver[(chance / 60) as usize % of_driver.len()];
                change(overlap.simulation(&mut game).unwrap());
                change(&mut alone);
            }
            overlap.frame(frame_time, &mut game).unwrap();
            alone.advance_with(frame_time, &mut reference).unwrap();
        }
        // A pause runs only the work that is still pending.
        overlap.simulation(&mut game).unwrap().pause();
        alone.pause();
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        alone.advance_with(Duration::ZERO, &mut reference).unwrap();
        assert_eq!(game.frames, reference.frames, "{seed}");
        // A change in a hook may let a step begin in a frame that has waited, and thus later.
        for ((step, _), (alone, _)) in game.steps.iter_mut().zip(&reference.steps) {
            assert!(step.real_frame_end >= alone.real_frame_end, "{seed}");
            step.real_frame_end = alone.real_frame_end;
        }
        assert_eq!(game.steps, reference.steps, "{seed}");
        let simulation = overlap.stop(&mut game).0;
        assert_eq!(simulation.clock(), alone.clock(), "{seed}");
        assert_eq!(simulation.frame().number, alone.frame().number);
        assert_eq!(simulation.frame().dropped, alone.frame().dropped);
        assert_eq!(
            hash(simulation.physics.rapier()),
            hash(alone.physics.rapier()),
            "{seed}"
        );
    }
}

/// A driver rewinds or restores a copy while a step is running, and no frame is lost.
#[test]
fn pending_frames_still_count_after_a_rewind_or_restored_copy() {
    let back: [Change; 2] = [
        |simulation| {
            let tick = simulation.physics.tick().saturating_sub(1);
            simulation.rewind(tick).unwrap();
        },
        |simulation| simulation.physics = simulation.physics.clone(),
    ];
    for (change, every) in [(0, 10), (0, 7), (1, 5), (1, 1)] {
        let mut alone = scenes::space(30);
        alone.keep(Kept {
            ticks: 60,
            ..alone.kept()
        });
        let (mut overlap, mut game) = (Overlap::new(alone.clone()).unwrap(), Game::idle());
        for number in 1..=60 {
            alone.advance(MS(7), |_, _| ());
            overlap.frame(MS(7), &mut game).unwrap();
            if number % every == 0 {
                back[change](&mut alone);
                back[change](overlap.simulation(&mut game).unwrap());
            }
            assert_eq!(overlap.now(), alone.clock().real_time());
        }
        // Run the frames that are waiting.
        alone.pause();
        overlap.simulation(&mut game).unwrap().pause();
        alone.advance(Duration::ZERO, |_, _| ());
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        let simulation = overlap.stop(&mut game).0;
        assert_eq!(simulation.clock(), alone.clock(), "{change} {every}");
        assert_eq!(simulation.physics.tick(), alone.physics.tick());
    }
}

#[test]
fn pending_frames_are_dropped_when_another_simulation_is_assigned() {
    let mut overlap = Overlap::new(scenes::space(30)).unwrap();
    let mut game = Game::idle();
    frames(&mut overlap, &mut game, 4);
    *overlap.simulation(&mut game).unwrap() = scenes::space(30);
    overlap.frame(MS(7), &mut game).unwrap();
    assert_eq!(overlap.now(), MS(7));
    assert_eq!(overlap.simulation(&mut game).unwrap().clock().time(), MS(7));
}

/// Keeps a copy from before a step.
#[derive(Default)]
struct Keeps(Option<Physics>);

impl Hooks for Keeps {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == 1 {
            self.0.get_or_insert_with(|| physics.clone());
        }
        Ok(())
    }
}

#[test]
fn a_restored_copy_from_a_hook_continues_as_on_one_thread() {
    for frames in [
        [25_618, 10_000],
        [25_618, 0],
        [15_000, 10_000],
        [35_000, 10_000],
    ] {
        let frames = frames.map(Duration::from_micros);
        let (mut alone, _) = flyer_in_space();
        let mut overlap = Overlap::new(alone.clone()).unwrap();
        let (mut game, mut reference) = (Keeps::default(), Keeps::default());
        alone.advance_with(frames[0], &mut reference).unwrap();
        overlap.frame(frames[0], &mut game).unwrap();
        // Either both have kept a copy, or neither has.
        overlap.simulation(&mut game).unwrap();
        assert_eq!(game.0.is_some(), reference.0.is_some());
        if let (Some(of_overlap), Some(of_alone)) = (game.0.take(), reference.0.take()) {
            overlap.simulation(&mut game).unwrap().physics = of_overlap;
            alone.physics = of_alone;
        }
        let later = [MS(10); 40];
        for frame_time in frames[1..].iter().chain(&later) {
            alone.advance_with(*frame_time, &mut reference).unwrap();
            overlap.frame(*frame_time, &mut game).unwrap();
        }
        assert_eq!(
            overlap.simulation(&mut game).unwrap().clock(),
            alone.clock(),
            "{frames:?}"
        );
        assert_eq!(
            overlap.simulation(&mut game).unwrap().physics.tick(),
            alone.physics.tick()
        );
    }
}

/// Changes between two frames, or before one. The last two are only made before a frame. Between two frames they would
/// drop the hook after the step that is running.
const HISTORY_CHANGES: [Change; 6] = [
    |simulation| drop(simulation.roll_back(simulation.physics.tick().saturating_sub(3))),
    |simulation| drop(simulation.rewind(simulation.physics.tick().saturating_sub(2))),
    |simulation| {
        let tick = simulation.physics.tick().saturating_sub(4);
        drop(simulation.resimulate_with(tick, &mut Pushing::default()));
    },
    |simulation| {
        let same = simulation.physics.clone();
        simulation.correct(same).unwrap();
    },
    |simulation| simulation.physics = simulation.physics.clone(),
    |simulation| _ = simulation.advance_with(MS(10), &mut Pushing::default()),
];

#[test]
fn rollbacks_rewinds_and_corrections_match_those_of_one_thread() {
    for seed in 0..60 {
        let (mut simulation, key) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 30,
            interval: 1 + seed % 2 * 3,
            poses: 20,
            ..simulation.kept()
        });
        simulation.physics.resources_mut().insert(Hooked::default());
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation).unwrap();
        overlap.set_slack([1.0, 0.5, 0.0][seed as usize % 3]);
        let is_between = seed % 4 < 2;
        let [mut game, mut reference] = [(); 2].map(|()| Pushing::default());
        for number in 0..100 {
            let chance = mixed(1_000_000 * seed + number);
            let changes = if is_between {
                &HISTORY_CHANGES[..4]
            } else {
                &HISTORY_CHANGES
            };
            let change = changes[chance as usize / 3 % changes.len()];
            let change = chance.is_multiple_of(3).then_some(change);
            if is_between {
                for simulation in [overlap.simulation(&mut game).unwrap(), &mut alone] {
                    change.inspect(|change| change(simulation));
                }
            } else {
                game.changes.push_back(change);
                reference.changes.push_back(change);
            }
            // Each frame runs one or two steps.
            let frame_time = MS(10 + chance / 100 % 2 * 10);
            overlap.frame(frame_time, &mut game).unwrap();
            alone.advance_with(frame_time, &mut reference).unwrap();
        }
        overlap.simulation(&mut game).unwrap().pause();
        alone.pause();
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        alone.advance_with(Duration::ZERO, &mut reference).unwrap();
        let simulation = overlap.stop(&mut game).0;
        let after = |simulation: &Simulation| {
            let after = simulation.physics.resources().get::<Hooked>().unwrap().0;
            (simulation.physics.tick(), after)
        };
        assert_eq!(after(&simulation), after(&alone), "{seed}");
        assert_eq!(
            hash(simulation.physics.rapier()),
            hash(alone.physics.rapier()),
            "{seed}"
        );
        let ticks = 0..=simulation.physics.tick();
        let poses = |of: &Simulation| -> Vec<_> {
            let ticks = ticks.clone();
            ticks.map(|tick| of.pose_at(key, tick, 0.5)).collect()
        };
        assert_eq!(poses(&simulation), poses(&alone), "{seed}");
        let known = poses(&simulation).into_iter().flatten().count();
        // An assignment before a frame clears the earlier poses.
        let least = if is_between { 10 } else { 0 };
        assert!(known > least, "{known} of {seed}");
    }
}

/// The step under way, the hook after it, and the frames that wait for it are finished first.
#[test]
fn the_simulation_between_two_frames_is_that_of_one_thread() {
    let (mut simulation, _) = flyer_in_space();
    simulation.physics.resources_mut().insert(Hooked::default());
    let mut alone = simulation.clone();
    let mut overlap = Overlap::new(simulation).unwrap();
    let [mut game, mut reference] = [(); 2].map(|()| Pushing::default());
    let mut awake = BTreeSet::new();
    for number in 0..200 {
        let frame_time = MS([10, 1, 2, 25, 0, 3, 7][number % 7]);
        let frame = alone.advance_with(frame_time, &mut reference).unwrap();
        awake.insert(frame.awake);
        overlap.frame(frame_time, &mut game).unwrap();
        if number % 5 < 2 {
            let (now, simulation) = (overlap.now(), overlap.simulation(&mut game).unwrap());
            let copy = simulation.clone();
            for simulation in [&*simulation, &copy] {
                assert_eq!(report(simulation), report(&alone), "{number}");
                assert_eq!(simulation.clock(), alone.clock(), "{number}");
                assert_eq!(simulation.clock().real_time(), now);
                let physics = &simulation.physics;
                assert_eq!(hash(physics.rapier()), hash(alone.physics.rapier()));
                let after = physics.resources().get::<Hooked>().unwrap().0;
                assert_eq!(after, physics.tick());
            }
            if number % 20 == 0 {
                for simulation in [simulation, &mut alone] {
                    let at = Vector::Y * (3.0 + number as f32);
                    let body = RigidBodyBuilder::dynamic().translation(at);
                    simulation.physics.insert(body, scenes::ball());
                }
            }
        }
    }
    assert!(awake.len() > 5, "{awake:?}");
}

/// A hook fails while frames wait for its step, and the call after the error continues with them.
#[test]
fn the_simulation_after_an_error_has_run_the_frames_that_wait() {
    let mut errors = ["script"].into_iter();
    let mut game = Game::new(move |_, _, when| match (when, errors.len()) {
        (After, 1) => Err(errors.next().unwrap()),
        _ => Ok(()),
    });
    let mut overlap = Overlap::new(flyer_in_space().0).unwrap();
    for ms in [12, 3, 3] {
        overlap.frame(MS(ms), &mut game).unwrap();
    }
    overlap.simulation(&mut game).unwrap_err();
    let simulation = overlap.simulation(&mut game).unwrap();
    assert_eq!(simulation.clock().real_time(), MS(18));
    assert_eq!(simulation.physics.tick(), 1);
}

/// A hook fails while frames wait for its step.
#[test]
fn an_overlap_that_is_stopped_after_an_error_runs_the_frames_that_wait() {
    let mut game = Game::new(|_, _, when| match when {
        Before => Ok(()),
        After => Err("script"),
    });
    let mut overlap = Overlap::new(flyer_in_space().0).unwrap();
    for ms in [12, 3, 3] {
        overlap.frame(MS(ms), &mut game).unwrap();
    }
    let (simulation, result) = overlap.stop(&mut game);
    result.unwrap_err();
    assert_eq!(simulation.clock().real_time(), MS(18));
}

/// The origin moves in the same step as a body at rest.
#[test]
fn earlier_poses_after_a_shift_and_a_teleport_in_one_step_are_those_of_one_thread() {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(evenstep::rewind::Kept {
        poses: 20,
        ..simulation.kept()
    });
    let physics = &mut simulation.physics;
    let key = physics.insert(RigidBodyBuilder::fixed(), scenes::ball());
    let mut alone = simulation.clone();
    let mut overlap = Overlap::new(simulation).unwrap();
    let game = || {
        Game::once(Before, 6, move |physics| {
            let to = translation(0.0, 2.0, 0.0);
            physics.teleport(key, to).unwrap();
            physics.shift_origin(Vector::X * 50.0).unwrap();
        })
    };
    let [mut reference, mut game] = [(); 2].map(|()| game());
    for _ in 0..10 {
        alone.advance_with(MS(10), &mut reference).unwrap();
    }
    frames(&mut overlap, &mut game, 10);
    let simulation = overlap.simulation(&mut game).unwrap();
    for tick in 2..=10 {
        let pose = |of: &Simulation| of.pose_at(key, tick, 1.0).unwrap().translation;
        assert_eq!(pose(simulation), pose(&alone), "{tick}");
    }
    assert_eq!(alone.pose_at(key, 6, 1.0), Some(Pose::IDENTITY));
}
