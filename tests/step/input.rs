//! Input across events of a session: clamps, level restarts, bad stamps, pauses.

use evenstep::input::{Button, Delivery, InputQueue, TickCounts, TickQueue, TickSender};
use evenstep::rewind::Kept;
use evenstep::{Physics, Rate, Simulation};
use proptest::prelude::*;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn simulation() -> Simulation {
    Simulation::new(Rate::hz(100))
}

/// Advances frame by frame. Returns the inputs of each step that had some, by tick.
fn play<T>(
    simulation: &mut Simulation,
    frames: &[u64],
    queue: &mut InputQueue<T>,
) -> Vec<(u64, T)> {
    let mut played = Vec::new();
    for &frame in frames {
        simulation.advance(MS(frame), |_, step| {
            played.extend(queue.drain(step).map(|sample| (step.tick, sample.input)));
        });
    }
    played
}

#[test]
fn input_is_delivered_in_its_own_step_after_the_clock_restarts() {
    for clears in [false, true] {
        let mut queue = InputQueue::new(Delivery::ByTime);
        let mut level = simulation();
        queue.push(MS(95), 1);
        queue.push(MS(105), 2); // still waits when the level ends
        assert_eq!(play(&mut level, &[100], &mut queue), [(9, 1)]);

        let mut level = simulation();
        if clears {
            queue.clear();
        }
        queue.push(MS(5), 3);
        queue.push(MS(25), 4);
        let mut played = play(&mut level, &[30], &mut queue);
        queue.push(MS(31), 5);
        played.extend(play(&mut level, &[10], &mut queue));
        // A waiting stamp of the old clock is later than the next one, and counts as that.
        let old: &[_] = if clears { &[] } else { &[(0, 2)] };
        assert_eq!(played, [old, &[(0, 3), (2, 4), (3, 5)]].concat());
        // Once at the end of its frame, and once by the next stamp.
        assert_eq!(queue.counts().corrected, 1 + u64::from(!clears));
    }
}

#[test]
fn a_sample_with_a_far_future_time_stamp_delays_no_sample() {
    for lead in [MS(50), MS(1_900), Duration::MAX] {
        let mut queue = InputQueue::new(Delivery::ByTime);
        queue.push(MS(3), 1);
        queue.push(lead, 2);
        queue.push(MS(5), 3);
        queue.push(MS(15), 4);
        let played = play(&mut simulation(), &[20], &mut queue);
        assert_eq!(played, [(0, 1), (0, 2), (0, 3), (1, 4)], "{lead:?}");
        assert_eq!(queue.counts().corrected, 1);
    }
}

#[test]
fn a_future_time_stamp_delays_other_samples_by_at_most_two_steps() {
    for speed in [0.1, 1.0, 5.0] {
        for lead in 0..300 {
            let mut queue = InputQueue::new(Delivery::ByTime);
            let mut simulation = simulation();
            simulation.clock_settings_mut().set_speed(speed).unwrap();
            play(&mut simulation, &[200], &mut queue);
            queue.push(MS(200 + lead), 1);
            queue.push(MS(201), 2);
            let first = simulation.physics.tick();
            let mut played = Vec::new();
            while played.len() < 2 {
                played.extend(play(&mut simulation, &[1], &mut queue));
            }
            assert!(
                played[1].0 <= first + 2,
                "{speed} {lead} {played:?} {first}"
            );
        }
    }
}

/// The samples of steps, with their ticks.
type Played = Vec<(u64, u64)>;

/// Runs a rollback after five frames, with late samples for a past step and one for the next step.
fn resimulated(delivery: Delivery) -> (Played, Played, InputQueue<u64>) {
    let (mut simulation, mut queue) = (simulation(), InputQueue::new(delivery));
    simulation.keep(Kept {
        ticks: 60,
        ..simulation.kept()
    });
    let (mut played, mut again) = (Vec::new(), Vec::new());
    for frame in 0..8 {
        for time in (frame * 15..frame * 15 + 15).step_by(5) {
            queue.push(MS(time), time);
        }
        played.extend(play(&mut simulation, &[15], &mut queue));
        if frame == 4 {
            assert_eq!(simulation.physics.tick(), 7); // the step from 70 to 80 ms is not due
            queue.push(MS(79), 79);
            queue.push(MS(33), 33);
            queue.push(MS(31), 31);
            let drain = |_: &mut Physics, step: evenstep::Step| {
                again.extend(queue.drain(step).map(|sample| (step.tick, sample.input)));
            };
            simulation.resimulate(1, drain).unwrap();
        }
    }
    (played, again, queue)
}

