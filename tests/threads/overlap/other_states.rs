//! Assigned simulations, rewinds and rollbacks while a step is running.

use super::*;
use evenstep::rewind::Kept;

/// Runs thirty frames of 5 ms after another state of a flyer, at tick `age`, was assigned.
fn assert_flyer_continues<H: Hooks<Error: fmt::Debug>>(
    overlap: &mut Overlap,
    game: &mut H,
    key: BodyKey,
    age: u64,
    what: &str,
) {
    let mut shown = 0.0;
    for number in 0..30 {
        overlap.frame(MS(5), game).unwrap();
        let x = x(overlap, key);
        if number > 4 {
            assert!(x >= shown && x < (age + 16) as f32, "{x} at {what}");
            assert!(x + 3.0 >= age as f32, "{x} at {what}");
        }
        shown = x;
    }
}

#[test]
fn a_state_assigned_by_hook_or_driver_continues_at_the_usual_pace() {
    // The new state is much older, a little older or much newer. A hook assigns it before or after a step, or the
    // driver does.
    for age in [0u64, 3, 400] {
        for by in [Some(Before), Some(After), None] {
            let (simulation, key) = flyer_in_space();
            let (mut other, mut last) = flyer_in_space();
            for _ in 0..5 {
                last = other.physics.insert_body(RigidBodyBuilder::fixed());
            }
            other.clock_settings_mut().set_max_steps_per_frame(Some(1));
            for _ in 0..age {
                other.advance(MS(10), |_, _| ());
            }
            let mut overlap = Overlap::new(simulation).unwrap();
            let copy = other.physics.clone();
            let mut game = match by {
                Some(when) => {
                    let tick = 50 + u64::from(when == Before);
                    Game::once(when, tick, move |physics| *physics = copy.clone())
                }
                None => Game::idle(),
            };
            frames(&mut overlap, &mut game, 50);
            assert_eq!(x(&overlap, key), 48.0);
            if by.is_none() {
                *overlap.simulation(&mut game).unwrap() = other;
            }
            let made = game.calls.len();
            assert_flyer_continues(&mut overlap, &mut game, key, age, &format!("{age}, {by:?}"));
            assert!(overlap.view().pose(last).is_some(), "{age}, {by:?}");
            // 150 ms pass: the steps neither pile up nor stop.
            let steps = (game.calls.len() - made) / 2;
            assert!((13..=17).contains(&steps), "{steps} steps at {age}, {by:?}");
            let tick = overlap.stop(&mut game).0.physics.tick();
            assert!(tick.abs_diff(age + 15) <= 2, "{tick}");
        }
    }
}

#[test]
fn an_assigned_state_in_an_equal_step_aborts_the_step_as_in_one_thread() {
    let prepared = || {
        let (simulation, _) = flyer_in_space();
        let mut twin = simulation.clone();
        twin.begin_frame(MS(10));
        twin.next_step().unwrap();
        let mut state = Some(std::mem::take(&mut twin.physics));
        let game = Game::new(move |physics, step, when| {
            if when == Before
                && let Some(other) = state.take()
            {
                assert_eq!(other.current_step(), Some(step));
                *physics = other;
            }
            Ok(())
        });
        (simulation, game)
    };
    let (mut simulation, mut game) = prepared();
    simulation.advance_with(MS(10), &mut game).unwrap();
    assert_eq!(simulation.clock().dropped().aborted, 1);
    let (other, mut threaded) = prepared();
    let mut overlap = Overlap::new(other).unwrap();
    frames(&mut overlap, &mut threaded, 1);
    let other = overlap.stop(&mut threaded).0;
    assert_eq!(threaded.calls, game.calls);
    assert_eq!(other.physics.tick(), simulation.physics.tick());
    assert_eq!(other.clock().dropped(), simulation.clock().dropped());
}

