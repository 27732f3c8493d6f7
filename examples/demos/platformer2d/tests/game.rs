//! Tests the rules without a window.

use std::time::Duration;

use evenstep::BodyKey;
use evenstep::rapier::prelude::*;
use evenstep_platformer2d::controls::Key;
use evenstep_platformer2d::game::Game;
use evenstep_platformer2d::level;
use evenstep_platformer2d::pixels::{Camera, PIXELS_PER_METRE};
use evenstep_platformer2d::sprites::{HecsStore, Look, OwnStore};

/// The number of coins in the level.
const COINS: usize = 6;
const FRAME: Duration = Duration::from_micros(6_944);

fn game() -> Game {
    let mut game = Game::new(60).unwrap();
    frames(&mut game, 100);
    game
}

fn frames(game: &mut Game, count: usize) {
    for _ in 0..count {
        game.advance(FRAME).unwrap();
    }
}

/// Returns the greatest height of the hero in these frames.
fn highest(game: &mut Game, count: usize) -> f32 {
    let heights = (0..count).map(|_| {
        frames(game, 1);
        game.hero().y
    });
    heights.fold(f32::MIN, f32::max)
}

/// Walks right until the hero has reached `x`.
fn walk_to(game: &mut Game, x: f32) {
    let is_right = game.hero().x < x;
    let key = if is_right { Key::Right } else { Key::Left };
    game.push(key(true));
    for _ in 0..5_000 {
        frames(game, 1);
        if (game.hero().x < x) != is_right {
            game.push(key(false));
            frames(game, 60);
            return;
        }
    }
    panic!("the hero never reaches {x}: {}", game.hero());
}

/// Returns the height of a jump with the key held for `held` frames.
fn jump(game: &mut Game, held: usize) -> f32 {
    let start = game.hero().y;
    game.push(Key::Jump(true));
    let mut highest = start;
    for frame in 0..300 {
        if frame == held {
            game.push(Key::Jump(false));
        }
        frames(game, 1);
        highest = highest.max(game.hero().y);
    }
    highest - start
}

#[test]
fn the_hero_rests_walks_and_stops() {
    let mut game = game();
    let start = game.hero();
    frames(&mut game, 100);
    assert!((game.hero() - start).length() < 1e-3, "the hero rests");
    walk_to(&mut game, start.x + 4.0);
    let there = game.hero();
    frames(&mut game, 100);
    assert!((game.hero() - there).length() < 1e-2, "the hero stops");
    assert!((there.y - start.y).abs() < 1e-2);
}

#[test]
fn holding_the_jump_key_makes_the_jump_higher() {
    let (short, long) = (jump(&mut game(), 1), jump(&mut game(), 100));
    assert!((1.5..2.0).contains(&long), "{long} m");
    assert!((0.2..0.8 * long).contains(&short), "{short} m of {long}");
}

#[test]
fn a_jump_pressed_just_before_landing_counts_once() {
    let mut game = game();
    let start = game.hero().y;
    game.push(Key::Jump(true));
    frames(&mut game, 10);
    game.push(Key::Jump(false));
    // Falls until just before landing.
    while game
        .simulation()
        .physics
        .body(game.level().hero)
        .unwrap()
        .linvel()
        .y
        >= 0.0
        || game.hero().y > start + 0.3
    {
        frames(&mut game, 1);
    }
    game.push(Key::Jump(true));
    let highest = highest(&mut game, 100) - start;
    assert!(highest > 1.0, "the hero jumps again: {highest} m");
    // If the key stays down, the hero does not jump a third time.
    frames(&mut game, 200);
    assert!(game.hero().y - start < 0.01);
}

#[test]
fn a_jump_pressed_just_after_an_edge_counts() {
    let mut game = game();
    walk_to(&mut game, 6.4);
    jump(&mut game, 60);
    let top = game.hero().y;
    game.push(Key::Right(true));
    while game.hero().y > top - 0.01 {
        frames(&mut game, 1);
    }
    game.push(Key::Jump(true));
    let highest = highest(&mut game, 100) - top;
    assert!(highest > 1.0, "the hero jumps in the air: {highest} m");
}

