//! The state as a value: saved and put back, a run goes on to the bit.

mod scenes;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step, Stepping};
use scenes::everything::Everything;
use scenes::testing::{translation, vector};
use scenes::{
    MS, Yard, advance, assert_near, ball, flyer, flyer_in_space, hash, moved_keys, shown_x,
};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[test]
fn from_every_tick_of_a_run_a_saved_state_goes_on_to_the_bit() {
    const FRAMES: u64 = 620;
    const CHECKED: u64 = 8;
    let mut game = Everything::new();
    let mut run = Vec::new();
    let mut saved = Vec::new();
    let mut scratch = game.clone();
    for number in 0..FRAMES {
        saved.push(game.clone());
        game.frame(number);
        run.push(game.seen());
        // Restored into one that has run on elsewhere.
        if number >= CHECKED {
            let from = number - CHECKED;
            let state = saved[from as usize].clone();
            scratch.simulation.clone_from(&state.simulation);
            scratch.script = state.script;
            for again in from..number {
                scratch.frame(again);
                assert_eq!(
                    scratch.seen(),
                    run[again as usize],
                    "{again}, saved before {from}"
                );
            }
        }
    }
    assert!(
        game.simulation.physics.tick() > 600,
        "{}",
        game.simulation.physics.tick()
    );
    let events: usize = run.iter().map(|seen| seen.collisions.len()).sum();
    assert!(events > 100, "{events}");
    let deaths: usize = run.iter().map(|seen| seen.removed.len()).sum();
    assert!(deaths > 20, "{deaths}");
    // A few of them to the very end.
    for from in [0, 100, 301, 555] {
        let mut game = saved[from].clone();
        for number in from as u64..FRAMES {
            game.frame(number);
        }
        assert_eq!(&game.seen(), run.last().unwrap(), "saved before {from}");
    }
}

#[test]
fn a_state_within_a_frame_goes_on_in_the_middle_of_it() {
    let mut yard = Yard::new(Rate::hz(60).unwrap());
    yard.advance(MS(500));
    let saved = yard.simulation.clone();
    let drive = |simulation: &mut Simulation, game: &mut dyn FnMut(&mut Simulation, Step)| {
        while let Some(step) = simulation.next_step() {
            game(simulation, step);
            simulation.make_step();
        }
        simulation.end_frame();
        (
            hash(simulation.physics.rapier()),
            simulation.moved().to_vec(),
            simulation.frame(),
        )
    };
    let mut push = |simulation: &mut Simulation, step: Step| {
        let key = simulation
            .physics
            .bodies()
            .map(|(key, _)| key)
            .min()
            .unwrap();
        simulation
            .physics
            .add_force(key, Vector::X * step.dt)
            .unwrap();
    };
    let mut whole = saved.clone();
    whole.begin_frame(MS(100));
    let expected = drive(&mut whole, &mut push);
    for (steps, is_taken) in [(0, false), (2, false), (3, true)] {
        let mut first = saved.clone();
        first.begin_frame(MS(100));
        for _ in 0..steps {
            let step = first.next_step().unwrap();
            push(&mut first, step);
            first.make_step();
        }
        if is_taken {
            first.next_step().unwrap();
        }
        let mut second = first.clone();
        drop(first);
        assert_eq!(
            drive(&mut second, &mut push),
            expected,
            "after {steps} steps"
        );
    }
}

#[test]
fn keys_given_out_after_the_saved_point_are_dead_and_given_out_again() {
    let mut simulation = scenes::space(100);
    let before = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    let saved = simulation.clone();
    let after = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    simulation.physics.remove(before);
    simulation.clone_from(&saved);
    assert!(simulation.physics.body(before).is_some());
    assert!(simulation.physics.body(after).is_none());
    assert_eq!(simulation.pose(after), None);
    let again = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    assert_eq!(again, after);
}

#[test]
fn a_copy_shares_nothing() {
    let mut yard = Yard::new(Rate::hz(60).unwrap());
    yard.advance(MS(300));
    let before = hash(yard.simulation.physics.rapier());
    let mut copy = yard.simulation.clone();
    copy.clock_settings_mut().set_stepping(Stepping::Variable);
    for (key, _) in yard.simulation.physics.bodies() {
        copy.physics.remove(key);
    }
    copy.advance(MS(100), |_, _| ());
    assert_eq!(hash(yard.simulation.physics.rapier()), before);
    assert_eq!(
        yard.simulation.clock().settings().stepping(),
        Stepping::Fixed
    );
    assert_eq!(copy.physics.rapier().bodies.len(), 0);
}

