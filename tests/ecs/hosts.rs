//! Entities of a simulation, of an overlap and of a runner: the same rules, although a view displays bodies later.

use evenstep::ecs::EntityMap;
use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, Worker};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use hecs::{Entity, World};
use scenes::testing::translation;
use scenes::{MS, space};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The part of a game's hooks before each step.
type Rules = fn(&mut Game, &mut Physics, Step);

#[derive(Default)]
struct Game {
    world: World,
    entities: Entities,
    map: EntityMap<u64>,
    spawned: Vec<(Entity, BodyKey)>,
    rules: Option<Rules>,
}

impl Game {
    fn spawn(&mut self, physics: &mut Physics, body: RigidBodyBuilder) -> (Entity, BodyKey) {
        let ball = ColliderBuilder::ball(0.1);
        let spawned = (self.entities).spawn(&mut self.world, physics, body, ball, ("ball",));
        self.spawned.push(spawned);
        spawned
    }

    fn drawn(&self) -> usize {
        self.world.query::<(&Body, &RenderPose)>().iter().count()
    }
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Game>>);

impl Shared {
    fn game(&self) -> MutexGuard<'_, Game> {
        self.0.lock().unwrap()
    }
}

impl Hooks for Shared {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let mut game = self.game();
        if let Some(rules) = game.rules {
            rules(&mut game, physics, step);
        }
        Ok(())
    }
}

enum Host {
    Simulation(Box<Simulation>),
    Overlap(Box<Overlap>),
    Runner(Box<(Runner<Shared>, Worker<Shared>)>, Duration),
}

/// Calls a generic function with the host.
macro_rules! on {
    ($host:expr, $it:ident => $call:expr) => {
        match $host {
            Host::Simulation(host) => {
                let $it = &mut **host;
                $call
            }
            Host::Overlap(host) => {
                let $it = &mut **host;
                $call
            }
            Host::Runner(both, _) => {
                let $it = &mut both.0;
                $call
            }
        }
    };
}

impl Host {
    /// Runs a test with each host, and a game that starts in a simulation.
    fn each(test: impl Fn(Start)) {
        for kind in 0..3 {
            let (simulation, shared) = (space(100), Shared::default());
            test(Start {
                simulation,
                shared,
                kind,
            });
        }
    }

    fn frame(&mut self, shared: &mut Shared, ms: u64) {
        match self {
            Self::Simulation(simulation) => {
                simulation.advance_with(MS(ms), shared).unwrap();
            }
            Self::Overlap(overlap) => {
                overlap.frame(MS(ms), shared).unwrap();
            }
            Self::Runner(both, now) => {
                let (runner, worker) = &mut **both;
                *now += MS(ms);
                while worker.run_until(*now).is_some_and(|next| next <= *now) {}
                runner.frame_at(*now);
            }
        }
    }

    fn sync(&mut self, shared: &Shared) {
        let game = &mut *shared.game();
        on!(self, it => game.entities.sync(&mut game.world, it));
    }

    fn pose(&self, key: BodyKey) -> Option<Pose> {
        match self {
            Self::Simulation(simulation) => simulation.pose(key),
            Self::Overlap(overlap) => overlap.view().pose(key),
            Self::Runner(both, _) => both.0.view().pose(key),
        }
    }

    /// Returns the tick, the alpha, the time and the shift of the origin of the displayed poses.
    fn displayed(&mut self) -> (u64, f32, Duration, Vector) {
        on!(self, it => moment(it))
    }

    fn stop(self, shared: &mut Shared) -> Simulation {
        match self {
            Self::Simulation(simulation) => *simulation,
            Self::Overlap(overlap) => overlap.stop(shared).0,
            Self::Runner(both, now) => both.1.stop(both.0, now).0,
        }
    }

    fn removed(&self) -> &[BodyKey] {
        match self {
            Self::Simulation(simulation) => simulation.removed(),
            Self::Overlap(overlap) => overlap.view().removed(),
            Self::Runner(both, _) => both.0.view().removed(),
        }
    }

