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

/// The number of attempts before something counts as missing. They take ten minutes, because the machine may be busy.
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
    /// Starts the display and the program, and waits for the window.
    pub fn open(name: &str, arguments: &[&str]) -> Self {
        let display = Display::open("1920x1080");
        let program = display
            .command(env!("CARGO_BIN_EXE_evenstep-window"))
            .args(arguments)
            .spawn()
            .unwrap();
        let mut desktop = Self {
            program,
            display,
            window: String::new(),
            shot: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png")),
        };
        desktop.window = desktop.wait_for("a window", |desktop| desktop.focus("evenstep: .*Hz"));
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
            let ended = self.program.try_wait().unwrap();
            assert!(ended.is_none(), "the program ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not happen; the title is {:?}", self.title());
    }

    /// Returns the title of the window.
    pub fn title(&self) -> Option<String> {
        self.xdotool(&["getwindowname", &self.window])
    }

    /// Waits until the title contains a text.
    pub fn wait_for_title(&mut self, part: &str) {
        self.wait_for(part, |desktop| {
            desktop.title().filter(|title| title.contains(part))
        });
    }

    /// Resizes the window.
    pub fn resize(&self, size: Vec2) {
        let [width, height] = [size.x, size.y].map(|part| format!("{part:.0}"));
        self.xdotool(&["windowsize", &self.window, &width, &height])
            .unwrap();
    }

    /// Moves the mouse to a position.
    pub fn mouse_to(&self, at: Vec2) {
        let [x, y] = [at.x, at.y].map(|part| format!("{part:.0}"));
        self.xdotool(&["mousemove", &x, &y]).unwrap();
    }

    /// Holds the left button down.
    pub fn mouse_down(&self) {
        self.xdotool(&["mousedown", "1"]).unwrap();
    }

    /// Releases the left button.
    pub fn mouse_up(&self) {
        self.xdotool(&["mouseup", "1"]).unwrap();
    }

    /// Returns a picture of the window, and stores it in a file for inspection.
    pub fn picture(&self) -> RgbImage {
        let bytes = self.display.picture(&self.window, "png");
        std::fs::write(&self.shot, &bytes).unwrap();
        image::load_from_memory(&bytes).unwrap().to_rgb8()
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
