//! An `Overlap` under hooks and frames that do what they should not. Time is an argument: nothing here waits for it.

mod scenes;

use crate::scenes::testing::translation;
use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::{
    BodyKey, Delivery, ForceGenerator, Hooks, InputQueue, Physics, Rate, Simulation, Step, Wrench,
};
use scenes::{MS, flyer_in_space, hash, in_time, mixed};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Which hook.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Before,
    After,
}

use When::{After, Before};

/// Something to be done in a hook.
type Deed = Box<dyn FnMut(&mut Physics, Step, When) -> Result<(), &'static str>>;

/// Does it, and keeps a list of all calls.
struct Game {
    calls: Vec<(u64, When)>,
    deed: Deed,
    physics: Option<Arc<dyn PhysicsHooks + Send + Sync>>,
}

impl Game {
    fn new(
        deed: impl FnMut(&mut Physics, Step, When) -> Result<(), &'static str> + 'static,
    ) -> Self {
        Self {
            calls: Vec::new(),
            deed: Box::new(deed),
            physics: None,
        }
    }

    fn idle() -> Self {
        Self::new(|_, _, _| Ok(()))
    }

    /// Only does so in one hook of one step, once.
    fn once(when: When, tick: u64, mut deed: impl FnMut(&mut Physics) + 'static) -> Self {
        let mut is_done = false;
        Self::new(move |physics, step, now| {
            if (now, step.tick) == (when, tick) && !std::mem::replace(&mut is_done, true) {
                deed(physics);
            }
            Ok(())
        })
    }

    fn count(&self, when: When) -> usize {
        self.calls.iter().filter(|(_, at)| *at == when).count()
    }

    fn call(&mut self, physics: &mut Physics, step: Step, when: When) -> Result<(), &'static str> {
        self.calls.push((step.tick, when));
        (self.deed)(physics, step, when)
    }
}

impl Hooks for Game {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert_eq!(physics.current_step(), Some(step));
        self.call(physics, step, Before)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        // In no state is a hook called after a step that was not made.
        assert_eq!(physics.tick(), step.tick + 1);
        self.call(physics, step, After)
    }

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        self.physics.clone()
    }
}

/// Does something before each frame.
struct Framed<F>(F);

impl<F: FnMut(&mut Simulation)> Hooks for Framed<F> {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: Duration) -> Result<(), ()> {
        (self.0)(simulation);
        Ok(())
    }
}

#[test]
fn a_pause_before_a_frame_stops_that_frame() {
    let (simulation, _) = flyer_in_space();
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut game = Framed(|simulation: &mut Simulation| {
        if simulation.physics.tick() == 3 {
            simulation.pause();
        }
    });
    frames(&mut overlap, &mut game, 30);
    assert_eq!(overlap.stop().physics.tick(), 3);
}

/// So many frames of 10 ms, which is a step.
fn frames(overlap: &mut Overlap, game: &mut impl Hooks<Error: Debug>, count: usize) {
    for _ in 0..count {
        overlap.frame(MS(10), game).unwrap();
    }
}

fn x(overlap: &Overlap, key: BodyKey) -> f32 {
    overlap.view().pose(key).unwrap().translation.x
}

fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<&str>() {
        Ok(message) => message.to_string(),
        Err(payload) => *payload.downcast::<String>().unwrap(),
    }
}

fn panic_of(overlap: &mut Overlap, game: &mut Game) -> String {
    let frame = AssertUnwindSafe(|| overlap.frame(MS(10), game).map(drop));
    message(catch_unwind(frame).unwrap_err())
}

#[test]
fn frames_of_no_time_make_no_step() {
    let (simulation, key) = flyer_in_space();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    for _ in 0..50 {
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        assert_eq!(x(&overlap, key), 0.0);
    }
    assert_eq!(game.calls, []);
    let simulation = overlap.stop();
    assert_eq!(
        (simulation.physics.tick(), simulation.frame().number),
        (0, 50)
    );
}

#[test]
fn a_long_frame_counts_as_the_longest_that_was_set() {
    for (longest, steps) in [(None, 25), (Some(MS(40)), 4), (Some(Duration::MAX), 1_000)] {
        let (mut simulation, key) = flyer_in_space();
        if let Some(longest) = longest {
            simulation.clock_settings_mut().set_max_frame_time(longest);
        }
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        let view = overlap.frame(Duration::from_secs(10), &mut game).unwrap();
        // The last one is under way, and is shown a step later than in one thread.
        assert_eq!((view.tick(), view.is_starved()), (steps - 1, false));
        assert_eq!(x(&overlap, key), (steps - 2) as f32);
        assert_eq!(game.count(After) as u64, steps - 1);
        // And goes on as always.
        frames(&mut overlap, &mut game, 3);
        assert_eq!(game.count(After) as u64, steps + 2);
    }
}

