//! Tests each rule, and that the rules are the same at every frame rate.

use std::time::Duration;

use crate::runs::{PACES, Pace, game, jump, plain, play, run, shoot, walk};
use evenstep::rapier::math::Vector;
use evenstep_platformer::controls::Way;
use evenstep_platformer::game::Game;
use evenstep_platformer::hero::{RADIUS, STANDING};
use evenstep_platformer::level::{Level, Paint};
use evenstep_platformer::script::{Act, Script};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Returns the position of the only body with this paint, after the last step.
fn place(game: &Game, paint: Paint) -> Vector {
    let mut bodies = game.simulation().physics.bodies();
    let found = bodies.find(|(_, body)| Paint::of(body) == Some(paint));
    found.unwrap().1.translation()
}

#[test]
fn the_tour_ends_with_the_same_bits_at_every_frame_rate() {
    let end = |pace| {
        let game = run(&Level::islands(), Script::tour(), pace, 8.0);
        (
            game.simulation().physics.tick(),
            game.simulation().physics.checksum(),
            game.state().clone(),
        )
    };
    let first = end(PACES[0]);
    assert_eq!(first.0, 480);
    assert!(
        first.2.pickups.score() >= 2,
        "{} coins",
        first.2.pickups.score()
    );
    for pace in &PACES[1..] {
        assert_eq!(end(*pace), first, "{pace:?}");
    }
}

#[test]
fn a_jump_reaches_the_same_height_at_every_frame_rate() {
    let script = Script::new([(500, jump(true)), (600, jump(false))]);
    let height = |pace, ms| {
        let mut game = game(&plain());
        play(
            &mut game,
            &mut script.clone(),
            &Pace::frames(pace, MS(ms)),
            |_| (),
        );
        place(&game, Paint::Hero).y
    };
    // Near the top of the jump, in the state of the same tick.
    let top = height(PACES[0], 1_200);
    assert!((top - STANDING - 2.5).abs() < 0.1, "{top} m");
    for pace in PACES {
        assert_eq!(height(pace, 1_200), top, "{pace:?}");
    }
    let down = height(PACES[0], 2_500);
    assert!((down - STANDING).abs() < 0.01, "{down} m");
}

#[test]
fn a_key_press_in_a_frame_without_a_step_is_not_lost() {
    let mut game = game(&plain());
    // A press and a release within 4 ms, in a frame without a step.
    let mut script = Script::new([(503, jump(true)), (506, jump(false))]);
    script.frame(&mut game, MS(100));
    for _ in 0..4 {
        script.frame(&mut game, MS(100));
    }
    let steps = game.simulation().physics.tick();
    script.frame(&mut game, MS(8));
    assert_eq!(
        game.simulation().physics.tick(),
        steps,
        "this frame has a step"
    );
    script.frame(&mut game, MS(200));
    assert!(place(&game, Paint::Hero).y > 1.5);
}

#[test]
fn a_jump_pressed_just_before_landing_or_just_after_an_edge_counts() {
    let end = |pressed: u64| {
        let script = Script::new([(100, jump(true)), (200, jump(false)), (pressed, jump(true))]);
        let game = run(&plain(), script, Pace::Hz(60), 2.0);
        place(&game, Paint::Hero).y
    };
    // The jump lands after 1.43 s in the air, at 1.53 s.
    assert!(end(1_460) > 1.0, "{} m", end(1_460));
    assert!(end(1_200) < 1.0, "{} m", end(1_200));

    let level = Level {
        ground: vec![(Vector::NEG_Y, Vector::new(3.0, 1.0, 3.0))],
        ..Level::default()
    };
    let end = |pressed: u64| {
        let script = Script::new([(0, walk(Way::Forward, true)), (pressed, jump(true))]);
        place(&run(&level, script, Pace::Hz(60), 1.1), Paint::Hero).y
    };
    // The edge is 3 m away. The character reaches it after 0.66 s.
    assert!(end(730) > 1.0, "{} m", end(730));
    assert!(end(900) < 0.8, "{} m", end(900));
}

/// Returns a plain with an additional block, given by its centre and its half extents.
fn with_block(middle: Vector, half: Vector) -> Level {
    let mut level = plain();
    level.ground.push((middle, half));
    level
}

#[test]
fn a_wall_of_the_ground_body_stops_the_hero() {
    let level = with_block(Vector::new(0.0, 2.0, -5.0), Vector::new(9.0, 2.0, 1.0));
    for pace in PACES {
        let script = Script::new([(0, walk(Way::Forward, true))]);
        let hero = place(&run(&level, script, pace, 2.0), Paint::Hero);
        let gap = hero.z + 4.0 - RADIUS;
        assert!((0.0..0.05).contains(&gap), "{gap} m from the wall");
        assert!((hero.y - STANDING).abs() < 1e-3, "{hero}");
    }
}

