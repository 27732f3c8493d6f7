//! The playground without its window: both halves, the settings, and the mouse.

// The effects of keys and buttons.
mod commands;
// The effects of the mouse.
pub mod mouse;

use std::time::Duration;

use evenstep::rapier::math::Vector;
use evenstep::{BodyKey, Rate};
use kiss3d::glamx::Vec2;

use crate::bones::{DebugLines, Line};
use crate::controls::{Choice, Settings};
use crate::game::{Deed, Input};
use crate::half::{Half, Pace};
use crate::layout::Layout;
use crate::lens::Lens;
use crate::pacing::Pacing;
use crate::screening::Screening;
use crate::shown::{Looks, Shown};
use crate::trace::Trace;
use mouse::Mouse;

/// The seed of the jitter, so every run has the same frames.
const SEED: u64 = 0x5eed;

/// The playground without its window.
pub struct App {
    /// The settings. Changes take effect in the next frame.
    pub settings: Settings,
    /// The settings that the halves use.
    applied: Settings,
    halves: [Half; 2],
    pacing: Pacing,
    trace: Trace,
    /// The camera of both halves.
    pub lens: Lens,
    mouse: Mouse,
    /// The plotted body.
    followed: BodyKey,
    deeds: Vec<Deed>,
    /// The held arrow keys: forward, and to the left.
    pub drive: [f32; 2],
    /// Whether the next frames are recorded.
    pub(crate) is_recording: bool,
    /// The replay, displayed instead of the halves.
    pub screening: Option<Screening>,
    /// The last error.
    pub message: Option<String>,
    /// The size of the window, and the display's scale.
    window: (Vec2, f32),
    generation: u64,
}