#[test]
fn the_hero_jumps_through_a_platform_and_lands_on_it() {
    let mut game = game();
    walk_to(&mut game, 6.4);
    let below = game.hero().y;
    game.push(Key::Jump(true));
    frames(&mut game, 60);
    game.push(Key::Jump(false));
    frames(&mut game, 200);
    // The platform's top is 1.6 m above the ground, and a jump of 1.8 m just reaches it.
    assert!(
        (game.hero().y - below - 1.6).abs() < 0.1,
        "{}",
        game.hero().y - below
    );
    assert_eq!(game.score(), 0, "the coin is above");
    jump(&mut game, 100);
    assert_eq!(game.score(), 1);
    assert_eq!(game.level().coins.len(), COINS - 1);
}

#[test]
fn the_lift_carries_the_hero_up() {
    let mut game = game();
    // The hero pushes the crates ahead of it.
    walk_to(&mut game, 31.5);
    let x = game.hero().x;
    // Jumps onto the lift when it is low enough.
    for _ in 0..10 {
        jump(&mut game, 100);
        if game.hero().y > 3.0 {
            break;
        }
    }
    let highest = highest(&mut game, 1_000);
    // The hero stands on the lift, which is 0.6 to 3.6 m above the ground.
    assert!((highest - 2.0 - 0.6 - 3.6).abs() < 0.1, "{highest}");
    assert!((game.hero().x - x).abs() < 0.01, "{}", game.hero());
}

#[test]
fn a_run_ends_with_the_same_poses_at_every_frame_rate() {
    let run = |fps: u32| {
        let mut game = Game::new(60).unwrap();
        // Meets the hero, which walks against it.
        insert_mover(&mut game, Vector::X * 12.0, WALL, Vector::new(-0.5, 2.0));
        let time = Duration::from_secs(1) / fps;
        // Each key event is at a time at which all runs have a frame.
        for second in 0..8 {
            match second {
                1 => game.push(Key::Right(true)),
                2 | 4 => game.push(Key::Jump(true)),
                3 | 5 => game.push(Key::Jump(false)),
                _ => (),
            }
            let end = Duration::from_secs(second + 1);
            while game.simulation().clock().real_time() < end {
                let left = end - game.simulation().clock().real_time();
                game.advance(time.min(left)).unwrap();
            }
        }
        let bodies = game.simulation().physics.bodies();
        bodies
            .map(|(key, body)| (key, *body.position()))
            .collect::<Vec<_>>()
    };
    let expected = run(60);
    for fps in [15, 75, 240] {
        assert_eq!(run(fps), expected, "{fps}");
    }
}

#[test]
fn both_stores_draw_the_same_sprites() {
    let mut game = Game::new(60).unwrap();
    let looks = game.level().looks.clone();
    let mut own = OwnStore::new(game.simulation(), &looks);
    let mut hecs = HecsStore::new(game.simulation_mut(), &looks).unwrap();
    game.push(Key::Right(true));
    for frame in 0..1_500 {
        if frame % 120 < 2 {
            game.push(Key::Jump(frame % 120 == 0));
        }
        frames(&mut game, 1);
        own.sync(game.simulation());
        hecs.sync(game.simulation_mut());
        let (one, other) = (own.sprites(), hecs.sprites());
        assert!(one.is_sorted_by_key(|(look, _)| look.depth()));
        assert_eq!(one.len(), other.len());
        // Sprites of equal depth come in any order.
        assert!(
            one.iter().all(|sprite| other.contains(sprite)),
            "frame {frame}"
        );
        let coins = one.iter().filter(|(look, _)| *look == Look::Coin).count();
        assert_eq!(coins + game.score(), COINS, "frame {frame}: {coins}");
    }
    assert!(game.score() > 0);
}

