//! The displayed time never goes back, and the displayed poses are those of that time.

use evenstep::rapier::prelude::Vector;
use evenstep::rewind::Kept;
use evenstep::threads::Overlap;
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use scenes::{MS, advance, assert_near, flyer_in_space, shown_x, stepped_x};
use std::time::Duration;

const SMOOTHINGS: [Smoothing; 4] = [
    Smoothing::Interpolate,
    Smoothing::Hermite,
    Smoothing::Extrapolate,
    Smoothing::Latest,
];

/// A change before a frame.
type Change = fn(&mut Simulation);

fn set_rate(simulation: &mut Simulation, hz: u32) {
    let rate = Rate::hz(hz);
    simulation.clock_settings_mut().set_rate(rate);
}

fn set_stepping(simulation: &mut Simulation, stepping: Stepping) {
    simulation.clock_settings_mut().set_stepping(stepping);
}

/// Changes that follow each other, some frames apart.
const CHANGES: [(&str, &[Change]); 6] = [
    (
        "from 240 to 60 Hz and back",
        &[
            |simulation| set_rate(simulation, 240),
            |simulation| set_rate(simulation, 60),
        ],
    ),
    (
        "from 60 to 30 Hz and back",
        &[
            |simulation| set_rate(simulation, 60),
            |simulation| set_rate(simulation, 30),
        ],
    ),
    (
        "to rates without a common divisor",
        &[
            |simulation| set_rate(simulation, 7),
            |simulation| set_rate(simulation, 144),
            |simulation| set_rate(simulation, 11),
            |simulation| set_rate(simulation, 500),
        ],
    ),
    (
        "to steppings without a rest and back",
        &[
            |simulation| set_stepping(simulation, Stepping::FrameLocked),
            |simulation| set_stepping(simulation, Stepping::Fixed),
            |simulation| set_stepping(simulation, Stepping::Variable),
            |simulation| set_stepping(simulation, Stepping::Fixed),
            |simulation| set_stepping(simulation, Stepping::SemiFixed),
            |simulation| set_stepping(simulation, Stepping::Fixed),
            |simulation| set_stepping(simulation, Stepping::DisplayCounted),
            |simulation| set_stepping(simulation, Stepping::Fixed),
        ],
    ),
    (
        "of the speed, with pauses",
        &[
            |simulation| simulation.clock_settings_mut().set_speed(0.1).unwrap(),
            Simulation::pause,
            |simulation| simulation.clock_settings_mut().set_speed(3.0).unwrap(),
            Simulation::resume,
            |simulation| simulation.clock_settings_mut().set_speed(0.0).unwrap(),
            |simulation| simulation.clock_settings_mut().set_speed(1.0).unwrap(),
        ],
    ),
    (
        "of the rate during a pause with single steps",
        &[
            |simulation| set_rate(simulation, 240),
            Simulation::pause,
            |simulation| set_rate(simulation, 60),
            Simulation::step_once,
            |simulation| simulation.step_once(),
            Simulation::resume,
        ],
    ),
];

/// The time and the position that the last frame displayed.
#[derive(Clone, Copy, Default)]
struct Seen {
    time: Duration,
    x: f32,
    /// The longest step at a rate since the last step, or that step.
    longest: f64,
}

impl Seen {
    /// Checks the picture of a frame. The flyer moves 100 m per second.
    fn check(&mut self, simulation: &Simulation, key: BodyKey, what: &str) {
        let (frame, x) = (simulation.frame(), shown_x(simulation, key));
        let last = self.time;
        assert!(
            frame.time >= last,
            "{what}: {:?} after {last:?}",
            frame.time
        );
        // An extrapolated body goes back to a state that is displayed until the next step.
        let goes_back = simulation.smoothing == Smoothing::Extrapolate && frame.alpha == 1.0;
        assert!(
            goes_back || x >= self.x - 2e-4,
            "{what}: {x} m after {} m",
            self.x
        );
        (self.time, self.x) = (frame.time, x);
        if simulation.steps_to_resimulate() > 0 {
            // The frame repeats a picture.
            return assert_eq!(frame.time, last, "{what}");
        }
        // The picture is between the last two states.
        let physics = &simulation.physics;
        let dt = f64::from(frame.dt);
        let late = physics.time().as_secs_f64() - frame.time.as_secs_f64();
        assert!((0.0..=dt + 2e-9).contains(&late), "{what}: {late}");
        let of_time = 100.0 * frame.time.as_secs_f64() as f32;
        match simulation.smoothing {
            Smoothing::Latest => assert_eq!(x, stepped_x(physics, key), "{what}"),
            Smoothing::Extrapolate => assert!(x >= stepped_x(physics, key) - 2e-4, "{what}"),
            _ => assert!(
                (x - of_time).abs() < 1e-3 + 2e-4 * x,
                "{what}: {x} is not {of_time}"
            ),
        }
    }

