//! Back in time: steps that are resimulated, what is shown meanwhile and after, and rewinding for good.

mod scenes;

use crate::scenes::testing::{about_z, angle_between, cuboid, pose, spin, translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::{
    BodyKey, Budget, Correction, Events, Frame, Hooks, Physics, Rate, ResimulateError, RewindError,
    Simulation, Smoothing, Step, Stepping,
};
use proptest::prelude::*;
use scenes::everything::Everything;
use scenes::{MS, advance, assert_near, ball, flyer, hash, moved_keys, shown_x, space, with_floor};
use std::collections::BTreeMap;
use std::time::Duration;

const ALL: usize = usize::MAX;

/// A flyer at 100 steps a second, 1 m in each, with states kept.
fn flyer_with_states(ticks: u64) -> (Simulation, BodyKey) {
    let (mut simulation, key) = scenes::flyer_in_space();
    simulation.set_rewind_limits(ticks, ALL);
    (simulation, key)
}

/// A world in which two players push balls, and bodies come and go, by tick.
#[derive(Clone)]
struct Match {
    simulation: Simulation,
    balls: Vec<BodyKey>,
}

type States = (BodyKey, Option<Pose>, Option<Pose>);

/// What one tick's input does. None for most ticks.
type Inputs = BTreeMap<u64, Vec<Deed>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    Push(usize, f32),
    Teleport(usize, f32),
    Spawn(f32),
    Remove(usize),
    Gravity(f32),
}

impl Match {
    fn new(ticks: u64) -> Self {
        let mut simulation = with_floor(Rate::hz(60).unwrap());
        simulation.set_rewind_limits(ticks, ALL);
        let balls = (0..6u8).map(|i| {
            let at = vector(0.7 * f32::from(i), 0.5 + 0.9 * f32::from(i % 3), 0.0);
            let ball = ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS);
            simulation
                .physics
                .insert(RigidBodyBuilder::dynamic().translation(at), ball)
        });
        let balls = balls.collect();
        Self { simulation, balls }
    }

    fn advance(&mut self, inputs: &Inputs, time: Duration) -> Frame {
        let balls = &self.balls;
        (self.simulation).advance(time, |physics, step| act(physics, balls, inputs, step))
    }

    /// The next step, whether it is one that is resimulated or not.
    fn step(&mut self, inputs: &Inputs) {
        let step = self.simulation.next_step().unwrap();
        act(&mut self.simulation.physics, &self.balls, inputs, step);
        self.simulation.make_step();
    }

    fn resimulate(&mut self, inputs: &Inputs, tick: u64) -> Result<(), RewindError> {
        let balls = &self.balls;
        let act = |physics: &mut Physics, step| act(physics, balls, inputs, step);
        self.simulation.resimulate(tick, act)
    }

    /// All that the next steps and what is shown of them depend on.
    fn state(&self) -> (u64, Vec<States>, u64) {
        let simulation = &self.simulation;
        let mut poses: Vec<_> = (simulation.physics.bodies())
            .map(|(key, _)| {
                (
                    key,
                    previous_pose(simulation, key),
                    current_pose(simulation, key),
                )
            })
            .collect();
        poses.sort_unstable_by_key(|(key, ..)| *key);
        (
            hash(simulation.physics.rapier()),
            poses,
            simulation.physics.tick(),
        )
    }
}

fn act(physics: &mut Physics, balls: &[BodyKey], inputs: &Inputs, step: Step) {
    for deed in inputs.get(&step.tick).into_iter().flatten() {
        let key = |i: usize| balls[i % balls.len()];
        // A ball may be gone.
        match *deed {
            Deed::Push(i, x) => {
                let _ = physics.apply_impulse(key(i), vector(x, 0.1, 0.0));
            }
            Deed::Teleport(i, x) => {
                let _ = physics.teleport(key(i), translation(x, 2.0, 0.0));
            }
            Deed::Spawn(x) => {
                let body = RigidBodyBuilder::dynamic().translation(vector(x, 3.0, 0.0));
                physics.insert(body, cuboid(0.3, 0.3, 0.3));
            }
            Deed::Remove(i) => drop(physics.remove(key(i))),
            Deed::Gravity(y) => physics.rapier_mut_except_bodies().gravity.y = y,
        }
    }
}

fn deed() -> impl Strategy<Value = Deed> {
    let x = || -2.0..2.0f32;
    prop_oneof![
        6 => (0..6usize, x()).prop_map(|(i, x)| Deed::Push(i, x)),
        1 => (0..6usize, x()).prop_map(|(i, x)| Deed::Teleport(i, x)),
        2 => x().prop_map(Deed::Spawn),
        1 => (0..6usize).prop_map(Deed::Remove),
        1 => (-12.0..0.0f32).prop_map(Deed::Gravity),
    ]
}