#[test]
fn bodies_without_relative_motion_keep_their_distance_in_whole_pixels() {
    let (one, other) = (Vector::new(3.03, 2.0), Vector::new(4.53, 2.0));
    for i in 0..1_000u16 {
        let camera = Camera::at(Vector::new(0.013 * f32::from(i), 1.0));
        let [a, b] = [one, other].map(|place| camera.pixel(place));
        assert_eq!([b[0] - a[0], b[1] - a[1]], [1.5 * PIXELS_PER_METRE, 0.0]);
        assert!(a.iter().all(|number| number.fract() == 0.0));
        // The sprite that the camera follows.
        let followed = Vector::new(0.013 * f32::from(i), 1.0);
        let [x, y] = camera.pixel(followed);
        assert!((x - 160.0).abs() <= 1.0 && (y - 90.0).abs() <= 1.0);
    }
}

#[test]
fn the_camera_shows_nothing_outside_of_the_level() {
    let size = level::size();
    for i in 0..2_000u16 {
        let hero = Vector::new(f32::from(i % 50) - 5.0, f32::from(i / 50) - 5.0);
        let camera = Camera::within(hero, size);
        let [left, bottom] = camera.pixel(Vector::ZERO);
        let [right, top] = camera.pixel(size);
        assert!(left <= 0.0 && right >= 320.0, "{hero}: {left} to {right}");
        assert!(top <= 0.0 && bottom >= 180.0, "{hero}: {top} to {bottom}");
        let is_inside = hero.cmpge(Vector::ZERO).all() && hero.cmple(size).all();
        let [x, y] = camera.pixel(hero);
        let is_visible = (0.0..=320.0).contains(&x) && (0.0..=180.0).contains(&y);
        assert!(is_visible || !is_inside, "{hero}: {x}, {y}");
    }
}

#[test]
fn interpolation_changes_the_picture_and_not_the_game() {
    let frame = |game: &mut Game| game.advance(Duration::from_millis(7)).unwrap();
    let [mut with, mut without] = [60, 60].map(|rate| Game::new(rate).unwrap());
    without.switch_interpolation();
    assert!(with.is_interpolated() && !without.is_interpolated());
    for game in [&mut with, &mut without] {
        game.push(Key::Right(true));
    }
    let mut differences = 0;
    for _ in 0..100 {
        for game in [&mut with, &mut without] {
            frame(game);
        }
        differences += usize::from(with.hero() != without.hero());
        let states = [&with, &without].map(|game| position(game, game.level().hero));
        assert_eq!(states[0], states[1]);
    }
    assert!(differences > 50, "{differences}");
}

/// Inserts a box that moves from now on, `from` metres away from the hero.
fn insert_mover(game: &mut Game, from: Vector, half: Vector, velocity: Vector) -> BodyKey {
    let at = position(game, game.level().hero) + from;
    let physics = &mut game.simulation_mut().physics;
    let body = RigidBodyBuilder::kinematic_position_based().translation(at);
    let key = physics.insert(body, ColliderBuilder::cuboid(half.x, half.y));
    let (time, end) = (
        Duration::from_secs(10),
        Pose::from_translation(at + velocity * 10.0),
    );
    let arrival = physics.time() + time;
    physics.set_kinematic_target(key, end, arrival).unwrap();
    key
}

/// Returns the position after the last step.
fn position(game: &Game, key: BodyKey) -> Vector {
    game.simulation().physics.body(key).unwrap().translation()
}

/// Half the size of the hero, in metres.
const HALF: Vector = Vector::new(0.3, 0.6);
const WALL: Vector = Vector::new(0.5, 20.0);

/// Returns where to insert a wall to the right of the hero.
fn beside(gap: f32) -> Vector {
    Vector::X * (HALF.x + gap + WALL.x)
}

