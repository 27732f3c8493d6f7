//! A list of the keys, over everything except the panel.

use kiss3d::egui::{Align2, Area, Context, Frame, Grid, Id, Margin, Order, Rect, RichText, Stroke};

use super::{GREY, GROUND, INK};
use crate::controls::HELP;

pub fn draw(context: &Context, area: Rect) {
    let card = Frame::new()
        .fill(GROUND)
        .stroke(Stroke::new(1.0, GREY))
        .corner_radius(8)
        .inner_margin(Margin::same(16));
    Area::new(Id::new("keys"))
        .order(Order::Foreground)
        .interactable(false)
        .pivot(Align2::CENTER_CENTER)
        .fixed_pos(area.center())
        .show(context, |ui| {
            card.show(ui, |ui| {
                Grid::new("list")
                    .num_columns(2)
                    .spacing([24.0, 4.0])
                    .show(ui, |ui| {
                        for (key, what) in HELP {
                            ui.label(RichText::new(key).strong().color(INK));
                            ui.label(RichText::new(what).color(GREY));
                            ui.end_row();
                        }
                    });
            });
        });
}