#[cfg(feature = "checksum")]
#[test]
fn a_checksum_is_equal_exactly_where_the_bits_are() {
    use scenes::testing::{spin, turned};
    let mut game = Everything::new();
    for number in 0..100 {
        game.frame(number);
    }
    let simulation = &game.simulation;
    let checksum = simulation.physics.checksum();
    assert_eq!(simulation.clone().physics.checksum(), checksum);
    let key = game.script.player;
    let changes: [fn(&mut RigidBody); 6] = [
        |body| body.set_linvel(body.linvel() + Vector::Y * 1e-5, true),
        |body| body.set_angvel(-body.angvel() + spin(0.0, 0.0, 1.0), true),
        |body| body.set_translation(body.translation() * 1.000_001, true),
        |body| body.set_rotation(turned(spin(0.0, 0.0, 1e-3)) * *body.rotation(), true),
        |body| body.add_force(Vector::X, true),
        |body| body.set_enabled(false),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut copy = simulation.clone();
        change(copy.physics.body_mut(key).unwrap());
        assert_ne!(copy.physics.checksum(), checksum, "change {i}");
        let parted: Vec<_> = (simulation.physics.bodies())
            .map(|(key, _)| key)
            .filter(|key| {
                simulation.physics.body_checksum(*key) != copy.physics.body_checksum(*key)
            })
            .collect();
        assert_eq!(parted, [key], "change {i}");
    }
    let mut later = simulation.clone();
    later
        .clock_settings_mut()
        .set_tick(simulation.physics.tick() + 1);
    later.advance(MS(0), |_, _| ());
    assert_ne!(later.physics.checksum(), checksum, "the tick is in it");
    let mut fewer = simulation.clone();
    fewer.physics.remove(key);
    assert_ne!(fewer.physics.checksum(), checksum);
    assert_eq!(fewer.physics.body_checksum(key), None);
}

/// Two machines make the same steps in frames of their own.
#[cfg(feature = "checksum")]
#[test]
fn a_checksum_does_not_depend_on_the_frames() {
    let run = |frame: std::time::Duration, speed: f64| {
        let mut simulation = scenes::space(100);
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), scenes::ball());
        simulation.set_speed(speed).unwrap();
        while simulation.physics.tick() < 30 {
            simulation.advance(frame, |_, _| ());
        }
        assert_eq!(simulation.physics.tick(), 30);
        (simulation.physics.checksum(), simulation.clock().overstep())
    };
    let (here, there) = (run(MS(3), 1.0), run(MS(7), 1.01));
    assert_eq!(here.0, there.0);
    assert_ne!(here.1, there.1);
}

/// What a host has after a restore: entities spawned and despawned since are named, and shown poses are right.
#[test]
fn a_host_finds_what_is_on_one_side_only() {
    let mut simulation = scenes::space(100);
    let mut owners = evenstep::Owners::default();
    let spawn = |simulation: &mut Simulation, owners: &mut evenstep::Owners<u32>, entity: u32| {
        let key = simulation.physics.insert(
            RigidBodyBuilder::dynamic().linvel(Vector::X),
            scenes::ball(),
        );
        owners.insert(key, entity);
        key
    };
    let [kept, despawned] = [1, 2].map(|entity| spawn(&mut simulation, &mut owners, entity));
    let alone = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    scenes::advance(&mut simulation, 15);
    owners.moved(&simulation).count();
    let saved = simulation.clone();

    owners.release(&mut simulation, despawned, 2);
    // One in the slot of the body that went, and one in a slot of its own.
    for entity in [3, 4] {
        spawn(&mut simulation, &mut owners, entity);
    }
    scenes::advance(&mut simulation, 100);
    owners.moved(&simulation).count();

    simulation.clone_from(&saved);
    let unmatched = owners.unmatched(&simulation.physics);
    assert_eq!(unmatched.entities, [3, 4]);
    assert_eq!(unmatched.bodies, [despawned, alone]);
    owners.insert(despawned, 5);
    for entity in owners.removed(&mut simulation) {
        assert!([3, 4].contains(&entity));
    }
    let shown: Vec<(u32, Pose)> = owners.moved(&simulation).collect();
    let expected =
        [(1, kept), (5, despawned)].map(|(entity, key)| (entity, simulation.pose(key).unwrap()));
    assert_eq!(shown, expected);
    assert_eq!(owners.unmatched(&simulation.physics).entities, []);
}

