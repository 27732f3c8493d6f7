//! A character on floors, slopes, stairs, walls and crates.

use super::{SECOND, at_tick, position, positions, slide, sliding_capsule};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use recipes::hero::{HALF_HEIGHT, Hero, RADIUS, STANDING};
use scenes::with_floor;

fn box_floor(simulation: &mut Simulation) {
    let body = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
    simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(100.0, 0.5, 100.0));
}

/// Inserts a floor of squares of 2 m, like a level from a file.
fn mesh_floor(simulation: &mut Simulation) {
    let squares = (-50..50i16).flat_map(|x| (-50..50i16).map(move |z| (x, z)));
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for ((x, z), first) in squares.zip((0u32..).step_by(4)) {
        let corner = Vector::new(f32::from(x), 0.0, f32::from(z)) * 2.0;
        let edges = [Vector::ZERO, Vector::X, Vector::X + Vector::Z, Vector::Z];
        vertices.extend(edges.map(|edge| corner + edge * 2.0));
        triangles.push([first, first + 2, first + 1]);
        triangles.push([first, first + 3, first + 2]);
    }
    let mesh = ColliderBuilder::trimesh(vertices, triangles).unwrap();
    simulation.physics.insert(RigidBodyBuilder::fixed(), mesh);
}

/// Inserts a plane through the origin that rises along x by this many degrees.
fn slope(simulation: &mut Simulation, degrees: f32) {
    let rotation = Rotation::from_rotation_z(degrees.to_radians());
    let pose = Pose::from_parts(rotation * Vector::Y * -0.5, rotation);
    let body = RigidBodyBuilder::fixed().pose(pose);
    simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(100.0, 0.5, 100.0));
}

/// The step from which the character stands. In the first step its ray finds nothing yet.
const STANDS: u64 = 10;

/// How a walk differs from an even one, in metres.
#[derive(Debug, Default)]
struct Unevenness {
    /// The largest difference in a step.
    step: f32,
    /// The largest difference in the displayed poses of a frame.
    frame: f32,
    /// The difference at the end, to the side of the line and above or below it.
    aside: f32,
}

/// Returns the unevenness of `walk`, for ten seconds along a plane at `velocity` and 144 Hz.
fn uneven(
    simulation: &mut Simulation,
    key: BodyKey,
    velocity: Vector,
    mut walk: impl FnMut(&mut Physics, Step, Vector),
) -> Unevenness {
    let mut off = Unevenness::default();
    let (mut start, mut last, mut last_shown) = (None, None, None);
    let horizontal = Vector::new(velocity.x, 0.0, velocity.z);
    for _ in 0..144 * 10 {
        simulation.advance(SECOND / 144, |physics, step| {
            let now = position(physics, key).translation;
            if step.tick > STANDS {
                let way = now - *start.get_or_insert(now);
                off.aside = way.reject_from(velocity).length();
                let last = last.replace(now).unwrap_or(now - velocity * step.dt);
                off.step = off.step.max((now - last - velocity * step.dt).length());
            }
            let goes = step.tick >= STANDS;
            let wanted = if goes { horizontal } else { Vector::ZERO };
            walk(physics, step, wanted);
        });
        if simulation.physics.tick() > STANDS + 2 {
            let shown = simulation.pose(key).unwrap().translation;
            let last: Vector = last_shown
                .replace(shown)
                .unwrap_or(shown - velocity / 144.0);
            off.frame = off.frame.max((shown - last - velocity / 144.0).length());
        }
    }
    off
}

fn assert_walks_evenly(build: impl Fn(&mut Simulation), direction: Vector) {
    for speed in [2.0, 5.0, 8.0] {
        let mut simulation = Simulation::default();
        build(&mut simulation);
        let horizontal = Vector::new(direction.x, 0.0, direction.z).length();
        let velocity = direction * (speed / horizontal);
        let mut hero = Hero::build(&mut simulation, velocity * -5.0);
        let key = hero.key;
        let off = uneven(
            &mut simulation,
            key,
            velocity,
            |simulation, step, wanted| {
                hero.walk(simulation, step, wanted);
            },
        );
        assert!(off.step < 1e-4, "{off:?} at {speed} m/s");
        assert!(off.frame < 1e-4, "{off:?} at {speed} m/s");
        assert!(off.aside < 1e-4, "{off:?} at {speed} m/s");
    }
}

