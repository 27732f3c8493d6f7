//! The steps of each stepping. No stepping loses time or runs a step of length zero.

use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::time::{Budget, Clock, Dropped};
use evenstep::{BodyKey, Hooks, Rate, Simulation, Smoothing, Step, Stepping};
use proptest::prelude::*;
use scenes::{MS, PATIENCE, STEPPINGS, flyer_in_space};
use std::time::Duration;

fn clock(hz: u32, stepping: Stepping) -> Clock {
    let mut clock = Clock::new(Rate::hz(hz));
    clock.settings_mut().set_stepping(stepping);
    clock
}

/// Returns the steps of a frame.
fn steps(clock: &mut Clock, elapsed: Duration) -> Vec<Step> {
    clock.begin_frame(elapsed);
    std::iter::from_fn(|| clock.next_step()).collect()
}

/// Returns the number of steps that are due in a frame, and the dropped time.
fn due(clock: &mut Clock, ms: u64) -> (u64, Dropped) {
    let dropped = clock.begin_frame(MS(ms));
    let due = clock.due();
    while clock.next_step().is_some() {}
    (due, dropped)
}

/// Returns the lengths of the steps of each frame, in tenths of a millisecond.
fn lengths(clock: &mut Clock, frames: &[u64]) -> Vec<Vec<u32>> {
    let tenths = |step: &Step| (step.dt * 1e4).round() as u32;
    frames
        .iter()
        .map(|ms| steps(clock, MS(*ms)).iter().map(tenths).collect())
        .collect()
}

#[test]
fn each_stepping_runs_the_steps_that_the_literature_describes() {
    let frames = [4, 10, 25, 0, 31];
    let steps = |stepping| lengths(&mut clock(100, stepping), &frames);
    let none = vec![];
    assert_eq!(
        steps(Stepping::Fixed),
        [
            none.clone(),
            vec![100],
            vec![100, 100],
            none.clone(),
            vec![100, 100, 100, 100]
        ]
    );
    assert_eq!(steps(Stepping::FrameLocked), vec![vec![100]; 5]);
    assert_eq!(
        steps(Stepping::Variable),
        [vec![40], vec![100], vec![250], none.clone(), vec![310]]
    );
    assert_eq!(
        steps(Stepping::SemiFixed),
        [
            vec![40],
            vec![100],
            vec![100, 100, 50],
            none,
            // The last millisecond waits.
            vec![100, 100, 100]
        ]
    );
    assert_eq!(
        steps(Stepping::DisplayCounted),
        [
            vec![100],
            vec![100],
            vec![100, 100],
            vec![100],
            vec![100, 100, 100]
        ]
    );
}

#[test]
fn counted_steps_leave_no_overstep_at_a_fractional_rate() {
    for stepping in [Stepping::FrameLocked, Stepping::DisplayCounted] {
        let mut clock = Clock::new(Rate::fraction(60_000, 1_001));
        clock.settings_mut().set_stepping(stepping);
        for made in 0..10 {
            assert_eq!((due(&mut clock, 16).0, clock.tick()), (1, made + 1));
            assert_eq!(clock.overstep(), Duration::ZERO, "{stepping:?}");
        }
    }
}

#[test]
fn semi_fixed_stepping_ends_a_frame_with_a_shorter_step() {
    let mut clock = clock(100, Stepping::SemiFixed);
    clock.begin_frame(MS(25));
    assert_eq!(clock.time(), MS(25), "even before its steps are run");
    let steps = std::iter::from_fn(|| clock.next_step());
    let ends: Vec<Duration> = steps.map(|step| step.real_end).collect();
    assert_eq!(ends, [MS(10), MS(20), MS(25)]);
}

#[test]
fn pause_stops_every_stepping_and_a_single_step_has_full_length() {
    for stepping in STEPPINGS {
        let mut clock = clock(100, stepping);
        clock.pause();
        assert_eq!(due(&mut clock, 50).0, 0, "{stepping:?}");
        clock.step_once();
        assert_eq!(
            lengths(&mut clock, &[50, 50]),
            [vec![100], vec![]],
            "{stepping:?}"
        );
        clock.resume();
        clock.settings_mut().set_speed(0.0).unwrap();
        assert_eq!(due(&mut clock, 50).0, 0, "{stepping:?}");
    }
}