#[test]
fn one_step_a_second_has_a_second_and_stands_in_a_pause() {
    let mut simulation = scenes::space(1);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation
        .physics
        .insert(body.can_sleep(false), scenes::ball());
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    // Four frames a step. The first one begins after the first second, and is over after the second.
    let shown: Vec<f32> = (0..14)
        .map(|_| {
            overlap.frame(MS(250), &mut game).unwrap();
            x(&overlap, key)
        })
        .collect();
    assert_eq!(shown[..8], [0.0; 8]);
    for (shown, x) in shown[8..].iter().zip([0.25, 0.5, 0.75, 1.0, 1.25, 1.5]) {
        scenes::assert_near(*shown, x);
    }
    assert_eq!((game.count(After), game.count(Before)), (2, 3));
    // The step that is under way is the last one.
    overlap.simulation().pause();
    for _ in 0..10 {
        overlap.frame(MS(250), &mut game).unwrap();
    }
    assert_eq!((game.count(After), game.count(Before)), (3, 3));
    scenes::assert_near(x(&overlap, key), 1.5);
    // A single step is made in the frame that finds it, and so are two.
    for steps in 1..=2 {
        let made = game.count(After);
        for _ in 0..steps {
            overlap.simulation().clock_settings_mut().step_once();
        }
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        assert_eq!(game.count(After), made + steps);
    }
    // Half of the fourth second had passed, and three steps were made in the pause. From the frame of the resumption on
    // the picture moves, twice as fast.
    overlap.simulation().resume();
    overlap.simulation().set_speed(2.0).unwrap();
    let shown: Vec<f32> = (0..4)
        .map(|_| {
            overlap.frame(MS(250), &mut game).unwrap();
            x(&overlap, key)
        })
        .collect();
    assert_eq!(shown, [5.0, 5.5, 6.0, 6.5]);
    // A day until the next step: nobody waits for it.
    let day = Rate::fraction(1, 86_400).unwrap();
    overlap.simulation().clock_settings_mut().set_rate(day);
    for _ in 0..8 {
        overlap.frame(MS(250), &mut game).unwrap();
    }
    assert!(in_time(move || overlap.stop()).physics.tick() > 5);
}

#[test]
fn less_slack_shows_each_step_earlier_by_as_much() {
    // Eight frames a step, at 1 m/s and a step of 1 s.
    let run = |slack: f32| {
        let mut simulation = scenes::space(1);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let key = simulation
            .physics
            .insert(body.can_sleep(false), scenes::ball());
        let mut alone = simulation.clone();
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        overlap.set_slack(slack);
        let mut shown = Vec::new();
        for _ in 0..48 {
            alone.advance(MS(125), |_, _| ());
            overlap.frame(MS(125), &mut game).unwrap();
            shown.push((alone.clock().time().as_secs_f32(), x(&overlap, key)));
        }
        let bits = |simulation: &Simulation| *simulation.physics.body(key).unwrap().position();
        let stopped = overlap.stop();
        assert_eq!(stopped.physics.tick(), alone.physics.tick());
        assert_eq!(bits(&stopped), bits(&alone));
        shown
    };
    let first = run(1.0)[47];
    let full = first.0 - first.1;
    // One thread shows it a step later than it was; this one, as much later again.
    assert!((full - 2.0).abs() < 1e-5, "{full}");
    for (slack, less) in [
        (0.75, 0.25),
        (0.5, 0.5),
        (0.25, 0.75),
        (0.0, 1.0),
        (-3.0, 1.0),
        (7.0, 0.0),
    ] {
        // Evenly, by so much of a step earlier, once the first steps are over.
        for (time, x) in &run(slack)[24..] {
            assert!(
                (time - x - (full - less)).abs() < 1e-5,
                "{slack}: {x} at {time}"
            );
        }
    }
    assert_eq!(run(f32::NAN), run(1.0));
}

#[test]
fn another_rate_shows_every_body_where_it_is_at_the_time_that_is_shown() {
    let (simulation, key) = flyer_in_space();
    let rates = [100, 10, 1_000, 60].map(|hz| Rate::hz(hz).unwrap());
    let mut game = Framed(move |simulation: &mut Simulation| {
        let tick = simulation.physics.tick();
        if tick % 10 == 9 {
            let rate = rates[(tick / 10 % 4) as usize];
            simulation.clock_settings_mut().set_rate(rate);
        }
    });
    let mut overlap = Overlap::new(simulation).unwrap();
    for _ in 0..2_000 {
        let time = overlap.frame(MS(3), &mut game).unwrap().time();
        let off = x(&overlap, key) - 100.0 * time as f32;
        assert!(off.abs() < 0.02, "{off} m at {time}");
    }
}

#[test]
fn errors_at_every_tick_pile_no_steps_up() {
    for when in [Before, After] {
        let (simulation, key) = flyer_in_space();
        let fails = Arc::new(AtomicU64::new(1));
        let still = Arc::clone(&fails);
        let mut game = Game::new(move |_, _, now| {
            let fails = still.load(Ordering::Relaxed) > 0 && now == when;
            if fails { Err("as always") } else { Ok(()) }
        });
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut shown = 0.0;
        for _ in 0..60 {
            let result = overlap.frame(MS(33), &mut game);
            assert!(when == After || result.is_err());
            assert!(x(&overlap, key) >= shown);
            shown = x(&overlap, key);
        }
        // What was made is shown, also by a frame that fails.
        assert_eq!(when == After, shown > 20.0, "{shown}");
        fails.store(0, Ordering::Relaxed);
        let before = game.count(Before);
        frames(&mut overlap, &mut game, 5);
        let made = game.count(Before) - before;
        assert!((5..=6).contains(&made), "{made} steps in 50 ms");
        // As in one thread, they cost the steps that were still due.
        assert!(overlap.simulation().clock().dropped().aborted > 60);
    }
}

