//! A virtual display with the game's window on it, and real keys and mouse events.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use crate::picture::Picture;
use crate::table::Row;

/// How often something is asked for before it counts as missing: for ten minutes, as a machine may have much else to do.
const TRIES: u32 = 15_000;
const PAUSE: Duration = Duration::from_millis(40);

/// A virtual display, and the game in it.
pub struct Desktop {
    server: Child,
    game: Child,
    display: String,
    log: PathBuf,
}

impl Desktop {
    /// Starts both, and waits for the first frames.
    pub fn open(name: &str) -> Self {
        let (server, display) = open_display();
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
        let _ = std::fs::remove_file(&log);
        let game = Command::new(env!("CARGO_BIN_EXE_platformer"))
            // Small, as a machine may have no graphics card.
            .args(["--size", "640x360", "--log"])
            .arg(&log)
            .env("DISPLAY", &display)
            .env_remove("WAYLAND_DISPLAY")
            .spawn()
            .expect("it can be run");
        let mut desktop = Self {
            server,
            game,
            display,
            log,
        };
        desktop.wait_for("a window", |desktop| desktop.focus());
        desktop.wait_for("the first frames", |desktop| desktop.rows().get(3).copied());
        desktop
    }

    /// There is no window manager that would do it.
    fn focus(&self) -> Option<()> {
        let windows = self.xdotool(&["search", "--name", "evenstep: a platformer"])?;
        let window = windows.lines().next()?;
        self.xdotool(&["windowmove", window, "0", "0"])?;
        self.xdotool(&["windowfocus", "--sync", window])?;
        Some(())
    }

    /// Asks until there is an answer.
    #[expect(
        clippy::disallowed_methods,
        reason = "another process draws, and is asked now and then"
    )]
    pub fn wait_for<T>(&mut self, what: &str, ask: impl Fn(&Self) -> Option<T>) -> T {
        for _ in 0..TRIES {
            if let Some(answer) = ask(self) {
                return answer;
            }
            let ended = self.game.try_wait().expect("it was started");
            assert!(ended.is_none(), "the game ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not come: {:?}", self.rows().last());
    }

    /// Waits until the last frame is so, and gives it.
    pub fn wait_until(&mut self, what: &str, is: impl Fn(&Row) -> bool) -> Row {
        self.wait_for(what, |desktop| desktop.rows().last().copied().filter(&is))
    }

    /// Waits for so many more frames, and gives them.
    pub fn frames(&mut self, count: usize) -> Vec<Row> {
        // The last one may be from before what was just done.
        let before = self.rows().len() + 1;
        self.wait_for("a frame", |desktop| {
            let rows = desktop.rows();
            (rows.len() >= before + count).then(|| rows[before..].to_vec())
        })
    }

    /// What was shown until now.
    pub fn rows(&self) -> Vec<Row> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be under way.
        let lines = text.split_inclusive('\n').skip(1);
        lines
            .filter(|line| line.ends_with('\n'))
            .map(Row::read)
            .collect()
    }

    /// Waits for the game's own end.
    pub fn wait_for_end(&mut self) -> bool {
        self.game.wait().expect("it was started").success()
    }

    /// Presses a key and lets it go, by the name that X gives it.
    pub fn key(&self, key: &str) {
        self.xdotool(&["key", key]).expect("a key");
    }

    /// Holds a key down.
    pub fn key_down(&self, key: &str) {
        self.xdotool(&["keydown", key]).expect("a key");
    }

    /// Lets it go.
    pub fn key_up(&self, key: &str) {
        self.xdotool(&["keyup", key]).expect("a key");
    }

    /// Moves the mouse by so many pixels.
    pub fn mouse_by(&self, right: i32, down: i32) {
        let by = [right, down].map(|part| part.to_string());
        self.xdotool(&["mousemove_relative", "--", &by[0], &by[1]])
            .expect("a mouse");
    }

    /// Presses the left button and lets it go.
    pub fn click(&self) {
        self.xdotool(&["click", "1"]).expect("a mouse");
    }

    /// Where the cursor is.
    pub fn cursor(&self) -> [i32; 2] {
        let text = self
            .xdotool(&["getmouselocation", "--shell"])
            .expect("a mouse");
        ["X=", "Y="].map(|name| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|number| number.parse().ok())
                .expect("a place")
        })
    }

    /// What is on the display.
    pub fn picture(&self) -> Picture {
        let output = Command::new("import")
            .args([
                "-display",
                &self.display,
                "-window",
                "root",
                "-depth",
                "8",
                "ppm:-",
            ])
            .output()
            .expect("ImageMagick is there: see the README for the packages");
        assert!(output.status.success());
        Picture::read(&output.stdout).expect("a picture")
    }

    fn xdotool(&self, arguments: &[&str]) -> Option<String> {
        xdotool(&self.display, arguments)
    }
}

/// A server that answers, and the name of its display. Two that start at once may take the same number, and one that has
/// been left by all would start over: so one by one, and without that.
fn open_display() -> (Child, String) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut server = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "640x360x24"])
        .args(["-nolisten", "tcp", "-noreset"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("Xvfb is there: see the README for the packages");
    let output = server.stdout.take().expect("it is piped");
    let mut number = String::new();
    BufReader::new(output)
        .read_line(&mut number)
        .expect("it names its display");
    let display = format!(":{}", number.trim());
    xdotool(&display, &["getdisplaygeometry"]).expect("it answers");
    (server, display)
}

fn xdotool(display: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new("xdotool")
        .args(arguments)
        .env("DISPLAY", display)
        .output()
        .expect("xdotool is there: see the README for the packages");
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in [&mut self.game, &mut self.server] {
            // Who has ended already cannot be.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