#[test]
fn a_single_step_requested_while_the_clock_runs_does_not_run_in_the_next_pause() {
    for stepping in STEPPINGS {
        let mut clock = clock(100, stepping);
        clock.step_once();
        clock.pause();
        assert_eq!(due(&mut clock, 50).0, 0, "{stepping:?}");
    }
}

#[test]
fn speed_scales_simulated_time_in_every_stepping() {
    for (stepping, expected) in STEPPINGS.into_iter().zip([10, 10, 20, 20, 10]) {
        let mut clock = clock(100, stepping);
        clock.settings_mut().set_speed(0.5).unwrap();
        for _ in 0..20 {
            due(&mut clock, 10);
        }
        assert_eq!(clock.tick(), expected, "{stepping:?}");
        // In slow motion the same simulated time passes under each stepping.
        let step = (0..2).find_map(|_| steps(&mut clock, MS(20)).first().copied());
        assert_eq!(step.unwrap().start_time, MS(100), "{stepping:?}");
    }
}

#[test]
fn frame_limits_apply_to_steppings_that_follow_elapsed_time() {
    for stepping in [Stepping::Variable, Stepping::SemiFixed, Stepping::Fixed] {
        let mut clock = clock(100, stepping);
        clock.settings_mut().set_max_frame_time(MS(45));
        let dropped = clock.begin_frame(MS(100));
        assert_eq!(dropped.frame_time, MS(55), "{stepping:?}");
        let due = std::iter::from_fn(|| clock.next_step());
        let total: f32 = due.map(|step| step.dt).sum();
        let whole = if stepping == Stepping::Fixed {
            0.04
        } else {
            0.045
        };
        assert!((total - whole).abs() < 1e-6, "{stepping:?}: {total}");
    }
    let mut clock = clock(100, Stepping::SemiFixed);
    clock.settings_mut().set_max_steps_per_frame(Some(3));
    let (due, dropped) = due(&mut clock, 67);
    assert_eq!(
        (due, dropped.steps),
        (3, 4),
        "two whole steps, and the rest of 7 ms"
    );
}

#[test]
fn clock_settings_return_the_values_that_were_set() {
    let mut clock = clock(60, Stepping::Fixed);
    assert_eq!(
        (
            clock.settings().budget(),
            clock.settings().max_steps_per_frame()
        ),
        (None, None)
    );
    let budget = Some(Budget {
        frame: MS(8),
        step: MS(1),
    });
    clock.settings_mut().set_budget(budget);
    clock.settings_mut().set_max_steps_per_frame(Some(7));
    clock.settings_mut().set_max_frame_time(MS(99));
    clock.settings_mut().set_speed(0.25).unwrap();
    clock.settings_mut().set_rate(Rate::hz(50));
    clock.settings_mut().set_stepping(Stepping::SemiFixed);
    clock.pause();
    assert_eq!(
        (
            clock.settings().budget(),
            clock.settings().max_steps_per_frame()
        ),
        (budget, Some(7))
    );
    assert_eq!(
        (clock.settings().max_frame_time(), clock.settings().speed()),
        (MS(99), 0.25)
    );
    assert_eq!(
        (clock.settings().rate(), clock.settings().stepping()),
        (Rate::hz(50), Stepping::SemiFixed)
    );
    assert!(clock.settings().is_paused());
    clock.resume();
    assert!(!clock.settings().is_paused());
}

