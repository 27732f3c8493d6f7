//! A character beside walls, doors, ceilings and other characters that move.

use super::{SECOND, position, positions};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};
use recipes::hero::{GAP, HALF_HEIGHT, Hero, RADIUS, STANDING};
use scenes::with_floor;
use std::time::Duration;

/// A kinematic box that waits for half a second, then moves.
#[derive(Clone, Copy)]
struct Mover {
    centre: Vector,
    half: Vector,
    velocity: Vector,
}

impl Mover {
    fn insert(&self, simulation: &mut Simulation) -> BodyKey {
        let body = RigidBodyBuilder::kinematic_position_based().translation(self.centre);
        let collider = ColliderBuilder::cuboid(self.half.x, self.half.y, self.half.z);
        simulation.physics.insert(body, collider)
    }

    /// Returns the displacement at a time since the start.
    fn displacement(&self, time: Duration) -> Vector {
        let moving = time.saturating_sub(SECOND / 2);
        self.velocity * moving.as_secs_f32()
    }

    /// Returns the displacement before a step.
    fn displacement_at(&self, tick: usize) -> Vector {
        self.displacement(SECOND * u32::try_from(tick).unwrap() / 60)
    }
}

/// Returns a wall whose face is `gap` metres away from a character at the origin, on the side of +x.
fn wall(gap: f32, velocity: Vector) -> Mover {
    Mover {
        centre: Vector::new(RADIUS + gap + 0.1, 2.0, 0.0),
        half: Vector::new(0.1, 10.0, 50.0),
        velocity,
    }
}

/// Returns a platform whose top is `height` metres above the floor.
fn platform(height: f32, velocity: Vector) -> Mover {
    Mover {
        centre: Vector::Y * (height - 0.1),
        half: Vector::new(3.0, 0.1, 3.0),
        velocity,
    }
}

const STEPS: usize = 120;
/// The first step in which the boxes move.
const START: usize = 30;
const SLIDES: [Vector; 3] = [
    Vector::new(0.0, 0.0, 2.0),
    Vector::new(0.0, -1.0, 0.0),
    Vector::new(0.0, 1.0, -3.0),
];

/// Returns the position of a character before each step. Its feet start at the origin, or on the platform there. It
/// walks at `velocity`, and jumps in these steps.
fn walk(movers: &[Mover], velocity: Vector, jumps: &[u64], frames_per_second: u32) -> Vec<Vector> {
    let mut simulation = with_floor(Rate::default());
    let keys = movers.iter().map(|mover| mover.insert(&mut simulation));
    let keys: Vec<_> = keys.collect();
    let tops = movers.iter().map(|mover| mover.centre.y + mover.half.y);
    let top = tops.filter(|top| *top < 1.0).fold(0.0, f32::max);
    let mut hero = Hero::build(&mut simulation, Vector::Y * top);
    let mut path = Vec::new();
    while path.len() <= STEPS {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            path.push(position(physics, hero.key).translation);
            for (mover, key) in movers.iter().zip(&keys) {
                let next = mover.centre + mover.displacement(step.end_time);
                let body = physics.body_mut(*key).unwrap();
                body.set_next_kinematic_translation(next);
            }
            if jumps.contains(&step.tick) {
                hero.rise = 4.0;
            }
            hero.walk(physics, step, velocity);
        });
    }
    path.truncate(STEPS + 1);
    path
}

/// Slides along walls are inexact by this many metres in two seconds, beside walls at rest too.
const SLIDE: f32 = 5e-3;

