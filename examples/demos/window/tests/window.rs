//! Tests the window as a person uses it: on a virtual display, with real keys and a real mouse.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places in pixels"
)]

mod desktop;
mod shots;

use desktop::Desktop;
use evenstep_window::app::App;
use evenstep_window::controls::{Command, Settings};
use evenstep_window::layout::{Area, Layout};
use evenstep_window::scenes::Scene;
use image::{Rgb, RgbImage};
use kiss3d::glamx::Vec2;
use shots::{OVERLAY, draw, is_grey, middle_of_red, share};

const SIZE: Vec2 = Vec2::new(1280.0, 720.0);

fn layout() -> Layout {
    Layout::new(SIZE, 1.0, true)
}

/// Creates a playground without a window, which tells where things must be.
fn twin(scene: Scene) -> App {
    let mut app = App::new(Settings {
        scene,
        ..Settings::default()
    });
    app.set_window(SIZE, 1.0);
    app
}

/// Returns the position of the red body in the picture of a half.
fn place(app: &App, side: usize) -> Vec2 {
    let place = app.place(side, app.followed()).unwrap();
    app.lens.picture(place).unwrap()
}

/// Restarts the scene in a pause, so the picture depends on no clock.
fn restart_in_a_pause(desktop: &mut Desktop) {
    desktop.key("space");
    desktop.wait_for_title("(paused)");
    desktop.key("BackSpace");
}

/// Returns a half's picture below its overlay.
fn scenery(side: usize) -> (Vec2, Vec2) {
    below_overlay(layout().halves[side])
}

fn below_overlay(half: Area) -> (Vec2, Vec2) {
    let overlay = Vec2::new(0.0, OVERLAY);
    (half.from + overlay, half.size - overlay)
}

fn red(picture: &RgbImage, side: usize) -> Option<Vec2> {
    let (from, size) = scenery(side);
    middle_of_red(picture, from, size)
}

/// Waits for the panel, which is there from the first frame on.
fn wait_for_panel(desktop: &mut Desktop) {
    let panel = layout().panel;
    desktop.wait_for("the panel", |desktop| {
        let picture = desktop.picture();
        let paper = share(&picture, panel.from, panel.size, |pixel| {
            is_grey(pixel, 235..255)
        });
        (paper > 0.55).then_some(())
    });
}

fn differs(one: &RgbImage, other: &RgbImage, from: Vec2, size: Vec2) -> bool {
    let rows = from.y as u32..(from.y + size.y) as u32;
    let columns = from.x as u32..(from.x + size.x) as u32;
    rows.flat_map(|y| columns.clone().map(move |x| (x, y)))
        .any(|(x, y)| one.get_pixel(x, y) != other.get_pixel(x, y))
}

#[test]
fn keys_change_what_is_set_and_what_is_seen() {
    let mut desktop = Desktop::open("keys", &["--scene", "platform"]);
    desktop.wait_for("the red body in both halves", |desktop| {
        let picture = desktop.picture();
        (red(&picture, 0).is_some() && red(&picture, 1).is_some()).then_some(())
    });
    wait_for_panel(&mut desktop);

    desktop.key("3");
    desktop.wait_for_title("platform, frame-locked at 10 Hz | interpolated at 10 Hz");
    desktop.key("shift+8");
    desktop.wait_for_title("frame-locked at 10 Hz | extrapolated at 10 Hz");
    desktop.key("bracketright");
    desktop.wait_for_title("frame-locked at 20 Hz | extrapolated at 20 Hz");

    desktop.key("space");
    desktop.wait_for_title("(paused)");
    let (from, size) = scenery(0);
    let held = desktop.wait_for("a picture that stands", |desktop| {
        let [one, other] = [desktop.picture(), desktop.picture()];
        (!differs(&one, &other, from, size)).then_some(one)
    });
    desktop.key("period");
    desktop.wait_for("a step", |desktop| {
        differs(&held, &desktop.picture(), from, size).then_some(())
    });
    desktop.key("comma");
    desktop.wait_for("the step back", |desktop| {
        (!differs(&held, &desktop.picture(), from, size)).then_some(())
    });

    desktop.key("c");
    desktop.wait_for_title("evenstep: vehicle");
    desktop.key("9");
    desktop.wait_for_title("on a thread at 20 Hz |");
}