/// A state that is put back has the number of the frame that it was saved in.
#[test]
fn entities_follow_a_state_that_is_put_back() {
    let mut simulation = scenes::space(60);
    let mut owners = evenstep::Owners::default();
    let key = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    owners.insert(key, 7);
    scenes::advance(&mut simulation, 20);
    assert_eq!(owners.moved(&simulation).count(), 1);
    let saved = simulation.clone();
    let there = Pose::from_translation(Vector::X);
    simulation.physics.teleport(key, there).unwrap();
    scenes::advance(&mut simulation, 20);
    assert_eq!(owners.moved(&simulation).last(), Some((7, there)));
    simulation = saved;
    scenes::advance(&mut simulation, 20);
    assert!(owners.removed(&mut simulation).is_empty());
    assert_eq!(owners.moved(&simulation).last(), Some((7, Pose::IDENTITY)));
}

/// All of a value that a game can read: tick, time, and the bits of Rapier's world.
fn bits(physics: &Physics) -> (u64, Duration, u64) {
    (physics.tick(), physics.time(), hash(physics.rapier()))
}

#[cfg(feature = "checksum")]
fn checksum(physics: &Physics) -> u64 {
    physics.checksum()
}

#[cfg(not(feature = "checksum"))]
fn checksum(physics: &Physics) -> u64 {
    hash(physics.rapier())
}

/// A flyer, a body that spins, and one that rests.
fn three() -> (Simulation, [BodyKey; 3]) {
    let (mut simulation, flyer) = flyer_in_space();
    let spin = scenes::testing::spin(1.0, 2.0, 3.0);
    let bodies = [
        RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0),
        RigidBodyBuilder::fixed().translation(Vector::Y * 9.0),
    ];
    let [spinner, wall] = bodies.map(|body| simulation.physics.insert(body.angvel(spin), ball()));
    (simulation, [flyer, spinner, wall])
}

/// Pushes the first body, and inserts one in some steps.
fn play(physics: &mut Physics, key: BodyKey, step: Step) {
    let push = vector(0.0, (step.tick % 5) as f32, 0.1);
    physics.apply_impulse(key, push).unwrap();
    if step.tick % 4 == 1 {
        physics.insert(flyer(), ball());
    }
}

#[test]
fn a_value_that_is_assigned_goes_on_to_the_bit() {
    let (mut simulation, keys) = three();
    let frame = |simulation: &mut Simulation, ms: u64| {
        simulation.advance(MS(ms), |physics, step| play(physics, keys[0], step));
        bits(&simulation.physics)
    };
    frame(&mut simulation, 70);
    // What waits for the next step is part of it.
    simulation
        .physics
        .apply_impulse(keys[1], Vector::X)
        .unwrap();
    let saved = simulation.physics.clone();
    let before = bits(&saved);
    assert_eq!(before, bits(&simulation.physics));
    assert_eq!((saved.tick(), saved.time()), (7, MS(70)));
    let run = [10, 30, 0, 50].map(|ms| frame(&mut simulation, ms));
    let last = checksum(&simulation.physics);
    let motions = |physics: &Physics| {
        keys.map(|key| {
            let body = physics.body(key).unwrap();
            (*body.position(), body.linvel(), body.angvel())
        })
    };
    let ends = motions(&simulation.physics);

    simulation.physics = saved.clone();
    assert_eq!(bits(&simulation.physics), before);
    assert_eq!(motions(&simulation.physics), motions(&saved));
    assert_eq!([10, 30, 0, 50].map(|ms| frame(&mut simulation, ms)), run);
    assert_eq!(checksum(&simulation.physics), last);
    assert_eq!(motions(&simulation.physics), ends);
    let clock = simulation.clock();
    assert_eq!((clock.tick(), clock.time()), (16, MS(160)));
    // And in another simulation, at other frames.
    let mut other = Simulation::with_physics(Rate::hz(100).unwrap(), saved);
    for _ in 0..9 {
        frame(&mut other, 10);
    }
    assert_eq!(bits(&other.physics), run[3]);
    assert_eq!(checksum(&other.physics), last);
}

