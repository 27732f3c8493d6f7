//! Where and how hard two colliders hit each other, and which bodies fell asleep or woke up.

use evenstep::events::{Hit, SleepChange};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BeforeStep, BodyKey, Physics, Rate, Simulation, Step};
use scenes::testing::{cuboid, spin, translation, vector};
use scenes::{MS, advance, space, with_floor};
use std::time::Duration;

/// Returns a ball of radius 0.5 that falls towards a floor at 0 m, 3 m/s to the side.
fn falling(restitution: f32) -> (Simulation, BodyKey) {
    let mut simulation = with_floor(Rate::hz(60));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 3.0);
    let collider = ColliderBuilder::ball(0.5)
        .restitution(restitution)
        .friction(0.0);
    let events = ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS;
    let body = body.linvel(vector(3.0, 0.0, 0.0));
    let ball = simulation
        .physics
        .insert(body, collider.active_events(events));
    (simulation, ball)
}

/// Returns the first hit that is displayed, with the ball's pose after its step.
fn first_hit(mut simulation: Simulation, ball: BodyKey, frame: Duration) -> (Hit, Vector) {
    let mut after = Vector::ZERO;
    for _ in 0..2_000 {
        simulation.begin_frame(frame);
        while simulation.next_step().is_some() {
            simulation.run_step();
            if simulation
                .physics
                .events()
                .collisions()
                .any(|it| it.started)
            {
                after = simulation.physics.body(ball).unwrap().translation();
            }
        }
        simulation.end_frame();
        let mut starts = simulation.events().collisions().filter(|it| it.started);
        if let Some(start) = starts.next() {
            let hit = start.hit.unwrap();
            // Its normal points from the first collider to the second.
            let up = if start.bodies[0] == Some(ball) {
                -hit.normal
            } else {
                hit.normal
            };
            assert!((up - Vector::Y).length() < 1e-4, "{hit:?}");
            return (hit, after);
        }
    }
    panic!("no hit");
}

#[test]
fn a_hit_is_at_the_bottom_of_the_ball_with_the_speed_of_its_fall_at_every_frame_rate() {
    for restitution in [0.0, 0.8] {
        let mut hits = Vec::new();
        for micros in [1_000, 4_167, 16_667, 33_333, 66_667] {
            let (simulation, ball) = falling(restitution);
            let (hit, at) = first_hit(simulation, ball, Duration::from_micros(micros));
            let bottom = at - Vector::Y * 0.5;
            assert!((hit.point - bottom).length() < 0.05, "{hit:?} at {at}");
            // It has fallen 2.5 m: 7 m/s, in steps.
            assert!((hit.speed() - 7.0).abs() < 0.2, "{hit:?}");
            assert!((hit.sliding_speed() - 3.0).abs() < 0.01, "{hit:?}");
            hits.push(hit);
        }
        assert!(hits.iter().all(|hit| *hit == hits[0]), "{hits:?}");
    }
}

#[test]
fn a_stop_and_a_sensor_have_no_hit_and_a_force_has_its_strongest_point() {
    let (mut simulation, ball) = falling(0.8);
    let sensor = cuboid(50.0, 0.1, 50.0)
        .sensor(true)
        .translation(Vector::Y * 1.5);
    simulation.physics.insert(RigidBodyBuilder::fixed(), sensor);
    let (mut stops, mut sensors, mut forces) = (0, 0, 0);
    for _ in 0..120 {
        advance(&mut simulation, 17);
        for collision in simulation.events().collisions() {
            assert_eq!(
                collision.hit.is_some(),
                collision.started && !collision.sensor
            );
            stops += u32::from(!collision.started);
            sensors += u32::from(collision.sensor);
        }
        for force in simulation.events().contact_forces() {
            let hit = force.hit.unwrap();
            assert!(hit.point.y.abs() < 0.1, "{hit:?}");
            let strongest = force.force.max_force_direction;
            assert!(
                (hit.normal.dot(strongest).abs() - 1.0).abs() < 1e-3,
                "{hit:?}"
            );
            forces += 1;
        }
    }
    assert!(stops > 1 && sensors > 1 && forces > 1);
    let _ = ball;
}

/// The picture that displays the hit may have another origin than the step.
#[test]
fn a_hit_is_displayed_in_the_coordinates_of_its_picture() {
    let (reference, ball) = falling(0.0);
    let (reference, _) = first_hit(reference, ball, MS(17));
    let (mut simulation, _) = falling(0.0);
    let by = vector(0.0, 100.0, 0.0);
    let mut shown = None;
    for _ in 0..100 {
        let shift = |physics: &mut Physics| {
            if physics.events().collisions().any(|it| it.started) {
                physics.shift_origin(by).unwrap();
            }
        };
        simulation.begin_frame(MS(17));
        while simulation.next_step().is_some() {
            simulation.run_step();
            shift(&mut simulation.physics);
        }
        simulation.end_frame();
        shown = shown.or(simulation.events().collisions().find_map(|it| it.hit));
    }
    assert!((shown.unwrap().point - (reference.point - by)).length() < 1e-4);
}

