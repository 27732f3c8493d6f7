//! Checks displayed motion with the game's log: at constant speed no frame is off by more than 0.1 mm.

use std::time::Duration;

use crate::runs::{PACES, Pace, game, plain, play, walk};
use evenstep::rapier::math::Vector;
use evenstep_platformer::controls::Way;
use evenstep_platformer::hero::{SPEED, STANDING};
use evenstep_platformer::level::Level;
use evenstep_platformer::motion_log::{MotionLog, unevenness};
use evenstep_platformer::platforms::{self, Route};
use evenstep_platformer::script::{Act, Script};
use evenstep_platformer::time::TimeKeys;

/// The limit in metres: a tenth of a millimetre.
const LIMIT: f32 = 1e-4;

/// A line of the log.
#[derive(Clone, Copy)]
struct Row {
    time: f64,
    hero: Vector,
    camera: Vector,
    platform: Vector,
}

/// Returns the log of a run from this game time on, in seconds.
fn log(level: &Level, mut script: Script, pace: Pace, seconds: f64, from: f64) -> Vec<Row> {
    let mut game = game(level);
    let mut log = MotionLog::new(Vec::new()).unwrap();
    let frames = pace.frames(Duration::from_secs_f64(seconds));
    play(&mut game, &mut script, &frames, |game| {
        log.write(game).unwrap();
    });
    let text = String::from_utf8(log.into_inner()).unwrap();
    let rows: Vec<Row> = text.lines().skip(1).map(row).collect();
    assert_eq!(rows.len(), frames.len());
    rows.into_iter().filter(|row| row.time >= from).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
    let place = |at: usize| {
        Vector::from_slice(&[cells[at], cells[at + 1], cells[at + 2]].map(|m| m as f32))
    };
    Row {
        time: cells[1],
        hero: place(4),
        camera: place(7),
        platform: place(10),
    }
}

fn off(rows: &[Row], place: impl Fn(&Row) -> Vector) -> f32 {
    let places: Vec<_> = rows.iter().map(|row| (row.time, place(row))).collect();
    unevenness(&places)
}

fn speed(rows: &[Row], place: impl Fn(&Row) -> Vector) -> Vector {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    (place(last) - place(first)) / (last.time - first.time) as f32
}

/// Returns a script that walks forward from the start on.
fn forward() -> Script {
    Script::new([(0, walk(Way::Forward, true))])
}

#[test]
fn the_running_hero_and_its_camera_move_evenly() {
    let level = Level {
        start: Vector::Z * 20.0,
        ..plain()
    };
    for pace in PACES {
        // The character reaches its speed after 1/8 s, and the camera settles 1.5 s later.
        let rows = log(&level, forward(), pace, 6.0, 2.0);
        let velocity = speed(&rows, |row| row.hero);
        assert!(
            velocity.distance(Vector::NEG_Z * SPEED) < 1e-4,
            "{velocity} m/s"
        );
        let [hero, camera] = [off(&rows, |row| row.hero), off(&rows, |row| row.camera)];
        println!(
            "{pace:?}: running {:.4} mm, camera {:.4} mm",
            hero * 1e3,
            camera * 1e3
        );
        assert!(hero < LIMIT, "{hero} m at {pace:?}");
        assert!(camera < LIMIT, "{camera} m at {pace:?}");
    }
}

#[test]
fn the_hero_moves_evenly_on_a_platform_in_every_direction() {
    let sideways = Vector::X * 12.0;
    let ways = [
        sideways,
        Vector::Y * 6.0,
        Vector::NEG_Y * 6.0,
        Vector::new(-6.0, 3.0, 9.0),
    ];
    for (way, pace) in ways.into_iter().zip(PACES.into_iter().rev()) {
        let level = riding(way);
        // The run lasts six seconds. The first is for landing and the camera.
        let rows = log(&level, Script::default(), pace, 6.0, 1.5);
        let velocity = speed(&rows, |row| row.platform);
        assert!(velocity.distance(way / 6.0) < 1e-4, "{velocity} m/s");
        // The character stays on its spot of the platform.
        let spot = rows[0].hero - rows[0].platform;
        let apart = rows
            .iter()
            .map(|row| row.hero.distance(row.platform + spot));
        let height = platforms::HALF.y + STANDING;
        assert!((spot.y - height).abs() < LIMIT, "{spot}");
        let worst = [
            off(&rows, |row| row.platform),
            off(&rows, |row| row.hero),
            off(&rows, |row| row.camera),
            apart.fold(0.0, f32::max),
        ];
        println!("{pace:?} by {way}: {worst:?} m");
        assert!(
            worst.into_iter().all(|off| off < LIMIT),
            "{worst:?} m by {way} at {pace:?}"
        );
    }
}

