//! Plays the game as a person does: in a window on a virtual display, with real keys and a real mouse.

// The game on a display, and the input devices.
mod desktop;
// Screenshots.
mod picture;
// The game's log.
mod table;

use std::f32::consts::TAU;

use desktop::Desktop;
use evenstep_platformer::hero::{SPEED, STANDING};
use evenstep_platformer::platforms;
use picture::{is_brown, is_fire, is_gold, is_ink, is_pink, is_red, is_yellow};

/// Radians per pixel of the mouse.
const LOOK: f32 = 0.0025;

/// Returns the smallest difference between two angles.
fn between(one: f32, other: f32) -> f32 {
    let way = (one - other).rem_euclid(TAU);
    way.min(TAU - way)
}

/// Holds a key until the character is far enough.
fn walk(desktop: &Desktop, key: &str, is_there: impl Fn(&table::Row) -> bool) {
    desktop.key_down(key);
    desktop.wait_until(key, is_there);
    desktop.key_up(key);
}

#[test]
fn the_mouse_turns_the_view_endlessly_and_is_released_in_a_pause() {
    let desktop = Desktop::open("look");
    let start = desktop.frames(2)[1].yaw();
    assert!(start.abs() < 1e-3, "{start}");
    let before = desktop.picture();
    // Turns further than the window is wide, in both directions. The cursor must never reach its edge.
    let mut turned = 0;
    for way in [-1, 1, 1] {
        for _ in 0..20 {
            desktop.mouse_by(way * 90, 0);
            turned += way * 90;
            desktop.frames(1);
        }
        let expected = -LOOK * turned as f32;
        let yaw = desktop.frames(2)[1].yaw();
        assert!(
            between(yaw, expected) < 2e-3,
            "{yaw} after {turned} pixels, {expected} expected"
        );
        let [x, y] = desktop.cursor();
        assert!((40..600).contains(&x) && (20..340).contains(&y), "{x} {y}");
    }
    assert!(desktop.picture() != before, "the view has not changed");
    desktop.mouse_by(0, -200);
    let low = desktop.frames(3)[2];
    let behind = low.camera - low.hero;
    assert!(behind.y < -0.5, "the camera is too high: {behind}");

    // In a pause the cursor moves freely, and the view does not turn.
    desktop.key("p");
    desktop.frames(3);
    for _ in 0..5 {
        desktop.mouse_by(150, 60);
        desktop.frames(1);
    }
    let yaw = desktop.frames(2)[1].yaw();
    assert!(between(yaw, low.yaw()) < 1e-3, "{yaw}");
    assert!(desktop.cursor()[0] > 600, "{:?}", desktop.cursor());
    desktop.key("p");
    desktop.frames(3);
    desktop.mouse_by(-90, 0);
    let end = desktop.frames(3)[2].yaw();
    assert!(between(end, yaw + 90.0 * LOOK) < 2e-3, "{end} after {yaw}");
    desktop.key("Escape");
    let end = desktop.child.borrow_mut().wait().unwrap();
    assert!(end.success());
}

