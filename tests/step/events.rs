//! Events: none is lost or duplicated, and each has its tick and its bodies.

use evenstep::events::{Collision, Events};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::MS;
use scenes::testing::{cuboid, translation, vector};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn noisy_ball() -> ColliderBuilder {
    ColliderBuilder::ball(0.5)
        .restitution(0.9)
        .active_events(ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS)
}

/// Returns the collisions of the last frame.
fn collisions(simulation: &Simulation) -> Vec<Collision> {
    simulation.events().collisions().collect()
}

/// Balls that bounce on a floor, and that are removed and spawned at given ticks.
struct Bouncing {
    simulation: Simulation,
    game: Churn,
}

#[derive(Default)]
struct Churn {
    balls: Vec<BodyKey>,
    /// The collisions that each hook after a step saw. `forces` is the number of contact forces.
    seen: Vec<Collision>,
    forces: usize,
}

impl Hooks for Churn {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if step.tick.is_multiple_of(5) {
            let at = vector(
                (step.tick % 7) as f32 * 0.3,
                1.5,
                (step.tick % 3) as f32 * 0.3,
            );
            let body = RigidBodyBuilder::dynamic().translation(at);
            self.balls.push(physics.insert(body, noisy_ball()));
        }
        if step.tick % 11 == 10 {
            physics.remove(self.balls.remove(0)).unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let events = physics.events().in_step(step.tick);
        self.seen.extend(events.collisions());
        self.forces += events.contact_forces().count();
        Ok(())
    }
}

impl Bouncing {
    fn new() -> Self {
        let simulation = scenes::with_floor(Rate::hz(100));
        Self {
            simulation,
            game: Churn::default(),
        }
    }

    /// Returns all events of 300 steps, read after each frame.
    fn run(mut self, frame: Duration) -> (Vec<Collision>, usize, Churn) {
        let (mut collisions, mut forces) = (Vec::new(), 0);
        scenes::until_tick(300, || {
            let Ok(_) = self.simulation.advance_with(frame, &mut self.game);
            collisions.extend(self.simulation.events().collisions());
            forces += self.simulation.events().contact_forces().count();
            self.simulation.physics.tick()
        });
        (collisions, forces, self.game)
    }
}

#[test]
fn events_are_equal_at_every_frame_rate_in_hooks_and_after_frames() {
    let (expected, expected_forces, game) = Bouncing::new().run(MS(10));
    assert!(expected.len() > 200 && expected_forces > 200);
    assert_eq!(game.seen, expected);
    assert_eq!(game.forces, expected_forces);
    for frame in [MS(4), MS(50), MS(100), MS(250)] {
        let (collisions, forces, game) = Bouncing::new().run(frame);
        assert_eq!(collisions, expected, "{frame:?}");
        assert_eq!(forces, expected_forces, "{frame:?}");
        assert_eq!(game.seen, expected, "{frame:?}");
    }
}

#[test]
fn collisions_start_before_they_stop_and_name_both_bodies() {
    let (collisions, _, _) = Bouncing::new().run(MS(30));
    let mut touching = Vec::new();
    let mut removed = 0;
    for collision in collisions {
        assert!(
            collision.bodies.iter().all(Option::is_some),
            "{collision:?}"
        );
        if collision.started {
            assert!(!touching.contains(&collision.colliders), "started twice");
            touching.push(collision.colliders);
        } else {
            let at = touching
                .iter()
                .position(|pair| *pair == collision.colliders);
            touching.swap_remove(at.expect("a collision stopped without a start"));
            removed += u32::from(collision.removed);
        }
    }
    assert!(removed > 5, "some balls were removed while they touched");
}

