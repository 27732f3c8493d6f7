//! Tests the contents of pictures that are drawn without a display.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places in pixels"
)]

mod shots;

use evenstep::rapier::math::Vector;
use evenstep_window::app::App;
use evenstep_window::controls::Settings;
use evenstep_window::layout::Layout;
use evenstep_window::scenes::Scene;
use evenstep_window::script::Script;
use image::{Rgb, RgbImage};
use kiss3d::glamx::Vec2;
use shots::{OVERLAY, draw, is_grey, is_red, middle_of_red, share};

/// The pictures that the program draws from a script, and a playground that was driven by the same script, which tells
/// where things must be.
struct Take {
    app: App,
    last: RgbImage,
}

fn take(name: &str, scene: Scene, script: &str, frames: u32) -> Take {
    let mut pictures = draw(name, scene, "1280x720", script, frames - 2..frames);
    let last = pictures.pop().unwrap();
    assert_eq!(last.dimensions(), (1280, 720));

    let script = Script::read(script).expect("the script is valid");
    let mut app = App::new(Settings {
        scene,
        ..Settings::default()
    });
    app.set_window(Vec2::new(1280.0, 720.0), 1.0);
    for frame in 0..frames {
        script.play(frame, &mut app);
        app.make_frame();
    }
    Take { app, last }
}

impl Take {
    /// Returns the position of a point of the scene in the window.
    fn place(&self, side: usize, point: Vector) -> Vec2 {
        let area = self.app.layout().halves[side];
        area.from + self.app.lens.picture(point).unwrap()
    }

    fn followed(&self, side: usize) -> Vector {
        self.app.place(side, self.app.followed()).unwrap()
    }

    fn pixel(&self, at: Vec2) -> &Rgb<u8> {
        self.last.get_pixel(at.x as u32, at.y as u32)
    }

    /// Returns the centre of the red body in a half, below the overlay.
    fn middle_of_red(&self, side: usize) -> Vec2 {
        let (from, size) = self.scenery(side);
        middle_of_red(&self.last, from, size).expect("the red body is visible")
    }

    fn scenery(&self, side: usize) -> (Vec2, Vec2) {
        let area = self.app.layout().halves[side];
        let overlay = Vec2::new(0.0, OVERLAY);
        (area.from + overlay, area.size - overlay)
    }
}

fn brightness(pixel: &Rgb<u8>) -> f32 {
    pixel.0.map(f32::from).iter().sum()
}

#[test]
fn every_scene_shows_its_red_body_where_it_is_on_a_floor_under_a_sky() {
    for scene in Scene::ALL {
        let take = take(scene.name(), scene, "", 40);
        for side in [0, 1] {
            let at = take.place(side, take.followed(side));
            let near = share(&take.last, at - 6.0, Vec2::splat(12.0), is_red);
            assert!(near > 0.15, "{scene:?}: {near} of what is at {at} is red");
            let (from, size) = take.scenery(side);
            let floor = share(&take.last, from, size, |pixel| is_grey(pixel, 90..240));
            assert!(floor > 0.2, "{scene:?}: {floor} of the picture is floor");
            let corner = take.app.layout().halves[side];
            let corner = corner.from + Vec2::new(corner.size.x - 12.0, 4.0);
            let [red, _, blue] = take.pixel(corner).0;
            assert!(blue > 150 && blue > red, "{scene:?}: the sky");
        }
    }
}

#[test]
fn the_same_strategy_gives_the_same_picture_and_others_do_not() {
    let alike = |name: &str, script: &str| {
        let take = take(name, Scene::Bullets, script, 61);
        let [left, right] = [0, 1].map(|side| take.scenery(side));
        let width = left.1.x as u32;
        let other = |x: u32, y: u32| {
            take.last
                .get_pixel(x - left.0.x as u32 + right.0.x as u32, y)
        };
        let pixels = (left.0.y as u32..(left.0.y + left.1.y) as u32)
            .flat_map(|y| (0..width).map(move |x| (x, y)));
        let differ = |one: &Rgb<u8>, other: &Rgb<u8>| {
            one.0
                .iter()
                .zip(other.0)
                .any(|(one, other)| one.abs_diff(other) > 12)
        };
        let count = pixels.filter(|(x, y)| differ(take.last.get_pixel(*x, *y), other(*x, *y)));
        (count.count(), take)
    };
    let (same, _) = alike("same", "0 key 6");
    assert!(same < 20, "{same} pixels");
    let (other, take) = alike("other", "0 key 5\n0 key shift+6");
    assert!(other > 100, "{other} pixels");
    // The distance is that between the two displayed positions of the body.
    let [left, right] =
        [0, 1].map(|side| take.middle_of_red(side) - take.app.layout().halves[side].from);
    let [one, two] = [0, 1]
        .map(|side| take.place(side, take.followed(side)) - take.app.layout().halves[side].from);
    assert!((one - two).x.abs() > 1.5, "{one} and {two}");
    assert!(
        ((left - right) - (one - two)).length() < 1.5,
        "{left} {right}, {one} {two}"
    );
}

