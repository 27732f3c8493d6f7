//! All ways in which evenstep runs steps.

use evenstep::rewind::Kept;
use std::time::Duration;

use evenstep::recording::{Recorder, RecorderSettings, Recording, Replay};
use evenstep::rewind::ResimulateError;
use evenstep::saving::SaveError;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{Hooks, Simulation};

use super::game::{Difference, Game, LATE, STEPS, Scene};
use scenes::MS;

/// Runs all steps of a game.
pub type Way<S> = fn(Simulation, Game<S>) -> Outcome<S>;

/// The game after all comparisons, or the first step that differs.
type Outcome<S> = Result<Game<S>, Difference>;

pub fn ways<S: Scene>() -> Vec<(&'static str, Way<S>)> {
    let mut ways: Vec<(_, Way<S>)> = vec![
        ("in frames", in_frames),
        ("rolled back", rolled_back),
        ("overlapped", overlapped),
        ("on a thread", on_a_thread),
    ];
    if S::IS_WRITTEN {
        ways.push(("saved and loaded", saved_and_loaded));
        ways.push(("recorded and replayed", recorded_and_replayed));
    }
    ways
}

/// Returns the times of frames for 155 steps, so that the last compared steps of an [`Overlap`] end.
fn frame_times() -> impl Iterator<Item = Duration> {
    let times = [17, 0, 3, 41, 16, 90, 7, 25].map(MS);
    (0..13).flat_map(move |_| times)
}

/// Runs frames, and calls a function after each.
fn followed<S: Scene>(
    mut simulation: Simulation,
    mut game: Game<S>,
    mut after_frame: impl FnMut(&mut Simulation, &mut Game<S>) -> Result<(), Difference>,
) -> Outcome<S> {
    for frame_time in frame_times() {
        simulation.advance_with(frame_time, &mut game)?;
        after_frame(&mut simulation, &mut game)?;
    }
    Ok(game)
}

fn in_frames<S: Scene>(simulation: Simulation, game: Game<S>) -> Outcome<S> {
    followed(simulation, game, |_, _| Ok(()))
}

fn rolled_back<S: Scene>(mut simulation: Simulation, mut game: Game<S>) -> Outcome<S> {
    simulation.keep(Kept {
        ticks: LATE,
        ..simulation.kept()
    });
    game.guesses = true;
    followed(simulation, game, |simulation, game| {
        let tick = simulation.physics.tick().saturating_sub(LATE);
        game.scene = game.saved[&tick].clone();
        match simulation.resimulate_with(tick, game) {
            Ok(()) => Ok(()),
            Err(ResimulateError::Hook(difference)) => Err(difference),
            Err(error) => panic!("{error:?}"),
        }
    })
}

fn overlapped<S: Scene>(simulation: Simulation, mut game: Game<S>) -> Outcome<S> {
    let mut overlap = Overlap::new(simulation).unwrap();
    for frame_time in frame_times() {
        overlap.frame(frame_time, &mut game)?;
    }
    Ok(game)
}

fn on_a_thread<S: Scene>(mut simulation: Simulation, game: Game<S>) -> Outcome<S> {
    // The thread runs as fast as it can. The time of steps that it cannot run is dropped.
    simulation.clock_settings_mut().set_speed(100.0).unwrap();
    let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
    let long = Duration::from_secs(60);
    let tick = |runner: &Runner<_>| {
        let answer = runner.ask(|_| ()).unwrap().wait(long);
        answer.map(|(tick, ())| tick)
    };
    while tick(&runner).is_some_and(|tick| tick < STEPS) {}
    let game = runner.stop().1;
    match game.first_difference {
        None => Ok(game),
        Some(difference) => Err(difference),
    }
}

fn saved_and_loaded<S: Scene>(simulation: Simulation, game: Game<S>) -> Outcome<S> {
    let mut loads = 0;
    let game = followed(simulation, game, |simulation, game| {
        // Load in three frames in a row, and then let the simulation continue for some frames.
        if simulation.frame().number % 8 > 2 {
            return Ok(());
        }
        match simulation.save() {
            Ok(bytes) => *simulation = Simulation::load(&bytes).unwrap(),
            // The script changed the state after the step.
            Err(SaveError::ChangedSinceStep) => return Ok(()),
            Err(error) => panic!("{error}"),
        }
        let scene = postcard::to_stdvec(&game.scene).unwrap();
        game.scene = postcard::from_bytes(&scene).unwrap();
        loads += 1;
        Ok(())
    });
    assert!(loads > 20 || game.is_err(), "{loads} loads");
    game
}

fn recorded_and_replayed<S: Scene>(simulation: Simulation, mut game: Game<S>) -> Outcome<S> {
    let mut settings = RecorderSettings::default();
    settings.keyframe_every = 40;
    game.recorder = Some(Recorder::new(Vec::new(), settings).unwrap());
    let mut game = followed(simulation, game, |_, _| Ok(()))?;
    let recorder = game.recorder.take().expect("it was recorded");
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    for tick in [0, STEPS / 2] {
        assert_eq!(game.compared, STEPS);
        replay(recording.replay_from(0, tick), &mut game)?;
    }
    Ok(game)
}

fn replay<S: Scene>(mut replay: Replay, game: &mut Game<S>) -> Result<(), Difference> {
    let run = replay.next_run().unwrap();
    let (mut simulation, scene) = run.expect("one was recorded");
    (game.scene, game.compared) = (scene, simulation.physics.tick());
    while let Some(frame_time) = replay.begin_frame(&mut simulation).unwrap() {
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            let input = replay.input(step).unwrap().expect("it was recorded");
            game.scene
                .before_step(&mut simulation.physics, step.tick, input);
            simulation.run_step_with(&*S::filters());
            replay.end_step(&mut simulation.physics).unwrap();
            game.after_step(&mut simulation.physics, step)?;
        }
        simulation.end_frame();
    }
    assert_eq!(replay.differences(), []);
    Ok(())
}
