//! Entities and bodies, in step.

mod scenes;

use evenstep::entities::{Body, Entities, EntityError, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use hecs::{Entity, World};
use proptest::prelude::*;
use scenes::testing::{translation, vector};
use std::collections::BTreeSet;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[derive(Default)]
struct Game {
    world: World,
    simulation: Option<Simulation>,
    entities: Entities,
}

struct Name(#[expect(dead_code, reason = "a component of the game's own")] usize);

fn spawn(
    entities: &mut Entities,
    world: &mut World,
    simulation: &mut Simulation,
    body: RigidBodyBuilder,
) -> Entity {
    entities
        .spawn(
            world,
            &mut simulation.physics,
            body,
            ColliderBuilder::ball(0.5),
            (Name(1),),
        )
        .0
}

fn key(world: &World, entity: Entity) -> BodyKey {
    world.get::<&Body>(entity).unwrap().key()
}

fn pose(world: &World, entity: Entity) -> Pose {
    world.get::<&RenderPose>(entity).unwrap().0
}

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
        spawn(&mut self.entities, &mut self.world, simulation, body)
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
        assert_eq!(simulation.physics.rapier().bodies.len(), bodies);
        assert_eq!(self.world.query::<&RenderPose>().iter().count(), bodies);
    }
}

#[test]
fn an_entity_has_its_pose_from_the_start_and_then_the_frames() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
    assert_eq!(game.pose(entity), translation(0.0, 9.0, 0.0));
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
    assert!(game.simulation().physics.body(key).is_none());
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
        assert_eq!(game.simulation().physics.rapier().bodies.len(), 1);
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
            let handle = game.simulation().physics.handle(key).unwrap();
            game.simulation().physics.rapier_mut().remove_body(handle);
        } else {
            game.simulation().physics.remove(key);
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
    let key = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    assert!(entities.attach(world, simulation, one, key).is_err());
    let plain = world.spawn(());
    entities.attach(world, simulation, plain, key).unwrap();
    game.frame(20);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 2);
    game.check();
}

#[test]
fn a_collision_and_a_ray_find_the_entity() {
    let mut game = Game::new();
    let low = game.spawn(RigidBodyBuilder::fixed());
    let high = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 0.99));
    let key = game.world.get::<&Body>(high).unwrap().key();
    let collider = game.simulation().physics.body(key).unwrap().colliders()[0];
    let colliders = &mut game.simulation().physics.rapier_mut().colliders;
    colliders[collider].set_active_events(ActiveEvents::COLLISION_EVENTS);
    game.frame(10);
    let collision = *game.simulation().events().collisions().next().unwrap();
    let mut found = collision
        .bodies
        .map(|key| game.entities.entity(key.unwrap()).unwrap());
    found.sort();
    assert_eq!(found, [low, high]);

    let ray = Ray::new(Vector::Y * 5.0, -Vector::Y);
    let world = game.simulation().physics.rapier();
    let (hit, _) = world
        .cast_ray(&ray, 10.0, true, QueryFilter::default())
        .unwrap();
    let key = game.simulation().physics.key_of_collider(hit).unwrap();
    assert_eq!(game.entities.entity(key), Some(high));
}

/// Two simulations in one world, and two worlds on one of them.
const SIDES: [(usize, usize); 3] = [(0, 0), (0, 1), (1, 0)];

/// 10,000 operations in all: 40 games of up to 500.
#[derive(Clone, Debug)]
enum Operation {
    Spawn(usize, u8),
    SpawnPlain(usize),
    Despawn(usize, usize),
    DespawnByHand(usize, usize),
    Clear(usize),
    RemoveBody(usize),
    RemoveThroughRapier(usize),
    /// Body, pose or both.
    TakeOff(usize, bool, bool),
    Hold(usize, bool),
    PutOn(usize, usize),
    Move(usize, usize, bool),
    Attach(usize, usize, usize, bool),
    Detach(usize),
    Frame(usize, u64),
    SpawnInHook(usize),
    DespawnInHook(usize),
    DespawnByHandInHook(usize),
    RemoveDropped(usize),
    Sync(usize),
    SyncAll(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    let which = || 0..100usize;
    let side = || 0..SIDES.len();
    prop_oneof![
        12 => (side(), 0..3u8).prop_map(|(s, kind)| Operation::Spawn(s, kind)),
        1 => (0..2usize).prop_map(Operation::SpawnPlain),
        3 => (side(), which()).prop_map(|(s, n)| Operation::Despawn(s, n)),
        2 => (0..2usize, which()).prop_map(|(w, n)| Operation::DespawnByHand(w, n)),
        1 => (0..30usize).prop_map(Operation::Clear),
        2 => which().prop_map(Operation::RemoveBody),
        2 => which().prop_map(Operation::RemoveThroughRapier),
        2 => (which(), any::<bool>(), any::<bool>()).prop_map(|(n, b, p)| Operation::TakeOff(n, b, p)),
        2 => (which(), any::<bool>()).prop_map(|(n, p)| Operation::Hold(n, p)),
        3 => (which(), which()).prop_map(|(n, to)| Operation::PutOn(n, to)),
        3 => (which(), which(), any::<bool>()).prop_map(|(n, to, p)| Operation::Move(n, to, p)),
        3 => (side(), which(), which(), any::<bool>())
            .prop_map(|(s, n, to, in_hook)| Operation::Attach(s, n, to, in_hook)),
        1 => which().prop_map(Operation::Detach),
        4 => (0..2usize, 0..60u64).prop_map(|(s, ms)| Operation::Frame(s, ms)),
        2 => side().prop_map(Operation::SpawnInHook),
        2 => which().prop_map(Operation::DespawnInHook),
        2 => which().prop_map(Operation::DespawnByHandInHook),
        2 => side().prop_map(Operation::RemoveDropped),
        4 => side().prop_map(Operation::Sync),
        4 => (0..60u64).prop_map(Operation::SyncAll),
    ]
}

/// What should be, beside what is.
struct Model {
    worlds: [World; 2],
    simulations: [Simulation; 2],
    entities: [Entities; 3],
    /// The bodies that live, by simulation.
    bodies: BTreeSet<(usize, BodyKey)>,
    parts: Vec<Part>,
    /// The entities whose [`Body`] was taken off and kept since the last sync: another one that is put on
    /// these is not noticed, as the docs say.
    taken_off: BTreeSet<(usize, Entity)>,
    /// What was put on since then: attached elsewhere before the next sync, it would be there twice.
    put_on: BTreeSet<(usize, BodyKey)>,
}

/// A [`Body`].
struct Part {
    side: usize,
    key: BodyKey,
    place: Place,
}

enum Place {
    On(Entity),
    Held(Body, Option<RenderPose>),
}

impl Part {
    fn body(&self) -> (usize, BodyKey) {
        (SIDES[self.side].1, self.key)
    }