    fn bodies(&mut self, shared: &mut Shared) -> usize {
        match self {
            Self::Simulation(simulation) => simulation.physics.bodies().count(),
            Self::Overlap(overlap) => {
                let simulation = overlap.simulation(shared).unwrap();
                simulation.physics.bodies().count()
            }
            Self::Runner(both, _) => both.1.simulation().physics.bodies().count(),
        }
    }
}

struct Start {
    simulation: Simulation,
    shared: Shared,
    kind: usize,
}

impl Start {
    fn host(self) -> (Host, Shared) {
        let shared = self.shared;
        let host = match self.kind {
            0 => Host::Simulation(Box::new(self.simulation)),
            1 => Host::Overlap(Box::new(Overlap::new(self.simulation).unwrap())),
            _ => {
                let now = self.simulation.clock().real_time();
                let settings = RunnerSettings::default();
                let both = Runner::without_thread(self.simulation, shared.clone(), settings);
                Host::Runner(Box::new(both), now)
            }
        };
        (host, shared)
    }

    fn spawn(&mut self, body: RigidBodyBuilder) -> (Entity, BodyKey) {
        self.shared.game().spawn(&mut self.simulation.physics, body)
    }

    fn frame(&mut self, ms: u64) {
        self.simulation.advance(MS(ms), |_, _| ());
        let game = &mut *self.shared.game();
        game.entities.sync(&mut game.world, &mut self.simulation);
    }
}

fn moment(host: &impl evenstep::ecs::Host) -> (u64, f32, Duration, Vector) {
    (host.tick(), host.alpha(), host.time(), host.origin_shift())
}

/// Runs frames with an `EntityMap`. Returns the entities that were reported as removed, and those that were drawn.
fn map_frames(host: &mut Host, shared: &mut Shared, frames: u64) -> (Vec<u64>, BTreeSet<u64>) {
    let (mut lost, mut drawn) = (Vec::new(), BTreeSet::new());
    for _ in 0..frames {
        host.frame(shared, 17);
        let game = &mut *shared.game();
        lost.extend(on!(host, it => game.map.take_removed(&*it)));
        drawn.extend(
            on!(host, it => game.map.moved(&*it).map(|(entity, _)| entity).collect::<Vec<_>>()),
        );
    }
    (lost, drawn)
}

#[test]
fn a_body_that_is_not_displayed_yet_is_not_removed() {
    Host::each(|start| {
        let (mut host, mut shared) = start.host();
        shared.game().rules = Some(|game, physics, step| {
            if step.tick.is_multiple_of(10) {
                let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
                let key = physics.insert(body, ColliderBuilder::ball(0.1));
                game.map.insert(key, step.tick);
            }
        });
        let (lost, drawn) = map_frames(&mut host, &mut shared, 60);
        assert_eq!(lost, []);
        assert!(drawn.range(..100).copied().eq((0..100).step_by(10)));
    });
}

#[test]
fn bodies_that_live_for_one_step_are_removed_and_the_living_one_is_not() {
    Host::each(|start| {
        let (mut host, mut shared) = start.host();
        on!(&mut host, it => assert_eq!(shared.game().map.take_removed(&*it), []));
        on!(&mut host, it => assert_eq!(shared.game().map.moved(&*it).count(), 0));
        shared.game().rules = Some(|game, physics, step| {
            for (_, key) in game.spawned.drain(..) {
                game.map.remove_body(physics, key, step.tick - 1);
            }
            let key = physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.1));
            game.map.insert(key, step.tick);
            game.spawned.push((Entity::DANGLING, key));
        });
        let (lost, _) = map_frames(&mut host, &mut shared, 200);
        assert_eq!(lost, [], "the game has removed them itself");
        assert_eq!(host.bodies(&mut shared), 1);
    });
}

