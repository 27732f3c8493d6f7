//! Games on a thread: events, saved states, an ECS.

use super::*;

#[test]
fn a_question_sees_the_teleport_and_spawn_sent_before_it() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    let (game, _made) = Game::new();
    let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    for i in 1..5u8 {
        let x = 10.0 * f32::from(i);
        runner
            .call(move |simulation, _| {
                simulation
                    .physics
                    .teleport(key, translation(x, 0.0, 0.0))
                    .unwrap()
            })
            .unwrap();
        let spawned = runner
            .spawn(
                RigidBodyBuilder::fixed().translation(vector(x, 5.0, 0.0)),
                [ColliderBuilder::ball(1.0)],
            )
            .unwrap();
        let cast = runner.ask(move |simulation| {
            let pipeline = simulation.physics.rapier().query_pipeline();
            let hit = |from: f32| {
                let ray = Ray::new(vector(x, from, 0.0), Vector::Y);
                let (collider, _) = pipeline.cast_ray(&ray, 20.0, true)?;
                simulation.physics.key_of_collider(collider)
            };
            [hit(-9.0), hit(2.0)]
        });
        let (tick, hits) = cast.unwrap().wait(PATIENCE).unwrap();
        assert_eq!(hits, [Some(key), spawned.key()], "in step {tick}");
        let spawned = spawned.key().expect("the question follows the spawn");
        runner
            .call(move |simulation, _| drop(simulation.physics.remove(spawned)))
            .unwrap();
    }
    let saved = runner
        .ask(Simulation::clone)
        .unwrap()
        .wait(PATIENCE)
        .unwrap()
        .1;
    runner.call(|simulation, _| simulation.pause()).unwrap();
    let replace = saved.clone();
    runner
        .call(move |simulation, _| *simulation = replace)
        .unwrap();
    let (simulation, _) = runner.stop();
    assert_eq!(
        simulation.physics.bodies().count(),
        saved.physics.bodies().count()
    );
}

#[test]
fn events_arrive_once_and_not_before_their_poses_are_displayed() {
    let mut simulation = space(100);
    let sensor = cuboid(0.5, 5.0, 5.0)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    simulation.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::X * 6.5),
        sensor,
    );
    let key = simulation.physics.insert(scenes::flyer(), scenes::ball());
    let (game, made) = Game::new();
    let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let mut events = Vec::new();
    frames(&mut runner, |runner| {
        let view = runner.frame();
        let come = view.events();
        if !come.is_empty() {
            let x = view.pose(key).map_or(0.0, |pose| pose.translation.x);
            assert!(x >= 5.9 + 0.1, "{x}: the events came before their poses");
        }
        events.extend(come.iter());
        events.len() == 2
    });
    let ticks: Vec<u64> = events.iter().map(Event::step).collect();
    assert_eq!(ticks, [6, 8]);
    until(&made, 20);
    assert!(runner.frame().events().is_empty());
    assert_eq!(runner.lost_events(), 0);
}

#[test]
fn a_scene_with_every_feature_runs_on_a_thread() {
    let mut game = scenes::everything::Everything::new();
    game.simulation.clock_settings_mut().set_rate(Rate::hz(500));
    game.simulation.physics.shift_origin(Vector::X).unwrap();
    let mut runner = Runner::new(game.simulation, game.script, RunnerSettings::default()).unwrap();
    let (mut frames_made, mut moved) = (0, 0);
    frames(&mut runner, |runner| {
        let view = runner.frame();
        frames_made += 1;
        moved += view.moved().len();
        for (key, pose) in view.moved() {
            assert!(pose.is_finite() && view.pose(*key) == Some(*pose));
        }
        view.tick() > 100
    });
    assert!(moved > 0);
    let (simulation, _) = runner.stop();
    assert!(simulation.physics.tick() > 100);
}

#[cfg(feature = "serde")]
#[test]
fn a_state_saved_on_the_thread_loads_and_replaces_the_simulation() {
    let (simulation, key) = scenes::flyer_in_space();
    let (game, made) = Game::new();
    let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let spawned = runner
        .spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.1)])
        .unwrap();
    until(&made, 3);
    let (tick, bytes) = runner
        .ask(Simulation::save)
        .unwrap()
        .wait(PATIENCE)
        .unwrap();
    let loaded = Simulation::load(&bytes.unwrap()).unwrap();
    assert_eq!(loaded.physics.tick(), tick);
    let spawned = spawned.key().expect("the question follows the spawn");
    assert!(
        [key, spawned]
            .iter()
            .all(|key| loaded.physics.body(*key).is_some())
    );
    // The loaded simulation replaces the running one.
    runner
        .call(move |simulation, _| *simulation = loaded)
        .unwrap();
    let (now, there) = runner
        .ask(move |simulation| simulation.physics.body(spawned).is_some())
        .unwrap()
        .wait(PATIENCE)
        .unwrap();
    assert!(now > tick && there);
}

/// A game's ECS alongside the thread. Its entities are numbers.
#[test]
fn owners_map_poses_and_removals_of_a_runner_to_entities() {
    let mut map = EntityMap::default();
    let mut simulation = space(100);
    let flyer = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    map.insert(simulation.physics.insert(flyer(), scenes::ball()), 0);
    let mut runner = Runner::new(simulation, Game::new().0, RunnerSettings::default()).unwrap();
    let at = flyer().translation(Vector::Y * 9.0);
    let spawned = [(); 2].map(|()| runner.spawn(at.clone(), [scenes::ball()]).unwrap());
    // A question that is sent after an order is answered after it.
    let inserted = runner.ask(|_| ()).unwrap().wait(PATIENCE);
    assert!(inserted.is_some());
    let keys = spawned.map(|spawned| spawned.key().unwrap());
    for (key, entity) in keys.into_iter().zip([1, 2]) {
        map.insert(key, entity);
    }
    let mut poses = BTreeMap::new();
    let mut removed = Vec::new();
    map.remove_body(&mut runner, keys[0], 1);
    runner
        .call(move |simulation, _| drop(simulation.physics.remove(keys[1])))
        .unwrap();
    frames(&mut runner, |runner| {
        runner.frame();
        removed.extend(map.take_removed(runner));
        poses.extend(map.moved(runner));
        let has_moved = poses.get(&0).is_some_and(|pose| pose.translation.x > 0.1);
        has_moved && !removed.is_empty()
    });
    assert_eq!(removed, [2], "the other body was released");
    assert_eq!(map.entity(keys[0]), None);
    let left = runner.ask(|simulation| simulation.physics.bodies().count());
    assert_eq!(left.unwrap().wait(PATIENCE).unwrap().1, 1);
}

#[test]
fn an_answer_can_be_polled_while_the_thread_continues() {
    let (game, made) = Game::new();
    let mut runner = Runner::new(space(100), game, RunnerSettings::default()).unwrap();
    let start = runner.now();
    until(&made, 3);
    assert!(runner.now() > start);
    let answer = runner.ask(|simulation| simulation.physics.tick()).unwrap();
    let mut got = None;
    frames(&mut runner, |_| {
        got = answer.get();
        got.is_some()
    });
    let (tick, of_simulation) = got.unwrap();
    assert_eq!(tick, of_simulation);
    assert!(tick > 3);
}
