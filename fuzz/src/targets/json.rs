//! The plain types, and a simulation, as JSON.

use std::time::Duration;

use evenstep::ecs::{EntityMap, Unmatched};
use evenstep::input::{Button, Delivery, InputQueue, TickQueue, TickSender};
use evenstep::recording::{RecorderSettings, RecordingEnd};
use evenstep::threads::RunnerSettings;
use evenstep::time::{Clock, ClockSettings, FrameTimer};
use evenstep::{BodyKey, Correction, Frame, Rate, Simulation, Smoothing, Step, Stepping};
use mutatis::{Result, Session};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mutate::{Bytes, TEXT, Tree};
use crate::play::sixty_steps;
use crate::tally::Tally;
use crate::worlds;

/// One value of each plain type.
#[derive(Serialize, Deserialize)]
enum Plain {
    Simulation(Box<Simulation>),
    Clock(Box<Clock>),
    Settings(ClockSettings),
    Rate(Rate),
    Stepping(Stepping),
    Step(Step),
    Frame(Box<Frame>),
    Input(InputQueue<u8>),
    ByTick(TickQueue<u8>),
    Sender(TickSender<u8>),
    Button(Button),
    Timer(FrameTimer),
    Smoothing(Smoothing),
    Correction(Correction),
    Unmatched(Unmatched<u8>),
    Key(BodyKey),
    Runner(RunnerSettings),
    Recorder(RecorderSettings),
    Ending(RecordingEnd),
}

const MS: fn(u64) -> Duration = Duration::from_millis;

pub fn seeds() -> Vec<Vec<u8>> {
    let mut clock = Clock::new(Rate::default());
    clock.begin_frame(MS(40));
    let simulation = worlds::all().swap_remove(0);
    let (key, _) = simulation.physics.bodies().next().expect("a floor");
    let mut input = InputQueue::new(Delivery::ByTime);
    let mut by_tick = TickQueue::new(5, 100);
    for i in 0..4 {
        input.push(MS(i), 1);
        let _ = by_tick.push(6 + i, 2);
    }
    let mut map = EntityMap::default();
    map.insert(key, 7);
    let step = clock.peek().expect("two steps are due");
    let all = [
        Plain::Frame(Box::new(simulation.frame())),
        Plain::Settings(clock.settings().clone()),
        Plain::Clock(Box::new(clock)),
        Plain::Rate(Rate::default()),
        Plain::Stepping(Stepping::SemiFixed),
        Plain::Step(step),
        Plain::Input(input),
        Plain::ByTick(by_tick),
        Plain::Sender(TickSender::new(3, 1)),
        Plain::Button(Button::default()),
        Plain::Timer(FrameTimer::new(MS(3), MS(1))),
        Plain::Smoothing(Smoothing::Hermite),
        Plain::Correction(Correction::default()),
        Plain::Unmatched(map.unmatched(&simulation.physics)),
        Plain::Simulation(Box::new(simulation)),
        Plain::Key(key),
        Plain::Runner(RunnerSettings::default()),
        Plain::Recorder(RecorderSettings::default()),
        Plain::Ending(RecordingEnd::Cut { at: 7 }),
    ];
    all.iter()
        .filter_map(|plain| serde_json::to_vec(plain).ok())
        .collect()
}

/// Mutates the text, or the document in it.
pub fn mutate(input: &mut Vec<u8>, session: &mut Session) -> Result<()> {
    let as_text: bool = session.generate()?;
    match serde_json::from_slice::<Value>(input) {
        Ok(mut document) if !as_text => {
            let whole = document.clone();
            session.mutate_with(&mut Tree { whole }, &mut document)?;
            *input = document.to_string().into_bytes();
            Ok(())
        }
        _ => session.mutate_with(
            &mut Bytes {
                from: 0,
                words: TEXT,
            },
            input,
        ),
    }
}

pub fn run(input: &[u8], tally: &mut Tally) {
    let Some(plain) = tally.load(input.len(), || serde_json::from_slice::<Plain>(input)) else {
        return;
    };
    let mut simulation = Simulation::default();
    match plain {
        Plain::Simulation(simulation) => return sixty_steps(*simulation, tally),
        Plain::Clock(clock) => return play_clock(*clock, tally),
        Plain::Settings(settings) => *simulation.clock_settings_mut() = settings,
        Plain::Rate(rate) => {
            let _ = (rate.period(), rate.dt());
            simulation.clock_settings_mut().set_rate(rate);
        }
        Plain::Stepping(stepping) => simulation.clock_settings_mut().set_stepping(stepping),
        Plain::Smoothing(smoothing) => simulation.smoothing = smoothing,
        Plain::Correction(correction) => simulation.correction = correction,
        Plain::Step(step) => play_step(step),
        Plain::Frame(frame) => {
            let _ = (frame.ticks(), format!("{frame:?}"));
        }
        Plain::Input(mut queue) => {
            queue.push(MS(9), 1);
            play_clock_with(
                Clock::new(Rate::default()),
                |step| queue.drain(step).count(),
                tally,
            );
            let _ = (queue.len(), queue.counts(), queue.drain_all().count());
        }
        Plain::ByTick(mut queue) => {
            let _ = (queue.push(u64::MAX, 1), queue.push(7, 1));
            play_clock_with(
                Clock::new(Rate::default()),
                |step| queue.drain(step).count(),
                tally,
            );
            let _ = (queue.tick(), queue.len(), queue.counts());
        }
        Plain::Sender(mut sender) => {
            for tick in [7, 0, u64::MAX] {
                let _ = sender.schedule(tick, 1).take(100).count();
            }
        }
        Plain::Button(mut button) => {
            for down in [true, true, false] {
                button.set(down);
            }
            let _ = (button.is_down(), button.presses(), button.releases());
            button.start_step();
        }
        Plain::Timer(mut timer) => {
            for time in [Duration::ZERO, MS(5), Duration::MAX, MS(7)] {
                let _ = (timer.frame(time), timer.stamp(time));
                timer.resume(Duration::MAX - time);
                let _ = timer.stamp(time);
            }
        }
        Plain::Key(key) => {
            let _ = (
                simulation.pose(key),
                simulation.physics.body(key).is_some(),
                simulation.physics.remove(key),
            );
        }
        Plain::Unmatched(_) | Plain::Runner(_) | Plain::Recorder(_) | Plain::Ending(_) => return,
    }
    sixty_steps(simulation, tally);
}

fn play_step(step: Step) {
    let mut queue = InputQueue::new(Delivery::ByTime);
    let mut by_tick = TickQueue::new(5, 100);
    for i in 0..4 {
        queue.push(MS(10 * i), 1);
        let _ = by_tick.push(i, 1);
    }
    let _ = (queue.drain(step).count(), by_tick.drain(step).count());
}

fn play_clock(clock: Clock, tally: &mut Tally) {
    play_clock_with(clock, |_| 0, tally);
}

fn play_clock_with(mut clock: Clock, mut at: impl FnMut(Step) -> usize, tally: &mut Tally) {
    for ms in [0, 17, 3, 40, 1_000] {
        let _ = (
            clock.time(),
            clock.alpha(),
            clock.overstep(),
            clock.until_next_step(),
            clock.time_after(MS(ms)),
        );
        for _ in 0..8 {
            let Some(step) = clock.next_step() else { break };
            assert!(step.dt > 0.0 && step.end_time >= step.start_time);
            at(step);
            tally.operations += 2;
        }
        clock.begin_frame(MS(ms));
        assert!((0.0..=1.0).contains(&clock.alpha()));
        tally.operations += 7;
    }
}
