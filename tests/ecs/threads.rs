//! A hecs world and a simulation on a real thread. `worker.rs` covers everything that depends on time, with a simulated
//! clock.

use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, SendError};
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step};
use hecs::World;
use scenes::testing::translation;
use scenes::{PATIENCE, space};
use std::convert::Infallible;
use std::time::Duration;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

/// Runs frames, each with its sync, until one fulfils the condition.
fn frames(
    world: &mut World,
    entities: &mut Entities,
    runner: &mut Runner<Idle>,
    mut is_good: impl FnMut(&mut World, &Runner<Idle>) -> bool,
) {
    let start = runner.now();
    loop {
        runner.frame();
        entities.sync(world, runner);
        if is_good(world, runner) {
            return;
        }
        assert!(
            runner.now() - start < PATIENCE,
            "the condition is not met in time"
        );
        std::thread::yield_now();
    }
}

fn flyer() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0)
}

fn shown(world: &World) -> usize {
    world.query::<(&Body, &RenderPose)>().iter().count()
}

#[test]
fn entities_stay_in_sync_when_a_level_moves_to_a_runner() {
    let (mut world, mut entities) = (World::new(), Entities::default());
    let mut simulation = space(100);
    let (entity, key) = entities.spawn(
        &mut world,
        &mut simulation.physics,
        flyer(),
        scenes::ball(),
        (),
    );
    let mut runner = Runner::new(simulation, Idle, RunnerSettings::default()).unwrap();
    // Before the first frame no pose is displayed, and nothing is lost.
    entities.sync(&mut world, &mut runner);
    assert!(world.satisfies::<(&Body, &RenderPose)>(entity));
    let at = RigidBodyBuilder::fixed().translation(Vector::Y * 3.0);
    let (wall, _) = entities
        .try_spawn(&mut world, &runner, at, scenes::ball(), ("wall",))
        .unwrap();
    let start = world.get::<&RenderPose>(wall).unwrap().0;
    assert_eq!(start, translation(0.0, 3.0, 0.0));
    frames(&mut world, &mut entities, &mut runner, |world, runner| {
        let moved = world.get::<&RenderPose>(entity).unwrap().0;
        if let Some(pose) = runner.view().pose(key) {
            assert_eq!(moved, pose);
        }
        assert_eq!(world.get::<&RenderPose>(wall).unwrap().0, start);
        moved.translation.x > 1.0
    });
    entities.despawn(&mut world, &mut runner, wall).unwrap();
    drop(world.remove_one::<Body>(entity).unwrap());
    entities.sync(&mut world, &mut runner);
    let (_, left) = (runner
        .ask(|simulation| simulation.physics.bodies().count())
        .unwrap())
    .wait(PATIENCE)
    .unwrap();
    assert_eq!((left, shown(&world)), (0, 0));
}

#[test]
fn removals_that_exceed_the_command_queue_are_sent_in_later_syncs() {
    let (mut world, mut entities) = (World::new(), Entities::default());
    let mut simulation = space(100);
    for i in 0..50u8 {
        let at = RigidBodyBuilder::fixed().translation(Vector::X * 3.0 * f32::from(i));
        entities.spawn(&mut world, &mut simulation.physics, at, scenes::ball(), ());
    }
    let mut settings = RunnerSettings::default();
    settings.call_capacity = 3;
    let mut runner = Runner::new(simulation, Idle, settings).unwrap();
    // Half of the entities are despawned through `Entities`, and all the others by hecs.
    let all: Vec<hecs::Entity> = world.query::<hecs::Entity>().iter().collect();
    for entity in &all[25..] {
        entities.despawn(&mut world, &mut runner, *entity).unwrap();
    }
    world.clear();
    frames(&mut world, &mut entities, &mut runner, |_, runner| {
        let count = runner.ask(|simulation| simulation.physics.bodies().count());
        match count {
            Ok(answer) => answer.wait(PATIENCE).unwrap().1 == 0,
            Err(SendError::Full(())) => false,
            Err(error) => panic!("{error}"),
        }
    });
}

#[test]
fn a_level_of_thousands_is_cleared_in_one_sync_and_replaced() {
    let (mut world, mut entities) = (World::new(), Entities::default());
    let level = |world: &mut World, entities: &mut Entities, simulation: &mut Simulation, count| {
        for i in 0..count {
            let at = RigidBodyBuilder::fixed().translation(Vector::X * 3.0 * i as f32);
            entities.spawn(world, &mut simulation.physics, at, scenes::ball(), ());
        }
    };
    let mut simulation = space(100);
    level(&mut world, &mut entities, &mut simulation, 5_000);
    let mut runner = Runner::new(simulation, Idle, RunnerSettings::default()).unwrap();
    runner.frame();
    entities.sync(&mut world, &mut runner);
    // Half of the entities are despawned through `Entities`, and all the others by hecs.
    let all: Vec<hecs::Entity> = world.query::<hecs::Entity>().iter().collect();
    for entity in &all[2_500..] {
        entities.despawn(&mut world, &mut runner, *entity).unwrap();
    }
    world.clear();
    entities.sync(&mut world, &mut runner);
    // There is room for more orders, and earlier ones are carried out first.
    let (entity, _) =
        (entities.try_spawn(&mut world, &runner, flyer(), scenes::ball(), ())).unwrap();
    let count = runner
        .ask(|simulation| simulation.physics.bodies().count())
        .unwrap();
    assert_eq!(count.wait(PATIENCE).unwrap().1, 1);
    frames(&mut world, &mut entities, &mut runner, |world, _| {
        world.get::<&RenderPose>(entity).unwrap().0.translation.x > 0.1
    });

    let (mut simulation, idle) = runner.stop();
    let tick = simulation.physics.tick();
    level(&mut world, &mut entities, &mut simulation, 10_000);
    let mut runner = Runner::new(simulation, idle, RunnerSettings::default()).unwrap();
    let count = runner.ask(|simulation| {
        (
            simulation.physics.tick(),
            simulation.physics.bodies().count(),
        )
    });
    let (_, (next, count)) = count.unwrap().wait(PATIENCE).unwrap();
    assert!(next > tick);
    assert_eq!(count, 10_001);
    frames(&mut world, &mut entities, &mut runner, |world, runner| {
        runner.view().tick() > next && shown(world) == 10_001
    });
}

