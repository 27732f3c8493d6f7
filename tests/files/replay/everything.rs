//! A recording of scenes with everything in them.

use super::*;
use scenes::everything::{Everything, Script};

impl Play for Script {
    type Input = Option<(u64, bool)>;

    fn input(tick: u64) -> Self::Input {
        (tick % 3 == 1).then_some((tick, tick.is_multiple_of(2)))
    }

    fn step(&mut self, physics: &mut Physics, step: Step, input: Self::Input) -> Option<()> {
        if let Some((n, is_x)) = input {
            let push = if is_x {
                Vector::X
            } else {
                vector(0.0, 0.0, 1.0)
            };
            physics.add_force(self.player, push * 20.0).unwrap();
            if n % 40 == 1 {
                let pose = translation(-9.0, 0.5 + (n % 3) as f32, 0.0);
                let there = physics.time() + MS(400);
                let lift = self.lift;
                physics.set_kinematic_target(lift, pose, there).unwrap();
            }
            if n % 50 == 25 {
                physics.shift_origin(Vector::X * 8.0).unwrap();
            } else if n % 50 == 49 {
                physics.shift_origin(Vector::X * -8.0).unwrap();
            }
        }
        self.before_step(physics, step).ok()
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) {
        let Ok(()) = Hooks::after_step(self, physics, step);
    }
}

#[test]
fn a_run_that_uses_every_feature_replays_from_any_tick() {
    let mut game = Everything::new();
    let mut recorder = Recorder::new(Vec::new(), settings(100)).unwrap();
    let mut run = Vec::new();
    for number in 0..500 {
        let frame_time = Duration::from_micros(9_000 + number * 7_919 % 15_000);
        let Everything { simulation, script } = &mut game;
        record_frame(&mut recorder, simulation, script, frame_time).unwrap();
        run.push(seen(simulation));
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    assert!(
        recording.runs().last().unwrap().ticks.end > 400,
        "{recording:?}"
    );
    for from in [0, 150, 333] {
        let mut frames = 0;
        let differences = replay_all::<Script>(
            &recording,
            from,
            |_, _| (),
            |simulation, _| {
                frames += 1;
                let expected = &run[simulation.frame().number as usize - 1];
                assert_replayed(simulation, expected);
            },
        );
        assert_eq!(differences, []);
        assert!(frames > 150, "{frames}");
    }
}

#[test]
fn a_difference_in_a_pile_names_the_body_that_caused_it() {
    let mut game = Everything::new();
    let mut recorder = Recorder::new(Vec::new(), settings(1_000)).unwrap();
    for _ in 0..100 {
        let Everything { simulation, script } = &mut game;
        record_frame(&mut recorder, simulation, script, MS(17)).unwrap();
    }
    let recording = Recording::read(recorder.finish().unwrap()).unwrap();
    let mut keys: Vec<BodyKey> = game
        .simulation
        .physics
        .bodies()
        .map(|(key, _)| key)
        .collect();
    keys.sort();
    // The crate at the bottom of a stack.
    let key = keys[1];
    let differences = replay_all::<Script>(
        &recording,
        0,
        |simulation, step| {
            if step.tick == 40 {
                nudge(simulation, key);
            }
        },
        |_, _| (),
    );
    assert_eq!(differences[0].tick, 40);
    assert!(differences[0].bodies.contains(&key), "{differences:?}");
}

/// With Rapier's feature `parallel`, steps run on that many threads. Without it, they run on one.
#[test]
fn a_replay_on_another_number_of_threads_has_no_differences() {
    #[derive(Serialize, Deserialize)]
    struct Heap;

    impl Play for Heap {
        type Input = ();

        fn input(_: u64) {}

        fn step(&mut self, _: &mut Physics, _: Step, (): ()) -> Option<()> {
            Some(())
        }
    }

    let on_threads = |count| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
        pool.build().unwrap()
    };
    let bytes = on_threads(1).install(|| {
        let mut simulation = scenes::with_floor(Rate::hz(60));
        scenes::heap(&mut simulation, 200);
        let mut recorder = Recorder::new(Vec::new(), settings(60)).unwrap();
        for _ in 0..120 {
            record_frame(&mut recorder, &mut simulation, &mut Heap, MS(17)).unwrap();
        }
        recorder.finish().unwrap()
    });
    let recording = Recording::read(bytes).unwrap();
    for count in [1, 2, 4] {
        let mut steps = 0;
        let differences = on_threads(count).install(|| {
            let count = |_: &mut Simulation, _| steps += 1;
            replay_all::<Heap>(&recording, 0, count, |_, _| ())
        });
        assert_eq!((differences, steps), (vec![], 122), "{count} threads");
    }
}
