//! Entities that wait for their body, which was sent to a runner, and that are changed meanwhile.

use evenstep::ecs::hecs::{Body, Entities, RenderPose, RollbackWorld};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings, Worker};
use evenstep::{Hooks, Simulation};
use hecs::{Entity, World};
use scenes::{MS, ball, space};

struct Idle;

impl Hooks for Idle {
    type Error = ();
}

fn free() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic()
}

struct Game {
    world: World,
    entities: Entities,
    runner: Runner<Idle>,
    worker: Worker<Idle>,
    ms: u64,
}

impl Game {
    /// Creates a game whose runner has displayed a few frames.
    fn new(simulation: Simulation) -> Self {
        let (runner, worker) = Runner::without_thread(simulation, Idle, RunnerSettings::default());
        let mut game = Self {
            world: World::new(),
            entities: Entities::default(),
            runner,
            worker,
            ms: 0,
        };
        game.play(100);
        game
    }

    /// Runs steps, frames and syncs for some time, in which a body that was sent arrives and is displayed.
    fn play(&mut self, ms: u64) {
        for _ in 0..ms {
            self.frame();
            self.entities.sync(&mut self.world, &mut self.runner);
        }
    }

    /// Runs the steps and the frame of a millisecond, without a sync.
    fn frame(&mut self) {
        self.ms += 1;
        self.worker.run_until(MS(self.ms));
        self.runner.frame_at(MS(self.ms));
    }

    fn spawn(&mut self, name: &'static str) -> Entity {
        let Self {
            world,
            entities,
            runner,
            ..
        } = self;
        let (entity, _) = entities
            .try_spawn(world, runner, free(), ball(), (name,))
            .unwrap();
        entity
    }

    fn stop(self) -> (Simulation, World, Entities) {
        let (simulation, _) = self.worker.stop(self.runner, MS(self.ms));
        (simulation, self.world, self.entities)
    }
}

#[test]
fn a_body_that_is_attached_meanwhile_stays_and_the_one_on_its_way_is_removed() {
    let mut simulation = space(60);
    let key = simulation.physics.insert(free(), ball());
    let mut game = Game::new(simulation);
    let entity = game.spawn("shot");
    (game.entities)
        .attach(&mut game.world, &mut game.runner, entity, key)
        .unwrap();
    game.play(300);
    assert_eq!(game.entities.entity(key), Some(entity));
    let (simulation, ..) = game.stop();
    assert!(simulation.physics.bodies().map(|(key, _)| key).eq([key]));
}

#[test]
fn an_entity_that_gets_the_id_of_a_despawned_one_gets_no_body() {
    let mut game = Game::new(space(60));
    let shot = game.spawn("shot");
    game.world.clear();
    let menu = game.world.spawn(("menu",));
    assert_eq!(menu.id(), shot.id());
    game.play(300);
    assert!(game.world.get::<&Body>(menu).is_err());
    let (simulation, ..) = game.stop();
    assert_eq!(simulation.physics.bodies().count(), 0);
}

#[test]
fn a_restart_lists_the_entity_whose_body_is_on_its_way() {
    let simulation = space(60);
    let level = simulation.physics.clone();
    let mut game = Game::new(simulation);
    let shot = game.spawn("shot");
    let (mut simulation, mut world, mut entities) = game.stop();
    simulation.physics = level;
    let unmatched = entities.unmatched(&mut world, &simulation.physics);
    assert_eq!(unmatched.entities, [shot]);
    let physics = &mut simulation.physics;
    let (player, _) = entities.spawn(&mut world, physics, free(), ball(), ("player",));
    // The entity gets another body, like any other without one.
    let new = entities.insert_missing::<&&str, _>(&mut world, physics, |_, name| {
        (*name == "shot").then(|| (0, free(), vec![ball()]))
    });
    assert_eq!(new.len(), 1);
    for _ in 0..10 {
        simulation.advance(MS(20), |_, _| ());
        entities.sync(&mut world, &mut simulation);
    }
    assert!(world.get::<&Body>(player).is_ok());
    assert!(world.get::<&Body>(shot).is_ok());
}

#[test]
fn a_body_whose_entity_waits_for_it_is_not_unmatched() {
    let mut game = Game::new(space(60));
    let shot = game.spawn("shot");
    let (simulation, mut world, mut entities) = game.stop();
    let unmatched = entities.unmatched(&mut world, &simulation.physics);
    assert_eq!(simulation.physics.bodies().count(), 1);
    assert!(unmatched.is_empty());
    assert!(world.get::<&Body>(shot).is_ok());
}

#[test]
fn a_displayed_body_can_be_attached_to_another_entity_before_the_next_sync() {
    let mut game = Game::new(space(60));
    let (first, spawned) = (game.entities)
        .try_spawn(&mut game.world, &game.runner, free(), ball(), ())
        .unwrap();
    let second = game.world.spawn(("other",));
    for _ in 0..200 {
        game.frame();
    }
    let key = spawned.key().unwrap();
    (game.entities)
        .attach(&mut game.world, &mut game.runner, second, key)
        .unwrap();
    game.play(100);
    assert_eq!(game.entities.entity(key), Some(second));
    assert!(game.world.get::<&Body>(first).is_err());
    assert!(game.world.get::<&Body>(second).is_ok());
}

#[test]
fn a_copy_of_a_world_has_the_entity_that_waits() {
    let mut game = Game::new(space(60));
    let shot = game.spawn("shot");
    let world = std::mem::take(&mut game.world);
    let entities = std::mem::take(&mut game.entities);
    let original = RollbackWorld::new(world, entities).with::<&'static str>();
    let mut copy = original.clone();
    game.frame();
    copy.entities.sync(&mut copy.world, &mut game.runner);
    assert!(copy.world.get::<&Body>(shot).is_ok());
    assert!(original.world.get::<&Body>(shot).is_err());
}

/// Rapier disables a body at NaN, which is displayed at the origin.
#[test]
fn an_entity_whose_body_is_not_finite_is_drawn_at_the_origin() {
    let nowhere = || free().translation(Vector::X * f32::NAN);
    let mut simulation = space(60);
    let (mut world, mut entities) = (World::new(), Entities::default());
    let physics = &mut simulation.physics;
    let pose = |world: &World, entity| world.get::<&RenderPose>(entity).unwrap().0;
    let (spawned, _) = entities.spawn(&mut world, physics, nowhere(), ball(), ());
    let attached = world.spawn(());
    let key = physics.insert(nowhere(), ball());
    entities.attach(&mut world, physics, attached, key).unwrap();
    let drawn = [spawned, attached].map(|entity| pose(&world, entity));
    assert_eq!(drawn, [Pose::IDENTITY; 2]);

    let mut game = Game::new(space(60));
    let sent = (game.entities).try_spawn(&mut game.world, &game.runner, nowhere(), ball(), ());
    let (sent, _) = sent.unwrap();
    assert_eq!(pose(&game.world, sent), Pose::IDENTITY);
    game.play(100);
    assert_eq!(pose(&game.world, sent), Pose::IDENTITY);
}
