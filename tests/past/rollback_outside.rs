//! A world that cannot be cloned and stays outside the simulation. A rollback restores a copy of its components.

use std::collections::BTreeMap;

use evenstep::ecs::EntityMap;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Simulation, Step};
use scenes::MS;
use scenes::testing::vector;

/// An ECS whose entities have ids that are never reused.
#[derive(Default)]
struct World {
    next: u32,
    /// For each entity that is alive, its body and its remaining steps.
    entities: BTreeMap<u32, (BodyKey, u64)>,
}

/// The restored part: the components, indexed by body.
#[derive(Clone, Default)]
struct Copied(BTreeMap<BodyKey, u64>);

struct Game {
    simulation: Simulation,
    map: EntityMap<u32>,
    world: World,
    /// The numbers of restored and removed entities.
    counts: [usize; 2],
}

/// Whether a shot is fired in a step.
const FIRES: fn(u64) -> bool = |tick| tick * 7 % 5 < 2;
/// The prediction of `FIRES` before the input arrives.
const PREDICTED: fn(u64) -> bool = |tick| tick * 3 % 7 < 2;

impl Game {
    fn new() -> Self {
        let mut simulation = scenes::with_floor(evenstep::Rate::hz(100));
        simulation.keep(Kept {
            ticks: 30,
            ..simulation.kept()
        });
        simulation.physics.resources_mut().insert(Copied::default());
        Self {
            simulation,
            map: EntityMap::default(),
            world: World::default(),
            counts: [0; 2],
        }
    }

    fn spawn(&mut self, key: BodyKey, lives: u64) {
        let entity = self.world.next;
        self.world.next += 1;
        self.world.entities.insert(entity, (key, lives));
        self.map.insert(key, entity);
    }

    fn despawn(&mut self, entity: u32) {
        if let Some((key, _)) = self.world.entities.remove(&entity) {
            self.map.remove_body(&mut self.simulation, key, entity);
        }
    }

    fn step(&mut self, step: Step, fires: fn(u64) -> bool) {
        let mut dead = Vec::new();
        for (entity, (_, lives)) in &mut self.world.entities {
            *lives -= 1;
            dead.extend((*lives == 0).then_some(*entity));
        }
        dead.into_iter().for_each(|entity| self.despawn(entity));
        if fires(step.tick) {
            let at = vector(0.1 * (step.tick % 9) as f32, 0.5, 0.0);
            let body = RigidBodyBuilder::dynamic().translation(at);
            let key = self.simulation.physics.insert(body, scenes::ball());
            self.spawn(key, 3 + step.tick % 17);
        }
        self.simulation.run_step();
        let kept = self.world.entities.values().copied().collect();
        self.simulation.physics.resources_mut().insert(Copied(kept));
    }

    fn run_steps(&mut self, fires: fn(u64) -> bool) {
        while let Some(step) = self.simulation.next_step() {
            self.step(step, fires);
        }
    }

    fn roll_back(&mut self, tick: u64) {
        self.simulation.roll_back(tick).unwrap();
        let unmatched = self.map.unmatched(&self.simulation.physics);
        self.counts[0] += unmatched.bodies.len();
        self.counts[1] += unmatched.entities.len();
        for entity in unmatched.entities {
            self.world.entities.remove(&entity);
        }
        let kept = self
            .simulation
            .physics
            .resources()
            .get::<Copied>()
            .unwrap()
            .clone();
        for key in unmatched.bodies {
            // The floor has no entity.
            if let Some(lives) = kept.0.get(&key) {
                self.spawn(key, *lives);
            }
        }
        for (key, lives) in self.world.entities.values_mut() {
            *lives = kept.0[key];
        }
    }

    /// Returns, for each body, its remaining steps and its displayed pose. Checks the entity that owns it.
    fn state(&mut self) -> Vec<(BodyKey, u64, Option<Pose>)> {
        assert!(self.map.take_removed(&self.simulation).is_empty());
        assert_eq!(
            self.simulation.physics.bodies().count(),
            self.world.entities.len() + 1
        );
        let entities = self.world.entities.iter();
        let mut state: Vec<_> = entities
            .map(|(entity, (key, lives))| {
                assert_eq!(self.map.entity(*key), Some(*entity));
                (*key, *lives, self.simulation.pose(*key))
            })
            .collect();
        state.sort_unstable_by_key(|(key, ..)| *key);
        state
    }
}

#[test]
fn an_external_ecs_rolled_back_every_frame_equals_one_without_rollbacks() {
    for interval in [1, 4] {
        let [mut late, mut in_time] = [(); 2].map(|()| Game::new());
        late.simulation.keep(Kept {
            interval,
            ..late.simulation.kept()
        });
        late.simulation.correction = evenstep::Correction::OFF;
        for ms in [7, 16, 3, 10, 25, 0, 33, 12].repeat(25) {
            late.simulation.begin_frame(MS(ms));
            late.run_steps(PREDICTED);
            late.roll_back(late.simulation.physics.tick().saturating_sub(10));
            late.run_steps(FIRES);
            late.simulation.end_frame();
            in_time.simulation.begin_frame(MS(ms));
            in_time.run_steps(FIRES);
            in_time.simulation.end_frame();
            let tick = in_time.simulation.physics.tick();
            assert_eq!(late.state(), in_time.state(), "tick {tick}");
        }
        let [restored, removed] = late.counts;
        assert!(restored > 300 && removed > 300, "{restored} {removed}");
    }
}
