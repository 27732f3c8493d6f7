//! The loop with hecs, in the README.

use super::*;
use evenstep::ecs::hecs::{Entities, RenderPose};
use hecs::World;

struct Crate;

#[test]
fn entities_are_drawn_at_their_render_poses_and_despawned_with_their_bodies() {
    let mut simulation = Simulation::default();
    let (mut world, mut entities) = (World::new(), Entities::default());
    let mut drawn = Vec::new();
    for frame in 0..30 {
        let physics = &mut simulation.physics;
        if frame == 0 {
            let (body, collider) = (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
            entities.spawn(&mut world, physics, body, collider, (Crate,));
        }
        let frame_time = Duration::from_millis(7);
        simulation.advance(frame_time, |_, _| ());
        entities.sync(&mut world, &mut simulation);
        for (pose, _) in world.query_mut::<(&RenderPose, &Crate)>() {
            drawn.push(pose.0.translation.y);
        }
    }
    assert!(drawn.len() == 30 && drawn.is_sorted_by(|a, b| a >= b));
    let all: Vec<_> = world.iter().map(|it| it.entity()).collect();
    all.into_iter().for_each(|it| world.despawn(it).unwrap());
    entities.sync(&mut world, &mut simulation);
    assert_eq!(simulation.physics.bodies().count(), 0);
}
