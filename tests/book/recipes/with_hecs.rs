//! The loop with hecs, in the README.

use evenstep::Simulation;
use evenstep::ecs::hecs::Entities;
use evenstep::hecs::World;
use evenstep::rapier::prelude::*;
use recipes::with_hecs::{frame, spawn};
use std::time::Duration;

#[test]
fn entities_are_drawn_at_their_render_poses_and_despawned_with_their_bodies() {
    let mut simulation = Simulation::default();
    let (mut world, mut entities) = (World::new(), Entities::default());
    let physics = &mut simulation.physics;
    spawn(&mut world, &mut entities, physics, Vector::ZERO);
    let mut drawn = Vec::new();
    for _ in 0..30 {
        let frame_time = Duration::from_millis(7);
        frame(
            &mut simulation,
            &mut world,
            &mut entities,
            frame_time,
            |pose| drawn.push(pose.translation.y),
        );
    }
    assert!(drawn.len() == 30 && drawn.is_sorted_by(|a, b| a >= b));
    let all: Vec<_> = world.iter().map(|it| it.entity()).collect();
    all.into_iter().for_each(|it| world.despawn(it).unwrap());
    entities.sync(&mut world, &mut simulation);
    assert_eq!(simulation.physics.bodies().count(), 0);
}