#[test]
fn keys_walk_jump_pause_and_rewind() {
    let desktop = Desktop::open("walk");
    let start = desktop.picture();
    let red = |picture: &picture::Picture| picture.count(200..320, 125..300, is_red);
    assert!(red(&start) > 400, "{} of the hero", red(&start));
    let gold = start.count_all(is_gold);
    assert!(gold > 50, "{gold} of coins");

    // Two coins are on the path.
    walk(&desktop, "w", |row| row.hero.z < 1.0);
    let stopped = desktop.frames(8);
    let end = stopped[7].hero;
    assert_eq!(stopped[6].hero, end, "the hero moves without a key");
    assert_eq!(stopped[7].score, 2);
    assert!(end.x.abs() < 1e-3, "{end}");
    walk(&desktop, "Down", |row| row.hero.z > 8.5);
    let left = desktop.picture().count_all(is_gold);
    assert!(left < gold * 3 / 4, "{left} of {gold} of coins are left");
    let end = desktop.frames(4)[3].hero;

    // A held key causes one jump.
    desktop.key_down("space");
    desktop.wait_until("a jump", |row| row.hero.y > STANDING + 1.5);
    desktop.wait_until("the ground", |row| row.hero.y < STANDING + 1e-3);
    let heights = desktop.frames(8);
    assert!(heights.iter().all(|row| row.hero.y < STANDING + 1e-3));
    desktop.key_up("space");
    for (key, way) in [("Left", -1.0), ("d", 1.0)] {
        walk(&desktop, key, |row| (row.hero.x - end.x) * way > 1.0);
    }

    // The controls fade after the first key, and are back in a pause, in which nothing moves.
    let controls = |picture: &picture::Picture| picture.count(24..200, 160..354, is_ink);
    assert!(controls(&start) > 300, "{} of text", controls(&start));
    let first = desktop.rows()[0].real_time;
    desktop.wait_until("five seconds", |row| row.real_time > first + 5.0);
    let played = desktop.picture();
    assert_eq!(controls(&played), 0);
    desktop.key("p");
    let held = desktop.frames(6);
    assert_eq!(held[3].time, held[5].time);
    assert!(held[3].real_time < held[5].real_time);
    let [one, other] = [desktop.picture(), desktop.picture()];
    assert!(one == other, "the picture moves");
    assert!(controls(&one) > 300, "{} of text", controls(&one));
    // The word 'paused' is shorter than 'full speed'.
    let word = |picture: &picture::Picture| picture.count(58..200, 90..118, is_ink);
    let words = [word(&one), word(&played)];
    assert!(50 < words[0] && words[0] < words[1], "{words:?}");
    desktop.key("p");
    desktop.wait_until("play after a pause", |row| row.time > held[5].time + 0.2);

    // The rewind goes back five seconds at most.
    let long = desktop.wait_until("six seconds", |row| row.tick > 360);
    desktop.key_down("r");
    let back = desktop.wait_until("the past", |row| row.tick < long.tick - 280);
    let newest = desktop.rows().iter().map(|row| row.tick).max();
    let last = desktop.frames(8);
    desktop.key_up("r");
    assert_eq!(last[7].tick, newest.unwrap() - 300, "after {back:?}");
    assert_eq!(last[6].tick, last[7].tick);
    let on = desktop.frames(6);
    assert!(on[5].tick > last[7].tick, "play continues");
}

#[test]
fn the_hero_shoots_in_slow_motion_and_pushes_a_crate() {
    let desktop = Desktop::open("push");
    desktop.key("q");
    desktop.frames(2);
    // Turns towards the crate at (2, -5), from (0, 9).
    desktop.mouse_by(57, 0);
    let slow = desktop.frames(8);
    let time = slow[7].time - slow[0].time;
    let real = slow[7].real_time - slow[0].real_time;
    // Frame times above a quarter of a second are cut.
    assert!(time > 0.0 && time < 0.21 * real, "{time} s in {real} s");

    desktop.click();
    desktop.wait_until("a shot", |row| row.shots == 1);
    desktop.key("p");
    desktop.frames(3);
    let shot = desktop.picture();
    let fire = shot.count(150..490, 50..310, is_fire);
    assert!(fire > 3, "{fire} pixels of a shot");
    desktop.key("p");
    desktop.key("q");
    desktop.wait_until("the end of the shot", |row| row.shots == 0);

    // Walks through where the crate was, not over it.
    walk(&desktop, "Up", |row| row.hero.z < -1.0);
    desktop.key("q");
    walk(&desktop, "Up", |row| row.hero.z < -5.2);
    let rows = desktop.rows();
    let inside: Vec<_> = rows.iter().filter(|row| row.hero.z < -4.6).collect();
    for row in inside {
        let hero = row.hero;
        assert!(
            (hero.x - 2.0).abs() < 0.75,
            "the hero passes the crate at {hero}"
        );
        assert!(
            (hero.y - STANDING).abs() < 0.01,
            "the hero climbs the crate at {hero}"
        );
    }
    let brown = desktop.picture().count(220..450, 100..280, is_brown);
    assert!(brown > 400, "{brown} of the crate");
}

