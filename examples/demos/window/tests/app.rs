//! Tests the playground with keys, the mouse and frames, without a display.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::rapier::math::{Pose, Vector};
use evenstep::{BodyKey, Rate};
use evenstep_window::app::App;
use evenstep_window::app::mouse::MouseEvent;
use evenstep_window::bones::DebugLines;
use evenstep_window::controls::{Choice, Command, Settings};
use evenstep_window::scenes::Scene;
use evenstep_window::script::Script;
use evenstep_window::strategy::Strategy;
use kiss3d::glamx::Vec2;

/// Creates an app whose halves use these strategies, at 30 Hz.
fn app(scene: Scene, strategies: [Strategy; 2]) -> App {
    let mut settings = Settings {
        scene,
        ..Settings::default()
    };
    for (half, strategy) in settings.halves.iter_mut().zip(strategies) {
        *half = Choice { strategy, rate: 30 };
    }
    let mut app = App::new(settings);
    app.set_window(Vec2::new(1280.0, 720.0), 1.0);
    app
}

fn frames(app: &mut App, count: usize) {
    for _ in 0..count {
        app.make_frame();
    }
}

fn poses(app: &App, side: usize) -> BTreeMap<BodyKey, Pose> {
    app.half(side).shown().poses.clone()
}

fn place(app: &App, side: usize) -> Vector {
    app.place(side, app.followed()).unwrap()
}

/// Returns the position of a point in the window.
fn picture(app: &App, side: usize, place: Vector) -> Vec2 {
    app.layout().halves[side].from + app.lens.picture(place).unwrap()
}

/// Returns all strategies except the one on a thread, which uses the wall clock.
fn without_threads() -> impl Iterator<Item = Strategy> {
    (Strategy::ALL.into_iter()).filter(|strategy| *strategy != Strategy::Threaded)
}

#[test]
fn every_scene_moves_under_every_strategy() {
    for scene in Scene::ALL {
        for strategy in without_threads() {
            let mut app = app(scene, [strategy; 2]);
            let before = poses(&app, 0);
            frames(&mut app, 60);
            let after = poses(&app, 0);
            let moved = before
                .iter()
                .filter(|(key, pose)| after.get(key) != Some(pose));
            assert!(moved.count() > 0, "{scene:?} {strategy:?}");
            assert!(after.values().all(|pose| pose.translation.is_finite()));
            assert_eq!(after, poses(&app, 1), "{scene:?} {strategy:?}");
        }
    }
}

/// Returns whether each position is in sight. A body may fall for a moment before it returns.
fn are_in_sight(poses: &BTreeMap<BodyKey, Pose>) -> bool {
    let is_in_sight =
        |place: Vector| place.x.abs().max(place.z.abs()) < 35.0 && (-20.0..50.0).contains(&place.y);
    poses.values().all(|pose| is_in_sight(pose.translation))
}

#[test]
fn every_scene_moves_for_more_than_a_minute_and_nothing_is_lost() {
    let fixed = [Strategy::Latest, Strategy::Interpolated];
    let uneven = [Strategy::Variable, Strategy::SemiFixed];
    for scene in Scene::ALL {
        for (strategies, rate) in [(fixed, 10), (fixed, 60), (uneven, 10)] {
            let mut app = app(scene, strategies);
            app.settings
                .halves
                .iter_mut()
                .for_each(|half| half.rate = rate);
            app.make_frame();
            // As long as the plot.
            for part in 0..28 {
                let what = format!("{scene:?} {strategies:?} at {rate} Hz, part {part}");
                let start = [0, 1].map(|side| poses(&app, side));
                let mut has_moved = [false; 2];
                for _ in 0..188 {
                    app.make_frame();
                    for side in [0, 1] {
                        let now = poses(&app, side);
                        assert!(are_in_sight(&now), "{what}: {now:?}");
                        has_moved[side] |= start[side].iter().any(|(key, old)| {
                            let way = |pose: &Pose| (pose.translation - old.translation).length();
                            now.get(key).is_some_and(|pose| way(pose) > 0.1)
                        });
                    }
                }
                assert_eq!(has_moved, [true; 2], "{what}");
                let (low, high) = app.trace().range();
                assert!(
                    high - low > 0.25,
                    "{what}: the red body is at {low} to {high}"
                );
            }
        }
    }
}