#[test]
fn input_of_a_step_is_that_of_its_time() {
    let (simulation, _) = flyer_in_space();
    let mut overlap = Overlap::new(simulation).unwrap();
    let queue = Arc::new(Mutex::new(InputQueue::new(Delivery::ByTime)));
    let got = Arc::new(Mutex::new(Vec::new()));
    let (for_game, for_test) = ((queue.clone(), got.clone()), (queue, got));
    let mut game = Game::new(move |_, step, when| {
        if when == Before {
            let mut queue = for_game.0.lock().unwrap();
            for sample in queue.drain(step) {
                let off: Duration = sample.input;
                assert!(step.real_start <= off && off < step.real_end);
                for_game
                    .1
                    .lock()
                    .unwrap()
                    .push((step.tick, sample.fraction));
            }
        }
        Ok(())
    });
    for number in 0..200 {
        // As the frame is begun: a press since the last one.
        let pressed = overlap.now() + MS(1);
        for_test.0.lock().unwrap().push(pressed, pressed);
        let frame_time = MS([7, 16, 3, 41][number % 4]);
        overlap.frame(frame_time, &mut game).unwrap();
    }
    let queue = for_test.0.lock().unwrap();
    let got = for_test.1.lock().unwrap();
    assert_eq!(queue.counts(), evenstep::InputCounts::default());
    assert!(got.len() + 5 > 200 && queue.len() + got.len() == 200);
    // How far into the step it was is kept.
    assert!(
        got.iter()
            .any(|(_, fraction)| (0.3..0.9).contains(fraction))
    );
}

#[test]
fn hooks_that_come_and_go_are_shown_once_each() {
    let (simulation, first) = flyer_in_space();
    let mut keys = vec![first];
    let mut game = Game::new(move |physics, step, when| {
        if (step.tick % 2 == 0) == (when == Before) {
            keys.push(physics.insert(scenes::flyer(), scenes::ball()));
        }
        if step.tick % 3 == 2 && !keys.is_empty() {
            // It may be gone by the other way.
            let _ = physics.remove(keys.remove(0));
        }
        Ok(())
    });
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut map = std::collections::BTreeMap::new();
    for number in 0..300u64 {
        let view = overlap.frame(MS(number % 23), &mut game).unwrap();
        for key in view.removed() {
            assert!(map.remove(key).is_some(), "it was shown");
        }
        map.extend(view.moved().iter().copied());
        assert!(map.iter().all(|(key, pose)| view.pose(*key) == Some(*pose)));
        if number % 40 == 17 {
            // Between two frames, while a step is made.
            let simulation = overlap.simulation();
            let key = simulation.physics.bodies().next().map(|(key, _)| key);
            if let Some(key) = key.filter(|_| simulation.physics.bodies().count() > 10) {
                simulation.physics.remove(key).unwrap();
            }
        }
    }
    let simulation = overlap.stop();
    assert!(simulation.physics.bodies().count().abs_diff(map.len()) <= 3);
}

/// Thirty frames of 5 ms after another state of a flyer, of the tick `age`, was put in.
fn flies_on<H: Hooks<Error: fmt::Debug>>(
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
fn a_simulation_put_in_place_of_another_goes_on_from_now() {
    // Long before, long after, at the same time; and by whom.
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
                *overlap.simulation() = other;
            }
            let made = game.calls.len();
            flies_on(&mut overlap, &mut game, key, age, &format!("{age}, {by:?}"));
            assert!(overlap.view().pose(last).is_some(), "{age}, {by:?}");
            // 150 ms: neither a storm of steps nor none.
            let steps = (game.calls.len() - made) / 2;
            assert!((13..=17).contains(&steps), "{steps} steps, {age}, {by:?}");
            let tick = overlap.stop().physics.tick();
            assert!(tick.abs_diff(age + 15) <= 2, "{tick}");
        }
    }
}

#[test]
fn a_simulation_put_in_place_of_another_before_a_frame_goes_on_from_now() {
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
        flies_on(&mut overlap, &mut game, key, age, &format!("{age}"));
        assert!(overlap.view().pose(last).is_some(), "{age}");
        let tick = overlap.stop().physics.tick();
        assert!(tick.abs_diff(age + 15) <= 2, "{tick} at {age}");
    }
}

#[test]
fn a_hook_that_replaces_the_simulation_in_every_step_ends() {
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
            overlap.stop().physics.tick()
        });
        assert!((3..=5).contains(&tick), "{tick}");
    }
}

#[test]
fn a_rollback_between_two_frames_is_made_again_also_in_a_pause() {
    for pauses in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        simulation.set_rewind_limits(20, usize::MAX);
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        frames(&mut overlap, &mut game, 15);
        if pauses {
            overlap.simulation().pause();
            frames(&mut overlap, &mut game, 5);
        }
        let tick = overlap.simulation().physics.tick();
        overlap.simulation().roll_back(5).unwrap();
        assert_eq!(overlap.simulation().steps_to_resimulate(), tick - 5);
        frames(&mut overlap, &mut game, 1);
        assert_eq!(overlap.simulation().steps_to_resimulate(), 0);
        let again = game
            .calls
            .iter()
            .filter(|call| **call == (7, After))
            .count();
        assert_eq!(again, 2);
        let present = overlap.simulation().physics.tick();
        assert_eq!(present, tick + u64::from(!pauses));
    }
}

