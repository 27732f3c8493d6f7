//! The events of each pair of colliders are a start, a stop, a start, and so on, whatever the game changes meanwhile.

use evenstep::events::Collision;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use proptest::prelude::*;
use scenes::{MS, with_floor};
use std::collections::BTreeMap;

/// The number of ticks that have actions.
const TICKS: u64 = 60;

fn ball(listens: bool) -> ColliderBuilder {
    ColliderBuilder::ball(0.5).active_events(active(listens))
}

fn active(listens: bool) -> ActiveEvents {
    if listens {
        ActiveEvents::COLLISION_EVENTS
    } else {
        ActiveEvents::empty()
    }
}

fn collider(physics: &mut Physics, body: BodyKey) -> &mut Collider {
    let handle = physics.body(body).unwrap().colliders()[0];
    &mut physics.rapier_mut().colliders[handle]
}

/// Returns whether each event of the next step is a start.
fn step(simulation: &mut Simulation) -> Vec<bool> {
    simulation.advance(MS(10), |_, _| ());
    let collisions = simulation.events().collisions();
    collisions.map(|event| event.started).collect()
}

/// Moves the ball onto the floor, or away from it.
fn put(physics: &mut Physics, ball: BodyKey, touches: bool) {
    let height = if touches { 0.49 } else { 5.0 };
    let body = physics.body_mut(ball).unwrap();
    body.set_translation(Vector::Y * height, true);
}

/// Returns a floor and a ball that is above it.
fn ball_above_floor(listens: bool) -> (Simulation, BodyKey) {
    let mut simulation = with_floor(Rate::hz(100));
    let body = RigidBodyBuilder::dynamic().gravity_scale(0.0);
    let key = simulation.physics.insert(body, ball(listens));
    put(&mut simulation.physics, key, false);
    (simulation, key)
}

#[test]
fn a_contact_during_which_events_are_turned_on_has_no_stop() {
    let (mut simulation, ball) = ball_above_floor(false);
    put(&mut simulation.physics, ball, true);
    assert_eq!(step(&mut simulation), []);
    collider(&mut simulation.physics, ball).set_active_events(active(true));
    assert_eq!(step(&mut simulation), []);
    for touches in [false, true, false] {
        put(&mut simulation.physics, ball, touches);
        // Rapier reports a stop the first time, too.
        let is_first = !touches && simulation.physics.tick() == 2;
        let expected = if is_first { &[][..] } else { &[touches] };
        assert_eq!(step(&mut simulation), expected);
    }
}

#[test]
fn a_stop_that_rapier_left_out_comes_right_before_the_next_start() {
    let (mut simulation, ball) = ball_above_floor(true);
    put(&mut simulation.physics, ball, true);
    assert_eq!(step(&mut simulation), [true]);
    collider(&mut simulation.physics, ball).set_active_events(active(false));
    put(&mut simulation.physics, ball, false);
    assert_eq!(step(&mut simulation), []);
    collider(&mut simulation.physics, ball).set_active_events(active(true));
    assert_eq!(step(&mut simulation), []);
    put(&mut simulation.physics, ball, true);
    assert_eq!(step(&mut simulation), [false, true]);
    for event in simulation.events().collisions() {
        assert!(event.bodies.contains(&Some(ball)) && event.step == 3 && !event.removed);
    }
    simulation.physics.remove(ball);
    assert_eq!(step(&mut simulation), [false]);
}

#[test]
fn a_contact_that_began_in_a_step_of_rapier_has_no_stop() {
    for is_removed in [false, true] {
        let (mut simulation, ball) = ball_above_floor(true);
        put(&mut simulation.physics, ball, true);
        simulation.physics.rapier_mut().step();
        assert_eq!(step(&mut simulation), []);
        if is_removed {
            simulation.physics.remove(ball);
        } else {
            put(&mut simulation.physics, ball, false);
        }
        assert_eq!(step(&mut simulation), []);
    }
}

