//! Entities and bodies, in step.

use evenstep::hecs::{Body, Entities, RenderPose};
use evenstep::rapier3d::prelude::*;
use evenstep::{Rate, Simulation};
use hecs::{Entity, World};
use proptest::prelude::*;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[derive(Default)]
struct Game {
    world: World,
    simulation: Option<Simulation>,
    entities: Entities,
}

struct Name(#[expect(dead_code, reason = "a component of the game's own")] usize);

impl Game {
    fn new() -> Self {
        let simulation = Simulation::new(Rate::hz(100).unwrap());
        Self {
            simulation: Some(simulation),
            ..Self::default()
        }
    }

    fn simulation(&mut self) -> &mut Simulation {
        self.simulation.as_mut().unwrap()
    }

    fn spawn(&mut self, body: RigidBodyBuilder) -> Entity {
        let simulation = self.simulation.as_mut().unwrap();
        let ball = ColliderBuilder::ball(0.5);
        self.entities
            .spawn(&mut self.world, simulation, body, ball, (Name(1),))
    }

    fn despawn(&mut self, entity: Entity) {
        let simulation = self.simulation.as_mut().unwrap();
        self.entities
            .despawn(&mut self.world, simulation, entity)
            .unwrap();
    }

    fn frame(&mut self, ms: u64) {
        let simulation = self.simulation.as_mut().unwrap();
        simulation.advance(MS(ms), |_, _| ());
        self.entities.sync(&mut self.world, simulation);
    }

    fn pose(&self, entity: Entity) -> Pose {
        self.world.get::<&RenderPose>(entity).unwrap().0
    }

    /// After a sync: each body has its entity and each entity its body, and it is where it should be.
    #[track_caller]
    fn check(&self) {
        let simulation = self.simulation.as_ref().unwrap();
        let mut bodies = 0;
        for (entity, body, pose) in &mut self.world.query::<(Entity, &Body, &RenderPose)>() {
            assert_eq!(self.entities.entity(body.key()), Some(entity));
            assert_eq!(simulation.pose(body.key()), Some(pose.0));
            bodies += 1;
        }
        assert_eq!(simulation.world().bodies.len(), bodies);
        assert_eq!(self.world.query::<&RenderPose>().iter().count(), bodies);
    }
}

#[test]
fn an_entity_has_its_pose_from_the_start_and_then_the_frames() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
    assert_eq!(game.pose(entity), Pose::translation(0.0, 9.0, 0.0));
    assert!(game.world.get::<&Name>(entity).is_ok());
    for ms in [5, 12, 40, 0] {
        game.frame(ms);
        game.check();
    }
    assert!(game.pose(entity).translation.y < 9.0);
}

#[test]
fn despawn_takes_both() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = game.world.get::<&Body>(entity).unwrap().key();
    game.despawn(entity);
    assert!(!game.world.contains(entity));
    assert!(game.simulation().get(key).is_none());
    assert_eq!(game.entities.entity(key), None);
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let simulation = simulation.as_mut().unwrap();
    assert!(entities.despawn(world, simulation, entity).is_err());
    // An entity without a body is an entity too.
    let plain = world.spawn((Name(2),));
    assert!(entities.despawn(world, simulation, plain).is_ok());
    game.frame(10);
    game.check();
}

#[test]
fn an_entity_despawned_behind_our_back_loses_its_body_also_when_that_is_asleep() {
    for body in [
        RigidBodyBuilder::dynamic(),
        RigidBodyBuilder::dynamic().sleeping(true),
        RigidBodyBuilder::fixed(),
    ] {
        let mut game = Game::new();
        let entity = game.spawn(body);
        game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * 9.0));
        game.frame(20);
        game.world.despawn(entity).unwrap();
        game.frame(1);
        assert_eq!(game.simulation().world().bodies.len(), 1);
        game.check();
    }
}

