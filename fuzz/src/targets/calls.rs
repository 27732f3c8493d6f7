//! Programs of calls: random games in every host, judged by the laws, and a clock that is compared with a model.

use std::time::Duration;

use evenstep::{Rate, Simulation};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::random::every::judge;
use crate::random::game::Kind;
use crate::random::game::script::{ALL, script};
use crate::tally::Tally;

/// Runs a program. The bytes are its seed.
pub fn run(input: &[u8], tally: &mut Tally) {
    let mut seed = [0; 32];
    let len = input.len().min(32);
    seed[..len].copy_from_slice(&input[..len]);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    if seed[0] % 8 < 3 {
        let calls = one(prop::collection::vec(call(), 1..200), &mut runner);
        clock(&calls, tally);
    } else {
        let game = one(script(ALL), &mut runner);
        let kind = Kind::ALL[usize::from(seed[1]) % Kind::ALL.len()];
        tally.operations += game.frames.len() as u64;
        judge(&game, kind);
    }
}

fn one<S: Strategy>(strategy: S, runner: &mut TestRunner) -> S::Value {
    strategy
        .new_tree(runner)
        .expect("no case is rejected")
        .current()
}

// A model of the clock, in whole nanoseconds.

#[derive(Clone, Copy, Debug)]
enum Call {
    /// A frame of this many milliseconds, and the number of its steps that run. If `None`, `advance` runs them all.
    Frame(u64, Option<u64>),
    /// Steps per second. Each rate divides a second.
    Rate(u32),
    /// The speed, times two.
    Speed(u64),
    Pause(bool),
    StepOnce,
    MaxSteps(Option<u32>),
    MaxFrameTime(u64),
    Tick(u64),
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        12 => (0..400u64, prop::option::of(0..9u64)).prop_map(|(ms, taken)| Call::Frame(ms, taken)),
        1 => prop::sample::select(vec![1, 50, 100, 125, 1_000]).prop_map(Call::Rate),
        1 => (0..7u64).prop_map(Call::Speed),
        1 => prop::bool::weighted(0.3).prop_map(Call::Pause),
        1 => Just(Call::StepOnce),
        1 => prop::option::of(1..6u32).prop_map(Call::MaxSteps),
        1 => (0..500u64).prop_map(Call::MaxFrameTime),
        1 => (0..1_000u64).prop_map(Call::Tick),
    ]
}

/// The expected readings of a clock, computed from its definition.
struct Model {
    tick: u64,
    new_tick: Option<u64>,
    real: Duration,
    /// The waiting time, in half nanoseconds.
    owed: u64,
    hz: u32,
    half_speed: u64,
    is_paused: bool,
    single_steps: u64,
    max_steps: Option<u32>,
    max_frame: Duration,
    cut: Duration,
    dropped: u64,
    aborted: u64,
    /// Whether the displayed fraction differs from the waiting time, because of another rate or an aborted step.
    is_apart: bool,
}

impl Model {
    fn set(&mut self, call: Call) {
        match call {
            Call::Frame(..) => (),
            Call::Rate(hz) => {
                self.is_apart |= hz != self.hz;
                self.hz = hz;
            }
            Call::Speed(halves) => self.half_speed = halves,
            Call::Pause(is_paused) => {
                self.is_paused = is_paused;
                self.single_steps *= u64::from(is_paused);
            }
            Call::StepOnce => self.single_steps += u64::from(self.is_paused),
            Call::MaxSteps(most) => self.max_steps = most,
            Call::MaxFrameTime(ms) => self.max_frame = Duration::from_millis(ms),
            Call::Tick(tick) => self.new_tick = Some(tick),
        }
    }