/// Input for a tick, and how many frames later it comes.
fn inputs() -> impl Strategy<Value = Vec<(u64, Deed, usize)>> {
    prop::collection::vec((0..60u64, deed(), 0..8usize), 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// However late input comes, and whichever way its steps are resimulated, the run is that in which it was
    /// there in time, to the bit.
    #[test]
    fn late_input_ends_where_input_in_time_does(
        inputs in inputs(),
        frames in prop::collection::vec((0..45u64, 0..3u8), 20..60),
        stepping in 0..4usize,
        history in 0..6usize,
        interval in prop_oneof![Just(1), 0..20u64],
    ) {
        let steppings = [Stepping::Fixed, Stepping::Fixed, Stepping::SemiFixed, Stepping::Variable];
        let mut late = Match::new(100);
        late.simulation.clock_settings_mut().set_stepping(steppings[stepping]);
        late.simulation.set_history(history);
        late.simulation.set_rewind_interval(interval);
        let mut in_time = late.clone();
        let all = inputs.iter().fold(Inputs::new(), |mut all, (tick, deed, _)| {
            all.entry(*tick).or_default().push(*deed);
            all
        });
        let mut known = Inputs::new();
        for (number, (millis, way)) in frames.into_iter().enumerate() {
            let now = late.simulation.physics.tick();
            // What comes now: all that is due by then, in the order in which the other run has it.
            let mut first = now;
            for (tick, deeds) in &all {
                let come = inputs.iter().filter(|(of, ..)| of == tick);
                let is_here = come.map(|(.., by)| by).max().is_none_or(|by| number >= tick.div_ceil(2) as usize + by);
                if is_here && known.get(tick) != Some(deeds) {
                    known.insert(*tick, deeds.clone());
                    first = first.min(*tick);
                }
            }
            let shown = late.simulation.moved().to_vec();
            // From the last state before it.
            let from = if first < now { first - first % interval.max(1) } else { now };
            let mut again = now - from;
            match way {
                0 => late.resimulate(&known, first).unwrap(),
                1 => late.simulation.roll_back(first).unwrap(),
                // A part of it, and once more from the start.
                _ => {
                    late.simulation.roll_back(first).unwrap();
                    let made = millis % 3 * u64::from(again > 1);
                    (0..made).for_each(|_| late.step(&known));
                    late.simulation.roll_back(first).unwrap();
                    // Before that tick it goes on.
                    again += if from + made > first { made } else { 0 };
                }
            }
            for (key, pose) in shown {
                let now = late.simulation.pose(key);
                prop_assert!(now.is_none() || now == Some(pose), "nothing is shown between frames");
            }
            let frame = late.advance(&known, MS(millis));
            prop_assert_eq!(frame.steps, in_time.advance(&all, MS(millis)).steps);
            prop_assert_eq!(frame.resimulated, again);
            check_lists(&late.simulation);
        }
        // Whatever has not come by now comes in the end, before the next frame.
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
        // Errors that were shown have ended, or are about to.
        late.simulation.correction = Correction::OFF;
        late.advance(&all, MS(0));
        in_time.advance(&all, MS(0));
        for (key, _) in in_time.simulation.physics.bodies() {
            prop_assert_eq!(late.simulation.pose(key), in_time.simulation.pose(key));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// In a pause, a rewind with an overstep shows what a frame so far after that tick would have shown, to the bit,
    /// whatever was made, spawned, removed or teleported since; and `moved` and `removed` report it.
    #[test]
    fn a_smooth_rewind_shows_the_frames_that_could_have_been(
        inputs in inputs(),
        frames in prop::collection::vec(0..45u64, 20..60),
        visits in prop::collection::vec((0.0..1.0f64, 0..16_666_667u64, 0..60u64), 1..30),
        smoothing in 0..4usize,
        history in 0..6usize,
    ) {
        let inputs = inputs.into_iter().fold(Inputs::new(), |mut all, (tick, deed, _)| {
            all.entry(tick).or_default().push(deed);
            all
        });
        let mut played = Match::new(100);
        let smoothings = [Smoothing::default(), Smoothing::Extrapolate, Smoothing::Latest, Smoothing::default()];
        played.simulation.smoothing = smoothings[smoothing];
        let mut one_by_one = played.clone();
        played.simulation.set_history(history);
        played.simulation.correction = Correction::default();
        for millis in frames {
            played.advance(&inputs, MS(millis));
        }
        let mut at = vec![one_by_one.simulation.clone()];
        while one_by_one.simulation.physics.tick() < played.simulation.physics.tick() {
            one_by_one.simulation.clock_settings_mut().set_overstep(Duration::ZERO);
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
                simulation.clock_settings_mut().set_overstep(Duration::from_nanos(nanos));
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

/// A map that is kept from [`Simulation::moved`] and [`Simulation::removed`] would be right.
fn check_lists(simulation: &Simulation) {
    for key in simulation.removed() {
        assert_eq!(simulation.pose(*key), None);
    }
    for (key, pose) in simulation.moved() {
        assert!(simulation.pose(*key).is_none_or(|shown| shown == *pose));
    }
}

#[test]
fn a_key_that_a_rollback_frees_and_the_same_frame_gives_out_again_is_not_removed() {
    let spawn = |tick| (tick, vec![Deed::Spawn(0.0)]);
    let mut game = Match::new(100);
    let mut inputs = Inputs::from([spawn(3), spawn(6)]);
    game.advance(&inputs, MS(101));
    assert_eq!(game.simulation.physics.tick(), 6);
    // The body of tick 3 gets the slot of this one, that of tick 6 the key that is free then.
    inputs.insert(2, vec![Deed::Remove(0)]);
    game.resimulate(&inputs, 2).unwrap();
    game.advance(&inputs, MS(17));
    assert_eq!(game.simulation.physics.bodies().count(), 8);
    assert_eq!(game.simulation.removed(), [game.balls[0]]);
    check_lists(&game.simulation);
}

/// In the corrected run another body has the slot of one that was shown, and is teleported before a frame shows it.
#[test]
fn a_body_may_be_teleported_before_it_is_shown_in_the_slot_of_one_that_was() {
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

/// Whoever keeps a map of what is shown, by the lists of each frame, is right after rollbacks too.
#[test]
fn a_map_kept_from_the_lists_stays_right() {
    let mut game = Match::new(30);
    let mut map: BTreeMap<BodyKey, Pose> = BTreeMap::new();
    let mut inputs = Inputs::new();
    for number in 0..200u64 {
        let tick = game.simulation.physics.tick();
        if number % 7 == 6 {
            let first = tick
                .saturating_sub(number % 20)
                .max(game.simulation.rewindable().start);
            let deed = match number % 5 {
                0 => Deed::Spawn(1.0),
                1 => Deed::Remove(number as usize % 6),
                2 => Deed::Teleport(2, 1.0),
                _ => Deed::Push(1, 3.0),
            };
            // Every now and then what was there is gone: bodies that were spawned never were.
            if number % 4 == 1 {
                inputs.retain(|of, _| *of < first);
            }
            inputs.entry(first).or_default().push(deed);
            game.resimulate(&inputs, first).unwrap();
        }
        game.advance(&inputs, MS(number * 7 % 40));
        map.extend(game.simulation.moved().iter().copied());
        for key in game.simulation.removed() {
            assert!(map.remove(key).is_some(), "only what was shown is removed");
        }
        let shown = game.simulation.physics.bodies().map(|(key, _)| key);
        let shown: BTreeMap<_, _> = shown
            .map(|key| (key, game.simulation.pose(key).unwrap()))
            .collect();
        assert_eq!(map, shown, "in frame {number}");
    }
}

#[derive(Default)]
struct Watch {
    /// Each with the tick and the time of the state, and its events.
    steps: Vec<(Step, u64, Duration, usize)>,
    /// In the pull form also tick and real time of the clock.
    clocks: Vec<(u64, Duration)>,
    fails_at: Option<u64>,
}

impl Watch {
    /// The steps that are due, or are to be resimulated, in the pull form.
    fn pull(&mut self, simulation: &mut Simulation) {
        while let Some(step) = simulation.next_step() {
            let clock = simulation.clock();
            self.clocks.push((clock.tick(), clock.real_time()));
            self.before_step(&mut simulation.physics, step).unwrap();
            assert!(simulation.make_step());
            self.after_step(&mut simulation.physics, step).unwrap();
        }
    }
}

impl Hooks for Watch {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert_eq!(physics.current_step(), Some(step));
        assert_eq!(physics.tick(), step.tick);
        (self.steps).push((step, physics.tick(), physics.time(), 0));
        if self.fails_at == Some(step.tick) {
            return Err("as it was told");
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let events = physics.events().collisions();
        assert!(events.clone().all(|event| event.tick == step.tick));
        let events = events.count();
        self.steps.last_mut().unwrap().3 = events;
        Ok(())
    }
}

#[test]
fn a_step_made_again_has_its_own_tick_time_and_events() {
    let mut game = Match::new(100);
    let mut first = Watch::default();
    for millis in [10, 40, 3, 190, 66] {
        if millis == 3 {
            game.simulation.set_speed(0.5).unwrap();
            game.simulation
                .clock_settings_mut()
                .set_rate(Rate::hz(75).unwrap());
        }
        game.simulation.begin_frame(MS(millis));
        first.pull(&mut game.simulation);
        game.simulation.end_frame();
    }
    assert!(first.steps.len() > 5 && first.steps.iter().any(|(.., events)| *events > 0));
    for from in 0..first.steps.len() {
        let mut again = Watch::default();
        let before = game.state();
        game.simulation
            .resimulate_with(from as u64, &mut again)
            .unwrap();
        let expected: Vec<_> = first.steps[from..]
            .iter()
            .map(|(step, tick, time, events)| {
                let mut step = *step;
                step.is_resimulated = true;
                (step, *tick, *time, *events)
            })
            .collect();
        assert_eq!(again.steps, expected);
        assert_eq!(game.state(), before);
        let mut pulled = Watch::default();
        game.simulation.roll_back(from as u64).unwrap();
        pulled.pull(&mut game.simulation);
        assert_eq!(pulled.steps, expected);
        // The clock is that of the present all along.
        let clock = game.simulation.clock();
        let present = (clock.tick(), clock.real_time());
        assert_eq!(pulled.clocks, vec![present; expected.len()]);
        assert_eq!(game.state(), before);
        let changes = game.simulation.event_changes();
        let of_steps: usize = expected.iter().map(|(.., events)| events).sum();
        assert_eq!(changes.confirmed.collisions().count(), of_steps);
        assert!(changes.new.is_empty() && changes.retracted.is_empty());
    }
}

/// A ball that flies at a sensor, which it hits in the step of tick 6.
fn ball_and_sensor() -> (Simulation, BodyKey) {
    let (mut simulation, ball) = flyer_with_states(50);
    insert_sensor(&mut simulation, 6.5);
    (simulation, ball)
}

fn insert_sensor(simulation: &mut Simulation, x: f32) {
    let sensor = cuboid(0.5, 5.0, 5.0)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    let body = RigidBodyBuilder::fixed().translation(Vector::X * x);
    simulation.physics.insert(body, sensor);
}

fn starts(events: Events<'_>) -> Vec<u64> {
    let starts = events.collisions().filter(|event| event.started);
    starts.map(|event| event.tick).collect()
}

#[test]
fn events_of_another_run_are_new_those_of_both_confirmed_the_rest_retracted() {
    let (mut simulation, ball) = ball_and_sensor();
    advance(&mut simulation, 100);
    assert_eq!(starts(simulation.events()), [6]);
    // The ball was stopped in time: it never hit.
    simulation
        .resimulate(3, |physics, step| {
            if step.tick == 3 {
                physics
                    .body_mut(ball)
                    .unwrap()
                    .set_linvel(Vector::ZERO, true);
            }
        })
        .unwrap();
    let changes = simulation.event_changes();
    assert_eq!(starts(changes.retracted), [6]);
    assert_eq!(starts(changes.new), []);
    assert_eq!(
        starts(simulation.events()),
        [],
        "of the frame that was corrected"
    );
    // It was not, after all, but it was shot off a step later.
    simulation
        .resimulate(4, |physics, step| {
            if step.tick == 5 {
                physics
                    .body_mut(ball)
                    .unwrap()
                    .set_linvel(Vector::X * 100.0, true);
            }
        })
        .unwrap();
    assert_eq!(starts(simulation.event_changes().new), [8]);
    assert_eq!(starts(simulation.event_changes().retracted), []);
    assert_eq!(starts(simulation.events()), [8]);
    // Each of these is one that the game was told of, so it plays once.
    simulation.resimulate(6, |_, _| ()).unwrap();
    assert_eq!(starts(simulation.event_changes().confirmed), [8]);
    let frame = advance(&mut simulation, 0);
    assert_eq!((frame.steps, frame.resimulated), (0, 7 + 6 + 4));
    assert_eq!(starts(simulation.events()), []);
}

/// A hook that fails after the last resimulated step leaves the corrected present, of which the changes tell.
#[test]
fn events_are_those_of_the_present_if_the_last_hook_fails() {
    struct Fails {
        ball: BodyKey,
        at: u64,
        is_after: bool,
    }
    impl Fails {
        fn fail(&self, is_after: bool, step: Step) -> Result<(), &'static str> {
            let fails = self.is_after == is_after && self.at == step.tick;
            if fails { Err("told") } else { Ok(()) }
        }
    }
    impl Hooks for Fails {
        type Error = &'static str;

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), &'static str> {
            self.fail(false, step)?;
            if step.tick == 3 {
                let ball = physics.body_mut(self.ball).unwrap();
                ball.set_linvel(Vector::ZERO, true);
            }
            Ok(())
        }

        fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), &'static str> {
            self.fail(true, step)
        }
    }
    for is_in_frame in [false, true] {
        for (at, is_after) in [(9, true), (9, false), (7, true), (3, false)] {
            let (mut simulation, ball) = ball_and_sensor();
            advance(&mut simulation, 100);
            let mut fails = Fails { ball, at, is_after };
            if is_in_frame {
                simulation.roll_back(3).unwrap();
                simulation.advance_with(MS(0), &mut fails).unwrap_err();
            } else {
                simulation.resimulate_with(3, &mut fails).unwrap_err();
            }
            let is_over = (at, is_after) == (9, true);
            let left = if is_over {
                0
            } else {
                10 - simulation.physics.tick()
            };
            assert_eq!(simulation.physics.tick(), at + u64::from(is_after));
            assert_eq!(simulation.steps_to_resimulate(), left);
            let retracted = |simulation: &Simulation| starts(simulation.event_changes().retracted);
            let expected: &[u64] = if is_over { &[6] } else { &[] };
            assert_eq!(retracted(&simulation), expected, "{at}, {is_after}");
            // The ball stopped before the sensor in the present too, and frames display it there.
            fails.at = u64::MAX;
            simulation.advance_with(MS(0), &mut fails).unwrap();
            assert_eq!(simulation.physics.tick(), 10);
            assert_eq!(retracted(&simulation), [6]);
            let x = simulation.physics.body(ball).unwrap().translation().x;
            assert!(x < 4.0, "{x}");
            assert_eq!(simulation.pose(ball).unwrap().translation.x, x);
        }
    }
}

#[test]
fn events_of_steps_made_again_in_a_frame_are_not_the_frames() {
    let (mut simulation, _) = ball_and_sensor();
    advance(&mut simulation, 70);
    assert_eq!(starts(simulation.events()), [6]);
    simulation.roll_back(2).unwrap();
    let mut seen = Vec::new();
    struct Ear<'a>(&'a mut Vec<(u64, bool)>);
    impl Hooks for Ear<'_> {
        type Error = std::convert::Infallible;

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if !physics.events().in_tick(step.tick).is_empty() {
                self.0.push((step.tick, step.is_resimulated));
            }
            Ok(())
        }
    }
    simulation
        .advance_with(MS(30), &mut Ear(&mut seen))
        .unwrap();
    assert_eq!(
        seen,
        [(6, true), (8, false)],
        "starts again, and stops for the first time"
    );
    let events = simulation.events();
    assert!(events.iter().all(|event| event.tick() >= 7), "{events:?}");
    assert_eq!(starts(simulation.event_changes().confirmed), [6]);
}