#[test]
fn running_on_a_platform_adds_to_the_platform_velocity() {
    let level = riding(Vector::X * 12.0);
    for pace in PACES {
        // The platform is 3.2 m long. The character walks across it, perpendicular to its motion, for a quarter of a
        // second.
        let script = Script::new([(2_000, walk(Way::Forward, true))]);
        let rows: Vec<Row> = log(&level, script, pace, 2.3, 2.17);
        let velocity = speed(&rows, |row| row.hero);
        let expected = Vector::new(2.0, 0.0, -SPEED);
        assert!(
            velocity.distance(expected) < 1e-2,
            "{velocity} m/s at {pace:?}"
        );
        let hero = off(&rows, |row| row.hero);
        assert!(hero < LIMIT, "{hero} m at {pace:?}");
    }
}

/// Returns a level with a platform that travels for six seconds, and the character on it.
fn riding(way: Vector) -> Level {
    Level {
        start: Vector::Y * platforms::HALF.y,
        routes: vec![Route {
            from: Vector::ZERO,
            to: way,
            travel: Duration::from_secs(6),
            wait: Duration::from_secs(1),
        }],
        ..Level::default()
    }
}

#[test]
fn the_hero_and_its_camera_move_evenly_in_slow_motion() {
    let slow = TimeKeys {
        is_slow: true,
        ..TimeKeys::default()
    };
    let level = Level {
        start: Vector::Z * 20.0,
        ..plain()
    };
    for pace in PACES {
        let script = Script::new([(0, walk(Way::Forward, true)), (3_000, Act::Time(slow))]);
        // In game time: 3 s, and a fifth of the 5 s after that.
        let rows = log(&level, script, pace, 8.0, 3.1);
        let seconds = rows[rows.len() - 1].time;
        assert!((3.9..4.1).contains(&seconds), "{seconds} s");
        let moved = rows.windows(2).filter(|pair| pair[0].hero != pair[1].hero);
        assert_eq!(
            moved.count(),
            rows.len() - 1,
            "the hero did not move in a frame"
        );
        for worst in [off(&rows, |row| row.hero), off(&rows, |row| row.camera)] {
            assert!(worst < LIMIT, "{worst} m at {pace:?}");
        }
    }
}

#[test]
fn the_hero_moves_evenly_in_a_rewind() {
    let level = Level {
        start: Vector::Z * 20.0,
        ..plain()
    };
    for pace in PACES {
        let back = TimeKeys {
            is_rewinding: true,
            ..TimeKeys::default()
        };
        let script = Script::new([(0, walk(Way::Forward, true)), (5_000, Act::Time(back))]);
        // Two seconds of rewind, in the real time of each frame.
        let frames = pace.frames(Duration::from_secs(7));
        let rows = log(&level, script, pace, 7.0, 0.0);
        let mut real = 0.0;
        let mut places = Vec::new();
        for (row, frame_time) in rows.iter().zip(&frames) {
            real += frame_time.as_secs_f64();
            if real > 5.1 {
                places.push((real, row.hero));
            }
        }
        let velocity = (places[places.len() - 1].1 - places[0].1).z
            / (places[places.len() - 1].0 - places[0].0) as f32;
        assert!((velocity - SPEED).abs() < 1e-3, "{velocity} m/s");
        let worst = unevenness(&places);
        assert!(worst < LIMIT, "{worst} m at {pace:?}");
    }
}

#[test]
fn without_interpolation_frames_display_the_latest_step_and_steps_are_unchanged() {
    let play_second = |is_interpolated: bool| {
        let mut game = game(&plain());
        if !is_interpolated {
            game.switch_interpolation();
        }
        assert_eq!(game.is_interpolated(), is_interpolated);
        let mut script = Script::new([(0, walk(Way::Forward, true))]);
        let mut shown = Vec::new();
        let frames = Pace::Hz(144).frames(Duration::from_secs(1));
        play(&mut game, &mut script, &frames, |game| {
            shown.push((game.simulation().frame().tick, game.hero()));
        });
        let pairs = shown.windows(2);
        let moved_between = pairs.filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
        (moved_between.count(), game)
    };
    let (smooth, one) = play_second(true);
    let (jumping, other) = play_second(false);
    // 84 of the 144 frames run no step.
    assert!(smooth > 75, "{smooth} frames move between steps");
    assert_eq!(jumping, 0);
    let [place, expected] = [&one, &other].map(|game| {
        let hero = &game.state().hero;
        hero.place(&game.simulation().physics)
    });
    assert_eq!(place, expected);
    assert_eq!(one.state(), other.state());
}