    fn on(&self) -> Option<(usize, Entity)> {
        match self.place {
            Place::On(entity) => Some((SIDES[self.side].0, entity)),
            Place::Held(..) => None,
        }
    }
}

impl Model {
    fn new() -> Self {
        Self {
            worlds: Default::default(),
            simulations: [(); 2].map(|()| Simulation::new(Rate::hz(100).unwrap())),
            entities: Default::default(),
            bodies: BTreeSet::new(),
            parts: Vec::new(),
            taken_off: BTreeSet::new(),
            put_on: BTreeSet::new(),
        }
    }

    fn entity(&self, world: usize, n: usize) -> Option<Entity> {
        let mut entities = self.worlds[world].query::<Entity>();
        let count = entities.iter().count();
        entities.iter().nth(n % count.max(1))
    }

    fn entity_to_put_on(&self, world: usize, n: usize) -> Option<Entity> {
        let entity = self.entity(world, n)?;
        (!self.taken_off.contains(&(world, entity))).then_some(entity)
    }

    fn body(&self, n: usize) -> Option<(usize, BodyKey)> {
        self.bodies
            .iter()
            .nth(n % self.bodies.len().max(1))
            .copied()
    }

    /// One that is on an entity, or not.
    fn part(&self, n: usize, is_on: bool) -> Option<usize> {
        let parts = self.parts.iter().enumerate();
        let parts: Vec<usize> = parts
            .filter(|(_, part)| part.on().is_some() == is_on)
            .map(|(i, _)| i)
            .collect();
        parts.get(n % parts.len().max(1)).copied()
    }

    fn body_dies(&mut self, body: (usize, BodyKey)) {
        self.bodies.remove(&body);
        self.parts
            .retain(|part| part.body() != body || part.on().is_none());
    }

    /// What is on the entity is dropped.
    fn entity_loses(&mut self, world: usize, entity: Entity) {
        let on = |part: &&Part| part.on() == Some((world, entity));
        if let Some(body) = self.parts.iter().find(on).map(Part::body) {
            self.body_dies(body);
        }
    }

    fn spawned(&mut self, side: usize, (entity, key): (Entity, BodyKey)) {
        self.bodies.insert((SIDES[side].1, key));
        let place = Place::On(entity);
        self.parts.push(Part { side, key, place });
    }

    /// Takes a part off its entity; it is no longer in the list.
    fn hold(&mut self, part: usize, with_pose: bool) -> Option<Part> {
        let (world, entity) = self.parts[part].on()?;
        self.taken_off.insert((world, entity));
        let with_pose = with_pose || self.has_own_pose(part);
        let world = &mut self.worlds[world];
        let body = world.remove_one::<Body>(entity).unwrap();
        let pose = with_pose.then(|| world.remove_one::<RenderPose>(entity).ok());
        let mut part = self.parts.swap_remove(part);
        assert_eq!(body.key(), part.key);
        part.place = Place::Held(body, pose.flatten());
        Some(part)
    }

    /// A pose that the game put on itself, and that it takes off itself before a sync.
    fn has_own_pose(&self, part: usize) -> bool {
        let Part { side, key, .. } = self.parts[part];
        self.put_on.contains(&(side, key))
    }

    fn put_on(&mut self, part: Part, entity: Entity) {
        let (side, key, is_alive) = (part.side, part.key, self.bodies.contains(&part.body()));
        let world = SIDES[side].0;
        let Place::Held(body, pose) = part.place else {
            unreachable!("it is held")
        };
        self.worlds[world].insert_one(entity, body).unwrap();
        if let Some(pose) = pose {
            self.worlds[world].insert_one(entity, pose).unwrap();
        }
        self.entity_loses(world, entity);
        self.put_on.insert((side, key));
        if is_alive {
            let place = Place::On(entity);
            self.parts.push(Part { side, key, place });
        }
    }

    fn attach(&mut self, side: usize, key: BodyKey, entity: Entity, as_in_a_hook: bool) {
        let (world, simulation) = SIDES[side];
        let is_it = |part: &&mut Part| (part.side, part.key) == (side, key);
        let place = self.parts.iter_mut().find(is_it);
        let is_held = place.as_ref().is_some_and(|part| part.on().is_none());
        if is_held || self.put_on.contains(&(side, key)) {
            return;
        }
        let place = place.and_then(|part| part.on());
        let (world_, simulation_) = (&mut self.worlds[world], &mut self.simulations[simulation]);
        let entities = &mut self.entities[side];
        let attached = if as_in_a_hook {
            entities.attach(world_, &mut simulation_.physics, entity, key)
        } else {
            entities.attach(world_, simulation_, entity, key)
        };
        attached.unwrap();
        if place == Some((world, entity)) {
            return;
        }
        self.parts
            .retain(|part| (part.side, part.key) != (side, key));
        self.entity_loses(world, entity);
        let place = Place::On(entity);
        self.parts.push(Part { side, key, place });
    }

    fn sync(&mut self, side: usize) {
        let (world, simulation) = SIDES[side];
        self.entities[side].sync(&mut self.worlds[world], &mut self.simulations[simulation]);
    }

    /// Three times: a body that goes with its entity in one world is missed in the other after the next
    /// frame, and what one side lets go of another one may find.
    fn sync_all(&mut self, ms: u64) {
        for ms in [ms, 3, 0] {
            for simulation in &mut self.simulations {
                simulation.advance(MS(ms), |_, _| ());
            }
            for side in 0..SIDES.len() {
                self.sync(side);
            }
            self.taken_off.clear();
            self.put_on.clear();
        }
    }

    fn check(&self) {
        for part in &self.parts {
            let (world, simulation) = SIDES[part.side];
            let (world, simulation) = (&self.worlds[world], &self.simulations[simulation]);
            let entity = self.entities[part.side].entity(part.key);
            let Place::On(expected) = part.place else {
                assert_eq!(entity, None);
                continue;
            };
            assert_eq!(entity, Some(expected));
            assert_eq!(key(world, expected), part.key);
            assert_eq!(simulation.pose(part.key), Some(pose(world, expected)));
        }
        for (i, world) in self.worlds.iter().enumerate() {
            let on = self.parts.iter().filter_map(Part::on);
            let count = on.filter(|(world, _)| *world == i).count();
            assert_eq!(world.query::<&Body>().iter().count(), count);
            assert_eq!(world.query::<&RenderPose>().iter().count(), count);
        }
        for (i, simulation) in self.simulations.iter().enumerate() {
            let keys = self
                .bodies
                .iter()
                .filter(|(simulation, _)| *simulation == i);
            assert!(
                keys.clone()
                    .all(|(_, key)| simulation.physics.body(*key).is_some())
            );
            assert_eq!(simulation.physics.rapier().bodies.len(), keys.count());
        }
    }