    /// Checks that the picture does not leap in a frame in which this much time was simulated. If the steps become
    /// shorter, it leaps by at most their difference, and otherwise to the state.
    fn check_leap(&mut self, before: &Self, simulation: &Simulation, gained: Duration, what: &str) {
        let (frame, settings) = (simulation.frame(), simulation.clock().settings());
        let [dt, period] = [frame.dt.into(), settings.rate().dt_f64()];
        let longest = before.longest.max(dt);
        let shortest = if frame.alpha < 1.0 {
            period.min(dt)
        } else {
            0.0
        };
        let leap = frame.time.as_secs_f64() - (before.time + gained).as_secs_f64();
        let most = longest - shortest;
        assert!(leap <= most + 1e-7, "{what}: {leap} s instead of {most} s");
        self.longest = if frame.steps > 0 { dt } else { longest }.max(period);
    }
}

/// Runs frames. `frame` runs one, in which it may drop or hold time.
fn run(
    (mut simulation, key): (Simulation, BodyKey),
    what: &str,
    drops_time: bool,
    mut frame: impl FnMut(&mut Simulation, u64, Duration),
) {
    let mut seen = Seen::default();
    for number in 0..300 {
        let frame_time = MS([3, 7, 1, 0, 11, 4, 16, 2, 33][number as usize % 9]);
        let before = simulation.clock().time();
        frame(&mut simulation, number, frame_time);
        let gained = simulation.clock().time().saturating_sub(before);
        let (what, last) = (format!("{what} in frame {number}"), seen);
        seen.check(&simulation, key, &what);
        if !drops_time {
            seen.check_leap(&last, &simulation, gained, &what);
        }
    }
    assert!(seen.x > 10.0, "{what}: {} m", seen.x);
}

fn flyer(smoothing: Smoothing) -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_in_space();
    simulation.smoothing = smoothing;
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    (simulation, key)
}

#[test]
fn the_displayed_time_never_goes_back_when_a_setting_of_the_clock_changes() {
    for (name, changes) in CHANGES {
        for smoothing in SMOOTHINGS {
            for every in [1, 5] {
                let what = format!("{name}, {smoothing:?}, every {every}");
                run(
                    flyer(smoothing),
                    &what,
                    false,
                    |simulation, number, frame_time| {
                        if number % every == 0 {
                            let change = (number / every) as usize % changes.len();
                            changes[change](simulation);
                        }
                        simulation.advance(frame_time, |_, _| ());
                    },
                );
            }
        }
    }
}

/// A frame in which something goes wrong, or that the game rolls back.
type Event = fn(&mut Simulation, Duration);

/// Pushes nothing, and fails in the step of an odd tick, before or after it.
struct Fails(bool);

impl Fails {
    fn fail(&self, step: Step, is_after: bool) -> Result<(), ()> {
        let fails = step.tick % 2 == 1 && self.0 == is_after;
        if fails { Err(()) } else { Ok(()) }
    }
}

impl Hooks for Fails {
    type Error = ();

    fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), ()> {
        self.fail(step, false)
    }

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), ()> {
        self.fail(step, true)
    }
}

fn run_steps(simulation: &mut Simulation, most: usize) {
    for _ in 0..most {
        if simulation.next_step().is_some() {
            simulation.run_step();
        }
    }
}

fn roll_back(simulation: &mut Simulation, ticks: u64) {
    let tick = simulation.physics.tick().saturating_sub(ticks);
    simulation.roll_back(tick).unwrap();
}

const EVENTS: [(&str, Event); 9] = [
    ("ended before its first step", |simulation, frame_time| {
        simulation.begin_frame(frame_time);
        simulation.next_step();
        simulation.end_frame();
    }),
    ("ended after its first step", |simulation, frame_time| {
        simulation.begin_frame(frame_time);
        run_steps(simulation, 1);
        simulation.end_frame();
    }),
    ("begun twice", |simulation, frame_time| {
        simulation.begin_frame(frame_time);
        run_steps(simulation, 1);
        advance(simulation, 1);
    }),
    ("with an error before a step", |simulation, frame_time| {
        let _ = simulation.advance_with(frame_time, &mut Fails(false));
    }),
    ("with an error after a step", |simulation, frame_time| {
        let _ = simulation.advance_with(frame_time, &mut Fails(true));
    }),
    ("ended in a rollback", |simulation, frame_time| {
        roll_back(simulation, 3);
        simulation.begin_frame(frame_time);
        run_steps(simulation, 1);
        simulation.end_frame();
    }),
    (
        "ended in a rollback after its steps",
        |simulation, frame_time| {
            simulation.begin_frame(frame_time);
            run_steps(simulation, 100);
            roll_back(simulation, 2);
            simulation.end_frame();
        },
    ),
    ("after a rollback", |simulation, frame_time| {
        let tick = simulation.physics.tick().saturating_sub(2);
        simulation.resimulate(tick, |_, _| ()).unwrap();
        simulation.advance(frame_time, |_, _| ());
    }),
    (
        "after a correction with the same state",
        |simulation, frame_time| {
            let same = simulation.physics.clone();
            simulation.correct(same).unwrap();
            simulation.advance(frame_time, |_, _| ());
        },
    ),
];