#[test]
fn every_loop_displays_the_same_hit() {
    let (reference, ball) = falling(0.5);
    let (reference, _) = first_hit(reference, ball, MS(17));
    let mut idle = BeforeStep(|_: &mut Physics, _: Step| ());
    let mut overlap = Overlap::new(falling(0.5).0).unwrap();
    let displayed = (0..100).find_map(|_| {
        let Ok(view) = overlap.frame(MS(17), &mut idle);
        view.events().collisions().find_map(|it| it.hit)
    });
    assert_eq!(displayed, Some(reference));
    let (mut runner, mut worker) =
        Runner::without_thread(falling(0.5).0, idle, RunnerSettings::default());
    let displayed = (0..200).find_map(|frame| {
        worker.run_until(MS(17 * frame));
        let view = runner.frame_at(MS(17 * frame));
        view.events().collisions().find_map(|it| it.hit)
    });
    assert_eq!(displayed, Some(reference));
    // A rollback finds it again.
    let mut simulation = falling(0.5).0;
    simulation.keep(Kept {
        ticks: 100,
        ..Kept::default()
    });
    let displayed = (0..100).find_map(|frame| {
        advance(&mut simulation, 17);
        let hit = simulation.events().collisions().find_map(|it| it.hit);
        if frame % 5 == 4 {
            let tick = simulation.physics.tick() - 4;
            simulation.resimulate(tick, |_, _| ()).unwrap();
        }
        hit
    });
    assert_eq!(displayed, Some(reference));
}

/// Rapier knows the velocity of a body that is led to a pose only once it has stepped.
#[test]
fn a_kinematic_wall_hits_with_its_own_speed() {
    let mut simulation = space(60);
    let events = ActiveEvents::COLLISION_EVENTS;
    let body = RigidBodyBuilder::dynamic().translation(Vector::X * 1.5);
    (simulation.physics).insert(body, ColliderBuilder::ball(0.5).active_events(events));
    let wall = RigidBodyBuilder::kinematic_position_based();
    let wall = simulation.physics.insert(wall, cuboid(0.5, 2.0, 2.0));
    let to = translation(10.0, 0.0, 0.0);
    (simulation.physics)
        .set_kinematic_target(wall, to, Duration::from_secs(2))
        .unwrap();
    let hit = (0..60).find_map(|_| {
        advance(&mut simulation, 17);
        simulation.events().collisions().find_map(|it| it.hit)
    });
    assert!((hit.unwrap().speed() - 5.0).abs() < 0.05, "{hit:?}");
}

/// In the step after it stops, Rapier still has the velocity of the step before when it finds contacts.
#[test]
fn a_kinematic_wall_that_has_just_stopped_hits_with_the_speed_of_the_other_body() {
    const STOP: u64 = 10;
    let hits = (0..60).filter_map(|i: u16| {
        let mut simulation = space(60);
        let start = Vector::X * f32::from(i).mul_add(0.02, 2.0);
        let body = RigidBodyBuilder::dynamic().translation(start);
        let events = ActiveEvents::COLLISION_EVENTS;
        (simulation.physics).insert(
            body.linvel(Vector::X * -3.0),
            ColliderBuilder::ball(0.5).active_events(events),
        );
        let wall = RigidBodyBuilder::kinematic_position_based();
        let wall = simulation.physics.insert(wall, cuboid(0.5, 2.0, 2.0));
        (0..=STOP).find_map(|_| {
            simulation.advance(MS(17), |physics, step| {
                let x = 0.1 * (step.tick + 1).min(STOP) as f32;
                let to = translation(x, 0.0, 0.0);
                physics
                    .set_kinematic_target(wall, to, Duration::ZERO)
                    .unwrap();
            });
            let hit = simulation
                .physics
                .events()
                .collisions()
                .find_map(|it| it.hit)?;
            Some((simulation.physics.tick() - 1, hit.speed()))
        })
    });
    let speeds: Vec<f32> = (hits.filter(|(tick, _)| *tick == STOP))
        .map(|(_, speed)| speed)
        .collect();
    assert!(!speeds.is_empty());
    let is_near = |speed: &f32| (speed - 3.0).abs() < 0.05;
    assert!(speeds.iter().all(is_near), "{speeds:?}");
}

fn sleep_changes(simulation: &Simulation) -> Vec<SleepChange> {
    simulation.events().sleep_changes().collect()
}

