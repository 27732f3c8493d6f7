//! The plot of one body's displayed positions over the last few seconds, which are uneven or even.

use kiss3d::egui::{Align2, FontId, Painter, Pos2, Rect, Shape, Stroke, vec2};

use super::{GREY, GROUND, HALVES, INK};
use crate::app::App;
use crate::trace::SPAN;

pub fn draw(painter: &Painter, area: Rect, app: &App) {
    painter.rect_filled(area, 0.0, GROUND);
    let inner = Rect::from_min_max(area.min + vec2(52.0, 26.0), area.max - vec2(14.0, 12.0));
    draw_axes(painter, inner, app);
    let trace = app.trace();
    let (low, high) = trace.range();
    for (side, color) in HALVES.into_iter().enumerate() {
        let points = trace.of(side).iter().map(|sample| {
            let x = 1.0 - ((trace.now - sample.time) / SPAN) as f32;
            let y = (high - sample.place) / (high - low);
            inner.min + vec2(x * inner.width(), y * inner.height())
        });
        let points: Vec<Pos2> = points.collect();
        let dots = points
            .iter()
            .map(|point| Shape::circle_filled(*point, 1.8, color));
        painter.extend(dots.collect::<Vec<_>>());
        painter.line(points, Stroke::new(1.2, color));
    }
}

fn draw_axes(painter: &Painter, inner: Rect, app: &App) {
    let cast = &app.half(0).report().game.cast;
    let axis = ["x", "y", "z"][cast.axis];
    let is_red = app.followed() == cast.followed;
    let which = if is_red {
        "red body"
    } else {
        "body last picked"
    };
    let title = format!("{axis} of the {which} in each frame, in metres, over {SPAN} s");
    let text = |at, align, text: String, color| {
        painter.text(at, align, text, FontId::proportional(12.0), color)
    };
    let title = text(inner.min - vec2(40.0, 20.0), Align2::LEFT_TOP, title, INK);
    let mut right = inner.max.x;
    for side in [1, 0] {
        let label = app.settings.halves[side].strategy.name().into();
        let at = Pos2::new(right, title.min.y);
        // A narrow plot has no room for it.
        if right - title.max.x > 130.0 {
            right = text(at, Align2::RIGHT_TOP, label, HALVES[side]).min.x - 20.0;
        }
    }
    let (low, high) = app.trace().range();
    for part in 0..=4u8 {
        let part = f32::from(part) / 4.0;
        let y = inner.min.y + part * inner.height();
        painter.hline(
            inner.x_range(),
            y,
            Stroke::new(0.5, GREY.gamma_multiply(0.4)),
        );
        let place = high + part * (low - high);
        let at = Pos2::new(inner.min.x - 6.0, y);
        text(at, Align2::RIGHT_CENTER, format!("{place:.2}"), GREY);
    }
}
