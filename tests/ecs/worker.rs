//! A hecs world on a runner without a thread, with a simulated clock.

use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings, SendError, Spawned, Worker};
use evenstep::{BodyKey, Hooks, Rate, Simulation};
use hecs::{Entity, World};
use proptest::prelude::*;
use scenes::MS;
use scenes::cases::scaled;
use scenes::testing::vector;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

struct Idle;

impl Hooks for Idle {
    type Error = &'static str;
}

struct Game {
    world: World,
    entities: Entities,
    runner: Runner<Idle>,
    worker: Worker<Idle>,
    now: Duration,
    /// The bodies that are to stay alive, and their entities.
    owned: BTreeMap<BodyKey, Entity>,
    coming: Vec<(Spawned, Entity)>,
    bare: Vec<Entity>,
    is_moved: bool,
}

#[derive(Clone, Debug)]
enum Operation {
    Wait(u64),
    Run,
    Frame,
    Sync,
    Spawn(bool),
    Despawn(usize),
    DespawnByHand(usize),
    TakeOff(usize),
    Move(usize),
    Attach(usize),
    Remove(usize),
    RemoveThroughRapier(usize),
    DespawnComing(usize, bool),
    RemoveComing(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let which = || 0..100usize;
    prop_oneof![
        6 => (0..30u64).prop_map(Wait),
        5 => Just(Run),
        5 => Just(Frame),
        5 => Just(Sync),
        6 => any::<bool>().prop_map(Spawn),
        1 => which().prop_map(Despawn),
        1 => which().prop_map(DespawnByHand),
        1 => which().prop_map(TakeOff),
        1 => which().prop_map(Move),
        1 => which().prop_map(Attach),
        1 => which().prop_map(Remove),
        1 => which().prop_map(RemoveThroughRapier),
        1 => (which(), any::<bool>()).prop_map(|(n, is_by_hand)| DespawnComing(n, is_by_hand)),
        1 => which().prop_map(RemoveComing),
    ]
}

fn body(i: usize, is_fixed: bool) -> RigidBodyBuilder {
    let body = if is_fixed {
        RigidBodyBuilder::fixed()
    } else {
        RigidBodyBuilder::dynamic().linvel(Vector::X)
    };
    body.translation(vector(0.0, 0.0, 1.0) * (3 * i) as f32)
}

fn ball() -> ColliderBuilder {
    ColliderBuilder::ball(0.5)
}

impl Game {
    fn new(commands: usize) -> Self {
        let mut simulation = Simulation::new(Rate::hz(100));
        let (mut world, mut entities) = (World::new(), Entities::default());
        let mut owned = BTreeMap::new();
        for i in 0..3 {
            let body = body(1_000 + i, i == 0);
            let (entity, key) =
                entities.spawn(&mut world, &mut simulation.physics, body, ball(), ());
            owned.insert(key, entity);
        }
        simulation.advance(MS(35), |_, _| ());
        entities.sync(&mut world, &mut simulation);
        let now = simulation.clock().real_time();
        let mut settings = RunnerSettings::default();
        settings.call_capacity = commands;
        let (runner, worker) = Runner::without_thread(simulation, Idle, settings);
        Self {
            world,
            entities,
            runner,
            worker,
            now,
            owned,
            coming: Vec::new(),
            bare: Vec::new(),
            is_moved: false,
        }
    }

    fn run(&mut self) {
        while (self.worker.run_until(self.now)).is_some_and(|next| next <= self.now) {}
    }

    fn frame(&mut self) {
        self.runner.frame_at(self.now);
    }

    fn sync(&mut self) {
        self.entities.sync(&mut self.world, &mut self.runner);
        self.is_moved = false;
        // Finds the current owner of each body.
        for (spawned, entity) in std::mem::take(&mut self.coming) {
            let body = self.world.get::<&Body>(entity).ok().map(|body| body.key());
            match body {
                Some(key) => {
                    assert_eq!(spawned.key(), Some(key));
                    self.owned.insert(key, entity);
                }
                None => self.coming.push((spawned, entity)),
            }
        }
    }

    fn take_coming(&mut self, n: usize) -> Option<(Spawned, Entity)> {
        let n = n.checked_rem(self.coming.len())?;
        Some(self.coming.swap_remove(n))
    }

    fn remove_through_rapier(&self, key: BodyKey) -> Option<()> {
        let remove = move |simulation: &mut Simulation, _: &mut Idle| {
            let handle = simulation.physics.handle(key).expect("it is alive");
            simulation.physics.rapier_mut().remove_body(handle);
        };
        self.runner.call(remove).ok()
    }

    fn nth(&self, n: usize) -> Option<(BodyKey, Entity)> {
        let owned = self.owned.iter().nth(n % self.owned.len().max(1))?;
        Some((*owned.0, *owned.1))
    }