#[test]
fn the_displayed_time_never_goes_back_after_aborted_and_repeated_frames() {
    for (name, event) in EVENTS {
        for smoothing in SMOOTHINGS {
            for every in [2, 7] {
                let what = format!("{name}, {smoothing:?}, every {every}");
                run(
                    flyer(smoothing),
                    &what,
                    true,
                    |simulation, number, frame_time| {
                        if number % 20 == 0 {
                            let hz = [240, 60, 100][number as usize / 20 % 3];
                            set_rate(simulation, hz);
                        }
                        if number % every == 0 {
                            event(simulation, frame_time);
                        } else {
                            simulation.advance(frame_time, |_, _| ());
                        }
                    },
                );
            }
        }
    }
}

/// The frame that repeats the picture drops two steps.
#[test]
fn the_last_state_is_displayed_after_a_repeated_frame_until_the_next_step() {
    let (mut simulation, key) = flyer(Smoothing::Interpolate);
    advance(&mut simulation, 109);
    roll_back(&mut simulation, 2);
    simulation.begin_frame(MS(15));
    run_steps(&mut simulation, 1);
    let frame = simulation.end_frame();
    assert_eq!((frame.time, frame.dropped.aborted), (MS(99), 2));
    assert_eq!(simulation.clock().overstep(), MS(4));
    for (ms, shown) in [(0, 10.0), (3, 10.0), (3, 10.0), (4, 10.4)] {
        let frame = advance(&mut simulation, ms);
        assert_near(shown_x(&simulation, key), shown);
        assert_near(100.0 * frame.time.as_secs_f32(), shown);
    }
}

/// A frame displays one state with any alpha: the first one, or one whose later steps were dropped. The next frame is at
/// the beginning of the step after it.
#[test]
fn a_step_in_a_frame_that_repeats_the_picture_begins_at_the_displayed_state() {
    for is_aborted in [false, true] {
        let (mut simulation, key) = flyer(Smoothing::Interpolate);
        if is_aborted {
            simulation.begin_frame(MS(24));
            run_steps(&mut simulation, 1);
            simulation.end_frame();
        } else {
            advance(&mut simulation, 4);
        }
        let (alpha, x) = (simulation.frame().alpha, shown_x(&simulation, key));
        assert_eq!(alpha, if is_aborted { 1.0 } else { 0.4 });
        simulation.begin_frame(MS(6));
        run_steps(&mut simulation, 1);
        roll_back(&mut simulation, 1);
        let frame = simulation.end_frame();
        assert_eq!((frame.alpha, frame.steps), (alpha, 1));
        let frame = advance(&mut simulation, 0);
        assert_eq!((frame.alpha, frame.resimulated), (0.0, 1));
        assert_eq!(shown_x(&simulation, key), x);
    }
}

/// Changes the clock before some frames.
struct Changing {
    changes: &'static [Change],
    every: u64,
}

impl Hooks for Changing {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        let number = simulation.frame().number;
        if number.is_multiple_of(self.every) {
            let change = (number / self.every) as usize % self.changes.len();
            self.changes[change](simulation);
        }
        Ok(())
    }
}

#[test]
fn the_displayed_time_of_an_overlap_never_goes_back() {
    for (name, changes) in CHANGES {
        for (smoothing, every) in SMOOTHINGS
            .into_iter()
            .flat_map(|it| [2, 9].map(|n| (it, n)))
        {
            let what = format!("{name}, {smoothing:?}, every {every}");
            let (simulation, key) = flyer(smoothing);
            let mut overlap = Overlap::new(simulation).unwrap();
            let mut game = Changing { changes, every };
            let (mut last, mut shown) = (0.0, Vector::ZERO);
            for number in 0..300 {
                let frame_time = MS([3, 7, 1, 0, 11, 4, 16, 2, 33][number % 9]);
                let view = overlap.frame(frame_time, &mut game).unwrap();
                let (time, at) = (
                    view.time().as_secs_f64(),
                    view.pose(key).unwrap().translation,
                );
                assert!(time >= last, "{what}: {time} after {last}, in {number}");
                assert!(
                    at.x >= shown.x - 2e-4,
                    "{what}: {at} after {shown}, in {number}"
                );
                (last, shown) = (time, at);
            }
            assert!(shown.x > 10.0, "{what}: {shown}");
        }
    }
}