#[test]
fn an_assignment_leaves_the_clock_the_settings_and_the_picture() {
    let (mut simulation, keys) = three();
    let saved = simulation.physics.clone();
    simulation.set_history(20);
    simulation.set_speed(0.5).unwrap();
    advance(&mut simulation, 94); // 4.7 steps
    let (shown, frame) = (simulation.pose(keys[0]), simulation.frame());
    let moved = simulation.moved().to_vec();
    simulation.physics = saved;
    assert_eq!(
        (simulation.pose(keys[0]), simulation.frame()),
        (shown, frame)
    );
    assert_eq!(simulation.moved(), moved);
    let frame = advance(&mut simulation, 0);
    assert_eq!((frame.number, frame.steps, frame.tick), (2, 0, 0));
    assert_eq!(simulation.clock().real_time(), MS(94));
    assert_eq!(simulation.clock().settings().speed(), 0.5);
    // The overstep too: the next step comes when it would have come.
    assert_eq!(simulation.clock().overstep(), MS(7));
    assert_eq!(advance(&mut simulation, 5).steps, 0);
    assert_eq!(advance(&mut simulation, 1).steps, 1);
    assert_near(
        simulation.physics.body(keys[0]).unwrap().translation().x,
        1.0,
    );
}

#[test]
fn a_frame_after_an_assignment_lists_what_differs() {
    let (mut simulation, [flyer, spinner, wall]) = three();
    advance(&mut simulation, 30);
    let saved = simulation.physics.clone();
    simulation.physics.remove(spinner).unwrap();
    let guest = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 20);
    assert_eq!(simulation.removed(), [spinner]);
    simulation.physics = saved;
    advance(&mut simulation, 0);
    let mut moved = moved_keys(&simulation);
    moved.sort_unstable();
    assert_eq!(moved, [flyer, spinner], "the wall is where it was");
    assert_eq!(simulation.removed(), [guest]);
    assert_eq!(simulation.pose(wall).unwrap().translation.y, 9.0);
    advance(&mut simulation, 0);
    assert_eq!(
        (simulation.moved(), simulation.removed()),
        (&[][..], &[][..])
    );
}

/// Also if it is a clone of the value that is there.
#[test]
fn an_assignment_clears_the_past() {
    for is_same in [false, true] {
        let (mut simulation, keys) = three();
        simulation.set_rewind_limits(20, usize::MAX);
        simulation.set_history(20);
        advance(&mut simulation, 50);
        let saved = simulation.physics.clone();
        advance(&mut simulation, if is_same { 0 } else { 40 });
        let known = |simulation: &Simulation| {
            let ticks = 0..=12;
            let ticks = ticks.filter(|tick| simulation.pose_at(keys[2], *tick, 1.0).is_some());
            ticks.collect::<Vec<u64>>()
        };
        assert_eq!(known(&simulation).len(), if is_same { 6 } else { 10 });
        simulation.physics = saved;
        // At once, not only in the next frame.
        assert_eq!(
            (simulation.rewindable(), known(&simulation)),
            (0..0, vec![5])
        );
        assert!(simulation.world_at(3, 1.0).is_err());
        assert!(simulation.clone().rewind(3).is_err());
        assert!(simulation.roll_back(3).is_err());
        assert_eq!(
            (simulation.rewindable(), known(&simulation)),
            (0..0, vec![5])
        );
        // From here on there is a past again.
        advance(&mut simulation, 20);
        assert_eq!(simulation.rewindable(), 5..7);
        assert_eq!(known(&simulation), [5, 6, 7]);
    }
}

#[test]
fn a_value_that_is_taken_out_and_put_back_is_no_other_one() {
    let (mut simulation, keys) = three();
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.set_history(20);
    let mut untouched = simulation.clone();
    let frame = |simulation: &mut Simulation| {
        simulation.advance(MS(33), |physics, step| play(physics, keys[0], step));
    };
    for _ in 0..5 {
        frame(&mut simulation);
        frame(&mut untouched);
        let physics = std::mem::take(&mut simulation.physics);
        assert_eq!(simulation.physics.bodies().count(), 0);
        simulation.physics = physics;
        assert_eq!(simulation.rewindable(), untouched.rewindable());
        let at = |simulation: &Simulation| simulation.pose_at(keys[0], 1, 0.5);
        assert_eq!(at(&simulation), at(&untouched));
        assert_eq!(simulation.moved(), untouched.moved());
    }
    // Within a frame, with a step at hand.
    for simulation in [&mut simulation, &mut untouched] {
        simulation.begin_frame(MS(20));
        let step = simulation.next_step().unwrap();
        play(&mut simulation.physics, keys[0], step);
    }
    let physics = std::mem::take(&mut simulation.physics);
    assert!(physics.current_step().is_some());
    simulation.physics = physics;
    for simulation in [&mut simulation, &mut untouched] {
        assert!(simulation.make_step());
        while simulation.next_step().is_some() {
            simulation.make_step();
        }
        simulation.end_frame();
        simulation.roll_back(2).unwrap();
        advance(simulation, 0);
    }
    assert_eq!(simulation.frame(), untouched.frame());
    assert_eq!(simulation.moved(), untouched.moved());
    assert_eq!(bits(&simulation.physics), bits(&untouched.physics));
    assert_eq!(simulation.rewindable(), untouched.rewindable());
}

