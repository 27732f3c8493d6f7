//! A hecs game that rolls back in every frame. Late input inserts, removes and restores its entities. The result equals
//! that of a game without rollbacks.

use evenstep::ecs::hecs::{Body, RenderPose, RollbackWorld};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Correction, Physics, Rate, Simulation, Step};
use hecs::Entity;
use scenes::MS;
use scenes::testing::{spin, vector};
use std::collections::BTreeSet;
use std::time::Duration;

/// The game's id of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id(u32);

/// A component that the game defines.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Ship {
        hits: u32,
    },
    Shot {
        dies_at: u64,
    },
    /// A ship that was shot down. It has no body.
    Wreck {
        comes_back_at: u64,
    },
}

/// How entities are spawned and despawned, and when their bodies are inserted and removed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// `Entities` spawns and despawns them with their bodies.
    AtOnce,
    /// hecs despawns them. Their bodies are removed at the end of each hook.
    Noticed,
    /// hecs spawns and despawns them. Their bodies are inserted and removed at the end of each hook.
    Described,
}

/// The body that an entity should have.
#[derive(Clone)]
struct Start(RigidBodyBuilder);

/// The parts of the game outside the simulation.
#[derive(Clone)]
struct Game {
    world: RollbackWorld,
    way: Way,
    next_id: u32,
}

const SHIPS: u32 = 4;

fn collider() -> ColliderBuilder {
    ColliderBuilder::ball(0.3).active_events(ActiveEvents::COLLISION_EVENTS)
}

/// Returns whether a ship fires at this tick.
fn fires(ship: u32, tick: u64) -> bool {
    let random = (tick * u64::from(SHIPS) + u64::from(ship)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (random >> 40).is_multiple_of(5)
}

/// Returns the prediction before the input arrives.
fn predicted_to_fire(ship: u32, tick: u64) -> bool {
    fires(ship + 1, tick + 3)
}

fn start(way: Way) -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    simulation.keep(Kept {
        ticks: 30,
        ..simulation.kept()
    });
    simulation.correction = Correction::OFF;
    let mut game = Game {
        world: (RollbackWorld::default().with::<Id>())
            .with::<Part>()
            .with::<Start>(),
        way,
        next_id: 0,
    };
    for _ in 0..SHIPS {
        game.spawn_ship(&mut simulation.physics);
    }
    game.end_hook(&mut simulation.physics);
    simulation.physics.resources_mut().insert(game);
    simulation
}

fn with_game<R>(simulation: &mut Simulation, f: impl FnOnce(&mut Simulation, &mut Game) -> R) -> R {
    simulation.resource_scope(f).unwrap()
}

impl Game {
    fn spawn(&mut self, physics: &mut Physics, part: Part, body: RigidBodyBuilder) {
        let RollbackWorld {
            world, entities, ..
        } = &mut self.world;
        let parts = (Id(self.next_id), part);
        if self.way == Way::Described {
            world.spawn((parts.0, parts.1, Start(body)));
        } else {
            entities.spawn(world, physics, body, collider(), parts);
        }
        self.next_id += 1;
    }

    fn spawn_ship(&mut self, physics: &mut Physics) {
        let i = self.next_id % 7;
        let at = vector(i as f32, 0.3 * i as f32, 0.0);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linear_damping(9.0);
        let body = body.angvel(spin(0.0, 0.0, 3.0));
        self.spawn(physics, Part::Ship { hits: 0 }, body);
    }

    fn despawn(&mut self, physics: &mut Physics, entity: Entity) {
        let RollbackWorld {
            world, entities, ..
        } = &mut self.world;
        match self.way {
            Way::AtOnce => entities.despawn(world, physics, entity).unwrap(),
            Way::Noticed | Way::Described => world.despawn(entity).unwrap(),
        }
    }

    fn sync(&mut self, simulation: &mut Simulation) {
        (self.world.entities).sync(&mut self.world.world, simulation);
    }

