//! The window as a person uses it: on a virtual display, with real keys and a real mouse.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places in pixels"
)]

mod desktop;
mod shots;

use desktop::Desktop;
use evenstep_window::layout::Layout;
use image::RgbImage;
use kiss3d::glamx::Vec2;
use shots::{is_grey, middle_of_red, share};

fn layout() -> Layout {
    Layout::new(Vec2::new(1280.0, 720.0), true)
}

/// A half's picture below its overlay.
fn scenery(side: usize) -> (Vec2, Vec2) {
    let area = layout().halves[side];
    let overlay = Vec2::new(0.0, 124.0);
    (area.from + overlay, area.size - overlay)
}

fn red(picture: &RgbImage, side: usize) -> Option<Vec2> {
    let (from, size) = scenery(side);
    middle_of_red(picture, from, size)
}

/// It comes in the second frame, as egui takes one to know how large it is.
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
    desktop.wait_for_title("platform, frame-locked at 30 Hz | fixed, interpolated at 30 Hz");
    desktop.key("shift+8");
    desktop.wait_for_title("frame-locked at 30 Hz | fixed, extrapolated at 30 Hz");
    desktop.key("bracketright");
    desktop.wait_for_title("frame-locked at 60 Hz | fixed, extrapolated at 60 Hz");

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
    desktop.wait_for_title("on a thread at 60 Hz |");
}

#[test]
fn a_body_follows_the_mouse() {
    let mut desktop = Desktop::open("drag", &["--scene", "platform"]);
    desktop.key("space");
    desktop.wait_for_title("(paused)");
    let at = desktop.wait_for("the red body", |desktop| {
        let [one, other] = [desktop.picture(), desktop.picture()].map(|picture| red(&picture, 0));
        // It stands.
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
    // The name of a scene in the first row of the panel's buttons, found by trying along it.
    let panel = layout().panel;
    for step in 0..8u8 {
        desktop.mouse_to(panel.from + Vec2::new(24.0 + 30.0 * f32::from(step), 92.0));
        desktop.mouse_down();
        desktop.mouse_up();
        desktop.picture();
    }
    desktop.wait_for("another scene", |desktop| {
        desktop
            .title()
            .filter(|title| !title.starts_with("evenstep: pile"))
    });
}