    fn apply(&mut self, i: usize, operation: Operation) -> Option<()> {
        let Self {
            world,
            entities,
            runner,
            ..
        } = self;
        match operation {
            Operation::Wait(ms) => self.now += MS(ms),
            Operation::Run => self.run(),
            Operation::Frame => self.frame(),
            Operation::Sync => {
                self.sync();
                self.check();
            }
            Operation::Spawn(is_fixed) => {
                let body = body(i, is_fixed).build();
                let start = *body.position();
                match entities.try_spawn(world, runner, body, ball(), ()) {
                    Ok((entity, spawned)) => {
                        assert_eq!(world.get::<&RenderPose>(entity).unwrap().0, start);
                        self.coming.push((spawned, entity));
                    }
                    Err(error) => assert!(matches!(error, SendError::Full(_))),
                }
            }
            Operation::Despawn(n) => {
                let (key, entity) = self.nth(n)?;
                let Self { entities, .. } = self;
                entities
                    .despawn(&mut self.world, &mut self.runner, entity)
                    .unwrap();
                self.owned.remove(&key);
            }
            Operation::DespawnByHand(n) => {
                let (key, entity) = self.nth(n)?;
                self.world.despawn(entity).unwrap();
                self.owned.remove(&key);
            }
            Operation::TakeOff(n) => {
                let (key, entity) = self.nth(n)?;
                drop(self.world.remove_one::<Body>(entity).unwrap());
                self.owned.remove(&key);
                self.bare.push(entity);
            }
            Operation::Move(n) => {
                let (key, entity) = self.nth(n)?;
                let body = self.world.remove_one::<Body>(entity).unwrap();
                self.bare.push(entity);
                self.owned.insert(key, self.world.spawn((body,)));
                self.is_moved = true;
            }
            Operation::Attach(n) => {
                let (key, before) = self.nth(n).filter(|_| !self.is_moved)?;
                let entity = self.world.spawn(());
                let Self { entities, .. } = self;
                entities
                    .attach(&mut self.world, &mut self.runner, entity, key)
                    .expect("the body is alive");
                self.owned.insert(key, entity);
                self.bare.push(before);
            }
            Operation::Remove(n) => {
                let (key, entity) = self.nth(n)?;
                let remove = move |simulation: &mut Simulation, _: &mut Idle| {
                    simulation.physics.remove(key).expect("it is alive");
                };
                self.runner.call(remove).ok()?;
                self.owned.remove(&key);
                self.bare.push(entity);
            }
            Operation::RemoveThroughRapier(n) => {
                let (key, entity) = self.nth(n)?;
                self.remove_through_rapier(key)?;
                self.owned.remove(&key);
                self.bare.push(entity);
            }
            Operation::DespawnComing(n, is_by_hand) => {
                let (_, entity) = self.take_coming(n)?;
                let Self { entities, .. } = self;
                if is_by_hand {
                    self.world.despawn(entity).unwrap();
                } else {
                    (entities.despawn(&mut self.world, &mut self.runner, entity)).unwrap();
                }
            }
            Operation::RemoveComing(n) => {
                let (spawned, entity) = self.take_coming(n)?;
                let sent = spawned.clone();
                let remove = move |simulation: &mut Simulation, _: &mut Idle| {
                    let key = sent.key().expect("it was inserted before this");
                    simulation.physics.remove(key).expect("it is alive");
                };
                match self.runner.call(remove) {
                    Ok(()) => self.bare.push(entity),
                    Err(_) => self.coming.push((spawned, entity)),
                }
            }
        }
        Some(())
    }

    /// Checks the state after a sync: an entity with a body is displayed where its body is, and one that waits for a
    /// body where the body will be.
    fn check(&self) {
        for (key, entity) in &self.owned {
            assert_eq!(self.entities.entity(*key), Some(*entity));
            let shown = self.world.get::<&RenderPose>(*entity).expect("has a pose");
            // Until the body is displayed, its entity is where it is inserted.
            let displayed = self.runner.view().pose(*key);
            assert_eq!(shown.0, displayed.unwrap_or(shown.0));
        }
        for (spawned, entity) in &self.coming {
            assert!(self.world.get::<&RenderPose>(*entity).is_ok());
            let key = spawned.key();
            assert_eq!(key.and_then(|key| self.runner.view().pose(key)), None);
        }
    }

    fn settle(&mut self) {
        for _ in 0..500 {
            self.now += MS(10);
            self.run();
            self.frame();
            self.sync();
            self.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scaled(60)))]

