//! A virtual display with a program on it, and real keys.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// The number of attempts before something counts as missing. They take ten minutes, because the machine may be busy.
const TRIES: u32 = 12_000;
const PAUSE: Duration = Duration::from_millis(50);

/// A program on a virtual display. Both end when this value is dropped.
pub struct Program {
    /// The process, to wait for its end.
    pub child: RefCell<Child>,
    display: Display,
    /// The number of its window.
    pub window: String,
}

impl Program {
    /// Starts a program on a display of this size, such as `640x360`, and waits for a window with this title.
    pub fn open(size: &str, program: &str, arguments: &[&str], title: &str) -> Self {
        let display = Display::open(size);
        let child = display.command(program).args(arguments).spawn().unwrap();
        let mut program = Self {
            child: child.into(),
            display,
            window: String::new(),
        };
        program.window = program.wait_for("a window", || program.focus(title));
        program
    }

    /// Polls until there is a result.
    #[expect(
        clippy::disallowed_methods,
        reason = "another process draws, and is polled"
    )]
    pub fn wait_for<T>(&self, what: &str, ask: impl Fn() -> Option<T>) -> T {
        for _ in 0..TRIES {
            if let Some(answer) = ask() {
                return answer;
            }
            let ended = self.child.borrow_mut().try_wait().unwrap();
            assert!(ended.is_none(), "the program ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not happen; the title is {:?}", self.title());
    }

    /// Returns the title of the window.
    pub fn title(&self) -> Option<String> {
        self.xdotool(&["getwindowname", &self.window])
    }
}

impl Deref for Program {
    type Target = Display;

    fn deref(&self) -> &Display {
        &self.display
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A process that has ended cannot be killed. The display ends after this one.
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A virtual display. It ends when this value is dropped.
pub struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts a display of this size, such as `640x360`, and waits until it answers.
    fn open(size: &str) -> Self {
        // Two servers that start at once may take the same number, so they start one after the other.
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // Without `-noreset` a server starts over when its last client leaves.
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &format!("{size}x24")])
            .args(["-nolisten", "tcp", "-noreset"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed (see the README)");
        let output = server.stdout.take().unwrap();
        let mut number = String::new();
        BufReader::new(output)
            .read_line(&mut number)
            .expect("Xvfb prints its display number");
        let display = Self {
            server,
            name: format!(":{}", number.trim()),
        };
        (display.xdotool(&["getdisplaygeometry"])).expect("the display answers");
        display
    }

    /// Returns a command for a program that opens its windows here.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.name)
            .env_remove("WAYLAND_DISPLAY");
        command
    }

    /// Moves the window with this title to the corner, and gives it keyboard focus, because there is no window manager.
    /// Returns the window's number.
    fn focus(&self, title: &str) -> Option<String> {
        let windows = self.xdotool(&["search", "--name", title])?;
        let window = windows.lines().next()?;
        self.xdotool(&["windowmove", window, "0", "0"])?;
        self.xdotool(&["windowfocus", "--sync", window])?;
        Some(window.to_owned())
    }

    /// Presses and releases a key, given by its X name.
    pub fn key(&self, key: &str) {
        self.xdotool(&["key", key]).unwrap();
    }

    /// Holds a key down.
    pub fn key_down(&self, key: &str) {
        self.xdotool(&["keydown", key]).unwrap();
    }

    /// Releases a key.
    pub fn key_up(&self, key: &str) {
        self.xdotool(&["keyup", key]).unwrap();
    }

    /// Returns a picture of a window, or of `root`, in a format of ImageMagick.
    pub fn picture(&self, window: &str, format: &str) -> Vec<u8> {
        let output = self
            .command("import")
            .args(["-window", window, "-depth", "8", &format!("{format}:-")])
            .output()
            .expect("ImageMagick is installed (see the README)");
        assert!(output.status.success());
        output.stdout
    }

    /// Runs xdotool, and returns its output if it succeeds.
    pub fn xdotool(&self, arguments: &[&str]) -> Option<String> {
        let output = self
            .command("xdotool")
            .args(arguments)
            .output()
            .expect("xdotool is installed (see the README)");
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // A process that has ended cannot be killed.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