#[test]
fn a_budget_limits_steps_and_reports_the_dropped_ones() {
    let mut clock = clock(100, Stepping::Fixed);
    let budget = |step| Some(Budget { frame: MS(8), step });
    clock.settings_mut().set_budget(budget(MS(3)));
    let (made, dropped) = due(&mut clock, 57);
    assert_eq!((made, dropped.over_budget, dropped.steps), (2, 3, 0));
    assert_eq!(clock.overstep(), MS(7), "the overstep is kept");
    clock.settings_mut().set_budget(budget(MS(100)));
    assert_eq!(due(&mut clock, 33).0, 1, "at least one step is due");
    clock.settings_mut().set_budget(budget(Duration::ZERO));
    assert_eq!(due(&mut clock, 50).0, 5, "steps that cost nothing");
    clock.settings_mut().set_budget(budget(MS(2)));
    clock.settings_mut().set_max_steps_per_frame(Some(3));
    let (made, dropped) = due(&mut clock, 60);
    assert_eq!(
        (made, dropped.over_budget, dropped.steps),
        (3, 0, 3),
        "the lower limit holds"
    );
    assert_eq!(clock.dropped().over_budget, 3 + 3);
}

/// The usual hand-written loop of Box2D's users: the number of whole steps, rounded down and limited. The rest is
/// dropped, and the fraction is kept.
fn by_hand(accumulator: &mut u64, nanos: u64, step: u64, most: u64) -> u64 {
    *accumulator += nanos;
    let due = *accumulator / step;
    *accumulator %= step;
    due.min(most)
}

proptest! {
    #[test]
    fn max_steps_per_frame_matches_the_usual_box2d_loop(
        frames in prop::collection::vec(0..200_000_000u64, 1..100),
        most in 1..8u32,
    ) {
        let mut clock = clock(50, Stepping::Fixed);
        clock.settings_mut().set_max_steps_per_frame(Some(most));
        let mut accumulator = 0;
        for nanos in frames {
            let expected = by_hand(&mut accumulator, nanos, 20_000_000, most.into());
            clock.begin_frame(Duration::from_nanos(nanos));
            prop_assert_eq!(clock.due(), expected);
            prop_assert_eq!(clock.overstep(), Duration::from_nanos(accumulator));
        }
    }

    #[test]
    fn no_time_is_lost_and_no_step_has_zero_length(
        frames in prop::collection::vec((0..200_000_000u64, 0..5usize), 1..100),
    ) {
        // The strategy changes from frame to frame.
        let mut clock = clock(60, Stepping::Fixed);
        let (mut by_time, mut by_count, mut covered) = (Duration::ZERO, 0, Duration::ZERO);
        let mut simulated = 0.0;
        for (nanos, stepping) in frames {
            clock.settings_mut().set_stepping(STEPPINGS[stepping]);
            match STEPPINGS[stepping] {
                Stepping::FrameLocked => by_count += 1,
                Stepping::DisplayCounted => {
                    let periods = (nanos as f64 * 60e-9 - 0.5).ceil();
                    by_count += periods.clamp(1.0, 2.0) as u32;
                }
                _ => by_time += Duration::from_nanos(nanos),
            }
            for step in steps(&mut clock, Duration::from_nanos(nanos)) {
                prop_assert!(step.dt > 0.0);
                let semi_fixed = STEPPINGS[stepping] != Stepping::Variable;
                prop_assert!(!semi_fixed || step.dt <= Rate::hz(60).dt());
                prop_assert!((step.start_time.as_secs_f64() - simulated).abs() < 1e-5);
                simulated += f64::from(step.dt);
                prop_assert_eq!(step.real_start, covered);
                prop_assert!(step.real_end >= step.real_start);
                prop_assert!(step.real_end <= clock.real_time());
                covered = step.real_end;
            }
        }
        let total = by_time.as_secs_f64() + f64::from(by_count) / 60.0;
        let made = simulated + clock.overstep().as_secs_f64();
        prop_assert!((made - total).abs() < 1e-5, "{made} of {total}");
    }

    #[test]
    fn semi_fixed_and_variable_steps_add_up_to_the_frames_exactly(
        frames in prop::collection::vec(0..250_000_000u64, 1..100),
    ) {
        for stepping in [Stepping::SemiFixed, Stepping::Variable] {
            let mut clock = clock(144, stepping);
            for nanos in &frames {
                let steps = steps(&mut clock, Duration::from_nanos(*nanos));
                let shortest = match stepping {
                    Stepping::SemiFixed => Rate::hz(144).period() / 4,
                    _ => Duration::from_nanos(1),
                };
                let lengths = steps.iter().map(|step| step.end_time - step.start_time);
                prop_assert!(lengths.min().is_none_or(|it| it + Duration::from_nanos(1) >= shortest));
                prop_assert!(clock.overstep() < shortest);
            }
            // The next step starts at the end of all frames, except for a rest that is too short for a step.
            let rest = clock.overstep();
            clock.begin_frame(MS(2));
            let start = clock.next_step().unwrap().start_time;
            let end = Duration::from_nanos(frames.iter().sum());
            prop_assert!((end - rest).abs_diff(start) <= Duration::from_nanos(1));
        }
    }
}