#[test]
fn two_simulations_may_swap_their_values() {
    let (mut one, keys) = three();
    let (mut other, _) = flyer_in_space();
    (other.physics).insert(RigidBodyBuilder::fixed().translation(Vector::X), ball());
    for simulation in [&mut one, &mut other] {
        simulation.set_rewind_limits(20, usize::MAX);
    }
    let frame = |simulation: &mut Simulation| {
        simulation.advance(MS(30), |physics, step| play(physics, keys[0], step));
    };
    let run = |one: &mut Simulation, other: &mut Simulation| {
        frame(one);
        frame(other);
        frame(other);
    };
    run(&mut one, &mut other);
    let [mut one_alone, mut other_alone] = [one.clone(), other.clone()];
    // And back before they are used.
    for _ in 0..2 {
        std::mem::swap(&mut one.physics, &mut other.physics);
    }
    assert_eq!((one.rewindable(), other.rewindable()), (0..3, 0..6));
    run(&mut one, &mut other);
    run(&mut one_alone, &mut other_alone);
    assert_eq!((one.rewindable(), other.rewindable()), (0..6, 0..12));
    // Each has the run of the other one.
    std::mem::swap(&mut one.physics, &mut other.physics);
    run(&mut other, &mut one);
    run(&mut one_alone, &mut other_alone);
    assert_eq!((one.rewindable(), other.rewindable()), (12..18, 6..9));
    std::mem::swap(&mut one.physics, &mut other.physics);
    run(&mut one, &mut other);
    run(&mut one_alone, &mut other_alone);
    for (simulation, alone) in [(&one, &one_alone), (&other, &other_alone)] {
        assert_eq!(bits(&simulation.physics), bits(&alone.physics));
        assert_eq!(checksum(&simulation.physics), checksum(&alone.physics));
        for (key, _) in alone.physics.bodies() {
            assert_eq!(simulation.pose(key), alone.pose(key));
        }
    }
}

#[test]
fn a_clone_that_a_hook_makes_holds_nothing_of_the_step_at_hand() {
    let (mut simulation, key) = flyer_in_space();
    advance(&mut simulation, 20);
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    let mut copies = Vec::new();
    simulation.advance(MS(20), |physics, step| {
        if step.tick == 2 {
            physics.apply_impulse(key, Vector::Y * 10.0).unwrap();
            physics.add_force(key, Vector::Y * 500.0).unwrap();
            copies.push(physics.clone());
            assert_eq!(physics.current_step(), Some(step), "the original has it");
        }
    });
    let mut copy = copies.pop().unwrap();
    assert_eq!(copy.current_step(), None);
    assert_eq!((copy.tick(), copy.time()), (2, MS(20)));
    let rise = |physics: &Physics| physics.body(key).unwrap().linvel().y;
    assert_near(rise(&simulation.physics), 1.0 + 10.0 + 5.0);
    assert_near(rise(&copy), 0.0);
    // What waited before the step still does. What is added to the copy is for its next step.
    copy.apply_impulse(key, Vector::Y * 3.0).unwrap();
    simulation.physics = copy;
    advance(&mut simulation, 10);
    assert_near(rise(&simulation.physics), 1.0 + 3.0);
    assert_eq!(simulation.physics.tick(), 3);
}

/// Assigns the level once, in the hook of a step, and lists the steps that were made.
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
            // It is for the next step.
            physics.apply_impulse(self.key, Vector::Y).unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        assert_eq!(physics.tick(), step.tick + 1);
        self.made.push((step.tick, step.time, checksum(physics)));
        Ok(())
    }
}