/// Returns how many pixels differ.
fn count_other(one: &RgbImage, other: &RgbImage, (from, size): (Vec2, Vec2)) -> usize {
    let rows = from.y as u32..(from.y + size.y) as u32;
    let columns = from.x as u32..(from.x + size.x) as u32;
    let places = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
    let is_other = |one: &Rgb<u8>, other: &Rgb<u8>| {
        let mut parts = one.0.into_iter().zip(other.0);
        parts.any(|(one, other)| one.abs_diff(other) > 8)
    };
    places
        .filter(|(x, y)| is_other(one.get_pixel(*x, *y), other.get_pixel(*x, *y)))
        .count()
}

/// Keys pressed in a paused world, two frames of a script apart, because egui needs a frame to determine the size of the
/// list of keys.
///
/// The overlay, which tells of earlier frames, is hidden first.
const KEYS: [&str; 34] = [
    "space",
    "BackSpace",
    "i",
    "n",
    "b",
    "period",
    "t",
    "period",
    "comma",
    "period",
    "p",
    "period",
    "o",
    "period",
    "1",
    "shift+5",
    "2",
    "shift+4",
    "3",
    "shift+6",
    "7",
    "shift+8",
    "bracketright",
    "bracketleft",
    "f",
    "j",
    "s",
    "l",
    "l",
    "k",
    "k",
    "m",
    "m",
    "v",
];

#[test]
fn keys_do_in_the_window_what_they_do_in_a_script() {
    let lines = (0..)
        .step_by(2)
        .zip(KEYS)
        .map(|(frame, key)| format!("{frame} key {key}\n"));
    let script: String = lines.collect();
    // The window is small, because there are many pictures.
    let (size, argument) = (Vec2::new(800.0, 540.0), "800x540");
    let frames = 0..2 * KEYS.len() as u32;
    let expected = draw("script", Scene::Platform, argument, &script, frames);
    let mut desktop = Desktop::open("script", &["--scene", "platform", "--size", argument]);
    desktop.mouse_to(Vec2::new(20.0, 380.0));
    let mut has_panel = true;
    for (number, key) in KEYS.into_iter().enumerate() {
        desktop.key(key);
        has_panel ^= key == "m";
        if number == 0 {
            // The pause may be at any time.
            desktop.wait_for_title("(paused)");
            continue;
        }
        let layout = Layout::new(size, 1.0, has_panel);
        let [left, right] = layout.halves.map(below_overlay);
        let parts = [left, right, (layout.panel.from, layout.panel.size)];
        let picture = &expected[2 * number + 1];
        desktop.wait_for(&format!("key {number}: {key}"), |desktop| {
            let shown = desktop.picture();
            let others = parts.map(|part| count_other(&shown, picture, part));
            (others.iter().sum::<usize>() < 40).then_some(())
        });
    }
}

#[test]
fn a_hitch_makes_many_steps_in_one_frame() {
    let mut desktop = Desktop::open("hitch", &["--scene", "bullets"]);
    desktop.key("bracketright");
    desktop.key("bracketright");
    desktop.wait_for_title("not interpolated at 30 Hz");
    // Returns the height of the highest bar in the overlay, in pixels.
    let highest = |picture: &RgbImage| {
        let is_bar = |pixel: &Rgb<u8>| pixel.0[0] > 180 && pixel.0[2] < 110;
        let count = |x| {
            (100..OVERLAY as u32)
                .filter(|y| is_bar(picture.get_pixel(x, *y)))
                .count()
        };
        (27..300).map(count).max()
    };
    desktop.wait_for("a bar of a step", |desktop| {
        let height = highest(&desktop.picture())?;
        (1..16).contains(&height).then_some(())
    });
    desktop.key("h");
    desktop.wait_for("a high bar", |desktop| {
        (highest(&desktop.picture())? > 20).then_some(())
    });
}

