//! Bodies for entities that have none.

use super::*;
use evenstep::Hooks;
use evenstep::threads::{Runner, RunnerSettings};
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Order(u64);

/// A component that describes a ball. The particles of the frames have none.
struct Ball {
    x: f32,
}

/// A component of some balls only, so that balls are in two archetypes.
struct Red;

fn describe(
    _: Entity,
    (order, ball): (&Order, &Ball),
) -> Option<(u64, RigidBodyBuilder, Vec<ColliderBuilder>)> {
    let body = RigidBodyBuilder::dynamic().translation(Vector::X * ball.x);
    Some((order.0, body, vec![ColliderBuilder::ball(0.5)]))
}

impl Game {
    fn insert_missing(&mut self) -> Vec<(Entity, BodyKey)> {
        let physics = &mut self.simulation.as_mut().unwrap().physics;
        (self.entities).insert_missing::<(&Order, &Ball), _>(&mut self.world, physics, describe)
    }
}

#[test]
fn each_entity_without_a_body_gets_one_in_the_order_that_the_game_gives() {
    let mut game = Game::new();
    let [c, a, b] = [3, 1, 2].map(|i| game.world.spawn((Order(i), Ball { x: i as f32 * 2.0 })));
    game.world.insert_one(b, Red).unwrap();
    game.world.spawn((Ball { x: 0.0 },)); // has no order
    let tied = game.world.spawn((Order(3), Ball { x: 9.0 }));

    let new = game.insert_missing();
    assert!(new.iter().map(|(entity, _)| *entity).eq([a, b, c, tied]));
    assert!(new.is_sorted_by_key(|(_, key)| *key));
    for (entity, key) in &new {
        let body = game.simulation().physics.body(*key).unwrap();
        assert_eq!(body.colliders().len(), 1);
        let position = *body.position();
        assert_eq!(pose(&game.world, *entity), position);
        assert_eq!(key, &super::key(&game.world, *entity));
    }
    assert!(game.insert_missing().is_empty());
    game.frame(20);
    game.check();
}

#[test]
fn a_body_may_have_any_number_of_colliders_or_be_refused() {
    let mut game = Game::new();
    let [none, two, refused] = [0, 2, 7].map(|i| game.world.spawn((Order(i),)));
    let physics = &mut game.simulation.as_mut().unwrap().physics;
    let describe = |entity, order: &Order| {
        let colliders = (0..order.0).map(|_| ColliderBuilder::ball(0.5)).collect();
        (entity != refused).then(|| (order.0, RigidBodyBuilder::fixed(), colliders))
    };
    let new = (game.entities).insert_missing::<&Order, _>(&mut game.world, physics, describe);
    let colliders = new
        .iter()
        .map(|(entity, key)| (*entity, physics.body(*key).unwrap().colliders().len()));
    assert!(colliders.eq([(none, 0), (two, 2)]));
}

/// Spawns three balls in every fifth step, in two archetypes.
fn spawn_balls(world: &mut World, tick: u64) {
    for i in (0..3).filter(|_| tick.is_multiple_of(5)) {
        let order = tick / 5 * 3 + i;
        let x = (i * tick % 7) as f32 * 0.3;
        let ball = world.spawn((Order(order), Ball { x }));
        if order.is_multiple_of(2) {
            world.insert_one(ball, Red).unwrap();
        }
    }
}

/// Returns the bodies before each of a hundred steps, in the order of their insertion.
fn run(fps: u32, by_id: bool) -> Vec<Vec<(u64, Pose)>> {
    let Game {
        mut world,
        simulation,
        mut entities,
    } = Game::new();
    let (mut simulation, mut states) = (simulation.unwrap(), Vec::new());
    for frame in 0.. {
        if states.len() >= 100 {
            break;
        }
        // Frames spawn particles, which live for one frame. Their ids are used again.
        let particles: Vec<_> = (0..frame % 3).map(|_| world.spawn(("particle",))).collect();
        simulation.advance(Duration::from_secs(1) / fps, |physics, step| {
            spawn_balls(&mut world, step.tick);
            let describe = |entity, item: (&Order, &Ball)| {
                let (order, body, colliders) = describe(entity, item)?;
                Some((if by_id { 0 } else { order }, body, colliders))
            };
            entities.insert_missing::<(&Order, &Ball), _>(&mut world, physics, describe);
            let order = |key| {
                let entity = entities.entity(key).unwrap();
                world.get::<&Order>(entity).unwrap().0
            };
            let bodies = physics.bodies();
            let bodies = bodies.map(|(key, body)| (order(key), *body.position()));
            states.push(bodies.collect());
        });
        entities.sync(&mut world, &mut simulation);
        for particle in particles {
            world.despawn(particle).unwrap();
        }
    }
    states.truncate(100);
    states
}