#[test]
fn a_character_walks_evenly_on_a_flat_floor() {
    for direction in [Vector::X, Vector::new(-0.8, 0.0, 0.6)] {
        assert_walks_evenly(box_floor, direction);
        assert_walks_evenly(mesh_floor, direction);
    }
}

#[test]
fn a_character_walks_evenly_up_and_down_a_slope() {
    for degrees in [-45.0f32, -20.0, 20.0, 42.0] {
        let direction = Rotation::from_rotation_z(degrees.to_radians()) * Vector::X;
        assert_walks_evenly(|simulation| slope(simulation, degrees), direction);
    }
}

/// Once this test fails, the recipe no longer needs legs.
#[test]
fn rapiers_controller_alone_hops_on_a_flat_floor() {
    for speed in [2.0, 5.0, 8.0] {
        let mut simulation = Simulation::default();
        box_floor(&mut simulation);
        let key = sliding_capsule(&mut simulation, 0.0);
        let velocity = Vector::X * speed;
        let off = uneven(
            &mut simulation,
            key,
            velocity,
            |simulation, step, wanted| {
                slide(simulation, step, key, wanted);
            },
        );
        assert!(off.step > 5e-3, "{off:?} at {speed} m/s");
        assert!(off.aside > 1e-3, "{off:?} at {speed} m/s");
    }
}

#[test]
fn a_character_climbs_stairs_up_to_the_length_of_its_legs() {
    let end = |height: f32| {
        let mut simulation = with_floor(Rate::default());
        for i in 1..=5u8 {
            let top = f32::from(i) * height;
            let place = Vector::new(f32::from(i) * 0.5 + 10.0, top / 2.0, 0.0);
            let stair = ColliderBuilder::cuboid(10.0, top / 2.0, 2.0);
            simulation
                .physics
                .insert(RigidBodyBuilder::fixed().translation(place), stair);
        }
        let mut hero = Hero::build(&mut simulation, Vector::ZERO);
        let up = positions(&mut simulation, &mut hero, 180, Vector::X * 2.0);
        let down = positions(&mut simulation, &mut hero, 180, Vector::X * -2.0);
        [up, down].map(|way| *way.last().unwrap())
    };
    for height in [0.1, 0.28] {
        let [up, down] = end(height);
        let top = Vector::new(6.0, 5.0 * height + STANDING, 0.0);
        assert!((up - top).length() < 1e-4, "{up}");
        assert!((down - Vector::Y * STANDING).length() < 1e-4, "{down}");
    }
    let [up, _] = end(0.5);
    assert!(up.x < 0.5 && (up.y - STANDING).abs() < 1e-4, "{up}");
}

#[test]
fn a_character_stops_at_a_compound_colliders_wall_and_passes_sensors() {
    let parts = vec![
        (
            Pose::translation(0.0, -0.5, 0.0),
            SharedShape::cuboid(50.0, 0.5, 50.0),
        ),
        (
            Pose::translation(4.0, 1.0, 0.0),
            SharedShape::cuboid(1.0, 1.0, 50.0),
        ),
    ];
    let mut simulation = Simulation::default();
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::compound(parts));
    let sensor = ColliderBuilder::cuboid(0.5, 0.5, 0.5).sensor(true);
    let place = RigidBodyBuilder::fixed().translation(Vector::X * 2.2);
    simulation.physics.insert(place, sensor);
    let mut hero = Hero::build(&mut simulation, Vector::ZERO);
    let place = positions(&mut simulation, &mut hero, 120, Vector::X * 5.0)[119];
    assert!((3.0 - RADIUS - place.x - 0.014).abs() < 1e-3, "{place}");
    assert!((place.y - STANDING).abs() < 1e-4, "{place}");
}