    /// Begins a frame, and returns the number of due steps.
    fn frame(&mut self, time: Duration) -> u64 {
        self.real += time;
        self.tick = self.new_tick.take().unwrap_or(self.tick);
        if self.is_paused {
            return std::mem::take(&mut self.single_steps);
        }
        // Simulated time stops at speed 0, as in a pause, so the clock drops no frame time.
        if self.half_speed == 0 {
            return 0;
        }
        let taken = time.min(self.max_frame);
        self.cut += time - taken;
        let gained = taken.as_nanos() as u64 * self.half_speed;
        if gained == 0 {
            return 0;
        }
        self.owed += gained;
        let period = 2_000_000_000 / u64::from(self.hz);
        let whole = self.owed / period;
        self.owed %= period;
        let due = whole.min(self.max_steps.map_or(u64::MAX, u64::from));
        self.dropped += whole - due;
        due
    }
}

fn clock(calls: &[Call], tally: &mut Tally) {
    let mut simulation = scenes::space(100);
    let key = simulation.physics.insert(scenes::flyer(), scenes::ball());
    let mut model = Model {
        tick: 0,
        new_tick: None,
        real: Duration::ZERO,
        owed: 0,
        hz: 100,
        half_speed: 2,
        is_paused: false,
        single_steps: 0,
        max_steps: None,
        max_frame: simulation.clock().settings().max_frame_time(),
        cut: Duration::ZERO,
        dropped: 0,
        aborted: 0,
        is_apart: false,
    };
    for call in calls {
        tally.operations += 1;
        model.set(*call);
        match *call {
            Call::Frame(ms, taken) => frame(
                &mut simulation,
                &mut model,
                Duration::from_millis(ms),
                taken,
                tally,
            ),
            Call::Rate(hz) => simulation.clock_settings_mut().set_rate(Rate::hz(hz)),
            Call::Speed(halves) => simulation
                .clock_settings_mut()
                .set_speed(halves as f64 / 2.0)
                .unwrap(),
            Call::Pause(true) => simulation.pause(),
            Call::Pause(false) => simulation.resume(),
            Call::StepOnce => simulation.step_once(),
            Call::MaxSteps(most) => simulation
                .clock_settings_mut()
                .set_max_steps_per_frame(most),
            Call::MaxFrameTime(ms) => {
                let max = Duration::from_millis(ms);
                simulation.clock_settings_mut().set_max_frame_time(max);
                model.max_frame = simulation.clock().settings().max_frame_time();
            }
            Call::Tick(tick) => simulation.set_tick(tick),
        }
        assert!(simulation.pose(key).is_some_and(|pose| pose.is_finite()));
    }
}

fn frame(
    simulation: &mut Simulation,
    model: &mut Model,
    time: Duration,
    taken: Option<u64>,
    tally: &mut Tally,
) {
    let before = simulation.clock().dropped();
    let due = model.frame(time);
    let first = model.tick;
    let mut ticks = Vec::new();
    let made = taken.unwrap_or(u64::MAX).min(due);
    if taken.is_none() {
        simulation.advance(time, |_, step| ticks.push(step.tick));
    } else {
        simulation.begin_frame(time);
        assert_eq!(simulation.clock().due(), due);
        for _ in 0..made {
            let step = simulation.next_step().expect("a step is due");
            assert_eq!(step.is_last, ticks.len() as u64 + 1 == due);
            ticks.push(step.tick);
            simulation.run_step();
        }
        simulation.end_frame();
    }
    tally.operations += 1 + 2 * made;
    model.tick += made;
    model.aborted += due - made;
    assert!(
        ticks.into_iter().eq(first..first + made),
        "{made} of {due} from {first}"
    );
    let clock = simulation.clock();
    assert_eq!((clock.tick(), clock.real_time()), (model.tick, model.real));
    assert_eq!(clock.overstep(), Duration::from_nanos(model.owed / 2));
    if due > 0 {
        model.is_apart = made < due;
    }
    // More than one step may wait after a change of the rate.
    let alpha = (model.owed as f64 / 2e9 * f64::from(model.hz)).min(1.0);
    assert!(
        model.is_apart || (f64::from(clock.alpha()) - alpha).abs() < 1e-6,
        "{} is not {alpha}",
        clock.alpha()
    );
    let dropped = clock.dropped();
    assert_eq!(
        (dropped.frame_time, dropped.steps, dropped.aborted),
        (model.cut, model.dropped, model.aborted),
        "{before:?}"
    );
}
