//! Records a game in a page. The example `replay` replays and checks the file on the desktop.

use std::time::Duration;

use evenstep::recording::{Recorder, RecorderSettings};
use wasm_bindgen::prelude::*;

// The game of that example.
#[path = "../../../replay/game.rs"]
#[allow(dead_code, missing_docs, reason = "the example needs them")]
mod game;

use game::Game;

/// Plays the game for frames of these lengths, in milliseconds, and returns its recording.
#[wasm_bindgen]
pub fn record(frame_times: &[f64]) -> Result<Vec<u8>, JsError> {
    let mut recorder = Recorder::new(Vec::new(), RecorderSettings::default())?;
    let (mut simulation, mut game) = Game::new();
    for milliseconds in frame_times {
        let frame_time = Duration::try_from_secs_f64(milliseconds / 1000.0)?;
        Game::set_clock(&mut simulation)?;
        game.record_frame(&mut simulation, &mut recorder, frame_time)?;
    }
    Ok(recorder.finish()?)
}