    fn end_hook(&mut self, physics: &mut Physics) {
        let RollbackWorld {
            world, entities, ..
        } = &mut self.world;
        if self.way != Way::AtOnce {
            entities.remove_dropped(world, physics);
        }
        // In the other ways no entity has a `Start`.
        let describe =
            |_, (id, start): (&Id, &Start)| Some((*id, start.0.clone(), vec![collider()]));
        entities.insert_missing::<(&Id, &Start), _>(world, physics, describe);
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step, fires: fn(u32, u64) -> bool) {
        let parts = (self.world.world).query_mut::<(Entity, &Part, Option<&Body>)>();
        let list: Vec<_> = parts
            .into_iter()
            .map(|(entity, part, body)| (entity, *part, body.map(Body::key)))
            .collect();
        let mut ship = 0;
        for (entity, part, key) in list {
            match part {
                Part::Ship { .. } => {
                    if fires(ship, step.tick) {
                        let from = *physics.body(key.unwrap()).unwrap().position();
                        let at = from * (Vector::X * 0.7);
                        let way = from.rotation * Vector::X * 20.0;
                        let dies_at = step.tick + 9;
                        let body = RigidBodyBuilder::dynamic().translation(at).linvel(way);
                        self.spawn(physics, Part::Shot { dies_at }, body);
                    }
                    ship += 1;
                }
                Part::Shot { dies_at } if dies_at <= step.tick => self.despawn(physics, entity),
                Part::Wreck { comes_back_at } if comes_back_at <= step.tick => {
                    self.despawn(physics, entity);
                    self.spawn_ship(physics);
                }
                Part::Shot { .. } | Part::Wreck { .. } => (),
            }
        }
        self.end_hook(physics);
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) {
        let events = physics.events();
        let started = events.collisions().filter(|collision| collision.started);
        let mut hit: Vec<BodyKey> = started
            .flat_map(|collision| collision.bodies)
            .flatten()
            .collect();
        hit.sort_unstable();
        hit.dedup();
        for key in hit {
            let Some(entity) = self.world.entities.entity(key) else {
                continue;
            };
            let part = *self.world.world.get::<&Part>(entity).unwrap();
            match part {
                Part::Ship { hits: 1.. } => {
                    self.despawn(physics, entity);
                    let comes_back_at = step.tick + 5;
                    let wreck = (Id(self.next_id), Part::Wreck { comes_back_at });
                    self.next_id += 1;
                    self.world.world.spawn(wreck);
                }
                Part::Ship { hits } => {
                    *self.world.world.get::<&mut Part>(entity).unwrap() =
                        Part::Ship { hits: hits + 1 };
                }
                Part::Shot { .. } | Part::Wreck { .. } => self.despawn(physics, entity),
            }
        }
        self.end_hook(physics);
    }

    /// Returns every component of every entity, in the order of a query.
    fn components(&self, simulation: &Simulation) -> Vec<Components> {
        let mut query = (self.world.world).query::<(Entity, &Id, &Part, Option<&Body>)>();
        let list = query.iter().map(|(entity, id, part, body)| {
            let key = body.map(Body::key);
            let pose = (self.world.world).get::<&RenderPose>(entity).ok();
            let pose = pose.map(|pose| pose.0);
            assert_eq!(key.and_then(|key| simulation.pose(key)), pose);
            assert_eq!(
                key.map(|key| self.world.entities.entity(key)),
                key.map(|_| Some(entity))
            );
            (entity, *id, *part, key, pose)
        });
        list.collect()
    }
}

type Components = (Entity, Id, Part, Option<BodyKey>, Option<Pose>);

fn run_steps(simulation: &mut Simulation, fires: fn(u32, u64) -> bool) {
    while let Some(step) = simulation.next_step() {
        run_step(simulation, step, fires);
    }
}

fn run_step(simulation: &mut Simulation, step: Step, fires: fn(u32, u64) -> bool) {
    let before = |physics: &mut Physics, game: &mut Game| game.before_step(physics, step, fires);
    simulation.physics.resource_scope(before).unwrap();
    assert!(simulation.run_step());
    let after = |physics: &mut Physics, game: &mut Game| game.after_step(physics, step);
    simulation.physics.resource_scope(after).unwrap();
}

/// How a frame learns of the input.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Late {
    /// The frame first predicts the input, and then receives the actual input of the last ten steps.
    Within,
    /// The same, after the frame.
    Between,
    /// All input arrives in time.
    InTime,
}

fn frame(simulation: &mut Simulation, time: Duration, late: Late) {
    let back = |simulation: &mut Simulation| {
        let tick = simulation.physics.tick().saturating_sub(10);
        simulation.roll_back(tick).unwrap();
    };
    let predicted = if late == Late::InTime {
        fires
    } else {
        predicted_to_fire
    };
    simulation.begin_frame(time);
    run_steps(simulation, predicted);
    if late == Late::Within {
        back(simulation);
        run_steps(simulation, fires);
    }
    simulation.end_frame();
    if late == Late::Between {
        back(simulation);
        run_steps(simulation, fires);
    }
    with_game(simulation, |simulation, game| game.sync(simulation));
}

