//! The overlay of a half: its strategy, its last frame, and the steps of earlier frames.

use std::sync::Arc;

use kiss3d::egui::{Color32, CornerRadius, FontId, Galley, Painter, Pos2, Rect, Vec2, vec2};

use super::{GREY, GROUND, HALVES, INK};
use crate::app::App;
use crate::bones::DebugLines;
use crate::half::Half;
use crate::trace::FRAMES;

/// The height of a frame with one step. More steps are higher, and none is a dot.
const STEP: f32 = 7.0;
const BARS: f32 = 24.0;
const DROPPED: Color32 = Color32::from_rgb(200, 30, 60);
/// A smaller half has no room for more than a small label: the rest would cover bodies.
const ROOMY: Vec2 = vec2(350.0, 400.0);

pub fn draw(painter: &Painter, half: Rect, app: &App, side: usize) {
    let width = (half.width() - 16.0).min(400.0);
    let line = |text: String, size: f32, color| {
        painter.layout(text, FontId::proportional(size), color, width - 24.0)
    };
    let choice = app.settings.halves[side];
    let is_roomy = half.width() > ROOMY.x && half.height() > ROOMY.y;
    let size = if is_roomy { 20.0 } else { 13.0 };
    let mut lines = vec![line(choice.strategy.label(), size, HALVES[side])];
    if is_roomy {
        lines.push(line(choice.strategy.description(choice.rate), 13.0, INK));
    }
    let is_live = app.screening.is_none();
    let has_more = app.settings.has_overlay && is_live && is_roomy;
    if has_more {
        let details = details(app, side).into_iter();
        lines.extend(details.map(|text| line(text, 12.0, GREY)));
    }
    if is_live && app.settings.lines != DebugLines::Off {
        let text = format!("debug lines at {} poses", app.settings.lines.name());
        lines.push(line(text, 12.0, INK));
    }
    let text: f32 = lines.iter().map(|line| line.size().y + 1.0).sum();
    let height = text + if has_more { BARS + 18.0 } else { 12.0 };
    let card = Rect::from_min_size(half.min + vec2(8.0, 8.0), vec2(width, height));
    draw_card(painter, card, lines, HALVES[side]);
    if has_more {
        let bars = card.max - vec2(width - 15.0, BARS + 8.0);
        draw_steps(
            painter,
            Rect::from_min_max(bars, card.max - vec2(10.0, 8.0)),
            app,
            side,
        );
    }
}

fn draw_card(painter: &Painter, card: Rect, lines: Vec<Arc<Galley>>, color: Color32) {
    let radius = CornerRadius::same(8);
    painter.rect_filled(card, radius, GROUND.gamma_multiply(0.90));
    let stripe = Rect::from_min_size(card.min, vec2(5.0, card.height()));
    painter.rect_filled(stripe, radius, color);
    let mut at = card.min + vec2(15.0, 6.0);
    for line in lines {
        let height = line.size().y + 1.0;
        painter.galley(at, line, INK);
        at.y += height;
    }
}

/// Returns lines about the last frame, and about the time that steps take if it is measured.
fn details(app: &App, side: usize) -> Vec<String> {
    let half = app.half(side);
    let report = half.report();
    let ms = app.trace().frame_time.as_secs_f32() * 1_000.0;
    let state = if report.is_starved {
        "the next state has not come yet".into()
    } else {
        let (dropped, awake) = (report.dropped.as_secs_f32(), report.frame.awake);
        let bodies = if awake == 1 { "body" } else { "bodies" };
        format!("{dropped:.2} s dropped so far, {awake} {bodies} awake")
    };
    let frame = format!("frame of {ms:.1} ms: {}", frame_text(half));
    [Some(frame), load_text(app, side), Some(state)]
        .into_iter()
        .flatten()
        .collect()
}

fn frame_text(half: &Half) -> String {
    let frame = half.report().frame;
    let steps = match frame.steps {
        0 => "no step".into(),
        1 => "1 step".into(),
        steps => format!("{steps} steps"),
    };
    // With other strategies there is no way to the next step, and the fraction is 1.
    if frame.alpha < 1.0 {
        let percent = (frame.alpha * 100.0).floor();
        format!("{steps}, {percent} % of the way to the next one")
    } else {
        format!("{steps}, the last one of {:.1} ms", frame.dt * 1_000.0)
    }
}

fn load_text(app: &App, side: usize) -> Option<String> {
    let choice = app.settings.halves[side];
    let step_cost = app.half(side).step_cost();
    let step = step_cost.step()?.as_secs_f64() * 1_000.0;
    let load = step_cost.load(crate::app::rate(choice.rate));
    let load = match load.filter(|_| choice.strategy.has_even_steps()) {
        Some(load) => format!(", {:.2} % of its length", load * 100.0),
        None => String::new(),
    };
    Some(format!("a step takes {step:.2} ms{load}"))
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
