//! A run that is recorded while it is played, and played again to check it. With the features `serde` and, to compare bit
//! for bit, `enhanced-determinism`.

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use evenstep::recording::{Divergence, RecordError, Recorder, Recording};
use evenstep::{Physics, Simulation, Step};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The rules of the game and its part of the state, which a recording contains.
pub trait Game: Serialize + DeserializeOwned {
    /// The input of one step.
    type Input: Serialize + DeserializeOwned;

    /// Changes the physics before a step, depending only on the state and on this input.
    fn step(&mut self, physics: &mut Physics, step: Step, input: Self::Input);
}

/// Runs a frame and records it. `read` returns the player's input for a step.
pub fn record<G: Game>(
    recorder: &mut Recorder<impl Write>,
    simulation: &mut Simulation,
    game: &mut G,
    frame_time: Duration,
    mut read: impl FnMut(Step) -> G::Input,
) -> Result<(), RecordError> {
    recorder.begin_frame(simulation, game, frame_time)?;
    simulation.begin_frame(frame_time);
    while let Some(step) = simulation.next_step() {
        let input = read(step);
        recorder.input(step, &input)?;
        game.step(&mut simulation.physics, step, input);
        simulation.run_step();
        recorder.end_step(&simulation.physics)?;
    }
    simulation.end_frame();
    Ok(())
}

/// Plays a recording, and returns the steps and bodies that differ from it. To watch it, draw after each `end_frame`.
pub fn play<G: Game>(
    recording: &Recording<impl AsRef<[u8]>>,
) -> Result<Vec<Divergence>, Box<dyn Error>> {
    let mut replay = recording.replay();
    while let Some((mut simulation, mut game)) = replay.next_run::<G>()? {
        while let Some(frame_time) = replay.begin_frame(&mut simulation)? {
            simulation.begin_frame(frame_time);
            while let Some(step) = simulation.next_step() {
                let Some(input) = replay.input(step)? else {
                    break;
                };
                game.step(&mut simulation.physics, step, input);
                simulation.run_step();
                replay.end_step(&mut simulation.physics)?;
            }
            simulation.end_frame();
        }
    }
    Ok(replay.differences().to_vec())
}