impl App {
    /// Creates both halves at the beginning of the scene.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let halves = halves(&settings);
        let (eye, at) = settings.scene.view();
        Self {
            settings,
            applied: settings,
            followed: halves[0].report().game.cast.followed,
            halves,
            pacing: Pacing::new(settings.pacing, SEED),
            trace: Trace::default(),
            lens: Lens::new(eye, at),
            mouse: Mouse::default(),
            deeds: Vec::new(),
            drive: [0.0; 2],
            is_recording: false,
            screening: None,
            message: None,
            window: (Vec2::new(1280.0, 720.0), 1.0),
            generation: 0,
        }
    }

    /// Returns a line that describes the displayed worlds.
    #[must_use]
    pub fn title(&self) -> String {
        let [left, right] = self.settings.halves.map(|half| {
            let name = half.strategy.name();
            format!("{name} at {} Hz", half.rate)
        });
        let (scene, state) = (self.settings.scene.name(), self.state());
        format!("evenstep: {scene}, {left} | {right}{state}")
    }

    fn state(&self) -> String {
        if let Some(screening) = &self.screening {
            return format!(" (replay, {})", screening.place());
        }
        let state = match self.settings {
            _ if self.is_recording => " (recording)",
            Settings {
                is_paused: true, ..
            } => " (paused)",
            Settings { speed, .. } if speed < 1.0 => " (slow)",
            _ => "",
        };
        state.into()
    }

    /// Returns a half: 0 is the left one.
    #[must_use]
    pub fn half(&self, side: usize) -> &Half {
        &self.halves[side]
    }

    /// Returns the picture of a half: its world, or its film in a replay.
    #[must_use]
    pub fn picture(&self, side: usize) -> (&Looks, &Shown) {
        let half = &self.halves[side];
        match &self.screening {
            None => (&half.report().looks, half.shown()),
            Some(screening) => match screening.still(side) {
                Some((looks, still)) => (looks, &still.shown),
                None => (&half.report().looks, half.shown()),
            },
        }
    }

    /// Returns the debug lines of a half. There are none if they are off or not available yet.
    #[must_use]
    pub fn lines(&self, side: usize) -> Vec<Line> {
        let half = &self.halves[side];
        let bones = half.report().bones.as_ref();
        let bones = bones.filter(|_| self.screening.is_none());
        bones.map_or_else(Vec::new, |bones| match self.settings.lines {
            DebugLines::Off => Vec::new(),
            DebugLines::Displayed => bones.clone().displayed(half.shown()).lines(),
            DebugLines::True => bones.lines(),
        })
    }

    /// Returns another number for each displayed world, because the keys of one mean nothing in another.
    #[must_use]
    pub fn generation(&self) -> (u64, bool) {
        (self.generation, self.screening.is_some())
    }

    /// Returns the displayed frames.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the plotted body.
    #[must_use]
    pub fn followed(&self) -> BodyKey {
        self.followed
    }

    /// Plots another body.
    fn follow(&mut self, key: BodyKey) {
        self.followed = key;
        self.trace.clear();
    }

    /// Returns the displayed position of a body in the scene, or `None` if it was removed.
    #[must_use]
    pub fn place(&self, side: usize, key: BodyKey) -> Option<Vector> {
        let shown = self.halves[side].shown();
        Some(shown.poses.get(&key)?.translation + shown.origin)
    }

    /// Sets the size of the window in pixels, and the display's scale for text.
    pub fn set_window(&mut self, size: Vec2, scale: f32) {
        self.window = (size, scale);
        self.fit_lens();
    }

    fn fit_lens(&mut self) {
        let half = self.layout().halves[0].size;
        self.lens.set_size(half.x, half.y);
    }

    /// Returns the layout of the window.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let (size, scale) = self.window;
        Layout::new(size, scale, self.settings.has_panel)
    }

    /// Runs the frames that fit into the real time that has passed, and measures their steps with a clock.
    pub fn update(&mut self, elapsed: Duration, clock: &impl Fn() -> Duration) {
        self.apply();
        for frame_time in self.pacing.frames(elapsed) {
            self.frame(frame_time, clock);
        }
        for half in &mut self.halves {
            half.record_load(elapsed);
        }
    }

    /// Runs one frame, whose length depends on the settings. Nothing is measured, so that it is the same in every run.
    pub fn make_frame(&mut self) {
        self.apply();
        let frame_time = self.pacing.frame();
        self.frame(frame_time, &|| Duration::ZERO);
    }

    fn frame(&mut self, frame_time: Duration, clock: &impl Fn() -> Duration) {
        if let Some(screening) = &mut self.screening {
            screening.advance();
            // Actions apply to the displayed world.
            self.deeds.clear();
            return;
        }
        self.trace.advance(frame_time);
        let input = Input {
            deeds: std::mem::take(&mut self.deeds),
            pull: self.mouse.pull(),
            drive: self.drive,
        };
        for half in &mut self.halves {
            half.set_input(input.clone());
            half.advance(frame_time, clock);
            half.show();
        }
        let is_followed = |half: &Half| half.shown().poses.contains_key(&self.followed);
        if !self.halves.iter().all(is_followed) {
            // The body was removed, but the red one never is.
            self.follow(self.halves[0].report().game.cast.followed);
        }
        self.write_trace();
    }

    fn write_trace(&mut self) {
        for (side, half) in self.halves.iter().enumerate() {
            let Some(place) = self.place(side, self.followed) else {
                continue;
            };
            let report = half.report();
            let frame = report.frame;
            let has_dropped = frame.dropped != Default::default();
            let place = place[report.game.cast.axis];
            self.trace.add(side, place, frame.steps, has_dropped);
        }
    }

    /// Applies the settings that changed since the last frame.
    fn apply(&mut self) {
        let (new, old) = (self.settings, self.applied);
        self.applied = new;
        self.pacing.settings = new.pacing;
        if (new.scene, new.halves) != (old.scene, old.halves) {
            // A replay belongs to the settings of its recording.
            self.screening = None;
        }
        if new.scene != old.scene {
            self.restart();
            return;
        }
        for (side, half) in self.halves.iter_mut().enumerate() {
            let (choice, last) = (new.halves[side], old.halves[side]);
            if choice.strategy != last.strategy {
                half.set_strategy(choice.strategy);
            }
            half.set_wants_bones(new.lines != DebugLines::Off);
            half.set_pace(pace(&new, side));
        }
    }

    /// Restarts the scene.
    fn restart(&mut self) {
        let (eye, at) = self.settings.scene.view();
        self.lens = Lens::new(eye, at);
        self.fit_lens();
        self.generation += 1;
        self.halves = halves(&self.settings);
        self.followed = self.halves[0].report().game.cast.followed;
        self.mouse = Mouse::default();
        self.deeds.clear();
        self.trace.clear();
        self.is_recording = false;
        self.screening = None;
        for (side, half) in self.halves.iter_mut().enumerate() {
            half.set_wants_bones(self.settings.lines != DebugLines::Off);
            half.set_pace(pace(&self.settings, side));
        }
    }
}

fn halves(settings: &Settings) -> [Half; 2] {
    let make = |choice: Choice| Half::new(settings.scene, choice.strategy, rate(choice.rate));
    settings.halves.map(make)
}

fn pace(settings: &Settings, side: usize) -> Pace {
    Pace {
        rate: rate(settings.halves[side].rate),
        speed: settings.speed,
        is_paused: settings.is_paused,
    }
}

/// Returns the rate of this many steps per second.
pub(crate) fn rate(hz: u32) -> Rate {
    Rate::hz(hz.max(1))
}