    fn body_at(kind: u8, i: usize) -> RigidBodyBuilder {
        #[expect(clippy::cast_precision_loss, reason = "a place for each")]
        let at = vector((i % 16) as f32 * 3.0, (i / 16) as f32 * 3.0, 0.0);
        let body = match kind {
            0 => RigidBodyBuilder::dynamic(),
            1 => RigidBodyBuilder::dynamic().sleeping(true),
            _ => RigidBodyBuilder::fixed(),
        };
        body.translation(at)
    }

    /// `None` if there is nothing to do it to.
    fn apply(&mut self, i: usize, operation: Operation) -> Option<()> {
        let ball = || ColliderBuilder::ball(0.5);
        match operation {
            Operation::Spawn(side, kind) => {
                let (world, simulation) = SIDES[side];
                let (world, simulation) =
                    (&mut self.worlds[world], &mut self.simulations[simulation]);
                let body = Self::body_at(kind, i);
                let spawned = self.entities[side].spawn(
                    world,
                    &mut simulation.physics,
                    body,
                    ball(),
                    (Name(i),),
                );
                self.spawned(side, spawned);
            }
            Operation::SpawnPlain(world) => drop(self.worlds[world].spawn((Name(i),))),
            Operation::Despawn(side, n) => {
                let (world, simulation) = SIDES[side];
                let entity = self.entity(world, n)?;
                let world_ = &mut self.worlds[world];
                let despawned =
                    self.entities[side].despawn(world_, &mut self.simulations[simulation], entity);
                despawned.unwrap();
                self.entity_loses(world, entity);
            }
            Operation::DespawnByHand(world, n) => {
                let entity = self.entity(world, n)?;
                self.worlds[world].despawn(entity).unwrap();
                self.entity_loses(world, entity);
            }
            Operation::Clear(world) => {
                // Rarely.
                self.worlds.get_mut(world)?.clear();
                let on = self
                    .parts
                    .iter()
                    .filter(|part| part.on().is_some_and(|on| on.0 == world));
                let bodies: Vec<_> = on.map(Part::body).collect();
                for body in bodies {
                    self.body_dies(body);
                }
            }
            Operation::RemoveBody(n) => {
                let body = self.body(n)?;
                self.simulations[body.0].physics.remove(body.1).unwrap();
                self.body_dies(body);
            }
            Operation::RemoveThroughRapier(n) => {
                let body = self.body(n)?;
                let simulation = &mut self.simulations[body.0];
                let handle = simulation.physics.handle(body.1).unwrap();
                simulation.physics.rapier_mut().remove_body(handle).unwrap();
                self.body_dies(body);
            }
            Operation::TakeOff(n, with_body, with_pose) => {
                let part = self.part(n, true)?;
                let (world, entity) = self.parts[part].on()?;
                if with_pose || self.has_own_pose(part) {
                    let _ = self.worlds[world].remove_one::<RenderPose>(entity);
                }
                if with_body {
                    drop(self.worlds[world].remove_one::<Body>(entity).unwrap());
                    self.entity_loses(world, entity);
                }
            }
            Operation::Hold(n, with_pose) => {
                let part = self.part(n, true)?;
                let part = self.hold(part, with_pose)?;
                self.parts.push(part);
            }
            Operation::PutOn(n, to) => {
                let part = self.part(n, false)?;
                let entity = self.entity_to_put_on(SIDES[self.parts[part].side].0, to)?;
                let part = self.parts.swap_remove(part);
                self.put_on(part, entity);
            }
            Operation::Move(n, to, with_pose) => {
                let part = self.part(n, true)?;
                let entity = self.entity_to_put_on(SIDES[self.parts[part].side].0, to)?;
                let part = self.hold(part, with_pose)?;
                self.put_on(part, entity);
            }
            Operation::Attach(side, n, to, as_in_a_hook) => {
                let (world, simulation) = SIDES[side];
                let (_, key) = self.body(n).filter(|body| body.0 == simulation)?;
                let entity = self.entity(world, to)?;
                self.attach(side, key, entity, as_in_a_hook);
            }
            Operation::Detach(n) => {
                let part = self.part(n, true)?;
                let Part { side, key, .. } = self.parts[part];
                let (world, entity) = self.parts.swap_remove(part).on()?;
                let detached = self.entities[side].detach(&mut self.worlds[world], entity);
                assert_eq!(detached, Some(key));
            }
            Operation::Frame(simulation, ms) => {
                self.simulations[simulation].advance(MS(ms), |_, _| ());
            }
            Operation::SpawnInHook(side) => {
                let (world, simulation) = SIDES[side];
                let (world, entities) = (&mut self.worlds[world], &mut self.entities[side]);
                let mut spawned = Vec::new();
                self.simulations[simulation].advance(MS(20), |physics, _| {
                    let body = Self::body_at(0, i);
                    spawned.push(entities.spawn(world, physics, body, ball(), ()));
                });
                spawned
                    .into_iter()
                    .for_each(|spawned| self.spawned(side, spawned));
            }
            Operation::DespawnInHook(n) => {
                let part = &self.parts[self.part(n, true)?];
                let (side, (world, entity)) = (part.side, part.on()?);
                let (world_, entities) = (&mut self.worlds[world], &mut self.entities[side]);
                let frame = self.simulations[SIDES[side].1].advance(MS(20), |physics, _| {
                    if world_.contains(entity) {
                        entities.despawn(world_, physics, entity).unwrap();
                    }
                });
                if frame.steps > 0 {
                    self.entity_loses(world, entity);
                }
            }
            Operation::DespawnByHandInHook(n) => {
                let part = &self.parts[self.part(n, true)?];
                let (side, key, (world, entity)) = (part.side, part.key, part.on()?);
                let (world_, entities) = (&mut self.worlds[world], &mut self.entities[side]);
                let frame = self.simulations[SIDES[side].1].advance(MS(20), |physics, _| {
                    let _ = world_.despawn(entity);
                    entities.remove_dropped(world_, physics);
                    assert!(physics.body(key).is_none());
                });
                if frame.steps > 0 {
                    self.entity_loses(world, entity);
                }
            }
            Operation::RemoveDropped(side) => {
                let (world, simulation) = SIDES[side];
                let physics = &mut self.simulations[simulation].physics;
                self.entities[side].remove_dropped(&mut self.worlds[world], physics);
            }
            Operation::Sync(side) => self.sync(side),
            Operation::SyncAll(ms) => {
                self.sync_all(ms);
                self.check();
            }
        }
        Some(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_entity_without_its_body_nor_a_body_without_its_entity(
        operations in prop::collection::vec(operation(), 1..500),
    ) {
        let mut model = Model::new();
        for (i, operation) in operations.into_iter().enumerate() {
            model.apply(i, operation);
        }
        model.sync_all(0);
        model.check();
    }
}

#[test]
fn an_entity_that_lost_one_of_its_components_loses_the_other_with_its_body() {
    let mut world = hecs::World::new();
    let mut simulation = Simulation::new(Rate::default());
    let mut entities = Entities::default();
    let body = RigidBodyBuilder::dynamic();
    let ball = ColliderBuilder::ball(0.5);
    let (entity, _) = entities.spawn(&mut world, &mut simulation.physics, body, ball, ());
    world.remove_one::<RenderPose>(entity).unwrap();
    let key = world.get::<&Body>(entity).unwrap().key();
    simulation.physics.remove(key);
    simulation.advance(Duration::ZERO, |_, _| ());
    entities.sync(&mut world, &mut simulation);
    assert!(world.get::<&Body>(entity).is_err());
}

#[test]
fn two_simulations_in_one_world_leave_each_other_alone() {
    let mut world = World::new();
    let mut sides =
        [(); 2].map(|()| (Simulation::new(Rate::hz(100).unwrap()), Entities::default()));
    let spawned = [0.0, 9.0].map(|x| {
        sides.each_mut().map(|(simulation, entities)| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            spawn(entities, &mut world, simulation, body)
        })
    });
    assert_eq!(
        key(&world, spawned[0][0]),
        key(&world, spawned[0][1]),
        "equal keys"
    );
    world.despawn(spawned[0][1]).unwrap();
    for (simulation, entities) in &mut sides {
        simulation.advance(MS(20), |_, _| ());
        entities.sync(&mut world, simulation);
    }
    let counts = sides
        .each_ref()
        .map(|(simulation, _)| simulation.physics.rapier().bodies.len());
    assert_eq!(counts, [2, 1]);
    for (side, entity) in [(0, spawned[0][0]), (0, spawned[1][0]), (1, spawned[1][1])] {
        let (simulation, entities) = &sides[side];
        let key = key(&world, entity);
        assert_eq!(entities.entity(key), Some(entity));
        assert_eq!(simulation.pose(key), Some(pose(&world, entity)));
    }
}

#[test]
fn a_body_may_be_shown_in_two_worlds_and_goes_with_its_entity_in_either() {
    let mut simulation = Simulation::new(Rate::hz(100).unwrap());
    let mut sides = [(); 2].map(|()| (World::new(), Entities::default()));
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let shown = sides.each_mut().map(|(world, entities)| {
        let entity = world.spawn((Name(1),));
        entities
            .attach(world, &mut simulation, entity, key)
            .unwrap();
        entity
    });
    let frame = |simulation: &mut Simulation, sides: &mut [(World, Entities)]| {
        simulation.advance(MS(20), |_, _| ());
        for (world, entities) in sides {
            entities.sync(world, simulation);
        }
    };
    frame(&mut simulation, &mut sides);
    for ((world, _), entity) in sides.iter().zip(shown) {
        assert_eq!(Some(pose(world, entity)), simulation.pose(key));
    }
    sides[1].0.despawn(shown[1]).unwrap();
    frame(&mut simulation, &mut sides);
    frame(&mut simulation, &mut sides);
    assert!(simulation.physics.body(key).is_none());
    let (world, _) = &sides[0];
    assert!(world.satisfies::<&Name>(shown[0]));
    assert!(!world.satisfies::<hecs::Or<&Body, &RenderPose>>(shown[0]));
}

/// Frames without a sync, few and many: what came to rest, moved on or was removed in them.
#[test]
fn frames_without_a_sync_are_made_up_for() {
    for skipped in [1, 2, 5, 400] {
        let mut game = Game::new();
        let ground = game.spawn(RigidBodyBuilder::fixed().translation(Vector::Y * -50.0));
        let bodies: Vec<Entity> = (0..40u8)
            .map(|i| {
                let at = vector(f32::from(i) * 3.0, 0.0, 0.0);
                game.spawn(
                    RigidBodyBuilder::dynamic()
                        .translation(at)
                        .gravity_scale(0.0),
                )
            })
            .collect();
        game.frame(20);
        for entity in &bodies[..30] {
            let key = key(&game.world, *entity);
            let body = game.simulation().physics.body_mut(key).unwrap();
            body.set_linvel(vector(0.0, 0.0, 1.0), true);
        }
        for frame in 0..skipped {
            game.simulation().advance(MS(20), |_, _| ());
            // One after the other comes to rest, is put elsewhere, is removed.
            let entity = bodies[frame % 40];
            let key = key(&game.world, entity);
            match (frame % 3, game.simulation().physics.body_mut(key)) {
                (_, None) => (),
                (0, Some(body)) => body.sleep(),
                (1, Some(_)) => {
                    let place = translation(0.0, 30.0, 3.0 * frame as f32);
                    game.simulation().physics.teleport(key, place).unwrap();
                }
                _ => drop(game.simulation().physics.remove(key)),
            }
        }
        game.frame(20);
        game.check();
        assert!(game.world.satisfies::<&Body>(ground));
        let simulated = game.simulation().physics.rapier().bodies.len();
        assert_eq!(simulated < 41, skipped > 2, "{skipped} skipped");
    }
}

#[test]
fn a_body_moved_by_hand_goes_on_there() {
    for (asleep, with_pose, onto_a_body) in [
        (false, false, false),
        (false, true, false),
        (false, false, true),
        (true, false, false),
        (true, true, false),
        (true, true, true),
    ] {
        let mut game = Game::new();
        let body = RigidBodyBuilder::dynamic().sleeping(asleep);
        let entity = game.spawn(body.translation(Vector::Y * 9.0));
        let key = key(&game.world, entity);
        game.frame(20);
        let other = if onto_a_body {
            game.spawn(RigidBodyBuilder::dynamic().sleeping(asleep))
        } else {
            game.world.spawn(())
        };
        if with_pose {
            let both = game.world.remove::<(Body, RenderPose)>(entity).unwrap();
            game.world.insert(other, both).unwrap();
        } else {
            let body = game.world.remove_one::<Body>(entity).unwrap();
            game.world.insert_one(other, body).unwrap();
        }
        for _ in 0..3 {
            game.frame(20);
            game.check();
            assert_eq!(game.entities.entity(key), Some(other));
            assert_eq!(game.simulation().physics.rapier().bodies.len(), 1);
        }
    }
}

#[test]
fn a_body_held_outside_of_the_world_lives_on_and_can_be_put_back() {
    for (asleep, with_pose, elsewhere) in [false, true]
        .into_iter()
        .flat_map(|a| [(a, false, false), (a, true, false), (a, true, true)])
    {
        let mut game = Game::new();
        let body = RigidBodyBuilder::dynamic().sleeping(asleep);
        let entity = game.spawn(body.translation(Vector::Y * 9.0));
        let key = key(&game.world, entity);
        game.frame(20);
        let body = game.world.remove_one::<Body>(entity).unwrap();
        let shown = with_pose.then(|| game.world.remove_one::<RenderPose>(entity).unwrap());
        for _ in 0..3 {
            game.frame(20);
            assert!(game.simulation().physics.body(key).is_some());
            assert_eq!(game.entities.entity(key), None);
            assert!(
                !game.world.satisfies::<&RenderPose>(entity),
                "no ghost is left"
            );
        }
        let to = if elsewhere {
            game.world.spawn(())
        } else {
            entity
        };
        game.world.insert_one(to, body).unwrap();
        if let Some(shown) = shown {
            game.world.insert_one(to, shown).unwrap();
        }
        game.frame(20);
        game.check();
        assert_eq!(game.entities.entity(key), Some(to));
        drop(game.world.remove_one::<Body>(to).unwrap());
        game.frame(20);
        game.check();
        assert_eq!(game.simulation().physics.rapier().bodies.len(), 0);
    }
}

#[test]
fn a_body_taken_off_alone_leaves_no_pose_behind_and_no_pose_of_the_games_own_is_taken() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let own = game.world.spawn((RenderPose(Pose::IDENTITY),));
    drop(game.world.remove_one::<Body>(entity).unwrap());
    game.frame(20);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 0);
    assert!(!game.world.satisfies::<&RenderPose>(entity));
    assert!(game.world.satisfies::<&RenderPose>(own));
}

