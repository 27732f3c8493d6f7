//! Laws that hold however a simulation is driven: in one thread, by an `Overlap`, and by a `Runner`.

mod scenes;

use crate::scenes::testing::{translation, vector};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step, TickQueue};
use scenes::everything::{Everything, Script};
use scenes::{MS, hash};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longer than any of these should take, on the slowest of machines.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many steps are compared.
const STEPS: usize = 200;

/// What can be seen of a step: bodies, particles, and events.
type Seen = (u64, u64, Vec<Vector>, String);

/// A scene with everything in it, whose input comes by tick, and what each step made of it.
struct Game {
    script: Script,
    input: TickQueue<Deed>,
    filters: Arc<Filters>,
    seen: Vec<Seen>,
    /// Told of each step; nobody may listen.
    steps: Sender<u64>,
    /// How much either side is held up, as the number of a step says.
    stalls: u64,
}

/// What a player does in a step.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Push,
    Lift,
    Jump,
    Shift,
}

/// Rapier's own hooks: guests fall through what they touch in every third step, and the player slides.
#[derive(Default)]
struct Filters {
    calls: AtomicU64,
    filters: AtomicU64,
}

impl PhysicsHooks for Filters {
    fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let is_solid = self.filters.load(Ordering::Relaxed) == 0;
        is_solid.then(SolverFlags::default)
    }

    fn modify_solver_contacts(&self, contacts: &mut ContactModificationContext) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(manifold) = contacts.rigid_mut() {
            *manifold.friction = 0.05;
        }
    }
}

/// Some turns for whoever else wants to run: a stall that waits for no clock.
fn stall(seed: u64, most: u64) {
    if most > 0 {
        let turns = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..turns % most).for_each(|_| std::thread::yield_now());
    }
}

fn game(hz: u32, stalls: u64) -> (Simulation, Game, Receiver<u64>) {
    let Everything {
        mut simulation,
        script,
    } = Everything::new();
    simulation
        .clock_settings_mut()
        .set_rate(Rate::hz(hz).unwrap());
    let hooked = ActiveHooks::FILTER_CONTACT_PAIRS | ActiveHooks::MODIFY_SOLVER_CONTACTS;
    for (_, collider) in simulation.physics.rapier_mut().colliders.iter_mut() {
        if collider.shape().as_ball().is_some() {
            collider.set_active_hooks(hooked);
        }
    }
    let mut input = TickQueue::new(0, STEPS as u64);
    for tick in 0..STEPS as u64 {
        let deed = match tick {
            _ if tick % 40 == 3 => Deed::Lift,
            _ if tick % 50 == 25 => Deed::Shift,
            _ if tick % 30 == 11 => Deed::Jump,
            _ if tick % 4 == 0 => Deed::Push,
            _ => continue,
        };
        input.push(tick, deed).unwrap();
    }
    let (steps, made) = channel();
    let game = Game {
        script,
        input,
        filters: Arc::default(),
        seen: Vec::new(),
        steps,
        stalls,
    };
    (simulation, game, made)
}

impl Game {
    fn act(&self, physics: &mut Physics, step: Step, deed: Deed) {
        let player = self.script.player;
        match deed {
            Deed::Push => physics.add_force(player, Vector::X * 30.0).unwrap(),
            Deed::Lift => {
                let up = 0.5 + (step.tick % 3) as f32;
                let there = step.time + MS(300);
                let pose = translation(-9.0, up, 0.0);
                physics
                    .set_kinematic_target(self.script.lift, pose, there)
                    .unwrap();
            }
            Deed::Jump => {
                let pose = translation(8.0, 2.0, 0.0);
                physics.teleport(player, pose).unwrap();
            }
            Deed::Shift => physics.shift_origin(Vector::X * 8.0).unwrap(),
        }
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        stall(step.tick, self.stalls);
        let deeds: Vec<Deed> = self.input.drain(step).collect();
        for deed in deeds {
            self.act(physics, step, deed);
        }
        let is_third = u64::from(step.tick.is_multiple_of(3));
        self.filters.filters.store(is_third, Ordering::Relaxed);
        self.script.before_step(physics, step)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        stall(step.tick + 1, self.stalls);
        let rapier = physics.rapier();
        let particles = (rapier.soft_bodies.iter())
            .flat_map(|(_, body)| body.particle_positions().collect::<Vec<_>>());
        let events = physics.events().in_tick(step.tick);
        let collisions = events
            .collisions()
            .map(|event| (event.colliders, event.started));
        let forces = events
            .contact_forces()
            .map(|event| event.force.total_force_magnitude);
        let events = format!(
            "{:?} {:?}",
            collisions.collect::<Vec<_>>(),
            forces.collect::<Vec<_>>()
        );
        let seen = (step.tick, hash(rapier), particles.collect(), events);
        self.seen.push(seen);
        let _ = self.steps.send(step.tick);
        self.script.after_step(physics, step)
    }

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        Some(self.filters.clone())
    }
}

fn alone() -> Game {
    let (mut simulation, mut game, _made) = game(500, 0);
    while game.seen.len() < STEPS {
        let Ok(_) = simulation.advance_with(MS(3), &mut game);
    }
    game
}

#[track_caller]
fn assert_same(game: &Game, alone: &Game) {
    assert!(alone.filters.calls.load(Ordering::Relaxed) > 50);
    assert!(game.seen.len() >= STEPS);
    for (here, there) in game.seen.iter().zip(&alone.seen) {
        assert_eq!((here.0, here.1), (there.0, there.1), "bodies");
        assert_eq!(here.2, there.2, "particles after step {}", there.0);
        assert_eq!(here.3, there.3, "events of step {}", there.0);
    }
}

