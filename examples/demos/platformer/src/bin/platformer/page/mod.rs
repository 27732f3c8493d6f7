//! A page in a browser: its clock, and a log for a page that wants one.

// Mouse look, with a locked pointer.
mod mouse;

use std::error::Error;
use std::io::{LineWriter, Write};
use std::time::Duration;

use evenstep_browser::clock::{PageClock, frame_stamp};
use evenstep_browser::log::PageLog;
use evenstep_browser::panics::report_panics;
pub use evenstep_browser::pointer::is_touch;
use evenstep_platformer::motion_log::MotionLog;

use crate::live;

pub use mouse::Mouse;

/// The controls, which the overlay lists.
pub const KEYS: [&str; 6] = [
    "WASD, arrows: walk",
    "space: jump",
    "click, then mouse: look",
    "button: shoot",
    "P: pause",
    "R, held: rewind",
];

/// Runs the game at the size of its canvas. If the page has an array `motionLog`, the displayed frames go there.
pub async fn run() -> Result<(), Box<dyn Error>> {
    report_panics();
    let out = PageLog::of_page("motionLog");
    let out = out.map(|out| LineWriter::new(Box::new(out) as Box<dyn Write>));
    live::run(out.map(MotionLog::new).transpose()?, (1280, 720)).await
}

/// The page's clock.
pub struct Clock(PageClock);

impl Clock {
    pub fn start() -> Self {
        Self(PageClock::new())
    }

    /// Returns the time since the last frame.
    pub fn frame(&mut self) -> Duration {
        self.0.frame(frame_stamp())
    }
}

/// Returns the number of units of touches per pixel of a display without scaling: touches are in pixels of the page.
pub fn touch_scale(_: f32) -> f32 {
    1.0
}
