use super::*;
use crate::time::{Clock, Rate};
use proptest::prelude::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn clock() -> Clock {
    Clock::new(Rate::hz(100))
}

/// Returns the inputs that each step of a frame gets, with its tick.
fn frame(clock: &mut Clock, ms: u64, queue: &mut InputQueue<u32>) -> Vec<(u64, Vec<u32>)> {
    let mut steps = Vec::new();
    clock.begin_frame(MS(ms));
    while let Some(step) = clock.next_step() {
        let inputs = queue.drain(step).map(|sample| sample.input).collect();
        steps.push((step.tick, inputs));
    }
    steps
}

proptest! {
    #![proptest_config(crate::testing::random(256))]

    #[test]
    fn every_input_sample_is_delivered_once_in_the_step_that_covers_it(
        frames in prop::collection::vec(0..60_000_000u64, 1..60),
        gaps in prop::collection::vec(0..20_000_000u64, 0..200),
    ) {
        let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
        let mut stamps = Vec::new();
        let mut at = 0;
        for gap in gaps {
            at += gap;
            stamps.push(at);
        }
        let mut pushed = 0;
        let mut taken = Vec::new();
        for nanos in frames {
            // A frame's input arrives before the frame is run, as in a real loop.
            let end = clock.real_time() + Duration::from_nanos(nanos);
            while pushed < stamps.len() && Duration::from_nanos(stamps[pushed]) < end {
                queue.push(Duration::from_nanos(stamps[pushed]), stamps[pushed]);
                pushed += 1;
            }
            clock.begin_frame(Duration::from_nanos(nanos));
            while let Some(step) = clock.next_step() {
                for sample in queue.drain(step) {
                    prop_assert_eq!(sample.input / 10_000_000, step.tick);
                    #[expect(clippy::cast_precision_loss)]
                    let expected = (sample.input % 10_000_000) as f32 / 1e7;
                    prop_assert!((sample.fraction - expected).abs() < 1e-6);
                    prop_assert!(sample.fraction < 1.0);
                    taken.push(sample.input);
                }
            }
        }
        let made = clock.tick() * 10_000_000;
        let due: Vec<u64> = stamps.into_iter().filter(|stamp| *stamp < made).collect();
        prop_assert_eq!(taken, due);
        prop_assert_eq!(queue.counts(), InputCounts::default());
    }

    #[test]
    fn no_sample_is_lost_or_duplicated_with_any_clock_and_stamps(
        frames in prop::collection::vec(
            (0..400_000_000u64, 0..5u32, any::<bool>(), prop::bool::weighted(0.1)),
            1..60,
        ),
        stamps in prop::collection::vec((0..60usize, 0..9_000_000_000u64), 0..200),
        in_next_step: bool,
    ) {
        let delivery = if in_next_step { Delivery::NextStep } else { Delivery::ByTime };
        let (mut clock, mut queue) = (clock(), InputQueue::new(delivery));
        clock.settings_mut().set_max_steps_per_frame(Some(10));
        let mut pushed = Vec::new();
        let mut taken = Vec::new();
        for (i, (nanos, speed, pause, restart)) in frames.into_iter().enumerate() {
            if restart {
                clock = Clock::new(Rate::hz(100));
                clock.settings_mut().set_max_steps_per_frame(Some(10));
            }
            for (id, (_, stamp)) in stamps.iter().enumerate().filter(|(_, (f, _))| *f == i) {
                queue.push(Duration::from_nanos(*stamp), id);
                pushed.push(id);
            }
            clock.settings_mut().set_speed(f64::from(speed) / 2.0).unwrap();
            if pause { clock.pause(); clock.step_once() } else { clock.resume() }
            clock.begin_frame(Duration::from_nanos(nanos));
            while let Some(step) = clock.next_step() {
                for sample in queue.drain(step) {
                    prop_assert!((0.0..1.0).contains(&sample.fraction));
                    taken.push(sample.input);
                }
            }
        }
        taken.extend(queue.waiting.iter().map(|(_, id)| *id));
        prop_assert_eq!(taken, pushed);
    }
}

#[test]
fn frames_without_or_with_several_steps_lose_and_duplicate_no_sample() {
    let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
    queue.push(MS(2), 1);
    assert!(frame(&mut clock, 4, &mut queue).is_empty());
    queue.push(MS(5), 2);
    queue.push(MS(25), 3);
    assert_eq!((queue.len(), queue.is_empty()), (3, false));
    let steps = frame(&mut clock, 30, &mut queue);
    assert_eq!(steps, [(0, vec![1, 2]), (1, vec![]), (2, vec![3])]);
    assert_eq!((queue.len(), queue.is_empty()), (0, true));
}

#[test]
fn next_step_delivery_ignores_stamps_and_uses_the_first_step() {
    let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::NextStep));
    queue.push(MS(5), 1);
    queue.push(MS(25), 2);
    assert_eq!(
        frame(&mut clock, 30, &mut queue),
        [(0, vec![1, 2]), (1, vec![]), (2, vec![])]
    );
    assert_eq!(queue.counts(), InputCounts::default());
}

