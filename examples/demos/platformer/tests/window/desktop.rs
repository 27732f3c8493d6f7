//! The game on a virtual display, with real keys and mouse events.

use std::ops::Deref;
use std::path::PathBuf;

use crate::picture::Picture;
use crate::table::Row;
use evenstep_display::Program;

/// The game on a virtual display.
pub struct Desktop {
    program: Program,
    log: PathBuf,
}

impl Desktop {
    /// Starts the display and the game, and waits for the first frames.
    pub fn open(name: &str) -> Self {
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
        let _ = std::fs::remove_file(&log);
        // The window is small, because the machine may have no graphics card.
        let arguments = ["--size", "640x360", "--log", log.to_str().unwrap()];
        let game = env!("CARGO_BIN_EXE_platformer");
        let program = Program::open("640x360", game, &arguments, "evenstep: a platformer");
        let desktop = Self { program, log };
        desktop.wait_for("the first frames", || desktop.rows().get(3).copied());
        desktop
    }

    /// Waits until the last frame fulfils a condition, and returns it.
    pub fn wait_until(&self, what: &str, is: impl Fn(&Row) -> bool) -> Row {
        self.wait_for(what, || self.rows().last().copied().filter(&is))
    }

    /// Waits for this many more frames, and returns them.
    pub fn frames(&self, count: usize) -> Vec<Row> {
        // The present last frame may be older than the last action.
        let before = self.rows().len() + 1;
        self.wait_for("a frame", || {
            let rows = self.rows();
            (rows.len() >= before + count).then(|| rows[before..].to_vec())
        })
    }

    /// Returns the frames that were displayed so far.
    pub fn rows(&self) -> Vec<Row> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be incomplete.
        let lines = text.split_inclusive('\n').skip(1);
        lines
            .filter(|line| line.ends_with('\n'))
            .map(Row::read)
            .collect()
    }

    /// Moves the mouse by this many pixels.
    pub fn mouse_by(&self, right: i32, down: i32) {
        let by = [right, down].map(|part| part.to_string());
        self.xdotool(&["mousemove_relative", "--", &by[0], &by[1]])
            .unwrap();
    }

    /// Clicks the left button.
    pub fn click(&self) {
        self.xdotool(&["click", "1"]).unwrap();
    }

    /// Returns the position of the cursor.
    pub fn cursor(&self) -> [i32; 2] {
        let text = self.xdotool(&["getmouselocation", "--shell"]).unwrap();
        ["X=", "Y="].map(|name| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|number| number.parse().ok()).unwrap()
        })
    }

    /// Returns a screenshot of the display.
    pub fn picture(&self) -> Picture {
        Picture::read(&self.program.picture("root", "ppm")).unwrap()
    }
}

impl Deref for Desktop {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}
