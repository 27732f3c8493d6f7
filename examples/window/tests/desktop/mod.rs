//! The program on a virtual display, with real keys and mouse events.

#[path = "../../../platformer/tests/window/display.rs"]
mod display;

use std::ops::Deref;
use std::path::PathBuf;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use display::Display;

use image::RgbImage;
use kiss3d::glamx::Vec2;

/// How often something is asked for before it counts as missing: for ten minutes, as a machine may have much else to do.
const TRIES: u32 = 3_000;
const PAUSE: Duration = Duration::from_millis(200);

/// A virtual display, and the program in it.
pub struct Desktop {
    program: Child,
    display: Display,
    window: String,
    shot: PathBuf,
}

impl Desktop {
    /// Starts both, and waits for the window.
    pub fn open(name: &str, arguments: &[&str]) -> Self {
        let display = Display::open("1920x1080");
        let program = display
            .command(env!("CARGO_BIN_EXE_evenstep-window"))
            .args(arguments)
            .spawn()
            .expect("it can be run");
        let mut desktop = Self {
            program,
            display,
            window: String::new(),
            shot: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png")),
        };
        desktop.window = desktop.wait_for("a window", |desktop| desktop.focus("evenstep: .*Hz"));
        desktop
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

    /// Returns a picture of the window, and leaves it in a file to be looked at.
    pub fn picture(&self) -> RgbImage {
        let bytes = self.display.picture(&self.window, "png");
        std::fs::write(&self.shot, &bytes).expect("it can be written");
        image::load_from_memory(&bytes)
            .expect("it is a picture")
            .to_rgb8()
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
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