/// Rate and stepping act in the first frame in which time passes.
#[test]
fn a_rate_or_stepping_that_is_set_in_a_pause_leaves_the_picture_as_it_is() {
    let stops: [Change; 2] = [Simulation::pause, |simulation| {
        simulation.clock_settings_mut().set_speed(0.0).unwrap();
    }];
    let changes: [Change; 3] = [
        |simulation| set_rate(simulation, 240),
        |simulation| set_rate(simulation, 10),
        |simulation| set_stepping(simulation, Stepping::Variable),
    ];
    for (stop, change, smoothing) in stops.into_iter().flat_map(|stop| {
        let changes = changes.into_iter().map(move |change| (stop, change));
        changes.flat_map(|(stop, change)| SMOOTHINGS.map(|it| (stop, change, it)))
    }) {
        let (mut simulation, key) = flyer(smoothing);
        let frame = advance(&mut simulation, 37);
        let x = shown_x(&simulation, key);
        stop(&mut simulation);
        change(&mut simulation);
        for ms in [0, 5, 50] {
            let now = advance(&mut simulation, ms);
            let picture = (now.steps, now.alpha, now.time, shown_x(&simulation, key));
            assert_eq!(picture, (0, frame.alpha, frame.time, x));
        }
        simulation.resume();
        simulation.clock_settings_mut().set_speed(1.0).unwrap();
        let now = advance(&mut simulation, 1);
        assert!(now.time > frame.time);
        let is_at_state =
            now.alpha == 1.0 && shown_x(&simulation, key) == stepped_x(&simulation.physics, key);
        assert!(is_at_state || now.steps > 0);
    }
}

/// The picture does not go back, and from the next step on it follows the overstep again.
#[test]
fn after_a_change_of_the_rate_the_last_state_is_displayed_until_the_next_step() {
    for smoothing in SMOOTHINGS {
        let (mut simulation, key) = flyer(smoothing);
        advance(&mut simulation, 34);
        set_rate(&mut simulation, 50);
        for ms in [0, 3, 10] {
            let frame = advance(&mut simulation, ms);
            assert_eq!((frame.steps, frame.alpha, frame.time), (0, 1.0, MS(30)));
            assert_eq!(
                shown_x(&simulation, key),
                stepped_x(&simulation.physics, key)
            );
        }
        let frame = advance(&mut simulation, 8);
        assert_eq!((frame.steps, frame.alpha, frame.time), (1, 0.25, MS(35)));
    }
}

/// A hook that assigns another state aborts the step, whatever its tick.
#[test]
fn the_last_state_is_displayed_after_an_assignment_has_aborted_the_step() {
    for ticks in [1, 0] {
        let (mut simulation, _) = flyer(Smoothing::Interpolate);
        advance(&mut simulation, 10 * ticks);
        let level = simulation.physics.clone();
        advance(&mut simulation, 5 + 10 * (1 - ticks));
        let frame = simulation.advance(MS(9), |physics, _| *physics = level.clone());
        assert_eq!((frame.dropped.aborted, frame.alpha), (1, 1.0));
        assert_eq!(advance(&mut simulation, 1).alpha, 1.0);
    }
}

/// Fails in its first step.
struct FailsOnce(bool);

impl Hooks for FailsOnce {
    type Error = ();

    fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
        if std::mem::take(&mut self.0) {
            Err(())
        } else {
            Ok(())
        }
    }
}

#[test]
fn pose_at_returns_what_frames_displayed_after_changes_and_aborted_steps() {
    let changes: [Change; 6] = [
        |_| (),
        |simulation| set_rate(simulation, 240),
        |simulation| set_rate(simulation, 20),
        |simulation| set_stepping(simulation, Stepping::FrameLocked),
        |simulation| set_stepping(simulation, Stepping::Variable),
        |simulation| {
            let _ = simulation.advance_with(MS(17), &mut FailsOnce(true));
        },
    ];
    for (change, smoothing) in changes
        .into_iter()
        .flat_map(|change| SMOOTHINGS.map(|it| (change, it)))
    {
        let (mut simulation, key) = flyer(smoothing);
        for _ in 0..12 {
            advance(&mut simulation, 7);
        }
        change(&mut simulation);
        for ms in [0, 2, 2, 7, 7, 30] {
            let frame = advance(&mut simulation, ms);
            let again = simulation.pose_at(key, frame.tick, frame.alpha);
            assert_eq!(again, simulation.pose(key), "{smoothing:?} {frame:?}");
        }
    }
}
