//! Scripted input by frame, for pictures without a display and for tests.

use kiss3d::event::Key;
use kiss3d::glamx::Vec2;

use crate::app::App;
use crate::app::mouse::MouseEvent;
use crate::controls::Command;

/// The input by frame.
///
/// The script has one event per line, with the frame first: `0 key 3`, `0 key shift+7`, `10 press 320 240`, `12 move
/// 330 250`, `20 release`, `25 turn 300 200`, `30 scroll 2`. Empty lines and lines that begin with `#` are ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    lines: Vec<(u32, Act)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Command(Command),
    Mouse(MouseEvent),
}

/// A line that is not valid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the script means nothing: {text}")]
pub struct ScriptError {
    line: usize,
    text: String,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// [`ScriptError`] with the first line that is not valid.
    pub fn read(text: &str) -> Result<Self, ScriptError> {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let read = lines.map(|(number, line)| {
            read_line(line).ok_or_else(|| ScriptError {
                line: number + 1,
                text: line.into(),
            })
        });
        Ok(Self {
            lines: read.collect::<Result<_, _>>()?,
        })
    }

    /// Carries out the events before this frame.
    pub fn play(&self, frame: u32, app: &mut App) {
        for (_, act) in self.lines.iter().filter(|(at, _)| *at == frame) {
            match act {
                Act::Command(command) => app.command(*command),
                Act::Mouse(event) => app.mouse(*event),
            }
        }
    }
}

fn read_line(line: &str) -> Option<(u32, Act)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (frame, words) = words.split_first()?;
    let number = |word: &str| word.parse::<f32>().ok();
    let place = |x: &str, y: &str| Some(Vec2::new(number(x)?, number(y)?));
    let act = match words {
        ["key", key] => Act::Command(command(key)?),
        ["press", x, y] => Act::Mouse(MouseEvent::Press(place(x, y)?)),
        ["turn", x, y] => Act::Mouse(MouseEvent::Turn(place(x, y)?)),
        ["move", x, y] => Act::Mouse(MouseEvent::Move(place(x, y)?)),
        ["scroll", by] => Act::Mouse(MouseEvent::Scroll(number(by)?)),
        ["release"] => Act::Mouse(MouseEvent::Release),
        _ => return None,
    };
    Some((frame.parse().ok()?, act))
}

/// Returns the command of a key, given by its name.
fn command(name: &str) -> Option<Command> {
    let (shift, name) = match name.strip_prefix("shift+") {
        Some(name) => (true, name),
        None => (false, name),
    };
    let key = KEYS.iter().find(|(known, _)| *known == name)?.1;
    Command::of_key(key, shift)
}

/// The keys that have a command, by their X names.
const KEYS: [(&str, Key); 31] = [
    ("1", Key::Key1),
    ("2", Key::Key2),
    ("3", Key::Key3),
    ("4", Key::Key4),
    ("5", Key::Key5),
    ("6", Key::Key6),
    ("7", Key::Key7),
    ("8", Key::Key8),
    ("9", Key::Key9),
    ("space", Key::Space),
    ("period", Key::Period),
    ("comma", Key::Comma),
    ("s", Key::S),
    ("c", Key::C),
    ("BackSpace", Key::Back),
    ("bracketright", Key::RBracket),
    ("bracketleft", Key::LBracket),
    ("f", Key::F),
    ("j", Key::J),
    ("h", Key::H),
    ("n", Key::N),
    ("b", Key::B),
    ("t", Key::T),
    ("p", Key::P),
    ("o", Key::O),
    ("l", Key::L),
    ("i", Key::I),
    ("m", Key::M),
    ("k", Key::K),
    ("r", Key::R),
    ("v", Key::V),
];
