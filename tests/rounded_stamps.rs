//! Browsers round their time stamps, so that nobody can measure with them: Chrome to 0.1 ms, Firefox those of frames to
//! 0.02 ms and its clock to 1 ms, and all to a frame of 60 Hz or to 100 ms where it resists fingerprinting. What that
//! makes of motion, and what a filter saves.

mod scenes;

use evenstep::rapier::prelude::*;
use evenstep::{FrameFilter, FrameTimer};
use scenes::strategies::Random;
use scenes::{shown_x, space};
use std::time::Duration;

const US: fn(u64) -> Duration = Duration::from_micros;

/// Displays as they are sold: a little off the rate that is written on them, so that their frames move over the
/// boundaries of the rounding.
const DISPLAYS: [(u32, f64); 3] = [(60, 59.95), (75, 74.97), (144, 144.05)];

/// The first frames are not measured: an average has to fill.
const WARM_UP: usize = 200;

/// A frame as it is seen, and as the page is told, in milliseconds and as a time.
struct Frame {
    seen: f64,
    stamp: Duration,
}

/// A minute of a display at `hz`: stamps up to 0.2 ms off, rounded down. Of the frames, `missed` are left out.
fn frames(hz: f64, rounding: Duration, missed: f64) -> Vec<Frame> {
    let mut random = Random(7);
    let mut periods = 0;
    let frame = |_| {
        periods += if random.next() < missed { 2 } else { 1 };
        let seen = f64::from(periods) * 1e3 / hz;
        let read = Duration::from_secs_f64((5_000.0 + seen + 0.4 * random.next()) * 1e-3);
        let of_rounding = read.as_nanos() % rounding.as_nanos();
        let stamp = read - Duration::from_nanos(u64::try_from(of_rounding).unwrap());
        Frame { seen, stamp }
    };
    (0..60 * 60).map(frame).collect()
}

/// How a body that moves at 1 m/s is shown, so that a millimetre is a millisecond: all in those.
#[derive(Debug)]
struct Shown {
    /// How far a frame's motion is from even, root mean square.
    uneven: f64,
    /// The same of the worst frame.
    worst: f64,
    /// How far behind what the timer gave, on average and at most.
    behind: f64,
    most_behind: f64,
}

fn shown(frames: &[Frame], mut filter: Option<FrameFilter>) -> Shown {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut timer = FrameTimer::new(frames[0].stamp);
    let (mut taken, mut given, mut last) = (Duration::ZERO, Duration::ZERO, 0.0);
    let (mut offs, mut behinds) = (Vec::new(), Vec::new());
    for pair in frames.windows(2) {
        let time = timer.frame(pair[1].stamp);
        let filtered = filter.as_mut().map_or(time, |filter| filter.filter(time));
        taken += time;
        given += filtered;
        simulation.advance(filtered, |_, _| ());
        let place = f64::from(shown_x(&simulation, key)) * 1e3;
        offs.push(place - last - (pair[1].seen - pair[0].seen));
        behinds.push((taken.as_secs_f64() - given.as_secs_f64()) * 1e3);
        last = place;
    }
    let (offs, behinds) = (&offs[WARM_UP..], &behinds[WARM_UP..]);
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / offs.len() as f64;
    Shown {
        uneven: mean(&mut offs.iter().map(|off| off * off)).sqrt(),
        worst: offs.iter().fold(0.0, |most, off| most.max(off.abs())),
        behind: mean(&mut behinds.iter().copied()),
        most_behind: behinds.iter().copied().fold(0.0, f64::max),
    }
}

fn snapping(hz: u32) -> Option<FrameFilter> {
    let period = Duration::from_secs(1) / hz;
    Some(FrameFilter::snapping(period, US(2_000)).unwrap())
}

fn averaging(frames: usize) -> Option<FrameFilter> {
    Some(FrameFilter::averaging(frames).unwrap())
}