/// The overlay is less than 150 pixels high, and the label of a narrow half less than 50.
#[test]
fn the_first_view_has_no_body_behind_the_overlay_or_off_the_picture() {
    for (window, overlay) in [([1280.0, 720.0], 150.0), ([390.0, 740.0], 50.0)] {
        for scene in Scene::ALL {
            let mut app = app(scene, [Strategy::Interpolated; 2]);
            app.set_window(Vec2::from(window), 1.0);
            let size = app.layout().halves[0].size;
            let floor = Vector::Y * -0.5;
            for place in poses(&app, 0).values().map(|pose| pose.translation) {
                let at = app.lens.picture(place).unwrap();
                let is_visible =
                    at.y > overlay && at.cmpge(Vec2::ZERO).all() && at.cmplt(size).all();
                assert!(
                    is_visible || place == floor,
                    "{scene:?}: {place} is at {at} of {size}"
                );
            }
        }
    }
}

#[test]
fn what_is_on_a_thread_moves_by_the_wall_clock_and_comes_back() {
    let mut app = app(
        Scene::Spinners,
        [Strategy::Threaded, Strategy::Interpolated],
    );
    let start = poses(&app, 1);
    while !poses(&app, 0)
        .values()
        .any(|pose| !start.values().any(|other| other == pose))
    {
        app.make_frame();
    }
    app.command(Command::Pause);
    app.command(Command::Strategy(0, Strategy::Interpolated));
    app.make_frame();
    let tick = app.half(0).report().frame.tick;
    assert!(tick > 0);
    frames(&mut app, 20);
    assert_eq!(app.half(0).report().frame.tick, tick, "the pause is kept");
    app.command(Command::Pause);
    frames(&mut app, 75);
    let ticks = app.half(0).report().frame.tick - tick;
    assert!((29..=31).contains(&ticks), "{ticks} in a second");
}

#[test]
fn a_pause_holds_the_picture_and_steps_go_on_and_back_to_the_bit() {
    let mut app = app(Scene::Pile, [Strategy::Latest, Strategy::Interpolated]);
    frames(&mut app, 100);
    app.command(Command::Pause);
    app.make_frame();
    let held = [poses(&app, 0), poses(&app, 1)];
    let tick = app.half(0).report().frame.tick;
    frames(&mut app, 10);
    assert_eq!([poses(&app, 0), poses(&app, 1)], held);
    for _ in 0..3 {
        app.command(Command::StepOnce);
        app.make_frame();
    }
    assert_eq!(app.half(0).report().frame.tick, tick + 3);
    assert_ne!(poses(&app, 0), held[0]);
    for _ in 0..3 {
        app.command(Command::StepBack);
        app.make_frame();
    }
    assert_eq!(app.half(0).report().frame.tick, tick);
    assert_eq!(poses(&app, 0), held[0]);
}

