//! Platforms beside the hero, above it and in its way: only the one below its feet carries it.

use std::time::Duration;

use crate::runs::{PACES, Pace, game, jump, plain, play, run, walk};
use evenstep::rapier::math::Vector;
use evenstep_platformer::controls::Way;
use evenstep_platformer::hero::{GAP, HALF_HEIGHT, RADIUS, STANDING};
use evenstep_platformer::level::{Level, Paint};
use evenstep_platformer::platforms::{HALF, Route};
use evenstep_platformer::script::Script;

/// Slides along walls are inexact by this many metres in two seconds, beside walls at rest too.
const SLIDE: f32 = 5e-3;

/// Ways of a platform beside the hero that do not end its contact.
const WAYS: [Vector; 3] = [
    Vector::new(0.0, 0.0, -2.0),
    Vector::new(0.0, 0.2, 0.0),
    Vector::new(0.0, -0.2, -1.0),
];

/// Returns a platform that travels from a position by `way` in two seconds.
fn slab(from: Vector, way: Vector) -> Route {
    Route {
        from,
        to: from + way,
        travel: Duration::from_secs(2),
        wait: Duration::from_secs(1),
    }
}

/// Returns the centre of a platform at the height of the hero's body, `gap` metres to its right.
fn beside(gap: f32) -> Vector {
    Vector::new(RADIUS + gap + HALF.x, STANDING, 0.0)
}

/// Returns a plain with these platforms, and the hero at the origin or on the platform there.
fn level(routes: &[Route]) -> Level {
    let tops = routes.iter().map(|route| route.from.y + HALF.y);
    Level {
        start: Vector::Y * tops.filter(|top| *top < 0.5).fold(0.0, f32::max),
        routes: routes.to_vec(),
        ..plain()
    }
}

/// Returns the positions of the hero and of the last platform after each step of two seconds.
fn path(routes: &[Route], mut script: Script) -> Vec<[Vector; 2]> {
    let mut game = game(&level(routes));
    let mut path = Vec::new();
    let frames = Pace::Hz(60).frames(Duration::from_secs(2));
    play(&mut game, &mut script, &frames, |game| {
        let physics = &game.simulation().physics;
        let platforms = physics.bodies().map(|(_, body)| body);
        let platforms = platforms.filter(|body| Paint::of(body) == Some(Paint::Platform));
        let last = platforms.last().unwrap().translation();
        path.push([game.state().hero.place(physics), last]);
    });
    path
}

/// Returns a script that walks to the right, towards the platforms beside the hero.
fn right() -> Script {
    Script::new([(200, walk(Way::Right, true))])
}

#[test]
fn a_platform_that_slides_past_the_standing_hero_does_not_move_it() {
    for way in WAYS {
        let path = path(&[slab(beside(0.03) + Vector::Z, way)], Script::default());
        for [hero, _] in path {
            assert_eq!(hero, Vector::Y * STANDING);
        }
    }
}

#[test]
fn a_platform_that_slides_does_not_tow_the_hero_that_walks_against_it() {
    for way in WAYS {
        for [hero, platform] in path(&[slab(beside(0.1) + Vector::Z, way)], right()) {
            let off = hero.z.abs();
            assert!(off < SLIDE, "{off} m beside a platform that goes {way}");
            assert!((hero.y - STANDING).abs() < 1e-4, "{hero}");
            let gap = platform.x - HALF.x - RADIUS - hero.x;
            assert!(gap > GAP - 1e-4, "{gap} m");
        }
    }
}

#[test]
fn a_platform_pushes_the_hero_evenly_whatever_it_does() {
    let scripts = [
        Script::default(),
        right(),
        Script::new([
            (200, walk(Way::Forward, true)),
            (400, walk(Way::Forward, false)),
        ]),
    ];
    for speed in [0.4, 1.0, 3.0] {
        for script in scripts.clone() {
            let door = slab(beside(0.25), Vector::NEG_X * 2.0 * speed);
            let mut touched = false;
            for [hero, platform] in path(&[door], script) {
                let gap = platform.x - HALF.x - RADIUS - hero.x;
                touched |= gap < GAP + 1e-4;
                assert!(
                    !touched || (gap - GAP).abs() < 1e-4,
                    "{gap} m at {speed} m/s"
                );
            }
            assert!(touched, "{speed} m/s");
        }
    }
}

#[test]
fn the_platform_below_the_hero_alone_carries_it() {
    let ride = slab(Vector::Y * -0.1, Vector::Z);
    for way in WAYS.map(|way| way * 0.5) {
        let wall = slab(beside(0.1) + Vector::Z, way);
        let path = path(&[wall, ride], right()).split_off(5);
        let start = path[0][0] - path[0][1];
        assert!((start.y - HALF.y - STANDING).abs() < 1e-4, "{start}");
        for [hero, platform] in path {
            let off = (hero - platform - start).with_x(0.0).length();
            assert!(off < SLIDE, "{off} m beside a platform that goes {way}");
        }
    }
}

#[test]
fn the_hero_walks_from_a_platform_to_the_ground() {
    let path = path(&[slab(Vector::Y * -0.1, Vector::Z * 4.0)], right()).split_off(5);
    let behind = path[0][1].z - path[0][0].z;
    let left = path.iter().rfind(|[hero, _]| hero.x < HALF.x).unwrap()[0];
    for [hero, platform] in path {
        // The hero keeps its position on the platform, and then that on the ground.
        let expected = if hero.x < HALF.x {
            platform.z - behind
        } else {
            left.z
        };
        assert!((hero.z - expected).abs() < 1e-4, "{hero}, not {expected} m");
    }
}

#[test]
fn a_platform_that_slides_above_the_hero_does_not_tow_it() {
    let script = Script::new([(200, jump(true)), (300, jump(false))]);
    for room in [0.3, 0.5, 0.7] {
        let head = STANDING + HALF_HEIGHT + RADIUS;
        let above = Vector::new(-1.5, head + room + HALF.y, 0.0);
        let path = path(&[slab(above, Vector::X * 4.0)], script.clone());
        let highest = path.iter().map(|[hero, _]| hero.y).fold(0.0, f32::max);
        assert!((highest - STANDING - room).abs() < 0.03, "{highest} m");
        let off = path.iter().map(|[hero, _]| hero.with_y(0.0).length());
        let off = off.fold(0.0, f32::max);
        assert!(off < 1e-3, "{off} m under {room} m");
    }
}

#[test]
fn the_hero_among_platforms_ends_with_the_same_bits_at_every_frame_rate() {
    let routes = [
        slab(beside(0.5) + Vector::Z, Vector::new(-1.0, 0.3, -2.0)),
        slab(Vector::Y * -0.1, Vector::Z * 2.0),
    ];
    let script = Script::new([
        (0, walk(Way::Right, true)),
        (900, jump(true)),
        (1_000, jump(false)),
    ]);
    let end = |pace| {
        let game = run(&level(&routes), script.clone(), pace, 2.0);
        (game.simulation().physics.checksum(), game.state().clone())
    };
    let expected = end(PACES[0]);
    for pace in &PACES[1..] {
        assert_eq!(end(*pace), expected, "{pace:?}");
    }
}
