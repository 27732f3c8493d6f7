//! Draws scripted pictures without a display. They are the same in every run, whatever the machine's speed.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use indicatif::{ProgressBar, ProgressFinish, ProgressIterator};

use crate::app::App;
use crate::desk::Desk;
use crate::script::Script;

/// Runs the frames up to the end of a range, and writes those of the range as `frame-0000.png` and so on.
///
/// # Errors
/// If a picture cannot be written.
pub async fn run(
    mut app: App,
    script: &Script,
    size: (u32, u32),
    frames: Range<u32>,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(out)?;
    let mut desk = Desk::open_offscreen(&mut app, size.0, size.1).await;
    // The bar goes to standard error, and is hidden if that is not a terminal.
    let bar = ProgressBar::new(frames.end.into()).with_finish(ProgressFinish::AndClear);
    for frame in (0..frames.end).progress_with(bar) {
        script.play(frame, &mut app);
        app.make_frame();
        if frame < frames.start {
            continue;
        }
        desk.draw(&mut app).await;
        let name = format!("frame-{frame:04}.png");
        desk.window.snap_image().save(out.join(name))?;
    }
    Ok(())
}
