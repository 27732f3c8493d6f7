//! Shots that take health from the entities that they hit.

use super::SECOND;
use evenstep::ecs::hecs::Entities;
use evenstep::hecs::World;
use evenstep::rapier::prelude::*;
use recipes::hits::{Health, Shot, hit};
use scenes::space;

#[test]
fn each_shot_hits_once_at_every_frame_rate() {
    let run = |frames_per_second: u32| {
        let (mut world, mut entities) = (World::new(), Entities::default());
        let mut simulation = space(60);
        let physics = &mut simulation.physics;
        let (body, collider) = (RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
        let (target, _) = entities.spawn(&mut world, physics, body, collider, (Health(9),));
        for x in [-3.0f32, 5.0, 7.0] {
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::X * x)
                .linvel(Vector::X * -x.signum() * 10.0);
            let ball = ColliderBuilder::ball(0.1).active_events(ActiveEvents::COLLISION_EVENTS);
            entities.spawn(&mut world, physics, body, ball, (Shot,));
        }
        let mut ticks = Vec::new();
        while simulation.physics.tick() < 60 {
            simulation.begin_frame(SECOND / frames_per_second);
            while let Some(step) = simulation.next_step() {
                simulation.run_step();
                let before = world.get::<&Health>(target).unwrap().0;
                hit(&mut world, &mut entities, &mut simulation.physics).unwrap();
                let hits = before - world.get::<&Health>(target).unwrap().0;
                ticks.extend((0..hits).map(|_| step.tick));
            }
            simulation.end_frame();
            entities.sync(&mut world, &mut simulation);
        }
        assert_eq!(world.query::<&Shot>().iter().count(), 0);
        ticks
    };
    let ticks = run(60);
    assert_eq!(ticks.len(), 3);
    for frames_per_second in [15, 144] {
        assert_eq!(run(frames_per_second), ticks, "at {frames_per_second}");
    }
}
