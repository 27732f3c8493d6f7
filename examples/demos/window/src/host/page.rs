//! The page in a browser, at the size of its canvas, with the page's clock.

use std::convert::Infallible;

use evenstep_browser::clock::{PageClock, frame_stamp};
use evenstep_browser::panics::report_panics;
use evenstep_window::app::App;
use evenstep_window::controls::Settings;
use evenstep_window::live;
use web_time::Instant;

/// Runs until the page is closed.
pub async fn run() -> Result<(), Infallible> {
    report_panics();
    let mut timer = PageClock::new();
    let frame_time = move || timer.frame(frame_stamp());
    let start = Instant::now();
    let clock = move || start.elapsed();
    let app = App::new(Settings::default());
    live::run(app, (1280, 720), frame_time, clock).await;
    Ok(())
}