#[test]
fn a_rewind_while_a_step_is_under_way_unmakes_it() {
    let (mut simulation, key) = flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 15);
    overlap.simulation().rewind(5).unwrap();
    let calls = game.calls.len();
    frames(&mut overlap, &mut game, 3);
    assert_eq!(game.calls[calls], (5, Before));
    let x = x(&overlap, key);
    assert!((4.0..8.0).contains(&x), "{x}");
}

#[test]
fn a_state_is_cloned_and_saved_while_a_step_is_under_way() {
    let (simulation, key) = flyer_in_space();
    let mut alone = simulation.clone();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 7);
    let saved = overlap.simulation().clone();
    // One is under way.
    assert_eq!(saved.physics.tick(), 7);
    #[cfg(feature = "serde")]
    {
        let bytes = overlap
            .simulation()
            .save()
            .expect("between two frames it can be");
        let loaded = Simulation::load(&bytes).unwrap();
        assert_eq!(hash(loaded.physics.rapier()), hash(saved.physics.rapier()));
    }
    // The look has changed nothing, and the hook comes once.
    frames(&mut overlap, &mut game, 7);
    assert_eq!(x(&overlap, key), 12.0);
    assert_eq!(game.count(After), 13);
    assert!(
        game.calls
            .is_sorted_by_key(|(tick, when)| (*tick, *when == After))
    );
    // Put back, it goes on from there.
    *overlap.simulation() = saved;
    frames(&mut overlap, &mut game, 5);
    let simulation = overlap.stop();
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
fn what_a_hook_does_after_an_access_is_still_shown_by_its_frame() {
    let (simulation, key) = flyer_in_space();
    let there = translation(0.0, 7.0, 0.0);
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut game = Game::once(After, 5, move |physics| {
        assert_eq!(physics.events().len(), 0);
        physics.teleport(key, there).unwrap();
    });
    // Step 5 begins in the sixth frame, and is over in the next.
    for _ in 0..7 {
        assert_eq!(
            overlap
                .view()
                .pose(key)
                .map_or(0.0, |pose| pose.translation.y),
            0.0
        );
        let _ = overlap.simulation().physics.tick();
        frames(&mut overlap, &mut game, 1);
    }
    assert_eq!(overlap.view().pose(key), Some(there));
}

/// Counts its calls and, in one of them, panics.
struct Filter {
    calls: AtomicU64,
    panics_at: u64,
}

impl PhysicsHooks for Filter {
    fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        assert_ne!(calls, self.panics_at, "the filter panics");
        None
    }
}

/// A ball above a floor, which asks for contacts.
fn above_a_floor() -> (Simulation, BodyKey) {
    let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
    let ball = ColliderBuilder::ball(0.5).active_hooks(ActiveHooks::FILTER_CONTACT_PAIRS);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let key = simulation.physics.insert(body, ball);
    (simulation, key)
}

#[test]
fn rapiers_own_hooks_are_called_on_the_other_thread() {
    let (simulation, key) = above_a_floor();
    let physics = Arc::new(Filter {
        calls: AtomicU64::new(0),
        panics_at: u64::MAX,
    });
    let mut game = Game::idle();
    game.physics = Some(physics.clone());
    let mut overlap = Overlap::new(simulation).unwrap();
    frames(&mut overlap, &mut game, 100);
    let y = overlap.view().pose(key).unwrap().translation.y;
    assert!(y < -3.0, "it fell through the floor: {y}");
    assert!(physics.calls.load(Ordering::Relaxed) > 5);
    // Each step asks anew: without them there are contacts again.
    game.physics = None;
    overlap
        .simulation()
        .physics
        .teleport(key, translation(0.0, 0.5, 0.0))
        .unwrap();
    frames(&mut overlap, &mut game, 100);
    let y = overlap.view().pose(key).unwrap().translation.y;
    assert!((0.3..0.6).contains(&y), "{y}");
}

#[test]
fn a_panic_in_rapiers_own_hooks_comes_out_and_the_simulation_can_be_rewound() {
    let tick = in_time(|| {
        let (mut simulation, key) = above_a_floor();
        simulation.set_rewind_limits(3, usize::MAX);
        let mut game = Game::idle();
        game.physics = Some(Arc::new(Filter {
            calls: AtomicU64::new(0),
            panics_at: 4,
        }));
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut panics = Vec::new();
        while panics.len() < 3 {
            let frame = AssertUnwindSafe(|| overlap.frame(MS(10), &mut game).map(drop));
            if let Err(payload) = catch_unwind(frame) {
                panics.push(message(payload));
            }
        }
        assert!(panics[0].contains("the filter panics"), "{panics:?}");
        assert!(panics[1].contains("Rapier panicked in the step") && panics[2] == panics[1]);
        assert!(overlap.view().pose(key).is_some());
        let tick = overlap.simulation().physics.tick();
        overlap.simulation().rewind(tick).unwrap();
        frames(&mut overlap, &mut game, 10);
        overlap.stop().physics.tick() - tick
    });
    assert!((10..=12).contains(&tick), "{tick}");
}

