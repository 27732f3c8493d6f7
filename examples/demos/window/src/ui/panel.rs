//! The settings and the buttons.

use std::time::Duration;

use kiss3d::egui::{
    ComboBox, Context, Id, LayerId, Rect, RichText, ScrollArea, Slider, Ui, UiBuilder,
};

use super::{GREY, GROUND, HALVES};
use crate::app::App;
use crate::bones::DebugLines;
use crate::controls::{Choice, Command, FRAME_RATES, RATES, Settings};
use crate::scenes::Scene;
use crate::strategy::Strategy;

pub fn draw(context: &Context, area: Rect, app: &mut App) {
    let back = context.layer_painter(LayerId::background());
    back.rect_filled(area, 0.0, GROUND);
    let inside = UiBuilder::new().max_rect(area.shrink(12.0));
    let mut ui = Ui::new(context.clone(), Id::new("panel"), inside);
    let all = ScrollArea::vertical().auto_shrink(false);
    all.show(&mut ui, |ui| draw_all(ui, app));
}

fn draw_all(ui: &mut Ui, app: &mut App) {
    ui.heading("evenstep");
    ui.label(RichText::new("one scene, two strategies").color(GREY));
    ui.label(RichText::new("Drag a body, or the view. K: all keys").color(GREY));
    title(ui, "Scene");
    draw_scenes(ui, &mut app.settings);
    for (side, name) in ["Left", "Right"].into_iter().enumerate() {
        ui.add_space(8.0);
        ui.label(RichText::new(name).strong().color(HALVES[side]));
        draw_choice(ui, name, &mut app.settings.halves[side]);
    }
    title(ui, "Frames");
    draw_pacing(ui, app);
    title(ui, "Time");
    draw_time(ui, app);
    title(ui, "Do");
    draw_deeds(ui, app);
}

fn title(ui: &mut Ui, text: &str) {
    ui.add_space(8.0);
    ui.label(RichText::new(text).strong());
}

fn draw_scenes(ui: &mut Ui, settings: &mut Settings) {
    ui.horizontal_wrapped(|ui| {
        for scene in Scene::ALL {
            ui.selectable_value(&mut settings.scene, scene, scene.name());
        }
    });
}

fn draw_choice(ui: &mut Ui, name: &str, choice: &mut Choice) {
    ui.horizontal(|ui| {
        let strategies = ComboBox::from_id_salt((name, "strategy")).width(142.0);
        let strategies = strategies.selected_text(choice.strategy.name());
        strategies.show_ui(ui, |ui| {
            for strategy in Strategy::ALL {
                ui.selectable_value(&mut choice.strategy, strategy, strategy.name());
            }
        });
        let rates = ComboBox::from_id_salt((name, "rate")).width(64.0);
        rates
            .selected_text(format!("{} Hz", choice.rate))
            .show_ui(ui, |ui| {
                for rate in RATES {
                    ui.selectable_value(&mut choice.rate, rate, format!("{rate} Hz"));
                }
            });
    });
}

fn draw_pacing(ui: &mut Ui, app: &mut App) {
    let pacing = &mut app.settings.pacing;
    let name = |rate: Option<u32>| match rate {
        Some(rate) => format!("{rate} per second"),
        None => "the display's".into(),
    };
    ui.horizontal(|ui| {
        ComboBox::from_id_salt("frames")
            .width(142.0)
            .selected_text(name(pacing.rate))
            .show_ui(ui, |ui| {
                for rate in FRAME_RATES {
                    ui.selectable_value(&mut pacing.rate, rate, name(rate));
                }
            });
    });
    let jitter = Slider::new(&mut pacing.jitter, 0.0..=0.9).fixed_decimals(2);
    ui.add(jitter.text("jitter"));
    let mut seconds = pacing.hitch_every.map_or(0.0, |every| every.as_secs_f64());
    let hitches = Slider::new(&mut seconds, 0.0..=5.0).fixed_decimals(1);
    if ui.add(hitches.text("s to a hitch")).changed() {
        pacing.hitch_every = (seconds > 0.0).then(|| Duration::from_secs_f64(seconds));
    }
    buttons(ui, app, &[("a hitch now", Command::Hitch)]);
}

fn draw_time(ui: &mut Ui, app: &mut App) {
    let speed = Slider::new(&mut app.settings.speed, 0.02..=2.0).logarithmic(true);
    ui.add(speed.fixed_decimals(2).text("speed"));
    let pause = if app.settings.is_paused {
        "go on"
    } else {
        "pause"
    };
    let commands = [
        (pause, Command::Pause),
        ("◀ step", Command::StepBack),
        ("step ▶", Command::StepOnce),
    ];
    buttons(ui, app, &commands);
}

fn draw_deeds(ui: &mut Ui, app: &mut App) {
    let record = if app.is_recording {
        "end and replay"
    } else {
        "record"
    };
    let rows: [&[(&str, Command)]; 3] = [
        &[
            ("crate", Command::Spawn),
            ("bullet", Command::Fire),
            ("restart", Command::Restart),
        ],
        &[
            ("teleport", Command::Teleport),
            ("portal", Command::Portal),
            ("origin", Command::ShiftOrigin),
        ],
        &[(record, Command::Record), ("live", Command::Live)],
    ];
    for row in rows {
        buttons(ui, app, row);
    }
    ui.horizontal(|ui| {
        ui.label("debug lines");
        for lines in DebugLines::ALL {
            ui.selectable_value(&mut app.settings.lines, lines, lines.name());
        }
    });
    ui.horizontal(|ui| {
        ui.checkbox(&mut app.settings.has_overlay, "overlay");
        ui.checkbox(&mut app.settings.has_keys, "keys");
    });
    let troubles = [0, 1].map(|side| app.half(side).trouble());
    for message in troubles
        .into_iter()
        .chain([app.message.as_deref()])
        .flatten()
    {
        ui.label(message);
    }
}

fn buttons(ui: &mut Ui, app: &mut App, commands: &[(&str, Command)]) {
    ui.horizontal(|ui| {
        for (name, command) in commands {
            if ui.button(*name).clicked() {
                app.command(*command);
            }
        }
    });
}
