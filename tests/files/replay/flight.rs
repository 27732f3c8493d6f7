//! The flight recorder.

use super::*;

fn flight_settings() -> RecorderSettings {
    settings(50)
}

#[test]
fn a_recording_saved_on_panic_reproduces_the_panic() {
    const FATAL: u64 = 777;

    #[derive(Serialize, Deserialize)]
    struct Fatal(Balls);

    impl Play for Fatal {
        type Input = (u64, [f32; 3]);

        fn input(tick: u64) -> Self::Input {
            (tick, Balls::input(tick))
        }

        fn step(
            &mut self,
            physics: &mut Physics,
            step: Step,
            (tick, push): Self::Input,
        ) -> Option<()> {
            self.0.step(physics, step, push);
            assert!(tick != FATAL, "a bug in the game");
            Some(())
        }
    }

    let name = format!("evenstep-flight-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let result = catch_unwind(|| {
        let (mut simulation, game) = Balls::new();
        let mut game = Fatal(game);
        let flight = FlightRecorder::new(MS(2_000), 16 << 20).on_panic(&path);
        let mut recorder = Recorder::new(flight, flight_settings()).unwrap();
        for number in 0.. {
            let frame_time = frame_time(number);
            record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
        }
    });
    assert!(result.is_err());
    let recording = Recording::read(std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(recording.ending(), RecordingEnd::Complete);
    let ticks = recording.runs()[0].ticks.clone();
    assert_eq!(ticks.end, FATAL + 1);
    assert!(
        (200..=300).contains(&(ticks.end - ticks.start)),
        "{ticks:?}"
    );

    let mut replay = recording.replay();
    let (mut simulation, mut game) = replay.next_run::<Fatal>(|_| None).unwrap().unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        while replay_frame(&mut replay, &mut simulation, &mut game, &mut |_, _| ()).is_some() {}
    }));
    assert!(panic.is_err());
    assert_eq!(simulation.physics.current_step().unwrap().tick, FATAL);
    assert_eq!(replay.differences(), []);
}

#[test]
fn a_flight_recorder_keeps_within_its_time_and_byte_limits() {
    // The recorder keeps one second, or as much as fits.
    for (max_bytes, least_ticks, most_ticks) in [(usize::MAX, 100, 170), (4 * state_len(), 1, 99)] {
        let (mut simulation, mut game) = Balls::new();
        let mut settings = flight_settings();
        settings.keyframe_every = 20;
        settings.check_bodies_every = 0;
        let flight = FlightRecorder::new(MS(1_000), max_bytes);
        let mut recorder = Recorder::new(flight, settings).unwrap();
        for number in 0..500 {
            let frame_time = frame_time(number);
            record_frame(&mut recorder, &mut simulation, &mut game, frame_time).unwrap();
            let mut bytes = Vec::new();
            recorder.writer().write_to(&mut bytes).unwrap();
            let header_and_end = 12 + 9;
            assert!(bytes.len() - header_and_end <= max_bytes);
            if number % 50 == 49 {
                let recording = Recording::read(bytes).unwrap();
                assert_eq!(recording.ending(), RecordingEnd::Complete);
                let ticks = recording.runs()[0].ticks.clone();
                assert_eq!(ticks.end, simulation.physics.tick());
                let count = ticks.end - ticks.start;
                assert!(count <= most_ticks, "{number}: {ticks:?}");
                assert!(count >= least_ticks || ticks.start == 1, "{ticks:?}");
                play(&recording);
            }
        }
    }
}

#[test]
fn a_state_larger_than_the_flight_recorder_is_refused_and_not_kept() {
    let (mut simulation, mut game) = Balls::new();
    let flight = FlightRecorder::new(MS(1_000), 100);
    let mut recorder = Recorder::new(flight, flight_settings()).unwrap();
    let error = record_frame(&mut recorder, &mut simulation, &mut game, MS(10));
    assert!(matches!(error, Err(RecordError::Io(_))));
    let mut bytes = Vec::new();
    recorder.writer().write_to(&mut bytes).unwrap();
    assert!(Recording::read(bytes).unwrap().runs().is_empty());
}

#[test]
fn a_flight_recorder_accepts_writes_of_any_size() {
    let bytes = record_balls(40, settings(10));
    let whole = Recording::read(&bytes[..]).unwrap();
    for piece in [1, 7, 1_000, bytes.len()] {
        let mut flight = FlightRecorder::new(Duration::MAX, usize::MAX);
        for piece in bytes.chunks(piece) {
            flight.write_all(piece).unwrap();
        }
        let mut again = Vec::new();
        flight.write_to(&mut again).unwrap();
        assert_eq!(again, bytes);
        assert_eq!(play(&Recording::read(again).unwrap()), play(&whole));
    }
}