/// Returns the largest distance between two paths at the same tick.
fn apart(path: &[Vector], other: &[Vector]) -> f32 {
    let pairs = path.iter().zip(other);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn a_wall_that_slides_past_a_standing_character_does_not_move_it() {
    let still = walk(&[wall(0.03, Vector::ZERO)], Vector::ZERO, &[], 60);
    for velocity in SLIDES {
        assert_eq!(walk(&[wall(0.03, velocity)], Vector::ZERO, &[], 60), still);
    }
}

#[test]
fn a_wall_that_slides_does_not_tow_a_character_that_walks_against_it() {
    for jumps in [&[][..], &[10, 50]] {
        for walking in [Vector::X, Vector::new(0.5, 0.0, 1.0)] {
            let still = walk(&[wall(0.05, Vector::ZERO)], walking, jumps, 60);
            for velocity in SLIDES {
                let path = walk(&[wall(0.05, velocity)], walking, jumps, 60);
                let off = apart(&path, &still);
                assert!(off < SLIDE, "{off} m beside a wall at {velocity}");
            }
        }
    }
}

#[test]
fn a_door_pushes_a_character_evenly_whatever_it_does() {
    for speed in [0.2, 0.7, 2.0, 6.0] {
        let door = wall(0.1, Vector::NEG_X * speed);
        let away = Vector::NEG_X * speed * 0.5;
        for walking in [Vector::ZERO, Vector::X, away, Vector::Z * 3.0] {
            for jumps in [&[][..], &[50, 95]] {
                let path = walk(&[door], walking, jumps, 60);
                let mut touched = false;
                for (tick, at) in path.iter().enumerate() {
                    let face = 0.1 + RADIUS + door.displacement_at(tick).x;
                    let gap = face - at.x - RADIUS;
                    touched |= tick > START && gap < GAP + 1e-4;
                    assert!(
                        !touched || (gap - GAP).abs() < 1e-4,
                        "{gap} m at {speed} m/s"
                    );
                    let along = walking.z * tick as f32 / 60.0;
                    assert!((at.z - along).abs() < SLIDE, "{at} at {speed} m/s");
                }
                assert!(touched || walking == away || speed < 0.5, "{speed} m/s");
            }
        }
    }
}

#[test]
fn a_leaf_of_a_revolving_door_pushes_a_character_around() {
    let mut simulation = with_floor(Rate::default());
    let hinge = Vector::X * -1.0;
    let body = RigidBodyBuilder::kinematic_position_based().translation(hinge);
    let leaf = ColliderBuilder::cuboid(1.0, 1.5, 0.05).translation(Vector::new(1.0, 1.5, -1.0));
    let door = simulation.physics.insert(body, leaf);
    let mut hero = Hero::build(&mut simulation, Vector::ZERO);
    for _ in 0..105 {
        simulation.advance(SECOND / 60, |physics, step| {
            let turn = Rotation::from_rotation_y(-step.end_time.as_secs_f32());
            let door = physics.body_mut(door).unwrap();
            door.set_next_kinematic_position(Pose::from_parts(hinge, turn));
            hero.walk(physics, step, Vector::ZERO);
        });
        let [door, hero] = [door, hero.key].map(|key| position(&simulation.physics, key));
        let gap = (door.inverse() * hero.translation).z + 0.95 - RADIUS;
        let pushed = simulation.physics.tick() > 41;
        assert!(gap > GAP - 1e-4 && (gap < GAP + 1e-4 || !pushed), "{gap} m");
    }
}

#[test]
fn a_platform_alone_carries_a_character_that_walks_against_a_wall() {
    let along = platform(0.4, Vector::new(0.0, 0.5, 1.0));
    for velocity in [Vector::ZERO, Vector::Z * -2.0, Vector::Y] {
        let path = walk(&[along, wall(0.05, velocity)], Vector::X, &[], 60);
        let expected =
            (0..=STEPS).map(|tick| Vector::Y * (STANDING + 0.4) + along.displacement_at(tick));
        for (tick, (at, expected)) in path.iter().zip(expected).enumerate().skip(10) {
            let off = (*at - expected).with_x(0.0).length();
            assert!(off < SLIDE, "{off} m before step {tick}");
        }
    }
}

#[test]
fn a_character_that_leans_on_the_wall_of_a_cabin_moves_with_it() {
    for speed in [-3.0, 3.0] {
        let velocity = Vector::new(speed, 1.0, 0.5);
        let cabin = [platform(0.4, velocity), wall(0.05, velocity)];
        let path = walk(&cabin, Vector::X, &[], 60);
        let inside = |tick: usize| path[tick] - cabin[0].displacement_at(tick);
        let place = inside(START + 2);
        for tick in START + 2..=STEPS {
            let off = inside(tick).distance(place);
            assert!(off < 1e-3, "{off} m at {speed} m/s");
        }
    }
}

#[test]
fn a_character_walks_from_a_platform_to_the_ground() {
    let sideways = platform(0.2, Vector::Z * 2.0);
    let path = walk(&[sideways], Vector::X * 3.0, &[], 60);
    // Its edge is 3 m away.
    let (on, off): (Vec<_>, Vec<_>) = path
        .windows(2)
        .skip(START)
        .partition(|pair| pair[0].x < 2.9);
    for (pairs, expected) in [(on, Vector::new(3.0, 0.0, 2.0)), (off, Vector::X * 3.0)] {
        let skipped = 15; // falls to the ground
        for pair in &pairs[skipped..] {
            let velocity = (pair[1] - pair[0]) * 60.0;
            assert!(velocity.distance(expected) < 0.01, "{velocity} m/s");
        }
        assert!(pairs.len() > skipped + 10);
    }
    assert!((path[STEPS].y - STANDING).abs() < 1e-4);
}

#[test]
fn a_body_that_is_kinematic_by_velocity_does_not_carry_a_character_and_pushes_it_one_step_late() {
    let run = |Mover { centre, half, .. }, feet| {
        let mut simulation = with_floor(Rate::default());
        let body = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::NEG_X);
        let collider = ColliderBuilder::cuboid(half.x, half.y, half.z);
        let key = simulation
            .physics
            .insert(body.translation(centre), collider);
        let mut hero = Hero::build(&mut simulation, feet);
        let place = positions(&mut simulation, &mut hero, 60, Vector::ZERO).pop();
        (
            place.unwrap(),
            position(&simulation.physics, key).translation,
        )
    };
    let (place, _) = run(platform(0.4, Vector::ZERO), Vector::Y * 0.4);
    assert!(
        place.distance(Vector::Y * (STANDING + 0.4)) < 1e-4,
        "{place}"
    );
    let (place, door) = run(wall(0.2, Vector::ZERO), Vector::ZERO);
    let gap = door.x - 0.1 - place.x - RADIUS;
    assert!((gap - GAP + 1.0 / 60.0).abs() < 1e-4, "{gap} m");
}