/// A component that derives `Default` has such a key.
#[test]
fn a_null_key_is_a_body_that_was_removed() {
    let mut map = EntityMap::default();
    map.insert(BodyKey::default(), 7);
    assert_eq!(map.entity(BodyKey::default()), None);
    assert_eq!(map.take_removed(&Simulation::default()), [7]);
}

#[test]
fn an_entity_whose_body_gave_its_slot_to_another_loses_it() {
    Host::each(|start| {
        let (mut host, mut shared) = start.host();
        shared.game().rules = Some(|game, physics, step| {
            if step.tick % 10 == 5 {
                // The old bullet has hit something.
                for (_, key) in std::mem::take(&mut game.spawned) {
                    physics.remove(key);
                }
                game.spawn(physics, RigidBodyBuilder::dynamic().linvel(Vector::X));
            }
        });
        for _ in 0..100 {
            host.frame(&mut shared, 16);
            host.sync(&shared);
        }
        // The last steps spawn nothing.
        shared.game().rules = None;
        for _ in 0..5 {
            host.frame(&mut shared, 16);
            host.sync(&shared);
        }
        assert_eq!(host.bodies(&mut shared), 1);
        assert_eq!(shared.game().drawn(), 1);
    });
}

#[test]
fn a_body_removed_before_the_host_starts_is_detached() {
    Host::each(|mut start| {
        let [one, _] = [(); 2].map(|()| start.spawn(RigidBodyBuilder::fixed()));
        start.frame(16);
        start.simulation.physics.remove(one.1);
        let (mut host, mut shared) = start.host();
        for _ in 0..5 {
            host.frame(&mut shared, 16);
            host.sync(&shared);
        }
        assert_eq!(host.bodies(&mut shared), 1);
        assert_eq!(shared.game().drawn(), 1);
        assert!(!shared.game().world.satisfies::<&Body>(one.0));
    });
}

/// The later body has as many components as those that were moved lack.
#[test]
fn components_moved_by_hand_are_found_although_a_later_body_has_the_slot_of_one() {
    Host::each(|mut start| {
        let [one, other] = [(); 2].map(|()| start.spawn(RigidBodyBuilder::fixed()));
        start.frame(35);
        let (mut host, mut shared) = start.host();
        let [first, second] = [one, other].map(|(entity, _)| {
            let world = &mut shared.game().world;
            let body = world.remove_one::<Body>(entity).unwrap();
            world.spawn((body,))
        });
        shared.game().rules = Some(|game, physics, _| {
            if game.spawned.len() == 2 {
                physics.remove(game.spawned[0].1).unwrap();
                game.spawn(physics, RigidBodyBuilder::fixed());
            }
        });
        for _ in 0..5 {
            host.frame(&mut shared, 16);
            host.sync(&shared);
        }
        let game = shared.game();
        assert_eq!(game.entities.entity(other.1), Some(second));
        assert!(!game.world.satisfies::<&Body>(first));
        assert_eq!(game.drawn(), 2);
        assert_eq!(game.world.query::<&RenderPose>().iter().count(), 2);
    });
}

#[test]
fn an_entity_taken_and_spawned_again_is_drawn_where_its_body_is() {
    Host::each(|mut start| {
        let flyer = || RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
        let (taken, key) = start.spawn(flyer());
        start.spawn(flyer().translation(Vector::Y * 5.0));
        let (mut host, mut shared) = start.host();
        for frame in 0..20 {
            host.frame(&mut shared, 16);
            host.sync(&shared);
            if frame == 10 {
                let world = &mut shared.game().world;
                let mut elsewhere = World::new();
                let there = elsewhere.spawn(world.take(taken).unwrap());
                world.spawn(elsewhere.take(there).unwrap());
            }
        }
        let game = shared.game();
        let entity = game.entities.entity(key).unwrap();
        assert_ne!(entity, taken);
        let drawn = game.world.get::<&RenderPose>(entity).unwrap().0;
        assert_eq!(Some(drawn), host.pose(key));
        assert_eq!(game.drawn(), 2);
    });
}