#[test]
fn taking_the_component_off_removes_the_body() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    game.world.remove::<(Body, RenderPose)>(entity).unwrap();
    game.frame(20);
    assert!(game.world.contains(entity));
    game.check();
}

#[test]
fn an_entity_whose_body_was_removed_lives_on_without_it() {
    for through_rapier in [false, true] {
        let mut game = Game::new();
        let entity = game.spawn(RigidBodyBuilder::dynamic());
        let key = game.world.get::<&Body>(entity).unwrap().key();
        if through_rapier {
            let handle = game.simulation().handle(key).unwrap();
            game.simulation().world_mut().remove_body(handle);
        } else {
            game.simulation().remove(key);
        }
        game.frame(20);
        assert!(game.world.get::<&Name>(entity).is_ok());
        assert!(game.world.get::<&Body>(entity).is_err());
        game.check();
    }
}

#[test]
fn attach_gives_a_body_to_an_entity_and_takes_it_from_another() {
    let mut game = Game::new();
    let [one, other] = [0.0, 9.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body)
    });
    let key = game.world.get::<&Body>(one).unwrap().key();
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let simulation = simulation.as_mut().unwrap();
    entities.attach(world, simulation, other, key).unwrap();
    entities.attach(world, simulation, other, key).unwrap();
    assert_eq!(entities.entity(key), Some(other));
    world.despawn(one).unwrap();
    let key = simulation.insert_body(RigidBodyBuilder::dynamic());
    assert!(entities.attach(world, simulation, one, key).is_err());
    let plain = world.spawn(());
    entities.attach(world, simulation, plain, key).unwrap();
    game.frame(20);
    assert_eq!(game.simulation().world().bodies.len(), 2);
    game.check();
}

#[test]
fn a_collision_and_a_ray_find_the_entity() {
    let mut game = Game::new();
    let low = game.spawn(RigidBodyBuilder::fixed());
    let high = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 0.99));
    let key = game.world.get::<&Body>(high).unwrap().key();
    let collider = game.simulation().get(key).unwrap().colliders()[0];
    let colliders = &mut game.simulation().world_mut().colliders;
    colliders[collider].set_active_events(ActiveEvents::COLLISION_EVENTS);
    game.frame(10);
    let collision = game.simulation().events().collisions()[0];
    let mut found = collision
        .bodies
        .map(|key| game.entities.entity(key.unwrap()).unwrap());
    found.sort();
    assert_eq!(found, [low, high]);

    let ray = Ray::new(Vector::Y * 5.0, -Vector::Y);
    let world = game.simulation().world();
    let (hit, _) = world
        .cast_ray(&ray, 10.0, true, QueryFilter::default())
        .unwrap();
    let key = game.simulation().key_of_collider(hit).unwrap();
    assert_eq!(game.entities.entity(key), Some(high));
}