#[test]
fn a_body_falls_asleep_once_and_wakes_once() {
    let mut simulation = with_floor(Rate::hz(60));
    let mut insert = |x: f32, body: RigidBodyBuilder| {
        // One of them sleeps in the air.
        let y = if x == 5.0 { 2.0 } else { 0.5 };
        let body = body.translation(Vector::X * x + Vector::Y * y);
        simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5))
    };
    let ball = insert(0.0, RigidBodyBuilder::dynamic());
    let asleep = insert(5.0, RigidBodyBuilder::dynamic().sleeping(true));
    insert(10.0, RigidBodyBuilder::kinematic_position_based());
    let gone = insert(15.0, RigidBodyBuilder::dynamic());
    let disabled = insert(20.0, RigidBodyBuilder::dynamic());
    let mut all = Vec::new();
    for frame in 0..1_000u64 {
        simulation.advance(MS(7), |physics, step| match step.tick {
            10 => drop(physics.remove(gone)),
            11 => physics.body_mut(disabled).unwrap().set_enabled(false),
            80 => physics.apply_impulse(ball, Vector::Y * 2.0).unwrap(),
            81 => physics.apply_impulse(asleep, Vector::Y * 2.0).unwrap(),
            _ => (),
        });
        for change in sleep_changes(&simulation) {
            let body = simulation.physics.body(change.body).unwrap();
            assert_eq!(body.is_sleeping(), change.is_asleep, "frame {frame}");
            all.push((change.body, change.is_asleep));
        }
    }
    let of = |key: BodyKey| -> Vec<bool> {
        let own = all.iter().filter(|(body, _)| *body == key);
        own.map(|(_, is_asleep)| *is_asleep).collect()
    };
    assert_eq!(of(ball), [true, false, true]);
    assert_eq!(of(asleep), [false, true]);
    assert_eq!(all.len(), 5, "{all:?}");
}

#[test]
fn sleep_changes_are_displayed_once_across_rollbacks_and_loads() {
    let mut simulation = with_floor(Rate::hz(60));
    simulation.keep(Kept {
        ticks: 100,
        ..Kept::default()
    });
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let key = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    let mut all = Vec::new();
    for frame in 0..200 {
        simulation.advance(MS(17), |physics, step| {
            if step.tick == 100 {
                physics.apply_impulse(key, Vector::Y).unwrap();
            }
        });
        all.extend(sleep_changes(&simulation).iter().map(|it| it.is_asleep));
        if frame % 7 == 6 {
            let tick = simulation.physics.tick() - 5;
            let again = |physics: &mut Physics, step: Step| {
                if step.tick == 100 {
                    physics.apply_impulse(key, Vector::Y).unwrap();
                }
            };
            simulation.resimulate(tick, again).unwrap();
        }
        #[cfg(feature = "serde")]
        if frame % 20 == 19 && simulation.events().is_empty() {
            simulation = Simulation::load(&simulation.save().unwrap()).unwrap();
            simulation.keep(Kept {
                ticks: 100,
                ..Kept::default()
            });
            // The steps before the load are not kept.
            for _ in 0..8 {
                advance(&mut simulation, 17);
                all.extend(sleep_changes(&simulation).iter().map(|it| it.is_asleep));
            }
        }
    }
    assert_eq!(all, [true, false, true]);
}

/// The contact does not turn with a ball that spins, whichever of the two comes first.
#[test]
fn a_spinning_ball_hits_the_floor_at_its_lowest_point() {
    for ball_first in [true, false] {
        for turn in [0.0, 20.0, 40.0] {
            let mut simulation = Simulation::default();
            let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 1.2);
            let body = body.linvel(Vector::Y * -3.0).angvel(spin(0.0, 0.0, turn));
            let ball = ColliderBuilder::ball(0.5).friction(0.0);
            let ball = ball.active_events(ActiveEvents::COLLISION_EVENTS);
            // A fixed body stands, whatever velocity it was built with.
            let floor = RigidBodyBuilder::fixed().linvel(Vector::Y * 10.0);
            let floor = (floor, cuboid(50.0, 0.5, 50.0));
            let key = if ball_first {
                let key = simulation.physics.insert(body, ball);
                simulation.physics.insert(floor.0, floor.1);
                key
            } else {
                simulation.physics.insert(floor.0, floor.1);
                simulation.physics.insert(body, ball)
            };
            let (hit, at) = first_hit(simulation, key, MS(17));
            assert!((hit.speed() - 3.65).abs() < 0.1, "{turn}: {hit:?}");
            assert!(
                (hit.point - at + Vector::Y * 0.5).length() < 0.02,
                "{turn}: {hit:?}"
            );
        }
    }
}

