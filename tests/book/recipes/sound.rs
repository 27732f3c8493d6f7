//! Sounds: once per hit, and where the body is drawn.

use super::SECOND;
use evenstep::Rate;
use evenstep::rapier::prelude::*;
use recipes::sound::{move_engines, play};
use scenes::{space, with_floor};
use std::collections::BTreeMap;

#[test]
fn each_hit_plays_once_where_the_body_is_drawn_at_every_frame_rate() {
    for frames_per_second in [20, 60, 144] {
        let mut simulation = with_floor(Rate::hz(60));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
        let collider = ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS);
        let ball = simulation.physics.insert(body, collider);
        let sounds = BTreeMap::from([(ball, "thud")]); // the floor is silent
        let mut started = Vec::new();
        let mut engines = BTreeMap::from([(ball, Vector::ZERO)]);
        for _ in 0..2 * frames_per_second {
            simulation.advance(SECOND / frames_per_second, |_, _| ());
            play(&simulation, &sounds, |name, position, volume| {
                started.push((name, position, volume));
            });
            move_engines(&simulation, &mut engines);
            let drawn = simulation.pose(ball).unwrap().translation;
            assert_eq!(engines[&ball], drawn);
        }
        let [(name, position, volume)] = started[..] else {
            panic!("{} sounds", started.len());
        };
        assert_eq!(name, "thud");
        assert!(position.y.abs() < 0.05, "{position}");
        // It has fallen by 1.5 m.
        assert!((volume - 0.54).abs() < 0.02, "{volume}");
    }
}

#[test]
fn a_shell_that_is_removed_in_the_step_of_its_hit_has_a_point_but_no_pose() {
    let mut simulation = space(60);
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * 2.0);
    let cuboid = ColliderBuilder::cuboid(0.5, 1.0, 1.0);
    simulation.physics.insert(wall, cuboid);
    let collider = ColliderBuilder::ball(0.1).active_events(ActiveEvents::COLLISION_EVENTS);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 20.0);
    let shell = simulation.physics.insert(body, collider);
    let mut hits = Vec::new();
    for _ in 0..30 {
        simulation.begin_frame(SECOND / 60);
        while simulation.next_step().is_some() {
            simulation.run_step();
            if simulation.physics.events().collisions().next().is_some() {
                simulation.physics.remove(shell);
            }
        }
        simulation.end_frame();
        let started = simulation.events();
        let started = started.collisions().filter_map(|it| it.hit);
        hits.extend(started.map(|hit| (simulation.pose(shell), hit.point.x)));
    }
    let [(None, x)] = hits[..] else {
        panic!("{hits:?}");
    };
    assert!((x - 1.5).abs() < 0.05, "{x}");
}
