//! Which colliders touch a body now, and what belongs to a collider.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use scenes::testing::{cuboid, translation, vector};
use scenes::{MS, mixed, with_floor};
use std::collections::BTreeSet;

/// Two colliders, the lower handle first.
type Contact = [(u32, u32); 2];

fn contact(colliders: [ColliderHandle; 2]) -> Contact {
    let mut pair = colliders.map(ColliderHandle::into_raw_parts);
    pair.sort_unstable();
    pair
}

/// The pairs whose last event was a start.
#[derive(Default)]
struct Counted(BTreeSet<Contact>);

impl Counted {
    fn read(&mut self, physics: &Physics) {
        for event in physics.events().collisions() {
            if event.started {
                self.0.insert(contact(event.colliders));
            } else {
                self.0.remove(&contact(event.colliders));
            }
        }
    }

    /// Checks every body. Pairs of a removed collider end in the next step.
    fn check(&self, physics: &Physics) -> usize {
        let colliders = &physics.rapier().colliders;
        let is_alive = |(index, generation)| {
            colliders.contains(ColliderHandle::from_raw_parts(index, generation))
        };
        let mut most = 0;
        for (key, body) in physics.bodies() {
            let own: Vec<_> = (body.colliders().iter().copied())
                .map(ColliderHandle::into_raw_parts)
                .collect();
            let counted = self.0.iter().filter(|pair| {
                pair.iter().any(|it| own.contains(it)) && pair.iter().all(|it| is_alive(*it))
            });
            let touches = physics.touching(key);
            let pairs = touches
                .iter()
                .map(|touch| contact([touch.own, touch.other]));
            assert!(pairs.eq(counted.copied()), "{key:?}: {touches:#?}");
            for touch in &touches {
                assert!(body.colliders().contains(&touch.own));
                assert_eq!(touch.body, physics.key_of_collider(touch.other));
                let both = [touch.own, touch.other].map(|it| colliders[it].is_sensor());
                assert_eq!(touch.sensor, both[0] || both[1]);
            }
            most = most.max(touches.len());
        }
        most
    }
}

fn spawn(physics: &mut Physics, number: u64) -> BodyKey {
    let reported = |collider: ColliderBuilder| {
        collider
            .active_events(ActiveEvents::COLLISION_EVENTS)
            .active_collision_types(ActiveCollisionTypes::all())
    };
    let x = (mixed(number) % 40) as f32 * 0.1;
    let body = match number % 4 {
        0 => RigidBodyBuilder::fixed(),
        1 => RigidBodyBuilder::kinematic_velocity_based().linvel(vector(0.5, 0.0, 0.0)),
        _ => RigidBodyBuilder::dynamic(),
    };
    let body = body.translation(vector(x, 1.0 + (number % 3) as f32, 0.0));
    let key = physics.insert(body, reported(ColliderBuilder::ball(0.4)));
    // A second leg, or a zone around the body.
    let zone = ColliderBuilder::ball(1.0).sensor(number.is_multiple_of(5));
    let leg = if number.is_multiple_of(2) {
        cuboid(0.3, 0.3, 0.3)
    } else {
        zone
    };
    let leg = leg.position(translation(0.3, -0.3, 0.0));
    physics.insert_collider(key, reported(leg)).unwrap();
    key
}

#[test]
fn touching_equals_the_starts_without_a_stop() {
    let mut simulation = with_floor(Rate::hz(60));
    let (mut keys, mut counted, mut most) = (Vec::new(), Counted::default(), 0);
    for number in 0..240 {
        simulation.begin_frame(MS(17));
        while let Some(step) = simulation.next_step() {
            let physics = &mut simulation.physics;
            if step.tick % 7 == 0 {
                keys.push(spawn(physics, step.tick / 7));
            }
            if step.tick % 31 == 30 {
                physics.remove(keys.remove(0)).unwrap();
            }
            if step.tick % 23 == 22 {
                let at = mixed(step.tick) as usize % keys.len();
                if let [_, leg] = *physics.body(keys[at]).unwrap().colliders() {
                    physics.remove_collider(leg);
                }
            }
            counted.check(physics);
            simulation.run_step();
            counted.read(&simulation.physics);
            most = most.max(counted.check(&simulation.physics));
        }
        simulation.end_frame();
        if number % 20 == 0 {
            counted.check(&simulation.physics.clone());
            #[cfg(feature = "serde")]
            if let Ok(bytes) = simulation.save() {
                simulation = Simulation::load(&bytes).unwrap();
                counted.check(&simulation.physics);
            }
        }
    }
    assert!(most > 3, "{most}");
}

