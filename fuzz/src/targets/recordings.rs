//! Recordings, which are then mutated.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::recording::{RecordError, Recorder, RecorderSettings, Recording, ReplayError};
use evenstep::{Physics, Simulation, Step};
use mutatis::{Candidates, Mutate, Result, Session};

use crate::mutate::{Bytes, WORDS};
use crate::play::sixty_steps;
use crate::seal::Chunks;
use crate::tally::Tally;
use crate::worlds;

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for scene in [0, 1, 6] {
        seeds.extend(record(worlds::all().swap_remove(scene)).ok());
    }
    seeds
}

fn record(mut simulation: Simulation) -> std::result::Result<Vec<u8>, RecordError> {
    let mut settings = RecorderSettings::default();
    settings.keyframe_every = 8;
    let mut recorder = Recorder::new(Vec::new(), settings)?;
    for number in 0..20u8 {
        let frame_time = Duration::from_millis(17 + u64::from(number % 3) * 17);
        recorder.begin_frame(&mut simulation, &number, frame_time)?;
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            recorder.input(step, &number)?;
            act(&mut simulation.physics, step, number);
            simulation.run_step();
            recorder.end_step(&simulation.physics)?;
        }
        simulation.end_frame();
    }
    recorder.finish()
}

/// Carries out the game's part in a step. It depends on the input.
fn act(physics: &mut Physics, step: Step, input: u8) {
    let bodies = physics.bodies().count().max(1);
    let key = physics
        .bodies()
        .nth(usize::from(input) % bodies)
        .map(|(key, _)| key);
    if let Some(key) = key {
        let _ = physics.add_force(key, Vector::X * (step.tick % 5) as f32);
    }
}

/// Mutates whole chunks, or their contents.
struct InChunks;

impl Mutate<Vec<(u8, Vec<u8>)>> for InChunks {
    fn mutate(
        &mut self,
        candidates: &mut Candidates,
        chunks: &mut Vec<(u8, Vec<u8>)>,
    ) -> Result<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        candidates.mutation(|context| {
            let [one, other] = [(); 2].map(|()| context.rng().gen_index(chunks.len()).unwrap_or(0));
            match context.rng().gen_u8() % 5 {
                0 => drop(chunks.remove(one)),
                1 => chunks.swap(one, other),
                2 => chunks.insert(one, chunks[other].clone()),
                3 => chunks[one].0 = context.rng().gen_u8() % 8,
                _ => chunks.truncate(one),
            }
            Ok(())
        })?;
        let mut bytes = Bytes {
            from: 0,
            words: WORDS,
        };
        chunks
            .iter_mut()
            .try_for_each(|(_, contents)| bytes.mutate(candidates, contents))
    }
}

pub fn mutate(input: &mut Vec<u8>, session: &mut Session) -> Result<()> {
    if session.generate::<u8>()? < 8 {
        // The checksums become invalid.
        return session.mutate_with(
            &mut Bytes {
                from: 0,
                words: WORDS,
            },
            input,
        );
    }
    let mut recording = Chunks::of(input);
    session.mutate_with(&mut InChunks, &mut recording.chunks)?;
    *input = recording.sealed();
    Ok(())
}

pub fn run(input: &[u8], tally: &mut Tally) {
    let Some(recording) = tally.load(input.len(), || Recording::read(input)) else {
        return;
    };
    let _ = recording.ending();
    let mut starts = vec![(0, 0), (usize::MAX, 0)];
    for (place, run) in recording.runs().iter().enumerate().take(4) {
        let ticks = &run.ticks;
        let half = ticks.start + (ticks.end.saturating_sub(ticks.start)) / 2;
        starts.extend([(place, ticks.start), (place, half), (place, u64::MAX)]);
    }
    for from in starts {
        let mut last = None;
        let played = tally.guard(|tally| play(&recording, from, &mut last, tally));
        if let Some(Err(error)) = played {
            tally.refuse(&error);
        }
        if from == (0, 0)
            && let Some(simulation) = last
        {
            tally.guard(|tally| sixty_steps(simulation, tally));
        }
    }
}

/// The number of frames of a recording that are played.
const FRAMES: usize = 60;

fn play(
    recording: &Recording<&[u8]>,
    (run, tick): (usize, u64),
    last: &mut Option<Simulation>,
    tally: &mut Tally,
) -> std::result::Result<(), ReplayError> {
    let mut replay = recording.replay_from(run, tick);
    let mut frames = 0;
    while let Some((mut simulation, number)) = replay.next_run::<u8>()? {
        while let Some(frame_time) = replay.begin_frame(&mut simulation)? {
            frames += 1;
            if frames > FRAMES {
                return Ok(());
            }
            simulation.begin_frame(frame_time);
            while let Some(step) = simulation.next_step() {
                let Some(input) = replay.input::<u8>(step)? else {
                    break;
                };
                act(
                    &mut simulation.physics,
                    step,
                    input.wrapping_add(number / 100),
                );
                simulation.run_step();
                replay.end_step(&mut simulation.physics)?;
                tally.operations += 5;
            }
            simulation.end_frame();
            tally.operations += 3;
        }
        *last = Some(simulation);
    }
    let _ = replay.differences();
    Ok(())
}
