//! Random rollbacks in random loops: a resimulated run equals the run without them, and the lists mirror the poses.

use super::*;
use evenstep::rewind::Kept;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(60)))]

    /// This holds however late input arrives, and however its steps are resimulated.
    #[test]
    fn resimulating_late_input_equals_input_in_time_bit_for_bit(
        inputs in inputs(),
        frames in prop::collection::vec((0..45u64, 0..3u8), 20..60),
        stepping in 0..4usize,
        history in 0..6u64,
        interval in prop_oneof![Just(1), 0..20u64],
    ) {
        let steppings = [Stepping::Fixed, Stepping::Fixed, Stepping::SemiFixed, Stepping::Variable];
        let mut late = Match::new(100);
        late.simulation.clock_settings_mut().set_stepping(steppings[stepping]);
        late.simulation.keep(Kept { poses: history, interval, ..late.simulation.kept() });
        let mut in_time = late.clone();
        let all = inputs.iter().fold(Inputs::new(), |mut all, (tick, effect, _)| {
            all.entry(*tick).or_default().push(*effect);
            all
        });
        let mut known = Inputs::new();
        for (number, (millis, method)) in frames.into_iter().enumerate() {
            let now = late.simulation.physics.tick();
            // All input that has arrived by this frame, in the order of the other run.
            let mut first = now;
            for (tick, effects) in &all {
                let come = inputs.iter().filter(|(of, ..)| of == tick);
                let is_here = come.map(|(.., by)| by).max().is_none_or(|by| number >= tick.div_ceil(2) as usize + by);
                if is_here && known.get(tick) != Some(effects) {
                    known.insert(*tick, effects.clone());
                    first = first.min(*tick);
                }
            }
            let shown = late.simulation.moved().to_vec();
            // The rollback begins at the last state before that tick, at the latest.
            let from = if first < now { first - first % interval.max(1) } else { now };
            let mut again = now - from;
            match method {
                0 => late.resimulate(&known, first).unwrap(),
                1 => late.simulation.roll_back(first).unwrap(),
                // A part of the steps, and then all of them from the start.
                _ => {
                    late.simulation.roll_back(first).unwrap();
                    let made = millis % 3 * u64::from(again > 1);
                    (0..made).for_each(|_| late.step(&known));
                    late.simulation.roll_back(first).unwrap();
                    // The second rollback continues from the current step if that is before its tick.
                    again += if from + made > first { made } else { 0 };
                }
            }
            for (key, pose) in shown {
                let now = late.simulation.pose(key);
                prop_assert!(now.is_none() || now == Some(pose), "displayed poses do not change between frames");
            }
            let frame = late.advance(&known, MS(millis));
            prop_assert_eq!(frame.steps, in_time.advance(&all, MS(millis)).steps);
            prop_assert!((now.saturating_sub(first)..=again).contains(&frame.resimulated));
            check_lists(&late.simulation);
        }
        // Input that is still missing arrives at the end, before the next frame.
        let tick = late.simulation.physics.tick();
        let first = all.keys().find(|tick| known.get(tick) != all.get(tick)).copied();
        late.resimulate(&all, first.unwrap_or(tick).min(tick)).unwrap();
        prop_assert_eq!(late.state(), in_time.state());
        for _ in 0..40 {
            late.advance(&all, MS(13));
            in_time.advance(&all, MS(13));
            check_lists(&late.simulation);
        }
        prop_assert_eq!(late.state(), in_time.state());
        // Visual errors end with this frame.
        late.simulation.correction = Correction::OFF;
        late.advance(&all, MS(0));
        in_time.advance(&all, MS(0));
        for (key, _) in in_time.simulation.physics.bodies() {
            prop_assert_eq!(late.simulation.pose(key), in_time.simulation.pose(key));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(40)))]

    /// In a pause, a rewind with an overstep displays the poses that a frame at that time would have displayed,
    /// regardless of bodies spawned, removed or teleported since. `moved` and `removed` report the changes.
    #[test]
    fn a_rewind_with_overstep_displays_the_frame_at_that_time_bit_for_bit(
        inputs in inputs(),
        frames in prop::collection::vec(0..45u64, 20..60),
        visits in prop::collection::vec((0.0..1.0f64, 0..16_666_667u64, 0..60u64), 1..30),
        smoothing in 0..4usize,
        history in 0..6u64,
    ) {
        let inputs = inputs.into_iter().fold(Inputs::new(), |mut all, (tick, effect, _)| {
            all.entry(tick).or_default().push(effect);
            all
        });
        let mut played = Match::new(100);
        let smoothings = [Smoothing::default(), Smoothing::Extrapolate, Smoothing::Latest, Smoothing::default()];
        played.simulation.smoothing = smoothings[smoothing];
        let mut one_by_one = played.clone();
        played.simulation.keep(Kept { poses: history, ..played.simulation.kept() });
        played.simulation.correction = Correction::default();
        for millis in frames {
            played.advance(&inputs, MS(millis));
        }
        let mut at = vec![one_by_one.simulation.clone()];
        while one_by_one.simulation.physics.tick() < played.simulation.physics.tick() {
            one_by_one.simulation.set_overstep(Duration::ZERO);
            one_by_one.advance(&inputs, Duration::from_nanos(16_666_667));
            at.push(one_by_one.simulation.clone());
        }

        let simulation = &mut played.simulation;
        let mut kept: BTreeMap<_, _> = simulation.physics.bodies().map(|(key, _)| (key, simulation.pose(key).unwrap())).collect();
        simulation.pause();
        for (tick, nanos, millis) in visits {
            let tick = (tick * at.len() as f64) as usize;
            let mut then = at[tick].clone();
            then.pause();
            simulation.rewind(tick as u64).unwrap();
            for simulation in [&mut *simulation, &mut then] {
                simulation.set_overstep(Duration::from_nanos(nanos));
                simulation.advance(MS(millis), |_, _| ());
            }
            kept.extend(simulation.moved().iter().copied());
            simulation.removed().iter().for_each(|key| _ = kept.remove(key));
            let poses = |of: &Simulation| -> BTreeMap<_, _> {
                of.physics.bodies().map(|(key, _)| (key, of.pose(key).unwrap())).collect()
            };
            prop_assert_eq!(poses(simulation), poses(&then));
            prop_assert_eq!(poses(simulation), kept.clone());
            check_lists(simulation);
        }
    }
}