#[test]
fn entities_follow_bodies_removed_and_spawned_on_the_physics_thread() {
    let (mut world, mut entities) = (World::new(), Entities::default());
    let mut simulation = space(100);
    let (entity, key) = entities.spawn(
        &mut world,
        &mut simulation.physics,
        flyer(),
        scenes::ball(),
        (),
    );
    let mut runner = Runner::new(simulation, Idle, RunnerSettings::default()).unwrap();
    runner
        .call(move |simulation, _| drop(simulation.physics.remove(key)))
        .unwrap();
    frames(&mut world, &mut entities, &mut runner, |world, _| {
        shown(world) == 0
    });
    assert!(world.contains(entity));
    let spawn = |simulation: &mut Simulation, _: &mut Idle| {
        simulation.physics.insert(flyer(), scenes::ball());
    };
    runner.call(spawn).unwrap();
    let mut found: Option<BodyKey> = None;
    frames(&mut world, &mut entities, &mut runner, |_, runner| {
        found = runner.view().moved().first().map(|(key, _)| *key);
        found.is_some()
    });
    let key = found.unwrap();
    (entities.attach(&mut world, &mut runner, entity, key)).unwrap();
    frames(&mut world, &mut entities, &mut runner, |world, _| {
        world.get::<&RenderPose>(entity).unwrap().0.translation.x > 1.0
    });
}

/// A game that spawns and despawns in its hooks, on the thread of its world.
#[derive(Default)]
struct Spawning {
    world: World,
    entities: Entities,
    spawned: Vec<(hecs::Entity, BodyKey)>,
}

impl Hooks for Spawning {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if step.tick < 60 {
            let body = match step.tick % 3 {
                0 => RigidBodyBuilder::fixed(),
                _ => flyer(),
            };
            let (world, ball) = (&mut self.world, scenes::ball());
            let spawned = self.entities.spawn(world, physics, body, ball, ());
            self.spawned.push(spawned);
        }
        match step.tick % 7 {
            // Despawns through hecs, through Rapier, and in the step of the spawn.
            2 => drop(self.world.despawn(self.spawned.remove(0).0)),
            4 => drop(physics.remove(self.spawned[1].1)),
            5 if step.tick < 60 => drop(self.world.despawn(self.spawned.pop().unwrap().0)),
            _ => (),
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        self.entities.remove_dropped(&mut self.world, physics);
        Ok(())
    }
}

#[test]
fn entities_of_an_overlap_have_the_poses_of_its_view() {
    let mut overlap = Overlap::new(space(100)).unwrap();
    let mut game = Spawning::default();
    let mut displayed = 0;
    for frame in 0..400 {
        let millis = [7, 3, 16, 0, 4][frame % 5];
        let Ok(_) = overlap.frame(Duration::from_millis(millis), &mut game);
        game.entities.sync(&mut game.world, &mut overlap);
        let view = overlap.view();
        for (entity, body, pose) in &mut game.world.query::<(hecs::Entity, &Body, &RenderPose)>() {
            if let Some(there) = view.pose(body.key()) {
                assert_eq!(pose.0, there, "{entity:?} in frame {frame}");
                displayed += 1;
            }
        }
        for key in view.removed() {
            let entity = game.entities.entity(*key);
            assert_eq!(entity, None, "{key:?} in frame {frame}");
        }
    }
    assert!(displayed > 1_000, "{displayed}");
    let physics = &overlap.simulation(&mut game).unwrap().physics;
    let bodies = physics.bodies().count();
    assert_eq!(shown(&game.world), bodies);
}

#[test]
fn an_entity_whose_spawn_was_lost_in_a_panic_loses_its_pose() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let (mut world, mut entities) = (World::new(), Entities::default());
    let mut runner = Runner::new(simulation, Idle, RunnerSettings::default()).unwrap();
    frames(&mut world, &mut entities, &mut runner, |_, runner| {
        runner.view().tick() > 3
    });
    runner.call(|_, _| panic!("planned")).unwrap();
    let mut failed = 0;
    let start = runner.now();
    while failed == 0 {
        assert!(
            runner.now() - start < PATIENCE,
            "the condition is not met in time"
        );
        failed = runner.failures().len();
        std::thread::yield_now();
    }
    let ball = scenes::ball();
    let (entity, spawned) = entities
        .try_spawn(&mut world, &runner, flyer(), ball, ("rocket",))
        .unwrap();
    runner.recover().unwrap();
    frames(&mut world, &mut entities, &mut runner, |world, _| {
        !world.satisfies::<&RenderPose>(entity)
    });
    assert!(spawned.is_lost() && spawned.key().is_none());
    assert_eq!(
        world.get::<&&str>(entity).map(|name| *name).unwrap(),
        "rocket"
    );
    // After the recovery, a ball is spawned.
    let ball = scenes::ball();
    let (entity, spawned) = entities
        .try_spawn(&mut world, &runner, flyer(), ball, ())
        .unwrap();
    frames(&mut world, &mut entities, &mut runner, |world, _| {
        world.satisfies::<(&Body, &RenderPose)>(entity)
    });
    assert!(!spawned.is_lost());
}
