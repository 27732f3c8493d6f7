//! Assignments in games: restarts, events, rollbacks, broken values.

use super::*;
use evenstep::rewind::Kept;

/// Assigns the level once, in the hook of a step, and lists the steps that have run.
struct Restarts<'a> {
    level: &'a Physics,
    key: BodyKey,
    at: Option<u64>,
    made: Vec<(u64, Duration, u64)>,
}

impl Hooks for Restarts<'_> {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        play(physics, self.key, step);
        if self.at == Some(step.tick) {
            self.at = None;
            *physics = self.level.clone();
            // The impulse is for the next step.
            physics.apply_impulse(self.key, Vector::Y).unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        assert_eq!(physics.tick(), step.tick + 1);
        self.made
            .push((step.tick, step.start_time, checksum(physics)));
        Ok(())
    }
}

#[test]
fn a_level_restart_in_a_hook_is_the_same_at_every_frame_rate() {
    const STEPS: usize = 30;
    let (level, keys) = three();
    let run = |ms: u64, at: u64| {
        let mut simulation = level.clone();
        let mut game = Restarts {
            level: &level.physics,
            key: keys[0],
            at: Some(at),
            made: Vec::new(),
        };
        while game.made.len() < STEPS {
            let number = game.made.len() as u64;
            let was_due = game.at.is_some();
            let Ok(frame) = simulation.advance_with(MS(ms), &mut game);
            let is_restarted = was_due && game.at.is_none();
            assert_eq!(frame.dropped.aborted, u64::from(is_restarted));
            // The other due steps run with the new value.
            let due = ms / 10;
            let made = game.made.len() as u64 - number;
            assert_eq!(made, due - u64::from(is_restarted));
            let since = if is_restarted {
                due - 1 - (at - number)
            } else {
                due
            };
            assert_eq!(
                (frame.steps, frame.ticks().end),
                (since, simulation.physics.tick())
            );
            let tick = simulation.physics.tick();
            assert_eq!((simulation.clock().tick(), frame.tick), (tick, tick));
        }
        assert_eq!(simulation.clock().dropped().aborted, 1);
        game.made.truncate(STEPS);
        game.made
    };
    for at in [0, 3, 4, 9] {
        let single = run(10, at);
        let ticks: Vec<u64> = single.iter().map(|(tick, ..)| *tick).collect();
        let expected: Vec<u64> = (0..at).chain(0..STEPS as u64 - at).collect();
        assert_eq!(ticks, expected, "restarted at {at}");
        for ms in [20, 50, 150] {
            assert_eq!(run(ms, at), single, "frames of {ms} ms, restarted at {at}");
        }
    }
}

#[test]
fn frame_events_exclude_those_before_an_assignment() {
    let level = || {
        let (mut simulation, key) = flyer_in_space();
        for x in [1.5, 3.5] {
            let sensor = scenes::testing::cuboid(0.5, 5.0, 5.0)
                .sensor(true)
                .active_events(ActiveEvents::COLLISION_EVENTS);
            let body = RigidBodyBuilder::fixed().translation(Vector::X * x);
            simulation.physics.insert(body, sensor);
        }
        (simulation, key)
    };
    let starts = |simulation: &Simulation| {
        let starts = simulation
            .events()
            .collisions()
            .filter(|event| event.started);
        starts.map(|event| event.step).collect::<Vec<u64>>()
    };
    let (mut simulation, _) = level();
    let saved = simulation.physics.clone();
    advance(&mut simulation, 60);
    let alone = starts(&simulation);
    assert_eq!(alone.len(), 2);
    let (mut simulation, _) = level();
    let mut is_done = false;
    simulation.advance(MS(60), |physics, step| {
        if step.tick == 2 && !std::mem::replace(&mut is_done, true) {
            *physics = saved.clone();
            assert!(physics.events().is_empty());
        }
    });
    // Three more steps run, and no event of the first run remains.
    let expected: Vec<u64> = alone.into_iter().filter(|tick| *tick < 3).collect();
    assert_eq!(starts(&simulation), expected);
    assert_eq!(simulation.frame().ticks(), 0..3);
}

#[test]
fn an_assignment_abandons_a_rollback() {
    for in_frame in [false, true] {
        for made in [0, 2] {
            let (mut simulation, key) = flyer_in_space();
            simulation.keep(Kept {
                ticks: 20,
                ..simulation.kept()
            });
            let saved = simulation.physics.clone();
            advance(&mut simulation, 100);
            if in_frame {
                simulation.begin_frame(MS(20));
            }
            simulation.roll_back(5).unwrap();
            for _ in 0..made {
                simulation.next_step().unwrap();
                simulation.run_step();
            }
            simulation.next_step().unwrap();
            simulation.physics = saved;
            assert!(!simulation.run_step());
            assert_eq!(simulation.steps_to_resimulate(), 0);
            // In a frame, the frame's remaining steps are still due.
            let mut ticks = Vec::new();
            while let Some(step) = simulation.next_step() {
                ticks.push((step.tick, step.is_resimulated));
                simulation.run_step();
            }
            let due = if in_frame { 2 } else { 0 };
            assert_eq!(ticks, [(0, false), (1, false)][..due]);
            simulation.end_frame();
            let frame = advance(&mut simulation, 10);
            // In a frame, that frame has reported them.
            let resimulated = if in_frame { 0 } else { made };
            assert_eq!((frame.steps, frame.resimulated), (1, resimulated));
            assert_eq!(frame.dropped.aborted, 0);
            let tick = due as u64 + 1;
            assert_eq!((frame.tick, simulation.clock().tick()), (tick, tick));
            assert_eq!(simulation.rewindable(), 0..tick);
            let x = simulation.physics.body(key).unwrap().translation().x;
            assert_near(x, tick as f32);
        }
    }
}

