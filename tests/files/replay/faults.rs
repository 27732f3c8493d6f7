//! Steps that did not run, or ran twice.

use super::*;

/// Runs a frame of the loop with a closure. The closure form has no hook after a step, so frames have one step at most.
fn closure_frame(simulation: &mut Simulation, faulty: &mut Faulty, frame_time: Duration) {
    let frame_time = frame_time.min(MS(10));
    if faulty.before_frame(simulation, frame_time.into()).is_err() {
        simulation.advance(frame_time, |_, _| ());
        return;
    }
    // A closure that fails aborts its step with a panic.
    let frame = simulation.advance(frame_time, |physics, step| {
        faulty.before_step(physics, step).unwrap();
    });
    if frame.steps == 1 {
        let _ = faulty.end_step(&simulation.physics, frame.tick - 1);
    }
}

fn pulled_frame(
    simulation: &mut Simulation,
    faulty: &mut Faulty,
    frame_time: Duration,
) -> Result<(), &'static str> {
    let mut result = faulty.before_frame(simulation, frame_time.into());
    simulation.begin_frame(frame_time);
    while result.is_ok()
        && let Some(step) = simulation.next_step()
    {
        result = faulty.before_step(&mut simulation.physics, step);
        if result.is_ok() {
            simulation.run_step();
            result = faulty.after_step(&mut simulation.physics, step);
        }
    }
    simulation.end_frame();
    result
}

#[test]
fn aborted_steps_are_not_replayed() {
    type PlayFrame = fn(&mut Simulation, &mut Faulty, Duration);
    let loops: [(&str, PlayFrame); 3] = [
        ("closure", closure_frame),
        ("hooks", |simulation, faulty, frame_time| {
            let _ = simulation.advance_with(frame_time, faulty);
        }),
        ("pull", |simulation, faulty, frame_time| {
            let _ = pulled_frame(simulation, faulty, frame_time);
        }),
    ];
    for (name, frame) in loops {
        for fault in [
            Fault::BeforeFrame,
            Fault::BeforeAct,
            Fault::AfterAct,
            Fault::Panic,
            Fault::AfterStep,
        ] {
            let (mut simulation, mut faulty) = (Balls::new().0, Faulty::new(fault));
            for number in 0..400 {
                let frame_time = frame_time(number);
                let play = || frame(&mut simulation, &mut faulty, frame_time);
                let _ = catch_unwind(AssertUnwindSafe(play));
                if simulation.physics.tick() > 90 {
                    break;
                }
            }
            let what = format!("{name}, {fault:?}");
            assert!(faulty.ticks.len() < 3, "{what}: {:?}", faulty.ticks);
            // Frames that were left open have ended.
            frame(&mut simulation, &mut faulty, MS(10));
            let end = assert_replays_without_differences(faulty.recorder.finish().unwrap(), &what);
            let sums = [&end, &simulation].map(|it| it.physics.checksum());
            assert_eq!(sums[0], sums[1], "{what}");
        }
    }
}

/// The step runs again in the same frame, because a system failed or because the hook has assigned another state.
#[test]
fn a_step_taken_twice_before_it_runs_is_replayed_once() {
    for is_assigned in [false, true] {
        let (mut simulation, mut game) = Balls::new();
        let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
        let mut again = vec![66, 41, 18];
        for number in 0..120 {
            let frame_time = frame_time(number);
            recorder
                .begin_frame(&mut simulation, &game, frame_time)
                .unwrap();
            simulation.begin_frame(frame_time);
            while let Some(step) = simulation.next_step() {
                let input = Balls::input(step.tick);
                recorder.input(step, &input).unwrap();
                if again.pop_if(|tick| *tick == step.tick).is_some() {
                    if is_assigned {
                        simulation.physics = simulation.physics.clone();
                    }
                    continue;
                }
                game.step(&mut simulation.physics, step, input).unwrap();
                simulation.run_step();
                recorder.end_step(&simulation.physics).unwrap();
            }
            simulation.end_frame();
        }
        assert!(again.is_empty(), "{again:?}");
        let what = format!("assigned: {is_assigned}");
        let end = assert_replays_without_differences(recorder.finish().unwrap(), &what);
        assert_eq!(end.physics.checksum(), simulation.physics.checksum());
    }
}
