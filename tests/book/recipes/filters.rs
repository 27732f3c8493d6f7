//! A contact filter that reads the components of an ECS, even if the world is inside the physics.

use super::{SECOND, position};
use evenstep::ecs::hecs::{Body, Entities, RollbackWorld};
use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{Physics, Rate};
use recipes::filters::{self, Filter, Team};
use scenes::with_floor;
use std::time::Duration;

/// Inserts a ball with a team, at height `y`.
fn spawn(
    world: &mut World,
    entities: &mut Entities,
    physics: &mut Physics,
    y: f32,
    team: u8,
) -> Entity {
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * y)
        .enabled_translations(false, true, false);
    let ball = ColliderBuilder::ball(0.5);
    let entity = filters::spawn(world, entities, physics, body, ball, Team(team));
    entity.unwrap()
}

#[test]
fn a_changed_team_acts_in_the_next_step_once_a_body_is_awake() {
    let (mut world, mut entities) = (World::new(), Entities::default());
    let mut simulation = with_floor(Rate::hz(60));
    let physics = &mut simulation.physics;
    let [low, high] =
        [0.5, 1.5].map(|y| spawn(&mut world, &mut entities, physics, y, (y * 2.0) as u8));
    let key = world.get::<&Body>(high).unwrap().key();
    let low_key = world.get::<&Body>(low).unwrap().key();
    let mut heights = Vec::new();
    for frame in 0..400 {
        if frame == 200 {
            assert!(simulation.physics.body(key).unwrap().is_sleeping());
            let team = *world.get::<&Team>(low).unwrap();
            world.insert_one(high, team).unwrap();
        }
        if frame == 300 {
            simulation.physics.body_mut(key).unwrap().wake_up(true);
        }
        simulation.begin_frame(Duration::from_millis(17));
        while simulation.next_step().is_some() {
            simulation.run_step_with(&Filter(&world));
        }
        simulation.end_frame();
        let height = |key| position(&simulation.physics, key).translation.y;
        heights.push(height(key) - height(low_key));
    }
    assert!((heights[299] - 1.0).abs() < 0.01, "{} m", heights[299]); // asleep on it
    assert!(
        heights[301] < heights[300] && heights[399] < 0.01,
        "{} m",
        heights[399]
    );
}

/// Runs a game whose world is inside the physics. The upper ball changes its team before step 30. Returns its height
/// before step 70. If the change is late, it arrives before step 50.
fn run(frames_per_second: u32, is_late: bool) -> f32 {
    let mut simulation = with_floor(Rate::hz(60));
    simulation.keep(Kept {
        ticks: 60,
        ..Kept::default()
    });
    let (mut world, mut entities) = (World::new(), Entities::default());
    let physics = &mut simulation.physics;
    spawn(&mut world, &mut entities, physics, 0.5, 1);
    let high = spawn(&mut world, &mut entities, physics, 1.6, 2);
    let key = world.get::<&Body>(high).unwrap().key();
    let game = RollbackWorld::new(world, entities).with::<Team>();
    simulation.physics.resources_mut().insert(game);
    let mut known = if is_late { None } else { Some(30) };
    let mut end = None;
    while end.is_none() {
        if simulation.physics.tick() >= 50 && known.replace(30).is_none() {
            simulation.roll_back(30).unwrap();
        }
        simulation.begin_frame(SECOND / frames_per_second);
        while let Some(step) = simulation.next_step() {
            if step.tick == 70 && end.is_none() {
                end = Some(position(&simulation.physics, key).translation.y);
            }
            let resources = simulation.physics.resources_mut();
            let game = resources.get_mut::<RollbackWorld>().unwrap();
            if known == Some(step.tick) {
                game.world.insert_one(high, Team(1)).unwrap();
            }
            let teams = filters::copy(&mut game.world);
            simulation.run_step_with(&Filter(&teams));
        }
        simulation.end_frame();
    }
    end.unwrap()
}

#[test]
fn a_filter_with_a_copy_of_the_components_rolls_back_with_the_world() {
    let reference = run(60, false);
    assert!(reference < 1.0, "{reference} m"); // it fell into the lower one
    for frames_per_second in [30, 60, 144] {
        for is_late in [false, true] {
            assert_eq!(run(frames_per_second, is_late), reference);
        }
    }
}