#[test]
fn the_hero_steps_onto_low_blocks_and_jumps_onto_high_ones() {
    let height = |top: f32, acts: &[(u64, Act)]| {
        let half = Vector::new(9.0, top / 2.0, 2.0);
        let level = with_block(Vector::new(0.0, top / 2.0, -4.0), half);
        let mut script = Script::new(
            [(0, walk(Way::Forward, true))]
                .into_iter()
                .chain(acts.to_vec()),
        );
        let mut game = game(&level);
        let mut highest = 0.0f32;
        let frames = Pace::Hz(60).frames(MS(900));
        play(&mut game, &mut script, &frames, |game| {
            highest = highest.max(game.hero().y - STANDING);
        });
        (place(&game, Paint::Hero).y - STANDING, highest)
    };
    let (end, highest) = height(0.25, &[]);
    assert!(
        (end - 0.25).abs() < 1e-3 && highest < 0.26,
        "{end} m, {highest} m"
    );
    let (end, _) = height(1.0, &[]);
    assert!(end.abs() < 1e-3, "{end} m up a wall");
    let (end, highest) = height(1.0, &[(100, jump(true))]);
    assert!(end > 0.99 && highest > 2.0, "{end} m, {highest} m");
}

#[test]
fn the_hero_stands_on_a_crate_and_jumps_from_it() {
    let level = Level {
        start: Vector::Y * 1.0,
        crates: vec![Vector::new(0.0, 0.5, 0.0)],
        ..plain()
    };
    let game = run(&level, Script::default(), Pace::Hz(60), 2.0);
    let height = place(&game, Paint::Hero).y - STANDING;
    assert!((height - 1.0).abs() < 0.01, "{height} m");
    let script = Script::new([(1_000, jump(true))]);
    let game = run(&level, script, Pace::Hz(60), 1.7);
    let height = place(&game, Paint::Hero).y - STANDING;
    assert!(height > 3.0, "{height} m");
}

#[test]
fn the_hero_jumps_from_an_edge_that_only_its_capsule_touches() {
    // The character's centre is 0.1 m beside the block.
    let level = Level {
        start: Vector::new(0.0, 2.0, 0.0),
        ground: vec![(Vector::new(1.1, 0.5, 0.0), Vector::new(1.0, 0.5, 1.0))],
        ..Level::default()
    };
    let mut script = Script::new([(2_000, jump(true))]);
    let mut game = game(&level);
    play(
        &mut game,
        &mut script,
        &Pace::Hz(60).frames(MS(2_000)),
        |_| (),
    );
    let held = game.hero().y;
    play(
        &mut game,
        &mut script,
        &Pace::Hz(60).frames(MS(500)),
        |_| (),
    );
    assert!(held > STANDING, "the hero fell to {held} m");
    assert!(game.hero().y > held + 1.5, "{held} m, {} m", game.hero().y);
}

#[test]
fn a_coin_counts_once() {
    let level = Level {
        coins: vec![Vector::new(0.0, 0.9, -2.0), Vector::new(9.0, 0.9, 0.0)],
        ..plain()
    };
    for pace in PACES {
        // Walks through the sensor, and back.
        let script = Script::new([
            (0, walk(Way::Forward, true)),
            (800, walk(Way::Forward, false)),
            (800, walk(Way::Back, true)),
            (1_600, walk(Way::Back, false)),
        ]);
        let game = run(&level, script, pace, 2.0);
        let pickups = &game.state().pickups;
        assert_eq!((pickups.score(), pickups.left()), (1, 1), "{pace:?}");
    }
}

#[test]
fn a_shot_pushes_a_crate_and_then_disappears() {
    let level = Level {
        crates: vec![Vector::new(0.0, 0.5, -8.0)],
        ..plain()
    };
    for pace in PACES {
        // The aim is slightly downwards, because a level shot would fly over the crate.
        let script = Script::new([
            (0, Act::Turn(0.0, 30.0)),
            (500, shoot(true)),
            (550, shoot(false)),
        ]);
        let game = run(&level, script.clone(), pace, 1.5);
        assert_eq!(game.state().shots.count(), 1);
        let pushed = -8.0 - place(&game, Paint::Crate).z;
        assert!(pushed > 0.05, "{pushed} m");
        let game = run(&level, script, pace, 3.0);
        assert_eq!(game.state().shots.count(), 0);
        let shots = game.simulation().physics.bodies();
        assert_eq!(
            shots
                .filter(|(_, body)| Paint::of(body) == Some(Paint::Shot))
                .count(),
            0
        );
    }
}

#[test]
fn the_hero_pushes_a_crate_without_entering_it() {
    let level = Level {
        crates: vec![Vector::new(0.0, 0.5, -3.0)],
        ..plain()
    };
    let script = Script::new([(0, walk(Way::Forward, true))]);
    let game = run(&level, script, Pace::Hz(60), 3.0);
    let (crate_, hero) = (place(&game, Paint::Crate), place(&game, Paint::Hero));
    assert!(crate_.z < -5.0, "{crate_}");
    assert!(
        hero.z - crate_.z > 0.7,
        "the character is in the crate: {hero}"
    );
}

#[test]
fn a_hero_that_falls_off_returns_to_the_start() {
    let level = Level {
        ground: vec![(Vector::NEG_Y, Vector::new(3.0, 1.0, 3.0))],
        ..Level::default()
    };
    let mut script = Script::new([
        (0, walk(Way::Forward, true)),
        (1_000, walk(Way::Forward, false)),
    ]);
    let mut lowest = 0.0f32;
    let mut game = game(&level);
    play(
        &mut game,
        &mut script,
        &Pace::Hz(60).frames(MS(4_000)),
        |game| {
            lowest = lowest.min(game.hero().y);
        },
    );
    assert!(lowest < -11.0, "{lowest} m");
    let end = place(&game, Paint::Hero);
    assert!(end.distance(Vector::Y * STANDING) < 0.02, "{end}");
}