#[test]
fn what_is_spawned_in_an_entitys_place_keeps_a_pose_of_the_games_own() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let own = translation(1.0, 2.0, 3.0);
    game.world.spawn_at(entity, (RenderPose(own),));
    game.frame(10);
    assert_eq!(game.pose(entity), own);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 0);
}

#[test]
fn spawn_gives_the_key_and_attach_says_what_is_missing() {
    let mut world = World::new();
    let mut simulation = Simulation::default();
    let mut entities = Entities::default();
    let ball = ColliderBuilder::ball(0.5);
    let body = RigidBodyBuilder::dynamic();
    let (entity, spawned) =
        entities.spawn(&mut world, &mut simulation.physics, body, ball, (Name(1),));
    assert_eq!(key(&world, entity), spawned);
    let gone = world.spawn(());
    world.despawn(gone).unwrap();
    let dead = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    simulation.physics.remove(dead);
    let other = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    for (entity, key, error) in [
        (entity, dead, EntityError::BodyGone(dead)),
        (gone, other, EntityError::NoSuchEntity(gone)),
    ] {
        let attached = entities.attach(&mut world, &mut simulation, entity, key);
        assert_eq!(attached, Err(error));
    }
    let despawned = entities.despawn(&mut world, &mut simulation, gone);
    assert_eq!(despawned, Err(EntityError::NoSuchEntity(gone)));
    entities.sync(&mut world, &mut simulation);
    assert_eq!(key(&world, entity), spawned, "nothing was changed");
    assert_eq!(simulation.physics.rapier().bodies.len(), 2);
}

