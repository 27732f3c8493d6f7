//! Random worlds, compared with a model.

use super::*;

/// Two simulations share one world, and two worlds share one simulation.
const SIDES: [(usize, usize); 3] = [(0, 0), (0, 1), (1, 0)];

/// There are 10,000 operations in all: 40 games of up to 500.
#[derive(Clone, Debug)]
enum Operation {
    Spawn(usize, u8),
    SpawnPlain(usize),
    Despawn(usize, usize),
    DespawnByHand(usize, usize),
    Clear(usize),
    RemoveBody(usize),
    RemoveThroughRapier(usize),
    /// Takes off the body, the pose or both.
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

/// The expected contents, beside the actual ones.
struct Model {
    worlds: [World; 2],
    simulations: [Simulation; 2],
    entities: [Entities; 3],
    /// The bodies that exist, by simulation.
    bodies: BTreeSet<(usize, BodyKey)>,
    parts: Vec<Part>,
    /// The entities whose [`Body`] was taken off and kept since the last sync. Another one that is put on these
    /// entities is not detected, as the docs say.
    taken_off: BTreeSet<(usize, Entity)>,
    /// Bodies that were put on since the last sync. If they were attached to another entity before the next sync, they
    /// would exist twice.
    put_on: BTreeSet<(usize, BodyKey)>,
}

/// A [`Body`] component.
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
            simulations: [(); 2].map(|()| Simulation::new(Rate::hz(100))),
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

    /// Returns a part that is on an entity, or one that is not.
    fn part(&self, n: usize, is_on: bool) -> Option<usize> {
        let parts = self.parts.iter().enumerate();
        let parts: Vec<usize> = parts
            .filter(|(_, part)| part.on().is_some() == is_on)
            .map(|(i, _)| i)
            .collect();
        parts.get(n % parts.len().max(1)).copied()
    }

    /// Returns whether no other `Entities` have bodies in the world of a part. Otherwise a component that is moved by
    /// hand may go undetected, as the docs say.
    fn is_alone(&self, part: usize) -> bool {
        let world = SIDES[self.parts[part].side].0;
        SIDES.iter().filter(|side| side.0 == world).count() == 1
    }

    fn body_dies(&mut self, body: (usize, BodyKey)) {
        self.bodies.remove(&body);
        self.parts
            .retain(|part| part.body() != body || part.on().is_none());
    }

    /// Drops the parts on the entity.
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

    /// Takes a part off its entity. The list no longer has it.
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

    /// Returns whether the game inserted the pose, instead of the sync. The game removes such a pose before a sync.
    fn has_own_pose(&self, part: usize) -> bool {
        let Part { side, key, .. } = self.parts[part];
        let on = self.parts[part].on().map(|(_, entity)| entity);
        self.put_on.contains(&(side, key)) || self.entities[side].entity(key) != on
    }

    fn put_on(&mut self, part: Part, entity: Entity) {
        let (side, key, is_alive) = (part.side, part.key, self.bodies.contains(&part.body()));
        let world = SIDES[side].0;
        let Place::Held(body, pose) = part.place else {
            unreachable!("the part is held")
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

    /// Runs three frames. If a body is removed with its entity in one world, the other world detects it only after the
    /// next frame, and one side may detect bodies that another one releases.
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

    /// Moves bodies whose components were both moved to another entity, because only that reveals it.
    fn move_those_at_rest(&mut self) {
        for part in &self.parts {
            let entity = self.entities[part.side].entity(part.key);
            let physics = &mut self.simulations[SIDES[part.side].1].physics;
            if entity.is_some()
                && part.on().map(|(_, on)| on) != entity
                && let Some(body) = physics.body(part.key)
            {
                let mut there = *body.position();
                there.translation += Vector::Y;
                physics.teleport(part.key, there).unwrap();
            }
        }
        self.sync_all(0);
    }

    fn check(&mut self) {
        self.move_those_at_rest();
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
        #[expect(clippy::cast_precision_loss, reason = "a position for each")]
        let at = vector((i % 16) as f32 * 3.0, (i / 16) as f32 * 3.0, 0.0);
        let body = match kind {
            0 => RigidBodyBuilder::dynamic(),
            1 => RigidBodyBuilder::dynamic().sleeping(true),
            _ => RigidBodyBuilder::fixed(),
        };
        body.translation(at)
    }

    /// Returns `None` if there is no target for the operation.
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
                // This is rare.
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
                let with_pose = with_pose && (with_body || self.is_alone(part));
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
                let part = self.part(n, true).filter(|part| self.is_alone(*part))?;
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
                let part = self.part(n, true).filter(|part| self.is_alone(*part))?;
                let entity = self.entity_to_put_on(SIDES[self.parts[part].side].0, to)?;
                let part = self.hold(part, with_pose)?;
                self.put_on(part, entity);
            }
            Operation::Attach(side, n, to, as_in_a_hook) => {
                let (world, simulation) = SIDES[side];
                let (_, key) = self.body(n).filter(|body| body.0 == simulation)?;
                let entity = self.entity_to_put_on(world, to)?;
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
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(40)))]

    #[test]
    fn random_operations_keep_entities_and_bodies_paired(
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
