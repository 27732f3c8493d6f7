//! The interface over both pictures and beside them.

// The settings.
mod panel;
// The frames of each half.
mod overlay;
// The path of one body.
mod plot;
// A replay.
mod scrubber;
// The keys.
mod keys;

use kiss3d::egui::{self, Color32, Context, Id, LayerId, Order, Pos2, Rect, TextureId};

use crate::app::App;
use crate::layout::Area;

/// The halves' colours in the plot and the overlay.
pub const HALVES: [Color32; 2] = [
    Color32::from_rgb(214, 108, 32),
    Color32::from_rgb(36, 110, 190),
];
/// Behind the panel and the plot.
pub const GROUND: Color32 = Color32::from_rgb(247, 248, 250);
/// Letters.
pub const INK: Color32 = Color32::from_rgb(34, 40, 49);
/// Letters that matter less.
pub const GREY: Color32 = Color32::from_rgb(110, 118, 130);

/// Draws the interface.
pub fn draw(context: &Context, app: &mut App, pictures: [TextureId; 2]) {
    set_style(context);
    let scale = context.pixels_per_point();
    let layout = app.layout();
    let back = context.layer_painter(LayerId::background());
    back.rect_filled(context.content_rect(), 0.0, INK);
    for (area, picture) in layout.halves.into_iter().zip(pictures) {
        let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
        back.image(picture, rect(area, scale), whole, Color32::WHITE);
    }
    let front = LayerId::new(Order::Middle, Id::new("over the pictures"));
    let front = context.layer_painter(front);
    for (side, area) in layout.halves.into_iter().enumerate() {
        overlay::draw(&front, rect(area, scale), app, side);
    }
    if app.screening.is_some() {
        scrubber::draw(context, rect(layout.plot, scale), app);
    } else {
        plot::draw(&front, rect(layout.plot, scale), app);
    }
    if app.settings.has_keys {
        keys::draw(
            context,
            rect(layout.halves[0], scale).union(rect(layout.plot, scale)),
        );
    }
    if app.settings.has_panel {
        panel::draw(context, rect(layout.panel, scale), app);
    }
}

/// Converts pixels to points of egui.
fn rect(area: Area, scale: f32) -> Rect {
    let from = Pos2::new(area.from.x, area.from.y) / scale;
    Rect::from_min_size(from, egui::vec2(area.size.x, area.size.y) / scale)
}

fn set_style(context: &Context) {
    context.set_theme(egui::Theme::Light);
    context.all_styles_mut(|style| {
        style.visuals.override_text_color = Some(INK);
        style.spacing.slider_width = 110.0;
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        style.interaction.selectable_labels = false;
        // Without a visible bar, a phone's panel looks as if it were cut off.
        style.spacing.scroll = egui::style::ScrollStyle::solid();
    });
}