#[test]
fn the_point_of_a_force_goes_with_a_ball_that_slides() {
    let mut simulation = with_floor(Rate::hz(60));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let events = ActiveEvents::CONTACT_FORCE_EVENTS;
    let collider = ColliderBuilder::ball(0.5)
        .friction(0.0)
        .friction_combine_rule(CoefficientCombineRule::Min)
        .active_events(events);
    let body = body.linvel(Vector::X * 12.0);
    let ball = simulation.physics.insert(body, collider);
    let mut forces = 0;
    for _ in 0..60 {
        simulation.begin_frame(MS(17));
        while simulation.next_step().is_some() {
            simulation.run_step();
            let at = simulation.physics.body(ball).unwrap().translation();
            for force in simulation.physics.events().contact_forces() {
                let hit = force.hit.unwrap();
                assert!(
                    (hit.point - at + Vector::Y * 0.5).length() < 0.02,
                    "{hit:?}"
                );
                assert!((hit.sliding_speed() - 12.0).abs() < 0.1, "{hit:?}");
                forces += 1;
            }
        }
        simulation.end_frame();
    }
    assert!(forces > 30);
}

/// Whether frames come before the next step changes nothing.
#[test]
fn a_body_that_the_game_puts_to_sleep_is_reported_once_after_any_frames() {
    for frames in 0..3 {
        let mut simulation = space(60);
        let key = (simulation.physics).insert(RigidBodyBuilder::dynamic(), cuboid(0.5, 0.5, 0.5));
        let sleep = |simulation: &mut Simulation| {
            simulation.physics.body_mut(key).unwrap().sleep();
            (0..frames).for_each(|_| _ = advance(simulation, 1));
            let first = simulation.physics.tick();
            let mut changes = Vec::new();
            while simulation.physics.tick() < first + 10 {
                advance(simulation, 17);
                changes.extend(
                    sleep_changes(simulation)
                        .iter()
                        .map(|it| (it.step - first, it.is_asleep)),
                );
            }
            changes
        };
        assert_eq!(sleep(&mut simulation), [(0, true)]);
        assert_eq!(sleep(&mut simulation), []);
        simulation.physics.body_mut(key).unwrap().wake_up(true);
        advance(&mut simulation, 17);
        assert_eq!(sleep(&mut simulation), [(0, true)]);
    }
}

/// Returns a ball that has fallen asleep on a floor, and whether it fell asleep in each later step or woke up.
fn changes_after_sleep(act: fn(&mut Physics, BodyKey, u64)) -> Vec<bool> {
    let mut simulation = with_floor(Rate::hz(60));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let key = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    (0..300).for_each(|_| _ = advance(&mut simulation, 17));
    assert!(simulation.physics.body(key).unwrap().is_sleeping());
    let start = simulation.physics.tick();
    let mut changes = Vec::new();
    for _ in 0..60 {
        simulation.advance(MS(17), |physics, step| act(physics, key, step.tick - start));
        changes.extend(sleep_changes(&simulation).iter().map(|it| it.is_asleep));
    }
    changes
}

#[test]
fn only_a_real_change_of_sleep_is_an_event() {
    let shifted = changes_after_sleep(|physics, _, step| {
        if step == 5 {
            physics.shift_origin(Vector::X * 100.0).unwrap();
        }
    });
    assert_eq!(shifted, []);
    // A ball that is led away and let go wakes up.
    let dragged = changes_after_sleep(|physics, key, step| {
        let body = physics.body_mut(key).unwrap();
        let next = body.translation() + Vector::Y * 0.1;
        match step {
            5 => body.set_body_type(RigidBodyType::KinematicPositionBased, true),
            6..40 => body.set_next_kinematic_translation(next),
            40 => body.set_body_type(RigidBodyType::Dynamic, true),
            _ => (),
        }
    });
    assert_eq!(dragged, [false]);
}

#[test]
fn a_body_that_is_inserted_asleep_and_struck_at_once_wakes_up() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().sleeping(true);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    simulation.physics.apply_impulse(key, Vector::X).unwrap();
    advance(&mut simulation, 17);
    let changes = sleep_changes(&simulation);
    assert!(
        matches!(
            changes[..],
            [SleepChange {
                is_asleep: false,
                ..
            }]
        ),
        "{changes:?}"
    );
}

/// Four times the bodies must not take sixteen times as long: the events of new bodies are found without a search.
#[test]
fn thousands_of_new_bodies_wake_without_a_search_for_each() {
    let mut simulation = space(60);
    for i in 0..20_000u16 {
        let at = Vector::X * f32::from(i) * 2.0;
        let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
        simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    }
    advance(&mut simulation, 17);
    assert_eq!(sleep_changes(&simulation), []);
}