/// Returns the numbers in the title of a replay: the frame, the number of frames, and the tick.
fn numbers(title: &str) -> Option<[usize; 3]> {
    let (_, place) = title.split_once("(replay, ")?;
    let numbers = place.split(|letter: char| !letter.is_ascii_digit());
    let numbers: Vec<usize> = numbers.filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

/// Returns the scrubber's bar: its left and right end, and a row without marks.
fn bar(picture: &RgbImage) -> Option<(f32, f32, f32)> {
    let plot = layout().plot;
    let rows = plot.from.y as u32..(plot.from.y + plot.size.y) as u32;
    let ends = |y: u32| {
        let mut columns =
            (0..plot.size.x as u32).filter(|x| picture.get_pixel(*x, y).0 == [226; 3]);
        Some((columns.next()? as f32, columns.next_back()? as f32))
    };
    let mut rows = rows.filter_map(|y| Some((y, ends(y)?)));
    let (y, (left, right)) = rows.find(|(_, (left, right))| right - left > 900.0)?;
    Some((left, right, y as f32 + 2.0))
}

/// Records a scene until the red body has moved this many pixels, and is about to replay it.
fn with_recording(name: &str, scene: &str, pixels: f32) -> Desktop {
    let mut desktop = Desktop::open(name, &["--scene", scene]);
    wait_for_panel(&mut desktop);
    desktop.key("r");
    desktop.wait_for_title("(recording)");
    let start = desktop.wait_for("the red body", |desktop| red(&desktop.picture(), 0));
    desktop.wait_for("its motion", |desktop| {
        red(&desktop.picture(), 0).filter(|at| (*at - start).length() > pixels)
    });
    desktop.key("r");
    desktop
}

#[test]
fn the_scrubber_shows_the_frame_that_the_mouse_drags_it_to() {
    let mut desktop = with_recording("scrubber", "platform", 50.0);
    desktop.wait_for_title("(replay");
    let (left, right, y) = desktop.wait_for("the scrubber", |desktop| bar(&desktop.picture()));

    let mut shots = Vec::new();
    desktop.mouse_to(Vec2::new(left + 1.0, y));
    desktop.mouse_down();
    // A slow machine records several turns of the platform, so some of these parts may be alike.
    for part in [0.25, 0.9, 0.6, 0.05, 0.45, 0.75, 0.25] {
        let x = (left + part * (right - left)).round();
        desktop.mouse_to(Vec2::new(x, y));
        let [_, frames, tick] = desktop.wait_for("the frame", |desktop| {
            let numbers = numbers(&desktop.title()?)?;
            let expected = 1.0 + part * (numbers[1] - 1) as f32;
            ((numbers[0] as f32 - expected).abs() < 1.1).then_some(numbers)
        });
        assert!(frames > 20, "{frames} frames");
        let picture = desktop.wait_for("the handle there", |desktop| {
            let picture = desktop.picture();
            let from = Vec2::new(x - 5.0 - 1_000.0 / frames as f32, y + 8.0);
            let size = Vec2::new(10.0 + 2_000.0 / frames as f32, 20.0);
            let ink = share(&picture, from, size, |pixel| is_grey(pixel, 0..90));
            (ink * size.x > 1.0).then_some(picture)
        });
        shots.push((tick, red(&picture, 0).unwrap(), picture));
    }
    // The left half displays the latest state, so the position of the red body follows from the tick.
    let mut twin = twin(Scene::Platform);
    let mut at = |tick: usize| {
        twin.command(Command::Restart);
        while (twin.half(0).report().frame.tick as usize) < tick {
            twin.make_frame();
        }
        place(&twin, 0)
    };
    let expected: Vec<Vec2> = shots.iter().map(|(tick, ..)| at(*tick)).collect();
    for (shot, expected_there) in shots.iter().zip(&expected) {
        let [shown, moved] = [shot.1 - shots[0].1, *expected_there - expected[0]];
        assert!((shown - moved).length() < 5.0, "{shown} instead of {moved}");
    }
    let far = |there: &Vec2| (*there - expected[0]).length() > 25.0;
    assert!(expected.iter().any(far), "{expected:?}");
    let [first, .., again] = &shots[..] else {
        unreachable!("there are seven");
    };
    for side in [0, 1] {
        assert_eq!(count_other(&first.2, &again.2, scenery(side)), 0);
    }

    // A position beyond the end is the last frame. After the release, the mouse drags no more.
    desktop.mouse_to(Vec2::new(right + 60.0, y - 200.0));
    let last = |[frame, frames, _]: [usize; 3]| frame == frames;
    desktop.wait_for("the last frame", |desktop| {
        numbers(&desktop.title()?).filter(|numbers| last(*numbers))
    });
    desktop.mouse_up();
    desktop.mouse_to(Vec2::new(left + 100.0, y));
    desktop.key("comma");
    desktop.wait_for("the frame before", |desktop| {
        numbers(&desktop.title()?).filter(|[frame, frames, _]| frame + 1 == *frames)
    });
    desktop.key("v");
    desktop.wait_for("the live world", |desktop| {
        desktop.title().filter(|title| title.ends_with("Hz"))
    });
}

#[test]
fn a_nudge_is_marked_from_where_it_was() {
    let mut desktop = with_recording("nudge", "pile", 20.0);
    let (left, right, y) = desktop.wait_for("the scrubber", |desktop| bar(&desktop.picture()));
    // A replay that plays might pass the frame before the click counts.
    desktop.key("comma");
    desktop.wait_for("a replay that stands", |desktop| {
        let [one, other] = [desktop.picture(), desktop.picture()];
        (!differs(&one, &other, layout().plot.from, layout().plot.size)).then_some(())
    });
    let marks = |picture: &RgbImage| {
        let is_mark = |x: &u32| {
            let [red, green, blue] = picture.get_pixel(*x, y as u32 + 20).0;
            red > 180 && green < 60 && blue < 90
        };
        let columns: Vec<u32> = (left as u32..right as u32).filter(is_mark).collect();
        columns
    };
    let x = left + 0.5 * (right - left);
    desktop.mouse_to(Vec2::new(x, y));
    desktop.mouse_down();
    desktop.mouse_up();
    let [frame, frames, _] = desktop.wait_for("the frame", |desktop| {
        let numbers = numbers(&desktop.title()?)?;
        (numbers[0].abs_diff(numbers[1] / 2) < 3).then_some(numbers)
    });
    assert!(marks(&desktop.picture()).is_empty(), "nothing differs yet");
    // The button above the bar.
    desktop.mouse_to(Vec2::new(left + 230.0, y - 18.0));
    desktop.mouse_down();
    desktop.mouse_up();
    let marks = desktop.wait_for("marks", |desktop| {
        let marks = marks(&desktop.picture());
        (!marks.is_empty()).then_some(marks)
    });
    let width = (right - left) / frames as f32;
    let first = (marks[0] as f32 - left) / width;
    assert!(
        // The next step is at most 7.5 frames later.
        (frame as f32 - 1.0..frame as f32 + 9.0).contains(&first),
        "from frame {first} on, nudged in {frame}"
    );
}

#[test]
fn arrow_keys_drive_the_car() {
    let mut desktop = Desktop::open("arrows", &["--scene", "vehicle"]);
    desktop.key("bracketright");
    desktop.key("bracketright");
    desktop.wait_for_title("not interpolated at 30 Hz");
    restart_in_a_pause(&mut desktop);
    let ways: [(&[&str], [f32; 2]); 4] = [
        (&["Up"], [1.0, 0.0]),
        (&["Up", "Left"], [1.0, 1.0]),
        (&["Up", "Right"], [1.0, -1.0]),
        (&[], [0.0; 2]),
    ];
    let tracks = ways.map(|(_, drive)| track(drive));
    // In slow motion the car moves little between pictures.
    desktop.key("s");
    for (number, (keys, _)) in ways.into_iter().enumerate() {
        let off = desktop.wait_for("the car at its start", |desktop| {
            let off = red(&desktop.picture(), 0)? - tracks[number][0];
            (off.length() < 25.0).then_some(off)
        });
        keys.iter().for_each(|key| desktop.key_down(key));
        desktop.key("space");
        desktop.wait_for(&format!("the way of {keys:?} alone"), |desktop| {
            let at = red(&desktop.picture(), 0)? - off;
            let far = |track: &Vec<Vec2>| {
                let far = track.iter().map(|place| (*place - at).length());
                far.fold(f32::MAX, f32::min)
            };
            let is_own = |(other, track)| (far(track) < 10.0) == (other == number);
            tracks.iter().enumerate().all(is_own).then_some(())
        });
        keys.iter().for_each(|key| desktop.key_up(key));
        restart_in_a_pause(&mut desktop);
    }
}

/// Returns the displayed positions of the car in the left half, frame by frame, with this driving.
fn track(drive: [f32; 2]) -> Vec<Vec2> {
    let mut app = twin(Scene::Vehicle);
    app.settings
        .halves
        .iter_mut()
        .for_each(|half| half.rate = 30);
    app.drive = drive;
    let mut places = Vec::new();
    // Without a driver, the car leaves the straight line only after two seconds.
    for _ in 0..260 {
        places.push(place(&app, 0));
        app.make_frame();
    }
    places
}

#[test]
fn everything_fits_into_a_window_of_another_size() {
    let mut desktop = Desktop::open("size", &["--scene", "platform"]);
    wait_for_panel(&mut desktop);
    restart_in_a_pause(&mut desktop);
    for size in [Vec2::new(1920.0, 1080.0), Vec2::new(900.0, 600.0)] {
        desktop.resize(size);
        let mut app = twin(Scene::Platform);
        app.set_window(size, 1.0);
        let layout = app.layout();
        let picture = desktop.wait_for("the new size", |desktop| {
            let picture = desktop.picture();
            let is_so = picture.dimensions() == (size.x as u32, size.y as u32);
            let paper = |area: Area| {
                share(&picture, area.from, area.size, |pixel| {
                    is_grey(pixel, 235..255)
                })
            };
            let is_there = is_so && paper(layout.panel) > 0.5 && paper(layout.plot) > 0.5;
            is_there.then_some(picture)
        });
        for half in layout.halves {
            let (from, size) = below_overlay(half);
            let red = middle_of_red(&picture, from, size).expect("the red body is visible");
            let off = red - half.from - place(&app, 0);
            assert!(off.length() < 12.0, "{off} pixels off");
        }
    }
}

#[test]
fn a_body_follows_the_mouse() {
    let mut desktop = Desktop::open("drag", &["--scene", "platform"]);
    desktop.key("space");
    desktop.wait_for_title("(paused)");
    let at = desktop.wait_for("the red body", |desktop| {
        let [one, other] = [desktop.picture(), desktop.picture()].map(|picture| red(&picture, 0));
        // The body is at rest.
        one.filter(|_| one == other)
    });
    desktop.mouse_to(at);
    desktop.mouse_down();
    desktop.key("space");
    let area = layout().halves[0];
    let to = area.from + Vec2::new(area.size.x * 0.5, area.size.y * 0.45);
    desktop.mouse_to(to);
    for side in [0, 1] {
        let to = to - area.from + layout().halves[side].from;
        desktop.wait_for("the body at the mouse", |desktop| {
            red(&desktop.picture(), side).filter(|at| (at - to).length() < 30.0)
        });
    }
    desktop.mouse_up();
    desktop.wait_for("its fall", |desktop| {
        red(&desktop.picture(), 0).filter(|at| at.y > to.y + 40.0)
    });
}

#[test]
fn the_panel_is_worked_by_the_mouse() {
    let mut desktop = Desktop::open("panel", &[]);
    wait_for_panel(&mut desktop);
    // The name of the second scene, in the first row of buttons in the panel.
    let chain = layout().panel.from + Vec2::new(66.0, 111.0);
    desktop.wait_for("another scene", |desktop| {
        desktop.mouse_to(chain);
        desktop.mouse_down();
        desktop.mouse_up();
        let title = desktop.title();
        title.filter(|title| title.starts_with("evenstep: chain"))
    });
}
