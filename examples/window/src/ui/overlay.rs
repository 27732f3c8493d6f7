//! The overlay of a half: its strategy, its last frame, and the steps of earlier frames.

use kiss3d::egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, vec2};

use super::{GREY, GROUND, HALVES, INK};
use crate::app::App;
use crate::trace::FRAMES;

/// The height of a frame with one step. More steps are higher, and none is a dot.
const STEP: f32 = 7.0;
const DROPPED: Color32 = Color32::from_rgb(200, 30, 60);

pub fn draw(painter: &Painter, half: Rect, app: &App, side: usize) {
    let has_more = app.settings.has_overlay && app.screening.is_none();
    let height = if has_more { 104.0 } else { 34.0 };
    let width = (half.width() - 24.0).min(286.0);
    let card = Rect::from_min_size(half.min + vec2(12.0, 12.0), vec2(width, height));
    let painter = &painter.with_clip_rect(card);
    let radius = CornerRadius::same(8);
    painter.rect_filled(card, radius, GROUND.gamma_multiply(0.90));
    let stripe = Rect::from_min_size(card.min, vec2(5.0, height));
    painter.rect_filled(stripe, radius, HALVES[side]);
    let text = |line: f32, text: String, size: f32, color| {
        let at = card.min + vec2(15.0, line);
        painter.text(
            at,
            Align2::LEFT_TOP,
            text,
            FontId::proportional(size),
            color,
        );
    };
    text(8.0, title(app, side), 15.0, INK);
    if !has_more {
        return;
    }
    let report = app.half(side).report();
    let frame = report.frame;
    text(30.0, frame_text(app, side), 12.0, INK);
    let dropped = if report.is_starved {
        "the next state has not come yet".into()
    } else {
        format!(
            "dropped {:.2} s in all, {} awake",
            report.dropped.as_secs_f32(),
            frame.awake
        )
    };
    text(46.0, dropped, 12.0, GREY);
    let bars = Rect::from_min_max(card.min + vec2(15.0, 64.0), card.max - vec2(10.0, 8.0));
    draw_steps(painter, bars, app, side);
}

fn title(app: &App, side: usize) -> String {
    let choice = app.settings.halves[side];
    format!("{}, {} Hz", choice.strategy.name(), choice.rate)
}

fn frame_text(app: &App, side: usize) -> String {
    let frame = app.half(side).report().frame;
    let ms = app.trace().frame_time.as_secs_f32() * 1_000.0;
    let (steps, dt) = (frame.steps, frame.dt * 1_000.0);
    format!(
        "frame {ms:.1} ms: {steps} × {dt:.1} ms, α {:.2}, tick {}",
        frame.alpha, frame.tick
    )
}

/// Draws a bar for each of the last frames, whose height is the number of steps.
fn draw_steps(painter: &Painter, area: Rect, app: &App, side: usize) {
    let width = (area.width() / FRAMES as f32).max(2.0);
    let samples = app.trace().of(side).iter().rev().take(FRAMES);
    for (age, sample) in samples.enumerate() {
        let right = area.max.x - age as f32 * width;
        let height = (sample.steps as f32 * STEP).clamp(1.5, area.height());
        let bar = Rect::from_min_max(
            Pos2::new(right - width + 1.0, area.max.y - height),
            Pos2::new(right, area.max.y),
        );
        let color = if sample.has_dropped {
            DROPPED
        } else if sample.steps == 0 {
            GREY
        } else {
            HALVES[side]
        };
        painter.rect_filled(bar, CornerRadius::ZERO, color);
    }
}