#[test]
fn a_simulation_assigned_in_before_frame_continues_at_the_usual_pace() {
    for age in [0u64, 3, 400] {
        let (simulation, key) = flyer_in_space();
        let (mut other, mut last) = flyer_in_space();
        for _ in 0..5 {
            last = other.physics.insert_body(RigidBodyBuilder::fixed());
        }
        for _ in 0..age {
            other.advance(MS(10), |_, _| ());
        }
        let mut other = Some(other);
        let mut game = Framed(move |simulation: &mut Simulation| {
            if simulation.physics.tick() == 50
                && let Some(other) = other.take()
            {
                *simulation = other;
            }
        });
        let mut overlap = Overlap::new(simulation).unwrap();
        frames(&mut overlap, &mut game, 50);
        assert_eq!(x(&overlap, key), 48.0);
        assert_flyer_continues(&mut overlap, &mut game, key, age, &format!("{age}"));
        assert!(overlap.view().pose(last).is_some(), "{age}");
        let tick = overlap.stop(&mut game).0.physics.tick();
        assert!(tick.abs_diff(age + 15) <= 2, "{tick} at {age}");
    }
}

#[test]
fn replacing_the_state_in_every_step_does_not_hang() {
    for when in [Before, After] {
        let (simulation, key) = flyer_in_space();
        let mut other = simulation.clone();
        other.advance(MS(30), |_, _| ());
        let tick = in_time(move || {
            let mut game = Game::new(move |physics, _, now| {
                if now == when {
                    *physics = other.physics.clone();
                }
                Ok(())
            });
            let mut overlap = Overlap::new(simulation).unwrap();
            frames(&mut overlap, &mut game, 50);
            assert!(overlap.view().pose(key).is_some());
            overlap.stop(&mut game).0.physics.tick()
        });
        assert!((3..=5).contains(&tick), "{tick}");
    }
}

#[test]
fn a_rollback_between_frames_is_resimulated_even_in_a_pause() {
    for pauses in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 20,
            ..simulation.kept()
        });
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        frames(&mut overlap, &mut game, 15);
        if pauses {
            overlap.simulation(&mut game).unwrap().pause();
            frames(&mut overlap, &mut game, 5);
        }
        let tick = overlap.simulation(&mut game).unwrap().physics.tick();
        overlap.simulation(&mut game).unwrap().roll_back(5).unwrap();
        assert_eq!(
            overlap.simulation(&mut game).unwrap().steps_to_resimulate(),
            tick - 5
        );
        frames(&mut overlap, &mut game, 1);
        assert_eq!(
            overlap.simulation(&mut game).unwrap().steps_to_resimulate(),
            0
        );
        let again = game
            .calls
            .iter()
            .filter(|call| **call == (7, After))
            .count();
        assert_eq!(again, 2);
        let present = overlap.simulation(&mut game).unwrap().physics.tick();
        assert_eq!(present, tick + u64::from(!pauses));
    }
}

#[test]
fn a_rewind_discards_the_step_that_is_running() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 15);
    overlap.simulation(&mut game).unwrap().rewind(5).unwrap();
    let calls = game.calls.len();
    frames(&mut overlap, &mut game, 3);
    assert_eq!(game.calls[calls], (5, Before));
    let x = x(&overlap, key);
    assert!((4.0..8.0).contains(&x), "{x}");
}

