//! A game in hecs that goes back in every frame, with entities that come, die and come again by input that was late:
//! it is the game that never went back.

mod scenes;

use crate::scenes::testing::{spin, vector};
use std::collections::BTreeMap;

use evenstep::entities::{Body, Entities, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation, Step};
use hecs::{Entity, World};
use scenes::MS;
use std::time::Duration;

/// The game's own id of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id(u32);

/// The game's own component.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Ship {
        hits: u32,
    },
    Shot {
        dies_at: u64,
    },
    /// A ship that was shot down: it has no body.
    Wreck {
        comes_back_at: u64,
    },
}

/// All of the game that is not in the simulation, before a step.
#[derive(Clone, Debug, Default, PartialEq)]
struct Saved {
    next_id: u32,
    parts: BTreeMap<Id, (Part, Option<BodyKey>)>,
}

/// How entities are despawned, and when they are brought in line with the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// By `Entities`; a sync in each frame.
    AtOnce,
    /// Through hecs; a sync in each step too.
    Noticed,
}

struct Game {
    world: World,
    entities: Entities,
    simulation: Simulation,
    way: Way,
    next_id: u32,
    saved: BTreeMap<u64, Saved>,
}

const SHIPS: u32 = 4;

/// Whether a ship fires at this tick.
fn fires(ship: u32, tick: u64) -> bool {
    let random = (tick * u64::from(SHIPS) + u64::from(ship)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (random >> 40).is_multiple_of(5)
}

/// What was believed before the input came.
fn seems_to_fire(ship: u32, tick: u64) -> bool {
    fires(ship + 1, tick + 3)
}

impl Game {
    fn new(way: Way) -> Self {
        let mut simulation = Simulation::new(Rate::hz(100).unwrap());
        simulation.physics_mut().gravity = Vector::ZERO;
        simulation.set_rewind_limits(30, usize::MAX);
        simulation.set_correction(None);
        let mut game = Self {
            world: World::new(),
            entities: Entities::default(),
            simulation,
            way,
            next_id: 0,
            saved: BTreeMap::new(),
        };
        for _ in 0..SHIPS {
            game.spawn_ship();
        }
        game
    }

    fn spawn(&mut self, part: Part, body: RigidBodyBuilder) {
        let ball = ColliderBuilder::ball(0.3).active_events(ActiveEvents::COLLISION_EVENTS);
        let Self {
            world,
            entities,
            simulation,
            ..
        } = self;
        let parts = (Id(self.next_id), part);
        entities.spawn(world, simulation, body, ball, parts);
        self.next_id += 1;
    }

    fn spawn_ship(&mut self) {
        let i = self.next_id % 7;
        let at = vector(i as f32, 0.3 * i as f32, 0.0);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linear_damping(9.0);
        self.spawn(Part::Ship { hits: 0 }, body.angvel(spin(0.0, 0.0, 3.0)));
    }

    fn despawn(&mut self, entity: Entity) {
        match self.way {
            Way::AtOnce => {
                let Self {
                    world,
                    entities,
                    simulation,
                    ..
                } = self;
                entities.despawn(world, simulation, entity).unwrap();
            }
            Way::Noticed => self.world.despawn(entity).unwrap(),
        }
    }

    /// All entities, by the game's id.
    fn list(&mut self) -> Vec<(Id, Entity, Part, Option<BodyKey>)> {
        let parts = (self.world).query_mut::<(Entity, &Id, &Part, Option<&Body>)>();
        let mut list: Vec<_> = parts
            .into_iter()
            .map(|(entity, id, part, body)| (*id, entity, *part, body.map(Body::key)))
            .collect();
        list.sort_unstable_by_key(|(id, ..)| *id);
        list
    }

    fn save(&mut self) -> Saved {
        let list = self.list().into_iter();
        Saved {
            next_id: self.next_id,
            parts: list.map(|(id, _, part, key)| (id, (part, key))).collect(),
        }
    }

    fn sync(&mut self) {
        self.entities.sync(&mut self.world, &mut self.simulation);
    }

    fn before_step(&mut self, step: Step, fires: fn(u32, u64) -> bool) {
        let saved = self.save();
        self.saved.insert(step.tick, saved);
        let (mut ship, list) = (0, self.list());
        for (_, entity, part, key) in list {
            match part {
                Part::Ship { .. } => {
                    if fires(ship, step.tick) {
                        let from = *self.simulation.body(key.unwrap()).unwrap().position();
                        let at = from * (Vector::X * 0.7);
                        let way = from.rotation * Vector::X * 20.0;
                        let dies_at = step.tick + 9;
                        let body = RigidBodyBuilder::dynamic().translation(at).linvel(way);
                        self.spawn(Part::Shot { dies_at }, body);
                    }
                    ship += 1;
                }
                Part::Shot { dies_at } if dies_at <= step.tick => self.despawn(entity),
                Part::Wreck { comes_back_at } if comes_back_at <= step.tick => {
                    self.despawn(entity);
                    self.spawn_ship();
                }
                Part::Shot { .. } | Part::Wreck { .. } => (),
            }
        }
    }

    fn after_step(&mut self, step: Step) {
        let events = self.simulation.events().in_tick(step.tick);
        let started = events.collisions().filter(|collision| collision.started);
        let mut hit: Vec<BodyKey> = started
            .flat_map(|collision| collision.bodies)
            .flatten()
            .collect();
        hit.sort_unstable();
        hit.dedup();
        for key in hit {
            let Some(entity) = self.entities.entity(key) else {
                continue;
            };
            let part = *self.world.get::<&Part>(entity).unwrap();
            match part {
                Part::Ship { hits: 1.. } => {
                    self.despawn(entity);
                    let comes_back_at = step.tick + 5;
                    let wreck = (Id(self.next_id), Part::Wreck { comes_back_at });
                    self.next_id += 1;
                    self.world.spawn(wreck);
                }
                Part::Ship { hits } => {
                    *self.world.get::<&mut Part>(entity).unwrap() = Part::Ship { hits: hits + 1 };
                }
                Part::Shot { .. } | Part::Wreck { .. } => self.despawn(entity),
            }
        }
    }

    fn make_steps(&mut self, fires: fn(u32, u64) -> bool) {
        while let Some(step) = self.simulation.next_step() {
            self.before_step(step, fires);
            if self.way == Way::Noticed {
                self.sync();
            }
            assert!(self.simulation.make_step());
            self.after_step(step);
            if self.way == Way::Noticed {
                self.sync();
            }
        }
    }

    /// The simulation and the game go back to what they were before the step of `tick`.
    fn roll_back(&mut self, tick: u64) {
        self.simulation.roll_back(tick).unwrap();
        let Some(saved) = self.saved.get(&tick).cloned() else {
            return; // It is the present.
        };
        let Self {
            world,
            entities,
            simulation,
            ..
        } = self;
        entities.unmatched(world, simulation);
        self.next_id = saved.next_id;
        let mut there = BTreeMap::new();
        for (id, entity, _, _) in self.list() {
            if saved.parts.contains_key(&id) {
                there.insert(id, entity);
            } else {
                self.world.despawn(entity).unwrap();
            }
        }
        for (id, (part, key)) in saved.parts {
            let entity = there.get(&id).copied();
            let entity = entity.unwrap_or_else(|| self.world.spawn(()));
            self.world.insert(entity, (id, part)).unwrap();
            let Self {
                world,
                entities,
                simulation,
                ..
            } = self;
            if let Some(key) = key
                && entities.entity(key) != Some(entity)
            {
                entities.attach(world, simulation, entity, key).unwrap();
                // A body that has come back is somewhere at once.
                let pose = simulation.pose(key).unwrap();
                assert_eq!(simulation.isometry(key), Some(pose.into()));
                let collider = simulation.body(key).unwrap().colliders()[0];
                assert_eq!(simulation.collider_pose(collider), Some(pose));
                assert_eq!(world.get::<&RenderPose>(entity).unwrap().0, pose);
            }
        }
    }

    /// A frame that believes something else at first, and learns then of the last ten steps what was.
    fn frame_with_late_input(&mut self, time: Duration) {
        self.simulation.begin_frame(time);
        self.make_steps(seems_to_fire);
        self.roll_back(self.simulation.tick().saturating_sub(10));
        self.make_steps(fires);
        self.simulation.end_frame();
        self.sync();
    }

    fn frame(&mut self, time: Duration) {
        self.simulation.begin_frame(time);
        self.make_steps(fires);
        self.simulation.end_frame();
        self.sync();
    }

    /// Every component of every entity.
    fn components(&mut self) -> Vec<(Id, Part, Option<BodyKey>, Option<Pose>)> {
        let list = self.list().into_iter();
        list.map(|(id, entity, part, key)| {
            let pose = self.world.get::<&RenderPose>(entity).ok().map(|it| it.0);
            assert_eq!(key.and_then(|key| self.simulation.pose(key)), pose);
            assert_eq!(
                key.map(|key| self.entities.entity(key)),
                key.map(|_| Some(entity))
            );
            (id, part, key, pose)
        })
        .collect()
    }
}

#[test]
fn a_game_that_goes_back_in_every_frame_is_the_one_that_never_did() {
    for way in [Way::AtOnce, Way::Noticed] {
        let [mut late, mut in_time] = [way; 2].map(Game::new);
        let (mut wrecks, mut most) = (0, 0);
        for ms in [7, 16, 3, 10, 25, 0, 33, 12].repeat(40) {
            late.frame_with_late_input(MS(ms));
            in_time.frame(MS(ms));
            let [one, other] = [&mut late, &mut in_time].map(Game::components);
            assert_eq!(one, other, "{way:?}, tick {}", in_time.simulation.tick());
            let bodies = [&late, &in_time].map(|game| game.simulation.bodies().count());
            let with_body = one.iter().filter(|(_, _, key, _)| key.is_some()).count();
            assert_eq!(bodies, [with_body; 2]);
            most = most.max(with_body);
            wrecks += one
                .iter()
                .filter(|(_, part, ..)| matches!(part, Part::Wreck { .. }))
                .count();
        }
        assert!(wrecks > 10 && most > 8, "{wrecks} wrecks, {most} bodies");
    }
}
