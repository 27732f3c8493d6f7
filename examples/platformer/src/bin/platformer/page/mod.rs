//! A page in a browser: its clock, and a log for a page that wants one.

// Mouse look, with a locked pointer.
mod mouse;

use std::error::Error;
use std::io::{LineWriter, Write};
use std::time::Duration;

use evenstep_browser::clock::{PageClock, frame_stamp};
use evenstep_browser::log::PageLog;
use evenstep_browser::panics::report_panics;
use evenstep_platformer::motion_log::MotionLog;
use kiss3d::glamx::Vec2;
use kiss3d::window::Window;

use crate::live;

pub use mouse::Mouse;

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

/// Returns the size of the window in the units of touches, which are pixels of the page, not of the display.
pub fn touch_area(window: &Window) -> Vec2 {
    window.size().as_vec2() / window.scale_factor() as f32
}