#[test]
fn late_samples_go_to_the_next_step_and_are_counted() {
    let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
    frame(&mut clock, 20, &mut queue);
    queue.push(MS(15), 1);
    queue.push(MS(20), 2); // the step's start: in time
    queue.push(MS(24), 3);
    clock.begin_frame(MS(10));
    let step = clock.next_step().unwrap();
    let taken: Vec<_> = queue.drain(step).map(|s| (s.input, s.fraction)).collect();
    assert_eq!(taken, [(1, 0.0), (2, 0.0), (3, 0.4)]);
    assert_eq!(queue.counts().late, 1);
}

#[test]
fn polled_input_waits_a_frame_with_by_time_but_not_with_next_step() {
    for (delivery, expected) in [
        (Delivery::ByTime, [vec![], vec![1], vec![2]]),
        (Delivery::NextStep, [vec![1], vec![2], vec![3]]),
    ] {
        // At 30 frames and 60 steps per second, each input goes to the first of two steps.
        let mut clock = Clock::new(Rate::hz(60));
        let mut queue = InputQueue::new(delivery);
        let second = Duration::from_secs(1);
        for (input, expected) in (1..).zip(expected) {
            let frame_time = second / 30 + Duration::from_nanos(1);
            queue.push(clock.real_time() + frame_time, input);
            clock.begin_frame(frame_time);
            let mut got = Vec::new();
            while let Some(step) = clock.next_step() {
                got.push(queue.drain(step).map(|s| s.input).collect::<Vec<_>>());
            }
            assert_eq!(got, [expected, vec![]]);
        }
    }
}

#[test]
fn input_in_a_pause_goes_to_the_next_single_or_resumed_step() {
    let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
    clock.pause();
    queue.push(MS(100), 1);
    assert!(frame(&mut clock, 200, &mut queue).is_empty());
    clock.step_once();
    assert_eq!(frame(&mut clock, 200, &mut queue), [(0, vec![1])]);
    queue.push(MS(500), 2);
    frame(&mut clock, 3_000, &mut queue);
    clock.resume();
    assert_eq!(frame(&mut clock, 10, &mut queue), [(1, vec![2])]);
    assert_eq!(queue.counts(), InputCounts::default());
}

#[test]
fn a_stamp_later_than_its_frame_or_the_next_stamp_counts_as_that() {
    let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
    queue.push(MS(8), 1); // counts as 3 ms
    queue.push(MS(3), 2);
    queue.push(Duration::MAX, 3); // counts as 9 ms
    queue.push(MS(9), 4);
    queue.push(MS(18), 5); // counts as 10 ms, the end of the frame
    assert_eq!(frame(&mut clock, 10, &mut queue), [(0, vec![1, 2, 3, 4])]);
    queue.push(MS(21), 6);
    assert_eq!(
        frame(&mut clock, 20, &mut queue),
        [(1, vec![5]), (2, vec![6])]
    );
    let expected = InputCounts {
        corrected: 3,
        ..InputCounts::default()
    };
    assert_eq!(queue.counts(), expected);
}

#[test]
fn a_stamp_in_the_future_does_not_delay_later_samples() {
    // There are 144 steps per second, five in a frame. The first stamp is at the frame's end or after it.
    for ahead in [0, 6, 7, 1_000] {
        let mut clock = Clock::new(Rate::hz(144));
        let mut queue = InputQueue::new(Delivery::ByTime);
        for start in [0, 35, 70] {
            queue.push(MS(start + 35 + ahead), 1);
            queue.push(MS(start + 3), 2);
            queue.push(MS(start + 17), 3);
            let steps = frame(&mut clock, 35, &mut queue);
            let inputs = steps.iter().filter(|(_, inputs)| !inputs.is_empty());
            let tick = |ms| ms * 144 / 1_000;
            let expected = [(tick(start + 3), vec![1, 2]), (tick(start + 17), vec![3])];
            assert!(inputs.eq(&expected), "{ahead}: {steps:?}");
        }
        assert_eq!((queue.counts().corrected, queue.counts().late), (3, 0));
    }
}

#[test]
fn drain_all_returns_queued_samples_once() {
    let (mut clock, mut queue) = (clock(), InputQueue::new(Delivery::ByTime));
    queue.push(MS(2), 1);
    queue.push(MS(19), 2);
    assert_eq!(frame(&mut clock, 10, &mut queue), [(0, vec![1])]);
    queue.push(MS(12), 3);
    assert_eq!(queue.drain_all().collect::<Vec<_>>(), [2, 3]);
    assert!(queue.is_empty());
    queue.push(Duration::MAX, 4);
    queue.push(MS(11), 5);
    assert_eq!(frame(&mut clock, 10, &mut queue), [(1, vec![4, 5])]);
}
