//! A virtual display with the program's window on it, and real keys and mouse events.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use image::RgbImage;
use kiss3d::glamx::Vec2;

/// How often something is asked for before it counts as missing: for ten minutes, as a machine may have much else to do.
const TRIES: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(200);

/// A virtual display, and the program in it.
pub struct Desktop {
    server: Child,
    program: Child,
    display: String,
    window: String,
    shot: PathBuf,
}

impl Desktop {
    /// Starts both, and waits for the window.
    pub fn open(name: &str, arguments: &[&str]) -> Self {
        let (server, display) = open_display();
        let program = Command::new(env!("CARGO_BIN_EXE_evenstep-window"))
            .args(arguments)
            .env("DISPLAY", &display)
            .env_remove("WAYLAND_DISPLAY")
            .spawn()
            .expect("it can be run");
        let mut desktop = Self {
            server,
            program,
            display,
            window: String::new(),
            shot: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png")),
        };
        let found = desktop.wait_for("a window", |desktop| {
            let windows = desktop.xdotool(&["search", "--name", "evenstep: .*Hz"])?;
            windows.lines().next().map(str::to_owned)
        });
        desktop.window = found;
        desktop.focus();
        desktop
    }

    /// There is no window manager that would do it.
    fn focus(&self) {
        let window = self.window.clone();
        self.xdotool(&["windowmove", &window, "0", "0"])
            .expect("it can be moved");
        self.xdotool(&["windowfocus", "--sync", &window])
            .expect("it can have the keys");
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
            let ended = self.program.try_wait().expect("it was started");
            assert!(ended.is_none(), "the program ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not come; the title is {:?}", self.title());
    }

    /// What the window's title says.
    pub fn title(&self) -> Option<String> {
        self.xdotool(&["getwindowname", &self.window])
    }

    /// Waits until the title says so.
    pub fn wait_for_title(&mut self, part: &str) {
        self.wait_for(part, |desktop| {
            desktop.title().filter(|title| title.contains(part))
        });
    }

    /// A key, by the name that X gives it.
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

    /// Gives the window another size.
    pub fn resize(&self, size: Vec2) {
        let [width, height] = [size.x, size.y].map(|part| format!("{part:.0}"));
        self.xdotool(&["windowsize", &self.window, &width, &height])
            .expect("a size");
    }

    /// Moves the mouse there.
    pub fn mouse_to(&self, at: Vec2) {
        let [x, y] = [at.x, at.y].map(|part| format!("{part:.0}"));
        self.xdotool(&["mousemove", &x, &y]).expect("a mouse");
    }

    /// Holds the left button down.
    pub fn mouse_down(&self) {
        self.xdotool(&["mousedown", "1"]).expect("a mouse");
    }

    /// Lets it go.
    pub fn mouse_up(&self) {
        self.xdotool(&["mouseup", "1"]).expect("a mouse");
    }

    /// What is in the window.
    pub fn picture(&self) -> RgbImage {
        let status = Command::new("import")
            .args(["-display", &self.display, "-window", &self.window])
            .arg(&self.shot)
            .status();
        assert!(status.expect("ImageMagick is there").success());
        image::open(&self.shot).expect("it is a picture").to_rgb8()
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
        .args(["-displayfd", "1", "-screen", "0", "1920x1080x24"])
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
        for child in [&mut self.program, &mut self.server] {
            // Who has ended already cannot be.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
