//! The game on a virtual display, with real keys and mouse events.

use std::ops::Deref;
use std::path::PathBuf;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::display::Display;
use crate::picture::Picture;
use crate::table::Row;

/// The number of attempts before something counts as missing. They take ten minutes, because the machine may be busy.
const TRIES: u32 = 15_000;
const PAUSE: Duration = Duration::from_millis(40);

/// A virtual display, and the game in it.
pub struct Desktop {
    game: Child,
    display: Display,
    log: PathBuf,
}

impl Desktop {
    /// Starts the display and the game, and waits for the first frames.
    pub fn open(name: &str) -> Self {
        let display = Display::open("640x360");
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
        let _ = std::fs::remove_file(&log);
        let game = display
            .command(env!("CARGO_BIN_EXE_platformer"))
            // The window is small, because the machine may have no graphics card.
            .args(["--size", "640x360", "--log"])
            .arg(&log)
            .spawn()
            .unwrap();
        let mut desktop = Self { game, display, log };
        desktop.wait_for("a window", |desktop| {
            desktop.focus("evenstep: a platformer")
        });
        desktop.wait_for("the first frames", |desktop| desktop.rows().get(3).copied());
        desktop
    }

    /// Polls until there is a result.
    #[expect(
        clippy::disallowed_methods,
        reason = "another process draws, and is polled"
    )]
    pub fn wait_for<T>(&mut self, what: &str, ask: impl Fn(&Self) -> Option<T>) -> T {
        for _ in 0..TRIES {
            if let Some(answer) = ask(self) {
                return answer;
            }
            let ended = self.game.try_wait().unwrap();
            assert!(ended.is_none(), "the game ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not happen: {:?}", self.rows().last());
    }

    /// Waits until the last frame fulfils a condition, and returns it.
    pub fn wait_until(&mut self, what: &str, is: impl Fn(&Row) -> bool) -> Row {
        self.wait_for(what, |desktop| desktop.rows().last().copied().filter(&is))
    }

    /// Waits for this many more frames, and returns them.
    pub fn frames(&mut self, count: usize) -> Vec<Row> {
        // The present last frame may be older than the last action.
        let before = self.rows().len() + 1;
        self.wait_for("a frame", |desktop| {
            let rows = desktop.rows();
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

    /// Waits until the game exits, and returns whether it succeeded.
    pub fn wait_for_end(&mut self) -> bool {
        self.game.wait().unwrap().success()
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
        Picture::read(&self.display.picture("root", "ppm")).unwrap()
    }
}

impl Deref for Desktop {
    type Target = Display;

    fn deref(&self) -> &Display {
        &self.display
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // A process that has ended cannot be killed. The display ends after this one.
        let _ = self.game.kill();
        let _ = self.game.wait();
    }
}