/// Fails or panics, in turn, before every third frame.
#[derive(Default)]
struct BadFrames(u32);

impl Hooks for BadFrames {
    type Error = ();

    fn before_frame(&mut self, _: &mut Simulation, _: Duration) -> Result<(), ()> {
        self.0 += 1;
        assert!(!self.0.is_multiple_of(6), "before the frame");
        if self.0.is_multiple_of(3) {
            return Err(());
        }
        Ok(())
    }
}

#[test]
fn what_goes_wrong_before_a_frame_leaves_the_limits_as_they_were() {
    let (mut simulation, _) = flyer_in_space();
    simulation.clock_settings_mut().set_max_frame_time(MS(50));
    simulation
        .clock_settings_mut()
        .set_stepping(evenstep::Stepping::Variable);
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut hooks = BadFrames::default();
    let (mut failed, mut panicked) = (0, 0);
    for _ in 0..60 {
        let frame = AssertUnwindSafe(|| overlap.frame(MS(10), &mut hooks).is_err());
        match catch_unwind(frame) {
            Ok(is_err) => failed += u64::from(is_err),
            Err(_) => panicked += 1,
        }
        let clock = overlap.simulation().clock();
        assert_eq!(clock.settings().max_frame_time(), MS(50));
        assert_eq!(clock.settings().stepping(), evenstep::Stepping::Variable);
    }
    // An error drops the step that was due; a panic, the frame: as in one thread.
    assert_eq!((failed, panicked), (10, 10));
    let mut simulation = overlap.stop();
    assert_eq!(simulation.physics.tick(), 60 - 20);
    // The last of them has panicked.
    let frame = simulation.advance(MS(1_000), |_, _| ());
    assert_eq!(frame.dropped.frame_time, MS(950));
}

#[test]
fn after_a_panic_in_a_force_or_a_hook_the_simulation_goes_on() {
    for panicking in ["force", "before", "after"] {
        let ticks = in_time(move || {
            let (mut simulation, key) = flyer_in_space();
            if panicking == "force" {
                let force = ForceGenerator::custom(|_, step| {
                    assert_ne!(step.tick, 4, "the force panics");
                    Wrench::default()
                });
                simulation
                    .physics
                    .insert_force_generator(key, force)
                    .unwrap();
            }
            let mut game = Game::new(move |_, step, when| {
                let name = if when == Before { "before" } else { "after" };
                assert!(panicking != name || step.tick != 4, "the hook panics");
                Ok(())
            });
            let mut overlap = Overlap::new(simulation).unwrap();
            frames(
                &mut overlap,
                &mut game,
                if panicking == "before" { 4 } else { 5 },
            );
            let message = panic_of(&mut overlap, &mut game);
            assert!(message.contains(" panics"), "{message}");
            // What was shown stays, and the step is another number, or not made twice.
            assert!(x(&overlap, key) <= 4.0);
            if panicking != "after" {
                overlap.simulation().clock_settings_mut().set_tick(100);
            }
            frames(&mut overlap, &mut game, 10);
            assert!(x(&overlap, key) > 8.0);
            game.calls
        });
        let made = ticks.iter().filter(|(_, when)| *when == After).count();
        assert!((13..=15).contains(&made), "{panicking}: {made}");
    }
}

#[test]
fn it_ends_in_every_state() {
    for state in 0..8 {
        in_time(move || {
            let (simulation, _) = above_a_floor();
            let mut overlap = Overlap::new(simulation).unwrap();
            let mut game = Game::idle();
            match state {
                0 => (),
                1 => frames(&mut overlap, &mut game, 1),
                2 => frames(&mut overlap, &mut game, 20),
                3 => {
                    overlap.simulation().pause();
                    frames(&mut overlap, &mut game, 2);
                }
                4 => {
                    // It panics while nobody waits for it.
                    game.physics = Some(Arc::new(Filter {
                        calls: AtomicU64::new(0),
                        panics_at: 0,
                    }));
                    overlap.frame(Duration::ZERO, &mut game).unwrap();
                    return drop(overlap);
                }
                5 => {
                    game = Game::once(Before, 0, |_| panic!("at once"));
                    panic_of(&mut overlap, &mut game);
                }
                6 => {
                    let (other, _) = flyer_in_space();
                    *overlap.simulation() = other;
                }
                _ => {
                    game = Game::new(|_, _, _| Err("at once"));
                    overlap.frame(MS(10), &mut game).unwrap_err();
                }
            }
            let simulation = overlap.stop();
            assert!(simulation.physics.tick() <= 21);
        });
        in_time(move || {
            let (simulation, _) = flyer_in_space();
            let mut overlap = Overlap::new(simulation).unwrap();
            frames(&mut overlap, &mut Game::idle(), state);
        });
    }
}

#[test]
fn one_drives_another_in_its_hooks() {
    let (simulation, key) = flyer_in_space();
    let (other, other_key) = flyer_in_space();
    let inner = Arc::new(Mutex::new(Overlap::new(other).unwrap()));
    let shared = Arc::clone(&inner);
    let mut game = Game::new(move |_, _, when| {
        if when == Before {
            let mut inner = shared.lock().unwrap();
            inner.frame(MS(10), &mut Game::idle()).unwrap();
        }
        Ok(())
    });
    let mut overlap = Overlap::new(simulation).unwrap();
    for _ in 0..20 {
        overlap.frame(MS(10), &mut game).unwrap();
    }
    let inner = inner.lock().unwrap();
    assert!(x(&inner, other_key) >= 17.0);
    assert!(x(&overlap, key) >= 17.0);
}