#[test]
fn a_game_with_a_rollback_in_every_frame_equals_one_without() {
    for (way, late) in [
        (Way::AtOnce, Late::Within),
        (Way::AtOnce, Late::Between),
        (Way::Noticed, Late::Within),
        (Way::Noticed, Late::Between),
        (Way::Described, Late::Within),
        (Way::Described, Late::Between),
    ] {
        let [mut there, mut here] = [way; 2].map(start);
        let (mut wrecks, mut most) = (0, 0);
        for ms in [7, 16, 3, 10, 25, 0, 33, 12].repeat(20) {
            frame(&mut there, MS(ms), late);
            frame(&mut here, MS(ms), Late::InTime);
            if late == Late::Between {
                // The next frame displays the state that the game has caught up with.
                frame(&mut there, MS(0), late);
                frame(&mut here, MS(0), Late::InTime);
            }
            let [one, other] = [&there, &here].map(components);
            assert_eq!(
                one,
                other,
                "{way:?}, {late:?}, tick {}",
                here.physics.tick()
            );
            let bodies = [&there, &here].map(|simulation| simulation.physics.bodies().count());
            let with_body = one.iter().filter(|(.., key, _)| key.is_some()).count();
            assert_eq!(bodies, [with_body; 2]);
            most = most.max(with_body);
            let parts = one.iter().map(|(_, _, part, ..)| part);
            wrecks += parts.filter(|it| matches!(it, Part::Wreck { .. })).count();
        }
        assert!(wrecks > 10 && most > 8, "{wrecks} wrecks, {most} bodies");
    }
}

fn components(simulation: &Simulation) -> Vec<Components> {
    let game = simulation.physics.resources().get::<Game>().unwrap();
    game.components(simulation)
}

/// In between, the world is in the past, and displayed poses stay the same.
#[test]
fn an_unfinished_rollback_is_completed_in_the_next_frame() {
    for way in [Way::AtOnce, Way::Noticed, Way::Described] {
        let mut simulation = start(way);
        for _ in 0..20 {
            frame(&mut simulation, MS(16), Late::InTime);
        }
        let before = components(&simulation);
        simulation.begin_frame(MS(0));
        simulation.roll_back(simulation.physics.tick() - 5).unwrap();
        let step = simulation.next_step().unwrap();
        run_step(&mut simulation, step, fires);
        simulation.end_frame();
        with_game(&mut simulation, |simulation, game| game.sync(simulation));
        assert_eq!(simulation.steps_to_resimulate(), 4);
        let past = components(&simulation);
        let ids = |components: &[Components]| -> BTreeSet<Id> {
            components.iter().map(|(_, id, ..)| *id).collect()
        };
        assert_ne!(ids(&past), ids(&before), "four steps change something");
        for (_, id, _, key, pose) in &before {
            let then = past.iter().find(|(_, then, ..)| then == id);
            if let Some((.., then_key, then_pose)) = then.filter(|it| it.3.is_some()) {
                assert!(key.is_none() || (then_key, then_pose) == (key, pose));
            }
        }
        frame(&mut simulation, MS(0), Late::InTime);
        assert_eq!(components(&simulation), before, "{way:?}");
    }
}

#[test]
#[should_panic(expected = "register each type using `RollbackWorld::with`")]
fn cloning_a_world_with_an_unregistered_component_panics() {
    let mut world = RollbackWorld::default();
    world.world.spawn(("a string",));
    let _ = world.clone();
}

/// hecs does not know the name of the unregistered type. The registered types tell which kind of entity it is.
#[test]
#[should_panic(
    expected = "1 component types that were not registered, besides [\"ecs::rollback::Ammunition\"]"
)]
fn the_panic_for_an_unregistered_component_lists_the_registered_ones() {
    #[derive(Clone)]
    struct Unregistered;

    let mut world = RollbackWorld::default().with::<Ammunition>();
    world.world.spawn((Ammunition, Unregistered));
    let _ = world.clone();
}

#[derive(Clone)]
struct Ammunition;