/// 10,000 operations in all: 40 games of 250.
#[derive(Clone, Debug)]
enum Operation {
    Spawn(u8),
    Despawn(usize),
    DespawnBehind(usize),
    RemoveBody(usize),
    RemoveThroughRapier(usize),
    TakeOff(usize),
    Attach(usize, usize),
    Frame(u64),
    SpawnInHook,
    DespawnInHook(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let which = || 0..100usize;
    prop_oneof![
        6 => (0..3u8).prop_map(Operation::Spawn),
        2 => which().prop_map(Operation::Despawn),
        1 => which().prop_map(Operation::DespawnBehind),
        1 => which().prop_map(Operation::RemoveBody),
        1 => which().prop_map(Operation::RemoveThroughRapier),
        1 => which().prop_map(Operation::TakeOff),
        1 => (which(), which()).prop_map(|(a, b)| Operation::Attach(a, b)),
        4 => (0..60u64).prop_map(Operation::Frame),
        1 => Just(Operation::SpawnInHook),
        1 => which().prop_map(Operation::DespawnInHook),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_entity_without_its_body_nor_a_body_without_its_entity(
        operations in prop::collection::vec(operation(), 250),
    ) {
        let mut game = Game::new();
        let mut alive: Vec<Entity> = Vec::new();
        for (i, operation) in operations.into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a place for each")]
            let at = Vector::new((i % 16) as f32 * 3.0, (i / 16) as f32 * 3.0, 0.0);
            alive.retain(|entity| game.world.contains(*entity));
            let pick = |n: usize| alive.get(n % alive.len().max(1)).copied();
            match operation {
                Operation::Spawn(kind) => {
                    let body = match kind {
                        0 => RigidBodyBuilder::dynamic(),
                        1 => RigidBodyBuilder::dynamic().sleeping(true),
                        _ => RigidBodyBuilder::fixed(),
                    };
                    alive.push(game.spawn(body.translation(at)));
                }
                Operation::Despawn(n) => {
                    if let Some(entity) = pick(n) { game.despawn(entity) }
                }
                Operation::DespawnBehind(n) => {
                    if let Some(entity) = pick(n) { game.world.despawn(entity).unwrap() }
                }
                Operation::RemoveBody(n) | Operation::RemoveThroughRapier(n) => {
                    let Some(entity) = pick(n) else { continue };
                    let Ok(key) = game.world.get::<&Body>(entity).map(|body| body.key()) else {
                        continue;
                    };
                    let Some(handle) = game.simulation().handle(key) else { continue };
                    if matches!(operation, Operation::RemoveBody(_)) {
                        game.simulation().remove(key);
                    } else {
                        game.simulation().world_mut().remove_body(handle);
                    }
                }
                Operation::TakeOff(n) => {
                    if let Some(entity) = pick(n) {
                        let _ = game.world.remove::<(Body, RenderPose)>(entity);
                    }
                }
                Operation::Attach(a, b) => {
                    let (Some(one), Some(other)) = (pick(a), pick(b)) else { continue };
                    let Ok(key) = game.world.get::<&Body>(one).map(|body| body.key()) else {
                        continue;
                    };
                    if game.simulation().get(key).is_some() {
                        let Game { world, simulation, entities } = &mut game;
                        entities.attach(world, simulation.as_mut().unwrap(), other, key).unwrap();
                    }
                }
                Operation::Frame(ms) => {
                    game.frame(ms);
                    game.check();
                }
                Operation::SpawnInHook => {
                    let Game { world, simulation, entities } = &mut game;
                    simulation.as_mut().unwrap().advance(MS(20), |simulation, _| {
                        let body = RigidBodyBuilder::dynamic().translation(at);
                        let ball = ColliderBuilder::ball(0.5);
                        alive.push(entities.spawn(world, simulation, body, ball, ()));
                    });
                    entities.sync(world, simulation.as_mut().unwrap());
                }
                Operation::DespawnInHook(n) => {
                    let Some(entity) = pick(n) else { continue };
                    let Game { world, simulation, entities } = &mut game;
                    simulation.as_mut().unwrap().advance(MS(20), |simulation, _| {
                        if world.contains(entity) {
                            entities.despawn(world, simulation, entity).unwrap();
                        }
                    });
                    entities.sync(world, simulation.as_mut().unwrap());
                }
            }
        }
        game.frame(0);
        game.check();
    }
}

#[test]
fn an_entity_that_lost_one_of_its_components_loses_the_other_with_its_body() {
    let mut world = hecs::World::new();
    let mut simulation = Simulation::new(Rate::default());
    let mut entities = Entities::default();
    let body = RigidBodyBuilder::dynamic();
    let ball = ColliderBuilder::ball(0.5);
    let entity = entities.spawn(&mut world, &mut simulation, body, ball, ());
    world.remove_one::<RenderPose>(entity).unwrap();
    let key = world.get::<&Body>(entity).unwrap().key();
    simulation.remove(key);
    simulation.advance(Duration::ZERO, |_, _| ());
    entities.sync(&mut world, &mut simulation);
    assert!(world.get::<&Body>(entity).is_err());
}