#[test]
fn a_removed_body_is_named_in_its_stop_event_after_slot_reuse() {
    for through_rapier in [false, true] {
        let mut simulation = scenes::with_floor(Rate::hz(100));
        let insert = |simulation: &mut Simulation, x: f32| {
            let body = RigidBodyBuilder::dynamic().translation(vector(x, 0.49, 0.0));
            simulation.physics.insert(body, noisy_ball())
        };
        let old = insert(&mut simulation, 0.0);
        simulation.advance(MS(10), |_, _| ());
        assert_eq!(simulation.events().collisions().count(), 1);
        let collider = simulation.physics.body(old).unwrap().colliders()[0];
        if through_rapier {
            let handle = simulation.physics.handle(old).unwrap();
            simulation.physics.rapier_mut().remove_body(handle);
        } else {
            simulation.physics.remove(old);
        }
        let new = insert(&mut simulation, 5.0);
        let slot = |collider: ColliderHandle| collider.into_raw_parts().0;
        let new_collider = simulation.physics.body(new).unwrap().colliders()[0];
        assert_eq!(slot(new_collider), slot(collider), "the same slot");
        simulation.advance(MS(10), |_, _| ());
        let [stopped, started] = collisions(&simulation)[..] else {
            panic!("expected one stop and one start")
        };
        assert!(!stopped.started && stopped.removed && stopped.step == 1);
        assert!(stopped.bodies.contains(&Some(old)), "{stopped:?}");
        assert!(stopped.colliders.contains(&collider));
        assert!(started.started && started.bodies.contains(&Some(new)));
        assert_eq!(simulation.pose(old), None);
    }
}

#[test]
fn events_report_sensors_and_name_only_tracked_bodies() {
    let mut simulation = Simulation::new(Rate::hz(100));
    let zone = cuboid(1.0, 1.0, 1.0)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    simulation.physics.rapier_mut().insert_collider(zone, None);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 3.0);
    let handle = simulation
        .physics
        .rapier_mut()
        .insert(body, ColliderBuilder::ball(0.5))
        .0;
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    simulation.advance(MS(2_000), |_, _| ());
    let collisions = collisions(&simulation);
    assert_eq!(collisions.len(), 2);
    assert!(
        collisions
            .iter()
            .all(|c| c.sensor && !c.removed && c.bodies == [None, None])
    );
    assert!(collisions[0].started && !collisions[1].started);
    assert!(collisions[0].step < collisions[1].step);

    // The body is tracked later, and events name it from then on.
    let key = simulation.physics.track(handle).unwrap();
    simulation
        .physics
        .teleport(key, translation(0.0, 0.0, 0.0))
        .unwrap();
    simulation.advance(MS(10), |_, _| ());
    let first = simulation.events().collisions().next().unwrap();
    assert!(first.bodies.contains(&Some(key)));
}

#[test]
fn contact_forces_carry_their_tick_and_are_in_newtons() {
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let heavy = simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 0.5)
            .can_sleep(false),
        cuboid(0.5, 0.5, 0.5)
            .mass(100.0)
            .active_events(ActiveEvents::CONTACT_FORCE_EVENTS),
    );
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    simulation.advance(MS(2_000), |_, _| ());
    simulation.advance(MS(50), |_, _| ());
    let forces = simulation.events().contact_forces();
    let ticks: Vec<u64> = forces.clone().map(|force| force.step).collect();
    assert_eq!(ticks, [200, 201, 202, 203, 204]);
    for force in forces {
        assert!(force.bodies.contains(&Some(heavy)));
        assert!((force.force.total_force_magnitude - 981.0).abs() < 20.0);
    }
}

#[test]
fn a_frame_without_a_step_has_no_events() {
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.49);
    simulation.physics.insert(body, noisy_ball());
    simulation.advance(MS(10), |_, _| ());
    assert_eq!(simulation.events().collisions().count(), 1);
    simulation.advance(MS(5), |_, _| ());
    assert!(simulation.events().is_empty());
}