#[test]
fn an_assignment_clears_steps_to_resimulate_at_once() {
    let (mut simulation, _) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let saved = simulation.physics.clone();
    advance(&mut simulation, 100);
    simulation.roll_back(5).unwrap();
    simulation.physics = saved;
    assert_eq!(simulation.steps_to_resimulate(), 0);
}

#[test]
fn an_assignment_ends_visual_errors() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 100);
    simulation
        .resimulate(8, |physics, step| {
            if step.tick == 8 {
                let there = translation(8.5, 0.0, 0.0);
                physics.teleport(key, there).unwrap();
            }
        })
        .unwrap();
    advance(&mut simulation, 0);
    assert!(simulation.visual_error(key).is_some());
    simulation.physics = simulation.physics.clone();
    advance(&mut simulation, 0);
    assert_eq!(simulation.visual_error(key), None);
    assert_near(shown_x(&simulation, key), 9.5);
}

#[test]
fn a_clone_of_a_panicked_physics_panics_until_a_sound_one_is_assigned() {
    let (mut simulation, key) = flyer_in_space();
    advance(&mut simulation, 30);
    let sound = simulation.physics.clone();
    break_rapier(&mut simulation.physics);
    let is_broken = |simulation: &mut Simulation| {
        catch_unwind(AssertUnwindSafe(|| advance(simulation, 10))).is_err()
    };
    assert!(is_broken(&mut simulation));
    let broken = simulation.physics.clone();
    assert!(is_broken(&mut simulation));
    assert_eq!((broken.tick(), broken.current_step()), (3, None));
    let (mut other, other_key) = flyer_in_space();
    other.physics = broken;
    assert_eq!(other.next_step(), None);
    assert!(is_broken(&mut other));
    for simulation in [&mut simulation, &mut other] {
        simulation.physics = sound.clone();
        let frame = advance(simulation, 20);
        assert_eq!((frame.steps, frame.tick), (2, 5));
        assert_near(simulation.physics.body(key).unwrap().translation().x, 5.0);
        assert_eq!(advance(simulation, 10).tick, 6);
    }
    assert!(other.pose(other_key).is_some());
}

#[test]
fn an_assignment_before_make_step_aborts_the_pending_step() {
    let (mut simulation, key) = flyer_in_space();
    let saved = simulation.physics.clone();
    advance(&mut simulation, 30);
    simulation.begin_frame(MS(40));
    simulation.next_step().unwrap();
    simulation.run_step();
    let step = simulation.next_step().unwrap();
    assert_eq!((step.tick, simulation.frame().steps), (4, 1));
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.physics = saved;
    simulation
        .physics
        .apply_impulse(key, Vector::Y * 3.0)
        .unwrap();
    assert_eq!(simulation.physics.current_step(), None);
    // The pending step belonged to the replaced value.
    assert!(!simulation.run_step());
    assert_eq!(simulation.physics.tick(), 0);
    let frame = simulation.frame();
    assert_eq!((frame.steps, frame.tick, frame.dropped.aborted), (0, 0, 1));
    let mut steps = Vec::new();
    while let Some(step) = simulation.next_step() {
        steps.push((step.tick, step.start_time, step.is_last));
        assert!(simulation.run_step());
    }
    assert_eq!(steps, [(0, MS(0), false), (1, MS(10), true)]);
    let frame = simulation.end_frame();
    assert_eq!((frame.number, frame.steps, frame.ticks()), (2, 2, 0..2));
    assert_eq!(frame.dropped.aborted, 1);
    let body = simulation.physics.body(key).unwrap();
    assert_near(body.translation().x, 2.0);
    assert_near(body.linvel().y, 3.0);
    // An assignment between two steps aborts no step.
    let saved = simulation.physics.clone();
    simulation.begin_frame(MS(30));
    simulation.next_step().unwrap();
    simulation.run_step();
    simulation.physics = saved;
    let mut ticks = Vec::new();
    while let Some(step) = simulation.next_step() {
        ticks.push(step.tick);
        simulation.run_step();
    }
    let frame = simulation.end_frame();
    assert_eq!(
        (ticks, frame.steps, frame.dropped.aborted),
        (vec![2, 3], 2, 0)
    );
}
