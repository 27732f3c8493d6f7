//! Pauses after a step that a debugger asks for, so that nothing in a replay asks for them again.

use super::*;

/// The balls, with a debugger that is not part of the game.
#[derive(Clone, Serialize, Deserialize)]
struct Debugged {
    game: Balls,
    /// The steps after which it pauses, and whether it asks after the step or before it.
    #[serde(skip)]
    stops: Vec<(u64, bool)>,
}

impl Debugged {
    fn pause(&self, physics: &mut Physics, step: Step, is_after: bool) {
        if self.stops.contains(&(step.tick, is_after)) {
            physics.pause_after_step();
        }
    }
}

impl Play for Debugged {
    type Input = [f32; 3];

    fn input(tick: u64) -> [f32; 3] {
        Balls::input(tick)
    }

    fn step(&mut self, physics: &mut Physics, step: Step, input: [f32; 3]) -> Option<()> {
        self.pause(physics, step, false);
        self.game.step(physics, step, input)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) {
        self.pause(physics, step, true);
    }
}

#[test]
fn pauses_after_a_step_are_replayed_with_the_time_that_they_hold() {
    let (mut simulation, game) = Balls::new();
    // In frames of ten steps, and in frames of one.
    let stops = vec![
        (12, false),
        (17, true),
        (18, false),
        (40, true),
        (70, false),
    ];
    let mut game = Debugged { game, stops };
    let mut recorder = Recorder::new(Vec::new(), settings(5)).unwrap();
    let (mut run, mut paused, mut held) = (Vec::new(), 0, 0);
    for number in 0..150 {
        let frame_time = frame_time(number);
        record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
        run.push(seen(&simulation));
        let clock = simulation.clock();
        if clock.settings().is_paused() {
            held += u64::from(clock.time() > simulation.physics.time() + MS(10));
            paused += 1;
            if paused % 3 == 0 {
                simulation.resume();
            }
        }
    }
    assert_eq!(paused, 5 * 3);
    assert!(held > 3, "whole steps were held in {held} frames");
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert_eq!(recording.runs().len(), 1);
    for from in recording.runs()[0].keyframes.clone() {
        let mut frames = 0;
        let differences = replay_all::<Debugged>(
            &recording,
            from,
            |_, _| (),
            |simulation, _| {
                frames += 1;
                let number = simulation.frame().number as usize;
                // `Balls::new` has run the first frame.
                assert_replayed(simulation, &run[number - 2]);
            },
        );
        assert_eq!(differences, [], "from {from}");
        assert!(frames > 0);
    }
}