#[test]
fn the_order_makes_runs_equal_although_frames_spawn_entities_too() {
    let reference = run(60, false);
    assert_eq!(reference.len(), 100);
    let mut differ = 0;
    for fps in [30, 72, 90, 120, 144] {
        assert!(run(fps, false) == reference, "{fps} fps");
        differ += usize::from(run(fps, true) != run(60, true));
    }
    assert!(differ > 0, "ids are the same at every frame rate");
}

#[test]
fn an_entity_has_a_body_in_a_frame_without_a_step_if_it_is_inserted_before() {
    for is_inserted_before in [false, true] {
        let mut game = Game::new();
        let entity = game.world.spawn((Order(0), Ball { x: 1.0 }));
        if is_inserted_before {
            game.insert_missing();
        }
        let Game {
            world,
            simulation,
            entities,
        } = &mut game;
        let simulation = simulation.as_mut().unwrap();
        let frame = simulation.advance(MS(7), |physics, _| {
            entities.insert_missing::<(&Order, &Ball), _>(world, physics, describe);
        });
        entities.sync(world, simulation);
        assert_eq!(frame.steps, 0);
        assert_eq!(world.satisfies::<&RenderPose>(entity), is_inserted_before);
    }
}

#[test]
fn an_entity_that_dropped_its_body_gets_another_one() {
    let mut game = Game::new();
    let entity = game.world.spawn((Order(0), Ball { x: 1.0 }));
    let old = game.insert_missing()[0].1;
    game.frame(10);
    game.world.remove_one::<Body>(entity).unwrap();
    let [(again, new)] = game.insert_missing()[..] else {
        panic!("one body")
    };
    assert!(again == entity && new != old);
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    entities.remove_dropped(world, &mut simulation.as_mut().unwrap().physics);
    assert!(game.simulation().physics.body(old).is_none());
    game.frame(10);
    game.check();

    // A body that was removed by its key is replaced after the next sync, a detached one at once.
    game.simulation().physics.remove(new);
    assert!(game.insert_missing().is_empty());
    game.frame(10);
    let newest = game.insert_missing()[0].1;
    game.entities.detach(&mut game.world, entity);
    game.simulation().physics.remove(newest);
    assert_eq!(game.insert_missing().len(), 1);
    game.frame(10);
    game.check();
}

#[test]
fn a_body_of_another_simulation_counts() {
    let (mut game, mut other) = (Game::new(), Game::new());
    let entity = game.world.spawn((Order(0), Ball { x: 1.0 }));
    game.insert_missing();
    std::mem::swap(&mut game.world, &mut other.world);
    assert!(other.insert_missing().is_empty());
    assert_eq!(other.entities.entity(key(&other.world, entity)), None);
}

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

#[test]
fn a_body_that_was_sent_to_a_thread_counts() {
    let mut game = Game::new();
    let simulation = game.simulation.take().unwrap();
    let runner = Runner::new(simulation, Idle, RunnerSettings::default()).unwrap();
    let (order, ball) = (Order(0), Ball { x: 0.0 });
    let body = RigidBodyBuilder::fixed();
    let (entity, spawned) = (game.entities)
        .try_spawn(
            &mut game.world,
            &runner,
            body,
            ColliderBuilder::ball(0.5),
            (order, ball),
        )
        .unwrap();
    game.simulation = Some(runner.stop().0);
    assert!(game.insert_missing().is_empty());
    game.frame(10);
    assert_eq!(spawned.key(), Some(key(&game.world, entity)));
    assert!(game.insert_missing().is_empty());
    game.check();
}

#[test]
fn a_panic_while_bodies_are_described_inserts_none() {
    let mut game = Game::new();
    for i in 0..3 {
        game.world.spawn((Order(i), Ball { x: 0.0 }));
    }
    let physics = &mut game.simulation.as_mut().unwrap().physics;
    let (entities, world) = (&mut game.entities, &mut game.world);
    let run = catch_unwind(AssertUnwindSafe(|| {
        entities.insert_missing::<(&Order, &Ball), _>(world, physics, |entity, item| {
            assert!(item.0.0 < 2);
            describe(entity, item)
        })
    }));
    assert!(run.is_err());
    assert_eq!(physics.bodies().count(), 0);
    assert_eq!(game.insert_missing().len(), 3);
    game.frame(10);
    game.check();
}