#[test]
fn a_rollback_within_a_frame_takes_the_step_at_hand_anew() {
    let (mut simulation, key) = flyer_with_states(20);
    let mut reference = simulation.clone();
    advance(&mut simulation, 50);
    simulation.begin_frame(MS(20));
    let step = simulation.next_step().unwrap();
    assert_eq!((step.tick, step.is_resimulated), (5, false));
    simulation.roll_back(2).unwrap();
    let mut made = Vec::new();
    while let Some(step) = simulation.next_step() {
        made.push((step.tick, step.is_resimulated));
        simulation.physics.apply_impulse(key, Vector::Y).unwrap();
        simulation.make_step();
    }
    let frame = simulation.end_frame();
    let expected = [(2, true), (3, true), (4, true), (5, false), (6, false)];
    assert_eq!(made, expected);
    assert_eq!((frame.steps, frame.resimulated, frame.tick), (2, 3, 7));
    let push = |physics: &mut Physics, step: Step| {
        if step.tick >= 2 {
            physics.apply_impulse(key, Vector::Y).unwrap();
        }
    };
    reference.advance(MS(70), push);
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(reference.physics.rapier())
    );
}

#[test]
fn a_rollback_during_a_rollback_goes_further_back_or_begins_anew() {
    let (mut simulation, key) = ball_and_sensor();
    // Another one, which it hits in the step of tick 3.
    insert_sensor(&mut simulation, 3.5);
    advance(&mut simulation, 100);
    let mut made = Vec::new();
    simulation.roll_back(6).unwrap();
    let mut step = |simulation: &mut Simulation| {
        let step = simulation.next_step().unwrap();
        made.push(step.tick);
        simulation.make_step();
    };
    step(&mut simulation);
    step(&mut simulation);
    simulation.roll_back(3).unwrap();
    assert_eq!(simulation.steps_to_resimulate(), 7);
    step(&mut simulation);
    step(&mut simulation);
    simulation.roll_back(4).unwrap();
    // The steps from there on are due already.
    simulation.roll_back(8).unwrap();
    assert_eq!(simulation.physics.tick(), 4);
    assert_eq!(simulation.steps_to_resimulate(), 6);
    while simulation.steps_to_resimulate() > 0 {
        assert!(simulation.event_changes().confirmed.is_empty());
        step(&mut simulation);
    }
    let changes = simulation.event_changes();
    assert_eq!(changes.confirmed.len(), 4, "at once");
    assert!(changes.new.is_empty() && changes.retracted.is_empty());
    assert_eq!(made, [6, 7, 3, 4, 4, 5, 6, 7, 8, 9]);
    assert_eq!(simulation.next_step(), None);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (10, 0..10)
    );
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 10.0);
}

#[test]
fn a_hook_that_fails_leaves_the_rest_of_the_steps_due() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 105);
    let before = (
        hash(simulation.physics.rapier()),
        simulation.pose(key),
        simulation.physics.tick(),
    );
    let mut watch = Watch {
        fails_at: Some(7),
        ..Watch::default()
    };
    let error = simulation.resimulate_with(5, &mut watch).unwrap_err();
    assert_eq!(error, ResimulateError::Hook("as it was told"));
    assert_eq!(watch.steps.len(), 3);
    let there = (simulation.physics.tick(), simulation.steps_to_resimulate());
    assert_eq!(there, (7, 3));
    assert_eq!(simulation.pose(key), before.1, "the picture stays");
    // The step that failed is taken again in the next frame.
    let mut watch = Watch::default();
    let frame = simulation.advance_with(MS(0), &mut watch).unwrap();
    assert_eq!((frame.resimulated, frame.steps, frame.tick), (5, 0, 10));
    let again: Vec<u64> = watch.steps.iter().map(|(step, ..)| step.tick).collect();
    assert_eq!(again, [7, 8, 9]);
    let after = (
        hash(simulation.physics.rapier()),
        simulation.pose(key),
        simulation.physics.tick(),
    );
    assert_eq!(after, before);
    assert_eq!(simulation.rewindable(), 0..10);
    // In a frame, the frame ends, and repeats the last picture.
    advance(&mut simulation, 40);
    let shown = simulation.pose(key);
    simulation.roll_back(12).unwrap();
    let mut watch = Watch {
        fails_at: Some(13),
        ..Watch::default()
    };
    simulation.advance_with(MS(20), &mut watch).unwrap_err();
    let frame = simulation.frame();
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.aborted),
        (1, 0, 2)
    );
    assert_eq!((frame.tick, frame.alpha), (14, 0.5));
    assert_eq!((simulation.pose(key), simulation.moved()), (shown, &[][..]));
    assert_eq!(simulation.physics.tick(), 13);
    let frame = advance(&mut simulation, 10);
    assert_eq!((frame.resimulated, frame.steps, frame.tick), (1, 1, 15));
    assert_near(shown_x(&simulation, key), 14.5);
    assert_eq!(simulation.rewindable(), 0..15);
}

#[test]
fn how_far_back_one_can_go_is_bounded_and_asked() {
    let (mut simulation, _) = flyer_with_states(0);
    advance(&mut simulation, 50);
    let error = simulation.roll_back(4).unwrap_err();
    assert_eq!(
        error,
        RewindError::NotKept {
            tick: 4,
            kept: 0..0
        }
    );
    assert_eq!(
        error.to_string(),
        "the state of tick 4 is not kept: no states are kept, call `set_rewind_limits` before the run"
    );
    simulation.set_rewind_limits(8, ALL);
    advance(&mut simulation, 50);
    assert_eq!(simulation.rewindable(), 5..10);
    advance(&mut simulation, 50);
    assert_eq!(simulation.rewindable(), 7..15);
    assert_eq!(
        simulation.roll_back(4).unwrap_err().to_string(),
        "the state of tick 4 is not kept: ask for one of 7..15, of which `set_rewind_interval` may keep every n-th \
         only, or raise `set_rewind_limits` before the next run"
    );
    let bytes = simulation.rewind_bytes();
    assert!(bytes > 0);
    // A clone has none, but keeps as many.
    let mut clone = simulation.clone();
    assert_eq!((clone.rewindable(), clone.rewind_bytes()), (0..0, 0));
    advance(&mut clone, 100);
    assert_eq!(clone.rewindable(), 17..25);
    simulation.set_rewind_limits(8, bytes / 2);
    assert_eq!(simulation.rewindable(), 11..15);
    assert!(simulation.rewind_bytes() <= bytes / 2);
    advance(&mut simulation, 100);
    assert_eq!(simulation.rewindable(), 21..25);
    // One that does not fit at all is not kept.
    simulation.set_rewind_limits(8, 1);
    advance(&mut simulation, 100);
    assert!(simulation.rewindable().is_empty());
    assert_eq!(simulation.rewind_bytes(), 0);
    simulation.set_rewind_limits(8, ALL);
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 35..37);
    let (tick, kept) = (34, 35..37);
    assert_eq!(
        simulation.roll_back(tick),
        Err(RewindError::NotKept { tick, kept })
    );
    // The present, and what is to come: the steps from there on are due anyway.
    for ahead in [37, 38, u64::MAX] {
        assert_eq!(simulation.roll_back(ahead), Ok(()));
        assert_eq!(simulation.steps_to_resimulate(), 0);
        assert_eq!(simulation.physics.tick(), 37);
    }
    // Another numbering, or another origin between two frames: earlier states are of no use.
    simulation.clock_settings_mut().set_tick(1_000);
    advance(&mut simulation, 0);
    assert!(simulation.rewindable().is_empty());
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 1_000..1_002);
    simulation.physics.shift_origin(Vector::X).unwrap();
    assert!(simulation.rewindable().is_empty());
}

