//! Physics in a browser's worker, which posts pairs of poses to the page.

use evenstep::rapier::prelude::*;
use evenstep::{Physics, Rate, Simulation, Step};
use recipes::worker::{Page, SLACK, Worker};
use scenes::with_floor;
use std::collections::BTreeMap;
use std::time::Duration;

/// Cubes that fall onto each other.
fn pile() -> Simulation {
    let mut simulation = with_floor(Rate::hz(60));
    for i in 0..8u8 {
        insert_cube(&mut simulation.physics, i);
    }
    simulation
}

fn insert_cube(physics: &mut Physics, i: u8) {
    let place = Vector::new(0.1 * f32::from(i % 3), 0.6 + 1.1 * f32::from(i), 0.0);
    let body = RigidBodyBuilder::dynamic().translation(place);
    let body = body.angvel(Vector::new(1.0, 0.5, 0.1)).user_data(i.into());
    physics.insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
}

/// Teleports, removes and inserts cubes.
fn game(physics: &mut Physics, step: Step) {
    let cube = |physics: &Physics, id| {
        let mut bodies = physics.bodies();
        bodies.find(|(_, body)| body.user_data == id).unwrap().0
    };
    match step.tick {
        40 => {
            let key = cube(physics, 3);
            physics
                .teleport(key, Pose::translation(5.0, 3.0, 0.0))
                .unwrap();
        }
        60 => {
            let key = cube(physics, 5);
            physics.remove(key).unwrap();
        }
        80 => insert_cube(physics, 9),
        _ => {}
    }
}

fn worker() -> Worker {
    Worker::new(pile(), game, 5_000.0)
}

#[test]
fn the_page_draws_the_poses_of_a_simulation_although_timers_are_late() {
    let (mut worker, mut page) = (worker(), Page::default());
    let mut simulation = pile();
    let (mut wakes, mut last) = (0u32, 0.0);
    for frame in 10..144 * 6 {
        let now = 5_000.0 + f64::from(frame) * 1_000.0 / 144.0;
        // A timer every 4 ms, up to 8 ms late.
        let wake = |wakes: u32| 5_000.0 + f64::from(wakes * 4 + wakes * 7 % 9);
        while wake(wakes) <= now {
            worker.wake(wake(wakes), |message| page.waiting.push_back(message));
            wakes += 1;
        }
        let drawn = page.frame(now);
        let time = now - SLACK - 5_000.0; // a simulation draws one step behind
        simulation.advance(Duration::from_secs_f64((time - last) / 1_000.0), game);
        last = time;
        assert_eq!(drawn.len(), simulation.physics.bodies().count());
        for (key, _) in simulation.physics.bodies() {
            let expected = simulation.pose(key).unwrap();
            let drawn = drawn[&worker.ids[&key]];
            let off = drawn.translation.distance(expected.translation);
            let turned = drawn.rotation.angle_between(expected.rotation);
            assert!(
                off < 1e-3 && turned < 2e-3,
                "{off} m, {turned} rad in frame {frame}"
            );
        }
    }
    let mut bodies = simulation.physics.bodies();
    assert!(bodies.any(|(_, body)| body.is_sleeping()));
}

/// Returns the pictures of 134 frames. The worker does not wake up while `stall` contains the frame.
fn pictures(stall: std::ops::Range<u32>) -> Vec<BTreeMap<u32, Pose>> {
    let (mut worker, mut page) = (worker(), Page::default());
    let frames = (10..144u32).map(|frame| {
        let now = 5_000.0 + f64::from(frame) * 1_000.0 / 144.0;
        if !stall.contains(&frame) {
            worker.wake(now, |message| page.waiting.push_back(message));
        }
        page.frame(now)
    });
    frames.collect()
}

#[test]
fn a_worker_that_stalls_stops_the_picture_and_loses_nothing() {
    let (stalled, usual) = (pictures(50..65), pictures(0..0)); // 100 ms
    let repeated = stalled.windows(2).filter(|pair| pair[0] == pair[1]);
    assert!((8..15).contains(&repeated.count()));
    assert_eq!(stalled[..40], usual[..40]);
    assert_eq!(stalled[60..], usual[60..]); // bit for bit
}