/// Checks that a map updated from [`Simulation::moved`] and [`Simulation::removed`] would be correct.
fn check_lists(simulation: &Simulation) {
    for key in simulation.removed() {
        assert_eq!(simulation.pose(*key), None);
    }
    for (key, pose) in simulation.moved() {
        assert!(simulation.pose(*key).is_none_or(|shown| shown == *pose));
    }
}

#[test]
fn a_key_freed_by_a_rollback_and_reused_is_not_listed_as_removed() {
    let spawn = |tick| (tick, vec![Effect::Spawn(0.0)]);
    let mut game = Match::new(100);
    let mut inputs = Inputs::from([spawn(3), spawn(6)]);
    game.advance(&inputs, MS(101));
    assert_eq!(game.simulation.physics.tick(), 6);
    // The body of tick 3 gets the slot of the removed body, and the body of tick 6 the key that is free then.
    inputs.insert(2, vec![Effect::Remove(0)]);
    game.resimulate(&inputs, 2).unwrap();
    game.advance(&inputs, MS(17));
    assert_eq!(game.simulation.physics.bodies().count(), 8);
    assert_eq!(game.simulation.removed(), [game.balls[0]]);
    check_lists(&game.simulation);
}

/// In the corrected run another body has the slot of a displayed one, and is teleported before a frame displays it.
#[test]
fn a_body_in_a_reused_slot_can_be_teleported_before_its_first_frame() {
    let (mut simulation, old) = flyer_with_states(50);
    let other = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 50);
    let mut new = None;
    let again = |physics: &mut Physics, step: Step| {
        if step.tick == 3 {
            physics.remove(old);
            new = Some(physics.insert(flyer(), ball()));
        }
    };
    simulation.resimulate(2, again).unwrap();
    let new = new.unwrap();
    simulation
        .physics
        .teleport(new, translation(0.0, 9.0, 0.0))
        .unwrap();
    for removed in [&[old][..], &[]] {
        advance(&mut simulation, 10);
        let mut moved = moved_keys(&simulation);
        moved.sort_unstable();
        let mut both = [other, new];
        both.sort_unstable();
        assert_eq!((&*moved, simulation.removed()), (&both[..], removed));
    }
}

/// This holds after rollbacks too.
#[test]
fn a_map_updated_from_moved_and_removed_equals_the_displayed_poses() {
    let mut game = Match::new(30);
    let mut map: BTreeMap<BodyKey, Pose> = BTreeMap::new();
    let mut inputs = Inputs::new();
    for number in 0..200u64 {
        let tick = game.simulation.physics.tick();
        if number % 7 == 6 {
            let first = tick
                .saturating_sub(number % 20)
                .max(game.simulation.rewindable().start);
            let effect = match number % 5 {
                0 => Effect::Spawn(1.0),
                1 => Effect::Remove(number as usize % 6),
                2 => Effect::Teleport(2, 1.0),
                _ => Effect::Push(1, 3.0),
            };
            // In some corrections earlier spawns disappear from the inputs, so their bodies never existed.
            if number % 4 == 1 {
                inputs.retain(|of, _| *of < first);
            }
            inputs.entry(first).or_default().push(effect);
            game.resimulate(&inputs, first).unwrap();
        }
        game.advance(&inputs, MS(number * 7 % 40));
        map.extend(game.simulation.moved().iter().copied());
        for key in game.simulation.removed() {
            assert!(
                map.remove(key).is_some(),
                "only displayed bodies are removed"
            );
        }
        let shown = game.simulation.physics.bodies().map(|(key, _)| key);
        let shown: BTreeMap<_, _> = shown
            .map(|key| (key, game.simulation.pose(key).unwrap()))
            .collect();
        assert_eq!(map, shown, "in frame {number}");
    }
}