#[test]
fn a_body_goes_from_world_to_world_by_detach_and_attach() {
    let mut simulation = Simulation::default();
    let [mut here, mut there] = [(); 2].map(|()| (World::new(), Entities::default()));
    let body = RigidBodyBuilder::dynamic();
    let entity = spawn(&mut here.1, &mut here.0, &mut simulation, body);
    let key = here.1.detach(&mut here.0, entity).unwrap();
    assert_eq!(here.1.detach(&mut here.0, entity), None);
    assert!(!here.0.satisfies::<hecs::Or<&Body, &RenderPose>>(entity));
    let other = there.0.spawn(());
    there
        .1
        .attach(&mut there.0, &mut simulation, other, key)
        .unwrap();
    here.0.clear();
    simulation.advance(MS(40), |_, _| ());
    for (world, entities) in [&mut here, &mut there] {
        entities.sync(world, &mut simulation);
    }
    assert_eq!(Some(pose(&there.0, other)), simulation.pose(key));
}

#[test]
fn an_attached_body_moved_by_hand_since_the_last_sync_is_there_once() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    let [by_hand, attached] = [(); 2].map(|()| game.world.spawn(()));
    let body = game.world.remove_one::<Body>(entity).unwrap();
    game.world.insert_one(by_hand, body).unwrap();
    let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
    game.entities
        .attach(world, simulation, attached, key)
        .unwrap();
    game.frame(20);
    game.check();
    assert_eq!(game.entities.entity(key), Some(attached));
}

/// Whose entities' handles are those of earlier ones.
#[test]
fn a_world_that_was_cleared_starts_anew_also_beside_a_body_that_is_kept() {
    let mut game = Game::new();
    let kept = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * 9.0));
    game.spawn(RigidBodyBuilder::dynamic());
    game.frame(20);
    let body = game.world.remove_one::<Body>(kept).unwrap();
    game.world.clear();
    assert_eq!(game.spawn(RigidBodyBuilder::dynamic()), kept);
    for _ in 0..3 {
        game.frame(20);
        assert_eq!(game.entities.entity(body.key()), None);
        let key = key(&game.world, kept);
        let shown = game.simulation().pose(key);
        assert_eq!(Some(pose(&game.world, kept)), shown);
    }
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 2);
    drop(body);
    game.frame(20);
    game.check();
}

#[test]
fn an_entity_taken_and_spawned_again_is_found_when_its_body_moves() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    game.frame(20);
    let mut other = World::new();
    let elsewhere = other.spawn(game.world.take(entity).unwrap());
    let again = game.world.spawn(other.take(elsewhere).unwrap());
    game.frame(20);
    game.check();
    assert_eq!(game.entities.entity(key), Some(again));
}

/// Its entity is not the one that was noted, so there is nobody to tell at once.
#[test]
fn an_entity_taken_and_spawned_again_loses_a_body_that_is_gone() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    let mut other = World::new();
    let elsewhere = other.spawn(game.world.take(entity).unwrap());
    game.world.spawn(other.take(elsewhere).unwrap());
    game.simulation().physics.remove(key);
    game.frame(20);
    game.check();
}

#[test]
fn a_new_key_in_the_place_of_a_dead_one_leaves_no_ghost() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let key = key(&game.world, entity);
    game.simulation().physics.remove(key);
    game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * 9.0));
    game.frame(20);
    game.check();
    assert!(!game.world.satisfies::<&Body>(entity));
}

/// Rapier gives out the places of removed bodies in the order of their removal.
#[test]
fn bodies_are_removed_in_the_same_order_whatever_the_order_of_the_drops() {
    let handles = [false, true].map(|backwards| {
        let mut game = Game::new();
        let mut spawned: Vec<Entity> = (0..8u8)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic();
                game.spawn(body.translation(Vector::X * 9.0 * f32::from(i)))
            })
            .collect();
        if backwards {
            spawned.reverse();
        }
        for entity in spawned {
            let body = game.world.remove_one::<Body>(entity).unwrap();
            std::thread::spawn(|| drop(body)).join().unwrap();
        }
        game.frame(20);
        game.check();
        [(); 8].map(|()| {
            let entity = game.spawn(RigidBodyBuilder::dynamic());
            let key = key(&game.world, entity);
            game.simulation().physics.handle(key)
        })
    });
    assert_eq!(handles[0], handles[1]);
}

