//! Pick-ups, sensors, a server's frames, additional mass, and bodies on a platform.

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use evenstep::{Rate, Simulation};
use recipes::pick_ups::collect;
use scenes::space;
use std::time::Duration;

#[test]
fn pick_ups_are_taken_in_the_same_steps_at_every_frame_rate() {
    let run = |frames_per_second: u32| {
        let mut simulation = space(60);
        let player = RigidBodyBuilder::dynamic().linvel(Vector::X * 5.0);
        let player = simulation
            .physics
            .insert(player, ColliderBuilder::ball(0.5));
        for i in 1..=3u8 {
            let place = Vector::X * 2.0 * f32::from(i);
            simulation.physics.insert(
                RigidBodyBuilder::fixed().translation(place),
                ColliderBuilder::ball(0.2)
                    .sensor(true)
                    .active_events(ActiveEvents::COLLISION_EVENTS),
            );
        }
        let mut taken = Vec::new();
        scenes::until_tick(180, || {
            simulation.begin_frame(SECOND / frames_per_second);
            while let Some(step) = simulation.next_step() {
                simulation.run_step();
                let coins = collect(&mut simulation.physics, player);
                let left = simulation.physics.bodies().count() - 1;
                taken.extend((0..coins).map(|_| (step.tick, left)));
            }
            simulation.end_frame();
            simulation.physics.tick()
        });
        taken
    };
    let reference = run(60);
    assert_eq!(reference.len(), 3);
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}

#[test]
fn a_kinematic_player_triggers_fixed_sensors_only_if_enabled() {
    let meets = |types| {
        let mut simulation = space(60);
        let player = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 5.0);
        simulation
            .physics
            .insert(player, ColliderBuilder::ball(0.5));
        simulation.physics.insert(
            RigidBodyBuilder::fixed().translation(Vector::X * 1.0),
            ColliderBuilder::ball(0.2)
                .sensor(true)
                .active_collision_types(types)
                .active_events(ActiveEvents::COLLISION_EVENTS),
        );
        scenes::advance(&mut simulation, 200);
        simulation.events().collisions().next().is_some()
    };
    let default = ActiveCollisionTypes::default();
    assert!(!meets(default));
    assert!(meets(default | ActiveCollisionTypes::KINEMATIC_FIXED));
}

#[test]
fn frames_of_the_rounded_period_run_one_step_each_after_the_first() {
    let mut clock = evenstep::time::Clock::new(Rate::default());
    let period = clock.settings().rate().period();
    let mut steps = Vec::new();
    for _ in 0..10_000 {
        clock.begin_frame(period);
        steps.push(clock.due());
    }
    assert_eq!(steps[0], 0);
    assert!(steps[1..].iter().all(|due| *due == 1));
}

#[test]
fn additional_mass_takes_effect_in_the_first_step() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().additional_mass(2.0);
    let key = simulation
        .physics
        .insert(body, ColliderBuilder::ball(0.2).mass(3.0));
    assert_eq!(simulation.physics.body(key).unwrap().mass(), 3.0);
    scenes::advance(&mut simulation, 17);
    assert_eq!(simulation.physics.body(key).unwrap().mass(), 5.0);
}

#[test]
fn a_platform_carries_bodies_only_if_its_next_position_is_set() {
    let carried = |set: fn(&mut RigidBody, Vector)| {
        let mut simulation = Simulation::default();
        let platform = simulation.physics.insert(
            RigidBodyBuilder::kinematic_position_based(),
            ColliderBuilder::cuboid(5.0, 0.1, 5.0).friction(1.0),
        );
        let cargo = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.35);
        let cargo = simulation
            .physics
            .insert(cargo, ColliderBuilder::cuboid(0.25, 0.25, 0.25));
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        simulation.advance(SECOND * 2, |physics, step| {
            let way = Vector::X * step.end_time.as_secs_f32();
            set(physics.body_mut(platform).unwrap(), way);
        });
        position(&simulation.physics, cargo).translation.x
    };
    let led = carried(RigidBody::set_next_kinematic_translation);
    assert!(led > 1.8, "{led} m of 2");
    let put = carried(|body, way| body.set_translation(way, true));
    assert!(put.abs() < 0.1, "{put} m of 2");
}