#[test]
fn a_ceiling_that_slides_does_not_tow_a_character_that_jumps_against_it() {
    let ceiling = |velocity| Mover {
        centre: Vector::Y * 2.5,
        half: Vector::new(20.0, 0.5, 20.0),
        velocity,
    };
    let still = walk(&[ceiling(Vector::ZERO)], Vector::X, &[10, 50], 60);
    for velocity in [Vector::X * 3.0, Vector::NEG_Z * 3.0] {
        let path = walk(&[ceiling(velocity)], Vector::X, &[10, 50], 60);
        let highest = path.iter().map(|at| at.y).fold(0.0, f32::max);
        assert!(
            (highest - (2.0 - HALF_HEIGHT - RADIUS)).abs() < 0.03,
            "{highest}"
        );
        let off = apart(&path, &still);
        assert!(off < SLIDE, "{off} m");
    }
}

#[test]
fn a_ceiling_that_sinks_pushes_a_character_down_onto_its_legs() {
    let ceiling = Mover {
        centre: Vector::Y * 2.5,
        half: Vector::new(5.0, 0.5, 5.0),
        velocity: Vector::Y * -0.35,
    };
    for jumps in [&[][..], &[40]] {
        let path = walk(&[ceiling], Vector::ZERO, jumps, 60);
        for (tick, at) in path.iter().enumerate().skip(START) {
            let head = at.y + HALF_HEIGHT + RADIUS;
            let gap = 2.0 + ceiling.displacement_at(tick).y - head;
            assert!(gap > GAP - 1e-4, "{gap} m before step {tick}");
        }
        let sunk = STANDING - path[STEPS].y;
        assert!((sunk - 0.245).abs() < 1e-3, "{sunk} m");
    }
}

/// Returns the positions of two characters after each step of two seconds, from these positions of their feet.
fn two(feet: [Vector; 2], velocities: [Vector; 2]) -> Vec<[Vector; 2]> {
    let mut simulation = with_floor(Rate::default());
    let mut heroes = feet.map(|feet| Hero::build(&mut simulation, feet));
    let mut places = Vec::new();
    for _ in 0..STEPS {
        simulation.advance(SECOND / 60, |physics, step| {
            for (hero, velocity) in heroes.iter_mut().zip(velocities) {
                hero.walk(physics, step, velocity);
            }
        });
        let place = |hero: &Hero| position(&simulation.physics, hero.key).translation;
        places.push(heroes.each_ref().map(place));
    }
    places
}

#[test]
fn a_character_slides_around_another_that_passes_and_is_not_towed() {
    let feet = [Vector::ZERO, Vector::new(0.7, 0.0, -1.0)];
    for [one, other] in two(feet, [Vector::X, Vector::Z * 3.0]) {
        let distance = one.distance(other);
        assert!(distance > 2.0 * RADIUS + GAP - 1e-4, "{distance} m");
        assert!(one.z.abs() < 0.1, "{one}");
    }
}

#[test]
fn a_character_stops_in_front_of_another_and_does_not_push_it() {
    let apart = 2.0 * RADIUS + GAP;
    for swapped in [false, true] {
        // The order of their steps makes no difference.
        let order = |mut pair: [Vector; 2]| {
            if swapped {
                pair.reverse();
            }
            pair
        };
        let feet = order([Vector::ZERO, Vector::X]);
        let places = two(feet, order([Vector::X * 3.0, Vector::ZERO]))[STEPS - 1];
        let [one, other] = order(places);
        assert!(
            one.distance(Vector::new(1.0 - apart, STANDING, 0.0)) < 1e-4,
            "{one}"
        );
        assert!(
            other.distance(Vector::new(1.0, STANDING, 0.0)) < 1e-4,
            "{other}"
        );
    }
}

#[test]
fn a_character_among_moving_walls_takes_the_same_path_at_every_frame_rate() {
    let movers = [
        platform(0.2, Vector::new(0.2, 0.3, 1.0)),
        wall(0.3, Vector::new(-1.0, 0.5, 2.0)),
        Mover {
            centre: Vector::Y * 4.0,
            half: Vector::new(9.0, 1.0, 9.0),
            velocity: Vector::new(0.5, -0.2, 0.0),
        },
    ];
    let run = |frames_per_second| {
        walk(
            &movers,
            Vector::new(1.0, 0.0, 0.3),
            &[20, 90],
            frames_per_second,
        )
    };
    let expected = run(60);
    for frames_per_second in [15, 59, 144, 1_000] {
        assert_eq!(run(frames_per_second), expected, "at {frames_per_second}");
    }
}