#[test]
fn the_present_that_a_rewind_leaves_takes_no_room_from_the_states_before_it() {
    let (mut simulation, key) = flyer_with_states(8);
    advance(&mut simulation, 200);
    assert_eq!(simulation.rewindable(), 12..20);
    let present = true_pose(&simulation, key);
    simulation.rewind(12).unwrap();
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (12, 12..21)
    );
    simulation.rewind(20).unwrap();
    assert_same(true_pose(&simulation, key), present);
    // What is changed there is kept when it is left again.
    let there = Pose::from_translation(Vector::Y * 9.0);
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_position(there, true);
    simulation.rewind(12).unwrap();
    simulation.rewind(20).unwrap();
    assert_eq!(*simulation.physics.body(key).unwrap().position(), there);
    // The next step is of another run: what is after it is gone.
    simulation.rewind(15).unwrap();
    advance(&mut simulation, 10);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (16, 12..16)
    );
}

#[test]
fn a_rewind_keeps_the_states_it_says_under_a_limit_in_bytes() {
    let (mut simulation, key) = flyer_with_states(100);
    let grow = |simulation: &mut Simulation, bodies: usize| {
        simulation.advance(MS(10), |physics, _| {
            for _ in 0..bodies {
                physics.insert_body(RigidBodyBuilder::dynamic());
            }
        });
    };
    for _ in 0..8 {
        grow(&mut simulation, 3);
    }
    let bytes = simulation.rewind_bytes();
    simulation.set_rewind_limits(100, bytes);
    // The present is larger than all the states before it.
    grow(&mut simulation, 1_000);
    let kept = simulation.rewindable();
    assert!(kept.start > 0 && kept.end == 9, "{kept:?}");
    let present = true_pose(&simulation, key);
    for tick in [kept.start, 9, 8, kept.start, 9] {
        simulation.rewind(tick).unwrap();
        assert_eq!(simulation.rewindable(), kept.start..10);
    }
    assert_same(true_pose(&simulation, key), present);
    simulation.rewind(8).unwrap();
    grow(&mut simulation, 3);
    assert!(simulation.rewind_bytes() <= bytes);
    assert_eq!(simulation.rewindable().end, 9);
}

#[test]
fn an_origin_that_is_shifted_outside_of_a_step_is_never_shifted_back() {
    let shift =
        |simulation: &mut Simulation| simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    let all_due = |simulation: &mut Simulation| {
        while simulation.next_step().is_some() {
            simulation.make_step();
        }
    };
    // Between two frames, before a frame's first step, after its last one, and before the first that is resimulated.
    for place in 0..4 {
        let (mut simulation, key) = flyer_with_states(20);
        advance(&mut simulation, 50);
        if place == 0 {
            shift(&mut simulation);
        }
        simulation.begin_frame(MS(20));
        if place == 1 {
            shift(&mut simulation);
        }
        all_due(&mut simulation);
        if place == 2 {
            shift(&mut simulation);
        }
        if place == 3 {
            simulation.roll_back(3).unwrap();
            shift(&mut simulation);
            all_due(&mut simulation);
        }
        simulation.end_frame();
        advance(&mut simulation, 20);
        let first = [5, 5, 7, 3][place];
        assert_eq!(simulation.rewindable(), first..9, "{place}");
        assert!(simulation.roll_back(2).is_err());
        simulation.resimulate(first, |_, _| ()).unwrap();
        let x = current_pose(&simulation, key).unwrap().translation.x;
        assert!((x + 91.0).abs() < 1e-3, "{x} at {place}");
    }
}

/// The game is in no step once `resimulate` has returned.
#[test]
fn an_origin_that_is_shifted_after_a_rollback_is_shifted_outside_of_a_step() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    simulation.resimulate(3, |_, _| ()).unwrap();
    simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    assert!(simulation.rewindable().is_empty());
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 5..7);
    simulation.resimulate(5, |_, _| ()).unwrap();
    let x = current_pose(&simulation, key).unwrap().translation.x;
    assert!((x + 93.0).abs() < 1e-3, "{x}");
}

/// A mark of what waited at the end of an earlier frame comes along with the state.
#[test]
fn after_a_rollback_a_pause_discards_what_was_pushed_in_it() {
    let (mut simulation, key) = flyer_with_states(20);
    let push = |simulation: &mut Simulation| {
        simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    };
    push(&mut simulation);
    // A frame without a step: it waits for the next one.
    advance(&mut simulation, 5);
    advance(&mut simulation, 15);
    simulation.resimulate(0, |_, _| ()).unwrap();
    simulation.pause();
    push(&mut simulation);
    assert_eq!(advance(&mut simulation, 10).forgotten_forces, 1);
    simulation.resume();
    advance(&mut simulation, 10);
    assert_near(simulation.physics.body(key).unwrap().linvel().y, 1.0);
}

/// What their origin was before is no matter of our past.
#[test]
fn a_state_that_was_edited_takes_no_past_away() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    let mut theirs = simulation.clone();
    theirs.physics.shift_origin(Vector::X * 100.0).unwrap();
    simulation.correct(theirs.physics).unwrap();
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 0..7);
    let x = current_pose(&simulation, key).unwrap().translation.x;
    assert!((x + 93.0).abs() < 1e-3, "{x}");
}

/// Shifts the origin after a step.
struct ShiftsAfter(u64);

impl Hooks for ShiftsAfter {
    type Error = evenstep::OriginError;

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick == self.0 {
            physics.shift_origin(Vector::X * 100.0)?;
        }
        Ok(())
    }
}

#[test]
fn an_origin_that_is_shifted_after_a_step_is_shifted_again() {
    // Within the frame, and after its last step.
    for tick in [5, 9] {
        let (mut simulation, key) = flyer_with_states(20);
        let mut game = ShiftsAfter(tick);
        simulation.advance_with(MS(100), &mut game).unwrap();
        assert_eq!(simulation.rewindable(), 0..10);
        for first in [2, 9] {
            simulation.resimulate_with(first, &mut game).unwrap();
            let x = current_pose(&simulation, key).unwrap().translation.x;
            assert!((x + 90.0).abs() < 1e-3, "{x} from {first} on");
        }
    }
}

/// Shifts the origin in a step, and fails in it the first time.
struct ShiftsAndFails {
    tick: u64,
    has_failed: bool,
}

impl Hooks for ShiftsAndFails {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == self.tick && !std::mem::replace(&mut self.has_failed, true) {
            physics.shift_origin(Vector::X * 100.0).unwrap();
            return Err(());
        }
        Ok(())
    }
}

#[test]
fn an_origin_that_is_shifted_in_a_step_that_is_dropped_is_never_shifted_back() {
    let (mut simulation, key) = flyer_with_states(20);
    let mut game = ShiftsAndFails {
        tick: 5,
        has_failed: false,
    };
    simulation.advance_with(MS(80), &mut game).unwrap_err();
    assert_eq!(simulation.physics.tick(), 5);
    advance(&mut simulation, 30);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (8, 5..8)
    );
    for tick in 0..5 {
        assert!(simulation.roll_back(tick).is_err());
    }
    simulation.resimulate(5, |_, _| ()).unwrap();
    let x = current_pose(&simulation, key).unwrap().translation.x;
    assert!((x + 92.0).abs() < 1e-3, "{x}");
}

#[test]
fn an_origin_that_is_shifted_in_a_step_is_shifted_again() {
    let (mut simulation, key) = flyer_with_states(20);
    let shift = |physics: &mut Physics, step: Step| {
        if step.tick == 5 {
            physics.shift_origin(Vector::X * 100.0).unwrap();
        }
    };
    simulation.advance(MS(104), shift);
    let shown = simulation.pose(key);
    simulation.resimulate(2, shift).unwrap();
    assert_eq!(simulation.visual_error(key), None);
    simulation.advance(MS(0), shift);
    assert_eq!(simulation.pose(key), shown);
}

/// Else a rollback would drop steps, or could not be made.
#[test]
fn steps_made_again_do_not_count_against_the_limits_of_a_frame() {
    let (mut simulation, key) = flyer_with_states(100);
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    advance(&mut simulation, 200);
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(6));
    simulation.resimulate(4, |_, _| ()).unwrap();
    simulation.resimulate(16, |_, _| ()).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.steps),
        (20, 6, 4)
    );
    // Nor those that are made within the frame.
    simulation.roll_back(11).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.steps),
        (15, 6, 4)
    );
    let frame = advance(&mut simulation, 100);
    assert_eq!((frame.resimulated, frame.steps), (0, 6));

    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(None);
    simulation.clock_settings_mut().set_budget(Some(Budget {
        frame: MS(8),
        step: MS(2),
    }));
    let tick = simulation.physics.tick();
    simulation.roll_back(tick - 9).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(
        (frame.resimulated, frame.steps, frame.dropped.over_budget),
        (9, 4, 6)
    );
    assert_near(
        current_pose(&simulation, key).unwrap().translation.x,
        frame.tick as f32,
    );
}