#[test]
fn new_entities_over_an_old_world_leave_its_bodies_alone_until_they_are_attached() {
    let mut game = Game::new();
    let entities =
        [0.0, 9.0].map(|x| game.spawn(RigidBodyBuilder::dynamic().translation(Vector::X * x)));
    game.frame(20);
    game.entities = Entities::default();
    game.world.despawn(entities[0]).unwrap();
    let key = key(&game.world, entities[1]);
    game.frame(20);
    assert_eq!(game.simulation().physics.rapier().bodies.len(), 2);
    assert_eq!(game.entities.entity(key), None);
    let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
    game.entities
        .attach(world, simulation, entities[1], key)
        .unwrap();
    game.frame(20);
    assert_eq!(game.entities.entity(key), Some(entities[1]));
    assert_eq!(
        Some(pose(&game.world, entities[1])),
        game.simulation().pose(key)
    );
}

#[test]
fn everything_can_be_debugged() {
    let mut game = Game::new();
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let body = game.world.get::<&Body>(entity).unwrap();
    assert_eq!(format!("{body:?}"), format!("Body({:?})", body.key()));
    let text = format!("{:?}", game.entities);
    assert!(text.starts_with("Entities { owners: Owners {"), "{text}");
}

#[test]
fn more_frames_without_a_sync_than_are_remembered_are_made_up_for() {
    let mut game = Game::new();
    let [moved, removed, busy] = [0.0, 9.0, 18.0].map(|x| {
        let body = RigidBodyBuilder::fixed();
        game.spawn(body.translation(Vector::X * x))
    });
    game.frame(20);
    game.frame(20);
    let synced = game.simulation().frame().number;
    let [moved_key, removed_key, busy] = [moved, removed, busy].map(|one| key(&game.world, one));
    let body = game.simulation().physics.body_mut(moved_key).unwrap();
    body.set_translation(Vector::Y, true);
    game.simulation().physics.remove(removed_key);
    for _ in 0..20 {
        // Comes to rest, and dies, again and again.
        game.simulation().physics.body_mut(busy).unwrap();
        let body = game
            .simulation()
            .physics
            .insert_body(RigidBodyBuilder::fixed());
        game.simulation().physics.remove(body);
        game.simulation().advance(MS(20), |_, _| ());
    }
    assert!(game.simulation().changes_since(synced).is_none());
    game.frame(20);
    game.check();
    assert_eq!(pose(&game.world, moved).translation, Vector::Y);
    assert!(!game.world.satisfies::<&Body>(removed));
}

#[test]
fn a_body_attached_anew_outlives_the_component_that_it_was_taken_off_with() {
    for is_synced in [false, true] {
        let mut game = Game::new();
        let entity = game.spawn(RigidBodyBuilder::dynamic());
        let key = key(&game.world, entity);
        let body = game.world.remove_one::<Body>(entity).unwrap();
        if is_synced {
            game.frame(20);
        }
        let other = game.world.spawn(());
        let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
        game.entities.attach(world, simulation, other, key).unwrap();
        drop(body);
        game.frame(20);
        game.check();
        assert_eq!(game.entities.entity(key), Some(other));
    }
}

#[test]
fn after_a_restore_one_call_names_what_is_on_one_side_only() {
    let mut game = Game::new();
    let [kept, despawned] = [0.0, 5.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body.linvel(Vector::Y))
    });
    game.frame(25);
    let lost = key(&game.world, despawned);
    let saved = game.simulation().clone();
    game.despawn(despawned);
    let late = [10.0, 15.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body)
    });
    game.frame(95);

    game.simulation().clone_from(&saved);
    let simulation = game.simulation.as_ref().unwrap();
    let unmatched = game
        .entities
        .unmatched(&mut game.world, &simulation.physics);
    let gone: BTreeSet<Entity> = unmatched.entities.into_iter().collect();
    assert_eq!(gone, BTreeSet::from(late));
    assert_eq!(unmatched.bodies, [lost]);

    // The game puts it right.
    for entity in late {
        game.despawn(entity);
    }
    let again = game.world.spawn(());
    let simulation = game.simulation.as_mut().unwrap();
    let attached = game
        .entities
        .attach(&mut game.world, simulation, again, lost);
    assert_eq!(attached, Ok(()));
    game.frame(0);
    game.check();
    assert!(game.world.contains(kept));
    let simulation = game.simulation.as_ref().unwrap();
    assert!(
        game.entities
            .unmatched(&mut game.world, &simulation.physics)
            .is_empty()
    );
}

#[test]
fn a_new_body_in_the_place_of_a_dead_one_before_the_sync_leaves_all_others_as_they_are() {
    let mut world = World::new();
    let mut sides = [(); 2].map(|()| {
        let mut simulation = Simulation::new(Rate::hz(100).unwrap());
        simulation.physics.rapier_mut().gravity = Vector::ZERO;
        (Entities::default(), simulation)
    });
    let flying = || RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let spawned = sides.each_mut().map(|(entities, simulation)| {
        [(); 3].map(|()| spawn(entities, &mut world, simulation, flying()))
    });
    for (entities, simulation) in &mut sides {
        simulation.advance(MS(25), |_, _| ());
        entities.sync(&mut world, simulation);
    }
    let keys = spawned.map(|side| side.map(|entity| key(&world, entity)));

    let (entities, simulation) = &mut sides[0];
    simulation.physics.remove(keys[0][0]).unwrap();
    let late = spawn(entities, &mut world, simulation, flying());
    let late_key = key(&world, late);
    for (entities, simulation) in &mut sides {
        simulation.advance(MS(25), |_, _| ());
        entities.sync(&mut world, simulation);
    }
    assert!(world.get::<&Body>(spawned[0][0]).is_err());
    assert!(world.get::<&RenderPose>(spawned[0][0]).is_err());
    assert_eq!(sides[0].0.entity(keys[0][0]), None);
    let mut living = vec![(0, late, late_key)];
    for side in 0..2 {
        let pairs = spawned[side].into_iter().zip(keys[side]);
        living.extend(pairs.map(|(entity, key)| (side, entity, key)));
    }
    living.retain(|(_, entity, _)| *entity != spawned[0][0]);
    assert_eq!(living.len(), 6);
    for (side, entity, key) in living {
        let (entities, simulation) = &sides[side];
        assert_eq!(entities.entity(key), Some(entity), "of side {side}");
        assert_eq!(
            simulation.pose(key),
            Some(pose(&world, entity)),
            "of side {side}"
        );
        assert!(pose(&world, entity).translation.x > 0.1);
    }
}