/// What a driver does to a simulation between two frames, and its hooks before or after a step.
type Change = fn(&mut Simulation);

const SPEEDS: [Change; 3] = [
    |simulation| simulation.set_speed(0.1).unwrap(),
    |simulation| simulation.set_speed(1.0).unwrap(),
    |simulation| simulation.set_speed(3.0).unwrap(),
];

/// The first three of them are of pauses.
const OTHERS: [Change; 6] = [
    Simulation::pause,
    Simulation::resume,
    |simulation| simulation.clock_settings_mut().step_once(),
    |simulation| set_rate(simulation, 60),
    |simulation| set_rate(simulation, 250),
    |simulation| {
        let settings = simulation.clock_settings_mut();
        let most = settings.max_steps_per_frame().xor(Some(2));
        settings.set_max_steps_per_frame(most);
        settings.set_max_frame_time(MS(100));
    },
];

fn set_rate(simulation: &mut Simulation, hz: u32) {
    let rate = Rate::hz(hz).unwrap();
    simulation.clock_settings_mut().set_rate(rate);
}

/// Pushes a body in each step, changes the clock in some, and keeps the numbers of all frames.
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
        frame_time: Duration,
    ) -> Result<(), ()> {
        let frame = (
            simulation.frame().number,
            frame_time,
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
fn the_same_frames_are_those_of_one_thread() {
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
        // Who comes later is right: so the two set different things.
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
                change(overlap.simulation());
                change(&mut alone);
            }
            overlap.frame(frame_time, &mut game).unwrap();
            alone.advance_with(frame_time, &mut reference).unwrap();
        }
        // What is still to be done, and nothing more.
        overlap.simulation().pause();
        alone.pause();
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        alone.advance_with(Duration::ZERO, &mut reference).unwrap();
        assert_eq!(game.frames, reference.frames, "{seed}");
        assert_eq!(game.steps, reference.steps, "{seed}");
        let simulation = overlap.stop();
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

/// A driver that rewinds, or puts a copy back, while a step is under way: no frame is lost.
#[test]
fn frames_that_waited_count_when_the_driver_goes_back() {
    let back: [Change; 2] = [
        |simulation| {
            let tick = simulation.physics.tick().saturating_sub(1);
            simulation.rewind(tick).unwrap();
        },
        |simulation| simulation.physics = simulation.physics.clone(),
    ];
    for (change, every) in [(0, 10), (0, 7), (1, 5), (1, 1)] {
        let mut alone = scenes::space(30);
        alone.set_rewind_limits(60, usize::MAX);
        let mut overlap = Overlap::new(alone.clone()).unwrap();
        for number in 1..=60 {
            alone.advance(MS(7), |_, _| ());
            overlap.frame(MS(7), &mut Game::idle()).unwrap();
            if number % every == 0 {
                back[change](&mut alone);
                back[change](overlap.simulation());
            }
            assert_eq!(overlap.now(), alone.clock().real_time());
        }
        // What waits is run.
        alone.pause();
        overlap.simulation().pause();
        alone.advance(Duration::ZERO, |_, _| ());
        overlap.frame(Duration::ZERO, &mut Game::idle()).unwrap();
        let simulation = overlap.stop();
        assert_eq!(simulation.clock(), alone.clock(), "{change} {every}");
        assert_eq!(simulation.physics.tick(), alone.physics.tick());
    }
}

#[test]
fn frames_that_waited_do_not_count_in_another_simulation() {
    let mut overlap = Overlap::new(scenes::space(30)).unwrap();
    frames(&mut overlap, &mut Game::idle(), 4);
    *overlap.simulation() = scenes::space(30);
    overlap.frame(MS(7), &mut Game::idle()).unwrap();
    assert_eq!(overlap.now(), MS(7));
    assert_eq!(overlap.simulation().clock().time(), MS(7));
}

/// Keeps a copy that was made before a step.
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
fn a_copy_of_a_hook_that_is_put_back_continues_as_in_one_thread() {
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
        // Both have kept one, or neither.
        overlap.simulation();
        assert_eq!(game.0.is_some(), reference.0.is_some());
        if let (Some(of_overlap), Some(of_alone)) = (game.0.take(), reference.0.take()) {
            overlap.simulation().physics = of_overlap;
            alone.physics = of_alone;
        }
        let later = [MS(10); 40];
        for frame_time in frames[1..].iter().chain(&later) {
            alone.advance_with(*frame_time, &mut reference).unwrap();
            overlap.frame(*frame_time, &mut game).unwrap();
        }
        assert_eq!(overlap.simulation().clock(), alone.clock(), "{frames:?}");
        assert_eq!(overlap.simulation().physics.tick(), alone.physics.tick());
    }
}