#[test]
fn steps_back_take_the_game_with_them() {
    let run = |goes_back: bool| {
        let mut app = app(Scene::Pile, [Strategy::Latest; 2]);
        frames(&mut app, 200);
        if goes_back {
            // The steps cross the tick in which a ball is thrown.
            for _ in 0..25 {
                app.command(Command::StepBack);
                app.make_frame();
            }
            for _ in 0..25 {
                app.command(Command::StepOnce);
                app.make_frame();
            }
        }
        (app.half(0).report().frame.tick, poses(&app, 0))
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn a_body_is_dragged_in_both_halves_to_where_the_mouse_is() {
    let mut app = app(Scene::Platform, [Strategy::Interpolated; 2]);
    frames(&mut app, 10);
    for side in [0, 1] {
        let at = picture(&app, side, place(&app, side));
        app.mouse(MouseEvent::Press(at));
        let to = at + Vec2::new(40.0, -120.0);
        app.mouse(MouseEvent::Move(to));
        frames(&mut app, 150);
        for other in [0, 1] {
            let off = picture(&app, other, place(&app, other)) - app.layout().halves[other].from;
            let off = off - (to - app.layout().halves[side].from);
            // The body hangs below the held point.
            assert!(off.length() < 50.0, "{off} pixels off in half {other}");
        }
        app.mouse(MouseEvent::Release);
        let held = place(&app, side);
        frames(&mut app, 30);
        assert!(place(&app, side).y < held.y - 0.3, "the body falls");
    }
}

#[test]
fn a_body_is_picked_where_it_is_shown_and_not_where_it_is() {
    // At 10 Hz, fast bodies are displayed far from their latest state.
    let mut app = app(Scene::Spinners, [Strategy::Interpolated; 2]);
    app.settings.halves[0].rate = 10;
    app.make_frame();
    let key = app.followed();
    let head = Vector::X;
    let mut picked = 0;
    for _ in 0..60 {
        app.make_frame();
        let shown = app.half(0).shown().poses[&key];
        app.mouse(MouseEvent::Press(picture(&app, 0, shown * head)));
        app.mouse(MouseEvent::Release);
        picked += usize::from(app.followed() == key);
        assert_eq!(app.followed(), key);
    }
    assert_eq!(picked, 60);
}

#[test]
fn a_teleport_shows_at_once_and_a_portal_keeps_the_motion() {
    let mut app = app(Scene::Platform, [Strategy::Interpolated; 2]);
    frames(&mut app, 100);
    let before = place(&app, 0);
    app.command(Command::Teleport);
    frames(&mut app, 3);
    let way = (place(&app, 0) - before).length();
    assert!(way > 1.0, "{way} m");

    let mut app = self::app(Scene::Bullets, [Strategy::Interpolated; 2]);
    frames(&mut app, 60);
    let before = place(&app, 1);
    frames(&mut app, 1);
    let by = place(&app, 1) - before;
    app.command(Command::Portal);
    frames(&mut app, 3);
    let after = place(&app, 1);
    assert!((after + before).x.abs() < 0.3 && (after + before).z.abs() < 0.3);
    frames(&mut app, 1);
    let turned = place(&app, 1) - after;
    assert!((turned.x + by.x).abs() < 0.005, "{turned} after {by}");
}

#[test]
fn a_shift_of_the_origin_is_not_to_be_seen() {
    let mut apps = [false, true].map(|shifts| {
        let mut app = app(Scene::Bullets, [Strategy::Hermite, Strategy::Extrapolated]);
        frames(&mut app, 40);
        if shifts {
            app.command(Command::ShiftOrigin);
        }
        frames(&mut app, 10);
        app
    });
    let [plain, shifted] = &mut apps;
    assert_eq!(shifted.half(0).shown().origin, Vector::new(64.0, 0.0, 32.0));
    for side in [0, 1] {
        let off = (place(plain, side) - place(shifted, side)).length();
        assert!(off < 1e-3, "{off} m");
        let key = plain.followed();
        assert_ne!(poses(plain, side)[&key], poses(shifted, side)[&key]);
    }
}

#[test]
fn the_plot_returns_to_the_red_body_when_the_picked_one_is_gone() {
    let mut app = app(Scene::Pile, [Strategy::Interpolated; 2]);
    let red = app.followed();
    app.command(Command::Spawn);
    frames(&mut app, 10);
    let last = poses(&app, 0).into_keys().next_back().unwrap();
    let at = picture(&app, 0, app.place(0, last).unwrap());
    app.mouse(MouseEvent::Press(at));
    app.mouse(MouseEvent::Release);
    app.make_frame();
    assert_eq!(app.followed(), last);
    // The scene restarts without the crate.
    frames(&mut app, 10 * 75);
    assert_eq!(app.followed(), red);
    assert!(!poses(&app, 0).contains_key(&last));
}

#[test]
fn the_load_is_measured_with_the_clock_of_the_program() {
    let mut app = app(Scene::Spinners, [Strategy::Latest, Strategy::Interpolated]);
    assert_eq!(app.half(0).step_cost().achieved(), None);
    // Each frame takes 2 ms in each half.
    let time = Cell::new(Duration::ZERO);
    let clock = || {
        time.set(time.get() + Duration::from_millis(2));
        time.get()
    };
    for _ in 0..300 {
        app.update(Duration::from_secs(1) / 60, &clock);
    }
    for side in [0, 1] {
        let step_cost = app.half(side).step_cost();
        let achieved = step_cost.achieved().unwrap();
        assert!((achieved - 30.0).abs() < 2.0, "{achieved} steps per second");
        // The 75 frames of a second take 150 ms, and so do its 30 steps.
        let load = step_cost.load(Rate::hz(30)).unwrap();
        assert!((load - 0.15).abs() < 0.02, "a load of {load}");
    }
}

#[test]
fn what_is_spawned_and_fired_is_there_in_both_halves() {
    let mut app = app(Scene::Chain, [Strategy::Latest, Strategy::Interpolated]);
    app.make_frame();
    let before = poses(&app, 0).len();
    app.command(Command::Spawn);
    app.command(Command::Fire);
    frames(&mut app, 5);
    for side in [0, 1] {
        assert_eq!(poses(&app, side).len(), before + 2);
    }
}

#[test]
fn interpolated_frames_move_evenly_and_the_latest_state_in_jumps() {
    let mut app = app(Scene::Bullets, [Strategy::Latest, Strategy::Interpolated]);
    frames(&mut app, 60);
    let mut longest = [0.0f32; 2];
    for _ in 0..40 {
        let before = [0, 1].map(|side| place(&app, side).x);
        app.make_frame();
        for side in [0, 1] {
            longest[side] = longest[side].max((place(&app, side).x - before[side]).abs());
        }
    }
    // The latest state moves a whole step in one frame and nothing in the next, the interpolated pose a little in each:
    // 75 frames, 30 steps.
    assert!(longest[1] > 0.01, "{longest:?}");
    assert!(
        (longest[0] / longest[1] - 75.0 / 30.0).abs() < 0.1,
        "{longest:?}"
    );
    let trace = app.trace();
    assert!(trace.of(0).iter().any(|sample| sample.steps == 0));
    assert!(trace.of(0).len() > 60);
}

#[test]
fn debug_lines_are_at_displayed_poses_then_at_true_ones() {
    let mut app = app(Scene::Bullets, [Strategy::Latest, Strategy::Interpolated]);
    app.command(Command::Lines);
    frames(&mut app, 62);
    // The left half displays the true poses.
    let [truth, shown] = [0, 1].map(|side| place(&app, side));
    assert!((truth - shown).length() > 0.005, "{truth} {shown}");
    for expected in [[truth, shown], [truth, truth]] {
        for (side, middle) in expected.into_iter().enumerate() {
            let ends = app
                .lines(side)
                .into_iter()
                .flat_map(|line| [line.from, line.to]);
            // The lines of the ball's shape are 0.3 m from its centre.
            let ways = ends.map(|end| (end - middle).length());
            let near: Vec<f32> = ways.filter(|way| (0.2..0.4).contains(way)).collect();
            let exact = near.iter().filter(|way| (*way - 0.3).abs() < 0.003).count();
            assert!(exact > 40, "{exact} of {}", near.len());
            assert!(exact * 10 > near.len() * 9, "{exact} of {}", near.len());
        }
        app.command(Command::Lines);
    }
    assert!(app.lines(0).is_empty());
}

#[test]
fn a_replay_shows_the_frames_that_were_shown_and_marks_where_runs_part() {
    let mut app = app(Scene::Pile, [Strategy::Latest, Strategy::Interpolated]);
    frames(&mut app, 30);
    app.command(Command::Record);
    let mut shown = Vec::new();
    for frame in 0..120 {
        if frame == 40 {
            app.command(Command::Spawn);
        }
        app.make_frame();
        shown.push([poses(&app, 0), poses(&app, 1)]);
    }
    app.command(Command::Record);
    let screening = app.screening.as_mut().unwrap();
    assert_eq!(screening.frames(), 120);
    for (frame, shown) in shown.iter().enumerate() {
        screening.go_to(frame);
        for side in [0, 1] {
            let (_, still) = screening.still(side).unwrap();
            assert_eq!(still.shown.poses, shown[side], "frame {frame}");
        }
        assert!(!screening.is_apart(frame), "both halves run the same steps");
        assert!(!screening.differs(0, frame));
    }
    screening.go_to(60);
    screening.nudge().unwrap();
    let first = (0..120).find(|frame| screening.differs(0, *frame));
    assert!(
        (60..64).contains(&first.expect("a push is found")),
        "{first:?}"
    );
    app.command(Command::Live);
    assert!(app.screening.is_none());
}

#[test]
fn a_replay_marks_where_the_halves_are_apart() {
    let mut app = app(Scene::Pile, [Strategy::Variable, Strategy::Interpolated]);
    app.command(Command::Record);
    frames(&mut app, 30);
    app.command(Command::Record);
    let screening = app.screening.as_ref().unwrap();
    assert!((0..30).any(|frame| screening.is_apart(frame)));
}

#[test]
fn a_script_does_what_the_keys_do() {
    let text = "# a comment\n0 key 3\n0 key shift+8\n2 key l\n3 key space\n";
    let script = Script::read(text).expect("the script is valid");
    let mut app = app(Scene::Pile, [Strategy::Latest; 2]);
    for frame in 0..5 {
        script.play(frame, &mut app);
        app.make_frame();
    }
    assert_eq!(app.half(0).strategy(), Strategy::FrameLocked);
    assert_eq!(app.half(1).strategy(), Strategy::Extrapolated);
    assert!(app.settings.is_paused);
    assert_eq!(app.settings.lines, DebugLines::Displayed);
    let error = Script::read("0 key 3\n1 jump").expect_err("the line is not valid");
    assert_eq!(
        error.to_string(),
        "line 2 of the script means nothing: 1 jump"
    );
}