#[test]
fn the_hero_keeps_its_spot_while_riding_the_ferry() {
    let desktop = Desktop::open("ferry");
    walk(&desktop, "w", |row| row.hero.z < -6.0);
    desktop.key("q");
    walk(&desktop, "w", |row| row.hero.z < -11.2);
    let at_the_pier =
        |row: &table::Row| row.ferry.z > -13.71 && (7.0..7.3).contains(&(row.time % 8.0));
    desktop.key("q");
    desktop.wait_until("the approach", |row| (6.3..6.9).contains(&(row.time % 8.0)));
    desktop.key("q");
    desktop.wait_until("the ferry", at_the_pier);
    walk(&desktop, "w", |row| row.hero.z < -13.0);
    desktop.key("q");
    desktop.wait_until("the departure", |row| row.ferry.z < -14.0);
    let before = desktop.rows().len();
    desktop.wait_until("the arrival", |row| row.ferry.z < -18.2);
    let rows = &desktop.rows()[before..];
    let spot = rows[0].hero - rows[0].ferry;
    assert!(
        (spot.y - STANDING - platforms::HALF.y).abs() < 1e-3,
        "{spot}"
    );
    for row in rows {
        let off = (row.hero - row.ferry - spot).length();
        assert!(off < 1e-3, "{off} m off at {row:?}");
    }
    walk(&desktop, "w", |row| row.hero.z < -21.0);
    let end = desktop.frames(4)[3].hero;
    assert!((end.y - STANDING).abs() < 1e-3, "{end}");
}

#[test]
fn keys_switch_interpolation_and_debug_lines() {
    let desktop = Desktop::open("switches");
    desktop.key("q");
    desktop.key_down("w");
    desktop.wait_until("full speed", |row| row.hero.z < 8.0);
    // The hero walks at constant speed, so every frame gives the same start of the walk: without interpolation from the
    // number of steps, and with it from a time before the last one.
    let start = |row: &table::Row, steps: f32| row.hero.z + SPEED / 60.0 * steps;
    let latest = |row: &table::Row| start(row, row.tick as f32);
    let between = |row: &table::Row| start(row, row.tick as f32 - 1.0 + row.alpha);
    let expected = between(&desktop.frames(1)[0]);
    let check = |of: &dyn Fn(&table::Row) -> f32| {
        for row in desktop.frames(4) {
            let off = of(&row) - expected;
            assert!(off.abs() < 1e-3, "{off} m at {row:?}");
        }
    };
    check(&between);
    // The next step adopts the new setting, and the difference decays, halving every 200 ms.
    let switch = |desktop: &Desktop| {
        desktop.key("i");
        let end = desktop.frames(1)[0].real_time + 2.5;
        desktop.wait_until("the end of the difference", |row| row.real_time > end);
    };
    let before = desktop.picture();
    switch(&desktop);
    check(&latest);
    let label = |picture: &picture::Picture| picture.count(58..330, 62..90, is_ink);
    let labels = [label(&before), label(&desktop.picture())];
    // 'interpolated by evenstep' has more letters than 'not interpolated'.
    assert!(labels[0] > labels[1] && labels[1] > 0, "{labels:?}");
    switch(&desktop);
    check(&between);
    desktop.key_up("w");

    let lines = || {
        desktop.key("l");
        desktop.frames(3);
        let picture = desktop.picture();
        [picture.count_all(is_yellow), picture.count_all(is_pink)]
    };
    let [displayed, true_poses, off] = [lines(), lines(), lines()];
    // Coins have a few yellow pixels.
    assert!(off[0] < 200 && off[1] == 0, "{off:?}");
    assert!(displayed[0] > 500 && displayed[1] == 0, "{displayed:?}");
    assert!(true_poses[0] < 200 && true_poses[1] > 500, "{true_poses:?}");
}