/// Flies along x; the run that is resimulated has it fly at `speed` from tick 8 on.
fn corrected(speed: f32) -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_with_states(50);
    advance(&mut simulation, 104);
    correct(&mut simulation, key, speed);
    (simulation, key)
}

fn correct(simulation: &mut Simulation, key: BodyKey, speed: f32) {
    correct_as(simulation, key, speed, None);
}

/// The body's own correction is set in the same step: the states before it do not have it.
fn correct_as(simulation: &mut Simulation, key: BodyKey, speed: f32, own: Option<Correction>) {
    let start = simulation.physics.tick() - 2;
    simulation
        .resimulate(start, |physics, step| {
            if step.tick == start {
                physics.set_body_correction(key, own).unwrap();
                let body = physics.body_mut(key).unwrap();
                body.set_linvel(vector(100.0, speed, 0.0), true);
                body.set_angvel(spin(0.0, 0.0, 0.2 * speed), true);
            }
        })
        .unwrap();
    // The next picture has the error.
    advance(simulation, 0);
}

fn assert_same(one: Pose, other: Pose) {
    assert!(
        (one.translation - other.translation).length() < 1e-5,
        "{one:?} {other:?}"
    );
    let turned = angle_between(one.rotation, other.rotation);
    assert!(turned < 2e-5, "{one:?} {other:?}");
}

/// Between the last two states, without any error.
fn true_pose(simulation: &Simulation, key: BodyKey) -> Pose {
    simulation
        .pose_at(key, simulation.physics.tick(), simulation.frame().alpha)
        .unwrap()
}

#[test]
fn what_is_shown_goes_on_without_a_jump_and_reaches_the_truth() {
    let (mut simulation, key) = corrected(20.0);
    let shown = simulation.pose(key).unwrap();
    assert_near(shown.translation.y, 0.0);
    assert_near(shown.translation.x, 9.4);
    let error = simulation.visual_error(key).unwrap();
    // Off by 40 % of the way between 0.2 m and 0.4 m, and between 0.04 and 0.08 rad.
    assert_near(error.translation.y, -0.28);
    assert_near(about_z(error.rotation), -0.056);
    // A frame in which no time passes shows the same.
    let frame = advance(&mut simulation, 0);
    assert_eq!(frame.poses.corrected, 1);
    assert_same(simulation.pose(key).unwrap(), shown);
    // In 200 ms the error is half of it, in steps of any length.
    for millis in [0, 50, 1, 140, 9] {
        advance(&mut simulation, millis);
        let error = simulation.visual_error(key).unwrap();
        let truth = true_pose(&simulation, key);
        let off = simulation.pose(key).unwrap().translation - truth.translation;
        assert_near(off.y, error.translation.y);
    }
    let error = simulation.visual_error(key).unwrap();
    assert_near(error.translation.y, -0.14);
    assert_near(about_z(error.rotation), -0.028);
    let mut last = error.translation.length();
    for _ in 0..100 {
        advance(&mut simulation, 33);
        let error = simulation.visual_error(key);
        let off = error.map_or(0.0, |error| error.translation.length());
        assert!(off < last || off == 0.0);
        last = off;
        assert_eq!(moved_keys(&simulation), [key]);
    }
    assert_eq!(simulation.visual_error(key), None);
    assert_eq!(simulation.pose(key), Some(true_pose(&simulation, key)));
    assert_eq!(simulation.frame().poses.corrected, 0);
}

#[test]
fn the_physics_knows_nothing_of_the_error() {
    let (mut smooth, key) = corrected(20.0);
    let (mut hard, _) = flyer_with_states(50);
    hard.correction = Correction::OFF;
    advance(&mut hard, 104);
    correct(&mut hard, key, 20.0);
    assert_eq!(hard.visual_error(key), None);
    for _ in 0..10 {
        advance(&mut smooth, 7);
        advance(&mut hard, 7);
        assert_eq!(hash(smooth.physics.rapier()), hash(hard.physics.rapier()));
        assert_eq!(hard.pose(key), Some(true_pose(&hard, key)));
        let states = [&smooth, &hard].map(|it| (previous_pose(it, key), current_pose(it, key)));
        assert_eq!(states[0], states[1]);
    }
}

#[test]
fn a_second_correction_goes_on_from_what_the_first_shows() {
    let (mut simulation, key) = corrected(20.0);
    advance(&mut simulation, 33);
    let shown = simulation.pose(key).unwrap();
    correct(&mut simulation, key, -50.0);
    assert_same(simulation.pose(key).unwrap(), shown);
    advance(&mut simulation, 0);
    assert_same(simulation.pose(key).unwrap(), shown);
}

#[test]
fn a_correction_may_be_off_or_too_large_for_a_body() {
    let (mut simulation, key) = corrected(200.0);
    assert_eq!(
        simulation.visual_error(key),
        None,
        "2.8 m is beyond the 2 m"
    );
    advance(&mut simulation, 0);
    assert_eq!(simulation.pose(key), Some(true_pose(&simulation, key)));
    let mut own = Correction::default();
    own.rotation.max = 0.01;
    // The angle alone is too large.
    correct_as(&mut simulation, key, 190.0, Some(own));
    assert_eq!(simulation.physics.body_correction(key), Some(own));
    assert_eq!(simulation.correction, Correction::default());
    let error = simulation.visual_error(key).unwrap();
    assert!(error.translation.length() > 0.1);
    assert_eq!(error.rotation, Rotation::IDENTITY);
    // The distance: it is elsewhere now, and turned.
    own.position.max = 0.01;
    own.rotation.max = 2.0;
    correct_as(&mut simulation, key, 180.0, Some(own));
    assert_eq!(simulation.visual_error(key), None);
    correct(&mut simulation, key, 170.0);
    assert!(simulation.visual_error(key).is_some());
    let off = Some(Correction::OFF);
    simulation.physics.set_body_correction(key, off).unwrap();
    advance(&mut simulation, 0);
    assert_eq!(simulation.visual_error(key), None, "in the next frame");
    assert_eq!(simulation.pose(key), Some(true_pose(&simulation, key)));
    correct_as(&mut simulation, key, 160.0, off);
    assert_eq!(simulation.visual_error(key), None);
    simulation.physics.remove(key).unwrap();
    assert_eq!(simulation.visual_error(key), None);
    assert_eq!(simulation.physics.body_correction(key), None);
    simulation
        .physics
        .set_body_correction(key, off)
        .unwrap_err();
}

#[test]
fn an_error_below_the_threshold_is_not_shown_and_one_that_fades_ends_there() {
    let (mut simulation, key) = flyer_with_states(50);
    let mut correction = Correction::default();
    correction.position.min = 0.2;
    simulation.correction = correction;
    advance(&mut simulation, 104);
    correct(&mut simulation, key, 14.0); // off by 0.196 m
    let error = simulation.visual_error(key).unwrap();
    assert_eq!(error.translation, Vector::ZERO);
    assert!(about_z(error.rotation) < -0.03);
    let (mut simulation, key) = corrected(20.0); // off by 0.28 m
    simulation.correction = correction;
    for (millis, is_off) in [(90, true), (20, false)] {
        advance(&mut simulation, millis);
        let error = simulation.visual_error(key).unwrap();
        assert_eq!(error.translation != Vector::ZERO, is_off);
    }
}

#[test]
fn an_error_decays_in_real_time_but_for_pauses() {
    let (mut simulation, key) = corrected(20.0);
    let before = simulation.visual_error(key);
    advance(&mut simulation, 0);
    let shown = simulation.pose(key).unwrap();
    let stop: fn(&mut Simulation) = |simulation| simulation.pause();
    for stop in [stop, |simulation| simulation.set_speed(0.0).unwrap()] {
        stop(&mut simulation);
        for _ in 0..3 {
            advance(&mut simulation, 100);
            assert_eq!(simulation.visual_error(key), before);
            assert_eq!(simulation.pose(key), Some(shown));
        }
        simulation.resume();
    }
    simulation.set_speed(0.001).unwrap();
    advance(&mut simulation, 200);
    assert_near(simulation.visual_error(key).unwrap().translation.y, -0.14);
}

#[test]
fn an_error_ends_with_a_teleport_and_turns_with_a_portal() {
    for is_part in [false, true] {
        let (mut simulation, key) = corrected(20.0);
        let there = translation(50.0, 0.0, 0.0);
        if is_part {
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_translation(there.translation, true);
            advance(&mut simulation, 0);
            assert_near(simulation.pose(key).unwrap().translation.x, 50.0);
        } else {
            simulation.physics.teleport(key, there).unwrap();
            assert!(
                simulation.visual_error(key).is_some(),
                "until the next picture"
            );
            advance(&mut simulation, 0);
            assert_eq!(simulation.pose(key), Some(there));
        }
        assert_eq!(simulation.visual_error(key), None);
    }
    let (mut simulation, key) = corrected(20.0);
    let shown = simulation.pose(key).unwrap();
    let by = pose(vector(5.0, 6.0, 7.0), spin(0.4, -0.3, 1.0));
    simulation.physics.teleport_by(key, by).unwrap();
    assert_eq!(simulation.pose(key), Some(shown));
    advance(&mut simulation, 0);
    assert_same(simulation.pose(key).unwrap(), by * shown);
    simulation.physics.shift_origin(Vector::X * 3.0).unwrap();
    let frame = advance(&mut simulation, 0);
    assert_eq!(frame.origin_shift, Vector::X * 3.0);
    let shifted = translation(-3.0, 0.0, 0.0) * by * shown;
    assert_same(simulation.pose(key).unwrap(), shifted);
}

