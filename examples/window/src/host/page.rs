//! The page in a browser, at the size of its canvas, with the page's clock.

use std::convert::Infallible;

use evenstep_browser::clock::{PageClock, frame_stamp};
use evenstep_browser::panics::report_panics;
use evenstep_window::app::App;
use evenstep_window::controls::Settings;
use evenstep_window::live;

/// Runs until the page is closed.
pub async fn run() -> Result<(), Infallible> {
    report_panics();
    let mut clock = PageClock::new();
    let frame_time = move || clock.frame(frame_stamp());
    live::run(App::new(Settings::default()), (1280, 720), frame_time).await;
    Ok(())
}