#[test]
fn a_collider_in_a_reused_slot_does_not_continue_the_contacts_of_its_predecessor() {
    for replaced in [0, 1] {
        let mut simulation = scenes::space(100);
        let insert = |physics: &mut Physics, x: f32, listens| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            physics.insert(body, ball(listens))
        };
        let mut balls = [0.0, 0.99].map(|x| insert(&mut simulation.physics, x, true));
        assert_eq!(step(&mut simulation), [true]);
        for ball in balls {
            collider(&mut simulation.physics, ball).set_active_events(active(false));
        }
        let put = |physics: &mut Physics, ball, x| {
            let body = physics.body_mut(ball).unwrap();
            body.set_translation(Vector::X * x, true);
            body.set_linvel(Vector::ZERO, true);
        };
        put(&mut simulation.physics, balls[1], 9.0);
        assert_eq!(step(&mut simulation), []);
        let slot = |physics: &Physics, ball| {
            let handle = physics.body(ball).unwrap().colliders()[0];
            handle.into_raw_parts().0
        };
        let before = slot(&simulation.physics, balls[replaced]);
        simulation.physics.remove(balls[replaced]);
        balls[replaced] = insert(&mut simulation.physics, 0.0, false);
        assert_eq!(slot(&simulation.physics, balls[replaced]), before);
        put(&mut simulation.physics, balls[1 - replaced], 0.99);
        assert_eq!(step(&mut simulation), []);
        collider(&mut simulation.physics, balls[replaced]).set_active_events(active(true));
        for (x, expected) in [(9.0, &[][..]), (0.99, &[true]), (9.0, &[false])] {
            put(&mut simulation.physics, balls[replaced], 0.0);
            put(&mut simulation.physics, balls[1 - replaced], x);
            assert_eq!(step(&mut simulation), expected, "ball {replaced}");
        }
    }
}

/// The balls of a random game, in the state of the simulation.
#[derive(Clone)]
struct Balls(Vec<BodyKey>);

/// An action on the ball of this number.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Listen(usize, bool),
    /// Moves the ball to one of a row of positions that touch each other and, in the lower row, the floor.
    Put(usize, usize, bool),
    Sense(usize, bool),
    Enable(usize, bool),
    Fix(usize, bool),
    Sleep(usize),
    /// Inserts a ball in place of this one, after or before the removal.
    Replace(usize, bool, bool),
    /// Runs a step that no event log sees.
    StepRapier,
}

type Deeds = Vec<(u64, Deed)>;

const BALLS: usize = 4;

fn deeds() -> impl Strategy<Value = Deeds> {
    let ball = || 0..BALLS;
    let deed = prop_oneof![
        3 => (ball(), any::<bool>()).prop_map(|(i, is)| Deed::Listen(i, is)),
        4 => (ball(), ball(), any::<bool>()).prop_map(|(i, to, is)| Deed::Put(i, to, is)),
        1 => (ball(), any::<bool>()).prop_map(|(i, is)| Deed::Sense(i, is)),
        1 => (ball(), any::<bool>()).prop_map(|(i, is)| Deed::Enable(i, is)),
        1 => (ball(), any::<bool>()).prop_map(|(i, is)| Deed::Fix(i, is)),
        1 => ball().prop_map(Deed::Sleep),
        2 => (ball(), any::<bool>(), any::<bool>()).prop_map(|(i, is, first)| Deed::Replace(i, is, first)),
        1 => Just(Deed::StepRapier),
    ];
    prop::collection::vec((0..TICKS, deed), 0..80)
}

fn place(to: usize, is_low: bool) -> Vector {
    Vector::X * to as f32 * 0.98 + Vector::Y * if is_low { 0.49 } else { 2.0 }
}