#[test]
fn a_body_that_comes_to_rest_is_listed_until_its_error_has_ended() {
    let mut simulation = space(100);
    simulation.set_rewind_limits(50, ALL);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    for _ in 0..15 {
        advance(&mut simulation, 200);
    }
    assert_eq!(
        (simulation.frame().awake, simulation.frame().poses.movers),
        (0, 0)
    );
    let tick = simulation.physics.tick();
    simulation
        .resimulate(tick - 3, |physics, step| {
            if step.tick == tick - 3 {
                let there = translation(0.5, 0.0, 0.0);
                physics.teleport(key, there).unwrap();
                physics.body_mut(key).unwrap().sleep();
            }
        })
        .unwrap();
    advance(&mut simulation, 0);
    assert_near(shown_x(&simulation, key), 0.0);
    let mut frames = 0;
    while simulation.visual_error(key).is_some() {
        advance(&mut simulation, 100);
        frames += 1;
        assert!(frames < 100);
        assert_eq!(moved_keys(&simulation), [key]);
    }
    assert!(frames > 20);
    assert_eq!(shown_x(&simulation, key), 0.5);
    advance(&mut simulation, 100);
    advance(&mut simulation, 100);
    assert_eq!(simulation.frame().poses.movers, 0);
    let frame = simulation.frame().number - 3;
    assert_eq!(simulation.changes_since(frame).unwrap().moved.len(), 1);
}

#[test]
fn a_body_that_a_correction_brings_or_takes_is_there_or_gone_in_the_next_picture() {
    let (mut simulation, key) = flyer_with_states(50);
    let guest = std::cell::Cell::new(None);
    let insert = |physics: &mut Physics, step: Step| {
        if step.tick == 4 {
            guest.set(Some(physics.insert(flyer(), ball())));
        }
    };
    simulation.advance(MS(104), insert);
    let first = guest.get().unwrap();
    assert!(moved_keys(&simulation).contains(&first));
    // It never was; the one that is there all along is gone.
    simulation
        .resimulate(2, |physics, step| {
            if step.tick == 6 {
                physics.remove(key).unwrap();
            }
        })
        .unwrap();
    let listed = [first, key].map(|key| simulation.pose(key).is_some());
    assert_eq!(
        listed,
        [true, true],
        "the picture is that of the last frame"
    );
    advance(&mut simulation, 0);
    assert_eq!((simulation.pose(first), simulation.pose(key)), (None, None));
    let mut removed = simulation.removed().to_vec();
    removed.sort_unstable();
    assert_eq!(removed, [key, first]);
    assert_eq!(simulation.moved(), []);
    // Both are, after all.
    simulation.resimulate(1, insert).unwrap();
    assert_eq!(guest.get(), Some(first), "the same steps give the same key");
    advance(&mut simulation, 0);
    let mut moved = moved_keys(&simulation);
    moved.sort_unstable();
    assert_eq!(moved, [key, first]);
    assert_eq!(simulation.removed(), []);
    assert_eq!(simulation.visual_error(first), None);
    assert_near(shown_x(&simulation, first), 5.4);
    assert_eq!(
        simulation.changes_since(1).unwrap().removed.len(),
        0,
        "both live"
    );
}

#[test]
fn nothing_comes_back_onto_a_body_that_was_removed_since() {
    let (mut simulation, key) = corrected(20.0);
    assert!(simulation.visual_error(key).is_some());
    let tick = simulation.physics.tick();
    let remove = |physics: &mut Physics, step: Step| {
        if step.tick == tick {
            physics.apply_impulse(key, Vector::Y).unwrap();
            physics.remove(key).unwrap();
        }
    };
    simulation.advance(MS(20), remove);
    assert_eq!(simulation.removed(), [key]);
    simulation.resimulate(tick - 3, remove).unwrap();
    advance(&mut simulation, 20);
    assert_eq!(
        (simulation.pose(key), simulation.visual_error(key)),
        (None, None)
    );
    assert_eq!(
        (simulation.moved(), simulation.removed()),
        (&[][..], &[][..])
    );
    assert_eq!(simulation.frame().poses.corrected, 0);
}

#[test]
fn settings_are_not_part_of_what_goes_back() {
    let (mut simulation, _) = flyer_with_states(50);
    let correction = Correction::OFF;
    advance(&mut simulation, 50);
    simulation.smoothing = Smoothing::Extrapolate;
    simulation.correction = correction;
    simulation.set_speed(0.25).unwrap();
    advance(&mut simulation, 50);
    let check = |simulation: &Simulation| {
        assert_eq!(simulation.smoothing, Smoothing::Extrapolate);
        assert_eq!(simulation.correction, correction);
        assert_eq!(simulation.clock().settings().speed(), 0.25);
    };
    simulation.resimulate(2, |_, _| ()).unwrap();
    check(&simulation);
    simulation.rewind(3).unwrap();
    check(&simulation);
}

/// The smoothing and the correction of a body belong to the body, and are part of the state.
#[test]
fn what_was_set_for_a_body_goes_back_with_it() {
    let (mut simulation, key) = flyer_with_states(50);
    let set = |physics: &mut Physics, smoothing| {
        let off = Some(Correction::OFF);
        physics.set_body_smoothing(key, Some(smoothing)).unwrap();
        physics.set_body_correction(key, off).unwrap();
    };
    let seen = |simulation: &Simulation| {
        let physics = &simulation.physics;
        let is_off = physics.body_correction(key) == Some(Correction::OFF);
        (physics.body_smoothing(key), is_off)
    };
    advance(&mut simulation, 50);
    set(&mut simulation.physics, Smoothing::Latest);
    advance(&mut simulation, 50);
    // The state of that tick has it, earlier ones do not.
    simulation.resimulate(5, |_, _| ()).unwrap();
    assert_eq!(seen(&simulation), (Some(Smoothing::Latest), true));
    simulation.resimulate(4, |_, _| ()).unwrap();
    assert_eq!(seen(&simulation), (None, false));
    simulation
        .resimulate(2, |physics, step| {
            if step.tick == 3 {
                set(physics, Smoothing::Hermite);
            }
        })
        .unwrap();
    assert_eq!(seen(&simulation), (Some(Smoothing::Hermite), true));
    simulation.rewind(3).unwrap();
    assert_eq!(seen(&simulation), (None, false));
    simulation.rewind(4).unwrap();
    assert_eq!(seen(&simulation), (Some(Smoothing::Hermite), true));
}

/// A rollback brings a body back whose slot a later one has had.
#[test]
fn a_body_that_comes_back_can_be_set_whatever_was_set_for_the_next_in_its_slot() {
    let (mut simulation, old) = flyer_with_states(50);
    advance(&mut simulation, 50);
    simulation.physics.remove(old);
    let new = simulation.physics.insert(flyer(), ball());
    let off = Some(Correction::OFF);
    simulation.physics.set_body_correction(new, off).unwrap();
    advance(&mut simulation, 50);
    simulation.rewind(3).unwrap();
    assert_eq!(simulation.physics.body_correction(old), None);
    simulation.physics.set_body_correction(old, off).unwrap();
    simulation
        .physics
        .set_body_smoothing(old, Some(Smoothing::Latest))
        .unwrap();
    assert_eq!(simulation.physics.body_correction(old), off);
    assert_eq!(
        simulation.physics.body_smoothing(old),
        Some(Smoothing::Latest)
    );
}

#[test]
fn a_rewind_goes_back_for_good_and_forwards_again_until_the_next_step() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 105);
    simulation.pause();
    let mut hashes = Vec::new();
    for tick in (3..10).rev() {
        simulation.rewind(tick).unwrap();
        let frame = advance(&mut simulation, 16);
        assert_eq!((frame.tick, frame.steps), (tick, 0));
        assert_near(shown_x(&simulation, key), tick as f32 - 0.5);
        assert_eq!(simulation.moved().len(), 1);
        assert_eq!(
            simulation.visual_error(key),
            None,
            "a player's rewind shows what was"
        );
        hashes.push(hash(simulation.physics.rapier()));
        assert_eq!(simulation.rewindable(), 0..11);
    }
    for (tick, hash_then) in (3..10).zip(hashes.into_iter().rev()) {
        simulation.rewind(tick).unwrap();
        assert_eq!(hash(simulation.physics.rapier()), hash_then);
    }
    // The present that was left.
    simulation.rewind(10).unwrap();
    advance(&mut simulation, 0);
    assert_near(shown_x(&simulation, key), 9.5);
    assert_eq!(simulation.clock().time(), MS(105));
    // One step on from an earlier one: what came after it never happened.
    simulation.rewind(4).unwrap();
    simulation.clock_settings_mut().step_once();
    advance(&mut simulation, 0);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (5, 0..5)
    );
    assert_eq!(
        simulation.rewind(6).unwrap_err().to_string(),
        "the state of tick 6 is not kept: ask for one of 0..5, of which `set_rewind_interval` may keep every n-th only, \
         or raise `set_rewind_limits` before the next run"
    );
    simulation.resume();
    let frame = advance(&mut simulation, 30);
    assert_eq!((frame.steps, frame.tick), (3, 8));
    assert_near(shown_x(&simulation, key), 7.5);
    assert_eq!(simulation.clock().time(), MS(85));
}