#[test]
fn a_sync_before_the_first_frame_keeps_bodies_at_rest() {
    Host::each(|mut start| {
        // No frame displays this state before the host starts.
        let mut server = space(100);
        for x in [0.0, 9.0] {
            let at = RigidBodyBuilder::fixed().translation(Vector::X * x);
            server.physics.insert(at, ColliderBuilder::ball(0.5));
        }
        server.advance(MS(50), |_, _| ());
        start.simulation.physics = server.physics.clone();
        let keys: Vec<_> = start.simulation.physics.bodies().collect::<Vec<_>>();
        let keys: Vec<_> = keys.into_iter().map(|(key, _)| key).collect();
        for key in keys {
            let game = &mut *start.shared.game();
            let entity = game.world.spawn(());
            let physics = &mut start.simulation.physics;
            (game.entities.attach(&mut game.world, physics, entity, key)).unwrap();
        }
        let (mut host, mut shared) = start.host();
        host.sync(&shared);
        assert_eq!(shared.game().drawn(), 2);
        for _ in 0..10 {
            host.frame(&mut shared, 16);
            host.sync(&shared);
            assert_eq!(shared.game().drawn(), 2);
        }
    });
}

/// A sync before the first frame of a view has drawn the body, although no frame displays its state.
#[test]
fn a_body_whose_state_is_replaced_before_the_first_frame_is_removed() {
    let ways: [fn(&mut Simulation, Physics); 3] = [
        |simulation, before| simulation.physics = before,
        |simulation, _| simulation.rewind(3).unwrap(),
        |simulation, _| simulation.roll_back(3).unwrap(),
    ];
    for replace in ways {
        Host::each(|mut start| {
            start.simulation.keep(Kept {
                ticks: 60,
                ..Kept::default()
            });
            start.frame(100);
            let before = start.simulation.physics.clone();
            let (_, key) = start.spawn(RigidBodyBuilder::dynamic());
            let (mut host, mut shared) = start.host();
            shared.game().map.insert(key, 7);
            host.sync(&shared);
            on!(&mut host, it => assert_eq!(shared.game().map.take_removed(&*it), []));
            on!(&mut host, it => assert_eq!(shared.game().map.moved(&*it).count(), 1));
            let before = before.clone();
            match &mut host {
                Host::Simulation(simulation) => replace(simulation, before),
                Host::Overlap(overlap) => {
                    replace(overlap.simulation(&mut shared).unwrap(), before);
                }
                Host::Runner(both, _) => {
                    let call = move |simulation: &mut Simulation, _: &mut _| {
                        replace(simulation, before);
                    };
                    both.0.call(call).unwrap();
                }
            }
            let (mut lost, mut removed) = (Vec::new(), Vec::new());
            for _ in 0..10 {
                lost.extend(map_frames(&mut host, &mut shared, 1).0);
                removed.extend_from_slice(host.removed());
                host.sync(&shared);
            }
            assert_eq!((lost, shared.game().drawn()), (vec![7], 0));
            // No frame of the simulation had a pose of the body.
            if !matches!(host, Host::Simulation(_)) {
                assert_eq!(removed, [key]);
            }
        });
    }
}