#[test]
fn stamps_of_a_millisecond_or_less_are_even_once_they_are_snapped() {
    for (rounding, least) in [(US(100), 0.15), (US(1_000), 0.35)] {
        for ((hz, real), missed) in DISPLAYS
            .into_iter()
            .flat_map(|display| [(display, 0.0), (display, 0.01)])
        {
            let frames = frames(real, rounding, missed);
            let bare = shown(&frames, None);
            assert!(bare.uneven > least, "{hz} Hz: {bare:?}");
            let snapped = shown(&frames, snapping(hz));
            // A millisecond is more than a twelfth of a period there: a few missed frames are seen a frame late.
            let (uneven, worst, behind) = if (hz, rounding, missed) == (144, US(1_000), 0.01) {
                (0.3, 7.0, 7.0)
            } else {
                (0.02, 0.05, 1.5)
            };
            assert!(
                snapped.uneven < uneven && snapped.worst < worst,
                "{hz} Hz: {snapped:?}"
            );
            assert!(
                snapped.behind.abs() < 1.0 && snapped.most_behind < behind,
                "{hz} Hz: {snapped:?}"
            );
        }
    }
}

#[test]
fn stamps_of_many_milliseconds_are_even_once_they_are_averaged() {
    let cases = [
        (DISPLAYS[1], US(16_667), 6.0, 40.0),
        (DISPLAYS[2], US(16_667), 8.0, 40.0),
        (DISPLAYS[0], US(100_000), 35.0, 80.0),
        (DISPLAYS[1], US(100_000), 30.0, 80.0),
        (DISPLAYS[2], US(100_000), 25.0, 80.0),
    ];
    for ((hz, real), rounding, least, behind) in cases {
        // What is left of frames none of which is missed, and what the missed ones add.
        for (missed, most) in [(0.0, 1.2), (0.01, 2.1)] {
            let frames = frames(real, rounding, missed);
            let bare = shown(&frames, None);
            assert!(bare.uneven > least, "{hz} Hz: {bare:?}");
            let averaged = shown(&frames, averaging(64));
            assert!(averaged.uneven < most, "{hz} Hz: {averaged:?}");
            assert!(
                averaged.behind.abs() < 0.2 && averaged.most_behind < behind,
                "{hz} Hz: {averaged:?}"
            );
            // Nothing fits the display's frames: they pass.
            let snapped = shown(&frames, snapping(hz));
            assert!(
                (snapped.uneven - bare.uneven).abs() < 0.01,
                "{hz} Hz: {snapped:?}"
            );
        }
    }
}

#[test]
fn the_automatic_filter_is_as_good_as_the_one_that_fits() {
    for rounding in [US(100), US(1_000), US(16_667), US(100_000)] {
        for (hz, real) in DISPLAYS {
            for missed in [0.0, 0.01] {
                let frames = frames(real, rounding, missed);
                let fixed = [None, snapping(hz), averaging(64)];
                let fixed = fixed.map(|filter| shown(&frames, filter).uneven);
                // At one frame a stamp there are too few signs of the rounding: it is as good as none.
                let is_rare = (rounding, hz) == (US(16_667), 60);
                let choice = if is_rare { &fixed[..2] } else { &fixed };
                let best = choice.iter().copied().fold(f64::MAX, f64::min);
                let automatic = shown(&frames, Some(FrameFilter::automatic()));
                assert!(
                    automatic.uneven < 1.1 * best + 0.02,
                    "{rounding:?} at {hz} Hz: {automatic:?}, {fixed:?}"
                );
            }
        }
    }
}

#[test]
fn an_average_of_fine_stamps_makes_missed_frames_worse() {
    for (_, real) in DISPLAYS {
        let frames = frames(real, US(100), 0.01);
        let [bare, averaged] = [None, averaging(32)].map(|filter| shown(&frames, filter));
        assert!(
            averaged.uneven > 4.0 * bare.uneven,
            "{bare:?}, {averaged:?}"
        );
    }
}

#[test]
fn stamps_of_one_frame_of_the_display_are_as_good_as_they_get() {
    let frames = frames(DISPLAYS[0].1, US(16_667), 0.01);
    let bare = shown(&frames, None);
    assert!(bare.uneven < 1.5, "{bare:?}");
    for filter in [snapping(60), averaging(32), averaging(64)] {
        let filtered = shown(&frames, filter);
        assert!(filtered.uneven > 0.9 * bare.uneven, "{filtered:?}");
    }
}