    #[test]
    fn every_body_has_its_entity_and_every_entity_its_body(
        commands in 1..20usize,
        operations in prop::collection::vec(operation(), 1..300),
    ) {
        let mut game = Game::new(commands);
        for (i, operation) in operations.into_iter().enumerate() {
            game.apply(i, operation);
        }
        game.settle();
        let on: BTreeMap<BodyKey, Entity> = (game.world.query::<(Entity, &Body)>().iter())
            .map(|(entity, body)| (body.key(), entity))
            .collect();
        prop_assert_eq!(&on, &game.owned);
        for (key, entity) in on {
            let shown = game.world.get::<&RenderPose>(entity).unwrap().0;
            prop_assert_eq!(game.runner.view().pose(key), Some(shown));
        }
        let shown = game.world.query::<&RenderPose>().iter().count();
        prop_assert_eq!(shown, game.owned.len());
        for entity in game.bare {
            prop_assert!(!game.world.satisfies::<hecs::Or<&Body, &RenderPose>>(entity));
        }
        prop_assert!(game.coming.is_empty());
        let (simulation, _) = game.worker.stop(game.runner, game.now);
        let simulated: BTreeSet<BodyKey> = simulation.physics.bodies().map(|(key, _)| key).collect();
        prop_assert_eq!(simulated, game.owned.into_keys().collect::<BTreeSet<_>>());
    }
}

#[test]
fn a_removal_in_frames_without_a_sync_is_applied_at_the_next_sync() {
    let mut game = Game::new(9);
    game.frame();
    game.sync();
    let (key, entity) = game.owned.pop_first().unwrap();
    game.remove_through_rapier(key).unwrap();
    for _ in 0..20 {
        game.now += MS(10);
        game.run();
        game.frame();
    }
    assert!(game.runner.view().removed().is_empty(), "listed earlier");
    game.sync();
    game.check();
    assert!(!game.world.satisfies::<hecs::Or<&Body, &RenderPose>>(entity));
}

#[test]
fn a_body_removed_before_it_is_displayed_is_detached_from_its_entity() {
    let mut game = Game::new(9);
    game.frame();
    game.sync();
    let Game {
        world,
        entities,
        runner,
        ..
    } = &mut game;
    let sent = entities.try_spawn(world, runner, body(0, false), ball(), ());
    let (entity, spawned) = sent.unwrap();
    let sent = spawned.clone();
    let remove = move |simulation: &mut Simulation, _: &mut Idle| {
        simulation.physics.remove(sent.key().unwrap()).unwrap();
    };
    runner.call(remove).unwrap();
    for _ in 0..5 {
        assert!(
            game.world.satisfies::<&RenderPose>(entity),
            "the removal is not known yet"
        );
        game.now += MS(5);
        game.run();
        game.frame();
        let key = spawned.key().unwrap();
        let is_gone = game.runner.view().removed() == [key];
        game.sync();
        if is_gone {
            break;
        }
    }
    assert!(!game.world.satisfies::<hecs::Or<&Body, &RenderPose>>(entity));
}

#[test]
fn a_fixed_body_removed_before_it_is_displayed_does_not_reappear() {
    let mut game = Game::new(9);
    game.apply(0, Operation::Spawn(true));
    game.run();
    let entity = game.coming[0].1;
    game.apply(1, Operation::RemoveComing(0)).unwrap();
    game.settle();
    assert!(!game.world.satisfies::<hecs::Or<&Body, &RenderPose>>(entity));
}

/// The list of removals has forgotten that of the body.
#[test]
fn a_body_that_was_displayed_before_its_component_was_moved_is_detached_after_many_removals() {
    for attaches in [false, true] {
        let mut game = Game::new(9);
        game.settle();
        if attaches {
            game.apply(0, Operation::Attach(0)).unwrap();
        } else {
            game.apply(0, Operation::Move(0)).unwrap();
            game.sync();
        }
        let frames = |game: &mut Game| {
            for _ in 0..20 {
                game.now += MS(10);
                game.run();
                game.frame();
            }
        };
        for _ in 0..3 {
            game.apply(0, Operation::Remove(0)).unwrap();
        }
        for i in 0..5 {
            frames(&mut game);
            game.apply(i, Operation::Spawn(false)).unwrap();
            frames(&mut game);
            game.apply(i, Operation::RemoveComing(0)).unwrap();
        }
        game.settle();
        let mut with_body = game.world.query::<hecs::Or<&Body, &RenderPose>>();
        assert_eq!(with_body.iter().count(), 0, "{attaches}");
    }
}

/// The state with the body was never displayed. The other simulation is older than that of the runner.
#[test]
fn replacing_the_state_detaches_missing_bodies_even_if_never_displayed() {
    for (is_state, steps) in [(true, 0), (false, 0), (false, 7)] {
        let mut older = Simulation::default();
        for _ in 0..steps {
            older.advance(MS(20), |_, _| ());
        }
        let mut game = Game::new(9);
        game.settle();
        game.apply(0, Operation::Spawn(true));
        let (_, entity) = game.coming.pop().unwrap();
        let restore = move |simulation: &mut Simulation, _: &mut Idle| {
            if is_state {
                simulation.physics = older.physics;
            } else {
                *simulation = older;
            }
        };
        game.runner.call(restore).unwrap();
        for (_, entity) in std::mem::take(&mut game.owned) {
            game.bare.push(entity);
        }
        game.settle();
        for entity in game.bare.iter().chain([&entity]) {
            let is_attached = game
                .world
                .satisfies::<hecs::Or<&Body, &RenderPose>>(*entity);
            assert!(!is_attached, "{is_state} {steps}");
        }
    }
}