#[test]
fn a_body_tracked_during_a_contact_is_named_in_its_stop_event() {
    type Remove = fn(&mut Simulation, BodyKey, RigidBodyHandle, ColliderHandle);
    let ways: [Remove; 3] = [
        |simulation, key, _, _| drop(simulation.physics.remove(key)),
        |simulation, _, handle, _| drop(simulation.physics.rapier_mut().remove_body(handle)),
        |simulation, _, _, collider| drop(simulation.physics.remove_collider(collider)),
    ];
    for remove in ways {
        let mut simulation = scenes::with_floor(Rate::hz(100));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.49);
        let (handle, collider) = simulation.physics.rapier_mut().insert(body, noisy_ball());
        simulation.advance(MS(10), |_, _| ());
        assert_eq!(simulation.events().collisions().count(), 1);
        let key = simulation.physics.track(handle).unwrap();
        remove(&mut simulation, key, handle, collider);
        simulation.advance(MS(10), |_, _| ());
        let [stopped] = collisions(&simulation)[..] else {
            panic!("expected one stop")
        };
        assert!(stopped.removed && stopped.bodies.contains(&Some(key)));
        assert!(stopped.bodies.iter().all(Option::is_some));
    }
}

#[test]
fn the_stop_of_a_removed_collider_names_its_last_body() {
    type Remove = fn(&mut Physics, BodyKey, ColliderHandle);
    let ways: [Remove; 2] = [
        |physics, _, collider| drop(physics.remove_collider(collider)),
        |physics, body, _| drop(physics.remove(body)),
    ];
    for remove in ways {
        let mut simulation = scenes::with_floor(Rate::hz(100));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.49);
        let first = simulation.physics.insert(body, noisy_ball());
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.49);
        let second = simulation.physics.insert_body(body);
        simulation.advance(MS(10), |_, _| ());
        assert_eq!(simulation.events().collisions().count(), 1);
        let collider = simulation.physics.body(first).unwrap().colliders()[0];
        let handle = simulation.physics.handle(second);
        let world = simulation.physics.rapier_mut_for(&[first, second]);
        (world.colliders).set_parent(collider, handle, &mut world.bodies);
        simulation.advance(MS(10), |_, _| ());
        remove(&mut simulation.physics, second, collider);
        simulation.advance(MS(10), |_, _| ());
        let stopped = collisions(&simulation).pop().unwrap();
        assert!(stopped.removed && stopped.bodies.contains(&Some(second)));
    }
}

/// A collider gets another body or none, and is removed.
#[test]
fn the_stop_of_a_removed_collider_does_not_name_a_body_that_it_had_left() {
    type Remove = fn(&mut Physics, ColliderHandle);
    let ways: [Remove; 3] = [
        |physics, collider| drop(physics.remove_collider(collider)),
        |physics, collider| drop(physics.rapier_mut().remove_collider(collider)),
        |physics, collider| {
            let body = physics.rapier().colliders[collider].parent();
            let world = physics.rapier_mut();
            match body {
                Some(body) => drop(world.remove_body(body)),
                None => drop(world.remove_collider(collider)),
            }
        },
    ];
    for (has_body, has_key) in [(true, true), (true, false), (false, false)] {
        for (way, remove) in ways.iter().enumerate() {
            for names_bodies in [false, true] {
                let mut simulation = scenes::space(100);
                let physics = &mut simulation.physics;
                let ball = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.95);
                physics.insert(ball, ColliderBuilder::ball(0.5));
                let first = physics.insert(RigidBodyBuilder::fixed(), noisy_ball());
                let second = (physics.rapier_mut()).insert_body(RigidBodyBuilder::fixed());
                let key = has_key.then(|| physics.track(second).unwrap());
                simulation.advance(MS(10), |_, _| ());
                assert_eq!(simulation.events().collisions().count(), 1);
                let physics = &mut simulation.physics;
                let collider = physics.body(first).unwrap().colliders()[0];
                let world = match names_bodies {
                    true => physics.rapier_mut_for(&[first]),
                    false => physics.rapier_mut(),
                };
                let parent = has_body.then_some(second);
                (world.colliders).set_parent(collider, parent, &mut world.bodies);
                simulation.advance(MS(10), |_, _| ());
                remove(&mut simulation.physics, collider);
                // A second removal does nothing.
                assert!(simulation.physics.remove_collider(collider).is_none());
                simulation.advance(MS(10), |_, _| ());
                let stopped = collisions(&simulation).pop().unwrap();
                assert!(stopped.removed);
                let case = (has_body, has_key, way, names_bodies);
                assert!(!stopped.bodies.contains(&Some(first)), "{case:?}");
                let names = |key| stopped.bodies.contains(&key);
                assert!(names(key), "{case:?}: {:?}", stopped.bodies);
            }
        }
    }
}