#[test]
fn bodies_have_a_shadow() {
    let take = take("shadow", Scene::Spinners, "", 5);
    // The path of the sunlight: from the centre of the red body's head down to the floor.
    let pose = take.app.half(0).shown().poses[&take.app.followed()];
    let head = pose * Vector::X;
    let sun = evenstep_window::view::SUN;
    let shadow = head - sun * (head.y / sun.y);
    let dark = brightness(take.pixel(take.place(0, shadow)));
    let lit = brightness(take.pixel(take.place(0, shadow + Vector::Z * 2.0)));
    assert!(dark < 0.85 * lit, "{dark} in the shadow, {lit} beside it");
}

#[test]
fn the_panel_the_plot_and_the_overlay_are_there_and_can_be_hidden() {
    let shown = take("panel", Scene::Pile, "", 30);
    let layout = shown.app.layout();
    let is_paper = |pixel: &Rgb<u8>| is_grey(pixel, 235..255);
    let is_ink = |pixel: &Rgb<u8>| is_grey(pixel, 0..90);
    for (name, area) in [("panel", layout.panel), ("plot", layout.plot)] {
        let paper = share(&shown.last, area.from, area.size, is_paper);
        assert!(paper > 0.55, "{name}: {paper} is paper");
        let ink = share(&shown.last, area.from, area.size, is_ink);
        assert!(ink > 0.001, "{name}: {ink} is ink");
    }
    let is_orange = |pixel: &Rgb<u8>| pixel.0[0] > 180 && pixel.0[2] < 110;
    let is_blue = |pixel: &Rgb<u8>| pixel.0[2] > 150 && pixel.0[0] < 110;
    let overlay = |take: &Take, side: usize| {
        let area = take.app.layout().halves[side];
        // Below the label and the description of the strategy.
        let from = area.from + Vec2::new(20.0, 56.0);
        share(&take.last, from, Vec2::new(260.0, 35.0), |pixel| {
            is_grey(pixel, 90..190)
        })
    };
    for side in [0, 1] {
        let letters = overlay(&shown, side);
        assert!(letters > 0.02, "{letters} of the overlay is letters");
        let label = layout.halves[side].from + Vec2::new(20.0, 12.0);
        let is_label = |pixel: &Rgb<u8>| [is_orange(pixel), is_blue(pixel)][side];
        let letters = share(&shown.last, label, Vec2::new(90.0, 24.0), is_label);
        assert!(
            letters > 0.05,
            "{letters} of the label is in the colour of the half"
        );
    }
    // Both lines of the plot are visible.
    let inner = (
        layout.plot.from + 60.0,
        layout.plot.size - Vec2::new(80.0, 75.0),
    );
    let plotted = share(&shown.last, layout.plot.from, layout.plot.size, |pixel| {
        is_orange(pixel) || is_blue(pixel)
    });
    assert!(plotted > 0.001, "{plotted} of {inner:?}");
    let hidden = take("hidden", Scene::Pile, "0 key m\n0 key i", 30);
    assert_eq!(hidden.app.layout().panel.size.x, 0.0);
    assert!(overlay(&hidden, 0) < overlay(&shown, 0) / 2.0);
    let from = Vec2::new(1010.0, 200.0);
    let size = Vec2::new(260.0, 300.0);
    let floor = share(&hidden.last, from, size, |pixel| is_grey(pixel, 90..225));
    assert!(floor > 0.2, "the picture is there instead");
}

#[test]
fn the_first_picture_of_a_narrow_window_has_everything() {
    let picture = &draw("narrow", Scene::Spinners, "390x844", "", 0..1)[0];
    let layout = Layout::new(Vec2::new(390.0, 844.0), 1.0, true);
    for half in layout.halves {
        let red = share(picture, half.from, half.size, is_red);
        assert!(red > 0.0005, "{red} of a half is red");
    }
    let ink = share(picture, layout.panel.from, layout.panel.size, |pixel| {
        is_grey(pixel, 0..90)
    });
    assert!(ink > 0.01, "{ink} of the panel is ink");
}

#[test]
fn debug_lines_and_a_replay_can_be_seen() {
    let script = "0 key r\n30 key r";
    let replay = take("replay", Scene::Pile, script, 50);
    let area = replay.app.layout().plot;
    assert!(replay.app.screening.is_some());
    let bar = share(&replay.last, area.from, area.size, |pixel| {
        pixel.0 == [226; 3]
    });
    assert!(bar > 0.1, "{bar} of the scrubber is its bar");
    let strong = |pixel: &Rgb<u8>| {
        let [least, most] = [pixel.0.iter().min(), pixel.0.iter().max()].map(|part| *part.unwrap());
        most > 200 && least < 60
    };
    let count = |name: &str, script: &str| {
        // The chains hang below the overlay by then.
        let take = take(name, Scene::Chain, script, 100);
        let (from, size) = take.scenery(1);
        share(&take.last, from, size, strong)
    };
    let [without, with] = [count("bare", ""), count("lines", "0 key l")];
    assert!(with > without + 0.002, "{with} against {without}");
}