#[test]
fn a_rewind_keeps_its_place_outside_of_frames() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    simulation.begin_frame(MS(10));
    let within = Err(RewindError::WithinFrame);
    assert_eq!(simulation.rewind(2), within);
    simulation.end_frame();
    advance(&mut simulation, 10);
    // It gives up a rollback that is under way.
    for tick in [1, 2, 3] {
        advance(&mut simulation, 50);
        simulation.roll_back(2).unwrap();
        simulation.next_step().unwrap();
        assert!(simulation.make_step());
        simulation.rewind(tick).unwrap();
        assert_eq!(simulation.steps_to_resimulate(), 0);
        let clock = simulation.clock();
        assert_eq!((simulation.physics.tick(), clock.tick()), (tick, tick));
        let frame = advance(&mut simulation, 5);
        assert_eq!((frame.steps, frame.resimulated), (0, 1));
        assert_near(shown_x(&simulation, key), tick as f32 - 0.5);
        assert_eq!(simulation.visual_error(key), None);
        // The rest of the step, for the next round.
        advance(&mut simulation, 5);
    }
}

#[test]
fn a_state_of_another_tick_is_given_back() {
    let (mut simulation, key) = flyer_with_states(20);
    let mut theirs = simulation.clone();
    advance(&mut theirs, 70);
    let theirs = theirs.physics;
    let refuse = |simulation: &mut Simulation, tick: u64| {
        let before = (
            hash(simulation.physics.rapier()),
            simulation.rewindable(),
            simulation.steps_to_resimulate(),
            simulation.physics.current_step(),
        );
        let error = simulation.correct(theirs.clone()).unwrap_err();
        assert_eq!((error.tick, error.state.tick()), (tick, 7));
        assert_eq!(
            error.to_string(),
            format!(
                "the state is that of tick 7, and the simulation is at tick {tick}: roll back to that tick, or assign the \
                 state"
            )
        );
        let after = (
            hash(simulation.physics.rapier()),
            simulation.rewindable(),
            simulation.steps_to_resimulate(),
            simulation.physics.current_step(),
        );
        assert_eq!(after, before);
        error.state
    };
    advance(&mut simulation, 50);
    refuse(&mut simulation, 5);
    simulation.begin_frame(MS(40));
    simulation.next_step().unwrap();
    refuse(&mut simulation, 5);
    simulation.make_step();
    refuse(&mut simulation, 6);
    simulation.end_frame();
    simulation.roll_back(2).unwrap();
    refuse(&mut simulation, 2);
    let state = refuse(&mut simulation, 2);
    // It can be assigned.
    simulation.physics = *state;
    advance(&mut simulation, 0);
    assert_eq!(simulation.physics.tick(), 7);
    assert_eq!(simulation.steps_to_resimulate(), 0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 7.0);
}

#[test]
fn a_rewind_saves_a_simulation_in_which_rapier_has_panicked() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    let ends = [RigidBodyBuilder::dynamic(), RigidBodyBuilder::dynamic()];
    let ends = ends.map(|body| simulation.physics.rapier_mut().insert_body(body));
    simulation.physics.rapier_mut().remove_body(ends[1]);
    let joint = FixedJointBuilder::new();
    (simulation.physics.rapier_mut()).insert_impulse_joint(ends[0], ends[1], joint);
    let advance_it = std::panic::AssertUnwindSafe(|| advance(&mut simulation, 20));
    std::panic::catch_unwind(advance_it).unwrap_err();
    simulation.rewind(4).unwrap();
    let frame = advance(&mut simulation, 20);
    assert_eq!((frame.steps, frame.tick), (2, 6));
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 6.0);
}

#[test]
fn a_state_from_elsewhere_takes_the_place_of_ours() {
    // A server's flyer is 0.3 m higher.
    let (mut client, key) = flyer_with_states(50);
    let mut server = client.clone();
    let at = translation(0.0, 0.3, 0.0);
    server.physics.teleport(key, at).unwrap();
    advance(&mut server, 60);
    advance(&mut client, 105);
    let shown = client.pose(key).unwrap();
    // Of an earlier tick: the steps since are resimulated from it.
    client.roll_back(server.physics.tick()).unwrap();
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(client.steps_to_resimulate(), 4);
    let frame = advance(&mut client, 0);
    assert_eq!((frame.resimulated, frame.tick), (4, 10));
    assert_same(client.pose(key).unwrap(), shown);
    assert_near(current_pose(&client, key).unwrap().translation.y, 0.3);
    advance(&mut server, 40);
    assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
    // Of a tick that is yet to come: it is assigned.
    advance(&mut server, 1_000);
    client.roll_back(server.physics.tick()).unwrap();
    let error = client.correct(server.physics.clone()).unwrap_err();
    assert_eq!((error.tick, client.physics.tick()), (10, 10));
    let time = client.clock().real_time();
    client.physics = *error.state;
    assert_eq!((client.physics.tick(), client.rewindable()), (35, 0..0));
    assert_eq!(client.clock().real_time(), time);
    advance(&mut client, 0);
    assert_near(shown_x(&client, key), 34.5);
    assert_eq!(client.visual_error(key), None, "it starts elsewhere");
    for simulation in [&mut client, &mut server] {
        advance(simulation, 50);
    }
    assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
}

#[test]
fn a_clone_of_steps_that_are_made_again_makes_the_rest() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 104);
    simulation.roll_back(5).unwrap();
    simulation.next_step().unwrap();
    simulation.physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.make_step();
    let mut clone = simulation.clone();
    for it in [&mut simulation, &mut clone] {
        assert_eq!(it.steps_to_resimulate(), 4);
        assert_near(shown_x(it, key), 9.4);
        let frame = advance(it, 20);
        assert_eq!((frame.resimulated, frame.steps, frame.tick), (5, 2, 12));
    }
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(clone.physics.rapier())
    );
    assert_eq!(simulation.pose(key), clone.pose(key));
    assert_eq!(simulation.moved(), clone.moved());
}

/// With joints of both kinds, a soft body, a kinematic target, sleepers, CCD, sensors and generators.
#[test]
fn a_scene_with_everything_in_it_is_made_again_to_the_bit() {
    let mut game = Everything::new();
    game.simulation.set_rewind_limits(12, ALL);
    for number in 1..300u64 {
        let frame_time = game.prepare(number);
        let tick = game.simulation.physics.tick();
        let mut script = game.script.clone();
        let Ok(frame) = (game.simulation).advance_with(frame_time, &mut game.script);
        let before = game.seen();
        if frame.steps == 0 {
            continue;
        }
        // The steps of this frame, with what the game had beside the simulation before them.
        game.simulation.resimulate_with(tick, &mut script).unwrap();
        game.script = script;
        assert_eq!(game.seen(), before, "in frame {number}");
        let changes = game.simulation.event_changes();
        let collisions = changes.confirmed.collisions().count();
        assert_eq!(collisions, before.collisions.len());
    }
}

