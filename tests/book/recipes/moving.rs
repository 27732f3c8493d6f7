//! Bodies on a path, and forces between bodies.

use super::{SECOND, at_tick};
use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use recipes::along_path::{follow, path};
use recipes::magnets::attract;
use scenes::space;

#[test]
fn a_lift_and_a_drone_on_a_path_move_evenly_and_a_body_that_is_teleported_along_it_does_not() {
    let mut simulation = space(60);
    let sensor = || ColliderBuilder::ball(0.1).sensor(true);
    let kinematic = RigidBodyBuilder::kinematic_position_based();
    let lift = simulation.physics.insert(kinematic.clone(), sensor());
    let jumper = simulation.physics.insert(kinematic, sensor());
    let drone = RigidBodyBuilder::dynamic();
    let drone = simulation.physics.insert(drone, sensor());

    let x = |simulation: &Simulation, key| simulation.pose(key).unwrap().translation.x;
    let mut at_rest = 0;
    for frame in 0..144 * 2 {
        let keys = [lift, drone, jumper];
        let before = keys.map(|key| x(&simulation, key));
        simulation.advance(SECOND / 144, |physics, step| {
            follow(physics, step, lift, drone);
            let jumper = physics.body_mut(jumper).unwrap();
            jumper.set_translation(path(step.end_time), true);
        });
        let after = keys.map(|key| x(&simulation, key));
        let [lift, drone, jumper] = [0, 1, 2].map(|i| after[i] - before[i]);
        if frame > 2 {
            for moved in [lift, drone] {
                let is_even = (moved - 3.0 / 144.0).abs() < 1e-5;
                assert!(is_even, "{moved} m in frame {frame}");
            }
            assert!(jumper == 0.0 || (jumper - 3.0 / 60.0).abs() < 1e-5);
            at_rest += usize::from(jumper == 0.0);
        }
    }
    assert!(at_rest > 144, "{at_rest} frames");
}

#[test]
fn magnets_keep_their_momentum_and_take_the_same_path_at_every_frame_rate() {
    let run = |frames_per_second| {
        let mut simulation = space(60);
        let magnets = [(0.0, 1.5, 1.0), (4.0, -0.5, 3.0), (-9.0, 0.0, 1.0)];
        let magnets = magnets.map(|(x, speed, mass)| {
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::X * x)
                .linvel(Vector::Z * speed);
            let ball = ColliderBuilder::ball(0.2).mass(mass);
            simulation.physics.insert(body, ball)
        });
        at_tick(
            600,
            frames_per_second,
            simulation,
            |physics, _| attract(physics, &magnets),
            |physics| {
                magnets.map(|key| {
                    let body = physics.body(key).unwrap();
                    (*body.position(), body.linvel(), body.mass())
                })
            },
        )
    };
    let reference = run(60);
    let momentum: Vector = reference
        .iter()
        .map(|(_, linvel, mass)| *linvel * *mass)
        .sum();
    assert!(momentum.length() < 1e-4, "{momentum} kg m/s"); // zero at the start, too
    for frames_per_second in [15, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}