/// After a rollback the components are what the simulation shows; what is on one side only is found.
#[test]
fn after_a_rollback_entities_are_where_the_simulation_shows_them() {
    let mut game = Game::new();
    game.simulation().set_rewind_limits(50, usize::MAX);
    let stays = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
    game.frame(55);
    let guest = game.spawn(RigidBodyBuilder::dynamic());
    game.frame(30);
    let key = key(&game.world, stays);
    let shown = game.pose(stays);
    let push = |physics: &mut Physics, step: evenstep::Step| {
        if step.tick == 4 {
            physics.apply_impulse(key, Vector::X).unwrap();
        }
    };
    // Back to where the guest was not: what is between frames is not made again.
    game.simulation().resimulate(3, push).unwrap();
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let unmatched = entities.unmatched(world, &simulation.as_ref().unwrap().physics);
    assert_eq!(unmatched.entities, [guest]);
    assert_eq!(unmatched.bodies, []);
    entities
        .despawn(world, simulation.as_mut().unwrap(), guest)
        .unwrap();
    game.frame(0);
    game.check();
    let off = game.pose(stays).translation - shown.translation;
    assert!(off.length() < 1e-5, "{off} off, without a jump");
    for _ in 0..50 {
        game.frame(60);
        game.check();
    }
    assert_eq!(game.simulation().visual_error(key), None);
    assert!(game.pose(stays).translation.x > 0.1);
    // A body that is back, but not its entity, which was despawned between two frames.
    game.despawn(stays);
    game.frame(0);
    let tick = game.simulation().physics.tick();
    game.simulation().resimulate(tick - 2, |_, _| ()).unwrap();
    let Game {
        world,
        simulation,
        entities,
    } = &mut game;
    let unmatched = entities.unmatched(world, &simulation.as_ref().unwrap().physics);
    assert_eq!(unmatched.bodies, [key]);
    assert_eq!(unmatched.entities, []);
}

/// It has another body then, and the one that it had is gone.
#[test]
fn an_entity_taken_spawned_again_and_given_another_body_shows_that_one() {
    for is_held in [false, true] {
        let mut game = Game::new();
        let flying = |x: f32| {
            let body = RigidBodyBuilder::dynamic().linvel(Vector::Y);
            body.translation(Vector::X * x)
        };
        let [entity, other] = [0.0, 9.0].map(|x| game.spawn(flying(x)));
        game.frame(20);
        // Held since the last frame, or taken off in this one.
        let mut held = is_held.then(|| game.world.remove_one::<Body>(other).unwrap());
        game.frame(20);
        let mut elsewhere = World::new();
        let there = elsewhere.spawn(game.world.take(entity).unwrap());
        let again = game.world.spawn(elsewhere.take(there).unwrap());
        let body = held.take();
        let body = body.unwrap_or_else(|| game.world.remove_one::<Body>(other).unwrap());
        let key = body.key();
        game.world.insert_one(again, body).unwrap();
        for _ in 0..3 {
            game.frame(20);
            assert_eq!(game.entities.entity(key), Some(again));
            game.check();
        }
        assert_eq!(game.simulation().physics.rapier().bodies.len(), 1);
    }
}

#[test]
fn a_body_put_on_in_place_of_one_that_is_kept_is_shown() {
    let mut game = Game::new();
    let [one, other] = [0.0, 9.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        game.spawn(body.linvel(Vector::Y))
    });
    game.frame(20);
    let kept = game.world.remove_one::<Body>(one).unwrap();
    let body = game.world.remove_one::<Body>(other).unwrap();
    let key = body.key();
    game.world.insert_one(one, body).unwrap();
    for _ in 0..3 {
        game.frame(20);
        assert_eq!(game.entities.entity(key), Some(one));
        let shown = game.simulation().pose(key);
        assert_eq!(Some(pose(&game.world, one)), shown);
    }
    assert!(game.simulation().physics.body(kept.key()).is_some());
}

/// Its key may be that of another body by then.
#[test]
fn what_a_restore_leaves_without_a_body_takes_none_away_later() {
    for is_despawned_before in [false, true] {
        let mut game = Game::new();
        game.frame(20);
        let saved = game.simulation().clone();
        let late = game.spawn(RigidBodyBuilder::dynamic());
        let old = key(&game.world, late);
        game.frame(20);
        if is_despawned_before {
            game.world.despawn(late).unwrap();
        }
        game.simulation().clone_from(&saved);
        let simulation = game.simulation.as_ref().unwrap();
        let unmatched = game
            .entities
            .unmatched(&mut game.world, &simulation.physics);
        let expected = (!is_despawned_before).then_some(late);
        assert_eq!(unmatched.entities, Vec::from_iter(expected));
        // The step is resimulated, and its new body gets the same key.
        let unrelated = RigidBodyBuilder::dynamic().translation(Vector::X * 9.0);
        assert_eq!(game.simulation().physics.insert_body(unrelated), old);
        game.frame(20);
        if !is_despawned_before {
            game.world.despawn(late).unwrap();
        }
        game.frame(20);
        assert!(game.simulation().physics.body(old).is_some());
    }
}

/// Without a call of `unmatched`, both have the key.
#[test]
fn an_entity_spawned_in_a_step_made_again_keeps_its_body_from_one_that_had_the_key() {
    type End = fn(&mut Game, Entity);
    let ends: [End; 4] = [
        |game, late| game.despawn(late),
        |game, late| game.world.despawn(late).unwrap(),
        |game, late| drop(game.world.remove_one::<Body>(late).unwrap()),
        |game, late| {
            let simulation = game.simulation.as_mut().unwrap();
            let other = simulation.physics.insert_body(RigidBodyBuilder::fixed());
            let Game {
                world, entities, ..
            } = game;
            entities.attach(world, simulation, late, other).unwrap();
        },
    ];
    for end in ends {
        for is_synced_before in [false, true] {
            let mut game = Game::new();
            game.simulation().set_rewind_limits(50, usize::MAX);
            game.frame(20);
            let late = game.spawn(RigidBodyBuilder::dynamic());
            let old = key(&game.world, late);
            game.frame(20);
            let (world, entities) = (&mut game.world, &mut game.entities);
            let simulation = game.simulation.as_mut().unwrap();
            simulation.roll_back(1).unwrap();
            assert!(simulation.next_step().is_some());
            let new = spawn(entities, world, simulation, RigidBodyBuilder::dynamic());
            assert_eq!(key(world, new), old);
            while simulation.make_step() {
                simulation.next_step();
            }
            if is_synced_before {
                game.frame(0);
            }
            end(&mut game, late);
            game.frame(20);
            game.frame(20);
            assert!(game.simulation().physics.body(old).is_some());
            assert_eq!(game.entities.entity(old), Some(new));
            let shown = game.simulation().pose(old);
            assert_eq!(Some(game.pose(new)), shown);
        }
    }
}

