//! Browsers round their time stamps, so that nobody can measure with them. Chrome rounds to 0.1 ms. Firefox rounds
//! frame times to 0.02 ms and its clock to 1 ms. All of them round to a frame of 60 Hz or to 100 ms when they resist
//! fingerprinting. The tests measure the effect on motion, and the benefit of a filter.

use evenstep::rapier::prelude::*;
use evenstep::time::{FrameFilter, FrameTimer};
use proptest::prelude::*;
use scenes::strategies::Random;
use scenes::{frame_times, shown_x, space};
use std::time::Duration;

const US: fn(u64) -> Duration = Duration::from_micros;

/// Real displays: a little off their nominal rate, so that their frames move across the boundaries of the rounding.
const DISPLAYS: [(u32, f64); 3] = [(60, 59.95), (75, 74.97), (144, 144.05)];

/// The first frames are not measured, because an average has to fill.
const WARM_UP: usize = 200;

/// The time at which a frame is seen, in milliseconds, and the time stamp that the page gets.
struct Frame {
    seen: f64,
    stamp: Duration,
}

/// Returns a minute of frames of a display at `hz`. Stamps are up to 0.2 ms off, and rounded down. The fraction
/// `missed` of the frames is left out.
fn frames(hz: f64, rounding: Duration, missed: f64) -> Vec<Frame> {
    let mut random = Random(7);
    let mut periods = 0;
    let frame = |_| {
        periods += if random.number() < missed { 2 } else { 1 };
        let seen = f64::from(periods) * 1e3 / hz;
        let read = Duration::from_secs_f64((5_000.0 + seen + 0.4 * random.number()) * 1e-3);
        let of_rounding = read.as_nanos() % rounding.as_nanos();
        let stamp = read - Duration::from_nanos(u64::try_from(of_rounding).unwrap());
        Frame { seen, stamp }
    };
    (0..60 * 60).map(frame).collect()
}

/// The displayed motion of a body at 1 m/s, so that a millimetre is a millisecond. All fields are in these units.
#[derive(Debug)]
struct Shown {
    /// The deviation of a frame's motion from even motion, root mean square.
    uneven: f64,
    /// The same deviation in the worst frame.
    worst: f64,
    /// How far the filtered time is behind the timer, on average and at most.
    behind: f64,
    most_behind: f64,
}