fn act(physics: &mut Physics, deed: Deed) {
    let Balls(mut keys) = physics.resources().get::<Balls>().unwrap().clone();
    match deed {
        Deed::Listen(i, is) => collider(physics, keys[i]).set_active_events(active(is)),
        Deed::Put(i, to, is_low) => {
            let body = physics.body_mut(keys[i]).unwrap();
            body.set_translation(place(to, is_low), true);
        }
        Deed::Sense(i, is) => collider(physics, keys[i]).set_sensor(is),
        Deed::Enable(i, is) => physics.body_mut(keys[i]).unwrap().set_enabled(is),
        Deed::Fix(i, is) => {
            let kind = [RigidBodyType::Dynamic, RigidBodyType::Fixed][usize::from(is)];
            physics.body_mut(keys[i]).unwrap().set_body_type(kind, true);
        }
        Deed::Sleep(i) => physics.body_mut(keys[i]).unwrap().sleep(),
        Deed::Replace(i, listens, is_first) => {
            let at = *physics.body(keys[i]).unwrap().position();
            let new = RigidBodyBuilder::dynamic().pose(at);
            if is_first {
                physics.remove(keys[i]);
            }
            let new = physics.insert(new, ball(listens));
            physics.remove(keys[i]);
            keys[i] = new;
        }
        Deed::StepRapier => physics.rapier_mut().step(),
    }
    physics.resources_mut().insert(Balls(keys));
}

fn act_all(physics: &mut Physics, step: Step, deeds: &Deeds) {
    let due = deeds.iter().filter(|(tick, _)| *tick == step.tick);
    due.for_each(|(_, deed)| act(physics, *deed));
}

/// Returns all collisions of a game. `between` is called after each frame.
fn play(
    deeds: &Deeds,
    frame: u64,
    mut between: impl FnMut(&mut Simulation, &Deeds),
) -> Vec<Collision> {
    let mut simulation = with_floor(Rate::hz(100));
    let keys = (0..BALLS).map(|i| {
        let body = RigidBodyBuilder::dynamic().translation(place(i, i % 2 == 0));
        simulation.physics.insert(body, ball(i < 2))
    });
    let balls = Balls(keys.collect());
    simulation.physics.resources_mut().insert(balls);
    let mut collisions = Vec::new();
    scenes::until_tick(TICKS + 20, || {
        simulation.advance(MS(frame), |physics, step| act_all(physics, step, deeds));
        collisions.extend(simulation.events().collisions());
        between(&mut simulation, deeds);
        simulation.physics.tick()
    });
    collisions.retain(|event| event.step < TICKS + 20);
    collisions
}

fn assert_alternate(collisions: &[Collision]) {
    let mut touching = BTreeMap::new();
    for event in collisions {
        let mut pair = event.colliders.map(ColliderHandle::into_raw_parts);
        pair.sort_unstable();
        let was_touching = touching.insert(pair, event.started).unwrap_or(false);
        assert_ne!(was_touching, event.started, "{event:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(40)))]

    #[test]
    fn starts_and_stops_alternate_alike_at_every_frame_rate(deeds in deeds()) {
        let expected = play(&deeds, 10, |_, _| ());
        assert_alternate(&expected);
        for frame in [3, 40, 130] {
            prop_assert_eq!(&play(&deeds, frame, |_, _| ()), &expected);
        }
    }

    #[test]
    fn starts_and_stops_alternate_alike_after_clones_and_rollbacks(deeds in deeds()) {
        let expected = play(&deeds, 10, |_, _| ());
        let cloned = play(&deeds, 10, |simulation, _| *simulation = simulation.clone());
        prop_assert_eq!(&cloned, &expected);
        let rolled_back = play(&deeds, 30, |simulation, deeds| {
            simulation.keep(Kept { ticks: 20, ..simulation.kept() });
            let from = simulation.physics.tick().saturating_sub(7);
            let act = |physics: &mut Physics, step| act_all(physics, step, deeds);
            if simulation.resimulate(from, act).is_ok() {
                let changes = simulation.event_changes();
                assert!(changes.new.is_empty() && changes.retracted.is_empty());
            }
        });
        prop_assert_eq!(&rolled_back, &expected);
    }

    #[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
    #[test]
    fn starts_and_stops_alternate_alike_after_loading(deeds in deeds()) {
        let expected = play(&deeds, 10, |_, _| ());
        let loaded = play(&deeds, 10, |simulation, _| {
            let balls = simulation.physics.resources().get::<Balls>().unwrap().clone();
            *simulation = Simulation::load(&simulation.save().unwrap()).unwrap();
            simulation.physics.resources_mut().insert(balls);
        });
        prop_assert_eq!(&loaded, &expected);
    }
}
