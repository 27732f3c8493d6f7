//! Far worlds: an `f64` origin beside the simulation.

use super::{SECOND, position};
use evenstep::rapier::glamx::DVec3;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use recipes::far_worlds::{View, stay_near_the_origin};
use scenes::space;
use std::time::Duration;

fn velocity() -> Vector {
    Vector::new(23_456.7, 0.0, 18_765.4)
}

/// Two ships in formation, 5 m apart.
fn formation() -> (Simulation, [BodyKey; 2]) {
    let mut simulation = space(60);
    let world = simulation.physics.rapier_mut_except_bodies();
    world.integration_parameters.normalized_max_linear_velocity = 1e6;
    let ships = [0.0, 5.0].map(|y| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * y);
        simulation
            .physics
            .insert(body.linvel(velocity()), ColliderBuilder::ball(1.0))
    });
    (simulation, ships)
}

/// Flies `distance` metres, and checks every frame. Returns the state before each thousandth step: the `f64` origin and
/// the positions of the ships.
fn fly(distance: f64, frames_per_second: u32) -> Vec<(DVec3, [Vector; 2])> {
    let (mut simulation, ships) = formation();
    let frame_time = SECOND / frames_per_second;
    let even = velocity().as_dvec3() * frame_time.as_secs_f64();
    let mut view = View::default();
    // The sum of the shifts in the hook, and the distance travelled in the steps.
    let (mut shifted, mut travelled) = (DVec3::ZERO, DVec3::ZERO);
    let mut before = Vector::ZERO;
    let mut states = Vec::new();
    let mut frames = 0;
    while view.origin.length() < distance {
        let frame = simulation.advance(frame_time, |physics, step| {
            let positions = ships.map(|key| position(physics, key).translation);
            travelled += (positions[0] - before).as_dvec3();
            if step.tick % 1_000 == 0 {
                states.push((shifted, positions));
            }
            shifted += stay_near_the_origin(physics, ships[0]).as_dvec3();
            before = position(physics, ships[0]).translation;
        });
        view.follow(&frame);
        let [ship, wing] = ships.map(|key| simulation.pose(key).unwrap().translation);
        let uneven = ((ship - view.camera).as_dvec3() - even).length();
        assert!(
            frames < 3 || uneven < 1e-3,
            "{uneven} m at {} m",
            view.origin
        );
        let apart = (wing - ship - Vector::Y * 5.0).length();
        assert!(apart < 1e-3, "{apart} m at {} m", view.origin);
        view.camera = ship;
        frames += 1;
    }
    // Shifts are displayed with the steps that follow them.
    let last = simulation.advance(Duration::ZERO, |_, _| ()).origin_shift;
    assert_eq!((view.origin, last), (shifted, Vector::ZERO));
    // The sum is exact: 10,000 km in units of less than a micrometre fit into an f64.
    assert_eq!(view.origin + before.as_dvec3(), travelled);
    states
}

#[test]
fn motion_is_even_within_a_millimetre_10_000_km_away_at_every_frame_rate() {
    let reference = fly(10_000_000.0, 75);
    assert!(reference.len() > 19);
    for frames_per_second in [45, 144] {
        let states = fly(2_000_000.0, frames_per_second);
        assert!(states.len() > 3);
        assert_eq!(states, reference[..states.len()], "{frames_per_second} fps");
    }
}

#[test]
fn an_origin_shift_in_every_step_keeps_moving_bodies_awake() {
    let (mut simulation, [ship, _]) = formation();
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    simulation.advance(10 * SECOND, |physics, _| {
        let place = position(physics, ship).translation;
        physics.shift_origin(place).unwrap();
    });
    assert_eq!(simulation.physics.body(ship).unwrap().linvel(), velocity());
}