/// The state with the body is replaced before it is displayed, so no list has the removal.
#[test]
fn a_body_of_a_state_that_is_never_displayed_is_detached_with_it() {
    Host::each(|mut start| {
        start.spawn(RigidBodyBuilder::dynamic().linvel(Vector::X));
        start.frame(35);
        let (mut host, mut shared) = start.host();
        for _ in 0..5 {
            host.frame(&mut shared, 10);
            host.sync(&shared);
        }
        shared.game().rules = Some(|game, physics, _| {
            if game.spawned.len() == 1 {
                let saved = physics.clone();
                let (entity, _) = game.spawn(physics, RigidBodyBuilder::fixed());
                assert!(game.world.contains(entity));
                *physics = saved;
            }
        });
        for _ in 0..20 {
            host.frame(&mut shared, 10);
            host.sync(&shared);
        }
        let (entity, _) = shared.game().spawned[1];
        // A runner cannot know when the game has learnt of a body.
        if !matches!(host, Host::Runner(..)) {
            assert!(!shared.game().world.satisfies::<&Body>(entity));
            assert_eq!(shared.game().drawn(), 1);
        }
    });
}

#[test]
fn the_entity_of_a_lost_spawn_gets_a_body_even_if_it_has_lost_its_pose() {
    for removes_pose in [false, true] {
        let shared = Shared::default();
        let (mut runner, mut worker) =
            Runner::without_thread(space(100), shared.clone(), RunnerSettings::default());
        runner.call(|_, _| panic!("planned")).unwrap();
        worker.run_until(MS(10));
        let game = &mut *shared.game();
        let (body, ball) = (RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
        let sent = (game.entities).try_spawn(&mut game.world, &runner, body, ball, ("crate",));
        let (entity, spawned) = sent.unwrap();
        worker.run_until(MS(20));
        assert!(spawned.is_lost());
        if removes_pose {
            game.world.remove_one::<RenderPose>(entity).unwrap();
        }
        runner.frame_at(MS(20));
        game.entities.sync(&mut game.world, &mut runner);
        assert!(!game.world.satisfies::<&RenderPose>(entity));
        let mut physics = Physics::new();
        let describe = |_, _: &&str| Some((0, RigidBodyBuilder::fixed(), vec![]));
        let new =
            (game.entities).insert_missing::<&&str, _>(&mut game.world, &mut physics, describe);
        assert_eq!(new.len(), 1);
        assert!(game.world.satisfies::<(&Body, &RenderPose)>(entity));
    }
}

#[test]
fn dropped_bodies_of_an_overlap_wait_for_the_next_hook() {
    let mut start = Start {
        simulation: space(100),
        shared: Shared::default(),
        kind: 1,
    };
    let (entity, _) = start.spawn(RigidBodyBuilder::fixed());
    let (stays, _) = start.spawn(RigidBodyBuilder::fixed().translation(Vector::X * 9.0));
    start.frame(20);
    let (mut host, mut shared) = start.host();
    host.frame(&mut shared, 20);
    drop(shared.game().world.remove_one::<Body>(entity).unwrap());
    host.sync(&shared);
    assert!(!shared.game().world.satisfies::<&RenderPose>(entity));
    assert_eq!(host.bodies(&mut shared), 2);
    shared.game().rules = Some(|game, physics, _| {
        game.entities.remove_dropped(&mut game.world, physics);
    });
    host.frame(&mut shared, 20);
    host.sync(&shared);
    assert_eq!(host.bodies(&mut shared), 1);
    assert!(shared.game().world.satisfies::<&Body>(stays));
}

/// Replaces a ball in each step.
fn replace_ball(game: &mut Game, physics: &mut Physics, _: Step) {
    if let Some((entity, key)) = game.spawned.pop() {
        physics.remove(key);
        game.world.despawn(entity).unwrap();
    }
    game.spawn(physics, RigidBodyBuilder::dynamic());
}

#[test]
fn the_cost_of_a_sync_does_not_grow_with_the_number_of_removals() {
    Host::each(|start| {
        start.shared.game().rules = Some(replace_ball);
        let (mut host, mut shared) = start.host();
        let mut bytes = Vec::new();
        for _ in 0..30 {
            let mut sum = 0;
            for _ in 0..100 {
                host.frame(&mut shared, 10);
                sum += allocation_counter::measure(|| host.sync(&shared)).bytes_total;
            }
            bytes.push(sum);
        }
        assert!(bytes[29] <= bytes[1], "{bytes:?}");
        assert_eq!(host.bodies(&mut shared), 1);
    });
}

#[test]
fn a_body_that_is_resimulated_with_the_key_of_a_removed_one_stays() {
    let mut start = Start {
        simulation: space(100),
        shared: Shared::default(),
        kind: 1,
    };
    start.simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    start.shared.game().rules = Some(|game, physics, step| match step.tick {
        5 => drop(game.spawn(physics, RigidBodyBuilder::dynamic())),
        8 => {
            let (entity, key) = game.spawned[0];
            physics.remove(key);
            game.world.despawn(entity).unwrap();
        }
        _ => (),
    });
    let (mut host, mut shared) = start.host();
    for _ in 0..11 {
        host.frame(&mut shared, 10);
        host.sync(&shared);
    }
    let (_, key) = shared.game().spawned[0];
    // The resimulated step inserts a body that has no entity.
    shared.game().rules = Some(|game, physics, step| match step.tick {
        5 => {
            let body = physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.1));
            assert_eq!(body, game.spawned[0].1);
        }
        14.. => game.entities.remove_dropped(&mut game.world, physics),
        _ => (),
    });
    let Host::Overlap(overlap) = &mut host else {
        unreachable!("it is the second kind")
    };
    let simulation = overlap.simulation(&mut shared).unwrap();
    simulation.resimulate_with(4, &mut shared).unwrap();
    for _ in 0..9 {
        host.frame(&mut shared, 10);
        host.sync(&shared);
    }
    assert!(host.pose(key).is_some());
    assert_eq!(host.bodies(&mut shared), 1);
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "this is another simulation than in the last frame")]
fn a_sync_with_another_simulation_panics() {
    let (mut world, mut entities) = (World::new(), Entities::default());
    let [mut one, mut other] = [(); 2].map(|()| space(100));
    let ball = ColliderBuilder::ball(0.5);
    let body = RigidBodyBuilder::dynamic();
    entities.spawn(&mut world, &mut one.physics, body, ball, ());
    one.advance(MS(20), |_, _| ());
    entities.sync(&mut world, &mut one);
    entities.sync(&mut world, &mut other);
}