fn flyer(stepping: Stepping) -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_in_space();
    simulation.clock_settings_mut().set_stepping(stepping);
    (simulation, key)
}

#[test]
fn the_frame_reports_the_step_length_that_rapier_uses() {
    for (stepping, x, dt, idle_steps) in [
        (Stepping::Variable, 2.5, 0.025, 0),
        (Stepping::SemiFixed, 2.5, 0.005, 0),
        (Stepping::Fixed, 2.0, 0.01, 0),
        (Stepping::FrameLocked, 1.0, 0.01, 1),
    ] {
        let (mut simulation, key) = flyer(stepping);
        let frame = simulation.advance(MS(25), |_, _| ());
        assert!((frame.dt - dt).abs() < 1e-6, "{stepping:?}: {}", frame.dt);
        let at = simulation.physics.body(key).unwrap().translation().x;
        assert!((at - x).abs() < 1e-4, "{stepping:?}: {at}");
        let idle = simulation.advance(Duration::ZERO, |_, _| ());
        assert_eq!((idle.steps, idle.dt), (idle_steps, frame.dt));
    }
}

#[test]
fn steppings_without_overstep_display_the_latest_state() {
    for stepping in STEPPINGS {
        let (mut simulation, key) = flyer(stepping);
        simulation.advance(MS(27), |_, _| ());
        let (previous, current) = (
            previous_pose(&simulation, key),
            current_pose(&simulation, key),
        );
        assert_ne!(previous, current);
        if stepping == Stepping::Fixed {
            assert_ne!(simulation.pose(key), current);
        } else {
            assert_eq!(simulation.pose(key), current, "{stepping:?}");
            assert_eq!(simulation.moved(), [(key, current.unwrap())]);
            assert_eq!(simulation.frame().alpha, 1.0);
        }
        // The overstep that one stepping leaves goes into the first step of the next one.
        simulation
            .clock_settings_mut()
            .set_stepping(Stepping::Variable);
        let frame = simulation.advance(MS(1), |_, _| ());
        let expected = if stepping == Stepping::Fixed {
            0.008
        } else {
            0.001
        };
        assert!(
            (frame.dt - expected).abs() < 1e-6,
            "{stepping:?}: {}",
            frame.dt
        );
    }
}

#[test]
fn frame_locked_stepping_does_not_extrapolate() {
    let (mut simulation, key) = flyer(Stepping::FrameLocked);
    simulation.smoothing = Smoothing::Extrapolate;
    for _ in 0..3 {
        let frame = simulation.advance(MS(27), |_, _| ());
        assert_eq!(frame.alpha, 1.0);
        assert_eq!(simulation.pose(key), current_pose(&simulation, key));
    }
}

#[test]
fn extrapolation_has_no_latency() {
    let (mut simulation, key) = flyer(Stepping::Fixed);
    simulation.smoothing = Smoothing::Extrapolate;
    for ms in 21..60 {
        let frame_time = if ms == 21 { MS(21) } else { MS(1) };
        let frame = simulation.advance(frame_time, |_, _| ());
        let shown = simulation.pose(key).unwrap();
        assert!(
            (shown.translation.x - 0.1 * ms as f32).abs() < 1e-4,
            "{ms}: {shown:?}"
        );
        assert_eq!(
            simulation.pose_at(key, frame.tick, frame.alpha),
            Some(shown)
        );
        assert_eq!(simulation.moved(), [(key, shown)]);
    }
    // A body at rest is displayed at its true pose.
    simulation.physics.body_mut(key).unwrap().sleep();
    for _ in 0..3 {
        simulation.advance(MS(13), |_, _| ());
    }
    assert_eq!(
        simulation.pose(key),
        Some(*simulation.physics.body(key).unwrap().position())
    );
    assert_eq!(simulation.moved(), []);
}