#[test]
fn a_wall_that_slides_does_not_tow_the_hero_that_stands_or_walks_against_it() {
    for velocity in [Vector::Y * 3.0, Vector::Y * -3.0] {
        for is_walking in [false, true] {
            let mut game = game();
            let start = position(&game, game.level().hero);
            insert_mover(&mut game, beside(0.02), WALL, velocity);
            game.push(Key::Right(is_walking));
            for _ in 0..200 {
                frames(&mut game, 1);
                let at = position(&game, game.level().hero);
                let most = if is_walking { 0.03 } else { 0.0 };
                assert!((0.0..=most).contains(&(at.x - start.x)), "{at}");
                assert!((at.y - start.y).abs() < 1e-4, "{at}");
            }
            let off = jump(&mut game, 100) - jump(&mut self::game(), 100);
            assert!(off.abs() < 1e-3, "a jump is {off} m higher");
        }
    }
}

#[test]
fn a_door_pushes_the_hero_whether_it_stands_or_walks_against_it() {
    for speed in [0.5, 3.0] {
        for is_walking in [false, true] {
            let mut game = game();
            walk_to(&mut game, 8.0);
            let door = insert_mover(&mut game, beside(0.2), WALL, Vector::X * -speed);
            game.push(Key::Right(is_walking));
            frames(&mut game, 144);
            let [hero, door] = [game.level().hero, door].map(|key| position(&game, key));
            let gap = door.x - WALL.x - hero.x - HALF.x;
            assert!(gap.abs() < 1e-3, "{gap} m at {speed} m/s");
            assert!(game.is_on_ground());
        }
    }
}

/// Returns a game, and a platform on which the hero stands, 0.5 m above the ground.
fn riding(velocity: Vector) -> (Game, BodyKey) {
    let mut game = game();
    walk_to(&mut game, 10.0);
    let hero = game.level().hero;
    let up = Pose::from_translation(position(&game, hero) + Vector::Y * 0.5);
    game.simulation_mut().physics.teleport(hero, up).unwrap();
    let under = Vector::Y * (-HALF.y - 0.1);
    let platform = insert_mover(&mut game, under, Vector::new(2.0, 0.1), velocity);
    frames(&mut game, 80);
    (game, platform)
}

#[test]
fn a_platform_carries_the_hero_whatever_the_wall_beside_does() {
    for velocity in [Vector::X * 2.0, Vector::Y * 0.5] {
        for is_walking in [false, true] {
            let (mut game, platform) = riding(velocity);
            let wall = Vector::new(velocity.x, -3.0);
            insert_mover(&mut game, beside(0.0), WALL, wall);
            game.push(Key::Right(is_walking));
            frames(&mut game, 20);
            let place = |game: &Game| position(game, game.level().hero) - position(game, platform);
            let start = place(&game);
            assert!((start.y - 0.7).abs() < 2e-3, "{start}");
            for _ in 0..150 {
                frames(&mut game, 1);
                let off = place(&game).distance(start);
                assert!(off < 1e-3, "{off} m on a platform at {velocity}");
            }
        }
    }
}

#[test]
fn the_hero_walks_from_a_platform_to_the_ground() {
    let (mut game, _) = riding(Vector::X * -1.0);
    let hero = game.level().hero;
    let start = position(&game, hero).y;
    game.push(Key::Right(true));
    for (count, speed, fall) in [(50, 5.0, 0.0), (100, 6.0, 0.5)] {
        frames(&mut game, count);
        let body = game.simulation().physics.body(hero).unwrap();
        assert!((body.linvel().x - speed).abs() < 0.02, "{}", body.linvel());
        let off = start - body.translation().y - fall;
        assert!(off.abs() < 2e-3, "{off} m");
    }
}

#[test]
fn a_ceiling_that_slides_does_not_tow_the_hero() {
    let mut game = game();
    let start = game.hero().x;
    let above = Vector::new(-5.0, HALF.y + 0.5 + 0.5);
    insert_mover(&mut game, above, Vector::new(9.0, 0.5), Vector::X * 3.0);
    let height = jump(&mut game, 100);
    assert!((height - 0.5).abs() < 0.02, "{height} m");
    assert_eq!(game.hero().x, start);
}