#[test]
fn cloning_or_saving_while_a_step_runs_leaves_the_run_unchanged() {
    let (simulation, key) = flyer_in_space();
    let mut alone = simulation.clone();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 7);
    let saved = overlap.simulation(&mut game).unwrap().clone();
    // One step is running.
    assert_eq!(saved.physics.tick(), 7);
    #[cfg(feature = "serde")]
    {
        let bytes = overlap
            .simulation(&mut game)
            .unwrap()
            .save()
            .expect("a state between two frames can be saved");
        let loaded = Simulation::load(&bytes).unwrap();
        assert_eq!(hash(loaded.physics.rapier()), hash(saved.physics.rapier()));
    }
    // Reading the state has changed nothing, and the hook is called once.
    frames(&mut overlap, &mut game, 7);
    assert_eq!(x(&overlap, key), 12.0);
    assert_eq!(game.count(After), 13);
    assert!(
        game.calls
            .is_sorted_by_key(|(tick, when)| (*tick, *when == After))
    );
    // After the state is restored, the simulation continues from there.
    *overlap.simulation(&mut game).unwrap() = saved;
    frames(&mut overlap, &mut game, 5);
    let simulation = overlap.stop(&mut game).0;
    assert_eq!(simulation.physics.tick(), 12);
    while alone.physics.tick() < 12 {
        alone.advance(MS(10), |_, _| ());
    }
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(alone.physics.rapier())
    );
}

#[test]
fn a_teleport_in_after_step_is_displayed_by_the_same_frame() {
    let (simulation, key) = flyer_in_space();
    let there = translation(0.0, 7.0, 0.0);
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut game = Game::once(After, 5, move |physics| {
        assert_eq!(physics.events().len(), 0);
        physics.teleport(key, there).unwrap();
    });
    // Step 5 begins in the sixth frame and ends in the next one.
    for _ in 0..7 {
        assert_eq!(
            overlap
                .view()
                .pose(key)
                .map_or(0.0, |pose| pose.translation.y),
            0.0
        );
        let _ = overlap.simulation(&mut game).unwrap().physics.tick();
        frames(&mut overlap, &mut game, 1);
    }
    assert_eq!(overlap.view().pose(key), Some(there));
}

fn swap_simulations(overlaps: &mut [Overlap; 2], game: &mut Game) {
    let [a, b] = overlaps.each_mut().map(|it| it.simulation(game).unwrap());
    std::mem::swap(a, b);
}

#[test]
fn a_simulation_that_returns_from_another_overlap_displays_what_happened_there() {
    let mut rocks = Vec::new();
    let mut overlaps = [(); 2].map(|()| {
        let (mut simulation, _) = flyer_in_space();
        rocks.push(simulation.physics.insert_body(RigidBodyBuilder::fixed()));
        Overlap::new(simulation).unwrap()
    });
    let mut game = Game::idle();
    frames(&mut overlaps[0], &mut game, 3);
    frames(&mut overlaps[1], &mut game, 3);
    swap_simulations(&mut overlaps, &mut game);
    let elsewhere = overlaps[1].simulation(&mut game).unwrap();
    elsewhere.physics.remove(rocks[0]).unwrap();
    frames(&mut overlaps[1], &mut game, 3);
    swap_simulations(&mut overlaps, &mut game);
    frames(&mut overlaps[0], &mut game, 3);
    assert_eq!(overlaps[0].view().pose(rocks[0]), None);
}

#[test]
fn a_view_drops_its_visual_errors_with_its_simulation() {
    let mut keys = Vec::new();
    let mut overlaps = [(); 2].map(|()| {
        let (simulation, key) = flyer_in_space();
        keys.push(key);
        Overlap::new(simulation).unwrap()
    });
    let mut game = Game::idle();
    frames(&mut overlaps[0], &mut game, 3);
    frames(&mut overlaps[1], &mut game, 3);
    let simulation = overlaps[0].simulation(&mut game).unwrap();
    let mut state = simulation.physics.clone();
    state
        .teleport_by(keys[0], Pose::from_translation(Vector::Y))
        .unwrap();
    simulation.correct(state).unwrap();
    frames(&mut overlaps[0], &mut game, 3);
    let y = |overlap: &Overlap| overlap.view().pose(keys[0]).unwrap().translation.y;
    assert!(
        y(&overlaps[0]) < 0.9,
        "the correction is displayed smoothly"
    );
    swap_simulations(&mut overlaps, &mut game);
    frames(&mut overlaps[0], &mut game, 3);
    assert_eq!(y(&overlaps[0]), 0.0);
}