fn shown(frames: &[Frame], mut filter: Option<FrameFilter>) -> Shown {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut timer = FrameTimer::new(frames[0].stamp, simulation.clock().real_time());
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
fn snapping_evens_out_stamps_rounded_to_a_millisecond_or_less() {
    for (rounding, least) in [(US(100), 0.15), (US(1_000), 0.35)] {
        for ((hz, real), missed) in DISPLAYS
            .into_iter()
            .flat_map(|display| [(display, 0.0), (display, 0.01)])
        {
            let frames = frames(real, rounding, missed);
            let bare = shown(&frames, None);
            assert!(bare.uneven > least, "{hz} Hz: {bare:?}");
            let snapped = shown(&frames, snapping(hz));
            // A millisecond is more than a twelfth of a period here, so a few missed frames are detected a frame late.
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
fn averaging_evens_out_stamps_rounded_to_many_milliseconds() {
    let cases = [
        (DISPLAYS[1], US(16_667), 6.0, 40.0),
        (DISPLAYS[2], US(16_667), 8.0, 40.0),
        (DISPLAYS[0], US(100_000), 35.0, 80.0),
        (DISPLAYS[1], US(100_000), 30.0, 80.0),
        (DISPLAYS[2], US(100_000), 25.0, 80.0),
    ];
    for ((hz, real), rounding, least, behind) in cases {
        // The error that remains without missed frames, and with them.
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
            // No rounded frame time fits the display's period, so frame times pass unchanged.
            let snapped = shown(&frames, snapping(hz));
            assert!(
                (snapped.uneven - bare.uneven).abs() < 0.01,
                "{hz} Hz: {snapped:?}"
            );
        }
    }
}

#[test]
fn the_automatic_filter_is_as_good_as_the_best_fixed_one() {
    for rounding in [US(100), US(1_000), US(16_667), US(100_000)] {
        for (hz, real) in DISPLAYS {
            for missed in [0.0, 0.01] {
                let frames = frames(real, rounding, missed);
                let fixed = [None, snapping(hz), averaging(64)];
                let fixed = fixed.map(|filter| shown(&frames, filter).uneven);
                // With one frame per stamp there are too few signs of the rounding, so the filter is as good as none.
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
fn averaging_fine_stamps_makes_missed_frames_worse() {
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
fn no_filter_improves_stamps_rounded_to_one_display_frame() {
    let frames = frames(DISPLAYS[0].1, US(16_667), 0.01);
    let bare = shown(&frames, None);
    assert!(bare.uneven < 1.5, "{bare:?}");
    for filter in [snapping(60), averaging(32), averaging(64)] {
        let filtered = shown(&frames, filter);
        assert!(filtered.uneven > 0.9 * bare.uneven, "{filtered:?}");
    }
}

// Hitches.

/// Returns frame times of games: those that ship with the project, and all in the folder that the environment variable
/// `FRAME_TIMES` names.
fn captures() -> Vec<Vec<Duration>> {
    let shipped = include_bytes!("../../examples/hecs_game/frame-times.csv");
    let mut captures = vec![frame_times::read(&shipped[..]).unwrap()];
    if let Some(folder) = std::env::var_os("FRAME_TIMES") {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|it| it == "csv") {
                let file = std::fs::File::open(path).unwrap();
                captures.push(frame_times::read(file).unwrap());
            }
        }
    }
    captures
}

/// Returns the same frames as measured by a timer that is rounded down.
fn rounded(times: &[Duration], rounding: Duration) -> Vec<Duration> {
    let (mut real, mut last) = (Duration::ZERO, Duration::ZERO);
    let round = |time: &Duration| {
        real += *time;
        let over = real.as_nanos() % rounding.as_nanos().max(1);
        let stamp = real - Duration::from_nanos(u64::try_from(over).unwrap());
        stamp - std::mem::replace(&mut last, stamp)
    };
    times.iter().map(round).collect()
}

/// Returns the median of the frame times that are not zero, in nanoseconds.
fn typical(last: &[Duration]) -> i128 {
    let mut some: Vec<_> = last.iter().filter(|time| !time.is_zero()).collect();
    some.sort_unstable();
    let middle = some.len().saturating_sub(1) / 2;
    some.get(middle).map_or(0, |time| time.as_nanos() as i128)
}

/// Returns how far the filtered times are behind the frame times at most, and how far ahead, in milliseconds.
///
/// # Panics
/// If they are further off than the docs of a filter over that many frames say.
fn most_off(mut filter: FrameFilter, frames: usize, times: &[Duration]) -> [f64; 2] {
    let (mut behind, mut most) = (0, [0; 2]);
    for (i, time) in times.iter().enumerate() {
        let filtered = filter.filter(*time);
        behind += time.as_nanos() as i128 - filtered.as_nanos() as i128;
        let typical = typical(&times[(i + 1).saturating_sub(frames)..=i]);
        let is_waiting = filtered.is_zero();
        assert!(
            behind <= 2 * typical,
            "{behind} ns behind in frame {i}, with frames of {typical} ns"
        );
        assert!(
            is_waiting || -behind <= typical,
            "{behind} ns behind in frame {i}, with frames of {typical} ns"
        );
        most = [most[0].max(behind), most[1].max(-behind)];
    }
    most.map(|nanos| nanos as f64 * 1e-6)
}

#[test]
fn filtered_frame_times_of_games_stay_within_their_bounds() {
    for times in captures() {
        for rounding in [Duration::ZERO, US(1_000), US(16_667), US(100_000)] {
            let mut times = rounded(&times, rounding);
            for hitch in [0, 60, 250, 1_000] {
                let middle = times.len() / 2;
                times[middle] += Duration::from_millis(hitch);
                for frames in [1, 8, 64] {
                    most_off(FrameFilter::averaging(frames).unwrap(), frames, &times);
                }
                most_off(FrameFilter::automatic(), 64, &times);
            }
        }
    }
}

/// Counted twice, a hitch of 250 ms would leave the filtered time 70 ms ahead.
#[test]
fn a_hitch_is_counted_once() {
    let mut times = vec![US(16_667); 600];
    times[200] = Duration::from_millis(250);
    let [behind, ahead] = most_off(averaging(64).unwrap(), 64, &times);
    assert!(
        behind < 33.4 && ahead < 1.0,
        "{behind} ms behind, {ahead} ms ahead"
    );
    // With rounded times, the result is as near as without the hitch, plus one rounding.
    let rounded = rounded(&times, US(16_667));
    let [behind, ahead] = most_off(FrameFilter::automatic(), 64, &rounded);
    assert!(
        behind < 34.0 && ahead < 17.0,
        "{behind} ms behind, {ahead} ms ahead"
    );
}

/// The display changes its rate.
#[test]
fn filtered_times_stay_within_bounds_when_the_display_rate_changes() {
    for (from, to) in [
        (33_333, 16_667),
        (16_667, 33_333),
        (33_333, 6_944),
        (6_944, 33_333),
    ] {
        for rounding in [Duration::ZERO, US(1_000), US(16_667)] {
            let times = [vec![US(from); 200], vec![US(to); 400]].concat();
            let times = rounded(&times, rounding);
            most_off(averaging(64).unwrap(), 64, &times);
            most_off(FrameFilter::automatic(), 64, &times);
        }
    }
}

/// Returns frame times. Each part has a period and a jitter, in microseconds, and a number of frames. Each hitch has
/// its position as a fraction of all frames.
fn uneven(parts: &[(u64, u64, usize)], hitches: &[(f64, u64)]) -> Vec<Duration> {
    let mut random = Random(3);
    let mut times = Vec::new();
    for &(period, jitter, count) in parts {
        let jitter = |_| period + (random.number() * jitter as f64) as u64;
        times.extend((0..count).map(jitter).map(US));
    }
    for &(at, hitch) in hitches {
        let at = (at * times.len() as f64) as usize;
        times[at] += US(hitch);
    }
    times
}

/// The filter was once ahead by nearly two frames, left over from an average over longer frames.
#[test]
fn filtered_times_stay_within_bounds_after_the_timer_was_coarse() {
    let parts = [
        (8_778, 2_300, 127),
        (26_357, 1_461, 47),
        (17_191, 2_000, 182),
    ];
    let hitches = [(0.0, 155_223), (0.362_760_095_140_297_33, 49_393)];
    let times = rounded(&uneven(&parts, &hitches), US(16_667));
    most_off(FrameFilter::automatic(), 64, &times);
}

proptest! {
    #[test]
    fn filtered_times_of_random_frames_stay_within_their_bounds(
        parts in prop::collection::vec((4_000..40_000u64, 0..3_000u64, 20..200usize), 1..5),
        hitches in prop::collection::vec((0.0..1.0f64, 0..1_000_000u64), 0..6),
        rounding in prop::sample::select(vec![1, 100, 1_000, 16_667, 100_000u64]),
        frames in 1..100usize,
    ) {
        let times = rounded(&uneven(&parts, &hitches), US(rounding));
        most_off(FrameFilter::averaging(frames).unwrap(), frames, &times);
        most_off(FrameFilter::automatic(), 64, &times);
    }
}
