//! Measures the cost of running the physics on another thread: in each frame on the game's thread, and in each step on
//! the physics thread.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{Hooks, Physics, Simulation, Step};
use scenes::NO_STEP;

const COUNT: usize = 10_000;

fn spinning(hz: u32) -> Simulation {
    let mut simulation = scenes::space(hz);
    let keys = scenes::spinners(&mut simulation, COUNT);
    scenes::keep_awake(&mut simulation, &keys);
    simulation
}

/// Reports the time from the end of a step to the start of the next.
struct Between {
    ended: Option<Instant>,
    times: Sender<Duration>,
}

impl Between {
    fn new() -> (Self, Receiver<Duration>) {
        let (times, received) = channel();
        let between = Self { ended: None, times };
        (between, received)
    }
}

impl Hooks for Between {
    type Error = Infallible;

    fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), Infallible> {
        if let Some(ended) = self.ended {
            // At the end, the receiver has been dropped.
            let _ = self.times.send(ended.elapsed());
        }
        Ok(())
    }

    fn after_step(&mut self, _: &mut Physics, _: Step) -> Result<(), Infallible> {
        self.ended = Some(Instant::now());
        Ok(())
    }
}

/// Measures a frame on the game's thread, compared with a frame without a step in a simulation without a thread.
fn frames(c: &mut Criterion) {
    for (name, hz, pauses) in [
        ("physics paused", 60, true),
        ("physics asleep between two steps", 1, false),
        ("physics at work all the time", 1_000, false),
    ] {
        let (hooks, _) = Between::new();
        let mut runner = Runner::new(spinning(hz), hooks, RunnerSettings::default()).unwrap();
        while runner.frame().tick() < 2 {
            std::thread::yield_now();
        }
        if pauses {
            let pause = |simulation: &mut Simulation, _: &mut Between| simulation.pause();
            runner.call(pause).expect("the runner is running");
            while !runner.frame().moved().is_empty() {
                std::thread::yield_now();
            }
        }
        let mut alone = spinning(1);
        scenes::to_between_states(&mut alone);
        let frame_time = if pauses { Duration::ZERO } else { NO_STEP };
        compare(
            c,
            &format!("frame of a runner, spinning {COUNT}, {name}"),
            ("frame", || {
                runner.frame();
            }),
            ("advance", || {
                alone.advance(frame_time, |_, _| ());
            }),
        );
    }
}

/// Measures the time from one step to the next if another step is always due, on a thread that hands over the poses and
/// without a thread. Measures the step itself, for comparison.
fn hand_over(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("from step to step, spinning {COUNT}"));
    let (hooks, times) = Between::new();
    // Steps are due far more often than they can run, so none waits.
    let runner = Runner::new(spinning(10_000), hooks, RunnerSettings::default()).unwrap();
    group.bench_function("on a thread", |b| {
        b.iter_custom(|iterations| {
            while times.try_recv().is_ok() {}
            (0..iterations)
                .map(|_| times.recv().expect("the runner is running"))
                .sum()
        });
    });
    drop(runner);
    let mut alone = spinning(1);
    let (mut hooks, times) = Between::new();
    let step = Duration::from_secs(1);
    alone.clock_settings_mut().set_max_frame_time(Duration::MAX);
    group.bench_function("alone", |b| {
        b.iter_custom(|iterations| {
            for _ in 0..=iterations {
                let Ok(_) = alone.advance_with(step, &mut hooks);
            }
            times.try_iter().take(iterations as usize).sum()
        });
    });
    group.bench_function("the step itself", |b| {
        b.iter(|| alone.physics.rapier_mut().step());
    });
    group.finish();
}

/// Creates a thousand spinning bodies, among a hundred thousand sleeping ones or alone.
fn movers(hz: u32, sleepers: usize) -> Simulation {
    let mut simulation = scenes::space(hz);
    let keys = scenes::spinners(&mut simulation, 1_000);
    scenes::keep_awake(&mut simulation, &keys);
    scenes::sleepers(&mut simulation, sleepers);
    let settings = simulation.clock_settings_mut();
    settings.set_max_frame_time(Duration::MAX);
    let step = settings.rate().period();
    simulation.advance(step, |_, _| ());
    assert_eq!(simulation.advance(step, |_, _| ()).movers, 1_000);
    simulation
}

/// Measures how sleeping bodies affect the cost of awake ones in an overlap, whose frames begin and end the steps.
fn overlap_among_sleepers(c: &mut Criterion) {
    let [mut among, mut alone] =
        [100_000, 0].map(|sleepers| Overlap::new(movers(1, sleepers)).unwrap());
    let frame = |overlap: &mut Overlap, frame_time| {
        let Ok(view) = overlap.frame(frame_time, &mut Between::new().0);
        assert_eq!(view.removed(), []);
    };
    compare(
        c,
        "frame of an overlap, 1000 awake, without a step",
        ("among 100000 asleep", || frame(&mut among, NO_STEP)),
        ("alone", || frame(&mut alone, NO_STEP)),
    );
    // Each overlap has finished its step before the frame asks for it, so no frame waits.
    let timed = |overlap: &mut Overlap| {
        std::thread::sleep(Duration::from_millis(5));
        let start = Instant::now();
        frame(overlap, Duration::from_secs(1));
        start.elapsed()
    };
    let times = (0..500).map(|_| (timed(&mut among), timed(&mut alone)));
    let (among, alone): (Vec<_>, Vec<_>) = times.unzip();
    let name = "frame of an overlap, 1000 awake, with a finished step";
    report_medians(name, among, alone);
}

fn report_medians(name: &str, among: Vec<Duration>, alone: Vec<Duration>) {
    let [among, alone] = [among, alone].map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let ratio = among.as_secs_f64() / alone.as_secs_f64();
    println!("ratio {name}: among 100000 asleep / alone = {ratio:.3}, {among:?} / {alone:?}\n");
}

/// Measures the same for a runner: the game's frames, a call that causes a physics frame without a step, and the time
/// from step to step on the thread.
fn runner_among_sleepers(c: &mut Criterion) {
    let start = |hz, sleepers| {
        let (hooks, times) = Between::new();
        let settings = RunnerSettings::default();
        (
            Runner::new(movers(hz, sleepers), hooks, settings).unwrap(),
            times,
        )
    };
    let [(mut among, _), (mut alone, _)] = [100_000, 0].map(|sleepers| start(1, sleepers));
    let frame = |runner: &mut Runner<Between>| {
        runner.frame();
    };
    compare(
        c,
        "frame of a runner, 1000 awake",
        ("among 100000 asleep", || frame(&mut among)),
        ("alone", || frame(&mut alone)),
    );
    let order = |runner: &mut Runner<Between>| {
        let (done, wait) = channel();
        let call = move |simulation: &mut Simulation, _: &mut Between| {
            simulation.pause();
            simulation.resume();
            let _ = done.send(());
        };
        runner.call(call).unwrap();
        wait.recv().expect("the runner is running");
    };
    compare(
        c,
        "call between two steps, 1000 awake",
        ("among 100000 asleep", || order(&mut among)),
        ("alone", || order(&mut alone)),
    );
    drop((among, alone));

    let [(among, among_times), (alone, alone_times)] =
        [100_000, 0].map(|sleepers| start(10_000, sleepers));
    let [among_times, alone_times] =
        [among_times, alone_times].map(|times| times.iter().take(2_000).collect());
    report_medians(
        "from step to step on a thread, 1000 awake",
        among_times,
        alone_times,
    );
    drop((among, alone));
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = frames, hand_over, overlap_among_sleepers, runner_among_sleepers
}
criterion_main!(benches);
