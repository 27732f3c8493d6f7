//! The program on a virtual display, with real keys and mouse events.

use std::ops::Deref;
use std::path::PathBuf;

use evenstep_display::Program;
use image::RgbImage;
use kiss3d::glamx::Vec2;

/// The program on a virtual display.
pub struct Desktop {
    program: Program,
    shot: PathBuf,
}

impl Desktop {
    /// Starts the display and the program, and waits for the window.
    pub fn open(name: &str, arguments: &[&str]) -> Self {
        let program = env!("CARGO_BIN_EXE_evenstep-window");
        Self {
            program: Program::open("1920x1080", program, arguments, "evenstep: .*Hz"),
            shot: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png")),
        }
    }

    /// Polls until there is a result.
    pub fn wait_for<T>(&mut self, what: &str, ask: impl Fn(&Self) -> Option<T>) -> T {
        self.program.wait_for(what, || ask(self))
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
        let bytes = self.program.picture(&self.window, "png");
        std::fs::write(&self.shot, &bytes).unwrap();
        image::load_from_memory(&bytes).unwrap().to_rgb8()
    }
}

impl Deref for Desktop {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.program
    }
}
