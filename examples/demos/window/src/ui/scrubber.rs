//! The scrubber of a replay: its frames, and where the runs diverge.

use kiss3d::egui::{
    Align2, Color32, Context, FontId, Id, LayerId, Painter, Pos2, Rect, Sense, Stroke, Ui,
    UiBuilder, vec2,
};

use super::{GREY, GROUND, HALVES, INK};
use crate::app::App;
use crate::screening::Screening;

const APART: Color32 = Color32::from_rgb(196, 150, 30);
const DIFFERS: Color32 = Color32::from_rgb(200, 30, 60);

pub fn draw(context: &Context, area: Rect, app: &mut App) {
    let back = context.layer_painter(LayerId::background());
    back.rect_filled(area, 0.0, GROUND);
    let App {
        screening, message, ..
    } = app;
    let Some(screening) = screening else {
        return;
    };
    let inside = UiBuilder::new().max_rect(area.shrink2(vec2(14.0, 8.0)));
    let ui = &mut Ui::new(context.clone(), Id::new("scrubber"), inside);
    if let Err(error) = draw_buttons(ui, screening) {
        *message = Some(error.to_string());
    }
    draw_bar(ui, screening);
    draw_verdicts(ui, screening);
}

fn draw_buttons(ui: &mut Ui, screening: &mut Screening) -> Result<(), Box<dyn std::error::Error>> {
    let row = ui.horizontal(|ui| {
        if ui
            .button(if screening.is_playing { "stop" } else { "play" })
            .clicked()
        {
            screening.pause();
        }
        if ui.button("◀").clicked() {
            screening.go_to(screening.frame.saturating_sub(1));
        }
        if ui.button("▶").clicked() {
            screening.go_to(screening.frame + 1);
        }
        let result = if ui.button("nudge a body here and replay").clicked() {
            screening.nudge()
        } else {
            Ok(())
        };
        ui.label(screening.place());
        result
    });
    row.inner
}

/// Draws a row for the frames in which the halves differ, and one per half for differences from the recording. The
/// handle is the position of the replay.
fn draw_bar(ui: &mut Ui, screening: &mut Screening) {
    let size = vec2(ui.available_width(), 46.0);
    let (response, painter) = ui.allocate_painter(size, Sense::click_and_drag());
    let bar = response.rect;
    painter.rect_filled(bar, 3.0, Color32::from_gray(226));
    draw_marks(&painter, bar, screening);
    let frames = screening.frames().max(2);
    if let Some(pointer) = response.interact_pointer_pos() {
        let part = ((pointer.x - bar.min.x) / bar.width()).clamp(0.0, 1.0);
        screening.go_to((part * (frames - 1) as f32).round() as usize);
    }
    let x = bar.min.x + screening.frame as f32 / (frames - 1) as f32 * bar.width();
    painter.vline(x, bar.y_range(), Stroke::new(2.5, INK));
}

fn draw_marks(painter: &Painter, bar: Rect, screening: &Screening) {
    let frames = screening.frames();
    let width = bar.width() / frames.max(1) as f32;
    let mark = |frame: usize, row: f32, color| {
        let from = Pos2::new(
            bar.min.x + frame as f32 * width,
            bar.min.y + 4.0 + row * 13.0,
        );
        painter.rect_filled(
            Rect::from_min_size(from, vec2(width.max(1.0), 11.0)),
            0.0,
            color,
        );
    };
    for frame in 0..frames {
        if screening.is_apart(frame) {
            mark(frame, 0.0, APART);
        }
        for (side, row) in [1.0, 2.0].into_iter().enumerate() {
            if screening.differs(side, frame) {
                mark(frame, row, DIFFERS);
            }
        }
    }
}

fn draw_verdicts(ui: &mut Ui, screening: &Screening) {
    let frames = 0..screening.frames();
    let apart = match frames.clone().find(|frame| screening.is_apart(*frame)) {
        Some(frame) => format!("the halves differ from frame {} on", frame + 1),
        None if (0..2).all(|side| screening.film(side).is_some()) => {
            "both halves have the same bits after each step of both".into()
        }
        None => "a half on a thread is not recorded".into(),
    };
    line(ui, apart, APART);
    for side in 0..2 {
        let Some(film) = screening.film(side) else {
            continue;
        };
        let text = match film.differences.first() {
            None => "the replay has the recorded bits".into(),
            Some(first) => format!(
                "the replay differs from tick {} on, in {} bodies",
                first.tick,
                first.bodies.len()
            ),
        };
        line(
            ui,
            format!("{}: {text}", ["left", "right"][side]),
            HALVES[side],
        );
    }
}

fn line(ui: &mut Ui, text: String, color: Color32) {
    let (response, painter) = ui.allocate_painter(vec2(ui.available_width(), 14.0), Sense::hover());
    let at = response.rect.left_center();
    painter.circle_filled(at + vec2(4.0, 0.0), 3.5, color);
    painter.text(
        at + vec2(14.0, 0.0),
        Align2::LEFT_CENTER,
        text,
        FontId::proportional(12.0),
        GREY,
    );
}