#[test]
fn a_copy_of_the_simulation_continues_with_a_copy_of_the_map_or_after_unmatched() {
    let mut simulation = space(100);
    let mut map = EntityMap::default();
    let key = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    map.insert(key, 1);
    simulation.advance(MS(20), |_, _| ());
    assert_eq!(map.moved(&simulation).count(), 1);
    let mut copy = simulation.clone();
    let mut copied = map.clone();
    assert_eq!(copied.take_removed(&copy), []);
    assert_eq!(copied.moved(&copy).count(), 1, "all are listed");
    assert!(map.unmatched(&copy.physics).is_empty());
    let there = translation(0.0, 5.0, 0.0);
    copy.physics.teleport(key, there).unwrap();
    copy.advance(MS(20), |_, _| ());
    assert_eq!(map.take_removed(&copy), []);
    assert_eq!(map.moved(&copy).map(|(entity, _)| entity).last(), Some(1));
}

#[test]
fn a_simulation_displays_its_last_frame_within_the_next_one() {
    use evenstep::ecs::Host;
    fn report(host: &impl Host) -> (u64, f32, Duration, Vector) {
        (host.tick(), host.alpha(), host.time(), host.origin_shift())
    }
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.physics.shift_origin(Vector::X).unwrap();
    let frame = simulation.advance(MS(25), |physics, _| {
        physics.shift_origin(Vector::X).unwrap();
    });
    let last = report(&simulation);
    assert_eq!(last.2, frame.time);
    simulation.begin_frame(MS(18));
    while simulation.next_step().is_some() {
        simulation.run_step();
        assert_eq!(report(&simulation), last);
    }
    simulation.end_frame();
    assert!(report(&simulation).2 > last.2);
}

