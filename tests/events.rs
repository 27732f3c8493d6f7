//! Events: none lost, none doubled, each with its tick and its bodies.

mod scenes;

use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Collision, Hooks, Rate, Simulation, Step};
use std::convert::Infallible;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn noisy_ball() -> ColliderBuilder {
    ColliderBuilder::ball(0.5)
        .restitution(0.9)
        .active_events(ActiveEvents::COLLISION_EVENTS | ActiveEvents::CONTACT_FORCE_EVENTS)
}

/// Balls that bounce on a floor, and that are removed and spawned by tick.
struct Bouncing {
    simulation: Simulation,
    game: Churn,
}

#[derive(Default)]
struct Churn {
    balls: Vec<BodyKey>,
    /// The collisions and the number of contact forces, as each hook after a step saw them.
    seen: Vec<Collision>,
    forces: usize,
}

impl Hooks for Churn {
    type Error = Infallible;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        if step.tick.is_multiple_of(5) {
            let at = Vector::new(
                (step.tick % 7) as f32 * 0.3,
                1.5,
                (step.tick % 3) as f32 * 0.3,
            );
            let body = RigidBodyBuilder::dynamic().translation(at);
            self.balls.push(simulation.insert(body, noisy_ball()));
        }
        if step.tick % 11 == 10 {
            simulation.remove(self.balls.remove(0)).unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        self.seen
            .extend(simulation.events().collisions_in(step.tick));
        self.forces += simulation.events().contact_forces_in(step.tick).len();
        Ok(())
    }
}

impl Bouncing {
    fn new() -> Self {
        let simulation = scenes::with_floor(Rate::hz(100).unwrap());
        Self {
            simulation,
            game: Churn::default(),
        }
    }

    /// All events of 300 steps, read after each frame.
    fn run(mut self, frame: Duration) -> (Vec<Collision>, usize, Churn) {
        let (mut collisions, mut forces) = (Vec::new(), 0);
        while self.simulation.tick() < 300 {
            let Ok(_) = self.simulation.advance_with(frame, &mut self.game);
            collisions.extend(self.simulation.events().collisions());
            forces += self.simulation.events().contact_forces().len();
        }
        (collisions, forces, self.game)
    }
}

#[test]
fn the_same_events_at_every_frame_rate_after_advance_and_in_the_hook() {
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
fn every_start_has_its_stop_and_every_collision_both_keys() {
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
            touching.swap_remove(at.expect("stopped without a start"));
            removed += u32::from(collision.removed);
        }
    }
    assert!(removed > 5, "some were removed while they touched");
}

#[test]
fn a_removed_body_is_named_in_its_last_event_also_when_its_slot_is_used_again() {
    for through_rapier in [false, true] {
        let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
        let insert = |simulation: &mut Simulation, x: f32| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 0.49, 0.0));
            simulation.insert(body, noisy_ball())
        };
        let old = insert(&mut simulation, 0.0);
        simulation.advance(MS(10), |_, _| ());
        assert_eq!(simulation.events().collisions().len(), 1);
        let collider = simulation.get(old).unwrap().colliders()[0];
        if through_rapier {
            let handle = simulation.handle(old).unwrap();
            simulation.world_mut().remove_body(handle);
        } else {
            simulation.remove(old);
        }
        let new = insert(&mut simulation, 5.0);
        let slot = |collider: ColliderHandle| collider.into_raw_parts().0;
        let new_collider = simulation.get(new).unwrap().colliders()[0];
        assert_eq!(slot(new_collider), slot(collider), "the same slot");
        simulation.advance(MS(10), |_, _| ());
        let [stopped, started] = simulation.events().collisions() else {
            panic!("one stops and one starts")
        };
        assert!(!stopped.started && stopped.removed && stopped.tick == 1);
        assert!(stopped.bodies.contains(&Some(old)), "{stopped:?}");
        assert!(stopped.colliders.contains(&collider));
        assert!(started.started && started.bodies.contains(&Some(new)));
        assert_eq!(simulation.pose(old), None);
    }
}

#[test]
fn a_sensor_and_colliders_without_a_key_are_told_as_such() {
    let mut simulation = Simulation::new(Rate::hz(100).unwrap());
    let zone = ColliderBuilder::cuboid(1.0, 1.0, 1.0)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    simulation.world_mut().insert_collider(zone, None);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 3.0);
    let handle = simulation
        .world_mut()
        .insert(body, ColliderBuilder::ball(0.5))
        .0;
    simulation.clock_mut().set_max_frame_time(Duration::MAX);
    simulation.advance(MS(2_000), |_, _| ());
    let collisions = simulation.events().collisions();
    assert_eq!(collisions.len(), 2);
    assert!(
        collisions
            .iter()
            .all(|c| c.sensor && !c.removed && c.bodies == [None, None])
    );
    assert!(collisions[0].started && !collisions[1].started);
    assert!(collisions[0].tick < collisions[1].tick);

    // Tracked later, it is named from then on.
    let key = simulation.track(handle).unwrap();
    simulation
        .teleport(key, Pose::translation(0.0, 0.0, 0.0))
        .unwrap();
    simulation.advance(MS(10), |_, _| ());
    assert!(
        simulation.events().collisions()[0]
            .bodies
            .contains(&Some(key))
    );
}

#[test]
fn contact_forces_carry_their_tick_and_are_in_newtons() {
    let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
    let heavy = simulation.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 0.5)
            .can_sleep(false),
        ColliderBuilder::cuboid(0.5, 0.5, 0.5)
            .mass(100.0)
            .active_events(ActiveEvents::CONTACT_FORCE_EVENTS),
    );
    simulation.clock_mut().set_max_frame_time(Duration::MAX);
    simulation.advance(MS(2_000), |_, _| ());
    simulation.advance(MS(50), |_, _| ());
    let forces = simulation.events().contact_forces();
    let ticks: Vec<u64> = forces.iter().map(|force| force.tick).collect();
    assert_eq!(ticks, [200, 201, 202, 203, 204]);
    for force in forces {
        assert!(force.bodies.contains(&Some(heavy)));
        assert!((force.force.total_force_magnitude - 981.0).abs() < 20.0);
    }
}

#[test]
fn a_frame_without_a_step_has_no_events() {
    let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.49);
    simulation.insert(body, noisy_ball());
    simulation.advance(MS(10), |_, _| ());
    assert_eq!(simulation.events().collisions().len(), 1);
    simulation.advance(MS(5), |_, _| ());
    assert!(simulation.events().collisions().is_empty());
    assert!(simulation.events().contact_forces().is_empty());
}