#[test]
fn a_body_that_comes_back_and_goes_again_in_steps_made_again_is_gone() {
    let mut game = Game::new();
    game.simulation().set_rewind_limits(50, usize::MAX);
    let entity = game.spawn(RigidBodyBuilder::dynamic());
    let old = key(&game.world, entity);
    let steps = |game: &mut Game| {
        let Game {
            world,
            simulation,
            entities,
        } = game;
        let simulation = simulation.as_mut().unwrap();
        while let Some(step) = simulation.next_step() {
            if step.tick == 3
                && let Some(handle) = simulation.physics.handle(old)
            {
                simulation.physics.rapier_mut().remove_body(handle);
            }
            entities.remove_dropped(world, &mut simulation.physics);
            simulation.make_step();
            entities.remove_dropped(world, &mut simulation.physics);
        }
    };
    for _ in 0..3 {
        game.simulation().begin_frame(MS(20));
        steps(&mut game);
        game.simulation().end_frame();
        let simulation = game.simulation.as_mut().unwrap();
        game.entities.sync(&mut game.world, simulation);
    }
    assert!(!game.world.satisfies::<&Body>(entity));
    for is_new in [false, true] {
        game.simulation().roll_back(2).unwrap();
        let Game {
            world,
            simulation,
            entities,
        } = &mut game;
        let simulation = simulation.as_mut().unwrap();
        assert_eq!(entities.unmatched(world, &simulation.physics).bodies, [old]);
        entities.attach(world, simulation, entity, old).unwrap();
        simulation.begin_frame(MS(if is_new { 20 } else { 0 }));
        steps(&mut game);
        game.simulation().end_frame();
        let simulation = game.simulation.as_mut().unwrap();
        game.entities.sync(&mut game.world, simulation);
        assert!(!game.world.satisfies::<&Body>(entity));
        assert!(!game.world.satisfies::<&RenderPose>(entity));
    }
}

/// A true pose is one frame ahead.
#[test]
fn an_attached_body_is_displayed_with_all_others_also_in_a_pause() {
    for (attach_to_physics, has_new_frame) in [(false, true), (true, true), (true, false)] {
        let mut game = Game::new();
        let flying = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
        let key = game.simulation().physics.insert_body(flying);
        game.frame(25);
        game.simulation().pause();
        game.frame(10);
        let shown = game.simulation().pose(key);
        let position = *game.simulation().physics.body(key).unwrap().position();
        assert!(shown.is_some_and(|shown| shown != position));
        let entity = game.world.spawn(());
        let (world, simulation) = (&mut game.world, game.simulation.as_mut().unwrap());
        if attach_to_physics {
            let physics = &mut simulation.physics;
            game.entities.attach(world, physics, entity, key).unwrap();
            assert_eq!(pose(world, entity), position);
        } else {
            game.entities
                .attach(world, simulation, entity, key)
                .unwrap();
            assert_eq!(Some(pose(world, entity)), shown);
        }
        if has_new_frame {
            game.frame(10);
            assert!(game.simulation().moved().is_empty());
        } else {
            game.entities.sync(world, simulation);
        }
        assert_eq!(Some(game.pose(entity)), shown);
        game.check();
    }
}

/// A game that makes steps and never draws.
#[test]
fn any_number_of_entities_may_come_and_go_without_a_sync() {
    let mut game = Game::new();
    game.frame(20);
    for _ in 0..100 {
        let entity = game.spawn(RigidBodyBuilder::dynamic());
        game.world.despawn(entity).unwrap();
        let physics = &mut game.simulation.as_mut().unwrap().physics;
        game.entities.remove_dropped(&mut game.world, physics);
        assert_eq!(physics.bodies().count(), 0);
    }
    assert!(format!("{:?}", game.entities).len() < 1_000);
    let entity = game.spawn(RigidBodyBuilder::dynamic().linvel(Vector::X));
    game.frame(25);
    game.check();
    assert!(game.pose(entity).translation.x > 0.0);
}

#[test]
fn bodies_of_dropped_entities_are_removed_in_the_same_step_at_every_frame_rate() {
    let runs = [5, 20, 90].map(|ms| {
        let mut game = Game::new();
        let (mut spawned, mut handles) = (Vec::new(), Vec::new());
        while game.simulation().physics.tick() < 36 {
            let Game {
                world,
                simulation,
                entities,
            } = &mut game;
            let simulation = simulation.as_mut().unwrap();
            simulation.advance(MS(ms), |physics, step| {
                if step.tick % 3 == 0 {
                    for entity in spawned.drain(..).rev() {
                        world.despawn(entity).unwrap();
                    }
                }
                entities.remove_dropped(world, physics);
                for _ in 0..3 {
                    let body = RigidBodyBuilder::dynamic();
                    let (entity, key) =
                        entities.spawn(world, physics, body, ColliderBuilder::ball(0.5), ());
                    spawned.push(entity);
                    handles.push((key, physics.handle(key)));
                }
                let living = 3 * (step.tick % 3 + 1) as usize;
                assert_eq!(physics.bodies().count(), living);
            });
            entities.sync(world, simulation);
            game.check();
        }
        handles
    });
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

#[test]
fn after_an_assignment_entities_are_those_of_the_new_value() {
    for (is_in_hook, has_new_frame) in [(false, true), (false, false), (true, true)] {
        let mut game = Game::new();
        let flying = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let [stays, falls_asleep] = [0.0, 9.0].map(|x| {
            let body = flying.clone().translation(Vector::X * x);
            game.spawn(body)
        });
        game.frame(25);
        let saved = game.simulation().physics.clone();
        let late = game.spawn(RigidBodyBuilder::dynamic().translation(Vector::Y * 9.0));
        let asleep = key(&game.world, falls_asleep);
        game.frame(200);
        game.simulation().physics.body_mut(asleep).unwrap().sleep();
        game.frame(100);
        game.frame(100);
        assert!(game.pose(stays).translation.x > 0.3);

        if is_in_hook {
            let mut saved = Some(saved);
            game.simulation().advance(MS(10), |physics, _| {
                *physics = saved.take().expect("one step");
            });
        } else {
            game.simulation().physics = saved;
        }
        if has_new_frame {
            game.frame(0);
        } else {
            let simulation = game.simulation.as_mut().unwrap();
            game.entities.sync(&mut game.world, simulation);
        }
        assert!(game.world.contains(late));
        let has_any = game.world.satisfies::<hecs::Or<&Body, &RenderPose>>(late);
        assert!(!has_any);
        game.check();
        game.frame(0);
        game.check();
        assert!(game.pose(stays).translation.x < 0.1);
        let simulation = game.simulation.as_ref().unwrap();
        let unmatched = game
            .entities
            .unmatched(&mut game.world, &simulation.physics);
        assert!(unmatched.is_empty());
        for _ in 0..5 {
            game.frame(25);
            game.check();
        }
    }
}