#[test]
fn the_same_input_by_tick_makes_the_same_bits_in_one_thread_beside_it_and_on_another() {
    let alone = alone();
    for stalls in [0, 300] {
        let (simulation, mut beside, _made) = game(500, stalls);
        let mut overlap = Overlap::new(simulation).unwrap();
        for number in 0.. {
            stall(number, stalls);
            let frame_time = Duration::from_micros(number * 7_919 % 5_000);
            let Ok(_) = overlap.frame(frame_time, &mut beside);
            if beside.seen.len() >= STEPS {
                break;
            }
        }
        assert_same(&beside, &alone);
        drop(overlap);

        let (simulation, game, made) = game(500, stalls);
        let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
        let start = runner.now();
        let (mut number, mut last) = (0, 0.0);
        while made.try_iter().all(|tick| tick + 1 < STEPS as u64) {
            assert!(runner.now() - start < PATIENCE, "never");
            number += 1;
            stall(number, stalls);
            let view = runner.frame();
            assert!(view.time() >= last);
            last = view.time();
        }
        let (_, game) = runner.stop();
        assert_same(&game, &alone);
    }
}

/// A row of bodies of all kinds, each at a whole number of metres, and one that flies; the first is at the origin.
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

/// By how much the origin is shifted next: so that all numbers stay whole.
fn way(number: u64) -> Vector {
    let x = (number % 5) as f32 - 2.0;
    vector(64.0 * x, 32.0, -16.0 * x)
}

/// What frames have shown by now.
#[derive(Default)]
struct Shown {
    map: BTreeMap<BodyKey, Pose>,
    flown: f32,
    origins: Vec<Vector>,
}

impl Shown {
    /// All of a frame is seen from one origin, that of its first body; and what flies goes on evenly.
    fn check<E>(&mut self, view: &evenstep::threads::View<E>, keys: &[BodyKey], flyer: BodyKey) {
        self.map.extend(view.moved().iter().copied());
        let anchor = self.map[&keys[0]].translation;
        for (i, key) in keys.iter().enumerate() {
            let pose = view.pose(*key).unwrap();
            assert_eq!(self.map[key], pose, "the list is all that has changed");
            let expected = anchor + Vector::Y * 4.0 * i as f32;
            assert_eq!(pose.translation, expected, "another origin");
        }
        let flown = (view.pose(flyer).unwrap().translation - anchor).x;
        let expected = 100.0 * view.time() as f32;
        assert!((flown - expected).abs() < 0.02, "{flown}, not {expected}");
        assert!(flown >= self.flown - 1e-3, "{flown} after {}", self.flown);
        self.flown = flown;
        if self.origins.last() != Some(&anchor) {
            self.origins.push(anchor);
        }
    }
}

#[test]
fn a_shifted_origin_on_another_thread_is_never_mixed_with_the_one_before() {
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
        // The next one once this is seen; every third one in a pause.
        if shown.origins.len() > sent {
            let by = way(sent as u64);
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
            let by = way(self.count);
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
fn an_origin_shifted_after_a_step_is_that_of_the_same_frame() {
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
        // Frames that end within steps and, every tenth, exactly between two.
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
fn an_origin_shifted_between_two_frames_comes_with_the_step() {
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
            let by = way(number);
            overlap.simulation().physics.shift_origin(by).unwrap();
            idle.origin -= by;
        }
        let Ok(view) = overlap.frame(MS(3), &mut idle);
        shown.check(view, &keys, flyer);
        // A step is 3.3 frames.
        if number % 11 == 9 {
            assert_eq!(shown.origins.last(), Some(&idle.origin));
        }
    }
}

/// A body that is only ever at whole places, and a lift.
fn places() -> (Simulation, BodyKey, BodyKey) {
    let mut simulation = scenes::space(100);
    let body = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), scenes::ball());
    let lift = RigidBodyBuilder::kinematic_position_based().translation(vector(0.0, 0.0, 50.0));
    let lift = simulation.physics.insert(lift, scenes::ball());
    (simulation, body, lift)
}

/// Where the lift is sent, one after the other; none of it a number that f32 holds exactly.
const FLOORS: [f32; 3] = [1.1, -0.7, 3.3];

fn floor(height: f32) -> Pose {
    translation(0.1, height, 50.3)
}

#[test]
fn a_teleported_body_is_never_shown_between() {
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
    let (simulation, body, _) = places();
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
    // By calls too, several in one step.
    let number = std::cell::Cell::new(0);
    while number.get() < 200 {
        number.set(number.get() + 1);
        let x = 10.0 * (number.get() % 4) as f32;
        // Who finds no room comes again.
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
fn a_lift_arrives_exactly_where_the_last_target_was() {
    struct Idle;
    impl Hooks for Idle {
        type Error = Infallible;
    }
    let (simulation, _, lift) = places();
    let mut runner = Runner::new(simulation.clone(), Idle, RunnerSettings::default()).unwrap();
    let start = runner.now();
    for (i, height) in FLOORS.into_iter().enumerate() {
        // Another one on the way, before the one that counts.
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
        let there = overlap.simulation().clock().time() + MS(150);
        let mut last = overlap.view().pose(lift);
        for part in 1..=5 {
            // The same one, across several steps.
            overlap
                .simulation()
                .physics
                .set_kinematic_target(lift, floor(height), there)
                .unwrap();
            for _ in 0..5 {
                let Ok(view) = overlap.frame(MS(10), &mut Idle);
                let pose = view.pose(lift);
                assert!(part > 3 || pose != last || part == 1, "it moves evenly");
                last = pose;
            }
        }
        assert_eq!(last, Some(floor(height)));
    }
}