/// A copy has a separate world. Entities that die in one live in the other, and new entities have the same ids.
#[test]
fn a_clone_has_separate_bodies_and_spawns_equal_entity_ids() {
    let mut simulation = start(Way::Noticed);
    frame(&mut simulation, MS(50), Late::InTime);
    with_game(&mut simulation, |simulation, game| {
        let freed = [(); 3].map(|()| game.world.world.spawn(()));
        for entity in freed {
            game.world.world.despawn(entity).unwrap();
        }
        game.sync(simulation);
    });
    let mut copy = simulation.clone();
    let before = components(&simulation);
    with_game(&mut copy, |copy, game| {
        game.world.world.clear();
        game.sync(copy);
    });
    assert_eq!(copy.physics.bodies().count(), 0);
    frame(&mut simulation, MS(0), Late::InTime);
    assert_eq!(components(&simulation), before);

    let mut copy = simulation.clone();
    let spawned = [&mut copy, &mut simulation].map(|simulation| {
        with_game(simulation, |_, game| {
            [(); 5].map(|()| game.world.world.spawn(()))
        })
    });
    assert_eq!(spawned[0], spawned[1]);
    drop(copy);
    frame(&mut simulation, MS(0), Late::InTime);
    assert_eq!(components(&simulation), before);
}

/// Returns the id of each entity, and its values of three components.
fn contents(world: &hecs::World) -> Vec<(Entity, Option<u32>, Option<u64>, bool)> {
    let entities = world.iter().map(|entity| {
        let number = entity.get::<&u32>().map(|number| *number);
        let other = entity.get::<&u64>().map(|number| *number);
        (entity.entity(), number, other, entity.has::<Id>())
    });
    entities.collect()
}

/// Tests that archetypes, ids and the order in which they appeared make no difference.
#[test]
fn a_cloned_world_continues_like_the_original() {
    for case in 0..100_u64 {
        let mut random = case;
        let mut below = |limit: u64| {
            random = (random.wrapping_mul(0x5851_F42D_4C95_7F2D)).wrapping_add(1);
            (random >> 33) % limit
        };
        let mut one = RollbackWorld::default();
        one = one.with::<u32>().with::<u64>().with::<Id>();
        // An archetype of an unregistered type, which is empty by now.
        let unregistered = one.world.spawn(("unregistered",));
        one.world.despawn(unregistered).unwrap();
        let mut entities = vec![unregistered];
        let mut copy = one.clone();
        for i in 0..120_u32 {
            let (action, entity) = (below(10), entities[below(entities.len() as u64) as usize]);
            let bits = (u64::from(i) + 2) << 32 | below(60);
            let act = |world: &mut hecs::World| match action {
                0 => Some(world.spawn(())),
                1 => Some(world.spawn((i,))),
                2 => Some(world.spawn((i, u64::from(i)))),
                3 => world.insert_one(entity, Id(i)).ok().map(|()| entity),
                4 => world.insert_one(entity, i).ok().map(|()| entity),
                5 => world.remove_one::<u32>(entity).ok().map(|_| entity),
                6 => {
                    let reserved = world.reserve_entity();
                    world.flush();
                    Some(reserved)
                }
                7 => {
                    let chosen = Entity::from_bits(bits).unwrap();
                    world.spawn_at(chosen, (Id(i), i));
                    Some(chosen)
                }
                _ => world.despawn(entity).ok().map(|()| entity),
            };
            if below(8) == 0 {
                copy = one.clone();
            }
            let [there, here] = [&mut one, &mut copy].map(|of| act(&mut of.world));
            assert_eq!(there, here);
            entities.extend(there);
            assert_eq!(contents(&one.world), contents(&copy.world));
            assert_eq!(one.world.len(), copy.world.len());
        }
    }
}

#[test]
fn a_reserved_entity_is_not_cloned() {
    let mut one = RollbackWorld::default();
    let [dead, living] = [(); 2].map(|()| one.world.spawn(()));
    one.world.despawn(dead).unwrap();
    one.world.reserve_entity();
    let copy = one.clone().world;
    assert!(copy.iter().map(|entity| entity.entity()).eq([living]));
    assert_eq!(copy.len(), 1);
}

#[test]
fn a_despawned_entity_of_a_copy_leaves_the_body_of_the_original() {
    let mut simulation = Simulation::default();
    let mut original = RollbackWorld::default();
    let RollbackWorld {
        world, entities, ..
    } = &mut original;
    let physics = &mut simulation.physics;
    let body = RigidBodyBuilder::dynamic();
    let (entity, key) = entities.spawn(world, physics, body, collider(), ());
    let mut copy = original.clone();
    let mut copied = simulation.clone();
    copy.world.despawn(entity).unwrap();
    original
        .entities
        .remove_dropped(&mut original.world, &mut simulation.physics);
    assert!(simulation.physics.body(key).is_some());
    copy.entities
        .remove_dropped(&mut copy.world, &mut copied.physics);
    assert!(copied.physics.body(key).is_none());
}