#[test]
fn a_resimulated_step_receives_only_its_own_late_samples() {
    let (played, again, queue) = resimulated(Delivery::ByTime);
    assert_eq!(again, [(3, 33), (3, 31)]);
    let expected = (0..24).map(|sample| (sample / 2, sample * 5));
    let mut expected: Vec<_> = expected.filter(|(tick, _)| *tick < 12).collect();
    expected.insert(15, (7, 79));
    assert_eq!(played, expected);
    let counts = queue.counts();
    assert_eq!((counts.corrected, counts.late, queue.len()), (1, 0, 0));
}

#[test]
fn next_step_delivery_skips_resimulated_steps() {
    let (played, again, _) = resimulated(Delivery::NextStep);
    assert_eq!(again, []);
    let late = [79, 33, 31];
    assert!(late.map(|sample| played.contains(&(7, sample))) == [true; 3]);
    assert_eq!(played.len(), 24 + 3);
}

/// Runs frames of 60 Hz with hitches, under both clamps, with a pause now and then.
fn rough_frames(simulation: &mut Simulation, mut frame: impl FnMut(&mut Simulation, Duration)) {
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(3));
    for number in 0u64.. {
        if simulation.physics.tick() >= 120 {
            break;
        }
        match number % 20 {
            7 => simulation.pause(),
            9 => simulation.resume(),
            _ => (),
        }
        let long = if number.is_multiple_of(6) { 300 } else { 0 };
        frame(simulation, MS(17 + long));
    }
}

#[test]
fn input_by_tick_is_delivered_in_its_step_despite_dropped_time() {
    let mut queue = TickQueue::new(0, 119);
    for tick in 0..120 {
        queue.push(tick, tick).unwrap();
    }
    let mut played = Vec::new();
    rough_frames(&mut simulation(), |simulation, frame_time| {
        simulation.advance(frame_time, |_, step| {
            played.extend(queue.drain(step).map(|input| (step.tick, input)));
        });
    });
    played.truncate(120);
    assert!(played.iter().copied().eq((0..120).map(|tick| (tick, tick))));
    assert_eq!(queue.counts(), TickCounts::default());
}

/// This is the reason for a queue by tick: `tick / rate` is the real time of that tick's step only while no time is
/// dropped.
#[test]
fn ticks_converted_to_time_stamps_miss_their_step_after_dropped_time() {
    let mut queue = InputQueue::new(Delivery::ByTime);
    let mut stamps = (0..120u64).map(|tick| (MS(tick * 10), tick)).peekable();
    let mut in_their_step = 0;
    rough_frames(&mut simulation(), |simulation, frame_time| {
        let end = simulation.clock().real_time() + frame_time;
        while let Some((time, tick)) = stamps.next_if(|(time, _)| *time < end) {
            queue.push(time, tick);
        }
        simulation.advance(frame_time, |_, step| {
            let own = queue.drain(step).filter(|s| s.input == step.tick);
            in_their_step += own.count();
        });
    });
    assert!(in_their_step < 60, "{in_their_step} of 120");
}

/// Runs a step, which drains the queue. Returns its tick and its samples.
fn step(simulation: &mut Simulation, queue: &mut TickQueue<u64>) -> (u64, Vec<u64>) {
    let mut played = None;
    simulation.advance(MS(10), |_, step| {
        played = Some((step.tick, queue.drain(step).collect()));
    });
    played.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(256)))]

    /// A player's input delay changes in any step. Some packets are lost, and the next one repeats their samples.
    #[test]
    fn sender_and_receiver_play_one_and_the_same_sample_in_each_tick(
        steps in prop::collection::vec((0..10u64, any::<bool>()), 1..80),
    ) {
        let (mut here, mut there) = (simulation(), simulation());
        let mut queues = [TickQueue::new(0, 99), TickQueue::new(0, 99)];
        let (mut sender, mut sent) = (TickSender::new(0, 1_000), Vec::new());
        let mut played = [Vec::new(), Vec::new()];
        for (delay, is_lost) in steps {
            let tick = here.physics.tick();
            for (tick, input) in sender.schedule(tick + delay, tick) {
                queues[0].push(tick, input).unwrap();
                sent.push((tick, input));
            }
            played[0].push(step(&mut here, &mut queues[0]));
            if is_lost {
                continue;
            }
            for (tick, input) in &sent[there.physics.tick() as usize..] {
                queues[1].push(*tick, *input).unwrap();
            }
            while there.physics.tick() < sent.len() as u64 {
                played[1].push(step(&mut there, &mut queues[1]));
            }
        }
        while here.physics.tick() < sent.len() as u64 {
            played[0].push(step(&mut here, &mut queues[0]));
        }
        let expected = sent.iter().map(|(tick, input)| (*tick, vec![*input]));
        prop_assert_eq!(&played[0], &expected.collect::<Vec<_>>());
        prop_assert_eq!(&played[1], &played[0][..played[1].len()]);
        prop_assert_eq!(queues.map(|queue| queue.counts()), [TickCounts::default(); 2]);
    }
}

/// Two keys of a game with a pause menu.
#[derive(Default)]
struct Keys {
    walk: Button,
    fire: Button,
}