#[test]
fn a_body_tracked_in_a_reused_slot_gets_no_event_of_its_predecessor() {
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let body = || RigidBodyBuilder::dynamic().translation(Vector::Y * 0.49);
    let old = simulation.physics.insert(body(), noisy_ball());
    simulation.advance(MS(10), |_, _| ());
    let collider = simulation.physics.body(old).unwrap().colliders()[0];
    simulation.physics.remove(old);
    let (handle, again) = simulation.physics.rapier_mut().insert(body(), noisy_ball());
    let slot = |collider: ColliderHandle| collider.into_raw_parts().0;
    assert_eq!(slot(again), slot(collider));
    let new = simulation.physics.track(handle).unwrap();
    simulation.advance(MS(10), |_, _| ());
    let [stopped, started] = collisions(&simulation)[..] else {
        panic!("expected one stop and one start")
    };
    assert!(!stopped.started && stopped.bodies.contains(&Some(old)));
    assert!(started.started && started.bodies.contains(&Some(new)));
}

/// Returns the two colliders of an event, the lower one first.
fn pair(colliders: [ColliderHandle; 2]) -> [(u32, u32); 2] {
    let mut pair = colliders.map(ColliderHandle::into_raw_parts);
    pair.sort_unstable();
    pair
}

#[test]
fn body_mut_access_does_not_change_the_order_of_events() {
    // Balls that fall onto each other. Half of them are disabled, and later enabled, all in one step. `look` chooses
    // balls that are accessed before that.
    let run = |look: fn(usize) -> bool| {
        let mut simulation = scenes::with_floor(Rate::hz(100));
        let keys: Vec<BodyKey> = (0..60)
            .map(|i| {
                let at = vector((i % 5) as f32, 1.0 + (i / 5) as f32, (i % 3) as f32 * 0.3);
                let body = RigidBodyBuilder::dynamic().translation(at);
                simulation
                    .physics
                    .insert(body, noisy_ball().sensor(i % 10 == 9))
            })
            .collect();
        let (mut collisions, mut forces) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            simulation.advance(MS(100), |physics, step| {
                for i in (0..keys.len()).rev().filter(|i| look(*i)) {
                    let _ = physics.body_mut(keys[i]).unwrap().linvel();
                }
                if step.tick % 10 == 5 {
                    for key in keys.iter().step_by(2) {
                        let body = physics.body_mut(*key).unwrap();
                        body.set_enabled(!body.is_enabled());
                    }
                }
            });
            collisions.extend(simulation.events().collisions());
            let of_frame = simulation.events().contact_forces();
            forces.extend(of_frame.map(|event| {
                let force = event.force;
                let pair = pair([force.collider1, force.collider2]);
                (event.step, pair, force.total_force_magnitude)
            }));
        }
        (collisions, forces)
    };
    let (collisions, forces) = run(|_| false);
    let counts = (collisions.len(), forces.len());
    assert!(counts.0 > 200 && counts.1 > 150, "{counts:?}");
    let looks: [fn(usize) -> bool; 3] = [|_| true, |i| i == 16, |i| i % 4 > 1];
    for look in looks {
        let (theirs, their_forces) = run(look);
        assert!(theirs == collisions, "the order of collisions changed");
        assert!(
            their_forces == forces,
            "the order of contact forces changed"
        );
    }
    // The documented order.
    let order = |collision: &Collision| (collision.step, pair(collision.colliders));
    assert!(collisions.is_sorted_by_key(order));
    assert!(forces.is_sorted_by_key(|(tick, pair, _)| (*tick, *pair)));
}