/// Between two frames, or before one. The last two of them only before one: between two frames they leave the step that is under
/// way without the hook after it.
const WAYS_BACK: [Change; 6] = [
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

/// Pushes in each step, and counts the hooks after steps in the state.
#[derive(Default)]
struct Pushing {
    /// What to do before each of the next frames.
    ways: VecDeque<Option<Change>>,
}

#[derive(Clone, Default)]
struct Hooked(u64);

impl Hooks for Pushing {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: Duration) -> Result<(), ()> {
        if let Some(way) = self.ways.pop_front().flatten() {
            way(simulation);
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        let (key, _) = physics.bodies().next().expect("the flyer");
        let push = Vector::Y * (step.tick % 5) as f32;
        physics.apply_impulse(key, push).unwrap();
        if step.tick % 13 == 4 {
            physics
                .teleport_by(key, translation(0.0, 7.0, 0.0))
                .unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick % 17 == 3 {
            physics.shift_origin(Vector::X * 10.0).unwrap();
        }
        physics.resources_mut().get_mut::<Hooked>().unwrap().0 += 1;
        Ok(())
    }
}

#[test]
fn the_same_ways_back_are_those_of_one_thread() {
    for seed in 0..60 {
        let (mut simulation, key) = flyer_in_space();
        simulation.set_rewind_limits(30, usize::MAX);
        simulation.set_rewind_interval(1 + seed % 2 * 3);
        simulation.set_history(20);
        simulation.physics.resources_mut().insert(Hooked::default());
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation).unwrap();
        overlap.set_slack([1.0, 0.5, 0.0][seed as usize % 3]);
        let is_between = seed % 4 < 2;
        let [mut game, mut reference] = [(); 2].map(|()| Pushing::default());
        for number in 0..100 {
            let chance = mixed(1_000_000 * seed + number);
            let ways = if is_between {
                &WAYS_BACK[..4]
            } else {
                &WAYS_BACK
            };
            let way = ways[chance as usize / 3 % ways.len()];
            let way = chance.is_multiple_of(3).then_some(way);
            if is_between {
                for simulation in [overlap.simulation(), &mut alone] {
                    way.inspect(|way| way(simulation));
                }
            } else {
                game.ways.push_back(way);
                reference.ways.push_back(way);
            }
            // A step each, or two.
            let frame_time = MS(10 + chance / 100 % 2 * 10);
            overlap.frame(frame_time, &mut game).unwrap();
            alone.advance_with(frame_time, &mut reference).unwrap();
        }
        overlap.simulation().pause();
        alone.pause();
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        alone.advance_with(Duration::ZERO, &mut reference).unwrap();
        let simulation = overlap.stop();
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
        // An assignment before a frame clears the poses so far.
        let least = if is_between { 10 } else { 0 };
        assert!(known > least, "{known} of {seed}");
    }
}

#[test]
fn pauses_neither_lose_nor_gain_time() {
    let (simulation, _) = flyer_in_space();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    for _ in 0..200 {
        overlap.frame(MS(1), &mut game).unwrap();
        overlap.simulation().pause();
        overlap.frame(MS(1), &mut game).unwrap();
        overlap.simulation().resume();
    }
    overlap.simulation().pause();
    overlap.frame(MS(1), &mut game).unwrap();
    assert_eq!(overlap.simulation().clock().time(), MS(200));
    assert_eq!(overlap.stop().physics.tick(), 20);
}

#[test]
fn slow_motion_and_back_makes_the_picture_slow_and_no_more() {
    let (simulation, key) = flyer_in_space();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    let (mut shown, mut elapsed) = (0.0, 0);
    for number in 0..3_000 {
        if number % 303 == 152 {
            let speed = if number % 606 == 152 { 0.1 } else { 1.0 };
            overlap.simulation().set_speed(speed).unwrap();
        }
        overlap.frame(MS(1), &mut game).unwrap();
        let x = x(&overlap, key);
        // A frame is 10 cm at full speed, and 1 cm in slow motion. Before the first step is shown there is none.
        elapsed += 1;
        if elapsed > 21 {
            let way = x - shown;
            assert!((0.008..0.102).contains(&way), "{way} m at {number}");
        }
        shown = x;
    }
    assert!(!overlap.view().is_starved());
}

#[test]
fn steps_slower_than_a_period_leave_the_game_its_frames() {
    // The hook is what takes its time: no step is made for the frames that it costs.
    let (mut simulation, key) = flyer_in_space();
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(1));
    let mut alone = simulation.clone();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    for number in 0..100 {
        // Each frame has waited for a step of 25 ms.
        let view = overlap.frame(MS(25), &mut game).unwrap();
        alone.advance(MS(25), |_, _| ());
        assert!(!view.is_starved() || number < 2);
        let late = scenes::shown_x(&alone, key) - x(&overlap, key);
        assert!(number < 2 || (late - 1.0).abs() < 2e-3, "{late}");
        assert!(game.count(Before) <= number + 1, "one in each at most");
    }
    let simulation = overlap.stop();
    assert_eq!(simulation.physics.tick(), alone.physics.tick());
    assert_eq!(simulation.clock().dropped(), alone.clock().dropped());
    assert_eq!(
        hash(simulation.physics.rapier()),
        hash(alone.physics.rapier())
    );
}