#[test]
fn an_entity_whose_body_lives_for_less_than_a_step_before_a_pause_is_reported_in_the_pause() {
    Host::each(|start| {
        start.shared.game().rules = Some(|game, physics, step| {
            if step.tick == 5 {
                let (_, key) = game.spawn(physics, RigidBodyBuilder::dynamic());
                game.map.insert(key, 7);
                physics.remove(key);
                physics.pause_after_step();
            }
        });
        let (mut host, mut shared) = start.host();
        let (removed, _) = map_frames(&mut host, &mut shared, 30);
        assert_eq!(removed, [7]);
        host.sync(&shared);
        assert_eq!(shared.game().drawn(), 0);
    });
}

/// A call inserts the bodies in a pause, so that no later state follows.
#[test]
fn a_body_that_is_inserted_in_a_pause_keeps_its_entity_and_a_removed_one_loses_it() {
    let mut simulation = space(100);
    simulation.pause();
    let shared = Shared::default();
    let settings = RunnerSettings::default();
    let (mut runner, mut worker) = Runner::without_thread(simulation, shared.clone(), settings);
    let mut removed = Vec::new();
    for n in 1..60 {
        // Each third frame inserts two bodies, and one of them is removed at once.
        if n % 3 == 0 && n < 30 {
            let insert = move |simulation: &mut Simulation, shared: &mut Shared| {
                let mut game = shared.game();
                for entity in [2 * n, 2 * n + 1] {
                    let body = RigidBodyBuilder::dynamic();
                    let ball = ColliderBuilder::ball(0.1);
                    let key = simulation.physics.insert(body, ball);
                    game.map.insert(key, entity);
                    if entity % 2 == 1 {
                        simulation.physics.remove(key);
                    }
                }
            };
            runner.call(insert).unwrap();
        }
        // A frame may come before the worker has handled the call.
        if n % 2 == 0 {
            worker.run_until(MS(n));
        }
        runner.frame_at(MS(n));
        let mut game = shared.game();
        removed.extend(game.map.take_removed(&runner));
        game.map.moved(&runner).count();
    }
    let expected: Vec<u64> = (1..10).map(|n| 6 * n + 1).collect();
    assert_eq!(removed, expected);
}

#[cfg(feature = "serde")]
#[test]
fn bodies_at_rest_of_a_loaded_simulation_are_listed_only_at_first() {
    Host::each(|mut start| {
        for entity in 0..10_u16 {
            let body = RigidBodyBuilder::fixed().translation(Vector::X * f32::from(entity));
            let key = (start.simulation.physics).insert(body, ColliderBuilder::ball(0.1));
            start.shared.game().map.insert(key, entity.into());
        }
        for _ in 0..50 {
            start.frame(10);
        }
        start.simulation = Simulation::load(&start.simulation.save().unwrap()).unwrap();
        let (mut host, mut shared) = start.host();
        assert_eq!(map_frames(&mut host, &mut shared, 3).1.len(), 10);
        let (lost, drawn) = map_frames(&mut host, &mut shared, 5);
        assert!(lost.is_empty() && drawn.is_empty(), "{drawn:?}");
    });
}

#[test]
fn a_stopped_host_reports_the_moment_of_the_displayed_poses() {
    for frames in 1..30 {
        Host::each(|mut start| {
            let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
            let (_, key) = start.spawn(fly);
            start.shared.game().rules = Some(|_, physics, step| {
                if step.tick.is_multiple_of(3) {
                    physics.shift_origin(Vector::Y).unwrap();
                }
            });
            let (mut host, mut shared) = start.host();
            for _ in 0..frames {
                host.frame(&mut shared, 7);
            }
            let (displayed, pose) = (host.displayed(), host.pose(key));
            let simulation = host.stop(&mut shared);
            assert_eq!(moment(&simulation), displayed);
            assert_eq!(simulation.pose(key), pose);
        });
    }
}
