//! The playground without its window: both halves, what is set, and what the mouse holds.

// What keys and buttons do to them.
mod commands;
// What the mouse does.
pub mod mouse;

use std::time::Duration;

use evenstep::rapier::math::Vector;
use evenstep::{BodyKey, Rate};
use kiss3d::glamx::Vec2;

use crate::bones::Line;
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

/// The seed of the jitter: the same frames in every run.
const SEED: u64 = 0x5eed;

/// The playground without its window.
pub struct App {
    /// What is set. What is changed here holds from the next frame on.
    pub settings: Settings,
    /// What the halves have been told.
    applied: Settings,
    halves: [Half; 2],
    pacing: Pacing,
    trace: Trace,
    /// From where both halves are seen.
    pub lens: Lens,
    mouse: Mouse,
    /// The body that is plotted.
    followed: BodyKey,
    deeds: Vec<Deed>,
    /// The arrow keys that are held: forward, and to the left.
    pub drive: [f32; 2],
    /// Whether the next frames are recorded.
    pub(crate) is_recording: bool,
    /// What is replayed, instead of the halves.
    pub screening: Option<Screening>,
    /// What went wrong last.
    pub message: Option<String>,
    /// Its size, and the display's scale.
    window: (Vec2, f32),
    generation: u64,
}

impl App {
    /// Both halves at the beginning of the scene.
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

    /// What is shown, in a line.
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

    /// A half: 0 is the left one.
    #[must_use]
    pub fn half(&self, side: usize) -> &Half {
        &self.halves[side]
    }

    /// What a half shows: its world, or its film in a replay.
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

    /// The debug lines of a half, where its bodies are shown; none if they are not wanted, or not there yet.
    #[must_use]
    pub fn lines(&self, side: usize) -> Vec<Line> {
        let half = &self.halves[side];
        let bones = half.report().bones.clone();
        let bones = bones.filter(|_| self.settings.has_lines && self.screening.is_none());
        bones.map_or_else(Vec::new, |bones| bones.lines(half.shown()))
    }

    /// Another number for each world that is shown: the keys of one say nothing in another.
    #[must_use]
    pub fn generation(&self) -> (u64, bool) {
        (self.generation, self.screening.is_some())
    }

    /// The frames that were shown.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The body that is plotted.
    #[must_use]
    pub fn followed(&self) -> BodyKey {
        self.followed
    }

    /// Has another body plotted.
    fn follow(&mut self, key: BodyKey) {
        self.followed = key;
        self.trace.clear();
    }

    /// Where it is shown, in the scene; `None` if it is gone.
    #[must_use]
    pub fn place(&self, side: usize, key: BodyKey) -> Option<Vector> {
        let shown = self.halves[side].shown();
        Some(shown.poses.get(&key)?.translation + shown.origin)
    }

    /// Sets the size of the window, in pixels, and how many times as large the display has letters drawn.
    pub fn set_window(&mut self, size: Vec2, scale: f32) {
        self.window = (size, scale);
        self.fit_lens();
    }

    fn fit_lens(&mut self) {
        let half = self.layout().halves[0].size;
        self.lens.set_size(half.x, half.y);
    }

    /// Where everything is.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let (size, scale) = self.window;
        Layout::new(size, scale, self.settings.has_panel)
    }

    /// Makes the frames that fit into the real time that has passed.
    pub fn update(&mut self, elapsed: Duration) {
        self.apply();
        for frame_time in self.pacing.frames(elapsed) {
            self.frame(frame_time);
        }
    }

    /// Makes one frame, as long as the settings have it.
    pub fn make_frame(&mut self) {
        self.apply();
        let frame_time = self.pacing.frame();
        self.frame(frame_time);
    }

    fn frame(&mut self, frame_time: Duration) {
        if let Some(screening) = &mut self.screening {
            screening.advance();
            // What is done is done to what is shown.
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
            half.advance(frame_time);
            half.show();
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

    /// Tells the halves what has been set since the last frame.
    fn apply(&mut self) {
        let (new, old) = (self.settings, self.applied);
        self.applied = new;
        self.pacing.settings = new.pacing;
        if (new.scene, new.halves) != (old.scene, old.halves) {
            // A replay is of what was set then.
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
            half.set_wants_bones(new.has_lines);
            half.set_pace(pace(&new, side));
        }
    }

    /// The scene from its beginning.
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
            half.set_wants_bones(self.settings.has_lines);
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

fn rate(hz: u32) -> Rate {
    Rate::hz(hz.max(1)).expect("it is not zero")
}