#[test]
fn a_level_restarts_alike_at_every_frame_rate() {
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
            // The other steps that were due go on with the new value.
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
fn the_events_of_a_frame_count_from_an_assignment_on() {
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
        starts.map(|event| event.tick).collect::<Vec<u64>>()
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
    // Three more steps are made: of the first run nothing is left.
    let expected: Vec<u64> = alone.into_iter().filter(|tick| *tick < 3).collect();
    assert_eq!(starts(&simulation), expected);
    assert_eq!(simulation.frame().ticks(), 0..3);
}

#[test]
fn an_assignment_drops_a_rollback() {
    for in_frame in [false, true] {
        for made in [0, 2] {
            let (mut simulation, key) = flyer_in_space();
            simulation.set_rewind_limits(20, usize::MAX);
            let saved = simulation.physics.clone();
            advance(&mut simulation, 100);
            if in_frame {
                simulation.begin_frame(MS(20));
            }
            simulation.roll_back(5).unwrap();
            for _ in 0..made {
                simulation.next_step().unwrap();
                simulation.make_step();
            }
            simulation.next_step().unwrap();
            simulation.physics = saved;
            assert!(!simulation.make_step());
            assert_eq!(simulation.steps_to_resimulate(), 0);
            // In a frame, its own steps are still due.
            let mut ticks = Vec::new();
            while let Some(step) = simulation.next_step() {
                ticks.push((step.tick, step.is_resimulated));
                simulation.make_step();
            }
            let due = if in_frame { 2 } else { 0 };
            assert_eq!(ticks, [(0, false), (1, false)][..due]);
            simulation.end_frame();
            let frame = advance(&mut simulation, 10);
            assert_eq!((frame.steps, frame.resimulated), (1, 0));
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
fn after_an_assignment_no_step_is_to_be_resimulated_at_once() {
    let (mut simulation, _) = flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    let saved = simulation.physics.clone();
    advance(&mut simulation, 100);
    simulation.roll_back(5).unwrap();
    simulation.physics = saved;
    assert_eq!(simulation.steps_to_resimulate(), 0);
}

#[test]
fn an_assignment_ends_visual_errors() {
    let (mut simulation, key) = flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
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

/// Rapier panics in a step on a joint to a body that is no more.
fn break_it(physics: &mut Physics) {
    let ends = [RigidBodyBuilder::dynamic(), RigidBodyBuilder::dynamic()];
    let ends = ends.map(|body| physics.rapier_mut().insert_body(body));
    physics.rapier_mut().remove_body(ends[1]);
    let joint = FixedJointBuilder::new();
    (physics.rapier_mut()).insert_impulse_joint(ends[0], ends[1], joint);
}

#[test]
fn a_clone_of_a_broken_value_is_broken_and_a_sound_one_mends_the_simulation() {
    let (mut simulation, key) = flyer_in_space();
    advance(&mut simulation, 30);
    let sound = simulation.physics.clone();
    break_it(&mut simulation.physics);
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
fn a_value_may_be_assigned_between_taking_a_step_and_making_it() {
    let (mut simulation, key) = flyer_in_space();
    let saved = simulation.physics.clone();
    advance(&mut simulation, 30);
    simulation.begin_frame(MS(40));
    simulation.next_step().unwrap();
    simulation.make_step();
    let step = simulation.next_step().unwrap();
    assert_eq!((step.tick, simulation.frame().steps), (4, 1));
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.physics = saved;
    simulation
        .physics
        .apply_impulse(key, Vector::Y * 3.0)
        .unwrap();
    assert_eq!(simulation.physics.current_step(), None);
    // The step that was taken was one of the value that is gone.
    assert!(!simulation.make_step());
    assert_eq!(simulation.physics.tick(), 0);
    let frame = simulation.frame();
    assert_eq!((frame.steps, frame.tick, frame.dropped.aborted), (0, 0, 1));
    let mut steps = Vec::new();
    while let Some(step) = simulation.next_step() {
        steps.push((step.tick, step.time, step.is_last));
        assert!(simulation.make_step());
    }
    assert_eq!(steps, [(0, MS(0), false), (1, MS(10), true)]);
    let frame = simulation.end_frame();
    assert_eq!((frame.number, frame.steps, frame.ticks()), (2, 2, 0..2));
    assert_eq!(frame.dropped.aborted, 1);
    let body = simulation.physics.body(key).unwrap();
    assert_near(body.translation().x, 2.0);
    assert_near(body.linvel().y, 3.0);
    // Between two steps no step is aborted.
    let saved = simulation.physics.clone();
    simulation.begin_frame(MS(30));
    simulation.next_step().unwrap();
    simulation.make_step();
    simulation.physics = saved;
    let mut ticks = Vec::new();
    while let Some(step) = simulation.next_step() {
        ticks.push(step.tick);
        simulation.make_step();
    }
    let frame = simulation.end_frame();
    assert_eq!(
        (ticks, frame.steps, frame.dropped.aborted),
        (vec![2, 3], 2, 0)
    );
}