#[test]
fn a_sensor_crossed_within_one_step_reports_start_before_stop() {
    let mut simulation = scenes::space(100);
    // Many pairs in one step, so that a sort has something to do: the last bullet crosses the first gate.
    let lane = |i: u8| Vector::Y * 3.0 * f32::from(i);
    for i in 0..30 {
        let gate = cuboid(0.01, 1.0, 1.0)
            .sensor(true)
            .translation(lane(i))
            .active_events(ActiveEvents::COLLISION_EVENTS);
        simulation.physics.rapier_mut().insert_collider(gate, None);
    }
    for i in (0..30).rev() {
        let bullet = RigidBodyBuilder::dynamic()
            .translation(lane(i) - Vector::X)
            .linvel(Vector::X * 200.0)
            .ccd_enabled(true);
        simulation
            .physics
            .insert(bullet, ColliderBuilder::ball(0.1));
    }
    simulation.advance(MS(10), |_, _| ());
    let collisions = collisions(&simulation);
    assert_eq!(collisions.len(), 60);
    for crossing in collisions.chunks(2) {
        assert_eq!(pair(crossing[0].colliders), pair(crossing[1].colliders));
        assert!(crossing[0].started && !crossing[1].started);
    }
    assert!(collisions.is_sorted_by_key(|collision| pair(collision.colliders)));
}

#[test]
fn quarantine_events_are_sorted_by_key() {
    let mut simulation = scenes::space(100);
    let keys: Vec<BodyKey> = (0..8u8)
        .map(|i| {
            let at = Vector::X * 3.0 * f32::from(i);
            let body = RigidBodyBuilder::dynamic().translation(at);
            simulation.physics.insert(body, noisy_ball())
        })
        .collect();
    simulation.advance(MS(10), |_, _| ());
    for i in [5, 2, 7, 0, 3] {
        let body = simulation.physics.body_mut(keys[i]).unwrap();
        body.set_linvel(Vector::NAN, true);
    }
    simulation.advance(MS(10), |_, _| ());
    let quarantined = simulation.events().quarantined();
    let bodies: Vec<BodyKey> = quarantined.map(|event| event.body).collect();
    assert_eq!(bodies, [0, 2, 3, 5, 7].map(|i| keys[i]));
}

/// Inserts a ball that begins to touch the floor in the next step.
fn insert_one(physics: &mut Physics, number: usize) -> BodyKey {
    let at = vector(number as f32 * 1.5, 0.49, 0.0);
    let ball = ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS);
    physics.insert(RigidBodyBuilder::dynamic().translation(at), ball)
}

/// Returns the ball of each collision, with its tick. The floor's key is lower.
fn balls(events: Events) -> Vec<(u64, BodyKey)> {
    let ball = |event: &Collision| event.bodies.into_iter().flatten().max().unwrap();
    let balls = events.collisions().map(|event| (event.step, ball(&event)));
    balls.collect()
}

#[test]
fn events_have_the_tick_of_their_step_after_ticks_are_renumbered_within_a_frame() {
    // The ticks are renumbered to before the frame's steps, to one of them, and to after them.
    for first in [0, 4, 40] {
        let mut simulation = scenes::with_floor(Rate::hz(100));
        simulation.advance(MS(30), |_, _| ());
        let mut count = 0;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            simulation.advance(MS(100), |physics, step| {
                assert!(step.tick < 6, "a bug in the game");
                insert_one(physics, count);
                count += 1;
            });
        }));
        assert!(caught.is_err());
        simulation.set_tick(first);
        simulation.begin_frame(MS(30));
        while let Some(step) = simulation.next_step() {
            let ball = insert_one(&mut simulation.physics, 10 + count);
            count += 1;
            simulation.run_step();
            let events = simulation.physics.events();
            assert_eq!(balls(events.clone()), [(step.tick, ball)], "from {first}");
            assert_eq!(balls(events.in_step(step.tick)), balls(events.clone()));
            assert!(events.in_step(u64::MAX).is_empty());
        }
        assert_eq!(count, 6);
        simulation.end_frame();
    }
}