#[test]
fn frames_of_several_steps_are_shown_one_step_later_than_in_one_thread() {
    for slack in [1.0f32, 0.5, 0.0] {
        let (simulation, key) = flyer_in_space();
        let mut alone = simulation.clone();
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        overlap.set_slack(slack);
        for number in 0..100 {
            let view = overlap.frame(MS(33), &mut game).unwrap();
            assert!(!view.is_starved());
            alone.advance(MS(33), |_, _| ());
            let late = scenes::shown_x(&alone, key) - x(&overlap, key);
            assert!((late - slack).abs() < 2e-3, "{late} at {number}");
        }
    }
}

/// As a player does who drags a slider, at more frames than steps.
#[test]
fn rewinds_in_every_frame_are_shown() {
    let (mut simulation, key) = flyer_in_space();
    simulation.set_rewind_limits(50, usize::MAX);
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 20);
    let before = overlap.now();
    for tick in (1..=18).rev() {
        overlap.simulation().rewind(tick).unwrap();
        overlap.frame(MS(3), &mut game).unwrap();
        let x = x(&overlap, key);
        let expected = tick as f32 - 1.0;
        assert!((x - expected).abs() < 1.5, "{x} for {expected}");
    }
    assert_eq!(overlap.now(), before + MS(3 * 18));
}

/// As netcode does that gets late input in every frame.
#[test]
fn rollbacks_in_every_frame_are_shown() {
    let (mut simulation, key) = flyer_in_space();
    simulation.set_rewind_limits(50, usize::MAX);
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 20);
    let start = x(&overlap, key);
    for i in 1..=30u8 {
        let tick = overlap.simulation().physics.tick();
        overlap.simulation().roll_back(tick - 3).unwrap();
        frames(&mut overlap, &mut game, 1);
        let moved = x(&overlap, key) - start;
        assert!((moved - f32::from(i)).abs() < 1.1, "{moved} after {i}");
    }
}

/// The hook after a step, and all that it does to the state, is there once, as in one thread.
#[test]
fn a_step_that_is_made_again_while_it_is_under_way_has_one_hook_after_it() {
    for in_access in [false, true] {
        let (mut simulation, _) = flyer_in_space();
        simulation.set_rewind_limits(50, usize::MAX);
        simulation.physics.resources_mut().insert(Hooked::default());
        let mut overlap = Overlap::new(simulation).unwrap();
        frames(&mut overlap, &mut Pushing::default(), 15);
        if in_access {
            let simulation = overlap.simulation();
            simulation
                .resimulate_with(5, &mut Pushing::default())
                .unwrap();
        } else {
            overlap.simulation().roll_back(5).unwrap();
        }
        frames(&mut overlap, &mut Pushing::default(), 5);
        let simulation = overlap.stop();
        let score = simulation.physics.resources().get::<Hooked>().unwrap().0;
        // The last one is under way.
        assert_eq!(score, simulation.physics.tick() - 1, "{in_access}");
    }
}

/// The steps that are due again go on with the next frame, with their hooks.
#[test]
fn after_a_rollback_that_fails_the_next_frame_goes_on_with_it() {
    let (mut simulation, _) = flyer_in_space();
    simulation.set_rewind_limits(50, usize::MAX);
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 15);
    let mut fails = Game::new(|_, step, _| if step.tick == 8 { Err("no") } else { Ok(()) });
    let simulation = overlap.simulation();
    let last = simulation.physics.tick() - 1;
    assert!(simulation.resimulate_with(5, &mut fails).is_err());
    assert_eq!(simulation.steps_to_resimulate(), last - 7);
    frames(&mut overlap, &mut game, 3);
    for tick in [8, last] {
        let calls = game.calls.iter().rev();
        assert!(calls.take(20).any(|call| *call == (tick, After)), "{tick}");
    }
    assert_eq!(overlap.simulation().steps_to_resimulate(), 0);
}

#[test]
fn what_happens_in_a_frame_of_the_games_own_is_shown() {
    let (mut simulation, _) = flyer_in_space();
    let old = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    frames(&mut overlap, &mut game, 5);
    let simulation = overlap.simulation();
    let new = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    simulation.physics.remove(old).unwrap();
    simulation.advance(MS(100), |_, _| ());
    frames(&mut overlap, &mut game, 5);
    assert!(overlap.view().pose(new).is_some() && overlap.view().pose(old).is_none());
}

#[test]
fn an_edit_between_frames_comes_before_the_same_step_in_every_stepping() {
    for stepping in scenes::STEPPINGS {
        let (mut alone, key) = flyer_in_space();
        alone.clock_settings_mut().set_stepping(stepping);
        let mut overlap = Overlap::new(alone.clone()).unwrap();
        let mut game = Game::idle();
        for number in 0..200 {
            let chance = mixed(number);
            if chance.is_multiple_of(3) {
                let push = Vector::Y * (chance / 3 % 5) as f32;
                for simulation in [&mut alone, overlap.simulation()] {
                    simulation.physics.apply_impulse(key, push).unwrap();
                }
            }
            let frame_time = MS([3, 7, 16, 1, 33][chance as usize / 16 % 5]);
            alone.advance(frame_time, |_, _| ());
            overlap.frame(frame_time, &mut game).unwrap();
            let simulation = overlap.simulation();
            assert_eq!(simulation.physics.tick(), alone.physics.tick());
            let bits = [&*simulation, &alone].map(|it| hash(it.physics.rapier()));
            assert_eq!(bits[0], bits[1], "{stepping:?} {number}");
        }
    }
}
