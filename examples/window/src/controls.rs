//! What can be set and done: by keys, by the panel and by scripts alike.

use kiss3d::event::Key;

use crate::pacing::PacingSettings;
use crate::scenes::Scene;
use crate::strategy::Strategy;

/// How a half is stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// By which strategy.
    pub strategy: Strategy,
    /// Steps a second.
    pub rate: u32,
}

/// All that is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// What is in both worlds.
    pub scene: Scene,
    /// Left and right.
    pub halves: [Choice; 2],
    /// The times of frames.
    pub pacing: PacingSettings,
    /// Simulated time for real time.
    pub speed: f64,
    /// Whether no steps are made.
    pub is_paused: bool,
    /// Whether Rapier's debug lines are drawn.
    pub has_lines: bool,
    /// Whether each half says what its frames do.
    pub has_overlay: bool,
    /// Whether the panel is there.
    pub has_panel: bool,
    /// Whether the keys are listed.
    pub has_keys: bool,
}

impl Default for Settings {
    /// What shows the difference at once: few steps, shown as they are and interpolated.
    fn default() -> Self {
        let choice = |strategy| Choice { strategy, rate: 30 };
        Self {
            scene: Scene::Pile,
            halves: [choice(Strategy::Latest), choice(Strategy::Interpolated)],
            pacing: PacingSettings::default(),
            speed: 1.0,
            is_paused: false,
            has_lines: false,
            has_overlay: true,
            has_panel: true,
            has_keys: false,
        }
    }
}

/// Steps a second, to choose from.
pub const RATES: [u32; 7] = [10, 20, 30, 60, 120, 240, 480];
/// Frames a second, to choose from; `None` for the display's.
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
/// Simulated time for real time in slow motion.
pub const SLOW: f64 = 0.1;

/// Something to be done once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    /// Another strategy for a half.
    Strategy(usize, Strategy),
    /// The next scene.
    NextScene,
    /// The same scene from its beginning.
    Restart,
    /// Pause, or go on.
    Pause,
    /// One step, in a pause.
    StepOnce,
    /// One step back, into a pause.
    StepBack,
    /// Slow motion, or no more.
    Slow,
    /// The next of the [`RATES`] for both halves, or the one before.
    Rate(bool),
    /// The next of the [`FRAME_RATES`].
    NextFrameRate,
    /// Frames of uneven length, or no more.
    Jitter,
    /// One long frame.
    Hitch,
    /// A crate more.
    Spawn,
    /// A fast ball.
    Fire,
    /// The body that is plotted goes elsewhere.
    Teleport,
    /// The same through a portal.
    Portal,
    /// The origin of both worlds is moved.
    ShiftOrigin,
    /// Debug lines, or no more.
    Lines,
    /// The overlay, or no more.
    Overlay,
    /// The panel, or no more.
    Panel,
    /// A list of the keys, or no more.
    Keys,
    /// Begin to record, or end and replay.
    Record,
    /// Back from the replay.
    Live,
}

impl Command {
    /// What a key does when it is pressed. With shift the digits are for the right half.
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

/// What the keys are, to be read: the key and what it does.
pub const HELP: [(&str, &str); 17] = [
    ("1 … 9", "strategy of the left half"),
    ("shift 1 … 9", "strategy of the right half"),
    ("[  ]", "fewer, more steps a second"),
    ("F", "frames a second"),
    ("J  H", "jitter, a hitch"),
    ("S", "slow motion"),
    ("space", "pause, also in a replay"),
    (".  ,", "a step on, back; in a replay a frame"),
    ("C  backspace", "next scene, restart"),
    ("N  B", "a crate, a bullet"),
    ("T  P", "teleport, portal"),
    ("O", "shift the origin"),
    ("L  I", "debug lines, overlay"),
    ("M  K", "panel, this list"),
    ("R  V", "record and replay, back to live"),
    ("arrows", "drive the car"),
    ("mouse", "drag a body, turn, zoom"),
];