#[test]
fn nothing_touches_a_removed_body_or_one_that_was_in_no_step() {
    let mut simulation = with_floor(Rate::hz(60));
    let key = spawn(&mut simulation.physics, 2);
    assert_eq!(simulation.physics.touching(key), []);
    for _ in 0..20 {
        simulation.advance(MS(100), |_, _| ());
    }
    assert!(!simulation.physics.touching(key).is_empty());
    simulation.physics.remove(key).unwrap();
    assert_eq!(simulation.physics.touching(key), []);
    // The body in its slot is another one.
    let other = spawn(&mut simulation.physics, 2);
    assert_eq!(simulation.physics.touching(other), []);
}

#[test]
fn collisions_have_the_user_data_of_their_colliders_even_of_removed_ones() {
    let mut simulation = with_floor(Rate::hz(60));
    let ball = ColliderBuilder::ball(0.5)
        .user_data(7)
        .active_events(ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS);
    let body = RigidBodyBuilder::dynamic().translation(vector(0.0, 0.6, 0.0));
    let key = simulation.physics.insert(body, ball);
    let mut data = Vec::new();
    for frame in 0..60 {
        simulation.advance(MS(17), |_, _| ());
        let collisions = simulation.events().collisions();
        data.extend(collisions.map(|event| (event.started, event.user_data)));
        for event in simulation.events().contact_forces() {
            assert!(event.user_data.contains(&7), "{event:?}");
        }
        if frame == 40 {
            simulation.physics.remove(key).unwrap();
        }
    }
    let (last, starts) = data.split_last().unwrap();
    assert!(!starts.is_empty());
    assert!(!last.0, "the removal");
    assert!(data.iter().all(|(_, data)| data.contains(&7)), "{data:?}");
}

#[test]
fn a_collider_changed_through_its_handle_is_displayed_as_if_all_bodies_were_checked() {
    let run = |change: fn(&mut Physics, ColliderHandle)| {
        let mut simulation = Simulation::new(Rate::hz(10));
        let body = RigidBodyBuilder::dynamic()
            .gravity_scale(0.0)
            .angvel(scenes::testing::spin(0.0, 0.0, 3.0));
        let key = simulation.physics.insert(body, cuboid(0.5, 0.4, 0.3));
        let collider = simulation.physics.body(key).unwrap().colliders()[0];
        let mut poses = Vec::new();
        for frame in 0..30 {
            simulation.advance(MS(30), |_, _| ());
            poses.push(simulation.pose(key).unwrap());
            if frame == 7 {
                change(&mut simulation.physics, collider);
            }
        }
        poses
    };
    // The centre of mass is no longer at the body's origin, about which it turned until then.
    let through_rapier = run(|physics, handle| {
        let collider = &mut physics.rapier_mut().colliders[handle];
        collider.set_position_wrt_parent(translation(2.0, 0.0, 0.0));
    });
    let through_handle = run(|physics, handle| {
        let collider = physics.collider_mut(handle).unwrap();
        collider.set_position_wrt_parent(translation(2.0, 0.0, 0.0));
    });
    assert_eq!(through_handle, through_rapier);
    assert_ne!(through_handle, run(|_, _| ()));
    let mut physics = Physics::new();
    assert!(physics.collider_mut(ColliderHandle::invalid()).is_none());
}