#[test]
fn a_character_that_lands_on_an_edge_hangs_until_it_walks() {
    for (walk, height) in [(-1.0, 2.0), (1.0, 0.0)] {
        let mut simulation = with_floor(Rate::default());
        let body = RigidBodyBuilder::fixed().translation(Vector::new(-5.0, 1.0, 0.0));
        simulation
            .physics
            .insert(body, ColliderBuilder::cuboid(5.0, 1.0, 5.0));
        let mut hero = Hero::build(&mut simulation, Vector::new(0.1, 2.0, 0.0));
        let hangs = positions(&mut simulation, &mut hero, 120, Vector::ZERO)[119];
        let sunk = 2.0 + STANDING - hangs.y;
        assert!((0.28..0.31).contains(&sunk), "{hangs}");
        let goes = positions(&mut simulation, &mut hero, 120, Vector::X * walk)[119];
        assert!((goes.y - height - STANDING).abs() < 1e-4, "{goes}");
    }
}

#[test]
fn a_character_slides_down_a_slope_steeper_than_45_degrees() {
    let mut simulation = Simulation::default();
    slope(&mut simulation, 50.0);
    let mut hero = Hero::build(&mut simulation, Vector::ZERO);
    let positions = positions(&mut simulation, &mut hero, 120, Vector::ZERO);
    assert!(positions[119].y < -1.0, "{}", positions[119]);
    assert!(!hero.on_ground);
}

#[test]
fn a_character_jumps_lands_and_stops_at_a_ceiling() {
    let highest = |ceiling: Option<f32>| {
        let mut simulation = with_floor(Rate::default());
        if let Some(height) = ceiling {
            let body = RigidBodyBuilder::fixed().translation(Vector::Y * (height + 0.5));
            simulation
                .physics
                .insert(body, ColliderBuilder::cuboid(5.0, 0.5, 5.0));
        }
        let mut hero = Hero::build(&mut simulation, Vector::ZERO);
        positions(&mut simulation, &mut hero, 10, Vector::ZERO);
        assert!(hero.on_ground);
        hero.rise = 5.0;
        let positions = positions(&mut simulation, &mut hero, 80, Vector::X);
        assert_eq!((hero.on_ground, hero.rise), (true, 0.0));
        assert_eq!(positions[79].y, STANDING);
        let head = STANDING + HALF_HEIGHT + RADIUS;
        positions
            .iter()
            .map(|place| place.y - STANDING + head)
            .fold(0.0, f32::max)
    };
    let free = highest(None);
    assert!(
        (3.0..3.1).contains(&free),
        "{free} m: 1.7 m, and 1.3 m from v² / 2g"
    );
    let under = highest(Some(2.0));
    assert!((1.95..2.0).contains(&under), "{under} m");
}

#[test]
fn a_character_pushes_a_crate_identically_at_every_frame_rate() {
    let run = |frames_per_second| {
        let mut simulation = with_floor(Rate::default());
        let mut hero = Hero::build(&mut simulation, Vector::ZERO);
        let key = hero.key;
        let cargo = RigidBodyBuilder::dynamic().translation(Vector::new(2.0, 0.5, 0.1));
        let cargo = simulation
            .physics
            .insert(cargo, ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0));
        at_tick(
            240,
            frames_per_second,
            simulation,
            |simulation, step| hero.walk(simulation, step, Vector::X * 2.0),
            |simulation| [key, cargo].map(|key| position(simulation, key)),
        )
    };
    let reference = run(60);
    assert!(reference[1].translation.x > 3.0, "the crate was not pushed");
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference, "at {frames_per_second}");
    }
}

#[test]
fn a_character_on_crates_stands_at_their_height_one_step_earlier() {
    let mut simulation = with_floor(Rate::default());
    let crates = [0.5, 1.5, 2.5, 3.5, 4.5].map(|height| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * height);
        simulation
            .physics
            .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0))
    });
    let mut hero = Hero::build(&mut simulation, Vector::Y * 5.0);
    let (mut top, mut sunk) = (5.0, 0.0f32);
    for frame in 0..120 {
        let place = positions(&mut simulation, &mut hero, 1, Vector::ZERO)[0];
        if frame > 10 {
            let off = place.y - top - STANDING;
            assert!(off.abs() < 1e-4, "{off} m in step {frame}");
        }
        top = position(&simulation.physics, crates[4]).translation.y + 0.5;
        sunk = sunk.max(5.0 - top);
    }
    assert!((0.002..0.01).contains(&sunk), "{sunk} m");
}