#[test]
fn only_fixed_and_display_counted_bits_match_at_30_and_60_fps() {
    let end = |stepping, fps: u32| {
        let mut yard = scenes::Yard::new(Rate::hz(60));
        yard.simulation.clock_settings_mut().set_stepping(stepping);
        let frame = Duration::from_secs(1) / fps + Duration::from_nanos(1);
        for _ in 0..2 * fps {
            yard.advance(frame);
        }
        scenes::hash(yard.simulation.physics.rapier())
    };
    for (stepping, same) in STEPPINGS.into_iter().zip([true, false, false, true, true]) {
        let equal = end(stepping, 60) == end(stepping, 30);
        assert_eq!(equal, same, "{stepping:?}");
    }
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<evenstep::rapier::math::Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<evenstep::rapier::math::Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

#[test]
fn a_frame_of_maximum_duration_does_not_panic_in_any_loop() {
    let most = Duration::MAX;
    let (mut simulation, _) = flyer(Stepping::Fixed);
    simulation.begin_frame(most);
    simulation.begin_frame(most);
    simulation.end_frame();
    simulation.advance(most, |_, _| ());
    assert_eq!(simulation.clock().real_time(), most);
    let mut overlap = Overlap::new(simulation).unwrap();
    for frame_time in [Duration::ZERO, MS(20), most] {
        overlap.frame(frame_time, &mut Idle).unwrap();
    }
    let mut runner =
        Runner::new(overlap.stop(&mut Idle).0, Idle, RunnerSettings::default()).unwrap();
    let question = runner.ask(|simulation| simulation.physics.tick()).unwrap();
    runner.frame();
    let call = |simulation: &mut Simulation, _: &mut Idle| simulation.pause();
    runner.call(call).unwrap();
    assert!(question.wait(PATIENCE).is_some());
    assert!(runner.failures().is_empty());
    assert!(runner.stop().0.physics.tick() > 0);
}

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

#[test]
fn counted_steps_report_the_time_that_they_lose_or_gain() {
    for stepping in [Stepping::FrameLocked, Stepping::DisplayCounted] {
        for (frames_per_second, hz) in [(60, 240), (75, 240), (144, 240), (144, 60), (50, 60)] {
            let mut clock = clock(hz, stepping);
            let frame = Duration::from_secs(1) / frames_per_second;
            let (mut lost, mut gained) = (Duration::ZERO, Duration::ZERO);
            for _ in 0..frames_per_second {
                let dropped = clock.begin_frame(frame);
                (lost, gained) = (lost + dropped.uncounted, gained + dropped.overcounted);
                while clock.next_step().is_some() {}
            }
            let all = clock.dropped();
            assert_eq!((all.uncounted, all.overcounted), (lost, gained));
            let accounted = frame * frames_per_second + gained - lost;
            let off = accounted.abs_diff(clock.time());
            assert!(
                off <= Duration::from_nanos(frames_per_second.into()),
                "{off:?}"
            );
        }
    }
    // At 144 Hz two steps of 240 Hz take 8.3 ms of a frame of 6.9 ms.
    let mut fast = clock(240, Stepping::DisplayCounted);
    let dropped = fast.begin_frame(Duration::from_micros(6_944));
    assert_eq!(dropped.overcounted, Duration::from_nanos(1_389_333));
    // A hitch is cut to the steps of a display at 30 Hz.
    let dropped = fast.begin_frame(Duration::from_secs(1));
    assert_eq!(dropped.uncounted, Duration::from_nanos(966_666_667));
    fast.pause();
    assert_eq!(fast.begin_frame(MS(50)).uncounted, Duration::ZERO);
    fast.resume();
    fast.settings_mut().set_speed(0.0).unwrap();
    assert_eq!(fast.begin_frame(MS(50)), evenstep::time::Dropped::default());
}