#[test]
fn a_state_of_the_present_tick_takes_its_place_smoothly() {
    let (mut client, key) = flyer_with_states(50);
    let mut server = client.clone();
    let at = translation(0.0, 0.3, 0.0);
    server.physics.teleport(key, at).unwrap();
    let guest = server.physics.insert(flyer(), ball());
    advance(&mut server, 104);
    advance(&mut client, 104);
    let shown = client.pose(key).unwrap();
    client.correct(server.physics.clone()).unwrap();
    assert_eq!(client.steps_to_resimulate(), 0);
    advance(&mut client, 0);
    assert_same(client.pose(key).unwrap(), shown);
    assert_near(client.visual_error(key).unwrap().translation.y, -0.3);
    assert!(moved_keys(&client).contains(&guest));
    assert_eq!(hash(client.physics.rapier()), hash(server.physics.rapier()));
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// The pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

/// The limits hold, and the memory is divided.
#[test]
fn with_an_interval_states_are_kept_that_far_apart() {
    let run = |interval| {
        let (mut simulation, _) = flyer_with_states(20);
        simulation.set_rewind_interval(interval);
        for _ in 0..10 {
            advance(&mut simulation, 100);
        }
        simulation
    };
    let [mut each, mut eighth, zero] = [1, 8, 0].map(run);
    assert_eq!(each.rewindable(), 80..100);
    assert_eq!(zero.rewindable(), 80..100);
    assert_eq!(eighth.rewindable(), 80..100);
    assert_eq!(each.rewind_bytes() / 20, eighth.rewind_bytes() / 3);
    advance(&mut eighth, 30);
    // At least twenty steps back, from the state before them.
    assert_eq!(eighth.rewindable(), 80..103);
    advance(&mut eighth, 50);
    assert_eq!(eighth.rewindable(), 88..108);

    for tick in [89, 95, 103] {
        let kept = 88..108;
        let error = RewindError::NotKept { tick, kept };
        assert_eq!(eighth.rewind(tick), Err(error.clone()));
        assert_eq!(eighth.world_at(tick, 1.0).unwrap_err(), error);
    }
    assert!(eighth.world_at(96, 0.5).is_ok());
    eighth.rewind(96).unwrap();
    assert_eq!(eighth.physics.tick(), 96);
    // The present was kept beside it.
    eighth.rewind(108).unwrap();

    // A limit in bytes that two states fit into.
    let bytes = each.rewind_bytes() / 20;
    each.set_rewind_interval(8);
    each.set_rewind_limits(20, 2 * bytes);
    advance(&mut each, 200);
    assert_eq!(each.rewindable(), 104..120);
    each.set_rewind_limits(20, bytes / 2);
    assert!(each.rewindable().is_empty());
}

/// Else it would never discard what is before the only state.
#[test]
fn an_interval_is_no_longer_than_the_limit() {
    let (mut simulation, _) = flyer_with_states(20);
    simulation.set_rewind_interval(u64::MAX);
    for _ in 0..20 {
        advance(&mut simulation, 100);
        let kept = simulation.rewindable();
        assert!(kept.end - kept.start <= 40);
    }
    simulation.rewind(180).unwrap();
}

/// No step leads to a state that was taken over: a rollback to after it does not begin before it.
#[test]
fn with_an_interval_no_rollback_undoes_a_state_that_was_taken_over() {
    let height = |simulation: &Simulation, key| true_pose(simulation, key).translation.y;
    for (interval, is_late) in [(1, false), (1, true), (4, false), (4, true)] {
        let (mut simulation, key) = flyer_with_states(60);
        simulation.set_rewind_interval(interval);
        let mut theirs = simulation.clone();
        advance(&mut theirs, 60);
        theirs
            .physics
            .teleport(key, translation(0.0, 50.0, 0.0))
            .unwrap();
        advance(&mut simulation, if is_late { 100 } else { 60 });
        simulation.roll_back(6).unwrap();
        while simulation.physics.tick() < 6 {
            simulation.next_step().unwrap();
            simulation.make_step();
        }
        simulation.correct(theirs.physics).unwrap();
        advance(&mut simulation, 30);
        assert_eq!(height(&simulation, key), 50.0);
        for _ in 0..3 {
            simulation.resimulate(7, |_, _| ()).unwrap();
            assert_eq!(height(&simulation, key), 50.0);
        }
    }
}

/// The step after it is taken, given up and taken again.
#[test]
fn with_an_interval_a_state_that_was_taken_over_is_kept_though_its_step_is_given_up() {
    let (mut simulation, key) = flyer_with_states(60);
    simulation.set_rewind_interval(4);
    let mut theirs = simulation.clone();
    advance(&mut theirs, 60);
    advance(&mut simulation, 60);
    theirs
        .physics
        .teleport(key, translation(0.0, 50.0, 0.0))
        .unwrap();
    simulation.correct(theirs.physics).unwrap();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.end_frame();
    advance(&mut simulation, 30);
    simulation.resimulate(7, |_, _| ()).unwrap();
    assert_eq!(true_pose(&simulation, key).translation.y, 50.0);
}

/// A rollback to a tick between two states may be asked for again on the way there.
#[test]
fn with_an_interval_a_rollback_may_be_asked_for_twice() {
    let at =
        |simulation: &Simulation| (simulation.physics.tick(), simulation.steps_to_resimulate());
    let (mut simulation, _) = flyer_with_states(20);
    simulation.set_rewind_interval(8);
    for _ in 0..5 {
        advance(&mut simulation, 100);
    }
    simulation.roll_back(45).unwrap();
    assert_eq!(at(&simulation), (40, 10));
    simulation.roll_back(45).unwrap();
    simulation.next_step().unwrap();
    simulation.make_step();
    simulation.roll_back(45).unwrap();
    assert_eq!(at(&simulation), (41, 9));
    // Past it, it goes back to the state again.
    for _ in 0..5 {
        simulation.next_step().unwrap();
        simulation.make_step();
    }
    simulation.roll_back(45).unwrap();
    assert_eq!(at(&simulation), (40, 10));
    // What lies ahead is due anyway.
    simulation.roll_back(48).unwrap();
    assert_eq!(at(&simulation), (40, 10));
    simulation.begin_frame(MS(0));
    while simulation.next_step().is_some() {
        simulation.make_step();
    }
    assert_eq!(simulation.end_frame().resimulated, 10 + 1 + 5);
}

/// The same state, taken over or made again between two steps of a frame, is shown without an error.
#[test]
fn between_two_steps_of_a_frame_nothing_changes_what_is_the_same() {
    for interval in [1, 8] {
        for again in [false, true] {
            let (mut simulation, key) = flyer_with_states(60);
            simulation.set_rewind_interval(interval);
            advance(&mut simulation, 103);
            simulation.begin_frame(MS(30));
            let mut made = 0;
            while simulation.next_step().is_some() {
                simulation.make_step();
                made += 1;
                if made == 1 && again {
                    simulation.resimulate(8, |_, _| ()).unwrap();
                } else if made == 1 {
                    let same = simulation.physics.clone();
                    simulation.correct(same).unwrap();
                }
                assert_eq!(simulation.visual_error(key), None, "{interval} {again}");
            }
            simulation.end_frame();
            assert_near(shown_x(&simulation, key), 12.3);
        }
    }
}

/// And what is not the same moves to where it is.
#[test]
fn between_two_steps_of_a_frame_a_state_is_taken_over_smoothly() {
    let (mut simulation, key) = scenes::flyer_in_space();
    advance(&mut simulation, 103);
    simulation.begin_frame(MS(30));
    simulation.next_step().unwrap();
    simulation.make_step();
    let mut theirs = simulation.clone();
    theirs
        .physics
        .teleport(key, translation(11.5, 0.0, 0.0))
        .unwrap();
    simulation.correct(theirs.physics).unwrap();
    simulation.end_frame();
    // Half a metre, of which 30 ms have taken a part.
    let error = simulation.visual_error(key).unwrap().translation.x;
    assert!(-0.5 < error && error < -0.44, "{error}");
}

#[test]
fn forces_of_a_step_at_hand_do_not_come_along_with_a_state() {
    let (mut simulation, key) = flyer_with_states(60);
    let push = |physics: &mut Physics| physics.apply_impulse(key, Vector::Y).unwrap();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    push(&mut simulation.physics);
    let theirs = simulation.clone();
    simulation.end_frame();
    simulation.correct(theirs.physics).unwrap();
    simulation.advance(MS(10), |physics, _| push(physics));
    assert_near(simulation.physics.body(key).unwrap().linvel().y, 1.0);
}

/// By the loop that a game writes itself.
#[test]
fn once_all_steps_are_resimulated_the_present_is_reached() {
    let resimulated = || {
        let (mut simulation, key) = flyer_with_states(60);
        advance(&mut simulation, 100);
        simulation.roll_back(6).unwrap();
        while simulation.steps_to_resimulate() > 0 {
            simulation.next_step().unwrap();
            simulation.make_step();
        }
        (simulation, key)
    };
    let (mut simulation, key) = resimulated();
    simulation.rewind(3).unwrap();
    assert_eq!(true_pose(&simulation, key).translation.x.round(), 2.0);
    let (mut simulation, key) = resimulated();
    let mut theirs = simulation.clone();
    let there = translation(19.0, 0.0, 0.0);
    theirs.physics.teleport(key, there).unwrap();
    simulation.correct(theirs.physics).unwrap();
    assert_eq!(current_pose(&simulation, key), Some(there));
    let (mut simulation, _) = resimulated();
    assert_eq!(simulation.next_step(), None);
    simulation.rewind(3).unwrap();
}

/// The state that was gone back to gets the number.
#[test]
fn a_new_number_of_ticks_gives_up_a_rollback() {
    let (mut simulation, key) = flyer_with_states(60);
    advance(&mut simulation, 65);
    simulation.clock_settings_mut().set_tick(1_000);
    simulation.roll_back(4).unwrap();
    simulation.begin_frame(MS(2));
    assert_eq!(simulation.steps_to_resimulate(), 0);
    while simulation.next_step().is_some() {
        simulation.make_step();
    }
    simulation.end_frame();
    assert_eq!(simulation.physics.tick(), 1_000);
    assert_eq!(simulation.visual_error(key), None);
    assert_near(shown_x(&simulation, key), 3.7);
    advance(&mut simulation, 5);
    assert_eq!(simulation.physics.tick(), 1_001);
    assert_near(shown_x(&simulation, key), 4.2);
}

#[test]
fn a_key_that_is_given_out_again_shows_the_new_body() {
    let (mut simulation, _) = flyer_with_states(60);
    advance(&mut simulation, 50);
    let late = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 50);
    simulation.rewind(4).unwrap();
    let wall = RigidBodyBuilder::fixed().translation(vector(50.0, 0.0, 0.0));
    let again = simulation.physics.insert(wall, ball());
    assert_eq!(again, late);
    advance(&mut simulation, 3);
    assert_eq!(shown_x(&simulation, again), 50.0);
    assert!(moved_keys(&simulation).contains(&again));
}

#[test]
fn limits_that_are_lowered_after_a_rollback_leave_a_step() {
    for stepping in [Stepping::Fixed, Stepping::SemiFixed] {
        let (mut simulation, _) = flyer_with_states(60);
        advance(&mut simulation, 100);
        simulation.resimulate(4, |_, _| ()).unwrap();
        simulation.clock_settings_mut().set_stepping(stepping);
        let limits = [Some(4), Some(1)];
        for most in limits {
            simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(most);
            assert_eq!(
                advance(&mut simulation, 10).steps,
                1,
                "{stepping:?} {most:?}"
            );
            simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(None);
            simulation
                .resimulate(simulation.physics.tick() - 5, |_, _| ())
                .unwrap();
        }
    }
}
