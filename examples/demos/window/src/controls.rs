//! Settings and commands, shared by keys, the panel and scripts.

use kiss3d::event::Key;

use crate::bones::DebugLines;
use crate::pacing::PacingSettings;
use crate::scenes::Scene;
use crate::strategy::Strategy;

/// The stepping of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The strategy.
    pub strategy: Strategy,
    /// Steps per second.
    pub rate: u32,
}

/// All settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The scene in both worlds.
    pub scene: Scene,
    /// The left and the right half.
    pub halves: [Choice; 2],
    /// The times of frames.
    pub pacing: PacingSettings,
    /// The ratio of simulated time to real time.
    pub speed: f64,
    /// Whether the simulation is paused.
    pub is_paused: bool,
    /// Rapier's debug lines.
    pub lines: DebugLines,
    /// Whether each half displays an overlay about its frames.
    pub has_overlay: bool,
    /// Whether the panel is visible.
    pub has_panel: bool,
    /// Whether the list of keys is visible.
    pub has_keys: bool,
}

impl Default for Settings {
    /// Shows the difference at once: few steps, drawn at the latest state and interpolated.
    fn default() -> Self {
        let choice = |strategy| Choice { strategy, rate: 10 };
        Self {
            scene: Scene::Spinners,
            halves: [choice(Strategy::Latest), choice(Strategy::Interpolated)],
            pacing: PacingSettings::default(),
            speed: 1.0,
            is_paused: false,
            lines: DebugLines::Off,
            has_overlay: true,
            has_panel: true,
            has_keys: false,
        }
    }
}

/// The step rates to choose from, in Hz.
pub const RATES: [u32; 7] = [10, 20, 30, 60, 120, 240, 480];
/// The frame rates to choose from, in Hz; `None` is the display's.
pub const FRAME_RATES: [Option<u32>; 8] = [
    None,
    Some(10),
    Some(24),
    Some(30),
    Some(60),
    Some(75),
    Some(144),
    Some(240),
];
/// The ratio of simulated time to real time in slow motion.
pub const SLOW: f64 = 0.1;

/// A command, carried out once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Sets the strategy of a half.
    Strategy(usize, Strategy),
    /// Changes to the next scene.
    NextScene,
    /// Restarts the scene.
    Restart,
    /// Pauses or resumes.
    Pause,
    /// Runs one step during a pause.
    StepOnce,
    /// Pauses and goes back one step.
    StepBack,
    /// Toggles slow motion.
    Slow,
    /// Changes both halves to the next of the [`RATES`], or to the previous one.
    Rate(bool),
    /// Changes to the next of the [`FRAME_RATES`].
    NextFrameRate,
    /// Toggles frames of uneven length.
    Jitter,
    /// Causes one long frame.
    Hitch,
    /// Adds a crate.
    Spawn,
    /// Fires a fast ball.
    Fire,
    /// Teleports the plotted body.
    Teleport,
    /// Moves the plotted body through a portal.
    Portal,
    /// Shifts the origin of both worlds.
    ShiftOrigin,
    /// Changes to the next of the [`DebugLines`].
    Lines,
    /// Toggles the overlay.
    Overlay,
    /// Toggles the panel.
    Panel,
    /// Toggles the list of keys.
    Keys,
    /// Begins a recording, or ends and replays it.
    Record,
    /// Ends the replay.
    Live,
}

impl Command {
    /// Returns the command of a pressed key. With shift, digits are for the right half.
    #[must_use]
    pub fn of_key(key: Key, shift: bool) -> Option<Self> {
        if let Some(number) = digit(key) {
            return Some(Self::Strategy(usize::from(shift), Strategy::ALL[number]));
        }
        Some(match key {
            Key::Space => Self::Pause,
            Key::Period => Self::StepOnce,
            Key::Comma => Self::StepBack,
            Key::S => Self::Slow,
            Key::C => Self::NextScene,
            Key::Back => Self::Restart,
            Key::RBracket => Self::Rate(true),
            Key::LBracket => Self::Rate(false),
            Key::F => Self::NextFrameRate,
            Key::J => Self::Jitter,
            Key::H => Self::Hitch,
            Key::N => Self::Spawn,
            Key::B => Self::Fire,
            Key::T => Self::Teleport,
            Key::P => Self::Portal,
            Key::O => Self::ShiftOrigin,
            Key::L => Self::Lines,
            Key::I => Self::Overlay,
            Key::M => Self::Panel,
            Key::K => Self::Keys,
            Key::R => Self::Record,
            Key::V => Self::Live,
            _ => return None,
        })
    }
}

fn digit(key: Key) -> Option<usize> {
    let digits = [
        Key::Key1,
        Key::Key2,
        Key::Key3,
        Key::Key4,
        Key::Key5,
        Key::Key6,
        Key::Key7,
        Key::Key8,
        Key::Key9,
    ];
    digits.iter().position(|digit| *digit == key)
}

/// The keys and their effects, as displayed text.
pub const HELP: [(&str, &str); 17] = [
    ("1 … 9", "strategy of the left half"),
    ("shift 1 … 9", "strategy of the right half"),
    ("[  ]", "fewer, more steps per second"),
    ("F", "frames per second"),
    ("J  H", "jitter, a hitch"),
    ("S", "slow motion"),
    ("space", "pause, in a replay too"),
    (".  ,", "a step forwards, back; a frame in a replay"),
    ("C  backspace", "next scene, restart"),
    ("N  B", "a crate, a bullet"),
    ("T  P", "teleport, portal"),
    ("O", "shift the origin"),
    ("L", "debug lines: displayed, true, off"),
    ("I  M  K", "overlay, panel, this list"),
    ("R  V", "record and replay, back to live"),
    ("arrows", "drive the car"),
    ("mouse", "drag a body, turn, zoom"),
];