#[derive(Clone, Copy)]
enum Key {
    Walk(bool),
    Fire(bool),
}

impl Keys {
    fn set(&mut self, key: Key) {
        match key {
            Key::Walk(down) => self.walk.set(down),
            Key::Fire(down) => self.fire.set(down),
        }
    }

    /// Runs a frame of 10 ms, with a step, or without one in the menu. Returns the presses and releases that the game
    /// saw.
    fn frame(&mut self, simulation: &mut Simulation, queue: &mut InputQueue<Key>) -> [u32; 4] {
        let mut seen = [0; 4];
        if simulation.clock().settings().is_paused() {
            queue.drain_all().for_each(|key| self.set(key));
        }
        simulation.advance(MS(10), |_, step| {
            self.walk.start_step();
            self.fire.start_step();
            for sample in queue.drain(step) {
                self.set(sample.input);
            }
            let Self { walk, fire } = *self;
            seen = [
                walk.presses(),
                walk.releases(),
                fire.presses(),
                fire.releases(),
            ];
        });
        seen
    }
}

#[test]
fn key_states_are_current_after_a_pause_and_menu_presses_are_ignored() {
    let (mut simulation, mut queue) = (simulation(), InputQueue::new(Delivery::ByTime));
    let mut keys = Keys::default();
    queue.push(MS(5), Key::Walk(true));
    assert_eq!(keys.frame(&mut simulation, &mut queue), [1, 0, 0, 0]);

    simulation.pause();
    let in_the_menu = [
        Key::Fire(true),
        Key::Walk(false),
        Key::Fire(false),
        Key::Fire(true),
    ];
    for key in in_the_menu {
        queue.push(simulation.clock().real_time() + MS(5), key);
        assert_eq!(keys.frame(&mut simulation, &mut queue), [0; 4]);
    }
    simulation.resume();

    // The key that was released in the menu is up, the one still held is down, and neither has just changed.
    assert_eq!(keys.frame(&mut simulation, &mut queue), [0; 4]);
    assert_eq!((keys.walk.is_down(), keys.fire.is_down()), (false, true));
    queue.push(simulation.clock().real_time() + MS(5), Key::Fire(false));
    assert_eq!(keys.frame(&mut simulation, &mut queue), [0, 0, 0, 1]);
}

#[test]
fn a_time_stamp_after_the_frame_counts_as_its_end() {
    let mut queue = InputQueue::new(Delivery::ByTime);
    let mut level = simulation();
    queue.push(MS(10), 1); // the frame's end, which belongs to the next step
    assert_eq!(play(&mut level, &[10], &mut queue), []);
    assert_eq!(queue.counts().corrected, 0);
    queue.push(MS(20) + Duration::from_nanos(1), 2);
    assert_eq!(play(&mut level, &[10], &mut queue), [(1, 1)]);
    assert_eq!(queue.counts().corrected, 1);
    assert_eq!(play(&mut level, &[10], &mut queue), [(2, 2)]);
}

/// The hook of a step fails after it has drained the queue, and is called again. Later packets repeat the last ticks.
#[test]
fn a_queue_remembers_the_samples_of_a_step_that_drains_it_again() {
    let mut simulation = simulation();
    let mut queue = TickQueue::new(0, 100);
    (0..4).for_each(|tick| queue.push_once(tick, tick).unwrap());
    simulation.begin_frame(MS(40));
    while let Some(step) = simulation.next_step() {
        queue.drain(step).for_each(drop);
        if step.tick == 3 {
            break;
        }
        simulation.run_step();
    }
    simulation.end_frame();
    simulation.advance(MS(10), |_, step| queue.drain(step).for_each(drop));
    assert_eq!(simulation.physics.tick(), 4);
    for tick in 0..4 {
        assert_eq!(queue.push_once(tick, tick), Ok(()), "tick {tick}");
    }
}

/// The queue goes back to a late sample's tick, and packets repeat samples from before it.
#[test]
fn a_queue_that_goes_back_remembers_the_samples_before() {
    let mut simulation = simulation();
    simulation.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    let mut queue = TickQueue::new(0, 100);
    let others = (0..10).filter(|tick| *tick != 6);
    others.for_each(|tick| queue.push_once(tick, tick).unwrap());
    simulation.advance(MS(100), |_, step| queue.drain(step).for_each(drop));
    queue.push_once(6, 6).unwrap_err();
    queue.set_tick(6);
    (6..10).for_each(|tick| queue.push_once(tick, tick).unwrap());
    let mut got = Vec::new();
    simulation
        .resimulate(6, |_, step| got.extend(queue.drain(step)))
        .unwrap();
    assert_eq!(got, [6, 7, 8, 9]);
    for tick in 4..10 {
        assert_eq!(queue.push_once(tick, tick), Ok(()), "tick {tick}");
    }
}
